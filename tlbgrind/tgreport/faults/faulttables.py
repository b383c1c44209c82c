# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Sums faults by kind, memory, code and system call, over time, and by use."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from ..base.errors import printable
from ..base.names import cut
from ..base.terminal import Screen
from ..formats.faultlog import (
    KINDS,
    UNKNOWN,
    VIEWS,
    Fault,
    FaultLog,
    Map,
    count_pages,
    view_number,
)

GROUPS = ("kind", "mapping", "memory", "object", "function", "syscall")

_TITLES = {
    "kind": "By kind",
    "mapping": "By mapping: the memory that was touched",
    "memory": "By memory: all mappings of a file together",
    "object": "By object: the code that touched it",
    "function": "By function: the code that touched it",
    "syscall": "By system call: what the kernel touched, and for whom",
}
_PROGRAM = "<the program itself>"


def _labels(view: int) -> dict[str, Callable[[Fault], str]]:
    return {
        "kind": lambda fault: KINDS[fault.kind(view)],
        "mapping": lambda fault: fault.map.label,
        "memory": lambda fault: fault.map.memory,
        "object": lambda fault: fault.by if fault.code.object == UNKNOWN and fault.by else fault.code.object,
        "function": lambda fault: _function(fault),
        "syscall": lambda fault: fault.by or _PROGRAM,
    }


def _function(fault: Fault) -> str:
    if fault.code.object == UNKNOWN and fault.by:
        return f"<{fault.by}>"
    return f"{fault.code.function} [{fault.code.object}]"


_REST = "<{} more>"


def _shown(
    log: FaultLog, view: int, label: Callable[[Fault], str], top: int
) -> dict[str, str]:
    """What stands in the place of labels for which a table of `top` rows has no room."""
    counts = Counter(map(label, log.of(view)))
    ranked = sorted(counts, key=lambda name: (-counts[name], name))
    if not top or len(ranked) <= top:
        return {}
    rest = ranked[top - 1 :]
    return dict.fromkeys(rest, _REST.format(len(rest)))


class Sums:
    """Counts of faults, of each kind, of major ones, and of pages brought, for each label."""

    def __init__(self, log: FaultLog, view: int, by: str, top: int) -> None:
        label = _labels(view)[by]
        shown = _shown(log, view, label, top)
        self.kinds: dict[str, Counter[str]] = defaultdict(Counter)
        self.major: Counter[str] = Counter()
        self.brought: Counter[str] = Counter()
        for fault in log.of(view):
            key = label(fault)
            key = shown.get(key, key)
            self.kinds[key][fault.kind(view)] += 1
            self.major[key] += fault.is_major(view)
            self.brought[key] += count_pages(fault.brought(view))

    def faults(self, label: str) -> int:
        return sum(self.kinds[label].values()) if label in self.kinds else 0

    @property
    def labels(self) -> list[str]:
        """Those with most faults first, the rest that has no room last."""

        def rank(label: str) -> tuple[bool, int, str]:
            return label.endswith(" more>"), -self.faults(label), label

        return sorted(self.kinds, key=rank)


def table(log: FaultLog, view: int, by: str, top: int, screen: Screen) -> list[str]:
    sums = Sums(log, view, by, top)
    total = log.totals[VIEWS[view]]
    majors = total.major > 0
    kinds = [] if by == "kind" else [k for k, n in zip(KINDS, total.kinds) if n]
    heading = ["faults", "share", *(KINDS[kind] for kind in kinds)]
    rows = [(*heading, *["major"] * majors, "brought", by)]
    for label in sums.labels:
        faults = sums.faults(label)
        row = [f"{faults:,}", f"{100 * faults / total.faults:.1f}%"]
        row += [f"{sums.kinds[label][kind]:,}" for kind in kinds]
        row += [f"{sums.major[label]:,}"] * majors
        rows.append((*row, f"{sums.brought[label]:,}", label))
    return screen.table(f"{_TITLES[by]}, view {VIEWS[view]}", rows, left=0, shares=True)


def compare(logs: Sequence[FaultLog], view: int, by: str, top: int, screen: Screen) -> list[str]:
    """Two logs beside each other, those first whose count changed most."""
    first, second = (Sums(log, view, by, 0) for log in logs)
    labels = {*first.kinds, *second.kinds}

    def change(label: str) -> int:
        return second.faults(label) - first.faults(label)

    rows = [("first", "second", "difference", by)]
    ranked = sorted(labels, key=lambda name: (-abs(change(name)), name))
    rest = ranked[top - 1 :] if top and len(ranked) > top else []
    for label in ranked[: len(ranked) - len(rest)]:
        counts = (f"{first.faults(label):,}", f"{second.faults(label):,}")
        rows.append((*counts, f"{change(label):+,}", label))
    if rest:
        counts = (f"{sum(map(first.faults, rest)):,}", f"{sum(map(second.faults, rest)):,}")
        rows.append((*counts, f"{sum(map(change, rest)):+,}", _REST.format(len(rest))))
    totals = [log.totals[VIEWS[view]].faults for log in logs]
    numbers = (f"{totals[0]:,}", f"{totals[1]:,}", f"{totals[1] - totals[0]:+,}")
    rows.append((*numbers, "TOTAL"))
    return screen.table(f"{_TITLES[by]}, view {VIEWS[view]}", rows, left=0)


