# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads a timeline (docs/internals/formats.md): misses, faults and pages over a run's instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..base.command import read_text
from ..base.errors import ReportError
from .kinds import TIMELINE, other_than
from .reader import LineReader

_PAGES = ["code pages", "data pages"]


@dataclass
class Timeline:
    path: str
    header: dict[str, str] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    marks: list[tuple[int, str]] = field(default_factory=list)  # instructions, phase

    @property
    def command(self) -> str:
        return self.header.get("cmd", "")

    @property
    def machines(self) -> list[str]:
        return [name for key, name in self.header.items() if key.startswith("machine ")]


_HEADER = re.compile(r"# ([A-Za-z0-9 ]+): (.*)\Z")
_ROW = re.compile(r"[0-9]{1,20}(?:\t[0-9]{1,20})+\Z")
_MARK = re.compile(r"mark\t([0-9]{1,20})\t(.*)\Z")


def read(path: str) -> Timeline:
    text = read_text(path)
    if not text:
        raise ReportError("the file is empty", path)
    return _Reader(path).read(text)


class _Reader(LineReader):
    what = "timeline"
    header_line = _HEADER

    def __init__(self, path: str) -> None:
        self.out = Timeline(path)
        super().__init__(self.out.path, self.out.header)

    def read(self, text: str) -> Timeline:
        lines = text.split("\n")
        if lines[0] != TIMELINE:
            self.fail(other_than(TIMELINE, lines[0]))
        ended = False
        for number, line in enumerate(lines[1:-1], 2):
            self.line = number
            if ended:
                self.fail("text after 'end', the last line of a timeline")
            ended = line == "end"
            if self.out.columns and not ended:
                self.read_body(line)
            elif line.startswith("# "):
                self.read_header(line)
            elif not ended:
                self.check_columns(line)
        if not ended or lines[-1] != "":
            self.fail("the file ends without 'end', so it is not whole")
        return self.out

    def check_columns(self, line: str) -> None:
        if "version" not in self.out.header:
            self.fail("there is no 'version:' in the header")
        numbers = range(1, 1 + len(self.out.machines))
        misses = [f"{event} {number}" for number in numbers for event in ("L1tm", "walks")]
        columns = line.split("\t")
        if columns not in (["Ir", *_PAGES, *faults, *misses] for faults in ([], ["PF"])):
            self.fail(f"columns '{line[:80]}', which are not those of {len(numbers)} machines")
        self.out.columns = columns

    def read_body(self, line: str) -> None:
        mark = _MARK.match(line)
        if mark is not None:
            self.out.marks.append((self.number(mark[1]), mark[2]))
            return
        if self.out.marks:
            self.fail("a row behind the marks")
        words = line.split("\t")
        if not _ROW.match(line) or len(words) != len(self.out.columns):
            self.fail(f"not {len(self.out.columns)} numbers with tabs between them: '{line[:40]}'")
        self.out.rows.append(tuple(map(self.number, words)))
