# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements --gains and --held-out: what an order of several runs brings each of them, and others."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..base.errors import ReportError, printable
from ..base.text import aligned, title
from ..formats.elf import Elf
from ..places import layout
from ..places.order import Placed, order
from ..places.trace import Trace
from .work import Work

_LEGEND = [
    "as it ran, own order, the order: code faults with the file in the page cache, the mean over all",
    "places that randomisation gives: as it was linked, in the order of this run alone, of all runs",
    "gain: how many faults more all runs would take together, each by its weight, were this run left",
    "out of the order. Held out: a run that is not in the order.",
]


def gains(work: Work, held_out: Sequence[Trace]) -> list[str]:
    """A table with a row for each run."""
    options = work.options
    binary = _one_binary([*work.traces, *held_out])
    weights = options.weights or [1.0] * len(work.traces)
    whole = work.order.placed
    total = _together(work.traces, weights, whole, binary)
    rows: list[tuple[str, ...]] = [("functions", "as it ran", "own order", "the order", "gain", "run")]
    for number, trace in enumerate(work.traces):
        others = [n for n in range(len(work.traces)) if n != number]
        gain = ""
        if others:
            rest = order([work.traces[n] for n in others], [weights[n] for n in others], options.least)
            gain = f"{_together(work.traces, weights, rest.placed, binary) - total:+.2f}"
        rows.append(_row(trace, whole, binary, gain, options.least))
    rows += [_row(trace, whole, binary, "held out", options.least) for trace in held_out]
    heading = f"What the order brings each run of {work.traces[0].object}"
    lines = [title(heading), *aligned(rows, left=0), "", *_LEGEND, ""]
    return [printable(line) for line in lines]


def _one_binary(traces: Sequence[Trace]) -> Elf:
    first = traces[0]
    for trace in traces:
        if trace.binary is None or trace.binary.stripped:
            raise ReportError(
                f"--gains and --held-out need the binary that was run, with its symbols: {trace.object}",
                trace.entries.path,
            )
        if (trace.build_id or trace.object) != (first.build_id or first.object):
            raise ReportError(
                f"this is a run of another build than {first.entries.path}; --gains and --held-out "
                "compare runs of one",
                trace.entries.path,
            )
    assert first.binary is not None
    return first.binary


def _row(trace: Trace, whole: Sequence[Placed], binary: Elf, gain: str, least: float) -> tuple[str, ...]:
    text = layout.Text(binary)
    now = layout.measure(trace.touches, layout.own_places(trace), text)
    own = order([trace], [1.0], min(least, 1.0)).placed
    return (
        f"{now.functions:,}",
        f"{_mean(now):.1f}",
        f"{_faults(trace, own, binary):.1f}",
        f"{_faults(trace, whole, binary):.1f}",
        gain,
        os.path.basename(trace.entries.path),
    )


def _together(traces: Sequence[Trace], weights: Sequence[float], placed: Sequence[Placed], binary: Elf) -> float:
    """The faults of all runs in this order, each by its share of the weight."""
    counts = [_faults(trace, placed, binary) for trace in traces]
    return sum(weight * count for weight, count in zip(weights, counts)) / sum(weights)


def _mean(found: layout.Measure) -> float:
    return sum(found.faults) / len(found.faults)


def _faults(trace: Trace, placed: Sequence[Placed], binary: Elf) -> float:
    """Of the run, with the functions in this order. Those that it did not enter take up room."""
    own = {function.address: function for function in trace.functions}
    ordered = [own.get(p.function.address, p.function) for p in placed]
    places = layout.forecast_places(trace, ordered, binary, False, False)
    return _mean(layout.measure(trace.touches, places, layout.Text(binary)))
