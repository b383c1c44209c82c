# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Takes a recorded run's touches of pages through Linux's rules once more, as they were or changed.

The rules are those of sim/faults (fault-around, copy on write), for files; of other memory the log
says what came along with what. What the log does not have, such as when a mapping was split, is
taken from the ELF files. So a replay of the unchanged run has to be held against the log.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..base.errors import ReportError
from ..formats import elf as elf_files
from ..formats.elf import Elf
from ..formats.fault import Map
from ..formats.faultlog import LINKER, PROGRAM, FaultLog, view_number
from .pagecache import KERNELS, USUAL, CachedFile

_TABLE = 512  # pages of a page table
_MOST_POPULATED = 1 << 22
_MOST_AHEAD = 1 << 14
_NEAR = 1000  # instructions: a touch and its fault are of one block
_WARM = view_number("warm")


class Event(NamedTuple):
    """A touch that can be a fault."""

    map: Map
    page: int  # number, in native addresses
    writes: bool
    fetches: bool
    work: str
    when: int  # instructions
    comes: bool = False  # not of a file: it came along with another page
    again: bool = False  # the page was there before, and had gone


def events_of(log: FaultLog) -> list[Event]:
    """All of them in their order. A fault is the program's, unless another part's touch is it."""
    events: list[Event] = []
    waiting: dict[tuple[int, bool], list[int]] = {}  # touches that can be the next faults
    seen: set[tuple[int, int]] = set()
    touches = iter(log.touches)
    touch = next(touches, None)

    def native(map_: Map, page: int) -> int:
        return (page - map_.start + map_.native) // log.page_size

    for fault in log.faults:
        while touch is not None and touch.number < fault.number:
            writes = touch.kind == "w"
            if touch.work != PROGRAM:
                waiting.setdefault((touch.page, writes), []).append(len(events))
            events.append(
                Event(
                    touch.map,
                    native(touch.map, touch.page),
                    writes,
                    touch.kind == "x",
                    touch.work,
                    touch.instructions,
                )
            )
            touch = next(touches, None)
        kind = fault.kind(0)
        writes = kind in "wcd"
        comes = fault.kinds[_WARM] == "-"
        known = [
            place
            for place in waiting.pop((fault.page, writes), [])
            if abs(fault.instructions - events[place].when) < _NEAR
        ]
        page = native(fault.map, fault.page)
        again = kind in "xrzw" and (fault.map.number, page) in seen
        seen.add((fault.map.number, page))
        if known:
            events[known[0]] = events[known[0]]._replace(comes=comes, again=again)
            continue
        events.append(
            Event(fault.map, page, writes, kind == "x", PROGRAM, fault.instructions, comes, again)
        )
    while touch is not None:
        page = native(touch.map, touch.page)
        events.append(
            Event(touch.map, page, touch.kind == "w", touch.kind == "x", touch.work, touch.instructions)
        )
        touch = next(touches, None)
    return events


class Piece(NamedTuple):
    """What the kernel has as one mapping: pages from `start` on, up to `end`."""

    start: int
    end: int


