# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says in one sentence what misses take of the time, where most of it, and whether that is a lot."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..base.text import in_brackets
from ..formats.outfile import UNKNOWN, Counts
from ..formats.share import CYCLES, Share, share_of
from .compare import Comparison
from .events import Event, Events
from .profile import Profile
from .rows import VIEWS, Names

# docs/is-it-a-lot.md has the same, and why.
NOTHING = Fraction(1, 100)
FREE = Fraction(5, 100)

MUCH = Fraction(1, 5)  # of all miss cycles, in one place

_FUNCTION = ("file", "function", "object")


def worth(share: Share) -> str:
    """Whether such a share of the time deserves work."""
    if share.most < NOTHING:
        return "nothing to win, below 1%"
    if share.most < FREE:
        return "worth what is free, such as transparent huge pages (below 5%)"
    return "worth a look (5% or more)" if share.least >= FREE else "may be worth a look (5% or more)"


class Verdict(NamedTuple):
    """A sentence: what stands before the name of the place, the name, and what stands behind it."""

    before: str
    place: str = ""
    behind: str = ""

    def text(self) -> str:
        return self.before + self.place + self.behind


def _misses(share: Share) -> str:
    return f"TLB misses take {share.words()} of the time (estimate)"


def _most_costly(
    rows: Iterable[tuple[Names, Counts]], cycles: Event, keys: Sequence[Event]
) -> tuple[Names, int] | None:
    """The first row of the table in its usual order."""
    found = min(rows, key=lambda row: (*(-abs(event.of(row[1])) for event in keys), row[0]), default=None)
    return None if found is None or not cycles.of(found[1]) else (found[0], cycles.of(found[1]))


def _label(names: Names) -> str:
    """Shorter than in a table: of code the function and the file's name of its object."""
    if len(names) != len(_FUNCTION):
        return str(names[0])
    _, function, whole = map(str, names)
    place = in_brackets(os.path.basename(whole))
    if function == UNKNOWN:
        return "code without symbols" if whole == UNKNOWN else f"code without symbols {place}"
    return function if whole == UNKNOWN else f"{function} {place}"


def of_profile(profile: Profile, by: Sequence[str]) -> Verdict | None:
    """None: the files do not say what misses take. Of data, the place is that which costs most."""
    events = Events(profile)
    cycles = events.by_name.get(CYCLES)
    if cycles is None:
        return None
    view = VIEWS["data" if "data" in by else "function"]
    found = _most_costly(view.sums(profile), cycles, events.default_sort())
    place = _label(found[0]) if found is not None else ""
    if profile.diff:
        first, second = (share_of([out]) for out in profile.files)
        if first is None or second is None:
            return None
        before = f"{_misses(first)} in the first file, {second.words()} in the second"
        return Verdict(before + ("; most of the change: " if place else "; nothing changed"), place)
    share = share_of(profile.files)
    if share is None:
        return None
    if found is None:
        return Verdict(f"{_misses(share)}; {worth(share)}")
    part = Fraction(found[1], cycles.of(profile.totals))
    spread = "" if part >= MUCH else "spread over many places: "
    before = f"{_misses(share)}, {spread}{float(100 * part):.1f}% of that in "
    return Verdict(before, place, f"; {worth(share)}")


def of_comparison(comparison: Comparison) -> Verdict | None:
    """From the least to the most of all columns."""
    shares = [(column.share, column.label) for column in comparison.columns if column.share is not None]
    if len(shares) < len(comparison.columns):
        return None
    (low, of_low), (high, of_high) = (
        choose(shares, key=lambda item: item[0].most) for choose in (min, max)
    )
    if of_low == of_high:
        return Verdict(f"{_misses(high)}; {worth(high)}")
    return Verdict(f"{_misses(low)} in {of_low}, {high.words()} in {of_high}; {worth(high)}")
