# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A disk of one's own, whose files can be taken out of the page cache."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = 128 << 20


def sh(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Disk:
    """A mounted file system on a loop device."""

    def __init__(self, folder: Path, loop: str) -> None:
        self.folder = folder
        device = Path("/sys/block") / Path(loop).name
        self._read_ahead, self._stat = device / "queue/read_ahead_kb", device / "stat"

    def set_read_ahead(self, kb: int) -> None:
        """For files that are opened from now on."""
        self._read_ahead.write_text(str(kb))

    def reads(self) -> tuple[int, int]:
        """Requests so far, and KiB."""
        words = self._stat.read_text().split()
        return int(words[0]), int(words[2]) // 2

    @staticmethod
    def forget(file: Path) -> None:
        """Takes the file out of the page cache."""
        sh("sync")
        fd = os.open(file, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


@contextmanager
def disk_with(tmp_path: Path, read_ahead_kb: int) -> Iterator[Disk]:
    """Skips the test, with the reason, where there can be none."""
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
        disk = Disk(folder, loop)
        disk.set_read_ahead(read_ahead_kb)
        sh("mount", loop, folder)
        yield disk
    finally:
        subprocess.run(["umount", folder], check=False, capture_output=True)
        sh("losetup", "-d", loop)
