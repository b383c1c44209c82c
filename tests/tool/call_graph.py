# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads the call graph of an out-file of tlbgrind or callgrind, for the tests."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

Function = tuple[str, str]  # object, name
Costs = tuple[int, ...]


class Arc(NamedTuple):
    calls: int
    costs: Costs


class Graph(NamedTuple):
    events: list[str]
    own: dict[Function, Costs]
    arcs: dict[tuple[Function, Function], Arc]
    totals: Costs

    def calls(self, name: str) -> int:
        return sum(arc.calls for (_, to), arc in self.arcs.items() if to[1] == name)

    def arc(self, caller: str, callee: str) -> Arc:
        found = [a for (f, t), a in self.arcs.items() if (f[1], t[1]) == (caller, callee)]
        assert len(found) == 1, (caller, callee, found)
        return found[0]

    def out_of_balance(self) -> dict[Function, Costs]:
        """What each function and all that it calls cost beyond what its callers are charged."""
        rest = {f: list(costs) for f, costs in self.own.items()}
        none = [0] * len(self.events)
        for (caller, callee), arc in self.arcs.items():
            for i, cost in enumerate(arc.costs):
                rest.setdefault(caller, list(none))[i] += cost
                rest.setdefault(callee, list(none))[i] -= cost
        return {f: tuple(costs) for f, costs in rest.items() if any(costs)}

    def called(self) -> Counter[Function]:
        """How often each function with a symbol was called, whatever folder its object is in."""
        count: Counter[Function] = Counter()
        for (_, (obj, name)), arc in self.arcs.items():
            # callgrind names code without symbols by its address, and numbers recursion.
            name = re.sub(r"'\d+\Z", "", name)
            if name != "???" and not name.startswith("0x") and arc.calls:
                count[obj.rpartition("/")[2], name] += arc.calls
        return count


class _Names:
    def __init__(self) -> None:
        self.known: dict[tuple[str, str], str] = {}

    def of(self, key: str, text: str) -> str:
        space = key[-2] + key[-1] if key[-2:] in ("ob", "fn") else "fl"
        m = re.match(r"\((\d+)\)(?: +(.*))?\Z", text)
        if m is None:
            return text
        if m[2] is not None:
            self.known[space, m[1]] = m[2]
        return self.known[space, m[1]]


def _sum(a: Costs | None, b: Costs) -> Costs:
    return b if a is None else tuple(x + y for x, y in zip(a, b))


def read_graph(path: Path) -> Graph:
    names = _Names()
    events: list[str] = []
    own: dict[Function, Costs] = {}
    arcs: dict[tuple[Function, Function], Arc] = {}
    at: dict[str, str] = {}
    callee_object: str | None = None
    function: Function = ("", "")
    calls: int | None = None
    places = 1
    totals: Costs = ()
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        key, equals, value = line.partition("=")
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith("positions: "):
            places = len(line.split()) - 1
        elif line.startswith(("totals: ", "summary: ")):
            totals = tuple(map(int, line.split()[1:]))
        elif equals and re.fullmatch("ob|fl|fi|fe|fn|cob|cfi|cfl|cfn", key):
            at[key] = names.of(key, value)
            if key == "fn":
                function = (at["ob"], at["fn"])
            elif key == "cob":
                callee_object = at["cob"]
        elif equals and key == "calls":
            calls = int(value.split()[0])
        elif re.match("[0-9+*-]", line):
            costs = tuple(map(int, line.split()[places:]))
            costs += (0,) * (len(events) - len(costs))
            if calls is None:
                own[function] = _sum(own.get(function), costs)
                continue
            callee = (callee_object or at["ob"], at["cfn"])
            before = arcs.get((function, callee), Arc(0, (0,) * len(events)))
            arcs[function, callee] = Arc(before.calls + calls, _sum(before.costs, costs))
            callee_object = calls = None
    return Graph(events, own, arcs, totals)
