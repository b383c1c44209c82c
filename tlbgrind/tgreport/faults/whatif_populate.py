# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if parts of the program, of its libraries, its heap or its stack were mapped at once, as it begins:
MADV_POPULATE.

What the dynamic linker writes before that has taken its faults already: a page that is read-only after
relocation can be mapped at once by nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..base.text import counted
from ..formats.fault import Map
from ..formats.faultlog import LINKER
from .replay import Change, Event, Populated, Run, replay
from .whatif import Remedy, Way
from .whatif_link import Program, needed

_CALLS = {
    "x": "madvise(&__executable_start, &etext - &__executable_start, MADV_POPULATE_READ)",
    "r": "madvise() of the pages of .rodata with MADV_POPULATE_READ",
    "w": "madvise() from the page of __data_start up to &end with MADV_POPULATE_WRITE",
}
_PARTS = {"x": "code", "r": "constants", "w": "data"}
NAME = "MADV_POPULATE"
BEST = f"{NAME}: all that pays"
# The heap has 132K when malloc has been called once, and the stack 128K more than the kernel has filled, of
# which the start needs some.
_HEAP, _STACK = 33, 24  # pages
# A call that saves one fault takes as long as that.
_PAYS = 2
_MOST_ROWS = 6  # beside the program's own
_LEFT_OUT = "what the call takes; with files on a disk it waits for all of these pages"


class Range(NamedTuple):
    """What one call maps."""

    what: str
    word: str  # for docs/populate.c
    parts: tuple[Populated, ...]
    saved: int
    certain: int  # of these, faults that the replay does not have as events
    unused: int  # pages that are copied or zeroed and that the run does not write

    @property
    def pages(self) -> int:
        return sum(len(part.pages) for part in self.parts)


def remedies(run: Run, program: Program | None) -> Iterator[Remedy]:
    if program is None:
        return
    begin = begin_of(run, program)
    if begin is None:
        return
    measured = _Measured(run, begin)
    own = list(_of_file(measured, program.path, ""))
    for one in own:
        kind = one.word[-1]
        how = f"{_CALLS[kind]}, first in main(), or docs/populate.c with the range {one.word}; Linux 5.14"
        yield _remedy(one.what, how, begin, [one], joins=True)
    others = [one for elf, dynamic in needed(run, program) for one in _of_file(measured, elf.path, dynamic.soname)]
    others += [*_heap(measured), *_stack(measured)]
    others.sort(key=lambda one: (-one.saved, one.what))
    for one in others[:_MOST_ROWS]:
        if one.saved > 0:
            yield _remedy(one.what, f"docs/populate.c with the range {one.word}; Linux 5.14", begin, [one])
    best = [one for one in (*own, *others) if one.saved >= _PAYS]
    if len(best) > 1:
        words = " ".join(one.word for one in best)
        yield _remedy(BEST, f"docs/populate.c with the ranges {words}; Linux 5.14", begin, best)


