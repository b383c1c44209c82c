# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--cores=: the TLBs of threads, one set for all, each its own, or so many."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tg_environment import client
from tool_support import (
    OutFile,
    Run,
    compile_program,
    lines_of,
    messages,
    read,
    run,
    sum_of,
)

ROOM = ("--itlb=512,full", "--dtlb=1024,full")  # for all pages of the client
WALKS = ("I1tm", "ILtm", "D1tm", "DLtm")


def observe(
    folder: Path, *arguments: object, options: Sequence[str] = (), machines: Sequence[str] = ROOM, collect: bool = True
) -> Run:
    done = run(folder, client("run_cores"), *arguments, options=options, geometry=machines, collect=collect)
    assert done.status == 0, done.err
    return done


def threads_of(out: OutFile) -> dict[int, dict[str, int]]:
    """By number, what the out-file says of each thread."""
    rows = [row.split() for row in out.descriptions("Thread")]
    return {int(row[0]): dict(zip(row[1::2], map(int, row[2::2]))) for row in rows}


@pytest.mark.parametrize("options, walks", [
    ((), 5 * 100), (("--cores=per-thread",), 5 * 100), (("--cores=shared",), 100), (("--cores=1",), 100),
    (("--cores=2",), 200), (("--cores=per-thread", "--fast-path=no"), 5 * 100), (("--cores=2", "--fast-path=no"), 200),
])  # fmt: skip
def test_each_core_has_to_walk_for_itself(tmp_path: Path, options: tuple[str, ...], walks: int) -> None:
    done = observe(tmp_path, "in-turn", 5, 100, 10, options=options)
    assert sum_of(done.only(), "DLtmr", "uses") == walks


@pytest.mark.parametrize("options, walks", [((), 5 * 100), (("--cores=shared",), 100)])
def test_a_thread_begins_on_an_idle_core(tmp_path: Path, options: tuple[str, ...], walks: int) -> None:
    """Also if it has the number of one that has ended."""
    done = observe(tmp_path, "one-after-another", 5, 100, options=options)
    assert sum_of(done.only(), "DLtmr", "uses") == walks


@pytest.mark.parametrize("machines", [ROOM, ("--machine=skylake,zen4,core2,cortex-a76@anon:64K",)])
@pytest.mark.parametrize("options", [(), ("--data=yes",), ("--data=yes", "--mappings=yes")])
def test_sums_over_threads_are_the_totals(tmp_path: Path, machines: tuple[str, ...], options: tuple[str, ...]) -> None:
    """also of costs by object of data, of which only those that a thread uses are looked at when it stops"""
    done = observe(tmp_path, "in-turn", 6, 300, 20, machines=machines, options=options)
    for out in done.files:
        threads = threads_of(out)
        assert sorted(threads) == [1, 2, 3, 4, 5, 6, 7]
        sums = {name: sum(row[name] for row in threads.values()) for name in ("Ir", *WALKS)}
        assert sums == {
            "Ir": sum_of(out, "Ir"),
            "I1tm": sum_of(out, "I1tm"),
            "ILtm": sum_of(out, "ILtm"),
            "D1tm": sum_of(out, "D1tmr") + sum_of(out, "D1tmw"),
            "DLtm": sum_of(out, "DLtmr") + sum_of(out, "DLtmw"),
        }
        assert all(row["Ir"] > 20 * 300 for number, row in threads.items() if number > 1)
    text = messages(done.err)
    head = next(i for i, line in enumerate(text) if line.startswith("thread"))
    rows = [line.replace(",", "").split() for line in text[head + 1 : head + 1 + 7 * len(done.files)]]
    assert [int(row[0]) for row in rows] == [number for number in range(1, 8) for _ in done.files]


@pytest.mark.parametrize("machines", [ROOM, ("--machine=skylake,zen4",)])
@pytest.mark.parametrize("options", [(), ("--cores=shared",), ("--fast-path=no",), ("--faults=yes",), ("--data=yes", "--data-out-file=data")])
def test_each_thread_has_a_file(tmp_path: Path, machines: tuple[str, ...], options: tuple[str, ...]) -> None:
    options = ("--separate-threads=yes", *options)
    done = observe(tmp_path, "in-turn", 6, 300, 20, options=options, machines=machines)
    runs = [out for out in done.files if not out.descriptions("Of thread")]
    assert len(runs) == len(done.files) / 8 == (1 if machines is ROOM else 2)
    for whole in runs:
        names = dict(zip(whole.descriptions("Separate thread"), whole.descriptions("Thread file")))
        assert sorted(names) == ["1", "2", "3", "4", "5", "6", "7"]
        files = {number: read(tmp_path / name) for number, name in names.items()}
        assert all(out.descriptions("Of thread") == [number] for number, out in files.items())
        assert lines_of([*files.values()]) == lines_of([whole])
        for number, row in threads_of(whole).items():
            own = files[str(number)]
            assert row["Ir"] == sum_of(own, "Ir") and row["I1tm"] == sum_of(own, "I1tm")
            assert row["DLtm"] == sum_of(own, "DLtmr") + sum_of(own, "DLtmw")
        calls = [sum_of(files[number], "Ir", "uses") for number in sorted(names)]
        assert calls[0] == 0 and len(set(calls[1:])) == 1 and calls[1] > 20 * 300


