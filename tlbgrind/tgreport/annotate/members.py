# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Names the members of records: by the types of variables, and of what the user says has a type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import add
from typing import NamedTuple, NoReturn

from ..base.errors import ReportError
from ..formats.datafile import DataFile, DataObject, Section
from ..formats.dwarf import Debug, Type
from ..formats.outfile import Counts

_MOST_NAMES = 4  # at one offset
_PADDING = "(padding)"


class Given(NamedTuple):
    """--data-type=DATA=TYPE"""

    data: str
    type: str


class Naming(NamedTuple):
    given: Sequence[Given]
    least: Fraction  # of the counts of some event, in percent, that an object has whose members matter


class Layout(NamedTuple):
    """Records of one type, or of several of its elements in a row."""

    type: Type
    size: int  # of an element; 0: the record is one
    width: int  # of a word

    def at(self, offset: int) -> str:
        index, inner = divmod(offset, self.size) if self.size else (0, offset)
        names = self.type.members(inner, self.width)
        if self.size and inner + self.width > self.size:
            names = [f"[{index}]{name}" for name in names] + [
                f"[{index + 1}]{name}" for name in self.type.members(0, inner + self.width - self.size)
            ]
        elif self.size:
            names = [f"[{index}]{name}" for name in names]
        shown = [name.removeprefix(".") for name in names]
        more = ["..."] if len(shown) > _MOST_NAMES else []
        return ", ".join(shown[:_MOST_NAMES] + more) if shown else _PADDING


def _layout(kind: Type, record: int, width: int) -> Layout | None:
    """How records of so many bytes lie in memory of that type; 0: each block begins with one."""
    size = kind.size()
    while size != record and record and (element := kind.element()) is not None:
        kind, size = element, element.size()
    if not size or (record and record % size):
        return None
    return Layout(kind, 0 if size == record or not record else size, width)


def _only(layouts: Iterable[Layout], record: int) -> Layout | None:
    """The layout, if all are the same: a name can have several types in one program."""
    different: dict[tuple[str, ...], Layout] = {}
    for layout in layouts:
        different.setdefault(tuple(map(layout.at, range(0, record or 4096, layout.width))), layout)
    return next(iter(different.values())) if len(different) == 1 else None


def _by_object(section: Section) -> dict[int, Counts]:
    sums: dict[int, Counts] = {}
    for row in section.rows:
        known = sums.get(row.object)
        sums[row.object] = row.counts if known is None else tuple(map(add, known, row.counts))
    return sums


# What the C++ library calls to allocate objects of a type, where that call is not inlined.
_ALLOCATE = re.compile(r"(?:__gnu_cxx::|std::__)new_allocator<(.*[^ ]) ?>::allocate\(")


class Members:
    """The names at the offsets of a data file's objects."""

    def __init__(
        self, data: DataFile, naming: Naming, matching: Callable[[DataFile, str], set[int]]
    ) -> None:
        self._data = data
        self._width = int(data.header.get("offsets", "8"))
        self._debug: dict[str, Debug] = {}
        self._layouts: dict[int, Layout | None] = {}
        self._code: dict[int, list[str]] | None = None
        self._sums = [(section.totals, _by_object(section)) for section in data.sections]
        for one in naming.given:
            numbers = matching(data, one.data)
            if not numbers:
                self._fail(f"no data '{one.data}'; --by=data lists it")
            self._give(one, [data.objects[number] for number in sorted(numbers)])
        for number in data.objects:
            if number not in self._layouts and not self._matters(number, naming.least):
                self._layouts[number] = None

    def _matters(self, number: int, least: Fraction) -> bool:
        return any(
            100 * count >= least * total
            for totals, objects in self._sums
            for count, total in zip(objects.get(number, ()), totals)
            if count
        )

    def at(self, number: int, offset: int) -> str:
        """What lies in the word at the offset; "" if that is not known."""
        if number not in self._layouts:
            self._layouts[number] = self._found(self._data.objects[number])
        layout = self._layouts[number]
        return "" if layout is None else layout.at(offset)

    def _file(self, path: str) -> Debug:
        if path not in self._debug:
            self._debug[path] = Debug(path)
        return self._debug[path]

    def _found(self, obj: DataObject) -> Layout | None:
        record = obj.record[0] if obj.record is not None else 0
        if not record:
            return None
        if obj.kind == "variable":
            types = self._file(obj.file).variables(obj.symbol or obj.name, obj.bytes)
        else:
            types = self._allocated(obj)
        found = (_layout(kind, record, self._width) for kind in types)
        return _only((layout for layout in found if layout is not None), record)

    def _allocated(self, obj: DataObject) -> list[Type]:
        for frame in obj.stack:
            match = _ALLOCATE.search(frame.function)
            if match is not None:
                return self._file(frame.object).types(match[1])
        return []

    def _give(self, one: Given, objects: Sequence[DataObject]) -> None:
        """Those objects whose records have the size of the type, or of several such, are of it."""
        types: list[Type] = []
        sizes = set()
        for obj in objects:
            files = dict.fromkeys([frame.object for frame in obj.stack] + self._referring(obj.number))
            of_object = [kind for file in files if file for kind in self._file(file).types(one.type)]
            types += of_object
            if obj.record is None:
                continue
            record = obj.record[0]
            sizes.add(record)
            found = [_layout(kind, record, self._width) for kind in of_object]
            layouts = [layout for layout in found if layout is not None]
            layout = _only(layouts, record)
            if layouts and layout is None:
                self._fail(f"there are different types '{one.type}' in the program")
            if layout is not None:
                self._layouts[obj.number] = layout
        if not types:
            self._fail(
                f"no type '{one.type}' in the debug information of the code that allocates "
                f"'{one.data}' or refers to it"
            )
        if not any(obj.number in self._layouts for obj in objects):
            of = ", ".join(f"{size:,}" for size in sorted(sizes)) or "no known size"
            self._fail(f"'{one.type}' has {types[0].size()} bytes, the records of '{one.data}' {of}")

    def _fail(self, what: str) -> NoReturn:
        raise ReportError(f"argument --data-type: {what}", self._data.path)

    def _referring(self, number: int) -> list[str]:
        """The files with code that refers to the object."""
        if self._code is None:
            self._code = {}
            for row in self._data.sections[0].rows:
                files = self._code.setdefault(row.object, [])
                if row.function.object not in files:
                    files.append(row.function.object)
        return self._code.get(number, [])
