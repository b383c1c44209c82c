# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The page faults of an object's data, as it lies and as packing would lay it out.

The data's first uses are gone through in their order. As Linux has it, each page takes a fault when it
is first written. A page of the file that is read is mapped along with its neighbours, one of .bss alone:
it gets the zero page, and takes a second fault when it is written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..formats.elf import PF_W, SHF_ALLOC, SHF_WRITE, Elf, Section

PAGE = 4096
AROUND = 16  # pages that a read of a file maps at most; Linux counts them by where the object lies
MOST_ALIGNED = 32  # bytes; what compilers ask for, of a large variable
KINDS = ("read", "zero page", "write")


class Use(NamedTuple):
    """Bytes that were written, or read before that, for the first time."""

    address: int
    length: int
    is_write: bool


class Moved(NamedTuple):
    """A range of addresses, and by how much it moves."""

    start: int
    end: int
    by: int


def data_sections(binary: Elf) -> Iterator[Section]:
    """Those that stand in memory as they are: not the threads' .tbss."""
    for section in binary.sections:
        is_data = section.flags & (SHF_WRITE | SHF_ALLOC) == SHF_WRITE | SHF_ALLOC
        if is_data and section.size and not section.name.startswith(".tbss"):
            yield section


def _aligned(at: int, place: int, size: int) -> int:
    """The first address from `at` on for what stands at `place` now: aligned as that allows, and no
    more than a variable of its size needs."""
    alignment = min(place & -place or MOST_ALIGNED, 1 << (size.bit_length() - 1), MOST_ALIGNED)
    return -(-at // alignment) * alignment


def _rest(section: range, first: Sequence[range], others: Sequence[range]) -> Iterator[range]:
    """What else is in the section, in its order: other variables, and what belongs to none. Less than
    alignment may leave is nothing."""
    taken = set(first)
    last = section.start
    for variable in sorted([*first, *others, range(section.stop, section.stop)], key=_start):
        if variable.start - last >= MOST_ALIGNED:
            yield range(last, variable.start)
        if variable.stop > max(last, variable.start) and variable not in taken:
            yield range(max(last, variable.start), variable.stop)
        last = max(last, variable.stop)


def _start(variable: range) -> int:
    return variable.start


def packed(sections: Sequence[tuple[range, Sequence[range], Sequence[range]]]) -> list[Moved]:
    """How addresses move if in each of the sections, which are in order, some variables stand first,
    in this order, and all others behind them in their own."""
    moved: list[Moved] = []
    grown = 0  # bytes, of the section before
    for section, first, others in sections:
        at = _aligned(section.start + grown, section.start, MOST_ALIGNED)
        for piece in [*first, *_rest(section, first, others)]:
            at = _aligned(at, piece.start, len(piece))
            moved.append(Moved(piece.start, piece.stop, at - piece.start))
            at += len(piece)
        grown = at - section.stop
    return sorted(moved)


def _places(
    use: Use, moved: Sequence[Moved], starts: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Where the bytes of a use are after the moves, which begin at `starts`: first byte and last."""
    at, end = use.address, use.address + use.length
    while at < end:
        index = bisect_right(starts, at)
        until, by = min([end, *starts[index : index + 1]]), 0
        if index > 0 and at < moved[index - 1].end:
            until, by = min(until, moved[index - 1].end), moved[index - 1].by
        yield at + by, until - 1 + by
        at = until


class _Pages:
    """The pages of an object's data, and the faults that their uses have taken so far."""

    def __init__(self, binary: Elf) -> None:
        self.faults: Counter[str] = Counter({kind: 0 for kind in KINDS})
        self._read: set[int] = set()
        self._written: set[int] = set()
        segments = [s for s in binary.loads if s.flags & PF_W and s.file_size]
        self._of_file = [
            range(s.address // PAGE, -(-(s.address + s.file_size) // PAGE)) for s in segments
        ]
        for segment in segments if binary.is_program else ():
            # The kernel clears what is behind the file's last byte when it starts the program.
            end = segment.address + segment.file_size
            if segment.memory_size > segment.file_size and end % PAGE:
                self.use(end // PAGE, True)

    def use(self, page: int, is_write: bool) -> None:
        if page in self._written or (page in self._read and not is_write):
            return
        pages = next((pages for pages in self._of_file if page in pages), None)
        if is_write:
            self.faults["write"] += 1
            self._written.add(page)
        elif pages is None:
            self.faults["zero page"] += 1
            self._read.add(page)
        else:
            self.faults["read"] += 1
            first = page // AROUND * AROUND
            self._read.update(p for p in range(first, first + AROUND) if p in pages)


def faults(binary: Elf, uses: Sequence[Use], moved: Sequence[Moved] = ()) -> Counter[str]:
    """The number of faults of each kind that the uses take, after the moves, which are in order."""
    pages = _Pages(binary)
    starts = [m.start for m in moved]
    for use in uses:
        for first, last in _places(use, moved, starts):
            for page in range(first // PAGE, last // PAGE + 1):
                pages.use(page, use.is_write)
    return pages.faults
