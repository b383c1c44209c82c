# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints which memory pays in larger pages: the out-files of a run with --advice=SIZE side by side.

Such a run simulates one machine as it is, and again with each kind of memory in pages of SIZE. The
first out-file says what there is to win, each other one what that kind of memory alone would win.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from ..base.errors import ReportError
from ..base.terminal import Screen
from ..base.text import aligned
from ..formats.outfile import OutFile

# Less than one page walk in so many instructions is not worth the trouble, nor is less than this
# share of the walks.
WORTH_INSTRUCTIONS = 100_000
WORTH_PERCENT = 1

_HUGE = 1 << 21  # pages of this size and larger are huge pages; smaller ones are folios

_MALLOC = (
    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 (glibc 2.35 or newer), or MALLOC_CONF=thp:always of "
    "jemalloc"
)
_ADVISE = "madvise(start, length, MADV_HUGEPAGE) on memory that is aligned to the page"
_MTHP = "on Linux 6.8 or newer /sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled"
_KERNEL = "a kernel whose base pages are larger (arm64, POWER)"

# How to get larger pages, by kind of memory: huge ones, and those below.
_HOW = {
    "heap": (f"{_MALLOC}; or {_ADVISE}", f"{_MTHP}; or {_KERNEL}"),
    "anon": (f"{_ADVISE}; for what malloc maps: {_MALLOC}", f"{_MTHP}; or {_KERNEL}"),
    "data": (
        (
            "large arrays from malloc instead of static ones; or -Wl,-z,max-page-size=SIZE and "
            "MADV_HUGEPAGE on the bss; or hugectl --data --bss of libhugetlbfs"
        ),
        f"-Wl,-z,max-page-size=SIZE and {_MTHP} for the bss; or {_KERNEL}",
    ),
    "text": (
        (
            "-Wl,-z,max-page-size=SIZE and hugectl --text of libhugetlbfs, or MADV_HUGEPAGE on the "
            "text with a kernel that has CONFIG_READ_ONLY_THP_FOR_FS"
        ),
        f"-Wl,-z,max-page-size=SIZE on a file system with large folios; or {_KERNEL}",
    ),
    "stack": (
        (
            "transparent huge pages at always for the first thread; pthread_attr_setstack() with "
            "memory of huge pages for others"
        ),
        f"{_MTHP}; or {_KERNEL}",
    ),
    "file": (
        "files on hugetlbfs, or on a tmpfs mounted with huge=always",
        f"a file system with large folios; or {_KERNEL}",
    ),
}
_ALL = "all"


class Gain(NamedTuple):
    """What one kind of memory wins in larger pages."""

    kind: str
    walks: int  # that are left
    saved: int
    misses_saved: int  # of the first level
    backed: int  # KiB in pages of that size at the peak
    touched: int  # KiB of them


class Advice(NamedTuple):
    machine: str
    size: str
    instructions: int
    walks: int
    misses: int
    gains: list[Gain]  # the largest first, and what all memory together wins at the end

    def is_worth(self, gain: Gain) -> bool:
        return (
            gain.saved * WORTH_INSTRUCTIONS >= self.instructions
            and gain.saved * 100 >= self.walks * WORTH_PERCENT
        )


def _machine(out: OutFile) -> str:
    return dict(out.descriptions).get("Machine", "")


def _sum(out: OutFile, *events: str) -> int:
    return sum(count for event, count in zip(out.events, out.totals) if event in events)


def _walks(out: OutFile) -> int:
    return _sum(out, "ILtm", "DLtmr", "DLtmw")


def _misses(out: OutFile) -> int:
    return _sum(out, "I1tm", "D1tmr", "D1tmw")


_BACKED = re.compile(r"backed at the peak: \d+ pages of (\w+), (\d+)K, of which (\d+)K touched")


def _backed(out: OutFile, size: str) -> tuple[int, int]:
    for name, text in out.descriptions:
        found = _BACKED.fullmatch(text) if name == "Memory" else None
        if found is not None and found[1] == size:
            return int(found[2]), int(found[3])
    return 0, 0


