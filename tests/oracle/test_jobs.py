# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--jobs=: machines that other processes simulate; all is the same to the byte, and no loss goes unsaid."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from oracle_programs import WORK
from oracle_support import environment
from test_recorded_calls import PROGRAM as CALLS_PROGRAM
from test_recorded_data import PROGRAM as DATA_PROGRAM
from tg_environment import CC, TLBGRIND

MACHINES = "apple-m1,skylake,zen3,cortex-a53,haswell:dtlb-4k.policy=random:5,broadwell:dtlb-4k.index=xor 4,c906,core2,xiangshan"

# What it does, between phases, is in its argument; "wait": reads a byte first, as long as there is none.
PROGRAM = WORK + """
#include <sys/mman.h>

/* Mappings change in ways that flush translations. */
static void change(void)
{
   static char *m;
   if (m == NULL)
      m = mmap(0, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   for (int i = 0; i < 64; i++)
      m[i << 12]++;
   mprotect(m, 5 << 12, PROT_READ);
   mprotect(m, 5 << 12, PROT_READ | PROT_WRITE);
   madvise(m + (9 << 12), 40 << 12, MADV_DONTNEED);
   for (int i = 0; i < 64; i++)
      m[i << 12]++;
   munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}

/* Prefetches some of the memory, and what is behind it, and refers to other parts. */
static void prefetch(void)
{
   for (int i = 0; i < 3000; i++) {
      __asm__ volatile("prefetcht0 (%0)" : : "r"(b + (i * 7919L * 64) % (ALL + ALL / 4)));
      ((volatile char *)b)[(i * 6151L * 64) % ALL]++;
   }
}

int main(int c, char **v)
{
   const char *how = v[1];
   char byte;
   b = malloc(ALL);
   work((void *)4096);
   if (strcmp(how, "wait") == 0 && read(0, &byte, 1) != 1)
      return 1;
   TLBGRIND_MARK("one");
   work((void *)512);
   TLBGRIND_MARK("two");
   work((void *)8192);
   if (strncmp(how, "flush", 5) == 0)
      change();
   if (strstr(how, "prefetch") != NULL)
      prefetch();
   if (strstr(how, "zero") != NULL)
      TLBGRIND_ZERO;
   if (strstr(how, "dump") != NULL)
      TLBGRIND_DUMP;
   if (strncmp(how, "flush", 5) == 0)
      change();
   if (strcmp(how, "fork") == 0 && fork() == 0) {
      work((void *)64);
      _exit(0);
   }
   if (strcmp(how, "fork") == 0)
      wait(0);
   if (strcmp(how, "huge") == 0)
      madvise((void *)((long)b & -4096), ALL, MADV_HUGEPAGE);
   if (strcmp(how, "no exec") == 0)
      execl("/etc/passwd", "passwd", NULL);
   if (strcmp(how, "exec") == 0)
      execl(v[0], v[0], "none", NULL);
   work((void *)1024);
   TLBGRIND_MARK("one");
   if (strstr(how, "prefetch") != NULL)
      prefetch();
   work((void *)256);
   if (strcmp(how, "crash") == 0)
      abort();
   return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "work.c").write_text(PROGRAM)
    subprocess.run([*CC, "-g", "-O1", f"-I{os.environ['TG_SRCDIR']}/tlbgrind", "-pthread", "-o", "work", "work.c"], cwd=folder, check=True)
    return folder / "work"


def line(program: Path, how: str, machines: str, *options: str) -> list[str]:
    given = ["--thp=never", "--cores=shared", *(machines and [f"--machine={machines}"]), "-o", "x", *options]
    return ["setarch", "-R", TLBGRIND, *given, str(program), how]


def settings() -> dict[str, str]:
    return {"PWD": "/proc/self/cwd", **environment("work")}


def run(folder: Path, program: Path, how: str, machines: str, *options: str) -> tuple[int, str, dict[str, bytes]]:
    """Its status, and what it says and writes but for what is of the process and the folder."""
    folder.mkdir()
    arguments = line(program, how, machines, *options)
    done = subprocess.run(arguments, cwd=folder, env=settings(), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    said = re.sub(r"(?m)^==\d+==", "==", done.stderr.decode()).replace(str(folder), "")
    said = re.sub(r"(?m)^--jobs=\d+ ?|process \d+|DISPOSITION.*|0x[0-9A-F]+", "", said)
    files = {
        p.name: b"\n".join(row for row in p.read_bytes().split(b"\n") if not row.startswith((b"pid: ", b"# pid: ", b"# checksum: ")))
        for p in folder.iterdir()
    }
    return done.returncode, said, files


def simulators(folder: Path) -> list[int]:
    """The processes that simulate for a run in the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            named = b"tg_simulate" in (entry / "cmdline").read_bytes()
            if named and os.readlink(entry / "cwd") == str(folder):
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return sorted(found)


