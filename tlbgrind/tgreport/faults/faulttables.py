# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the tables of faults: by kind, memory, code and system call, over time, and by use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..base.documents import Table, Value
from ..base.errors import printable
from ..base.names import cut
from ..base.terminal import Screen
from ..formats.fault import KINDS, VIEWS
from ..formats.faultlog import FaultLog, view_number
from ..formats.verdicts import (
    FAULT,
    NOTHING_TO_WIN,
    WORTH_PERCENT,
    longest_run,
    look,
    time_of_faults,
)
from . import faultrows

_TITLES = {
    "kind": "By kind",
    "mapping": "By mapping: the memory that was touched",
    "memory": "By memory: all mappings of a file together",
    "object": "By object: the code that touched it",
    "function": "By function: the code that touched it",
    "syscall": "By system call: what the kernel touched, and for whom",
    "caller": "By first caller that is not the C library",
    "inclusive": "By function with all that it calls: a fault is in several rows",
}
_REST = "<{} more>"


def numbers(values: Sequence[Value]) -> tuple[str, ...]:
    return tuple("" if value is None else f"{value:,}" for value in values)


def rows_of(table: Table) -> list[tuple[str, tuple[Value, ...]]]:
    """Labels and values, the sum of what has no room last."""
    rows = [(str(names[-1]), values) for names, values, _ in table.rows]
    return [*rows, (_REST.format(table.omitted), table.rest)] if table.omitted else rows


def table(log: FaultLog, view: int, by: str, top: int, screen: Screen) -> list[str]:
    found = faultrows.table(log, view, by, top)
    total = log.totals[VIEWS[view]]
    absent = {KINDS[kind] for kind, count in zip(KINDS, total.kinds) if not count}
    absent |= set() if total.major else {"major"}
    shown = [place for place, name in enumerate(found.columns) if name not in absent]
    _, *headings = (found.columns[place] for place in shown)
    rows: list[tuple[str, ...]] = [("faults", "share", *headings, by)]
    for label, values in rows_of(found):
        faults, *others = numbers([values[place] for place in shown])
        share = percent(values[0], total.faults) if values[0] is not None else ""
        rows.append((faults, share, *others, label))
    return screen.table(f"{_TITLES[by]}, view {VIEWS[view]}", rows, left=0, shares=True)


