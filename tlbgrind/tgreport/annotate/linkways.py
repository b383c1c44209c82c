# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes what other ways to link would save of the dynamic linker's work.

A saving is what is looked up less, and so on, times what a look-up costs in this run;
`Saving.assumption` says so in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..base.text import counted
from ..formats.dynamic import JUMP_SLOT, RELATIVE, words_of_relr
from .linkage import Change, Member, Todo, sum_of
from .linker import FREE, Events, Linker, Saving, Spent, Work, is_of_c_library


def savings(found: Linker) -> list[Saving]:
    """In the order in which tables have them."""
    return _Savings(found, found.work).all


@dataclass
class _Prices:
    """What this run paid for each thing, as far as it did any."""

    test: Spent  # of an object for a symbol
    search: Spent  # of a list of objects, without the tests
    look_up: Spent  # without searches
    relocation: Spent  # if all cost the same
    bound: Spent  # if those cost all that take the address of a symbol
    object: Spent
    first_call: Spent

    def saved(self, todo: Todo, objects: int) -> tuple[Spent, Spent]:
        """Where all relocations cost the same, and where those of symbols cost all."""
        sums = FREE
        for price, number in (
            (self.test, todo.tested),
            (self.search, todo.searches),
            (self.look_up, todo.look_ups),
            (self.object, objects),
            (self.first_call, todo.lazy),
        ):
            sums = sums.plus(price.times(Fraction(number)))
        ways = (self.relocation, todo.relocations), (self.bound, todo.bound)
        one, other = (sums.plus(price.times(Fraction(number))) for price, number in ways)
        return one, other


def _each(spent: Spent, times: int) -> Spent:
    return spent.times(Fraction(1, times)) if times > 0 else FREE


def _prices(found: Linker, work: Work) -> _Prices:
    todo = found.all
    # Those of dlsym() are counted, but not in which objects they are: as many as the others.
    all_tested = Fraction(todo.tested * (work.looked_up or 0), todo.look_ups) if todo.look_ups else 0
    return _Prices(
        _each(work.tests, int(all_tested)),
        _each(work.searching, work.searches),
        _each(work.look_ups.minus(work.tests).minus(work.searching), work.looked_up or 0),
        _each(work.relocating, todo.relocations),
        _each(work.relocating, todo.bound),
        _each(work.loading, len(found.linkage.members)),
        _each(work.first_calls, work.at_call),
    )


_EACH = "each costs what it costs in this run on average"


class _Savings:
    """Collects ways to link and what they save."""

    def __init__(self, found: Linker, work: Work) -> None:
        self.found, self.work = found, work
        self.all: list[Saving] = []
        own = [m for m in found.linkage.members if not is_of_c_library(m.name)]
        self.own = {m.number: m.number for m in own if not m.dynamic.is_program}
        self._merged()
        self._own_symbols()
        self._now([m for m in own if m.kinds[JUMP_SLOT] and not found.change.binds_now(m)])
        self.all.append(_static(found))
        self.all.append(_relr(found))
        gone = "does not exist any more: glibc has no support for it since 2.36"
        self.all.append(Saving("prelinking", "", None, None, None, "", gone))

    def changed(self, change: Change, objects: int, inside: Spent) -> tuple[Todo, Spent | None, Spent | None]:
        now = self.found.all
        todo = sum_of(self.found.linkage.todo(change).values())
        saved = Todo(*(a - b for a, b in zip(now, todo)))
        if not self.work.knows or not now.look_ups:
            return saved, None, None
        ways = _prices(self.found, self.work).saved(saved, objects)
        one, other = (way.plus(inside) for way in ways)
        return saved, Spent(*map(min, zip(one, other))), Spent(*map(max, zip(one, other)))

    def _merged(self) -> None:
        found = self.found
        group = {member.number: 0 for member in found.merge}
        if len(group) < 2:
            return
        change = replace(found.change, group_of=group)
        saved, least, most = self.changed(change, len(group) - 1, _between(found, group))
        if most is not None:
            # The rest is done for each object, or for the program; and what is left to do may miss
            # as often as before, or not at all in so few objects.
            rest = found.parts[-1].spent.times(Fraction(len(group) - 1, len(found.linkage.members)))
            whole = found.spent.plus(found.spent_in_tables())
            most = most.plus(rest)._replace(least=whole.least, most=whole.most, misses=whole.misses)
        self.all.append(
            Saving(
                f"{len(group):,} libraries in one",
                "one link of all their object files, with -fvisibility=hidden or a version script",
                saved,
                least,
                most,
                _merged_faults(found),
                "what one refers to in another is known to the linker, and calls between them need no "
                f"linkage table; {_EACH}, and what is left misses as often as now, or never",
            )
        )

    def _own_symbols(self) -> None:
        found = self.found
        if not self.own:
            return
        change = replace(found.change, group_of=self.own)
        inside = _between(found, self.own)
        saved, least, most = self.changed(change, 0, inside)
        how = "-fvisibility=hidden or a version script, for what no other object needs"
        assumption = f"no other object is to define these symbols in their place; {_EACH}"
        self.all.append(Saving("fewer exported symbols", how, saved, least, most, "", assumption))
        change = replace(change, symbolic=self.own)
        saved, least, most = self.changed(change, 0, inside)
        if most is not None:
            more = saved.look_ups - saved.searches
            most = most.plus(_prices(found, self.work).search.times(Fraction(more)))
        assumption = (
            "as before, but what is looked up yet is looked for in the library itself first; a search "
            "that finds nothing costs from nothing to as much as one that finds"
        )
        self.all.append(Saving("-Bsymbolic", "-Wl,-Bsymbolic", saved, least, most, "", assumption))

    def _now(self, lazy: Sequence[Member]) -> None:
        if not lazy:
            return
        change = replace(self.found.change, now={member.number for member in lazy})
        saved, least, most = self.changed(change, 0, FREE)
        assumption = f"all their functions are looked up at the start, also those never called; {_EACH}"
        name = f"-z now in {counted(len(lazy), 'object')}"
        self.all.append(Saving(name, "-Wl,-z,now", saved, least, most, "", assumption))


