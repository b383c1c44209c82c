# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints a table of rows.py as text."""

from __future__ import annotations

from ..base.text import percentage, title
from ..formats.outfile import UNKNOWN
from .profile import Profile
from .rows import Names, Rows
from .selection import Selection
from .table import Row, Table

_HEADINGS = {
    "function": "file:function [object]",
    "file": "source file",
    "object": "object",
    "line": "file:line",
    "file:function": "source file, function [object]",
    "function:file": "file:function [object], source file",
}


def listing(
    profile: Profile, selection: Selection, by: str, table: Rows, show_percs: bool
) -> list[str]:
    """One table: what matters, largest first, then all the rest in one row."""
    primary = None if profile.diff or not show_percs else selection.primary
    rows: list[Row] = []
    so_far = 0

    def labelled(text: str, cumulated: str = "") -> str:
        return text if primary is None else f"{cumulated:>6}  {text}"

    def the_rest(rows_of: Rows, indent: str) -> None:
        if rows_of.omitted:
            what = rows_of.one if rows_of.omitted == 1 else rows_of.many
            text = f"{indent}{rows_of.omitted:,} {what} below the threshold"
            rows.append((rows_of.rest, labelled(text)))

    for names, counts, parts in table.rows:
        share = ""
        if primary is not None:
            so_far += primary.of(counts)
            share = percentage(so_far, primary.of(profile.totals))
        rows.append((counts, labelled(_label(table.fields, names), share)))
        if parts is not None:
            for part in parts.rows:
                text = f"  {_label(parts.fields, part.names)}"
                rows.append((part.counts, labelled(text)))
            the_rest(parts, "  ")
    the_rest(table, "")
    heading = labelled(_HEADINGS[by], "cum.")
    name = (selection.primary or selection.sort[0]).name
    printed = Table(selection.shown, profile.base, show_percs).lines(rows, heading)
    return [*title(f"By {by}, sorted by {name}"), *printed, ""]


def _label(fields: tuple[str, ...], names: Names) -> str:
    named = dict(zip(fields, names))
    if "function" in named:
        place = f"{named['file']}:{named['function']}"
        return place if named["object"] == UNKNOWN else f"{place} [{named['object']}]"
    if "line" in named:
        return f"{named['file']}:{named['line'] or UNKNOWN}"
    return str(names[0])
