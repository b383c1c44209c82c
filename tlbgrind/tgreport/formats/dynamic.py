# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads what the dynamic linker has to do for an ELF file: the libraries that it needs, its
relocations by kind, and the symbols that it refers to and exports.

What is read is what the dynamic linker reads: tables that the dynamic section names, not sections.
The only exception is how many symbols there are, which no entry tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .elf import (
    EM_386,
    SHN_UNDEF,
    SHT_DYNSYM,
    STB_LOCAL,
    STT_TLS,
    Elf,
    string_at,
)

EM_X86_64 = 62

# The kinds of relocations, in the order in which tables have them.
RELATIVE, RELR, SYMBOLIC, JUMP_SLOT, IRELATIVE, COPY, TLS = KINDS = (
    "relative",
    "RELR",
    "symbolic",
    "JUMP_SLOT",
    "IRELATIVE",
    "COPY",
    "thread-local",
)

# By machine, the numbers of <elf.h>. R_*_NONE is no relocation, as are sizes of symbols.
_X86_64 = {1: SYMBOLIC, 2: SYMBOLIC, 5: COPY, 6: SYMBOLIC, 7: JUMP_SLOT, 8: RELATIVE, 10: SYMBOLIC}
_X86_64 |= {11: SYMBOLIC, 16: TLS, 17: TLS, 18: TLS, 36: TLS, 37: IRELATIVE, 38: RELATIVE}
_I386 = {1: SYMBOLIC, 2: SYMBOLIC, 5: COPY, 6: SYMBOLIC, 7: JUMP_SLOT, 8: RELATIVE, 14: TLS}
_I386 |= {35: TLS, 36: TLS, 37: TLS, 41: TLS, 42: IRELATIVE}
_KIND_OF = {EM_X86_64: _X86_64, EM_386: _I386}
# These are entries of the global offset table, of which a library has one for each symbol.
_GLOB_DAT = 6

_DT = {"NULL": 0, "NEEDED": 1, "PLTRELSZ": 2, "STRTAB": 5, "SYMTAB": 6, "RELA": 7, "RELASZ": 8}
_DT |= {"STRSZ": 10, "SONAME": 14, "SYMBOLIC": 16, "REL": 17, "RELSZ": 18, "JMPREL": 23}
_DT |= {"FLAGS": 30, "RELRSZ": 35, "RELR": 36}
_DF_SYMBOLIC = 2
_HIDDEN = (1, 2)  # visibilities: internal, hidden
_SHN_ABS = 0xFFF1


class DynamicSymbol(NamedTuple):
    name: str
    is_local: bool  # the dynamic linker does not look it up
    is_defined: bool  # and found by those who look for it
    is_stand_in: bool = False  # of a program: linkage code, found by those who want an address


class Relocation(NamedTuple):
    kind: str
    symbol: int  # 0: none
    is_in_got: bool  # of data: an entry of the global offset table
    address: int


class Reference(NamedTuple):
    relocation: Relocation
    name: str
    is_kept: bool  # the result is the last one again


@dataclass
class Dynamic:
    """What the dynamic linker knows of one object."""

    path: str
    soname: str = ""
    needed: list[str] = field(default_factory=list)
    relocations: list[Relocation] = field(default_factory=list)  # in the order of its work
    symbols: list[DynamicSymbol] = field(default_factory=list)
    is_symbolic: bool = False  # it looks for symbols in itself first (-Bsymbolic)
    binds_now: bool = False
    is_program: bool = False
    word: int = 8  # bytes
    entry: int = 24  # of a relocation in its tables
    writable: int = 0  # bytes of memory of writable segments

    def references(self, with_slots: bool) -> Iterator[Reference]:
        """The relocations that want a symbol, with the JUMP_SLOTs or without.

        A symbol that is the last one's again is not looked up again: glibc keeps the last result.
        """
        last: tuple[int, str] | None = None
        for one in self.relocations:
            symbol = self.symbol_of(one)
            if symbol is None or symbol.is_local or (one.kind == JUMP_SLOT and not with_slots):
                continue
            found = (one.symbol, result_of(one.kind))
            yield Reference(one, symbol.name, found == last)
            last = found

    def symbol_of(self, one: Relocation) -> DynamicSymbol | None:
        wanted = one.kind in (SYMBOLIC, JUMP_SLOT, COPY, TLS)
        return self.symbols[one.symbol] if wanted and 0 < one.symbol < len(self.symbols) else None


