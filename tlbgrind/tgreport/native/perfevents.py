# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads what perf script prints of one recording: who faulted where, and what was mapped there.

Beside the faults perf notes each mapping that mmap, mprotect, brk and exec make, each fork, and
each exec. So a fault has its process, the program that this process ran at the moment, and the
mapping that its page lies in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..base.errors import ReportError

# The fields to ask perf script for, by the events that were recorded.
FIELDS = {"tracepoints": "pid,tid,time,event,trace", "software": "pid,tid,time,event,addr,ip"}
# What a program can map lies between these. Below, it is a null pointer, and the access is refused.
_USER_BEGIN, _USER_END = 1 << 16, 1 << 47


class Region(NamedTuple):
    """Memory that one call mapped, as far as perf can tell."""

    start: int
    name: str  # of the file; "": none
    offset: int  # in the file
    protection: str

    @property
    def is_file(self) -> bool:
        return self.name.startswith("/")

    def place(self, address: int) -> str:
        name = self.name or "[anon]"
        return f"{name}+{address - self.start + self.offset:#x}"


NOWHERE = Region(0, "", 0, "")


class Taken(NamedTuple):
    """A fault that the kernel took."""

    address: int
    kind: str  # x code, r read, w write, c write to a page that is read-only; "": not known
    region: Region
    who: str  # the instruction


class _Mapped:
    """The regions of one process. perf has no event of munmap: what is mapped later replaces it."""

    def __init__(self, other: _Mapped | None = None) -> None:
        # Region by region, in the order of addresses: none overlaps the next.
        self._starts: list[int] = list(other._starts) if other else []
        self._ends: list[int] = list(other._ends) if other else []
        self._regions: list[Region] = list(other._regions) if other else []

    def find(self, address: int) -> Region:
        at = bisect_right(self._starts, address) - 1
        return self._regions[at] if at >= 0 and address < self._ends[at] else NOWHERE

    def add(self, end: int, new: Region) -> None:
        """The kernel tells of whole areas: after an mprotect, of a part of a mapping, and of
        anonymous memory, together with the neighbours that it was merged with. So anonymous memory
        that was there before stays the region that it was, unless this is a part of it."""
        start = new.start
        if not new.name and not self._is_part(end, new):
            for gap_start, gap_end in self._gaps(start, end):
                self._insert(gap_start, gap_end, new._replace(start=gap_start))
        else:
            self._cut(start, end)
            self._insert(start, end, new)

    def _is_part(self, end: int, new: Region) -> bool:
        """Whether a reserved piece gets another protection."""
        at = bisect_right(self._starts, new.start) - 1
        return (
            at >= 0
            and end <= self._ends[at]
            and not self._regions[at].name
            and self._regions[at].protection != new.protection
        )

    def _gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        for first, last, region in [*zip(self._starts, self._ends, self._regions)]:
            if region.name and first < end and last > start:
                self._cut(max(first, start), min(last, end))
        gaps, at = [], start
        for first, last in zip(self._starts, self._ends):
            if last <= at or first >= end:
                continue
            if first > at:
                gaps.append((at, first))
            at = last
        if at < end:
            gaps.append((at, end))
        return gaps

    def _insert(self, start: int, end: int, region: Region) -> None:
        at = bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)
        self._regions.insert(at, region)

    def _cut(self, start: int, end: int) -> None:
        """Takes what lies there away; what is left on both sides stays a part of its region."""
        kept = []
        for first, last, region in zip(self._starts, self._ends, self._regions):
            for a, b in ((first, min(last, start)), (max(first, end), last)):
                if a < b:
                    kept.append((a, b, region))
        self._starts = [a for a, _, _ in kept]
        self._ends = [b for _, b, _ in kept]
        self._regions = [region for _, _, region in kept]


@dataclass
class Image:
    """One program in one process: from the exec, or the fork, to the next exec, or the end."""

    process: int
    command: str  # as the kernel names it, in up to 15 letters
    faults: list[Taken] = field(default_factory=list)
    layout: set[tuple[int, int, str]] = field(default_factory=set)  # start, end, file
    mapped: _Mapped = field(default_factory=_Mapped)


