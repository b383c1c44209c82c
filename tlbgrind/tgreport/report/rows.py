# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds what the tables of a page are made of: strings and columns of counts, each kept once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Union

Count = Union[int, str]
# Of one table: more is slow to load, and a page of the smallest rows answers no question.
MOST_ROWS = 100_000
# JavaScript's numbers are exact up to here; greater ones are passed on as text.
_EXACT = 2**53 - 1


def count(value: int) -> Count:
    return value if value <= _EXACT else str(value)


class Shared:
    """Strings and columns, which the tables name by their numbers."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self._columns: dict[tuple[int, ...], int] = {}

    def text(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def texts(self, texts: Iterable[str]) -> list[int]:
        return [self.text(text) for text in texts]

    def column(self, values: Sequence[int]) -> int:
        """Machines of one run share the counts of references."""
        return self._columns.setdefault(tuple(values), len(self._columns))

    def columns(self) -> list[list[Count]]:
        return [[count(value) for value in column] for column in self._columns]


def kept(weights: Sequence[int]) -> list[int]:
    """The places of the rows that are shown: all, or those of most weight."""
    places = range(len(weights))
    if len(weights) <= MOST_ROWS:
        return list(places)
    return sorted(places, key=lambda place: -weights[place])[:MOST_ROWS]
