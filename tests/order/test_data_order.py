# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Programs are linked with their variables in order, by every linker that can, and take the page faults that were
forecast."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from order_support import (
    compiled,
    data_faults,
    good,
    has,
    linked,
    recorded,
    recorded_with_faults,
    refused,
    run,
)
from tg_companions import package
from tg_lacking import skip_what_lacks

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
        if linker != "gold":  # which newer binutils do not have
            skip_what_lacks(f"there is no ld.{linker} (Debian package: {linker})")
        pytest.skip("there is no ld.gold")
    made = in_order(tmp_path, kind, linker, *relr)
    sections = package("formats.elf").read(str(made.new)).sections
    if relr and not any(section.name == ".relr.dyn" for section in sections):
        pytest.skip("this linker packs no relocations on this architecture")
    assert abs(made.forecast["now"] - made.before) <= 1  # windows of reads lie where the program does
    then = made.forecast["at the end" if linker == "gold" else "in order"]
    assert abs(then - made.after) <= 3
    assert made.before - made.after >= (15 if "pie" == kind[-3:] and kind != "no-pie" else 25)
    arguments = ["--with-data", "--binary=old", f"--objects={made.objects[0]}", made.entries]
    for asked in (arguments, [f"--order={made.order}"]):
        follows = run(tmp_path, f"--check={made.new}", *asked)
        assert "Its data follows the order: 100.0% of neighbouring variables" in follows.out
        if "static" not in kind:  # in which the C library's functions stay where they are
            assert follows.status == 0, follows.out
    result = run(tmp_path, f"--check={made.old}", *arguments)
    assert result.status == 2 and "Its data does NOT follow the order" in result.out


USES = """
int first = 1, second = 2, readonly = 3, unused = 4; static int local = 5;
int zero, late, readzero, unusedzero; char buffer[30000];
int *pointer = &unused, *written_pointer = &zero;
int main(int argc, char **argv)
{
   static int turn = 6;
   (void)argv;
   late = 1; written_pointer = &late; second++; first++; turn++; local++; zero = readonly + readzero; buffer[100] = 1;
   if (argc > 1) unusedzero = unused++;
   return *pointer == 77;
}
"""
WRITTEN = ["written_pointer", "second", "first", "turn", "local"]


class Used(NamedTuple):
    folder: Path
    object: Path
    program: Path
    entries: Path
    more: Path  # of a run with an argument


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Used:
    folder = tmp_path_factory.mktemp("uses")
    made = compiled(folder, "uses", USES, "-fpie", "-O0", "-fdata-sections")
    program = linked(folder, "uses", [made], "-pie")
    entries = recorded(folder, program, what="data").rename(folder / "one")
    return Used(folder, made, program, entries, recorded(folder, program, "more", what="data"))


def listed(used: Used, *arguments: object) -> list[tuple[str, str, str]]:
    """Section, use and name of each variable in the list."""
    text = good(used.folder, "--with-data", "--list", *arguments).partition("-- Variables of")[2]
    rows = [line.split() for line in text.partition("\n\n")[0].splitlines()[2:]]
    found = []
    for row in rows:
        row = row[:-1] if row[-1].startswith("(") else row
        found.append((row[1], row[-2], re.sub(r"\.[0-9]+$", "", row[-1])))
    return found


def test_variables_come_by_their_use(used: Used) -> None:
    """The large buffer has pages that nothing writes."""
    assert listed(used, used.entries) == [
        *((".data", "written", name) for name in WRITTEN),
        (".data", "relocated", "pointer"),
        *((".data", "read", name) for name in ("readonly", "unused")),
        *((".bss", "written", name) for name in ("late", "zero")),
        (".bss", "read", "readzero"),
    ]
    text = good(used.folder, "--with-data", "--list", used.entries)
    assert re.search(r"^Large, not in order: +1 variables with pages that nothing writes$", text, re.MULTILINE)


def test_what_most_runs_write_comes_first(used: Used) -> None:
    names = [name for _, use, name in listed(used, "--weights=1,3", used.entries, used.more) if use == "written"]
    assert names == [*WRITTEN, "unused", "late", "zero", "unusedzero"]
    names = [name for _, use, name in listed(used, "--weights=3,1", "--least=50", used.entries, used.more) if use == "written"]
    assert names == [*WRITTEN, "late", "zero"]


