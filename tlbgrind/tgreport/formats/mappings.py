# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads the mappings in an out-file of a run with --mappings=yes (docs/internals/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..base.errors import ReportError
from .outfile import Counts, OutFile

PARTS = ("begin", "inside", "end")

_ROW = re.compile(
    r"0x([0-9a-f]{1,16}) 0x([0-9a-f]{1,16}) ([r-][w-][x-][sp]) 0x([0-9a-f]{1,16}) 0x([0-9a-f]{1,16})"
    r" ([0-9]{1,19}x[0-9]{1,19}(?:,[0-9]{1,19}x[0-9]{1,19})*) ([a-z-]+)(?: (.+))?\Z",
    re.DOTALL,
)


@dataclass
class Mapping:
    start: int
    end: int
    mode: str  # as in /proc/PID/maps
    first: int  # whole large pages are in [first, behind)
    behind: int
    pages: tuple[tuple[int, int], ...]  # the size of pages, and how many of them it has
    kind: str
    name: str  # of the file
    costs: dict[str, Counts] = field(default_factory=dict)  # by part; those that have any

    @property
    def is_unknown(self) -> bool:
        return self.end == 0

    def bytes_of(self, part: str) -> int:
        first, behind = max(self.start, self.first), min(self.end, self.behind)
        first = min(first, self.end)
        sizes = (first - self.start, max(behind - first, 0), self.end - max(behind, first))
        return sizes[PARTS.index(part)]


@dataclass
class Mappings:
    large: int  # the size of a large page
    rows: list[Mapping]


def mappings_of(out: OutFile) -> Mappings:
    if not any(key == "Large pages" for key, _ in out.descriptions):
        raise ReportError("has no mappings: a run with --mappings=yes writes them", out.path)
    found = Mappings(0, [])
    for key, text in out.descriptions:
        if key == "Large pages":
            found.large = _number(out, key, text)
        elif key == "Mapping":
            found.rows.append(_row(out, text))
        elif key.startswith("Mapping ") and key[8:] in PARTS:
            _add(out, found, key, text)
    if found.large == 0 or found.large & (found.large - 1):
        raise ReportError(f"large pages of {found.large} bytes, which is no power of two", out.path)
    for event, total, counts in zip(out.events, out.totals, zip(*_all(out, found))):
        if sum(counts) != total:
            raise ReportError(f"the mappings hold {sum(counts)} {event}, the whole run {total}", out.path)
    return found


def _all(out: OutFile, found: Mappings) -> Iterator[Counts]:
    yield (0,) * len(out.events)
    for row in found.rows:
        yield from row.costs.values()


def _number(out: OutFile, key: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,20}", text):
        raise ReportError(f"'desc: {key}: {text[:40]}' is not a number", out.path)
    return int(text)


def _row(out: OutFile, text: str) -> Mapping:
    parts = _ROW.match(text)
    if parts is None:
        raise ReportError(f"'desc: Mapping: {text[:60]}' is not a mapping", out.path)
    start, end, first, behind = (int(parts[number], 16) for number in (1, 2, 4, 5))
    pairs = (pair.split("x") for pair in parts[6].split(","))
    pages = tuple((int(size), int(count)) for size, count in pairs)
    if end < start or behind < first:
        raise ReportError(f"'desc: Mapping: {text[:60]}' ends before it begins", out.path)
    return Mapping(start, end, parts[3], first, behind, pages, parts[7], parts[8] or "")


def _add(out: OutFile, found: Mappings, key: str, text: str) -> None:
    words = text.split()
    if not found.rows or key[8:] in found.rows[-1].costs or len(words) != len(out.events):
        raise ReportError(f"'desc: {key}: {text[:60]}' is not the costs of a mapping", out.path)
    found.rows[-1].costs[key[8:]] = tuple(_number(out, key, word) for word in words)
