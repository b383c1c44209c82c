# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E2: one chain of 26 routines, in one executable, one library, or 26 libraries.

The routines are written in assembly, so that every compiler gives the same program. They are what gcc 12 makes at -O1
of `void a(void) { b(); }`: two instructions, call and return, where it sees that the callee needs no aligned stack, and
four where the callee can be another one at run time.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from exp_frame import (
    Chart,
    Check,
    Experiment,
    Number,
    Result,
    Series,
    Table,
    Text,
    exact,
)
from exp_lab import Lab, Profile, two_sides

PUBLISHED = "D. Gove, The cost of calling through libraries (2009), on an UltraSPARC T1"
ROUTINES = "abcdefghijklmnopqrstuvwxyz"
PAGES = len(ROUTINES) + 1  # of code in a round of 26 libraries: theirs and the loop's

ROUNDS = 1000
NATIVE_ROUNDS = 1_000_000
ITLBS = (64, 16, 8)
LAW = (64, 32, 28, 27, 26, 24, 20, 16, 12, 8, 4, 2)
DTLB = 16

LINK = ["-nostdlib", "-Wl,-z,lazy", "-Wl,-z,norelro", "-Wl,-z,separate-code", "-Wl,--build-id=none"]

MAIN = r"""
#include <stdlib.h>
extern void rounds(long n);
int main(int argc, char** argv)
{
   if (argc != 2)
      return 2;
   rounds(atol(argv[1]));
   return 0;
}
"""

LOOP = """
   .text
   .globl rounds
   .type rounds, @function
rounds:
   push %rbp
   push %rbx
   sub $8, %rsp
   mov %rdi, %rbp
   xor %ebx, %ebx
1:
   call a{plt}
   add $1, %rbx
   cmp %rbx, %rbp
   jne 1b
   add $8, %rsp
   pop %rbx
   pop %rbp
   ret
   .size rounds, .-rounds
   .section .note.GNU-stack, "", @progbits
"""


class Build(NamedTuple):
    name: str
    published_seconds: str
    wanted: tuple[int, ...]  # per round: instructions, ITLB misses of each of ITLBS, DTLB misses


BUILDS = (
    Build("executable", "3", (55, 0, 0, 0, 0)),
    Build("one library, PLT", "6", (131, 0, 0, 0, 0)),
    Build("one library, static", "3", (56, 0, 0, 0, 0)),
    Build("26 libraries", "60", (131, 0, 22, 38, 26)),
    Build("26 libraries, staggered", "", (131, 0, 22, 38, 26)),
)


def routine(name: str, through_plt: bool, binding: str) -> str:
    """One routine. The last one calls nobody."""
    if name == ROUTINES[-1]:
        body = ""
    else:
        callee = chr(ord(name) + 1)
        body = f"   sub $8, %rsp\n   call {callee}@PLT\n   add $8, %rsp\n" if through_plt else f"   call {callee}\n"
    return f"   .text\n   {binding} {name}\n   .type {name}, @function\n{name}:\n{body}   ret\n   .size {name}, .-{name}\n"


NO_STACK = '   .section .note.GNU-stack, "", @progbits\n'


def stagger(number: int) -> str:
    """Moves a library's PLT, code and offset table to cache lines of their own, on the same pages.

    The linker puts .init in front of the PLT and .data.rel.ro in front of the offset table; nobody
    executes or reads what is there. 128 bytes: processors like to fetch lines in pairs.
    """
    return (
        f'   .section .init, "ax", @progbits\n   .skip {128 * number + 1}, 0xcc\n'
        f'   .section .data.rel.ro, "aw", @progbits\n   .skip {128 * number + 1}\n'
    )


def build(lab: Lab) -> dict[str, Path]:
    """Makes the five programs; returns them by name."""
    program = lab.write("main.c", MAIN)
    direct = lab.write("direct.s", LOOP.format(plt=""))
    indirect = lab.write("indirect.s", LOOP.format(plt="@PLT"))
    flags = ["-g", "-O1", "-fcf-protection=none", "-no-pie", "-fno-pie", "-Wl,-z,lazy", "-Wl,-z,separate-code", program]
    made: dict[str, Path] = {}

    def library(folder: str, name: str, text: str, *needed: object) -> Path:
        source = lab.write(f"{folder}/{name}.s", text + NO_STACK)
        names = [f"-Wl,-soname,{name}.so", f"-Wl,-rpath,{lab.folder / folder}"]
        return lab.cc(f"{folder}/{name}.so", "-shared", *LINK, *names, source, *needed)

    def link(number: int, folder: str, *parts: object) -> None:
        where = f"-Wl,-rpath,{lab.folder / folder}"
        made[BUILDS[number].name] = lab.cc(f"{folder}/program", *flags, *parts, where, "-Wl,--no-as-needed")

    short = "".join(routine(name, False, ".globl" if name == "a" else ".local") for name in ROUTINES)
    everything = lab.write("in-one/all.s", short + NO_STACK)
    link(0, "in-one", direct, everything)
    long = "".join(routine(name, True, ".globl") for name in ROUTINES)
    link(1, "plt", indirect, library("plt", "liball", long))
    link(2, "static", indirect, library("static", "liball", short))
    for index, folder in ((3, "26"), (4, "staggered")):
        libraries: list[Path] = []
        for number, name in reversed(list(enumerate(ROUTINES))):
            text = routine(name, True, ".globl") + (stagger(number) if folder == "staggered" else "")
            libraries.append(library(folder, f"lib{name}", text, *libraries[-1:]))
        link(index, folder, indirect, *reversed(libraries))
    return made