def growth(log: FaultLog, view: int, steps: int, screen: Screen) -> list[str]:
    """How many faults there have been after each part of the run's instructions."""
    faults = list(log.of(view))
    end = faults[-1].instructions if faults else 0
    rows: list[tuple[str, ...]] = [("instructions", "faults", *KINDS.values(), "share")]
    counts: Counter[str] = Counter()
    at = 0
    for step in range(1, steps + 1):
        until = end * step // steps
        while at < len(faults) and faults[at].instructions <= until:
            counts[faults[at].kind(view)] += 1
            at += 1
        kinds = [f"{counts[kind]:,}" for kind in KINDS]
        share = f"{100 * at / len(faults):.1f}%" if faults else ""
        rows.append((f"{until:,}", f"{at:,}", *kinds, share))
    heading = f"Growth: faults after so many instructions, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


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


def waste(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
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
    rows: list[tuple[str, ...]] = [("faults", "brought", "used later", "never used", "wasted KiB", "mapping")]
    labels = sorted(faulted, key=lambda label: (used[label] - brought[label], label))
    rest = labels[top - 1 :] if top and len(labels) > top else []
    shown = [(label, [label]) for label in labels[: len(labels) - len(rest)]]
    for label, together in [*shown, (_REST.format(len(rest)), rest)] if rest else shown:
        faults, along, later = (sum(map(n.__getitem__, together)) for n in (faulted, brought, used))
        never = along - later
        wasted = never * log.page_size // 1024
        rows.append((*(f"{n:,}" for n in (faults, along, later, never, wasted)), label))
    heading = f"Pages brought along by faults, used or not, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def phase_range(log: FaultLog, screen: Screen) -> list[str]:
    """What address randomisation can make of the warm view: it moves each group by itself."""
    rows: list[tuple[str, ...]] = [("", "minimum", "mean", "maximum", "as laid out")]
    sums = [0.0] * 4
    for name, counts in log.phases.items():
        values = (min(counts), sum(counts) / len(counts), max(counts), counts[0])
        sums = [total + value for total, value in zip(sums, values)]
        rows.append(_phase_row(name, values))
    rows.append(_phase_row("all", sums))
    heading = "Faults over the 16 phases that address randomisation can give, view warm"
    return screen.table(heading, rows)


def _phase_row(name: str, values: Sequence[float]) -> tuple[str, ...]:
    low, mean, high, here = values
    return (printable(name), f"{low:,.0f}", f"{mean:,.1f}", f"{high:,.0f}", f"{here:,.0f}")


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
    pages: dict[str, set[int]] = defaultdict(set)
    view = view_number("cold")
    for fault in log.of(view):
        if fault.is_major(view):
            at = fault.map.offset_of(fault.page) // log.page_size
            for first, last in fault.cold_read:
                pages[fault.map.name].update(range(max(0, at + first), at + last + 1))
    if not pages:
        return []
    size = sum(map(len, pages.values())) * log.page_size // 1024
    files = f"{len(pages):,} file{'s' * (len(pages) > 1)}"
    majors = log.totals["cold"].major
    faults = f"{majors:,} major fault{'s' * (majors > 1)}"
    return [f"Read from the disk by {faults}: {size:,} KiB of {files}, each page once.", ""]


def headline(log: FaultLog, view: int, screen: Screen) -> list[str]:
    """One line: of which run, and what it comes to."""
    total = log.totals[VIEWS[view]]
    plural = "s" * (total.faults != 1)
    result = f"{total.faults:,} page fault{plural}, {total.major:,} major, view {VIEWS[view]}"
    room = max(20, screen.width - len(f"{log.path}: ; {result}"))
    command = log.command if screen.wide else cut(log.command, room)
    return [screen.heading(printable(f"{log.path}: {command}; {result}")), ""]


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
        ("thp", "THP"),
        ("mthp", "mTHP"),
    ):
        if key in log.header:
            facts.append((name, log.header[key]))
    facts += [("Assumption", assumption) for assumption in log.assumptions]
    width = 2 + max(len(name) for name, _ in facts)
    lines = [printable(f"{n + ':':<{width}}{v}") for n, v in facts]
    return [*screen.title("Metadata" if role == "Log" else f"Metadata: {role.lower()}"), *lines, ""]
