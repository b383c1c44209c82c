# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E15: what huge pages save of the time, natively, beside what the simulation of a machine predicts.

Each program runs with base pages and with huge ones in turn, and the time of an addition beside them tells how many
cycles a second has. Simulated, both runs are counted, and their miss cycles subtracted.
"""

from __future__ import annotations

import json
import os
import re
import resource
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from exp_frame import Chart, Check, Experiment, Missing, Result, Series, Table, exact
from exp_lab import Broken, Lab, Profile
from exp_timed import Timed, programs

ADDS = 3_000_000  # rounds of 100
NOTHING = 0.01  # a share of the time that is not worth a look


class Run(NamedTuple):
    seconds: float  # of the processor, in the phase that is counted
    system: float  # in the kernel, for the whole process


class Counts(NamedTuple):
    """What the simulation counted, and what its misses cost at least and at most."""

    instructions: int
    references: int
    misses: int  # of the first level
    walks: int
    low: int
    high: int


class Row(NamedTuple):
    """A program on one machine."""

    program: Timed
    base: Sequence[Run]
    huge: Sequence[Run]
    hertz: float
    counted_base: Counts
    counted_huge: Counts


class Verdict(NamedTuple):
    """Shares of the time with base pages."""

    saved: float  # median of the rounds
    quartiles: tuple[float, float]
    of_least: float  # least time against least time
    low: float
    high: float
    word: str


# ---------------------------------------------------------------- natively


def environment(program: Timed, huge: bool) -> dict[str, str]:
    return {**program.environment, **(program.huge if huge else {})}


def phase_seconds(printed: str) -> float:
    found = re.match(r"seconds (\d+\.\d+) ", printed)
    if not found:
        raise Broken(f"a client did not print its time but {printed!r}")
    return float(found[1])


def native(lab: Lab, program: Timed, huge: bool) -> Run:
    file = lab.folder / "seconds"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime
    printed = lab.call(program.command, program.stdin, {**environment(program, huge), "TIMED_FILE": str(file)})
    system = resource.getrusage(resource.RUSAGE_CHILDREN).ru_stime - before
    return Run(phase_seconds(printed if program.client else file.read_text(encoding="ascii")), system)


def measure(lab: Lab, all_of_them: Sequence[Timed]) -> tuple[list[tuple[list[Run], list[Run]]], float]:
    """The runs of each program with base pages and with huge ones, round by round; and cycles in a second."""
    adds = lab.client("timed_adds")
    runs: list[tuple[list[Run], list[Run]]] = [([], []) for _ in all_of_them]
    least = float("inf")
    for turn in range(lab.rounds):
        for program, (base, huge) in zip(all_of_them, runs):
            least = min(least, phase_seconds(lab.call([adds, ADDS])))
            # What the first run leaves behind is for each kind in turn.
            for is_huge in (False, True) if turn % 2 == 0 else (True, False):
                (huge if is_huge else base).append(native(lab, program, is_huge))
    return runs, 100 * ADDS / least


def kept(lab: Lab, chosen: Sequence[Timed]) -> tuple[list[tuple[list[Run], list[Run]]], float]:
    """What measure() tells, from --times' file if it is there; else measured now and written to it."""
    if lab.times and lab.times.exists():
        told = json.loads(lab.times.read_text(encoding="utf-8"))
        missing = [program.name for program in chosen if program.name not in told["seconds"]]
        if missing:
            raise Missing(f"{lab.times} has no times of {', '.join(missing)}; remove it to measure them")
        pairs = [told["seconds"][program.name] for program in chosen]
        return [([Run(*run) for run in base], [Run(*run) for run in huge]) for base, huge in pairs], told["hertz"]
    runs, hertz = measure(lab, chosen)
    if lab.times:
        seconds = {program.name: both for program, both in zip(chosen, runs)}
        lab.times.write_text(json.dumps({"hertz": hertz, "seconds": seconds}, indent=1) + "\n", encoding="utf-8")
    return runs, hertz


# ---------------------------------------------------------------- simulated


def counts_of(profile: Profile, scale: int) -> Counts:
    def total(*events: str) -> int:
        return scale * profile.total(*(event for event in events if event in profile.events))

    text = next((text for name, text in profile.descriptions if name == "Miss cycles"), "")
    found = re.match(r"(\d+)\.\.(\d+)", text)
    if not found:
        raise Missing(f"the machine tells no cycles of a walk: {text!r}")
    cycles = (scale * int(found[1]), scale * int(found[2]))
    return Counts(
        total("Ir"), total("Dr", "Dw"), total("I1tm", "D1tmr", "D1tmw"), total("ILtm", "DLtmr", "DLtmw"), *cycles
    )


def simulate(lab: Lab, program: Timed, huge: bool) -> dict[str, Counts]:
    """By machine."""
    got = lab.simulate(lab.machines, program.simulated or program.command, ["--toggle-collect=measured"], program.stdin, environment(program, huge))
    return {name: counts_of(profile, program.scale) for name, profile in got.items()}


# ---------------------------------------------------------------- side by side


def word_for(saved: float, low: float, high: float) -> str:
    if low <= saved <= high:
        return "in"
    if abs(saved) < NOTHING and max(abs(low), abs(high)) < NOTHING:
        return "both nothing"
    return "more" if saved > high else "less"


