# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--copies=: instances of the program that share the TLBs of a core."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from call_graph import read_graph
from tg_environment import client
from tool_support import OutFile, Run, messages, run

LITTLE = ("--itlb=512,full", "--dtlb=64,full")


def observe(folder: Path, *arguments: object, options: Sequence[str] = (), machines: Sequence[str] = LITTLE) -> Run:
    done = run(folder, client("run_interrupted"), *arguments, options=options, geometry=machines)
    assert done.status == 0, done.err
    return done


def copies_of(out: OutFile) -> list[dict[str, int]]:
    rows = [row.split() for row in out.descriptions("Copy")]
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    return [dict(zip(row[1::2], map(int, row[2::2]))) for row in rows]


def added(folder: Path, pages: int, *options: str) -> list[int]:
    """Data misses of each copy that 50 rounds over so many pages add."""
    rows = [
        copies_of(observe(folder / name, "computes", rounds, pages, options=options).only())
        for name, rounds in (("fewer", 50), ("more", 100))
    ]
    return [b["D1tm"] - a["D1tm"] for a, b in zip(*rows)]


@pytest.mark.parametrize("copies, pages, missed", [(2, 20, False), (2, 40, True), (4, 10, False), (4, 20, True)])
def test_copies_share_the_entries(tmp_path: Path, copies: int, pages: int, missed: bool) -> None:
    """64 entries, LRU: the pages of all copies have room, or all miss, and that of the stack."""
    assert added(tmp_path, pages, f"--copies={copies}") == [50 * (pages + 1) if missed else 0] * copies


def test_copies_that_are_apart_miss_as_often_in_all(tmp_path: Path) -> None:
    assert added(tmp_path, 40, "--copies=2:17") == [50 * 41] * 2


def test_the_first_copy_is_the_program(tmp_path: Path) -> None:
    done = observe(tmp_path, "calls", 20, 50, options=["--copies=3:5"])
    first = copies_of(done.only())[0]
    places = [done.only().field("events").split().index(event) for event in ("Ir", "I1tm", "D1tmr", "D1tmw")]
    instructions, fetches, reads, writes = (done.only().summary[place] for place in places)
    assert (first["Ir"], first["I1tm"], first["D1tm"]) == (instructions, fetches, reads + writes)
    rows = [line for line in messages(done.err) if line.lstrip().startswith(("1 ", "2 ", "3 "))]
    assert len(rows) == 3


@pytest.mark.parametrize("options", [
    ("--copies=4",), ("--copies=3:17",), ("--copies=2:1000", "--faults=yes"), ("--copies=3:5", "--page-size=8K"),
])  # fmt: skip
@pytest.mark.parametrize("machines", ["skylake", "zen4@all:64K", "core2,ultrasparc-t1,power8,haswell"])
def test_the_fast_path_counts_what_every_reference_counts(
    tmp_path: Path, options: tuple[str, ...], machines: str
) -> None:
    if "--page-size=8K" not in options and "ultrasparc" in machines:
        machines = machines.replace("ultrasparc-t1", "bonnell")
    files = [
        observe(tmp_path / path, "calls", 30, 60, options=[*options, f"--fast-path={path}"], machines=[f"--machine={machines}"]).files
        for path in ("yes", "no")
    ]
    for fast, slow in zip(*files, strict=True):
        assert fast.lines == slow.lines and copies_of(fast) == copies_of(slow)


def test_code_that_is_discarded_is_still_executed_by_copies_that_are_behind(tmp_path: Path) -> None:
    def counts(behind: int, fast: str) -> list[dict[str, int]]:
        options = [f"--copies=3:{behind}", f"--fast-path={fast}"]
        return copies_of(run(tmp_path / f"{behind}{fast}", client("run_code"), options=options, geometry=LITTLE).only())

    rows = [counts(behind, "yes") for behind in (0, 100000)]
    assert rows == [counts(behind, "no") for behind in (0, 100000)]
    assert all(row[0]["Ir"] == row[1]["Ir"] == row[2]["Ir"] > 0 for row in rows)
    assert all(row["I1tm"] > 0 for row in rows[1])


