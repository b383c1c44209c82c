# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""TLBGRIND_NAME of tlbgrind.h: memory with a name is an object of data of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from data_support import DATA, FAULTS, MACHINE, Data, observe, only
from tg_environment import HAVE_X86, client
from tool_support import run

PROGRAMS = ["run_names", *(["run_names32"] if HAVE_X86 else [])]


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_name_has_what_the_program_did_with_its_memory(tmp_path: Path, program: str) -> None:
    done = observe(tmp_path, options=FAULTS, program=program)
    assert done.status == 0, done.err
    only(tmp_path).check(done.out.splitlines())


@pytest.mark.parametrize("more", [("--fast-path=no",), FAULTS, ("--as-cachegrind=yes",)])
def test_the_out_file_is_the_same_without_data(tmp_path: Path, more: tuple[str, ...]) -> None:
    bodies = []
    for name, options in (("on", DATA), ("no", ())):
        done = run(tmp_path / name, client("run_names"), options=[*options, *more], geometry=MACHINE)
        assert "Warning" not in done.err
        bodies.append(sorted("\n".join(row for row in f.body() if "pid" not in row) for f in done.files))
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("program", PROGRAMS)
def test_names_hold_in_all_threads(tmp_path: Path, program: str) -> None:
    done = observe(tmp_path, "threads", program=program)
    only(tmp_path).check(done.out.splitlines())


def test_a_child_has_its_parents_names(tmp_path: Path) -> None:
    lines = observe(tmp_path, "fork").out.splitlines()
    files = [Data(path) for path in tmp_path.glob("data.*")]
    (child,) = (data for data in files if "\nforked: " in data.path.read_text(encoding="utf-8"))
    (parent,) = (data for data in files if data is not child)
    child.check([line[6:] for line in lines if line.startswith("child ")])
    parent.check([line for line in lines if not line.startswith("child ")])


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_name_that_is_none_is_a_warning(tmp_path: Path, program: str) -> None:
    done = observe(tmp_path, "odd", program=program)
    assert done.status == 0, done.err
    warnings = re.findall(r"Warning: TLBGRIND_NAME\(.*\): (.*); ignored", done.err)
    unreadable = "the name is empty or can not be read"
    assert warnings == [unreadable, unreadable, "the memory ends beyond the last address"]
    data = only(tmp_path)
    data.check(["named xxx 0 1 - - - 1 -", "variable table 0 1 - - - 1 -"])


def test_without_data_a_bad_name_is_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, client("run_names"), "odd", options=("--calls=yes",), geometry=MACHINE, collect=False)
    assert (done.status, done.out) == (0, "") and "Warning" not in done.err
