# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Data is listed in the order of its first write, and what packing it saves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from order_support import (
    DATA_PROGRAM,
    compiled,
    data_writes,
    good,
    has,
    linked,
    recorded,
    refused,
)
from tg_companions import package


def faults(text: str) -> tuple[int, int]:
    """Of the data, now and in order."""
    match = re.search(r"^all +([\d,]+) +([\d,]+) +[\d,]+$", text, re.MULTILINE)
    assert match
    return int(match[1].replace(",", "")), int(match[2].replace(",", ""))


def test_data_that_is_written_can_be_packed(tmp_path: Path) -> None:
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", DATA_PROGRAM, "-fpie")], "-pie")
    text = good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data"))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    wanted = ("one", "two", "three", "zeros", "gap0", "gap1", "gap2", "gap3")
    variables = {row[-1]: row for row in rows if row[-1] in wanted and len(row) > 6}
    assert list(variables) == ["three", "one", "zeros"]  # in order of the first write
    assert [row[1] for row in variables.values()] == ["data", "data", "bss"]
    assert [row[4] for row in variables.values()] == ["4", "4", "1"]
    assert any(row[-1] == "pointers" and row[1] == "relro" and row[3] == "56" for row in rows)
    (packing,) = (row for row in rows if row[0].startswith("bss:"))
    # Of .bss: three pages and more, two written (one of them by the C start code), two variables.
    assert packing[2] == "2"
    (packing,) = (row for row in rows if row[0].startswith("data:"))
    # A third one has nothing but a relocation of the C start code.
    assert (packing[2], packing[3], packing[5], packing[-1]) == ("3", "2", "1", "1")
    now, packed = faults(text)
    assert 0 < now - packed <= 2
    assert f"Data in order would save {now - packed} of {now} faults." in text


def test_relocations_take_room_in_the_order(tmp_path: Path) -> None:
    """Each page has a variable that is written and a table of pointers that is not. Without relocations all that is
    written fits on one page, in a position-independent program the dynamic linker writes to the tables, too."""
    lines = []
    for n in range(8):
        lines.append(f"volatile long one{n} = 1; char rest{n}[1500] = {{ 1 }};")
        lines.append(f"void *table{n}[300] = {{ [0 ... 299] = rest{n} }};")
    lines.append("int main(void) {")
    lines += [f"   one{n}++;" for n in range(8)]
    lines.append("   return 0; }")
    source = "\n".join(lines) + "\n"
    then = {}
    for kind in ("-pie", "-no-pie"):
        folder = tmp_path / kind
        folder.mkdir()
        flag = "-fpie" if kind == "-pie" else "-fno-pie"
        made = compiled(folder, "d", source, flag, "-O0", "-fdata-sections", "-fno-toplevel-reorder")
        program = linked(folder, "prog", [made], kind)
        text = good(folder, "--data", recorded(folder, program, what="data"))
        now, then[kind] = faults(text)
        assert now - then[kind] >= (2 if kind == "-pie" else 6)
        why = re.search(r"position-independent: the dynamic linker writes to (\d+) variables that the\n", text)
        assert (int(why[1]) >= 8 if why else 0) == (kind == "-pie")
    assert then["-pie"] - then["-no-pie"] in (4, 5)  # 8 tables of 2400 bytes


def test_data_in_a_segment_of_its_own_is_listed(tmp_path: Path) -> None:
    """The linker gives it a segment of its own, of which the file has nothing."""
    source = """
static volatile char apart[5 * 8192] __attribute__((aligned(8192)));
int main(void) { apart[4] = 1; apart[3 * 8192] = 1; return 0; }
"""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", source, "-fpie")], "-pie")
    text = good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data"))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    assert {row[1] for row in rows if row[-1].startswith("apart")} == {"bss"}
    (packing,) = (row for row in rows if row[0].startswith("bss:"))
    assert packing[2] == "3"  # one of them by the C start code


@pytest.mark.skipif(not has("lld"), reason="no ld.lld (Debian package: lld)")
def test_data_in_two_segments_is_told_apart(tmp_path: Path) -> None:
    """lld gives what is read-only after relocation a segment of its own. The file's bytes of both are side by side, often
    in one page; what the file has nothing of is the second's."""
    source = """
long early = 5;
long bss_a[1024] __attribute__((aligned(4096)));
long bss_b[1024] __attribute__((aligned(4096)));
long bss_c[1024] __attribute__((aligned(4096)));
int main(int argc, char **argv) { early++; bss_b[2 + argc] = 1; bss_c[699 + argc] = 1; return argv == (void *)bss_a; }
"""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", source, "-fpie")], "-pie", "-fuse-ld=lld")
    symbols = {s.name: s.address for s in package("formats.elf").read(str(program)).symbols}
    options = ("--faults=yes", f"--faults-out-file={tmp_path / 'faults'}")
    text = good(tmp_path, "--data", "--faults=faults", recorded(tmp_path, program, what="data", options=options))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    listed = {row[-1]: row[-2] for row in rows if row[-1] in ("early", "bss_a", "bss_b", "bss_c") and len(row) > 6}
    places = {"early": symbols["early"], "bss_b": symbols["bss_b"] + 24, "bss_c": symbols["bss_c"] + 5600}
    assert listed == {name: f"{address & ~0xFFF:#x}" for name, address in places.items()}
    now, logged = data_writes(text)
    assert now == logged


