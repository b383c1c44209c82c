# test_any_machine.py -- the tool's counts on random machines against a naive simulation of lackey's trace.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Machines that no processor is like: code and data in one array, arrays for loads or for stores that
others ask behind theirs, several side by side, base pages of other sizes, which hold code and data.
With and without short cuts, alone or several in one run, all must count what naive_machine.py counts
that goes through lackey's trace reference by reference.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from model.naive_machine import Machine, Naive
from oracle.any_machines import machines, write
from oracle.lackey_trace import totals_of, trace, valgrind
from oracle_random import build

# By the kind of a trace's line: who asks, in order, and the events that count what is missed, by level.
USERS = {"I": "f", "L": "l", "M": "ls", "S": "s"}
EVENTS = {
    "I": ("I1tm", "I2tm", "ILtm"),
    "L": ("D1tmr", "D2tmr", "DLtmr"),
    "M": ("D1tmr", "D2tmr", "DLtmr"),
    "S": ("D1tmw", "D2tmw", "DLtmw"),
}


def expected(machine: Machine, accesses: list[tuple[str, int, int]]) -> Counter[str]:
    naive = Naive(machine)
    levels = max(array.level for array in machine.arrays)
    totals: Counter[str] = Counter()
    for kind, address, size in accesses:
        for page in range(address >> machine.base, (address + size - 1 >> machine.base) + 1):
            for user in USERS[kind]:
                missed, walked = naive.translate(user, page, 0, machine.base, machine.base)
                asked = (0 in missed, 1 in missed and levels == 3, walked)
                totals.update(dict(zip(EVENTS[kind], map(int, asked))))
    return totals


@pytest.mark.parametrize("seed", range(16))
def test_any_machine(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    program = [str(build(tmp_path, seed, dice.choice((6, 12, 25)), 64))]
    accesses = trace(program, tmp_path)
    made = machines(dice)
    paths = write(tmp_path, made)
    wanted = [expected(machine, accesses) for machine in made]
    out = tmp_path / "out"
    for fast_path in ("yes", "no"):
        options = ["--machine=" + ",".join(map(str, paths)), f"--fast-path={fast_path}", f"--tlbgrind-out-file={out}", "-q"]
        valgrind("tlbgrind", options, program)
        for path, machine, want in zip(paths, made, wanted):
            totals, _ = totals_of(out if len(made) == 1 else out.with_name(f"out.{path.name}"))
            assert {event: totals[event] for event in want} == want, f"--fast-path={fast_path}\n{machine.text()}"
