# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Takes the touches of a recorded run to where they would be in a program that is linked otherwise: at the
addresses of a trial link (whatif_trial.py).

What such a program does before main() and behind it, the trial has done itself, and so it has what the
dynamic linker does until then. Code and data of libraries that are archives then move by their symbols;
those of the program, and of libraries that have a stand-in, by how far behind their section's begin they
are. Of what the trial loads, too, the pages are the same.
"""

from __future__ import annotations

import copy
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ..formats.dynamic import dynamic_of
from ..formats.elf import PF_R, PF_W, PF_X, STT_OBJECT, Elf
from ..formats.entries import Use
from ..formats.fault import Map
from ..formats.faultlog import LINKER, PROGRAM
from ..places.datafaults import AS_IT_IS, Layout, moved_bytes
from ..places.datafaults import Use as DataUse
from .replay import Event, Run
from .replay import Piece as Stretch
from .whatif_code import CODE, Binary, Part, Parts, Piece, Used, in_order, moved
from .whatif_link import Program
from .whatif_standin import (
    AHEAD,
    STARTUP,
    Impossible,
    aligned,
    code_ahead,
    cold_code,
    start_code,
)
from .whatif_trial import Trial

Keep = Callable[[int, Event], bool]

# What glibc calls the functions that its library calls directly; the archive has their plain names.
_INSIDE = "__GI_"
_MANGLED = "_Z"
_MANY = 500  # blocks of code
_LEAST_NAMED = 0.5  # of the library code that ran, what must have symbols
_OTHER = 1 << 20  # added to the numbers of the recorded run's own mappings


class Moves:
    """Where the bytes of data are then, counted from the begin of their section as it is now."""

    def __init__(self, elf: Elf, layout: Layout) -> None:
        self.layout = layout
        self.starts = [moved.start for moved in layout.moved]
        # What a section grows by moves those behind it, but a static program has its own places of them.
        self.begins = {
            section.address: min(m.start + m.by for m in layout.moved if m.start >= section.address)
            for section in elf.sections
            if any(m.start == section.address for m in layout.moved)
        }
        self.elf = elf

    def of(self, address: int, length: int) -> Iterator[tuple[int, int]]:
        section = self.elf.section_at(address)
        by = 0
        if section is not None and section.address in self.begins:
            by = section.address - self.begins[section.address]
        for first, last in moved_bytes(DataUse(address, length, False), self.layout.moved, self.starts):
            yield first + by, last + 1 - first


class Place:
    """A file of the trial, as it is mapped there."""

    def __init__(self, run: Run, elf: Elf) -> None:
        self.elf = elf
        self.maps = [m for m in run.log.maps.values() if m.name == elf.path]
        self.base = _base(run, elf.path, self.maps) if elf.is_pie or not elf.is_program else 0

    def at(self, address: int | None, length: int, kind: str, when: int) -> Iterator[Event]:
        if address is None:
            return
        for page in range(address // 4096, (address + max(1, length) - 1) // 4096 + 1):
            native = self.base + page
            map_ = next((m for m in reversed(self.maps) if _holds(m, native)), None)
            if map_ is not None:
                yield Event(map_, native, kind == "w", kind == "x", PROGRAM, when)


class _Gone:
    """When there is work that is taken away."""

    def __init__(self, times: Sequence[int], stays: Sequence[bool]) -> None:
        self.times = times
        self.kept_before = [0]  # by event, how many before it stay
        for stay in stays:
            self.kept_before.append(self.kept_before[-1] + stay)

    def between(self, start: int, end: int) -> bool:
        """Whether the touches that surround that time, and those in it, are all of such work."""
        first, last = bisect_right(self.times, start) - 1, bisect_left(self.times, end)
        if first < 0 or last >= len(self.times):
            return False
        return self.kept_before[last + 1] == self.kept_before[first]


class Relinked:
    def __init__(self, run: Run, used: Used, program: Program, trial: Trial) -> None:
        self.run, self.used, self.program, self.trial = run, used, program, trial
        self._complete()
        # Names of the program stand for nothing.
        self.functions = Parts(trial.elf, CODE, frozenset({trial.homes[program.path].starts.get(".text", 0)}))
        self.variables = Parts(trial.elf, (STT_OBJECT,))
        self.place = Place(trial.run, trial.elf)
        self.places = {name: Place(trial.run, home.elf) for name, home in trial.homes.items()}
        names = {m.name for m in run.log.maps.values() if m.what == "file" and m.name in run.files.elves}
        self.linker = next(
            (e.map.name for e in run.events if e.work == LINKER and e.fetches and e.map.what == "file"), ""
        )
        self.bases = {
            name: _base(run, name, [m for m in run.log.maps.values() if m.name == name])
            for name in names - {program.path}
        }
        self.bases[program.path] = program.base
        self.kept = {m.name for m in trial.run.log.maps.values() if m.what == "file"} & names
        self.binaries = {n: b for n, b in used.binaries.items() if n in names and n != self.linker}
        own = self.binaries.get(program.path)
        self.start = min((piece.when for piece in own.code), default=0) if own is not None else 0
        self.uses = {name: self._uses(binary) for name, binary in self.binaries.items()}
        self.cleared = {name: self._cleared(binary) for name, binary in self.binaries.items()}
        self.stack = {
            (fault.page - fault.map.start + fault.map.native) // 4096
            for fault in trial.run.log.faults
            if fault.map.what == "stack"
        }
        # Of .text: where the program's start begins and ends, and by how much an order pushes what is ahead.
        self.cold = self.until = self.pushed = 0
        self._need_symbols()

    def _complete(self) -> None:
        """A log has the mappings that are touched. What the trial does not touch of its files, the changed
        program can."""
        run = self.trial.run
        files = {home.elf.path: home.elf for home in self.trial.homes.values()}
        for elf in files.values():
            maps = [m for m in run.log.maps.values() if m.name == elf.path and m.what == "file"]
            base = _base(run, elf.path, maps) if elf.is_pie or not elf.is_program else 0
            for segment in elf.loads if maps else ():
                first, last = segment.address // 4096, -(-(segment.address + segment.file_size) // 4096)
                letters = [letter if segment.flags & bit else "-" for letter, bit in zip("rwx", (PF_R, PF_W, PF_X))]
                like = maps[0]._replace(protection="".join(letters), offset=segment.offset // 4096 * 4096)
                if segment.file_size:
                    self._add(like, range(base + first, base + last))
                end = -(-(segment.address + segment.memory_size) // 4096)
                if end > last:
                    self._add(like._replace(what="bss", offset=0), range(base + last, base + end))
        for name in {m.name for m in run.log.maps.values() if m.what == "file"} & set(self.run.files.elves):
            theirs = [m for m in run.log.maps.values() if m.name == name and m.what == "file"]
            ours = [m for m in self.run.log.maps.values() if m.name == name and m.what in ("file", "bss")]
            by = _base(run, name, theirs) - _base(self.run, name, ours)
            for map_ in ours:
                first = map_.native // 4096 + by
                self._add(map_, range(first, first + (map_.end - map_.start) // 4096))

    def _add(self, like: Map, pages: range) -> None:
        log = self.trial.run.log
        if _key(like) in map(_key, log.maps.values()):
            return
        number = max(log.maps) + 1
        log.maps[number] = like._replace(number=number, start=pages.start * 4096, end=pages.stop * 4096, native=pages.start * 4096)
        self.trial.run.pieces[number] = [Stretch(pages.start, pages.stop)]

    def _need_symbols(self) -> None:
        for name, binary in self.binaries.items():
            code = [piece for piece in binary.code if not _is_stub(binary, piece)]
            named = sum(piece.part is not None for piece in code)
            has_symbols = name in self.places or name in self.kept
            if not has_symbols and len(code) > _MANY and named < _LEAST_NAMED * len(code):
                package = "libc6-dbg" if "/libc." in name else "the library's package with -dbgsym"
                raise Impossible(f"the symbols of {name} are missing (Debian: {package})")

    def _uses(self, binary: Binary) -> Mapping[int, list[Use]]:
        """By page, of what is done once the program has begun. Before, it is the dynamic linker's, or what
        the trial does, too: where it relocates, what is written again is on pages that it has written.
        A library that is a stand-in there does nothing: its constructors are before."""
        start = self.start
        relocates = self.trial.elf.is_pie or bool(self.kept)
        if binary.elf.path in self.places:
            start = min((piece.when for piece in binary.code), default=start)
        return _by_page(use for use in binary.uses if use.when >= start and not (relocates and use.again))

    def _cleared(self, binary: Binary) -> Mapping[int, list[Use]]:
        """By page, what the dynamic linker writes that is no relocation: it clears the begin of .bss, and a use
        is the first one only."""
        dynamic = dynamic_of(binary.elf) if self.kept and binary.elf.path in self.places else None
        if dynamic is None:
            return {}
        words = {one.address for one in dynamic.relocations}
        return _by_page(use for use in binary.uses if use.when < self.start and use.offset not in words)

    def touches(self, keeps: Iterable[Keep], has_order: bool, data: Layout = AS_IT_IS) -> Run:
        """The static program's run, without what a `keep` takes away; `data`: the program's is in order."""
        self.data = Moves(self.program.elf, data)
        keeps = list(keeps)
        stays = [all(keep(place, event) for keep in keeps) for place, event in enumerate(self.run.events)]
        kept = [event for event, stay in zip(self.run.events, stays) if stay]
        self.gone = _Gone([event.when for event in self.run.events], stays)
        out = copy.copy(self.trial.run)
        out.log = copy.copy(out.log)
        out.log.maps = dict(out.log.maps)
        out.pieces = dict(out.pieces)
        out.files = copy.copy(out.files)
        out.files.pages = {**self.run.files.pages, **out.files.pages}
        out.always = out.always + self.run.always
        own = list(_start(out.events))
        binary = self.binaries.get(self.program.path)
        places = in_order(binary) if has_order and binary is not None else {}
        self._place_ahead(places)
        out.events = list(self._pushed_start([event for event in own if event.when <= self.trial.main_at]))
        found = [*self._code(kept, places), *self._others(kept, out)]
        out.events += sorted(found, key=lambda event: event.when)
        out.events += [event for event in own if event.when > self.trial.main_at]
        return out

    def _code(self, kept: Iterable[Event], places: Mapping[int, int]) -> Iterator[Event]:
        pages: dict[tuple[str, int], int] = {}
        for event in kept:
            if event.fetches:
                pages.setdefault((event.map.name, event.page), event.when)
        moving = {name: binary for name, binary in self.binaries.items() if name not in self.kept}
        pieces = [(piece, name) for name, binary in moving.items() for piece in binary.code]
        for piece, name in self._kept(sorted(pieces, key=lambda one: one[0].turn), pages):
            at, length = piece.address, piece.length
            if self._is_of_start(name, piece.part):
                continue
            if name in self.places:
                at = moved(piece, places) if name == self.program.path else at
                yield from self.places[name].at(self._stand_in(name, at), length, "x", piece.when)
            elif piece.part is not None:
                to, length = self._named(self.functions, piece.part, at, length)
                yield from self.place.at(to, length, "x", piece.when)

    def _is_of_start(self, name: str, part: Part | None) -> bool:
        """A library's own code and data of the C start files: what it is merged into has its own."""
        return name in self.places and name != self.program.path and part is not None and part.is_fixed

    def _kept(
        self, pieces: Sequence[tuple[Piece, str]], pages: Mapping[tuple[str, int], int]
    ) -> Iterator[tuple[Piece, str]]:
        """Without those of work that is taken away. `pages`: when the others are the first to fetch from a page. What
        ran on it before that is not theirs, and neither is what ran between two touches of that work; but if nothing
        else ran on the page, it must be."""
        first = []  # by piece: when others are on its page; None: never
        is_before = []
        explained = set()
        now = behind = 0  # when the pieces at hand are known to run at the earliest, and those behind them
        for piece, name in reversed(pieces):
            if piece.when != now:
                now, behind = piece.when, now
            key = name, self.bases[name] + piece.address // 4096
            when = pages.get(key)
            first.append(when)
            is_before.append(when is not None and now < behind and (behind <= when or self.gone.between(now, behind)))
            if when is not None and not is_before[-1]:
                explained.add(key)
        for (piece, name), when, before in zip(pieces, reversed(first), reversed(is_before)):
            if when is None:
                continue
            if not before:
                yield piece, name
            elif (name, self.bases[name] + piece.address // 4096) not in explained:
                yield piece._replace(when=max(when, piece.when)), name

    def _place_ahead(self, places: Mapping[int, int]) -> None:
        """What is ordered stands before what linkers place ahead: unlikely code of the program, of the archives,
        the start of the program, the C start files'. All of that is pushed behind it."""
        self.cold = self.until = self.pushed = 0
        text = next((section for section in self.program.elf.sections if section.name == ".text"), None)
        own = self.binaries.get(self.program.path)
        ahead = code_ahead(self.program.elf, text) if text is not None else 0
        if text is None or own is None or not ahead:
            return
        start, cold = text.address + ahead, text.address + aligned(cold_code(self.program.elf, text))
        entered = {piece.part for piece in own.code}
        stays = [p.address for p in own.functions.between(cold, start) if p.address >= cold and (not places or p not in entered)]
        first = min((address for address in stays), default=start)
        self.until = places.get(start, start) - text.address
        self.cold = places.get(first, first) - text.address
        self.pushed = max(0, self.until - ahead)
        if places:
            self.pushed += self._joining({name for part in entered if part is not None for name in part.names})

    def _joining(self, names: set[str]) -> int:
        """The bytes of an archive's functions that have the names of ordered ones: copies of templates and inline
        functions, each in a section of its own."""
        found = (self.functions.by_name.get(name, ()) for name in names if name.startswith(_MANGLED))
        return sum(aligned(part.size) for parts in found for part in parts)

    def _pushed_start(self, own: Sequence[Event]) -> Iterator[Event]:
        """What the trial does until main(): the C start files' code, with which it begins, is elsewhere then. On
        that page there may be others' code, which is executed later."""
        start = next((symbol.address for symbol in self.trial.elf.symbols if symbol.name == "_start"), None)
        place = next((n for n, event in enumerate(own) if event.fetches and event.map.name == self.trial.elf.path), None)
        if not self.pushed or start is None or place is None:
            yield from own
            return
        yield from own[:place]
        yield from self.place.at(start + self.pushed, 1, "x", own[place].when)
        yield from own[place + 1 :]
        yield own[place]

    def _stand_in(self, name: str, address: int) -> int | None:
        """Where a byte of a file is then that has a stand-in."""
        is_program = name == self.program.path
        elf = self.program.elf if is_program else self.binaries[name].elf
        home = self.trial.homes[name]
        section = elf.section_at(address)
        if section is None:
            return None
        offset = address - section.address
        if section.name not in home.starts:
            # The linker makes it, of all that are in one file.
            made = next((s for s in home.elf.sections if s.name == section.name), None) if self.kept else None
            return made.address + min(offset, made.size - 1) if made is not None and made.size else None
        is_text = section.name == ".text"
        ahead = code_ahead(elf, section) if is_text and is_program else 0
        if ahead and offset < self.cold:
            return home.starts[AHEAD] + offset
        if ahead and offset < self.until:
            return home.starts[STARTUP] + self.pushed + offset - self.cold
        return home.starts[section.name] + max(0, offset - ahead - (start_code(elf, section) if is_text else 0))

    def _named(self, parts: Parts, part: Part, address: int, length: int) -> tuple[int | None, int]:
        """Where bytes of a library's function or variable are then. The archive's may be shorter."""
        names = [*part.names, *(name[len(_INSIDE) :] for name in part.names if name.startswith(_INSIDE))]
        found = next((parts.by_name[name][0] for name in names if name in parts.by_name), None)
        if found is None or not found.size:
            return None, length
        offset = min(address - part.address, found.size - 1)
        home = self.trial.homes[self.program.path].starts
        if home.get(AHEAD, found.address + 1) <= found.address < home[".text"]:
            offset += self.pushed
        return found.address + offset, min(length, found.size - offset)

    def _others(self, kept: Iterable[Event], out: Run) -> Iterator[Event]:
        by_linker = {event.page for event in self.run.events if event.work == LINKER}
        for event in kept:
            name = event.map.name
            if name in self.kept and event.map.what in ("file", "bss"):
                # Until the program begins, the dynamic linker does in the trial what it has to do there.
                if event.work != LINKER or event.when >= self.start:
                    yield from self._same(event)
                continue
            if self.kept and event.work == LINKER and event.when >= self.start and name in self.places:
                # It binds a function when it is called first.
                address = (event.page - self.bases[name]) * 4096
                yield from self.places[name].at(self._nearest(name, address), 1, "w" if event.writes else "r", event.when)
                continue
            if event.work == LINKER or name == self.linker or event.map.what == "tls":
                continue
            if name in self.bases:
                if not event.fetches:
                    yield from self._data(event)
                continue
            # What the dynamic linker has allocated: a static program has it in the trial's heap. And what
            # it left on the stack is read by nobody.
            if event.page in by_linker and (
                event.map.what == "anon" or (event.map.what == "stack" and not event.writes)
            ):
                continue
            other = self._other(event, out)
            if other is not None:
                yield other

    def _same(self, event: Event) -> Iterator[Event]:
        """A page of a file that the trial loads, too."""
        of_map = event.page - event.map.native // 4096
        for map_ in self.trial.run.log.maps.values():
            if _key(map_) == _key(event.map):
                yield event._replace(map=map_, page=map_.native // 4096 + of_map)
                return

    def _nearest(self, name: str, start: int) -> int | None:
        """Where the first of a page is then that is in a section."""
        elf = self.binaries[name].elf if name in self.binaries else self.program.elf
        sections = [s for s in elf.sections if s.address and s.address < start + 4096 and s.address + s.size > start]
        return self._stand_in(name, max(start, sections[0].address)) if sections else None

    def _other(self, event: Event, out: Run) -> Event | None:
        """Of memory that stays what it is. A stack is a stack, but a heap has other addresses. None: the trial
        has touched it, too."""
        for map_ in self.trial.run.log.maps.values():
            if (map_.what, map_.name) != (event.map.what, event.map.name) or map_.what not in ("stack", "vdso"):
                continue
            page = event.page
            if map_.what != "stack":
                page += map_.native // 4096 - event.map.native // 4096
            if map_.what == "stack" and page in self.stack:
                return None
            if _holds(map_, page):
                return event._replace(map=map_, page=page)
        number = event.map.number + _OTHER
        by = self._heap_moves() if event.map.what == "heap" else 0
        if number not in out.log.maps:
            out.log.maps[number] = event.map._replace(number=number, native=event.map.native + by * 4096)
            out.pieces[number] = [Stretch(one.start + by, one.end + by) for one in self.run.pieces[event.map.number]]
        return event._replace(map=out.log.maps[number], page=event.page + by)

    def _heap_moves(self) -> int:
        """By how many pages: it begins behind the program, which may be larger."""
        if not self.kept:
            return 0
        return self.place.base + _end(self.trial.elf) - self.program.base - _end(self.program.elf)

    def _data(self, event: Event) -> Iterator[Event]:
        name, kind = event.map.name, "w" if event.writes else "r"
        page = event.page - self.bases[name]
        uses = [
            use for use in self.uses.get(name, {}).get(page, ()) if use.is_write or not event.writes
        ]
        found = False
        for use in uses:
            if self._is_of_start(name, self.binaries[name].variables.at(use.offset)):
                found = True
                continue
            for moved_event in self._use(name, use, kind):
                found = True
                yield moved_event
        if found or event.when < self.start:
            return
        for use in self.cleared.get(name, {}).get(page, ()):
            if use.is_write and event.writes:
                yield from self._use(name, use._replace(when=event.when), kind)
                return
        place = self.places.get(name, self.place)
        for address in self._guess(name, page * 4096, event.writes):
            yield from place.at(address, 1, kind, event.when)

    def _use(self, name: str, use: Use, kind: str) -> Iterator[Event]:
        if name == self.program.path:
            for at, length in self.data.of(use.offset, use.length):
                yield from self.places[name].at(self._stand_in(name, at), length, kind, use.when)
            return
        if name in self.places:
            yield from self.places[name].at(self._stand_in(name, use.offset), use.length, kind, use.when)
            return
        part = self.binaries[name].variables.at(use.offset)
        if part is not None:
            to, length = self._named(self.variables, part, use.offset, use.length)
            yield from self.place.at(to, length, kind, use.when)

    def _guess(self, name: str, start: int, writes: bool) -> Iterator[int]:
        """For a page of which is not known what of it is used."""
        home = self.trial.homes.get(name)
        if home is not None:
            elf = self.program.elf if name == self.program.path else self.binaries[name].elf
            sections = [
                section
                for section in elf.sections
                if section.name in home.starts and section.address < start + 4096
                and section.address + section.size > start
            ]  # fmt: skip
            if sections:
                most = max(sections, key=lambda s: min(s.address + s.size, start + 4096) - max(s.address, start))
                yield home.starts[most.name] + max(start, most.address) - most.address
            return
        binary = self.binaries.get(name)
        for part in binary.variables.between(start, start + 4096) if binary is not None else ():
            if all(len(self.variables.by_name.get(name, ())) > 1 for name in part.names):
                continue  # any of them, such as names of functions that only errors print
            to, _ = self._named(self.variables, part, max(start, part.address), 1)
            if to is not None:
                yield to
                if writes:
                    return


def _by_page(uses: Iterable[Use]) -> Mapping[int, list[Use]]:
    found: dict[int, list[Use]] = defaultdict(list)
    for use in uses:
        for page in range(use.offset // 4096, (use.offset + use.length - 1) // 4096 + 1):
            found[page].append(use)
    return found


def _is_stub(binary: Binary, piece: Piece) -> bool:
    """Linkage code has no symbols, and a static program has none of it."""
    section = binary.elf.section_at(piece.address)
    return section is not None and section.name.startswith(".plt")


def _base(run: Run, name: str, maps: Iterable[Map]) -> int:
    for map_ in maps:
        address = run.files.elves[name].address_of(map_.offset) if map_.what == "file" else None
        if address is not None:
            return map_.native // 4096 - address // 4096
    return 0


def _end(elf: Elf) -> int:
    """The page behind its last one."""
    return max((-(-(load.address + load.memory_size) // 4096) for load in elf.loads), default=0)


def _key(map_: Map) -> tuple[str, str, str, int]:
    """What two runs have in common of a mapping of one file."""
    return map_.what, map_.name, map_.protection, map_.offset


def _holds(map_: Map, page: int) -> bool:
    first = map_.native // 4096
    return first <= page < first + (map_.end - map_.start) // 4096


def _start(events: Iterable[Event]) -> Iterator[Event]:
    """What the trial did: of the heap only the first page, which is the thread's own block. More of it is
    what constructors allocate, which the recorded run has done, too."""
    heap = None
    for event in events:
        if event.map.what == "heap":
            heap = event.page if heap is None else heap
            if event.page != heap:
                continue
        yield event
