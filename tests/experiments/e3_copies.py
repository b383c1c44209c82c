# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E3: copies of the program of 26 libraries on one core, with and without a shared context."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from e2_libraries import LINK, LOOP, MAIN, NO_STACK, ROUTINES, routine
from exp_frame import Chart, Experiment, Result, Series, Table, at_most, exact, near
from exp_lab import Lab, Profile, two_sides

PUBLISHED = "D. Gove, copies of a program on one core (2009), on an UltraSPARC T1: 1, 5 and 8 minutes for 1, 2 and 4"
PAGES = 53  # of code in a round: the loop's two, 26 of routines, 25 of linkage, for the last routine calls nobody
BEHIND = 1000
ENTRIES = 64
ROUNDS = 500
# For 53 pages, one visit of a copy in turn, LRU.
WANTED = {1: 0, 2: 52, 4: 68}
MARGIN = 3


def build(lab: Lab, order: Sequence[str]) -> Path:
    """Code and linkage of each library are on two pages, as on SPARC."""
    libraries: dict[str, Path] = {}
    for name in reversed(ROUTINES):
        source = lab.write(f"copies/lib{name}.s", routine(name, True, ".globl") + NO_STACK)
        names = [f"-Wl,-soname,lib{name}.so", f"-Wl,-rpath,{lab.folder / 'copies'}", "-Wl,-Ttext=0x2000"]
        needed = [libraries[following] for following in ROUTINES if following in libraries][:1]
        libraries[name] = lab.cc(f"copies/lib{name}.so", "-shared", *LINK, *names, source, *needed)
    main, loop = lab.write("main.c", MAIN), lab.write("indirect.s", LOOP.format(plt="@PLT"))
    flags = ["-g", "-O1", "-fcf-protection=none", "-no-pie", "-fno-pie", "-Wl,-z,lazy", "-Wl,-z,separate-code",
             "-Wl,-Ttext=0x402000"]
    where = [f"-Wl,-rpath,{lab.folder / 'copies'}", "-Wl,--no-as-needed"]
    return lab.cc("copies/program", *flags, main, loop, *where, *(libraries[name] for name in order))


def of_copies(profile: Profile) -> list[int]:
    """Each one's misses of the ITLB; alone, the program's."""
    rows = [text.split() for name, text in profile.descriptions if name == "Copy"]
    return [int(row[row.index("I1tm") + 1]) for row in rows] or [profile.total("I1tm")]


def per_round(lab: Lab, program: Path, *options: str) -> list[float]:
    """Of each copy, in the steady state: what further rounds cost."""
    machine = two_sides("t1", ENTRIES, ENTRIES)
    fewer, more = (
        of_copies(lab.simulate([machine], [program, rounds], options)[machine.name]) for rounds in (ROUNDS, 2 * ROUNDS)
    )
    return [(b - a) / ROUNDS for a, b in zip(fewer, more)]


def run(lab: Lab) -> Result:
    program = build(lab, ROUTINES)
    rows, checks = [], []
    apart, shared = [], []
    for copies, wanted in WANTED.items():
        # Strands of a processor are not in step.
        own = per_round(lab, program, f"--copies={copies}:{BEHIND}")
        same = per_round(lab, program, f"--copies={copies}:{BEHIND}", "--shared-context=yes")
        in_step = per_round(lab, program, f"--copies={copies}")
        checks += [near(f"copy {i + 1} of {copies}: misses per round", wanted, MARGIN, n) for i, n in enumerate(own)]
        checks += [exact(f"copy {i + 1} of {copies}, shared context", 0, n) for i, n in enumerate(same)]
        rows.append([str(copies), str(wanted), *(f"{max(n):g}" for n in (own, in_step, same))])
        apart.append(max(own))
        shared.append(max(same))
    checks.append(at_most("rises concavely: the step from 2 to 4", apart[1] - apart[0], apart[2] - apart[1]))
    head = ["copies", "expected", f"{BEHIND:,} references apart", "in step", "apart, with a shared context"]
    series = [Series("own contexts", apart), Series("shared context", shared), Series("expected", list(WANTED.values()), True)]
    chart = Chart("E3: ITLB misses per round and copy", [str(n) for n in WANTED], series, "copies", "misses", bars=True)
    title = f"Misses per round and copy of an ITLB of {ENTRIES} entries, {PAGES} pages of code"
    return Result([Table(title, head, rows)], checks, charts=[chart])


EXPERIMENT = Experiment("E3", "Copies on a core, and a shared context", PUBLISHED, run)
