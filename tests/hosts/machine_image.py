# machine_image.py -- the first file system of an emulated machine, as an archive that Linux unpacks.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Linux's Documentation/driver-api/early-userspace/buffer-format.rst describes the archive."""

from __future__ import annotations

import gzip
import stat
from pathlib import PurePosixPath


class Image:
    """Absolute paths; folders come by themselves."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._folders = {"/"}
        self._number = 0

    def file(self, path: str, content: bytes) -> None:
        self._folder(str(PurePosixPath(path).parent))
        self._entry(path, stat.S_IFREG | 0o755, content)

    def link(self, path: str, target: str) -> None:
        self._folder(str(PurePosixPath(path).parent))
        self._entry(path, stat.S_IFLNK | 0o777, target.encode())

    def device(self, path: str, major: int, minor: int) -> None:
        self._folder(str(PurePosixPath(path).parent))
        self._entry(path, stat.S_IFCHR | 0o666, b"", (major, minor))

    def folder(self, path: str) -> None:
        self._folder(path)

    def archive(self) -> bytes:
        self._entry("TRAILER!!!", 0, b"")
        return gzip.compress(b"".join(self._parts), 1)

    def _folder(self, path: str) -> None:
        if path not in self._folders:
            self._folder(str(PurePosixPath(path).parent))
            self._folders.add(path)
            self._entry(path, stat.S_IFDIR | 0o755, b"")

    def _entry(self, path: str, mode: int, content: bytes, device: tuple[int, int] = (0, 0)) -> None:
        self._number += 1
        name = path.lstrip("/").encode() + b"\0"
        numbers = (self._number, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(name), 0)
        head = b"070701" + b"".join(b"%08X" % n for n in numbers) + name
        for part in (head, content):
            self._parts.append(part + bytes(-len(part) % 4))
