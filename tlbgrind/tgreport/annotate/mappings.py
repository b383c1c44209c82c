# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the mappings of a run, what lies outside of their aligned large pages, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from ..base.terminal import Screen
from ..base.text import counted, wrapped
from ..formats.cost import Cycles
from ..formats.mappings import PARTS, Mapping, Mappings, mappings_of
from ..formats.outfile import Counts, OutFile
from ..formats.share import CYCLES
from ..formats.verdicts import (
    NO,
    WORTH_PERCENT,
    Spent,
    Verdict,
    costs_are_assumed,
    cycles_by_rule,
    cycles_of,
    judge,
    spent_by,
)
from .table import TIME

_REFERENCES = ("Ir", "Dr", "Dw")
_MISSES = ("I1tm", "D1tmr", "D1tmw")
_WALKS = ("ILtm", "DLtmr", "DLtmw")

_NAMES = {
    "anon": "[anon]",
    "heap": "[heap]",
    "stack": "[stack]",
    "thread-stack": "[stack of a thread]",
    "sysv": "[sysv]",
    "unknown": "[not mapped, vDSO]",
    "foreign": "[valgrind]",
}

# How to let memory begin on a boundary of large pages, and end on one.
_BEGIN = {
    "anon": (
        "aligned_alloc() or posix_memalign() with {size} in place of malloc(); or mmap() of {size} "
        "more, used from the boundary on, or with an aligned address as its hint"
    ),
    "heap": "sbrk(-(uintptr_t)sbrk(0) & {mask:#x}) before the first malloc()",
    "thread-stack": "pthread_attr_setstack() with memory of aligned_alloc({bytes:#x}, ...)",
    "bss": "link with -Wl,-z,max-page-size={bytes:#x}, and align its largest variable to that",
    "image": "link with -Wl,-z,max-page-size={bytes:#x}",
    "file": "mmap() with an aligned address as its hint, and an offset in the file that is a multiple of {size}",
    "sysv": "shmat() with an aligned address",
}
_END = {
    "anon": "ask for a length that is a multiple of {size}",
    "heap": "MALLOC_TOP_PAD_={bytes}, so that it grows by {size} and more at a time",
    "thread-stack": "pthread_attr_setstacksize() with a multiple of {size}",
    "sysv": "a segment whose length is a multiple of {size}",
}


class Sums(NamedTuple):
    references: int
    misses: int  # of the first level
    walks: int
    most_cycles: int  # that these cost


class Row(NamedTuple):
    mapping: Mapping
    parts: dict[str, Sums]

    @property
    def all(self) -> Sums:
        return _total(list(self.parts.values()))

    @property
    def name(self) -> str:
        m = self.mapping
        if m.kind == "bss":
            return f"[bss] {m.name}".rstrip()
        return m.name if m.name and m.kind != "foreign" else _NAMES.get(m.kind, f"[{m.kind}]")

    @property
    def mode(self) -> str:
        """As pmap has it."""
        return self.mapping.mode[:3] + ("s-" if self.mapping.mode[3] == "s" else "--")

    @property
    def is_reserved(self) -> bool:
        """Addresses alone, which the program may not touch: a heap of a runtime may grow there."""
        return self.mapping.mode.startswith("---") and self.all.references == 0

    @property
    def page_sizes(self) -> str:
        pages = [pair for pair in self.mapping.pages if pair[1] > 0]
        return ", ".join(f"{size_name(size)} x {count:,}" for size, count in pages)


