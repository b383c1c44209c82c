# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the files of a run, which are those of one process and command in one folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..base.errors import ReportError, printable
from ..formats import kinds

_HEAD = 1 << 14  # bytes; the lines that tell the run stand before any counts
_LINE = re.compile(rb"^(?:# )?(pid|cmd|part|desc: Of thread): (.*)$", re.MULTILINE)


class _Head(NamedTuple):
    path: str
    kind: str
    run: tuple[bytes, bytes]  # process and command
    part: int  # of an out-file between two requests to dump
    is_of_thread: bool
    when: int


def _head(path: str) -> _Head | None:
    """None: not a file of tlbgrind."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as stream:
            when = os.fstat(stream.fileno()).st_mtime_ns
            text = stream.read(_HEAD).replace(b"\r\n", b"\n")
    except (OSError, ValueError):
        return None
    kind = text.split(b"\n", 1)[0].decode("utf-8", "replace")
    if kinds.kind_of(kind) is None:
        return None
    told: dict[bytes, bytes] = {}
    for key, value in _LINE.findall(text):
        told.setdefault(key, value)
    part = told.get(b"part", b"")
    run = told.get(b"pid", b""), told.get(b"cmd", b"")
    number = int(part) if part.isdigit() and len(part) < 10 else 0
    return _Head(path, kind, run, number, b"desc: Of thread" in told, when)


def _heads(folder: str) -> list[_Head]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise ReportError(error.strerror or str(error), folder) from None
    shown = "" if folder == os.curdir else folder
    found = (_head(os.path.join(shown, name)) for name in names)
    return [head for head in found if head is not None]


def _of_run(heads: Sequence[_Head], one: _Head) -> list[str]:
    """Counts of a thread are in those of the run, and those of other parts are not of this one."""
    own = [h for h in heads if h.run == one.run and (h.path == one.path or not h.is_of_thread)]
    parts = [head.part for head in own if head.kind == kinds.COSTS]
    part = one.part if one.kind == kinds.COSTS else max(parts, default=0)
    return [head.path for head in own if head.kind != kinds.COSTS or head.part == part]


def beside(path: str) -> list[str]:
    """The files of the run that a file is of; itself first."""
    one = _head(path)
    if one is None or not one.run[0] or one.is_of_thread:
        return [path]
    folder, name = os.path.split(path)
    others = _of_run(_heads(folder or os.curdir), one)
    return [path, *(other for other in others if os.path.basename(other) != name)]


def newest_in(folder: str, warnings: list[str]) -> list[str]:
    """The files of the run that ended last."""
    heads = [head for head in _heads(folder) if head.run[0]]
    if not heads:
        raise ReportError("no file of tlbgrind is in this folder", folder)
    last = max(heads, key=lambda head: (head.when, head.run))
    runs = dict.fromkeys(head.run for head in heads)
    if len(runs) > 1:
        pid, command = (text.decode("utf-8", "replace") for text in last.run)
        warnings.append(
            f"{printable(folder)}: the newest of {len(runs)} runs is shown, process {pid} "
            f"({printable(command)}); name a file of another"
        )
    return _of_run(heads, last)