def per_round(runs: Sequence[Profile], *events: str) -> Number:
    """The steady state: what further rounds cost."""
    return whole(Fraction(runs[1].total(*events) - runs[0].total(*events), ROUNDS))


def whole(value: Fraction) -> Number:
    return value.numerator if value.denominator == 1 else float(value)


def simulate(lab: Lab, program: Path, entries: Sequence[int], *options: str) -> dict[int, list[Profile]]:
    """By ITLB: a run of ROUNDS rounds and one of twice as many."""
    machines = [two_sides(f"itlb{n}", n, DTLB) for n in entries]
    runs = [lab.simulate(machines, [program, n], options) for n in (ROUNDS, 2 * ROUNDS)]
    return {n: [run[f"itlb{n}"] for run in runs] for n in entries}


def native(lab: Lab, made: dict[str, Path]) -> dict[str, float]:
    """Seconds of each build, taking turns; medians of five."""
    times: dict[str, list[float]] = {name: [] for name in made}
    for _ in range(5):
        for name, program in made.items():
            times[name].append(lab.seconds([program, NATIVE_ROUNDS]))
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def run(lab: Lab) -> Result:
    made = build(lab)
    checks: list[Check] = []
    rows: list[list[str]] = []
    columns = ["instructions", *(f"ITLB misses, {n} entries" for n in ITLBS), f"DTLB misses, {DTLB} entries"]
    bars: dict[int, list[Number]] = {n: [] for n in ITLBS}
    separate: dict[int, list[Profile]] = {}
    for each in BUILDS:
        runs = simulate(lab, made[each.name], LAW if each.name == "26 libraries" else ITLBS)
        if each.name == "26 libraries":
            separate = runs
        misses = [per_round(runs[n], "I1tm") for n in ITLBS]
        got = [per_round(runs[64], "Ir"), *misses, per_round(runs[64], "D1tmr", "D1tmw")]
        checks += [exact(f"{each.name}: {what}", wanted, n) for what, wanted, n in zip(columns, each.wanted, got)]
        rows.append([each.name, *(f"{n} ({wanted})" for n, wanted in zip(got, each.wanted))])
        for entries, count in zip(ITLBS, misses):
            bars[entries].append(count)

    law = {n: per_round(separate[n], "I1tm") for n in LAW}
    checks += [exact(f"law 2(P - E), P = {PAGES}, E = {n}", 2 * max(0, PAGES - n), count) for n, count in law.items()]

    large = simulate(lab, made["26 libraries"], (64, 16), "--page-size=64K")
    for n, profiles in large.items():
        checks.append(exact(f"26 libraries: ITLB misses, {n} entries, 64K pages", 0, per_round(profiles, "I1tm")))

    # The last routine calls nobody, so nobody reads its library's offset table.
    once = [each.objects("D1tmr", "D1tmw") for each in separate[16]]
    equal = sum(once[1][f"lib{name}.so"] - once[0][f"lib{name}.so"] == ROUNDS for name in ROUTINES[:-1])
    checks.append(exact("26 libraries: those that miss the DTLB once per round", len(ROUTINES) - 1, equal))
    table = lab.annotate(
        "--diff", "--by=object", "--show=I1tm,D1tmr,Ir", "--sort=I1tm,D1tmr", "--show-percs=no", "--threshold=0",
        *(profile.path for profile in separate[16]),
    )
    # The table without its title and legend; not the folder's name on each line.
    table = table.partition("-- By object")[2].partition("\n")[2].partition("\n\n")[0]
    table = table.replace(f"{lab.folder}/", "")

    seconds = native(lab, made)
    names = [each.name for each in BUILDS]
    ratio = seconds["26 libraries"] / seconds["26 libraries, staggered"]
    return Result(
        [
            Table("Per round, in brackets what is expected", ["build", *columns], rows),
            Table(f"26 libraries: ITLB misses per round, and 2(P - E), P = {PAGES}", ["entries", "misses", "law"],
                  [[str(n), str(count), str(2 * max(0, PAGES - n))] for n, count in law.items()]),
            Table(f"Native, {NATIVE_ROUNDS:,} rounds (not checked), beside the published run times",
                  ["build", "seconds here", "published, s"],
                  [[each.name, f"{seconds[each.name]:.3f}", each.published_seconds] for each in BUILDS]),
        ],
        checks,
        [
            f"native: 26 libraries take {ratio:.1f} times as long as the same 26 libraries staggered, which miss the TLBs equally often",
        ],
        [
            Chart("E2: ITLB misses per round", names, [Series(f"{n} entries", bars[n]) for n in ITLBS], "", "misses", bars=True),
            Chart(
                "E2: 26 libraries", [str(n) for n in LAW],
                [Series("tlbgrind", list(law.values())), Series("2(P - E)", [2 * max(0, PAGES - n) for n in LAW], True)],
                "ITLB entries", "misses per round",
            ),
            Chart(
                "E2: native time of the executable: 1", names,
                [
                    Series("published", [float(each.published_seconds) / 3 if each.published_seconds else None for each in BUILDS], True),
                    Series("here", [seconds[name] / seconds["executable"] for name in names]),
                ],
                "", "times as long", bars=True,
            ),
        ],
        [Text(f"{ROUNDS} rounds of 26 libraries by object, ITLB of 16 entries: tg_annotate --diff --by=object", table)],
    )


EXPERIMENT = Experiment("E2", "26 routines in one executable or in 26 libraries", PUBLISHED, run)
