# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads the layout of an ELF file: segments, sections, symbols, build ID, relocations.

Nothing in the file is believed: every offset is checked before it is used, and a file that
contradicts itself is refused in one line. Names of fields and numbers are those of <elf.h>.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple, NoReturn

from ..base.command import read_bytes
from ..base.errors import ReportError

MAGIC = b"\x7fELF"
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE, PT_GNU_RELRO = 1, 2, 3, 4, 0x6474E552
PF_X, PF_W, PF_R = 1, 2, 4
SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_DYNSYM = 2, 3, 4, 8, 9, 11
SHT_RELR = 19
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS = 1, 2, 4, 0x400
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE, STT_TLS = 0, 1, 2, 3, 4, 6
STT_GNU_IFUNC = 10
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
SHN_UNDEF, SHN_LORESERVE = 0, 0xFF00
ET_REL, ET_EXEC, ET_DYN = 1, 2, 3
EM_386 = 3
NT_GNU_BUILD_ID = 3
DT_SONAME, DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1 = 14, 24, 30, 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000

# More of each than any real file has; what is larger is a broken file that would take all memory.
_MOST_SECTIONS = 1 << 20
_MOST_SYMBOLS = 1 << 25
_MOST_CODE = 1 << 32  # bytes of a section


class Segment(NamedTuple):
    type: int
    flags: int
    offset: int
    address: int
    file_size: int
    memory_size: int


class Section(NamedTuple):
    name: str
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    entry_size: int
    alignment: int

    @property
    def is_code(self) -> bool:
        return bool(self.flags & SHF_EXECINSTR)


class Symbol(NamedTuple):
    name: str
    address: int
    size: int
    type: int
    binding: int
    section: int
    file: str  # of a local symbol: the source file that its object names; else ""


