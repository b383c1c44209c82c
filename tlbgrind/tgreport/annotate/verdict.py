# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says in one sentence what misses take of the time, where most of it, and whether that is a lot."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from ..base.text import in_brackets
from ..formats.outfile import UNKNOWN, Function
from ..formats.share import CYCLES, Share, share_of
from ..formats.verdicts import look
from .compare import Comparison
from .events import Event, Events
from .profile import Profile
from .rows import Sums

MUCH = Fraction(1, 5)  # of all miss cycles, in one place


class Verdict(NamedTuple):
    """A sentence: what stands before the name of the place, the name, and what stands behind it."""

    before: str
    place: str = ""
    behind: str = ""

    def text(self) -> str:
        return self.before + self.place + self.behind


def _misses(share: Share) -> str:
    return f"TLB misses take {share.words()} of the time (estimate)"


def _dearest(profile: Profile, cycles: Event, by: Sequence[str]) -> tuple[str, int] | None:
    """The first row of the table of functions, or data, in its usual order, and its cycles."""
    if "data" in by:
        sums: Sums = [((label,), counts) for label, counts in profile.data().items()]
    else:
        one = profile.functions_by(cycles.parts[0])
        most = max(map(abs, one.values()), default=0)
        first = {function for function, count in one.items() if abs(count) == most}
        if len(first) == 1 and most:
            (function,) = first
            return _name(function), one[function]
        alike = profile.functions() if most else {}
        sums = [((f.file, f.name, f.object), alike[f]) for f in first if f in alike]
    keys = Events(profile).default_sort()
    found = min(sums, key=lambda row: (*(-abs(event.of(row[1])) for event in keys), row[0]), default=None)
    if found is None or not cycles.of(found[1]):
        return None
    names = tuple(map(str, found[0]))
    place = names[0] if len(names) == 1 else _name(Function(names[2], names[0], names[1]))
    return place, cycles.of(found[1])


def _name(function: Function) -> str:
    """Shorter than in a table: the function, and the file's name of its object."""
    place = in_brackets(os.path.basename(function.object))
    name = "code without symbols" if function.name == UNKNOWN else function.name
    return name if function.object == UNKNOWN else f"{name} {place}"


def _changed(found: tuple[str, int] | None, whole: int, are_shares_same: bool) -> str:
    """What stands before the place that changed most. The share changes with the instructions, too."""
    if found is None:
        return "nothing changed" if are_shares_same else "their cycles changed nowhere"
    return "most of the change: " if 2 * found[1] * whole >= whole * whole > 0 else "largest change: "


def of_profile(profile: Profile, by: Sequence[str]) -> Verdict | None:
    """None: the files do not say what misses take, or this is a part of the program.

    Where tables are by data, the place is the object of data that costs most.
    """
    cycles = Events(profile).by_name.get(CYCLES)
    if cycles is None or any(out.whole not in ((), out.totals) for out in profile.files):
        return None
    found = _dearest(profile, cycles, by)
    place = found[0] if found is not None else ""
    if profile.diff:
        first, second = (share_of([out]) for out in profile.files)
        if first is None or second is None:
            return None
        before = f"{_misses(first)} in the first file, {second.words()} in the second"
        changed = _changed(found, cycles.of(profile.totals), first == second)
        return Verdict(f"{before}; {changed}", place)
    share = share_of(profile.files)
    if share is None:
        return None
    if found is None:
        return Verdict(f"{_misses(share)}; {look(share.least, share.most)}")
    part = Fraction(found[1], cycles.of(profile.totals))
    spread = "" if part >= MUCH else "spread over many places: "
    before = f"{_misses(share)}, {spread}{float(100 * part):.1f}% of that in "
    return Verdict(before, place, f"; {look(share.least, share.most)}")


def of_comparison(comparison: Comparison) -> Verdict | None:
    """From the least to the most of all columns."""
    shares = [(column.share, column.label) for column in comparison.columns if column.share is not None]
    if len(shares) < len(comparison.columns):
        return None
    (low, of_low), (high, of_high) = (
        choose(shares, key=lambda item: item[0].most) for choose in (min, max)
    )
    if of_low == of_high:
        return Verdict(f"{_misses(high)}; {look(high.least, high.most)}")
    return Verdict(f"{_misses(low)} in {of_low}, {high.words()} in {of_high}; {look(high.least, high.most)}")
