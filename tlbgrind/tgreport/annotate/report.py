# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints what is said of the whole program: one line above the tables, and a legend below them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction

from ..base.errors import printable
from ..base.names import cut
from ..base.text import aligned, wrapped
from ..formats.share import CYCLES
from .events import Event, Events
from .facts import Fact, Headline, changes, inlined_from_elsewhere, rates
from .listing import has_cumulated
from .profile import Profile
from .selection import Selection
from .table import TIME, Style, share_of
from .verdict import Verdict

_OF_TIME = f"Share of the time that {CYCLES} take; in tables at most"
_LEAST_COMMAND = 20
_MOST_OF_FILE = 20
_LEAST_COLUMNS = 3  # of the legend: event, count, meaning; rates go first where they do not fit


def headline(line: Headline, style: Style) -> list[str]:
    """One line: of which run, on which machine, and what it comes to."""
    screen = style.screen
    machine = f" on {line.machine}" if line.machine else ""
    rest = f"{line.file}: {machine}; {line.result}"
    room = max(_LEAST_COMMAND, screen.width - len(rest))
    command = line.command if screen.wide else cut(line.command, room)
    return [screen.heading(printable(f"{line.file}: {command}{machine}; {line.result}")), ""]


def said(verdict: Verdict | None, style: Style) -> list[str]:
    """The answer, before all else; the name of the place shortened until it fits two lines."""
    if verdict is None:
        return []
    screen = style.screen
    if screen.wide:
        return [screen.heading(printable(verdict.text())), ""]
    used = max(0, len(verdict.before) + len(verdict.behind) - screen.width)
    place = screen.labels([verdict.place], used)[0] if verdict.place else ""
    text = printable(verdict._replace(place=place).text())
    return [*(screen.heading(line) for line in wrapped("", text, screen.width)), ""]


def metadata(facts: Sequence[Fact], style: Style) -> list[str]:
    width = 2 + max(len(name) for name, _ in facts)
    lines = [printable(f"{n + ':':<{width}}{v}") for n, v in facts]
    return [*style.screen.title("Metadata"), *lines, ""]


def cumulated(profile: Profile, selection: Selection, style: Style) -> list[Fact]:
    """What the column "cum." means, where there is one."""
    if not has_cumulated(profile, selection, style) or selection.primary is None:
        return []
    return [("cum.", f"Share of {selection.primary.name} of this row and all above it")]


def legend(
    profile: Profile,
    selection: Selection,
    style: Style,
    everything: bool,
    others: Sequence[Fact] = (),
) -> list[str]:
    """What the columns mean, and what the whole program has of each; or so of every event.

    `others` are the columns and signs that are no events.
    """
    events = list(selection.shown)
    if everything:
        events += [event for event in Events(profile).by_name.values() if event not in events]
    rows = _changes(profile, events) if profile.diff else _rates(profile, events)
    blanks = [""] * (len(rows[0]) - 2)
    at = 1 + len(selection.shown)
    rows[at:at] = [(name, *blanks, meaning) for name, meaning in others]
    if selection.time is not None:
        rows[1:1] = [(TIME, selection.time.share.words(), *blanks[1:], _OF_TIME)]
    # The columns that have something in them; the meaning has no heading.
    columns = [column for column in zip(*rows) if any(column[1:])]
    heading, *lines = aligned(list(zip(*columns)))
    while len(columns) > _LEAST_COLUMNS and max(map(len, lines)) > style.screen.width:
        del columns[-2]
        heading, *lines = aligned(list(zip(*columns)))
    text = [*style.screen.title("Columns"), style.screen.heading(heading), *lines, ""]
    if not everything:
        text += [_more(profile), ""]
    return text


def _more(profile: Profile) -> str:
    assumptions = {
        fact for out in profile.files for fact in out.descriptions if fact[0] == "Assumption"
    }
    count = len(assumptions)
    added = f", {count} assumption{'s' * (count > 1)}" if count else ""
    return f"--verbose adds: other events, the machine's arrays{added}, metadata."


def _changes(profile: Profile, events: Sequence[Event]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("event", "first", "second", "difference", "", "")]
    for event, first, second in changes(profile, events):
        change = second - first
        numbers = (f"{first:,}", f"{second:,}", f"{change:+,}")
        rows.append((event.name, *numbers, share_of(change, first), event.meaning))
    return rows


def _rates(profile: Profile, events: Sequence[Event]) -> list[tuple[str, ...]]:
    def shown(factor: int, rate: Fraction | None, unit: str = "") -> str:
        if rate is None:
            return ""
        # Divided as integers, which rounds once.
        return f"{factor * rate.numerator / rate.denominator:,.3f}{unit}"

    rows: list[tuple[str, ...]] = [("event", "count", "per 1000 Ir", "of accesses", "of L1 misses", "")]
    for event, count, per_instruction, per_access, per_l1_miss in rates(profile, events):
        proportions = (
            shown(1000, per_instruction),
            shown(100, per_access, "%"),
            shown(100, per_l1_miss, "%"),
        )
        rows.append((event.name, f"{count:,}", *proportions, event.meaning))
    return rows


def where_inlined(profile: Profile, selection: Selection) -> list[str]:
    """How to find the program's own lines, if much is on those of a library that was inlined."""
    found = inlined_from_elsewhere(profile, selection)
    if found is None or selection.primary is None:
        return []
    what = f"{round(100 * found.share)}% of {selection.primary.name} is inlined code of other files"
    file = cut(printable(os.path.basename(found.file)), _MOST_OF_FILE)
    return [
        f"{what} ({file}); the lines that use it,",
        "of a run with --dump-instr=yes:  tg_annotate --by=line:inclusive OUTFILE",
        "",
    ]
