# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes a tree of calls from a call graph, whose arcs do not say which way led to a function.

Where a function has several callers, its callees' costs are shared out among them in proportion to
what each caller's calls cost, as gprof does it. All counts stay integers, and every place's count is
exactly that of the function itself and of the places below it, so the tree adds up to the totals.

Recursion is folded. A cycle is entered at one function; each other function of it stands once below,
on the way of fewest calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Callable, NamedTuple

from ..base.errors import ReportError
from ..formats.outfile import Counts, Function
from .callgraph import Cycle, Graph, total
from .profile import plus

DEEPEST = 256  # functions on one way; what is below it counts for the last
_MOST = 1_000_000  # places


class Node(NamedTuple):
    """A function at one place of the tree."""

    function: Function
    depth: int
    counts: Counts
    own: Counts  # of these, the function's own; of a function that is not opened, all
    is_exact: bool  # recorded, not shared out
    is_opened: bool  # what it calls follows


@dataclass
class _Place:
    function: Function
    counts: Counts
    is_exact: bool
    own: Counts | None = None  # None: not shared out yet
    below: list[_Place] = field(default_factory=list)


class _Part(NamedTuple):
    """What a cycle costs: a function itself, or all that it calls of one function outside."""

    member: int
    callee: Function | None
    costs: Counts


class _Plan(NamedTuple):
    """A cycle that is entered at one function: what can be reached, and in which order."""

    members: list[Function]
    callers: list[int]  # of each member but the first, a place in `members` before it
    parts: list[_Part]
    costs: Counts


class Tree:
    """`project` takes the counts that are shared out from those of the profile."""

    def __init__(self, graph: Graph, project: Callable[[Counts], Counts]) -> None:
        self._graph = graph
        self._own = {function: project(counts) for function, counts in graph.own.items()}
        self._zero = project(graph.zero)
        self._costs: dict[int, Counts] = {}  # of each cycle, by identity
        self._arcs: dict[tuple[Function, Function], Counts] = {}
        self._plans: dict[Function, _Plan] = {}
        self._roots: list[_Place] = []
        for cycle in graph.cycles:
            self._settle(cycle, project)

    def _settle(self, cycle: Cycle, project: Callable[[Counts], Counts]) -> None:
        """Gives the arcs into a cycle no more than it costs, and what is left to a root.

        Only in broken files and after a fork do callers claim more than there is.
        """
        graph = self._graph
        parts = [self._own[member] for member in cycle.members]
        parts += [
            self._arcs[member, callee]
            for member in cycle.members
            for callee, _ in graph.arcs_out_of_cycle(member)
        ]
        costs = self._costs[id(cycle)] = total(parts, self._zero)
        ways = [
            (caller, member)
            for member in cycle.members
            for caller in graph.callers.get(member, {})
            if not graph.is_recursive(caller, member)
        ]
        claims = [project(graph.callees[caller][callee].costs) for caller, callee in ways]
        claimed = total(claims, self._zero)
        given = tuple(map(min, claimed, costs))
        self._arcs.update(zip(ways, claims if given == claimed else shared(given, claims)))
        left = tuple(cost - some for cost, some in zip(costs, given))
        if any(left):
            first = max(cycle.members, key=lambda member: (self._without_caller(member, project)))
            self._roots.append(_Place(first, left, True))

    def _without_caller(self, function: Function, project: Callable[[Counts], Counts]) -> Counts:
        graph = self._graph
        called = (project(arc.costs) for arc in graph.callees.get(function, {}).values())
        calls = (project(arc.costs) for arc in graph.callers.get(function, {}).values())
        costs = plus(self._own[function], total(called, self._zero))
        return tuple(cost - some for cost, some in zip(costs, total(calls, self._zero)))

    def below(self, function: Function) -> list[_Place]:
        """All that the function costs, as the root of a tree of its own."""
        return [_Place(function, self._costs[id(self._graph.cycle[function])], True)]

    def nodes(
        self,
        opens: Callable[[Counts], bool],
        rank: Callable[[Counts], tuple[int, ...]],
        roots: Iterable[_Place] | None = None,
    ) -> Iterator[Node]:
        """A place before those below it; of these, those to be opened first, the largest first.

        What has no counts is left out.
        """

        def last_first(places: Iterable[_Place]) -> list[_Place]:
            found = [place for place in places if any(place.counts)]
            found.sort(key=lambda p: (not opens(p.counts), rank(p.counts), p.function), reverse=True)
            return found

        waiting = [(place, 0) for place in last_first(self._roots if roots is None else roots)]
        count = 0
        while waiting:
            place, depth = waiting.pop()
            is_opened = depth + 1 < DEEPEST and opens(place.counts)
            if is_opened and place.own is None:
                self._share_out(place)
            own = place.own if is_opened and place.own is not None else place.counts
            yield Node(place.function, depth, place.counts, own, place.is_exact, is_opened)
            count += 1
            if count == _MOST:
                raise ReportError(
                    f"argument --threshold: more than {_MOST:,} places in the tree of calls; a higher "
                    "threshold has fewer"
                )
            if is_opened:
                waiting += [(below, depth + 1) for below in last_first(place.below)]
                place.below = []

    def _share_out(self, place: _Place) -> None:
        """Finds the own costs and the places below of the function where a cycle is entered, and of
        all others of the cycle."""
        plan = self._plans.get(place.function)
        if plan is None:
            plan = self._plans[place.function] = self._plan(place.function)
        is_whole = place.counts == plan.costs
        costs = [part.costs for part in plan.parts]
        if not is_whole:
            costs = shared(place.counts, costs)
        places = [place, *(_Place(member, self._zero, False) for member in plan.members[1:])]
        for part, counts in zip(plan.parts, costs):
            owner = places[part.member]
            if part.callee is None:
                owner.own = counts
            else:
                owner.below.append(_Place(part.callee, counts, is_whole))
        for number in range(len(places) - 1, 0, -1):
            inner = places[number]
            inner.counts = total([inner.own or self._zero, *(p.counts for p in inner.below)], self._zero)
            places[plan.callers[number]].below.append(inner)

    def _plan(self, entry: Function) -> _Plan:
        graph = self._graph
        members = [entry]
        callers = [0]
        known = {entry}
        for place, caller in enumerate(members):  # which grows
            inner = [
                (arc.costs, callee)
                for callee, arc in graph.callees.get(caller, {}).items()
                if graph.is_recursive(caller, callee) and callee not in known
            ]
            for _, callee in sorted(inner, reverse=True):
                known.add(callee)
                members.append(callee)
                callers.append(place)
        parts = []
        for place, member in enumerate(members):
            parts.append(_Part(place, None, self._own[member]))
            parts += [
                _Part(place, callee, self._arcs[member, callee])
                for callee, _ in graph.arcs_out_of_cycle(member)
            ]
        return _Plan(members, callers, parts, self._costs[id(graph.cycle[entry])])


def shared(counts: Counts, parts: Sequence[Counts]) -> list[Counts]:
    """The counts shared out in proportion to the parts, each as an integer that is less than one
    beside its due. Where all parts are 0, the first gets all."""
    columns = []
    for count, column in zip(counts, zip(*parts)):
        bounds = list(accumulate(column))
        whole = bounds[-1]
        if whole == 0:
            columns.append([count] + [0] * (len(column) - 1))
            continue
        marks = [count * bound // whole for bound in bounds]
        columns.append([mark - before for before, mark in zip([0, *marks], marks)])
    return list(zip(*columns)) if columns else list(parts)
