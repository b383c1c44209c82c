# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads a data file (docs/internals/formats.md): costs by object of data and line of code."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ..base.command import plain_text, read_all
from ..base.demangle import demangled, with_plain_functions
from ..base.errors import ReportError
from .kinds import DATA, other_than
from .outfile import UNKNOWN, Counts, Function
from .reader import LineReader

KINDS = ("unknown", "heap", "allocator", "variable", "stack", "file", "mapping", "sysv", "named")
_MAX = 2**64 - 1
_DIGITS = frozenset("0123456789")


class Frame(NamedTuple):
    function: str
    file: str
    line: int  # 0: unknown
    object: str


@dataclass
class DataObject:
    number: int
    kind: str
    pages: int
    touched: int  # bytes
    blocks: int
    bytes: int
    name: str = ""
    symbol: str = ""  # of a variable, where its name is another form of it
    file: str = ""
    record: tuple[int, str] | None = None  # size, 0: there are several; how it was found
    stack: list[Frame] = field(default_factory=list)


class Row(NamedTuple):
    function: Function
    file: str
    line: int
    object: int  # 0: instructions
    offset: int | None  # within a record of the object
    counts: Counts


@dataclass
class Section:
    """The costs of one machine."""

    machine: str
    events: tuple[str, ...] = ()
    events_line: int = 0
    rows: list[Row] = field(default_factory=list)
    totals: Counts = ()


@dataclass
class DataFile:
    path: str
    mtime: float
    header: dict[str, str] = field(default_factory=dict)
    objects: dict[int, DataObject] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)


