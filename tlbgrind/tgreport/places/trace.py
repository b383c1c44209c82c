# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the functions of a binary that a run entered.

The symbol table of the binary says more than the run does: all names of a function, its size, the
source of a static one. So it is used if the file is there and is the one that was run; what was
recorded is enough otherwise.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

from ..base.errors import ReportError
from ..formats import elf
from ..formats.debugfile import add_symbols
from ..formats.elf import (
    STB_GLOBAL,
    STB_LOCAL,
    STT_FUNC,
    STT_GNU_IFUNC,
    STT_NOTYPE,
    Elf,
    Symbol,
)
from ..formats.entries import UNKNOWN, Entries, choose_object

Range = tuple[int, int]  # first byte, length

# Code of the C start files, whose functions share one section.
FIXED_FILES = ("crtstuff.c", "crt1.o", "crti.o", "crtn.o")
_FIXED_NAMES = ("_start", "_init", "_fini", "_dl_relocate_static_pie")


@dataclass
class Function:
    """One that was entered. Addresses are relative to the object's base, as in its symbols."""

    name: str  # "": code without a symbol
    file: str  # the source of a static function, if the symbols say so
    address: int
    size: int
    when: int
    names: tuple[str, ...]  # all symbols at its address
    touched: list[Range] = field(default_factory=list)  # behind its begin, in order

    @property
    def touched_bytes(self) -> int:
        return sum(length for _, length in union(self.touched))

    @property
    def is_fixed(self) -> bool:
        return self.file in FIXED_FILES or self.name in _FIXED_NAMES

    @property
    def key(self) -> tuple[str, str]:
        """What it is called in another build."""
        return self.name, self.file


@dataclass
class Trace:
    """One run of one object."""

    entries: Entries
    object: str
    build_id: str
    binary: Elf | None  # None: not to be had
    functions: list[Function]  # in order of first entry
    touches: list[tuple[Function, Range]]  # the blocks, in order of first execution
    clock: str
    address_known: bool = True


def union(ranges: list[Range]) -> list[Range]:
    """The same bytes as ranges that neither overlap nor touch, ascending."""
    if len(ranges) == 1:  # as of most functions
        return list(ranges)
    out: list[Range] = []
    for start, length in sorted(ranges):
        if out and start <= out[-1][0] + out[-1][1]:
            first, so_far = out[-1]
            out[-1] = (first, max(so_far, start + length - first))
        else:
            out.append((start, length))
    return out


def code_symbols(binary: Elf) -> list[Symbol]:
    """The functions, and labels of assembler code, that have a place in a section of code."""
    found = []
    for symbol in binary.symbols:
        if symbol.type not in (STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE) or not symbol.name:
            continue
        section = binary.section_of(symbol)
        if section is None or not section.is_code:
            continue
        room = section.address + section.size - symbol.address
        if not 0 < room <= section.size:
            continue
        found.append(symbol._replace(size=min(symbol.size, room)))
    return found


class Symbols:
    """The functions of a binary by address: one for all symbols at the same place."""

    def __init__(self, binary: Elf) -> None:
        at: dict[int, list[Symbol]] = defaultdict(list)
        for symbol in code_symbols(binary):
            at[symbol.address].append(symbol)
        starts = _outermost(at)
        merged = []
        for start, following in zip(starts, [*starts[1:], 0]):
            symbols = at[start]
            size = max(symbol.size for symbol in symbols)
            if size == 0:  # assembler code: up to the next symbol or the end of the section
                section = binary.section_of(symbols[0])
                end = section.address + section.size if section else start
                size = max(0, min(following or end, end) - start)
            best = min(symbols, key=_preference)
            merged.append(best._replace(size=size))
        self.names = {start: tuple(sorted({s.name for s in at[start]})) for start in starts}
        self.places = elf.Places(merged)
        self.by_name: dict[str, list[Symbol]] = defaultdict(list)
        for symbol in merged:
            for name in self.names[symbol.address]:
                self.by_name[name].append(symbol)
        self.all = self.places.symbols


@cache
def symbols_of(binary: Elf) -> Symbols:
    """Once of each binary, whose symbols are all read."""
    return Symbols(binary)


def _outermost(at: dict[int, list[Symbol]]) -> list[int]:
    """The places of symbols without the labels of assembler code within a function."""
    starts = []
    end = 0
    for start in sorted(at):
        size = max(symbol.size for symbol in at[start])
        if size or start >= end:
            starts.append(start)
            end = max(end, start + size)
    return starts


