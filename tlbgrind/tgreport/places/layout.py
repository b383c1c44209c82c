# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes what a layout of code costs: pages, windows of fault-around, faults.

It is measured in a binary that exists, or forecast for one that does not yet.

Addresses are relative to the object's base. The kernel's windows are aligned in the address space,
so what a window is depends on where the object was put: its phase, 0 to 15 pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..formats.elf import PF_X, Elf
from .archived import archived_from
from .trace import Function, Range, Trace, symbols_of

PAGE = 4096
WINDOW_PAGES = 16  # fault_around_bytes is 64K
_TABLE_PAGES = 512  # of one page table, which fault-around does not leave
PHASES = 16

# Where the kernel puts a program that can be anywhere, if randomisation is off (setarch -R).
PIE_BASE = 0x555555554000

Touch = tuple[Function, Range]


class Place(NamedTuple):
    """Where a function is in a layout."""

    address: int
    size: int


@dataclass
class Measure:
    """What a layout costs a run."""

    functions: int  # those that have a place
    touched_bytes: int
    pages: int
    windows: int  # of 64K, aligned in the object
    span: int  # from the first byte to the last
    ascending: int  # of the functions, how many lie behind the one entered before
    curve: int  # sum, over the functions entered, of the pages that were touched by then
    faults: list[int]  # code faults for each phase

    @property
    def share_ascending(self) -> float:
        return self.ascending / (self.functions - 1) if self.functions > 1 else 1.0

    @property
    def mean_curve(self) -> float:
        return self.curve / self.functions if self.functions else 0.0


