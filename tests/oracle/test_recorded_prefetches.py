# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prefetches of the program in recordings: what each machine does with them is chosen later, and what
it counts then is what a run of its own counts. A naive reader of the file shows that what was left out
hits, whatever a machine does.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from oracle_random import build
from test_recorded_kinds import KINDS, MIXED, out_files, write_machine
from test_recordings import record, records, simulate, unpacked
from tg_environment import CC

SHIPPED = sorted(p.stem for p in Path(os.environ["TG_SRCDIR"], "tlbgrind/machines").glob("*.machine"))
HOWS = ("weak", "strong", "weak", "strong", "ignore")

# A join by a hash table, whose rows are prefetched some keys ahead; the rows behind the table are not there. The
# argument: how many threads more; if there are some, a phase begins between the two halves of each. "far": references
# to, and prefetches of, pages of 24 huge pages, of which most are to a few.
JOIN = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "tlbgrind.h"

enum { ROWS = 1 << 13, KEYS = 3000, ROW = 256, HUGE = 2 << 20 };
static char *rows;
static int n;
static uint32_t keys[KEYS];

static __attribute__((noinline)) long probe(int ahead, int more)
{
   long sum = 0;
   for (int i = 0; i < KEYS; i++) {
      const uint32_t next = keys[(i + ahead) % KEYS] % (ROWS + more);
      __asm__ volatile("prefetcht0 (%0)" : : "r"(rows + next * ROW));
      volatile char *const row = rows + keys[i] % ROWS * ROW;
      if (i % 7 == 0)
         *row = 1;
      sum += *row;
   }
   return sum;
}

static void *work(void *how)
{
   probe(3, 0);
   if (n > 0)
      TLBGRIND_MARK("more");
   probe(40, (int)(long)how);
   return 0;
}

static uint32_t dice(uint32_t n)
{
   static uint32_t seed = 1;
   return (seed = seed * 1664525u + 1013904223u) / 256 % n;
}

