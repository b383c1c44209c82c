# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes assembler source of a stand-in for a program or a library: an object file that has the sizes of
its sections, needs the same of libraries, and exports the same, but does nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..formats.dynamic import (
    COPY,
    JUMP_SLOT,
    RELATIVE,
    RELR,
    SYMBOLIC,
    Dynamic,
    Relocation,
)
from ..formats.elf import (
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_TLS,
    SHF_WRITE,
    SHT_NOBITS,
    STB_GLOBAL,
    STB_WEAK,
    STT_FUNC,
    STT_GNU_IFUNC,
    STT_TLS,
    Elf,
    Section,
)

LABEL = "tlbgrind_trial"
AHEAD, STARTUP = ".text.unlikely", ".text.startup"
# Not the program's own, but of the C start files or made by the linker.
_MADE = re.compile(
    r"\.(interp|note|gnu|hash|dyn|rel|init|fini|preinit|plt|iplt|got|eh_frame|gcc_except_table|tm_clone|ctors|dtors|jcr)"
)
# Without the table of it (.eh_frame_hdr), which gcc has in dynamic programs only.
_UNWINDING = (".eh_frame", ".gcc_except_table")
_TABLE = ".eh_frame_hdr"
# Of the C start files and the linker.
_START = {"main", "_start", "_init", "_fini", "__data_start", "data_start", "_IO_stdin_used", "_edata"}
_START |= {"__bss_start", "_end", "end", "edata", "etext", "_etext", "__dso_handle", "__TMC_END__"}
# What these refer to themselves.
_START |= {"_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__gmon_start__", "__cxa_finalize"}
_START |= {"__libc_start_main"}
_START_CODE, _START_FILE = ("_start", "_dl_relocate_static_pie"), "crtstuff.c"
_ALIGNED, _LEAST = 64, 1  # bytes
# Names that an assembler takes as they are; a broken file can have any.
_PLAIN = re.compile(r"[A-Za-z0-9_.$]+\Z")
_COLD = ".cold"
_FILES = 64  # whose symbols are not looked through again
_CODE = 16  # bytes that functions are aligned to
_MAIN, _CALL = 8, 7  # bytes of code at most: main(), a reference


class Impossible(Exception):
    """It cannot be tried here, and why."""


class Reference(NamedTuple):
    """What it needs of others, and how it gets at it."""

    name: str
    how: str
    is_weak: bool


_CALLS, _BY_TABLE, _BY_COPY = "calls", "by table", "by copy"


class StandIn(NamedTuple):
    """For which file, and how it is linked."""

    elf: Elf
    dynamic: Dynamic
    label: str = LABEL  # before the names of its parts
    has_libraries: bool = False  # those that it needs are others' then, too

    @property
    def is_library(self) -> bool:
        return not self.elf.is_program


@lru_cache(_FILES)
def code_ahead(elf: Elf, text: Section) -> int:
    """The size of what linkers place before the C start files' code: functions that are unlikely, or of the
    start, of all objects and archives."""
    start = next((symbol.address for symbol in elf.symbols if symbol.name == "_start"), text.address)
    return start - text.address if text.address <= start < text.address + text.size else 0


