# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints which memory pays in larger pages: the out-files of a run with --advice=SIZE side by side.

Such a run simulates one machine as it is, and again with each kind of memory, and what is named
beside, in pages of each SIZE. The first out-file says what there is to win, each other one what
that memory alone would win.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..base.errors import ReportError
from ..base.terminal import Screen
from ..base.text import aligned, wrapped
from ..formats.cost import Cycles, miss_cycles
from ..formats.outfile import OutFile

# Less than one page walk in so many instructions is not worth the trouble, nor is less than this
# share of the walks; the same for page faults.
WORTH_INSTRUCTIONS = 100_000
WORTH_PERCENT = 1

_HUGE = 1 << 21  # pages of this size and larger are huge pages; smaller ones are folios

_MALLOC = (
    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 (glibc 2.35 or newer), MALLOC_CONF=thp:always of "
    "jemalloc, or TCMALLOC_MEMFS_MALLOC_PATH of gperftools' tcmalloc with a hugetlbfs"
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
# Memory of which a page comes with one fault, also without large pages. (Of files Linux brings
# several small pages with a fault.)
_FAULTS_ALONE = ("anon", "heap", "stack")


class Gain(NamedTuple):
    """What one memory wins in larger pages."""

    kind: str  # or a part of one, as rules name it: text=libm.so*
    size: str
    walks: int  # that are left
    saved: int
    cycles_saved: Cycles | None  # of misses; None: not known
    misses_saved: int  # of the first level
    faults_saved: int
    backed: int  # KiB in pages of that size at the peak
    touched: int  # KiB of them
    held: bool  # by any array
    mapping: str  # which the memory is, if a number names it: "a mapping of 8196K"

    def is_there(self) -> bool:
        """Some memory is in such pages."""
        return self.backed > 0 or self.saved != 0 or self.misses_saved != 0

    def how(self) -> str:
        """The words of how to get such pages there."""
        if self.kind == _ALL:
            return ""
        huge, below = _HOW.get(re.split("[=#]", self.kind)[0], _HOW["file"])
        size = _bytes(self.size)
        return (huge if size >= _HUGE else below).replace("=SIZE", f"={size:#x}")


class Advice(NamedTuple):
    machine: str
    sizes: list[str]  # the largest first
    instructions: int
    walks: int
    misses: int
    faults: int
    gains: list[Gain]  # the largest first, and what all memory together wins at the end

    def is_all_of_its_kind(self, gain: Gain) -> bool:
        """A number names the only such mapping that matters: it wins what its kind wins."""
        kind, number, _ = gain.kind.partition("#")
        return bool(number) and any(
            gain._replace(kind=kind, mapping="") == other for other in self.gains
        )

    def shown(self) -> list[Gain]:
        """Those of memory that is there, without a second name of one."""
        return [g for g in self.gains if g.is_there() and not self.is_all_of_its_kind(g)]

    def _is_much(self, saved: int, whole: int) -> bool:
        return (
            saved > 0
            and saved * WORTH_INSTRUCTIONS >= self.instructions
            and saved * 100 >= whole * WORTH_PERCENT
        )

    def is_worth(self, gain: Gain) -> bool:
        return self._is_much(gain.saved, self.walks)

    def is_worth_for_faults(self, gain: Gain) -> bool:
        """It saves page faults alone."""
        return (
            gain.kind in _FAULTS_ALONE
            and not self.is_worth(gain)
            and self._is_much(gain.faults_saved, self.faults)
        )

    def verdict(self, gain: Gain) -> str:
        """By what it pays, in one word."""
        if not gain.is_there():
            return "absent"
        if self.is_worth(gain):
            return "walks"
        return "faults" if self.is_worth_for_faults(gain) else "no"


def machine_of(out: OutFile) -> str:
    return dict(out.descriptions).get("Machine", "")


def _sum(out: OutFile, *events: str) -> int:
    return sum(count for event, count in zip(out.events, out.totals) if event in events)


def _walks(out: OutFile) -> int:
    return _sum(out, "ILtm", "DLtmr", "DLtmw")


def _misses(out: OutFile) -> int:
    return _sum(out, "I1tm", "D1tmr", "D1tmw")


def _keys(out: OutFile, key: str) -> list[list[str]]:
    """The words of the lines with the key. The last of them may have spaces: a file's name."""
    words = (text.split(" ", 4) for name, text in out.descriptions if name == key)
    return [line for line in words if line]


def _numbers(out: OutFile, key: str, words: Sequence[str], n: int) -> list[int]:
    if len(words) != n or not all(word.isdigit() for word in words):
        raise ReportError(f"'desc: {key}' has not {n} numbers, but '{' '.join(words)}'", out.path)
    return [int(word) for word in words]


def _backed(out: OutFile, size: str) -> tuple[int, int]:
    """KiB in pages of that size at the peak, and KiB of them that were touched."""
    for of, *counts in _keys(out, "Backed"):
        if of == size:
            _, backed, touched = _numbers(out, "Backed", counts, 3)
            return backed, touched
    return 0, 0


def _first_touches(out: OutFile) -> tuple[int, int] | None:
    """The base pages touched, and with how many faults they came."""
    for words in _keys(out, "Touched"):
        pages, faults = _numbers(out, "Touched", words, 2)
        return pages, faults
    return None


def _faults_saved(base: OutFile, out: OutFile) -> tuple[int, int]:
    """The faults of the machine itself, and how many fewer the other takes. The first out-file has
    them if it has large pages, else each base page is one fault."""
    first, other = _first_touches(base), _first_touches(out)
    if other is None:
        return 0, 0
    whole = first[1] if first is not None and first[0] == other[0] else other[0]
    return whole, whole - other[1]


def _mapping(out: OutFile, kind: str) -> str:
    """Which memory the kind is, if it is named by a number."""
    for words in _keys(out, "Numbered"):
        if words[0] == kind:
            mappings, kibibytes = _numbers(out, "Numbered", words[1:3], 2)
            if mappings > 1:
                return f"{mappings} mappings, {kibibytes}K"
            name = "".join(f", {word}" for word in words[4:])
            return f"a mapping of {kibibytes}K at {' '.join(words[3:4])}{name}"
    return ""


def _is_held(out: OutFile, size: str) -> bool:
    return [size] not in _keys(out, "Unheld")


def _rules(out: OutFile) -> list[str]:
    return [text for name, text in out.descriptions if name == "Rule"]


def _rule(base: OutFile, out: OutFile) -> tuple[str, str]:
    """Which memory is in pages of which size."""
    shared = _rules(base)
    own = _rules(out)[len(shared) :]
    if len(own) != 1 or not machine_of(out).startswith(machine_of(base)):
        raise ReportError(
            f"'{machine_of(out)}' is not {machine_of(base)} with one kind of memory in larger "
            "pages; --advice takes the out-files of one run with --advice=SIZE",
            out.path,
        )
    kind, _, size = own[0].rpartition(":")
    return kind, size


def companions(path: str) -> list[str]:
    """The other out-files of the run, where the first is `path`; perhaps of older runs, too. So that
    they do not begin as it does, it has a number at its end."""
    return sorted(glob.glob(glob.escape(re.sub(r"_\d+$", "", path)) + "[@+]*"))


def of_the_run(first: OutFile, others: Sequence[OutFile]) -> list[OutFile]:
    return [first, *(o for o in others if (o.pid, o.command) == (first.pid, first.command))]


def advise(files: Sequence[OutFile]) -> Advice:
    base = min(files, key=lambda out: len(machine_of(out)))
    machine = machine_of(base)
    cycles = miss_cycles(base)
    gains: list[Gain] = []
    faults = 0
    if not machine or len(files) < 2:
        raise ReportError(
            "--advice takes the first out-file of a run with --advice=SIZE, beside which the others "
            "lie, or all of them",
            base.path,
        )
    for out in files:
        if (out.pid, out.command, out.events) != (base.pid, base.command, base.events):
            raise ReportError(f"not of the run of {base.path}", out.path)
        if out is base:
            continue
        kind, size = _rule(base, out)
        if (kind, size) in ((gain.kind, gain.size) for gain in gains):
            raise ReportError(f"a second file of {kind} in pages of {size}", out.path)
        whole, faults_saved = _faults_saved(base, out)
        faults = max(faults, whole)
        backed, touched = _backed(out, size)
        left = miss_cycles(out)
        gains.append(
            Gain(
                kind=kind,
                size=size,
                walks=_walks(out),
                saved=_walks(base) - _walks(out),
                cycles_saved=cycles.without(left) if cycles and left else None,
                misses_saved=_misses(base) - _misses(out),
                faults_saved=faults_saved,
                backed=backed,
                touched=touched,
                held=_is_held(out, size),
                mapping=_mapping(out, kind),
            )
        )
    gains.sort(key=_rank)
    sizes = sorted({gain.size for gain in gains}, key=_bytes, reverse=True)
    return Advice(machine, sizes, _sum(base, "Ir"), _walks(base), _misses(base), faults, gains)


def _rank(gain: Gain) -> tuple[bool, int, int, int, str, int]:
    return (
        gain.kind == _ALL,
        -gain.saved,
        -gain.misses_saved,
        -gain.faults_saved,
        gain.kind,
        -_bytes(gain.size),
    )


def _per_1000(count: int, instructions: int) -> str:
    return f"{1000 * count / instructions:,.3f}" if instructions else "0"


def _percent(part: int, whole: int) -> str:
    """Nothing where walks become more than twice as many: that is no share of them."""
    if abs(part) > whole > 0:
        return ""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _table(advice: Advice) -> list[str]:
    shown = advice.shown()
    has_cycles = any(gain.cycles_saved for gain in shown)
    cycles = ("cycles saved",) * has_cycles
    rows: list[tuple[str, ...]] = [
        ("memory", "pages", "walks", "saved", "", *cycles, "L1 saved", "faults saved", "backed", "unused")
    ]
    for gain in shown:
        words = gain.cycles_saved.words() if gain.cycles_saved else ""
        rows.append(
            (
                name_of(gain),
                gain.size,
                f"{gain.walks:,}",
                f"{gain.saved:,}",
                _percent(gain.saved, advice.walks),
                *(words,) * has_cycles,
                f"{gain.misses_saved:,}",
                f"{gain.faults_saved:,}",
                f"{gain.backed:,}K",
                f"{gain.backed - gain.touched:,}K",
            )
        )
    return aligned(rows)


def _bytes(size: str) -> int:
    return int(size[:-1]) << {"K": 10, "M": 20, "G": 30}[size[-1]]


def _hows(gains: Sequence[Gain], width: int) -> list[str]:
    """Once where several have the same way."""
    ways: dict[str, list[str]] = {}
    for gain in gains:
        ways.setdefault(gain.how(), []).append(gain.kind)
    text = []
    for how, kinds in ways.items():
        text += wrapped(f"  {', '.join(kinds)}: ", how, width, 8)
    return text


_SAME = "; it saves all that its kind saves"


def _mappings(advice: Advice, width: int) -> list[str]:
    """Which memory the numbers name."""
    found = {
        gain.kind: gain.mapping + (_SAME if advice.is_all_of_its_kind(gain) else "")
        for gain in advice.gains
        if gain.mapping and gain.is_there()
    }
    if not found:
        return []
    text = ["Large mappings, in the order of their first touch (+: and all later ones):"]
    for kind, mapping in sorted(found.items()):
        text += wrapped(f"  {kind}: ", mapping, width)
    return [*text, ""]


def name_of(gain: Gain) -> str:
    return "all of it" if gain.kind == _ALL else gain.kind


def _names(gains: Sequence[Gain]) -> str:
    return ", ".join(map(name_of, gains))


def verdict_of(advice: Advice, size: str, width: int) -> list[str]:
    """Which memory pays in pages of that size, and how to get them; or that there is none."""
    gains = [g for g in advice.gains if g.size == size and not advice.is_all_of_its_kind(g)]
    parts = [gain for gain in gains if gain.kind != _ALL]
    worth = [gain for gain in parts if advice.is_worth(gain)]
    faults = [gain for gain in parts if advice.is_worth_for_faults(gain)]
    text = []
    if worth:
        text.append(f"Pages of {size} pay for {_names(worth)}:")
        text += _hows(worth, width)
    elif any(advice.is_worth(gain) for gain in gains):
        text.append(f"No kind of memory wins by pages of {size} alone; all of it together does.")
    if faults:
        text.append(f"Pages of {size} pay by fewer page faults alone for {_names(faults)}:")
        text += _hows(faults, width)
    if not text:
        text += wrapped(
            "Nothing to win: ",
            f"with pages of {size} no kind of memory saves one page walk in "
            f"{WORTH_INSTRUCTIONS:,} instructions and {WORTH_PERCENT}% of the walks.",
            width,
        )
    absent = [gain for gain in gains if not gain.is_there() and ("#" not in gain.kind or gain.mapping)]
    if absent:
        text.append(f"Without room for a page of {size}: {_names(absent)}.")
    if not all(gain.held for gain in gains):
        text += wrapped(
            "",
            f"No array of {advice.machine} holds pages of {size}: they are entered in pieces, or "
            "passed by.",
            width,
        )
    return text


def listing(advice: Advice, screen: Screen) -> list[str]:
    rate = f"{_per_1000(advice.walks, advice.instructions)} per 1000 instructions"
    text = [f"{advice.machine}: {advice.walks:,} page walks with its own pages, {rate}"]
    if advice.faults > 0:
        text.append(f"{advice.faults:,} page faults at first touches")
    head, *rows = _table(advice)
    text += ["", screen.heading(head), *rows, "", *_mappings(advice, screen.width)]
    for size in advice.sizes:
        text += verdict_of(advice, size, screen.width)
    text += [
        "",
        "walks, saved: of the whole program, with that memory alone in such pages; faults: one for",
        "each page that is touched; backed: in such pages at the peak of all memory; unused: never touched",
    ]
    if any(gain.cycles_saved for gain in advice.shown()):
        text += [
            "cycles saved: what misses cost less, if they overlap as far as they can, and if each waits for",
            "the one before",
        ]
    return text
