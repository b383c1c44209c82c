# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Sets several out-files beside each other: one column for each run or machine.

The result is data, which beside.py prints as text and export.py as CSV or JSON.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple, Optional

from ..base.closest import did_you_mean
from ..base.errors import ReportError
from ..formats.outfile import Counts, OutFile
from ..formats.share import CYCLES, share_of
from .events import Event, Events
from .facts import rates
from .profile import Profile, Renamer
from .rows import VIEWS, Names
from .selection import ALL

# The counts of one event in all columns, None in a column that does not have the event.
Across = tuple[Optional[int], ...]


class Row(NamedTuple):
    names: Names
    counts: tuple[Across, ...]  # one for each event shown


@dataclass
class Compared:
    """One table: the rows that matter in any column, and the sum of all others."""

    by: str
    fields: tuple[str, ...]
    one: str
    many: str
    rows: list[Row]
    omitted: int
    rest: tuple[Across, ...]


class Column:
    """One out-file."""

    def __init__(self, label: str, profile: Profile) -> None:
        self.label = label
        self.profile = profile
        self.out = profile.files[0]
        self.events = Events(profile).by_name
        self.share = share_of([self.out])

    def count(self, event: str, counts: Counts) -> int | None:
        return self.events[event].of(counts) if event in self.events else None


