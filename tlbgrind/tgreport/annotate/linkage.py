# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes what the dynamic linker has to do for objects as they are, and for changed ones: which
symbols it looks up, and in how many objects it looks for them.

The rules are glibc's: the objects are searched in the order in which they are loaded, the program
first, then breadth first what it needs. Versions of symbols are not looked at.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..formats.dynamic import COPY, JUMP_SLOT, SYMBOLIC, Dynamic, Reference, result_of


class Todo(NamedTuple):
    """What is to be done for objects."""

    relocations: int  # that are written when it is loaded, with lazy JUMP_SLOTs, which are moved
    look_ups: int
    searches: int  # of lists of objects, in a look-up one after the other
    tested: int  # objects in which a symbol was looked for, over all look-ups
    kept: int  # references that have the last result
    lazy: int  # of the look-ups, those when a function is called first

    @property
    def bound(self) -> int:
        """Of the relocations, those that take the address of a symbol when the object is loaded."""
        return self.look_ups - self.lazy + self.kept

    def plus(self, other: Todo) -> Todo:
        return Todo(*(a + b for a, b in zip(self, other)))


NOTHING = Todo(0, 0, 0, 0, 0, 0)


@dataclass
class Member:
    """An object of a run."""

    name: str
    dynamic: Dynamic
    number: int = 0  # in the order of loading
    is_late: bool = False  # no other needs it: dlopen() loads it
    scope: tuple[int, ...] = ()  # numbers of what is searched behind the program's, of a late one

    @cached_property
    def kinds(self) -> Counter[str]:
        return Counter(one.kind for one in self.dynamic.relocations)