class Found(NamedTuple):
    """The rows of one run, and its totals."""

    out: OutFile
    large: int
    rows: list[Row]
    total: Sums
    cycles: Cycles  # of all misses
    spent: Spent
    has_costs: bool  # the file tells what misses cost; else verdicts rest on rules of thumb

    def time(self, sums: Sums) -> Fraction:
        """The share of it that these misses take at most."""
        return sums.most_cycles / self.spent.with_most if self.spent.with_most else Fraction(0)

    def verdict(self, sums: Sums) -> Verdict:
        """Of all that these misses cost, which is the most that large pages save. Their least is not
        known by itself: it is taken to be the same part of the most as that of all misses."""
        most = sums.most_cycles
        least = self.cycles.least * most // self.cycles.most if self.cycles.most else 0
        return judge(Cycles(least, most), self.spent)

    def is_worth(self, sums: Sums) -> bool:
        return self.verdict(sums).word != NO

    def has_room(self, row: Row) -> bool:
        m = row.mapping
        return not m.is_unknown and not row.is_reserved and m.end - m.start >= self.large

    def could_change(self, row: Row) -> list[Sums]:
        """The parts for which there is something to do."""
        parts = []
        if row.mapping.kind in _BEGIN:
            parts.append(row.parts["begin"])
        if row.mapping.kind in _END:
            parts.append(row.parts["end"])
        if self.is_in_small(row):
            parts.append(row.parts["inside"])
        return parts

    def is_in_small(self, row: Row) -> bool:
        return all(size < self.large for size, _ in row.mapping.pages)

    def advice(self, row: Row) -> list[str]:
        """What to do about the row; nothing where nothing is to be won."""
        m = row.mapping
        words = {"size": size_name(self.large), "bytes": self.large, "mask": self.large - 1}
        text = []
        begin, inside, end = (row.parts[part] for part in PARTS)
        if m.kind in _BEGIN and self.is_worth(begin):
            boundary = -(-m.start // self.large) * self.large
            now, then = (m.behind - m.first) // self.large, (m.end - m.start) // self.large
            gain = f"{then:,} large pages instead of {now:,}" if then > now else "its begin in large pages"
            how = _BEGIN[m.kind].format(**words)
            text.append(f"begin it on a boundary of {words['size']}, such as {boundary:#x} ({gain}): {how}")
        if m.kind in _END and self.is_worth(end):
            behind = -(-m.end // self.large) * self.large
            text.append(f"let it end at {behind:#x}: {_END[m.kind].format(**words)}")
        if self.is_worth(inside) and self.is_in_small(row):
            text.append(
                f"back its whole large pages by such pages: {counted(inside.walks, 'walk')} "
                f"{'is' if inside.walks == 1 else 'are'} for base pages there "
                "(a run with --advice says what they save, and how to get them)"
            )
        return text


def size_name(size: int) -> str:
    for shift, unit in ((30, "G"), (20, "M"), (10, "K")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def find(out: OutFile) -> Found:
    mappings: Mappings = mappings_of(out)
    by_file = not costs_are_assumed(out)

    def sums(counts: Counts) -> Sums:
        of_events = dict(zip(out.events, counts))
        groups = (_REFERENCES, _MISSES, _WALKS)
        references, misses, walks = (sum(of_events.get(name, 0) for name in names) for names in groups)
        most = of_events["Wcyc"] if by_file else cycles_by_rule(misses, walks).most
        return Sums(references, misses, walks, most)

    nothing = (0,) * len(out.events)
    rows = [
        Row(mapping, {part: sums(mapping.costs.get(part, nothing)) for part in PARTS})
        for mapping in mappings.rows
    ]
    return Found(out, mappings.large, rows, sums(out.totals), cycles_of(out), spent_by(out), by_file)


def _total(parts: Sequence[Sums]) -> Sums:
    return Sums(*(sum(column) for column in zip(*parts)))


def _counts(found: Found, sums: Sums) -> tuple[str, ...]:
    """As in the tables of code: what misses cost first, if the file tells."""
    counts = f"{sums.references:,}", f"{sums.misses:,}", f"{sums.walks:,}"
    if not found.has_costs:
        return counts
    return f"{float(100 * found.time(sums)):.1f}%", f"{sums.most_cycles:,}", *counts


def _address(mapping: Mapping) -> str:
    return f"{mapping.start:016x}"


def _table(found: Found, screen: Screen) -> list[str]:
    costs = (TIME, CYCLES) if found.has_costs else ()
    counts = (*costs, "references", "L1 misses", "walks")
    rows = [("address", "Kbytes", "mode", *counts, "page sizes", "mapped file")]
    for row in found.rows:
        kbytes = (row.mapping.end - row.mapping.start) >> 10
        rows.append(
            (_address(row.mapping), f"{kbytes:,}", row.mode, *_counts(found, row.all), row.page_sizes, row.name)
        )
    kbytes = sum(row.mapping.end - row.mapping.start for row in found.rows) >> 10
    rows.append(("total", f"{kbytes:,}", "", *_counts(found, found.total), "", ""))
    return screen.table("Mappings", rows)


def _outside(found: Found, screen: Screen) -> list[str]:
    """For each mapping with room for large pages, what lies before and behind the whole ones."""
    size = size_name(found.large)
    head = ["address"]
    for part in PARTS:
        head += [f"{part} K", f"L1 {part}", f"walks {part}"]
    rows = [(*head, "mapped file")]
    for row in filter(found.has_room, found.rows):
        cells = [_address(row.mapping)]
        for part in PARTS:
            sums = row.parts[part]
            cells += [f"{row.mapping.bytes_of(part) >> 10:,}", f"{sums.misses:,}", f"{sums.walks:,}"]
        rows.append((*cells, row.name))
    if len(rows) == 1:
        return []
    return screen.table(f"Before, in and behind aligned pages of {size}", rows)


def _warnings(found: Found, row: Row) -> list[str]:
    """How much lies outside of large pages, and how many misses fall there."""
    text = []
    size = size_name(found.large)
    m = row.mapping
    for part, place in (("begin", "below"), ("end", "above")):
        sums = row.parts[part]
        kbytes = m.bytes_of(part) >> 10
        if kbytes == 0:
            continue
        boundary = m.first if part == "begin" else m.behind
        where = f"{place} the {size} boundary {boundary:#x}"
        if m.first >= m.behind:
            where = f"outside of aligned pages of {size}: none fits"
        cost = found.verdict(sums).percent()
        text.append(
            f"{kbytes:,}K of it lie {where}; {_misses(sums)} fall there, {cost} of the time"
        )
    return text


def _verdict(found: Found, row: Row, width: int) -> list[str]:
    sentences = _warnings(found, row)
    advice = found.advice(row)
    text = [f"{row.mapping.start:#x} {row.name}:"]
    for sentence in sentences:
        text += wrapped("  ", sentence + ".", width)
    for number, what in enumerate(advice):
        text += wrapped("  To win: " if number == 0 else "  Then: ", what + ".", width, 4)
    if not advice:
        most = max((found.verdict(part) for part in found.could_change(row)), key=lambda v: v.share[1], default=None)
        why = f", the misses of a part that could change take at most {most.reason()}" if most else ""
        text += wrapped("  Nothing to win", f"{why}.", width, 4)
    return text


def _misses(sums: Sums) -> str:
    misses = "L1 miss" if sums.misses == 1 else "L1 misses"
    return f"{sums.misses:,} {misses}, {counted(sums.walks, 'walk')}"


def listing(found: Found, screen: Screen) -> list[str]:
    size = size_name(found.large)
    text = _table(found, screen) + _outside(found, screen)
    roomy = [row for row in found.rows if found.has_room(row)]
    for row in roomy:
        text += _verdict(found, row, screen.width)
    reserved = [row.mapping for row in found.rows if row.is_reserved and not row.mapping.is_unknown]
    others = [
        row.all
        for row in found.rows
        if not found.has_room(row) and not row.is_reserved and not row.mapping.is_unknown
    ]
    small = len(others)
    text += wrapped(
        "",
        f"{counted(small, 'mapping')} {'is' if small == 1 else 'are'} smaller than a page of {size}; "
        f"{_misses(_total([*others, Sums(0, 0, 0, 0)]))} fall there.",
        screen.width,
    )
    if reserved:
        kbytes = sum(mapping.end - mapping.start for mapping in reserved) >> 10
        text += wrapped(
            "",
            f"{counted(len(reserved), 'mapping')} {'is' if len(reserved) == 1 else 'are'} addresses without "
            f"rights of access ({kbytes:,}K), for which there is nothing to do.",
            screen.width,
        )
    text += wrapped(
        "",
        f"To win: {WORTH_PERCENT}% of the time or more, if large pages saved all of these misses; they seldom "
        "do. Page sizes: of all its pages, as --pages has it, whether they are touched or not.",
        screen.width,
    )
    return text
