# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints a table of rows.py as text."""

from __future__ import annotations

from ..base.text import in_brackets, percentage
from ..formats.outfile import UNKNOWN
from .profile import Profile
from .rows import LINE_INCLUSIVE, Names, Rows
from .selection import Selection
from .table import Row, Style, Table

HEADINGS = {
    "function": "file:function [object]",
    "file": "source file",
    "object": "object",
    "data": "data",
    "data:offset": "data / offset within its records",
    "line": "file:line",
    LINE_INCLUSIVE: "file:line, with what is inlined and called there",
    "file:function": "source file / file:function [object]",
    "function:file": "file:function [object] / source file",
}


def has_cumulated(profile: Profile, selection: Selection, style: Style) -> bool:
    """Whether tables have the column "cum.", which adds up percentages downwards."""
    return style.show_percs and not profile.diff and selection.primary is not None


def listing(
    profile: Profile, selection: Selection, by: str, table: Rows, style: Style
) -> list[str]:
    """One table: what matters, largest first, then all the rest in one row."""
    adds_up = table.rest is not None
    primary = selection.primary if adds_up and has_cumulated(profile, selection, style) else None
    rows: list[Row] = []
    so_far = 0

    def before(cumulated: str = "") -> str:
        return "" if primary is None else f"{cumulated:>6}  "

    def the_rest(rows_of: Rows, indent: str) -> None:
        if rows_of.omitted:
            what = rows_of.one if rows_of.omitted == 1 else rows_of.many
            # Without a threshold, only what has no count at all is left out.
            why = f"below {float(selection.threshold):g}%" if selection.least else "without counts"
            text = f"{rows_of.omitted:,} {what} {why}"
            rows.append(Row(rows_of.rest, text, before() + indent))

    for names, counts, parts in table.rows:
        share = ""
        if primary is not None:
            so_far += primary.of(counts)
            share = percentage(so_far, primary.of(profile.totals))
        rows.append(Row(counts, label_of(table.fields, names), before(share), True))
        if parts is not None:
            for part in parts.rows:
                label = label_of(parts.fields, part.names)
                rows.append(Row(part.counts, label, before() + _INDENT, True))
            the_rest(parts, _INDENT)
    the_rest(table, "")
    name = (selection.primary or selection.sort[0]).said()
    heading = before("cum.") + HEADINGS[by]
    printed = Table(profile, selection, style).lines(rows, heading)
    return [*style.screen.title(f"By {by}, sorted by {name}"), *printed, ""]


_INDENT = "  "


def label_of(fields: tuple[str, ...], names: Names) -> str:
    named = dict(zip(fields, names))
    if "function" in named:
        place = f"{named['file']}:{named['function']}"
        return place if named["object"] == UNKNOWN else f"{place} {in_brackets(str(named['object']))}"
    if "line" in named:
        return f"{named['file']}:{named['line'] or UNKNOWN}"
    return str(names[0])
