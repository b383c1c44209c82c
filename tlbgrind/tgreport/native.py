# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A log against the faults that the kernel really took, as `perf script` prints them.

Two of perf's events will do: the software event page-faults, which knows pages only, and the
tracepoints exceptions:page_fault_user and page_fault_kernel, whose error code tells kinds, too. The
program must have run without address randomisation (setarch -R), for pages are compared by address.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from .command import read_bytes
from .errors import ReportError, printable
from .faultlog import VIEWS, FaultLog, Map
from .tables import aligned, title

# What an error code can tell apart.
KINDS = {"x": "code", "r": "read", "w": "write", "c": "write to a read-only page", "": "fault"}
_SEEN_AS = {"x": "x", "r": "r", "z": "r", "w": "w", "c": "c", "d": "c"}
_USER_END = 1 << 47


class Native(NamedTuple):
    page: int
    kind: str  # "": not known
    who: str
    process: int = 0  # 0: not known


_TRACEPOINT = re.compile(
    r"exceptions:page_fault_(user|kernel): address=(?:0x)?([0-9a-f]+) ip=(\S+) error_code=0x([0-9a-f]+)"
)
# A null pointer makes short addresses. Where the instruction is looked for may stand a symbol, and
# "add" is one: so three letters or fewer are an address only with nothing known behind them.
_SHORT = r"[0-9][0-9a-f]{0,2}|[a-f][0-9a-f]{0,2}(?=\s*\Z|\s+\[unknown\]\s*\Z)"
# perf script -F [comm,pid,]addr,ip[,sym]: the symbol at addr may be there or not.
_SOFTWARE = re.compile(
    r"\s*(?:(?P<comm>\S.*?)\s+(?P<pid>[0-9]{1,7})(?:/[0-9]{1,7})?\s+)?"
    r"(?P<address>[0-9a-f]{1,16})\s+(?:\S.*?\s+)??"
    rf"(?P<ip>[0-9a-f]{{4,16}}|{_SHORT})(?:\s+(?P<who>.*))?\Z"
)
_COMMAND = re.compile(r"\s*(?P<comm>\S.*?)\s+(?P<pid>[0-9]+)(?:/[0-9]+)?\s+(?:\[[0-9]+\]\s+)?[0-9]+\.[0-9]+:")


def read(path: str, page_size: int, command: str) -> list[Native]:
    """The faults of one command (`comm`, of at most 15 letters) where the output names commands."""
    faults = []
    others: Counter[str] = Counter()
    text = read_bytes(path).decode("utf-8", "surrogateescape")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        tracepoint = _TRACEPOINT.search(line)
        if tracepoint:
            named = _COMMAND.match(line)
            address, who, code = int(tracepoint[2], 16), tracepoint[3], int(tracepoint[4], 16)
            kind = "x" if code & 0x10 else ("c" if code & 1 else "w") if code & 2 else "r"
        else:
            software = _SOFTWARE.match(line)
            if software is None:
                raise ReportError(
                    f"not a line of perf script -F comm,pid,addr,ip,sym: '{line[:60]}'", path, number
                )
            named = software if software["comm"] else None
            address, who, kind = int(software["address"], 16), software["who"] or software["ip"], ""
        comm, process = (named["comm"], int(named["pid"])) if named else ("", 0)
        if comm and command and comm != command[:15]:
            others[comm] += 1
            continue
        if address < _USER_END:
            faults.append(Native(address // page_size * page_size, kind, who, process))
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


def compare(log: FaultLog, view: int, native: Sequence[Native], path: str) -> list[str]:
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
    in_order = sum(
        block.size for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    )
    what = "page and kind" if with_kinds else "page"
    rows: list[tuple[str, ...]] = [("", "faults", "of the native")]
    rows += [
        _row("native", len(native), len(native)),
        _row(f"predicted, view {VIEWS[view]}", len(predicted), len(native)),
        _row(f"match: {what}", both, len(native)),
    ]
    if with_kinds:
        rows.append(_row("match: page", pages, len(native)))
    rows += [
        _row("match and in the same order", in_order, len(native)),
        _row("missing: native only", len(native) - both, len(native)),
        _row("too much: predicted only", len(predicted) - both, len(native)),
    ]
    text = [*title(f"Against the kernel: {path}"), *aligned(rows), ""]
    finder = _Finder(log)
    text += _differences("Missing: the kernel took them, the log has them not", native, right, finder)
    text += _differences("Too much: in the log, but not taken by the kernel", predicted, left, finder)
    return text


def _row(name: str, count: int, total: int) -> tuple[str, ...]:
    return name, f"{count:,}", f"{100 * count / total:.1f}%"


class _Finder:
    """The mapping of a native address."""

    def __init__(self, log: FaultLog) -> None:
        self._maps = list(log.maps.values())

    def place(self, page: int) -> str:
        for map_ in self._maps:
            if map_.native <= page < map_.native + map_.end - map_.start:
                return self._named(map_, page)
        return "(no mapping of the log)"

    @staticmethod
    def _named(map_: Map, page: int) -> str:
        return map_.place(page - map_.native + map_.start)


def _differences(
    heading: str,
    faults: Iterable[Native],
    others: Iterable[tuple[int, str]],
    finder: _Finder,
) -> list[str]:
    """Those faults that the others have not, each as often as it is missing."""
    there = Counter(others)
    seen: dict[tuple[int, str], int] = defaultdict(int)
    rows = [("page", "kind", "where; who")]
    for fault in faults:
        key = (fault.page, fault.kind)
        seen[key] += 1
        if seen[key] > there[key]:
            place = f"{finder.place(fault.page)}; {fault.who}"
            rows.append((f"{fault.page:#x}", KINDS[fault.kind], printable(place)))
    if len(rows) == 1:
        return []
    return [*title(heading), *aligned(rows, left=2), ""]
