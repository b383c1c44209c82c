# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Which files of a folder land in the page of a run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from report_support import (
    costly_file,
    data_of,
    needs_library,
    out_file,
    reach_file,
    run,
    timeline_file,
)
from tg_companions import refused

pytestmark = needs_library

COSTS = [("one", 1, 20)]


def a_run(folder: Path) -> list[str]:
    """Two machines and a timeline of one run, in the order of the timeline."""
    folder.mkdir(exist_ok=True)
    for name in ("z-first", "a-second"):
        costly_file(folder / f"out.7_{name.replace('-', '_')}", COSTS, name)
    timeline = timeline_file(folder)
    text = timeline.read_text().replace("./waves", "./costly").replace("made", "z-first\n# machine 2: a-second")
    rows = text.replace("walks 1", "walks 1\tL1tm 2\twalks 2").split("\n")
    rows = [f"{row}\t0\t0" if row[:1].isdigit() else row for row in rows]
    timeline.write_text("\n".join(rows))
    return ["z-first", "a-second"]


def page_of(folder: Path, *arguments: object) -> Any:
    page = folder / "page.html"
    assert run(folder, *arguments, "-o", page) == (0, b"", b"")
    return data_of(page)


def names(data: Any) -> list[str]:
    return [machine["name"] for machine in data["machines"]]


def test_of_one_file_the_whole_run_is_taken_with_its_machines_in_their_order(tmp_path: Path) -> None:
    machines = a_run(tmp_path)
    costly_file(tmp_path / "other", COSTS, "other").write_text((tmp_path / "out.7_z_first").read_text().replace("pid: 7", "pid: 8"))
    (tmp_path / "notes.txt").write_text("nothing of tlbgrind\n")
    for one in ("out.7_a_second", "out.7_z_first", "made.timeline"):
        data = page_of(tmp_path, one)
        assert names(data) == machines and len(data["timelines"]) == 1


def test_the_files_alone_tell_the_order_of_the_machines(tmp_path: Path) -> None:
    a_run(tmp_path)
    (tmp_path / "made.timeline").unlink()
    assert names(page_of(tmp_path, "out.7_z_first")) == ["z-first", "a-second"]
    for number, name in enumerate(("out.7_a_second", "out.7_z_first"), 1):
        path = tmp_path / name
        path.write_text(path.read_text().replace("desc: Machine:", f"desc: Machine number: {number} of 2\ndesc: Machine:"))
    assert names(page_of(tmp_path, "out.7_z_first")) == ["a-second", "z-first"]


def test_of_one_file_alone_nothing_else_is_taken(tmp_path: Path) -> None:
    a_run(tmp_path)
    data = page_of(tmp_path, "--only", "out.7_a_second")
    assert names(data) == ["a-second"] and data["timelines"] == []


def test_of_several_files_these_are_taken(tmp_path: Path) -> None:
    a_run(tmp_path)
    out_file(tmp_path / "before", [("one", 3)], "before")
    assert names(page_of(tmp_path, "before", "out.7_z_first")) == ["before", "z-first"]


def test_of_a_folder_the_newest_run_is_taken_and_the_others_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    machines = a_run(folder)
    assert names(page_of(tmp_path, folder)) == machines
    older = reach_file(folder)
    for path in folder.iterdir():
        os.utime(path, (2000, 2000))
    os.utime(older, (1000, 1000))
    done = run(tmp_path, "runs", "-o", "page.html")
    assert (done.status, names(data_of(tmp_path / "page.html"))) == (0, machines)
    assert done.err == (
        b"tg_report: warning: runs: the newest of 2 runs is shown, process 7 (./costly); "
        b"name a file of another\n"
    )
    os.utime(older, (3000, 3000))
    assert run(tmp_path, "runs", "-o", "page.html").status == 0
    assert names(data_of(tmp_path / "page.html")) == []


def test_a_folder_without_files_of_a_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused("tg_report", tmp_path, "empty: no file of tlbgrind is in this folder", "empty", "-o", "page")


@pytest.mark.parametrize("named", ["out", "."])
def test_counts_of_threads_and_earlier_parts_are_not_taken_along(tmp_path: Path, named: str) -> None:
    whole = costly_file(tmp_path / "out", COSTS, "made", Thread="1")
    text = whole.read_text()
    (tmp_path / "out_thread_1").write_text(text.replace("desc: Thread: 1", "desc: Of thread: 1"))
    (tmp_path / "out.1").write_text(text.replace("pid: 7", "pid: 7\npart: 1"))
    whole.write_text(text.replace("pid: 7", "pid: 7\npart: 2"))
    (machine,) = page_of(tmp_path, named)["machines"]
    assert Path(machine["file"]).name == "out"


def test_phases_are_taken_along(tmp_path: Path) -> None:
    whole = costly_file(tmp_path / "out", COSTS, "made", Note="whole")
    (tmp_path / "out_load").write_text(whole.read_text().replace("desc: Note: whole", "desc: Of phase: load"))
    data = page_of(tmp_path, "out")
    assert names(data) == ["made"] and data["tables"][0]["title"] == "Phases"


def test_the_page_is_not_written_over_a_file_that_was_found(tmp_path: Path) -> None:
    a_run(tmp_path)
    complaint = "made.timeline: the page would be written over a file that it is made from"
    refused("tg_report", tmp_path, complaint, "out.7_z_first", "-o", "made.timeline")


def test_no_file_is_in_a_page_twice(tmp_path: Path) -> None:
    a_run(tmp_path / "there")
    first = tmp_path / "there/out.7_z_first"
    (tmp_path / "link").symlink_to(first)
    why = "the page would have its counts twice"
    for files, what in (
        ((first, first), f"{first}: named twice"),
        ((first, "link"), f"link: the same file as {first}"),
        (("there", "link"), "link: the same file as there/out.7_z_first"),
    ):
        assert run(tmp_path, *files) == (1, b"", f"tg_report: error: {what}: {why}\n".encode())
