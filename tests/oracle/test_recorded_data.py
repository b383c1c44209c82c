# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Recordings of runs with --data=yes: the data file that tg_simulate writes is the live run's, to the byte.

The live run attributes each miss when it happens; the replay has only the records and the text at the
end of the file.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from oracle_random import build
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

DATA = ("--data=yes", "--data-out-file=data")
FEW = ["skylake", "zen3", "cortex-a53"]

# Blocks that are freed and come back from another place, records, names, mappings, a fault inside a
# block of code, threads, phases, counts set to zero, a child.
PROGRAM = """
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tlbgrind.h>
enum { N = 600, TABLE = 1 << 19 };
struct record { long key, unused[60], value; };
static char table[TABLE];
static sigjmp_buf back;
static void jump(int signal) { (void)signal; siglongjmp(back, 1); }
__attribute__((noinline)) static struct record *one(void) { return calloc(8, sizeof(struct record)); }
__attribute__((noinline)) static struct record *another(void) { return malloc(8 * sizeof(struct record)); }
static long use(struct record *(*make)(void))
{
   struct record *all[N];
   long sum = 0;
   for (int i = 0; i < N; i++) {
      all[i] = make();
      all[i][i % 8].key = i;
   }
   for (int i = 0; i < N; i++)
      sum += all[i * 311 % N][i * 311 % N % 8].key;
   for (int i = 0; i < N; i++)
      free(all[i]);
   return sum;
}
static void *work(void *opaque)
{
   long sum = use(one);
   for (long i = 0; i < TABLE; i += 4096 + 64)
      table[i] += (char)sum;
   if (opaque != NULL)
      *(long *)opaque = sum + use(another);
   return opaque;
}
static void fault(char *at)
{
   if (sigsetjmp(back, 1) == 0)
      *(volatile char *)at = table[77];
}
int main(int c, char **v)
{
   pthread_t t[2];
   long result[2];
   char *m = mmap(NULL, TABLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   signal(SIGSEGV, jump);
   work(result);
   if (c > 1 && strcmp(v[1], "zero") == 0)
      TLBGRIND_ZERO;
   TLBGRIND_NAME(m, TABLE / 2, "half");
   memset(m, 1, TABLE);
   TLBGRIND_MARK("threads");
   const int threads = c > 1 && strcmp(v[1], "alone") == 0 ? 0 : 2;
   for (int i = 0; i < threads; i++)
      pthread_create(&t[i], NULL, work, &result[i]);
   for (int i = 0; i < threads; i++)
      pthread_join(t[i], NULL);
   TLBGRIND_MARK("start");
   memmove(m + 4000, m, TABLE / 2);
   munmap(m + 8192, 4096);
   fault(m + 8200);
   fault(table);
   m = realloc(another(), 100000);
   memset(m, 3, 100000);
   if (c > 1 && strcmp(v[1], "fork") == 0) {
      if (fork() == 0) {
         work(result);
         TLBGRIND_NAME(m, 5000, "of the child");
         memset(m, 4, 100000);
         exit(0);
      }
      wait(NULL);
   }
   work(NULL);
   return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("data")
    (folder / "objects.c").write_text(PROGRAM)
    include = f"-I{os.environ['TG_SRCDIR']}/tlbgrind"
    subprocess.run([*CC, "-g", "-O1", "-pthread", include, "-o", "objects", "objects.c"], cwd=folder, check=True)
    return str(folder / "objects")


def sections(text: bytes) -> int:
    """How many machines a data file has costs of, each with objects that miss."""
    parts = text.split(b"\nmachine: ")[1:]
    for part in parts:
        totals = part.split(b"\ntotals: ")[1].split(b"\n")[0].split()
        assert int(totals[0]) > 1000
    return len(parts)


def check_same(folder: Path, machines: list[str], command: tuple[str, ...], *options: str, later: tuple[str, ...] = ()) -> str:
    """Returns the data file."""
    done = record(folder, machines, command, "--record=recording", *DATA, *options)
    assert done.returncode == 0, done.stderr
    (folder / "again").mkdir()
    given = [f"--machine={','.join(machines)}", "--jobs=2", "-o", "live", "--data-out-file=data", *later]
    replayed = subprocess.run(
        [TG_SIMULATE, *given, "../recording"], cwd=folder / "again", capture_output=True, check=False, encoding="utf-8"
    )
    assert (replayed.returncode, replayed.stderr) == (0, "")
    live = {p.name: p.read_bytes() for p in folder.iterdir() if "live" in p.name or p.name == "data"}
    assert {p.name: p.read_bytes() for p in (folder / "again").iterdir()} == live
    text = live["data"].decode()
    assert f"\nmachines: {sections(live['data'])}\n" in text
    return text


@pytest.mark.parametrize("name", ["perl", "sort"])
def test_real_programs(tmp_path: Path, name: str) -> None:
    check_same(tmp_path, MACHINES, PROGRAMS[name])


def test_objects_with_offsets_names_threads_and_phases(tmp_path: Path, program: str) -> None:
    options = ("--data-offsets=yes", "--separate-threads=yes", "--faults=yes", "--debug-check=yes")
    text = check_same(tmp_path, FEW, (program,), *options)
    for said in (" heap pages", " variable pages", " stack pages", " named pages", " mapping pages", "\nname: half\n"):
        assert said in text
    assert "\nframe: one\n" in text and "\nframe: another\n" in text and "\nrecord: 496 calloc\n" in text
    assert (tmp_path / "again/phase_threads_of_live_skylake").exists()


def test_counts_that_are_set_to_zero_and_addresses(tmp_path: Path, program: str) -> None:
    check_same(tmp_path, ["icelake"], (program, "zero"), "--dump-instr=yes")


@pytest.mark.parametrize("seed", range(2))
def test_random_programs(tmp_path: Path, seed: int) -> None:
    random_program = build(tmp_path, seed, 12, 64)
    machines = random.Random(seed).sample(MACHINES, 4)
    check_same(tmp_path / "run", machines, (str(random_program),), "--data-offsets=yes")


def test_others_on_the_core_and_advice(tmp_path: Path, program: str) -> None:
    others = ("--switch-every=20000:40", "--syscall-tlb=kernel:30", "--flush-policy=all")
    check_same(tmp_path / "others", ["skylake"], (program,), *others, later=others)
    done = check_same(tmp_path / "advice", ["skylake"], (program,), "--advice=2M", later=("--advice=2M",))
    assert sections(done.encode()) > 2


FLUSHED = """
#include <string.h>
#include <sys/mman.h>
#include <tlbgrind.h>
enum { ALL = 64 * 4096 };
static char table[ALL];
static int use(void)
{
   int sum = 0;
   for (int i = 0; i < ALL; i += 4096)
      sum += ++table[i];
   return sum;
}
__attribute__((noinline)) static void flush(char *m) { munmap(m, ALL); }
int main(void)
{
   char *m = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   memset(m, 1, ALL);
   use();
   flush(m);
   TLBGRIND_ZERO;
   return use() & 1;
}
"""


def test_what_a_flush_before_counts_were_zero_has_thrown_out(tmp_path: Path) -> None:
    """Its line has no other costs, and none of a machine that nothing is flushed of."""
    (tmp_path / "flushed.c").write_text(FLUSHED)
    subprocess.run([*CC, "-g", "-O1", f"-I{os.environ['TG_SRCDIR']}/tlbgrind", "-o", "flushed", "flushed.c"], cwd=tmp_path, check=True)
    machines = ["skylake@flush:none", "skylake", "zen3@flush:linux"]
    text = check_same(tmp_path / "run", machines, (str(tmp_path / "flushed"),), "--flush-policy=all", later=("--flush-policy=all",))
    kept, flushed, _ = text.split("\nmachine: ")[1:]
    assert ") flush\n" not in kept and ") flush\n" in flushed


def test_machines_and_pages_that_the_run_did_not_have(tmp_path: Path, program: str) -> None:
    machines = ["skylake", "zen3@heap:2M", "apple-m1", "cortex-a53@thp"]
    # Two runs are compared: threads would take turns otherwise in each.
    live, recorded = tmp_path / "live", tmp_path / "late"
    assert record(live, machines, (program, "alone"), "--thp=always", *DATA).returncode == 0
    plain = [name.split("@")[0] for name in machines]
    options = ("--record=recording", "--data=yes", f"--record-for={','.join(plain)}", "--record-pages=2M,32M")
    assert record(recorded, ["skylake"], (program, "alone"), *options).returncode == 0
    replayed = simulate(recorded, machines, "--thp=always")
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert without_pid((recorded / "recording.data").read_bytes()) == without_pid((live / "data").read_bytes())
    replay = [without_pid(text.replace(b"_of_replay", b"_of_live")) for text in out_files(recorded, "replay", machines)]
    assert replay == [without_pid(text) for text in out_files(live, "live", machines)]


def test_a_child_has_its_own(tmp_path: Path, program: str) -> None:
    names = ("--data-out-file=data.%p", "--tlbgrind-out-file=live.%p")
    done = record(tmp_path, FEW[:2], (program, "fork"), "--record=r.%p", "--data=yes", *names)
    assert done.returncode == 0, done.stderr
    recordings = sorted(p.name for p in tmp_path.iterdir() if p.name.startswith("r."))
    assert len(recordings) == 2
    forked = []
    for name in recordings:
        subprocess.run([TG_SIMULATE, f"--machine={','.join(FEW[:2])}", name], cwd=tmp_path, check=True, capture_output=True)
        text = (tmp_path / f"{name}.data").read_bytes()
        assert text == (tmp_path / f"data{name[1:]}").read_bytes()
        forked.append(b"\nforked: " in text and b"\nname: of the child\n" in text)
    assert sorted(forked) == [False, True]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, program: str) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    done = record(folder, ["skylake"], (program,), "--record=recording", *DATA)
    assert done.returncode == 0, done.stderr
    assert record(folder, ["skylake"], ("true",), "--record=without").returncode == 0
    return folder


def refused(folder: Path, *options: str) -> str:
    before = sorted(os.listdir(folder))
    done = subprocess.run([TG_SIMULATE, *options], cwd=folder, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, sorted(os.listdir(folder))) == (1, before), done
    assert done.stderr.startswith("tg_simulate: error: ") and done.stderr.count("\n") == 1
    return done.stderr[len("tg_simulate: error: ") : -1]


@pytest.mark.parametrize(
    "options, said",
    [
        (("--data=yes", "without"), "without: the recording has no objects of data; record the program with --data=yes"),
        (("--data-out-file=d", "without"), "without: the recording has no objects of data; record the program with --data=yes"),
        (("--data=maybe", "recording"), "--data=maybe: 'maybe' is neither yes nor no"),
        (("--data=yes", "--shard=1/2", "recording"), "--data: all machines have one file, and a shard has not all of them"),
        (("--data=yes", "--from=threads", "recording"), "--data: costs by object of data are those of the whole run"),
        (("--data=yes", "--thread=1", "recording"), "--data: costs by object of data are those of the whole run"),
        (("--data=yes", "--input=lackey", "recording"), "--data: a trace tells of no objects of data"),
        (("--data-out-file=x", "-o", "x", "recording"), "x: that is an out-file, too; --data-out-file= names another"),
        (("--data-out-file=/nowhere/x", "recording"), "/nowhere/x: the file cannot be written"),
    ],
)
def test_what_can_not_be_is_refused(recorded: Path, options: tuple[str, ...], said: str) -> None:
    assert refused(recorded, "--machine=skylake", *options).startswith(said)


@pytest.mark.parametrize("options", [("--data=no",), ("--data-out-file=d", "--data=no"), ("--from=threads", "--to=start"), ("--shard=1/2",)])
def test_there_is_none_where_it_is_not_wanted(recorded: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    given = ["--machine=skylake,skylake:stlb.entries=3072", "-o", tmp_path / "out", *options, "recording"]
    subprocess.run([TG_SIMULATE, *given], cwd=recorded, check=True, capture_output=True)
    found = sorted(os.listdir(tmp_path))
    assert found and all("out_skylake" in name for name in found)
    assert not (recorded / "recording.data").exists()


# ---------------------------------------------------------------- broken files


def checksum(data: bytes, total: int = 0xCBF29CE484222325) -> int:
    """As docs/internals/formats.md has it, of bytes that are written one by one."""
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 % (1 << 64)
    return total


def number(n: int) -> bytes:
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def summed(data: bytes, total: int) -> int:
    """The same of a piece that is written as a whole."""
    whole = len(data) // 8 * 8
    for i in range(0, whole, 8):
        total = (total ^ int.from_bytes(data[i : i + 8], "little")) * 0x100000001B3 % (1 << 64)
        total ^= total >> 32
    return checksum(data[whole:], total)


def with_text(head: bytes, text: bytes, block: bytes = b"", parts: tuple[bytes, ...] = (), records: bytes = b"\0") -> bytes:
    """A recording with that text, behind a block of so many records: its head, and the pieces behind that."""
    before, end = b"T" + number(len(text)), b"E" + records
    total = checksum(block)
    for part in parts:
        total = summed(part, total)
    total = checksum(end, summed(text, checksum(before, total)))
    return head + block + b"".join(parts) + before + text + end + total.to_bytes(8, "little")


def head_of(folder: Path) -> bytes:
    whole = unpacked(folder / "recording")
    return whole[: whole.index(b"\n\n") + 2]


RUN = b"# callgrind format\n@machine\n@second misses\npositions: line\n@events\n@totals\n"
WHOLE = b"@data\n# tlbgrind data\nversion: 1\n@machines\n\nobject: 1 heap pages 0 touched 0 blocks 0 bytes 0\n@events\n:0 1 0 0 0 0 ;7 1\n@totals\n\nend\n"


@pytest.mark.parametrize(
    "find, put, said",
    [
        (b"", b"", None),
        (b";7 1\n", b";7 1+8\n", None),
        (b";7 1\n", b";7 2\n", "a line of source that can not be"),
        (b";7 1\n", b";7 1+\n", "a line of source that can not be"),
        (b";7 1\n", b";7\n", "a line of source that can not be"),
        (b"0 ;7 1\n", b"0 1 ;7 1\n", "a line of source that can not be"),
        (b"@machines\n", b"", "what belongs elsewhere"),
        (b"@totals\n\nend\n", b"", "not complete"),
        (b"@totals\n\nend\n", b"@totals\n@totals\n\nend\n", "what belongs elsewhere"),
        (b"heap", b"he\x01ap", "control characters"),
        (b"# tlbgrind data\n", b"", "is no text"),
        (b"\nend\n", b"\nend", "is no text"),
        (b"@data\n", b"", "the recording is damaged"),
    ],
)
def test_a_text_that_no_run_writes_is_refused(
    recorded: Path, tmp_path: Path, find: bytes, put: bytes, said: str | None
) -> None:
    head = head_of(recorded)
    assert WHOLE.count(find) == 1 or not find
    (tmp_path / "recording").write_bytes(with_text(head, RUN + WHOLE.replace(find, put) if find else RUN + WHOLE))
    if said is None:
        assert simulate(tmp_path, ["skylake"]).returncode == 0
        assert (tmp_path / "recording.data").read_text().count("\nmachine: skylake\n") == 1
    else:
        assert said in refused(tmp_path, "--machine=skylake", "recording")


def test_head_and_text_have_to_fit(recorded: Path, tmp_path: Path) -> None:
    head = head_of(recorded)
    for which, text in ((head, RUN), (head.replace(b"data: yes\n", b""), RUN + WHOLE)):
        (tmp_path / "recording").write_bytes(with_text(which, text))
        assert "no text of data at the end, or one that is not said" in refused(tmp_path, "--machine=skylake", "recording")
    (tmp_path / "recording").write_bytes(with_text(head.replace(b"data: yes", b"data: maybe"), RUN))
    assert "its head has data that can not be" in refused(tmp_path, "--machine=skylake", "recording")


def test_a_file_that_is_cut_has_no_data(recorded: Path, tmp_path: Path) -> None:
    whole = unpacked(recorded / "recording")
    assert b"\ndata: yes\n" in whole[:4096] and whole.startswith(b"# tlbgrind recording\nversion: 5\n")
    (tmp_path / "recording").write_bytes(whole[: len(whole) - 100])
    done = simulate(tmp_path, ["skylake"])
    assert done.returncode == 1 and "the file is not complete; these are the misses up to there" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["recording"]
