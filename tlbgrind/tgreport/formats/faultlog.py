# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads a fault log (docs/internals/formats.md): a process's page faults, in three views.

A log can stand for many more faults than it has lines, so what is kept are its lines; `faults`
unfolds them.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from operator import gt, lt, or_
from typing import NamedTuple, NoReturn

from ..base.command import plain_text, read_bytes
from ..base.demangle import with_plain_functions
from ..base.errors import ReportError, printable
from ..base.progress import Progress
from .fault import KINDS, NOBODY, VIEWS, Code, Fault, Lines, Map, Ranges, Repeat
from .kinds import FAULTS, other_than

COLUMNS = "number kinds page map instructions thread by code warm-brought cold-brought cold-read"
_WITH_STACKS = f"{COLUMNS} stack"
PHASES = 16
WORKS = PROGRAM, LINKER, LOCALE = ("program", "linker", "locale")  # parts of what a program does
GROUPS = ("program", "libraries", "other")  # of mappings that move together
_MAX = 2**64 - 1
_MOST_BROUGHT = 1 << 20  # pages: 4 GiB
# A few lines can say any number. So many pages are a terabyte, and to list them takes an hour.
_MOST_FAULTS = 1 << 28

# How a page came to be there, if not by a fault; and that it is not.
BROUGHT, PRESENT, NOT_THERE = "+", "p", "-"
ARRIVALS = {**KINDS, BROUGHT: "brought along", PRESENT: "no fault"}

class Mark(NamedTuple):
    """The begin of a phase of the run."""

    phase: str
    line: int  # of FaultLog.lines: the first behind it
    number: int  # of the last fault before it
    instructions: int


class Touch(NamedTuple):
    """The first touch of a page, or the first write to it, by one part of the program's work."""

    kind: str  # x, r or w
    page: int
    map: Map
    instructions: int
    work: str
    number: int  # of the last fault before it


class Used(NamedTuple):
    """Pages one behind the other, and how many bytes the program used of each."""

    map: Map
    page: int
    pages: int
    kinds: str  # one letter for each view: how they came to be there
    bytes: int

    def is_there(self, view: int) -> bool:
        return self.kinds[view] != NOT_THERE

    @property
    def native(self) -> int:
        return self.page - self.map.start + self.map.native


class UsedTotals(NamedTuple):
    pages: int
    bytes: int


class Totals(NamedTuple):
    faults: int
    major: int
    kinds: tuple[int, ...]


@dataclass
class FaultLog:
    path: str
    header: dict[str, str] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    page_size: int = 4096
    maps: dict[int, Map] = field(default_factory=dict)
    codes: dict[int, Code] = field(default_factory=dict)
    lines: Lines = field(default_factory=lambda: Lines([]))
    totals: dict[str, Totals] = field(default_factory=dict)
    hidden: dict[str, tuple[int, int]] = field(default_factory=dict)  # faults, major ones
    phases: dict[str, tuple[int, ...]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)  # with --faults-touches=yes
    # With it, too: the warm view's faults, had the kernel this setting and all others as they were.
    trials: dict[str, int] = field(default_factory=dict)
    used: list[Used] = field(default_factory=list)  # with --faults-used=yes
    used_totals: dict[str, UsedTotals] = field(default_factory=dict)

    @property
    def command(self) -> str:
        return self.header.get("cmd", "")

    @property
    def instructions(self) -> int | None:
        """That the process executed; None: the log does not say."""
        return int(self.header["instructions"]) if "instructions" in self.header else None

    @property
    def knows_use(self) -> bool:
        """Whether the log says which bytes of the pages were used."""
        return "faults-used" in self.header

    @property
    def knows_touches(self) -> bool:
        """Whether the log says which part of the work touches each page first."""
        return "faults-touches" in self.header

    @property
    def knows_stacks(self) -> bool:
        """Whether it has the callers of the code that faulted."""
        return self.header.get("columns") == _WITH_STACKS

    @property
    def faults(self) -> Iterator[Fault]:
        return self.lines.faults()

    def of(self, view: int) -> Iterator[Fault]:
        return self.lines.faults(view)

    def counts(self, view: int) -> Iterator[tuple[Fault, int]]:
        """One fault of all that differ in number, page and instructions only, and how many they are."""
        return ((fault, count) for fault, count in self.lines.counts() if fault.kinds[view] != "-")


START = "start"  # the phase before the first mark


