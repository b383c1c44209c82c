# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What share of the time the misses of out-files take, from what the files say of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from .outfile import OutFile

CYCLES = "Wcyc"  # the event: what misses cost if each waits for the one before

_MISS_CYCLES = re.compile(r"([0-9]+)\.\.([0-9]+)(?: assumed)?")
_SHARE = re.compile(
    r"[0-9.]+%\.\.([0-9]{1,3}\.[0-9]{1,2})%"
    r"(?: of ([0-9]+) cycles| assumed: ([0-9]+)\.\.([0-9]+) instructions a cycle)"
)


class Share(NamedTuple):
    """Of the time that the files took together; 1 is all of it."""

    least: Fraction
    most: Fraction
    cycles: Fraction  # all of them, if misses take the most: a place's share is its cycles of these

    def words(self) -> str:
        return percent_range(self.least, self.most)


def percent_range(least: Fraction, most: Fraction) -> str:
    """As the tool's summary has it: "17 to 34%", with one decimal below 10 and none above."""
    ends = [_rounded(end) for end in (least, most)]
    return f"{ends[0]}%" if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}%"


def _rounded(share: Fraction) -> str:
    """Half up, away from zero."""
    hundredths = int(abs(share) * 10_000 + Fraction(1, 2))
    sign = "-" if share < 0 else ""
    if hundredths < 995:
        tenths = (hundredths + 5) // 10
        return f"{sign if tenths else ''}{tenths // 10}.{tenths % 10}"
    return f"{sign}{(hundredths + 50) // 100}"


# ---------------------------------------------------------------- what one file says

_TOLD = re.compile(r"(\d+)\.(\d\d)%\.\.(\d+)\.(\d\d)%(?: (.*))?")
_GIVEN = re.compile(r"\S+ of (\d+) cycles")


class Told(NamedTuple):
    """The share of one file, in its own digits."""

    least: Fraction
    most: Fraction
    basis: str  # what it is of, or what was assumed for it
    is_assumed: bool  # what a miss costs

    def words(self) -> str:
        return ("~" if self.is_assumed else "") + percent_range(self.least, self.most)


def told_by(out: OutFile) -> Told | None:
    facts = dict(out.descriptions)
    match = _TOLD.fullmatch(facts.get("Share of time", ""))
    if match is None:
        return None
    least, most = (Fraction(int(match[end] + match[end + 1]), 10_000) for end in (1, 3))
    return Told(least, most, match[5] or "", facts.get("Miss cycles", "").endswith(" assumed"))


def given_cycles(out: OutFile) -> int | None:
    """Of the native run, from --cycles=."""
    match = _GIVEN.fullmatch(dict(out.descriptions).get("Share of time", ""))
    return int(match[1]) if match else None


# ---------------------------------------------------------------- of several files

_OF_DATA = re.compile(
    r"([0-9]+)\.\.([0-9]+)( of ([0-9]+) cycles| assumed: ([0-9]+)\.\.([0-9]+) instructions a cycle)"
)


def described(said: str, instructions: int) -> list[tuple[str, str]]:
    """What an out-file says, from what a data file says of one machine."""
    found = _OF_DATA.fullmatch(said)
    if found is None:
        return []
    shares = []
    for cycles, per_cycle in ((int(found[1]), found[5]), (int(found[2]), found[6])):
        whole = Fraction(int(found[4])) if found[4] else Fraction(instructions, int(per_cycle)) + cycles
        shares.append(f"{float(100 * cycles / whole) if whole else 0:.2f}%")
    return [("Miss cycles", f"{found[1]}..{found[2]}"), ("Share of time", "..".join(shares) + found[3])]


class _Said(NamedTuple):
    """By one file."""

    machine: str
    least: int  # miss cycles
    most: int
    cycles: int | None  # of the run, where they were given
    per_cycle: tuple[int, int]  # instructions, else
    instructions: int


def _said(out: OutFile) -> _Said | None:
    """None: it does not say, as of a machine without costs."""
    facts = dict(out.descriptions)
    misses = _MISS_CYCLES.fullmatch(facts.get("Miss cycles", ""))
    share = _SHARE.fullmatch(facts.get("Share of time", ""))
    if misses is None or share is None or not {CYCLES, "Ir"} <= set(out.events):
        return None
    counts = dict(zip(out.events, out.whole or out.totals))
    return _Said(
        facts.get("Machine", ""),
        int(misses[1]),
        counts[CYCLES],
        int(share[2]) if share[2] else None,
        (int(share[3] or 0), int(share[4] or 0)),
        counts["Ir"],
    )


def share_of(files: Sequence[OutFile]) -> Share | None:
    """None: not known, or of several machines, or of several parts of one run whose cycles are known
    as a whole."""
    said = [_said(out) for out in files]
    known = [one for one in said if one is not None]
    if not known or len(known) < len(said):
        return None
    first = known[0]
    if len(known) > 1 and any(
        one.machine != first.machine
        or one.cycles is not None
        or one.per_cycle != first.per_cycle
        for one in known
    ):
        return None
    least = Fraction(sum(one.least for one in known))
    most = Fraction(sum(one.most for one in known))
    if first.cycles:
        return Share(least / first.cycles, most / first.cycles, Fraction(first.cycles))
    instructions = sum(one.instructions for one in known)
    slowest, fastest = (Fraction(instructions, per_cycle) for per_cycle in first.per_cycle)
    cycles = fastest + most
    if not cycles:
        return None
    return Share(least / (slowest + least) if slowest + least else Fraction(0), most / cycles, cycles)
