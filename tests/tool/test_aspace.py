# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the tool knows of the client's mappings is what the kernel says of them.

The client does things to its address space and shows /proc/self/maps; --trace-aspace=yes prints
the tool's own list at the end and what happened before.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tg_environment import HAVE_X86, client
from tg_huge import huge_pages
from tool_support import run

needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
BITS = ["", pytest.param("32", marks=needs_x86)]
PAGE = 4096
M = 1 << 20
# Valgrind's own parts of the address space begin here, and at 64 GiB; what the client maps lies
# between the two. (An x86 tool is loaded at the same address.)
VALGRIND = 0x58000000
BETWEEN = range(1 << 32, 1 << 36)


class Mapping(NamedTuple):
    start: int
    end: int
    prot: str  # "rw-p"
    kind: str  # "heap"
    serial: int
    flags: frozenset[str]  # "hugepage"
    name: str
    offset: int


class Event(NamedTuple):
    what: str
    start: int
    end: int
    rest: str
    mapping: Mapping | None


class Walk(NamedTuple):
    at: dict[str, int]
    out: str
    kernel: list[Mapping]
    end: list[Mapping]
    events: list[Event]
    pids: list[int]

    def find(self, address: int) -> Mapping:
        found = [m for m in self.end if m.start <= address < m.end]
        assert len(found) == 1, (hex(address), found)
        return found[0]

    def mapped(self, address: int) -> bool:
        return any(m.start <= address < m.end for m in self.end)

    def happened(self, what: str, address: int) -> list[Event]:
        return [e for e in self.events if e.what == what and e.start <= address < e.end]


_MAPPING = re.compile(
    r"([0-9a-f]+)-([0-9a-f]+) ([r-][w-][x-][ps]) #(\d+) ([A-Za-z V]+?)((?: \[[^]]+\])*)"
    r"(?: (/.*)\+([0-9a-f]+))?((?: \([a-z ]+\))*)$"
)
_EVENT = re.compile(r"--(\d+)-- aspace: ([a-z]+) (([0-9a-f]+)-([0-9a-f]+).*)$")


def parse_mapping(text: str) -> Mapping | None:
    match = _MAPPING.match(text)
    if match is None:
        return None
    start, end, prot, serial, kind, flags, name, offset, _ = match.groups()
    return Mapping(
        int(start, 16),
        int(end, 16),
        prot,
        kind,
        int(serial),
        frozenset(re.findall(r"\[([^]]+)\]", flags)),
        name or "",
        int(offset or "0", 16),
    )


def kernel_maps(out: str) -> list[Mapping]:
    rows = out[out.index("maps\n") + 5 : out.index("\nend\n")].splitlines()
    maps = []
    for row in rows:
        match = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) ([0-9a-f]+) \S+ \d+ *(.*)$", row)
        assert match, row
        start, end, prot, offset, name = match.groups()
        maps.append(
            Mapping(int(start, 16), int(end, 16), prot, "", 0, frozenset(), name, int(offset, 16))
        )
    return maps


def walk(folder: Path, *what: str, options: tuple[str, ...] = (), bits: str = "") -> Walk:
    r = run(
        folder,
        client("aspace_walk" + bits),
        *what,
        options=["--trace-aspace=yes", *options],
        out_file="tg.%p",
        collect=False,
    )
    assert r.status == 0, (r.out, r.err)
    at = {row.split()[1]: int(row.split()[2], 16) for row in r.out.splitlines() if row.startswith("at ")}
    events = []
    end = []
    pids = []
    for row in r.err.splitlines():
        match = _EVENT.match(row)
        if match is None:
            assert "aspace:" not in row or "aspace: fork" in row, row
            continue
        pid, verb, text, first, last = match.groups()
        mapping = parse_mapping(text)
        if verb == "end":
            assert mapping is not None, row
            pids.append(int(pid))
            end.append(mapping)
        else:
            events.append(Event(verb, int(first, 16), int(last, 16), text, mapping))
    return Walk(at, r.out, kernel_maps(r.out), end, events, pids)


Page = tuple[str, str, int]


