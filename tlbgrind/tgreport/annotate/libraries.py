# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes what calls between a program's libraries cost, and what merging them would save.

What loading and binding them costs is linker.py's.
Calls between objects are those of --calls=yes, pages and bytes of executed code those of
--dump-instr=yes. What a merge saves is the difference to the out-file of a run with --merge-code=.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from ..base.errors import ReportError
from ..formats.faultlog import FaultLog
from ..formats.outfile import OutFile
from ..formats.verdicts import (
    NO,
    Verdict,
    cycles_of_code,
    judge,
    judge_change,
    judge_faults_at_most,
    spent_by,
)
from . import linker
from .linker import Linker
from .linkways import savings
from .profile import Profile, Renamer

OFTEN_PERCENT = 1  # of all calls between objects


class CodeUse(NamedTuple):
    """How much code was executed."""

    pages: int
    bytes: int


@dataclass
class Library:
    object: str
    misses: int  # of the first level, by instructions
    walks: int
    calls_in: int = 0  # from other objects
    calls_out: int = 0
    code: CodeUse | None = None  # None: not recorded


def library_sum(libraries: Sequence[Library], name: str) -> Library:
    uses = [one.code for one in libraries if one.code is not None]
    code = CodeUse(sum(use.pages for use in uses), sum(use.bytes for use in uses)) if uses else None
    return Library(
        name,
        sum(one.misses for one in libraries),
        sum(one.walks for one in libraries),
        sum(one.calls_in for one in libraries),
        sum(one.calls_out for one in libraries),
        code,
    )


class Pair(NamedTuple):
    """Two objects of which one calls the other."""

    object: str
    other: str
    calls: int
    back: int  # calls of the first by the other


class Merge(NamedTuple):
    """One run: that of the program as it is, or one with merged code."""

    out: OutFile
    objects: int  # that are merged
    instructions: int
    misses: int
    walks: int
    pages: int | None  # of all executed code
    saved_misses: int
    saved_walks: int
    saved_pages: int | None
    merged_pages: int | None  # of the merged objects
    least_pages: int | None  # that their executed bytes could lie in
    verdict: Verdict  # by what its misses cost less
    of_pages: Verdict  # by its page faults, at most

    def pays(self) -> str:
        """In a word."""
        if self.verdict.word == NO and self.of_pages.word != NO:
            return "faults"
        return self.verdict.word


@dataclass
class Libraries:
    base: Merge
    calls: int  # between objects
    objects: list[Library]  # that matter
    omitted_objects: list[Library]
    pairs: list[Pair]
    omitted_pairs: list[Pair]
    merges: list[Merge]
    linker: Linker | None = None  # None: there is none in the run
    shows_all: bool = False  # not only the first rows

    @property
    def page_size(self) -> int:
        return _page_size(self.base.out)

    @property
    def suggested(self) -> list[str]:
        """File names of objects between which most calls are, as --merge-code= takes them."""
        least = self.calls * OFTEN_PERCENT
        often = [pair for pair in self.pairs if (pair.calls + pair.back) * 100 >= least]
        names = dict.fromkeys(name for pair in often for name in (pair.object, pair.other))
        files = [os.path.basename(name) for name in names if name.startswith("/")]
        return [name for name in files if not re.match(r"ld(-.+)?\.so|.*[,*?\[]", name)]

    def of_all(self) -> Verdict:
        """Of a merge that saved all misses of instructions."""
        return judge(cycles_of_code(self.base.out), spent_by(self.base.out))


def _count(out: OutFile, event: str) -> int:
    if event not in out.events:
        raise ReportError(
            f"without the event {event}; --advice=libraries takes out-files of tlbgrind", out.path
        )
    return out.totals[out.events.index(event)]


_MERGED = re.compile(r"0x[0-9a-f]+ \d+ 0x[0-9a-f]+ (.+)")
_CODE = re.compile(r"(\d+) (\d+) (.+)")
_MERGED_PAGES = re.compile(r"(\d+) (\d+)")


def _described(out: OutFile, name: str, form: re.Pattern[str]) -> list[re.Match[str]]:
    found = []
    for key, text in out.descriptions:
        if key == name:
            match = form.fullmatch(text)
            if match is None:
                raise ReportError(f"'desc: {name}: {text}' is not of the form that tlbgrind writes", out.path)
            found.append(match)
    return found


def _merged(out: OutFile) -> set[str]:
    return {match[1] for match in _described(out, "Merged code", _MERGED)}


def _code(out: OutFile) -> dict[str, CodeUse]:
    return {m[3]: CodeUse(int(m[1]), int(m[2])) for m in _described(out, "Code", _CODE)}


def _page_size(out: OutFile) -> int:
    text = dict(out.descriptions).get("Page size", "")
    return int(text) if text.isdigit() and int(text) > 0 else 4096


def _pages(out: OutFile) -> int | None:
    """Of all executed code, merged where it is."""
    code = _code(out)
    if not code:
        return None
    merged = _merged(out)
    apart = sum(use.pages for name, use in code.items() if name not in merged)
    return apart + sum(int(m[1]) for m in _described(out, "Merged code pages", _MERGED_PAGES))


