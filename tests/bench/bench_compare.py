# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""How long programs take under two builds of tlbgrind: `make bench BENCH_FLAGS='--compare BUILD'`.

A is the build that is named, B is the one that make runs in. Their runs alternate. The least time of
a program is the one to compare, for whatever else the machine does makes a run only slower; the
median says how much it did.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench_report import Row, geometric_mean, table

# Before the name of a tool: of which build it is.
BEFORE = "A "
AFTER = "B "


class Compared(NamedTuple):
    """A program under one tool of both builds."""

    before: float  # least seconds
    after: float
    least: float  # ratios, B to A
    median: float
    memory: float


def compared(row: Row, tool: str) -> Compared | None:
    """None for a program that did not run."""
    a, b = (row.runs.get(build + tool, []) for build in (BEFORE, AFTER))
    if row.left_out or not a or not b:
        return None
    times = [[run.cpu for run in runs] for runs in (a, b)]
    least, median = ([how(seconds) for seconds in times] for how in (min, statistics.median))
    memory = [statistics.median(run.maxrss for run in runs) for runs in (a, b)]
    if min(*least, *memory) <= 0:
        return None
    return Compared(least[0], least[1], least[1] / least[0], median[1] / median[0], memory[1] / memory[0])


HEAD = ("A, s", "B, s", "B/A, least", "B/A, median", "B/A, memory")


def of_tool(rows: Sequence[Row], tool: str) -> list[str]:
    """A table of all programs, with the geometric means of the ratios and the highest of each."""
    found = [(row.name, compared(row, tool)) for row in rows]
    body = []
    for name, one in found:
        body.append([name, *([f"{value:.3f}" for value in one] if one else [""] * len(HEAD))])
    ratios = [one[2:] for _, one in found if one]
    for title, fold in (("geometric mean", geometric_mean), ("highest", max)):
        folded = [fold(column) for column in zip(*ratios)]
        body.append([title, "", "", *("" if value is None else f"{value:.3f}" for value in folded)])
    return table([tool, *HEAD], body) if ratios else [f"No program ran under {tool}."]


def report(rows: Sequence[Row], tools: Sequence[str], before: Path) -> str:
    """The whole report, in markdown."""
    names = [tool.removeprefix(BEFORE) for tool in tools if tool.startswith(BEFORE)]
    parts = [[f"- A: {before.resolve()}", "- B: this build"], *(of_tool(rows, name) for name in names)]
    parts.append([f"- left out: `{row.name}`: {row.left_out}" for row in rows if row.left_out])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"
