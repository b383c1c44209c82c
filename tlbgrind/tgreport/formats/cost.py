# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the misses of an out-file cost at least and at most, from its counts by function.

The same sums as tlbgrind's own line `desc: Miss cycles:`, to the digit, unless functions of mangled
names are one here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import add
from typing import NamedTuple

from ..base.errors import ReportError
from .outfile import Counts, Function, OutFile

_THOUSAND = 1000  # overlaps are in thousandths
_MOST_LEVELS = 3


class Cycles(NamedTuple):
    """Of misses: where they overlap as far as they can, and where each waits for the one before."""

    least: int
    most: int

    def without(self, other: Cycles) -> Cycles:
        """The difference at both ends, the smaller one first."""
        ends = sorted((self.least - other.least, self.most - other.most))
        return Cycles(ends[0], ends[1])

    def words(self) -> str:
        return f"{self.least:,} to {self.most:,}" if self.least != self.most else f"{self.most:,}"


class _Hit(NamedTuple):
    """What hits of an array cost; None: unknown."""

    level: int
    users: str  # of I, R and W
    cycles: Cycles | None
    overlap: int


class _Misses(NamedTuple):
    """Of one kind of reference."""

    missed: Sequence[int]  # by level
    walks: int


@dataclass
class _Machine:
    walk: Cycles
    overlap: int = _THOUSAND
    window: int = 0  # 0: not said
    nested: bool = False
    hits: list[_Hit] = field(default_factory=list)
    tables: list[Cycles] = field(default_factory=list)  # behind the first cache

    def is_range(self) -> bool:
        costs = [self.walk, *(hit.cycles for hit in self.hits if hit.cycles), *self.tables]
        overlaps = [self.overlap, *(hit.overlap for hit in self.hits)]
        return any(cost.least != cost.most for cost in costs) or max(overlaps) > _THOUSAND

    def first_level(self, kind: str) -> int:
        return min((hit.level for hit in self.hits if kind in hit.users), default=_MOST_LEVELS)

    def levels(self) -> int:
        return max((hit.level for hit in self.hits), default=1)

    def overlap_of(self, most: int, misses: int, instructions: int) -> int:
        """No farther than so many of the misses are within the window when they are spread evenly."""
        if self.window == 0 or instructions == 0:
            return most
        return max(_THOUSAND, min(most, misses * self.window * _THOUSAND // instructions))


class _Function:
    """One function's misses on the machine."""

    def __init__(self, machine: _Machine, of: dict[str, _Misses], instructions: int, most: int) -> None:
        self.machine, self.of, self.instructions, self.most = machine, of, instructions, most
        self.walks = sum(misses.walks for misses in of.values())
        self.hits = sum(self.behind_first(kind) for kind in of)

    def behind_first(self, kind: str) -> int:
        """Misses of the first level that another catches."""
        misses = self.of[kind]
        return max(0, misses.missed[self.machine.first_level(kind) - 1] - misses.walks)

    def pay(self, n: int, kind: str, level: int, most: bool) -> int:
        """What so many hits cost in the cheapest array of the level, or the dearest."""
        prices = []
        for hit in self.machine.hits:
            if hit.level != level or kind not in hit.users or hit.cycles is None:
                continue
            overlap = self.machine.overlap_of(hit.overlap, self.hits, self.instructions)
            price = Fraction(hit.cycles.least * _THOUSAND, overlap)
            prices.append(Fraction(hit.cycles.most) if most else price)
        return int(n * (max if most else min)(prices)) if prices else 0

    def cost_of_hits(self, kind: str, most: bool) -> int:
        first = self.machine.first_level(kind)
        hits = self.behind_first(kind)
        if first == _MOST_LEVELS:
            return 0
        if first + 2 > self.machine.levels():
            return self.pay(hits, kind, first + 1, most)
        misses = self.of[kind]
        beyond = max(0, misses.missed[first] - misses.walks)
        rest = max(0, hits - beyond)
        ways = [self.pay(rest, kind, level, most) for level in (first + 1, _MOST_LEVELS)]
        return (max if most else min)(ways) + self.pay(min(beyond, hits), kind, _MOST_LEVELS, most)

    def most_beyond_hits(self) -> int:
        return max(0, self.most - sum(self.cost_of_hits(kind, True) for kind in self.of))

    def least_of_tables(self) -> int:
        """Of what is neither a hit nor a walk whose entries are all in the first cache."""
        most = max(0, self.most_beyond_hits() - self.walks * self.machine.walk.most)
        parts = [most * cost.least // cost.most for cost in self.machine.tables if cost.most]
        return min([most, *parts])

    def least(self) -> int:
        machine = self.machine
        if not machine.is_range() and not machine.nested:
            return self.most
        hits = sum(self.cost_of_hits(kind, False) for kind in self.of)
        walks = self.walks * machine.walk.least
        if machine.tables and not machine.nested:
            walks += self.least_of_tables()
        walks = min(walks, self.most_beyond_hits())  # some can end early, for larger pages
        overlap = machine.overlap_of(machine.overlap, self.walks, self.instructions)
        return min(self.most, hits + walks * _THOUSAND // overlap)


# ---------------------------------------------------------------- an out-file

_CYCLES = r"(\d+)\.\.(\d+)(?: assumed)?"
_WALK = re.compile(_CYCLES)
_WINDOW = re.compile(r"(\d+)(?: assumed)?")
_HIT = re.compile(rf"(\S+) ([1-3]) ([IRW]+) (?:unknown|{_CYCLES})")
_OVERLAP = re.compile(r"(\S+) (\d+)\.(\d)(?: assumed)?")
_TABLE = re.compile(rf"\S+ {_CYCLES}")
_OF_KIND = {"I": ("I1tm", "I2tm", "ILtm"), "R": ("D1tmr", "D2tmr", "DLtmr"), "W": ("D1tmw", "D2tmw", "DLtmw")}


def _words(out: OutFile, key: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    found = []
    for name, text in out.descriptions:
        if name != key:
            continue
        match = pattern.fullmatch(text)
        if match is None:
            raise ReportError(f"'desc: {key}: {text}' is not as tlbgrind writes it", out.path)
        found.append(match)
    return found


def _cycles(least: str, most: str) -> Cycles:
    return Cycles(int(least), int(most))


def _machine(out: OutFile) -> _Machine | None:
    """None: it does not tell what misses cost, or is of a tlbgrind that did not."""
    walks = _words(out, "Walk cycles", _WALK)
    hits = _words(out, "Hit cycles", _HIT)
    if not walks or not hits:
        return None
    machine = _Machine(_cycles(*walks[0].groups()))
    overlaps = _words(out, "Overlap", _OVERLAP)
    by_name = {match[1]: 1000 * int(match[2]) + 100 * int(match[3]) for match in overlaps}
    for match in hits:
        name, level, users, least, most = match.groups()
        cycles = None if least is None else _cycles(least, most)
        machine.hits.append(_Hit(int(level), users, cycles, by_name.get(name, _THOUSAND)))
    machine.overlap = by_name.get("walks", _THOUSAND)
    machine.window = sum(int(match[1]) for match in _words(out, "Window", _WINDOW))
    machine.nested = ("Nested", "yes") in out.descriptions
    machine.tables = [_cycles(*match.groups()) for match in _words(out, "Table entry cycles", _TABLE)]
    return machine


def _by_function(out: OutFile) -> dict[Function, Counts]:
    found: dict[Function, Counts] = {}
    for (function, _), run in out.runs.items():
        before = found.get(function)
        found[function] = run.sums if before is None else tuple(map(add, before, run.sums))
    return found


def miss_cycles(out: OutFile) -> Cycles | None:
    """None: the file does not tell what misses cost."""
    machine = _machine(out)
    if machine is None or "Wcyc" not in out.events:
        return None
    at = {event: place for place, event in enumerate(out.events)}
    least = most = 0
    for counts in _by_function(out).values():
        if not counts[at["Wcyc"]]:
            continue
        of = {}
        for kind, (first, second, last) in _OF_KIND.items():
            walks = counts[at[last]]
            of[kind] = _Misses((counts[at[first]], counts[at.get(second, at[last])], walks), walks)
        least += _Function(machine, of, counts[at["Ir"]], counts[at["Wcyc"]]).least()
        most += counts[at["Wcyc"]]
    return Cycles(least, most)
