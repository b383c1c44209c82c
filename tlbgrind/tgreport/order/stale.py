# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements --stale: how far an ordering file still fits what the program executes."""

from __future__ import annotations

from ..base.command import Answer
from ..base.errors import ReportError, printable
from ..base.text import aligned, title
from ..places import layout
from ..places.order import Placed
from . import dialects
from .work import COLUMNS, LEGEND, LIMIT_EXCEEDED, Work, labelled, row, some


def stale(work: Work) -> Answer:
    """Of the bytes that were executed, those in functions that the file does not name: 0 % for an
    order of the same program and run, 100 % for one of another program."""
    options, placed = work.options, work.order.placed
    named = list(dict.fromkeys(name for name, _ in dialects.read(options.stale)))
    rank = {name: place for place, name in enumerate(named)}
    kept: list[tuple[int, Placed]] = []
    new: list[Placed] = []
    for one in placed:
        names = [n for n in (one.function.name, *one.function.names, *one.others) if n in rank]
        if names:
            kept.append((rank[names[0]], one))
        else:
            new.append(one)
    kept.sort(key=lambda pair: pair[0])
    total = sum(p.function.touched_bytes for p in placed)
    share = sum(p.function.touched_bytes for p in new) / total if total else 0.0
    text = [title(f"How stale is {options.stale}?")]
    text += _rows(work, [p for _, p in kept])
    text.append(
        f"Stale: {100 * share:.1f}% of the code that was executed is in functions that it does not name."
    )
    if new:
        text.append(
            f"New: {len(new):,} of {len(placed):,} functions: "
            + some([labelled(p.function) for p in new], 20)
        )
    answer = Answer(printable(line) for line in text)
    if options.max_stale is not None and share > options.max_stale:
        most = f"--max-stale={100 * options.max_stale:g}"
        answer.reasons = [f"the order is stale by {100 * share:.2f}%, above {most}: {options.stale}"]
        answer.status = LIMIT_EXCEEDED
    answer.append("")
    return answer


def _rows(work: Work, kept: list[Placed]) -> list[str]:
    """What the file brings now, and what a new one would."""
    chosen, binary = work.traces[0], work.binary
    if binary is None or binary.stripped:
        raise ReportError(
            f"--stale needs the binary that was run, with its symbols: {chosen.object}",
            chosen.entries.path,
        )
    rows = [COLUMNS, row("as it ran", layout.measure(chosen.touches, layout.own_places(chosen), layout.Text(binary)))]
    for name, placed in (("this order", kept), ("a new order", work.order.placed)):
        ordered = [p.function for p in placed]
        places = layout.forecast_places(chosen, ordered, binary, False, work.options.page_align)
        rows.append(row(name, layout.measure(chosen.touches, places, layout.Text(binary))))
    return [*aligned(rows), "", *LEGEND, ""]
