# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E5: a list followed in random order through a growing working set."""

from __future__ import annotations

from pathlib import Path

from exp_frame import (
    Chart,
    Check,
    Experiment,
    Number,
    Result,
    Series,
    Table,
    exact,
    near,
)
from exp_lab import Lab, two_sides

PUBLISHED = "U. Drepper, What every programmer should know about memory (2007), figure 7.9"
ENTRIES = 64
BOUND = 0.002
# So many elements are followed at least: the standard deviation of a share is then below BOUND / 5.
STEPS = 1 << 21


PAGES = {"4K": 1 << 12, "64K": 1 << 16, "2M": 1 << 21}
# Elements are small, that many of them are on a page: a ring comes back to the page that it just
# left more seldom than a random choice does, by one in so many elements.
ELEMENTS = {1 << n: 8 if n < 22 else 64 if n < 26 else 256 for n in range(17, 30)}


def formula(working_set: int, page: int) -> float:
    return max(0.0, 1 - ENTRIES * page / working_set)


def human(size: int) -> str:
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


def counts(lab: Lab, program: Path, working_set: int, walks: int, order: str) -> dict[str, tuple[int, int]]:
    """Misses and reads of the walks alone, by page size."""
    machines = {name: two_sides("follow", 64, ENTRIES, pages=f"anon:{name}") for name in PAGES}
    profiles = lab.simulate(list(machines.values()), [program, working_set, ELEMENTS[working_set], walks, order])
    walked = {name: profiles[machine.name] for name, machine in machines.items()}
    return {name: (each.function("walk", "D1tmr"), each.function("walk", "Dr")) for name, each in walked.items()}


def run(lab: Lab) -> Result:
    program = lab.client("follow")
    checks: list[Check] = []
    rows: list[list[str]] = []
    shares: dict[str, list[Number]] = {name: [] for name in PAGES}
    wanted: dict[str, list[Number]] = {name: [] for name in PAGES}
    for working_set, element in ELEMENTS.items():
        found = counts(lab, program, working_set, max(1, STEPS * element // working_set), "random")
        cells: list[str] = []
        for name, (misses, reads) in found.items():
            wanted[name].append(formula(working_set, PAGES[name]))
            shares[name].append(misses / reads)
            checks.append(near(f"{human(working_set)}, {name} pages: misses per element", wanted[name][-1], BOUND, misses / reads))
            cells += [f"{wanted[name][-1]:.4f}", f"{misses / reads:.4f}"]
        rows.append([human(working_set), *cells])
    # One miss per page, and one for the stack's page, where walk()'s return address is.
    sequential: list[list[str]] = []
    walks = 2
    for working_set in (1 << 21, 1 << 23, 1 << 28):
        for name, (misses, _) in counts(lab, program, working_set, walks, "sequential").items():
            pages = working_set // PAGES[name]
            if pages > ENTRIES:
                what = f"{human(working_set)}, {name} pages, sequential"
                checks.append(exact(f"{what}: misses of {walks} walks", (pages + 1) * walks, misses))
                sequential.append([what, f"{pages:,} + 1", f"{misses / walks:,.10g}"])
    head = ["working set", *(word for name in PAGES for word in (f"{name}: formula", "counted"))]
    series = [each for name in PAGES for each in (Series(f"{name} pages", shares[name]), Series("", wanted[name], True))]
    return Result(
        [
            Table(f"Random: misses per element, {ENTRIES} entries, fully associative, LRU", head, rows),
            Table("Sequential: misses per walk", ["", "pages + 1 of the stack", "counted"], sequential),
        ],
        checks,
        charts=[Chart("E5: a list in random order", [human(size) for size in ELEMENTS], series, "working set", "DTLB misses per element")],
    )


EXPERIMENT = Experiment("E5", "a list followed in random order", PUBLISHED, run)
