# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The faults that a program's data takes, now and in order: held against the fault log of the program as it is, and of
one that a linker has put in order."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from order_support import compiled, data_faults, good, linked, recorded_with_faults


def forecast(folder: Path, entries: Path) -> tuple[Counter[str], Counter[str]]:
    """The columns `now` and `in order`."""
    text = good(folder, "--data", entries)
    rows = re.findall(r"^(read|zero page|write|all) +([\d,]+) +([\d,]+) +[\d,]+$", text, re.MULTILINE)
    numbers = {kind: (int(now.replace(",", "")), int(then.replace(",", ""))) for kind, now, then in rows}
    total = numbers.pop("all")
    columns = tuple(Counter({kind: n[i] for kind, n in numbers.items() if n[i]}) for i in (0, 1))
    assert total == tuple(sum(column.values()) for column in columns)
    return columns[0], columns[1]


PROGRAMS = [
    ("bash", ["-c", "for i in 1 2 3; do echo $i; done"]),
    ("perl", ["-e", "print 1"]),
    ("python3", ["-c", "pass"]),
    ("git", ["--version"]),
    ("gdb", ["-batch", "-nx", "-ex", "print 1"]),
    ("sort", ["/etc/passwd"]),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: str(p[0]))
def test_the_faults_now_are_those_of_the_log(program: tuple[str, Sequence[str]], tmp_path: Path) -> None:
    """but for reads, of which neighbours share one by where the program lies"""
    name, arguments = program
    found = shutil.which(name)
    assert found, f"{name} is missing; docs/install.md names the packages that the tests need"
    path = str(Path(found).resolve())
    entries, faults = recorded_with_faults(tmp_path, path, *arguments)
    now, _ = forecast(tmp_path, entries)
    seen = data_faults(faults, path)
    assert seen["write"] > 0
    assert (now["write"], now["zero page"]) == (seen["write"], seen["zero page"])


def test_what_the_kernel_reads_is_a_fault(tmp_path: Path) -> None:
    """a buffer that nobody writes, a name, and a variable that only a system call is given"""
    text = """
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
char zeros[3 * 4096] __attribute__((aligned(4096)));
char pad[80000] = { 1 };
char path[] = "/dev/null";
char pads[80000] = { 1 };
struct timespec none = { 0, 1 };
int main(void) { int ends[2]; return pipe(ends) | (write(ends[1], zeros + 4099, 5) != 5) | (open(path, 0) < 0) | nanosleep(&none, 0); }
"""
    made = compiled(tmp_path, "kernel", text, "-fno-pie", "-O0", "-fno-toplevel-reorder")
    program = linked(tmp_path, "kernel", [made], "-no-pie", "-fuse-ld=lld")
    entries, faults = recorded_with_faults(tmp_path, program)
    now, _ = forecast(tmp_path, entries)
    assert now == data_faults(faults, str(program))
    assert now["zero page"] >= 1 and now["read"] >= 2


def source(pages: int) -> str:
    """Pages of .data and of .bss, with a variable in each that is written, and one that is read before or behind."""
    lines = [f"char pad{n}[4000], more{n}[4000] = {{ 1 }}; long hot{n}, cold{n}, warm{n} = 1, old{n} = 2;" for n in range(pages)]
    body = []
    for n in range(pages):
        read = f"sum += cold{n} + old{n};" if n % 3 else ""
        write = f"hot{n} = sum; warm{n} += 1;" if n % 4 else f"hot{n} += 1;"
        body.append(f"   {read} {write}" if n % 2 else f"   {write} {read}")
    return "\n".join([*lines, "int main(void) {", "   volatile long sum = 0;", *body, "   return 0; }", ""])


@pytest.mark.parametrize("pages", [3, 8, 30])
def test_a_linker_that_follows_saves_what_is_forecast(pages: int, tmp_path: Path) -> None:
    made = compiled(tmp_path, "d", source(pages), "-O0", "-fno-pie", "-fdata-sections", "-fno-toplevel-reorder")
    program = linked(tmp_path, "usual", [made], "-no-pie", "-fuse-ld=lld")
    entries, faults = recorded_with_faults(tmp_path, program)
    now, then = forecast(tmp_path, entries)
    assert now == data_faults(faults, str(program))
    good(tmp_path, "--with-data", "--lld=order", entries)
    program = linked(tmp_path, "ordered", [made], "-no-pie", "-fuse-ld=lld", "-Wl,--symbol-ordering-file=order")
    _, faults = recorded_with_faults(tmp_path, program)
    assert then == data_faults(faults, str(program))
    assert now["zero page"] > 0 and then["zero page"] < now["zero page"] and then["write"] < now["write"]
