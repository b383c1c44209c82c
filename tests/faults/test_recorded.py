# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the kernel did, recorded (tests/faults/record.py): compared on every machine, without perf.

Two kinds of records:

- Two pairs, of real programs: what perf script printed of a native run, and the log of the same
  program under tlbgrind, one that agrees wholly and one that differs on both sides. They prove that
  tg_faults --native counts rightly what perf really prints. They prove nothing of today's tool: its
  side is recorded, too, for a C library and an environment that another machine has not.
  docs/internals/validation.md has how well more programs agreed when they were recorded.
- fixed.native, of tests/clients/fault_fixed, which has all of its pages at addresses of its own and
  needs no library. This one is run anew: the tool must predict, on every machine and to the last
  page, in order, what Linux 6.18 did. Where there is perf, the kernel here must do the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from faults_support import DATA, good
from native_support import (
    NativeFault,
    as_native,
    fault_of,
    in_small_pieces,
    match,
    read,
    record,
    run,
    why_no_native,
)
from tg_environment import client

NATIVE = DATA / "native"
# Set, not taken from the host: the record was made so.
AS_RECORDED = ("--fault-around=64K", "--read-ahead=128K", "--thp=madvise", "--mthp=none")


class Figures(NamedTuple):
    native: int
    predicted: int
    matched: int
    in_order: int
    missing: int
    too_much: int


PAIRS = {
    "hello": Figures(52, 52, 52, 52, 0, 0),
    "hello-software": Figures(52, 52, 52, 52, 0, 0),
    # What the dynamic linker saves on a stack is larger natively, and its list of folders is
    # another: see docs/internals/validation.md.
    "perl": Figures(182, 181, 180, 180, 2, 1),
}


def log_of(name: str) -> str:
    return f"native/{name.removesuffix('-software')}.faults"


def figures(text: str) -> Figures:
    """What tg_faults prints of the comparison."""
    names = (
        "native",
        "predicted, view warm",
        "match: page and kind" if "match: page and kind" in text else "match: page",
        "match and in the same order",
        "missing: native only",
        "too much: predicted only",
    )
    found = [re.search(rf"^{name} +([\d,]+)(?: |$)", text, re.MULTILINE) for name in names]
    assert all(found), text
    return Figures(*(int(row[1].replace(",", "")) for row in found if row))


def rows_below(text: str, heading: str) -> int:
    """The differences that are listed one by one."""
    _, found, below = text.partition(f"-- {heading}")
    return len(below.partition("\n\n")[0].splitlines()) - 2 if found else 0


def native_of(name: str) -> list[NativeFault]:
    lines = (NATIVE / f"{name}.perf").read_text(encoding="utf-8").splitlines()
    return [fault for fault in map(fault_of, lines) if fault]


@pytest.mark.parametrize("name", PAIRS)
def test_a_recorded_pair_agrees_as_before(name: str) -> None:
    """matched, missing and too much of a recorded pair"""
    text = good(f"--native=native/{name}.perf", log_of(name))
    found = figures(text)
    assert found == PAIRS[name]
    assert rows_below(text, "Missing") == found.missing
    assert rows_below(text, "Too much") == found.too_much


@pytest.mark.parametrize("name", [name for name in PAIRS if "software" not in name])
def test_a_recorded_pair_agrees_by_another_count(name: str) -> None:
    """the same, counted without tg_faults, of records that tell kinds"""
    found = match(native_of(name), as_native(read(NATIVE / f"{name}.faults")))
    wanted = PAIRS[name]
    assert (found.native, found.ours, found.matched) == (wanted.native, wanted.predicted, wanted.matched)
    assert (found.missing.total(), found.extra.total()) == (wanted.missing, wanted.too_much)


def test_a_lost_line_is_missed(tmp_path: Path) -> None:
    """a fault less on either side is found on the other"""
    lines = (NATIVE / "hello.perf").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "less").write_text("".join(lines[:20] + lines[21:]), encoding="utf-8")
    (tmp_path / "more").write_text("".join(lines[:20] + lines[19:]), encoding="utf-8")
    whole = PAIRS["hello"]
    less = figures(good(f"--native={tmp_path / 'less'}", "native/hello.faults"))
    more = figures(good(f"--native={tmp_path / 'more'}", "native/hello.faults"))
    assert (less.native, less.missing, less.too_much) == (whole.native - 1, 0, whole.too_much + 1)
    assert (more.native, more.missing, more.too_much) == (whole.native + 1, 1, whole.too_much)


def test_pairs_have_no_paths_of_a_person() -> None:
    """the records are of programs that everybody has, and of our own"""
    for path in sorted(NATIVE.iterdir()):
        for name in re.findall(r"(?:^|[\s\t])(/[^\s]+)", path.read_text(encoding="utf-8")):
            assert re.match(r"/(?:usr|lib|lib64|etc|proc|dev|src/tlbgrind|tmp/tlbgrind-recorded)\b|/$", name), name


# ---------------------------------------------------------------- a program without a machine

Row = tuple[int, str, int]  # process, kind, page


def recorded_fixed() -> list[Row]:
    lines = (NATIVE / "fixed.native").read_text(encoding="ascii").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return [(int(process), kind, int(page, 16)) for process, kind, page in rows]


def rows(processes: Iterable[list[NativeFault]]) -> list[Row]:
    return [
        (number, fault.kind, fault.page)
        for number, faults in enumerate(processes, 1)
        for fault in faults
    ]


def test_a_fixed_program_has_the_recorded_faults(tmp_path: Path) -> None:
    """the faults of a program that is the same everywhere, page by page, in order, as recorded"""
    logs, _ = run(tmp_path, [client("fault_fixed")], AS_RECORDED)
    logs.sort(key=lambda log: "forked from" in log.header)
    assert rows(map(as_native, logs)) == recorded_fixed()


def test_the_record_has_both_processes_and_all_kinds() -> None:
    """the record is of both processes and all kinds that an error code can tell"""
    assert len(recorded_fixed()) > 200
    for process in (1, 2):
        assert {kind for number, kind, _ in recorded_fixed() if number == process} == set("xrwc")


def test_this_kernel_takes_the_recorded_faults(tmp_path: Path) -> None:
    """this kernel takes the faults that were recorded"""
    reason = why_no_native(tmp_path)
    if reason is not None:
        pytest.skip(reason)
    program = in_small_pieces(client("fault_fixed"), tmp_path)
    wanted = sorted((kind, page) for _, kind, page in recorded_fixed())
    # A page that another process has locked at the moment does not come along: never less.
    found = min((record(tmp_path, [program]) for _ in range(3)), key=len)
    assert sorted((fault.kind, fault.page) for fault in found) == wanted
