# test_any_machine.py -- the tool's counts on machines against a naive simulation of lackey's trace.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""All machines that are shipped, and random ones that no processor is like: code and data in one array,
arrays for loads or for stores that others ask behind theirs, several side by side, base pages of other
sizes, which hold code and data, walks with all kinds of caches. With and without short cuts, alone or several in one run, they must count
what naive_machine.py counts, which goes through lackey's trace reference by reference.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from machines.naive_reader import describe
from model.naive_machine import Machine, Naive
from oracle.any_machines import any_machines, write
from oracle.lackey_trace import totals_of, trace, valgrind
from oracle_random import build
from oracle_support import SOURCE
from tg_long import LONG, long_but
from tg_names import labels_of

# By the kind of a trace's line: the users that ask, in order, and the events that count what is missed, by level.
USERS = {"I": "f", "L": "l", "M": "ls", "S": "s"}
EVENTS = {
    "I": ("I1tm", "I2tm", "ILtm"),
    "L": ("D1tmr", "D2tmr", "DLtmr"),
    "M": ("D1tmr", "D2tmr", "DLtmr"),
    "S": ("D1tmw", "D2tmw", "DLtmw"),
}


def expected(machine: Machine, accesses: list[tuple[str, int, int]], nested: bool) -> Counter[str]:
    naive = Naive(machine, nested)
    levels = machine.levels()
    totals: Counter[str] = Counter()
    for kind, address, size in accesses:
        for page in range(address >> machine.base, (address + size - 1 >> machine.base) + 1):
            for user in USERS[kind]:
                missed, walked = naive.translate(user, page, 0, machine.base, machine.base)
                asked = (0 in missed, 1 in missed and levels == 3, walked)
                totals.update(dict(zip(EVENTS[kind], map(int, asked))))
    totals["Wref"] = naive.references
    if machine.walk_cycles is not None:
        totals["Wcyc"] = naive.cycles
    return totals


def check(folder: Path, program: list[str], machines: dict[str, Machine], options: list[str], nested: bool) -> None:
    """`machines`: by what they are called in the options."""
    accesses = trace(program, folder)
    wanted = {name: expected(machine, accesses, nested) for name, machine in machines.items()}
    out = folder / "out"
    for fast_path in ("yes", "no"):
        given = [*options, f"--nested={'yes' if nested else 'no'}"]
        valgrind("tlbgrind", [*given, f"--fast-path={fast_path}", f"--tlbgrind-out-file={out}", "-q"], program)
        for (name, want), label in zip(wanted.items(), labels_of([*wanted])):
            totals, _ = totals_of(out if len(wanted) == 1 else out.with_name(f"out_{label}"))
            got = {event: totals[event] for event in want}
            assert got == want, f"{name}, --fast-path={fast_path}\n{machines[name].text()}"


@pytest.mark.parametrize("seed", long_but(lambda seed: seed < 8, range(16)))
def test_random_machines_count_as_a_naive_model(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    program = [str(build(tmp_path, seed, dice.choice((6, 12, 25)), 64))]
    made = any_machines(dice)
    paths = write(tmp_path, made)
    machines = {path.name: machine for path, machine in zip(paths, made)}
    check(tmp_path, program, machines, ["--machine=" + ",".join(map(str, paths))], dice.random() < 0.2)


@pytest.mark.parametrize("part", range(2))
def test_shipped_machines_count_as_a_naive_model(part: int, tmp_path: Path) -> None:
    """In two runs, for one takes no more than 62 machines."""
    files = sorted((SOURCE / "tlbgrind" / "machines").glob("*.machine"))[part::2]
    shipped: dict[str, Machine] = {}
    given: list[str] = []
    for file in files:
        text = file.read_text(encoding="ascii")
        # The naive model has no mappings, so no blocks of pages that end with them.
        without_blocks = re.sub(r"(?m)^ *coalesces .*\n", "", text)
        shipped[file.stem] = Machine.described(describe(without_blocks))
        given.append(file.stem)
        if without_blocks != text:
            given[-1] = str(tmp_path / file.name)
            Path(given[-1]).write_text(without_blocks, encoding="ascii")
    check(tmp_path, [str(build(tmp_path, 5, 20 if LONG else 8, 64))], shipped, ["--machine=" + ",".join(given)], False)
