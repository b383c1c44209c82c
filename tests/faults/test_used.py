# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--faults-used=yes: how many bytes of each page were used, exactly."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from native_support import (
    ENVIRONMENT,
    PAGE,
    VIEWS,
    Log,
    read,
    run,
)
from tg_environment import HAVE_X86, TLBGRIND, client
from tg_written import written

CLIENT = "fault_used"
BITS = ["", "32"] if HAVE_X86 else [""]
FIRST = 0x20000000  # where the client's mappings begin
LAST = 0x30000000

# Bytes by page, of mappings that lay at the same place one after the other.
Lives = dict[int, list[dict[int, int]]]


class Expected(NamedTuple):
    lives: Lives
    again: dict[int, list[int]]


def expected(printed: list[str], page_size: int) -> Expected:
    """What the client says. Where nothing was used there may be no map in the log."""
    lives: Lives = defaultdict(list)
    again: dict[int, list[int]] = {}
    for line in printed:
        words = line.split()
        if words[0] == "again":
            again[int(words[1], 16)] = [int(word) for word in words[2:]]
            continue
        start = int(words[0], 16)
        pages: dict[int, int] = defaultdict(int)
        for number, word in enumerate(words[1:]):
            pages[(start + number * PAGE) // page_size * page_size] += int(word)
        life = {page: used for page, used in pages.items() if used}
        if life:
            lives[start].append(life)
    return Expected(lives, again)


def found(log: Log) -> Lives:
    size = int(log.header["page size"])
    lives: Lives = defaultdict(list)
    for map_ in log.maps.values():
        if not FIRST <= map_.start < LAST:
            continue
        life: dict[int, int] = {}
        for used in (used for used in log.used if used.map is map_ and used.bytes):
            for number in range(used.pages):
                assert used.page + number * size not in life
                life[used.page + number * size] = used.bytes
        if life:
            lives[map_.start].append(life)
    return lives


def run_client(
    tmp_path: Path, name: str, *options: str
) -> tuple[Log, Log, list[str], list[str]]:
    """Its log and its child's, and what either printed."""
    done = subprocess.run(
        [
            TLBGRIND,
            "-q",
            "--faults=yes",
            "--faults-used=yes",
            f"--faults-out-file={tmp_path}/faults.%p",
            f"--tlbgrind-out-file={tmp_path}/out.%p",
            *options,
            client(name),
        ],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    logs = [read(path) for path in tmp_path.glob("faults.*")]
    (parent,) = (log for log in logs if "forked from" not in log.header)
    (child,) = (log for log in logs if "forked from" in log.header)
    lines = done.stdout.splitlines()
    of_child = [line.removeprefix("child ") for line in lines if line.startswith("child ")]
    return parent, child, [line for line in lines if not line.startswith("child ")], of_child


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--fast-path=no"],
        ["--machine=default", "--dtlb=1,1"],
        ["--thp=always", "--mthp=64K"],
        ["--fault-around=off", "--native-start=no"],
        ["--page-size=16K"],
        ["--page-size=64K"],
    ],
    ids=" ".join,
)
def test_bytes_are_exact(bits: str, options: list[str], tmp_path: Path) -> None:
    """a client that knows what it uses: every size, straddles, modifies, masked moves, system
    calls, pages unmapped and mapped again, moved, shared by threads, code, faults, forks"""
    if options[:1] == ["--machine=default"]:
        options = options[1:]
    parent, child, printed, of_child = run_client(tmp_path, CLIENT + bits, *options)
    size = int(parent.header["page size"])
    wanted = expected(printed, size)
    assert len(wanted.lives) > 15
    assert found(parent) == wanted.lives
    wanted_of_child = expected(of_child, size)
    assert len(wanted_of_child.lives) == 2
    assert found(child) == wanted_of_child.lives
    if size == PAGE:
        (page,) = wanted.again
        assert [used.bytes for used in parent.used if used.page == page] == wanted.again[page]


def test_each_page_has_the_letter_of_how_it_came(tmp_path: Path) -> None:
    """each page that faulted or came along has the letter of how it came, in each view"""
    (log,), _ = run(tmp_path, [client("fault_mechanisms"), "read-write"], ["--faults-used=yes"])
    came: dict[tuple[int, int], str] = {}
    for fault in log.faults:
        for n, view in enumerate(VIEWS):
            kind = fault.kind(view).lower()
            if kind != "-":
                came.setdefault((n, fault.page), kind)
                brought = ["-", fault.brought, fault.cold_brought][n]
                for distance in distances(brought):
                    came.setdefault((n, fault.page + distance * PAGE), "+")
    assert "+" in came.values() and len(set(came.values())) >= 5
    listed = {
        (n, used.page + number * PAGE): used.kinds[n]
        for used in log.used
        for number in range(used.pages)
        for n in range(len(VIEWS))
        if used.kinds[n] not in "-p"
    }
    assert listed == came


def distances(runs: str) -> list[int]:
    pages: list[int] = []
    for part in [] if runs == "-" else runs.split(","):
        low, _, high = part.partition("..")
        pages.extend(range(int(low), int(high or low) + 1))
    return pages


def test_populated_pages_come_without_a_fault(tmp_path: Path) -> None:
    """pages that MAP_POPULATE brings are there without a fault, used or not"""
    log, *_ = run_client(tmp_path, CLIENT)
    runs = [used for used in log.used if used.kinds == "ppp" and FIRST <= used.page < LAST]
    by_map = defaultdict(list)
    for used in runs:
        by_map[used.map].extend([used.bytes] * used.pages)
    assert [0, 1, 0] in by_map.values()


