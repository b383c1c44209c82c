# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds which memory pays in larger pages: the out-files of a run with --advice=SIZE side by side.

Such a run simulates each machine as it is, and again with each kind of memory, and what is named
beside, in pages of each SIZE: its variants. A machine's own out-file says what there is to win, that
of a variant what its memory alone would win. Variants in which no count is another have no file: the
machine's names them.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..base.errors import ReportError
from ..formats.cost import Cycles
from ..formats.outfile import OutFile
from ..formats.share import percent_range
from ..formats.verdicts import (
    NO,
    YES,
    Spent,
    Verdict,
    costs_are_assumed,
    cycles_of,
    judge,
    judge_faults,
    spent_by,
)
from .remedies import remedy

ALL = "all"
# Memory of which a page comes with one fault, also without large pages. (Of files Linux brings
# several small pages with a fault.)
_FAULTS_ALONE = ("anon", "heap", "stack")

# What else has the core drives translations out. Where that happens each so many instructions, about
# a millisecond, at 2 a cycle, and each page is walked for again at 100 cycles, so many base pages are
# 1% of the time.
SWITCH_EVERY, MANY_PAGES = 5_000_000, 250

# What an out-file says that has the counts of a part of the run only: its first touches are still
# those of all of the run.
_OF_A_PART = ("Collected", "Of phase", "Of thread", "Trigger")

# Why nothing changes: all as it was, or no page of the size was there. Files of older runs do not
# tell one of the last two from the other.
NONE, ROOM, UNTOUCHED, ABSENT = "none", "room", "untouched", "absent"


class Gain(NamedTuple):
    """What one memory wins in larger pages."""

    kind: str  # or a part of one, as rules name it: text=libm.so*
    size: str
    walks: int  # that are left
    saved: int
    misses_saved: int  # of the first level
    faults_saved: int
    verdict: Verdict  # by what misses cost
    by_faults: Verdict | None  # None: no reason by itself for such memory
    backed: int  # KiB in pages of that size at the peak
    touched: int  # KiB of them
    held: bool  # by any array
    mapping: str  # which the memory is, if a number names it: "a mapping of 8196K"
    same: str  # why no count is another; "": some is

    def is_there(self) -> bool:
        """Some memory is in such pages."""
        return self.same not in (ROOM, UNTOUCHED, ABSENT)

    def has_row(self) -> bool:
        return self.is_there() and (not self.same or self.faults_saved != 0)

    def how(self) -> str:
        """The words of how to get such pages there."""
        return "" if self.kind == ALL else remedy(self.kind, bytes_of(self.size))

    def pays(self) -> str:
        """By what, in one word."""
        if not self.is_there():
            return "absent"
        if self.verdict.word == NO and self.by_faults is not None and self.by_faults.word == YES:
            return "faults"
        return self.verdict.word


class Advice(NamedTuple):
    """Of one machine."""

    machine: str
    sizes: list[str]  # the largest first
    instructions: int
    walks: int
    misses: int
    faults: int
    is_part: bool  # the counts are of a part of the run, of which these faults are
    spends: tuple[Cycles, Spent]  # on misses, and in all
    assumed: bool  # the files do not tell what a miss costs
    alone: bool  # nothing else has the core in the simulation, and it could matter
    gains: list[Gain]  # the largest first, and what all memory together wins at the end

    def share(self) -> str:
        """Of the time, that misses take."""
        ends = sorted(cost / time if time else time for cost, time in zip(*self.spends))
        return percent_range(ends[0], ends[1])

    def is_all_of_its_kind(self, gain: Gain) -> bool:
        """A number names the only such mapping that matters: it wins what its kind wins."""
        kind, number, _ = gain.kind.partition("#")
        return bool(number) and any(gain._replace(kind=kind, mapping="") == other for other in self.gains)

    def shown(self) -> list[Gain]:
        """Those that change something, without a second name of one."""
        return [g for g in self.gains if g.has_row() and not self.is_all_of_its_kind(g)]

    def of_size(self, size: str) -> list[Gain]:
        return [g for g in self.gains if g.size == size and not self.is_all_of_its_kind(g)]

    def that_pay(self, size: str, *words: str) -> list[Gain]:
        """Without all memory together."""
        return [g for g in self.of_size(size) if g.kind != ALL and g.pays() in words]


# ---------------------------------------------------------------- what files say


