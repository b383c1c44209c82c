# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The timeline: misses, faults and pages over the run's instructions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tg_environment import HAVE_X86, client
from tg_written import written
from tool_support import run as run_tool

STILL = ["setarch", "-R", "env", "PERL_HASH_SEED=0"]
OPTIONS = ("--timeline=yes", "--timeline-out-file=timeline.%p")
PERL = ("perl", "-e", "$h{$_ * 7919 % 10007} = 'x' x ($_ % 300) for 1 .. 3000; print scalar keys %h")
BITS = ["", pytest.param("32", marks=pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool"))]


class Timeline(NamedTuple):
    header: dict[str, str]
    names: list[str]
    rows: list[list[int]]
    marks: list[tuple[int, str]]

    def sums(self) -> dict[str, int]:
        return dict(zip(self.names, map(sum, zip(*self.rows))))

    def inside(self, first: int, last: int) -> list[dict[str, int]]:
        """The rows that begin and end between two instructions."""
        found, at = [], 0
        for row in self.rows:
            if first <= at and at + row[0] <= last:
                found.append(dict(zip(self.names, row)))
            at += row[0]
        return found


def read(path: Path) -> Timeline:
    """Strict: what is not exactly of the form in docs/internals/formats.md is an error."""
    lines = written(path).split("\n")
    assert lines[0] == "# tlbgrind timeline" and lines[-2:] == ["end", ""]
    header: dict[str, str] = {}
    rows: list[list[int]] = []
    marks: list[tuple[int, str]] = []
    names: list[str] = []
    for line in lines[1:-2]:
        words = line.split("\t")
        if line.startswith("# "):
            assert not names
            key, _, value = line[2:].partition(": ")
            header[key] = value
        elif not names:
            names = words
        elif words[0] == "mark":
            marks.append((int(words[1]), words[2]))
        else:
            assert not marks and len(words) == len(names)
            rows.append(list(map(int, words)))
    return Timeline(header, names, rows, marks)


def totals(path: Path) -> dict[str, int]:
    """Of an out-file, by event."""
    found = dict(re.findall(r"^(events|totals): (.*)$", written(path), re.MULTILINE))
    return dict(zip(found["events"].split(), map(int, found["totals"].split())))


def only(folder: Path) -> Timeline:
    (path,) = folder.glob("timeline.*")
    return read(path)


@pytest.mark.parametrize("more", [(), ("--fast-path=no",), ("--calls=yes",), ("--data=yes",)])
def test_the_rows_add_up_to_the_out_files(tmp_path: Path, more: tuple[str, ...]) -> None:
    options = (*OPTIONS, "--faults=yes", "--machine=zen4,skylake,bonnell", *more)
    run_tool(tmp_path, *PERL, options=options, geometry=(), collect=False)
    sums = only(tmp_path).sums()
    numbers = {name: key[8:] for key, name in only(tmp_path).header.items() if key.startswith("machine ")}
    assert list(numbers) == ["zen4", "skylake", "bonnell"]
    for machine, number in numbers.items():
        (path,) = tmp_path.glob(f"out.*_{machine}")
        events = totals(path)
        assert sums["Ir"] == events["Ir"]
        assert sums["PF"] == events["PFi"] + events["PFr"] + events["PFw"]
        assert sums[f"L1tm {number}"] == events["I1tm"] + events["D1tmr"] + events["D1tmw"]
        assert sums[f"walks {number}"] == events["ILtm"] + events["DLtmr"] + events["DLtmw"]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("path", ["yes", "no"])
def test_the_pages_of_each_row_are_those_that_the_program_visits(tmp_path: Path, bits: str, path: str) -> None:
    done = run_tool(tmp_path, client("run_timeline" + bits), options=(*OPTIONS, f"--fast-path={path}"))
    timeline = only(tmp_path)
    begins = {phase: at for at, phase in timeline.marks}
    assert list(begins) == ["few", "many", "both", "end"]
    ends = dict(zip(begins, [*list(begins.values())[1:], timeline.sums()["Ir"]]))
    for line in done.out.splitlines():
        phase, pages = line.split()
        rows = timeline.inside(begins[phase], ends[phase])
        assert len(rows) > 3
        # In the third phase the program's loop itself runs for a few instructions.
        assert {row["data pages"] for row in rows} <= {int(pages), int(pages) + (phase == "both")}
        assert {row["code pages"] for row in rows} <= {1, 1 + (phase == "both")}


def test_the_distance_is_the_same_up_to_a_block(tmp_path: Path) -> None:
    run_tool(tmp_path, client("run_timeline"), options=OPTIONS)
    timeline = only(tmp_path)
    distance = int(timeline.header["distance"])
    assert 128 <= len(timeline.rows) <= 257
    at = 0
    for place, row in enumerate(timeline.rows[:-1], 1):
        at += row[0]
        assert abs(at - place * distance) < distance / 50


@pytest.mark.parametrize("more", [("--fast-path=no",), ("--machine=zen4,skylake",), ("--faults=yes",)])
def test_the_pages_do_not_depend_on_how_they_are_looked_up(tmp_path: Path, more: tuple[str, ...]) -> None:
    for name, options in (("one", ("--machine=zen4",)), ("two", more)):
        geometry = () if more[0].startswith("--machine") or name == "one" else ("--machine=zen4",)
        run_tool(tmp_path / name, *PERL, options=(*OPTIONS, *options), geometry=geometry, prefix=STILL)
    one, two = only(tmp_path / "one"), only(tmp_path / "two")
    assert [row[:3] for row in one.rows] == [row[:3] for row in two.rows]


def test_counts_are_those_of_a_run_without(tmp_path: Path) -> None:
    machine = "--machine=zen4"
    one = run_tool(tmp_path / "one", *PERL, options=(*OPTIONS, machine), geometry=(), prefix=STILL)
    two = run_tool(tmp_path / "two", *PERL, options=(machine,), geometry=(), prefix=STILL)
    assert one.only().body() == two.only().body()


def test_a_forked_child_has_a_timeline_of_its_own(tmp_path: Path) -> None:
    code = "for (1 .. 50000) { $x += $_ } if (fork) { wait } else { for (1 .. 5000) { $x += $_ } }"
    files = run_tool(tmp_path, "perl", "-e", code, options=OPTIONS).files
    assert len(files) == 2
    for out in files:
        assert read(tmp_path / f"timeline.{out.pid}").sums()["Ir"] == out.summary[0]


def test_a_part_has_the_timeline_of_that_part(tmp_path: Path) -> None:
    done = run_tool(tmp_path, client("run_region"), "zero", options=OPTIONS)
    assert only(tmp_path).sums()["Ir"] == done.only().summary[0]
