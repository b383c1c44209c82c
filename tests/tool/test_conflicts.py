# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Options that exclude each other are refused, however the command line says them.

The tool lists all such pairs, from the tables that it refuses them by: each argument that gives one
feature with each that gives the other, be it the feature's switch or an option that implies it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tg_environment import TLBGRIND

MACHINE = "--machine=zen4"


def tool(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [TLBGRIND, "-q", "--tlbgrind-out-file=out", *options, "/bin/true"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=600, encoding="utf-8")


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What is refused, without the reasons."""
    assert done.returncode == 1, done.stderr
    lines = [line.partition(" ")[2] for line in done.stderr.splitlines()]
    assert lines[0].startswith("Bad option: ") and lines[-1].startswith("Use --help"), done.stderr
    pairs = lines[1:-1]
    assert all(": " in line for line in pairs), pairs
    assert lines[0] == f"Bad option: {pairs[0].partition(' goes without ')[0]}"
    return [line.partition(": ")[0] for line in pairs]


def listed() -> list[tuple[str, str]]:
    done = tool(Path("/"), "--list-conflicts")
    assert (done.returncode, done.stdout) == (0, "")
    pairs = [tuple(line.split(" ")) for line in done.stderr.splitlines()]
    assert all(len(pair) == 2 for pair in pairs)
    return pairs  # type: ignore[return-value]


PAIRS = listed()


def test_the_list_has_each_pair_once() -> None:
    assert len(set(PAIRS)) == len(PAIRS) > 50
    assert not set(PAIRS) & {(b, a) for a, b in PAIRS}


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_each_pair_is_refused_in_either_order(tmp_path: Path, pair: tuple[str, str]) -> None:
    machine = [] if any(arg.startswith("--machine=") for arg in pair) else [MACHINE]
    said = f"{pair[0]} goes without {pair[1]}"
    for order in (pair, pair[::-1]):
        assert said in complaints(tool(tmp_path, *machine, *order))
    assert os.listdir(tmp_path) == []


def test_each_argument_of_the_list_is_accepted_alone(tmp_path: Path) -> None:
    for number, arg in enumerate(sorted({arg for pair in PAIRS for arg in pair})):
        (tmp_path / str(number)).mkdir()
        machine = [] if arg.startswith("--machine=") else [MACHINE]
        done = tool(tmp_path / str(number), *machine, arg)
        assert done.returncode == 0, (arg, done.stderr)


def test_all_conflicts_of_a_command_line_are_told_at_once(tmp_path: Path) -> None:
    options = ("--copies=3", "--toggle-collect=main", "--as-cachegrind=yes", "--reach-out-file=r", "--timeline=yes")
    assert complaints(tool(tmp_path, MACHINE, *options)) == [
        "--timeline=yes goes without --toggle-collect=main",
        "--copies=3 goes without --toggle-collect=main",
        "--copies=3 goes without --as-cachegrind=yes",
        "--as-cachegrind=yes goes without --reach-out-file=r",
        "--as-cachegrind=yes goes without --timeline=yes",
    ]


def test_what_is_turned_off_again_excludes_nothing(tmp_path: Path) -> None:
    options = ("--reach=yes", "--as-cachegrind=yes", "--reach=no", "--cores=shared")
    assert tool(tmp_path, MACHINE, *options).returncode == 0
