# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program's variables lay in the order of their first use?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from ..base.text import counted
from ..formats.dynamic import RELATIVE, RELR
from ..formats.elf import PF_W
from ..formats.fault import Map
from ..formats.faultlog import PROGRAM
from ..places.datafaults import Layout, Use, moved_bytes
from ..places.dataorder import DataOrder, data_order, layout_of
from ..places.datapages import Data
from ..places.trace import Trace
from .replay import DATA, Change, Event, Run
from .whatif import Remedy, Way
from .whatif_code import Used
from .whatif_link import RELOCATION, Program

NAME = "variables in order"
_HOW = "-fdata-sections when compiling, and an order of tg_order --with-data for the linker"


def remedy(run: Run, program: Program | None, used: Used | None) -> Remedy | None:
    """None: it is linked statically."""
    if program is None:
        return None
    if used is None or not used.entries.uses or program.path not in used.numbers:
        why = "of a run with tlbgrind --entries=data, --entries=FILE tells, and tg_order --forecast --with-data"
        return Remedy(NAME, _HOW, (), why, "")
    if program.elf.stripped:
        return Remedy(NAME, _HOW, (), "the program is stripped: an order needs its symbols", "")
    if run.log.header.get("mthp", "none") != "none":
        why = "with --mthp, how large the folios of .bss would be depends on what lies there when it is touched"
        return Remedy(NAME, _HOW, (), why, "")
    order = _order(program, used)
    if not order.placed:
        return Remedy(NAME, _HOW, (), "of no variable that is used the place is known", "")
    maps = _maps(run, program)
    numbers = {map_.number for map_ in maps}

    def keep(_place: int, event: Event) -> bool:
        return event.map.number not in numbers

    layout = layout_of(order, program.elf, False)
    change = Change(keep=keep, more=tuple(_touches(run, program, _data(program, used), layout, maps)), orders=DATA)
    return Remedy(
        NAME,
        _HOW,
        (Way((change,)),),
        f"{counted(len(order.placed), 'variable')} that are used, each in a section of its own: first in .data and "
        ".bss, what is written before what is only relocated, and what is only read last",
        "what of .data becomes read-only after relocation; where gold puts what it orders, at the end",
    )


def layout_in_order(program: Program, used: Used) -> Layout | None:
    """None: of its data nothing is known."""
    if not used.entries.uses or program.path not in used.numbers:
        return None
    return layout_of(_order(program, used), program.elf, False)


def _order(program: Program, used: Used) -> DataOrder:
    elf = program.elf
    trace = Trace(used.entries, program.path, elf.build_id, elf, [], [], used.entries.header.get("clock", ""))
    return data_order([trace], program.path, [1.0], 0.0, None)


def _data(program: Program, used: Used) -> Data:
    return Data(used.entries, used.numbers[program.path], program.elf)


def _maps(run: Run, program: Program) -> list[Map]:
    """Those of .data, and behind it of .bss."""
    of_file = [map_ for map_ in program.maps if "w" in map_.protection]
    return of_file + [map_ for map_ in run.log.maps.values() if map_.what == "bss" and map_.name == program.path]


def _touches(run: Run, program: Program, data: Data, layout: Layout, maps: list[Map]) -> Iterator[Event]:
    """The kernel's and the uses' events, in their order, on each page the first of each kind."""
    words = sorted(one.address for one in program.dynamic.relocations if one.kind in (RELATIVE, RELR))
    starts = [moved.start for moved in layout.moved]
    seen: set[tuple[int, bool, str]] = set()

    def at(page: int, is_write: bool, work: str, when: int) -> Iterator[Event]:
        map_ = next((one for one in maps if _holds(run, one, program.base + page)), None)
        if map_ is not None and (page, is_write, work) not in seen:
            seen.add((page, is_write, work))
            yield Event(map_, program.base + page, is_write, False, work, when)

    segments = [s for s in program.elf.loads if s.flags & PF_W and s.file_size]
    for segment in segments:
        # The kernel clears what is behind the file's last byte when it starts the program.
        end = segment.address + segment.file_size + (layout.grown if segment is segments[-1] else 0)
        if segment.memory_size > segment.file_size and end % run.page_size:
            yield from at(end // run.page_size, True, PROGRAM, 0)
    for use in data.uses:
        for part, work in _by_work(use, words, program.dynamic.word):
            for first, last in moved_bytes(part, layout.moved, starts):
                for page in range(first // run.page_size, last // run.page_size + 1):
                    yield from at(page, use.is_write, work, use.when)


def _by_work(use: Use, words: list[int], size: int) -> Iterator[tuple[Use, str]]:
    """A write of several words, of which relative relocations write some; `size` of each."""
    at, end = use.address, use.address + use.length
    while at < end:
        index = bisect_left(words, at - size + 1)
        word = words[index] if index < len(words) else end
        inside = use.is_write and word <= at
        stop = min(end, word + size if inside else max(word, at + 1))
        yield use._replace(address=at, length=stop - at), RELOCATION if inside else PROGRAM
        at = stop


def _holds(run: Run, map_: Map, page: int) -> bool:
    if map_.what == "bss":
        first = run.native(map_)
        return first <= page < first + (map_.end - map_.start) // run.page_size
    return any(piece.start <= page < piece.end for piece in run.pieces[map_.number])
