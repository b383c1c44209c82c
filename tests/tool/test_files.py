# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The files of one run: none hides another, whatever they are called and wherever they go."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path

from tg_names import label_of
from tool_support import client, run

PROCESS = (client("run_process"), "exit", 3)
SHIPPED = sorted(path.stem for path in Path(os.environ["TG_SRCDIR"], "tlbgrind/machines").glob("*.machine"))


# ---------------------------------------------------------------- names


def parts_for_kcachegrind(name: str, folder: list[str]) -> set[str]:
    """What it adds up when it opens `name`: TraceData::load() takes the files that match NAME.* and
    NAME-*, by Qt's rules for names in folders, which know no upper case and no hidden files."""
    patterns = (f"{name}.*".lower(), f"{name}-*".lower())
    return {name} | {
        other
        for other in folder
        if not other.startswith(".") and any(fnmatch.fnmatchcase(other.lower(), pattern) for pattern in patterns)
    }


def test_kcachegrind_adds_up_no_two_files(tmp_path: Path) -> None:
    """All machines that are shipped, rules, what a process was before exec, and NAME itself."""
    rules = ["zen4@thp", "zen4@heap:2M", "zen4@heap:2M+text:64K", "zen4@/lib/x-1.so:64K", "zen4@/lib/*.so:64K"]
    half = len(SHIPPED) // 2
    for names in (SHIPPED[:half], SHIPPED[half:], [*rules, "zen4"], ["apple-m1"]):
        r = run(tmp_path, *PROCESS, options=[f"--machine={','.join(names)}"], geometry=(), out_file="out", collect=False)
        assert r.status == 3, r.err
    options = ["--machine=apple-m1,apple-m1-e", "--trace-children=yes"]
    run(tmp_path, client("run_exec"), 1, client("run_exec"), 2, options=options, geometry=(), out_file="out", collect=False)
    run(tmp_path, client("run_exec"), 1, client("run_exec"), 2, options=options[1:], out_file="out", collect=False)
    files = sorted(os.listdir(tmp_path))
    expected = {f"out_{label_of(name)}" for name in SHIPPED} | {"out", "out_exec1", "out_apple_m1_exec1"}
    assert expected <= set(files)
    assert len(files) == len(SHIPPED) + len(rules) + 4
    assert {name: parts_for_kcachegrind(name, files) for name in files} == {name: {name} for name in files}
