# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random machines for the whole tool: those of model/test_properties.py, several in one run, as files.

Nobody coalesces: which base pages lie in one block is for the tool to find, not for whoever is asked what it
should have counted.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model.naive_machine import Machine
from model.test_properties import any_machine

POLICIES = ("lru", "lru", "lru", "plru", "fifo", "nru", "random")
MOST = 40  # entries of a first level


def any_machines(dice: random.Random) -> list[Machine]:
    """One or more, of which most have first levels that short cuts can answer for."""
    made = []
    for _ in range(dice.choice((1, 2, 4, 7))):
        machine, _ = any_machine(dice, POLICIES, MOST, dice.random() < 0.8)
        made.append(replace(machine, arrays=[replace(array, coalesces=0) for array in machine.arrays]))
    return made


def write(folder: Path, made: Sequence[Machine]) -> list[Path]:
    """Their files, which bear their names."""
    paths = [folder / f"m{number}" for number in range(len(made))]
    for path, machine in zip(paths, made):
        path.write_text(machine.text().replace("name random", f"name {path.name}"), encoding="ascii")
    return paths
