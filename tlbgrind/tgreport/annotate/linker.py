# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes what the dynamic linker spends in a run, as counted, and its share of the whole.

How many symbols are looked up, and in how many objects, is read from the files of the program and
its libraries.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from ..base.errors import ReportError
from ..formats import elf as elf_files
from ..formats.cost import Cycles, miss_cycles
from ..formats.dynamic import Dynamic, dynamic_of
from ..formats.elf import PF_X, Elf
from ..formats.faultlog import FaultLog
from ..formats.outfile import Arc, Counts, OutFile
from ..formats.share import given_cycles
from ..formats.verdicts import PER_CYCLE
from .linkage import Change, Linkage, Member, Todo, linkage_of, sum_of
from .plt import LinkageTable, calls_of

_LINKER = re.compile(r"ld(-linux.*|64|-[0-9.]+)?\.so(\.[0-9.]+)?")
# The C library comes with its dynamic linker, in one version.
_GLIBC = re.compile(
    r"lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|BrokenLocale|thread_db|nsl|nss_[a-z]+)"
    r"(-[0-9.]+\.so|\.so\.[0-9.]+)"
)
_LOOK_UP, _SEARCH = "_dl_lookup_symbol_x", "do_lookup_x"
_RELOCATE, _LOAD = "_dl_relocate_object", "_dl_map_object"
_FIRST_CALL, _FIRST_CALLS_WORK = "_dl_runtime_resolve", "_dl_fixup"


def is_linker(name: str) -> bool:
    return _LINKER.fullmatch(os.path.basename(name)) is not None


def is_of_c_library(name: str) -> bool:
    return is_linker(name) or _GLIBC.fullmatch(os.path.basename(name)) is not None


class Spent(NamedTuple):
    """What some code cost."""

    instructions: Fraction
    misses: Fraction  # of the first level
    walks: Fraction
    least: Fraction  # cycles of misses
    most: Fraction
    faults: Fraction

    def plus(self, other: Spent) -> Spent:
        return Spent(*(a + b for a, b in zip(self, other)))

    def times(self, factor: Fraction) -> Spent:
        return Spent(*(a * factor for a in self))

    def minus(self, other: Spent) -> Spent:
        return self.plus(other.times(Fraction(-1)))


FREE = Spent(*[Fraction(0)] * 6)


class Part(NamedTuple):
    """One of the things that the dynamic linker does."""

    what: str
    times: int | None
    spent: Spent


class Share(NamedTuple):
    """Of the program's cycles, at least and at most."""

    least: Fraction
    most: Fraction


class Saving(NamedTuple):
    """Another way to link."""

    name: str
    how: str
    todo: Todo | None  # None: cannot be told
    least: Spent | None
    most: Spent | None
    faults: str  # in words, what is known of them; "": nothing
    assumption: str


class DataPages(NamedTuple):
    """Of the objects that are merged, as counted, and at most when they lie side by side."""

    now: int
    merged: int


