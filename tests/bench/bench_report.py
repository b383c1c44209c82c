# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What was measured, and the numbers, tables and pictures made of it.

Times are CPU seconds, user and system. A program's time under a tool is the median of its runs; ratios are ratios of
medians; the spread is the fastest and the slowest run.
"""

from __future__ import annotations

import importlib
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

NATIVE = "native"
NONE = "none"
TLBGRIND = "tlbgrind"
PAGES = "cachegrind-pages"
COUNT = "cachegrind-count"
REACH = "tlbgrind-reach"
ONE = "tlbgrind-1"
FEW = "tlbgrind-24"
MANY = "tlbgrind-60"
POLICY = "tlbgrind "
FIRST_POLICY = POLICY + "64,4"
FULL_STREAM = "stream-full"
MIB = 1024 * 1024


class Run(NamedTuple):
    user: float  # seconds
    system: float
    wall: float
    maxrss: int  # bytes
    status: int

    @property
    def cpu(self) -> float:
        return self.user + self.system


class Row(NamedTuple):
    """A program and its runs, by tool."""

    name: str
    group: str
    what: str
    command: list[str]
    runs: dict[str, list[Run]]
    instructions: int | None = None  # that Valgrind translated
    left_out: str = ""  # why there are no numbers

    def time(self, tool: str) -> Spread | None:
        return spread([run.cpu for run in self.runs.get(tool, [])])

    def memory(self, tool: str) -> int | None:
        peaks = [run.maxrss for run in self.runs.get(tool, [])]
        return int(statistics.median(peaks)) if peaks else None

    def ratio(self, tool: str, base: str) -> Spread | None:
        time, floor = self.time(tool), self.time(base)
        if self.left_out or time is None or floor is None or floor.median == 0:
            return None
        return Spread(*(seconds / floor.median for seconds in time))

    def memory_limit(self) -> int | None:
        """What a run may take above none's: see docs/internals/measurements.md."""
        touched = self.memory(NATIVE)
        if touched is None or self.instructions is None:
            return None
        return 64 * (touched // 4096) + 100 * self.instructions + 16 * MIB


class Spread(NamedTuple):
    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}..{self.high:.2f})"

    def seconds(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f}..{self.high:.3f})"


def spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    return Spread(statistics.median(values), min(values), max(values))


def geometric_mean(values: Sequence[float]) -> float | None:
    """None without values, or where there is no such mean."""
    if not values or min(values) <= 0:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def mean_ratio(rows: Sequence[Row], tool: str, base: str, groups: Sequence[str] = ()) -> float | None:
    ratios = [row.ratio(tool, base) for row in rows if not groups or row.group in groups]
    return geometric_mean([ratio.median for ratio in ratios if ratio])


def worst(rows: Sequence[Row], tool: str, base: str) -> tuple[float, str] | None:
    """The highest ratio and the program that has it."""
    return max(((ratio.median, row.name) for row in rows for ratio in [row.ratio(tool, base)] if ratio), default=None)


# ---------------------------------------------------------------- tables