def pages_of(maps: list[Mapping]) -> dict[int, Page]:
    """By page of the client's: protection, file, offset in it."""
    pages: dict[int, Page] = {}
    for m in maps:
        for a in range(m.start, m.end if m.start in BETWEEN else min(m.end, VALGRIND), PAGE):
            name = m.name if m.name.startswith("/") and not m.name.startswith("/anon_hugepage") else ""
            # A bss has the name of its file here, but no bytes of it.
            name = "" if m.kind.endswith("bss") or "SYSV" in name or "/dev/zero" in name else name
            pages[a] = (m.prot, name.removesuffix(" (deleted)"), m.offset + a - m.start if name else 0)
    return pages


def compare(w: Walk) -> int:
    """Page by page what the kernel says. Returns how many pages there are."""
    ours = pages_of(w.end)
    kernel = pages_of(w.kernel)
    # Valgrind keeps memory for the heap that may be executed, and more than the program has.
    for a, (prot, name, _) in list(kernel.items()):
        if prot == "rwxp" and not name:
            if a in ours and w.find(a).kind == "heap":
                kernel[a] = ("rw-p", "", 0)
            elif a not in ours:
                del kernel[a]
    assert kernel == ours
    return len(ours)


@pytest.mark.parametrize("bits", BITS)
def test_basics(tmp_path: Path, bits: str) -> None:
    w = walk(tmp_path, "basics", bits=bits)
    assert compare(w) > 100
    a = w.at["anonymous"]
    middle = w.find(a + 4 * PAGE)
    assert (middle.start, middle.end) == (a + 4 * PAGE, a + 5 * PAGE)
    assert middle.prot == "r--p"
    assert middle.serial == w.find(a + 5 * PAGE).serial
    assert not w.mapped(a + 8 * PAGE)
    assert not w.mapped(a + 9 * PAGE)
    assert w.find(w.at["over"]).kind == "file"
    assert w.find(w.at["over"]).start == a + 12 * PAGE
    assert w.find(w.at["file"]).kind == "file"
    assert w.find(w.at["shared-file"]).prot == "rw-s"
    assert w.find(w.at["shared"]).kind == "shared"
    (event,) = w.happened("map", w.at["populated"])
    assert "(populated)" in event.rest
    # What MAP_FIXED takes the place of goes first.
    assert [e.what for e in w.events if e.start == w.at["over"]][-2:] == ["unmap", "map"]


@pytest.mark.parametrize("bits", BITS)
def test_program_and_libraries(tmp_path: Path, bits: str) -> None:
    w = walk(tmp_path, "basics", bits=bits)
    kinds = {(Path(m.name).name, m.kind) for m in w.end if m.name}
    program = "aspace_walk" + bits
    assert (program, "program") in kinds
    assert (program, "program bss") in kinds
    assert (program, "library") not in kinds
    assert ("libc.so.6", "library") in kinds
    assert ("libc.so.6", "file") not in kinds
    assert ("libc.so.6", "library bss") in kinds
    assert sum(m.kind == "stack" for m in w.end) == 1
    assert not any("tlbgrind" in Path(m.name).name for m in w.end)
    # Nothing of Valgrind's is there, but without the native start, and then known for what it is.
    assert not any("foreign" in m.flags or "vgpreload" in m.name for m in w.end)
    w = walk(tmp_path, "basics", options=("--native-start=no",), bits=bits)
    preload = [m for m in w.end if "vgpreload" in m.name]
    assert preload
    assert all("foreign" in m.flags for m in preload)
    assert not any("foreign" in m.flags for m in w.end if "vgpreload" not in m.name)


@pytest.mark.parametrize("bits", BITS)
def test_mremap(tmp_path: Path, bits: str) -> None:
    w = walk(tmp_path, "moves", bits=bits)
    compare(w)
    old = w.at["old"]
    assert not w.mapped(old)
    assert w.mapped(w.at["moved"])
    (event,) = [e for e in w.events if e.what == "move" and e.start == w.at["moved"]]
    assert event.rest.endswith(f"from {old:x}")
    assert event.end - event.start == 8 * PAGE
    assert w.find(w.at["less"]).end == w.at["less"] + 4 * PAGE
    more = w.find(w.at["more"])
    assert more.end >= w.at["more"] + 4096 * PAGE
    assert w.happened("grow", w.at["more"] + 100 * PAGE)


