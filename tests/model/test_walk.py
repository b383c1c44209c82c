# test_walk.py -- page walks against a model in the words of the manual.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random page tables, caches and streams, from fixed seeds, through tests/model/walkdrive (the
sanitized simulator): every walk must take as many references as the model says.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

WALKDRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "model", "walkdrive")

# Of x86-64 with four and five steps, 32-bit x86 with and without PAE, arm64 with pages of 64K.
TABLES = ((39, 30, 21, 12), (48, 39, 30, 21, 12), (22, 12), (30, 21, 12), (42, 29, 16))

# What an entry is of: a step of the walk, or None for a translation; a context; a number.
Key = tuple[object, int, int]


class Cache:
    """Sets of keys in order of use (lru) or of arrival (fifo), the next to go in front."""

    def __init__(self, geometry: str) -> None:
        entries, ways, _, self.policy = geometry.split(",")
        self.ways = int(entries if ways == "full" else ways)
        self.sets: list[list[Key]] = [[] for _ in range(int(entries) // self.ways)]

    def set_of(self, key: Key) -> list[Key]:
        return self.sets[key[2] % len(self.sets)]

    def finds(self, key: Key) -> bool:
        keys = self.set_of(key)
        if key not in keys:
            return False
        if self.policy == "lru":
            keys.remove(key)
            keys.append(key)
        return True

    def add(self, key: Key) -> None:
        keys = self.set_of(key)
        assert key not in keys
        if len(keys) == self.ways:
            del keys[0]
        keys.append(key)


@dataclass
class Case:
    """Steps as (shift, what walkdrive calls it); events as walkdrive wants them."""

    steps: list[tuple[int, str]]
    last: str
    nested: bool
    events: list[tuple[str, int, int, int]] = field(default_factory=list)

    def text(self) -> str:
        lines = [f"last {self.last}"] + ["nested"] * self.nested
        lines += [f"step {shift} {what}" for shift, what in self.steps]
        for what, number, shift, context in self.events:
            lines.append(f"walk {number} {shift} {context}" if what == "walk" else f"page {number} {context}")
        return "\n".join([*lines, "end", ""])

    def expected(self) -> list[int]:
        last = Cache(self.last)
        caches: list[Cache | None] = []
        nearest: Cache | None = None
        for _, what in self.steps:
            if what in ("uncached", "joined", "last"):
                caches.append({"uncached": None, "joined": nearest, "last": last}[what])
            else:
                nearest = Cache(what)
                caches.append(nearest)
        return list(self.story(caches, last))

    def story(self, caches: list[Cache | None], last: Cache) -> Iterator[int]:
        shifts = [shift for shift, _ in self.steps]
        for what, number, page_shift, context in self.events:
            if what == "page":
                key: Key = (None, context, number)
                hit = last.finds(key)
                if not hit:
                    last.add(key)
                yield int(not hit)
                continue
            # Which entries the walk would read, and which of them lead on to a table.
            path: list[tuple[int, Key]] = []
            for step, shift in enumerate(shifts):
                path.append((step, (step, context, number >> shift)))
                if shift <= page_shift:
                    break
            spared = 0
            for step, key in reversed(path[:-1]):
                cache = caches[step]
                if cache is not None and cache.finds(key):
                    spared = step + 1
                    break
            for step, key in path[spared:-1]:
                cache = caches[step]
                if cache is not None:
                    cache.add(key)
            guest = len(path) - spared
            # Each reference of the guest, and the one to its page, is preceded by a walk of the host.
            host = len(shifts) if self.nested else 0
            yield guest + (guest + 1) * host


def walk(cases: list[Case]) -> list[list[int]]:
    run = subprocess.run(
        [WALKDRIVE], input="".join(case.text() for case in cases), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return [[int(number) for number in line.split()] for line in run.stdout.splitlines()]


def compare(cases: list[Case]) -> None:
    outcomes = walk(cases)
    assert len(outcomes) == len(cases)
    for number, (case, got) in enumerate(zip(cases, outcomes)):
        expected = case.expected()
        if got == expected:
            continue
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        pytest.fail(
            f"case {number}: {case.steps}, last {case.last}, nested {case.nested}: event {at}, {case.events[at]}: "
            f"{got[at : at + 1]}, the model says {expected[at : at + 1]}\n"
            f"the events before it: {case.events[max(0, at - 20) : at]}"
        )


def geometry(rng: random.Random) -> str:
    ways = rng.choice([1, 2, 3, 4, 5, 8, 16])
    sets = rng.choice([1, 1, 1, 2, 3, 4, 8])
    return f"{ways * sets},{'full' if sets == 1 else ways},4K,{rng.choice(['lru', 'lru', 'fifo'])}"


def steps(rng: random.Random) -> list[tuple[int, str]]:
    """At most one step in the last level: of two that enter together the older is not defined."""
    made: list[tuple[int, str]] = []
    for shift in rng.choice(TABLES):
        choice = ["uncached", geometry(rng), geometry(rng)]
        if not any(what == "last" for _, what in made):
            choice.append("last")
        if any("," in what for _, what in made):
            choice.append("joined")
        made.append((shift, rng.choice(choice)))
    return made


def events(rng: random.Random, shifts: list[int], n: int) -> Iterator[tuple[str, int, int, int]]:
    """Walks near each other and far away, for pages of all sizes; translations in between."""
    sizes = [shifts[-1]] * 6 + [*shifts[:-1], shifts[-1] + 4]
    address = 0
    for _ in range(n):
        context = rng.choice([0, 0, 0, 126])
        if rng.random() < 0.2:
            yield "page", rng.randrange(30), 0, context
            continue
        address ^= rng.randrange(8) << rng.choice(shifts)
        yield "walk", address, rng.choice(sizes), context


def random_case(rng: random.Random) -> Case:
    case = Case(steps(rng), geometry(rng), rng.random() < 0.3)
    case.events = list(events(rng, [shift for shift, _ in case.steps], 1500))
    return case


def test_each_walk_takes_as_many_references_as_the_models() -> None:
    rng = random.Random("walks")
    compare([random_case(rng) for _ in range(200)])


def test_a_larger_lru_cache_never_costs_more() -> None:
    """Of one cached step; with several, what a deeper one spares is not used above."""
    rng = random.Random("inclusion")
    addresses = [rng.randrange(40) << 21 | rng.randrange(512) << 12 for _ in range(3000)]
    totals = []
    for entries in (1, 2, 4, 8, 16, 32, 64):
        case = Case([(39, "uncached"), (30, "uncached"), (21, f"{entries},full,4K,lru"), (12, "uncached")], "1,1,4K,lru", False)
        case.events = [("walk", address, 12, 0) for address in addresses]
        totals.append(sum(walk([case])[0]))
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == 3000 + 3 * 40
    assert totals[0] > 3 * 3000


def test_the_model_and_the_simulator_can_disagree() -> None:
    rng = random.Random("teeth")
    case = random_case(rng)
    got = walk([case])[0]
    case.nested = not case.nested
    assert got != case.expected()
    case.nested = not case.nested
    assert got == case.expected()


def test_the_driver_refuses_broken_cases() -> None:
    for text, message in (("walk\n", "walk"), ("step 12 uncached\nwalk 0 12 0\n", "end of input"), ("step 12 3,2\n", "3,2")):
        run = subprocess.run([WALKDRIVE], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 1
        assert message in run.stderr