def await_simulators(folder: Path, n: int) -> list[int]:
    for _ in range(3000):
        found = simulators(folder)
        if len(found) == n:
            return found
        time.sleep(0.02)
    raise AssertionError(f"there are {simulators(folder)}")


@pytest.mark.parametrize(
    "how, options",
    [
        ("none", ("--separate-threads=yes", "--timeline=yes")),
        ("zero", ("--faults=yes", "--reach=yes", "--debug-check=yes")),
        ("dump", ()),
        ("zero", ("--toggle-collect=work", "--separate-threads=yes")),
        ("no exec", ("--dump-instr=yes",)),
        ("exec", ("--trace-children=yes",)),
        ("crash", ("--fast-path=no",)),
        ("huge", ("--thp=madvise", "--huge-pool=2M:1")),
        ("none", ("--pages=anon:2M,text:64K", "--separate-threads=yes", "--timeline=yes")),
        ("zero", ("--thp=always", "--faults=yes")),
        ("none", ("--syscall-tlb=flush", "--data=yes", "--separate-threads=yes")),
        ("flush, zero", ("--flush-policy=linux", "--separate-threads=yes", "--timeline=yes", "--faults=yes")),
        ("flush, dump", ("--flush-policy=ceiling:3", "--syscall-tlb=kernel:9", "--data=yes", "--thp=always")),
        ("flush, dump", ("--flush-policy=all", "--toggle-collect=change", "--fast-path=no")),
        ("prefetch, zero", ("--prefetch=weak", "--separate-threads=yes", "--timeline=yes", "--faults=yes")),
        ("flush, prefetch, dump", ("--flush-policy=linux", "--prefetch=strong", "--switch-every=3000:16", "--thp=always")),
        ("prefetch, dump", ("--prefetch=strong", "--toggle-collect=prefetch", "--fast-path=no")),
        ("dump", ("--syscall-tlb=kernel:9", "--switch-every=3000:16", "--pages=anon:2M", "--timeline=yes")),
    ],
)
def test_all_is_as_without_jobs(tmp_path: Path, program: Path, how: str, options: tuple[str, ...]) -> None:
    live = run(tmp_path / "live", program, how, MACHINES, *options)
    more = ("--record-pages=2M",) if how == "huge" else ()
    jobs = run(tmp_path / "jobs", program, how, MACHINES, *options, *more, "--jobs=4")
    assert len(live[2]) >= 6 and "machine" in live[1]
    assert [name for name in {*live[2], *jobs[2]} if live[2].get(name) != jobs[2].get(name)] == []
    assert (jobs[0], jobs[1].splitlines()) == (live[0], live[1].splitlines())
    assert simulators(tmp_path / "jobs") == []


def test_one_machine_and_virtual_ones(tmp_path: Path, program: Path) -> None:
    options = ("--nested=yes", "--miss-cost=40", "--dtlb=16,4")
    live = run(tmp_path / "live", program, "none", "skylake", *options)
    assert "walk refs" in live[1]
    jobs = run(tmp_path / "jobs", program, "none", "skylake", *options, "--jobs=2")
    assert jobs == live


def test_the_machine_of_a_command_line(tmp_path: Path, program: Path) -> None:
    options = ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8")
    live = run(tmp_path / "live", program, "none", "", *options)
    assert run(tmp_path / "jobs", program, "none", "", *options, "--jobs=1") == live


