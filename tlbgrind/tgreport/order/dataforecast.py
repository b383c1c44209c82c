# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Tells before relinking what data in order saves: the page faults of the data now, and in each place in
which a linker puts what it orders."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ..base.errors import ReportError, printable
from ..base.text import aligned, counted, title
from ..formats.elf import Elf
from ..formats.fault import VIEWS
from ..formats.faultlog import FaultLog
from ..places.datafaults import KINDS, faults
from ..places.dataorder import DataOrder, layout_of
from ..places.datapages import Data
from .verdict import verdict_of


class Forecast(NamedTuple):
    """Page faults of an object's data, by kind."""

    now: Counter[str]
    first: Counter[str]  # what is ordered stands first: GNU ld, lld
    at_end: Counter[str]  # it stands last: gold

    @property
    def saved(self) -> int:
        return self.now.total() - self.first.total()


def forecast_of(order: DataOrder, data: Data) -> Forecast:
    binary = data.binary
    first, at_end = (faults(binary, data.uses, layout_of(order, binary, is_end)) for is_end in (False, True))
    return Forecast(faults(binary, data.uses), first, at_end)


def report(order: DataOrder, data: Data, log: FaultLog | None, object_name: str) -> list[str]:
    found = forecast_of(order, data)
    rows: list[tuple[str, ...]] = [("fault", "now", "in order", "at the end (gold)")]
    rows += [(kind, *(f"{c[kind]:,}" for c in found)) for kind in KINDS if any(c[kind] for c in found)]
    rows.append(("all", *(f"{c.total():,}" for c in found)))
    before, saved = found.now.total(), found.saved
    if saved < 0:
        what = f"take {-saved:,} more than these {counted(before, 'fault')}"
    else:
        what = f"save {saved or 'none'} of {counted(before, 'fault')}"
    text = [
        title("Page faults of the data"),
        *aligned(rows),
        "",
        "in order: of .data first what is written, then what only relocations write, then what is only",
        "read; of .bss what is written, then what is only read; the rest behind it (gold: before it)",
        *_what_stays(order, data.binary),
        f"Data in order would {what}.",
        *(verdict_of("data in order", saved, log) if log is not None else ()),
        "",
    ]
    if log is not None:
        text += _share(log, object_name)
    return text


def _what_stays(order: DataOrder, binary: Elf) -> list[str]:
    text = []
    if binary.stripped:
        text.append("The binary is stripped: its static variables are not known, and stay where they are.")
    if order.large:
        text.append(f"Stay where they are: {order.large:,} variables of more than a page, some of which nothing writes.")
    if order.stay:
        text.append(f"Stay where they are: {len(order.stay):,} variables without a section of their own.")
    return text


def _share(log: FaultLog, object_name: str) -> list[str]:
    view = VIEWS.index("warm")
    total = log.totals["warm"].faults
    kinds = {"w": 0, "c": 0}
    for fault in log.of(view):
        kind = fault.kind(view)
        if kind not in kinds or fault.map.name != object_name:
            continue
        kinds[kind] += 1
    own = sum(kinds.values())
    if not any(map_.name == object_name for map_ in log.maps.values()):
        raise ReportError(f"nothing of {object_name} is mapped: another program's log", log.path)
    return [
        printable(
            f"Of all {total:,} faults of the run, {own:,} ({100 * own / max(1, total):.1f}%) are "
            f"writes to data of {object_name}: {kinds['c']:,} copies of a page, {kinds['w']:,} "
            "first touches."
        ),
        "",
    ]
