# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads types of variables and of structures from an ELF file's debug information (DWARF 2 to 5).

Only the units in which a name occurs are read, each once. Where the information is broken, or of a
kind that is not read (split, or shared by dwz), there are no types.
"""

from __future__ import annotations

import os
import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..base.errors import ReportError
from . import elf

_DEBUG_FILES = "/usr/lib/debug/.build-id"
_SHF_COMPRESSED = 0x800
_NO_ELEMENTS = (1 << 32, 1 << 64)  # the bound -1, unsigned
_MOST_LEVELS = 64  # of types in types

_ARRAY, _CLASS, _ENUM, _MEMBER, _POINTER, _REFERENCE = 0x01, 0x02, 0x04, 0x0D, 0x0F, 0x10
_STRUCTURE, _TYPEDEF, _UNION, _INHERITANCE, _MEMBER_POINTER = 0x13, 0x16, 0x17, 0x1C, 0x1F
_SUBRANGE, _BASE, _CONST, _VARIABLE, _VOLATILE, _RESTRICT = 0x21, 0x24, 0x26, 0x34, 0x35, 0x37
_NAMESPACE, _RVALUE_REFERENCE, _ATOMIC = 0x39, 0x42, 0x47
_AGGREGATES = (_STRUCTURE, _CLASS, _UNION)
_ALIASES = (_TYPEDEF, _CONST, _VOLATILE, _RESTRICT, _ATOMIC)
_POINTERS = (_POINTER, _REFERENCE, _RVALUE_REFERENCE, _MEMBER_POINTER)
_KEPT = {
    _ARRAY, _ENUM, _MEMBER, _INHERITANCE, _SUBRANGE, _BASE, _VARIABLE, _NAMESPACE,
    *_AGGREGATES, *_ALIASES, *_POINTERS,
}  # fmt: skip

_AT_NAME, _AT_SIZE, _AT_BOUND, _AT_COUNT = 0x03, 0x0B, 0x2F, 0x37
_AT_OFFSET, _AT_DECLARATION, _AT_SPECIFICATION, _AT_TYPE = 0x38, 0x3C, 0x47, 0x49
_AT_BIT_OFFSET, _AT_LINKAGE, _AT_MIPS_LINKAGE = 0x6B, 0x6E, 0x2007
_AT_STR_BASE, _AT_EXTERNAL = 0x72, 0x3F
_READ = {
    _AT_NAME, _AT_SIZE, _AT_BOUND, _AT_COUNT, _AT_OFFSET, _AT_DECLARATION, _AT_SPECIFICATION,
    _AT_TYPE, _AT_BIT_OFFSET, _AT_LINKAGE, _AT_MIPS_LINKAGE, _AT_STR_BASE, _AT_EXTERNAL,
}  # fmt: skip

_FIXED = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4,
          0x14: 8, 0x19: 0, 0x20: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2,
          0x2B: 3, 0x2C: 4, 0x1C: 4, 0x24: 8}  # fmt: skip
_OF_UNIT_REFERENCES = (0x11, 0x12, 0x13, 0x14, 0x15)
_OFFSETS = (0x0E, 0x1F, 0x17, 0x10, 0x1D, 0x1F20, 0x1F21)  # of 4 bytes, or 8 in the 64-bit form
_UNSIGNED = (0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23, 0x1F01, 0x1F02)
_STRING_INDICES = (0x1A, 0x25, 0x26, 0x27, 0x28)


@dataclass
class Die:
    tag: int
    values: dict[int, int | bytes]
    scope: str
    children: list[Die] = field(default_factory=list)

    def name(self) -> str:
        value = self.values.get(_AT_NAME, b"")
        return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else ""

    def number(self, attribute: int) -> int | None:
        value = self.values.get(attribute)
        return value if isinstance(value, int) else None


class _Bytes:
    """A place in a section."""

    def __init__(self, data: bytes, order: str, at: int = 0) -> None:
        self.data = data
        self.order = order
        self.at = at

    def fixed(self, size: int) -> int:
        end = self.at + size
        if end > len(self.data):
            raise ValueError("ends early")
        value = int.from_bytes(self.data[self.at : end], "little" if self.order == "<" else "big")
        self.at = end
        return value

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def signed(self) -> int:
        start = self.at
        value = self.unsigned()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def string(self) -> bytes:
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at : end]
        self.at = end + 1
        return text


_Abbreviation = tuple[int, bool, list[tuple[int, int, int]]]  # tag, has children, attributes


@dataclass
class _Unit:
    start: int
    first: int  # offset of its first entry
    end: int
    version: int
    address_size: int
    offset_size: int
    abbreviations: int
    dies: dict[int, Die] | None = None


class Debug:
    """The debug information of one file."""

    def __init__(self, path: str) -> None:
        self._units: list[_Unit] = []
        self._abbreviations: dict[int, dict[int, _Abbreviation]] = {}
        self._starts: list[int] = []
        self._indexed: list[int] | None = None
        self._order = "<"
        self._info = self._abbrev = self._str = self._line_str = self._str_offsets = b""
        file = _with_debug_info(path)
        if file is None:
            return
        self._order = "<" if file.is_little else ">"
        try:
            self._info = _section(file, ".debug_info")
            self._abbrev = _section(file, ".debug_abbrev")
            self._str = _section(file, ".debug_str")
            self._line_str = _section(file, ".debug_line_str")
            self._str_offsets = _section(file, ".debug_str_offsets")
            self._units = list(self._read_units())
        except (ReportError, ValueError, IndexError):
            self._units = []
        self._starts = [unit.start for unit in self._units]

    # ------------------------------------------------------------ bytes -> entries

    def _read_units(self) -> Iterator[_Unit]:
        at = 0
        while at < len(self._info):
            data = _Bytes(self._info, self._order, at)
            size, offset_size = data.fixed(4), 4
            if size == 0xFFFFFFFF:
                size, offset_size = data.fixed(8), 8
            end = data.at + size
            if end > len(self._info) or not size:
                raise ValueError("a unit that ends late")
            version = data.fixed(2)
            kind = data.fixed(1) if version >= 5 else 1
            if version >= 5:
                address_size = data.fixed(1)
                abbreviations = data.fixed(offset_size)
            else:
                abbreviations = data.fixed(offset_size)
                address_size = data.fixed(1)
            if 2 <= version <= 5 and kind in (1, 3):  # whole and partial units
                yield _Unit(at, data.at, end, version, address_size, offset_size, abbreviations)
            at = end

    def _read_abbreviations(self, at: int) -> dict[int, _Abbreviation]:
        known = self._abbreviations.get(at)
        if known is not None:
            return known
        found: dict[int, _Abbreviation] = {}
        data = _Bytes(self._abbrev, self._order, at)
        while (code := data.unsigned()) != 0:
            tag = data.unsigned()
            has_children = data.fixed(1) != 0
            attributes: list[tuple[int, int, int]] = []
            while True:
                attribute, form = data.unsigned(), data.unsigned()
                constant = data.signed() if form == 0x21 else 0
                if not attribute and not form:
                    break
                attributes.append((attribute, form, constant))
            found[code] = tag, has_children, attributes
        self._abbreviations[at] = found
        return found

    def _value(self, data: _Bytes, form: int, constant: int, unit: _Unit) -> int | bytes:
        if form in _FIXED:
            value = data.fixed(_FIXED[form])
            return value + unit.start if form in _OF_UNIT_REFERENCES else value if form != 0x19 else 1
        if form in _UNSIGNED:
            value = data.unsigned()
            return value + unit.start if form == 0x15 else value
        if form in _OFFSETS:
            size = unit.address_size if form == 0x10 and unit.version == 2 else unit.offset_size
            value = data.fixed(size)
            if form == 0x0E:
                return _Bytes(self._str, self._order, value).string()
            if form == 0x1F:
                return _Bytes(self._line_str, self._order, value).string()
            return b"" if form == 0x1F21 else value
        if form == 0x08:
            return data.string()
        if form == 0x0D:
            return data.signed()
        if form == 0x21:
            return constant
        if form == 0x01:
            return data.fixed(unit.address_size)
        if form == 0x16:
            return self._value(data, data.unsigned(), 0, unit)
        if form in (0x18, 0x09, 0x0A, 0x03, 0x04):  # blocks
            size = data.unsigned() if form in (0x18, 0x09) else data.fixed({0x0A: 1, 0x03: 2, 0x04: 4}[form])
            start = data.at
            data.at += size
            return data.data[start : data.at]
        raise ValueError(f"form {form:#x}")

    def _dies(self, unit: _Unit) -> dict[int, Die]:
        if unit.dies is None:
            unit.dies = {}
            try:
                self._read_dies(unit, unit.dies)
            except (ValueError, IndexError, KeyError, RecursionError):
                unit.dies = {}
        return unit.dies

    def _read_dies(self, unit: _Unit, dies: dict[int, Die]) -> None:
        abbreviations = self._read_abbreviations(unit.abbreviations)
        data = _Bytes(self._info, self._order, unit.first)
        base = 8 if unit.offset_size == 4 else 16
        parents: list[Die | None] = []
        while data.at < unit.end:
            at = data.at
            code = data.unsigned()
            if code == 0:
                if parents:
                    parents.pop()
                continue
            tag, has_children, attributes = abbreviations[code]
            values: dict[int, int | bytes] = {}
            for attribute, form, constant in attributes:
                value = self._value(data, form, constant, unit)
                if attribute == _AT_STR_BASE and isinstance(value, int):
                    base = value
                if attribute in _READ:
                    if form in _STRING_INDICES and isinstance(value, int):
                        value = self._string_at(base + value * unit.offset_size, unit)
                    values[attribute] = value
            die = None
            if tag in _KEPT:
                parent = next((p for p in reversed(parents) if p is not None), None)
                die = Die(tag, values, _inner_scope(parent))
                dies[at] = die
                if parents and parents[-1] is not None:
                    parents[-1].children.append(die)
            if has_children:
                parents.append(die)

    def _string_at(self, at: int, unit: _Unit) -> bytes:
        offset = _Bytes(self._str_offsets, self._order, at).fixed(unit.offset_size)
        return _Bytes(self._str, self._order, offset).string()

    # ------------------------------------------------------------ entries by name

    def _units_with(self, name: str) -> list[_Unit]:
        """Units that may define the name: its text, or its place among the strings, stands in them."""
        if not self._units:
            return []
        text = name.encode("utf-8", "surrogateescape") + b"\0"
        places = [match.start() for match in re.finditer(re.escape(text), self._str)]
        sizes = {unit.offset_size for unit in self._units}
        order: Literal["little", "big"] = "little" if self._order == "<" else "big"
        needles = [text, *(place.to_bytes(size, order) for place in places for size in sizes)]
        found = set(self._indexing())
        for match in re.finditer(b"|".join(map(re.escape, needles)), self._info):
            number = bisect_right(self._starts, match.start()) - 1
            found.add(number)
        return [self._units[number] for number in sorted(found) if number >= 0]

    def _indexing(self) -> list[int]:
        """The units whose names are found through a table of their own."""
        if self._indexed is None:
            self._indexed = [i for i, unit in enumerate(self._units) if self._has_indices(unit)]
        return self._indexed

    def _has_indices(self, unit: _Unit) -> bool:
        try:
            abbreviations = self._read_abbreviations(unit.abbreviations)
        except (ValueError, IndexError):
            return False
        return any(form in _STRING_INDICES for _, _, forms in abbreviations.values() for _, form, _ in forms)

    def _die_at(self, offset: int) -> Die | None:
        number = bisect_right(self._starts, offset) - 1
        return self._dies(self._units[number]).get(offset) if number >= 0 else None

    def _referred(self, die: Die, attribute: int) -> Die | None:
        offset = die.number(attribute)
        return None if offset is None else self._die_at(offset)

    def variables(self, symbol: str, size: int) -> list[Type]:
        """The types of all variables with that symbol and so many bytes."""
        found = []
        for name in _names_of(symbol):
            for unit in self._units_with(name):
                for die in self._dies(unit).values():
                    if die.tag == _VARIABLE and _AT_DECLARATION not in die.values:
                        found += self._type_of_variable(die, name, size)
        return found

    def _type_of_variable(self, die: Die, name: str, size: int) -> list[Type]:
        declared = self._referred(die, _AT_SPECIFICATION) or die
        names = [
            one.values.get(attribute)
            for one in (die, declared)
            for attribute in (_AT_LINKAGE, _AT_MIPS_LINKAGE, _AT_NAME)
        ]
        if name.encode("utf-8", "surrogateescape") not in names:
            return []
        target = self._referred(die, _AT_TYPE) or self._referred(declared, _AT_TYPE)
        if target is None:
            return []
        kind = Type(self, target)
        return [kind] if kind.size() == size else []

    def types(self, name: str) -> list[Type]:
        """All structures, classes, unions and other names of types of that name, with the scopes it
        has or without."""
        wanted = re.sub(r"\A(struct|class|union) ", "", name)
        last = re.sub(r"\A(?:\w+::)*", "", wanted)
        found = []
        for unit in self._units_with(last):
            for die in self._dies(unit).values():
                if (
                    die.tag in (*_AGGREGATES, _TYPEDEF)
                    and _AT_DECLARATION not in die.values
                    and die.name() == last
                    and (wanted == last or f"{die.scope}{last}" == wanted)
                ):
                    found.append(Type(self, die))
        return found


def _names_of(symbol: str) -> list[str]:
    """The symbol, and the name of the static variable in a function that it may be of."""
    names = [symbol, re.sub(r"\.[0-9.]+\Z", "", symbol)]
    match = re.search(r"\A_ZZ.*?E([0-9]+)([A-Za-z_].*)\Z", symbol)
    while match is not None:
        length = int(match[1])
        if len(match[2]) >= length and re.fullmatch(r"(_[0-9_]*)?", match[2][length:]):
            names.append(match[2][:length])
            break
        match = re.search(r"E([0-9]+)([A-Za-z_].*)\Z", match[2])
    return list(dict.fromkeys(names))


def _inner_scope(parent: Die | None) -> str:
    if parent is None or parent.tag not in (_NAMESPACE, *_AGGREGATES):
        return ""
    return f"{parent.scope}{parent.name()}::" if parent.name() else parent.scope


class Type:
    """A type, of which the members at an offset can be asked for."""

    def __init__(self, debug: Debug, die: Die) -> None:
        self._debug = debug
        for _ in range(_MOST_LEVELS):
            target = debug._referred(die, _AT_TYPE) if die.tag in _ALIASES else None
            if target is None:
                break
            die = target
        self._die = die

    def _inner(self, die: Die | None = None) -> Type | None:
        target = self._debug._referred(die or self._die, _AT_TYPE)
        return None if target is None else Type(self._debug, target)

    def size(self, level: int = 0) -> int | None:
        size = self._die.number(_AT_SIZE)
        if size is not None or level > _MOST_LEVELS:
            return size
        if self._die.tag in _POINTERS:
            return self._debug._units[0].address_size
        element = self._inner() if self._die.tag == _ARRAY else None
        size = None if element is None else element.size(level + 1)
        for count in self._dimensions():
            size = None if size is None or count is None else size * count
        return size

    def _dimensions(self) -> list[int | None]:
        counts: list[int | None] = []
        for child in self._die.children:
            if child.tag == _SUBRANGE:
                bound = child.number(_AT_BOUND)
                count = child.number(_AT_COUNT) if bound is None else bound + 1
                counts.append(0 if count is not None and count in _NO_ELEMENTS else count)
        return counts

    def element(self) -> Type | None:
        """Of an array of any number of dimensions."""
        return self._inner() if self._die.tag == _ARRAY else None

    def is_aggregate(self) -> bool:
        return self._die.tag in (_ARRAY, *_AGGREGATES)

    def members(self, offset: int, width: int, level: int = 0) -> list[str]:
        """What lies in these bytes of it, each as it is written behind the name of a variable."""
        if level > _MOST_LEVELS:
            return []
        if self._die.tag == _ARRAY:
            return self._elements(offset, width, level)
        if self._die.tag not in _AGGREGATES:
            return [""]
        found: list[str] = []
        for child in self._die.children:
            kind = self._inner(child) if child.tag in (_MEMBER, _INHERITANCE) else None
            start = _place(child)
            size = None if kind is None else kind.size()
            if kind is None or start is None or not size:
                continue
            first, last = max(offset, start), min(offset + width, start + size)
            if first < last:
                name = f".{child.name()}" if child.name() and child.tag == _MEMBER else ""
                found += [name + inner for inner in kind.members(first - start, last - first, level + 1)]
        return list(dict.fromkeys(found))

    def _elements(self, offset: int, width: int, level: int) -> list[str]:
        element = self._inner()
        size = None if element is None else element.size()
        if element is None or not size:
            return []
        first, last = offset // size, (offset + width - 1) // size
        if not element.is_aggregate():
            return [self._index(first) if first == last else self._range(first, last)]
        found: list[str] = []
        for i in range(first, last + 1):
            start = max(offset - i * size, 0)
            stop = min(offset + width - i * size, size)
            found += [self._index(i) + inner for inner in element.members(start, stop - start, level + 1)]
        return found

    def _range(self, first: int, last: int) -> str:
        if len(self._dimensions()) == 1:
            return f"[{first}..{last}]"
        return f"{self._index(first)}..{self._index(last)}"

    def _index(self, number: int) -> str:
        counts = self._dimensions()
        text = ""
        for count in reversed(counts[1:]):
            if not count:
                return f"[{number}]"
            number, rest = divmod(number, count)
            text = f"[{rest}]{text}"
        return f"[{number}]{text}"


def _place(member: Die) -> int | None:
    """The offset of a member; None: it has none, as a static one, or it is computed at run time."""
    bits = member.number(_AT_BIT_OFFSET)
    if bits is not None:
        return bits // 8
    place = member.values.get(_AT_OFFSET)
    if isinstance(place, int):
        return place
    if place and place[0] == 0x23:  # DWARF 2: DW_OP_plus_uconst
        return _Bytes(place, "<", 1).unsigned()
    return 0 if place is None and _AT_DECLARATION not in member.values and _AT_EXTERNAL not in member.values else None


def _section(file: elf.Elf, name: str) -> bytes:
    for section in file.sections:
        if section.name != name:
            continue
        data = file.section_bytes(section)
        if section.flags & _SHF_COMPRESSED:
            head = 24 if file.is_64 else 12
            kind = int.from_bytes(data[:4], "little" if file.is_little else "big")
            try:
                return zlib.decompress(data[head:]) if kind == 1 else b""
            except zlib.error:
                return b""
        return data
    return b""


def _with_debug_info(path: str) -> elf.Elf | None:
    """The file, or the one with its debug information; None if neither has any."""
    try:
        file = elf.read(path)
        if not any(section.name == ".debug_info" for section in file.sections) and file.build_id:
            file = elf.read(os.path.join(_DEBUG_FILES, file.build_id[:2], f"{file.build_id[2:]}.debug"))
    except ReportError:
        return None
    return file if any(section.name == ".debug_info" for section in file.sections) else None
