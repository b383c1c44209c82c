# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The page faults of an object's data, as it lies and in another order.

The data's first uses are gone through in their order. As Linux has it, each page takes a fault when it
is first written. A page of the file that is read is mapped along with its neighbours, one of .bss alone:
it gets the zero page, and takes a second fault when it is written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..formats.elf import PF_W, SHF_ALLOC, SHF_WRITE, SHT_NOBITS, Elf, Section
from .layout import PIE_BASE, window

PAGE = 4096
MOST_ALIGNED = 32  # bytes; what compilers ask for, of a large variable
KINDS = ("read", "zero page", "write")


class Use(NamedTuple):
    """Bytes that were written, or read before that, for the first time."""

    address: int
    length: int
    is_write: bool
    when: int = 0  # instructions before it
    again: bool = False  # only relocations have written it before


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


class Piece(NamedTuple):
    """What a linker moves as one."""

    place: range
    alignment: int  # 0: not known


class Layout(NamedTuple):
    """How addresses move, and the end of the file's bytes."""

    moved: Sequence[Moved]
    grown: int


AS_IT_IS = Layout((), 0)


def _aligned(at: int, piece: Piece) -> int:
    """The first address from `at` on for a piece. Where its alignment is not known, it is as its place
    allows, and no more than a variable of its size needs."""
    place, size = piece.place.start, len(piece.place)
    guess = min(place & -place or MOST_ALIGNED, 1 << max(0, size.bit_length() - 1), MOST_ALIGNED)
    alignment = piece.alignment or guess
    return -(-at // alignment) * alignment


def _rest(section: range, first: Sequence[Piece], others: Sequence[range]) -> Iterator[Piece]:
    """What else is in the section, in its order: other variables, and what belongs to none. Less than
    alignment may leave is nothing."""
    taken = {piece.place for piece in first}
    last = section.start
    for variable in sorted([*taken, *others, range(section.stop, section.stop)], key=_start):
        if variable.start - last >= MOST_ALIGNED:
            yield Piece(range(last, variable.start), 0)
        if variable.stop > max(last, variable.start) and variable not in taken:
            yield Piece(range(max(last, variable.start), variable.stop), 0)
        last = max(last, variable.stop)


def _start(variable: range) -> int:
    return variable.start


def ordered(
    sections: Sequence[tuple[Section, Sequence[Piece], Sequence[range]]], at_end: bool
) -> Layout:
    """How addresses move if in each of the sections, which are in order, some pieces stand first, in this
    order, and all others behind them in their own; or, `at_end`, the others first."""
    moved: list[Moved] = []
    grown = in_file = 0  # bytes, of the sections before
    for section, first, others in sections:
        whole = range(section.address, section.address + section.size)
        at = _aligned(whole.start + grown, Piece(whole, section.alignment))
        rest = list(_rest(whole, first, others))
        for piece in [*rest, *first] if at_end else [*first, *rest]:
            at = _aligned(at, piece)
            moved.append(Moved(piece.place.start, piece.place.stop, at - piece.place.start))
            at += len(piece.place)
        grown = at - whole.stop
        if section.type != SHT_NOBITS:
            in_file = grown
    return Layout(sorted(moved), in_file)


def moved_bytes(
    use: Use, moved: Sequence[Moved], starts: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Where the bytes of a use are after the moves, which begin at `starts`: first byte and last. What is
    left of alignment behind a variable, and is read along with it, has no place then."""
    at, end = use.address, use.address + use.length
    gaps: list[tuple[int, int]] = []
    has_place = False
    while at < end:
        index = bisect_right(starts, at)
        until = min([end, *starts[index : index + 1]])
        if index > 0 and at < moved[index - 1].end:
            until, by = min(until, moved[index - 1].end), moved[index - 1].by
            has_place = True
            yield at + by, until - 1 + by
        else:
            gaps.append((at, until - 1))
        at = until
    if not has_place:
        yield from gaps


class _Pages:
    """The pages of an object's data, and the faults that their uses have taken so far."""

    def __init__(self, binary: Elf, grown: int) -> None:
        self.faults: Counter[str] = Counter({kind: 0 for kind in KINDS})
        self._read: set[int] = set()
        self._written: set[int] = set()
        self._base = PIE_BASE // PAGE if binary.is_program and binary.is_pie else 0
        segments = [s for s in binary.loads if s.flags & PF_W and s.file_size]
        # What is ordered is in the last of them.
        ends = [s.address + s.file_size for s in segments]
        ends[-1:] = [end + grown for end in ends[-1:]]
        self._of_file = [
            range(s.address // PAGE, -(-end // PAGE)) for s, end in zip(segments, ends)
        ]
        for segment, end in zip(segments, ends) if binary.is_program else ():
            # The kernel clears what is behind the file's last byte when it starts the program.
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
            self._read.update(window(page, pages, self._base))


def faults(binary: Elf, uses: Sequence[Use], layout: Layout = AS_IT_IS) -> Counter[str]:
    """The number of faults of each kind that the uses take in a layout."""
    pages = _Pages(binary, layout.grown)
    starts = [m.start for m in layout.moved]
    for use in uses:
        for first, last in moved_bytes(use, layout.moved, starts):
            for page in range(first // PAGE, last // PAGE + 1):
                pages.use(page, use.is_write)
    return pages.faults
