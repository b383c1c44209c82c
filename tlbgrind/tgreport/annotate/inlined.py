# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes functions of inlined functions, in out-files of --dump-instr=yes.

Without it, inlined code is a part of the function that it was inlined into. With it, each
instruction belongs to the innermost function, and each level around it calls the next: such a call
has costs, but no number, for there is no instruction that makes it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..base.errors import ReportError
from ..base.inlining import Frame, Frames, frames
from ..base.progress import Progress
from ..formats.outfile import (
    Arc,
    Counts,
    Function,
    Inlined,
    OutFile,
    Place,
    Run,
    add_arc,
)
from .profile import plus

NO_LINE = 0


def with_inlined(
    files: Sequence[OutFile], warnings: list[str], progress: Progress
) -> list[OutFile]:
    found = {}
    for name, addresses in _addresses(files).items():
        if _can_be_read(name, files, warnings):
            found[name] = frames(name, addresses, progress)
    return [_Divided(out, found).out for out in files]


def _addresses(files: Sequence[OutFile]) -> dict[str, set[int]]:
    """The addresses with a source line, by object: without, there is no DWARF."""
    found: dict[str, set[int]] = {}
    for out in files:
        if not out.places:
            raise ReportError(
                "argument --inlined: no costs by instruction; tlbgrind --dump-instr=yes writes them",
                out.path,
            )
        for function, places in out.places.items():
            here = (address for address, place in places.items() if place[1] != NO_LINE)
            found.setdefault(function.object, set()).update(here)
    return {name: addresses for name, addresses in found.items() if addresses}


def _can_be_read(name: str, files: Sequence[OutFile], warnings: list[str]) -> bool:
    try:
        changed = os.stat(name).st_mtime
    except OSError:
        warnings.append(f"{name}: not there any more, so its inlined functions are not known")
        return False
    older = [out.path for out in files if out.mtime < changed]
    if older:
        warnings.append(
            f"{name}: newer than {older[0]}, so its inlined functions may be wrong ones"
        )
    return True


@dataclass(frozen=True)
class _Level:
    """One function of a chain, and the place in it."""

    function: Function
    place: Place


class _Divided:
    """An out-file, with the costs of its functions divided among what was inlined there."""

    def __init__(self, out: OutFile, found: dict[str, dict[int, Frames]]) -> None:
        self.zero: Counts = (0,) * len(out.events)
        self.rows: dict[tuple[Function, str], array[int]] = {}
        self.arcs: dict[tuple[Function, Function], Arc] = {}
        self.calls: dict[tuple[Function, Place], dict[Function, Arc]] = {}
        self.inlined: Inlined = {}
        self.within: dict[Place, Counts] = {}
        names = _names(out, found)
        for function, places in out.places.items():
            chains = found.get(function.object, {})
            instructions = out.instructions.get(function, {})
            calls = out.calls.get(function, {})
            for address, place in places.items():
                levels = _levels(function, place, chains.get(address, ()), names)
                self.add(levels, instructions.get(address), calls.get(address, {}))
        width = 1 + len(out.events)
        runs = {key: Run(rows, width) for key, rows in self.rows.items()}
        self.out = replace(out, runs=runs, arcs=self.arcs, instructions={}, places={}, calls={})
        self.out = replace(self.out, inlined=self.inlined, within=self.within, from_lines=self.calls)

    def add(
        self, levels: Sequence[_Level], own: Counts | None, calls: dict[Function, Arc]
    ) -> None:
        """An instruction's costs, and those of its calls."""
        innermost = levels[0]
        if own is not None:
            file, line = innermost.place
            rows = self.rows.setdefault((innermost.function, file), array("Q"))
            rows.append(line)
            rows.extend(own)
        called = self.zero
        for callee, arc in calls.items():
            add_arc(self.arcs, (innermost.function, callee), arc)
            add_arc(self.calls.setdefault((innermost.function, innermost.place), {}), callee, arc)
            called = plus(called, arc.costs)
        inclusive = plus(own or self.zero, called)
        # What is inlined into itself has one line on several levels.
        for place in {level.place for level in levels}:
            more = called if place == innermost.place else inclusive
            if any(more) and place[1] != NO_LINE:
                self.within[place] = plus(self.within.get(place, self.zero), more)
        for inner, outer in zip(levels, levels[1:]):
            add_arc(self.arcs, (outer.function, inner.function), Arc(0, inclusive))
            here = self.inlined.setdefault((outer.function, outer.place), {})
            here[inner.function] = plus(here.get(inner.function, self.zero), inclusive)


def _names(out: OutFile, found: dict[str, dict[int, Frames]]) -> dict[str, str]:
    """Of the files of DWARF, the names that the out-file has: it may have a/../b where DWARF has b."""
    names: dict[str, str] = {}
    for function, places in out.places.items():
        chains = found.get(function.object, {})
        for address, (file, _) in places.items():
            if address in chains:
                names.setdefault(chains[address][0].file, file)
    return names


def _levels(
    function: Function, place: Place, chain: Frames, names: dict[str, str]
) -> list[_Level]:
    """The innermost first. The last is the function that the out-file has, and the first place is
    the out-file's."""
    if len(chain) < 2:
        return [_Level(function, place)]

    def place_of(frame: Frame) -> Place:
        return names.get(frame.file) or os.path.normpath(frame.file), frame.line

    places = [place, *map(place_of, chain[1:])]
    functions = [
        Function(function.object, file, frame.function)
        for (file, _), frame in zip(places, chain[:-1])
    ]
    return [_Level(*level) for level in zip([*functions, function], places)]