@pytest.mark.parametrize("size", ["16K", "2M"])
def test_base_pages_that_no_machine_has(tmp_path: Path, program: Path, size: str) -> None:
    machines = "skylake,apple-m1,zen3@anon:2M,power9,default"
    live = run(tmp_path / "live", program, "none", machines, f"--page-size={size}")
    assert len(live[2]) >= 5
    assert run(tmp_path / "jobs", program, "none", machines, f"--page-size={size}", "--jobs=2") == live


def test_of_a_forked_child_it_is_said(tmp_path: Path, program: Path) -> None:
    _, said, files = run(tmp_path / "jobs", program, "fork", "skylake", "--jobs=1", "--tlbgrind-out-file=%p.out")
    assert len(files) == 4 and said.count("no out-file of this process") == 1  # of the parent, and its phases
    assert "a forked child is not simulated with --jobs=" in said


def test_machines_have_system_calls_of_their_own(tmp_path: Path, program: Path) -> None:
    machines = "skylake@syscall:flush,skylake,zen3@syscall:kernel:12,core2@syscall:kernel:3"
    live = run(tmp_path / "live", program, "dump", machines, "--switch-every=7000", "--thp=always")
    jobs = run(tmp_path / "jobs", program, "dump", machines, "--switch-every=7000", "--thp=always", "--jobs=3")
    assert "context switches:" in live[1] and jobs == live


@pytest.mark.parametrize("options", [("--data-offsets=yes", "--switch-every=5000:8"), ("--pages=anon:2M",)])
def test_data_is_attributed_as_without_jobs(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "work.c").write_text(DATA_PROGRAM)
    subprocess.run([*CC, "-g", "-O1", f"-I{os.environ['TG_SRCDIR']}/tlbgrind", "-pthread", "-o", "work", "work.c"], cwd=tmp_path, check=True)
    live = run(tmp_path / "live", tmp_path / "work", "alone", "skylake,zen3,cortex-a53", "--data=yes", *options)
    jobs = run(tmp_path / "jobs", tmp_path / "work", "alone", "skylake,zen3,cortex-a53", "--data=yes", *options, "--jobs=2")
    assert b"another" in live[2]["x.data"] and jobs == live


def test_machines_have_flushes_of_their_own(tmp_path: Path, program: Path) -> None:
    machines = "skylake@flush:all,skylake,zen3@flush:ceiling:3,core2@flush:linux"
    live = run(tmp_path / "live", program, "flush", machines)
    jobs = run(tmp_path / "jobs", program, "flush", machines, "--jobs=3")
    table = live[1].split("TLB flushes by")[1]
    of_all = re.search(r"skylake@flush:all +([0-9,]+) +0 +([0-9,]+) +([0-9,]+) +([0-9,]+)\n", table)
    assert of_all is not None and "0" not in of_all.groups(), table
    assert jobs == live


def test_machines_have_prefetches_of_their_own(tmp_path: Path, program: Path) -> None:
    machines = "skylake@prefetch:weak,skylake,zen3@prefetch:strong+heap:2M,core2@prefetch:ignore"
    live = run(tmp_path / "live", program, "prefetch, dump", machines)
    jobs = run(tmp_path / "jobs", program, "prefetch, dump", machines, "--jobs=3")
    counted = re.search(r"skylake@prefetch:weak +([0-9,]+) +([0-9,]+) +- +- +([0-9,]+)\n", live[1].split("Data prefetches")[1])
    assert counted is not None and "0" not in counted.groups(), live[1]
    assert jobs == live


def calls_run(folder: Path, program: Path, *options: str) -> dict[str, bytes]:
    folder.mkdir()
    given = ["--thp=never", "--cores=shared", "--machine=skylake,zen3,cortex-a53", "-o", "x", "--calls=yes", *options]
    command = ["setarch", "-R", TLBGRIND, *given, str(program), "7", "alone"]
    subprocess.run(command, cwd=folder, env=settings(), check=True, capture_output=True)
    return {p.name: p.read_bytes() for p in folder.iterdir()}