class Text:
    """The mappings of an object that hold code, as page numbers relative to its base."""

    def __init__(self, binary: Elf) -> None:
        self.ranges = [
            range(s.address // PAGE, -(-(s.address + s.file_size) // PAGE))
            for s in binary.loads
            if s.flags & PF_X and s.file_size
        ]
        self.movable = binary.is_pie

    def phases(self) -> Iterable[int]:
        return range(PHASES) if self.movable else (0,)

    def of(self, page: int) -> range | None:
        return next((r for r in self.ranges if page in r), None)


def window(page: int, mapping: range, base: int) -> range:
    """The pages that a read fault of `page` maps, as Linux does it since 2014: the aligned block of
    16, but no page before the mapping, and 16 from where it begins, but none behind the
    mapping or the page table. `base` is the number of the page that the object was put at, or that
    number modulo 512."""
    index = (page + base) % _TABLE_PAGES
    into = page - mapping.start
    first = max(index & ~(WINDOW_PAGES - 1), index - min(index, into))
    last = min(first + WINDOW_PAGES, _TABLE_PAGES, index + len(mapping) - into)
    return range(page + first - index, page + last - index)


def code_faults(pages: Iterable[int], text: Text, base: int) -> int:
    """The faults of a sequence of fetches from these pages, with all of the file cached."""
    present: set[int] = set()
    faults = 0
    for page in pages:
        if page in present:
            continue
        faults += 1
        mapping = text.of(page)
        present.update((page,) if mapping is None else window(page, mapping, base))
    return faults


def phase_without_randomisation(binary: Elf) -> int:
    return PIE_BASE // PAGE % PHASES if binary.is_pie else 0


def _pages(address: int, length: int) -> range:
    return range(address // PAGE, (address + length - 1) // PAGE + 1)


def measure(touches: Sequence[Touch], places: dict[int, Place], text: Text) -> Measure:
    """`places` has a function by its id(); what has none is left out. Where a function has another
    size than when it was run, all of it counts as touched, in the place of its first block."""
    sequence: list[int] = []  # pages in the order of their touch
    touched: set[int] = set()
    pages: set[int] = set()
    starts: list[int] = []
    ends: list[int] = []
    curve = bytes_ = 0
    for function, place, now in _placed(touches, places):
        sequence += now
        pages.update(now)
        if id(function) not in touched:
            touched.add(id(function))
            starts.append(place.address)
            ends.append(place.address + place.size)
            bytes_ += function.touched_bytes if place.size == function.size else place.size
            curve += len(pages)
    return Measure(
        functions=len(starts),
        touched_bytes=bytes_,
        pages=len(pages),
        windows=len({page // WINDOW_PAGES for page in pages}),
        span=max(ends) - min(starts) if starts else 0,
        ascending=sum(a < b for a, b in zip(starts, starts[1:])),
        curve=curve,
        faults=[code_faults(sequence, text, phase) for phase in text.phases()],
    )


def _placed(
    touches: Sequence[Touch], places: dict[int, Place]
) -> Iterator[tuple[Function, Place, range]]:
    """The pages that each touch is on in a layout."""
    seen: set[int] = set()
    for function, (offset, length) in touches:
        place = places.get(id(function))
        if place is None:
            continue
        if place.size == function.size:
            yield function, place, _pages(place.address + offset, length)
        elif id(function) not in seen:
            yield function, place, _pages(place.address, max(1, place.size))
        seen.add(id(function))


def faults_at(
    touches: Sequence[Touch], places: dict[int, Place], text: Text, base: int
) -> int:
    """Code faults of a run with the object put at page number `base`."""
    pages = (page for _, _, now in _placed(touches, places) for page in now)
    return code_faults(pages, text, base)


def own_places(trace: Trace) -> dict[int, Place]:
    """Where the functions are in the binary that was run."""
    return {id(f): Place(f.address, f.size) for f in trace.functions}


@dataclass
class Match:
    places: dict[int, Place]
    missing: list[Function]
    ambiguous: list[Function]  # several functions of the binary fit; the first was taken


def places_in(functions: Sequence[Function], names: dict[int, list[str]], binary: Elf) -> Match:
    """Finds the functions in another binary by their names, in the order of the names' list."""
    symbols = symbols_of(binary)
    match = Match({}, [], [])
    taken: set[int] = set()
    for function in functions:
        found = []
        for name in (function.name, *function.names, *names.get(id(function), ())):
            found = symbols.by_name.get(name, [])
            if found:
                break
        if len(found) > 1:
            same_file = [symbol for symbol in found if symbol.file == function.file]
            free = [symbol for symbol in same_file or found if symbol.address not in taken]
            if len(same_file) != 1:
                match.ambiguous.append(function)
            found = free or found
        if not found:
            match.missing.append(function)
            continue
        taken.add(found[0].address)
        match.places[id(function)] = Place(found[0].address, found[0].size)
    return match


def _align(start: int, address: int) -> int:
    """The first place from `start` on for a function that is at `address` now, which shows how it
    is aligned: compilers align to 16 at most."""
    align = min(16, address & -address) if address else 16
    return -(-start // align) * align


def in_order(
    start: int, moved: Sequence[Place], staying: Sequence[Place], at_end: bool = False, page_align: bool = False
) -> dict[int, int]:
    """Where functions lie in a section that begins at `start` if those that are `moved` are a block at its
    begin, or at its end: the address of each by the one that it has. `page_align`: the block begins a page."""
    places: dict[int, int] = {}
    at = start
    for block in (staying, moved) if at_end else (moved, staying):
        if block is moved and page_align:
            at = -(-at // PAGE) * PAGE
        for address, size in block:
            at = places[address] = _align(at, address)
            at += size
    return places


def forecast_places(
    trace: Trace, ordered: Sequence[Function], binary: Elf, at_end: bool, page_align: bool
) -> dict[int, Place]:
    """Where the functions would be if a linker followed the order: a block at the begin of their
    section (gold: at the end), the others behind it in the order that they have now. In a static program
    those of the C library's archives are among the others: they have no sections of their own."""
    places = own_places(trace)
    until = archived_from(binary)
    symbols = symbols_of(binary)
    wanted = {f.address for f in ordered}
    by_address = {f.address: f for f in (*trace.functions, *ordered)}
    for section in binary.sections:
        if not section.is_code or section.name != ".text":
            continue
        end = section.address + section.size
        inside = [s for s in symbols.all if section.address <= s.address < end]
        last = end if until is None else until
        moved = [Place(f.address, f.size) for f in ordered if section.address <= f.address < last]
        staying = [Place(s.address, s.size) for s in inside if s.address not in wanted or s.address >= last]
        for old, new in in_order(section.address, moved, staying, at_end, page_align).items():
            function = by_address.get(old)
            if function is not None:
                places[id(function)] = Place(new, function.size)
    return places
