# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the head of a report: metadata, and the counts of the whole program."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..base.errors import printable
from ..base.text import aligned, percentage, title
from .events import Events
from .facts import Change, Fact, Rate, changes, rates
from .profile import Profile
from .selection import Selection
from .table import Table


def head(facts: Sequence[Fact]) -> list[str]:
    width = 2 + max(len(name) for name, _ in facts)
    return [*title("Metadata"), *(printable(f"{n + ':':<{width}}{v}") for n, v in facts), ""]


def summary(profile: Profile, selection: Selection, show_percs: bool) -> list[str]:
    table = Table(selection.shown, profile.base, show_percs)
    text = [*title("Summary"), *table.lines([(profile.totals, "PROGRAM TOTALS")], ""), ""]
    if profile.diff:
        text += [*_changes(changes(profile)), ""]
    elif Events(profile).derived:
        text += [*_rates(rates(profile)), ""]
    return text


def _changes(events: Sequence[Change]) -> list[str]:
    rows = [("event", "first", "second", "difference", "", "")]
    for event, first, second in events:
        change = second - first
        numbers = (f"{first:,}", f"{second:,}", f"{change:+,}")
        rows.append((event.name, *numbers, percentage(change, first), event.meaning))
    return aligned(rows)


def _rates(events: Sequence[Rate]) -> list[str]:
    def shown(factor: int, rate: Fraction | None, unit: str = "") -> str:
        if rate is None:
            return ""
        # Divided as integers, which rounds once.
        return f"{factor * rate.numerator / rate.denominator:,.3f}{unit}"

    rows = [("event", "count", "per 1000 Ir", "of accesses", "of L1 misses", "")]
    for event, count, per_instruction, per_access, per_l1_miss in events:
        proportions = (
            shown(1000, per_instruction),
            shown(100, per_access, "%"),
            shown(100, per_l1_miss, "%"),
        )
        rows.append((event.name, f"{count:,}", *proportions, event.meaning))
    return aligned(rows)
