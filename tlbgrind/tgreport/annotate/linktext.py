# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints what the dynamic linker spends, for which relocations, and what other ways to link save."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..base.terminal import Screen
from ..base.text import wrapped
from ..formats.cost import Cycles
from ..formats.dynamic import KINDS
from ..formats.verdicts import NO, WORTH_PERCENT, YES, longest_run, word_of
from .linkage import Member, Todo, sum_of
from .linker import Linker, Saving, Share, Spent

MOST = 10  # rows of a table; what else there is, is one


def verdict_text(found: Linker, screen: Screen) -> list[str]:
    """What the linker's work is of the whole, and which run would turn the verdict."""
    cycles, whole = found.cycles(found.spent), found.cycles(found.whole)
    share = found.share(found.spent, found.spent)
    word = word_of(*share)
    longest = longest_run(cycles)
    rests = (
        f"the dynamic linker has {percent(share)} of the program's cycles ({cycles.words()} of "
        f"{whole.words()}{'' if found.knows_cost else ', without those of misses, which are not known'})"
    )
    least = f"{WORTH_PERCENT}%"
    if word == NO:
        turns = f"it could have {least} in a run of {longest:,} cycles or fewer"
        return wrapped("Nothing to win at the start: ", f"{rests}; {turns}.", screen.width)
    best = [
        f"{one.name} ({percent(found.share(one.least, one.most))})"
        for one in sorted(_known(found.savings), key=lambda one: -one.least.instructions if one.least else 0)
        if one.least is not None and one.most is not None and pays(found, one) == YES
    ]
    what = f"What saves most: {', '.join(best[:3])}. " if best else ""
    turns = f"It would be less than {least}, and not worth it, in a run of more than {longest:,} cycles"
    label = "Libraries cost the start: " if word == YES else "Libraries may cost the start: "
    return wrapped(label, f"{rests}. {what}{turns}.", screen.width)


def text_of(found: Linker, screen: Screen, shows_all: bool) -> list[str]:
    most = len(found.linkage.members) if shows_all else MOST
    return [*_parts(found, screen), *_relocations(found, screen, most), *_ways(found, screen)]


def _known(savings: Sequence[Saving]) -> list[Saving]:
    return [one for one in savings if one.least is not None]


def percent(share: Share) -> str:
    least, most = (_percent(end) for end in share)
    return f"{least}%" if least == most else f"{least} to {most}%"


def _percent(part: Fraction) -> str:
    value = float(100 * part)
    return f"{value:.1f}" if abs(value) >= 1 or value == 0 else f"{value:.2g}"


def pays(found: Linker, one: Saving) -> str:
    """By the same rule as the whole."""
    if one.least is None or one.most is None:
        return "-"
    share = found.share(one.least, one.most)
    if share.most <= 0 and share.least < 0:
        return "costs"
    return word_of(*share)


def _parts(found: Linker, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [("times", "Ir", "share", "L1tm", "miss cycles", "faults", "what")]
    shown = [(part.what, part.times, part.spent) for part in found.parts]
    shown.append(("the dynamic linker", None, found.spent))
    if found.out.instructions:
        tables = found.spent_in_tables()
        shown.append(("linkage tables (PLT)", found.calls_through_tables(), tables))
    shown.append(("the program", None, found.whole))
    for what, times, spent in shown:
        cycles = Cycles(int(spent.least), int(spent.most))
        rows.append(
            (
                "" if times is None else f"{times:,}",
                f"{int(spent.instructions):,}",
                percent(found.share(spent, spent)),
                f"{int(spent.misses):,}",
                cycles.words(),
                f"{int(spent.faults):,}" if found.has_faults else "-",
                what,
            )
        )
    if not found.knows_cost:
        rows = [(*row[:4], *row[5:]) for row in rows]
    text = screen.table("What the dynamic linker does", rows, left=0)
    if not found.parts:
        text += wrapped("", "The functions of the dynamic linker have no names, so its parts are not known.", screen.width)
    return text


def _relocations(found: Linker, screen: Screen, most: int) -> list[str]:
    todo, members = found.todo, found.linkage.members
    ordered = sorted(
        members, key=lambda m: (-todo[m.number].tested, -todo[m.number].relocations, m.number)
    )
    shown, others = ordered[:most], ordered[most:]
    whole = found.kinds()
    kinds = [kind for kind in KINDS if whole[kind]]
    rows: list[tuple[str, ...]] = [(*kinds, "look-ups", "tested", "object")]

    def row(some: Sequence[Member], name: str) -> None:
        done: Todo = sum_of(todo[member.number] for member in some)
        counts = [sum(member.kinds[kind] for member in some) for kind in kinds]
        rows.append((*(f"{count:,}" for count in (*counts, done.look_ups, done.tested)), name))

    for member in shown:
        row([member], member.name)
    if others:
        row(others, f"{len(others):,} more")
    row(members, f"all {len(members):,} objects")
    return [*screen.table("Relocations", rows, left=0)[:-1], *_notes(found, screen.width), ""]


def _notes(found: Linker, width: int) -> list[str]:
    text = []
    all_of_it = found.all
    if found.looked_up is not None:
        others = found.looked_up - all_of_it.look_ups
        lazy = f", {all_of_it.lazy:,} of them at the first call of a function" if all_of_it.lazy else ""
        rest = f", and {others:,} of dlsym() and of the start of the C library" if others >= 0 else ""
        text += wrapped(
            "",
            f"{found.looked_up:,} look-ups were counted: {all_of_it.look_ups:,} of these relocations{lazy}{rest}.",
            width,
        )
        if others < 0:
            text += wrapped("", f"The files have {-others:,} more than were counted: they are not those of the run.", width)
    for names, what in (
        (found.linkage.missing, "Not among the objects of the run, so not in these counts"),
        (found.unread, "Cannot be read, so not in these counts"),
    ):
        if names:
            more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            text += wrapped("", f"{what}: {', '.join(names[:5])}{more}.", width)
    return text


def _ways(found: Linker, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [("look-ups", "tested", "Ir saved", "share", "pays", "way to link")]
    for one in found.savings:
        if one.todo is None and not one.how:
            continue
        todo = ("-", "-") if one.todo is None else (f"{one.todo.look_ups:,}", f"{one.todo.tested:,}")
        saved, share = "-", "-"
        if one.least is not None and one.most is not None:
            saved = _range(one.least, one.most)
            share = percent(found.share(one.least, one.most))
        rows.append((*todo, saved, share, pays(found, one), one.name))
    text = screen.table("Other ways to link, and what they save", rows, left=0)[:-1]
    for one in found.savings:
        words = [one.how, one.assumption]
        if one.faults:
            words.insert(1, one.faults)
        text += wrapped(f"  {one.name}: ", "; ".join(filter(None, words)), screen.width, 4)
    text += wrapped(
        "",
        "Not told by the run: what Linux does for each object, in openat(), mmap() and page faults; what "
        "another order of the code and a linker's optimizations change.",
        screen.width,
    )
    return [*text, ""]


def _range(least: Spent, most: Spent) -> str:
    ends = f"{int(least.instructions):,}", f"{int(most.instructions):,}"
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def legend(found: Linker) -> list[str]:
    return [
        "look-ups: of symbols; tested: objects in which they were looked for; share: of the program's",
        f"cycles; pays: at least {WORTH_PERCENT}% of them, perhaps: at most; -: cannot be told",
    ]
