# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Selects what of a profile is shown, in which order, above which threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from ..base.closest import did_you_mean
from ..base.errors import ReportError
from ..formats.outfile import Counts
from ..formats.share import CYCLES, share_of
from .events import Event, Events, TimeShare
from .profile import Profile

ALL = "all"


@dataclass
class Selection:
    shown: list[Event]
    sort: list[Event]
    primary: Event | None  # the first sort event that happened at all
    threshold: Fraction  # percent of the program's count of `primary`
    least: int  # the same as a count, rounded up, as counts are compared with it
    time: TimeShare | None = None  # beside the events; None: of no interest, or not known

    def matters(self, counts: Counts) -> bool:
        return any(counts) and (self.primary is None or abs(self.primary.of(counts)) >= self.least)

    def rank(self, counts: Counts) -> tuple[int, ...]:
        """Sorts the largest first; of a difference, the largest change in either direction."""
        return tuple(-abs(event.of(counts)) for event in self.sort)


def select(
    profile: Profile,
    show: Sequence[str],
    sort: Sequence[str],
    threshold: Fraction,
    by_line: bool = False,
    sort_option: str = "--sort",
) -> Selection:
    """What is not shown by name is shown only if it differs from zero somewhere.

    Without `show` events of `sort` have columns, too: rows are in their order, and sums up to a row
    are theirs.
    With `by_line` a table will show lines, whose differences may cancel in their function.
    An error of `sort` names `sort_option`.
    """
    events = Events(profile)
    named = _choose(events, sort_option, sort)
    if list(show) == [ALL]:
        shown = list(events.by_name.values())
    else:
        usual = events.default_shown()
        usual = [*(event for event in named if event not in usual), *usual]
        shown = _choose(events, "--show", show) or _at_all(profile, usual, by_line)
    keys = named or events.default_sort()
    wholes = {event: max(map(event.of, profile.wholes)) for event in keys}
    primary = next(filter(wholes.get, keys), None)
    least = ceil(threshold * wholes[primary] / 100) if primary else 0
    return Selection(shown, keys, primary, threshold, least, _time(profile, events, [*shown, primary]))


def _time(profile: Profile, events: Events, used: Sequence[Event | None]) -> TimeShare | None:
    """Two runs' times cannot be subtracted."""
    cycles = events.by_name.get(CYCLES)
    share = None if profile.diff or cycles not in used else share_of(profile.files)
    return None if share is None or cycles is None else TimeShare(share, cycles)


def _at_all(profile: Profile, shown: list[Event], by_line: bool) -> list[Event]:
    """The events that happened, or, of a difference, that happened more or less often."""
    sums: list[Counts] = [profile.totals]
    if profile.diff and by_line:
        sums = [counts for lines in profile.lines().values() for counts in lines.values()]
    elif profile.diff:
        sums = list(profile.functions_by_file().values())
    return [event for event in shown if any(map(event.of, sums))] or shown


def _choose(events: Events, option: str, names: Sequence[str]) -> list[Event]:
    for name in names:
        if name not in events.by_name:
            there_are = ", ".join(events.by_name)
            closest = did_you_mean(name, events.by_name)
            raise ReportError(f"argument {option}: no event '{name}'; there are {there_are}{closest}")
    return events.named(names)
