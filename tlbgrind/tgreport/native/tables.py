# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes tables of many programs: as text, Markdown or CSV."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence

from ..base.terminal import Screen
from .measure import Measured

FORMATS = ("text", "markdown", "csv")
_HEADING = ("native", "simulated", "same page", "page and kind", "in order", "agree", "native twice", "program")

Row = tuple[Sequence[str], Measured]


def table(rows: Sequence[Row], form: str, screen: Screen) -> list[str]:
    if form == "csv":
        return _csv(rows)
    cells = [_cells(measured, shlex.join(command)) for command, measured in rows]
    if len(rows) > 1:
        cells.append(_sum([measured for _, measured in rows]))
    if form == "text":
        return screen.table("Against the kernel, view warm", [_HEADING, *cells])[:-1]
    heading = ("program", *_HEADING[:-1])
    lines = [f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}"]
    for *numbers, name in cells:
        named = "all" if name == "all" else f"`{name.replace('|', chr(92) + '|')}`"
        lines.append(f"| {' | '.join([named, *numbers])} |")
    return lines


def _cells(m: Measured, name: str) -> tuple[str, ...]:
    kinds = f"{m.both:,}" if m.with_kinds else "-"
    return (
        *(f"{m.natives:,}", f"{m.simulated:,}", f"{m.pages:,}", kinds, f"{m.in_order:,}"),
        percent(m.share),
        percent(m.again),
        name,
    )


def percent(share: float) -> str:
    """Never rounded up: 100 % is all."""
    return f"{int(share * 10_000) / 100:.2f}%"


def _sum(all_: Sequence[Measured]) -> tuple[str, ...]:
    larger = sum(max(m.natives, m.simulated) for m in all_)
    kinds = f"{sum(m.both for m in all_):,}" if all(m.with_kinds for m in all_) else "-"
    return (
        f"{sum(m.natives for m in all_):,}",
        f"{sum(m.simulated for m in all_):,}",
        f"{sum(m.pages for m in all_):,}",
        kinds,
        f"{sum(m.in_order for m in all_):,}",
        percent(sum(m.pages for m in all_) / max(larger, 1)),
        "",
        "all",
    )


def _csv(rows: Sequence[Row]) -> list[str]:
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n")
    write.writerow(("program", "native", "simulated", "pages", "kinds", "ordered", "moved", "share", "twice"))
    for command, m in rows:
        kinds = m.both if m.with_kinds else ""
        counts = (m.natives, m.simulated, m.pages, kinds, m.in_order, m.regions)
        write.writerow((shlex.join(command), *counts, f"{m.share:.6f}", f"{m.again:.6f}"))
    return out.getvalue().splitlines()
