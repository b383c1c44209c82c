# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads a reach file (docs/internals/formats.md): what fully associative TLBs of each size would miss."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..base.command import read_text
from ..base.errors import ReportError
from .kinds import REACH, other_than
from .reader import LineReader

COLUMNS = ("I-4K", "I-64K", "I-2M", "D-4K", "D-64K", "D-2M")
FEWEST, MOST = 8, 8192  # entries
_MAX = 2**64 - 1


@dataclass
class Reach:
    path: str
    header: dict[str, str] = field(default_factory=dict)
    misses: list[tuple[int, ...]] = field(default_factory=list)  # from FEWEST entries on

    @property
    def command(self) -> str:
        return self.header.get("cmd", "")


_HEADER = re.compile(r"# ([A-Za-z0-9 ]+): (.*)\Z")
_ROW = re.compile(r"[0-9]{1,20}(?:\t[0-9]{1,20}){6}\Z")  # as many as COLUMNS


def read(path: str) -> Reach:
    text = read_text(path)
    if not text:
        raise ReportError("the file is empty", path)
    return _Reader(path).read(text)


class _Reader(LineReader):
    what = "reach file"
    header_line = _HEADER

    def __init__(self, path: str) -> None:
        self.out = Reach(path)
        super().__init__(self.out.path, self.out.header)

    def read(self, text: str) -> Reach:
        lines = text.split("\n")
        if lines[0] != REACH:
            self.fail(other_than(REACH, lines[0]))
        if lines.pop() != "":
            self.line = len(lines) + 1
            self.fail("the file ends within a line, so it is not whole")
        names_line = 0
        for number, line in enumerate(lines[1:], 2):
            self.line = number
            if names_line:
                self.read_row(line)
            elif line.startswith("# "):
                self.read_header(line)
            else:
                self.check_names(line)
                names_line = number
        if not names_line or len(self.out.misses) != MOST - FEWEST + 1:
            self.fail(f"the file ends without the line of {MOST} entries, so it is not whole")
        return self.out

    def check_names(self, line: str) -> None:
        if "version" not in self.out.header:
            self.fail("there is no 'version:' in the header")
        expected = "\t".join(("entries", *COLUMNS))
        if line != expected:
            self.fail(f"columns '{line[:80]}', where '{expected}' is expected")

    def read_row(self, line: str) -> None:
        if not _ROW.match(line):
            self.fail(f"not {1 + len(COLUMNS)} numbers with tabs between them: '{line[:40]}'")
        entries, *misses = map(int, line.split("\t"))
        expected = FEWEST + len(self.out.misses)
        if entries != expected or expected > MOST:
            self.fail(f"a line of {entries} entries, where that of {min(expected, MOST)} is due")
        if max(misses) > _MAX:
            self.fail(f"{max(misses)} is not a number from 0 to 2^64-1")
        # A larger LRU array holds whatever a smaller one does.
        if self.out.misses:
            for name, count, before in zip(COLUMNS, misses, self.out.misses[-1]):
                if count > before:
                    self.fail(f"{count} misses of {name}, but {before} with one entry less")
        self.out.misses.append(tuple(misses))