def is_data_file(path: str) -> bool:
    """Whether its first line says so; what cannot be read is left to the reader to refuse."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as stream:
            return stream.readline(len(DATA) + 2).rstrip(b"\r\n") == DATA.encode()
    except (OSError, ValueError):
        return False


def read(path: str) -> DataFile:
    try:
        with open(path, "rb") as stream:
            mtime = os.fstat(stream.fileno()).st_mtime
            text = with_plain_functions(plain_text(read_all(stream), path)).decode("utf-8", "surrogateescape")
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path or "''") from None
    data = _Reader(DataFile(path, mtime)).read(text)
    variables = [obj for obj in data.objects.values() if obj.kind == "variable"]
    plain = demangled(obj.name for obj in variables)
    for obj in variables:
        obj.symbol, obj.name = obj.name, plain.get(obj.name, obj.name)
    return data


_HEADER = re.compile(r"([a-z-]+): (.*)\Z")
_OBJECT = re.compile(
    r"object: ([0-9]{1,9}) ([a-z]+) pages ([0-9]{1,20}) touched ([0-9]{1,20})"
    r" blocks ([0-9]{1,20}) bytes ([0-9]{1,20})\Z"
)
_AT = re.compile(r"at: ([0-9]{1,10}) (.*)\Z")
_POSITION = re.compile(r"(ob|fl|fi|fe|fn)=\(([0-9]{1,9})\)(?: (.*))?\Z")
_PLACE = re.compile(r"([0-9]{1,20}) ([0-9]{1,9})(?:\+([0-9]{1,9}))? ")
_COUNTS = re.compile(r"[0-9]{1,20}(?: [0-9]{1,20})*\Z")
_RECORD = re.compile(r"record: ([0-9]{1,9}) ([a-z]+)\Z")
_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")


class _Reader(LineReader):
    what = "data file"
    header_line = _HEADER

    def __init__(self, out: DataFile) -> None:
        self.out = out
        super().__init__(self.out.path, self.out.header)
        self.ended = False
        self.object: DataObject | None = None
        self.frame = ""  # the function of a frame whose place is still to come
        self.place: tuple[str, int] | None = None
        # Most frames stand in many call stacks: one copy of each.
        self.places: dict[str, tuple[str, int]] = {}
        self.frames: dict[Frame, Frame] = {}
        self.section: Section | None = None
        # What the text of counts says, for the events of the section: most rows' are equal to others'.
        self.rows_counts: dict[str, Counts] = {}
        # So do the two words before them: the line, and the object with an offset.
        self.rows_lines: dict[str, int] = {}
        self.rows_objects: dict[str, tuple[int, int | None]] = {}
        self.names: dict[str, dict[str, str]] = {}
        self.program = self.file = UNKNOWN
        self.function: Function | None = None

    def read(self, text: str) -> DataFile:
        lines = text.split("\n")
        if lines[0] != DATA:
            self.fail(other_than(DATA, lines[0]))
        if lines[-1] != "":
            self.line = len(lines)
            self.fail("the last line has no end, so the file is not whole")
        for number, line in enumerate(lines[1:-1], 2):
            self.line = number
            if not line:
                continue
            section = self.section
            if section is not None and not section.totals and line[0] in _DIGITS:
                self.read_row(section, line)
            elif self.ended:
                self.fail("text after 'end', the last line of a data file")
            elif line == "end":
                self.end()
            elif line.startswith("machine: "):
                self.begin_section(line[9:])
            elif section is not None:
                self.read_cost(section, line)
            elif line.startswith("object: "):
                self.read_object(line)
            elif self.object is not None:
                self.read_of_object(self.object, line)
            else:
                self.read_header(line)
        if not self.ended:
            self.fail("the file ends without 'end', so it is not whole")
        return self.out

    # ------------------------------------------------------------ objects

    def read_object(self, line: str) -> None:
        self.end_frame()
        match = _OBJECT.match(line)
        if match is None or match[2] not in KINDS:
            self.fail(f"not 'object: N KIND pages N touched N blocks N bytes N': '{line[:40]}'")
        number = int(match[1])
        if number != len(self.out.objects) + 1:
            self.fail(f"object {number}, where {len(self.out.objects) + 1} is the next")
        pages, touched, blocks, size = (self.number(match[i]) for i in range(3, 7))
        self.object = DataObject(number, match[2], pages, touched, blocks, size)
        self.out.objects[number] = self.object

    def read_of_object(self, obj: DataObject, line: str) -> None:
        key, separator, value = line.partition(": ")
        if separator and key == "name" and not obj.name:
            obj.name = value
        elif separator and key == "file" and not obj.file:
            obj.file = value
        elif key == "record" and obj.record is None and _RECORD.match(line):
            size, how = value.split(" ")
            obj.record = int(size), how
        elif separator and key == "frame" and not self.frame:
            self.frame = value
        elif separator and key == "at" and self.frame and self.place is None:
            self.place = self.places.get(value) or self.read_place(line, value)
        elif separator and key == "in" and self.frame and self.place is not None:
            frame = Frame(self.frame, *self.place, value)
            obj.stack.append(self.frames.setdefault(frame, frame))
            self.frame, self.place = "", None
        else:
            self.fail(f"not a line of an object of data: '{line[:40]}'")

    def read_place(self, line: str, value: str) -> tuple[str, int]:
        match = _AT.match(line)
        if match is None:
            self.fail(f"not 'at: LINE FILE': '{line[:40]}'")
        place = self.places[value] = (match[2], int(match[1]))
        return place

    def end_frame(self) -> None:
        if self.frame:
            self.fail(f"the frame '{self.frame[:40]}' has no place")

    # ------------------------------------------------------------ costs

    def begin_section(self, machine: str) -> None:
        self.end_frame()
        self.end_section()
        if any(section.machine == machine for section in self.out.sections):
            self.fail(f"a second machine '{machine}'")
        self.section = Section(machine)
        self.rows_counts = {}
        self.out.sections.append(self.section)
        self.names = {"ob": {}, "fl": {}, "fn": {}}
        self.program = self.file = UNKNOWN
        self.function = None

    def read_cost(self, section: Section, line: str) -> None:
        if section.totals:
            self.fail("text after 'totals:', the last line of a machine")
        if line.startswith("events: "):
            section.events = tuple(line[8:].split(" "))
            section.events_line = self.line
            self.rows_counts = {}
            if not all(map(_EVENT.match, section.events)):
                self.fail(f"not names of events: '{line[:40]}'")
        elif line.startswith("totals: "):
            section.totals = self.counts(line[8:].split(" "), section)
            self.check_totals(section)
        else:
            self.read_position(line)

    def counts(self, words: list[str], section: Section) -> Counts:
        if len(words) != len(section.events) or not all(map(str.isdecimal, words)):
            self.fail(f"not {len(section.events)} counts")
        counts = tuple(map(int, words))
        if max(counts) > _MAX:
            self.fail(f"{max(counts)} is not a number from 0 to 2^64-1")
        return counts

    def read_row(self, section: Section, line: str) -> None:
        words = line.split(" ", 2)
        counts = self.rows_counts.get(words[-1])
        place = self.rows_lines.get(words[0])
        of = self.rows_objects.get(words[1]) if len(words) == 3 else None
        if counts is None or place is None or of is None:
            place, of, counts = self.read_new_row(section, line)
        if self.function is None:
            self.fail("costs of no function")
        section.rows.append(Row(self.function, self.file, place, *of, counts))

    def read_new_row(self, section: Section, line: str) -> tuple[int, tuple[int, int | None], Counts]:
        """Some word of it is not known."""
        match = _PLACE.match(line)
        text = line[match.end() :] if match else ""
        counts = self.rows_counts.get(text)
        if match is None or (counts is None and _COUNTS.match(text) is None):
            self.fail(f"not 'LINE OBJECT[+OFFSET] COUNT...': '{line[:40]}'")
        word, number, cell = match.groups()
        obj = int(number)
        if obj != 0 and obj not in self.out.objects:
            self.fail(f"object {obj} was not defined")
        if counts is None:
            counts = self.rows_counts[text] = self.counts(text.split(" "), section)
        place = self.rows_lines[word] = int(word)
        of = obj, None if cell is None else int(cell)
        self.rows_objects[line[len(word) + 1 : match.end() - 1]] = of
        return place, of, counts

    def read_position(self, line: str) -> None:
        match = _POSITION.match(line)
        if match is None:
            self.fail(f"not a line of a data file: '{line[:40]}'")
        what, number, name = match.groups()
        known = self.names["fl" if what in ("fi", "fe") else what]
        if name is not None:
            if number in known:
                self.fail(f"{what}=({number}) is defined again")
            known[number] = name
        elif number not in known:
            self.fail(f"{what}=({number}) was not defined")
        name = known[number]
        if what == "ob":
            self.program = name
        elif what == "fn":
            self.function = Function(self.program, self.file, name)
        else:
            self.file = name

    def check_totals(self, section: Section) -> None:
        sums = tuple(map(sum, zip(*(row.counts for row in section.rows))))
        if section.rows and sums != section.totals:
            self.fail(f"'totals:' is not the sum of the costs, which is {' '.join(map(str, sums))}")
        if not section.rows and any(section.totals):
            self.fail("'totals:' without costs")

    def end_section(self) -> None:
        if self.section is not None and not self.section.totals:
            self.fail(f"the machine '{self.section.machine}' ends without 'totals:'")

    def end(self) -> None:
        self.end_section()
        self.ended = True
        if "version" not in self.out.header:
            self.fail("there is no 'version:'")
        claim = self.out.header.get("machines", "")
        if claim != str(len(self.out.sections)):
            self.fail(f"'machines:' says {claim or 'nothing'}, of {len(self.out.sections)}")