def test_a_child_has_files_of_its_own_thread(tmp_path: Path) -> None:
    done = run(tmp_path, client("run_process"), "fork", options=["--separate-threads=yes"], geometry=ROOM)
    assert done.status == 0, done.err
    for whole in (out for out in done.files if not out.descriptions("Of thread")):
        assert whole.descriptions("Separate thread") == ["1"]
        (own,) = (read(tmp_path / name) for name in whole.descriptions("Thread file"))
        assert lines_of([own]) == lines_of([whole])
    assert len(done.files) == 6


def test_one_thread_has_no_rows(tmp_path: Path) -> None:
    done = run(tmp_path, "/bin/true", geometry=ROOM)
    assert not done.only().descriptions("Thread") and not any(line.startswith("thread") for line in messages(done.err))


def test_one_core_is_as_shared(tmp_path: Path) -> None:
    """But for the number of the threads; and one thread is as ever."""
    rows = []
    for name, option in (("shared", "--cores=shared"), ("onecor", "--cores=1"), ("thread", "--cores=per-thread")):
        done = run(tmp_path / name, "/bin/true", options=[option], geometry=["--machine=skylake,zen4"])
        rows.append([(out.lines, out.summary) for out in done.files])
    assert rows[0] == rows[1] == rows[2]


def test_a_flush_asks_the_other_cores(tmp_path: Path) -> None:
    options = ["--flush-policy=ceiling:1000"]
    own = observe(tmp_path / "own", "unmaps", 4, 50, options=options).only()
    events = ("FLall", "FLone", "FLin", "FLrem")
    assert [sum_of(own, event, "unmaps") for event in events] == [0, 50, 4 * 50, 1]
    shared = observe(tmp_path / "shared", "unmaps", 4, 50, options=[*options, "--cores=shared"]).only()
    assert [sum_of(shared, event, "unmaps") for event in events] == [0, 50, 50, 0]


def test_the_summary_says_how_often_others_were_asked(tmp_path: Path) -> None:
    done = observe(tmp_path, "unmaps", 2, 10, options=["--flush-policy=linux"])
    text = messages(done.err)
    row = text[1 + next(i for i, line in enumerate(text) if line.startswith("machine "))].replace(",", "").split()
    assert int(row[-1]) == sum_of(done.only(), "FLrem") > 0
    assert any("nr_tlb_remote_flush" in line for line in text)


@pytest.mark.parametrize("value", ["0", "some", "", "1001", "2x"])
def test_other_numbers_of_cores_are_refused(tmp_path: Path, value: str) -> None:
    done = run(tmp_path, client("run_cores"), options=[f"--cores={value}"], geometry=ROOM, collect=False)
    assert done.status == 1 and "allowed are shared, per-thread, and 1 to 1000" in done.err, done.err


def test_cachegrind_has_one_core(tmp_path: Path) -> None:
    options = ["--as-cachegrind=yes", "--cores=2"]
    done = run(tmp_path, client("run_cores"), options=options, geometry=ROOM, collect=False)
    assert done.status == 1 and re.search(r"cachegrind has one core", done.err), done.err


MACHINE = """tlbgrind-machine 1
name {name}
title {name}
isa none
year unknown
confidence C
base-page 4K
array I
level 1
users fetches
entries 512
ways full
pages 4K
larger-pages split
policy lru
threads 2 shared
array D
level 1
users loads+stores
entries 1024
ways {ways}
pages 4K
larger-pages split
policy lru
threads {threads}
walk hardware
cycles unknown
end
"""


def machine(folder: Path, name: str, threads: str, ways: str = "full") -> str:
    file = folder / f"{name}.machine"
    file.write_text(MACHINE.format(name=name, threads=threads, ways=ways))
    return str(file)


