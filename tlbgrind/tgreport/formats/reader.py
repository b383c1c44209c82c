# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What readers of text files line by line have in common: errors with a line, header, numbers."""

from __future__ import annotations

import re
from typing import ClassVar, NoReturn

from ..base.errors import ReportError

_MAX = 2**64 - 1


class LineReader:
    what: ClassVar[str]  # "entries file"
    header_line: ClassVar[re.Pattern[str]]  # with the key and the value as groups

    def __init__(self, path: str, header: dict[str, str]) -> None:
        self.path = path
        self.header = header
        self.line = 1

    def fail(self, what: str) -> NoReturn:
        raise ReportError(what, self.path, self.line)

    def read_header(self, line: str) -> None:
        match = self.header_line.match(line)
        if match is None:
            article = "an" if self.what[0] in "aeiou" else "a"
            self.fail(f"not a line of {article} {self.what}: '{line[:40]}'")
        key, value = match.groups()
        if key in self.header:
            self.fail(f"a second '{key}:'")
        if key == "version" and value != "1":
            self.fail(f"version '{value}' of the {self.what}, where only 1 is known")
        self.header[key] = value

    def number(self, text: str) -> int:
        value = int(text)
        if value > _MAX:
            self.fail(f"'{text}' is not a number from 0 to 2^64-1")
        return value
