# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Recordings of runs with --calls=yes: tg_simulate's out-files have the live run's calls, to the byte.

The live run gives each miss to the frames that are active; the replay has only the moves of the call stacks
between references, and the calls at the end of the file.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_recorded_data import head_of, number, refused, with_text
from test_recordings import (
    MACHINES,
    PROGRAMS,
    TG_SIMULATE,
    out_files,
    record,
    simulate,
    unpacked,
    without_pid,
)
from tg_environment import CC

CALLS = ("--calls=yes", "--record=recording")
FEW = ["skylake", "zen3", "cortex-a53"]

# What it does is drawn by the seed in its first argument: recursion, tail calls, calls through pointers,
# jumps out of frames, handlers on either stack, contexts, threads; `fork`: children, too; `alone`: without threads.
PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
enum { ALL = 2 << 20 };
static char *m;
static _Thread_local unsigned state;
static _Thread_local sigjmp_buf back;
static _Thread_local int frames;
static unsigned draw(unsigned n) { return (state = state * 1103515245u + 12345) / 65536 % n; }
__attribute__((noinline)) void touch(int n) { for (int i = 0; i < n; i++) m[draw(ALL / 512) * 512]++; }
__attribute__((noinline)) void act(int depth);
__attribute__((noinline)) int recurse(int n)
{
   char own[700];
   memset(own, n, sizeof own);
   touch(2);
   return n <= 0 ? own[3] : recurse(n - 1) + (n % 3 == 0 ? recurse(n - 2) : 0) + own[n];
}
__attribute__((noinline)) void tail(int n)
{
   touch(1);
   if (n > 0)
      act(n - 1);
}
__attribute__((noinline)) void hand_on(int n) { touch(1); tail(n); }
__attribute__((noinline)) void jump(int n)
{
   touch(3);
   if (n == 0)
      siglongjmp(back, 1);
   jump(n - 1);
   touch(1);
}
static void handle(int signal) { touch(signal == SIGUSR1 ? 9 : 2); recurse(2); }
static void leave(int signal) { (void)signal; touch(4); siglongjmp(back, 1); }
static int compare(const void *a, const void *b) { touch(1); return *(const char *)a - *(const char *)b; }
__attribute__((noinline)) void sort(void) { char all[40]; for (int i = 0; i < 40; i++) all[i] = (char)draw(99); qsort(all, 40, 1, compare); }
static ucontext_t here, there;
static char own_stack[1 << 16];
static void aside(void) { for (;;) { touch(5); swapcontext(&there, &here); } }
void act(int depth)
{
   if (++frames < 60 && depth < 6)
      for (unsigned i = draw(4) + 1; i > 0; i--)
         switch (draw(9)) {
         case 0: touch(20); break;
         case 1: recurse((int)draw(5)); break;
         case 2: hand_on((int)draw(4)); break;
         case 3: if (sigsetjmp(back, 1) == 0) jump((int)draw(4)); break;
         case 4: if (sigsetjmp(back, 1) == 0) *(volatile char *)(8 + 4096L * (long)draw(4)) = 1; break;
         case 5: raise(draw(2) ? SIGUSR1 : SIGUSR2); break;
         case 6: sort(); break;
         case 7: (draw(2) ? act : tail)(depth + 1); break;
         default: if (state % 8 == 0 && draw(4) == 0) swapcontext(&here, &there); else touch(3);
         }
   frames--;
}
static void *work(void *seed)
{
   state = (unsigned)(long)seed;
   for (int i = 0; i < 12; i++)
      act(0);
   if ((long)seed % 2 == 1)
      pthread_exit(NULL);
   return NULL;
}
int main(int c, char **v)
{
   pthread_t t[3];
   static char stack[1 << 16];
   const long seed = atol(v[1]);
   const int threads = c > 2 && v[2][0] == 'a' ? 0 : 3;
   m = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
   sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = handle }, NULL);
   sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = handle, .sa_flags = SA_ONSTACK }, NULL);
   sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = leave }, NULL);
   getcontext(&there);
   there.uc_stack = (stack_t){ .ss_sp = own_stack, .ss_size = sizeof own_stack };
   makecontext(&there, aside, 0);
   for (int i = 0; i < 6; i++)
      swapcontext(&here, &there);
   work((void *)(seed * 2));
   for (long i = 0; i < threads; i++)
      pthread_create(&t[i], NULL, work, (void *)(seed * 16 + i));
   for (int i = 0; i < threads; i++)
      pthread_join(t[i], NULL);
   if (c > 2 && v[2][0] == 'f') {
      if (fork() == 0) {
         recurse(6);
         if (fork() == 0)
            work((void *)4L);
         wait(NULL);
         sort();
         exit(0);
      }
      wait(NULL);
   }
   work((void *)(seed * 6));
   return recurse(7) & 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("calls")
    (folder / "calls.c").write_text(PROGRAM)
    subprocess.run([*CC, "-g", "-O2", "-pthread", "-o", "calls", "calls.c"], cwd=folder, check=True)
    return str(folder / "calls")


