# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Compares a log with the faults that the kernel took, as perf prints them.

Two of perf's events will do: the software event page-faults, which has pages only, and the
tracepoints exceptions:page_fault_user and page_fault_kernel, whose error code has the kind, too.
Pages are compared by address, so the program must have run without address randomisation
(setarch -R).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import NamedTuple

from ..base.command import read_text
from ..base.errors import ReportError, printable
from ..base.terminal import Screen
from ..formats.fault import VIEWS, Map
from ..formats.faultlog import FaultLog

# What an error code can tell apart.
KINDS = {"x": "code", "r": "read", "w": "write", "c": "write to a read-only page", "": "fault"}
_SEEN_AS = {"x": "x", "r": "r", "z": "r", "w": "w", "c": "c", "d": "c"}
_USER_END = 1 << 47


class Native(NamedTuple):
    page: int
    kind: str  # "": not known
    who: str
    process: int = 0  # 0: not known


# What a line of perf script begins with: [comm] [pid[/tid]] [cpu] [time: [period]].
_PROCESS = re.compile(r"\s*([0-9]{1,7})(?:/[0-9]{1,7})?\s+")
_WHEN = r"\s*(?:\[[0-9]{1,6}\]\s+)?(?:[0-9]{1,20}\.[0-9]{1,20}:\s+(?:[0-9]{1,20}\s+)?)?"
_TRACEPOINT = re.compile(
    r"exceptions:page_fault_(?:user|kernel): "
    r"address=(?:0x)?([0-9a-f]{1,16}) ip=(.+?) error_code=0x([0-9a-f]{1,16})"
)
_BEFORE_TRACEPOINT = re.compile(_WHEN)
# A null pointer makes short addresses. Where the instruction is looked for may stand a symbol, and
# "add" is one: so three letters or fewer are an address only with nothing known behind them.
_SHORT = r"[0-9][0-9a-f]{0,2}|[a-f][0-9a-f]{0,2}(?=\s*\Z|\s+\[unknown\]\s*\Z)"
# [event:] addr [sym] ip [sym]. No third address stands behind the second: then a field before them
# has been taken for the first.
_ADDRESSES = re.compile(
    rf"{_WHEN}(?:(?:[0-9]{{1,20}}\s+)?[a-z-]{{0,16}}faults(?::\w{{0,8}})?:\s+)?"
    r"(?P<address>[0-9a-f]{1,16})\s+(?:\S.*?(?<=\S)\s+)??"
    rf"(?P<ip>[0-9a-f]{{4,16}}|{_SHORT})(?:\s+(?![0-9a-f]{{8,16}}(?:\s|\Z))(?P<who>.*))?\Z"
)
# perf script puts a command into 16 columns, to the right.
_COMM_COLUMNS = 16
_ALIGNED = re.compile(r"\s.{14}\S\s")


def _readings(line: str) -> Iterator[tuple[str, int, str]]:
    """Command, process and the rest of a line, the likeliest first. A command has up to 15 bytes,
    blanks and numbers among them."""
    begin = len(line) - len(line.lstrip())
    ends = [m.start() for m in re.finditer(r"(?<=\S)\s", line[begin : begin + _COMM_COLUMNS])]
    ends = [begin + end for end in ends]
    if _ALIGNED.match(line):
        ends.insert(0, _COMM_COLUMNS)
    for end in ends:
        process = _PROCESS.match(line, end)
        if process:
            yield line[begin:end], int(process[1]), line[process.end() :]
    process = _PROCESS.match(line)
    if process:
        yield "", int(process[1]), line[process.end() :]
    yield "", 0, line
    for end in ends:  # the fields comm,event,trace
        yield line[begin:end], 0, line[end:]


class _Line(NamedTuple):
    command: str  # "": not named
    fault: Native


