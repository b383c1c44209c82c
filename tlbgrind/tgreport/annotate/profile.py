# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Merges or subtracts out-files, and sums their counts in every way."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from operator import add, sub
from typing import Callable, TypeVar

from ..base.errors import ReportError
from ..formats.outfile import UNKNOWN, Counts, Function, OutFile, Run

Key = TypeVar("Key", bound=Hashable)
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
        for out in files:
            if out.events != self.events:
                raise ReportError(
                    f"events '{' '.join(out.events)}', but '{' '.join(self.events)}' in "
                    f"{first.path}: files of different events cannot be taken together",
                    out.path,
                    out.events_line,
                )
            operation: Adder = sub if diff and out is first else add
            self.totals = plus(self.totals, out.totals, operation)
            self.long_names.update(out.long_names)
            for (function, file), run in out.runs.items():
                function = Function(
                    rename_file(function.object),
                    rename_file(function.file),
                    rename_function(function.name),
                )
                self._runs.append((function, rename_file(file), operation, run))
        if not diff:
            self.base = self.totals
            self.wholes = [self.totals]

    def _sums(self, keys: Iterator[Key]) -> dict[Key, Counts]:
        sums: dict[Key, Counts] = {}
        for key, (_, _, operation, run) in zip(keys, self._runs):
            sums[key] = plus(sums.get(key, self.zero), run.sums, operation)
        return sums

    def functions(self) -> dict[Function, Counts]:
        return self._sums(function for function, _, _, _ in self._runs)

    def source_files(self) -> dict[str, Counts]:
        return self._sums(file for _, file, _, _ in self._runs)

    def functions_by_file(self) -> dict[tuple[Function, str], Counts]:
        """What each function costs in each source file: inlined code is written in another one."""
        return self._sums((function, file) for function, file, _, _ in self._runs)

    def objects(self) -> dict[str, Counts]:
        return self._sums(function.object for function, _, _, _ in self._runs)

    def lines(self, only: set[str] | None = None) -> dict[str, dict[int, Counts]]:
        """The counts of every line of every source file, or of some files only."""
        width = 1 + len(self.events)
        files: dict[str, dict[int, Counts]] = {}
        for _, file, operation, run in self._runs:
            if only is not None and file not in only:
                continue
            lines = files.setdefault(file, {})
            for row in zip(*[iter(run.rows)] * width):
                line, counts = row[0], row[1:]
                if operation is sub or line in lines:
                    counts = plus(lines.get(line, self.zero), counts, operation)
                lines[line] = counts
        return files
