# tg_huge.py -- huge pages of the host, for tests that use real ones.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

COUNT = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")


def set_aside(number: int) -> None:
    try:
        COUNT.write_text(str(number), encoding="ascii")
    except OSError as error:
        pytest.skip(f"huge pages cannot be set aside: {error.strerror}")


@contextlib.contextmanager
def huge_pages(number: int) -> Iterator[None]:
    """So many pages of 2M are set aside; where that cannot be, the test is skipped, with the reason."""
    if not COUNT.exists():
        pytest.skip("this host has no huge pages of 2M")
    if os.geteuid() != 0:
        pytest.skip("only root can set huge pages aside")
    # Tests run side by side, and the count is one for all.
    with open(Path(tempfile.gettempdir()) / "tlbgrind-huge-pages.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = int(COUNT.read_text(encoding="ascii"))
        set_aside(before + number)
        try:
            if int(COUNT.read_text(encoding="ascii")) < before + number:
                pytest.skip(f"this host has no memory for {number} huge pages")
            yield
        finally:
            set_aside(before)


@contextlib.contextmanager
def hugetlbfs(folder: Path, pages: int) -> Iterator[None]:
    """The folder is one of files in huge pages, of which there are so many."""
    with huge_pages(pages):
        folder.mkdir(parents=True)
        command = ["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "none", str(folder)]
        mounted = subprocess.run(command, capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            pytest.skip(f"a hugetlbfs cannot be mounted: {mounted.stderr.strip()}")
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)
