# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the dynamic linker looked up all functions of the program at the start: -z now?

Each look-up reads from the hash tables of the objects until one has the symbol (.gnu.hash: a bit of the
filter, the bucket, the chain), and there the symbol, its name and its version.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from ..base.text import counted
from ..formats.dynamic import JUMP_SLOT
from ..formats.elf import SHN_UNDEF, STT_GNU_IFUNC, Elf, Section, string_at
from ..formats.fault import Map
from ..formats.faultlog import LINKER
from .replay import Change, Event, Run
from .whatif import Remedy, Way
from .whatif_link import Program, needed

_SYMBOL = struct.Struct("<IBBHQQ")


class Touch(NamedTuple):
    address: int
    fetches: bool = False


class Table:
    """The symbols that an object has for others."""

    def __init__(self, elf: Elf) -> None:
        self.sections = {section.name: section for section in elf.sections}
        names = (".gnu.hash", ".dynsym", ".dynstr")
        self.hash, self.symbols, self.strings = (self._bytes(elf, name) for name in names)
        self.is_known = elf.is_64 and elf.is_little and len(self.hash) >= 16
        if self.is_known:
            self.buckets, self.first, self.words, self.shift = struct.unpack_from("<4I", self.hash)
            self.is_known = self.buckets > 0 and self.words > 0

    def _bytes(self, elf: Elf, name: str) -> bytes:
        section = self.sections.get(name)
        return elf.section_bytes(section) if section is not None else b""

    def _at(self, name: str, offset: int) -> int:
        section: Section | None = self.sections.get(name)
        return section.address + offset if section is not None else 0

    def _word(self, offset: int) -> int:
        return int.from_bytes(self.hash[offset : offset + 4], "little")

    def look_up(self, name: str) -> Iterator[Touch]:
        """What it reads, up to the symbol if the object has it."""
        code = 5381
        for letter in name.encode("utf-8", "surrogateescape"):
            code = (code * 33 + letter) & 0xFFFFFFFF
        place = 16 + code // 64 % self.words * 8
        yield Touch(self._at(".gnu.hash", place))
        bits = int.from_bytes(self.hash[place : place + 8], "little")
        if not bits >> (code % 64) & bits >> ((code >> self.shift) % 64) & 1:
            return
        buckets = 16 + self.words * 8
        place = buckets + code % self.buckets * 4
        yield Touch(self._at(".gnu.hash", place))
        index = self._word(place)
        chains = buckets + self.buckets * 4
        while index >= self.first:
            place = chains + (index - self.first) * 4
            if place + 4 > len(self.hash):
                return
            yield Touch(self._at(".gnu.hash", place))
            value = self._word(place)
            if (value ^ code) >> 1 == 0:
                yield from self.symbol(index)
                if self._has(index, name):
                    return
            if value & 1:
                return
            index += 1

    def symbol(self, index: int) -> Iterator[Touch]:
        """What is read of one."""
        yield Touch(self._at(".dynsym", index * _SYMBOL.size))
        yield Touch(self._at(".gnu.version", index * 2))
        if (index + 1) * _SYMBOL.size > len(self.symbols):
            return
        name, info, _, _, value, _ = _SYMBOL.unpack_from(self.symbols, index * _SYMBOL.size)
        yield Touch(self._at(".dynstr", name))
        if info & 15 == STT_GNU_IFUNC:
            yield Touch(value, fetches=True)

    def _has(self, index: int, name: str) -> bool:
        if (index + 1) * _SYMBOL.size > len(self.symbols):
            return False
        at, _, _, section, _, _ = _SYMBOL.unpack_from(self.symbols, index * _SYMBOL.size)
        return section != SHN_UNDEF and string_at(self.strings, at) == name

    def has(self, touches: list[Touch], name: str) -> bool:
        """Whether the look-up of the name has found it."""
        start = self._at(".dynsym", 0)
        found = [t.address for t in touches if start <= t.address < start + len(self.symbols)]
        return bool(found) and self._has((found[-1] - start) // _SYMBOL.size, name)


def remedy(run: Run, program: Program | None) -> Remedy | None:
    """None: all symbols are looked up at the start already."""
    if program is None or program.dynamic.binds_now:
        return None
    slots = [one for one in program.dynamic.relocations if one.kind == JUMP_SLOT]
    if not slots:
        return None
    if not all(Table(elf).is_known for elf in (program.elf, *(elf for elf, _ in needed(run, program)))):
        why = "it or one of its libraries has no table that is read here: .gnu.hash, of 64 bits"
        return Remedy("-z now", "-Wl,-z,now", (), why, "", joins=False)
    begin = max((e.when for e in run.events if e.work == LINKER and e.map in program.maps and e.writes), default=0)
    more = tuple(_lookups(run, program, [one.symbol for one in slots], begin))
    linker = {e.map.number for e in run.events if e.work == LINKER and e.fetches}

    def keep(_place: int, event: Event) -> bool:
        return not (event.work == LINKER and event.when > begin and event.map.number in linker)

    return Remedy(
        "-z now",
        "-Wl,-z,now",
        (Way((Change(more=more),)), Way((Change(more=more, keep=keep),))),
        f"{counted(len(slots), 'function')} of libraries: all are looked up at the start, in the tables of the "
        "objects as they are; libraries bind theirs at their first calls with all that the dynamic linker has "
        "for that, or with nothing that is not there then",
        "versions of symbols",
        joins=False,
    )


def _lookups(run: Run, program: Program, slots: list[int], when: int) -> Iterator[Event]:
    elves = [program.elf, *(elf for elf, _ in needed(run, program))]
    tables = [(elf, Table(elf)) for elf in elves]
    own = tables[0][1]
    touches: dict[tuple[str, int, bool], None] = {}
    for index in slots:
        symbol = program.dynamic.symbols[index] if index < len(program.dynamic.symbols) else None
        if symbol is None:
            continue
        for touch in own.symbol(index):
            touches[program.elf.path, touch.address // run.page_size, touch.fetches] = None
        for elf, table in tables:
            found = list(table.look_up(symbol.name)) if table.is_known else []
            for touch in found:
                touches[elf.path, touch.address // run.page_size, touch.fetches] = None
            if table.has(found, symbol.name):
                break
    bases = {elf.path: _base(run, program, elf) for elf in elves}
    for path, page, fetches in touches:
        base = bases[path]
        map_ = _map(run, path, base + page) if base is not None else None
        if map_ is not None and base is not None:
            yield Event(map_, base + page, False, fetches, LINKER, when)


def _map(run: Run, path: str, page: int) -> Map | None:
    for map_ in run.log.maps.values():
        if map_.what == "file" and map_.name == path and any(p.start <= page < p.end for p in run.pieces[map_.number]):
            return map_
    return None


def _base(run: Run, program: Program, elf: Elf) -> int | None:
    """The page of its address 0."""
    if elf is program.elf:
        return program.base
    for map_ in run.log.maps.values():
        address = elf.address_of(map_.offset) if map_.what == "file" and map_.name == elf.path else None
        if address is not None:
            return map_.native // run.page_size - address // run.page_size
    return None