@pytest.mark.parametrize("options", [("--dump-instr=yes", "--separate-threads=yes"), ("--toggle-collect=recurse",), ("--timeline=yes", "--faults=yes")])
def test_calls_have_their_costs_as_without_jobs(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "calls.c").write_text(CALLS_PROGRAM)
    subprocess.run([*CC, "-g", "-O1", "-pthread", "-o", "calls", "calls.c"], cwd=tmp_path, check=True)
    live, jobs = (calls_run(tmp_path / name, tmp_path / "calls", *options, *more) for name, more in (("live", ()), ("jobs", ("--jobs=2",))))
    without = [{name: re.sub(rb"(?m)^(# )?(pid|checksum): .*", b"", text) for name, text in files.items()} for files in (live, jobs)]
    assert without[0] == without[1] and b"\ncalls=" in live["x.out_zen3"]


def test_machines_have_pages_of_their_own(tmp_path: Path, program: Path) -> None:
    machines = "skylake@heap:2M,skylake,zen3@thp,zen3:dtlb.entries=32@heap:2M"
    live = run(tmp_path / "live", program, "huge", machines, "--thp=madvise")
    jobs = run(tmp_path / "jobs", program, "huge", machines, "--thp=madvise", "--jobs=3")
    assert len(live[2]) == 16 and jobs == live


@pytest.mark.parametrize("options", [("--thp=always",), ("--thp=madvise", "--huge-pool=2M:1"), ("--pages=anon:64K", "--flush-policy=linux,all")])
def test_memory_whose_pages_change(tmp_path: Path, options: tuple[str, ...]) -> None:
    """By calls of all kinds and forks, whose children have files of their own without --jobs."""
    source = str(Path(os.environ["TG_SRCDIR"], "tests/oracle/page_changes.c"))
    subprocess.run([*CC, "-g", "-O1", "-o", "changes", source], cwd=tmp_path, check=True)
    machines = "skylake,zen3@heap:2M,cortex-a53"
    live, jobs = (
        run(tmp_path / name, tmp_path / "changes", "1", machines, *options, "--tlbgrind-out-file=x.%p", *more)[2]
        for name, more in (("live", ()), ("jobs", ("--jobs=2", "--record-pages=2M")))
    )
    assert len(live) > len(jobs) >= 3 and set(jobs.values()) < set(live.values())


def test_huge_pages_end_it_if_they_were_not_named(tmp_path: Path, program: Path) -> None:
    status, said, files = run(tmp_path / "jobs", program, "huge", "skylake", "--jobs=1")
    assert (status, files) == (0, {})
    why = "the program asks for huge pages; --record-pages=2M records these, too"
    assert re.search(rf"warning: --jobs: the simulation ends after \d+ instructions: {why}; the program goes on", said)
    assert f"error: no out-file of this process, and no counts of TLBs: {why}\n" in said
    assert "I1" not in said and "share of time" not in said


@pytest.mark.parametrize("killed", [(0, 1, 2), (2,)])
def test_where_a_simulator_dies_the_program_goes_on(tmp_path: Path, program: Path, killed: tuple[int, ...]) -> None:
    arguments = line(program, "wait", "skylake,zen3", "--jobs=2")
    with subprocess.Popen(arguments, cwd=tmp_path, env=settings(), stdin=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        there = await_simulators(tmp_path, 3)
        for nth in killed:
            os.kill(there[nth], signal.SIGKILL)
        _, said = p.communicate(b"x")
    assert p.returncode == 0
    assert b"a process of --jobs= has ended; the program goes on" in said and b"error: no out-file" in said
    assert list(tmp_path.iterdir()) == []
    assert await_simulators(tmp_path, 0) == []


def test_nothing_is_left_of_a_program_that_is_killed(tmp_path: Path, program: Path) -> None:
    arguments = line(program, "wait", "skylake,zen3", "--jobs=2")
    with subprocess.Popen(arguments, cwd=tmp_path, env=settings(), stdin=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        await_simulators(tmp_path, 3)
        p.kill()
        p.communicate()
    assert await_simulators(tmp_path, 0) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options, said",
    [
        (("--jobs=0",), "'--jobs' argument must be between 1 and 256"),
        (("--jobs=1", "--record=f"), "--jobs=1 goes without --record=f: a recording is simulated later"),
    ],
)
def test_what_is_not_in_the_stream_is_refused(tmp_path: Path, program: Path, options: tuple[str, ...], said: str) -> None:
    status, told, files = run(tmp_path / "run", program, "none", "skylake", *options)
    assert (status, files) == (1, {}) and said in told, told
