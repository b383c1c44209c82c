# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What of an object's data a run used, and the variables and pages that were written.

A private page of .data or .bss that is written is a fault of its own. The dynamic linker's
relocations are writes, too: they are told apart, for no order avoids them, but puts what has them
side by side. In a position-independent program most of .data may have some.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..formats.elf import (
    PF_W,
    SHT_NOBITS,
    Elf,
    Places,
    data_symbols,
)
from ..formats.entries import Entries
from .datafaults import PAGE, Use

CLASSES = ("relro", "data", "bss")


@dataclass
class Variable:
    """A symbol that was written, or the rest of a section that has no symbols."""

    name: str
    kind: str  # one of CLASSES
    address: int
    size: int
    when: int
    first_page: int
    relocated: int = 0  # bytes that only a relocation has written
    written: int = 0  # other bytes
    faults: int = 0  # pages whose first write was to this
    pages: set[int] = field(default_factory=set)

    @property
    def room(self) -> int:
        """Bytes that it takes on written pages, wherever it lies: of a large one, what is written."""
        pages = len(self.pages) * PAGE
        return min(self.size, pages) if self.size else pages


@dataclass
class Page:
    address: int
    kind: str
    first: Variable
    variables: set[int] = field(default_factory=set)  # their addresses
    relocated: int = 0
    written: int = 0


class Data:
    """The written data of one object of one run."""

    def __init__(self, entries: Entries, number: int, binary: Elf) -> None:
        self.binary = binary
        self.variables: dict[int, Variable] = {}  # by address, in order of first write
        self.pages: dict[int, Page] = {}  # the same
        word = 8 if binary.is_64 else 4
        self.relocated = {
            at for address in binary.relocated() for at in range(address, address + word, 4)
        }
        self._places = Places(data_symbols(binary))
        self.segments = [s for s in binary.loads if s.flags & PF_W]
        self._in_file = sorted((s for s in self.segments if s.file_size), key=lambda s: s.offset)
        self.uses: list[Use] = []
        for use in entries.uses:
            if use.object != number:
                continue
            # Bytes side by side in the file may be in two segments.
            address = self.address_of(use.offset)
            if address is None:  # the heap, which lies behind the program's .bss
                continue
            self.uses.append(Use(address, use.length, use.is_write, use.when, use.again))
            if use.is_write:
                self._add_all(self.uses[-1])

    def address_of(self, offset: int) -> int | None:
        """The address of a byte of data, given by where it would be if the file went on.

        It goes on behind the segment that begins last before the byte, into segments of which the
        file has nothing, too. lld makes two segments, of which the first does not go on: what lies
        behind its bytes in the file is the second's.
        """
        before = [s for s in self._in_file if s.offset <= offset] or self._in_file[:1]
        if not before or offset < before[-1].offset // PAGE * PAGE:
            return None
        segment = before[-1]
        address = segment.address + offset - segment.offset
        return address if self._has(address) else None

    def _has(self, address: int) -> bool:
        return any(
            s.address // PAGE * PAGE <= address < s.address + s.memory_size for s in self.segments
        )

    def is_relocated(self, start: int, end: int) -> bool:
        """Whether all of these bytes are written by relocations."""
        return all(at & ~3 in self.relocated for at in range(start, end))

    def class_of(self, address: int) -> str:
        if address in self.binary.relro:
            return "relro"
        section = self.binary.section_at(address)
        if section is not None:
            return "bss" if section.type == SHT_NOBITS else "data"
        in_file = any(s.address <= address < s.address + s.file_size for s in self.segments)
        return "data" if in_file else "bss"

    def _variable_at(self, address: int, when: int, page: int) -> Variable:
        symbol = self._places.at(address)
        if symbol is not None:
            start, size, name = symbol.address, symbol.size, symbol.name
            if symbol.file:
                name = f"{name} ({symbol.file})"
        else:
            section = self.binary.section_at(address)
            if section is None:
                start, size, name = address, 8, "(no section)"
            else:
                start, size, name = section.address, 0, f"(no symbol, in {section.name})"
        variable = self.variables.get(start)
        if variable is None:
            kind = self.class_of(start if symbol is not None else address)
            variable = self.variables[start] = Variable(name, kind, start, size, when, page)
        return variable

    def _add_all(self, use: Use) -> None:
        """Adds what was written, a piece for each variable; what belongs to none, byte by byte."""
        address, end = use.address, use.address + use.length
        while address < end:
            symbol = self._places.at(address)
            piece_end = address + 1 if symbol is None else symbol.address + symbol.size
            piece_end = min(piece_end, end, (address // PAGE + 1) * PAGE)
            self._add(use._replace(address=address, length=piece_end - address))
            address = piece_end

    def _add(self, use: Use) -> None:
        address, length = use.address, use.length
        page_address = address // PAGE * PAGE
        variable = self._variable_at(address, use.when, page_address)
        page = self.pages.get(page_address)
        if page is None:
            kind = self.class_of(address)
            page = self.pages[page_address] = Page(page_address, kind, variable)
            variable.faults += 1
        page.variables.add(variable.address)
        variable.pages.add(page_address)
        moved = sum(at & ~3 in self.relocated for at in range(address, address + length))
        for one in (variable, page):
            one.relocated += -moved if use.again else moved
            one.written += length if use.again else length - moved