class _Variant(NamedTuple):
    """What a file says of one, be it the variant's own or, with `number`, the machine's."""

    out: OutFile
    kind: str
    size: str
    number: str = ""
    same: str = ""

    def keys(self, key: str) -> list[list[str]]:
        """The words of the lines with the key. The last of them may have spaces: a file's name."""
        if not self.number:
            return _keys(self.out, key)
        lines = _keys(self.out, f"Same {key.lower()}")
        return [words[1:] for words in lines if words[:1] == [self.number]]

    def numbers(self, key: str, words: Sequence[str], n: int) -> list[int]:
        if len(words) != n or not all(word.isdigit() for word in words):
            raise ReportError(f"'desc: {key}' has not {n} numbers, but '{' '.join(words)}'", self.out.path)
        return [int(word) for word in words]

    def backed(self) -> tuple[int, int]:
        """KiB in pages of that size at the peak, and KiB of them that were touched."""
        for of, *counts in self.keys("Backed"):
            if of == self.size:
                _, backed, touched = self.numbers("Backed", counts, 3)
                return backed, touched
        return 0, 0

    def first_touches(self) -> tuple[int, int] | None:
        """The base pages touched, and with how many faults they came."""
        for words in self.keys("Touched"):
            pages, faults = self.numbers("Touched", words, 2)
            return pages, faults
        return None

    def mapping(self) -> str:
        """Which memory it is, if it is named by a number."""
        for words in self.keys("Numbered"):
            if words[0] == self.kind:
                mappings, kibibytes = self.numbers("Numbered", words[1:3], 2)
                if mappings > 1:
                    return f"{mappings} mappings, {kibibytes}K"
                name = "".join(f", {word}" for word in words[4:])
                return f"a mapping of {kibibytes}K at {' '.join(words[3:4])}{name}"
        return ""

    def is_held(self) -> bool:
        return [self.size] not in self.keys("Unheld")


def machine_of(out: OutFile) -> str:
    return dict(out.descriptions).get("Machine", "")


def _sum(out: OutFile, *events: str) -> int:
    return sum(count for event, count in zip(out.events, out.totals) if event in events)


def _walks(out: OutFile) -> int:
    return _sum(out, "ILtm", "DLtmr", "DLtmw")


def _misses(out: OutFile) -> int:
    return _sum(out, "I1tm", "D1tmr", "D1tmw")


def _keys(out: OutFile, key: str) -> list[list[str]]:
    most = 5 if key.startswith("Same ") else 4
    words = (text.split(" ", most) for name, text in out.descriptions if name == key)
    return [line for line in words if line]


def _rules(out: OutFile) -> list[str]:
    return [text for name, text in out.descriptions if name == "Rule"]


def _own_file(base: OutFile, out: OutFile) -> _Variant:
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
    return _Variant(out, kind, size)


def _without_file(base: OutFile) -> list[_Variant]:
    found = []
    for name, text in base.descriptions:
        if name == "Same":
            match = re.fullmatch(r"(\d+) (none|room|untouched|overruled) (.+):(\d+[KMG])", text)
            if match is None:
                raise ReportError(f"'desc: Same: {text}' is not as tlbgrind writes it", base.path)
            number, why, kind, size = match.groups()
            found.append(_Variant(base, kind, size, number, NONE if why == "overruled" else why))
    return found


# ---------------------------------------------------------------- which files belong together


def companions(path: str) -> list[str]:
    """The other out-files of the run, where the first is `path`; perhaps of older runs, too. So that
    they do not begin as it does, it has a number at its end."""
    return sorted(glob.glob(glob.escape(re.sub(r"_\d+$", "", path)) + "[@+]*"))


def of_the_run(first: OutFile, others: Sequence[OutFile]) -> list[OutFile]:
    return [o for o in others if (o.pid, o.command) == (first.pid, first.command)]


def has_variants(out: OutFile) -> bool:
    """Of a machine that is simulated in variants, too; older files do not say so."""
    return any(name == "Variants" for name, _ in out.descriptions)


def _base_of(out: OutFile, bases: Sequence[OutFile]) -> OutFile:
    """The machine that is a variant's without its last rule: the longest name that begins it."""
    name = machine_of(out)
    fitting = [b for b in bases if name.startswith((f"{machine_of(b)}@", f"{machine_of(b)}+"))]
    return max(fitting or bases[:1], key=lambda base: len(machine_of(base)))


def _check(base: OutFile, files: Iterable[OutFile]) -> None:
    for out in files:
        if (out.pid, out.command) != (base.pid, base.command):
            raise ReportError(f"not of the run of {base.path}", out.path)