def test_inclusive_costs_are_those_of_the_program(tmp_path: Path) -> None:
    plain = observe(tmp_path / "plain", "calls", 20, 50, options=["--copies=3"]).only()
    run(
        tmp_path / "calls", client("run_interrupted"), "calls", 20, 50, options=["--copies=3", "--calls=yes"],
        geometry=LITTLE, collect=False,
    )  # fmt: skip
    (path,) = (tmp_path / "calls").glob("out.*")
    g = read_graph(path)
    assert g.totals == plain.summary
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("desc: Copy: ")]
    assert rows == [f"desc: Copy: {row}" for row in plain.descriptions("Copy")]
    rest = g.out_of_balance()
    no_function = rest.pop(("???", "???"), (0,) * len(g.events))
    assert [tuple(map(sum, zip(costs, no_function))) for costs in rest.values()] == [g.totals]


def test_one_copy_is_as_without(tmp_path: Path) -> None:
    plain = observe(tmp_path / "plain", "calls", 20, 50)
    one = observe(tmp_path / "other", "calls", 20, 50, options=["--copies=1"])
    assert plain.only().lines == one.only().lines and not one.only().descriptions("Copy")


def test_a_shared_context_has_one_translation_of_what_files_have(tmp_path: Path) -> None:
    own = copies_of(observe(tmp_path / "own", "calls", 5, 5, options=["--copies=2"], machines=["--machine=zen4"]).only())
    same = copies_of(
        observe(
            tmp_path / "same", "calls", 5, 5,
            options=["--copies=2", "--shared-context=yes"], machines=["--machine=zen4"],
        ).only()
    )  # fmt: skip
    assert own[0] == own[1] and own[0]["ILtm"] > 20
    # All code is of files, which the first copy has brought; of data the stack and variables are its own.
    assert same[1]["ILtm"] == 0 < same[1]["DLtm"] < own[1]["DLtm"]


def test_machines_of_one_run_count_as_each_alone(tmp_path: Path) -> None:
    names = ("skylake", "ultrasparc-t1@anon:64K", "core2")
    options = ["--copies=3:7", "--page-size=8K"]
    together = observe(tmp_path / "all", "calls", 9, 90, options=options, machines=[f"--machine={','.join(names)}"])
    for i, name in enumerate(names):
        alone = observe(tmp_path / f"{i:03}", "calls", 9, 90, options=options, machines=[f"--machine={name}"]).only()
        ours = next(out for out in together.files if out.descriptions("Machine") == [name])
        assert (ours.lines, copies_of(ours)) == (alone.lines, copies_of(alone)), name


@pytest.mark.parametrize("options, complaint", [
    (("--copies=0",), "allowed are 1 to 127 copies"),
    (("--copies=128",), "allowed are 1 to 127 copies"),
    (("--copies=2:",), "allowed are 1 to 127 copies"),
    (("--copies=2:1000001",), "up to 1000000 references"),
    (("--copies=2", "--flush-policy=linux"), "--copies=2 goes without --flush-policy=linux"),
    (("--copies=2", "--cores=2"), "--copies=2 goes without --cores=2"),
    (("--copies=2", "--toggle-collect=main"), "--copies=2 goes without --toggle-collect=main"),
    (("--copies=67", "--stlb=4004,4"), "(array STLB), not so many copies can be told apart"),
    (("--copies=2", "--as-cachegrind=yes"), "--copies=2 goes without --as-cachegrind=yes"),
    (("--copies=2", "--prefetch=weak"), "--copies=2 goes without --prefetch=weak"),
    (("--copie=2",), "--copies"),
])  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, options: tuple[str, ...], complaint: str) -> None:
    done = run(tmp_path, client("run_interrupted"), options=options, geometry=LITTLE, collect=False)
    assert done.status == 1 and complaint in done.err, done.err
