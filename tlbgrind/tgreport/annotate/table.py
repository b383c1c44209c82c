# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lays out counts as a table of text with one column for each event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..base.errors import printable
from ..base.names import cut
from ..base.terminal import LEAST_ROOM, Screen, change, weight
from ..base.text import percentage
from ..formats.outfile import Counts
from .events import Event, TimeShare
from .profile import Profile
from .selection import Selection

TIME = "time"  # the column's heading


class Row(NamedTuple):
    """Without counts it is a line that has no cost: it shows a dot in each column."""

    counts: Counts | None
    label: str
    before: str = ""  # stands before the label
    is_name: bool = False  # may be shortened to the screen


class Style(NamedTuple):
    """What all tables of a report have in common."""

    screen: Screen
    show_percs: bool = True


class _Column(NamedTuple):
    heading: str
    width: int
    cells: list[str]


def _width(columns: Sequence[_Column]) -> int:
    """Of all columns, each with the gap behind it."""
    return sum(2 + column.width for column in columns)


def _value(event: Event, counts: Counts | None) -> int | None:
    """None if the row has no such count: what stands behind the events may be missing."""
    return None if counts is None or event.parts[-1] >= len(counts) else event.of(counts)


def share_of(value: int, base: int) -> str:
    """A percentage. One above 100, of another file's total or of recursive calls, says nothing, and
    is left out."""
    return "" if abs(value) > base else percentage(value, base)


class Table:
    """Rows of the same events, laid out together so that the columns fit them all.

    The labels stand last, so that their length disturbs nothing.
    """

    def __init__(
        self, profile: Profile, selection: Selection, style: Style, base: Counts | None = None
    ) -> None:
        """`base` is what percentages are of, where it is not the program."""
        self._events = selection.shown
        self._primary = selection.primary
        self._time = selection.time
        self._base = profile.base if base is None else base
        self._diff = profile.diff
        self._style = style

    def lines(self, rows: Sequence[Row], heading: str) -> list[str]:
        screen = self._style.screen
        names = list(dict.fromkeys(row.label for row in rows if row.is_name))
        before = max((len(row.before) for row in rows if row.is_name), default=0)
        columns = self._columns(rows, self._events)
        if names and not screen.wide and _width(columns) + before + LEAST_ROOM > screen.width:
            # Where there is no room, percentages stand beside the first sort event only.
            columns = self._columns(rows, [self._primary])
        used = _width(columns) + before
        short = dict(zip(names, screen.labels(names, used)))
        if names and not screen.wide:
            heading = cut(heading, max(LEAST_ROOM, screen.width - used) + before)
        head = "  ".join([*(name for name, _, _ in columns), heading])
        texts = [
            printable(row.before + (short[row.label] if row.is_name else row.label)) for row in rows
        ]
        cells = zip(*(column for _, _, column in columns), texts)
        return [screen.heading(head.rstrip()), *("  ".join(row).rstrip() for row in cells)]

    def _columns(self, rows: Sequence[Row], with_percs: Sequence[Event | None]) -> list[_Column]:
        columns = [] if self._time is None else [self._column_of_time(self._time, rows)]
        columns += [
            self._column(event, rows, self._style.show_percs and event in with_percs)
            for event in self._events
        ]
        return columns

    def _column_of_time(self, time: TimeShare, rows: Sequence[Row]) -> _Column:
        cells = []
        for row in rows:
            value = _value(time.cycles, row.counts)
            share = "." if value is None else f"{float(100 * value / time.share.cycles):.1f}%"
            cells.append(share if value != 0 else "")
        width = max(map(len, (TIME, *cells)))
        return _Column(TIME.rjust(width), width, [cell.rjust(width) for cell in cells])

    def _column(self, event: Event, rows: Sequence[Row], percs: bool) -> _Column:
        values = [_value(event, row.counts) for row in rows]
        base = event.of(self._base)
        # Most of the lines of a source have no cost or a small one, so few cells are different.
        cells = {value: self._cell(value, base, percs) for value in set(values)}
        number_width = max((len(number) for number, _ in cells.values()), default=0)
        perc_width = max((len(perc) for _, perc in cells.values()), default=0)
        width = max(number_width + perc_width, len(event.name))
        texts = {
            value: f"{number:>{number_width}}{perc:>{perc_width}}".rjust(width)
            for value, (number, perc) in cells.items()
        }
        if event == self._primary:
            texts = {value: self._coloured(text, value, base) for value, text in texts.items()}
        return _Column(event.name.rjust(width), width, list(map(texts.__getitem__, values)))

    def _cell(self, value: int | None, base: int, percs: bool) -> tuple[str, str]:
        if value is None:
            return ".", ""
        share = share_of(value, base) if percs else ""
        return f"{value:,}", f" ({share})" if share else ""

    def _coloured(self, text: str, value: int | None, base: int) -> str:
        if not value:
            return text
        colour = change(value) if self._diff else weight(value / base if base else 0)
        return self._style.screen.paint(text, colour)