@dataclass
class Linkage:
    """The objects of a run in the order of loading, those of dlopen() last."""

    members: list[Member]
    missing: list[str] = field(default_factory=list)  # needed, and not among the objects
    _definers: dict[str, list[int]] = field(default_factory=dict)
    _stand_ins: dict[str, list[int]] = field(default_factory=dict)
    _found: dict[int, list[tuple[Reference, int | None]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for member in self.members:
            for symbol in member.dynamic.symbols:
                if symbol.is_defined:
                    self._definers.setdefault(symbol.name, []).append(member.number)
                elif symbol.is_stand_in and member.dynamic.is_program:
                    self._stand_ins.setdefault(symbol.name, []).append(member.number)
        self._start = [member.number for member in self.members if not member.is_late]

    def target(self, member: Member, name: str, kind: str) -> int | None:
        """The object in which the symbol is found."""
        found = self._definers.get(name, ())
        what = result_of(kind)
        if what == "data" and name in self._stand_ins:
            found = sorted([*self._stand_ins[name], *found])
        if member.dynamic.is_symbolic and member.number in found:
            return member.number
        for number in found:
            if what == "copy" and self.members[number].dynamic.is_program:
                continue
            if not self.members[number].is_late:
                return number
        late = [number for number in member.scope if number in found]
        return late[0] if late else None

    def _references(self, member: Member) -> list[tuple[Reference, int | None]]:
        """With the objects in which they are found."""
        known = self._found.get(member.number)
        if known is None:
            known = self._found[member.number] = [
                (one, self.target(member, one.name, one.relocation.kind))
                for one in member.dynamic.references(True)
            ]
        return known

    def todo(self, change: Change) -> dict[int, Todo]:
        """By member."""
        groups = [change.group_of.get(member.number, -1 - member.number) for member in self.members]
        before: list[int] = []  # how many different ones there are up to each of the start
        seen: set[int] = set()
        for number in self._start:
            seen.add(groups[number])
            before.append(len(seen))
        written: set[tuple[int, str, str]] = set()
        return {
            member.number: self._of(member, change, groups, before, written) for member in self.members
        }

    def _of(
        self,
        member: Member,
        change: Change,
        groups: Sequence[int],
        before: Sequence[int],
        written: set[tuple[int, str, str]],
    ) -> Todo:
        group = groups[member.number]
        with_slots = change.binds_now(member)
        references = self._references(member)
        relocations = len(member.dynamic.relocations) - len(references)
        look_ups = searches = tested = kept = lazy = 0
        for one, number in references:
            kind, is_in_got = one.relocation.kind, one.relocation.is_in_got
            if group >= 0 and number is not None and groups[number] == group and kind != COPY:
                # The linker knows the place: of a word of data, relative to where it is loaded.
                relocations += kind == SYMBOLIC and not is_in_got
                continue
            if group >= 0 and (is_in_got or kind == JUMP_SLOT):
                entry = (group, kind, one.name)
                if entry in written:  # all have one entry in common
                    continue
                written.add(entry)
            relocations += 1
            is_lazy = kind == JUMP_SLOT and not with_slots
            if is_lazy and (member.number, one.name) not in change.called:
                continue
            if one.is_kept and not is_lazy:
                kept += 1
                continue
            lazy += is_lazy
            look_ups += 1
            is_first = member.dynamic.is_symbolic or member.number in change.symbolic
            is_inside = number == member.number and is_first
            behind = number is None or self.members[number].is_late
            searches += is_first + (not is_inside) * (1 + (behind and bool(member.scope)))
            tested += is_first
            if not is_inside:
                tested += self._tested(member, one, number, groups, before)
        return Todo(relocations, look_ups, searches, tested, kept, lazy)

    def _tested(
        self, member: Member, one: Reference, number: int | None, groups: Sequence[int], before: Sequence[int]
    ) -> int:
        """In how many objects the symbol is looked for, but for the object itself if it comes first."""
        # A program's variable is not copied from the program.
        skipped = one.relocation.kind == COPY and self.members[0].dynamic.is_program
        if number is not None and not self.members[number].is_late:
            return before[number] - skipped
        all_of_start = before[-1] if before else 0
        behind: set[int] = set()
        for late in member.scope:
            behind.add(groups[late])
            if late == number:
                break
        return all_of_start + len(behind) - skipped


@dataclass
class Change:
    """What is linked in another way. A group's members are one object, inside which nothing is
    looked up; a group of one is an object that binds its own symbols itself."""

    group_of: dict[int, int] = field(default_factory=dict)  # by number; none: as it is
    called: Collection[tuple[int, str]] = ()  # of lazy JUMP_SLOTs: by number and symbol
    now: Collection[int] = ()  # by number, those with -z now
    symbolic: Collection[int] = ()  # those that look in themselves first (-Bsymbolic)
    all_now: bool = False  # LD_BIND_NOW
    late_now: bool = False  # RTLD_NOW of dlopen()

    def binds_now(self, member: Member) -> bool:
        is_now = member.dynamic.binds_now or member.number in self.now
        return self.all_now or is_now or (member.is_late and self.late_now)


def linkage_of(objects: Iterable[tuple[str, Dynamic]]) -> Linkage:
    """Of all objects of a run, by the names of their files. The dynamic linker binds itself."""
    known = list(objects)
    by_name: dict[str, tuple[str, Dynamic]] = {}
    for name, dynamic in known:
        for called in (dynamic.soname, os.path.basename(name)):
            if called:
                by_name.setdefault(called, (name, dynamic))
    order: dict[str, Dynamic] = {}
    missing: dict[str, None] = {}
    for name, dynamic in known:
        if dynamic.is_program:
            order[name] = dynamic
            _add_needed(order, by_name, missing)
            break
    else:
        missing["the program itself, which tells the order of the others"] = None
    at_start = len(order)
    members = [Member(name, dynamic) for name, dynamic in order.items()]
    # What nobody else needs was loaded by its name; what it needs comes with it.
    others = {name: dynamic for name, dynamic in known if name not in order}
    needed = {called for dynamic in others.values() for called in dynamic.needed}
    roots = [n for n, d in others.items() if not ({d.soname, os.path.basename(n)} & needed)]
    scopes: dict[str, list[str]] = {}
    for root in [*roots, *others]:  # also those of a circle
        if root in scopes:
            continue
        own = {root: others[root]}
        _add_needed(own, by_name, missing)
        for name in own:
            if name in others:
                scopes.setdefault(name, list(own))
    members += [Member(name, others[name], is_late=True) for name in scopes]
    numbers = {member.name: number for number, member in enumerate(members)}
    for number, member in enumerate(members):
        member.number = number
        if number >= at_start:
            member.scope = tuple(numbers[name] for name in scopes[member.name])
    return Linkage(members, list(missing))


def _add_needed(
    order: dict[str, Dynamic], by_name: dict[str, tuple[str, Dynamic]], missing: dict[str, None]
) -> None:
    """Behind those of the order what they need, breadth first."""
    queue = list(order.items())
    while queue:
        _, dynamic = queue.pop(0)
        for called in dynamic.needed:
            found = by_name.get(called) or by_name.get(os.path.basename(called))
            if found is None:
                missing[called] = None
            elif found[0] not in order:
                order[found[0]] = found[1]
                queue.append(found)


def sum_of(todos: Iterable[Todo]) -> Todo:
    total = NOTHING
    for todo in todos:
        total = total.plus(todo)
    return total


