# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes the tables of faults: by kind, memory, code and system call, over time, and by use.

A table is data here, of exact numbers. faulttables.py prints it as text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..base.documents import Record, Table
from ..formats.fault import KINDS, UNKNOWN, VIEWS, Fault, Map, count_pages
from ..formats.faultlog import ARRIVALS, FaultLog, Used
from . import faultstacks

GROUPS = ("kind", "mapping", "memory", "object", "function", "syscall", "caller", "inclusive")

_PROGRAM = "<the program itself>"


def _labels(view: int) -> dict[str, Callable[[Fault], str]]:
    return {
        "kind": lambda fault: KINDS[fault.kind(view)],
        "mapping": lambda fault: fault.map.label,
        "memory": lambda fault: fault.map.memory,
        "object": lambda fault: fault.by if fault.code.object == UNKNOWN and fault.by else fault.code.object,
        "function": lambda fault: _function(fault),
        "syscall": lambda fault: fault.by or _PROGRAM,
        "caller": faultstacks.caller,
    }


def _keys(view: int, by: str) -> Callable[[Fault], Iterable[str]]:
    """The rows that a fault is counted in."""
    if by == "inclusive":
        return faultstacks.active
    label = _labels(view)[by]
    return lambda fault: (label(fault),)


def _function(fault: Fault) -> str:
    if fault.code.object == UNKNOWN and fault.by:
        return f"<{fault.by}>"
    return faultstacks.name(fault.code)


def _ranked(
    name: str, fields: tuple[str, ...], columns: tuple[str, ...], rows: Sequence[Record], top: int
) -> Table:
    """A table of at most `top` rows, the last of which is the sum of all that have no room."""
    rest = rows[top - 1 :] if top and len(rows) > top else rows[:0]
    sums = tuple(sum(column) for column in zip(*(row.values for row in rest)))
    return Table(name, fields, columns, rows[: len(rows) - len(rest)], len(rest), sums)


def _without_sum(by: str, columns: tuple[str, ...], rows: Sequence[Record], top: int) -> Table:
    """Where a fault stands in several rows: how many others there are, and not what they come to."""
    kept = rows[: top or None]
    return Table(by, (by,), columns, kept, len(rows) - len(kept), (None,) * len(columns))


def summary(log: FaultLog) -> Table:
    rows = []
    for name in VIEWS:
        total = log.totals[name]
        hidden = log.hidden[name][0] if name in log.hidden else None
        values = (total.faults, total.faults - total.major, total.major, *total.kinds, hidden)
        rows.append(Record((name,), values))
    columns = ("faults", "minor", "major", *KINDS.values(), "of_Valgrind")
    return Table("view", ("view",), columns, rows)


class _Sums:
    """Counts of faults, of each kind, of major ones, and of pages brought, for each label."""

    def __init__(self, log: FaultLog, view: int, by: str) -> None:
        if by in faultstacks.GROUPS:
            faultstacks.need(log)
        keys = _keys(view, by)
        self.kinds: dict[str, Counter[str]] = defaultdict(Counter)
        self.major: Counter[str] = Counter()
        self.brought: Counter[str] = Counter()
        for fault, times in log.counts(view):
            for key in keys(fault):
                self.kinds[key][fault.kind(view)] += times
                self.major[key] += times * fault.is_major(view)
                self.brought[key] += times * count_pages(fault.brought(view))

    def faults(self, label: str) -> int:
        return sum(self.kinds[label].values()) if label in self.kinds else 0


def table(log: FaultLog, view: int, by: str, top: int) -> Table:
    """Those with most faults first."""
    sums = _Sums(log, view, by)
    kinds = [] if by == "kind" else list(KINDS)
    rows = []
    for label in sorted(sums.kinds, key=lambda label: (-sums.faults(label), label)):
        counts = [sums.kinds[label][kind] for kind in kinds]
        values = (sums.faults(label), *counts, sums.major[label], sums.brought[label])
        rows.append(Record((label,), values))
    columns = ("faults", *(KINDS[kind] for kind in kinds), "major", "brought")
    if by == "inclusive":
        return _without_sum(by, columns, rows, top)
    return _ranked(by, (by,), columns, rows, top)


def compare(logs: Sequence[FaultLog], view: int, by: str, top: int) -> Table:
    """Two logs beside each other, those first whose count changed most."""
    first, second = (_Sums(log, view, by) for log in logs)
    labels = {*first.kinds, *second.kinds}

    def change(label: str) -> int:
        return second.faults(label) - first.faults(label)

    rows = [
        Record((label,), (first.faults(label), second.faults(label), change(label)))
        for label in sorted(labels, key=lambda label: (-abs(change(label)), label))
    ]
    if by == "inclusive":
        return _without_sum(by, ("first", "second", "difference"), rows, top)
    return _ranked(by, (by,), ("first", "second", "difference"), rows, top)


def before_and_after(
    logs: Sequence[FaultLog], view: int, groups: Sequence[str]
) -> Iterator[tuple[str, int, int]]:
    """The faults of two logs: all, and each row of the groups, as " of LABEL"."""
    before, after = (log.totals[VIEWS[view]].faults for log in logs)
    yield "", before, after
    for by in groups:
        first, second = (_Sums(log, view, by) for log in logs)
        for label in sorted({*first.kinds, *second.kinds}):
            yield f" of {label}", first.faults(label), second.faults(label)


