# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads an entries file (docs/internals/formats.md): the code that a process executed, in order."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from ..base.command import read_text
from ..base.errors import ReportError
from .kinds import ENTRIES, other_than
from .reader import LineReader

UNKNOWN = "???"
_MAX = 2**64 - 1
_MOST_DATA = 1 << 32  # bytes of one use, runs of them joined


class Object(NamedTuple):
    name: str
    build_id: str  # "": none


class Function(NamedTuple):
    object: int
    offset: int  # in the object's file
    size: int  # 0: not known
    when: int
    name: str


class Block(NamedTuple):
    function: int
    offset: int  # behind the function's begin
    length: int


class Use(NamedTuple):
    """Data that was written, or read before that, for the first time."""

    object: int
    offset: int  # in the object's file, as if it went on to the object's end in memory
    length: int
    when: int
    is_write: bool
    again: bool = False  # by others than the dynamic linker, which has written it before


@dataclass
class Entries:
    path: str
    header: dict[str, str] = field(default_factory=dict)
    objects: dict[int, Object] = field(default_factory=dict)
    functions: dict[int, Function] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)  # in order

    @property
    def command(self) -> str:
        return self.header.get("cmd", "")

    @property
    def writes(self) -> list[Use]:
        return [use for use in self.uses if use.is_write]


_OBJECT = re.compile(r"ob=\(([0-9]{1,9})\) ([0-9a-f]{2,128}|-) (.+)\Z")
_FUNCTION = re.compile(
    r"fn=\(([0-9]{1,9})\) \(([0-9]{1,9})\) 0x([0-9a-f]{1,16}) ([0-9]{1,20}) ([0-9]{1,20}) (.+)\Z"
)
_BLOCK = re.compile(r"([0-9]{1,9}) ([0-9]{1,20}) ([0-9]{1,9})\Z")
_USE = re.compile(r"(wr|ww|rd)=\(([0-9]{1,9})\) 0x([0-9a-f]{1,16}) ([0-9]{1,12}) ([0-9]{1,20})\Z")
_COUNTED = ("objects", "functions", "blocks", "writes", "reads")
_TOTALS = re.compile("totals: " + " ".join(f"{what} ([0-9]{{1,9}})" for what in _COUNTED) + r"\Z")
_HEADER = re.compile(r"([a-z ]+): (.*)\Z")


def read(path: str) -> Entries:
    text = read_text(path)
    if not text:
        raise ReportError("the file is empty", path)
    return _Reader(path).read(text)


