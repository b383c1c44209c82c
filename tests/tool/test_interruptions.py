# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--syscall-tlb= and --switch-every=: what system calls and context switches drive out of the TLBs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tg_environment import client
from tool_support import OutFile, Run, messages, run, sum_of

ROOM = ("--itlb=512,full", "--dtlb=1024,full")  # for all pages of the client
LITTLE = ("--itlb=512,full", "--dtlb=64,full")
ROUNDS = 50


def observe(folder: Path, *arguments: object, options: Sequence[str] = (), machines: Sequence[str] = ROOM) -> Run:
    done = run(folder, client("run_interrupted"), *arguments, options=options, geometry=machines)
    assert done.status == 0, done.err
    return done


def of(done: Run, suffix: str = "") -> OutFile:
    (found,) = (out for out in done.files if out.path.name.endswith(suffix))
    return found


def number(done: Run, label: str) -> int:
    (found,) = (match[1] for line in messages(done.err) if (match := re.match(rf"{label}: +([\d,]+)", line)))
    return int(found.replace(",", ""))


def test_a_flush_at_each_system_call_leaves_nothing(tmp_path: Path) -> None:
    done = observe(tmp_path, "calls", ROUNDS, 300, options=["--syscall-tlb=none,flush"])
    assert sum_of(of(done, "none"), "DLtmr", "uses") == 300
    assert sum_of(of(done, "flush"), "DLtmr", "uses") == ROUNDS * 300


@pytest.mark.parametrize("pages, missed", [(1, False), (15, False), (40, True), (200, True)])
def test_the_kernels_pages_drive_out_what_has_no_room_beside_them(tmp_path: Path, pages: int, missed: bool) -> None:
    fewer, more = (
        observe(tmp_path / name, "calls", rounds, 30, options=[f"--syscall-tlb=kernel:{pages}"], machines=LITTLE)
        for name, rounds in (("fewer", ROUNDS), ("more", 2 * ROUNDS))
    )
    # 64 entries, LRU: all of them go round, or all stay.
    added = sum_of(of(more), "DLtmr", "uses") - sum_of(of(fewer), "DLtmr", "uses")
    assert added == (ROUNDS * 30 if missed else 0)


def test_the_kernel_brings_the_translations_of_the_programs_buffers(tmp_path: Path) -> None:
    done = observe(tmp_path, "buffer", 200, options=["--syscall-tlb=none,kernel:0,kernel:3"])
    assert sum_of(of(done, "none"), "DLtmr", "consumes") == 200
    assert sum_of(of(done, "kernel:0"), "DLtmr", "consumes") == 0
    assert sum_of(of(done, "kernel:3"), "DLtmr", "consumes") == 0


@pytest.mark.parametrize("fast", ["yes", "no"])
def test_context_switches_come_after_so_many_instructions(tmp_path: Path, fast: str) -> None:
    every = 10007
    options = [f"--switch-every={every}", f"--fast-path={fast}"]
    done = observe(tmp_path, "computes", 2000, 100, options=options)
    switches = number(done, "context switches")
    assert switches == sum_of(of(done), "Ir") // every
    assert of(done).descriptions("Context switches") == [f"every {every} instructions, flush everything"]
    # Between two of them all 100 pages are read several times, so each of them misses once.
    inside = sum_of(of(done), "Ir", "uses") // every
    assert 100 * (inside - 1) <= sum_of(of(done), "DLtmr", "uses") <= 100 * (switches + 1)


@pytest.mark.parametrize("pages, lost", [(20, 0), (64, 30)])
def test_another_process_takes_the_room_of_so_many_pages(tmp_path: Path, pages: int, lost: int) -> None:
    fewer, more = (
        observe(
            tmp_path / name, "computes", rounds, 30,
            options=[f"--switch-every=5000:{pages}"], machines=LITTLE,
        )
        for name, rounds in (("fewer", 500), ("more", 1000))
    )  # fmt: skip
    said = f"every 5000 instructions, refer to {pages} pages of code and as many of data"
    assert of(more).descriptions("Context switches") == [said]
    switches = number(more, "context switches") - number(fewer, "context switches")
    assert switches > 5
    added = sum_of(of(more), "DLtmr", "uses") - sum_of(of(fewer), "DLtmr", "uses")
    # The first and the last can fall before and behind the loop, or within a round of it.
    assert (switches - 1) * lost <= added <= (switches + 1) * lost


