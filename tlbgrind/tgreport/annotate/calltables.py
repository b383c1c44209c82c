# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes the tables of calls: inclusive costs, callers and callees, the tree.

All of it is data, which calltext.py prints as text and export.py as CSV or JSON. A row's counts are
inclusive ones, and behind them other counts: the function's own, or how often it was called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple

from ..base.errors import ReportError
from ..base.functions import matching, near
from ..formats.outfile import Arc, Counts, Function
from .callgraph import Graph, total
from .calltree import Node, Tree
from .profile import Profile, plus
from .rows import check_sum
from .selection import Selection

EVERY = "*"


class Inclusive(NamedTuple):
    function: Function
    cycle: int  # its number; 0: none, or just the function itself
    costs: Counts
    own: Counts
    calls: int


@dataclass
class InclusiveTable:
    rows: list[Inclusive]
    omitted: int
    rest: Counts  # own costs


class Call(NamedTuple):
    other: Function  # the caller, or the callee
    arc: Arc
    is_recursive: bool  # both are in one cycle


@dataclass
class Neighbours:
    """A function, those that call it, and those that it calls, as far as they matter."""

    function: Inclusive
    callers: list[Call]
    callees: list[Call]
    more_callers: list[Call]  # that do not
    more_callees: list[Call]


@dataclass
class Branch:
    """A place of the tree, and what is below the threshold of what it calls."""

    node: Node
    small: int = 0
    rest: Counts = ()


class Calls:
    """The call graph of a profile, as tables."""

    def __init__(self, profile: Profile, selection: Selection) -> None:
        self.profile = profile
        self.selection = selection
        self.graph = Graph(profile)

    def _row(self, function: Function) -> Inclusive:
        graph = self.graph
        return Inclusive(
            function,
            graph.cycle[function].number,
            graph.inclusive(function),
            graph.own[function],
            graph.calls(function),
        )

    def _ranked(self, functions: list[Function]) -> list[Inclusive]:
        rows = [self._row(function) for function in functions]
        rows.sort(key=lambda row: (self.selection.rank(row.costs), row.function))
        return rows

    def inclusive(self) -> InclusiveTable:
        rows = self._ranked(list(self.graph.own))
        kept = [row for row in rows if self.selection.matters(row.costs)]
        others = [row.own for row in rows if not self.selection.matters(row.costs)]
        rest = total(others, self.profile.zero)
        check_sum(self.profile, [rest, *(row.own for row in kept)], "the table of inclusive costs")
        return InclusiveTable(kept, len(others), rest)

    def named(self, option: str, pattern: str) -> list[Function]:
        """Those that are called so; those that matter, if it is every function."""
        if pattern == EVERY:
            rows = self._ranked(list(self.graph.own))
            return [row.function for row in rows if self.selection.matters(row.costs)]
        names = {function.name for function in self.graph.own}
        found = matching(names, pattern)
        if not found:
            raise ReportError(
                f"argument --{option}: no function '{pattern}'; --inclusive --threshold=0 lists them"
                f"{near(names, pattern)}",
                self.profile.files[0].path,
            )
        functions = [function for function in self.graph.own if function.name in found]
        return [row.function for row in self._ranked(functions)]

    def neighbours(self, pattern: str) -> Iterator[Neighbours]:
        for function in self.named("callers", pattern):
            row = self._row(function)
            selection = self.selection
            if pattern != EVERY and selection.primary is not None:
                # Of a function that was asked for, what matters is what matters to it.
                whole = selection.primary.of(row.costs)
                selection = replace(selection, least=ceil(selection.threshold * whole / 100))
            callers = self._calls(selection, function, self.graph.callers)
            callees = self._calls(selection, function, self.graph.callees)
            yield Neighbours(row, callers[0], callees[0], callers[1], callees[1])

    def _calls(
        self, selection: Selection, function: Function, side: dict[Function, dict[Function, Arc]]
    ) -> tuple[list[Call], list[Call]]:
        """Those that matter, and those that do not."""
        found = [
            Call(other, arc, self.graph.is_recursive(function, other))
            for other, arc in side.get(function, {}).items()
        ]
        found.sort(key=lambda call: (selection.rank(call.arc.costs), call.other))
        kept = [call for call in found if selection.matters(call.arc.costs)]
        return kept, [call for call in found if not selection.matters(call.arc.costs)]

    def tree(self, pattern: str) -> list[Branch]:
        """Places whose costs matter, each before those that it calls."""
        tree = Tree(self.graph, lambda counts: counts)
        roots = None
        if pattern != EVERY:
            roots = [place for f in self.named("tree", pattern) for place in tree.below(f)]
        found: list[Branch] = []
        top = Branch(Node(Function("", "", ""), -1, (), (), True, True), rest=self.profile.zero)
        way: list[Branch] = [top]
        sums = []
        for node in tree.nodes(self.selection.matters, self.selection.rank, roots):
            sums.append(node.own)
            del way[node.depth + 1 :]
            if node.is_opened or self.selection.matters(node.counts):
                way.append(Branch(node, rest=self.profile.zero))
                found.append(way[-1])
            else:
                above = way[node.depth]
                above.small += 1
                above.rest = plus(above.rest, node.counts)
        if roots is None:
            check_sum(self.profile, [total(sums, self.profile.zero)], "the tree of calls")
            if top.small:
                found.append(top)
        return found


def of_all(calls: list[Call], zero: Counts) -> Arc:
    return Arc(sum(call.arc.calls for call in calls), total((call.arc.costs for call in calls), zero))
