# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Merges or subtracts out-files, and sums their counts in every way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from operator import add, sub
from typing import Callable

from ..base.errors import ReportError
from ..formats.outfile import (
    UNKNOWN,
    Arc,
    Arcs,
    Counts,
    Function,
    Key,
    OutFile,
    Place,
    Run,
    add_arc,
    sums_of,
)

Renamer = Callable[[str], str]
Adder = Callable[[int, int], int]


def plus(counts: Counts, more: Counts, operation: Adder = add) -> Counts:
    return tuple(map(operation, counts, more))


def _of_known(rename: Renamer) -> Renamer:
    """What has no name gets none."""
    return lambda name: name if name == UNKNOWN else rename(name)


class Profile:
    """All out-files added up, or, for a difference, the second minus the first."""

    def __init__(
        self, files: Sequence[OutFile], diff: bool, rename_file: Renamer, rename_function: Renamer
    ) -> None:
        first = files[0]
        rename_file = _of_known(rename_file)
        self.files = files
        self.diff = diff
        self.events = first.events
        self.long_names: dict[str, str] = {}
        self.zero: Counts = (0,) * len(first.events)
        self.totals = self.zero
        # What percentages are percentages of, and what a share must be large of to matter: where
        # one file of two has no misses at all, those of the other are still worth showing.
        self.base = first.totals
        self.wholes: list[Counts] = [out.totals for out in files]
        self._runs: list[tuple[Function, str, Adder, Run]] = []
        self._places: dict[tuple[Function, str], Counts] = {}
        self._renamed: dict[Function, Function] = {}  # most functions are in every file
        self._rename_file = rename_file
        self._rename_function = rename_function
        self._by_file: dict[str, list[tuple[Adder, Run]]] = {}
        for out in files:
            if out.events != self.events:
                raise ReportError(
                    f"events '{' '.join(out.events)}', but '{' '.join(self.events)}' in "
                    f"{first.path}: files of different events cannot be taken together",
                    out.path,
                    out.events_line,
                )
            operation = self._operation(out)
            self.totals = plus(self.totals, out.totals, operation)
            self.long_names.update(out.long_names)
            for (function, file), run in out.runs.items():
                known = self._renamed.get(function) or self._named(function)
                self._runs.append((known, rename_file(file), operation, run))
        if not diff:
            self.base = self.totals
            self.wholes = [self.totals]

    def _named(self, function: Function) -> Function:
        known = self._renamed[function] = Function(
            self._rename_file(function.object),
            self._rename_file(function.file),
            self._rename_function(function.name),
        )
        return known

    def arcs(self) -> Arcs:
        """The calls of all files added up."""
        sums: Arcs = {}
        for out in self.files:
            for (caller, callee), arc in out.arcs.items():
                ends = (
                    self._renamed.get(caller) or self._named(caller),
                    self._renamed.get(callee) or self._named(callee),
                )
                add_arc(sums, ends, arc)
        return sums

    def _sums(self, key: Callable[[Function, str], Key]) -> dict[Key, Counts]:
        sums: dict[Key, Counts] = {}
        for (function, file), counts in self.functions_by_file().items():
            place = key(function, file)
            before = sums.get(place)
            sums[place] = counts if before is None else plus(before, counts)
        return sums

    def functions_by_file(self) -> dict[tuple[Function, str], Counts]:
        """What each function costs in each source file: inlined code is written in another one.

        All other sums are made of these, of which many files have hardly more than one.
        """
        sums = self._places
        if not sums:
            runs: dict[tuple[Function, str], list[Run]] = {}
            for function, file, operation, run in self._runs:
                place = (function, file)
                if operation is add:
                    runs.setdefault(place, []).append(run)
                else:
                    sums[place] = plus(sums.get(place, self.zero), run.sums, operation)
            for place, those in runs.items():
                added = those[0].sums if len(those) == 1 else sums_of(those, 1 + len(self.events))
                sums[place] = plus(sums[place], added) if place in sums else added
        return sums

    def functions(self) -> dict[Function, Counts]:
        return self._sums(lambda function, _: function)

    def functions_by(self, part: int) -> dict[Function, int]:
        """One count of each: much faster than all of them, if these are not needed either."""
        sums: dict[Function, int] = {}
        if self._places:
            for (function, _), counts in self._places.items():
                sums[function] = sums.get(function, 0) + counts[part]
            return sums
        width = 1 + len(self.events)
        for function, _, operation, run in self._runs:
            sums[function] = operation(sums.get(function, 0), sum(run.rows[1 + part :: width]))
        return sums

    def source_files(self) -> dict[str, Counts]:
        return self._sums(lambda _, file: file)

    def objects(self) -> dict[str, Counts]:
        return self._sums(lambda function, _: function.object)

    def data(self) -> dict[str, Counts]:
        sums: dict[str, Counts] = {}
        for out in self.files:
            operation = self._operation(out)
            for label, counts in out.data.items():
                sums[label] = plus(sums.get(label, self.zero), counts, operation)
        return sums

    def runs(self) -> Iterator[tuple[Function, str, Run]]:
        """The cost lines of each function in each source file, of each file."""
        for function, file, _, run in self._runs:
            yield function, file, run

    def offsets(self) -> dict[tuple[str, str], Counts]:
        sums: dict[tuple[str, str], Counts] = {}
        for out in self.files:
            operation = self._operation(out)
            for place, counts in out.offsets.items():
                sums[place] = plus(sums.get(place, self.zero), counts, operation)
        return sums

    def lines(self, only: Iterable[str] | None = None) -> dict[str, dict[int, Counts]]:
        """The counts of every line of every source file, or of some files only."""
        width = 1 + len(self.events)
        runs = self.runs_by_file()
        files: dict[str, dict[int, Counts]] = {}
        for file in runs if only is None else only:
            lines = files.setdefault(file, {})
            for operation, run in runs.get(file, ()):
                for row in zip(*[iter(run.rows)] * width):
                    line, counts = row[0], row[1:]
                    if operation is sub or line in lines:
                        counts = plus(lines.get(line, self.zero), counts, operation)
                    lines[line] = counts
        return files

    def lines_inclusive(self) -> dict[Place, Counts]:
        """What each line costs with all that is inlined and called there, of files read by address.
        An instruction counts at each level of what is inlined into what."""
        sums = {
            (file, line): counts
            for file, lines in self.lines().items()
            for line, counts in lines.items()
        }
        for out in self.files:
            operation = self._operation(out)
            for (file, line), counts in out.within.items():
                place = (self._rename_file(file), line)
                sums[place] = plus(sums.get(place, self.zero), counts, operation)
        return sums

    def callees_by_line(self) -> dict[Place, dict[Function, Arc]]:
        """What is inlined and called at a line."""
        sums: dict[Place, dict[Function, Arc]] = {}
        for places in self.calls_by_line().values():
            for place, callees in places.items():
                here = sums.setdefault(place, {})
                for callee, arc in callees.items():
                    add_arc(here, callee, arc)
        return sums

    def lines_of_functions(self) -> dict[Function, dict[Place, Counts]]:
        width = 1 + len(self.events)
        sums: dict[Function, dict[Place, Counts]] = {}
        for function, file, operation, run in self._runs:
            here = sums.setdefault(function, {})
            for row in zip(*[iter(run.rows)] * width):
                place = (file, row[0])
                here[place] = plus(here.get(place, self.zero), row[1:], operation)
        return sums

    def calls_by_line(self) -> dict[Function, dict[Place, dict[Function, Arc]]]:
        """What functions call, and what was inlined into them, of files read by address."""
        sums: dict[Function, dict[Place, dict[Function, Arc]]] = {}
        for out in self.files:
            inlined = (
                (at, {callee: Arc(0, counts) for callee, counts in callees.items()})
                for at, callees in out.inlined.items()
            )
            for (caller, (file, line)), callees in chain(out.from_lines.items(), inlined):
                places = sums.setdefault(self._renamed.get(caller) or self._named(caller), {})
                here = places.setdefault((self._rename_file(file), line), {})
                for callee, arc in callees.items():
                    add_arc(here, self._renamed.get(callee) or self._named(callee), arc)
        return sums

    def _operation(self, out: OutFile) -> Adder:
        return sub if self.diff and out is self.files[0] else add

    def line_numbers(self, file: str) -> set[int]:
        width = 1 + len(self.events)
        return set().union(*(run.rows[::width] for _, run in self.runs_by_file().get(file, ())))

    def line_sums(self, file: str, parts: Sequence[int]) -> dict[int, int]:
        """Some counts of every line of a source file, added up: much faster than all of them."""
        width = 1 + len(self.events)
        sums: dict[int, int] = {}
        for operation, run in self.runs_by_file().get(file, ()):
            columns = [run.rows[1 + part :: width] for part in parts]
            counts: Iterable[int] = columns[0] if columns else repeat(0)
            for column in columns[1:]:
                counts = map(add, counts, column)
            lines = run.rows[::width]
            found = dict(zip(lines, counts))
            if operation is add and len(found) == len(lines) and sums.keys().isdisjoint(found):
                sums.update(found)  # as nearly always, and much faster than one by one
                continue
            for place, line in enumerate(lines):
                count = sum(column[place] for column in columns)
                sums[line] = operation(sums.get(line, 0), count)
        return sums

    def runs_by_file(self) -> dict[str, list[tuple[Adder, Run]]]:
        if not self._by_file:
            for _, file, operation, run in self._runs:
                self._by_file.setdefault(file, []).append((operation, run))
        return self._by_file
