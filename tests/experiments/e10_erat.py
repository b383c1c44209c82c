# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E10: POWER's ERAT, which holds pieces of a page of 16M, in front of a TLB that holds it whole."""

from __future__ import annotations

from exp_frame import Chart, Experiment, Result, Series, Table, exact
from exp_lab import Array, Lab, Machine

PUBLISHED = "derived from the POWER processors' manuals: an ERAT of 128 entries for 4K and 64K, a TLB of 1024 entries, 4-way"
PAGE = 16 << 20
PIECE = 64 << 10
PASSES = (10, 20)

ERAT = Machine(
    "erat",
    (
        Array(1, "fetches", 128, pages="4K+64K"),
        Array(1, "loads+stores", 128, pages="4K+64K"),
        Array(2, "all", 1024, 4, pages="4K+64K+16M", larger_pages="bypass"),
    ),
    "anon:16M",
)


def run(lab: Lab) -> Result:
    program = lab.client("steps")
    runs = [lab.simulate([ERAT], [program, PAGE, PIECE, passes])[ERAT.name] for passes in PASSES]
    erat = [each.function("steps", "D1tmr", "D1tmw") for each in runs]
    walks = [each.function("steps", "DLtmr", "DLtmw") for each in runs]
    per_pass = (erat[1] - erat[0]) / (PASSES[1] - PASSES[0])
    return Result(
        [
            Table(
                "One page of 16M in steps of 64K",
                ["", "derived", "counted"],
                [
                    ["ERAT misses per pass, which are the look-ups of the TLB", f"{PAGE // PIECE}", f"{per_pass:g}"],
                    [f"TLB misses in {PASSES[0]} passes", "1", str(walks[0])],
                    [f"TLB misses in {PASSES[1]} passes", "1", str(walks[1])],
                ],
            )
        ],
        [
            exact("ERAT misses per pass", PAGE // PIECE, per_pass),
            *(exact(f"TLB misses in {passes} passes", 1, n) for passes, n in zip(PASSES, walks)),
        ],
        charts=[
            Chart(
                "E10: a page of 16M in steps of 64K",
                [f"{passes} passes" for passes in PASSES],
                [Series("ERAT misses", erat), Series("TLB misses", walks)],
                "",
                "misses",
                bars=True,
            )
        ],
    )


EXPERIMENT = Experiment("E10", "ERAT over TLB", PUBLISHED, run)