def _preference(symbol: Symbol) -> tuple[int, int, int, str]:
    """A function before a label, a global symbol before a weak one before a local one."""
    binding = {STB_GLOBAL: 0, STB_LOCAL: 2}.get(symbol.binding, 1)
    return symbol.type == STT_NOTYPE, binding, symbol.name.startswith("_"), symbol.name


def load_binary(path: str, build_id: str, why: str) -> Elf:
    """The ELF file at `path`, with the symbols of its debug file if it has none of its own."""
    binary = elf.read(path)
    if build_id and binary.build_id != build_id:
        raise ReportError(
            f"build ID {binary.build_id or 'none'}, but {why} has {build_id}: this is another "
            "binary than the one that was run",
            path,
        )
    add_symbols(binary)
    return binary


def load(entries: Entries, wanted: str, path: str, warnings: list[str]) -> Trace:
    """The functions of one object. `wanted` names it, "" is the program; `path` says where its
    file is, "" is where it was."""
    number = choose_object(entries, wanted)
    name, build_id = entries.objects[number]
    binary: Elf | None = None
    if path:
        binary = load_binary(path, build_id, entries.path)
    elif name != UNKNOWN:
        try:
            binary = load_binary(name, build_id, entries.path)
        except ReportError as error:
            warnings.append(f"{error}; the names recorded are used, without sizes and aliases")
    trace = Trace(entries, name, build_id, binary, [], [], entries.header.get("clock", "blocks"))
    if binary is None:
        _from_record(trace, number)
    else:
        _from_symbols(trace, number, binary, path or name)
    if not trace.functions:
        raise ReportError(f"nothing of {name} was executed", entries.path)
    return trace


def _from_record(trace: Trace, number: int) -> None:
    functions: dict[int, Function] = {}
    trace.address_known = False
    for block in trace.entries.blocks:
        recorded = trace.entries.functions[block.function]
        if recorded.object != number:
            continue
        function = functions.get(block.function)
        if function is None:
            known = "" if recorded.name == UNKNOWN else recorded.name
            function = functions[block.function] = Function(
                known, "", recorded.offset, recorded.size, recorded.when, (known,) * bool(known)
            )
        _touch(trace, function, (block.offset, max(1, block.length)))
    trace.functions = list(functions.values())


def _touch(trace: Trace, function: Function, range_: Range) -> None:
    function.touched.append(range_)
    trace.touches.append((function, range_))


def _from_symbols(trace: Trace, number: int, binary: Elf, path: str) -> None:
    symbols = symbols_of(binary)
    functions: dict[int, Function] = {}
    agree = disagree = 0
    for block in trace.entries.blocks:
        recorded = trace.entries.functions[block.function]
        if recorded.object != number:
            continue
        address = binary.address_of(recorded.offset + block.offset)
        if address is None:
            raise ReportError(
                f"no code at byte {recorded.offset + block.offset:#x}, where {trace.entries.path} "
                "has executed some: this is another binary than the one that was run",
                path,
            )
        end = address + max(1, block.length)
        first = symbols.places.at(address)
        if recorded.name != UNKNOWN and block.offset == 0 and first is not None:
            same = recorded.name in symbols.names[first.address]
            agree, disagree = agree + same, disagree + (not same)
        symbol = first
        while address < end:  # a block without a branch can run on into the next function
            if symbol is None:
                stop = min(end, symbols.places.behind(address) or end)
                function = functions.get(address)
                if function is None:
                    function = functions[address] = Function(
                        "", "", address, stop - address, recorded.when, ()
                    )
            else:
                stop = min(end, symbol.address + symbol.size)
                function = functions.get(symbol.address)
                if function is None:
                    function = functions[symbol.address] = Function(
                        symbol.name,
                        symbol.file,
                        symbol.address,
                        symbol.size,
                        recorded.when,
                        symbols.names[symbol.address],
                    )
            _touch(trace, function, (address - function.address, stop - address))
            address = stop
            symbol = symbols.places.at(address) if address < end else None
    # Without build IDs, this is how another binary is known.
    if not trace.build_id and disagree > agree:
        raise ReportError(
            f"{disagree} of {agree + disagree} functions have other names than in "
            f"{trace.entries.path}: this is another binary than the one that was run",
            path,
        )
    trace.functions = list(functions.values())