def judge(row: Row) -> Verdict:
    shares = [(base.seconds - huge.seconds) / base.seconds for base, huge in zip(row.base, row.huge)]
    base, huge = ([run.seconds for run in runs] for runs in (row.base, row.huge))
    cycles = statistics.median(base) * row.hertz
    low = (row.counted_base.low - row.counted_huge.low) / cycles
    high = (row.counted_base.high - row.counted_huge.high) / cycles
    low, high = min(low, high), max(low, high)
    saved = statistics.median(shares)
    cuts = statistics.quantiles(shares, n=4) if len(shares) > 1 else [saved] * 3
    return Verdict(saved, (cuts[0], cuts[2]), (min(base) - min(huge)) / min(base), low, high, word_for(saved, low, high))


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def times(runs: Sequence[Run]) -> list[str]:
    seconds = [run.seconds for run in runs]
    return [f"{statistics.median(seconds):.3f}", f"{min(seconds):.3f}", f"{statistics.median(run.system for run in runs):.3f}"]


def ends(verdict: Verdict) -> str:
    return f"{verdict.high / verdict.low:.1f}" if verdict.low > 0 else ""


def shares_table(machine: str, rows: Sequence[Row]) -> Table:
    body: list[list[str]] = []
    for row in rows:
        v = judge(row)
        quartiles = f"{percent(v.quartiles[0])} to {percent(v.quartiles[1])}"
        body.append([row.program.name, percent(v.saved), quartiles, percent(v.of_least), percent(v.low), percent(v.high), ends(v), v.word])
    head = ["program", "measured", "quartiles", "of least times", "at least", "at most", "ends", "measured is"]
    return Table(f"Saved by pages of 2M, in % of the time with base pages, and predicted for {machine}", head, body)


def counts_table(machine: str, rows: Sequence[Row]) -> Table:
    body: list[list[str]] = []
    for row in rows:
        base, huge = row.counted_base, row.counted_huge
        native_cycles = statistics.median(run.seconds for run in row.base) * row.hertz
        numbers = [f"{number:,}" for number in (*base, *huge[2:])]
        body.append([row.program.name, *numbers, f"{base.instructions / native_cycles:.2f}"])
    after = ["misses", "walks", "least cycles", "most cycles"]
    head = ["program", "instructions", "references", *after, *(f"2M: {word}" for word in after), "IPC"]
    return Table(f"Counted on {machine}, with base pages and with pages of 2M; instructions per cycle natively", head, body)


def native_tables(rows: Sequence[Row]) -> list[Table]:
    return [
        Table(
            "Seconds of the processor: in the phase, median and least, and in the kernel in all",
            ["program", "base", "least", "kernel", "2M", "least", "kernel"],
            [[row.program.name, *times(row.base), *times(row.huge)] for row in rows],
        ),
        Table("What they do", ["program", ""], [[row.program.name, row.program.what] for row in rows]),
    ]


def chart(machine: str, rows: Sequence[Row]) -> Chart:
    verdicts = [judge(row) for row in rows]
    series = [
        Series("predicted, at least", [100 * v.low for v in verdicts]),
        Series("measured", [100 * v.saved for v in verdicts], True),
        Series("predicted, at most", [100 * v.high for v in verdicts]),
    ]
    places = [row.program.name for row in rows]
    return Chart(f"E15: saved by pages of 2M, {machine}", places, series, "", "% of the time with base pages", bars=True)


def note(machine: str, rows: Sequence[Row]) -> str:
    verdicts = [judge(row) for row in rows]
    agree = sum(v.word in ("in", "both nothing") for v in verdicts)
    reached = sum(v.quartiles[0] <= v.high and v.low <= v.quartiles[1] for v in verdicts)
    narrow = sum(v.low > 0 and v.high <= 2.5 * v.low for v in verdicts)
    return (
        f"{machine}: measured lies in the predicted range, or both are below {100 * NOTHING:g} %: {agree} of {len(rows)};"
        f" its quartiles reach into the range: {reached};"
        f" ends at most a factor of 2.5 apart: {narrow}"
    )


def checks(machine: str, rows: Sequence[Row]) -> list[Check]:
    """What must be so however busy the computer is: our clients do the same whatever their pages are."""
    return [
        exact(f"{row.program.name} on {machine}: references", row.counted_base.references, row.counted_huge.references)
        for row in rows
        if row.program.client
    ]


def run(lab: Lab) -> Result:
    chosen = [program for program in programs(lab) if not lab.only or program.name in lab.only]
    if not chosen:
        raise Missing(f"there is no program {', '.join(lab.only)}")
    runs, hertz = kept(lab, chosen)
    counted = [(simulate(lab, program, False), simulate(lab, program, True)) for program in chosen]
    by_machine = {
        machine: [
            Row(program, *both, hertz, base[machine], huge[machine]) for program, both, (base, huge) in zip(chosen, runs, counted)
        ]
        for machine in counted[0][0]
    }
    first = next(iter(by_machine.values()))
    return Result(
        [*(shares_table(*item) for item in by_machine.items()), *native_tables(first), *(counts_table(*item) for item in by_machine.items())],
        [check for item in by_machine.items() for check in checks(*item)],
        [
            f"{len(runs[0][0])} rounds; {hertz / 1e9:.2f} GHz by dependent additions; load {os.getloadavg()[1]:.1f}",
            *(note(*item) for item in by_machine.items()),
        ],
        [chart(*item) for item in by_machine.items()],
    )


EXPERIMENT = Experiment("E15", "the share of time, held against time", "the time of native runs on this machine", run, long=True)
