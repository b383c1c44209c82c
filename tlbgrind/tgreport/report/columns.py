# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds the costs of an out-file in columns, and sums them by function, file, object and line.

Machines of one run have most lines in common, and all counts of references: what is equal in the
file before is kept and summed once.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import add, itemgetter
from typing import Callable, NamedTuple, Union

from ..formats.outfile import Function, OutFile

Key = tuple[Union[str, int], ...]
Column = Sequence[int]


class Sums(NamedTuple):
    """The rows of a table by their keys, and a column for each event."""

    keys: Sequence[Key]
    columns: Sequence[Column]


def packed(values: Sequence[int]) -> Column:
    """In a quarter of the memory, unless a sum is beyond 64 bits."""
    try:
        return array("Q", values)
    except OverflowError:
        return list(values)


class Layout:
    """Which function and file each run of lines is of, and the number of each line."""

    def __init__(self, runs: list[tuple[Function, str]], ends: list[int], lines: array[int]) -> None:
        self.runs, self.ends, self.lines = runs, ends, lines
        self.done: dict[tuple[str, int], Column] = {}  # by kind of sum and identity of the column
        self._groups: dict[str, tuple[list[Key], list[int]]] = {}
        self._rows: tuple[list[Key], list[int]] | None = None
        self._picked: tuple[list[int], list[int]] | None = None

    def groups(self, kind: str, key: Callable[[Function, str], Key]) -> tuple[list[Key], list[int]]:
        """The keys, and the number of each run's key."""
        if kind not in self._groups:
            numbers: dict[Key, int] = {}
            groups = [numbers.setdefault(key(*run), len(numbers)) for run in self.runs]
            self._groups[kind] = list(numbers), groups
        return self._groups[kind]

    def rows(self) -> tuple[list[Key], list[int]]:
        """All lines of source, and the number of each row's: inlined code has rows of one line in
        several functions."""
        if self._rows is None:
            numbers: dict[tuple[str, int], int] = {}
            groups = []
            begin = 0
            for (_, file), end in zip(self.runs, self.ends):
                for line in self.lines[begin:end]:
                    groups.append(numbers.setdefault((file, line), len(numbers)))
                begin = end
            self._rows = list(numbers), groups
        return self._rows


    def sums_of_lines(self, weights: Column) -> dict[Key, int]:
        """Of weights of each row."""
        keys, groups = self.rows()
        sums = [0] * len(keys)
        for group, weight in zip(groups, weights):
            sums[group] += weight
        return dict(zip(keys, sums))

    def picked(self, chosen: dict[Key, int]) -> tuple[list[int], list[int]]:
        """The rows of these lines, and the place of each; a page chooses once."""
        if self._picked is None:
            keys, groups = self.rows()
            places = [chosen.get(key, -1) for key in keys]
            rows = [row for row, group in enumerate(groups) if places[group] >= 0]
            self._picked = rows, [places[groups[row]] for row in rows]
        return self._picked

    def functions_of_lines(self, chosen: dict[Key, int], weights: Column) -> list[dict[str, int]]:
        """What each of these lines weighs in each function that has code of it."""
        found: list[dict[str, int]] = [{} for _ in chosen]
        run = 0
        for row, place in zip(*self.picked(chosen)):
            while row >= self.ends[run]:
                run += 1
            name = self.runs[run][0].name
            found[place][name] = found[place].get(name, 0) + weights[row]
        return found


class Columns:
    """An out-file's costs. They are taken out of it, unless its calls will need them."""

    def __init__(self, out: OutFile, like: Columns | None = None) -> None:
        width = 1 + len(out.events)
        whole = array("Q")
        ends = []
        for run in out.runs.values():
            whole.extend(run.rows)
            ends.append(len(whole) // width)
        runs = list(out.runs)
        if not out.arcs:
            out.runs.clear()
        lines = whole[::width]
        known: Layout | None = None if like is None else like.layout
        is_same = known is not None and (known.ends, known.runs, known.lines) == (ends, runs, lines)
        self.layout: Layout = known if known is not None and is_same else Layout(runs, ends, lines)
        self.events = out.events
        self.columns: list[array[int]] = []
        for place, event in enumerate(out.events, 1):
            column = whole[place::width]
            if is_same and like is not None and event in like.events:
                other = like.columns[like.events.index(event)]
                column = other if other == column else column
            self.columns.append(column)

    def _of_runs(self, column: array[int]) -> Column:
        def sums(column: array[int]) -> list[int]:
            ends = self.layout.ends
            if not any(column):
                return [0] * len(ends)
            return [sum(column[begin:end]) for begin, end in zip((0, *ends), ends)]

        return self._once("run", column, sums)

    def _once(self, kind: str, column: array[int], make: Callable[[array[int]], list[int]]) -> Column:
        done = self.layout.done
        key = kind, id(column)
        if key not in done:
            done[key] = packed(make(column))
        return done[key]

    def _sums(self, kind: str, key: Callable[[Function, str], Key]) -> Sums:
        keys, groups = self.layout.groups(kind, key)
        if len(keys) == len(groups):
            return Sums(keys, [self._of_runs(column) for column in self.columns])

        def by_key(column: array[int]) -> list[int]:
            sums = [0] * len(keys)
            for group, count in zip(groups, self._of_runs(column)):
                sums[group] += count
            return sums

        return Sums(keys, [self._once(kind, column, by_key) for column in self.columns])

    def functions(self) -> Sums:
        return self._sums("function", lambda f, _: (f.name, f.file, f.object))

    def files(self) -> Sums:
        return self._sums("file", lambda _, file: (file,))

    def objects(self) -> Sums:
        return self._sums("object", lambda f, _: (f.object,))

    def weights(self, parts: Sequence[int]) -> Column:
        """Of each row of the file."""
        columns = [self.columns[part] for part in parts]
        first: Column = columns[0] if columns else [0] * len(self.layout.lines)
        for column in columns[1:]:
            first = added(first, column)
        return first

    def lines(self, chosen: dict[Key, int]) -> list[Column]:
        """The counts of these lines, which have a place each."""
        rows, places = self.layout.picked(chosen)
        take = itemgetter(*rows) if len(rows) > 1 else None

        def sums(column: array[int]) -> list[int]:
            found = [0] * len(chosen)
            counts = take(column) if take else [column[row] for row in rows]
            for place, count in zip(places, counts):
                found[place] += count
            return found

        return [self._once("line", column, sums) for column in self.columns]


def added(one: Column, other: Column) -> list[int]:
    return list(map(add, one, other))


def of_rows(rows: dict[Key, tuple[int, ...]], width: int) -> Sums:
    columns = list(zip(*rows.values())) or [()] * width
    return Sums(list(rows), columns)
