# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E1: STREAM's data-TLB misses, predicted and counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exp_frame import Chart, Experiment, Result, Series, Table, at_most, near, within
from exp_lab import AnyMachine, Lab, Shipped, two_sides

PUBLISHED = "M. Gorman, Huge pages part 5: A deeper look at TLBs and costs (LWN, 2010)"
NTIMES = 10
SWEEPS = 7 + 10 * NTIMES

# Misses of the PPC970MP's counters in three runs, the cycles that one took, and all cycles.
COUNTED = (9_492_000, 9_644_000, 9_651_000)
MISS_CYCLES = 563
CYCLES = 29_953_650_000


def share_of_time(misses: int, miss_cycles: int, cycles: int) -> float:
    """Percent, if nothing else is done during a miss: an upper bound."""
    return 100 * misses * miss_cycles / cycles


def misses(lab: Lab, n: int, machines: Sequence[AnyMachine], *options: str) -> list[int]:
    """Data page walks on each machine, above those of the program's start-up."""
    program = lab.kernel("stream")
    full, none = (lab.simulate(machines, [program, n, i], options) for i in (NTIMES, -1))
    return [full[m.name].total("DLtmr", "DLtmw") - none[m.name].total("DLtmr", "DLtmw") for m in machines]


def small(lab: Lab) -> Result:
    n = 131072
    pages = n * 8 // 4096
    got = misses(lab, n, [two_sides("dtlb64", 64, 64, ways=4), two_sides("dtlb1024", 64, 1024, ways=4)])
    # The arrays are smaller than such a page: it has to be the one that backs everything.
    got += misses(lab, n, [two_sides("dtlb64", 64, 64, ways=4)], "--page-size=16M")
    names = ["4K pages, 64 entries, 4-way", "4K pages, 1024 entries, 4-way", "16M pages, 64 entries, 4-way"]
    predicted = [f"{SWEEPS * pages:,}", f"{3 * pages:,}", "at most 3"]
    return Result(
        [
            Table(
                f"Data page walks of STREAM, N = {n:,}, NTIMES = {NTIMES}, above start-up",
                ["machine", "predicted", "counted"],
                [[name, text, f"{count:,}"] for name, text, count in zip(names, predicted, got)],
            )
        ],
        [
            within(names[0], SWEEPS * pages, 0.5, got[0]),
            within(names[1], 3 * pages, 1, got[1]),
            at_most(names[2], 3, got[2]),
            near("share of time of the published counts, percent", 17.84, 0.005, share_of_time(COUNTED[0], MISS_CYCLES, CYCLES)),
        ],
        charts=[
            Chart(
                f"E1: STREAM, N = {n:,}",
                names,
                [Series("formula", [SWEEPS * pages, 3 * pages, 3], True), Series("tlbgrind", got)],
                "",
                "data page walks",
                bars=True,
            )
        ],
    )


def full(lab: Lab) -> Result:
    n = 44_739_240
    formula = SWEEPS * n * 8 / 4096
    # -v takes back the -q of a lab: the share of time is printed, not written to the out-file.
    words = ["-v", f"--log-file={lab.folder}/summary.%p", f"--miss-cost={MISS_CYCLES}", f"--cycles={CYCLES}"]
    (got,) = misses(lab, n, [Shipped("ppc970")], *words)
    printed = "".join(path.read_text(encoding="utf-8") for path in lab.folder.glob("summary.*"))
    share = max(map(float, re.findall(r"share of time: +([0-9.]+)%", printed)), default=0.0)
    rows = [["formula", f"{formula:,.0f}", f"{share_of_time(round(formula), MISS_CYCLES, CYCLES):.2f}"]]
    rows += [[f"PPC970MP, run {i + 1}", f"{count:,}", f"{share_of_time(count, MISS_CYCLES, CYCLES):.2f}"] for i, count in enumerate(COUNTED)]
    rows.append(["tlbgrind", f"{got:,}", f"{share_of_time(got, MISS_CYCLES, CYCLES):.2f}"])
    return Result(
        [Table(f"Data page walks of STREAM, N = {n:,} (1 GiB), 4K pages, and at most so many percent of the time", ["", "walks", "%"], rows)],
        [within(f"walks, against run {i + 1} of the processor", count, 3.5, got) for i, count in enumerate(COUNTED)]
        + [
            within("walks, against the formula", round(formula), 0.1, got),
            near("share of time that tlbgrind prints, percent", share_of_time(got, MISS_CYCLES, CYCLES), 0.01, share),
        ],
        charts=[
            Chart("E1: STREAM, 1 GiB, PPC970", [row[0] for row in rows], [Series("walks", [round(formula), *COUNTED, got])], "", "data page walks", True)
        ],
    )


SMALL = Experiment("E1", "STREAM, small", PUBLISHED, small)
FULL = Experiment("E1-full", "STREAM on 1 GiB", PUBLISHED, full)