def _rule(base: str, out: OutFile) -> tuple[str, str]:
    """Which kind of memory is in pages of which size."""
    name = _machine(out)
    rule = name[len(base) + 1 :]
    kind, _, size = rule.partition(":")
    if not name.startswith((f"{base}@", f"{base}+")) or kind not in (*_HOW, _ALL) or "+" in rule:
        raise ReportError(
            f"'{name}' is not {base} with one kind of memory in larger pages; --advice takes the "
            "out-files of one run with --advice=SIZE",
            out.path,
        )
    return kind, size


def advise(files: Sequence[OutFile]) -> Advice:
    base = min(files, key=lambda out: len(_machine(out)))
    machine = _machine(base)
    gains: list[Gain] = []
    sizes: list[str] = []
    if not machine or len(files) < 2:
        raise ReportError("--advice takes all out-files of one run with --advice=SIZE", base.path)
    for out in files:
        if (out.pid, out.command, out.events) != (base.pid, base.command, base.events):
            raise ReportError(f"not of the run of {base.path}", out.path)
        if out is base:
            continue
        kind, size = _rule(machine, out)
        sizes.append(size)
        if size != sizes[0] or kind in (gain.kind for gain in gains):
            raise ReportError(f"a second file of {kind}, or of another page size", out.path)
        saved = _walks(base) - _walks(out)
        misses_saved = _misses(base) - _misses(out)
        gains.append(Gain(kind, _walks(out), saved, misses_saved, *_backed(out, size)))
    gains.sort(key=lambda gain: (gain.kind == _ALL, -gain.saved, -gain.misses_saved, gain.kind))
    return Advice(machine, sizes[0], _sum(base, "Ir"), _walks(base), _misses(base), gains)


def _per_1000(count: int, instructions: int) -> str:
    return f"{1000 * count / instructions:,.3f}" if instructions else "0"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _table(advice: Advice) -> list[str]:
    rows = [("memory", "walks", "saved", "", "L1 misses saved", "", "backed", "unused")]
    for gain in advice.gains:
        rows.append(
            (
                "all of it" if gain.kind == _ALL else gain.kind,
                f"{gain.walks:,}",
                f"{gain.saved:,}",
                _percent(gain.saved, advice.walks),
                f"{gain.misses_saved:,}",
                _percent(gain.misses_saved, advice.misses),
                f"{gain.backed:,}K",
                f"{gain.backed - gain.touched:,}K",
            )
        )
    return aligned(rows)


def _bytes(size: str) -> int:
    return int(size[:-1]) << {"K": 10, "M": 20, "G": 30}[size[-1]]


def _how(advice: Advice, gain: Gain, width: int) -> list[str]:
    huge, below = _HOW[gain.kind]
    size = _bytes(advice.size)
    text = (huge if size >= _HUGE else below).replace("=SIZE", f"={size:#x}")
    label = f"  {gain.kind}: "
    return textwrap.wrap(
        text,
        min(width, 100),
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def listing(files: Sequence[OutFile], screen: Screen) -> list[str]:
    advice = advise(files)
    rate = f"{_per_1000(advice.walks, advice.instructions)} per 1000 instructions"
    text = [f"{advice.machine}: {advice.walks:,} page walks with its own pages, {rate}", ""]
    head, *rows = _table(advice)
    text += [screen.heading(head), *rows, ""]
    worth = [gain for gain in advice.gains if gain.kind != _ALL and advice.is_worth(gain)]
    together = [gain for gain in advice.gains if gain.kind == _ALL and advice.is_worth(gain)]
    if worth:
        text.append(f"Pages of {advice.size} pay for {', '.join(gain.kind for gain in worth)}:")
        for gain in worth:
            text += _how(advice, gain, screen.width)
    elif together:
        text.append(
            f"No kind of memory wins by pages of {advice.size} alone; all of it together does."
        )
    else:
        text.append(
            f"Nothing to win: with pages of {advice.size} no kind of memory saves one page walk in "
            f"{WORTH_INSTRUCTIONS:,} instructions and {WORTH_PERCENT} % of the walks."
        )
    text += [
        "",
        "walks, saved: of the whole program, with that memory alone in such pages; backed: memory",
        "in such pages at the peak (0K: no mapping has room for one); unused: never touched",
    ]
    return text
