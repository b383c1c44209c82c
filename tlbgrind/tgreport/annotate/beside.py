# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints a comparison as text: a table for each event, a column for each run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..base.errors import printable
from ..base.terminal import weight
from ..base.text import aligned, percentage
from . import verdict
from .compare import Compared, Comparison
from .facts import Fact
from .listing import HEADINGS, label_of
from .report import metadata, said
from .rows import VIEWS, Names
from .table import TIME, Style


def text_of(comparison: Comparison, by: Sequence[str], style: Style, verbose: bool) -> list[str]:
    text = said(verdict.of_comparison(comparison), style)
    text += _program(comparison, style)
    for view in by:
        table = comparison.table(view)
        for place, event in enumerate(comparison.shown):
            text += _table(comparison, table, place, event, style)
    return text + metadata(_facts(comparison, verbose), style)


def _facts(comparison: Comparison, verbose: bool) -> list[Fact]:
    columns = comparison.columns
    facts = [(f"Column {column.label}", column.out.path) for column in columns]
    facts += dict.fromkeys(("Command", column.out.command) for column in columns)
    # Assumptions may be all that makes two columns differ.
    facts += [
        (f"{name} of {column.label}" if verbose else f"Assumed for {column.label}", value)
        for column in columns
        for name, value in column.out.descriptions
        if verbose or name == "Assumption"
    ]
    facts += [
        ("Events shown", " ".join(comparison.shown)),
        ("Sorted by", f"{comparison.primary}, the most in any column"),
        ("Threshold", f"{float(comparison.threshold):g}% of {comparison.primary}, in any column"),
    ]
    return [(name, value) for name, value in facts if value]


def _program(comparison: Comparison, style: Style) -> list[str]:
    """Every event, and those that instructions cause in proportion to them."""
    headings = tuple(column.label for column in comparison.columns)
    counts = [("event", *headings, "")]
    proportions = [("per 1000 Ir", *headings, "")]
    for name, event in comparison.events.items():
        counts.append((name, *map(_number, comparison.totals(name)), event.meaning))
        found = comparison.per_instruction(name)
        if any(rate is not None for rate in found):
            proportions.append((name, *map(_per_thousand, found), event.meaning))
    text = style.screen.title("Program")
    if any(column.share is not None for column in comparison.columns):
        words = [column.share.words() if column.share else "unknown" for column in comparison.columns]
        counts.insert(1, (TIME, *words, "Share of the time that misses take, an estimate"))
    for rows in (counts, proportions):
        heading, *lines = aligned(rows)
        if lines:
            text += [style.screen.heading(heading), *lines, ""]
    return text


def _number(count: int | None) -> str:
    return "-" if count is None else f"{count:,}"


def _per_thousand(rate: Fraction | None) -> str:
    return "-" if rate is None else f"{1000 * rate.numerator / rate.denominator:,.3f}"


def _table(
    comparison: Comparison, table: Compared, place: int, event: str, style: Style
) -> list[str]:
    counts = [row.counts[place] for row in table.rows]
    names = [_name(table, row.names) for row in table.rows]
    if table.omitted:
        counts.append(table.rest[place])
    wholes: list[float] = [total or 0 for total in comparison.totals(event)]
    if comparison.has_time(event):
        wholes = [float(column.share.cycles) for column in comparison.columns if column.share]
    columns = [
        _column(column.label, [across[number] for across in counts], whole, style)
        for number, (column, whole) in enumerate(zip(comparison.columns, wholes))
    ]
    names = style.screen.labels(names, sum(2 + width for width, _ in columns))
    if table.omitted:
        what = table.one if table.omitted == 1 else table.many
        why = "without counts" if comparison.leaves_out_nothing else "below the threshold"
        names.append(f"{table.omitted:,} {what} {why}")
    cells = zip(*(cells for _, cells in columns), [HEADINGS[table.by], *map(printable, names)])
    heading, *lines = ("  ".join(row).rstrip() for row in cells)
    what = comparison.said(event) + (" and share of time" if comparison.has_time(event) else "")
    by = "" if event == comparison.primary else comparison.said(comparison.primary) + ", "
    title = f"By {table.by}: {what}, sorted by {by}the most in any column"
    return [*style.screen.title(title), style.screen.heading(heading), *lines, ""]


def _column(label: str, counts: Sequence[int | None], total: float, style: Style) -> tuple[int, list[str]]:
    """The width, and the cells with the heading first."""
    shares = [percentage(count or 0, total) if style.show_percs else "" for count in counts]
    shares = [f" ({share})" if share else "" for share in shares]
    most = max(map(len, shares), default=0)
    texts = [f"{_number(count)}{share:>{most}}" for count, share in zip(counts, shares)]
    width = max(map(len, (label, *texts)))
    painted = [
        style.screen.paint(text.rjust(width), weight(count / total) if count and total else "")
        for text, count in zip(texts, counts)
    ]
    return width, [printable(label).rjust(width), *painted]


def _name(table: Compared, names: Names) -> str:
    parts = []
    at = 0
    for level in VIEWS[table.by].levels:
        parts.append(label_of(level.fields, names[at : at + len(level.fields)]))
        at += len(level.fields)
    return " / ".join(parts)
