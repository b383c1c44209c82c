# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""An option that is of no use without a feature turns it on, as the feature's own switch does.

The tool lists all such pairs, from the tables that it turns features on by: a feature's switch, and
an argument that implies it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tg_environment import TLBGRIND


def tool(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [TLBGRIND, "-q", "--machine=zen4", "--tlbgrind-out-file=out", *options, "/bin/true"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=600, encoding="utf-8")


def listed() -> list[tuple[str, str]]:
    done = tool(Path("/"), "--list-implied")
    assert (done.returncode, done.stdout) == (0, "")
    pairs = [tuple(line.split(" ")) for line in done.stderr.splitlines()]
    assert all(len(pair) == 2 for pair in pairs)
    return pairs  # type: ignore[return-value]


PAIRS = listed()


def written(folder: Path, *options: str) -> set[str]:
    """What kinds of files a run writes, and whether they have offsets in records, and calls."""
    folder.mkdir()
    done = tool(folder, *options)
    assert done.returncode == 0, done.stderr
    files = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name != "out"]
    found = {text.partition("\n")[0] for text in files}
    found |= {"record:" for text in files if "\nrecord: " in text}
    calls = "\ncalls=" in (folder / "out").read_text(encoding="utf-8")
    return found | ({"calls="} if calls else set())


def test_the_list_has_each_pair_once() -> None:
    assert len(set(PAIRS)) == len(PAIRS) > 12
    assert {("--faults=yes", "--mthp=none"), ("--data=yes", "--data-stride=main:8")} < set(PAIRS)
    assert all(switch.endswith("=yes") and argument != switch for switch, argument in PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_an_argument_does_what_the_switch_that_it_implies_does(tmp_path: Path, pair: tuple[str, str]) -> None:
    switch, argument = pair
    by_switch = written(tmp_path / "switch", switch)
    assert by_switch
    assert written(tmp_path / "argument", argument) >= by_switch
    assert written(tmp_path / "both", switch, argument) == written(tmp_path / "alone", argument)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_a_switch_that_is_off_contradicts_what_implies_it(tmp_path: Path, pair: tuple[str, str]) -> None:
    off = pair[0].replace("=yes", "=no")
    for order in ((off, pair[1]), (pair[1], off)):
        done = tool(tmp_path, *order)
        assert done.returncode == 1
        lines = [line.partition(" ")[2] for line in done.stderr.splitlines()]
        assert lines[:2] == [f"Bad option: {pair[1]}", f"{off} contradicts it; leave out one of them"]
    assert list(tmp_path.iterdir()) == []
