# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes out-files with calls from traces of calls, whose true costs are known for each way."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

Way = tuple[str, ...]
Costs = tuple[int, int, int, int, int, int, int, int, int]

EVENTS = "Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw"
HEADER = f"""# callgrind format
version: 1
creator: tlbgrind-0.1.0 (Valgrind 3.19.0)
pid: 1
cmd: ./calls
desc: Format: 1
desc: Machine: custom
positions: line
events: {EVENTS}
"""


def counts_of(walks: int, instructions: int) -> str:
    return f"{instructions} 0 0 {walks} {walks} {walks} 0 0 0"


class Trace:
    """A stack of functions on which costs fall; each function's file is its name's first letter."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.walks: Counter[Way] = Counter()  # by way
        self.own: Counter[str] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self.below: Counter[tuple[str, str]] = Counter()  # inclusive costs, for each level
        self.inclusive: Counter[str] = Counter()  # once, however often a function is active
        self.total = 0

    def call(self, name: str) -> None:
        if self.stack:
            self.calls[self.stack[-1], name] += 1
        self.stack.append(name)

    def leave(self) -> None:
        self.stack.pop()

    def cost(self, walks: int) -> None:
        self.walks[tuple(self.stack)] += walks
        self.own[self.stack[-1]] += walks
        self.total += walks
        for arc in zip(self.stack, self.stack[1:]):
            self.below[arc] += walks
        for name in set(self.stack):
            self.inclusive[name] += walks

    def write(self, path: Path) -> Path:
        arcs = {arc: (calls, self.below[arc]) for arc, calls in self.calls.items()}
        return write(path, self.own, arcs)


def write(
    path: Path, own: Mapping[str, int], arcs: Mapping[tuple[str, str], tuple[int, int]]
) -> Path:
    """10 instructions for each page walk. Functions that are only called have no cost line."""
    callees: dict[str, list[str]] = {}
    for caller, callee in arcs:
        callees.setdefault(caller, []).append(callee)
    lines = [HEADER]
    numbers: dict[tuple[str, str], int] = {}

    def compressed(space: str, text: str) -> str:
        known = (space, text) in numbers
        number = numbers.setdefault((space, text), len(numbers) + 1)
        return f"({number})" if known else f"({number}) {text}"

    def place(name: str, call: str = "") -> str:
        file, function = compressed("fl", f"{name[0]}.c"), compressed("fn", name)
        return f"{'cfi' if call else 'fl'}={file}\n{call}fn={function}\n"

    for name in sorted({*own, *callees}):
        lines.append(f"\nob=prog\n{place(name)}")
        if own.get(name):
            lines.append(f"1 {counts_of(own[name], 10 * own[name])}\n")
        for callee in callees.get(name, ()):
            calls, below = arcs[name, callee]
            lines.append(f"{place(callee, 'c')}calls={calls} 1\n")
            lines.append(f"1 {counts_of(below, 10 * below)}\n")
    walks = sum(own.values())
    sums = counts_of(walks, 10 * walks)
    path.write_text("".join([*lines, f"\nsummary: {sums}\ntotals: {sums}\n"]), encoding="utf-8")
    return path


def by_chance(seed: int, names: Iterable[str], rounds: int = 300, recursive: bool = True) -> Trace:
    """A program that calls and returns at random; without recursion, later names only."""
    chance = random.Random(seed)
    functions = list(names)
    trace = Trace()
    trace.call(functions[0])
    for _ in range(rounds):
        turn = chance.random()
        at = functions.index(trace.stack[-1])
        others = functions if recursive else functions[at + 1 :]
        if turn < 0.4 and others and len(trace.stack) < 12:
            trace.call(chance.choice(others))
        elif turn < 0.7 and len(trace.stack) > 1:
            trace.leave()
        else:
            trace.cost(chance.randrange(20))
    return trace