# ---------------------------------------------------------------- advice


def advise(files: Sequence[OutFile]) -> list[Advice]:
    """For each machine, in the order of the files."""
    bases = [out for out in files if has_variants(out)]
    if not bases:
        bases = [min(files, key=lambda out: len(machine_of(out)))]
    _check(bases[0], files)
    variants: dict[str, list[OutFile]] = {base.path: [] for base in bases}
    for out in files:
        if out not in bases:
            variants[_base_of(out, bases).path].append(out)
    return [_advise(base, variants[base.path]) for base in bases]


def _advise(base: OutFile, files: Sequence[OutFile]) -> Advice:
    machine = machine_of(base)
    if not machine or not (files or has_variants(base)):
        raise ReportError(
            "--advice takes the first out-file of a run with --advice=SIZE, beside which the others "
            "lie, or all of them",
            base.path,
        )
    variants = []
    for out in files:
        if out.events != base.events:
            raise ReportError(f"not of the run of {base.path}", out.path)
        variants.append(_own_file(base, out))
    variants += _without_file(base)
    _check_all_are_there(base, variants)
    spends = cycles_of(base), spent_by(base)
    faults = max((_faults(base, variant)[0] for variant in variants), default=0)
    touched = max((variant.first_touches() or (0, 0) for variant in variants), default=(0, 0))[0]
    alone = touched >= MANY_PAGES and not _keys(base, "Context switches")
    gains = sorted((_gain(base, variant, spends, faults) for variant in variants), key=_rank)
    sizes = sorted({gain.size for gain in gains}, key=bytes_of, reverse=True)
    counts = _sum(base, "Ir"), _walks(base), _misses(base), faults
    return Advice(machine, sizes, *counts, _is_part(base), spends, costs_are_assumed(base), alone, gains)


def _is_part(base: OutFile) -> bool:
    return any(name in _OF_A_PART for name, _ in base.descriptions)


def _check_all_are_there(base: OutFile, variants: Sequence[_Variant]) -> None:
    seen: set[tuple[str, str]] = set()
    for one in variants:
        if (one.kind, one.size) in seen:
            raise ReportError(f"a second file of {one.kind} in pages of {one.size}", one.out.path)
        seen.add((one.kind, one.size))
    for words in _keys(base, "Variants"):
        if words != [str(len(variants))]:
            raise ReportError(
                f"{' '.join(words)} variants were simulated, but {len(variants)} are here; --advice takes "
                "the first out-file, beside which the others lie, or all of them",
                base.path,
            )


def _faults(base: OutFile, variant: _Variant) -> tuple[int, int]:
    """The faults of the machine itself, and how many fewer the other takes. The first out-file has
    them if it has large pages, else each base page is one fault."""
    first, other = _Variant(base, "", "").first_touches(), variant.first_touches()
    if other is None:
        return 0, 0
    whole = first[1] if first is not None and first[0] == other[0] else other[0]
    return whole, whole - other[1]


def _gain(base: OutFile, variant: _Variant, spends: tuple[Cycles, Spent], faults: int) -> Gain:
    out = variant.out
    had, whole = spends
    left = had if out is base else cycles_of(out)
    saved = _walks(base) - _walks(out), _misses(base) - _misses(out)
    faults_saved = _faults(base, variant)[1]
    alone = variant.kind.partition("#")[0] in _FAULTS_ALONE and not _is_part(base)
    backed = variant.backed()
    same = variant.same
    if out is not base and not backed[0] and saved == (0, 0):
        same = ABSENT
    return Gain(
        variant.kind,
        variant.size,
        _walks(out),
        *saved,
        faults_saved,
        judge(Cycles(had.least - left.least, had.most - left.most), whole),
        judge_faults(faults_saved, faults, whole) if alone else None,
        *backed,
        variant.is_held(),
        variant.mapping(),
        same,
    )


def _rank(gain: Gain) -> tuple[object, ...]:
    return (
        gain.kind == ALL,
        -gain.verdict.cycles.most,
        -gain.verdict.cycles.least,
        -gain.saved,
        -gain.faults_saved,
        gain.kind,
        -bytes_of(gain.size),
    )


def bytes_of(size: str) -> int:
    return int(size[:-1]) << {"K": 10, "M": 20, "G": 30}[size[-1]]


def name_of(gain: Gain) -> str:
    return "all of it" if gain.kind == ALL else gain.kind
