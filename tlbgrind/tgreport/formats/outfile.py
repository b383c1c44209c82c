# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads an out-file: callgrind's format, as tlbgrind writes it and as callgrind does.

Nearly all of a large file is plain cost lines, so a run of them is recognised by one regular
expression, with the lines above it that say where it belongs; only what that expression does not
match is looked at line by line. The numbers of many such runs are converted in one go. Such a
conversion cannot say where a bad number is: then these runs, too, are looked at line by line.
"""

from __future__ import annotations

import os
import re
from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from json import JSONDecoder
from operator import add
from typing import Callable, NamedTuple, NoReturn, TypeVar

from ..base.command import plain_text, read_all
from ..base.demangle import with_plain_functions
from ..base.errors import ReportError, printable
from ..base.progress import Progress
from .kinds import COSTS, other_than

Counts = tuple[int, ...]

UNKNOWN = "???"
FORMAT = 1
_MAX = 2**64 - 1


class Function(NamedTuple):
    """Two functions of one name are different in different files or objects."""

    object: str
    file: str
    name: str


class Run(NamedTuple):
    """The cost lines of one function in one source file (another one for inlined code)."""

    rows: array[int]  # flat: line, count of every event, line, count of every event, ...
    width: int  # of a row

    @property
    def sums(self) -> Counts:
        return column_sums(self.rows, self.width)


def sums_of(runs: Iterable[Run], width: int) -> Counts:
    """One sum over all rows: most runs are short, and there are hundreds of thousands of them."""
    whole = array("Q")
    for run in runs:
        whole.extend(run.rows)
    return column_sums(whole, width)


class Arc(NamedTuple):
    """The calls of one function by another, with what the callee and its callees cost in them.

    A recursive call's costs are counted for each level.
    """

    calls: int
    costs: Counts


Arcs = dict[tuple[Function, Function], Arc]  # by caller and callee
Place = tuple[str, int]  # a source file and a line
Inlined = dict[tuple[Function, Place], dict[Function, Counts]]  # by where what is inlined
FromLines = dict[tuple[Function, Place], dict[Function, Arc]]  # the same of calls


@dataclass
class OutFile:
    path: str
    mtime: float
    creator: str = ""
    command: str = ""
    pid: str = ""
    part: str = ""
    descriptions: list[tuple[str, str]] = field(default_factory=list)
    events: tuple[str, ...] = ()
    events_line: int = 0
    long_names: dict[str, str] = field(default_factory=dict)
    runs: dict[tuple[Function, str], Run] = field(default_factory=dict)
    totals: Counts = ()
    whole: Counts = ()  # those of the run, where these are of a part of it only
    arcs: Arcs = field(default_factory=dict)  # of --calls=yes, and of callgrind
    data: dict[str, Counts] = field(default_factory=dict)  # by object of data, of data files
    # By address, if that was asked for; with --dump-instr=yes only.
    instructions: dict[Function, dict[int, Counts]] = field(default_factory=dict)
    places: dict[Function, dict[int, Place]] = field(default_factory=dict)  # of these addresses
    calls: dict[Function, dict[int, dict[Function, Arc]]] = field(default_factory=dict)  # from them
    # Of inlined functions, see annotate/inlined.py.
    inlined: Inlined = field(default_factory=dict)
    within: dict[Place, Counts] = field(default_factory=dict)
    from_lines: FromLines = field(default_factory=dict)
    offsets: dict[tuple[str, str], Counts] = field(default_factory=dict)  # and by offset within it


def read(path: str, progress: Progress | None = None, by_address: bool = False) -> OutFile:
    try:
        with open(path, "rb") as stream:
            mtime = os.fstat(stream.fileno()).st_mtime
            data = with_plain_functions(plain_text(read_all(stream), path))
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path or "''") from None
    return _Reader(OutFile(path, mtime), data, progress or Progress(), by_address).read()


def phase_file(out: OutFile, phase: str) -> str:
    """The out-file of one phase, which lies beside that of the whole run."""
    names = [text for key, text in out.descriptions if key == "Phase"]
    files = [text for key, text in out.descriptions if key == "Phase file"]
    found = dict(zip(names, files)).get(phase)
    if found is None:
        there = f"; there are {', '.join(names)}" if names else ", nor any other"
        raise ReportError(f"has no phase '{phase}'{there}", out.path)
    return os.path.join(os.path.dirname(out.path), found)


def parts_of(out: OutFile) -> list[str]:
    """The out-files of phases and threads, which lie beside that of the whole run."""
    folder = os.path.dirname(out.path)
    return [os.path.join(folder, text) for key, text in out.descriptions if key in ("Phase file", "Thread file")]


def with_events(out: OutFile, events: tuple[str, ...]) -> OutFile:
    """The same, of its events these only."""
    if out.events == events:
        return out
    width = 1 + len(out.events)
    places = [out.events.index(event) for event in events]

    def chosen(counts: Counts) -> Counts:
        return tuple(counts[place] for place in places)

    runs = {}
    for key, run in out.runs.items():
        columns = [run.rows[place::width] for place in (0, *(1 + place for place in places))]
        rows = array(run.rows.typecode, chain.from_iterable(zip(*columns)))
        runs[key] = Run(rows, 1 + len(events))
    arcs = {ends: Arc(arc.calls, chosen(arc.costs)) for ends, arc in out.arcs.items()}
    data = {label: chosen(counts) for label, counts in out.data.items()}
    offsets = {place: chosen(counts) for place, counts in out.offsets.items()}
    totals = chosen(out.totals)
    inlined = {
        place: {callee: chosen(counts) for callee, counts in callees.items()}
        for place, callees in out.inlined.items()
    }
    within = {place: chosen(counts) for place, counts in out.within.items()}
    new = replace(out, events=events, runs=runs, totals=totals, arcs=arcs)
    new.whole = chosen(out.whole) if out.whole else ()
    return replace(new, data=data, offsets=offsets, inlined=inlined, within=within)


Key = TypeVar("Key", bound=Hashable)


def add_arc(arcs: dict[Key, Arc], key: Key, arc: Arc) -> None:
    known = arcs.get(key)
    if known is not None:
        arc = Arc(known.calls + arc.calls, tuple(map(add, known.costs, arc.costs)))
    arcs[key] = arc


def column_sums(rows: array[int], width: int) -> Counts:
    if len(rows) == width:
        return tuple(rows[1:])
    return tuple([sum(rows[column::width]) for column in range(1, width)])  # faster than without []


_NAME = re.compile(r"\(([0-9]{1,18})\)(?: +(.*))?\Z", re.DOTALL)
_TOLD_EVERY = 1 << 20  # bytes
_CONVERTED_AT_ONCE = 1 << 20  # bytes
_PLACE = rb"=\(([0-9]{1,18})\)(?: ([^ \n][^\n]*))?\n"
_KEYWORD = re.compile(rb"([a-z]+)([:=])[ \t]*(.*)\Z", re.DOTALL)
_HEX = re.compile(rb"0x[0-9a-fA-F]{1,16}\Z")
_ADDRESS = re.compile(rb"^0x[0-9a-f]+ ", re.MULTILINE)
_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")
_POSITIONS = (["line"], ["instr"], ["instr", "line"])


# Plain cost lines that are to be converted into rows: where they belong, how many they are, and
# where they end in the file.
_Waiting = tuple[tuple[Function, str], bytes, int, int]


class _Reader:
    """Reads one file's bytes from front to back.

    A file of tlbgrind must be exactly as docs/internals/formats.md has it. One of callgrind may leave out
    trailing zeros, give positions as differences, and hold calls and jumps.
    """

    def __init__(self, out: OutFile, data: bytes, progress: Progress, by_address: bool) -> None:
        self.out = out
        self.by_address = by_address
        self.progress = progress
        self.data = data
        self.start = 0  # of the line being read, for error messages
        self.native = False  # written by tlbgrind, whose format is stricter than callgrind's
        self.positions: list[str] = []
        self.at: list[int] = []  # the last line's positions, to which "+N", "-N" and "*" refer
        self.width = 0  # of a row: the line and every event
        # Plain cost lines, and where they belong. A fast pattern, for which the lines must have this
        # form without their digits; and one that goes up to the first line that is not plain.
        self.blocks: list[tuple[re.Pattern[bytes], bytes]] = []
        self.call: re.Pattern[bytes] | None = None  # a call whose names are known, and its costs
        self.slow = array("Q")  # rows that were read one by one
        self.totals: Counts = ()  # of all others
        self.current: array[int] | None = None  # the rows that a cost line now goes to
        self.waiting: list[_Waiting] = []
        self.waiting_bytes = 0
        self.before = b""  # the last plain cost lines, while a position is relative to them
        self.object = self.file = UNKNOWN
        self.function: Function | None = None
        self.names: dict[str, dict[bytes, str]] = {"ob": {}, "fl": {}, "fn": {}}
        # The line after "calls=" or "jump=" is the inclusive cost of what was called, counted
        # again at the callee.
        self.inclusive = False
        self.called: dict[str, str] = {}  # object, file and function, as far as they are given
        self.calls: int | None = None  # None: a jump
        self.sums: list[tuple[str, int, Counts]] = []  # "summary", "totals": place and claim
        self.early_sums: list[tuple[str, str]] = []  # before "events:"
        self.in_body = False  # behind the header, of the file or of a part
        self.ended = False
        self.told = 0  # where the progress is to be told next
        self.seen: set[str] = set()

    def read(self) -> OutFile:
        data = self.data
        size = len(data)
        self.check_first_line()
        while self.start < size:
            if not self.inclusive and self.read_block():
                if self.waiting_bytes >= _CONVERTED_AT_ONCE:
                    self.convert()
                if self.start >= self.told:
                    self.tell()
                continue
            if self.call is not None and data[self.start] == _C:
                call = self.call.match(data, self.start)
                if call is not None and self.read_call(*call.groups()):
                    self.start = call.end()
                    continue
            end = data.find(b"\n", self.start)
            end = size if end < 0 else end
            self.read_line(data[self.start : end])
            self.start = end + 1
        if not self.ended:
            self.start = size - 1
            self.fail("the file ends without 'totals:', so it is not whole")
        return self.finish()

    def tell(self) -> None:
        self.told = self.start + _TOLD_EVERY
        percent = 100 * self.start // len(self.data)
        self.progress.say(f"{printable(self.out.path)}: {percent}% read")

    def fail(self, what: str) -> NoReturn:
        self.convert()  # a bad number there comes first
        raise ReportError(what, self.out.path, self.data.count(b"\n", 0, self.start) + 1)

    def check_first_line(self) -> None:
        if not self.data:
            raise ReportError("the file is empty", self.out.path)
        first = self.data[:80].split(b"\n", 1)[0]
        if first != COSTS.encode() and not first.startswith(_HEADER):
            self.fail(other_than(COSTS, _text(first)))

    def read_line(self, line: bytes) -> None:
        if not line.strip() or line[:1] == b"#":
            return
        if self.ended:
            self.begin_part(line)
        if line[0] in b"0123456789+-*":
            self.read_costs(line)
            return
        parts = _KEYWORD.match(line)
        handler = _HANDLERS.get(parts[1] + parts[2]) if parts else None
        if parts is None or handler is None:
            self.fail(f"not a line of an out-file: '{_text(line[:40])}'")
        if self.inclusive:
            self.fail("a cost line must follow 'calls=' or 'jump='")
        handler(self, parts[1].decode(), _text(parts[3]))

    def begin_part(self, line: bytes) -> None:
        """Callgrind's --combine-dumps=yes writes dumps behind each other."""
        if self.native or not line.startswith(b"part:"):
            self.fail("text after 'totals:', the last line of an out-file")
        self.ended = self.in_body = False
        self.seen -= {"part", "thread", "positions", "events", "summary", "totals"}
        self.positions = []
        self.width = 0
        self.blocks = []
        self.call = self.current = self.function = None
        self.object = self.file = UNKNOWN

    # Cost lines that are not plain: short ones, compressed ones, inclusive ones, wrong ones.

    def read_costs(self, line: bytes) -> None:
        if not self.width:
            self.fail("a cost line before 'events:'")
        words = line.split()
        places = len(self.positions)
        if len(words) < places:
            self.fail(f"{len(words)} columns, where {places} positions must come first")
        if self.before:
            last = self.before.rfind(b"\n", 0, -1) + 1
            self.at[-1] = int(self.before[last:].split(b" ", 1)[0])
            self.before = b""
        for place in range(places):
            self.at[place] = self.position(words[place], self.at[place])
        if self.inclusive:
            costs = self.counts(words[places:], may_be_short=True)
            self.inclusive = False
            if self.calls is not None:
                self.add_arc(self.calls, tuple(costs))
            return
        self.convert()
        rows = self.current if self.current is not None else self.open_rows()
        counts = self.counts(words[places:], may_be_short=not self.native)
        number = self.at[-1] if self.positions[-1] == "line" else 0
        row = array("Q", [number, *counts])
        rows.extend(row)
        self.slow.extend(row)
        if self.positions[0] == "instr":
            self.count_at(self.at[0], number, tuple(counts))

    def lines_of(self, block: bytes) -> bytes:
        """A run of plain cost lines without addresses, which are kept if they are of interest."""
        if self.positions[0] == "line":
            return block
        if self.by_address:
            for line in block.splitlines():
                address, number, *counts = line.split()
                self.count_at(int(address, 16), int(number), tuple(map(int, counts)))
        self.at[0] = int(block[block.rfind(b"0x") :].split(b" ", 1)[0], 16)
        return _ADDRESS.sub(b"", block)

    def count_at(self, address: int, line: int, counts: Counts) -> None:
        if not self.by_address or self.function is None:
            return
        known = self.out.instructions.setdefault(self.function, {})
        before = known.get(address)
        known[address] = counts if before is None else tuple(map(add, before, counts))
        self.out.places.setdefault(self.function, {})[address] = (self.file, line)

    def open_rows(self) -> array[int]:
        if self.function is None:
            self.fail("a cost line before any 'fn='")
        self.in_body = True
        run = self.out.runs.setdefault((self.function, self.file), Run(array("Q"), self.width))
        self.current = run.rows
        return self.current

    def convert(self) -> None:
        """Makes rows of the plain cost lines that wait for it."""
        if not self.waiting:
            return
        waiting, self.waiting = self.waiting, []
        self.waiting_bytes = 0
        numbers = _numbers(b"".join([text for _, text, _, _ in waiting]))
        if numbers is None:
            self.read_slowly(waiting)
            return
        runs, width = self.out.runs, self.width
        begin = 0
        for place, _, lines, _ in waiting:
            end = begin + width * lines
            known = runs.get(place)
            if known is None:
                runs[place] = Run(numbers[begin:end], width)
            else:
                known.rows.extend(numbers[begin:end])
            begin = end
        self.add_to_totals(numbers)

    def add_to_totals(self, rows: array[int]) -> None:
        self.totals = tuple(map(add, self.totals or repeat(0), column_sums(rows, self.width)))

    def read_slowly(self, waiting: Sequence[_Waiting]) -> None:
        """Reads them line by line, as if they had not waited."""
        state = self.function, self.file, self.current, self.start, self.at, self.inclusive
        self.at, self.inclusive, self.before = [0], False, b""
        for (self.function, self.file), text, _, end in waiting:
            self.current = None
            self.start = end - len(text)
            for line in text.split(b"\n")[:-1]:
                self.read_line(line)
                self.start += len(line) + 1
        self.function, self.file, self.current, self.start, self.at, self.inclusive = state

    def position(self, word: bytes, last: int) -> int:
        if word == b"*":
            return last
        if word[:1] in (b"+", b"-"):
            step = self.number(word[1:])
            there = last + step if word[:1] == b"+" else last - step
            if not 0 <= there <= _MAX:
                self.fail(f"position '{_text(word)}' leads to {there}, which is out of range")
            return there
        return self.number(word)

    def counts(self, words: Sequence[bytes], may_be_short: bool) -> list[int]:
        events = self.width - 1
        if len(words) > events or (len(words) < events and not may_be_short):
            self.fail(f"{len(words)} counts, where 'events:' names {events}")
        return [self.number(word) for word in words] + [0] * (events - len(words))

    def number(self, word: bytes) -> int:
        if word.isdigit() and len(word) <= 20:
            value = int(word)
        elif _HEX.match(word):
            value = int(word, 16)
        else:
            value = _MAX + 1
        if value > _MAX:
            self.fail(f"'{_text(word[:40])}' is not a number from 0 to 2^64-1")
        return value

    # Header lines.

    def once(self, key: str) -> None:
        if key in self.seen:
            self.fail(f"a second '{key}:'")
        self.seen.add(key)

    def read_version(self, _key: str, text: str) -> None:
        if text.strip() != "1":
            self.fail(f"version '{text}' of callgrind's format, where only 1 is known")

    def read_creator(self, _key: str, text: str) -> None:
        self.once("creator")
        self.out.creator = text
        self.native = text.startswith("tlbgrind")
        earlier, self.out.descriptions = self.out.descriptions, []
        for name, value in earlier:
            self.read_desc("desc", f"{name}: {value}")

    def read_cmd(self, _key: str, text: str) -> None:
        self.once("cmd")
        self.out.command = text

    def read_pid(self, _key: str, text: str) -> None:
        self.once("pid")
        self.out.pid = text

    def read_part(self, _key: str, text: str) -> None:
        self.once("part")
        self.out.part = text

    def read_ignored(self, key: str, _text: str) -> None:
        self.once(key)

    def read_desc(self, _key: str, text: str) -> None:
        name, _, value = text.partition(":")
        value = value.strip()
        if self.native and name == "Format":
            self.once("desc: Format")
            if value != str(FORMAT):
                self.fail(f"format '{value}', where this tg_annotate knows only {FORMAT}")
        elif value:
            self.out.descriptions.append((name, value))

    def read_positions(self, _key: str, text: str) -> None:
        self.once("positions")
        if self.in_body:
            self.fail("'positions:' after the first costs")
        self.positions = text.split()
        if self.positions not in _POSITIONS:
            self.fail(f"positions '{text}', where 'line', 'instr' or 'instr line' is allowed")
        if self.width:
            self.prepare()

    def read_event(self, _key: str, text: str) -> None:
        name, colon, long_name = text.partition(":")
        if colon:
            self.out.long_names[name.partition("=")[0].strip()] = long_name.strip()

    def read_events(self, _key: str, text: str) -> None:
        self.once("events")
        names = text.split()
        if not names:
            self.fail("'events:' names none")
        for name in names:
            if not _EVENT.match(name):
                self.fail(f"event '{name}' is not a letter followed by letters and digits")
        if len(set(names)) < len(names):
            self.fail("'events:' names an event twice")
        if self.out.events and self.out.events != tuple(names):
            self.fail("a part with other events than the first")
        self.out.events = tuple(names)
        self.out.events_line = self.data.count(b"\n", 0, self.start) + 1
        self.positions = self.positions or ["line"]
        self.width = 1 + len(names)
        self.prepare()
        early, self.early_sums = self.early_sums, []
        for key, sums in early:
            self.read_sums(key, sums)

    def prepare(self) -> None:
        """Events and positions are known: so are the forms of lines."""
        self.at = [0] * len(self.positions)
        # 19 digits are below 2^64 whatever they are; a longer number goes the slow way. The
        # repetition is bounded because the matcher remembers every round of it.
        number = rb"(?:0|[1-9][0-9]{0,18})"
        line = rb"%s(?: %s){%d}\n" % (number, number, self.width - 1)
        places = rb"(?:\n?ob%s)?(?:f[lie]%s)?(?:fn%s)?" % (_PLACE, _PLACE, _PLACE)
        self.blocks = []
        if self.positions == ["line"]:
            form = b" " * (self.width - 1) + b"\n"
            self.blocks += [(re.compile(places + rb"([0-9](?:[0-9 \n]{0,4096}[0-9])?\n)"), form)]
        if self.positions == ["instr", "line"]:
            line = rb"0x[0-9a-f]{1,16} " + line
        if self.positions != ["instr"]:
            self.blocks += [(re.compile(places + rb"((?:%s){1,4096})" % line), b"")]
        if self.positions == ["line"]:
            known = rb"=\(([0-9]{1,18})\)\n"
            callee = rb"(?:cob%s)?(?:cf[il]%s)?cfn%s" % (known, known, known)
            self.call = re.compile(rb"%scalls=([0-9]{1,19}) [0-9]{1,19}\n(%s)" % (callee, line))

    def read_sums(self, key: str, text: str) -> None:
        if not self.width:
            if key == "totals" or self.early_sums:
                self.fail(f"'{key}:' before 'events:'")
            self.early_sums.append((key, text))
            return
        self.convert()
        self.once(key)
        counts = self.counts(text.encode("utf-8", "surrogateescape").split(), not self.native)
        self.sums.append((key, self.start, tuple(counts)))
        self.ended = key == "totals"
        if self.ended and self.native and "summary" not in self.seen:
            self.fail("'totals:' without 'summary:' before it")

    # Lines that say where the costs below them belong.

    def read_block(self) -> bool:
        """An object, a file, a function and cost lines, in the form that nearly all have, where the
        first three may be those from before; no: read it slowly."""
        for pattern, form in self.blocks:
            block = pattern.match(self.data, self.start)
            if block is None or self.ended:
                return False
            obj, obj_name, file, file_name, function, function_name, costs = block.groups()
            lines = costs.count(b"\n")
            if not form or costs.translate(None, b"0123456789") == form * lines:
                break
        else:
            return False
        objects, files, functions = self.names.values()
        if obj is not None:
            name = objects.get(obj) if obj_name is None else _defined(objects, obj, obj_name)
            if name is None:
                return False
            self.object = name
        if file is not None:
            name = files.get(file) if file_name is None else _defined(files, file, file_name)
            if name is None:
                return False
            self.file = name
            self.current = None
        if function is not None:
            name = (
                functions.get(function)
                if function_name is None
                else _defined(functions, function, function_name)
            )
            if name is None:
                return False
            self.function = Function(self.object, self.file, name)
            self.current = None
        if self.function is None:
            return False
        self.in_body = True
        self.start = block.end()
        self.before = costs = self.lines_of(costs)
        self.waiting.append(((self.function, self.file), costs, lines, self.start))
        self.waiting_bytes += len(costs)
        return True

    def read_call(
        self, obj: bytes | None, file: bytes | None, function: bytes, calls: bytes, costs: bytes
    ) -> bool:
        """A call, in the form that nearly all have; no: read it slowly."""
        if self.inclusive or self.ended or self.function is None:
            return False
        called = self.called
        for space, number in (("ob", obj), ("fl", file), ("fn", function)):
            if number is not None:
                name = self.names[space].get(number)
                if name is None:
                    return False
                called[space] = name
        self.before = b""
        self.at[-1], *counts = map(int, costs.split())
        self.add_arc(int(calls), tuple(counts))
        return True

    def name(self, space: str, text: str) -> str:
        """Resolves name compression: "(N) name" defines, "(N)" refers, all else is a name."""
        parts = _NAME.match(text)
        if parts is None:
            return text or UNKNOWN
        names = self.names[space]
        number, name = parts[1].encode(), parts[2]
        known = names.get(number)
        if name is None and known is None:
            self.fail(f"({parts[1]}) refers to a name that was not defined")
        if name is None or name == known:
            return names[number]
        if known is not None:
            self.fail(f"({parts[1]}) is defined again, as another name")
        names[number] = name or UNKNOWN
        return names[number]

    def read_object(self, _key: str, text: str) -> None:
        self.object = self.name("ob", text)

    def read_file(self, _key: str, text: str) -> None:
        self.file = self.name("fl", text)
        self.current = None

    def read_function(self, _key: str, text: str) -> None:
        # As in callgrind, a function's own file is the one in effect where it begins.
        self.function = Function(self.object, self.file, self.name("fn", text))
        self.current = None

    def read_called(self, key: str, text: str) -> None:
        """The place of a callee, or of a jump's target."""
        space = _CALLED[key]
        name = self.name(space, text)
        if key[0] == "c":
            self.called[space] = name

    def read_calls(self, key: str, text: str) -> None:
        if not self.width:
            self.fail(f"'{key}=' before 'events:'")
        self.inclusive = True
        self.calls = None
        if key == "calls":
            words = text.encode("utf-8", "surrogateescape").split() or [b""]
            self.calls = self.number(words[0])

    def add_arc(self, calls: int, costs: Counts) -> None:
        """What is not said of a callee is as in the line of the call."""
        called, self.called = self.called, {}
        if self.function is None or "fn" not in called:
            missing = "fn" if self.function is None else "cfn"
            self.fail(f"the costs of 'calls=' before any '{missing}='")
        callee = Function(called.get("ob", self.object), called.get("fl", self.file), called["fn"])
        ends = (self.function, callee)
        arc = Arc(calls, costs)
        add_arc(self.out.arcs, ends, arc)
        if self.by_address and self.positions[0] == "instr":
            here = self.out.calls.setdefault(self.function, {}).setdefault(self.at[0], {})
            add_arc(here, callee, arc)
            places = self.out.places.setdefault(self.function, {})
            places.setdefault(self.at[0], (self.file, self.at[-1]))

    def finish(self) -> OutFile:
        self.convert()
        out = self.out
        self.add_to_totals(self.slow)
        out.totals = self.totals
        # Callgrind's "summary:" covers its whole run, not just what this file holds.
        for keyword in ("summary", "totals") if self.native else ("totals",):
            claims = [claim for key, _, claim in self.sums if key == keyword]
            for event, claim, count in zip(out.events, map(sum, zip(*claims)), out.totals):
                if claim != count:
                    self.start = next(place for key, place, _ in reversed(self.sums) if key == keyword)
                    self.fail(f"'{keyword}:' says {claim} {event}, but the cost lines hold {count}")
        return out


