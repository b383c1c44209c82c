"""Counts as text: aligned columns, thousands separators, percentages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from .errors import printable
from .events import Event
from .outfile import Counts

RULE = "-" * 80

# A row's counts, or None for a line that has none, and its label.
Row = tuple[Optional[Counts], str]


def title(text: str) -> list[str]:
    return [RULE, f"-- {printable(text)}", RULE]


def percentage(value: int, base: int) -> str:
    return f"{100 * value / base:.1f}%" if value and base else ""


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
        numbers = ["." if value is None else f"{value:,}" for value in values]
        number_width = max(map(len, numbers), default=0)
        percs = [""] * len(numbers)
        if self._show_percs:
            base = event.of(self._base)
            percs = [percentage(value or 0, base) for value in values]
            percs = [f" ({perc})" if perc else "" for perc in percs]
        perc_width = max(map(len, percs), default=0)
        width = max(number_width + perc_width, len(event.name))
        cells = [
            f"{number:>{number_width}}{perc:>{perc_width}}".rjust(width)
            for number, perc in zip(numbers, percs)
        ]
        return [event.name.rjust(width), *cells]
