# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says what each remedy would bring a recorded run, before anything is changed: --what-if.

A remedy is a change of the recorded touches (replay.py), or several changes where it is not known
which one is true: then the numbers are a range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..base.errors import ReportError
from ..formats.faultlog import FaultLog, view_number
from .replay import Change, Replay, Run, replay


class Range(NamedTuple):
    least: int
    most: int

    def __str__(self) -> str:
        ends = [f"{end:,}" for end in self]
        return ends[0] if self.least == self.most else f"{ends[0]} to {ends[1]}"


# The run of a program that was linked anew, without what the changes take away.
Relink = Callable[[Sequence[Change]], Run]


class Way(NamedTuple):
    """One of the ways a remedy can turn out."""

    changes: tuple[Change, ...]
    more: int = 0  # faults that are saved beside those of the changes
    relink: Relink | None = None  # what is replayed in the place of the run

    def replay(self, run: Run, is_cold: bool) -> Replay:
        if self.relink is not None:
            return replay(self.relink(self.changes), (), is_cold)
        return replay(run, self.changes, is_cold)


@dataclass
class Remedy:
    """What can be done, and what is known of it."""

    name: str
    how: str  # exact flags
    ways: Sequence[Way]  # none: it cannot be told
    assumption: str
    left_out: str
    joins: bool = True  # a combination may have it
    leads: bool = False  # it is linked anew, and a combination begins with it
    is_joined: bool = False  # it is a combination, whose parts are told
    knows_disk: bool = True  # what is read from the disk, and which faults wait for it

    @property
    def is_linked_anew(self) -> bool:
        return any(way.relink is not None for way in self.ways)

    @property
    def fits_links(self) -> bool:
        """Whether a program that is linked anew can have it, too: nothing of it says where pages are."""
        changes = [change for way in self.ways for change in way.changes]
        return not any(change.page or change.piece or change.populate[1] or change.executes for change in changes)


@dataclass
class Saved:
    """What a remedy saves."""

    remedy: Remedy
    minor: Range | None = None  # with all files in the page cache; None: not known
    major: Range | None = None  # with none
    kib: Range | None = None  # read from the disk then


@dataclass
class Forecast:
    """All remedies, the one that saves most first."""

    warm: Replay
    cold: Replay
    differs: Range  # the replay of the unchanged run from the log: faults, major faults
    saved: list[Saved]


def need(log: FaultLog) -> None:
    """Complains of a log that cannot say what would be."""
    if not log.knows_touches:
        raise ReportError(
            "does not say who touches which page; tlbgrind records that with --faults-touches=yes",
            log.path,
        )
    if "forked from" in log.header:
        raise ReportError("is of a forked process: --what-if takes that of a program from its start", log.path)
    if log.page_size != 4096:
        raise ReportError(f"pages of {log.page_size} bytes; --what-if knows 4096 only", log.path)


class Judge:
    """Computes what changes save of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.warm = replay(run)
        self.cold = replay(run, is_cold=True)

    def saved(self, remedy: Remedy) -> Saved:
        if not remedy.ways:
            return Saved(remedy)
        minor, major, kib = [], [], []
        for way in remedy.ways:
            warm, cold = way.replay(self.run, False), way.replay(self.run, True)
            minor.append(self.warm.faults - warm.faults + way.more)
            major.append(self.cold.major - cold.major)
            kib.append((self.cold.read - cold.read) * self.run.page_size // 1024)
        ranges = [Range(min(found), max(found)) for found in (minor, major, kib)]
        return Saved(remedy, *ranges) if remedy.knows_disk else Saved(remedy, ranges[0])


def forecast(run: Run, remedies: Sequence[Remedy]) -> Forecast:
    judge = Judge(run)
    saved = [judge.saved(remedy) for remedy in remedies]
    best = [one for one in saved if one.remedy.joins and one.minor is not None and one.minor.least > 0]
    best.sort(key=_rank)
    dynamic = [one for one in best if not one.remedy.is_linked_anew]
    saved += _combined(judge, best)
    if len(dynamic) < len(best):
        saved += _combined(judge, dynamic)
    leading = [one for one in saved if one.remedy.leads and one.minor is not None and one.minor.least > 0]
    if leading:
        saved += _combined(judge, [min(leading, key=_rank), *(one for one in dynamic if one.remedy.fits_links)])
    cold = view_number("cold")
    # The kernel's own pages are on no disk.
    major = sum(fault.is_major(cold) and fault.map.what == "file" for fault in run.log.of(cold))
    differs = Range(abs(judge.warm.faults - run.log.totals["warm"].faults), abs(judge.cold.major - major))
    return Forecast(judge.warm, judge.cold, differs, sorted(saved, key=_rank))


def _combined(judge: Judge, best: Sequence[Saved]) -> Iterator[Saved]:
    """The best one with the next that adds to it, and so on. Not every program can be static: without
    that there are combinations of their own, and with its libraries merged."""
    parts = list(best[:1])
    so_far = best[0] if best else None
    for one in best[1:]:
        more = judge.saved(_together([part.remedy for part in (*parts, one)]))
        if so_far is None or so_far.minor is None or more.minor is None or more.minor.least <= so_far.minor.least:
            continue
        parts.append(one)
        so_far = more
        yield more


def _rank(one: Saved) -> tuple[bool, int, str]:
    if one.minor is None:
        return True, 0, one.remedy.name
    return False, -(one.minor.least + one.minor.most), one.remedy.name


def _together(remedies: Sequence[Remedy]) -> Remedy:
    """The union of what they save: each fault counts once."""
    ways: list[Way] = [Way(())]
    for remedy in remedies:
        ways = [
            Way(way.changes + other.changes, way.more + other.more, way.relink or other.relink)
            for way in ways
            for other in remedy.ways
        ]
    return Remedy(
        " + ".join(remedy.name for remedy in remedies),
        "all of these",
        ways,
        "those of each of them",
        "",
        joins=False,
        is_joined=True,
        knows_disk=all(remedy.knows_disk for remedy in remedies),
    )