def aligned(offset: int) -> int:
    """Where the next function begins."""
    return -(-offset // _CODE) * _CODE


@lru_cache(_FILES)
def cold_code(elf: Elf, text: Section) -> int:
    """How much of it is unlikely: compilers split it off functions, and name it so. Behind that is code of
    the start, main() above all. The same code of archives stands between the two."""
    until = text.address + code_ahead(elf, text)
    cold = [s for s in elf.symbols if s.type == STT_FUNC and _COLD in s.name and text.address <= s.address < until]
    end = max((symbol.address + symbol.size for symbol in cold), default=text.address)
    return min(end, until) - text.address


@lru_cache(_FILES)
def start_code(elf: Elf, text: Section) -> int:
    """The size of the C start files' code, which stands at _start: a program that is linked anew has its own."""
    start = text.address + code_ahead(elf, text)
    end = start
    found = [s for s in elf.symbols if s.type == STT_FUNC and (s.name in _START_CODE or s.file == _START_FILE)]
    for symbol in sorted(found, key=lambda one: one.address):
        # Between two of them is at most what aligns the second.
        if end <= symbol.address < end + _ALIGNED:
            end = symbol.address + max(symbol.size, _LEAST)
    return min(-(-end // 16) * 16 - start, text.address + text.size - start) if end > start else 0


def own_parts(elf: Elf) -> list[Section]:
    parts = [
        section
        for section in elf.sections
        if section.flags & SHF_ALLOC and section.size and _PLAIN.match(section.name)
        if not _MADE.match(section.name)
    ]
    if sum(part.size for part in parts if part.type != SHT_NOBITS) > os.path.getsize(elf.path):
        raise Impossible("its sections are larger than its file")
    return parts


def _references(one: StandIn) -> Iterator[Reference]:
    """What the program needs of libraries. Data that it has a copy of is the library's, too."""
    dynamic = one.dynamic
    copies = {dynamic.symbols[r.symbol].name for r in dynamic.relocations if r.kind == COPY}
    data = {
        dynamic.symbols[r.symbol].name
        for r in dynamic.relocations
        if r.kind in (COPY, SYMBOLIC) and r.symbol < len(dynamic.symbols) and not r.is_in_got
    }
    in_table = _named_by(dynamic, lambda relocation: relocation.is_in_got)
    called = _named_by(dynamic, lambda relocation: relocation.kind == JUMP_SLOT)
    if any(section.name == ".plt.got" for section in one.elf.sections):
        called |= in_table  # calls by the same entry of the table
    weak = {symbol.name for symbol in one.elf.dynamic_symbols() if symbol.binding == STB_WEAK}
    for symbol in dynamic.symbols:
        if _PLAIN.match(symbol.name) and (symbol.name in copies or not (symbol.is_defined or symbol.is_local)):
            is_weak = symbol.name in weak - copies
            if symbol.name in data | copies or symbol.name in in_table:
                yield Reference(symbol.name, _BY_TABLE, is_weak)
            if symbol.name not in data | copies and symbol.name not in in_table - called:
                yield Reference(symbol.name, _CALLS, is_weak)


def _named_by(dynamic: Dynamic, is_one: Callable[[Relocation], bool]) -> set[str]:
    symbols = (dynamic.symbol_of(relocation) for relocation in dynamic.relocations if is_one(relocation))
    return {symbol.name for symbol in symbols if symbol is not None}


def _relocations(one: StandIn) -> Iterator[Reference]:
    """The same, so that the dynamic linker has the same relocations: of a library, to its own symbols, too."""
    of_kind = {JUMP_SLOT: _CALLS, COPY: _BY_COPY}
    symbols = {symbol.name: symbol for symbol in one.elf.dynamic_symbols()}
    seen = set()
    for relocation in one.dynamic.relocations:
        how = _BY_TABLE if relocation.is_in_got else of_kind.get(relocation.kind, "")
        symbol = one.dynamic.symbol_of(relocation)
        if not how or symbol is None or not _PLAIN.match(symbol.name) or (symbol.name, how) in seen:
            continue
        seen.add((symbol.name, how))
        found = symbols.get(symbol.name)
        is_weak = found is not None and found.binding == STB_WEAK
        yield Reference(symbol.name, how, is_weak and how != _BY_COPY and not symbol.is_defined)


def _words(one: StandIn) -> dict[int, str]:
    """What stands in data that the dynamic linker relocates, by address."""
    found = {}
    here = f'"{one.label}.text"'
    for relocation in one.dynamic.relocations:
        if relocation.kind in (RELATIVE, RELR):
            found[relocation.address] = here
        elif relocation.kind == SYMBOLIC:
            symbol = one.dynamic.symbol_of(relocation)
            named = one.has_libraries and symbol is not None and _PLAIN.match(symbol.name)
            found[relocation.address] = f'"{symbol.name}"' if named and symbol is not None else here
    return found


def source(one: StandIn) -> Iterator[str]:
    elf, parts = one.elf, own_parts(one.elf)
    copies = {one.dynamic.symbols[r.symbol].name for r in one.dynamic.relocations if r.kind == COPY}
    exported = {s.name for s in one.dynamic.symbols if s.is_defined and _PLAIN.match(s.name)} - copies - _START
    if one.has_libraries:
        references = [other for other in _relocations(one) if other.name not in _START]
    else:
        references = [other for other in _references(one) if other.name not in exported | _START]
    words = _words(one)
    if all(part.name != ".text" for part in parts):
        yield from (".text", f'.hidden "{one.label}.text"', f'"{one.label}.text":')
        yield from _code(one, references)
    for part in parts:
        ahead = code_ahead(elf, part) if part.name == ".text" and not one.is_library else 0
        if ahead:
            cold = cold_code(elf, part)
            for name, size in ((AHEAD, cold), (STARTUP, ahead - aligned(cold))):
                label = f'"{one.label}{name}"'
                yield from (f'.section "{name}","ax",@progbits', f".balign {_CODE}", *_named(label), f".skip {max(0, size)}")
        label = f'"{one.label}{part.name}"'
        flags = "a" + "w" * bool(part.flags & SHF_WRITE) + "x" * bool(part.flags & SHF_EXECINSTR)
        flags += "T" * bool(part.flags & SHF_TLS)
        kind = "nobits" if part.type == SHT_NOBITS else "progbits"
        yield f'.section "{part.name}","{flags}",@{kind}'
        yield f".balign {_CODE if part.name == '.text' else 32}"
        yield from _named(label)
        if part.name == ".text":
            yield from _code(one, references)
        elif part.flags & SHF_WRITE and kind == "progbits" and not part.flags & SHF_TLS:
            for address in sorted(words):
                if part.address <= address and address + 8 <= part.address + part.size:
                    yield f".org {label} + {address - part.address}"
                    yield f".quad {words[address]}"
        made = start_code(elf, part) if part.name == ".text" else 0
        if part.name != ".text" or part.size - ahead - made > _MAIN + _CALL * len(references):
            yield f".org {label} + {part.size - ahead - made}"
    yield from _unwinding(one)
    yield from _exports(one, parts, exported)
    if not one.has_libraries:
        yield from _globals(one, exported | copies | {other.name for other in references})
    yield '.section .note.GNU-stack,"",@progbits'


def _named(label: str) -> tuple[str, ...]:
    """Hidden: the dynamic linker has nothing to look up for it."""
    return f".globl {label}", f".hidden {label}", f"{label}:"


def _unwinding(one: StandIn) -> Iterator[str]:
    """What unwinds the stack is not read, but what lies behind it is so much further on in the file."""
    names = (*_UNWINDING, _TABLE) if one.has_libraries else _UNWINDING
    yield '.section .gcc_except_table,"a",@progbits'
    size = sum(section.size for section in one.elf.sections if section.name in names)
    yield f".skip {min(size, os.path.getsize(one.elf.path))}"


def _exports(one: StandIn, parts: Sequence[Section], exported: set[str]) -> Iterator[str]:
    """They are in it, so no archive brings its own."""
    left = set(exported)
    names = [part.name for part in parts]
    for symbol in one.elf.dynamic_symbols():
        if symbol.name not in left or symbol.type == STT_TLS:
            continue
        section = one.elf.section_at(symbol.address)
        is_code = symbol.type in (STT_FUNC, STT_GNU_IFUNC)
        left.discard(symbol.name)
        if not is_code and section is not None and section.name in names:
            place = f'"{one.label}{section.name}" + {symbol.address - section.address}'
        else:
            place = f'"{one.label}.text"'
        yield f'.globl "{symbol.name}"'
        yield f'.set "{symbol.name}", {place}'
        if one.has_libraries:
            yield f'.type "{symbol.name}", @{"function" if is_code else "object"}'
            yield f'.size "{symbol.name}", {symbol.size}'


def _globals(one: StandIn, known: set[str]) -> Iterator[str]:
    """The program's other functions and variables: the linker's table of names is as large, on which the
    order of IRELATIVE relocations depends."""
    for name in sorted({s.name for s in one.elf.symbols if s.binding == STB_GLOBAL and s.section} - known - _START):
        if _PLAIN.match(name) and not name.startswith("_"):
            yield from (f'.globl "{name}"', f'.set "{name}", "{one.label}.text"')


def _code(one: StandIn, references: Sequence[Reference]) -> Iterator[str]:
    """Functions that the program has in the place of a library's do nothing, and so does main()."""
    nothing = ("xor %eax, %eax", "ret")
    yield from nothing
    if not one.is_library:
        yield from (".globl main", ".type main, @function", "main:", *nothing, ".size main, . - main")
    for other in references:
        if other.is_weak:
            yield f'.weak "{other.name}"'
        if other.how == _CALLS:
            yield f'call "{other.name}"' + "@PLT" * one.is_library
        elif other.how == _BY_COPY:
            yield f'mov "{other.name}"(%rip), %eax'
        else:
            yield f'mov "{other.name}"@GOTPCREL(%rip), %rax'