_LINE = re.compile(r"\s*(-?\d{1,10})/(-?\d{1,10})\s+\d{1,12}\.\d{1,9}:\s+(.*)\Z")
_TRACEPOINT = re.compile(
    r"exceptions:page_fault_(?:user|kernel): "
    r"address=(?:0x)?([0-9a-f]{1,16}) ip=(.+?) error_code=0x([0-9a-f]{1,16})"
)
_SOFTWARE = re.compile(r"(?:\d+\s+)?page-faults(?::\w{1,8})?:\s+([0-9a-f]{1,16})\s+([0-9a-f]{1,16})")
_COMM = re.compile(r"PERF_RECORD_COMM( exec)?: (.*):\d+/\d+\Z")
_FORK = re.compile(r"PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")
_MMAP = re.compile(
    r"PERF_RECORD_MMAP2? -?\d+/-?\d+: \[(?:0x)?([0-9a-f]{1,16})\((?:0x)?([0-9a-f]{1,16})\) @ "
    r"(?:0x)?([0-9a-f]{1,16})(?: [^\]]*)?\]: (\S+) (.*)\Z"
)


def kind_of(error_code: int) -> str:
    """Bit 0: the page was there; 1: a write; 4: an instruction fetch."""
    if error_code & 16:
        return "x"
    if error_code & 2:
        return "c" if error_code & 1 else "w"
    return "r"


class _Reader:
    def __init__(self, skip: int) -> None:
        self.skip = skip  # execs of the first process that are not the program's yet
        self.first = 0
        self.images: list[Image] = []  # in the order of their begin
        self.now: dict[int, Image] = {}  # by process

    def line(self, process: int, what: str) -> None:
        if what.startswith("PERF_RECORD_LOST"):
            raise ReportError(f"perf lost faults on the way ({what}); try again, on an idle machine")
        comm, fork, mmap = _COMM.match(what), _FORK.match(what), _MMAP.match(what)
        if comm and comm[1]:
            self.execute(process, comm[2])
        elif fork:
            self.fork(int(fork[1]), int(fork[2]))
        elif process in self.now:
            if mmap:
                start, size, offset = (int(mmap[n], 16) for n in (1, 2, 3))
                self.map(self.now[process], start, size, offset, mmap[4], mmap[5])
            else:
                self.fault(self.now[process], what)

    def execute(self, process: int, command: str) -> None:
        if self.skip and self.first in (0, process):
            self.first = process
            self.skip -= 1
            return
        if process in self.now or not self.images:
            self.begin(Image(process, command))

    def begin(self, image: Image) -> None:
        self.images.append(image)
        self.now[image.process] = image

    def fork(self, child: int, parent: int) -> None:
        if child != parent and parent in self.now:
            before = self.now[parent]
            self.begin(Image(child, before.command, mapped=_Mapped(before.mapped)))

    @staticmethod
    def map(image: Image, start: int, size: int, offset: int, protection: str, name: str) -> None:
        name = "" if name in ("//anon", "[heap]", "") else name
        image.layout.add((start, start + size, name))
        offset = offset if name.startswith("/") else 0
        image.mapped.add(start + size, Region(start, name, offset, protection))

    @staticmethod
    def fault(image: Image, what: str) -> None:
        found = _TRACEPOINT.match(what)
        if found:
            address, code, kind = int(found[1], 16), found[2], kind_of(int(found[3], 16))
        else:
            found = _SOFTWARE.match(what)
            if not found:
                return
            address, code, kind = int(found[1], 16), found[2], ""
        if not _USER_BEGIN <= address < _USER_END:
            return
        who = code
        if re.fullmatch(r"(?:0x)?[0-9a-f]{1,16}", code):
            region = image.mapped.find(int(code, 16))
            who = region.place(int(code, 16)) if region.is_file else "the kernel" if int(code, 16) >> 63 else code
        image.faults.append(Taken(address, kind, image.mapped.find(address), who))


def images(lines: Iterable[str], skip: int) -> list[Image]:
    """The programs of a recording; the first is the one that was wanted, after `skip` others that
    the first process executed on the way to it."""
    reader = _Reader(skip)
    for line in lines:
        found = _LINE.match(line)
        if found:
            reader.line(int(found[1]), found[3])
    return reader.images
