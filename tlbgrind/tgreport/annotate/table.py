# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lays out counts as a table of text with one column for each event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from ..base.errors import printable
from ..base.text import percentage
from ..formats.outfile import Counts
from .events import Event

# A row's counts, or None for a line that has none, and its label.
Row = tuple[Optional[Counts], str]


class Table:
    """Rows of the same events, laid out together so that the columns fit them all.

    Rows whose counts are None are lines without cost: they show a dot. The labels stand last, so
    that their length disturbs nothing.
    """

    def __init__(self, events: Sequence[Event], base: Counts, show_percs: bool) -> None:
        self._events = events
        self._base = base
        self._show_percs = show_percs

    def lines(self, rows: Sequence[Row], heading: str) -> list[str]:
        columns = [self._column(event, rows) for event in self._events]
        labels = [heading, *(label for _, label in rows)]
        return [
            printable("  ".join((*cells, label)).rstrip())
            for *cells, label in zip(*columns, labels)
        ]

    def _column(self, event: Event, rows: Sequence[Row]) -> list[str]:
        values = [None if counts is None else event.of(counts) for counts, _ in rows]
        base = event.of(self._base) if self._show_percs else 0
        # Most of the lines of a source have no cost or a small one, so few cells are different.
        cells = {value: self._cell(value, base) for value in set(values)}
        number_width = max((len(number) for number, _ in cells.values()), default=0)
        perc_width = max((len(perc) for _, perc in cells.values()), default=0)
        width = max(number_width + perc_width, len(event.name))
        texts = {
            value: f"{number:>{number_width}}{perc:>{perc_width}}".rjust(width)
            for value, (number, perc) in cells.items()
        }
        return [event.name.rjust(width), *map(texts.__getitem__, values)]

    @staticmethod
    def _cell(value: int | None, base: int) -> tuple[str, str]:
        if value is None:
            return ".", ""
        share = percentage(value, base)
        return f"{value:,}", f" ({share})" if share else ""
