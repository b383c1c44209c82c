# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the heap kept its pages."""

from __future__ import annotations

from ..base.text import counted
from .replay import Change, Event, Run
from .whatif import Remedy, Way


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
        "GLIBC_TUNABLES=glibc.malloc.trim_threshold=1073741824",
        (Way((Change(keep=keep),)),),
        f"the heap gives {back} back to the kernel that it touches again; a larger top_pad alone saves calls "
        "of brk, no faults",
        "memory that malloc() gets by mmap()",
    )