@pytest.mark.parametrize("linker", ["lld", "gold", "bfd", "bfd-script"])
def test_each_linkers_file_has_the_variables(linker: str, used: Used) -> None:
    known = f"--objects={used.object}"
    good(used.folder, "--with-data", f"--{linker}=known", known, used.entries)
    good(used.folder, "--with-data", f"--{linker}=guessed", used.entries)
    good(used.folder, f"--{linker}=functions", used.entries)
    read = package("order.dialects").read
    wanted = [name for _, _, name in listed(used, used.entries)]
    for file, count in (("known", 1), ("guessed", 1), ("functions", 0)):
        names = [re.sub(r"\.[0-9]+$", "", name) for name, _ in read(str(used.folder / file))]
        assert [name for name in names if name in wanted] == wanted * count
    text = (used.folder / "known").read_text(encoding="ascii")
    if linker != "lld":
        assert ".data.second" in text and ".data.rel.local.pointer" in text and ".bss.late" in text
        assert ".data.rel.pointer" not in text
        assert ".data.rel.pointer" in (used.folder / "guessed").read_text(encoding="ascii")


def test_data_without_sections_of_its_own_is_told(used: Used, tmp_path: Path) -> None:
    made = compiled(tmp_path, "crowd", USES, "-fpie", "-O0", "-ffunction-sections")
    program = linked(tmp_path, "crowd", [made], "-pie")
    entries = recorded(tmp_path, program, what="data")
    result = run(tmp_path, "--with-data", "--lld=order", f"--objects={made}", entries)
    assert (result.status, result.err) == (
        0,
        (
            "tg_order: warning: 11 of 11 variables have no section of their own, so that no linker can move "
            "them: compile with -fdata-sections\n"
        ),
    )
    assert (tmp_path / "order").read_text().split() == ["main"]
    assert columns(good(tmp_path, "--data", f"--objects={made}", entries))["now"] == columns(
        good(tmp_path, "--data", f"--objects={made}", entries)
    )["in order"]


def test_data_that_was_recorded_but_not_asked_for_is_told(used: Used) -> None:
    text = good(used.folder, "--lld=plain", used.entries)
    assert re.search(r"^Variables: +recorded, but not in order without --with-data$", text, re.MULTILINE)
    assert "second" not in (used.folder / "plain").read_text()


def test_what_has_no_variables_is_refused(used: Used) -> None:
    refused(
        used.folder,
        "--with-data goes with --lld, --gold, --bfd, --bfd-script, --list, --check or --forecast"
        " (tg_order --help lists what is allowed)",
        "--with-data",
        "--bolt=order",
        used.entries,
    )
    result = run(used.folder, "--data", "--with-data", "--list", used.entries)
    assert result.status == 1 and "--data goes without --list" in result.err


def test_all_objects_have_their_data_in_order(used: Used) -> None:
    good(used.folder, "--with-data", "--object=all", "--lld=each", used.entries)
    assert "second" in (used.folder / "each.uses").read_text().split()
    library = next(used.folder.glob("each.libc*"))
    assert "main_arena" in library.read_text().split() or "_IO_2_1_stdout_" in library.read_text().split()


def test_a_stripped_binary_is_told(used: Used) -> None:
    bare = used.folder / "bare"
    subprocess.run(["strip", "-o", bare, used.program], check=True)
    text = good(used.folder, "--data", f"--binary={bare}", used.entries)
    assert "The binary is stripped: its static variables are not known, and stay where they are.\n" in text
    assert columns(text)["now"] == columns(good(used.folder, "--data", used.entries))["now"]


@pytest.mark.parametrize(
    ("name", "shorter"),
    [("v", []), ("v.0", []), ("v.lto_priv.3", ["v"]), ("v.7.lto_priv.3", ["v.7"]), ("v.llvm.12", ["v"])],
)
def test_names_are_written_without_suffixes_that_change(name: str, shorter: list[str]) -> None:
    assert list(package("places.dataorder")._shorter(name)) == shorter
