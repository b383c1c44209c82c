# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E5: a list followed in random order through a growing working set."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from exp_frame import Chart, Check, Experiment, Result, Series, Table, exact, near
from exp_lab import Lab, two_sides

PUBLISHED = "U. Drepper, What every programmer should know about memory (2007), figure 7.9"
ENTRIES = 64
BOUND = 0.002
# So many elements are followed at least: the standard deviation of a share is then below BOUND / 5.
STEPS = 1 << 21


class Pages(NamedTuple):
    name: str
    size: int
    # Small enough for many of them on a page: a ring comes back to the page that it just left more
    # seldom than a random choice does, by one in so many elements.
    element: int
    working_sets: tuple[int, ...]


ALL = (
    Pages("4K", 1 << 12, 8, tuple(1 << n for n in (17, 18, 19, 20, 21))),
    Pages("64K", 1 << 16, 64, tuple(1 << n for n in (21, 22, 23))),
    Pages("2M", 1 << 21, 256, tuple(1 << n for n in (26, 27, 28, 29))),
)


def formula(working_set: int, page: int) -> float:
    return max(0.0, 1 - ENTRIES * page / working_set)


def human(size: int) -> str:
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


def counts(lab: Lab, program: Path, pages: Pages, working_set: int, walks: int, order: str) -> tuple[int, int]:
    """Misses and reads of the walks alone."""
    command = [program, working_set, pages.element, walks, order]
    profile = lab.simulate([two_sides("follow", 64, ENTRIES)], command, [f"--page-size={pages.name}"])["follow"]
    return profile.function("walk", "D1tmr"), profile.function("walk", "Dr")


def run(lab: Lab) -> Result:
    program = lab.client("follow")
    checks: list[Check] = []
    rows: list[list[str]] = []
    places = sorted({size for pages in ALL for size in pages.working_sets})
    series: list[Series] = []
    for pages in ALL:
        found: dict[int, float] = {}
        for working_set in pages.working_sets:
            elements = working_set // pages.element
            misses, reads = counts(lab, program, pages, working_set, max(1, STEPS // elements), "random")
            found[working_set] = misses / reads
            wanted = formula(working_set, pages.size)
            what = f"{pages.name} pages, working set {human(working_set)}"
            checks.append(near(f"{what}: misses per element", wanted, BOUND, misses / reads))
            rows.append([what, f"{wanted:.4f}", f"{misses / reads:.4f}"])
        series += [
            Series(f"{pages.name} pages", [found.get(size) for size in places]),
            Series("", [formula(size, pages.size) if size in found else None for size in places], True),
        ]
    # One miss per page, and one for the stack's page, where walk()'s return address is.
    sequential: list[list[str]] = []
    for pages in ALL:
        working_set = pages.working_sets[-1] // (1 if pages.size < 1 << 21 else 2)
        walks = 2
        misses, _ = counts(lab, program, pages, working_set, walks, "sequential")
        what = f"{pages.name} pages, working set {human(working_set)}, sequential"
        wanted_misses = working_set // pages.size + 1
        checks.append(exact(f"{what}: misses of {walks} walks", wanted_misses * walks, misses))
        sequential.append([what, f"{wanted_misses - 1:,} + 1", f"{misses / walks:,g}"])
    return Result(
        [
            Table(f"Random: misses per element, {ENTRIES} entries, fully associative, LRU", ["", "1 - 64 x page / set", "counted"], rows),
            Table("Sequential: misses per walk", ["", "pages + 1 of the stack", "counted"], sequential),
        ],
        checks,
        charts=[Chart("E5: a list in random order", [human(size) for size in places], series, "working set", "DTLB misses per element")],
    )


EXPERIMENT = Experiment("E5", "a list followed in random order", PUBLISHED, run)