@dataclass
class Files:
    """What is known of the files that are mapped."""

    pages: dict[str, int] = field(default_factory=dict)  # up to their end
    elves: dict[str, Elf] = field(default_factory=dict)

    def add(self, name: str, page_size: int) -> None:
        if name in self.pages:
            return
        try:
            status = os.stat(name)
            if not stat.S_ISREG(status.st_mode):
                raise ReportError("not a regular file", name)
            self.pages[name] = -(-status.st_size // page_size)
            with open(name, "rb") as stream:
                is_elf = stream.read(4) == elf_files.MAGIC
            if is_elf:
                self.elves[name] = elf_files.read(name)
        except (OSError, ReportError):
            self.pages.setdefault(name, 1 << 40)


# Memory of which no remedy changes who touches it.
_CERTAIN = ("anon", "stack", "thread-stack", "shm")


def _without_certain(events: list[Event]) -> tuple[list[Event], int, list[Event]]:
    """What can turn out otherwise, and how many faults there are beside: the only touches of pages, by
    the program. Large programs have many. Those of the stack are few."""
    touches = Counter(event.page for event in events)
    kept, certain = [], []
    always = 0
    for event in events:
        is_only = touches[event.page] == 1 and event.work == PROGRAM and event.map.what in _CERTAIN
        if is_only:
            always += not event.comes
            if event.map.what == "stack" and not event.comes:
                certain.append(event)
        else:
            kept.append(event)
    return kept, always, certain


def _setting(log: FaultLog, key: str, most: int) -> int:
    """Pages that a setting of the kernel is."""
    value = log.header.get(key, "")
    if not value.isdigit() or len(value) > 12 or int(value) // log.page_size > most:
        raise ReportError(f"{key} '{value[:40]}' is not a number of bytes up to {most:,} pages", log.path)
    return int(value) // log.page_size


def leaves_folios(log: FaultLog) -> bool:
    """Whether the view warm finds files in the folios in which a cold start has read them."""
    kernel = KERNELS.get(log.header.get("kernel", USUAL))
    return "code-folio" in log.header and kernel is not None and kernel.whole_folios


class Run:
    """A recorded run: its touches, its mappings, and its files."""

    def __init__(self, log: FaultLog) -> None:
        self.log = log
        self.page_size = log.page_size
        self.around = max(1, _setting(log, "fault-around", _TABLE))
        self.ahead = _setting(log, "read-ahead", _MOST_AHEAD)
        name = log.header.get("kernel", USUAL)
        if name not in KERNELS:
            raise ReportError(f"kernel '{name[:40]}' is not one that is known: {', '.join(KERNELS)}", log.path)
        self.kernel_name, self.kernel = name, KERNELS[name]
        self.code_folio = max(1, _setting(log, "code-folio", _TABLE)) if "code-folio" in log.header else 1
        self.leaves_folios = leaves_folios(log)
        # Of the faults that there are always, those of the stack.
        self.events, self.always, self.certain = _without_certain(events_of(log))
        self.files = Files()
        for map_ in log.maps.values():
            if map_.what == "file":
                self.files.add(map_.name, log.page_size)
        self.pieces = {number: self._pieces(map_) for number, map_ in log.maps.items()}
        self.protected = self._protected()

    def native(self, map_: Map) -> int:
        return map_.native // self.page_size

    def _pieces(self, map_: Map) -> list[Piece]:
        """A mapping without what was mapped over it: the dynamic linker maps a library as a whole, and
        its parts over that."""
        size = self.page_size
        free = [(map_.start, map_.end)]
        for other in self.log.maps.values():
            if other.number <= map_.number or other.start >= map_.end or other.end <= map_.start:
                continue
            if other.what not in ("file", "bss") or other.name != map_.name:
                continue
            free = [
                part
                for start, end in free
                for part in ((start, min(end, other.start)), (max(start, other.end), end))
                if part[0] < part[1]
            ]
        by = map_.native - map_.start
        return [Piece((start + by) // size, -(-(end + by) // size)) for start, end in free]

    def _protected(self) -> dict[int, tuple[int, int]]:
        """By map: its first page that stays writable after relocation, and the event from which on the
        pages before that are a mapping of their own."""
        found = {}
        for map_ in self.log.maps.values():
            elf = self.files.elves.get(map_.name) if map_.what == "file" else None
            if elf is None or not elf.relro or "w" not in map_.protection:
                continue
            address = elf.address_of(map_.offset, elf_files.PF_W)
            if address is None:
                continue
            base = map_.native - address // self.page_size * self.page_size
            behind = (base + elf.relro.stop) // self.page_size
            last = -1
            for place, event in enumerate(self.events):
                if event.map is map_ and event.work == LINKER and event.writes and event.page < behind:
                    last = place
            if last >= 0:
                found[map_.number] = (behind, last)
        return found


class Populated(NamedTuple):
    """Pages of a map that are made present at once."""

    map: int
    pages: range
    writes: bool


CODE, DATA = "code", "data"


@dataclass
class Change:
    """A changed run: which events there are, and where their pages lie."""

    keep: Callable[[int, Event], bool] | None = None
    # By map: how pages move, None: they are gone; and what becomes of the mapping.
    page: dict[int, Callable[[int], int | None]] = field(default_factory=dict)
    by: dict[int, int] = field(default_factory=dict)  # pages that it moves by, and the file does not
    piece: dict[int, Callable[[Piece], Piece]] = field(default_factory=dict)
    # Before the event of that number these pages are made present.
    populate: tuple[int, tuple[Populated, ...]] = (-1, ())
    executes: frozenset[int] = frozenset()  # maps that may be executed, which they might not
    # Events that the changed run has, in the order of their time, of which its own `keep` takes nothing away.
    more: tuple[Event, ...] = ()
    orders: str = ""  # CODE or DATA: `more` is what the program uses of it, in another order


@dataclass
class Replay:
    """What a replay has found."""

    at: list[bool]  # by event of the run: whether it is a fault
    always: int  # faults beside these
    major: int
    read: int  # pages, from the disk
    requests: int  # of neighbouring pages

    @property
    def faults(self) -> int:
        return sum(self.at) + self.always


class Replayer:
    """One replay: which pages are present, and which of them may be written to."""

    def __init__(self, run: Run, changes: Iterable[Change], is_cold: bool) -> None:
        self.run = run
        self.changes = list(changes)
        self.is_cold = is_cold
        self.present: dict[int, bool] = {}  # page: whether it may be written to
        self.begun: set[int] = set()
        self.cached: dict[str, CachedFile] = {}
        self.told: list[tuple[CachedFile, int]] = []
        self.major = 0
        self.left = self._left_by_a_cold_start() if run.leaves_folios and not is_cold else {}

    def _left_by_a_cold_start(self) -> dict[str, CachedFile]:
        cold = Replayer(self.run, self.changes, True)
        cold.all()
        return cold.cached

    def all(self) -> Replay:
        at: list[bool] = []
        more = 0
        others = [(event, change) for change in self.changes for event in change.more]
        others.sort(key=lambda one: one[0].when)
        following = iter(others)
        other = next(following, None)
        for place, event in enumerate(self.run.events):
            while other is not None and other[0].when <= event.when:
                more += self._is_fault(place, *other)
                other = next(following, None)
            at.append(self._is_fault(place, event))
        while other is not None:
            more += self._is_fault(len(at), *other)
            other = next(following, None)
        files = self.cached.values()
        read, requests = sum(file.read for file in files), sum(len(file.runs) for file in files)
        return Replay(at, self.run.always + more, self.major, read, requests)

    def requests(self) -> Iterator[tuple[str, range]]:
        """What was read from the disk, in order: a file, and its pages."""
        names = {id(file): name for name, file in self.cached.items()}
        return ((names[id(file)], file.runs[number]) for file, number in self.told)

    def _moved(self, place: int, event: Event, by: Change | None) -> int | None:
        page: int | None = event.page
        for change in self.changes:
            if change is not by and change.keep is not None and not change.keep(place, event):
                return None
            move = change.page.get(event.map.number)
            if move is not None and page is not None:
                page = move(page)
        return page

    def _moved_pages(self, part: Populated) -> list[int]:
        """Where a populated segment is after all changes."""
        pages: list[int | None] = list(part.pages)
        for change in self.changes:
            move = change.page.get(part.map)
            if move is not None:
                pages = [move(page) if page is not None else None for page in pages]
        return [page for page in pages if page is not None]

    def _populate(self, place: int) -> None:
        for change in self.changes:
            when, parts = change.populate
            for part in parts if when == place else ():
                self.begun.add(part.map)
                if len(part.pages) > _MOST_POPULATED:
                    continue
                pages = self._moved_pages(part)
                self._read_in(part, pages)
                for page in pages:
                    self.present[page] = self.present.get(page, False) or part.writes

    def _read_in(self, part: Populated, pages: Sequence[int]) -> None:
        """The call waits for the disk, which is no fault of the program's."""
        map_ = self.run.log.maps[part.map]
        if not self.is_cold or map_.what != "file":
            return
        waited = self.major
        for page in pages:
            if page not in self.present:
                event = Event(map_, page, part.writes, False, PROGRAM, 0)
                self._file(event, Piece(pages[0], pages[-1] + 1), page)
                self.present.setdefault(page, False)
        self.major = waited

    def _is_fault(self, place: int, event: Event, by: Change | None = None) -> bool:
        """`by` has added the event."""
        self._populate(place)
        page = self._moved(place, event, by)
        if page is None:
            return False
        is_file = event.map.what == "file"
        piece = self._piece(place, event, page)
        if event.map.number not in self.begun:
            self.begun.add(event.map.number)
            if not any(event.map.number in change.piece for change in self.changes):
                for other in [other for other in self.present if piece.start <= other < piece.end]:
                    del self.present[other]
        if event.again:
            self.present.pop(page, None)
        writable = self.present.get(page)
        if writable is None:
            if is_file:
                self._file(event, piece, page)
            self.present[page] = event.writes or (event.comes and not is_file)
            return is_file or not event.comes
        if event.writes and not writable:
            self.present[page] = True
            return is_file or not event.comes
        return False

    def _piece(self, place: int, event: Event, page: int) -> Piece:
        number = event.map.number
        split = self.run.protected.get(number)
        for piece in self.run.pieces[number]:
            if not piece.start <= event.page < piece.end:
                continue
            if split is not None and place > split[1] and piece.start < split[0] < piece.end:
                before = event.page < split[0]
                piece = Piece(piece.start, split[0]) if before else Piece(split[0], piece.end)
            for change in self.changes:
                if number in change.piece:
                    piece = change.piece[number](piece)
            return piece
        return Piece(page, page + 1)

    def _cached(self, name: str) -> CachedFile:
        if name not in self.cached:
            run = self.run
            self.cached[name] = CachedFile(run.files.pages[name], run.ahead, run.kernel, run.code_folio)
            self.cached[name].told = self.told
            if name in self.run.files.elves:
                self.cached[name].header()
        return self.cached[name]

    def _file(self, event: Event, piece: Piece, page: int) -> None:
        """do_fault_around(): the window is aligned by its place in the page table, and clamped to the
        mapping and to the page table."""
        run, map_ = self.run, event.map
        to_file = self._file_page(event, page) - page
        until = run.files.pages[map_.name] - to_file
        around = run.around > 1 and not event.writes
        window = self._window(piece, page, until) if around else range(0)
        if not self.is_cold:
            left = self.left.get(map_.name)
            for other in window if left is None else self._reach(left, piece, window, to_file):
                self.present.setdefault(other, False)
            return
        cached = self._cached(map_.name)
        executes = "x" in map_.protection or any(map_.number in change.executes for change in self.changes)
        if around:
            reach = self._reach(cached, piece, window, to_file)
            cached.looks_around(page + to_file, range(reach.start + to_file, reach.stop + to_file))
        major = cached.need(page + to_file, piece.start + to_file, piece.end + to_file, executes, around)
        self.major += major
        if not around:
            cached.arrives()
            return
        reach = self._reach(cached, piece, window, to_file)
        cached.around(page + to_file, range(reach.start + to_file, reach.stop + to_file), executes, major)
        for other in reach:
            if cached.gives(other + to_file):
                self.present.setdefault(other, False)
        cached.arrives()

    def _window(self, piece: Piece, page: int, until: int) -> range:
        around = self.run.around
        in_table = page % _TABLE
        first = max(in_table - in_table % around, in_table - (page - piece.start))
        last = min(first + around, _TABLE, in_table + piece.end - page) - 1
        return range(page - in_table + first, min(page - in_table + last + 1, until))

    def _reach(self, cached: CachedFile, piece: Piece, window: range, to_file: int) -> range:
        """The window, and of the folios at its ends all."""
        if not window or not self.run.kernel.whole_folios:
            return window
        low, high = window[0], window[-1]
        for page in (low, high):
            folio = cached.folio(page + to_file)
            first, last = folio[0] - to_file, folio[-1] - to_file
            if (
                cached.comes_along(page + to_file)
                and piece.start <= first
                and last < piece.end
                and folio.stop < cached.pages
                and first // _TABLE == last // _TABLE
            ):
                low, high = min(low, first), max(high, last)
        return range(low, high + 1)

    def _file_page(self, event: Event, page: int) -> int:
        """The page of the file: as far behind its mapping's begin as in memory. Of a change that moves
        memory but not the file, `by` says how far."""
        map_ = event.map
        begin = map_.native // self.run.page_size
        for change in self.changes:
            begin += change.by.get(map_.number, 0)
        return page - begin + map_.offset // self.run.page_size


def replay(run: Run, changes: Iterable[Change] = (), is_cold: bool = False) -> Replay:
    """The faults of the view warm, or cold, after the changes, one behind the other."""
    return Replayer(run, changes, is_cold).all()


def faults_of(run: Run, replayed: Replay) -> Iterator[Event]:
    return (event for event, is_fault in zip(run.events, replayed.at) if is_fault)