@pytest.mark.parametrize("bits", BITS)
def test_break(tmp_path: Path, bits: str) -> None:
    w = walk(tmp_path, "breaks", bits=bits)
    compare(w)
    (heap,) = [m for m in w.end if m.kind == "heap"]
    assert heap.end == -(-w.at["down"] // PAGE) * PAGE
    assert w.at["up"] - w.at["down"] == 50 * PAGE
    assert w.happened("unmap", heap.end)


@pytest.mark.parametrize("bits", BITS)
def test_system_v_segments(tmp_path: Path, bits: str) -> None:
    w = walk(tmp_path, "segments", bits=bits)
    compare(w)
    a, b = w.find(w.at["attached"]), w.find(w.at["read-only"])
    assert (a.kind, a.prot, a.end - a.start) == ("System V", "rw-s", 8 * PAGE)
    assert (b.kind, b.prot, b.end - b.start) == ("System V", "r--s", 8 * PAGE)
    assert not w.mapped(w.at["detached"])


def test_advice(tmp_path: Path) -> None:
    w = walk(tmp_path, "advice")
    compare(w)
    a = w.at["advised"]
    if "no huge pages" not in w.out:
        m = w.find(a + 16 * PAGE)
        assert m.flags == {"hugepage"}
        assert (m.start, m.end) == (a + 16 * PAGE, a + 1040 * PAGE)
        assert w.find(a + 2048 * PAGE).flags == {"nohugepage"}
    assert w.find(a + 2065 * PAGE).flags == {"locked"}
    assert w.find(a + 2068 * PAGE).flags == set()
    assert w.find(a + 2069 * PAGE).flags == {"locked"}
    told = [e.rest.split()[-1] for e in w.events if e.what == "advise" and e.start >= a]
    assert told[-1] == "4"
    # Advice that the kernel refuses is none.
    assert not w.happened("advise", 0)


def said(w: Walk, what: str) -> int:
    """Kilobytes, as the client has read them of the kernel."""
    (number,) = re.findall(rf"^{what} (\d+)$", w.out, re.MULTILINE)
    return int(number)


@pytest.mark.parametrize("bits", BITS)
def test_calls_that_fail_when_a_part_is_done(tmp_path: Path, bits: str) -> None:
    """mprotect() up to what may not be written, mlock() and munlock() up to a hole, advice up to what is locked."""
    w = walk(tmp_path, "partly", bits=bits)
    compare(w)
    assert w.find(w.at["protected"]).prot == "rw-p"
    assert w.find(w.at["protected"] + 8 * PAGE).prot == "r--p"
    locked = sum(m.end - m.start for m in w.end if "locked" in m.flags)
    assert locked == said(w, "locked") * 1024 == 3 * PAGE
    assert w.find(w.at["locked"]).flags == {"locked"}
    assert w.find(w.at["unlocked"]).flags == set()
    a = w.at["given-back"]
    assert "left 0 1\n" in w.out
    assert [(e.start, e.end) for e in w.happened("advise", a)] == [(a, a + 4 * PAGE)]
    assert not w.happened("advise", a + 4 * PAGE)


@pytest.mark.parametrize("bits", BITS)
def test_collapse_of_which_a_part_fails(tmp_path: Path, bits: str) -> None:
    """The kernel makes huge pages of the blocks of which something is there."""
    w = walk(tmp_path, "collapse", bits=bits)
    collapsed = [e.start for e in w.events if e.what == "advise" and e.rest.endswith(" 25")]
    assert len(collapsed) * 2 * M == said(w, "huge") * 1024
    assert set(collapsed) <= {w.at["collapsed"], w.at["collapsed"] + 4 * M}


def test_thread_stack(tmp_path: Path) -> None:
    w = walk(tmp_path, "threads")
    compare(w)
    assert w.find(w.at["thread-stack"]).kind == "thread stack"


def test_fork(tmp_path: Path) -> None:
    w = walk(tmp_path, "forks")
    a = w.at["inherited"]
    (child,) = re.findall(r"^child (\d+)$", w.out, re.MULTILINE)
    mine = [m for m, pid in zip(w.end, w.pids) if pid == int(child)]
    parents = [m for m, pid in zip(w.end, w.pids) if pid != int(child)]
    compare(w._replace(end=parents))
    assert mine
    assert not any(m.start <= a + 4 * PAGE < m.end for m in mine)
    assert any(m.start <= a + 4 * PAGE < m.end and m.flags == {"dontfork"} for m in parents)
    assert [m.prot for m in mine if m.start <= a < m.end] == ["r--p"]
    assert [m.prot for m in parents if m.start <= a < m.end] == ["rw-p"]


@pytest.mark.parametrize("bits", BITS)
def test_fake_huge_pages(tmp_path: Path, bits: str) -> None:
    w = walk(tmp_path, "huge", options=("--hugetlb=fake",), bits=bits)
    compare(w)
    assert "refused" not in w.out
    sizes = {"huge": 2 * M, "huge-64K": 64 << 10, "huge-segment": 2 * M, "huge-segment-2": 2 * M, "huge-file": 2 * M}
    sizes |= {"huge-hinted": 2 * M, "huge-elsewhere": 2 * M, "huge-exact": 2 * M}
    for name, size in sizes.items():
        m = w.find(w.at[name])
        assert m.flags == {f"hugetlb {size >> 10}K"}, name
        assert w.at[name] % size == 0
        assert (m.end - m.start) % size == 0
    assert w.at["huge-hinted"] == 0x30000000
    assert w.at["huge-exact"] == 0x30800000
    if not bits:
        assert "registers kept" in w.out
        assert w.find(w.at["raw"]).flags == {"hugetlb 2048K"}


def test_real_huge_pages(tmp_path: Path) -> None:
    """Whatever the host answers, the program sees it."""
    w = walk(tmp_path, "huge")
    compare(w)
    free = int(re.findall(r"HugePages_Free: *(\d+)", Path("/proc/meminfo").read_text())[0])
    if free == 0:
        assert "refused mmap 12" in w.out
        assert "huge" not in w.at
    if "huge" in w.at:
        assert w.find(w.at["huge"]).flags == {"hugetlb 2048K"}


@pytest.mark.parametrize("bits", BITS)
def test_huge_pages_of_the_host(tmp_path: Path, bits: str) -> None:
    """The kernel maps whole ones: of 3M that are asked for it maps 4M, and nothing else comes there."""
    with huge_pages(16):
        w = walk(tmp_path, "huge", bits=bits)
    compare(w)
    assert w.find(w.at["huge"] + 4 * M - PAGE).flags == {"hugetlb 2048K"}
    assert w.find(w.at["huge-segment"]).flags == {"hugetlb 2048K"}


@pytest.mark.parametrize("seed", range(1, 7))
@pytest.mark.parametrize("bits", BITS)
def test_random_calls(tmp_path: Path, seed: int, bits: str) -> None:
    w = walk(tmp_path, f"random={seed}", bits=bits)
    assert compare(w) > 1000
    assert {e.what for e in w.events} >= {"map", "unmap", "protect", "move", "grow"}
    # The list is in order and has nothing twice.
    for a, b in zip(w.end, w.end[1:]):
        assert a.end <= b.start


def test_many_mappings(tmp_path: Path) -> None:
    """At most 4096 at once; the map does not grow with what is gone."""
    r = run(tmp_path, client("aspace_walk"), "many=50000", collect=False)
    assert r.status == 0
    assert "mapped 50000" in r.out


def test_everything_in_one_program(tmp_path: Path) -> None:
    what = ("basics", "moves", "breaks", "segments", "threads", "deep", "advice", "huge")
    w = walk(tmp_path, *what, options=("--hugetlb=fake",))
    compare(w)
    assert os.listdir(tmp_path)
