# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program's functions lay in the order of their first use?"""

from __future__ import annotations

from collections.abc import Iterator

from ..base.text import counted
from ..formats.faultlog import PROGRAM
from .replay import CODE, Change, Event, Run
from .whatif import Remedy, Way
from .whatif_code import Binary, Used, in_order, moved
from .whatif_link import Program

NAME = "functions in order"
_HOW = "-ffunction-sections when compiling, and an order of tg_order for the linker"


def remedy(run: Run, program: Program | None, used: Used | None) -> Remedy | None:
    """None: it is linked statically."""
    if program is None:
        return None
    binary = used.binaries.get(program.path) if used is not None else None
    if binary is None or not binary.code:
        why = "of a run with tlbgrind --entries=yes, --entries=FILE tells, and tg_order --forecast"
        return Remedy(NAME, _HOW, (), why, "")
    if binary.elf.stripped:
        return Remedy(NAME, _HOW, (), "the program is stripped: an order needs its symbols", "")
    code = {map_.number: map_ for map_ in program.maps if "x" in map_.protection}

    def keep(_place: int, event: Event) -> bool:
        return not (event.fetches and event.map.number in code)

    change = Change(keep=keep, more=tuple(_fetches(run, program, binary)), orders=CODE)
    functions = len({piece.part for piece in binary.code if piece.part is not None})
    return Remedy(
        NAME,
        _HOW,
        (Way((change,)),),
        f"{counted(functions, 'function')} that the run enters: one behind the other at the begin of .text",
        "constants, and data, which has a row of its own; where gold puts the block, at the end",
    )


def _fetches(run: Run, program: Program, binary: Binary) -> Iterator[Event]:
    """In the order of the run, and when they are at the earliest."""
    places = in_order(binary)
    seen: set[int] = set()
    for piece in binary.code:
        at = moved(piece, places)
        for page in range(at // run.page_size, (at + piece.length - 1) // run.page_size + 1):
            native = program.base + page
            map_ = next((m for m in program.maps if "x" in m.protection and _has(run, m.number, native)), None)
            if map_ is not None and page not in seen:
                seen.add(page)
                yield Event(map_, native, False, True, PROGRAM, piece.when)


def _has(run: Run, number: int, page: int) -> bool:
    return any(piece.start <= page < piece.end for piece in run.pieces[number])
