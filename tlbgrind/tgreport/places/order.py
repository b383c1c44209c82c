# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Merges runs into one order of functions.

One run's order is that of first entry. Of several, functions that the same runs enter stand
together, for their pages are touched together or not at all: first those that most of the weight
enters, and among these in the mean order of their entry.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

from ..base.functions import stripped
from .trace import Function, Trace


@dataclass
class Placed:
    """A function in its place in the order."""

    function: Function
    weight: float  # the share of the runs that enter it
    rank: float  # where in its runs it stands, from 0 to 1
    others: list[str] = field(default_factory=list)  # its other names, and those without suffix
    duplicates: int = 0  # other functions of the binary that have its name
    turn: int = 1  # among those of its name and source file, by address


@dataclass
class Order:
    placed: list[Placed]
    unnamed: list[Function]  # executed code that has no symbol, so that nothing can order it
    fixed: list[Function]  # that of the C start files, which stays where it is
    left_out: int  # functions that too few of the runs enter

    @property
    def names(self) -> list[str]:
        return [placed.function.name for placed in self.placed]


def order(traces: list[Trace], weights: list[float], least: float) -> Order:
    total = sum(weights)
    entered: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    first: dict[tuple[str, str], Function] = {}
    unnamed: dict[int, Function] = {}
    fixed: dict[tuple[str, str], Function] = {}
    same = len({trace.build_id or trace.object for trace in traces}) == 1
    for number, trace in enumerate(traces):
        named = [f for f in trace.functions if f.name and not f.is_fixed]
        for function in trace.functions:
            if function.is_fixed:
                fixed.setdefault(function.key, function)
            elif not function.name and (same or number == 0):  # addresses are those of one build
                known = unnamed.get(function.address)
                if known is None:
                    unnamed[function.address] = replace(function, touched=list(function.touched))
                else:
                    known.touched += function.touched
        seen: dict[tuple[str, str], int] = defaultdict(int)
        for rank, function in enumerate(named):
            # Functions of one name and file are told apart by their place in one build, by
            # their turn in several.
            turn = seen[function.key]
            seen[function.key] += 1
            key = (function.name, f"{function.file}\0{function.address if same else turn}")
            first.setdefault(key, function)
            entered[key][number] = rank / len(named)
    placed = []
    for key, ranks in entered.items():
        weight = sum(weights[n] for n in ranks) / total
        mean = sum(weights[n] * rank for n, rank in ranks.items()) / sum(weights[n] for n in ranks)
        placed.append((-weight, tuple(sorted(ranks)), mean, Placed(first[key], weight, mean)))
    kept = [p for p in placed if p[3].weight >= least]
    kept.sort(key=lambda p: p[:3])
    result = Order([p[3] for p in kept], [*unnamed.values()], [*fixed.values()], len(placed) - len(kept))
    _name(result, traces)
    return result


def _name(result: Order, traces: list[Trace]) -> None:
    """Finds the other names of each function, and how many functions share its name."""
    exists: dict[str, set[int]] = defaultdict(set)
    in_file: dict[tuple[str, str], set[int]] = defaultdict(set)
    for trace in traces[:1]:
        if trace.binary is not None:
            for symbol in trace.binary.symbols:
                exists[symbol.name].add(symbol.address)
                in_file[symbol.name, symbol.file].add(symbol.address)
        else:
            for function in trace.functions:
                exists[function.name].add(function.address)
    ordered = set(result.names)
    for placed in result.placed:
        function = placed.function
        others = [name for name in function.names if name != function.name]
        # The name without suffix is that of another build's function, unless this build has one
        # of that name, too: that one was not entered, or it stands in the order itself.
        others += [
            shorter
            for name in (function.name, *others)
            for shorter in stripped(name)
            if shorter not in exists and shorter not in ordered
        ]
        placed.others = list(dict.fromkeys(others))
        ordered.update(placed.others)
        placed.duplicates = max(0, len(exists[function.name]) - 1)
        before = [a for a in in_file[function.name, function.file] if a < function.address]
        placed.turn = len(before) + 1
