# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements --forecast: what an order would bring, before relinking."""

from __future__ import annotations

from ..base.errors import ReportError
from ..base.text import aligned, title
from ..formats import faultlog
from ..formats.elf import PF_X, Elf
from ..formats.entries import choose_object
from ..places import layout
from ..places.datapages import Data
from . import cold, dataforecast
from .verdict import verdict_of
from .work import COLUMNS, LEGEND, Work, row


def forecast(work: Work) -> list[str]:
    chosen, binary = work.traces[0], work.binary
    if binary is None:
        raise ReportError(
            f"--forecast needs the binary that was run: {chosen.object}", chosen.entries.path
        )
    if binary.stripped:
        raise ReportError("--forecast needs all symbols, but this is stripped", binary.path)
    text = layout.Text(binary)
    ordered = [p.function for p in work.order.placed]
    now = layout.measure(chosen.touches, layout.own_places(chosen), text)
    rows = [COLUMNS, row("as it ran", now)]
    forecasts = []
    for name, at_end in (("block at the begin", False), ("block at the end (gold)", True)):
        places = layout.forecast_places(chosen, ordered, binary, at_end, work.options.page_align)
        forecasts.append(layout.measure(chosen.touches, places, text))
        rows.append(row(name, forecasts[-1]))
    lines = [title(f"Forecast for {binary.path}"), *aligned(rows), "", *LEGEND, ""]
    lines += _gain(now, forecasts[0], layout.phase_without_randomisation(binary))
    log = faultlog.read(work.options.faults) if work.options.faults else None
    if log is not None:
        places = layout.forecast_places(chosen, ordered, binary, False, work.options.page_align)
        lines += _share(work, log, binary, text, places)
        code = (chosen.object, binary, chosen.touches)
        named = ("with the order", places, binary)
        lines += ["", *cold.table(log, work.options.read_ahead, code, layout.own_places(chosen), named)[:-1]]
    if work.data is not None:
        number = choose_object(chosen.entries, work.options.object)
        lines += ["", *dataforecast.report(work.data, Data(chosen.entries, number, binary), log, chosen.object)[:-1]]
    return [*lines, ""]


def _share(
    work: Work, log: faultlog.FaultLog, binary: Elf, text: layout.Text, places: dict[int, layout.Place]
) -> list[str]:
    """What the order changes of all faults of the run, the way that the fault log lays it out."""
    chosen = work.traces[0]
    warm = faultlog.view_number("warm")
    # The mapping's pages as the kernel numbers them, from those of the symbols.
    base = 0
    found = False
    for map_ in log.maps.values():
        address = binary.address_of(map_.offset, PF_X)
        is_code = map_.name == chosen.object and "x" in map_.protection
        if is_code and address is not None:
            base, found = (map_.native - address) // layout.PAGE, True
    if not found:
        raise ReportError(
            f"no code of {chosen.object} is mapped in it: this is the log of another program",
            log.path,
        )
    if log.page_size != layout.PAGE:
        raise ReportError(f"pages of {log.page_size} bytes; the forecast knows 4096 only", log.path)
    total = log.totals["warm"].faults
    recorded = sum(
        fault.kind(warm) == "x" and fault.map.name == chosen.object for fault in log.of(warm)
    )
    now = layout.faults_at(chosen.touches, layout.own_places(chosen), text, base)
    then = layout.faults_at(chosen.touches, places, text, base)
    # A log of a part of a run may have no faults.
    share, gain = (100 * n / total if total else 0.0 for n in (recorded, now - then))
    verdict = verdict_of("the order", now - then, log)
    return [
        f"All faults of the run: {total:,}, of which code of this object: {recorded:,} ({share:.1f}%).",
        f"Code faults in the place that it had: {now:,} by this count, {then:,} with the order:",
        f"{gain:.1f}% fewer faults in all.",
        *verdict,
    ]


def _gain(now: layout.Measure, then: layout.Measure, phase: int) -> list[str]:
    before, after = sum(now.faults) / len(now.faults), sum(then.faults) / len(then.faults)
    text = [
        f"Code faults of this object: {before:.1f} now, {after:.1f} with the order (mean).",
    ]
    if len(now.faults) > 1:
        text.append(
            f"Without randomisation (setarch -R): {now.faults[phase]} now, "
            f"{then.faults[phase]} with the order."
        )
    return text