static int far(void)
{
   enum { PAGES = 24, PLACES = 9 };
   char *const at = mmap(0, PAGES * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   for (long i = 0; i < PAGES * PLACES; i++)
      at[i / PLACES * HUGE + i % PLACES * 4096] = 1;
   for (long i = 0; i < 20000; i++) {
      const long page = dice(9) > 0 ? (i / 500 + dice(3)) % PAGES : dice(PAGES);
      char *const byte = at + page * HUGE + dice(PLACES) * 4096;
      if (dice(4) == 0)
         __asm__ volatile("prefetcht0 (%0)" : : "r"(byte));
      else
         ++*(volatile char *)byte;
   }
   return 0;
}

int main(int c, char **v)
{
   if (strcmp(v[1], "far") == 0)
      return far();
   pthread_t t[4];
   uint32_t seed = 1;
   char *const at = mmap(0, 4 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   n = atoi(v[1]);
   rows = at + (-(uintptr_t)at & (HUGE - 1));
   for (int i = 0; i < KEYS; i++)
      keys[i] = (seed = seed * 1664525u + 1013904223u) >> 8;
   memset(rows, 1, ROWS * ROW);
   mprotect(rows + ROWS * ROW, HUGE, PROT_NONE);
   for (int i = 0; i < n; i++)
      pthread_create(&t[i], 0, work, (void *)(i * 900L));
   work((void *)2000);
   for (int i = 0; i < n; i++)
      pthread_join(t[i], 0);
   return 0;
}
"""


@pytest.fixture(scope="module")
def join(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("join")
    (folder / "join.c").write_text(JOIN)
    include = f"-I{os.environ['TG_SRCDIR']}/tlbgrind"
    subprocess.run([*CC, "-g", "-O1", "-pthread", include, "-o", "join", "join.c"], cwd=folder, check=True)
    return folder / "join"


def totals(text: list[bytes]) -> dict[str, int]:
    """By event."""
    names = next(row for row in text if row.startswith(b"events: ")).split()[1:]
    numbers = next(row for row in text if row.startswith(b"totals: ")).split()[1:]
    return {name.decode(): int(number) for name, number in zip(names, numbers)}


def check_same(folder: Path, machines: list[str], command: tuple[str, ...], *options: str) -> list[dict[str, int]]:
    """Machines of the run. Returns what each has counted."""
    done = record(folder, machines, command, "--record=recording", *options)
    assert done.returncode == 0, done.stderr.decode()
    done = simulate(folder, machines, "--jobs=2", *(o for o in options if not o.startswith(("--fast-path", "--debug"))))
    assert (done.returncode, done.stderr) == (0, "")
    live, replayed = out_files(folder, "live"), out_files(folder, "replay")
    assert len(live) == len(machines) and replayed == live
    return [totals(text) for text in live]


def with_rules(rng: random.Random, machines: list[str]) -> list[str]:
    return [f"{name}@prefetch:{rng.choice(HOWS)}" for name in machines]


PARTS = 7


@pytest.mark.parametrize("part", range(PARTS))
def test_all_shipped_machines(tmp_path: Path, part: int) -> None:
    rng = random.Random(part)
    thp = ("--thp=never", "--thp=always", "--pages=all:2M")[part % 3]
    program = build(tmp_path, part, 12, 64, prefetches=True)
    n = len(SHIPPED)
    machines = with_rules(rng, SHIPPED[part * n // PARTS : (part + 1) * n // PARTS])
    counted = check_same(tmp_path / "run", machines, (str(program),), thp)
    assert all(c["P1tm"] > 10 for c in counted if "Pref" in c)
    assert sum(c.get("PLtm", 0) for c in counted) > 50 < sum(c.get("Pdrop", 0) for c in counted)


def test_large_pages(tmp_path: Path, join: Path) -> None:
    small = ":dtlb-2m.entries=4,dtlb-2m.ways=4"
    for nth, machines in enumerate(([f"skylake{small}@prefetch:weak", f"skylake{small}"], ["core2@prefetch:strong", "zen1"])):
        counted = check_same(tmp_path / str(nth), machines, (str(join), "far"), "--thp=always", "--prefetch=strong")
        assert counted[0]["P1tm"] > 100, counted


@pytest.mark.parametrize("seed", range(3))
def test_first_levels_of_all_kinds(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    machines = with_rules(rng, [*KINDS, *(write_machine(tmp_path / "machines", name) for name in MIXED)])
    program = build(tmp_path, 50 + seed, 12, 64, prefetches=True)
    options = [f"--thp={rng.choice(('never', 'always'))}", *(["--fast-path=no"] if seed == 0 else ["--debug-check=yes"])]
    check_same(tmp_path / "run", machines, (str(program),), *options)


def test_others_between_them(tmp_path: Path, join: Path) -> None:
    machines = ["skylake@prefetch:weak+flush:all", "zen4@syscall:kernel:3", "cortex-a53@prefetch:ignore", "core2"]
    options = ("--prefetch=strong", "--flush-policy=linux", "--switch-every=9000:8", "--thp=always")
    counted = check_same(tmp_path, machines, (str(join), "0"), *options)
    assert [c["Pref"] >= 6000 for c in counted if "Pref" in c] == [True] * 3  # two times 3000, and the library's
    assert all(c["Pvain"] > 100 for c in counted if "Pvain" in c)


@pytest.mark.parametrize("options", [("--separate-threads=yes",), ("--separate-threads=yes", "--toggle-collect=probe")])
def test_phases_and_threads(tmp_path: Path, join: Path, options: tuple[str, ...]) -> None:
    machines = ["skylake@prefetch:weak", "neoverse-n1@prefetch:strong"]
    done = record(tmp_path, machines, (str(join), "2"), "--record=recording", *options)
    assert (done.returncode, b"warning" in done.stderr) == (0, False), done.stderr
    live = {p.name: p.read_bytes() for p in tmp_path.iterdir() if "live" in p.name}
    again = tmp_path / "again"
    again.mkdir()
    subprocess.run(
        [os.environ["TG_BUILDDIR"] + "/tlbgrind/tg_simulate", f"--machine={','.join(machines)}", "-o", "live", "../recording"],
        cwd=again, check=True, capture_output=True,
    )
    assert {p.name: p.read_bytes() for p in again.iterdir()} == live
    assert len([name for name in live if name.startswith("thread")]) >= 4  # one can have the number of one that has ended
    phases = [totals(text.split(b"\n")) for name, text in live.items() if name.startswith("phase_more")]
    assert len(phases) == 2 and all(c["Pref"] > 3000 for c in phases)


def test_what_a_machine_does_is_chosen_later(tmp_path: Path, join: Path) -> None:
    """All runs have a machine that heeds them: without one Vex drops loads that only a prefetch needs."""
    command = (str(join), "0")
    options = ("--record=recording", "--record-for=skylake,zen4,cortex-a53,core2")
    assert record(tmp_path, ["skylake@prefetch:strong"], command, *options).returncode == 0
    assert unpacked(tmp_path / "recording").startswith(b"# tlbgrind recording\nversion: 10\n")
    for how in ("ignore", "weak", "strong"):
        own = tmp_path / how
        machines = ["zen4", "cortex-a53@heap:2M", "core2", "skylake@prefetch:weak"]
        assert record(own, machines, command, f"--prefetch={how}").returncode == 0
        done = simulate(tmp_path, machines, f"--prefetch={how}", "--thp=never")
        assert (done.returncode, done.stderr) == (0, "")
        assert out_files(tmp_path, "replay") == out_files(own, "live")


def test_what_is_left_out_hits_whatever_prefetches_do(tmp_path: Path) -> None:
    """In an array of the filter's own ways, in which prefetches do nothing, and in one where they do what loads do."""
    program = build(tmp_path, 9, 12, 64, prefetches=True)
    options = ("--record=recording", "--record-for=cortex-a53", "--record-pages=none", "--prefetch=strong")
    assert record(tmp_path, ["skylake"], (str(program),), *options).returncode == 0
    assert b"\nfilter: RW/P 1 10\n" in unpacked(tmp_path / "recording")
    uses = prefetches = 0
    arrays: list[list[int]] = [[], []]
    for what, page in records(tmp_path / "recording"):
        if what & 3 == 0:
            continue
        is_prefetch = what & 3 == 3
        prefetches += is_prefetch
        uses += what & 32 != 0
        for heeds, pages in enumerate(arrays):
            if is_prefetch and (not heeds or what & 4 == 0):
                continue
            assert page in pages or what & 32 == 0
            pages[:] = [page, *(p for p in pages if p != page)][:10]
    assert uses > 300 < prefetches


def test_a_recording_without_them_has_none(tmp_path: Path) -> None:
    assert record(tmp_path, ["skylake"], ("true",), "--record=recording").returncode == 0
    text = unpacked(tmp_path / "recording")
    assert b"\nprefetches: " not in text and b"/P" not in text.split(b"\n\n")[0]
    said = "tg_simulate: error: recording: the recording does not tell of prefetches; record the program with --prefetch="
    for given, how in (("skylake@prefetch:weak", "weak"), ("skylake@heap:2M+prefetch:strong", "strong")):
        done = simulate(tmp_path, [given])
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"{said}{how}\n")
    done = simulate(tmp_path, ["skylake"], "--prefetch=weak")
    assert (done.returncode, done.stderr) == (1, f"{said}weak\n")
    assert simulate(tmp_path, ["skylake@prefetch:ignore"], "--prefetch=ignore").returncode == 0


@pytest.mark.parametrize(
    "options, said",
    [
        (("--prefetch=some",), "--prefetch=some: 'some' is no kind of prefetch; allowed are ignore, weak and strong"),
        (("--prefetch=",), "--prefetch=: a value is missing behind --prefetch="),
        (("--machine=skylake@prefetch:all",), "--machine=skylake@prefetch:all: 'all' is no kind of prefetch"),
        (("--input=lackey", "--prefetch=weak"), "--prefetch=weak: of a trace no prefetches are simulated; leave it out"),
        (("--prefetsch=weak",), "did you mean --prefetch=?"),
    ],
)
def test_what_is_no_choice_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    (tmp_path / "recording").write_bytes(b"# tlbgrind recording\nversion: 1\nbase page: 12\nfilter: I 1 1\nfilter: RW 1 1\n\n")
    done = simulate(tmp_path, ["skylake"], *options)
    assert (done.returncode, done.stdout) == (1, "") and said in done.stderr, done.stderr


@pytest.mark.parametrize(
    "head, block, said",
    [
        ("prefetches: yes\nfilter: RW 1 1\n", b"", "its head has prefetches, and filters that are not made for them, or the other way round"),
        ("filter: RW/P 1 1\n", b"", "its head has prefetches, and filters that are not made for them, or the other way round"),
        ("prefetches: yes\nfilter: RW/P 1 1\nfilter: RW 4 1\n", b"", "filters that are not made for them"),
        ("prefetches: no\nfilter: RW/P 1 1\n", b"", "its head has prefetches that can not be"),
        ("filter: RW 1 1\n", b"R\1\1\1\0\7\2\2", "it has a prefetch, and its head has none"),
        ("prefetches: yes\nfilter: RW/P 1 1\n", b"R\1\1\1\0\x23\2\2", "a block has what no run has"),
        ("prefetches: yes\nfilter: RW/P 1 1\n", b"R\1\1\1\0\7\2\4", "a line has a number that is not its turn"),
        ("prefetches: yes\nfilter: RW/P 1 1\n", b"R\1\1\1\0\7\2\2", "the file is not complete"),
    ],
)
def test_a_file_that_no_run_has_written(tmp_path: Path, head: str, block: bytes, said: str) -> None:
    (tmp_path / "recording").write_bytes(f"# tlbgrind recording\nversion: 10\nbase page: 12\n{head}filter: I 1 1\n\n".encode() + block)
    done = simulate(tmp_path, ["champsim:dtlb.policy=random,itlb.policy=random"])
    assert done.returncode in (1, 2) and said in done.stderr, done.stderr
    assert not [p for p in tmp_path.iterdir() if p.name.startswith("replay")]
