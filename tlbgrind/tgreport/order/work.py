# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds what tg_order's answers share: the runs, their order, rows of a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..formats.elf import Elf
from ..places import layout
from ..places.dataorder import DataOrder
from ..places.order import Order
from ..places.sections import Sections
from ..places.trace import Function, Trace
from .options import Options

LIMIT_EXCEEDED = 3  # the exit status


@dataclass
class Work:
    """The options, the runs and their order."""

    options: Options
    traces: list[Trace]
    order: Order
    sections: Sections | None
    warnings: list[str]
    data: DataOrder | None = None  # with --with-data

    @property
    def binary(self) -> Elf | None:
        return self.traces[0].binary


def labelled(function: Function) -> str:
    return f"{function.name} ({function.file})" if function.file else function.name


def some(names: Sequence[str], count: int = 5) -> str:
    return ", ".join(names[:count]) + (", ..." if len(names) > count else "")


def row(name: str, m: layout.Measure) -> tuple[str, ...]:
    low, high = min(m.faults), max(m.faults)
    faults = f"{low}" if low == high else f"{low}-{high}"
    return (
        name,
        f"{m.functions:,}",
        f"{100 * m.share_ascending:.1f}%",
        f"{m.span:,}",
        f"{m.pages:,}",
        f"{m.windows:,}",
        faults,
        f"{m.mean_curve:,.1f}",
    )


COLUMNS: tuple[str, ...] = ("", "functions", "ascending", "span", "4K pages", "64K windows", "faults", "mean pages")
LEGEND = [
    "ascending: of the functions, how many lie behind the one that is entered before them",
    "span: bytes from the first of the functions to the end of the last",
    "faults: code faults with the file in the page cache, over all places that randomisation gives",
    "mean pages: area under the curve of pages touched against functions entered, per function",
]
