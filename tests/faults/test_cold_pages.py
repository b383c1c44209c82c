# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The 4k view against the kernel: from a disk without read-ahead, nothing comes along, so each code
page of a program faults by itself. The same pages, in the same order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cold_support import Disk, disk_with
from native_support import PAGE, as_passed_on, record, run, why_no_native

PYTHON = Path("/usr/bin/python3")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with disk_with(tmp_path, read_ahead_kb=0) as made:
        yield made


def test_code_pages_are_those_of_the_4k_view(disk: Disk, tmp_path: Path) -> None:
    """the code pages of CPython, one by one, as the 4k view has them"""
    reason = why_no_native(tmp_path)
    if reason is not None:
        pytest.skip(reason)
    if not PYTHON.exists():
        pytest.skip(f"there is no {PYTHON} here")
    program = disk.folder / "python"
    shutil.copyfile(PYTHON.resolve(), program)
    program.chmod(0o755)
    command: list[str | Path] = [program, "-S", "-c", "pass"]
    variables = {"PYTHONHOME": "/usr"}
    (log,), _ = run(tmp_path, command, environment_more=variables)
    ours = [f for f in log.view("4k") if f.kind("4k") == "x" and f.map.name == str(program)]
    disk.forget(program)
    environment = {**as_passed_on(tmp_path), **variables}
    pages = {f.native for f in ours}
    low, high = min(pages) - 256 * PAGE, max(pages) + 256 * PAGE
    native = [
        f.page
        for f in record(tmp_path, command, environment)
        if f.kind == "x" and low <= f.page <= high
    ]
    # The page that was being read when it was asked for again is asked for twice.
    in_order = list(dict.fromkeys(native))
    assert len(in_order) > 100
    assert in_order == [f.native for f in ours]