def _parsed(line: str, page_size: int) -> _Line | None:
    tracepoint = _TRACEPOINT.search(line)
    head = line[: tracepoint.start()] if tracepoint else line
    for command, process, rest in _readings(head):
        if tracepoint and _BEFORE_TRACEPOINT.fullmatch(rest):
            address, who, code = int(tracepoint[1], 16), tracepoint[2], int(tracepoint[3], 16)
            kind = "x" if code & 0x10 else ("c" if code & 1 else "w") if code & 2 else "r"
        elif (
            not tracepoint
            and (process or not command)
            and (software := _ADDRESSES.match(rest))
        ):
            address, who, kind = int(software["address"], 16), software["who"] or software["ip"], ""
        else:
            continue
        return _Line(command, Native(address // page_size * page_size, kind, who, process))
    return None


def read(path: str, page_size: int, command: str, every_name: bool = False) -> list[Native]:
    """The faults of one command (`comm`, of at most 15 letters) where the output names commands.

    With `every_name`, a process counts from its first line with that name on: its threads may have
    names of their own."""
    faults = []
    begun: set[int] = set()
    others: Counter[str] = Counter()
    text = read_text(path)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parsed = _parsed(line, page_size)
        if parsed is None:
            raise ReportError(
                f"not a line of perf script -F comm,pid,addr,ip,sym: '{line[:60]}'", path, number
            )
        name, fault = parsed
        if not name or not command or name == command[:15]:
            begun.add(fault.process)
        elif not (every_name and fault.process and fault.process in begun):
            others[name] += 1
            continue
        if fault.page < _USER_END:
            faults.append(fault)
    if not faults:
        names = ", ".join(sorted(others))
        why = f"of '{command}'; there are some of {names}" if others else "in it"
        raise ReportError(f"there are no page faults {why}", path)
    return faults


def of_one_process(faults: Sequence[Native], wanted: int, path: str) -> tuple[list[Native], int]:
    """Those of the wanted process, or of the first; and how many other processes there are."""
    processes = list(dict.fromkeys(fault.process for fault in faults))
    if wanted and wanted not in processes:
        names = ", ".join(str(process) for process in processes[:10] if process)
        there = f"there are some of {names}" if names else "it names no processes"
        raise ReportError(f"there are no page faults of process {wanted}; {there}", path)
    process = wanted or processes[0]
    return [fault for fault in faults if fault.process == process], len(processes) - 1


class Agreement(NamedTuple):
    """How far a log and the kernel's faults agree."""

    predicted: list[Native]
    with_kinds: bool
    native: int
    both: int  # page and kind, where kinds are known
    pages: int
    in_order: int
    blocks: list[Match]

    @property
    def share(self) -> float:
        """Of the larger number of both sides, the part that the other has, by page."""
        return self.pages / max(self.native, len(self.predicted), 1)


def agreement(log: FaultLog, view: int, native: Sequence[Native]) -> Agreement:
    with_kinds = all(fault.kind for fault in native)
    predicted = [
        Native(
            fault.native // log.page_size * log.page_size,
            _SEEN_AS[fault.kind(view)] if with_kinds else "",
            fault.code.place if fault.code.address else fault.by,
        )
        for fault in log.of(view)
    ]
    left = [(fault.page, fault.kind) for fault in native]
    right = [(fault.page, fault.kind) for fault in predicted]
    both = sum((Counter(left) & Counter(right)).values())
    pages = sum((Counter(p for p, _ in left) & Counter(p for p, _ in right)).values())
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    in_order = sum(block.size for block in blocks)
    return Agreement(predicted, with_kinds, len(native), both, pages, in_order, blocks)


def compare(log: FaultLog, view: int, native: Sequence[Native], path: str, screen: Screen) -> list[str]:
    found = agreement(log, view, native)
    predicted, blocks = found.predicted, found.blocks
    left = [(fault.page, fault.kind) for fault in native]
    right = [(fault.page, fault.kind) for fault in predicted]
    what = "page and kind" if found.with_kinds else "page"
    rows: list[tuple[str, ...]] = [("", "faults", "of the native")]
    rows += [
        _row("native", len(native), len(native)),
        _row(f"predicted, view {VIEWS[view]}", len(predicted), len(native)),
        _row(f"match: {what}", found.both, len(native)),
    ]
    if found.with_kinds:
        rows.append(_row("match: page", found.pages, len(native)))
    rows += [
        _row("match and in the same order", found.in_order, len(native)),
        _row("missing: native only", len(native) - found.both, len(native)),
        _row("too much: predicted only", len(predicted) - found.both, len(native)),
    ]
    text = screen.table(f"Against the kernel: {path}", rows)
    finder = _Finder(log, view)
    # The log says which mapping its own fault lies in: another may have had the same addresses before.
    moments = _moments(blocks, len(native))
    missing = [(fault, finder.place(fault.page, at)) for fault, at in zip(native, moments)]
    too_much = [
        (guess, fault.map.place(fault.page)) for guess, fault in zip(predicted, log.of(view))
    ]
    text += _differences("Missing: the kernel took them, the log has them not", missing, right, screen)
    text += _differences("Too much: in the log, but not taken by the kernel", too_much, left, screen)
    return text


def _row(name: str, count: int, total: int) -> tuple[str, ...]:
    # More than there are says nothing as a percentage.
    return name, f"{count:,}", f"{100 * count / total:.1f}%" if count <= total else ""


class _Finder:
    """The mapping of a native address at a moment: the index of the last fault of the log until then."""

    def __init__(self, log: FaultLog, view: int) -> None:
        self._maps = list(log.maps.values())
        self._first: dict[int, int] = {}
        self._never = 0
        for fault in log.of(view):
            self._first.setdefault(fault.map.number, self._never)
            self._never += 1

    def place(self, page: int, moment: int) -> str:
        there = [m for m in self._maps if m.native <= page < m.native + m.end - m.start]
        if not there:
            return "(no mapping of the log)"
        # The log has no times of mappings: one is there from its first fault on.
        begun = [m for m in there if self._begin(m) <= moment]
        map_ = max(begun, key=self._begin) if begun else min(there, key=self._begin)
        return map_.place(page - map_.native + map_.start)

    def _begin(self, map_: Map) -> int:
        return self._first.get(map_.number, self._never)


def _moments(blocks: Iterable[Match], natives: int) -> list[int]:
    """For each native fault, the index of the last of the log's that is not later; -1: none."""
    moments = [0] * natives
    done, last = 0, -1
    for block in blocks:
        moments[done : block.a] = [last] * (block.a - done)
        moments[block.a : block.a + block.size] = range(block.b, block.b + block.size)
        done, last = block.a + block.size, block.b + block.size - 1
    return moments


def _differences(
    heading: str,
    faults: Iterable[tuple[Native, str]],
    others: Iterable[tuple[int, str]],
    screen: Screen,
) -> list[str]:
    """Those faults, with their places, that the others have not, each as often as it is missing."""
    there = Counter(others)
    seen: dict[tuple[int, str], int] = defaultdict(int)
    rows = [("page", "kind", "where; who")]
    for fault, where in faults:
        key = (fault.page, fault.kind)
        seen[key] += 1
        if seen[key] > there[key]:
            place = f"{where}; {fault.who}"
            rows.append((f"{fault.page:#x}", KINDS[fault.kind], printable(place)))
    if len(rows) == 1:
        return []
    return screen.table(heading, rows, left=2)