def _between(found: Linker, group: Mapping[int, int]) -> Spent:
    """What linkage tables cost for calls inside a group."""
    sums = FREE
    events = Events(found.out)
    for number, table in found.tables.items():
        if number not in group or not table.calls:
            continue  # of none that is a symbol's
        member = found.linkage.members[number]
        inside = sum(
            calls
            for name, calls in table.calls.items()
            if (target := found.linkage.target(member, name, JUMP_SLOT)) is not None
            and group.get(target) == group[number]
        )
        calls = sum(table.calls.values())
        sums = sums.plus(events.spent(table.counts).times(Fraction(inside, calls)))
    return sums


def _static(found: Linker) -> Saving:
    sure = FREE
    for part in found.parts[:-1]:
        sure = sure.plus(part.spent)
    tables = found.spent_in_tables()
    objects = len(found.linkage.members) - 1
    late = sum(member.is_late for member in found.linkage.members)
    of_late = f"; the {late:,} objects of dlopen() would have to be built in" if late else ""
    how = "link the .a files"
    return Saving(
        "statically",
        how,
        found.all,
        sure.plus(tables) if found.parts else tables,
        found.spent.plus(tables),
        f"{counted(objects, 'object')} fewer" if objects else "",
        "the dynamic linker does nothing, and no linkage table is used; a static program does a part of "
        f"its other work itself: from nothing of the rest to all{of_late}",
    )


def _relr(found: Linker) -> Saving:
    """Fewer bytes to read; the same words are written."""
    saved = 0
    packed = 0
    for member in found.linkage.members:
        addresses = sorted(one.address for one in member.dynamic.relocations if one.kind == RELATIVE)
        if not addresses:
            continue
        packed += len(addresses)
        word = member.dynamic.word
        saved += len(addresses) * member.dynamic.entry - words_of_relr(addresses, word) * word
    return Saving(
        "RELR",
        "-Wl,-z,pack-relative-relocs",
        None,
        None,
        None,
        f"{saved:,} bytes of tables fewer to read, {counted(saved // 4096, 'page')}",
        f"{packed:,} relative relocations are not packed yet; the same words are written, so their pages "
        "stay; instructions saved cannot be told from this run",
    )


def _merged_faults(found: Linker) -> str:
    words = []
    for pages, what in ((found.code_pages, "code"), (found.data_pages, "data")):
        if pages is not None and pages.now > pages.merged:
            words.append(f"{counted(pages.now - pages.merged, 'page')} of {what}")
    return " and ".join(words) + " fewer" if words else ""
