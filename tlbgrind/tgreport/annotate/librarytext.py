# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints what libraries cost, what other ways to link would save, and how to merge them."""

from __future__ import annotations

import os
from collections import Counter

from ..base.errors import printable
from ..base.names import cut
from ..base.terminal import Screen
from ..base.text import counted, percentage, wrapped
from ..formats.verdicts import (
    NO,
    WORTH_PERCENT,
    YES,
    judge_faults_at_most,
    spent_by,
    word_of,
)
from .libraries import (
    CodeUse,
    Libraries,
    Merge,
    library_sum,
)
from .linktext import MOST, legend, verdict_text
from .linktext import text_of as linker_text

_HOW = (
    (
        "one library: ",
        (
            "link the objects of several into one, with -Wl,-Bsymbolic-functions or hidden visibility: "
            "else calls inside it go through a linkage table that may lie far from both ends"
        ),
    ),
    (
        "statically: ",
        (
            "link the .a files; -ffunction-sections -Wl,--gc-sections leaves out what is never called, "
            "-flto puts small functions into their callers"
        ),
    ),
)
_NOT_MODELLED = (
    "Not in these counts: calls between the objects go through linkage tables as before, which a link "
    "can leave out, and the linker has another order. Either can change more than 10% of the misses."
)
_NO_LINKER = (
    "No dynamic linker is among the objects: the program is static, or the linker is a part of the C "
    "library (musl), so its work cannot be told from others'."
)


def text_of(found: Libraries, screen: Screen) -> list[str]:
    text = [screen.heading(line) for line in _headline(found, screen)]
    if found.linker is None:
        text += wrapped("", _NO_LINKER, screen.width)
    else:
        text += [*verdict_text(found.linker, screen), "", *linker_text(found.linker, screen, found.shows_all)]
    if not text[-1]:
        text.pop()
    text += ["", *_objects(found, screen), *_pairs(found, screen)]
    if found.merges:
        text += _merges(found, screen)
    text += _verdict(found, screen.width)
    return [*text, "", *_legend(found)]


def _per_1000(count: int, instructions: int) -> str:
    return f"{1000 * count / instructions:,.3f}" if instructions else "0"


def _headline(found: Libraries, screen: Screen) -> list[str]:
    base = found.base
    machine = dict(base.out.descriptions).get("Machine", "")
    on = f" on {machine}" if machine else ""
    calls, misses = (_per_1000(count, base.instructions) for count in (found.calls, base.misses))
    rest = (
        f"{on}; per 1000 Ir {calls} calls between objects ({found.calls:,}), {misses} I1tm "
        f"({base.misses:,})"
    )
    command = base.out.command
    if not screen.wide:
        command = cut(command, max(20, screen.width - len(base.out.path) - 2 - len(rest)))
    return [printable(f"{base.out.path}: {command}{rest}")]


def _code(code: CodeUse | None, page_size: int) -> tuple[str, str, str]:
    if code is None:
        return "-", "-", ""
    return f"{code.pages:,}", f"{code.bytes:,}", percentage(code.bytes, code.pages * page_size)


def _objects(found: Libraries, screen: Screen) -> list[str]:
    most = len(found.objects) if found.shows_all else MOST
    shown = found.objects[:most]
    omitted = [*found.objects[most:], *found.omitted_objects]
    if omitted:
        shown.append(library_sum(omitted, f"{len(omitted):,} more"))
    rows: list[tuple[str, ...]] = [
        ("I1tm", "ILtm", "calls in", "calls out", "pages", "bytes", "full", "object")
    ]
    for one in shown:
        numbers = (one.misses, one.walks, one.calls_in, one.calls_out)
        code = _code(one.code, found.page_size)
        rows.append((*(f"{number:,}" for number in numbers), *code, one.object))
    return screen.table("Objects", rows, left=0)


def _short(found: Libraries, screen: Screen) -> dict[str, str]:
    """Objects by the names of their files, where these are different."""
    names = {name for pair in found.pairs for name in (pair.object, pair.other)}
    often = Counter(map(os.path.basename, names))
    return {
        name: name if screen.wide or often[os.path.basename(name)] > 1 else os.path.basename(name)
        for name in names
    }


def _pairs(found: Libraries, screen: Screen) -> list[str]:
    if not found.calls:
        return ["No object calls another.", ""]
    short = _short(found, screen)
    rows: list[tuple[str, ...]] = [("calls", "", "back", "from -> to")]
    most = len(found.pairs) if found.shows_all else MOST
    for pair in found.pairs[:most]:
        share = percentage(pair.calls + pair.back, found.calls)
        rows.append((f"{pair.calls:,}", share, f"{pair.back:,}", f"{short[pair.object]} -> {short[pair.other]}"))
    omitted = [*found.pairs[most:], *found.omitted_pairs]
    if omitted:
        calls = sum(pair.calls for pair in omitted)
        back = sum(pair.back for pair in omitted)
        share = percentage(calls + back, found.calls)
        rows.append((f"{calls:,}", share, f"{back:,}", f"{len(omitted):,} more"))
    return screen.table("Calls between objects", rows, left=0)


