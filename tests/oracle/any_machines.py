# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random machines for the whole tool: those of model/test_properties.py, several in one run, as files.

No machine coalesces: which base pages lie in one block is found by the tool, and the model has no means to
find it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.naive_machine import Array, Cache, Machine, Step
from model.test_properties import any_machine, shape

POLICIES = ("lru", "lru", "lru", "plru", "fifo", "nru", "random")
MOST = 40  # entries of a first level


def with_walks(dice: random.Random, machine: Machine) -> Machine:
    """Its tables cover so little that programs of some hundred pages go through many. At most one step is in the last
    level: of two entries that enter a set together the older is not defined."""
    kind = dice.random()
    if kind < 0.2:
        return replace(machine, software=kind < 0.1)
    above = dice.sample(range(machine.base + 1, dice.choice((22, 30, 42))), dice.randrange(1, 5))
    steps: list[Step] = []
    for shift in sorted(above, reverse=True):
        caches = ["none", "own", "own"]
        if machine.keeps_steps() is not None and not any(step.cache == "in-last-level" for step in steps):
            caches += ["in-last-level"] * 2
        if any(step.cache == "own" for step in steps):
            caches.append("joined")
        step = Step(shift, dice.choice(caches))
        if step.cache == "own":
            step.entries, step.ways, step.policy = shape(dice, dice.choice(POLICIES), 32)
        steps.append(step)
    return with_caches(dice, replace(machine, steps=[*steps, Step(machine.base)]))


def with_caches(dice: random.Random, machine: Machine) -> Machine:
    """Of page tables: so small that lines leave them."""
    if dice.random() < 0.4:
        return machine
    caches = []
    for number in range(dice.randrange(1, 4)):
        ways, line = dice.randrange(1, 5), dice.choice((16, 64, 128))
        caches.append(Cache(ways * line * dice.randrange(1, 20), ways, dice.randrange(40) if number else 0, line,
                            dice.choice((100, dice.randrange(1, 101)))))
    return replace(machine, caches=caches, memory=dice.randrange(300), entry_bytes=dice.choice((4, 8, 16)))


def smaller(dice: random.Random, array: Array) -> Array:
    """Behind the first level so small that entries of page tables drive pages out, and are driven out."""
    sets = min(array.entries // array.ways, dice.choice((1, 2, 4)))
    return array if array.level == 1 else replace(array, entries=sets * array.ways)


def any_machines(dice: random.Random) -> list[Machine]:
    """One or more, of which most have first levels that short cuts can answer for."""
    made = []
    for _ in range(dice.choice((1, 2, 4, 7))):
        machine, _ = any_machine(dice, POLICIES, MOST, dice.random() < 0.8)
        small = dice.random() < 0.5
        arrays = [replace(smaller(dice, array) if small else array, coalesces={}) for array in machine.arrays]
        made.append(with_walks(dice, replace(machine, arrays=arrays)))
    return made


def write(folder: Path, made: Sequence[Machine]) -> list[Path]:
    """Their files, which bear their names."""
    paths = [folder / f"m{number}" for number in range(len(made))]
    for path, machine in zip(paths, made):
        path.write_text(machine.text().replace("name random", f"name {path.name}"), encoding="ascii")
    return paths
