# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E9: what larger pages bring: pages of 64K, fixed or by the contiguous hint, and of 2M."""

from __future__ import annotations

from exp_frame import Chart, Check, Experiment, Result, Series, Table, at_most
from exp_lab import Lab, two_sides
from exp_programs import programs

PUBLISHED = "a study of page sizes on ARM64 with SPEC CPU 2006 (2016)"


def programs_run(lab: Lab) -> Result:
    machine = two_sides("a57", 48, 32, 1024)
    sizes = ("4K", "64K", "2M")
    checks: list[Check] = []
    rows: list[list[str]] = []
    shares: list[float] = []
    chosen = programs(lab)
    for program in chosen:
        counts: list[int] = []
        for size in sizes:
            run = lab.simulate([machine], program.command, [f"--page-size={size}"], program.stdin)
            counts.append(run[machine.name].total("D1tmr", "D1tmw"))
        shares.append(100 * counts[1] / counts[0])
        checks.append(at_most(f"{program.name}: DTLB misses, 64K against 4K", counts[0], counts[1]))
        rows.append([program.name, *(f"{n:,}" for n in counts), f"{shares[-1]:.1f} %", program.published, program.kin])
    return Result(
        [Table("DTLB misses by page size", ["program", *sizes, "64K / 4K", "published", "kin of"], rows)],
        checks,
        charts=[
            Chart(
                "E9: DTLB misses with 64K pages",
                [program.name for program in chosen],
                [
                    Series("tlbgrind", shares),
                    Series("published", [float(p.published[:-2]) if p.published else None for p in chosen], True),
                ],
                "",
                "% of those with 4K pages",
                bars=True,
            )
        ],
    )


PROGRAMS = Experiment("E9-programs", "page sizes and programs", PUBLISHED, programs_run)