def _pages(pages: int | None) -> str:
    return "-" if pages is None else f"{pages:,}"


def _merges(found: Libraries, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("merged", "I1tm", "saved", "", "ILtm", "saved", "", "pages", "saved", "least", "file")
    ]
    base = found.base
    for merge in (base, *found.merges):
        rows.append(
            (
                f"{merge.objects:,}",
                f"{merge.misses:,}",
                *_saved(merge.saved_misses, base.misses, merge is base),
                f"{merge.walks:,}",
                *_saved(merge.saved_walks, base.walks, merge is base),
                _pages(merge.pages),
                "" if merge is base else _pages(merge.saved_pages),
                _pages(merge.least_pages) if merge is not base else "",
                merge.out.path,
            )
        )
    return screen.table("Merged", rows, left=0)


def _saved(saved: int, whole: int, nothing: bool) -> tuple[str, str]:
    if nothing:
        return "", ""
    return f"{saved:,}", percentage(saved, whole) if abs(saved) <= whole else ""


def _verdict(found: Libraries, width: int) -> list[str]:
    if found.merges:
        return _of_merges(found, width)
    of_all = found.of_all()
    if of_all.word == NO:
        return wrapped(
            "Nothing to win in the instruction TLBs: ", f"all their misses take {of_all.reason()}.", width
        )
    names = found.suggested
    if len(names) < 2:
        return wrapped("Nothing to merge: ", "no two files call each other often.", width)
    return wrapped(
        "Next: ",
        "what merging saves, is in the out-file of another run with --dump-instr=yes and --merge-code= "
        "with the names of objects that could be one; give it behind this one. Of those that call each "
        f"other most: --merge-code='{','.join(names)}'",
        width,
    )


def _of_merges(found: Libraries, width: int) -> list[str]:
    text = []
    for merge in found.merges:
        word, label = merge.verdict.word, f"{merge.out.path}: "
        if word != NO:
            pays = "pays" if word == YES else "may pay"
            what = f"merging {pays}: it saves {_savings(merge)}; {merge.verdict.reason()}."
            text += wrapped(label, what, width)
        if merge.of_pages.word != NO:
            what = (
                f"merging may pay at the start: it saves {counted(merge.saved_pages or 0, 'page')} of code, each a page "
                f"fault at most; {merge.of_pages.reason()}."
            )
            text += wrapped(label, what, width)
    is_worth_it = bool(text)
    if not is_worth_it:
        best = max(found.merges, key=lambda merge: merge.verdict.share[1])
        text = wrapped(
            "Nothing to win in the instruction TLBs: ",
            f"no merge saves {WORTH_PERCENT}% of the time. {best.out.path} saves {best.verdict.reason()}. "
            f"{_keep(found)}",
            width,
        )
    for label, how in _HOW if is_worth_it else ():
        text += wrapped(f"  {label}", how, width)
    text += _order(found, width)
    return [*text, *wrapped("", _NOT_MODELLED, width)]


def _keep(found: Libraries) -> str:
    """What follows for the libraries, if no merge pays in the TLBs."""
    linker = found.linker
    if linker is None:
        return "Keep the libraries."
    share = linker.share(linker.spent, linker.spent)
    if word_of(*share) != NO:
        return "What they cost is the start: see above."
    return "Keep the libraries."


def _order(found: Libraries, width: int) -> list[str]:
    """What the order of functions can win, in the run with the most merged code."""
    most = max(found.merges, key=lambda merge: merge.merged_pages or 0)
    if most.merged_pages is None or most.least_pages is None or 2 * most.least_pages > most.merged_pages:
        return []
    empty = most.merged_pages - most.least_pages
    of_pages = judge_faults_at_most(empty, most.pages or most.merged_pages, spent_by(most.out))
    if NO == found.of_all().word == of_pages.word:
        return []
    return wrapped(
        "  order: ",
        "tg_order puts executed functions side by side, in separate libraries, too; what was executed of "
        f"the merged objects in {most.out.path} lies in {counted(most.merged_pages, 'page')} and would fill "
        f"{most.least_pages:,}",
        width,
    )


def _savings(merge: Merge) -> str:
    return (
        f"{merge.saved_misses:,} L1 instruction-TLB misses and {merge.saved_walks:,} instruction page walks"
    )


def _legend(found: Libraries) -> list[str]:
    text = legend(found.linker) if found.linker is not None else []
    text += [
        "calls in, out: from and to other objects; each comes back, so it changes the object twice",
        "pages, bytes: of code that was executed; full: bytes of the pages; -: needs --dump-instr=yes",
    ]
    if found.merges:
        text += [
            "merged: objects; pages: of all executed code, merged where it is, each a fault at most;",
            "least: pages that the executed bytes of the merged objects would fill",
        ]
    return text