@pytest.mark.parametrize("path", ["yes", "no"])
def test_hardware_threads_share_copy_or_divide(tmp_path: Path, path: str) -> None:
    """Four threads read 600 pages in turn, 10 times each; 1024 entries hold them, and 512 do not.

    There the stack, with the return address, is gone, too, when all have been read.
    """
    kinds = {"shared": "2 shared", "copied": "2 copied", "divided": "2 partitioned", "unknown": "unknown"}
    files = [machine(tmp_path, name, threads) for name, threads in kinds.items()]
    options = ["--cores=1:2", f"--fast-path={path}"]
    done = observe(tmp_path, "in-turn", 4, 600, 10, options=options, machines=["--machine=" + ",".join(files)])
    walks = {out.descriptions("Machine")[0]: sum_of(out, "DLtmr", "uses") for out in done.files}
    assert walks == {"shared": 600, "copied": 2 * 600, "divided": 4 * 10 * (600 + 1), "unknown": 600}


def test_two_cores_with_two_hardware_threads_each(tmp_path: Path) -> None:
    """Threads 2 and 4 are on one core, 3 and 5 on the other; the first thread reads nothing."""
    files = ",".join([machine(tmp_path, "shared", "2 shared"), machine(tmp_path, "copied", "2 copied")])
    done = observe(tmp_path, "in-turn", 4, 100, 10, options=["--cores=2:2"], machines=["--machine=" + files])
    walks = {out.descriptions("Machine")[0]: sum_of(out, "DLtmr", "uses") for out in done.files}
    assert walks == {"shared": 2 * 100, "copied": 4 * 100}


@pytest.mark.parametrize(
    "ways, array", [("full", "512 entries, fully associative"), ("4", "512 entries, 4-way, 128 sets")]
)
def test_half_an_array_has_half_the_sets(tmp_path: Path, ways: str, array: str) -> None:
    file = machine(tmp_path, "divided", "2 partitioned", ways)
    out = run(tmp_path, "/bin/true", options=["--cores=1:2"], geometry=[f"--machine={file}"]).only()
    assert out.descriptions("Array")[1] == f"level 1, data, {array}, pages 4K, lru"


@pytest.mark.parametrize("options, why", [
    (["--cores=1:4"], "a core of divided has 2 hardware threads"),
    (["--cores=1:2", "--flush-policy=linux"], "--cores=1:2 goes without --flush-policy=linux"),
    (["--cores=1:0"], "1 to 8 hardware threads"), (["--cores=1:"], "1 to 8 hardware threads"),
    (["--cores=1:9"], "1 to 8 hardware threads"),
])  # fmt: skip
def test_hardware_threads_that_there_are_not(tmp_path: Path, options: list[str], why: str) -> None:
    file = machine(tmp_path, "divided", "2 partitioned")
    geometry = [f"--machine={file}"]
    done = run(tmp_path, client("run_cores"), options=options, geometry=geometry, collect=False)
    assert done.status == 1 and why in done.err, done.err


IN_PHASES = """
#include <pthread.h>
#include <stdlib.h>
#include <tlbgrind/tlbgrind.h>
static void *work(void *name)
{
   char *block = calloc(64, 4096);
   for (int i = 0; i < 64; i++)
      block[i * 4096] = 1;
   TLBGRIND_MARK((const char *)name);
   for (int i = 0; i < 64; i++)
      block[i * 4096]++;
   free(block);
   return NULL;
}
int main(void)
{
   static char *const names[] = { "one", "two", "one" };
   pthread_t thread;
   for (int i = 0; i < 3; i++) {
      pthread_create(&thread, NULL, work, names[i]);
      pthread_join(thread, NULL);
   }
   work("end");
   return 0;
}
"""


@pytest.mark.parametrize("more", [(), ("--data=yes", "--data-out-file=data")], ids=["code", "data"])
def test_phases_and_threads_add_up_to_the_run(tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "phases.c").write_text(IN_PHASES, encoding="ascii")
    program = compile_program(tmp_path, "phases", f"-I{os.environ['TG_SRCDIR']}", "-pthread", "phases.c")
    options = ("--separate-threads=yes", *more)
    done = run(tmp_path, program, options=options, out_file="out.x", geometry=ROOM)
    assert done.status == 0, done.err
    whole = read(tmp_path / "out.x")
    for what in ("Phase file", "Thread file"):
        parts = [read(tmp_path / name) for name in whole.descriptions(what)]
        assert len(parts) == (4 if what == "Phase file" else 2)
        assert lines_of(parts) == lines_of([whole])