def check_same(folder: Path, machines: list[str], command: tuple[str, ...], *options: str, later: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Returns the files."""
    done = record(folder, machines, command, *CALLS, *options)
    assert done.returncode == 0, done.stderr
    (folder / "again").mkdir()
    given = [f"--machine={','.join(machines)}", "--jobs=2", "-o", "live", *later, "../recording"]
    replayed = subprocess.run([TG_SIMULATE, *given], cwd=folder / "again", capture_output=True, check=False, encoding="utf-8")
    assert (replayed.returncode, replayed.stderr) == (0, "")
    live = {p.name: p.read_bytes() for p in folder.iterdir() if "live" in p.name}
    assert {p.name: p.read_bytes() for p in (folder / "again").iterdir() if "live" in p.name} == live
    return live


def inclusive(text: bytes) -> Iterator[tuple[str, dict[str, int]]]:
    """The functions that are called, each with what all calls from one line miss."""
    names: dict[str, str] = {}
    called = ""
    rows = iter(text.decode().splitlines())
    for row in rows:
        if row.startswith("events: "):
            events = row.split()[1:]
        elif row.startswith(("fn=", "cfn=")):
            key, _, name = row.partition("=")[2].partition(" ")
            called = names.setdefault(key, name)
        elif row.startswith("calls="):
            costs = next(rows).split()
            yield called, dict(zip(events, map(int, costs[-len(events) :])))


def test_real_programs(tmp_path: Path) -> None:
    live = check_same(tmp_path, MACHINES, PROGRAMS["sort"])
    assert len(live) == len(MACHINES)
    for text in live.values():
        assert sum(costs["DLtmr"] > 10 for _, costs in inclusive(text)) > 10


@pytest.mark.parametrize("seed", range(3))
def test_random_calls(tmp_path: Path, program: str, seed: int) -> None:
    more: tuple[tuple[str, ...], ...] = ((), ("--separate-threads=yes", "--faults=yes"), ("--debug-check=yes", "--dump-instr=yes"))
    live = check_same(tmp_path, FEW, (program, str(seed)), *more[seed])
    assert len(live) >= (9 if seed == 1 else 3)  # a thread can have the number of one that has ended
    missed = {name for text in live.values() for name, costs in inclusive(text) if costs["D1tmr"] > 0}
    assert {"act", "recurse", "touch", "compare", "sort"} <= missed


def test_collected_functions_data_and_others_on_the_core(tmp_path: Path, program: str) -> None:
    check_same(tmp_path / "some", FEW[:1], (program, "5"), "--toggle-collect=recurse", "--separate-threads=yes")
    others = ("--switch-every=20000:40", "--syscall-tlb=flush")
    check_same(tmp_path / "data", FEW[:1], (program, "6"), "--data=yes", *others, later=("--data=no", *others))


def test_machines_and_pages_that_the_run_did_not_have(tmp_path: Path) -> None:
    machines = ["skylake", "zen3@heap:2M", "apple-m1", "cortex-a53@thp"]
    live, recorded = tmp_path / "live", tmp_path / "late"
    assert record(live, machines, PROGRAMS["gzip"], "--thp=always", "--calls=yes").returncode == 0
    options = ("--record-for=skylake,zen3,apple-m1,cortex-a53", "--record-pages=2M,32M")
    assert record(recorded, ["skylake"], PROGRAMS["gzip"], *CALLS, *options).returncode == 0
    assert simulate(recorded, machines, "--thp=always").returncode == 0
    replay = [without_pid(text) for text in out_files(recorded, "replay", machines)]
    assert replay == [without_pid(text) for text in out_files(live, "live", machines)]


def test_each_child_has_its_own(tmp_path: Path, program: str) -> None:
    done = record(tmp_path, FEW[:2], (program, "1", "fork"), "--record=r.%p", "--calls=yes", "--tlbgrind-out-file=live.%p")
    assert done.returncode == 0, done.stderr
    recordings = sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("r."))
    assert len(recordings) == 3
    for name in recordings:
        subprocess.run([TG_SIMULATE, f"--machine={','.join(FEW[:2])}", "-o", "again", name], cwd=tmp_path, check=True, capture_output=True)
        for machine in ("skylake", "zen3"):
            text = (tmp_path / f"again_{machine}").read_bytes()
            assert text == (tmp_path / f"live{name[1:]}_{machine}").read_bytes()
            assert b"\ncalls=" in text


def test_one_thread_of_a_recording(tmp_path: Path, program: str) -> None:
    live = check_same(tmp_path, FEW[:1], (program, "3"), "--separate-threads=yes")
    assert simulate(tmp_path, FEW[:1], "--thread=2").returncode == 0
    assert (tmp_path / "replay").read_bytes() == live["thread_2_of_live"]


# ---------------------------------------------------------------- broken files


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    assert record(folder, ["skylake"], ("true",), *CALLS, "--record-pages=none").returncode == 0
    return folder


# A load of page 5 at line 1.
LOAD = b"\x01\x0a\x02"
ROWS = b"ob=(1) a\nfl=(1) b\nfn=(1) c\n:1 1 0 0 0 0 1 ;7\ncfn=(2) d\n>1 1 1 0 0 0 0 1 ;9;7\n"
RUN = b"# callgrind format\n@machine\n@second misses\npositions: line\n@events\n" + ROWS + b"@totals\n"


def with_moves(head: bytes, moves: bytes, text: bytes = RUN) -> bytes:
    block = b"C" + number(1) + number(1) + number(1) + number(len(moves)) + number(9)
    return with_text(head, text, block, (LOAD, moves), number(1))


STACK, POP, PUSH, RETURN = range(4)


def moves_of(*moves: tuple[int, int]) -> bytes:
    return b"".join(number(n << 2 | kind) for kind, n in moves)


BEGIN = ((STACK, 1), (PUSH, 0), (PUSH, 1))
END = (STACK, 0)


@pytest.mark.parametrize(
    "moves, said",
    [
        ((*BEGIN, END), 1),
        ((*BEGIN, END, (POP, 1)), 1),
        ((*BEGIN, (PUSH, 1), END, (POP, 1)), 2),  # of two frames
        (((STACK, 1), (PUSH, 0), END, (RETURN, 1)), 1),
        (((STACK, 1), (PUSH, 0), (RETURN, 1), END), 0),
        ((*BEGIN, (POP, 1), (RETURN, 2), END, (POP, 1)), 0),
        ((*BEGIN, (PUSH, 0), END, (POP, 3)), 0),  # a handler's costs are no caller's
        ((END, *BEGIN), 0),  # the reference is in no frame
        (BEGIN, "moves of call stacks that can not be"),
        ((*BEGIN, END, END), "moves of call stacks that can not be"),
        ((*BEGIN, (POP, 0), END), "moves of call stacks that can not be"),
        (((STACK, (1 << 16) + 1), END), "moves of call stacks that can not be"),
        ((*BEGIN, (PUSH, (1 << 26) + 1), END), "moves of call stacks that can not be"),
        (((PUSH, 0), END), "a call stack moves as none does"),
        (((STACK, 1), (PUSH, 1), END), "a call stack moves as none does"),
        ((*BEGIN, (PUSH, 3), END), "a call stack moves as none does"),
        ((*BEGIN, (POP, 3), END), "a call stack moves as none does"),
        ((*BEGIN, (STACK, 2), (POP, 1), END), "a call stack moves as none does"),
        ((*BEGIN, (RETURN, 1), END), "a call stack moves as none does"),
        ((*BEGIN, (POP, 2), (RETURN, 1), END), "a call stack moves as none does"),
    ],
)
def test_moves_of_the_stacks(recorded: Path, tmp_path: Path, moves: tuple[tuple[int, int], ...], said: str | int) -> None:
    (tmp_path / "recording").write_bytes(with_moves(head_of(recorded), moves_of(*moves)))
    if isinstance(said, str):
        assert said in refused(tmp_path, "--machine=skylake", "recording")
        return
    assert simulate(tmp_path, ["skylake"]).returncode == 0
    rows = (tmp_path / "replay").read_text().splitlines()
    assert rows[rows.index("calls=1 9") + 1].split()[:8] == ["7", "1", "0", "0", "1", str(said), str(said), "0"]


@pytest.mark.parametrize(
    "find, put, said",
    [
        (b">1 1", b">1 x", "calls that can not be"),
        (b"0 1 ;9;7", b"0 2 ;9;7", "calls that can not be"),
        (b"0 1 ;9;7", b"0 1 ;9", "calls that can not be"),
        (b"0 1 ;9;7", b"0 1 ;;7", "calls that can not be"),
        (b"0 1 ;9;7", b"0 1 ;9;", "calls that can not be"),
        (b"0 1 ;9;7", b"0 1 ;9;7;7", "calls that can not be"),
        (b"@machine\n", b"@machine\n>1 1 1 0 0 0 0 1 ;9;7\n", "calls that can not be"),
    ],
)
def test_calls_that_no_run_writes_are_refused(recorded: Path, tmp_path: Path, find: bytes, put: bytes, said: str) -> None:
    assert RUN.count(find) == 1
    (tmp_path / "recording").write_bytes(with_moves(head_of(recorded), moves_of(*BEGIN, END), RUN.replace(find, put)))
    assert said in refused(tmp_path, "--machine=skylake", "recording")


def test_head_and_blocks_have_to_fit(recorded: Path, tmp_path: Path) -> None:
    head = head_of(recorded)
    assert head.startswith(b"# tlbgrind recording\nversion: 9\n") and b"\ncalls: yes\n" in head
    for said, whole in {
        "calls stand where there are none": with_moves(head.replace(b"calls: yes\n", b""), moves_of(*BEGIN, END)),
        "its head has calls that can not be": with_text(head.replace(b"calls: yes", b"calls: some"), RUN),
        "its head has calls and flushes": with_text(head.replace(b"calls: yes", b"calls: yes\nflushes: yes"), RUN),
        "a block's head is no head": with_text(head, RUN, b"C" + bytes(5)),
    }.items():
        (tmp_path / "recording").write_bytes(whole)
        assert said in refused(tmp_path, "--machine=skylake", "recording")


def test_a_file_that_is_cut_is_read_up_to_there(recorded: Path, tmp_path: Path) -> None:
    whole = unpacked(recorded / "recording")
    for part in range(9):
        (tmp_path / "recording").write_bytes(whole[: len(head_of(recorded)) + (len(whole) - 100) * part // 9])
        done = simulate(tmp_path, ["skylake"])
        assert done.returncode == 1 and "the file is not complete" in done.stderr
        assert sorted(os.listdir(tmp_path)) == ["recording"]
