# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E12: 24 machines in one run count what 24 runs count."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from exp_frame import Chart, Check, Experiment, Missing, Result, Series, Table, exact
from exp_lab import HERE, AnyMachine, Array, Lab, Machine, Profile, Shipped, two_sides

sys.path.insert(0, str(HERE.parent / "oracle"))

import oracle_programs
import oracle_support

PUBLISHED = (
    "U. Drepper, What every programmer should know about memory (2007), figure 3.8: "
    "measured on real processors, one would have to have 24 of them"
)

MACHINES: list[AnyMachine] = [
    *map(
        Shipped,
        ("skylake", "icelake", "core2", "knl", "k10", "zen2", "zen4", "zen4@thp", "ppc970", "power7", "power8", "power8@anon:64K")
        + ("ultrasparc-t1", "cortex-a57", "cortex-a57@anon:contig", "neoverse-v2", "apple-m1"),
    ),
    two_sides("one", 1, 1),
    two_sides("direct", 16, 16, 64, ways=1),
    two_sides("stores", 16, 16)._replace(
        arrays=(Array(1, "fetches", 16), Array(1, "loads", 12), Array(1, "stores", 6, 3), Array(2, "loads+stores", 96, 6))
    ),
    *(
        Machine(
            policy.partition(":")[0],
            (
                Array(1, "fetches", 32, 4, policy=policy),
                Array(1, "loads+stores", 32, 8, policy=policy),
                Array(2, "all", 128, 4, policy=policy),
            ),
        )
        for policy in ("fifo", "nru", "plru", "random:7")
    ),
]

PROGRAMS = ("ls", "bash", "perl", "python3", "sqlite3", "bzip2", "cc1", "git", "mawk", "sed")
FEW = ("ls", "sed")


def compare(lab: Lab, names: Sequence[str]) -> Result:
    def simulate(machines: Sequence[AnyMachine], command: Sequence[str]) -> dict[str, Profile]:
        # The oracle pins what a program can see of the world, more than a lab does.
        out = lab.out_file()
        oracle_support.valgrind(["--tool=tlbgrind", "-q", *lab.options(machines, out, place)], command, place)
        return lab.profiles(machines, out, place)

    place = lab.folder / "place"
    place.mkdir()
    oracle_programs.make_place(place)
    checks: list[Check] = []
    rows: list[list[str]] = []
    series: list[Series] = []
    for program in oracle_programs.PROGRAMS:
        if program.name not in names:
            continue
        command = program.line()
        together = simulate(MACHINES, command)
        alone = {m.name: simulate([m], command)[m.name] for m in MACHINES}
        equal = [name for name, profile in alone.items() if profile.counts() == together[name].counts()]
        different = [name for name in alone if name not in equal]
        checks.append(exact(f"{program.name}: machines whose counts are the same, line by line", len(MACHINES), len(equal)))
        walks = [profile.total("ILtm", "DLtmr", "DLtmw") for profile in together.values()]
        series.append(Series(program.name, [1000 * each.total("ILtm", "DLtmr", "DLtmw") / each.total("Ir") for each in together.values()]))
        rows.append([program.name, f"{together[MACHINES[0].name].total('Ir'):,}", f"{min(walks):,}", f"{max(walks):,}", ", ".join(different) or "none"])
    if len(rows) != len(names):
        raise Missing("a program of this experiment is not in tests/oracle/oracle_programs.py")
    return Result(
        [Table(f"{len(MACHINES)} machines in one run", ["program", "instructions", "fewest walks", "most walks", "machines that differ"], rows)],
        checks,
        charts=[Chart(f"E12: {len(MACHINES)} machines in one run", [m.name for m in MACHINES], series, "", "page walks per 1000 instructions", logarithmic=True)],
    )


FULL = Experiment("E12", "24 machines in one run, ten programs", PUBLISHED, lambda lab: compare(lab, PROGRAMS), long=True)
SMALL = Experiment("E12-small", "24 machines in one run, two programs", PUBLISHED, lambda lab: compare(lab, FEW))
assert len(MACHINES) == 24, len(MACHINES)