def _merged_pages(out: OutFile) -> tuple[int | None, int | None]:
    """Of the merged objects, and at least."""
    found = _described(out, "Merged code pages", _MERGED_PAGES)
    return (int(found[0][1]), -(-int(found[0][2]) // _page_size(out))) if found else (None, None)


def _as_it_is(out: OutFile) -> Merge:
    instructions, misses, walks = (_count(out, event) for event in ("Ir", "I1tm", "ILtm"))
    pages = _pages(out)
    saved_pages = None if pages is None else 0
    nothing = judge_change(out, out)
    return Merge(
        out, 0, instructions, misses, walks, pages, 0, 0, saved_pages, None, None, nothing, nothing
    )


def _merge(base: Merge, out: OutFile) -> Merge:
    names = [dict(file.descriptions).get("Machine") for file in (base.out, out)]
    if out.command != base.out.command or names[0] != names[1]:
        raise ReportError(
            f"not of the same command and machine as {base.out.path}; --advice=libraries compares a "
            "run with the same run with --merge-code=",
            out.path,
        )
    if not _merged(out):
        raise ReportError(
            "without merged code; behind the first out-file --advice=libraries takes those of runs "
            "with --merge-code=",
            out.path,
        )
    instructions, misses, walks = (_count(out, event) for event in ("Ir", "I1tm", "ILtm"))
    pages = _pages(out)
    saved_misses, saved_walks = base.misses - misses, base.walks - walks
    saved_pages = None if pages is None or base.pages is None else base.pages - pages
    merged_pages, least_pages = _merged_pages(out)
    return Merge(
        out,
        len(_merged(out)),
        instructions,
        misses,
        walks,
        pages,
        saved_misses,
        saved_walks,
        saved_pages,
        merged_pages,
        least_pages,
        judge_change(base.out, out),
        judge_faults_at_most(saved_pages or 0, base.pages or 0, spent_by(base.out)),
    )


def _pairs(profile: Profile, found: dict[str, Library]) -> list[Pair]:
    """Also adds the calls to those of the objects."""
    calls: dict[tuple[str, str], int] = {}
    for (caller, callee), arc in profile.arcs().items():
        ends = (caller.object, callee.object)
        if arc.calls and ends[0] != ends[1]:
            calls[ends] = calls.get(ends, 0) + arc.calls
    for (caller_object, callee_object), count in calls.items():
        for name in (caller_object, callee_object):
            found.setdefault(name, Library(name, 0, 0))
        found[caller_object].calls_out += count
        found[callee_object].calls_in += count
    pairs = []
    for (name, other), count in calls.items():
        back = calls.get((other, name), 0)
        if (back, other) < (count, name):  # each pair once, with the more frequent caller first
            pairs.append(Pair(name, other, count, back))
    pairs.sort(key=lambda pair: (-pair.calls - pair.back, pair))
    return pairs


def find(
    files: Sequence[OutFile], log: FaultLog | None, rename: Renamer, threshold: Fraction
) -> Libraries:
    out = files[0]
    if _merged(out):
        raise ReportError(
            "of a run with --merge-code=; the first file of --advice=libraries is that of the program "
            "as it is",
            out.path,
        )
    base = _as_it_is(out)
    if not out.arcs:
        raise ReportError("without calls; tlbgrind records them with --calls=yes", out.path)
    profile = Profile([out], False, rename, lambda name: name)
    misses, walks = (out.events.index(event) for event in ("I1tm", "ILtm"))
    found = {
        name: Library(name, counts[misses], counts[walks]) for name, counts in profile.objects().items()
    }
    pairs = _pairs(profile, found)
    for name, use in _code(out).items():
        one = found.setdefault(rename(name), Library(rename(name), 0, 0))
        before = one.code or CodeUse(0, 0)
        one.code = CodeUse(before.pages + use.pages, before.bytes + use.bytes)
    total = sum(pair.calls + pair.back for pair in pairs)

    def matters(part: int, whole: int) -> bool:
        return part > 0 and part * 100 >= whole * threshold

    objects = sorted(found.values(), key=lambda one: (-one.misses, -one.calls_in - one.calls_out, one.object))
    kept = [
        one
        for one in objects
        if matters(one.misses, base.misses) or matters(one.calls_in + one.calls_out, total) or not threshold
    ]
    merges = sorted(
        (_merge(base, other) for other in files[1:]),
        key=lambda merge: (-merge.saved_walks, -merge.saved_misses, merge.out.path),
    )
    found_linker = linker.find(out, log, sorted(_merged(merges[0].out)) if merges else ())
    if found_linker is not None:
        found_linker.savings = savings(found_linker)
    return Libraries(
        base,
        total,
        kept,
        [one for one in objects if one not in kept],
        [pair for pair in pairs if matters(pair.calls + pair.back, total)],
        [pair for pair in pairs if not matters(pair.calls + pair.back, total)],
        merges,
        found_linker,
        not threshold,
    )


def different_work(found: Libraries) -> list[str]:
    """Warnings of runs that did not do the same, so that misses cannot be compared."""
    before = found.base.instructions
    return [
        f"{merge.out.path}: {merge.instructions:,} instructions, but {before:,} in {found.base.out.path}: "
        "misses of different work cannot be compared"
        for merge in found.merges
        if abs(merge.instructions - before) * 100 > before
    ]
