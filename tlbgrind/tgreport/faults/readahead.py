# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lists which parts of files a run reads from the disk, in order of need: --readahead."""

from __future__ import annotations

from typing import NamedTuple

from ..formats.faultlog import FaultLog
from .replay import Replayer, Run


class Part(NamedTuple):
    file: str
    offset: int
    length: int


def parts(log: FaultLog) -> list[Part]:
    """What lies side by side is one part, in the place of the piece that is needed first."""
    run = Run(log)
    replayer = Replayer(run, (), True)
    replayer.all()
    needed: dict[str, dict[int, int]] = {}  # of each file its pages: when they are read
    for when, (name, pages) in enumerate(replayer.requests()):
        for page in pages:
            needed.setdefault(name, {})[page] = when
    found: list[tuple[int, Part]] = []
    size = run.page_size
    for name, whens in needed.items():
        start = end = first = -1
        for page in sorted(whens):
            if page == end:
                first = min(first, whens[page])
            else:
                if start >= 0:
                    found.append((first, Part(name, start * size, (end - start) * size)))
                start, first = page, whens[page]
            end = page + 1
        found.append((first, Part(name, start * size, (end - start) * size)))
    return [part for _, part in sorted(found)]


def lines(log: FaultLog) -> list[str]:
    """A name with a line's end in it cannot stand there."""
    return [f"{p.file}\t{p.offset}\t{p.length}" for p in parts(log) if "\n" not in p.file]