class _Reader(LineReader):
    what = "entries file"
    header_line = _HEADER

    def __init__(self, path: str) -> None:
        self.out = Entries(path)
        super().__init__(self.out.path, self.out.header)

    def read(self, text: str) -> Entries:
        out = self.out
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if lines[0] != ENTRIES:
            self.fail(other_than(ENTRIES, lines[0]))
        ended = in_body = False
        for number, line in enumerate(lines[1:], 2):
            self.line = number
            if ended:
                self.fail("text after 'totals:', the last line of an entries file")
            if not line:
                in_body = True
            elif not in_body:
                self.read_header(line)
            elif line[0].isdigit():
                self.read_block(line)
            elif line.startswith(("wr=", "ww=", "rd=")):
                self.read_use(line)
            elif line.startswith("totals:"):
                self.check_totals(line)
                ended = True
            else:
                self.read_name(line)
        if not ended:
            self.fail("the file ends without 'totals:', so it is not whole")
        if "version" not in out.header:
            self.line = 1
            self.fail("there is no 'version:'")
        return out

    def read_name(self, line: str) -> None:
        out = self.out
        match = _OBJECT.match(line)
        if match:
            number = int(match[1])
            if number in out.objects:
                self.fail(f"object ({number}) is defined again")
            out.objects[number] = Object(match[3], "" if match[2] == "-" else match[2])
            return
        match = _FUNCTION.match(line)
        if match is None:
            self.fail(f"not a line of an entries file: '{line[:40]}'")
        number, owner = int(match[1]), int(match[2])
        if number in out.functions:
            self.fail(f"function ({number}) is defined again")
        if owner not in out.objects:
            self.fail(f"object ({owner}) was not defined")
        offset, size, when = int(match[3], 16), self.number(match[4]), self.number(match[5])
        if offset + size > _MAX:
            self.fail(f"a function of {size} bytes at {offset:#x} ends beyond 2^64-1")
        out.functions[number] = Function(owner, offset, size, when, match[6])

    def read_block(self, line: str) -> None:
        match = _BLOCK.match(line)
        if match is None:
            self.fail(f"not 'FUNCTION OFFSET LENGTH': '{line[:40]}'")
        function, offset, length = int(match[1]), self.number(match[2]), int(match[3])
        known = self.out.functions.get(function)
        if known is None:
            self.fail(f"function ({function}) was not defined")
        if known.size and offset >= known.size:
            self.fail(f"byte {offset} of a function of {known.size} bytes")
        self.out.blocks.append(Block(function, offset, length))

    def read_use(self, line: str) -> None:
        match = _USE.match(line)
        if match is None:
            self.fail(f"not '{line[:2]}=(OBJECT) OFFSET LENGTH WHEN': '{line[:40]}'")
        owner, offset, length = int(match[2]), int(match[3], 16), int(match[4])
        if owner not in self.out.objects:
            self.fail(f"object ({owner}) was not defined")
        is_write = match[1] != "rd"
        if not 0 < length < _MOST_DATA or offset + length > _MAX:
            self.fail(f"a {'write' if is_write else 'read'} of {length} bytes at {offset:#x}")
        self.out.uses.append(Use(owner, offset, length, self.number(match[5]), is_write, match[1] == "ww"))

    def check_totals(self, line: str) -> None:
        match = _TOTALS.match(line)
        if match is None:
            self.fail(f"not 'totals: objects N functions N blocks N writes N reads N': '{line[:40]}'")
        out = self.out
        writes = len(out.writes)
        code = (len(out.objects), len(out.functions), len(out.blocks))
        counts = (*code, writes, len(out.uses) - writes)
        for what, claim, count in zip(_COUNTED, match.groups(), counts):
            if int(claim) != count:
                self.fail(f"'totals:' says {claim} {what}, but the file holds {count}")


def is_helper(name: str) -> bool:
    """Whether an object is Valgrind's own, loaded into every program that it runs."""
    return os.path.basename(name).startswith("vgpreload_")


def choose_object(entries: Entries, wanted: str) -> int:
    """The number of the object that `wanted` names: its whole name, the last parts of it or the
    begin of its file name; "": the program itself."""
    code = {n: o.name for n, o in entries.objects.items() if not is_helper(o.name)}
    if not wanted:
        program = entries.command.split(" ")[0]
        wanted = program.rpartition("/")[2]
        found = [n for n, name in code.items() if name == program]
        found = found or [n for n, name in code.items() if os.path.basename(name) == wanted]
        # A symbolic link has another name than the file that is mapped.
        real = os.path.realpath(program) if "/" in program else ""
        found = found or [n for n, name in code.items() if name == real]
        found = found or [n for n, name in code.items() if ".so" not in name and name != UNKNOWN]
        what = f"which object is the program '{program}'"
    else:
        found = [n for n, name in code.items() if name == wanted or name.endswith("/" + wanted)]
        found = found or [
            n for n, name in code.items() if os.path.basename(name).startswith(wanted)
        ]
        what = f"the object '{wanted}'"
    if len(found) != 1:
        names = ", ".join(sorted(code.values()))
        raise ReportError(
            f"cannot tell {what}: {len(found)} objects fit; choose with --object one of {names}",
            entries.path,
        )
    return found[0]
