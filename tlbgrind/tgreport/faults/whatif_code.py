# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What of a run's code and data was used, byte by byte, from its entries file: which functions, and
where another link would put them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..base.errors import ReportError
from ..formats.debugfile import add_symbols
from ..formats.elf import STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, Elf, Section
from ..formats.entries import Entries, Use
from ..places import layout
from ..places.layout import Place
from .replay import Run

# Of the C start files, which no linker moves.
_FIXED = ("_start", "_init", "_fini", "_dl_relocate_static_pie")
_FIXED_FILES = ("crtstuff.c", "crt1.o", "crti.o", "crtn.o")


class Part(NamedTuple):
    """A function or a variable: all symbols that begin at one place."""

    address: int
    size: int
    names: tuple[str, ...]
    is_fixed: bool


class Piece(NamedTuple):
    """Bytes that were used."""

    address: int
    length: int
    part: Part | None  # None: no symbol has them
    when: int  # instructions before it, at least
    turn: int  # among the blocks of all objects


class Parts:
    """The functions, or the variables, of a binary."""

    def __init__(self, binary: Elf, types: Sequence[int], without: frozenset[int] = frozenset()) -> None:
        """`without`: addresses of what is left out."""
        at: dict[int, list[tuple[str, int, str]]] = defaultdict(list)
        for symbol in binary.symbols:
            section = binary.section_of(symbol)
            if symbol.type in types and symbol.name and section is not None and symbol.address not in without:
                at[symbol.address].append((symbol.name, symbol.size, symbol.file))
        self.all: list[Part] = []
        end = 0
        for address in sorted(at):
            found = at[address]
            size = max(size for _, size, _ in found)
            if address < end and size == 0:
                continue  # a label within a function
            end = max(end, address + size)
            names = tuple(sorted({name for name, _, _ in found}))
            fixed = any(name in _FIXED or file in _FIXED_FILES for name, _, file in found)
            self.all.append(Part(address, size, names, fixed))
        self._close(binary)
        self.starts = [part.address for part in self.all]
        self.by_name: dict[str, list[Part]] = defaultdict(list)
        for part in self.all:
            for name in part.names:
                self.by_name[name].append(part)

    def _close(self, binary: Elf) -> None:
        """Assembler code has no sizes: it goes up to the next symbol, or the end of the section."""
        for number, part in enumerate(self.all):
            if part.size:
                continue
            section = binary.section_at(part.address)
            end = section.address + section.size if section is not None else part.address
            if number + 1 < len(self.all):
                end = min(end, self.all[number + 1].address)
            self.all[number] = part._replace(size=max(0, end - part.address))

    def at(self, address: int) -> Part | None:
        number = bisect_right(self.starts, address) - 1
        if number < 0:
            return None
        part = self.all[number]
        return part if address < part.address + part.size else None

    def behind(self, address: int) -> int | None:
        number = bisect_right(self.starts, address)
        return self.starts[number] if number < len(self.starts) else None

    def between(self, start: int, end: int) -> Iterator[Part]:
        number = max(0, bisect_right(self.starts, start) - 1)
        for part in self.all[number:]:
            if part.address >= end:
                return
            if part.address + part.size > start:
                yield part


@dataclass
class Binary:
    """One object of the run."""

    elf: Elf
    functions: Parts
    variables: Parts
    code: list[Piece]  # in the order of first execution
    uses: list[Use]  # of data, in order; their offsets are addresses


CODE = (STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE)


class Used:
    """What the entries file has, of the objects whose files are those of the run."""

    def __init__(self, run: Run, entries: Entries) -> None:
        if entries.command != run.log.command:
            raise ReportError(f"is of another run than {run.log.path}", entries.path)
        self.entries = entries
        self.binaries: dict[str, Binary] = {}
        numbers = {}
        for number, object_ in entries.objects.items():
            elf = run.files.elves.get(object_.name)
            if elf is None:
                continue
            if object_.build_id and elf.build_id != object_.build_id:
                raise ReportError(f"is of another {object_.name} than the one of the log", entries.path)
            add_symbols(elf)
            numbers[number] = object_.name
            self.binaries[object_.name] = Binary(
                elf, Parts(elf, CODE), Parts(elf, (STT_OBJECT,)), [], []
            )
        fetched = _first_fetches(run)
        when = 0
        for turn, block in enumerate(entries.blocks):
            function = entries.functions[block.function]
            # The block ran when the last function had begun that was entered before it, and not before
            # something was fetched from its page.
            when = max(when, function.when)
            name = numbers.get(function.object, "")
            if name:
                offset = function.offset + block.offset
                when = max(when, fetched.get((name, offset // run.page_size), 0))
                self.binaries[name].code += _pieces(self.binaries[name], offset, max(1, block.length), when, turn)
        for use in entries.uses:
            name = numbers.get(use.object, "")
            if name:
                address = _address(self.binaries[name].elf, use.offset)
                if address is not None:
                    self.binaries[name].uses.append(use._replace(offset=address))
        self.numbers = {name: number for number, name in numbers.items()}


def _address(elf: Elf, offset: int) -> int | None:
    """Of data; what stands behind the file's end is .bss."""
    address = elf.address_of(offset, 2)
    if address is None and elf.loads:
        last = elf.loads[-1]
        address = last.address + offset - last.offset if offset >= last.offset else None
    return address


def _first_fetches(run: Run) -> dict[tuple[str, int], int]:
    """By object and page of its file, when it was."""
    found: dict[tuple[str, int], int] = {}
    for event in run.events:
        if event.fetches and event.map.what == "file":
            page = event.page + (event.map.offset - event.map.native) // run.page_size
            found.setdefault((event.map.name, page), event.when)
    return found


def _pieces(binary: Binary, offset: int, length: int, when: int, turn: int) -> Iterator[Piece]:
    """A block of code without a branch runs on into the next function."""
    at = binary.elf.address_of(offset, 1)
    if at is None:
        return
    end = at + length
    while at < end:
        part = binary.functions.at(at)
        stop = part.address + part.size if part is not None else binary.functions.behind(at) or end
        stop = min(stop, end)
        yield Piece(at, stop - at, part, when, turn)
        at = stop


def in_order(binary: Binary) -> dict[int, int]:
    """Where functions lie when those that were entered stand first in .text, in the order of their
    first entry: the address of each by that which it has."""
    text = next((section for section in binary.elf.sections if section.name == ".text"), None)
    if text is None:
        return {}
    entered = [piece.part for piece in binary.code if piece.part is not None]
    found = (one for part in entered for one in _in_one_line(binary.functions, part))
    moved = dict.fromkeys(part for part in found if _is_in(text, part) and not part.is_fixed)
    staying = [part for part in binary.functions.all if _is_in(text, part) and part not in moved]
    return layout.in_order(text.address, _places(moved), _places(staying))


def _in_one_line(functions: Parts, part: Part) -> Iterator[Part]:
    """What GNU ld's script takes along with a function: what the compiler has split off, which comes before it in
    an object file, and all of its name."""
    for name in part.names:
        for other in (f"{name}.cold", name):
            yield from functions.by_name.get(other, ())


def _places(parts: Iterable[Part]) -> list[Place]:
    return [Place(part.address, part.size) for part in parts]


def _is_in(section: Section, part: Part) -> bool:
    return section.address <= part.address < section.address + section.size


def moved(piece: Piece, places: Mapping[int, int]) -> int:
    """The address of its first byte then."""
    if piece.part is None or piece.part.address not in places:
        return piece.address
    return places[piece.part.address] + piece.address - piece.part.address
