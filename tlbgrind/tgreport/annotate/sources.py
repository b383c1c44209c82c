# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds and reads the source files that an out-file names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MOST_NAME = 4096  # what the kernel takes


class Source(NamedTuple):
    path: str
    mtime: float
    lines: list[str]


def find(name: str, include: Sequence[str]) -> Source | None:
    """The source of a recorded name: where it says, or else below a folder of the search path."""
    for path in _candidates(name, include):
        try:
            if not os.path.isfile(path):  # opening a pipe would wait for its writer
                continue
            with open(path, "rb") as stream:
                mtime = os.fstat(stream.fileno()).st_mtime
                text = stream.read().decode("utf-8", "surrogateescape")
        except (OSError, ValueError):  # ValueError: a name that no file can have
            continue
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        return Source(path, mtime, lines)
    return None


def _candidates(name: str, include: Sequence[str]) -> Iterator[str]:
    """A tree that was moved keeps its inner folders, so the longest tail of the name comes first."""
    if len(name) > _MOST_NAME:
        return
    yield name
    parts: list[str] = []
    for part in name.split("/"):
        if part == "..":
            del parts[-1:]  # "a/../b" is b: compilers are called in folders beside the source's
        elif part not in ("", "."):
            parts.append(part)
    for folder in include:
        for start in range(len(parts)):
            yield os.path.join(folder, *parts[start:])
