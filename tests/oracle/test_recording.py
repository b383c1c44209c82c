# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Recording page faults changes no count: the program starts, and lies, the same in every run."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle_programs import CLIENT_NAMES, PROGRAMS, Program, client, make_place
from oracle_support import EVENTS, out_path, outfile, valgrind
from tg_long import every_second

SUBJECTS = [*PROGRAMS, *map(client, CLIENT_NAMES)]
Counts = dict[tuple[str, str, int], tuple[int, ...]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_place(tmp_path_factory.mktemp("place"))


def counts(program: Program, place: Path, *options: str) -> tuple[bytes, Counts]:
    """What the program prints, and references and misses by file, function and line."""
    path = out_path(place)
    given = ["--tool=tlbgrind", "-q", "--machine=skylake", f"--tlbgrind-out-file={path}", *options]
    printed, _ = valgrind(given, program.line(), place)
    data = outfile.read(str(path))
    assert data.events[: len(EVENTS)] == EVENTS
    width = len(data.events) + 1
    found: Counts = {}
    for (function, file), run in data.runs.items():
        for start in range(0, len(run.rows), width):
            number, *row = run.rows[start : start + width]
            at = (file, function.name, number)
            before = found.get(at, (0,) * len(EVENTS))
            found[at] = tuple(a + b for a, b in zip(before, row))
    return printed, {at: row for at, row in found.items() if any(row)}


@pytest.mark.parametrize("program", [*every_second(PROGRAMS), *map(client, CLIENT_NAMES)], ids=[p.name for p in SUBJECTS])
def test_recording_faults_changes_no_count(program: Program, place: Path) -> None:
    printed, plain = counts(program, place)
    also_printed, recorded = counts(program, place, "--faults=yes", "--faults-out-file=/dev/null")
    assert also_printed == printed
    assert plain == recorded
    assert sum(row[0] for row in plain.values()) > 1000
