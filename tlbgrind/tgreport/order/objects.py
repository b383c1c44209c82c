# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements --object=all: an order for each object of a process, in one call."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Sequence

from ..base.errors import ReportError, printable
from ..base.text import aligned, title
from ..formats.entries import UNKNOWN, Entries, is_helper
from ..places import layout
from .options import FILES, Options
from .work import Work

ALL = "all"

Written = Sequence[tuple[str, str, int]]  # format, file, lines


def all_objects(
    options: Options, runs: Sequence[Entries], make: Callable[[Options], tuple[Work, Written]]
) -> list[str]:
    """One row for each object. Its orders go to FILE.OBJECT; what cannot be ordered is told apart."""
    rows: list[tuple[str, ...]] = [
        ("functions", "executed", "4K pages", "ordered", "faults", "ordered", "object")
    ]
    files: list[str] = []
    left_out: list[str] = []
    names = _names(runs)
    short = [os.path.basename(name) for name in names]
    for name in names:
        own = copy.copy(options)
        own.object = name
        ending = os.path.basename(name)
        if short.count(ending) > 1:  # two of one name, in different folders
            ending = name.strip("/").replace("/", "-")
        for form in FILES:
            path = getattr(options, form)
            if path:
                setattr(own, form, f"{path}.{ending}")
        try:
            work, written = make(own)
            rows.append(_row(work, name))
        except ReportError as error:
            left_out.append(f"Left out: {error}")
            continue
        files += [f"Order for {form}: {path}, {lines:,} lines" for form, path, lines in written]
    if len(rows) == 1:
        raise ReportError(f"no object can be ordered; {left_out[0] if left_out else 'it has none'}", runs[0].path)
    text = [title("Orders of all objects"), *aligned(rows, left=0), ""]
    text += ["faults: code faults with the file in the page cache, over all places that randomisation gives", ""]
    return [*text, *map(printable, [*files, *left_out])]


def _names(runs: Sequence[Entries]) -> list[str]:
    """The objects that have executed code, in the order of the first run that has them."""
    found: dict[str, None] = {}
    for entries in runs:
        executed = {function.object for function in entries.functions.values()}
        for number, known in entries.objects.items():
            if number in executed and known.name != UNKNOWN and not is_helper(known.name):
                found[known.name] = None
    return list(found)


def _row(work: Work, name: str) -> tuple[str, ...]:
    chosen, binary = work.traces[0], work.binary
    if binary is None:
        raise ReportError("the file is gone", name)
    text = layout.Text(binary)
    ordered = [p.function for p in work.order.placed]
    now = layout.measure(chosen.touches, layout.own_places(chosen), text)
    places = layout.forecast_places(chosen, ordered, binary, False, work.options.page_align)
    then = layout.measure(chosen.touches, places, text)
    return (
        f"{len(ordered):,}",
        f"{sum(f.touched_bytes for f in ordered):,}",
        f"{now.pages:,}",
        f"{then.pages:,}",
        _range(now.faults),
        _range(then.faults),
        name,
    )


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low}-{high}"