def phases(log: FaultLog) -> list[str]:
    """Their names, in the order of their first begin; none if the program sets no marks."""
    return list(dict.fromkeys([START, *(mark.phase for mark in log.marks)])) if log.marks else []


def of_phase(log: FaultLog, phase: str) -> FaultLog:
    """The faults of one phase only. Faults keep their numbers."""
    names = phases(log)
    if phase not in names:
        there = f"; there are {', '.join(names)}" if names else ", nor any other"
        raise ReportError(f"has no phase '{phase}'{there}", log.path)
    lines = Lines(log.lines.alike)
    marks = [Mark(START, 0, 0, 0), *log.marks]
    for mark, end in zip(marks, [*(mark.line for mark in marks[1:]), len(log.lines)]):
        if mark.phase == phase:
            lines.extend(log.lines.part(mark.line, end))
    found = [[0] * (2 + len(KINDS)) for _ in VIEWS]
    for fault, times in lines.counts():
        _count(found, fault.kinds, times)
    totals = {view: Totals(sums[0], sums[1], tuple(sums[2:])) for view, sums in zip(VIEWS, found)}
    return replace(log, lines=lines, totals=totals, hidden={}, header=_without_length(log))


def _without_length(log: FaultLog) -> dict[str, str]:
    """Of a part of a run the number of instructions is not known."""
    return {key: value for key, value in log.header.items() if key != "instructions"}


def _count(sums: list[list[int]], kinds: str, times: int) -> None:
    """Adds faults of those kinds in each view: all, major ones, by kind."""
    for found, letter in zip(sums, kinds):
        if letter != "-":
            found[0] += times
            found[1] += times * letter.isupper()
            found[2 + list(KINDS).index(letter.lower())] += times


def view_number(name: str) -> int:
    return VIEWS.index(name)


def read(path: str, progress: Progress | None = None) -> FaultLog:
    data = with_plain_functions(plain_text(read_bytes(path), path))
    if not data:
        raise ReportError("the file is empty", path)
    return _Reader(path, progress or Progress()).read(data)


_HEADER = re.compile(r"([a-z][a-z -]*): (.*)\Z")
_DECIMAL = re.compile(r"[0-9]{1,20}\Z")
_HEX = re.compile(r"0x[0-9a-f]{1,16}\Z")
_TRIAL = re.compile(r"thp=always\Z|mthp=[1-9][0-9]{0,6}K\Z")
_STEP = re.compile(r"[-+]?0x[0-9a-f]{1,16}\Z")
_RANGE = re.compile(r"([-+][0-9]{1,9})(?:\.\.([-+][0-9]{1,9}))?\Z")
_KINDS = re.compile(r"[xrzwcdXRZWCD-]{3}\Z")
_ARRIVAL = re.compile(r"[xrzwcd+p-]{3}\Z")
_PROTECTION = re.compile(r"[r-][w-][x-]s?\Z")
_AT_ONCE = 1 << 19  # bytes
_FEW = 8  # faults, which are faster to read one by one
_HEX_DIGITS = b"0123456789abcdef"
_WHAT = ("file", "bss", "heap", "stack", "thread-stack", "tls", "vdso", "shm", "anon")