def test_a_huge_page_brings_511_others(tmp_path: Path) -> None:
    """a huge page brings 511 others; all of them are used"""
    command = [client("fault_mechanisms"), "thp"]
    (log,), _ = run(tmp_path, command, ["--faults-used=yes", "--thp=madvise", "--mthp=none"])
    region = [used for used in log.used if used.map.end - used.map.start == 64 << 20]
    pages = [0, 0]
    for used in region:
        pages[used.kinds[1] == "+"] += used.pages
    assert pages == [32, 32 * 511]
    assert {used.kinds[0] for used in region} == {"w"}


def test_large_memory_is_small(tmp_path: Path) -> None:
    """pages that are used alike take up one line"""
    command = [client("fault_mechanisms"), "write"]
    (log,), _ = run(tmp_path, command, ["--faults-used=yes", "--thp=never", "--mthp=none"])
    (used,) = (used for used in log.used if used.map.end - used.map.start == 64 << 20)
    assert used[2:] == (16384, "www", 1)
    assert log.path.stat().st_size < 80000


def test_the_rest_of_the_log_is_the_same(tmp_path: Path) -> None:
    """the option adds lines and changes none; two runs give the same bytes"""
    texts = []
    for options in ([], ["--faults-used=yes"], ["--faults-used=yes"]):
        (log,), _ = run(tmp_path, [client("fault_hello")], options)
        lines = written(log.path).split("\n")
        texts.append([line for line in lines if not line.startswith("pid: ")])
    assert texts[1] == texts[2]
    added = ("faults-used: ", "used\t", "used-total\t")
    rest = [line for line in texts[1] if not line.startswith(added)]
    maps = {line for line in rest if line.startswith("map\t")}
    assert [line for line in rest if line in texts[0] or line not in maps] == texts[0]
    assert len(rest) < len(texts[1])


# --- Against lackey ---

# As for the other comparisons: one stream of addresses.
IN_PLACE = Path(os.environ["TG_BUILDDIR"], ".in_place")
VALGRIND = os.environ.get("VALGRIND", "valgrind")
# The dynamic linker reads on behind the tunables, where random bytes lie.
SAME = {
    **{name: value for name, value in ENVIRONMENT.items() if name != "GLIBC_TUNABLES"},
    "VALGRIND_LIB": str(IN_PLACE),
}


def valgrind(options: list[str], program: list[str], tmp_path: Path) -> None:
    with open(tmp_path / "stdout", "wb") as out:
        subprocess.run(
            ["setarch", "-R", VALGRIND, *options, *program],
            env=SAME,
            stdin=subprocess.DEVNULL,
            stdout=out,
            check=True,
            cwd=tmp_path,
        )


def lackey(program: list[str], tmp_path: Path) -> dict[int, set[int]]:
    """Offsets of the bytes that it fetches, reads and writes, by page."""
    trace = tmp_path / "trace"
    options = ["--tool=lackey", "--trace-mem=yes", f"--log-file={trace}"]
    valgrind([*options, "--vex-guest-chase=no", "--vex-iropt-unroll-thresh=0"], program, tmp_path)
    lines: set[str] = set()
    with open(trace, encoding="ascii") as text:
        for line in text:
            if line[:3] in ("I  ", " L ", " S ", " M "):
                lines.add(line[3:])
    pages: dict[int, set[int]] = defaultdict(set)
    for line in lines:
        address, _, size = line.partition(",")
        for byte in range(int(address, 16), int(address, 16) + int(size)):
            pages[byte // PAGE * PAGE].add(byte % PAGE)
    return pages


def ours(program: list[str], tmp_path: Path) -> Log:
    recorded = ["--faults=yes", "--faults-used=yes", "--faults-hidden=yes", "--native-start=no"]
    files = [f"--faults-out-file={tmp_path}/log", f"--tlbgrind-out-file={tmp_path}/out"]
    valgrind(["--tool=tlbgrind", "-q", *recorded, *files], program, tmp_path)
    return read(tmp_path / "log")


@pytest.mark.parametrize("program", [["/bin/ls", "-l", "/usr"], ["/bin/bash", "-c", ":"]], ids=lambda p: p[0])
def test_used_bytes_are_those_of_lackey_s_trace(program: list[str], tmp_path: Path) -> None:
    """a real program: of pages of code the very number of bytes that lackey's trace has; of others
    not less, and more on those few that the kernel read or wrote, too: the names of files, what it
    returned, the stack at the start"""
    trace = lackey(program, tmp_path)
    log = ours(program, tmp_path)
    pages: set[int] = set()
    code = 0
    more: list[str] = []
    for used in log.used:
        for page in range(used.page, used.page + used.pages * PAGE, PAGE):
            seen = len(trace.get(page, ()))
            assert page not in pages
            pages.add(page)
            if "x" in used.map.prot and used.map.what == "file":
                assert used.bytes == seen, (hex(page), used)
                code += seen > 0
            elif used.bytes != seen:
                assert used.bytes > seen, (hex(page), used)
                more.append(f"{page:#x}: {used.bytes}, not {seen}: {used.map}")
    assert set(trace) <= pages
    assert code > 100
    assert len(more) <= len(trace) // 20, more
