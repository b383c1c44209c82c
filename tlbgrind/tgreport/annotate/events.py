# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Defines the columns: events in the out-file, and sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from ..formats.outfile import Counts
from ..formats.share import CYCLES, Share
from .profile import Profile


class Event(NamedTuple):
    name: str
    meaning: str
    parts: tuple[int, ...]  # which recorded counts add up to it

    def of(self, counts: Counts) -> int:
        return sum(map(counts.__getitem__, self.parts))

    def said(self) -> str:
        """In titles."""
        return f"miss cycles ({CYCLES})" if self.name == CYCLES else self.name


class TimeShare(NamedTuple):
    """A column that is no event: the share of the time that the program's misses of a row take."""

    share: Share
    cycles: Event

    def of(self, counts: Counts) -> Fraction:
        return self.cycles.of(counts) / self.share.cycles


# Recorded events are named <level><t>m<r|w>; leaving a letter out of a name means "all of them".
DERIVED = (
    ("walks", "Page walks, of instructions, reads and writes", ("ILtm", "DLtmr", "DLtmw")),
    ("DLtm", "Data page walks", ("DLtmr", "DLtmw")),
    ("L2tm", "L2 TLB misses, of instructions, reads and writes", ("I2tm", "D2tmr", "D2tmw")),
    ("D2tm", "L2 data TLB misses", ("D2tmr", "D2tmw")),
    ("L1tm", "L1 TLB misses, of instructions, reads and writes", ("I1tm", "D1tmr", "D1tmw")),
    ("D1tm", "L1 data TLB misses", ("D1tmr", "D1tmw")),
    ("Drw", "Data reads and writes", ("Dr", "Dw")),
)

# What misses cost comes first, then what they are; Ir tells what it is in proportion to.
_PREFERRED = (CYCLES, "walks", "ILtm", "DLtm", "L2tm", "L1tm", "Ir")
_SORT = (CYCLES, "walks", "L1tm", "Ir")
_SUMMED_UP = {part for _, _, parts in DERIVED for part in parts}

# Where there are costs, they contain these, and names need the room.
_IN_CYCLES = ("ILtm", "DLtm", "Wref")

# What out-files call it, and what it is.
_CYCLES_OF_FILES = "Cycles of misses, an estimate"
_CYCLES_AT_MOST = "Cycles of L1 misses and walks at most, an estimate"


def _meaning(name: str, said: str) -> str:
    return said.replace(_CYCLES_OF_FILES, _CYCLES_AT_MOST) if name == CYCLES else said


# What out-files of tlbgrind can have, and sums of it.
USUAL = (
    *(name for name, _, _ in DERIVED),
    *("Ir", "I1tm", "I2tm", "ILtm", "Dr", "D1tmr", "D2tmr", "DLtmr", "Dw", "D1tmw", "D2tmw", "DLtmw"),
    *("PFi", "PFr", "PFw", "Wref", "Wcyc"),
    *("FLall", "FLone", "FLin", "FLout", "FLhot", "FLrem"),
    *("Pref", "P1tm", "PLtm", "Pvain", "Pdrop"),
)


class Events:
    """Every event that can be shown, by name, in the order in which "all" shows them."""

    def __init__(self, profile: Profile) -> None:
        names = profile.events
        self.recorded = [
            Event(name, _meaning(name, profile.long_names.get(name, "")), (place,))
            for place, name in enumerate(names)
        ]
        self.derived = [
            Event(name, meaning, tuple(map(names.index, parts)))
            for name, meaning, parts in DERIVED
            if name not in names and set(parts) <= set(names)
        ]
        self.by_name: dict[str, Event] = {
            event.name: event for event in (*self.recorded, *self.derived)
        }

    def default_shown(self) -> list[Event]:
        """The cost, the sums of the TLB events, and each event that no sum is known to contain."""
        if "walks" not in self.by_name:
            return self.recorded
        others = [event.name for event in self.recorded if event.name not in _SUMMED_UP]
        left_out = _IN_CYCLES if CYCLES in self.by_name else ()
        usual = [*filter(self.by_name.__contains__, _PREFERRED), *others]
        return self.named([name for name in usual if name not in left_out])

    def default_sort(self) -> list[Event]:
        if "walks" not in self.by_name:
            return self.recorded
        return self.named([*filter(self.by_name.__contains__, _SORT)])

    def named(self, names: Sequence[str]) -> list[Event]:
        return [self.by_name[name] for name in dict.fromkeys(names)]
