# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The 4k view against the kernel: from a disk without read-ahead, nothing comes along, so each code
page of a program faults by itself. The same pages, in the same order."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from native_support import PAGE, as_passed_on, record, run, why_no_native

PYTHON = Path("/usr/bin/python3")
SIZE = 64 << 20


def sh(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, without read-ahead."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system")
    for tool in ("mkfs.ext4", "losetup", "mount"):
        if shutil.which(tool, path="/sbin:/usr/sbin:/bin:/usr/bin") is None:
            pytest.skip(f"there is no {tool} here")
    image = tmp_path / "disk.image"
    with open(image, "wb") as out:
        out.truncate(SIZE)
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        sh("mkfs.ext4", "-q", image)
        loop = sh("losetup", "--find", "--show", image)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"there is no loop device here: {error.stderr.strip()}")
    try:
        read_ahead = Path("/sys/block") / Path(loop).name / "queue/read_ahead_kb"
        read_ahead.write_text("0")
        sh("mount", loop, folder)
        yield folder
    finally:
        subprocess.run(["umount", folder], check=False, capture_output=True)
        sh("losetup", "-d", loop)


def forget(folder: Path, file: Path) -> None:
    """Takes the file out of the page cache."""
    sh("sync")
    fd = os.open(file, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def test_code_pages(disk: Path, tmp_path: Path) -> None:
    """the code pages of CPython, one by one, as the 4k view has them"""
    reason = why_no_native(tmp_path)
    if reason is not None:
        pytest.skip(reason)
    if not PYTHON.exists():
        pytest.skip(f"there is no {PYTHON} here")
    program = disk / "python"
    shutil.copyfile(PYTHON.resolve(), program)
    program.chmod(0o755)
    command: list[str | Path] = [program, "-S", "-c", "pass"]
    variables = {"PYTHONHOME": "/usr"}
    (log,), _ = run(tmp_path, command, environment_more=variables)
    ours = [f for f in log.view("4k") if f.kind("4k") == "x" and f.map.name == str(program)]
    forget(disk, program)
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