def result_of(kind: str) -> str:
    """What is looked for. The address of a function may be that of a program's linkage code."""
    return {JUMP_SLOT: "code", TLS: "code", COPY: "copy"}.get(kind, "data")


def is_known(elf: Elf) -> bool:
    """Whether the numbers of this machine's relocations are known."""
    return elf.machine in _KIND_OF


def dynamic_of(elf: Elf) -> Dynamic | None:
    """None: it has no dynamic section, so nothing is done for it."""
    tags: dict[int, int] = {}
    needed = []
    for tag, value in elf.dynamic():
        if tag == _DT["NULL"]:
            break
        if tag == _DT["NEEDED"]:
            needed.append(value)
        tags[tag] = value
    if not tags or not is_known(elf):
        return None
    strings = _table(elf, tags, "STRTAB", "STRSZ")
    out = Dynamic(elf.path, binds_now=elf.binds_now, is_program=elf.is_program)
    out.soname = string_at(strings, tags[_DT["SONAME"]]) if _DT["SONAME"] in tags else ""
    out.needed = [string_at(strings, value) for value in needed]
    flags = tags.get(_DT["FLAGS"], 0)
    out.is_symbolic = _DT["SYMBOLIC"] in tags or bool(flags & _DF_SYMBOLIC)
    out.symbols = _symbols(elf, strings)
    relr = _table(elf, tags, "RELR", "RELRSZ")
    out.relocations = [Relocation(RELR, 0, False, address) for address in elf.relr(relr)]
    kinds = _KIND_OF[elf.machine]
    out.word = 8 if elf.is_64 else 4
    out.entry = 24 if elf.is_64 else 8
    for name, size in (("RELA", "RELASZ"), ("REL", "RELSZ"), ("JMPREL", "PLTRELSZ")):
        form = "QQq" if elf.is_64 else "II"
        for address, info, *_ in elf.entries(form, _table(elf, tags, name, size)):
            number, symbol = (info & 0xFFFFFFFF, info >> 32) if elf.is_64 else (info & 0xFF, info >> 8)
            if number in kinds:
                out.relocations.append(Relocation(kinds[number], symbol, number == _GLOB_DAT, address))
    out.writable = sum(s.memory_size for s in elf.loads if s.flags & 2)
    return out


def words_of_relr(addresses: Sequence[int], word: int) -> int:
    """How many words RELR takes for the relocations that it can have: those at multiples of a word."""
    words = 0
    end = None  # of what the last word can still hold
    bits = word * 8 - 1
    for address in addresses:
        if address % word:
            continue
        if end is None or address >= end + bits * word:
            words += 1
            end = address + word
            room = 0
        if address < end:
            continue
        place = (address - end) // word
        needed = place // bits + 1
        if needed > room:
            words += needed - room
            room = needed
    return words


def _table(elf: Elf, tags: dict[int, int], name: str, size: str) -> bytes:
    at = tags.get(_DT[name], 0)
    length = tags.get(_DT[size], 0)
    if not at or not length:
        return b""
    offset = elf.offset_of(at)
    if offset is None:
        elf.fail(f"a broken ELF file: the table DT_{name} is in no segment")
    return elf.bytes_at(offset, length, f"the table DT_{name}")


def _symbols(elf: Elf, strings: bytes) -> list[DynamicSymbol]:
    symbols = []
    for section in elf.sections:
        if section.type != SHT_DYNSYM:
            continue
        for entry in elf.entries("IBBHQQ" if elf.is_64 else "IIIBBH", elf.section_bytes(section)):
            if elf.is_64:
                name_at, info, other, place, value, _ = entry
            else:
                name_at, value, _, info, other, place = entry
            type_ = info & 15
            local = info >> 4 == STB_LOCAL or other & 3 in _HIDDEN
            has_place = value != 0 or place == _SHN_ABS or type_ == STT_TLS
            defined = not local and place != SHN_UNDEF and has_place
            stand_in = not local and place == SHN_UNDEF and value != 0
            symbols.append(DynamicSymbol(string_at(strings, name_at), local, defined, stand_in))
        break
    return symbols