class Elf:
    """One file. `symbols` are those of .symtab, or those of .dynsym in a stripped file."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self._data = data
        if len(data) < 52 or data[:4] != MAGIC:
            self.fail("not an ELF file")
        if data[4] not in (1, 2) or data[5] not in (1, 2):
            self.fail(f"an ELF file of unknown class {data[4]} or byte order {data[5]}")
        self.is_64 = data[4] == 2
        self.is_little = data[5] == 1
        self._order = "<" if self.is_little else ">"
        form = "HHIQQQIHHHHHH" if self.is_64 else "HHIIIIIHHHHHH"
        (
            self.type,
            self.machine,
            _,
            self.entry,
            segments_at,
            sections_at,
            _,
            _,
            segment_size,
            n_segments,
            section_size,
            n_sections,
            names_index,
        ) = self._unpack(form, 16, "its header")
        self.segments = list(self._read_segments(segments_at, segment_size, n_segments))
        self.sections = self._read_sections(sections_at, section_size, n_sections, names_index)
        self.build_id = self._read_build_id()
        self.stripped = not any(section.type == SHT_SYMTAB for section in self.sections)
        self.symbols = self._read_symbols(SHT_DYNSYM if self.stripped else SHT_SYMTAB)

    def fail(self, what: str) -> NoReturn:
        raise ReportError(what, self.path)

    def entries(self, form: str, data: bytes) -> Iterator[tuple[int, ...]]:
        """Those that are whole of a table of such entries."""
        form = self._order + form
        size = struct.calcsize(form)
        return struct.iter_unpack(form, data[: len(data) // size * size])

    def _unpack(self, form: str, offset: int, what: str) -> tuple[int, ...]:
        try:
            return struct.unpack_from(self._order + form, self._data, offset)
        except (struct.error, OverflowError):
            self.fail(f"a broken ELF file: {what} ends beyond the end of the file")

    def _read_segments(self, at: int, size: int, count: int) -> Iterator[Segment]:
        if count and size < (56 if self.is_64 else 32):
            self.fail(f"a broken ELF file: segments of {size} bytes")
        for index in range(count):
            what = f"segment {index}"
            if self.is_64:
                type_, flags, offset, address, _, file_size, memory_size, _ = self._unpack(
                    "IIQQQQQQ", at + index * size, what
                )
            else:
                type_, offset, address, _, file_size, memory_size, flags, _ = self._unpack(
                    "IIIIIIII", at + index * size, what
                )
            yield Segment(type_, flags, offset, address, file_size, memory_size)

    def _read_sections(self, at: int, size: int, count: int, names: int) -> list[Section]:
        if at == 0:
            return []
        if size < (64 if self.is_64 else 40):
            self.fail(f"a broken ELF file: sections of {size} bytes")
        form = "IIQQQQIIQQ" if self.is_64 else "IIIIIIIIII"
        first = self._unpack(form, at, "section 0")
        count = count or first[5]  # more than the header can say
        names = first[6] if names == 0xFFFF else names
        if count > _MOST_SECTIONS:
            self.fail(f"a broken ELF file: {count} sections")
        raw = [self._unpack(form, at + i * size, f"section {i}") for i in range(count)]
        strings = b""
        if names:
            if names >= count:
                self.fail(f"a broken ELF file: section names in section {names} of {count}")
            strings = self.bytes_at(raw[names][4], raw[names][5], "the section names")
        sections = [
            Section(string_at(strings, r[0]), r[1], r[2], r[3], r[4], r[5], r[6], r[9], r[8])
            for r in raw
        ]
        for section in sections:
            if section.is_code and section.size > _MOST_CODE:
                self.fail(f"a broken ELF file: section {section.name} of {section.size} bytes")
        return sections

    def bytes_at(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > len(self._data):
            self.fail(f"a broken ELF file: {what} ends beyond the end of the file")
        return self._data[offset : offset + size]

    def section_bytes(self, section: Section) -> bytes:
        if section.type == SHT_NOBITS:
            return b""
        return self.bytes_at(section.offset, section.size, f"section {section.name}")

    def _read_build_id(self) -> str:
        """The build ID in hexadecimal digits, "" if there is none."""
        for segment in self.segments:
            if segment.type != PT_NOTE:
                continue
            notes = self.bytes_at(segment.offset, segment.file_size, "a note")
            at = 0
            while at + 12 <= len(notes):
                name_size, size, type_ = struct.unpack_from(self._order + "III", notes, at)
                body = at + 12 + (name_size + 3) // 4 * 4
                if body + size > len(notes):
                    break
                if type_ == NT_GNU_BUILD_ID and notes[at + 12 : at + 16] == b"GNU\0" and size:
                    return notes[body : body + size].hex()
                at = body + (size + 3) // 4 * 4
        return ""

    def _read_symbols(self, wanted: int) -> list[Symbol]:
        symbols: list[Symbol] = []
        size = 24 if self.is_64 else 16
        for table in self.sections:
            if table.type != wanted:
                continue
            if table.link >= len(self.sections):
                self.fail(f"a broken ELF file: no section {table.link} of symbol names")
            if table.size // size > _MOST_SYMBOLS:
                self.fail(f"a broken ELF file: {table.size // size} symbols")
            strings = self.section_bytes(self.sections[table.link])
            data = self.section_bytes(table)
            data = data[: len(data) // size * size]
            file = ""
            for entry in struct.iter_unpack(
                self._order + ("IBBHQQ" if self.is_64 else "IIIBBH"), data
            ):
                if self.is_64:
                    name_at, info, _, section, value, length = entry
                else:
                    name_at, value, length, info, _, section = entry
                type_, binding = info & 15, info >> 4
                if type_ == STT_FILE:
                    file = string_at(strings, name_at)
                    continue
                name = string_at(strings, name_at)
                local = file if binding == STB_LOCAL else ""
                symbols.append(Symbol(name, value, length, type_, binding, section, local))
        return symbols

    # What follows from it.

    def dynamic_symbols(self) -> list[Symbol]:
        """Those of .dynsym."""
        return self._read_symbols(SHT_DYNSYM)

    @cached_property
    def loads(self) -> list[Segment]:
        return [s for s in self.segments if s.type == PT_LOAD]

    @property
    def relro(self) -> range:
        """The addresses that become read-only after relocation."""
        for segment in self.segments:
            if segment.type == PT_GNU_RELRO:
                return range(segment.address, segment.address + segment.memory_size)
        return range(0)

    def dynamic(self) -> Iterator[tuple[int, int]]:
        """Tags and values of the dynamic section."""
        for segment in self.segments:
            if segment.type != PT_DYNAMIC:
                continue
            data = self.bytes_at(segment.offset, segment.file_size, "the dynamic section")
            form = self._order + ("QQ" if self.is_64 else "II")
            size = struct.calcsize(form)
            yield from struct.iter_unpack(form, data[: len(data) // size * size])

    @property
    def binds_now(self) -> bool:
        """Whether all symbols are bound when the program starts (-z now)."""
        return any(
            tag == DT_BIND_NOW
            or (tag == DT_FLAGS and value & DF_BIND_NOW)
            or (tag == DT_FLAGS_1 and value & DF_1_NOW)
            for tag, value in self.dynamic()
        )

    @property
    def is_program(self) -> bool:
        """Whether this is no library. A static program that can be anywhere has no interpreter, a
        library such as libc has one; the linkers' mark tells, which old ones (before 2016) do not set."""
        if self.type != ET_DYN:
            return self.type == ET_EXEC
        dynamic = list(self.dynamic())
        if any(tag == DT_FLAGS_1 and value & DF_1_PIE for tag, value in dynamic):
            return True
        has_interpreter = any(s.type == PT_INTERP for s in self.segments)
        return has_interpreter and all(tag != DT_SONAME for tag, _ in dynamic)

    @property
    def is_pie(self) -> bool:
        return self.type == ET_DYN

    def address_of(self, offset: int, flags: int = 0) -> int | None:
        """The address, relative to the object's base, of a byte of the file as it is mapped: by a
        segment with these flags, as a page may be mapped by several."""
        loads = [s for s in self.loads if s.flags & flags == flags] if flags else self.loads
        for segment in loads:
            if segment.offset <= offset < segment.offset + segment.file_size:
                return segment.address + offset - segment.offset
        # Whole pages are mapped: the head of the first and the tail of the last belong to it.
        for segment in loads:
            first = segment.offset & ~0xFFF
            last = (segment.offset + segment.file_size + 0xFFF) & ~0xFFF
            if first <= offset < last:
                return segment.address + offset - segment.offset
        return None

    def offset_of(self, address: int) -> int | None:
        for segment in self.loads:
            if segment.address <= address < segment.address + segment.file_size:
                return segment.offset + address - segment.address
        return None

    def section_at(self, address: int) -> Section | None:
        for section in self.sections:
            if (
                section.flags & SHF_ALLOC
                and section.address <= address < section.address + section.size
                and not (section.type == SHT_NOBITS and section.name.startswith(".tbss"))
            ):
                return section
        return None

    def section_of(self, symbol: Symbol) -> Section | None:
        if SHN_UNDEF < symbol.section < min(SHN_LORESERVE, len(self.sections)):
            return self.sections[symbol.section]
        return None

    def relocated(self) -> Iterator[int]:
        """The addresses that the dynamic linker writes a relocation to, as far as they are listed
        in REL, RELA and RELR sections that are loaded."""
        for section in self.sections:
            if not section.flags & SHF_ALLOC:
                continue
            data = self.section_bytes(section)
            if section.type in (SHT_RELA, SHT_REL):
                words = "QQq" if self.is_64 else "IIi"
                form = self._order + words[: 3 if section.type == SHT_RELA else 2]
                size = struct.calcsize(form)
                for entry in struct.iter_unpack(form, data[: len(data) // size * size]):
                    yield entry[0]
            elif section.type == SHT_RELR:
                yield from self.relr(data)

    def relr(self, data: bytes) -> Iterator[int]:
        """An even entry is an address; an odd one has a bit for each of the words behind the last."""
        size = 8 if self.is_64 else 4
        form = self._order + ("Q" if self.is_64 else "I")
        at = 0
        for (entry,) in struct.iter_unpack(form, data[: len(data) // size * size]):
            if entry & 1 == 0:
                yield entry
                at = entry + size
                continue
            for bit in range(1, size * 8):
                if entry >> bit & 1:
                    yield at + (bit - 1) * size
            at += (size * 8 - 1) * size


class Places:
    """Symbols by address: which one holds a given one."""

    def __init__(self, symbols: list[Symbol]) -> None:
        self.symbols = sorted(symbols, key=lambda s: (s.address, s.size))
        self._starts = [symbol.address for symbol in self.symbols]

    def at(self, address: int) -> Symbol | None:
        index = bisect_right(self._starts, address) - 1
        # A symbol of no size may stand inside of a larger one.
        for place in range(index, max(-1, index - 9), -1):
            candidate = self.symbols[place]
            if address < candidate.address + candidate.size:
                return candidate
        return None

    def behind(self, address: int) -> int | None:
        """The begin of the first symbol behind an address."""
        index = bisect_right(self._starts, address)
        return self._starts[index] if index < len(self._starts) else None


def data_symbols(binary: Elf) -> list[Symbol]:
    """The variables and constants, and labels with a size; none of a thread's."""
    found = []
    for symbol in binary.symbols:
        section = binary.section_of(symbol)
        if section is None or section.is_code or not symbol.size or not symbol.name:
            continue
        if symbol.type in (STT_OBJECT, STT_NOTYPE):
            found.append(symbol)
    return found


def string_at(strings: bytes, at: int) -> str:
    end = strings.find(b"\0", at)
    return strings[at : end if end >= 0 else len(strings)].decode("utf-8", "surrogateescape")


def read(path: str) -> Elf:
    return Elf(path, read_bytes(path))
