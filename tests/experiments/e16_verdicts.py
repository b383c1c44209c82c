# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E16: verdicts on huge pages, beside what huge pages save of the time natively.

The programs read at random, with much arithmetic after each read or none: from what everybody can see that huge pages
are for, to what nobody can. Time, counts and rounds are made as E15 makes them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import e15_time
from e15_time import Counts, Row
from exp_frame import Experiment, Missing, Result, Table
from exp_lab import Lab
from exp_timed import TENTH, Timed
from tgreport.annotate.advice import SWITCH_EVERY
from tgreport.formats import verdicts
from tgreport.formats.cost import Cycles
from tgreport.formats.verdicts import NO, PERHAPS, WORTH_PERCENT, YES, Verdict

# MiB, reads, and steps of arithmetic after each.
CASES = (
    (6, 60_000_000, 0),
    (64, 30_000_000, 0),
    (256, 15_000_000, 0),
    (256, 4_000_000, 30),
    (256, 800_000, 300),
    (256, 80_000, 3_000),
    (6, 80_000, 3_000),
)


class Held(NamedTuple):
    """A verdict, and what time says of it."""

    verdict: Verdict
    saved: float  # of the time with base pages: median of the rounds
    quartiles: tuple[float, float]
    word: str


def programs(lab: Lab) -> list[Timed]:
    path = str(lab.client("timed_reads"))
    found: list[Timed] = []
    for mib, reads, work in CASES:
        what = f"{reads:,} random reads in {mib} MB, {work:,} steps of arithmetic after each"
        native, simulated = ([path, str(mib), str(count), str(work)] for count in (reads, reads // TENTH))
        name = f"{mib}M {work}"
        found.append(Timed(name, what, native, True, simulated, TENTH, huge={"TIMED_HUGE": "1"}))
    return found


def options() -> list[str]:
    """In a virtual machine each walk goes through the host's tables, too, and neighbours use the TLBs."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as facts:
        is_guest = any(line.startswith("flags") and " hypervisor" in line for line in facts)
    return ["--toggle-collect=measured", *(["--nested=yes", f"--switch-every={SWITCH_EVERY}"] if is_guest else [])]


def simulate(lab: Lab, program: Timed, huge: bool) -> dict[str, Counts]:
    """By machine."""
    command, environment = program.simulated or program.command, e15_time.environment(program, huge)
    got = lab.simulate(lab.machines, command, options(), program.stdin, environment)
    return {name: e15_time.counts_of(profile, program.scale) for name, profile in got.items()}


def word_for(verdict: str, quartiles: tuple[float, float]) -> str:
    """Time contradicts where half of the rounds and more say so."""
    worth = WORTH_PERCENT / 100
    if verdict == PERHAPS:
        return "is left open"
    if (verdict == YES and quartiles[1] < worth) or (verdict == NO and quartiles[0] >= worth):
        return "contradicts"
    return "agrees"


def hold(row: Row) -> Held:
    base, huge = row.counted_base, row.counted_huge
    whole = verdicts.spent(base.instructions, Cycles(base.low, base.high))
    verdict = verdicts.judge(Cycles(base.low - huge.low, base.high - huge.high), whole)
    measured = e15_time.judge(row)
    return Held(verdict, measured.saved, measured.quartiles, word_for(verdict.word, measured.quartiles))


def verdicts_table(machine: str, rows: Sequence[Row]) -> Table:
    body: list[list[str]] = []
    for row in rows:
        held = hold(row)
        cycles = held.verdict.cycles
        quartiles = " to ".join(map(e15_time.percent, held.quartiles))
        numbers = [held.verdict.percent(), f"{cycles.least:,}", f"{cycles.most:,}", f"{held.verdict.turns_at:,}"]
        body.append([row.program.name, held.verdict.word, *numbers, e15_time.percent(held.saved), quartiles, held.word])
    head = ["MiB, steps", "pays", "saves", "least cycles", "most cycles", "worth it from", "measured", "quartiles", "time"]
    return Table(f"Verdicts for {machine}, and what pages of 2M save natively, in % of the time with base pages", head, body)


def note(machine: str, rows: Sequence[Row]) -> str:
    words = [hold(row).word for row in rows]
    return f"{machine}: time agrees with {words.count('agrees')} verdicts of {len(rows)}, contradicts {words.count('contradicts')}"


def run(lab: Lab) -> Result:
    chosen = [program for program in programs(lab) if not lab.only or program.name in lab.only]
    if not chosen:
        raise Missing(f"there is no program {', '.join(lab.only)}")
    runs, hertz = e15_time.measure(lab, chosen)
    counted = [(simulate(lab, program, False), simulate(lab, program, True)) for program in chosen]
    by_machine = {
        machine: [
            Row(program, *both, hertz, base[machine], huge[machine]) for program, both, (base, huge) in zip(chosen, runs, counted)
        ]
        for machine in counted[0][0]
    }
    return Result(
        [verdicts_table(*item) for item in by_machine.items()],
        [check for item in by_machine.items() for check in e15_time.checks(*item)],
        [
            f"simulated with {' '.join(options())}",
            f"{lab.rounds} rounds; {hertz / 1e9:.2f} GHz by dependent additions; load {os.getloadavg()[1]:.1f}",
            *(note(*item) for item in by_machine.items()),
        ],
    )


EXPERIMENT = Experiment("E16", "verdicts, held against time", "the time of native runs on this machine", run, long=True)