def compare(logs: Sequence[FaultLog], view: int, by: str, top: int, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [("first", "second", "difference", by)]
    first, second = (log.totals[VIEWS[view]].faults for log in logs)
    for label, values in [
        *rows_of(faultrows.compare(logs, view, by, top)),
        ("TOTAL", (first, second, second - first)),
    ]:
        before, after, change = values
        rows.append((*numbers((before, after)), "" if change is None else f"{change:+,}", label))
    return screen.table(f"{_TITLES[by]}, view {VIEWS[view]}", rows, left=0)


def growth(log: FaultLog, view: int, steps: int, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [("instructions", "faults", *KINDS.values(), "share")]
    total = log.totals[VIEWS[view]].faults
    for names, values, _ in faultrows.growth(log, view, steps).rows:
        share = percent(values[0], total) if total else ""
        rows.append((*numbers(names), *numbers(values), share))
    heading = f"Growth: faults after so many instructions, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def percent(part: Value, whole: int) -> str:
    return f"{100 * float(part or 0) / whole:.1f}%"


def waste(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    found = faultrows.waste(log, view, top)
    rows: list[tuple[str, ...]] = [(*(name.replace("_", " ") for name in found.columns), "mapping")]
    rows += [(*numbers(values), label) for label, values in rows_of(found)]
    heading = f"Pages brought along by faults, used or not, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def phase_range(log: FaultLog, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "minimum", "mean", "maximum", "as laid out")]
    for label, (low, mean, high, here) in rows_of(faultrows.phase_range(log)):
        rows.append((label, f"{low:,}", f"{mean:,.1f}", f"{high:,}", f"{here:,}"))
    heading = "Faults over the 16 phases that address randomisation can give, view warm"
    return screen.table(heading, rows)


def summary(log: FaultLog, screen: Screen) -> list[str]:
    """All views; kinds of faults that none of them has are left out."""
    totals = {name: log.totals[name] for name in VIEWS}
    seen = [place for place, _ in enumerate(KINDS) if any(t.kinds[place] for t in totals.values())]
    names = list(KINDS.values())
    rows: list[tuple[str, ...]] = [("view", "faults", "minor", "major", *(names[k] for k in seen))]
    for name, total in totals.items():
        numbers = (total.faults, total.faults - total.major, total.major)
        rows.append((name, *(f"{n:,}" for n in (*numbers, *(total.kinds[k] for k in seen)))))
    text = screen.table("Faults", rows)
    hidden = ", ".join(f"{faults:,} in {name}" for name, (faults, _) in log.hidden.items())
    if hidden:
        text += [f"Faults of Valgrind itself are not among them: {hidden}.", ""]
    return text


_MEANINGS = {
    "4k": "the first touch of every page",
    "warm": "what Linux does when all files are in the page cache",
    "cold": "what Linux does with nothing in the page cache",
    "minor": "faults that read nothing from the disk",
    "major": "faults that read from the disk",
    "code": "an instruction was fetched",
    "read": "memory was read",
    "zero page": "fresh memory was read before it was written to",
    "write": "memory was written to",
    "copy on write": "a private page was written to, and copied",
    "dirty": "a page that was only read so far was written to",
    "brought": "pages that came along with the faults",
}


def legend(log: FaultLog, screen: Screen) -> list[str]:
    """What the views and the columns mean, of those that are shown."""
    absent = {
        name
        for place, name in enumerate(KINDS.values())
        if not any(log.totals[view].kinds[place] for view in VIEWS)
    }
    shown = {name: text for name, text in _MEANINGS.items() if name not in absent}
    width = max(map(len, shown))
    text = screen.title("Columns")
    text += [f"{name:<{width}}  {meaning}" for name, meaning in shown.items()]
    return [*text, ""]


def more(log: FaultLog) -> list[str]:
    """What is not printed."""
    count = len(log.assumptions)
    added = f", {count} assumption{'s' * (count > 1)}" if count else ""
    return [f"--verbose adds: settings of Linux{added}, metadata.", ""]


def disk(log: FaultLog) -> list[str]:
    """What the major faults of the cold view read. Their windows overlap; what the page cache has
    is not read again."""
    windows: dict[str, set[tuple[int, int]]] = defaultdict(set)
    view = view_number("cold")
    for fault in log.of(view):
        if fault.is_major(view):
            at = fault.map.offset_of(fault.page) // log.page_size
            for first, last in fault.cold_read:
                windows[fault.map.name].add((max(0, at + first), at + last + 1))
    if not windows:
        return []
    size = sum(map(_length, windows.values())) * log.page_size // 1024
    files = f"{len(windows):,} file{'s' * (len(windows) > 1)}"
    majors = log.totals["cold"].major
    faults = f"{majors:,} major fault{'s' * (majors > 1)}"
    return [f"Read from the disk by {faults}: {size:,} KiB of {files}, each page once.", ""]


def _length(windows: Iterable[tuple[int, int]]) -> int:
    """Of all of them together, what lies in several of them once."""
    length = end = 0
    for first, last in sorted(windows):
        length += max(0, last - max(first, end))
        end = max(end, last)
    return length


def headline(log: FaultLog, view: int, screen: Screen) -> list[str]:
    """One line: of which run, and what it comes to."""
    total = log.totals[VIEWS[view]]
    plural = "s" * (total.faults != 1)
    result = f"{total.faults:,} page fault{plural}, {total.major:,} major, view {VIEWS[view]}"
    room = max(20, screen.width - len(f"{log.path}: ; {result}"))
    command = log.command if screen.wide else cut(log.command, room)
    return [screen.heading(printable(f"{log.path}: {command}; {result}")), ""]


def verdict(log: FaultLog) -> str:
    """What the faults take of the time with all files in memory, whether that is a lot, and which run
    would turn it; "": not known. Waiting for a disk is no matter of cycles."""
    warm = log.totals["warm"].faults
    if log.instructions is None or not warm:
        return ""
    found = time_of_faults(warm, log.instructions)
    word = look(*found.share)
    turn = longest_run(found.cycles)
    if word == NOTHING_TO_WIN:
        turns = f"it could be {WORTH_PERCENT}% in a run of {turn:,} cycles or fewer"
    else:
        turns = f"nothing to win in a run of more than {turn:,} cycles"
    each = f"{FAULT.least:,} to {FAULT.most:,} cycles each"
    return f"Page faults take {found.percent()} of the time (estimate: {each}); {word}; {turns}."


def metadata(log: FaultLog, screen: Screen, role: str = "Log") -> list[str]:
    facts = [(role, log.path)]
    for key, name in (
        ("creator", "Creator"),
        ("cmd", "Command"),
        ("pid", "Process"),
        ("forked from", "Forked from"),
        ("page size", "Page size"),
        ("fault-around", "Fault-around"),
        ("read-ahead", "Read-ahead"),
        ("kernel", "Linux"),
        ("thp", "THP"),
        ("mthp", "mTHP"),
    ):
        if key in log.header:
            facts.append((name, log.header[key]))
    facts += [("Assumption", assumption) for assumption in log.assumptions]
    width = 2 + max(len(name) for name, _ in facts)
    lines = [printable(f"{n + ':':<{width}}{v}") for n, v in facts]
    return [*screen.title("Metadata" if role == "Log" else f"Metadata: {role.lower()}"), *lines, ""]
