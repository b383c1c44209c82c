# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""An object of data is the same row in several data files, whatever numbers the runs gave it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from annotate_support import DATA_HEAD, run
from tg_tables import csv_rows

# A function and the line, from the innermost on; all is in one file.
Stack = tuple[tuple[str, int], ...]

MAKE: Stack = (("make", 3), ("get", 7))
BY_ONE: Stack = (*MAKE, ("one", 20), ("main", 90))
BY_TWO: Stack = (*MAKE, ("two", 30), ("main", 91))
BY_NEW: Stack = (*MAKE, ("new", 40), ("main", 89))
OTHER: Stack = (("other", 5), ("main", 92))


def write(place: Path, objects: Mapping[Stack, int]) -> None:
    """A data file: blocks of heap, numbered in this order, and how often each is read."""
    text = DATA_HEAD
    for number, stack in enumerate(objects, 1):
        text += f"\nobject: {number} heap pages 1 touched 8 blocks 1 bytes 8\n"
        text += "".join(f"frame: {function}\nat: {line} a.c\nin: /a\n" for function, line in stack)
    text += "\nmachine: m\nevents: Ir Dr\n\nob=(1) /a\nfl=(1) a.c\nfn=(1) main\n"
    text += "".join(f"9 {number} 0 {reads}\n" for number, reads in enumerate(objects.values(), 1))
    place.write_text(f"{text}\ntotals: 0 {sum(objects.values())}\n\nend\n", encoding="utf-8")


def rows(place: Path, *arguments: str, column: str = "Dr") -> dict[str, str]:
    done = run(place, "--by=data", "--threshold=0", "--sort=Dr", "--format=csv", *arguments)
    assert done.status == 0, done.err
    return {row["data"]: row[column] for row in csv_rows(done.out.decode()) if row["table"] == "data" and row["data"]}


LABEL = "heap make (a.c:3) < get (a.c:7)"


def test_numbers_of_another_run_are_no_names(tmp_path: Path) -> None:
    """The second run has one object more, in front of the others: all that follow have another number."""
    write(tmp_path / "a", {BY_ONE: 100, BY_TWO: 10, OTHER: 1})
    write(tmp_path / "b", {BY_NEW: 5, BY_ONE: 103, BY_TWO: 10, OTHER: 1})
    assert list(rows(tmp_path, "a")) == [f"{LABEL} #1", f"{LABEL} #2", "heap other (a.c:5) < main (a.c:92)"]
    changed = {name: count for name, count in rows(tmp_path, "--diff", "a", "b").items() if count != "0"}
    assert changed == {f"{LABEL} #1 of b": "5", f"{LABEL} #1": "3"}
    changed = {name: count for name, count in rows(tmp_path, "--diff", "b", "a").items() if count != "0"}
    assert changed == {f"{LABEL} #1": "-5", f"{LABEL} #2": "-3"}
    both = rows(tmp_path, "a", "b")
    assert (both[f"{LABEL} #1"], both[f"{LABEL} #2"], both[f"{LABEL} #1 of b"]) == ("203", "20", "5")
    beside = rows(tmp_path, "--compare", "a", "b", column="Dr:b")
    assert (beside[f"{LABEL} #1"], beside[f"{LABEL} #2"], beside[f"{LABEL} #1 of b"]) == ("103", "10", "5")


def test_a_changed_line_leaves_an_object_what_it_is(tmp_path: Path) -> None:
    """Of its callers; what only one object is called by keeps its name, whoever calls."""
    later: Stack = (*MAKE, ("two", 35), ("main", 96))
    write(tmp_path / "a", {BY_ONE: 100, BY_TWO: 10})
    write(tmp_path / "b", {later: 30, BY_ONE: 100})
    assert rows(tmp_path, "--diff", "a", "b") == {f"{LABEL} #2": "20"}
    write(tmp_path / "a", {BY_ONE: 100})
    write(tmp_path / "b", {BY_TWO: 90})
    assert rows(tmp_path, "--diff", "a", "b") == {LABEL: "-10"}


@pytest.mark.parametrize("of", ["#1", f"{LABEL} #2"])
def test_a_number_chooses_in_one_file_only(tmp_path: Path, of: str) -> None:
    write(tmp_path / "a", {BY_ONE: 100, BY_TWO: 10})
    done = run(tmp_path, "--by=data", f"--of={of}", "--diff", "a", "a")
    see = " (tg_annotate --help lists what is allowed)"
    said = f"tg_annotate: error: --of={of}: a number is of one data file only, not of 2{see}\n"
    assert (done.status, done.out, done.err.decode()) == (1, b"", said)
    assert len(rows(tmp_path, f"--of={of}", "a")) == 1


def test_a_data_file_may_come_through_a_pipe(tmp_path: Path) -> None:
    write(tmp_path / "a", {BY_ONE: 100})
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cp", "a", "pipe"], cwd=tmp_path):
        assert rows(tmp_path, "pipe") == {LABEL: "100"}
    with subprocess.Popen(["cp", "/dev/null", "pipe"], cwd=tmp_path):
        done = run(tmp_path, "--by=data", "pipe")
    assert (done.status, done.out) == (1, b"")
    assert done.err == b"tg_annotate: error: pipe:1: not a data file: the first line is not '# tlbgrind data'\n"
