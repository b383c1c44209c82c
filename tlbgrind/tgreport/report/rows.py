# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds what the tables of a page are made of: strings and columns of counts, each kept once."""

from __future__ import annotations

import heapq
import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Union

Count = Union[int, str]
# Of one table: more is slow to load, and a page of the smallest rows answers no question.
MOST_ROWS = 100_000
# Of lines, of which each has a text, too.
MOST_LINES = 20_000
# JavaScript's numbers are exact up to here; greater ones are passed on as text.
_EXACT = 2**53 - 1


def count(value: int) -> Count:
    return value if value <= _EXACT else str(value)


class Shared:
    """Strings and columns, which the tables name by their numbers."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self._columns: dict[bytes, int] = {}
        self._large: dict[int, list[Count]] = {}  # columns with counts that are no 64 bits

    def text(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def texts(self, texts: Iterable[str]) -> list[int]:
        strings = self.strings
        return [strings.setdefault(text, len(strings)) for text in texts]

    def column(self, values: Sequence[int]) -> int:
        """Machines of one run share the counts of references."""
        number = len(self._columns)
        try:
            key = (values if isinstance(values, array) else array("Q", values)).tobytes()
        except OverflowError:
            self._large[number] = list(map(count, values))
            key = f"large {number}".encode()
        return self._columns.setdefault(key, number)

    def columns(self) -> Iterator[str]:
        """Each as JSON."""
        for number, key in enumerate(self._columns):
            values: Sequence[Count] | None = self._large.get(number)
            if values is None:
                column = array("Q", key)
                has_text = bool(column) and max(column) > _EXACT
                values = list(map(count, column)) if has_text else column.tolist()
            yield json.dumps(values, separators=(",", ":"), check_circular=False)


def kept(weights: Sequence[int], most: int = MOST_ROWS) -> list[int]:
    """The places of the rows that are shown: all, or those of most weight."""
    places = range(len(weights))
    if len(weights) <= most:
        return list(places)
    return heapq.nlargest(most, places, key=lambda place: (weights[place], -place))