@dataclass
class Linker:
    """What dynamic linking costs a run."""

    out: OutFile
    linkage: Linkage
    whole: Spent  # of the program
    spent: Spent  # of the dynamic linker
    parts: list[Part]  # of it; none: its functions have no names
    looked_up: int | None  # as counted in the run
    todo: dict[int, Todo]
    tables: dict[int, LinkageTable]
    change: Change  # how things are
    work: Work
    knows_cost: bool  # the machine tells what misses cost; else instructions alone are cycles
    unread: list[str] = field(default_factory=list)
    log: FaultLog | None = None
    merge: list[Member] = field(default_factory=list)
    savings: list[Saving] = field(default_factory=list)
    data_pages: DataPages | None = None
    code_pages: DataPages | None = None

    @property
    def has_faults(self) -> bool:
        return "PFi" in self.out.events

    @property
    def all(self) -> Todo:
        return sum_of(self.todo.values())

    def cycles(self, spent: Spent) -> Cycles:
        """With as many instructions in a cycle as the out-file's share of time."""
        ends = [spent.instructions * self.per_instruction(k) + spent[3 + k] for k in (0, 1)]
        return Cycles(int(ends[0]), int(ends[1]))

    def per_instruction(self, end: int) -> Fraction:
        """Cycles, without those of misses."""
        if not self.whole.instructions:
            return Fraction(0)
        known = given_cycles(self.out)
        if known is not None:
            return max(Fraction(0), (known - self.whole[3 + end]) / self.whole.instructions)
        return Fraction(1, PER_CYCLE[1 - end])

    def share(self, least: Spent, most: Spent) -> Share:
        """Of the program's cycles. More instructions in a cycle make misses weigh more."""
        shares = []
        for part in (least, most):
            for pace in (0, 1):
                for end in (0, 1):
                    whole = self.whole.instructions * self.per_instruction(pace) + self.whole[3 + end]
                    cost = part.instructions * self.per_instruction(pace) + part[3 + end]
                    shares.append(cost / whole if whole else Fraction(0))
        return Share(min(shares), max(shares))

    def kinds(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for member in self.linkage.members:
            total += member.kinds
        return total

    def calls_through_tables(self) -> int:
        return sum(sum(table.calls.values()) for table in self.tables.values())

    def spent_in_tables(self) -> Spent:
        events = Events(self.out)
        counts = [counts for table in self.tables.values() for counts in table.counts]
        return events.spent(counts)


class Events:
    """Sums what counts have of instructions, misses and so on."""

    def __init__(self, out: OutFile, least_of_most: Fraction = Fraction(1)) -> None:
        place = {event: number for number, event in enumerate(out.events)}
        self.ir = place["Ir"]
        self.of = [
            [place[name] for name in names if name in place]
            for names in (
                ("Ir",),
                ("I1tm", "D1tmr", "D1tmw"),
                ("ILtm", "DLtmr", "DLtmw"),
                ("Wcyc",),
                ("PFi", "PFr", "PFw"),
            )
        ]
        self.least_of_most = least_of_most

    def spent(self, counts: Sequence[Counts]) -> Spent:
        ir, misses, walks, cycles, faults = (
            Fraction(sum(one[place] for one in counts for place in places)) for places in self.of
        )
        return Spent(ir, misses, walks, cycles * self.least_of_most, cycles, faults)


def find(out: OutFile, log: FaultLog | None, merged: Sequence[str]) -> Linker | None:
    """Of a run and its fault log; `merged` are files that a merge makes one, none: all that can be.
    None: there is no dynamic linker in the run."""
    names = {function.object for function, _ in out.runs}
    if not any(map(is_linker, names)):
        return None
    if log is not None:
        names |= {known.name for known in log.maps.values() if known.what == "file"}
    files, dynamics, unread = _files(sorted(names))
    linkage = linkage_of(dynamics.items())
    of_linker = replace(out, runs={key: run for key, run in out.runs.items() if is_linker(key[0].object)})
    costs = [miss_cycles(one) for one in (out, of_linker)]
    cycles = [cost or Cycles(0, 0) for cost in costs]
    ratio = Fraction(cycles[1].least, cycles[1].most) if cycles[1].most else Fraction(1)
    events = Events(out, ratio)
    spent = events.spent([run.sums for run in of_linker.runs.values()])
    whole = events.spent([out.totals])._replace(
        least=Fraction(cycles[0].least), most=Fraction(cycles[0].most)
    )
    work = Work(of_linker, events)
    tables = _tables(out, linkage, files, events.ir)
    change = _as_it_is(linkage, tables, work)
    todo = linkage.todo(change)
    parts, known = work.parts(spent), costs[0] is not None
    found = Linker(
        out, linkage, whole, spent, parts, work.looked_up, todo, tables, change, work, known, unread, log
    )
    found.merge = [
        member
        for member in linkage.members
        if not member.is_late
        and (member.name in merged if merged else not (member.dynamic.is_program or is_of_c_library(member.name)))
    ]
    found.code_pages = _code_pages(found, files)
    found.data_pages = _data_pages(found)
    return found


def _files(names: Sequence[str]) -> tuple[dict[str, Elf], dict[str, Dynamic], list[str]]:
    """The ELF files among those names, what is to be done for them, and those that cannot be read."""
    files: dict[str, Elf] = {}
    dynamics: dict[str, Dynamic] = {}
    unread = []
    for name in names:
        # To open a pipe would wait for its writer.
        if not name.startswith("/") or os.path.exists(name) and not os.path.isfile(name):
            continue
        try:
            with open(name, "rb") as stream:
                if stream.read(4) != elf_files.MAGIC:
                    continue
            files[name] = elf_files.read(name)
            dynamic = dynamic_of(files[name])
        except (OSError, ReportError):
            unread.append(name)
            continue
        if dynamic is not None:
            # It binds its own symbols when the program starts, whatever it is linked with.
            dynamic.binds_now |= is_linker(name)
            dynamics[name] = dynamic
    return files, dynamics, unread


def _tables(out: OutFile, linkage: Linkage, files: Mapping[str, Elf], at_ir: int) -> dict[int, LinkageTable]:
    by_object: dict[str, dict[int, Counts]] = {}
    for function, instructions in out.instructions.items():
        by_object.setdefault(function.object, {}).update(instructions)
    found = {}
    for member in linkage.members:
        executed = by_object.get(member.name, {})
        try:
            found[member.number] = calls_of(files[member.name], member.dynamic, executed, at_ir)
        except ReportError:  # linkage tables beyond the end of a file whose other tables are whole
            found[member.number] = LinkageTable(0, [], {})
    return found


class Work:
    """What the dynamic linker's functions cost, by what they do."""

    def __init__(self, of_linker: OutFile, events: Events) -> None:
        arcs = [
            (caller.name, callee.name, arc)
            for (caller, callee), arc in of_linker.arcs.items()
            if is_linker(callee.object)
        ]
        self.searches = sum(arc.calls for caller, callee, arc in arcs if callee == _SEARCH != caller)
        # What is executed more often than the function is called is done for each object.
        by_address = [
            counts
            for function, instructions in of_linker.instructions.items()
            if function.name == _SEARCH and is_linker(function.object)
            for counts in instructions.values()
        ]
        self.tests = events.spent([one for one in by_address if one[events.ir] > self.searches])
        self.searching = events.spent([one for one in by_address if one[events.ir] <= self.searches])
        into = [(caller, arc) for caller, callee, arc in arcs if callee == _LOOK_UP != caller]
        self.knows = bool(into)
        self.looked_up = sum(arc.calls for _, arc in into) if into else None
        self.look_ups = events.spent([arc.costs for _, arc in into])
        of_relocating = [arc for caller, arc in into if caller.startswith(_RELOCATE)]
        self.at_load = sum(arc.calls for arc in of_relocating)
        of_calls = [arc for caller, arc in into if caller == _FIRST_CALLS_WORK]
        self.at_call = sum(arc.calls for arc in of_calls)

        def without(name: str, others: list[Arc]) -> tuple[int, Spent]:
            def named(function: str) -> bool:
                return function == name or (name != _LOAD and function.startswith(name))

            found = [
                arc for caller, callee, arc in arcs
                if named(callee) and not named(caller)
            ]  # fmt: skip
            spent = events.spent([arc.costs for arc in found])
            return sum(arc.calls for arc in found), spent.minus(events.spent([arc.costs for arc in others]))

        self.objects, self.relocating = without(_RELOCATE, of_relocating)
        _, self.first_calls = without(_FIRST_CALL, of_calls)
        self.loaded, self.loading = without(_LOAD, [])

    def parts(self, spent: Spent) -> list[Part]:
        if not self.knows:
            return []
        parts = [
            Part("symbols looked up", self.looked_up, self.look_ups),
            Part("objects relocated", self.objects, self.relocating),
            Part("objects mapped", self.loaded, self.loading),
            Part("functions bound later", self.at_call, self.first_calls),
        ]
        rest = spent
        for part in parts:
            rest = rest.minus(part.spent)
        # Calls have what is called in other objects, too, such as the C library's malloc().
        parts.append(Part("the rest", None, Spent(*(max(Fraction(0), count) for count in rest))))
        return parts


def _as_it_is(linkage: Linkage, tables: Mapping[int, LinkageTable], work: Work) -> Change:
    """Whether LD_BIND_NOW was set and how dlopen() was called, is what fits the number of look-ups."""
    called = {(number, name) for number, table in tables.items() for name in table.calls}
    ways = [
        Change(called=called, all_now=all_now, late_now=late_now)
        for all_now, late_now in ((False, False), (False, True), (True, True))
    ]

    def distance(way: Change) -> int:
        todo = sum_of(linkage.todo(way).values())
        return abs(todo.look_ups - todo.lazy - work.at_load)

    return min(ways, key=distance) if work.knows else ways[0]


# ---------------------------------------------------------------- pages


def _code_pages(found: Linker, files: Mapping[str, Elf]) -> DataPages | None:
    """Of executed code, where each object's code segment lies at the next multiple of 16 bytes."""
    by_object: dict[str, set[int]] = {}
    for function, instructions in found.out.instructions.items():
        by_object.setdefault(function.object, set()).update(instructions)
    now = base = 0
    merged: set[int] = set()
    for member in found.merge:
        executed = by_object.get(member.name, set())
        now += len({address // 4096 for address in executed})
        for segment in files[member.name].loads:
            if segment.flags & PF_X:
                inside = range(segment.address, segment.address + segment.memory_size)
                merged |= {(base + a - segment.address) // 4096 for a in executed if a in inside}
                base += (segment.memory_size + 15) // 16 * 16
    return DataPages(now, len(merged)) if now else None


def _data_pages(found: Linker) -> DataPages | None:
    """Of writable segments, which relocations and the program touch."""
    log = found.log
    if log is None:
        return None
    names = {member.name for member in found.merge}
    touched = {
        (fault.map.name, fault.page)
        for fault in log.of(0)
        if fault.map.name in names and fault.map.protection.startswith("rw")
    }
    size = sum(member.dynamic.writable for member in found.merge)
    return DataPages(len(touched), min(len(touched), -(-size // log.page_size) + 1)) if touched else None
