# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes call stacks with costs of a profile, for the formats of other programs.

With calls in the out-file they are those of the tree of calls, and each function's own costs stand on
its lines; without, each line is a stack of one frame. Either way all counts add up to the program's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from ..base.errors import printable
from ..formats.outfile import UNKNOWN, Counts, Function, Place
from .callgraph import Graph
from .calltree import Tree, shared
from .profile import Profile

NO_LINE = 0
ROOT = -1


class Frame(NamedTuple):
    function: Function
    file: str  # where the line is: inlined code is written in another file than its function
    line: int


class Stacks:
    """A tree of frames, in which each has its place as its number, and what it costs itself."""

    def __init__(self, profile: Profile, threshold: Fraction) -> None:
        self.frames: list[Frame] = []
        self.callers: list[int] = []  # of each frame, a place before it, or ROOT
        self.samples: list[tuple[int, Counts]] = []  # of frames with own costs
        self._places: dict[tuple[int, Frame], int] = {}
        self._lines = profile.lines_of_functions()
        if profile.arcs():
            self._add_tree(profile, threshold)
        else:
            for function, places in self._lines.items():
                self._add_lines(ROOT, function, places)

    def stack(self, place: int) -> Iterator[Frame]:
        """From the innermost frame on."""
        for at in self.way(place):
            yield self.frames[at]

    def way(self, place: int) -> Iterator[int]:
        while place != ROOT:
            yield place
            place = self.callers[place]

    def _place(self, caller: int, frame: Frame) -> int:
        place = self._places.setdefault((caller, frame), len(self.frames))
        if place == len(self.frames):
            self.frames.append(frame)
            self.callers.append(caller)
        return place

    def _add_tree(self, profile: Profile, threshold: Fraction) -> None:
        least = [max(1, ceil(threshold * whole / 100)) for whole in profile.totals]

        def opens(counts: Counts) -> bool:
            return any(count >= few for count, few in zip(counts, least))

        def rank(counts: Counts) -> tuple[int, ...]:
            return tuple(-count for count in counts)

        way: list[int] = []
        for node in Tree(Graph(profile), lambda counts: counts).nodes(opens, rank):
            del way[node.depth :]
            caller = way[-1] if way else ROOT
            function = node.function
            whole = Frame(function, function.file, NO_LINE)
            if node.is_opened:
                way.append(self._place(caller, whole))
                if any(node.own):
                    lines = self._lines.get(function, {})
                    parts = shared(node.own, list(lines.values())) if lines else [node.own]
                    places = list(lines) or [(function.file, NO_LINE)]
                    self._add_lines(caller, function, dict(zip(places, parts)))
            elif any(node.own):  # the costs of what it calls among them, so of none of its lines
                self.samples.append((self._place(caller, whole), node.own))

    def _add_lines(self, caller: int, function: Function, lines: dict[Place, Counts]) -> None:
        for (file, line), counts in lines.items():
            if any(counts):
                self.samples.append((self._place(caller, Frame(function, file, line)), counts))


def frame_name(function: Function) -> str:
    """A frame without a name has that of its object."""
    name = function.name
    if name == UNKNOWN:
        name = UNKNOWN if function.object == UNKNOWN else f"[{os.path.basename(function.object)}]"
    return printable(name)


def known(name: str) -> str:
    """A file's or an object's name; empty if it has none."""
    return "" if name == UNKNOWN else printable(name)
