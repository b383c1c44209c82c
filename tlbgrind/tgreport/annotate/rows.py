# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes the tables: which rows, in which order, and what is below the threshold.

A table is data here: names and exact counts. listing.py prints it as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Callable, NamedTuple, Union

from ..base.errors import ReportError
from ..formats.outfile import Counts, Function
from .profile import Profile, plus
from .selection import Selection

# What identifies a row, one for each field of its table. A line's number is 0 where it is unknown.
Names = tuple[Union[str, int], ...]
Sums = Iterable[tuple[Names, Counts]]


class Row(NamedTuple):
    names: Names
    counts: Counts
    parts: Rows | None = None  # in a table of two levels; they add up to `counts`


@dataclass
class Rows:
    """The rows above the threshold, largest first, and the sum of all others."""

    fields: tuple[str, ...]
    one: str  # what a row is
    many: str
    rows: list[Row]
    omitted: int  # how many rows are below the threshold
    rest: Counts | None  # what they add up to; None: rows have parts in common

    def sum(self) -> Counts:
        total = self.rest or ()
        for row in self.rows:
            total = plus(total, row.counts)
        return total


class Level(NamedTuple):
    fields: tuple[str, ...]
    one: str
    many: str


_FUNCTION = Level(("file", "function", "object"), "function", "functions")
_FILE = Level(("file",), "file", "files")
_OBJECT = Level(("object",), "object", "objects")
_DATA = Level(("data",), "object of data", "objects of data")
_OFFSET = Level(("offset",), "offset", "offsets")
_LINE = Level(("file", "line"), "line", "lines")


class View(NamedTuple):
    """A table that can be asked for. The names of a row are those of its levels in a row."""

    levels: tuple[Level, ...]
    sums: Callable[[Profile], Sums]
    adds_up: bool = True  # no: rows have parts in common


def _function(function: Function) -> Names:
    return function.file, function.name, function.object


def _by_function(profile: Profile) -> Sums:
    return ((_function(function), counts) for function, counts in profile.functions().items())


def _by_file(profile: Profile) -> Sums:
    return (((file,), counts) for file, counts in profile.source_files().items())


def _by_object(profile: Profile) -> Sums:
    return (((name,), counts) for name, counts in profile.objects().items())


def _by_data(profile: Profile) -> Sums:
    return (((label,), counts) for label, counts in profile.data().items())


def _by_data_and_offset(profile: Profile) -> Sums:
    return profile.offsets().items()


def _by_line(profile: Profile) -> Sums:
    for file, lines in profile.lines().items():
        for line, counts in lines.items():
            yield (file, line), counts


def _by_line_inclusive(profile: Profile) -> Sums:
    return profile.lines_inclusive().items()


def _by_file_and_function(profile: Profile) -> Sums:
    for (function, file), counts in profile.functions_by_file().items():
        yield (file, *_function(function)), counts


def _by_function_and_file(profile: Profile) -> Sums:
    for (function, file), counts in profile.functions_by_file().items():
        yield (*_function(function), file), counts


LINE_INCLUSIVE = "line:inclusive"
VIEWS = {
    "function": View((_FUNCTION,), _by_function),
    "file": View((_FILE,), _by_file),
    "object": View((_OBJECT,), _by_object),
    "data": View((_DATA,), _by_data),
    "data:offset": View((_DATA, _OFFSET), _by_data_and_offset),
    "line": View((_LINE,), _by_line),
    LINE_INCLUSIVE: View((_LINE,), _by_line_inclusive, adds_up=False),
    "file:function": View((_FILE, _FUNCTION), _by_file_and_function),
    "function:file": View((_FUNCTION, _FILE), _by_function_and_file),
}


def compute(profile: Profile, selection: Selection, by: str) -> Rows:
    """One table, which adds up to the totals of the program, unless its rows have parts in common."""
    view = VIEWS[by]
    table = _rows(profile, selection, view.sums(profile), view.levels)
    if not view.adds_up:
        return replace(table, rest=None)
    check_sum(profile, [table.sum()], f"the table by {by}")
    return table


def _rows(profile: Profile, selection: Selection, sums: Sums, levels: tuple[Level, ...]) -> Rows:
    level, *below = levels
    parts: dict[Names, list[tuple[Names, Counts]]] = {}
    if below:
        end = len(level.fields)
        outer: dict[Names, Counts] = {}
        for names, counts in sums:
            key = names[:end]
            parts.setdefault(key, []).append((names[end:], counts))
            outer[key] = plus(outer.get(key, profile.zero), counts)
        sums = outer.items()
    # Sorted after the choice: of a hundred thousand lines, a few dozen matter.
    kept: list[tuple[Names, Counts]] = []
    rest = profile.zero
    omitted = 0
    for names, counts in sums:
        if selection.matters(counts):
            kept.append((names, counts))
        else:
            rest = plus(rest, counts)
            omitted += 1
    kept.sort(key=lambda item: (selection.rank(item[1]), item[0]))
    rows = [
        Row(names, counts, _rows(profile, selection, parts[names], tuple(below)) if below else None)
        for names, counts in kept
    ]
    return Rows(level.fields, level.one, level.many, rows, omitted, rest)


def check_sum(profile: Profile, parts: Iterable[Counts], what: str) -> None:
    """Whatever is printed adds up to the program's totals, or nothing is printed."""
    total = profile.zero
    for counts in parts:
        total = plus(total, counts)
    if total != profile.totals:
        raise ReportError(f"internal error: {what} adds up to {total}, not to {profile.totals}")
