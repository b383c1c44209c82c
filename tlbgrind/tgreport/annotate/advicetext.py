# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints which memory pays in larger pages: the verdicts, how to get such pages, and the tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..base.terminal import Screen
from ..base.text import aligned, counted, wrapped
from ..formats.verdicts import (
    ASSUMED_WORDS,
    FAULT,
    PERHAPS,
    WORTH_PERCENT,
    YES,
    Verdict,
    worth,
)
from .advice import (
    ABSENT,
    ALL,
    NONE,
    ROOM,
    SWITCH_EVERY,
    UNTOUCHED,
    Advice,
    Gain,
    name_of,
)

_SAME = "; it saves all that its kind saves"
_ALONE = f" What else runs on its core is not counted; --switch-every={SWITCH_EVERY} does."


def _names(gains: Sequence[Gain]) -> str:
    return ", ".join(map(name_of, gains))


# ---------------------------------------------------------------- verdicts


def _hows(gains: Sequence[Gain], width: int) -> list[str]:
    """Once where several have the same way."""
    ways: dict[str, list[str]] = {}
    for gain in gains:
        ways.setdefault(gain.how(), []).append(gain.kind)
    text = []
    for how, kinds in ways.items():
        text += wrapped(f"  {', '.join(dict.fromkeys(kinds))}: ", how, width, 8)
    return text


def _reasons(gains: Sequence[Gain], width: int) -> list[str]:
    text = []
    for gain in gains:
        text += wrapped(f"  {name_of(gain)} saves ", f"{gain.verdict.reason()}.", width, 4)
    return text


def _of_faults(gains: Sequence[Gain], width: int) -> list[str]:
    text = []
    for gain in gains:
        if gain.by_faults is not None:
            reason = f"{counted(gain.faults_saved, 'page fault')}: {gain.by_faults.reason()}."
            text += wrapped(f"  {name_of(gain)} saves ", reason, width, 4)
    return text


def verdict_of(advice: Advice, size: str, width: int) -> list[str]:
    """Which memory pays in pages of that size, and how to get them; or that there is none."""
    worth, perhaps, faults = (advice.that_pay(size, word) for word in (YES, PERHAPS, "faults"))
    together = [gain for gain in advice.of_size(size) if gain.kind == ALL and gain.pays() in (YES, PERHAPS)]
    text = []
    if worth:
        text.append(f"Pages of {size} pay for {_names(worth)}:")
        text += _reasons(worth, width)
    elif together and not perhaps:
        text.append(f"No kind of memory wins by pages of {size} alone; all of it together does.")
        text += _reasons(together, width)
    if perhaps:
        text.append(f"Pages of {size} may pay for {_names(perhaps)}:")
        text += _reasons(perhaps, width)
    if faults:
        text.append(f"Pages of {size} pay by fewer page faults alone for {_names(faults)}:")
        text += _of_faults(faults, width)
    if not text:
        return _nothing(advice, size, width)
    return text + _hows([*worth, *perhaps, *faults], width)


def _nothing(advice: Advice, size: str, width: int) -> list[str]:
    label = "Nothing to win: "
    there = [gain for gain in advice.of_size(size) if gain.is_there()]
    most = f"with pages of {size} no kind of memory saves {WORTH_PERCENT}% of the time"
    alone = _ALONE if advice.alone else ""
    if not there:
        return wrapped(label, f"{most}: none is in such pages.", width)
    best = max(there, key=lambda gain: (gain.verdict.share[1], gain.verdict.share[0]))
    if best.verdict.cycles.most <= 0:
        return wrapped(label, f"{most}, or any; worth it would be {best.verdict.turns_at:,} cycles.{alone}", width)
    return wrapped(label, f"{most}. {name_of(best)} saves most, {best.verdict.reason()}.{alone}", width)


_WHY = {
    ROOM: "No room for a page of {size}",
    UNTOUCHED: "No such memory",
    ABSENT: "No such memory, or no room for a page of {size}",
    NONE: "The same misses in pages of {size}",
}


def _without_change(advice: Advice, size: str, width: int) -> list[str]:
    """The memory that has no row, and why."""
    text = []
    for same, words in _WHY.items():
        # Large mappings have numbers unasked; where there are none, nothing is said.
        gains = [
            gain
            for gain in advice.of_size(size)
            if gain.same == same and not gain.has_row() and ("#" not in gain.kind or gain.mapping)
        ]
        if gains:
            text += wrapped(f"{words.format(size=size)}: ", f"{_names(gains)}.", width)
    if not all(gain.held for gain in advice.of_size(size)):
        text += wrapped(
            "",
            f"No array of {advice.machine} holds pages of {size}: they are entered in pieces, or passed by.",
            width,
        )
    return text


# ---------------------------------------------------------------- tables


def _table(advice: Advice) -> list[str]:
    head = ("memory", "pages", "time saved", "cycles saved", "walks", "L1", "faults", "backed", "unused")
    rows: list[tuple[str, ...]] = [head]
    for gain in advice.shown():
        rows.append(
            (
                name_of(gain),
                gain.size,
                gain.verdict.percent(),
                gain.verdict.cycles.words(),
                f"{gain.saved:,}",
                f"{gain.misses_saved:,}",
                f"{gain.faults_saved:,}",
                f"{gain.backed:,}K",
                f"{gain.backed - gain.touched:,}K",
            )
        )
    return aligned(rows) if len(rows) > 1 else []


