# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program's code lay in huge pages?"""

from __future__ import annotations

from collections.abc import Iterable

from ..base.text import counted
from ..formats.fault import Map
from ..formats.faultlog import PROGRAM
from .replay import Change, Event, Populated, Run
from .whatif import Remedy, Way
from .whatif_link import Program
from .whatif_populate import begin_of

_HUGE = 2 << 20
_HOW = (
    "-Wl,-z,max-page-size=0x200000 -Wl,-z,common-page-size=0x200000 when linking, and first in main() madvise(MADV_COLLAPSE) of the "
    "code (Linux 6.1 with CONFIG_READ_ONLY_THP_FOR_FS), or a copy of it into huge pages in its place"
)


def remedy(run: Run, program: Program | None) -> Remedy | None:
    """None: the program's code is not known."""
    if program is None:
        return None
    code = next((map_ for map_ in program.maps if "x" in map_.protection), None)
    begin = begin_of(run, program)
    if code is None or begin is None:
        return None
    size = code.end - code.start
    blocks = size // _HUGE
    first = run.native(code)
    pages = range(first, first + blocks * _HUGE // run.page_size)
    found = Change(populate=(begin, (Populated(code.number, pages, False),)))
    copied = Change(more=tuple(_reads(code, pages, run.events[begin - 1].when if begin else 0)))
    return Remedy(
        "code in huge pages",
        _HOW,
        (Way((found,)), Way((copied,), -blocks)) if blocks else (Way(()),),
        f"{counted(blocks, 'huge page')} of the {size >> 10:,} KiB of code"
        + (": the kernel maps them in its call, or the program reads all of the code and writes it to new pages" if blocks else ""),
        "the libraries' code; what the call takes; with files on a disk it waits for all of this code",
        joins=False,
        knows_disk=not blocks,
    )


def _reads(code: Map, pages: Iterable[int], when: int) -> Iterable[Event]:
    return (Event(code, page, False, False, PROGRAM, when) for page in pages)
