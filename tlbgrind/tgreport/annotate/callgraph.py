# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Builds the call graph of a profile: who calls whom, inclusive costs, recursion.

Functions that call each other in a circle form a cycle. A recursive call's costs are recorded for
each level, so they cannot be added up: a cycle costs what its functions cost themselves, and what
they call outside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..base.errors import ReportError
from ..formats.outfile import Arc, Counts, Function
from .profile import Profile, plus

Callees = dict[Function, Arc]


@dataclass
class Cycle:
    """Functions of which each can be called while another is active; most often it is one."""

    members: list[Function]
    number: int  # from 1 on, of those with several functions; 0: just one function
    costs: Counts  # of all of them with all that they call


class Graph:
    """Functions and the arcs between them."""

    def __init__(self, profile: Profile) -> None:
        arcs = profile.arcs()
        if not arcs:
            names = ", ".join(out.path for out in profile.files[:3])
            raise ReportError(f"{names}: without calls; tlbgrind records them with --calls=yes")
        self.zero = profile.zero
        self.totals = profile.totals
        self.own = profile.functions()
        self.callees: dict[Function, Callees] = {}
        self.callers: dict[Function, Callees] = {}
        for (caller, callee), arc in arcs.items():
            for function in (caller, callee):
                self.own.setdefault(function, self.zero)
            self.callees.setdefault(caller, {})[callee] = arc
            self.callers.setdefault(callee, {})[caller] = arc
        self.cycles = self._cycles()  # a callee's before its caller's
        self.cycle = {member: cycle for cycle in self.cycles for member in cycle.members}
        for cycle in self.cycles:
            cycle.costs = total([self.own[member] for member in cycle.members], self.zero)
            for member in cycle.members:
                outside = (arc.costs for _, arc in self.arcs_out_of_cycle(member))
                cycle.costs = plus(cycle.costs, total(outside, self.zero))

    def arcs_out_of_cycle(self, function: Function) -> list[tuple[Function, Arc]]:
        """The calls of functions that cannot call this one."""
        cycle = self.cycle[function]
        found = self.callees.get(function, {}).items()
        return [(callee, arc) for callee, arc in found if self.cycle[callee] is not cycle]

    def is_recursive(self, caller: Function, callee: Function) -> bool:
        return self.cycle[caller] is self.cycle[callee]

    def inclusive(self, function: Function) -> Counts:
        """What the function costs with all that it calls; in a cycle of several, at most."""
        cycle = self.cycle[function]
        if not cycle.number:
            return cycle.costs
        called = [arc.costs for callee, arc in self.callees[function].items() if callee != function]
        return tuple(map(min, cycle.costs, total([self.own[function], *called], self.zero)))

    def calls(self, function: Function) -> int:
        return sum(arc.calls for arc in self.callers.get(function, {}).values())

    def _cycles(self) -> list[Cycle]:
        found = []
        number = 0
        for members in components({f: self.callees.get(f, {}) for f in self.own}):
            number += len(members) > 1
            found.append(Cycle(sorted(members), number if len(members) > 1 else 0, self.zero))
        return found


def total(counts: Iterable[Counts], zero: Counts) -> Counts:
    found = list(counts)
    return tuple(map(sum, zip(*found))) if found else zero


def components(graph: Mapping[Function, Iterable[Function]]) -> list[list[Function]]:
    """The strongly connected components, by Tarjan's method, without recursion of its own."""
    index: dict[Function, int] = {}
    low: dict[Function, int] = {}
    waiting: list[Function] = []
    on_stack: set[Function] = set()
    found: list[list[Function]] = []
    for start in graph:
        if start in index:
            continue
        path = [(start, iter(graph[start]))]
        index[start] = low[start] = len(index)
        waiting.append(start)
        on_stack.add(start)
        while path:
            function, callees = path[-1]
            for callee in callees:
                if callee not in index:
                    index[callee] = low[callee] = len(index)
                    waiting.append(callee)
                    on_stack.add(callee)
                    path.append((callee, iter(graph[callee])))
                    break
                if callee in on_stack:
                    low[function] = min(low[function], index[callee])
            else:
                path.pop()
                if path:
                    caller = path[-1][0]
                    low[caller] = min(low[caller], low[function])
                if low[function] == index[function]:
                    members: list[Function] = []
                    while not members or members[-1] != function:
                        members.append(waiting.pop())
                        on_stack.discard(members[-1])
                    found.append(members)
    return found
