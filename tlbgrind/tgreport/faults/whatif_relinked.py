# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Takes the touches of a recorded run to where they would be in a static program: at the addresses of a
trial link (whatif_trial.py).

What a static program does before main() and behind it, the trial has done itself; what the dynamic
linker did is gone. Code and data of libraries move by their symbols, the program's own by how far
behind its section's begin they are.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from ..formats.elf import STT_OBJECT, Elf
from ..formats.entries import Use
from ..formats.fault import Map
from ..formats.faultlog import LINKER, PROGRAM
from ..places.datafaults import AS_IT_IS, Layout, moved_bytes
from ..places.datafaults import Use as DataUse
from .replay import Event, Run
from .whatif_code import CODE, Binary, Part, Parts, Piece, Used, in_order, moved
from .whatif_link import Program
from .whatif_trial import AHEAD, Impossible, Trial, code_ahead

Keep = Callable[[int, Event], bool]

# What glibc calls the functions that its library calls directly; the archive has their plain names.
_INSIDE = "__GI_"
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


class Relinked:
    def __init__(self, run: Run, used: Used, program: Program, trial: Trial) -> None:
        self.run, self.used, self.program, self.trial = run, used, program, trial
        self.functions = Parts(trial.elf, CODE)
        self.variables = Parts(trial.elf, (STT_OBJECT,))
        self.maps = [m for m in trial.run.log.maps.values() if m.name == trial.elf.path]
        self.base = _base(trial.run, trial.elf.path, self.maps) if trial.elf.is_pie else 0
        names = {m.name for m in run.log.maps.values() if m.what == "file" and m.name in run.files.elves}
        self.linker = next(
            (e.map.name for e in run.events if e.work == LINKER and e.fetches and e.map.what == "file"), ""
        )
        self.bases = {
            name: _base(run, name, [m for m in run.log.maps.values() if m.name == name])
            for name in names - {program.path}
        }
        self.bases[program.path] = program.base
        self.binaries = {n: b for n, b in used.binaries.items() if n in names and n != self.linker}
        own = self.binaries.get(program.path)
        self.start = min((piece.when for piece in own.code), default=0) if own is not None else 0
        self.uses = {name: self._uses(binary) for name, binary in self.binaries.items()}
        self.until = 0  # bytes of .text that are ahead
        self._need_symbols()

    def _need_symbols(self) -> None:
        for name, binary in self.binaries.items():
            code = [piece for piece in binary.code if not _is_stub(binary, piece)]
            named = sum(piece.part is not None for piece in code)
            if name != self.program.path and len(code) > _MANY and named < _LEAST_NAMED * len(code):
                package = "libc6-dbg" if "/libc." in name else "the library's package with -dbgsym"
                raise Impossible(f"the symbols of {name} are missing (Debian: {package})")

    def _uses(self, binary: Binary) -> Mapping[int, list[Use]]:
        """By page, of what is done once the program has begun. Before, it is the dynamic linker's, or what
        the trial does, too."""
        found: dict[int, list[Use]] = defaultdict(list)
        for use in binary.uses:
            if use.when >= self.start:
                for page in range(use.offset // 4096, (use.offset + use.length - 1) // 4096 + 1):
                    found[page].append(use)
        return found

    def touches(self, keeps: Iterable[Keep], has_order: bool, data: Layout = AS_IT_IS) -> Run:
        """The static program's run, without what a `keep` takes away; `data`: the program's is in order."""
        self.data = Moves(self.program.elf, data)
        kept = [
            event
            for place, event in enumerate(self.run.events)
            if all(keep(place, event) for keep in keeps)
        ]
        out = copy.copy(self.trial.run)
        out.log = copy.copy(out.log)
        out.log.maps = dict(out.log.maps)
        out.pieces = dict(out.pieces)
        out.files = copy.copy(out.files)
        out.files.pages = {**self.run.files.pages, **out.files.pages}
        out.always = out.always + self.run.always
        own = list(_start(out.events))
        out.events = [event for event in own if event.when <= self.trial.main_at]
        found = [*self._code(kept, has_order), *self._others(kept, out)]
        out.events += sorted(found, key=lambda event: event.when)
        out.events += [event for event in own if event.when > self.trial.main_at]
        return out

    def _code(self, kept: Iterable[Event], has_order: bool) -> Iterator[Event]:
        pages = {(event.map.name, event.page) for event in kept if event.fetches}
        own = self.binaries.get(self.program.path)
        places = in_order(own) if has_order and own is not None else {}
        self._place_ahead(places)
        pieces = [(piece, name) for name, binary in self.binaries.items() for piece in binary.code]
        for piece, name in sorted(pieces, key=lambda one: one[0].turn):
            if (name, self.bases[name] + piece.address // 4096) not in pages:
                continue
            at, length = piece.address, piece.length
            if name == self.program.path:
                yield from self._at(self._own(moved(piece, places)), length, "x", piece.when)
            elif piece.part is not None:
                to, length = self._named(self.functions, piece.part, at, length)
                yield from self._at(to, length, "x", piece.when)

    def _place_ahead(self, places: Mapping[int, int]) -> None:
        """What is ordered stands before what linkers place ahead; behind that is the libraries' of this kind."""
        text = next((section for section in self.program.elf.sections if section.name == ".text"), None)
        ahead = code_ahead(self.program.elf, text) if text is not None else 0
        start = text.address + ahead if text is not None else 0
        self.until = places.get(start, start) - start + ahead

    def _own(self, address: int) -> int | None:
        """Where a byte of the program is then."""
        section = self.program.elf.section_at(address)
        if section is None or section.name not in self.trial.starts:
            return None
        offset = address - section.address
        ahead = code_ahead(self.program.elf, section) if section.name == ".text" else 0
        if ahead and offset < self.until:
            return self.trial.starts[AHEAD] + offset
        return self.trial.starts[section.name] + offset - ahead

    def _named(self, parts: Parts, part: Part, address: int, length: int) -> tuple[int | None, int]:
        """Where bytes of a library's function or variable are then. The archive's may be shorter."""
        names = [*part.names, *(name[len(_INSIDE) :] for name in part.names if name.startswith(_INSIDE))]
        found = next((parts.by_name[name] for name in names if name in parts.by_name), None)
        if found is None or not found.size:
            return None, length
        offset = min(address - part.address, found.size - 1)
        return found.address + offset, min(length, found.size - offset)

    def _at(self, address: int | None, length: int, kind: str, when: int) -> Iterator[Event]:
        if address is None:
            return
        for page in range(address // 4096, (address + max(1, length) - 1) // 4096 + 1):
            native = self.base + page
            map_ = next((m for m in reversed(self.maps) if _holds(m, native)), None)
            if map_ is not None:
                yield Event(map_, native, kind == "w", kind == "x", PROGRAM, when)

    def _others(self, kept: Iterable[Event], out: Run) -> Iterator[Event]:
        by_linker = {event.page for event in self.run.events if event.work == LINKER}
        for event in kept:
            name = event.map.name
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
            yield self._other(event, out)

    def _other(self, event: Event, out: Run) -> Event:
        """Of memory that stays what it is. A stack is a stack, but a heap has other addresses."""
        for map_ in self.trial.run.log.maps.values():
            if (map_.what, map_.name) != (event.map.what, event.map.name) or map_.what not in ("stack", "vdso"):
                continue
            page = event.page
            if map_.what != "stack":
                page += map_.native // 4096 - event.map.native // 4096
            if _holds(map_, page):
                return event._replace(map=map_, page=page)
        number = event.map.number + _OTHER
        if number not in out.log.maps:
            out.log.maps[number] = event.map._replace(number=number)
            out.pieces[number] = self.run.pieces[event.map.number]
        return event._replace(map=out.log.maps[number])

    def _data(self, event: Event) -> Iterator[Event]:
        name, kind = event.map.name, "w" if event.writes else "r"
        page = event.page - self.bases[name]
        uses = [
            use for use in self.uses.get(name, {}).get(page, ()) if use.is_write or not event.writes
        ]
        found = False
        for use in uses:
            for moved_event in self._use(name, use, kind):
                found = True
                yield moved_event
        if found or event.when < self.start:
            return
        for address in self._guess(name, page * 4096, event.writes):
            yield from self._at(address, 1, kind, event.when)

    def _use(self, name: str, use: Use, kind: str) -> Iterator[Event]:
        if name == self.program.path:
            for at, length in self.data.of(use.offset, use.length):
                yield from self._at(self._own(at), length, kind, use.when)
            return
        part = self.binaries[name].variables.at(use.offset)
        if part is not None:
            to, length = self._named(self.variables, part, use.offset, use.length)
            yield from self._at(to, length, kind, use.when)

    def _guess(self, name: str, start: int, writes: bool) -> Iterator[int]:
        """For a page of which is not known what of it is used."""
        if name == self.program.path:
            sections = [
                section
                for section in self.program.elf.sections
                if section.name in self.trial.starts and section.address < start + 4096
                and section.address + section.size > start
            ]  # fmt: skip
            if sections:
                most = max(sections, key=lambda s: min(s.address + s.size, start + 4096) - max(s.address, start))
                yield self.trial.starts[most.name] + max(start, most.address) - most.address
            return
        binary = self.binaries.get(name)
        for part in binary.variables.between(start, start + 4096) if binary is not None else ():
            to, _ = self._named(self.variables, part, max(start, part.address), 1)
            if to is not None:
                yield to
                if writes:
                    return


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