_HEADER = (
    *(b"version:", b"creator:", b"cmd:", b"pid:", b"part:", b"thread:", b"desc:"),
    *(b"positions:", b"event:", b"events:", b"summary:"),
)
_C = ord("c")
_DECODE = JSONDecoder().raw_decode
_COMMAS = bytes.maketrans(b" \n", b",,")


def _numbers(lines: bytes) -> array[int] | None:
    """The numbers of plain cost lines. As one JSON array they are read twice as fast as one by one.
    None: one is missing, has zeros before it, or is too large."""
    try:
        return array("Q", _DECODE(f"[{lines[:-1].translate(_COMMAS).decode()}]")[0])
    except (ValueError, OverflowError):
        return None


def _defined(names: dict[bytes, str], number: bytes, name: bytes) -> str | None:
    """The name, which is now defined; None: it was before."""
    if number in names:
        return None
    found = names[number] = _text(name)
    return found


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


_CALLED = {"cob": "ob", "cfl": "fl", "cfi": "fl", "jfi": "fl", "cfn": "fn", "jfn": "fn"}

_HANDLERS: dict[bytes, Callable[[_Reader, str, str], None]] = {
    b"version:": _Reader.read_version,
    b"creator:": _Reader.read_creator,
    b"cmd:": _Reader.read_cmd,
    b"pid:": _Reader.read_pid,
    b"part:": _Reader.read_part,
    b"thread:": _Reader.read_ignored,
    b"desc:": _Reader.read_desc,
    b"positions:": _Reader.read_positions,
    b"event:": _Reader.read_event,
    b"events:": _Reader.read_events,
    b"summary:": _Reader.read_sums,
    b"totals:": _Reader.read_sums,
    b"ob=": _Reader.read_object,
    b"fl=": _Reader.read_file,
    b"fi=": _Reader.read_file,
    b"fe=": _Reader.read_file,
    b"fn=": _Reader.read_function,
    b"cob=": _Reader.read_called,
    b"cfl=": _Reader.read_called,
    b"cfi=": _Reader.read_called,
    b"cfn=": _Reader.read_called,
    b"jfi=": _Reader.read_called,
    b"jfn=": _Reader.read_called,
    b"calls=": _Reader.read_calls,
    b"jump=": _Reader.read_calls,
    b"jcnd=": _Reader.read_calls,
}