def _remedy(what: str, how: str, begin: int, ranges: Sequence[Range], joins: bool = False) -> Remedy:
    change = Change(populate=(begin, tuple(part for one in ranges for part in one.parts)))
    pages, unused = sum(one.pages for one in ranges), sum(one.unused for one in ranges)
    calls = "one call maps" if len(ranges) == 1 else f"{len(ranges)} calls, each of which saves {_PAYS} or more, map"
    more = f", of which {unused * 4:,} KiB are copied or zeroed and not written later" if unused else ""
    return Remedy(
        what if what == BEST else f"{NAME}: {what}",
        how,
        (Way((change,), sum(one.certain for one in ranges)),),
        f"{calls} {counted(pages, 'page')}{more}; what calls takes no fault itself that perf counts",
        _LEFT_OUT,
        joins=joins,
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


class _Measured:
    """What a range would save: which faults there are from the begin on, and which pages are written."""

    def __init__(self, run: Run, begin: int) -> None:
        self.run = run
        self.begin = begin
        at = replay(run).at
        self.faults = [event for event, is_fault in zip(run.events[begin:], at[begin:]) if is_fault]
        self.written = sorted({(event.map.number, event.page) for event in run.events if event.writes})
        self.when = run.events[begin - 1].when
        self.certain = [event for event in run.certain if event.when >= self.when]
        self.before = run.events[:begin]

    def range(self, what: str, word: str, parts: Sequence[Populated]) -> Range:
        return Range(
            what,
            word,
            tuple(parts),
            sum(_saves(parts, event) for event in (*self.faults, *self.certain)),
            sum(_saves(parts, event) for event in self.certain),
            sum(len(part.pages) - self._written_of(part) for part in parts if part.writes),
        )

    def _written_of(self, part: Populated) -> int:
        of_map = [page for number, page in self.written if number == part.map]
        of_map += [event.page for event in self.run.certain if event.map.number == part.map and event.writes]
        return len({page for page in of_map if page in part.pages})


def _saves(parts: Sequence[Populated], event: Event) -> bool:
    """A page of a file that is only read is copied when it is written."""
    found = (part for part in parts if part.map == event.map.number and event.page in part.pages)
    return any(part.writes or not event.writes for part in found)


def _of_file(measured: _Measured, path: str, name: str) -> Iterator[Range]:
    """Of a file that is mapped when the program begins."""
    run = measured.run
    maps = [map_ for map_ in run.log.maps.values() if map_.what in ("file", "bss") and map_.name == path]
    numbers = {map_.number for map_ in maps}
    if not any(event.map.number in numbers for event in measured.before):
        return
    for kind, what in _PARTS.items():
        parts = list(_parts(run, maps, kind))
        if parts:
            yield measured.range(f"{name} {what}".strip(), f"{name}:{kind}", parts)


def _parts(run: Run, maps: Sequence[Map], kind: str) -> Iterator[Populated]:
    last_code = max((map_.offset for map_ in maps if "x" in map_.protection), default=0)
    for map_ in maps:
        # What stands before the code comes with it: &__executable_start is the file's begin.
        found = "w" if "w" in map_.protection else "x" if map_.offset <= last_code else "r"
        if map_.what == "bss":
            if kind == "w":
                first = map_.native // run.page_size
                pages = range(first, first + (map_.end - map_.start) // run.page_size)
                yield Populated(map_.number, pages, True)
            continue
        if found != kind:
            continue
        split = run.protected.get(map_.number)
        for piece in run.pieces[map_.number]:
            start = max(piece.start, split[0]) if split is not None else piece.start
            if start < piece.end:
                yield Populated(map_.number, range(start, piece.end), kind == "w")


def _heap(measured: _Measured) -> Iterator[Range]:
    """Up to the last page that is used of what malloc gets at first. With larger folios more comes at once."""
    run = measured.run
    map_ = next((one for one in run.log.maps.values() if one.what == "heap"), None)
    if map_ is None or run.log.header.get("mthp", "none") != "none":
        return
    first = map_.native // run.page_size
    used = [event.page for event in run.events if event.map is map_ and first <= event.page < first + _HEAP]
    if used:
        pages = range(first, max(used) + 1)
        yield measured.range("heap", f"heap:{len(pages) * run.page_size // 1024}", [Populated(map_.number, pages, True)])


def _stack(measured: _Measured) -> Iterator[Range]:
    """Down to the last page that is used, as far as the kernel has made room. How deep the call is, is not known: from
    the first page that the start has used to its last."""
    run = measured.run
    map_ = next((one for one in run.log.maps.values() if one.what == "stack"), None)
    if map_ is None:
        return
    events = [event for event in (*run.events, *run.certain) if event.map is map_]
    before = {event.page for event in events if event.when <= measured.when}
    lowest = min(before, default=0)
    used = [event.page for event in events if event.when > measured.when and lowest - _STACK <= event.page < lowest]
    if used:
        pages = range(min(used) - (max(before) - lowest), max(before) + 1)
        yield measured.range("stack", f"stack:{len(pages) * run.page_size // 1024}", [Populated(map_.number, pages, True)])