def growth(log: FaultLog, view: int, steps: int) -> Table:
    """How many faults there have been after each part of the run's instructions."""
    faults = list(log.of(view))
    end = faults[-1].instructions if faults else 0
    rows = []
    counts: Counter[str] = Counter()
    at = 0
    for step in range(1, steps + 1):
        until = end * step // steps
        while at < len(faults) and faults[at].instructions <= until:
            counts[faults[at].kind(view)] += 1
            at += 1
        rows.append(Record((until,), (at, *(counts[kind] for kind in KINDS))))
    return Table("growth", ("instructions",), ("faults", *KINDS.values()), rows)


def _may_be_one(one: Map, other: Map) -> bool:
    """Whether the kernel may have made one mapping of two that touch: of the same file in one line,
    or of memory without a file. What it brings does not stop where a call's mapping ended."""
    if "file" not in (one.what, other.what):
        return True
    return (
        one.what == other.what
        and one.name == other.name
        and one.offset - one.start == other.offset - other.start
    )


# Of a page that was not there: one that was brought along has gone unused, as by munmap.
_MISSING = "xrzw"


def waste(log: FaultLog, view: int, top: int) -> Table:
    """Pages that faults brought along, and whether they were touched later. The 4k view has it:
    each page that is touched at all is a fault there."""
    faulted: Counter[str] = Counter()
    brought: Counter[str] = Counter()
    used: Counter[str] = Counter()
    pending: dict[int, Map] = {}  # brought and not yet touched: whose fault brought it
    for fault in log.faults:
        owner = pending.get(fault.page)
        kind = fault.kind(view)
        if owner is not None and _may_be_one(owner, fault.map):
            del pending[fault.page]
            used[owner.label] += not kind or kind not in _MISSING
        if not kind:
            continue
        faulted[fault.map.label] += 1
        for first, last in fault.brought(view):
            brought[fault.map.label] += last - first + 1
            for distance in range(first, last + 1):
                pending[fault.page + distance * log.page_size] = fault.map
    rows = []
    for label in sorted(faulted, key=lambda label: (used[label] - brought[label], label)):
        never = brought[label] - used[label]
        values = (faulted[label], brought[label], used[label], never, never * log.page_size // 1024)
        rows.append(Record((label,), values))
    columns = ("faults", "brought", "used_later", "never_used", "wasted_KiB")
    return _ranked("waste", ("mapping",), columns, rows, top)


def phase_range(log: FaultLog) -> Table:
    """What address randomisation can make of the warm view: it moves each group by itself."""
    rows = []
    sums = [0.0] * 4
    for name, counts in log.phases.items():
        values = (min(counts), sum(counts) / len(counts), max(counts), counts[0])
        sums = [total + value for total, value in zip(sums, values)]
        rows.append(Record((name,), values))
    low, mean, high, here = sums
    rows.append(Record(("all",), (int(low), mean, int(high), int(here))))
    return Table("phase_range", ("group",), ("minimum", "mean", "maximum", "as_laid_out"), rows)


# ---------------------------------------------------------------- bytes used

_USED = ("pages", "never_used", "bytes_used", "bytes_unused")


def used_there(log: FaultLog, view: int) -> Iterator[Used]:
    return (run for run in log.used if run.is_there(view))


def _use(log: FaultLog, runs: Iterable[Used]) -> tuple[int, ...]:
    runs = list(runs)
    pages = sum(run.pages for run in runs)
    used = sum(run.pages * run.bytes for run in runs)
    untouched = sum(run.pages for run in runs if not run.bytes)
    return pages, untouched, used, pages * log.page_size - used


def used_by_arrival(log: FaultLog, view: int) -> Table:
    sums: dict[str, list[Used]] = defaultdict(list)
    for run in used_there(log, view):
        sums[run.kinds[view]].append(run)
    rows = [
        Record((name,), _use(log, sums[kind])) for kind, name in ARRIVALS.items() if kind in sums
    ]
    return Table("used_by_arrival", ("came_by",), _USED, rows)


def used_by_mapping(log: FaultLog, view: int, top: int) -> Table:
    """Those first that waste most."""
    sums: dict[tuple[str, str], list[Used]] = defaultdict(list)
    for run in used_there(log, view):
        sums[run.map.label, run.kinds[view]].append(run)
    uses = {key: _use(log, runs) for key, runs in sums.items()}
    rows = [
        Record((label, ARRIVALS[kind]), uses[label, kind])
        for label, kind in sorted(uses, key=lambda key: (-uses[key][-1], key))
    ]
    return _ranked("used_by_mapping", ("mapping", "came_by"), _USED, rows, top)


def least_used(log: FaultLog, view: int, top: int) -> Table:
    """Pages of which little was used; those of which nothing was are counted elsewhere."""
    runs = sorted((run for run in used_there(log, view) if run.bytes), key=lambda run: run.bytes)
    rows = [
        Record((run.map.place(run.page), ARRIVALS[run.kinds[view]]), (run.bytes, run.pages))
        for run in runs[: top or None]
    ]
    return Table("least_used", ("page", "came_by"), ("bytes_used", "pages"), rows)