def table(head: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    """Markdown that can also be read as it is. The first column is words, the others are numbers."""
    widths = [max(3, *(len(row[i]) for row in (head, *body))) for i in range(len(head))]
    rule = ["-" * (width - (i > 0)) + ":" * (i > 0) for i, width in enumerate(widths)]
    return [
        "| " + " | ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))) + " |"
        for row in (head, rule, *body)
    ]


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def times(rows: Sequence[Row], tools: Sequence[str]) -> list[str]:
    """Seconds for native and none, for the others the ratio to none."""
    compared = [tool for tool in tools if tool not in (NATIVE, NONE)]
    floors = [tool for tool in (NATIVE, NONE) if tool in tools]
    head = ["program", *(f"{tool}, s" for tool in floors), *compared]
    body: list[list[str]] = []
    for row in rows:
        seconds = [row.time(tool) for tool in floors]
        ratios = [row.ratio(tool, NONE) for tool in compared]
        cells = [*(time.seconds() if time else "" for time in seconds), *(str(ratio) if ratio else "" for ratio in ratios)]
        body.append([row.name, *("" if row.left_out else cell for cell in cells)])
    groups = list(dict.fromkeys(row.group for row in rows))
    for group in [*groups, ""] if len(groups) > 1 else [""]:
        means = [mean_ratio(rows, tool, NONE, [group] if group else []) for tool in compared]
        body.append([f"geometric mean, {group or 'all'}", *("" for _ in floors), *map(number, means)])
    return table(head, body)


def memory(rows: Sequence[Row], tools: Sequence[str]) -> list[str]:
    if NATIVE not in tools:
        return []
    compared = [tool for tool in tools if tool not in (NATIVE, NONE)]
    head = ["peak memory, MiB", "native", "none", *(f"{tool} above none" for tool in compared), "target", "instructions"]
    body: list[list[str]] = []
    for row in rows:
        if row.left_out:
            continue
        floor = row.memory(NONE)
        cells = [row.memory(NATIVE), floor]
        for tool in compared:
            peak = row.memory(tool)
            cells.append(None if peak is None or floor is None else peak - floor)
        cells.append(row.memory_limit())
        translated = "" if row.instructions is None else f"{row.instructions:,}"
        body.append([row.name, *("" if cell is None else f"{cell / MIB:.1f}" for cell in cells), translated])
    return table(head, body)


class Target(NamedTuple):
    measure: str
    measured: float | None
    limit: float
    note: str = ""


def targets(rows: Sequence[Row], tools: Sequence[str]) -> list[str]:
    """The aims of the project that these runs can say something about."""
    found: list[Target] = []
    slowest = worst(rows, TLBGRIND, NONE)
    if slowest and [row.name for row in rows] == [FULL_STREAM]:
        found.append(Target("time / none, full-size STREAM", slowest[0], 1.8))
    elif slowest:
        found += [
            Target("time / none, geometric mean, all", mean_ratio(rows, TLBGRIND, NONE), 1.5),
            Target("time / none, worst program", slowest[0], 2.0, slowest[1]),
        ]
    few = mean_ratio(rows, TLBGRIND, PAGES, ["kernels", "compressors"])
    found.append(Target("time / cachegrind-pages, geometric mean, kernels and compressors", few, 0.45))
    found.append(Target("time / cachegrind-count, geometric mean, all", mean_ratio(rows, TLBGRIND, COUNT), 1.0))
    slowest = worst(rows, REACH, TLBGRIND)
    note = f"worst: {slowest[1]} {slowest[0]:.2f}" if slowest else ""
    found.append(Target("time with --reach=yes / without, geometric mean, all", mean_ratio(rows, REACH, TLBGRIND), 3.0, note))
    for tool, limit in ((FEW, 2.0), (MANY, 3.5)):
        slowest = worst(rows, tool, ONE)
        note = f"worst: {slowest[1]} {slowest[0]:.2f}" if slowest else ""
        machines = tool.rpartition("-")[2]
        found.append(Target(f"time with {machines} machines / with one, geometric mean, all", mean_ratio(rows, tool, ONE), limit, note))
    for tool in tools:
        if tool.startswith(POLICY) and tool != FIRST_POLICY:
            slowest = worst(rows, tool, FIRST_POLICY)
            note = f"worst: {slowest[1]} {slowest[0]:.2f}" if slowest else ""
            found.append(Target(f"time {tool} / {FIRST_POLICY}, geometric mean, all", mean_ratio(rows, tool, FIRST_POLICY), 1.15, note))
    measured = [row for row in rows if row.memory_limit() is not None and row.memory(TLBGRIND) is not None]
    if measured:
        over = hungry(rows)
        found.append(Target("programs with more memory above none's than the target", float(len(over)), 0, ", ".join(over)))
    body = [
        [t.measure, f"{t.measured:.2f}", f"{t.limit:.2f}", "yes" if t.measured <= t.limit else "no", t.note]
        for t in found
        if t.measured is not None
    ]
    return table(["target", "measured", "at most", "met", ""], body) if body else []


def hungry(rows: Sequence[Row]) -> list[str]:
    """The programs that take more memory under tlbgrind than the target allows."""
    names: list[str] = []
    for row in rows:
        limit, floor, peak = row.memory_limit(), row.memory(NONE), row.memory(TLBGRIND)
        if limit is not None and floor is not None and peak is not None and peak - floor > limit:
            names.append(row.name)
    return names


def report(rows: Sequence[Row], tools: Sequence[str]) -> str:
    """The whole report, in markdown."""
    parts = [times(rows, tools), memory(rows, tools), targets(rows, tools)]
    parts.append([f"- `{row.name}` ({row.group}): {row.what}" for row in rows])
    parts.append([f"- left out: `{row.name}`: {row.left_out}" for row in rows if row.left_out])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def summary(rows: Sequence[Row], tools: Sequence[str]) -> dict[str, Any]:
    """The numbers of the report for the JSON file."""
    compared = [tool for tool in tools if tool not in (NATIVE, NONE)]
    groups = dict.fromkeys(row.group for row in rows)
    return {
        "ratios_to_none": {
            row.name: {tool: ratio._asdict() for tool in compared for ratio in [row.ratio(tool, NONE)] if ratio} for row in rows
        },
        "geometric_means": {
            group or "all": {tool: mean_ratio(rows, tool, NONE, [group] if group else []) for tool in compared} for group in [*groups, ""]
        },
        "memory_targets": {row.name: row.memory_limit() for row in rows},
        "over_memory_target": hungry(rows),
    }


# ---------------------------------------------------------------- the picture


def draw(rows: Sequence[Row], tools: Sequence[str], path: Path) -> str:
    """Draws the ratios to none; returns a line about it."""
    try:
        matplotlib = importlib.import_module("matplotlib")
        matplotlib.use("Agg")
        plt = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        return "no picture: matplotlib is not installed (Debian package: python3-matplotlib)"
    compared = [tool for tool in tools if tool not in (NATIVE, NONE)]
    shown = [row for row in rows if any(row.ratio(tool, NONE) for tool in compared)]
    if not shown:
        return "no picture: no program ran under none and another tool"
    figure, axes = plt.subplots(figsize=(max(6.0, 0.22 * len(shown) * (len(compared) + 1)), 4.5), constrained_layout=True)
    width = 0.8 / len(compared)
    for i, tool in enumerate(compared):
        spreads = [row.ratio(tool, NONE) or Spread(math.nan, math.nan, math.nan) for row in shown]
        places = [x + (i - (len(compared) - 1) / 2) * width for x in range(len(shown))]
        errors = [[s.median - s.low for s in spreads], [s.high - s.median for s in spreads]]
        axes.bar(places, [s.median for s in spreads], width, label=tool, yerr=errors, error_kw={"linewidth": 0.7})
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(shown)))
    axes.set_xticklabels([row.name for row in shown], rotation=45, ha="right")
    axes.set_ylabel("CPU time / none's")
    axes.legend()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return f"picture: {path}"