def test_a_page_of_data_and_bss_is_one_of_both(tmp_path: Path) -> None:
    """What is written first there is of .data; what follows, of .bss, has been written as well."""
    source = """
int first = 1, behind;
int main(void) { first = 2; behind = 3; return 0; }
"""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", source, "-fno-pie")], "-no-pie")
    binary = package("formats.elf").read(str(program))
    places = {s.name: s.address for s in binary.symbols if s.name in ("first", "behind")}
    text = good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data"))
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    assert len({address & ~0xFFF for address in places.values()}) == 1, places
    assert {row[0][:4]: row[1:3] for row in rows if row[0].startswith(("data:", "bss:"))} == {
        "data": ["1", "1"],
        "bss:": ["1", "1"],
    }


def variables(text: str) -> dict[str, list[str]]:
    """The rows of the list of variables, by name."""
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    return {row[-1]: row for row in rows if len(row) > 6 and row[0].replace(",", "").isdigit()}


def test_of_neighbours_in_one_word_those_that_are_written_are_listed(tmp_path: Path) -> None:
    source = """
int a = 1, b = 2, pad[3000] = { 1 }, d = 4, e = 5;
struct { char p, q, r; } bytes = { 1, 2, 3 };
char before = 1, between = 2, behind = 3;
int main(void) { b = 7; e = 9; between = 8; bytes.r = 1; return 0; }
"""
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", source, "-fno-toplevel-reorder", "-O0")])
    symbols = {s.name: s.address for s in package("formats.elf").read(str(program)).symbols}
    # They do share words.
    assert symbols["a"] // 8 == symbols["b"] // 8 or symbols["d"] // 8 == symbols["e"] // 8
    assert symbols["before"] // 8 == symbols["behind"] // 8 or symbols["before"] // 8 == symbols["between"] // 8
    listed = variables(good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data")))
    mine = ("a", "b", "pad", "d", "e", "bytes", "before", "between", "behind")
    assert {name: row[4] for name, row in listed.items() if name in mine} == {"b": "4", "e": "4", "between": "1", "bytes": "1"}


@pytest.mark.skipif(not has("lld"), reason="there is no ld.lld (package lld)")
def test_data_behind_an_unmapped_page_is_listed(tmp_path: Path) -> None:
    """lld leaves one behind RELRO if that ends with its page."""
    source = """
int x[3000] = { 1 }, y[9000];
char relro[N] __attribute__((section(".data.rel.ro"), aligned(8))) = { 1 };
int main(int argc, char **argv) { x[2000] = 5; y[8000] = 7; return relro[argc]; }
"""

    def made(n: int) -> tuple[Path, list[Any]]:
        object_file = compiled(tmp_path, f"d{n}", source, "-fpie", f"-DN={n}")
        program = linked(tmp_path, f"prog{n}", [object_file], "-pie", "-fuse-ld=lld")
        return program, [s for s in package("formats.elf").read(str(program)).loads if s.flags & 2]

    _, data = made(64)
    left = -(data[0].address + data[0].memory_size) % 4096
    program, data = made(64 + left - 16)
    assert data[1].address // 4096 > (data[0].address + data[0].memory_size - 1) // 4096 + 1
    listed = variables(good(tmp_path, "--data", "--top=0", recorded(tmp_path, program, what="data")))
    assert (listed["x"][1], listed["x"][4], listed["y"][1], listed["y"][4]) == ("data", "4", "bss", "4")


def test_data_needs_its_own_record(tmp_path: Path) -> None:
    program = linked(tmp_path, "prog", [compiled(tmp_path, "d", "int main(void) { return 0; }\n")])
    entries = recorded(tmp_path, program)
    refused(
        tmp_path,
        f"no data of {program} was recorded: run the program with --entries=data",
        "--data",
        entries,
    )
    refused(
        tmp_path,
        f"{entries}: no data was recorded: run the program with --entries=data",
        "--with-data",
        "--list",
        entries,
    )
