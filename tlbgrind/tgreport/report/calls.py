# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns the calls in out-files into a page's flame graphs and tables of calls."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..annotate.callgraph import Graph
from ..annotate.calltree import Tree
from ..annotate.events import Event
from ..formats.outfile import UNKNOWN, Counts, Function
from .columns import Key, of_rows
from .costs import MEASURES, Machine, table
from .rows import Shared, count

# A place of the flame graph that costs less than the program's share is not opened: no screen has
# so many pixels.
_LEAST = 2000
INCLUSIVE = ("Function", "Object", "Calls")
CALLS = ("Caller", "Function called", "Calls")


def _name(function: Function) -> str:
    """Code without a name is that of its object; an address alone says nothing."""
    if function.name.startswith("0x"):
        return f"{function.name} ({os.path.basename(function.object)})"
    if function.name != UNKNOWN:
        return function.name
    return f"({os.path.basename(function.object)})" if function.object != UNKNOWN else UNKNOWN


def _flame(graph: Graph, event: Event, shared: Shared) -> dict[str, object]:
    """Its places, each before those below it."""
    tree = Tree(graph, lambda counts: (event.of(counts),))
    least = max(1, event.of(graph.totals) // _LEAST)
    nodes = list(tree.nodes(lambda c: c[0] >= least, lambda c: (-c[0],)))
    return {
        "event": event.name,
        "meaning": event.meaning,
        "whole": count(event.of(graph.totals)),
        "names": shared.texts(_name(node.function) for node in nodes),
        "objects": shared.texts(node.function.object for node in nodes),
        "depths": [node.depth for node in nodes],
        "counts": [count(node.counts[0]) for node in nodes],
        "shared": [int(not node.is_exact) for node in nodes],
    }


def _inclusive(graph: Graph) -> dict[Key, Counts]:
    found: dict[Key, Counts] = {}
    for function in graph.own:
        # What follows the columns tells functions of one name apart.
        key = (_name(function), function.object, graph.calls(function), function.file)
        found[key] = graph.inclusive(function)
    return found


def _arcs(graph: Graph) -> dict[Key, Counts]:
    return {
        (_name(caller), _name(callee), arc.calls, *caller, *callee): arc.costs
        for caller, callees in graph.callees.items()
        for callee, arc in callees.items()
    }


def calls(machines: Sequence[Machine], names: Sequence[str], shared: Shared) -> dict[str, object]:
    """Of the machines whose out-files have calls."""
    chosen = [(m, name) for m, name in zip(machines, names) if m.out.arcs]
    if not chosen:
        return {"flames": [], "tables": []}
    graphs = [Graph(machine.profile) for machine, _ in chosen]
    flames = [
        {
            "machine": name,
            "trees": [
                _flame(graph, machine.events.by_name[event], shared)
                for event in MEASURES
                if event in machine.events.by_name
            ],
        }
        for (machine, name), graph in zip(chosen, graphs)
    ]
    described = [machine.description(name) for machine, name in chosen]
    tables = []
    for title, fields, sums in (
        ("Inclusive", INCLUSIVE, [_inclusive(graph) for graph in graphs]),
        ("Calls", CALLS, [_arcs(graph) for graph in graphs]),
    ):
        columns = [of_rows(rows, len(m.out.events)) for rows, (m, _) in zip(sums, chosen)]
        one = table(title, fields, [machine for machine, _ in chosen], columns, shared)
        one["machines"] = described
        tables.append(one)
    return {"flames": flames, "tables": tables}
