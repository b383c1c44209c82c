# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""How `make check-valgrind` reads tests and its list of known differences; the run itself is apart."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from check_valgrind import KNOWN, Verdict, execute, judge, known, part_of, recorded
from valgrind_programs import Program, programs


def test_the_list_can_be_read() -> None:
    assert known("3.19.0", KNOWN.read_text(encoding="utf-8"))["memcheck/sh-mem"] == "native"
    assert known("2.0.0", KNOWN.read_text(encoding="utf-8")) == {}


@pytest.mark.parametrize("line", ["3.19.0 a/b native", "3.19.0 a/b odd since it is", "3.19.0 a/b differs x\n3.24.0,3.19.0 a/b differs y"])
def test_a_line_without_a_reason_an_unknown_kind_or_a_test_twice(line: str) -> None:
    with pytest.raises(SystemExit, match=KNOWN.name):
        known("3.19.0", line)


def test_the_list_can_only_shrink() -> None:
    listed = {"a/same": "differs", "a/gone": "native", "a/listed": "native", "a/other": "native", "a/varies": "paths"}
    verdicts = {
        "a/same": Verdict("same"),
        "a/listed": Verdict("native"),
        "a/other": Verdict("differs", "status 0, 1"),
        "a/varies": Verdict("varies"),
        "a/new": Verdict("files", "no out-file"),
    }
    stale = [f"STALE: a/gone: no such test: take its line out of {KNOWN.name}", f"STALE: a/same: same: take its line out of {KNOWN.name}"]
    assert judge(verdicts, listed, True) == ["NEW: a/new: files: no out-file", "NEW: a/other: differs: status 0, 1", *stale]
    assert judge(verdicts, listed, False)[2:] == stale[1:]


def test_programs_of_vgtest_files(tmp_path: Path) -> None:
    folder = tmp_path / "none" / "tests"
    (folder / "amd64").mkdir(parents=True)
    (folder / "there").touch()
    (folder / "a.vgtest").write_text("# a comment\nprog: there\nargs: 1 2\nvgopts: -q --smc-check=all\nvgopts: --max-threads=9 --leak-check=yes\n", encoding="ascii")
    (folder / "again.vgtest").write_text("prog: there 1  2\nvgopts: --smc-check=all --max-threads=9\n", encoding="ascii")
    (folder / "amd64" / "path.vgtest").write_text("prog: true\nprereq: test -e x\ncleanup: rm -f y\n", encoding="ascii")
    found = list(programs(tmp_path))
    assert [(p.name, p.command, p.options, p.needs, p.cleanup) for p in found] == [
        ("none/a", "./there 1 2", ("--smc-check=all", "--max-threads=9"), "", ""),
        ("none/amd64/path", "true", (), "test -e x", "rm -f y"),
    ]


def test_parts_are_numbered_from_one() -> None:
    assert part_of("2/3") == (2, 3)
    for wrong in ("0/3", "4/3", "1", "1/0", "a/b", "-1/3"):
        with pytest.raises(argparse.ArgumentTypeError, match="K/N"):
            part_of(wrong)


def test_a_record_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    file = tmp_path / "record"
    assert recorded(file) == {}
    file.write_text('["a/b", "same", ""]\n["c/d", "differs", "x: y"]\n["e/f", "sa', encoding="utf-8")
    assert recorded(file) == {"a/b": Verdict("same"), "c/d": Verdict("differs", "x: y")}


def test_a_process_left_behind_may_end_by_itself(tmp_path: Path) -> None:
    late = "(sleep 0.3; echo late > late) > /dev/null 2>&1 & echo early"
    outcome = execute(Program("a/b", tmp_path, late, (), "", ""), [], 60)
    assert outcome is not None and outcome.out == b"early\n"
    assert (tmp_path / "late").exists()