def _mappings(advice: Advice, width: int) -> list[str]:
    """Which memory the numbers name."""
    found = {
        gain.kind: gain.mapping + (_SAME if advice.is_all_of_its_kind(gain) else "")
        for gain in advice.gains
        if gain.mapping and gain.has_row()
    }
    if not found:
        return []
    text = ["Large mappings, in the order of their first touch (+: and all later ones):"]
    for kind, mapping in sorted(found.items()):
        text += wrapped(f"  {kind}: ", mapping, width)
    return text


def _rate(advice: Advice) -> str:
    rate = 1000 * advice.walks / advice.instructions if advice.instructions else 0
    return f"{counted(advice.walks, 'page walk')}, {rate:,.3f} per 1000 instructions"


def _of_machine(advice: Advice, screen: Screen) -> list[str]:
    head, *rows = _table(advice) or [""]
    text = [screen.heading(head), *rows] if rows else []
    return text + _mappings(advice, screen.width)


def _all_without_change(advice: Advice, width: int) -> list[str]:
    return [line for size in advice.sizes for line in _without_change(advice, size, width)]


def _headline(advice: Advice) -> list[str]:
    """What there is to win."""
    text = [f"{advice.machine}: misses take {advice.share()} of the time; {_rate(advice)}"]
    if advice.faults > 0:
        whose = " of the whole run" if advice.is_part else ""
        text.append(f"{counted(advice.faults, 'page fault')} at first touches{whose}")
    return text


def _worth(advice: Advice) -> str:
    """What would turn its verdicts."""
    ends = [worth(time) for time in advice.spends[1]]
    least, most = min(ends), max(ends)
    return f"{WORTH_PERCENT}% of the time: {least:,}{f' to {most:,}' if least != most else ''} cycles"


def _legend(found: Sequence[Advice], width: int) -> list[str]:
    said = (
        "time saved: of the whole program's, if only that memory is in such pages; estimated, from misses "
        "that overlap as far as they can to each waiting for the one before. "
        f"It pays from {WORTH_PERCENT}% on; it may, if only the upper end is as much. "
        "walks, L1, faults: page walks, first-level misses and page faults saved; each page that is touched "
        "is a fault. backed: in such pages at the peak of all memory; unused: never touched."
    )
    if any(one.that_pay(size, "faults") for one in found for size in one.sizes):
        said += f" A page fault is taken to cost {FAULT.words()} cycles."
    if any(one.assumed for one in found):
        said += f" What misses cost is assumed: {ASSUMED_WORDS}."
    return wrapped("", said, width)


def listing(found: Sequence[Advice], screen: Screen) -> list[str]:
    if len(found) > 1:
        return _of_many(found, screen)
    advice = found[0]
    text = [*_headline(advice), ""]
    for size in advice.sizes:
        text += verdict_of(advice, size, screen.width)
    text += ["", *_of_machine(advice, screen), *_all_without_change(advice, screen.width)]
    return [*text, "", *_legend(found, screen.width)]


# ---------------------------------------------------------------- several machines


def _of_many(found: Sequence[Advice], screen: Screen) -> list[str]:
    """The verdicts of all machines together, one table of memory by machine, and then each."""
    text = []
    sizes = list(dict.fromkeys(size for one in found for size in one.sizes))
    for size in sizes:
        text += _verdict_of_many(found, size, screen.width)
    text += ["", *_shares(found, screen)]
    unchanged = [_all_without_change(one, screen.width) for one in found]
    same = all(lines == unchanged[0] for lines in unchanged)
    for one, lines in zip(found, unchanged):
        text += [*_headline(one), _worth(one), *_of_machine(one, screen), *([] if same else lines), ""]
    if same and unchanged[0]:
        text += [*unchanged[0], ""]
    return [*text, *_legend(found, screen.width)]


def _verdict_of_many(found: Sequence[Advice], size: str, width: int) -> list[str]:
    """A line for each memory, with the machines where it pays."""
    text: list[str] = []
    paying: list[Gain] = []
    for words, pays in ((YES, "pay"), (PERHAPS, "may pay"), ("faults", "pay by fewer page faults alone")):
        by_name: dict[str, list[tuple[Advice, Gain]]] = {}
        for one in found:
            for gain in one.that_pay(size, words):
                by_name.setdefault(name_of(gain), []).append((one, gain))
        for name, where in by_name.items():
            paying += [gain for _, gain in where]
            each = "; ".join(f"{one.machine} {_brief(gain, words)}" for one, gain in where)
            text += wrapped(f"Pages of {size} {pays} for {name}: ", f"{each}.", width, 4)
    text += _hows(paying, width)
    for one in found:
        if not one.that_pay(size, YES, PERHAPS, "faults"):
            said = " ".join(" ".join(verdict_of(one, size, width)).split())
            text += wrapped(f"{one.machine}: ", said, width, 4)
    return text


def _brief(gain: Gain, words: str) -> str:
    verdict: Verdict = gain.by_faults if words == "faults" and gain.by_faults else gain.verdict
    return verdict.percent()


def _shares(found: Sequence[Advice], screen: Screen) -> list[str]:
    """Memory by machine. What changes nothing on a machine has no share there."""
    memories: dict[tuple[str, str], dict[str, Gain]] = {}
    for one in found:
        for gain in one.shown():
            memories.setdefault((name_of(gain), gain.size), {})[one.machine] = gain
    if not memories:
        return []
    rows: list[tuple[str, ...]] = [("memory", "pages", *(one.machine for one in found))]
    last = sorted(memories.items(), key=lambda item: item[0][0] == "all of it")
    for (name, size), by_machine in last:
        cells = (by_machine.get(one.machine) for one in found)
        rows.append((name, size, *(cell.verdict.percent() if cell else "-" for cell in cells)))
    return screen.table("Time saved", rows, left=2)
