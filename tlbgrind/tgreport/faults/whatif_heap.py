# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the heap kept its pages."""

from __future__ import annotations

from collections import Counter

from ..base.text import counted
from ..formats.faultlog import view_number
from .replay import Change, Event, Run
from .whatif import Remedy, Way

_NEVER_CUT = "glibc.malloc.trim_threshold=1073741824"
_THRESHOLD = 128 << 10  # bytes: larger blocks of malloc() are mappings of their own


def kept(run: Run) -> Remedy | None:
    """None: there is no heap."""
    pages = sum(event.map.what == "heap" and event.again for event in run.events)
    if not any(event.map.what == "heap" for event in run.events):
        return None

    back = counted(pages, "page") if pages else "nothing"

    def keep(_place: int, event: Event) -> bool:
        return not (event.map.what == "heap" and event.again)

    return Remedy(
        "a heap that is never cut",
        f"GLIBC_TUNABLES={_NEVER_CUT}",
        (Way((Change(keep=keep),)),),
        f"the heap gives {back} back to the kernel that it touches again; a larger top_pad alone saves calls "
        "of brk, no faults",
        "memory that malloc() gets by mmap()",
    )


def by_brk(run: Run) -> Remedy | None:
    """None: there are no such blocks."""
    faults: Counter[int] = Counter()
    for fault in run.log.of(view_number("warm")):
        map_ = fault.map
        if map_.what == "anon" and map_.end - map_.start >= _THRESHOLD:
            faults[map_.number] += 1
    if len(faults) < 2:
        return None
    most = sum(faults.values()) - max(faults.values())
    return Remedy(
        "blocks by brk",
        f"GLIBC_TUNABLES=glibc.malloc.mmap_max=0:{_NEVER_CUT}",
        (Way((), -1), Way((), most)),
        f"{len(faults)} mappings of 128K or more are blocks of malloc(): as many pages as now if all of them are there "
        "at once, those of the largest alone if one is there at a time",
        "calloc() clears memory that it gets again; memory that is freed stays",
        joins=False,
    )