MIXED = ("skylake", "skylake@syscall:flush", "zen4@syscall:kernel:40", "cortex-a76@anon:64K+syscall:kernel:8")


@pytest.mark.parametrize("options", [(), ("--switch-every=20000",), ("--switch-every=20000:100",), ("--flush-policy=linux",)])
def test_machines_of_one_run_count_as_each_alone(tmp_path: Path, options: tuple[str, ...]) -> None:
    together = observe(tmp_path / "all", "calls", 40, 90, options=options, machines=[f"--machine={','.join(MIXED)}"])
    slowly = observe(
        tmp_path / "run", "calls", 40, 90,
        options=[*options, "--fast-path=no"], machines=[f"--machine={','.join(MIXED)}"],
    )  # fmt: skip
    assert len(together.files) == len(slowly.files) == len(MIXED)
    for ours, theirs in zip(together.files, slowly.files):
        assert (ours.lines, ours.summary) == (theirs.lines, theirs.summary)
    for i, machine in enumerate(MIXED):
        alone = observe(tmp_path / f"{i:03}", "calls", 40, 90, options=options, machines=[f"--machine={machine}"])
        ours = next(out for out in together.files if out.descriptions("Machine") == [machine])
        assert (ours.lines, ours.summary) == (alone.only().lines, alone.only().summary), machine


def test_switches_and_a_timeline_take_turns(tmp_path: Path) -> None:
    plain = observe(tmp_path / "plain", "computes", 400, 100, options=["--switch-every=7000"])
    both = observe(tmp_path / "other", "computes", 400, 100, options=["--switch-every=7000", "--timeline=yes"])
    assert plain.only().lines == both.only().lines
    assert number(plain, "context switches") == number(both, "context switches")


def test_none_is_as_without(tmp_path: Path) -> None:
    plain = observe(tmp_path / "plain", "calls", 10, 10)
    none = observe(tmp_path / "other", "calls", 10, 10, options=["--syscall-tlb=none"])
    assert plain.only().lines == none.only().lines
    for err in plain.err, none.err:
        assert "drive out nothing: a lower bound (both: --syscall-tlb=none,flush)" in err


@pytest.mark.parametrize("option", ["--syscall-tlb=none", "--syscall-tlb=flush", "--syscall-tlb=none,flush"])
def test_the_number_of_system_calls_is_the_programs(tmp_path: Path, option: str) -> None:
    fewer = observe(tmp_path / "fewer", "calls", 10, 1, options=[option])
    more = observe(tmp_path / "other", "calls", 35, 1, options=[option])
    assert number(more, "system calls") - number(fewer, "system calls") == 25


def test_the_out_file_says_what_system_calls_do(tmp_path: Path) -> None:
    done = observe(tmp_path, "calls", 10, 1, options=["--syscall-tlb=flush"])
    assert done.only().descriptions("System calls") == ["flush everything"]


@pytest.mark.parametrize("option, complaint", [
    ("--syscall-tlb=some", "'some' is nothing that system calls do to TLBs; allowed are none, flush, and"),
    ("--syscall-tlb=kernel:", "'kernel:' is nothing"),
    ("--syscall-tlb=kernel:65537", "kernel:0 to kernel:65536"),
    ("--syscall-tlb=none,", "'' is nothing"),
    ("--switch-every=0", "not a number of instructions above 0"),
    ("--switch-every=x", "not a number of instructions above 0"),
    ("--switch-every=100:0", "or one and 1 to 65536 pages"),
    ("--switch-every=100:70000", "or one and 1 to 65536 pages"),
    ("--syscal-tlb=flush", "--syscall-tlb"),
])  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, option: str, complaint: str) -> None:
    done = run(tmp_path, client("run_interrupted"), options=[option], geometry=ROOM, collect=False)
    assert done.status == 1
    assert complaint in done.err, done.err


def test_cachegrind_has_no_kernel(tmp_path: Path) -> None:
    options = ["--as-cachegrind=yes", "--switch-every=1000"]
    done = run(tmp_path, client("run_interrupted"), options=options, geometry=ROOM, collect=False)
    assert done.status == 1 and "--as-cachegrind=yes goes without --switch-every=1000" in done.err
