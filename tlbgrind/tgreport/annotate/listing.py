# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the tables of counts by function, source file, object or line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable, NamedTuple

from ..base.errors import ReportError
from ..base.text import percentage, title
from ..formats.outfile import UNKNOWN, Counts
from .profile import Profile, plus
from .selection import Selection
from .table import Row, Table

Sums = Iterable[tuple[str, Counts]]


def _by_function(profile: Profile) -> Sums:
    for function, counts in profile.functions().items():
        place = f"{function.file}:{function.name}"
        yield place if function.object == UNKNOWN else f"{place} [{function.object}]", counts


def _by_file(profile: Profile) -> Sums:
    return profile.source_files().items()


def _by_object(profile: Profile) -> Sums:
    return profile.objects().items()


def _by_line(profile: Profile) -> Sums:
    for file, lines in profile.lines().items():
        for line, counts in lines.items():
            yield f"{file}:{line or UNKNOWN}", counts


class View(NamedTuple):
    sums: Callable[[Profile], Sums]
    heading: str
    one: str  # what a row is
    many: str


VIEWS = {
    "function": View(_by_function, "file:function [object]", "function", "functions"),
    "file": View(_by_file, "source file", "file", "files"),
    "object": View(_by_object, "object", "object", "objects"),
    "line": View(_by_line, "file:line", "line", "lines"),
}


def listing(profile: Profile, selection: Selection, by: str, show_percs: bool) -> list[str]:
    """One table: what matters, largest first, then all the rest in one row."""
    view = VIEWS[by]
    primary = None if profile.diff or not show_percs else selection.primary
    rows: list[Row] = []
    rest = profile.zero
    omitted = 0
    so_far = 0

    def labelled(text: str, cumulated: str = "") -> str:
        return text if primary is None else f"{cumulated:>6}  {text}"

    # Sorted after the choice: of a hundred thousand lines, a few dozen matter.
    kept: list[tuple[str, Counts]] = []
    for label, counts in view.sums(profile):
        if selection.matters(counts):
            kept.append((label, counts))
        else:
            rest = plus(rest, counts)
            omitted += 1
    for label, counts in sorted(kept, key=lambda item: (selection.rank(item[1]), item[0])):
        share = ""
        if primary is not None:
            so_far += primary.of(counts)
            share = percentage(so_far, primary.of(profile.totals))
        rows.append((counts, labelled(label, share)))
    if omitted:
        what = view.one if omitted == 1 else view.many
        rows.append((rest, labelled(f"{omitted:,} {what} below the threshold")))
    check_sum(profile, rows, f"the table by {by}")
    table = Table(selection.shown, profile.base, show_percs)
    heading = labelled(view.heading, "cum.")
    name = (selection.primary or selection.sort[0]).name
    return [*title(f"By {by}, sorted by {name}"), *table.lines(rows, heading), ""]


def check_sum(profile: Profile, rows: list[Row], what: str) -> None:
    """Whatever is printed adds up to the program's totals, or nothing is printed."""
    total = profile.zero
    for counts, _ in rows:
        total = plus(total, counts or profile.zero)
    if total != profile.totals:
        raise ReportError(f"internal error: {what} adds up to {total}, not to {profile.totals}")
