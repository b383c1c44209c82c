# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program had its own segments mapped at once, as it begins: MADV_POPULATE."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.text import counted
from ..formats.faultlog import LINKER
from .replay import Change, Populated, Run
from .whatif import Remedy, Way
from .whatif_link import Program

_CALLS = {
    "code": "madvise(&__executable_start, &etext - &__executable_start, MADV_POPULATE_READ)",
    "constants": "madvise() of the pages of .rodata with MADV_POPULATE_READ",
    "data": "madvise() from the page of __data_start up to &end with MADV_POPULATE_WRITE",
}


def remedies(run: Run, program: Program | None) -> Iterator[Remedy]:
    if program is None:
        return
    begin = begin_of(run, program)
    if begin is None:
        return
    parts = {"code": _parts(run, program, "x"), "data": _parts(run, program, "w")}
    parts["constants"] = _parts(run, program, "-")
    for what, found in parts.items():
        if not found:
            continue
        pages = sum(len(part.pages) for part in found)
        yield Remedy(
            f"MADV_POPULATE: {what}",
            f"{_CALLS[what]}, first in main(); Linux 5.14",
            (Way((Change(populate=(begin, found)),)),),
            f"one call maps {counted(pages, 'page')}, and itself takes no fault that perf counts",
            "what the call takes; with files on a disk it waits for all of these pages",
        )


def begin_of(run: Run, program: Program) -> int | None:
    """The number of the event with which main() begins; without its symbol, with which the program's own
    code does."""
    numbers = {map_.number for map_ in program.maps}
    main = next((symbol.address for symbol in program.elf.symbols if symbol.name == "main"), None)
    own = [
        place
        for place, event in enumerate(run.events)
        if event.fetches and event.work != LINKER and event.map.number in numbers
    ]
    for place in own:
        if main is not None and run.events[place].page == program.base + main // run.page_size:
            return place + 1
    return own[0] + 1 if own else None


def _parts(run: Run, program: Program, mode: str) -> tuple[Populated, ...]:
    found = []
    last_code = max((map_.offset for map_ in program.maps if "x" in map_.protection), default=0)
    for map_ in program.maps:
        # What stands before the code comes with it: &__executable_start is the file's begin.
        kind = "w" if "w" in map_.protection else "x" if map_.offset <= last_code else "-"
        if kind != mode:
            continue
        split = run.protected.get(map_.number)
        for piece in run.pieces[map_.number]:
            start = max(piece.start, split[0]) if split is not None else piece.start
            if start < piece.end:
                found.append(Populated(map_.number, range(start, piece.end), mode == "w"))
    if mode == "w":
        for map_ in run.log.maps.values():
            if map_.what == "bss" and map_.name == program.path:
                first = map_.native // run.page_size
                pages = range(first, first + (map_.end - map_.start) // run.page_size)
                found.append(Populated(map_.number, pages, True))
    return tuple(found)


