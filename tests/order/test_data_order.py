# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Programs are linked with their variables in order, by every linker that can, and take the page faults that were
forecast."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from order_support import (
    compiled,
    data_faults,
    good,
    has,
    linked,
    recorded_with_faults,
    run,
)
from tg_companions import package

MODULES = 24
LINKERS = {
    "bfd-script": ("", "-Wl,-T,{}"),
    "gold": ("-fuse-ld=gold", "-Wl,--section-ordering-file,{}"),
    "lld": ("-fuse-ld=lld", "-Wl,--symbol-ordering-file,{}"),
}
KINDS = {
    "pie": ("-fpie", "-pie"),
    "no-pie": ("-fno-pie", "-no-pie"),
    "static-pie": ("-fpie", "-static-pie"),
    "static": ("-fno-pie", "-static", "-no-pie"),
}


def source() -> str:
    """Variables that are written, relocated, read and never used, each on another page than the last of its kind."""
    lines = ["#include <stddef.h>", "char buffer[20000]; void *big[1500] = { [0 ... 1499] = buffer };"]
    body = ["buffer[3] = 1;"]
    for n in range(MODULES):
        lines.append(f"char pad{n}[2600] = {{ 1 }}, zeros{n}[3000]; int warm{n} = 1, cool{n} = 2, hot{n}, cold{n};")
        lines.append(f"void *pointer{n} = &warm{n}, *table{n}[20] = {{ pad{n}, zeros{n} }};")
        lines.append(f"static int next{n}(void) {{ static int turn = 5; static long last; return turn += ++last; }}")
        if n % 3:
            body.append(f"sum += cold{n} + cool{n};")
        if n % 4:
            body.append(f"hot{n} = sum; warm{n} += next{n}();")
        else:
            body.append(f"sum += *(int *)pointer{n}; if (sum > 1000000) hot{n} = next{n}() + (table{n}[1] == NULL) + pad{n}[7] + zeros{n}[8];")
    return "\n".join([*lines, "int main(void) {", "volatile long sum = 0;", *body, "return 0; }", ""])


class Ordered(NamedTuple):
    objects: list[Path]
    old: Path
    new: Path
    entries: Path
    order: Path
    forecast: dict[str, int]  # of all faults: now, in order, at the end (gold)
    before: int  # as logged
    after: int


def columns(text: str) -> dict[str, int]:
    match = re.search(r"^all +([\d,]+) +([\d,]+) +([\d,]+)$", text, re.MULTILINE)
    assert match
    return dict(zip(("now", "in order", "at the end"), (int(n.replace(",", "")) for n in match.groups())))


def in_order(folder: Path, kind: str, linker: str, *relr: str) -> Ordered:
    """Linked, recorded, linked in order, recorded."""
    compiling, *linking = KINDS[kind]
    flags = [*linking, *LINKERS[linker][0].split(), *relr]
    objects = [compiled(folder, "d", source(), compiling, "-O0", "-fdata-sections", "-ffunction-sections")]
    old = linked(folder, "old", objects, *flags)
    entries, faults = recorded_with_faults(folder, old)
    order = folder / f"order.{linker}"
    text = good(folder, "--with-data", f"--{linker}={order}", "--forecast", f"--objects={objects[0]}", entries)
    new = linked(folder, "new", objects, *flags, LINKERS[linker][1].format(order))
    _, then = recorded_with_faults(folder, new)
    counts = (sum(data_faults(log, str(program)).values()) for log, program in ((faults, old), (then, new)))
    return Ordered(objects, old, new, entries, order, columns(text), *counts)


WAYS = [
    *((kind, linker) for kind in KINDS for linker in LINKERS if (kind, linker) != ("static-pie", "gold")),
    ("pie", "bfd-script", "-Wl,-z,pack-relative-relocs"),
    ("static-pie", "bfd-script", "-Wl,-z,pack-relative-relocs"),
    ("static-pie", "lld", "-Wl,--pack-dyn-relocs=relr"),
]


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_data_in_order_takes_the_faults_that_are_forecast(way: tuple[str, ...], tmp_path: Path) -> None:
    """gold has no static PIE, and lld's relative relocations need a mark that it does not set for the dynamic linker"""
    kind, linker, *relr = way
    if not has(linker):
        pytest.skip(f"there is no ld.{linker}")
    made = in_order(tmp_path, kind, linker, *relr)
    if relr:
        sections = package("formats.elf").read(str(made.new)).sections
        assert any(section.name == ".relr.dyn" for section in sections)
    assert abs(made.forecast["now"] - made.before) <= 1  # windows of reads lie where the program does
    then = made.forecast["at the end" if linker == "gold" else "in order"]
    assert abs(then - made.after) <= 3
    assert made.before - made.after >= (15 if "pie" == kind[-3:] and kind != "no-pie" else 25)
    for arguments in (["--with-data", "--binary=old", f"--objects={made.objects[0]}", made.entries], [f"--order={made.order}"]):
        follows = run(tmp_path, f"--check={made.new}", *arguments)
        assert "Its data follows the order: 100.0% of neighbouring variables" in follows.out
        if "static" not in kind:  # in which the C library's functions stay where they are
            assert follows.status == 0, follows.out
        result = run(tmp_path, f"--check={made.old}", *arguments)
        assert result.status == 2 and "Its data does NOT follow the order" in result.out