class _Reader:
    def __init__(self, path: str, progress: Progress) -> None:
        self.out = FaultLog(path)
        self.progress = progress
        self.line = 1
        self.words: list[str] = []
        self.last: Fault | None = None  # the one that a repetition refers to
        # Faults that differ in number, page and instructions only: their other fields, as they are
        # in the file. For each, between which addresses its pages are.
        self.alike: dict[tuple[bytes, bytes, bytes], int] = {}
        self.lows: list[int] = []
        self.highs: list[int] = []
        self.number = 0  # of the last fault, repetitions included
        self.in_header = True
        self.ended = False
        self.used = [[0] * 2 for _ in VIEWS]  # pages, bytes
        self.pages = 0  # of all lines "used"
        self.found = [[0] * (2 + len(KINDS)) for _ in VIEWS]  # faults, major ones, kinds

    def fail(self, what: str) -> NoReturn:
        raise ReportError(what, self.out.path, self.line)

    def read(self, data: bytes) -> FaultLog:
        first = data.split(b"\n", 1)[0]
        if first != FAULTS.encode():
            self.fail(other_than(FAULTS, _text(first)))
        begin = len(first) + 1  # the lines behind it are counted as they are read
        while begin < len(data):
            self.progress.say(f"{printable(self.out.path)}: {100 * begin // len(data)}% read")
            end = data.rfind(b"\n", begin, begin + _AT_ONCE) + 1 or data.find(b"\n", begin) + 1
            lines = data[begin : end or len(data)].split(b"\n")
            if end:
                lines.pop()
            for are_faults, group in groupby(lines, _is_fault):
                here = list(group)
                if are_faults and self.read_faults(here):
                    continue
                for line in here:
                    self.line += 1
                    self.read_line(line)
            begin = end or len(data)
        if not self.ended:
            self.fail("the file ends without 'end', so it is not whole")
        return self.out

    def read_line(self, line: bytes) -> None:
        if line.startswith(b"#"):
            return
        if self.ended:
            self.fail("text after 'end', the last line of a fault log")
        text = _text(line)
        self.words = text.split("\t")
        handler = _HANDLERS.get(self.words[0])
        if handler is not None:
            self.leave_header()
            handler(self)
        elif text[:1].isdigit():
            self.leave_header()
            self.read_fault()
        elif self.in_header:
            self.read_header(text)
        else:
            self.fail(f"not a line of a fault log: '{text[:40]}'")

    # Header.

    def read_header(self, line: str) -> None:
        match = _HEADER.match(line)
        if match is None:
            self.fail(f"not a line of a fault log: '{line[:40]}'")
        key, value = match.groups()
        if key == "assumption":
            self.out.assumptions.append(value)
            return
        if key in self.out.header:
            self.fail(f"a second '{key}:'")
        if key == "version" and value != "1":
            self.fail(f"version '{value}' of the fault log, where only 1 is known")
        if key == "views" and value != " ".join(VIEWS):
            self.fail(f"views '{value}', where '{' '.join(VIEWS)}' is expected")
        if key == "columns" and value not in (COLUMNS, _WITH_STACKS):
            self.fail(f"columns '{value[:80]}', where '{COLUMNS}' is expected")
        if key == "page size":
            if value not in ("4096", "16384", "65536"):
                self.fail(f"page size '{value[:40]}', where 4096, 16384 or 65536 is allowed")
            self.out.page_size = int(value)
        if key in ("faults-used", "faults-touches") and value != "yes":
            self.fail(f"{key} '{value[:40]}', where only yes is known")
        if key == "instructions":
            self.decimal(value)
        self.out.header[key] = value

    def leave_header(self) -> None:
        if not self.in_header:
            return
        self.in_header = False
        for key in ("version", "page size", "views", "columns"):
            if key not in self.out.header:
                self.fail(f"there is no '{key}:' in the header")

    # Fields.

    def fields(self, count: int) -> list[str]:
        if len(self.words) != count:
            self.fail(
                f"{len(self.words)} fields, where a line '{self.words[0][:20]}' has {count}"
            )
        if not all(self.words):
            self.fail("an empty field; '-' stands for nothing")
        return self.words[1:]

    def decimal(self, text: str) -> int:
        value = int(text) if _DECIMAL.match(text) else _MAX + 1
        if value > _MAX:
            self.fail(f"'{text[:40]}' is not a number from 0 to 2^64-1")
        return value

    def hexadecimal(self, text: str) -> int:
        if not _HEX.match(text):
            self.fail(f"'{text[:40]}' is not an address in hexadecimal digits")
        return int(text, 16)

    def ranges(self, text: str) -> Ranges:
        if text == "-":
            return ()
        out: list[tuple[int, int]] = []
        for word in text.split(","):
            match = _RANGE.match(word)
            if match is None:
                self.fail(f"'{text[:40]}' is not a list of ranges of pages, as in -4..-1,+1..+11")
            first = int(match[1])
            last = int(match[2]) if match[2] else first
            if last < first or out and first <= out[-1][1] or last - first > _MOST_BROUGHT:
                self.fail(f"'{text[:40]}' is not an ascending list of ranges of pages")
            out.append((first, last))
        return tuple(out)

    # Lines.

    def read_map(self) -> None:
        number, start, end, native, protection, what, offset, name = self.fields(9)
        key = self.decimal(number)
        if key in self.out.maps:
            self.fail(f"map {key} is defined again")
        if not _PROTECTION.match(protection):
            self.fail(f"'{protection[:40]}' is not a protection, as in rw-")
        if what not in _WHAT:
            self.fail(f"'{what[:40]}' is not one of {', '.join(_WHAT)}")
        first, last = self.hexadecimal(start), self.hexadecimal(end)
        if last <= first:
            self.fail(f"a map that ends at {end}, where it begins")
        self.out.maps[key] = Map(
            key,
            first,
            last,
            self.hexadecimal(native),
            protection,
            what,
            0 if offset == "-" else self.hexadecimal(offset),
            "" if name == "-" else name,
        )

    def read_code(self) -> None:
        number, address, owner, function, file, line = self.fields(7)
        key = self.decimal(number)
        if key in self.out.codes or key == 0:
            self.fail(f"code {key} is defined again")
        self.out.codes[key] = Code(
            self.hexadecimal(address), owner, function, file, self.decimal(line)
        )

    def read_faults(self, lines: Sequence[bytes]) -> bool:
        """Many lines at once; no: one of them is wrong, or it does not pay."""
        if len(lines) < _FEW or self.in_header or self.ended or self.out.totals:
            return False
        first = self.number + 1
        try:
            numbers, kinds, pages, maps, instructions, others = zip(
                *(line.split(b"\t", 5) for line in lines)
            )
            at = [int(page, 16) for page in pages]
            when = array("Q", list(map(int, instructions)))
        except (ValueError, OverflowError):
            return False
        all_numbers = range(first, first + len(lines))
        addresses = b"".join(pages)
        if (
            numbers != tuple(map(b"%d".__mod__, all_numbers))
            # One "x" in each page, which int() allows behind the zero only.
            or addresses.translate(None, _HEX_DIGITS) != b"x" * len(lines)
            or max(map(len, pages)) > len("0x") + 16
            or not b"".join(instructions).isdigit()
            or max(map(len, instructions)) > 20
            or reduce(or_, at) % self.out.page_size
        ):
            return False
        keys = list(zip(kinds, maps, others))
        which = [self.alike.get(key, -1) for key in keys]
        if -1 in which:
            try:
                for place, number in enumerate(which):
                    if number < 0:
                        self.words = _text(lines[place]).split("\t")
                        fault = self.fault_of_words(self.number + place)
                        which[place] = self.which(fault, keys[place])
            except ReportError:
                return False
        if not all(map(lt, map(self.lows.__getitem__, which), at)):
            return False
        if not all(map(gt, map(self.highs.__getitem__, which), at)):
            return False
        self.out.lines.add(which, all_numbers, at, when)
        self.number += len(lines)
        self.line += len(lines)
        self.last = self.out.lines.last()
        for number, times in Counter(which).items():
            _count(self.found, self.out.lines.alike[number].kinds, times)
        return True

    def fault_of_words(self, before: int) -> Fault:
        words = self.fields(12 if self.out.knows_stacks else 11)
        number = self.decimal(self.words[0])
        self.need_no_totals(f"fault {number}")
        if number != before + 1:
            self.fail(f"fault {number} behind fault {before}")
        kinds, page, where, instructions, thread, by, code, warm, cold, cold_read, *stack = words
        if not _KINDS.match(kinds) or kinds == "---":
            self.fail(f"'{kinds[:40]}' are not the kinds of a fault in {len(VIEWS)} views")
        map_ = self.out.maps.get(self.decimal(where))
        if map_ is None:
            self.fail(f"map {where} was not defined")
        executor = self.decimal(code)
        if executor and executor not in self.out.codes:
            self.fail(f"code {executor} was not defined")
        return Fault(
            number,
            kinds,
            self.hexadecimal(page),
            map_,
            self.decimal(instructions),
            self.decimal(thread),
            "" if by == "-" else by,
            self.out.codes.get(executor, NOBODY),
            self.ranges(warm),
            self.ranges(cold),
            self.ranges(cold_read),
            self.callers(stack[0]) if stack and stack[0] != "-" else (),
        )

    def callers(self, text: str) -> tuple[Code, ...]:
        found = [self.out.codes.get(self.decimal(word)) for word in text.split(",")]
        if None in found:
            self.fail(f"'{text[:40]}' are not numbers of code that was defined, with commas between")
        return tuple(code for code in found if code is not None)

    def which(self, fault: Fault, key: tuple[bytes, bytes, bytes]) -> int:
        """The number of those that are like this fault, whose other fields are the key."""
        alike = self.out.lines.alike
        number = self.alike.setdefault(key, len(alike))
        if number == len(alike):
            alike.append(fault)
            # A large page may begin before its map.
            self.lows.append(fault.map.start - self.out.page_size)
            self.highs.append(fault.map.end)
        return number

    def read_fault(self) -> None:
        fault = self.fault_of_words(self.number)
        if fault.page % self.out.page_size:
            self.fail(f"{self.words[2]} is not the address of a page of {self.out.page_size} bytes")
        self.need_map(fault, fault.page)
        others = "\t".join(self.words[5:])
        key = (_bytes(self.words[1]), _bytes(self.words[3]), _bytes(others))
        which = self.which(fault, key)
        self.out.lines.add([which], [fault.number], [fault.page], [fault.instructions])
        self.last = fault
        self.number += 1
        _count(self.found, fault.kinds, 1)

    def read_repeat(self) -> None:
        count_text, page_step, instruction_step = self.fields(4)
        count = self.decimal(count_text)
        self.need_no_totals("a repetition")
        if self.last is None:
            self.fail("a repetition before the first fault")
        if not _STEP.match(page_step):
            self.fail(f"'{page_step[:40]}' is not a step in hexadecimal digits")
        step = int(page_step, 16)
        repeat = Repeat(count, step, self.decimal(instruction_step))
        end = self.last.page + count * step
        if count == 0 or not 0 <= end <= _MAX or step % self.out.page_size:
            self.fail(f"{count} repetitions by {page_step} lead out of the address space")
        self.need_map(self.last, end)
        if self.number + count > _MOST_FAULTS:
            self.fail(f"more than {_MOST_FAULTS:,} faults")
        self.out.lines.repeat(repeat)
        self.number += count
        _count(self.found, self.last.kinds, count)
        self.last = None

    def read_mark(self) -> None:
        instructions, phase = self.fields(3)
        self.need_no_totals("a mark")
        mark = Mark(phase, len(self.out.lines), self.number, self.decimal(instructions))
        self.out.marks.append(mark)
        self.last = None

    def read_touch(self) -> None:
        kind, page, where, instructions, work = self.fields(6)
        self.need_no_totals("a touch")
        if not self.out.knows_touches:
            self.fail("a line 'touch' without 'faults-touches: yes' in the header")
        if kind not in ("x", "r", "w"):
            self.fail(f"'{kind[:40]}' is not a touch: x, r or w")
        if work not in WORKS:
            self.fail(f"'{work[:40]}' is not one of {', '.join(WORKS)}")
        map_ = self.out.maps.get(self.decimal(where))
        if map_ is None:
            self.fail(f"map {where[:40]} was not defined")
        at = self.hexadecimal(page)
        if at % self.out.page_size:
            self.fail(f"{page} is not the address of a page of {self.out.page_size} bytes")
        if not map_.start - self.out.page_size < at < map_.end:
            self.fail(f"{at:#x} is not a page of map {where}")
        when = self.decimal(instructions)
        self.out.touches.append(Touch(kind, at, map_, when, work, self.number))

    def need_no_totals(self, what: str) -> None:
        """Totals were compared with the faults above them, so none may follow."""
        if self.out.totals:
            self.fail(f"{what} behind 'summary'")

    def need_map(self, fault: Fault, page: int) -> None:
        # A large page may begin before its map.
        if not fault.map.start - self.out.page_size < page < fault.map.end:
            self.fail(f"{page:#x} is not a page of map {fault.map.number}")

    def read_used(self) -> None:
        where, page, count, kinds, used = self.fields(6)
        self.need_use()
        if self.out.used_totals:
            self.fail("a line 'used' behind 'used-total'")
        map_ = self.out.maps.get(self.decimal(where))
        if map_ is None:
            self.fail(f"map {where[:40]} was not defined")
        if not _ARRIVAL.match(kinds) or kinds == "---":
            self.fail(f"'{kinds[:40]}' is not how a page came in {len(VIEWS)} views")
        size = self.out.page_size
        run = Used(map_, self.hexadecimal(page), self.decimal(count), kinds, self.decimal(used))
        if run.page % size:
            self.fail(f"{page} is not the address of a page of {size} bytes")
        # A large page may begin before its map.
        end = run.page + run.pages * size
        if not run.pages or run.page <= map_.start - size or end >= map_.end + size:
            self.fail(f"{run.pages} pages from {page} on are not pages of map {where}")
        if run.bytes > size:
            self.fail(f"{run.bytes} bytes used of a page of {size} bytes")
        if run.bytes and NOT_THERE in kinds:
            self.fail(f"{run.bytes} bytes used of a page that is not there in each view: '{kinds}'")
        self.pages += run.pages
        if self.pages > _MOST_FAULTS:
            self.fail(f"more than {_MOST_FAULTS:,} pages")
        self.out.used.append(run)
        for view, sums in enumerate(self.used):
            if run.is_there(view):
                sums[0] += run.pages
                sums[1] += run.pages * run.bytes

    def need_use(self) -> None:
        if not self.out.knows_use:
            self.fail(f"a line '{self.words[0]}' without 'faults-used: yes' in the header")

    def read_used_total(self) -> None:
        name, *numbers = self.fields(4)
        self.need_use()
        found = self.used[self.view(name, self.out.used_totals)]
        counts = [self.decimal(number) for number in numbers]
        for what, claim, count in zip(("pages", "bytes"), counts, found):
            if claim != count:
                self.fail(f"'used-total {name}' says {claim} {what}, but the log holds {count}")
        self.out.used_totals[name] = UsedTotals(*counts)

    def view(
        self,
        name: str,
        seen: dict[str, Totals] | dict[str, UsedTotals] | dict[str, tuple[int, int]],
    ) -> int:
        if name not in VIEWS:
            self.fail(f"'{name[:40]}' is not one of {', '.join(VIEWS)}")
        if name in seen:
            self.fail(f"a second '{self.words[0]} {name}'")
        return view_number(name)

    def read_summary(self) -> None:
        name, *numbers = self.fields(4 + len(KINDS))
        found = self.found[self.view(name, self.out.totals)]
        counts = [self.decimal(number) for number in numbers]
        for what, claim, count in zip(("faults", "major", *KINDS.values()), counts, found):
            if claim != count:
                self.fail(f"'summary {name}' says {claim} {what}, but the log holds {count}")
        self.out.totals[name] = Totals(counts[0], counts[1], tuple(counts[2:]))

    def read_hidden(self) -> None:
        name, faults, major = self.fields(4)
        self.view(name, self.out.hidden)
        self.out.hidden[name] = (self.decimal(faults), self.decimal(major))

    def read_phase(self) -> None:
        name, *numbers = self.fields(2 + PHASES)
        if name not in GROUPS:
            self.fail(f"'{name[:40]}' is not one of {', '.join(GROUPS)}")
        if name in self.out.phases:
            self.fail(f"a second 'phase {name[:40]}'")
        self.out.phases[name] = tuple(map(self.decimal, numbers))

    def read_trial(self) -> None:
        name, number = self.fields(3)
        if not _TRIAL.match(name):
            self.fail(f"'{name[:40]}' is not a setting that is tried, as in mthp=64K")
        if name in self.out.trials:
            self.fail(f"a second 'trial {name}'")
        if not self.out.knows_touches:
            self.fail("a line 'trial' without 'faults-touches: yes' in the header")
        faults = self.decimal(number)
        most = self.found[view_number("4k")][0]
        if faults > most:
            self.fail(f"'trial {name}' has {faults} faults, but the view 4k {most}")
        self.out.trials[name] = faults

    def read_end(self) -> None:
        (number,) = self.fields(2)
        if self.decimal(number) != self.number:
            self.fail(f"'end' says {number} faults, but the log holds {self.number}")
        for name in VIEWS:
            if name not in self.out.totals:
                self.fail(f"there is no 'summary {name}'")
            if name not in self.out.hidden:
                self.fail(f"there is no 'hidden {name}'")
            if self.out.knows_use and name not in self.out.used_totals:
                self.fail(f"there is no 'used-total {name}'")
        for name in GROUPS:
            if name not in self.out.phases:
                self.fail(f"there is no 'phase {name}'")
        self.check_phases()
        self.ended = True

    def check_phases(self) -> None:
        """As it is, over all groups, it is the warm view; the faults of Valgrind itself are in it
        where it has its own objects (--native-start=no)."""
        count = sum(numbers[0] for numbers in self.out.phases.values())
        warm = self.out.totals["warm"].faults
        if count not in (warm, warm + self.out.hidden["warm"][0]):
            self.fail(f"the lines 'phase' have {count} faults as it is, but the view warm {warm}")


_HANDLERS: dict[str, Callable[[_Reader], None]] = {
    "map": _Reader.read_map,
    "code": _Reader.read_code,
    "*": _Reader.read_repeat,
    "mark": _Reader.read_mark,
    "touch": _Reader.read_touch,
    "summary": _Reader.read_summary,
    "used": _Reader.read_used,
    "used-total": _Reader.read_used_total,
    "hidden": _Reader.read_hidden,
    "phase": _Reader.read_phase,
    "trial": _Reader.read_trial,
    "end": _Reader.read_end,
}


def _is_fault(line: bytes) -> bool:
    return line[:1].isdigit()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
