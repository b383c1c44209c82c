# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What a page fault is; and holds many of them, in columns.

Most faults of a log differ from others in number, page and instructions only. What they have in
common is kept once, and most tables are made of that, however many faults there are.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

VIEWS = ("4k", "warm", "cold")
UNKNOWN = "???"

# In the order of the totals.
KINDS = {
    "x": "code",
    "r": "read",
    "z": "zero page",
    "w": "write",
    "c": "copy on write",
    "d": "dirty",
}

Ranges = tuple[tuple[int, int], ...]  # first and last, as distances in pages


class Map(NamedTuple):
    """Memory that one call mapped."""

    number: int
    start: int
    end: int
    native: int
    protection: str
    what: str
    offset: int  # in the file, where there is one
    name: str  # "": none

    @property
    def label(self) -> str:
        """What it is called in tables."""
        if self.what == "file":
            return f"{self.name} {self.protection}"
        kind = f"[{self.what}]"
        return f"{kind} {self.name}" if self.name not in ("", kind) else kind

    @property
    def memory(self) -> str:
        """The same without the protection: all of a file's mappings are one."""
        return self.name or f"[{self.what}]"

    def offset_of(self, page: int) -> int:
        """Of the first of the page's bytes that are of this map: a large page may begin before."""
        return (self.offset if self.what == "file" else 0) + max(page - self.start, 0)

    def place(self, page: int) -> str:
        """Where a page is, in terms that no address randomisation changes."""
        name = self.name if self.what == "file" else self.label
        return f"{name}+{self.offset_of(page):#x}"


class Code(NamedTuple):
    """An instruction that faulted."""

    address: int
    object: str
    function: str
    file: str
    line: int

    @property
    def place(self) -> str:
        if self.function == UNKNOWN:
            return f"(within {self.object})"
        if self.file == UNKNOWN or not self.line:
            return f"{self.function} (in {self.object})"
        return f"{self.function} ({self.file.rpartition('/')[2]}:{self.line})"


NOBODY = Code(0, UNKNOWN, UNKNOWN, UNKNOWN, 0)


class Fault(NamedTuple):
    number: int
    kinds: str  # one letter for each view
    page: int
    map: Map
    instructions: int
    thread: int
    by: str  # "": the program itself, else a system call or what the kernel did
    code: Code
    warm_brought: Ranges
    cold_brought: Ranges
    cold_read: Ranges
    callers: tuple[Code, ...] = ()  # with --faults-stacks: the calls on the way here, the last first

    def kind(self, view: int) -> str:
        """The kind's letter in a view, "" if it is no fault there."""
        letter = self.kinds[view].lower()
        return "" if letter == "-" else letter

    def is_major(self, view: int) -> bool:
        return self.kinds[view].isupper()

    def brought(self, view: int) -> Ranges:
        return ((), self.warm_brought, self.cold_brought)[view]

    @property
    def native(self) -> int:
        """The page's address without Valgrind and without randomisation."""
        return self.page - self.map.start + self.map.native


class Repeat(NamedTuple):
    """More faults like the one before."""

    times: int
    page_step: int
    instruction_step: int


def count_pages(ranges: Ranges) -> int:
    return sum(last - first + 1 for first, last in ranges)


class Lines:
    """The faults of a log and their repetitions, in order."""

    def __init__(self, alike: list[Fault]) -> None:
        self.alike = alike  # one of each that differ in more than number, page and instructions
        self._which = array("I")  # of these, for each line
        # Of a repetition they are those of the fault that it repeats.
        self._numbers = array("Q")
        self._pages = array("Q")
        self._instructions = array("Q")
        self._repeats: dict[int, Repeat] = {}  # by the place of their line

    def __len__(self) -> int:
        return len(self._which)

    def add(
        self,
        which: Sequence[int],
        numbers: Sequence[int],
        pages: Sequence[int],
        instructions: Sequence[int],
    ) -> None:
        self._which.extend(which)
        self._numbers.extend(numbers)
        self._pages.extend(pages)
        self._instructions.extend(instructions)

    def repeat(self, repeat: Repeat) -> None:
        """More faults like the one that was added last."""
        self._repeats[len(self)] = repeat
        for column in (self._which, self._numbers, self._pages, self._instructions):
            column.append(column[-1])

    def part(self, begin: int, end: int) -> Lines:
        found = Lines(self.alike)
        found._which = self._which[begin:end]
        found._numbers = self._numbers[begin:end]
        found._pages = self._pages[begin:end]
        found._instructions = self._instructions[begin:end]
        found._repeats = {
            place - begin: repeat
            for place, repeat in self._repeats.items()
            if begin <= place < end
        }
        return found

    def extend(self, more: Lines) -> None:
        """By a part of the same log."""
        behind = len(self)
        self.add(more._which, more._numbers, more._pages, more._instructions)
        for place, repeat in more._repeats.items():
            self._repeats[behind + place] = repeat

    def last(self) -> Fault:
        """That of the last line; of a repetition, the one that it repeats."""
        return self._fault(-1)

    def _fault(self, place: int) -> Fault:
        alike = self.alike[self._which[place]]
        number, page = self._numbers[place], self._pages[place]
        return Fault(number, alike.kinds, page, alike.map, self._instructions[place], *alike[5:])

    def __iter__(self) -> Iterator[Fault | Repeat]:
        for place in range(len(self)):
            yield self._repeats.get(place) or self._fault(place)

    def counts(self) -> Iterator[tuple[Fault, int]]:
        """One of all that are alike, and how many they are."""
        counts = Counter(self._which)
        for place, repeat in self._repeats.items():
            counts[self._which[place]] += repeat.times - 1
        return ((self.alike[which], count) for which, count in counts.items())

    def faults(self, view: int | None = None) -> Iterator[Fault]:
        """Each, or each that is a fault in this view."""
        is_shown = [view is None or fault.kinds[view] != "-" for fault in self.alike]
        for place, which in enumerate(self._which):
            if not is_shown[which]:
                continue
            fault = self._fault(place)
            repeat = self._repeats.get(place)
            if repeat is None:
                yield fault
                continue
            number, kinds, page, map_, instructions = fault[:5]
            for _ in range(repeat.times):
                number += 1
                page += repeat.page_step
                instructions += repeat.instruction_step
                yield Fault(number, kinds, page, map_, instructions, *fault[5:])
