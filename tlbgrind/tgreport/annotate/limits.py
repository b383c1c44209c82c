# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds the program's counts against limits, for builds and tests that are to fail above them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..base.closest import did_you_mean
from ..base.command import Value
from ..base.errors import ReportError
from ..formats.outfile import Counts, OutFile
from .events import Event

FORMS = "EVENT>N, EVENT/1000>N, EVENT/EVENT>N, share>N or, of a difference, P%, EVENT>P%"
SHARE = "share"  # in place of an event: the most that misses can have of the run's time, in percent


class Limit(NamedTuple):
    text: str
    event: str  # "": the first event of --sort
    per: str  # "": the count itself; digits: per so many instructions; else per this event
    most: Fraction
    is_growth: bool  # in percent of the first file's


class Run(NamedTuple):
    """An out-file's counts: what a limit looks at."""

    name: str
    events: Mapping[str, Event]
    counts: Counts
    share: Fraction | None = None  # None: not known


class Finding(NamedTuple):
    """A limit, held against one run."""

    limit: Limit
    run: str
    value: Fraction | None  # None: beyond all bounds, as growth from nothing is
    is_above: bool
    what: str  # for a reader


_NAME = "[A-Za-z][A-Za-z0-9]{0,63}"
_NUMBER = r"[0-9]{1,18}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}"
_LIMIT = re.compile(rf"(?:({_NAME})(?:\s*/\s*({_NAME}|[1-9][0-9]{{0,17}}))?\s*>\s*)?({_NUMBER})(%?)")


class limit_value(Value):
    def __init__(self) -> None:
        super().__init__("any")

    def __call__(self, text: str) -> Limit:
        found = _LIMIT.fullmatch(text.strip())
        if found is None or not (found[1] or found[4]):
            raise argparse.ArgumentTypeError(f"'{text}' is not {FORMS}")
        limit = Limit(text.strip(), found[1] or "", found[2] or "", Fraction(found[3]), bool(found[4]))
        if limit.per and SHARE in (limit.event, limit.per):
            raise argparse.ArgumentTypeError(f"'{text}': {SHARE} is a quotient already; {SHARE}>5")
        return limit


_SHARE = re.compile(r"[0-9.]+%\.\.([0-9]{1,3}\.[0-9]{1,2})%")


def share_of(files: Sequence[OutFile]) -> Fraction | None:
    """What one out-file says of the run's time. Several have no share in common."""
    said = [text for out in files for key, text in out.descriptions if key == "Share of time"]
    found = _SHARE.match(said[0]) if len(files) == len(said) == 1 else None
    return Fraction(found[1]) if found else None


def each_run(limits: Sequence[Limit], runs: Sequence[Run], primary: str) -> list[Finding]:
    """Counts and rates of every run; growth of every run but the first."""
    found = []
    for limit in limits:
        first = _value(limit, runs[0], primary)
        for run in runs[1:] if limit.is_growth else runs:
            value = _value(limit, run, primary)
            name = limit.event or primary
            name += f"/{limit.per}" if limit.per else ""
            if limit.is_growth:
                grown = _growth(first, value)
                found.append(_finding(limit, run, grown, f"{name} {_grown(first, value, grown, limit)}"))
            else:
                found.append(_finding(limit, run, value, f"{name} is {_number(value, limit)}"))
    return found


def difference(limits: Sequence[Limit], first: Run, second: Run, primary: str) -> list[Finding]:
    """Growth from the first file to the second: in percent, in counts, or of a rate."""
    found = []
    for limit in limits:
        if limit.is_growth:
            found += each_run([limit], [first, second], primary)
            continue
        before, after = (_value(limit, run, primary) for run in (first, second))
        change = None if before is None or after is None else after - before
        if before is None and after is None:
            change = Fraction(0)
        elif before is None:
            change = Fraction(-1)  # from beyond all bounds to a number: no growth
        name = limit.event + (f"/{limit.per}" if limit.per else "")
        old, new = (_number(value, limit) for value in (before, after))
        what = f"{name} grew by {_number(change, limit)}, from {old} to {new}"
        found.append(_finding(limit, second, change, what))
    return found


def _finding(limit: Limit, run: Run, value: Fraction | None, what: str) -> Finding:
    is_above = value is None or value > limit.most
    return Finding(limit, run.name, value, is_above, f"{what}, above {limit.text}: {run.name}")


def _value(limit: Limit, run: Run, primary: str) -> Fraction | None:
    if limit.event == SHARE:
        return _share(limit, run)
    count = _count(limit, run, limit.event or primary)
    if not limit.per:
        return Fraction(count)
    factor = int(limit.per) if limit.per.isdigit() else 1
    base = _count(limit, run, "Ir" if limit.per.isdigit() else limit.per)
    if not base:
        return None if count else Fraction(0)
    return Fraction(factor * count, base)


def _share(limit: Limit, run: Run) -> Fraction:
    if run.share is None:
        raise ReportError(
            f"argument --fail-above: '{limit.text}': no share of time in {run.name}: it is recorded for "
            "each run of a machine that tells what a walk costs, or with --miss-cost"
        )
    return run.share


def _count(limit: Limit, run: Run, event: str) -> int:
    if event not in run.events:
        there_are = ", ".join(run.events)
        raise ReportError(
            f"argument --fail-above: '{limit.text}': no event '{event}' in {run.name}; there are {there_are}"
            f"{did_you_mean(event, run.events)}"
        )
    return run.events[event].of(run.counts)


def _growth(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    """In percent of the first."""
    if first == second:
        return Fraction(0)
    if first is None:
        return Fraction(-100)
    if second is None or not first:
        return None
    return 100 * (second - first) / first


def _number(value: Fraction | None, limit: Limit) -> str:
    if value is None:
        return "unlimited"
    if limit.event == SHARE:
        return f"{float(value):.2f}%"
    return f"{int(value):,}" if value.denominator == 1 else _decimal(value)


def _decimal(value: Fraction) -> str:
    """In thousandths, of counts of any size."""
    whole, thousandths = divmod(abs(round(1000 * value)), 1000)
    return f"{'-' if value < 0 else ''}{whole:,}.{thousandths:03}"


def _grown(first: Fraction | None, second: Fraction | None, grown: Fraction | None, limit: Limit) -> str:
    by = "from nothing" if grown is None else f"by {_decimal(grown)}%"
    return f"grew {by}, from {_number(first, limit)} to {_number(second, limit)}"