class Comparison:
    def __init__(
        self,
        files: Sequence[OutFile],
        rename_file: Renamer,
        rename_function: Renamer,
        show: Sequence[str],
        sort: Sequence[str],
        threshold: Fraction,
    ) -> None:
        self.columns = [
            Column(label, Profile([out], False, rename_file, rename_function))
            for label, out in zip(labels(files), files)
        ]
        self.events: dict[str, Event] = {}
        for column in self.columns:
            for name, event in column.events.items():
                self.events.setdefault(name, event)
        keys = self._chosen("--sort", sort) or self._usual_sort()
        self.primary = next(filter(self._happened, keys), keys[0])
        self.shown = list(self.events) if list(show) == [ALL] else self._chosen("--show", show)
        self.shown = self.shown or [self.primary]
        self.threshold = threshold
        self._least = [
            max(1, ceil(threshold * (count or 0) / 100)) for count in self.totals(self.primary)
        ]
        self.leaves_out_nothing = threshold == 0  # but what has no counts at all

    def _chosen(self, option: str, names: Sequence[str]) -> list[str]:
        for name in names:
            if name not in self.events:
                there_are = ", ".join(self.events)
                closest = did_you_mean(name, self.events)
                raise ReportError(
                    f"argument {option}: no event '{name}'; there are {there_are}{closest}"
                )
        return list(dict.fromkeys(names))

    def _usual_sort(self) -> list[str]:
        """That of the first file that has page walks, or of the first; cycles only if all have them."""
        with_walks = [column for column in self.columns if "walks" in column.events]
        first = (with_walks or self.columns)[0]
        usual = [event.name for event in Events(first.profile).default_sort()]
        if all(CYCLES in column.events for column in self.columns):
            return usual
        return [name for name in usual if name != CYCLES] or usual

    def said(self, event: str) -> str:
        return self.events[event].said()

    def _happened(self, event: str) -> bool:
        return any(self.totals(event))

    def totals(self, event: str) -> Across:
        return tuple(column.count(event, column.profile.totals) for column in self.columns)

    def has_time(self, event: str) -> bool:
        """Whether its counts are shares of the time, which every column has."""
        return event == CYCLES and all(column.share is not None for column in self.columns)

    def per_instruction(self, event: str) -> tuple[Fraction | None, ...]:
        """How often an event happened in proportion to instructions, where that makes sense."""
        found = []
        for column in self.columns:
            here = [column.events[event]] if event in column.events else []
            rate = rates(column.profile, here)
            found.append(rate[0].per_instruction if rate else None)
        return tuple(found)

    def table(self, by: str) -> Compared:
        view = VIEWS[by]
        outer, *inner = view.levels
        fields = (*outer.fields, *(f"part_{field}" for level in inner for field in level.fields))
        kept, omitted = self._by_line() if by == "line" else self._by_key(by)
        rows = [
            Row(names, tuple(self._across(event, counts) for event in self.shown))
            for names, counts in kept.items()
        ]
        ranks = {names: self._rank(counts) for names, counts in kept.items()}
        rows.sort(key=lambda row: (-ranks[row.names], row.names))
        rest = tuple(
            _minus(self.totals(event), (row.counts[place] for row in rows))
            for place, event in enumerate(self.shown)
        )
        one, many = ("row", "rows") if inner else (outer.one, outer.many)
        return Compared(by, fields, one, many, rows, omitted, rest)

    def _across(self, event: str, counts: Sequence[Counts]) -> Across:
        return tuple(column.count(event, some) for column, some in zip(self.columns, counts))

    def _rank(self, counts: Sequence[Counts]) -> int:
        """What a row is sorted by: the most in any column."""
        return max(count or 0 for count in self._across(self.primary, counts))

    def _by_key(self, by: str) -> tuple[dict[Names, list[Counts]], int]:
        """What matters in any column, and how many others there are."""
        tables = [dict(VIEWS[by].sums(column.profile)) for column in self.columns]
        kept: dict[Names, list[Counts]] = {}
        names: dict[Names, None] = {}
        for number, (column, table) in enumerate(zip(self.columns, tables)):
            names.update(dict.fromkeys(table))
            event = column.events.get(self.primary)
            for name, counts in table.items():
                matters = event is not None and event.of(counts) >= self._least[number]
                if matters or self.leaves_out_nothing and any(counts):
                    kept[name] = []
        for name in kept:
            kept[name] = [
                table.get(name, column.profile.zero) for column, table in zip(self.columns, tables)
            ]
        return kept, len(names) - len(kept)

    def _by_line(self) -> tuple[dict[Names, list[Counts]], int]:
        """The same of lines, source file by source file: of a million lines a few matter, so only
        the counts of these are taken apart."""
        kept: dict[Names, list[Counts]] = {}
        lines = 0
        files = [column.profile.source_files() for column in self.columns]
        for file in dict.fromkeys(file for column in files for file in column):
            here: set[int] = set()
            wanted: set[int] = set()
            for column, sums, least in zip(self.columns, files, self._least):
                event = column.events.get(self.primary)
                if self.leaves_out_nothing:
                    table = column.profile.lines([file])[file]
                    here.update(table)
                    wanted.update(line for line, counts in table.items() if any(counts))
                    continue
                if event is None or event.of(sums.get(file, column.profile.zero)) < least:
                    # No line has more than its file.
                    here |= column.profile.line_numbers(file)
                    continue
                values = column.profile.line_sums(file, event.parts)
                here.update(values)
                wanted.update(line for line, value in values.items() if value >= least)
            lines += len(here)
            if wanted:
                found = [column.profile.lines([file])[file] for column in self.columns]
                for line in wanted:
                    kept[file, line] = [
                        table.get(line, column.profile.zero)
                        for column, table in zip(self.columns, found)
                    ]
        return kept, lines - len(kept)


def _minus(totals: Across, rows: Iterable[Across]) -> Across:
    sums = [sum(count or 0 for count in column) for column in zip(*rows)] or [0] * len(totals)
    return tuple(None if total is None else total - some for total, some in zip(totals, sums))


def labels(files: Sequence[OutFile]) -> list[str]:
    """Names of the columns: the machines if all differ, else what the files' names differ in."""
    machines = [dict(out.descriptions).get("Machine", "") for out in files]
    if all(machines) and len(set(machines)) == len(files):
        return machines
    names = [os.path.basename(out.path) for out in files]
    if len(set(names)) < len(files):
        names = [out.path for out in files]
    if len(set(names)) < len(files):
        names = [f"{name}#{number}" for number, name in enumerate(names, 1)]
    return names
