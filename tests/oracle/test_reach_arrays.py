# test_reach_arrays.py -- the reach curve against runs with the arrays that it speaks for.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""One run with --reach=yes says what fully associative LRU arrays of every size miss.  Each point of
it is what a run with that array misses in its first level, to the digit.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle_programs import PROGRAMS, Program, client, make_place
from oracle_support import tlbgrind
from tg_long import long_but

NAMES = ("ls", "perl", "bzip2", "sqlite3")
MACHINE = ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8")

Curves = dict[str, list[int]]


def programs() -> list[Program]:
    chosen = [program for program in PROGRAMS if program.name in NAMES]
    assert len(chosen) == len(NAMES)
    return [*chosen, client("oracle_refs")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_place(tmp_path_factory.mktemp("reach"))


def curves(path: Path) -> Curves:
    """Columns by name, the misses of 8 entries first."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    return {name: [int(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def measure(program: Program, place: Path, *options: str) -> tuple[Curves, tuple[int, ...]]:
    path = place.with_name(place.name + ".reach")
    profile = tlbgrind([*MACHINE, "--reach=yes", f"--reach-out-file={path}", *options], program.line(), place)
    return curves(path), profile.totals


@pytest.mark.parametrize("program", long_but(lambda program: program.name not in ("perl", "sqlite3"), programs()), ids=lambda program: program.name)
def test_each_point_of_the_curve_is_a_run_with_that_array(program: Program, place: Path) -> None:
    reach, _ = measure(program, place)
    assert list(reach) == ["entries", "I-4K", "I-64K", "I-2M", "D-4K", "D-64K", "D-2M"]
    for entries, page in ((8, "4K"), (9, "4K"), (17, "4K"), (64, "4K"), (300, "4K"), (8, "64K"), (12, "64K"), (8, "2M")):
        arrays = [f"--itlb={entries},full", f"--dtlb={entries},full", f"--page-size={page}"]
        totals = tlbgrind(arrays, program.line(), place).totals
        assert (page, reach[f"I-{page}"][entries - 8]) == (page, totals[1])
        assert (page, reach[f"D-{page}"][entries - 8]) == (page, totals[4] + totals[7])
    # It was not the same everywhere.
    assert reach["D-4K"][0] > reach["D-4K"][64 - 8] > reach["D-2M"][0]


@pytest.mark.parametrize("program", long_but(lambda program: program.name not in ("perl", "sqlite3"), programs()), ids=lambda program: program.name)
def test_the_fast_path_does_not_change_the_curve(program: Program, place: Path) -> None:
    """Neither the curve, nor beside it the counts of the machine."""
    fast = measure(program, place)
    slow = measure(program, place, "--fast-path=no")
    assert fast == slow
    assert fast[1] == tlbgrind(MACHINE, program.line(), place).totals
