# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Recordings: tg_simulate's out-files are the live run's, to the byte.

What is compared is the out-file that the run with --record= has written itself, and that of a run
without it, whose pid and checksum alone differ. A naive LRU over the records of the file shows that
nothing was left out that a first level of the recording's strength can miss.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle_programs import WORK
from oracle_random import build
from oracle_support import BUILD, CLIENTS, environment
from tg_environment import CC, TLBGRIND
from tg_names import labels_of

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")

# All policies, sets of one and many, pages by XOR, arrays for loads and stores alone, three levels.
MACHINES = [
    "skylake",
    "icelake",
    "zen3",
    "cortex-a53",
    "c906",
    "k8",
    "bonnell",
    "nehalem:dtlb-4k.policy=fifo",
    "haswell:dtlb-4k.policy=random:5",
    "broadwell:dtlb-4k.index=xor 4",
    "zen2:dtlb.policy=plru",
]
# Each of its references has to be seen by the simulator, so it has a test of its own.
SLOW = ["skylake:dtlb-4k.policy=nru,itlb-4k.policy=nru,stlb.policy=random:3", "cortex-a53"]

SQUARES = "my %h; for my $i (1..4000) { $h{$i * 7919 % 5003} .= \"x$i\"; } print join(',', sort keys %h);"
PROGRAMS = {
    "perl": ("perl", "-e", SQUARES),
    "gzip": ("gzip", "-c", str(Path(os.environ["TG_SRCDIR"], "tlbgrind/local.mk"))),
    # How much memory is free decides what sort does, unless told.
    "sort": ("sort", "--parallel=1", "-S1M", str(Path(os.environ["TG_SRCDIR"], "tlbgrind/machines/skylake.machine"))),
    "python3": ("python3", "-S", "-c", "print(sum(len(str(i)) for i in range(3000)))"),
}


def record(folder: Path, machines: list[str], command: tuple[str, ...], *options: str) -> subprocess.CompletedProcess[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [TLBGRIND, "--thp=never", f"--machine={','.join(machines)}", "--tlbgrind-out-file=live", *options]
    if "--record=recording" in options and not any(o.startswith("--record-for=") for o in options):
        # Not for the usual machines, too, which would leave out less.
        arguments.append("--record-for=" + ",".join(name.split("@")[0] for name in machines))
    done = subprocess.run(
        ["setarch", "-R", *arguments, *command],
        cwd=folder,
        env={"PWD": "/proc/self/cwd", **environment(command[0])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert b"Assertion" not in done.stderr and b"impossible" not in done.stderr, done.stderr
    return done


def simulate(folder: Path, machines: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    arguments = [TG_SIMULATE, f"--machine={','.join(machines)}", "-o", "replay", *options, "recording"]
    return subprocess.run(arguments, cwd=folder, capture_output=True, check=False, encoding="utf-8")


def out_files(folder: Path, name: str, machines: list[str]) -> list[bytes]:
    names = [name] if len(machines) == 1 else [f"{name}_{label}" for label in labels_of(machines)]
    found = sorted(p.name for p in folder.iterdir() if p.name.startswith(name))
    assert found == sorted(names)
    return [(folder / n).read_bytes() for n in names]


def without_pid(text: bytes) -> list[bytes]:
    return [row for row in text.split(b"\n") if not row.startswith((b"pid: ", b"# checksum: "))]


def check_same(folder: Path, machines: list[str], command: tuple[str, ...], *options: str) -> None:
    done = record(folder, machines, command, "--record=recording", *options)
    assert done.returncode == 0, done.stderr
    replayed = simulate(folder, machines, "--jobs=2")
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert out_files(folder, "replay", machines) == out_files(folder, "live", machines)


# ---------------------------------------------------------------- the recording, read naively


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        data = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    return data


def records(path: Path) -> Iterator[tuple[int, int]]:
    """What each record is, and its page; -1 where others use the core."""
    data = unpacked(path)
    at = data.index(b"\n\n") + 2

    def number() -> int:
        nonlocal at
        n = shift = 0
        while True:
            n |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return n

    while data[at] in b"RPK":
        at += 1
        if data[at - 1] == ord("K"):
            point = number()
            numbers = [number() for _ in range(4 if point == 5 else 2)]
            yield -1 - point, numbers[0]
            continue
        if data[at - 1] == ord("P"):
            length = number()
            at += length
            continue
        n, pages, lines, _ = number(), number(), number(), number()
        begin, page = at, [0, 0]
        at += n
        for what in data[begin : begin + n]:
            side = what & 3 != 0
            difference = number()
            page[side] += difference >> 1 ^ -(difference & 1)
            yield what, page[side]
        at = begin + n + pages + lines


def check_naively(path: Path, sets: dict[str, tuple[int, int]]) -> int:
    """A page that is said to be used is in an LRU array of each shape, by sides: its sets and ways.

    The array is emptied wherever others use the core.
    """
    held: dict[tuple[str, int], list[int]] = {}
    uses = 0
    for what, page in records(path):
        if what < 0:
            held.clear()
            continue
        side = "data" if what & 3 else "code"
        n_sets, ways = sets[side]
        pages = held.setdefault((side, page % n_sets), [])
        if page in pages:
            pages.remove(page)
        else:
            assert what & 32 == 0, (what, page)
        uses += what >> 5
        pages.append(page)
        del pages[:-ways]
    return uses


# ---------------------------------------------------------------- tests


@pytest.mark.parametrize("name", PROGRAMS)
def test_out_files_are_those_of_the_live_run(tmp_path: Path, name: str) -> None:
    assert shutil.which(PROGRAMS[name][0]) is not None
    check_same(tmp_path, MACHINES, PROGRAMS[name])


@pytest.mark.parametrize("options", [("--faults=yes", "--debug-check=yes"), ("--dump-instr=yes",)])
def test_faults_and_addresses_of_instructions_are_there(tmp_path: Path, options: tuple[str, ...]) -> None:
    check_same(tmp_path, ["skylake"], PROGRAMS["sort"], *options)


def test_policies_that_see_each_hit(tmp_path: Path) -> None:
    check_same(tmp_path, SLOW, PROGRAMS["sort"])


@pytest.mark.parametrize("seed", range(3))
def test_random_programs(tmp_path: Path, seed: int) -> None:
    program = build(tmp_path, seed, 12, 64)
    check_same(tmp_path / "run", random.Random(seed).sample(MACHINES, 5), (str(program),))


def test_a_recording_is_for_machines_that_the_run_did_not_have(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    assert record(plain, MACHINES, PROGRAMS["sort"]).returncode == 0
    live = [without_pid(text) for text in out_files(plain, "live", MACHINES)]
    shutil.rmtree(plain)
    record_for = f"--record-for={','.join(MACHINES)}"
    assert record(plain, ["skylake"], PROGRAMS["sort"], "--record=recording", record_for).returncode == 0
    replayed = simulate(plain, MACHINES)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert [without_pid(text) for text in out_files(plain, "replay", MACHINES)] == live
    rows = replayed.stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["machine", *(name.split()[0] for name in MACHINES)]


@pytest.mark.parametrize("machine, code, data", [("champsim", (16, 4), (16, 4)), ("cortex-a53", (1, 10), (1, 10))])
def test_what_is_left_out_hits(tmp_path: Path, machine: str, code: tuple[int, int], data: tuple[int, int]) -> None:
    done = record(tmp_path, [machine], PROGRAMS["perl"], "--record=recording")
    assert done.returncode == 0, done.stderr
    assert check_naively(tmp_path / "recording", {"code": code, "data": data}) > 100


def test_threads_are_one_stream(tmp_path: Path) -> None:
    check_same(tmp_path, ["skylake", "icelake"], (str(CLIENTS / "run_threads"),))


@pytest.mark.parametrize(
    "options", [("--cycles=50000000",), ("--cycles=skylake:70000000,cortex-a53:9000000", "--miss-cost=40"), ("--nested=yes", "--miss-cost=TLB_MISS_COST=19")]
)
def test_what_misses_cost_is_asked_later(tmp_path: Path, options: tuple[str, ...]) -> None:
    check_interrupted(tmp_path, ["skylake", "cortex-a53"], PROGRAMS["sort"], *options)


def test_costs_that_can_not_be(tmp_path: Path) -> None:
    assert record(tmp_path, ["skylake"], ("true",), "--record=recording").returncode == 0
    for given, said in {
        "--cycles=skylake:5,zen4:7": "--cycles=skylake:5,zen4:7: 'zen4' is no machine of this simulation",
        "--cycles=skylake:5,7": "--cycles=skylake:5,7: '7' is no machine of this simulation",
        "--cycles=0": "--cycles=0: ",
        "--cycles=skylake:": "--cycles=skylake:: ",
        "--miss-cost=many": "--miss-cost=many: 'many' ",
    }.items():
        done = simulate(tmp_path, ["skylake"], given)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"tg_simulate: error: {said}") and done.stderr.count("\n") == 1
    guest = tmp_path / "guest.machine"
    text = subprocess.run([TLBGRIND, "--show-machine=skylake"], check=True, capture_output=True, encoding="utf-8").stdout
    guest.write_text(text.replace("walk            hardware\n", "walk            hardware\n   nested       4K\n"))
    done = simulate(tmp_path, [str(guest)], "--nested=yes")
    assert done.returncode == 1 and "are those of a guest already" in done.stderr


PARTS = WORK + """
int main(int c, char **v)
{
   pthread_t t[2];
   b = malloc(ALL);
   work((void *)4096);
   TLBGRIND_MARK("a/b c");
   for (long i = 0; i < 2; i++)
      pthread_create(&t[i], NULL, work, (void *)(512L << i));
   for (int i = 0; i < 2; i++)
      pthread_join(t[i], NULL);
   if (strcmp(v[1], "zero") == 0)
      TLBGRIND_ZERO;
   if (strcmp(v[1], "stop") == 0) {
      TLBGRIND_STOP;
      work((void *)256);
      TLBGRIND_START;
   }
   work((void *)1024);
   TLBGRIND_MARK("a\\tb c");
   work((void *)2048);
   TLBGRIND_MARK("a/b c");
   work((void *)8192);
   return 0;
}
"""


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "parts.c").write_text(PARTS)
    include = f"-I{os.environ['TG_SRCDIR']}/tlbgrind"
    subprocess.run([*CC, "-g", "-O1", "-pthread", include, "-o", "parts", "parts.c"], cwd=folder, check=True)
    return folder / "parts"


KERNEL = ("--flush-policy=all", "--syscall-tlb=kernel:4", "--switch-every=70000:9")


@pytest.mark.parametrize("how, files, kernel", [("none", 6, ()), ("none", 6, KERNEL), ("zero", 4, KERNEL), ("stop", 6, ())])
def test_phases_and_threads_have_the_live_run_s_files(tmp_path: Path, parts: Path, how: str, files: int, kernel: tuple[str, ...]) -> None:
    machines = ["skylake", "icelake", "cortex-a53"]
    options = ("--separate-threads=yes", "--dump-instr=yes", "--record=recording", *kernel)
    done = record(tmp_path, machines, (str(parts), how), *options)
    assert (done.returncode, b"warning" in done.stderr) == (0, False), done.stderr
    again = tmp_path / "again"
    again.mkdir()
    given = [f"--machine={','.join(machines)}", "--jobs=2", "-o", "live", *kernel, "../recording"]
    subprocess.run([TG_SIMULATE, *given], cwd=again, check=True, capture_output=True)
    live = {p.name: p.read_bytes() for p in tmp_path.iterdir() if "live" in p.name}
    assert len(live) >= files * len(machines)  # a thread can have the number of one that has ended
    assert {p.name: p.read_bytes() for p in again.iterdir()} == live
    walked = sum(int(text.split(b"totals: ")[1].split()[0]) for name, text in live.items() if name.startswith("phase"))
    assert walked == sum(int(text.split(b"totals: ")[1].split()[0]) for name, text in live.items() if name[:4] == "live")


def test_without_zstd_it_is_not_compressed(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("setarch", "sort", "valgrind", "sh", "dirname", "readlink", "sed", "cat"):
        found = shutil.which(tool)
        if found is not None:
            (tools / tool).symlink_to(found)
    arguments = [TLBGRIND, "--thp=never", "--machine=skylake", "--record=recording", "--tlbgrind-out-file=live"]
    done = subprocess.run(
        [*arguments, shutil.which("sort") or "sort", os.devnull],
        cwd=tmp_path,
        env={**environment("sort"), "PATH": str(tools)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "recording").read_bytes().startswith(b"# tlbgrind recording\nversion: 7\n")
    assert simulate(tmp_path, ["skylake"]).returncode == 0
    assert out_files(tmp_path, "replay", ["skylake"]) == out_files(tmp_path, "live", ["skylake"])


def test_a_machine_that_is_not_covered_is_refused(tmp_path: Path) -> None:
    assert record(tmp_path, ["skylake"], ("true",), "--record=recording").returncode == 0
    done = simulate(tmp_path, ["skylake", "zen3"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "tg_simulate: error: recording: zen3: the recording leaves out what its first level may miss; "
        "record the program with --record-for=skylake,zen3\n"
    )
    done = simulate(tmp_path, ["apple-m1"])
    assert done.returncode == 1 and "the recording is not made for pages of 16K" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["live", "recording"]


@pytest.mark.parametrize(
    "options, said",
    [
        (("--record-pages=3M",), "'3M' is no large page; allowed are none, and powers of two"),
        (("--record-pages=2M,4K",), "'4K' is no large page"),
        (("--record-for=skylake@thp",), "leave out what stands behind '@'"),
        (("--record-for=skylak",), "skylak"),
        (("--mappings=yes",), "--record=recording goes without --mappings=yes"),
        (("--cores=2",), "--record=recording goes without --cores=2"),
    ],
)
def test_what_is_not_recorded_is_refused(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = record(tmp_path, ["skylake"], ("true",), "--record=recording", *options)
    assert done.returncode == 1 and said in done.stderr.decode(), done.stderr
    assert os.listdir(tmp_path) == []


def test_a_list_of_machines_alone_records_nothing(tmp_path: Path) -> None:
    done = record(tmp_path, ["skylake"], ("true",), "--record-for=zen3")
    assert done.returncode == 1 and b"there is no recording; add --record=FILE" in done.stderr


# What fixes pages, what asks when they are touched, pools, numbers, several at once.
POLICIES = ["--thp=never", "--thp=always", "--pages=all:2M", "--pages=anon#1:2M,text:2M", "--huge-pool=2M:2 --pages=anon:2M"]
# Arrays of their own for large pages, for all pages, for stores, of PLRU and FIFO.
PAGED = ["skylake", "zen4", "icelake", "haswell:dtlb-2m.policy=fifo"]


def check_policy(folder: Path, machines: list[str], command: tuple[str, ...], policy: str) -> None:
    live = folder / "of_a_run"
    done = record(live, machines, command, *policy.split())
    assert done.returncode == 0, done.stderr
    replayed = simulate(folder, machines, *policy.split())
    assert (replayed.returncode, replayed.stderr) == (0, "")
    found = [without_pid(text) for text in out_files(folder, "replay", machines)]
    assert found == [without_pid(text) for text in out_files(live, "live", machines)], policy
    shutil.rmtree(live)
    for path in folder.glob("replay*"):
        path.unlink()


def page_changes(folder: Path) -> tuple[str, ...]:
    program = folder / "page_changes"
    source = Path(os.environ["TG_SRCDIR"], "tests/oracle/page_changes.c")
    subprocess.run([*CC, "-O1", "-o", program, source], check=True)
    return (str(program),)


@pytest.mark.parametrize("machines", [PAGED, PAGED[:1], PAGED[2:3]], ids=["many", "one", "stores_apart"])
def test_page_sizes_are_asked_later(tmp_path: Path, machines: list[str]) -> None:
    command = page_changes(tmp_path)
    assert record(tmp_path, machines, command, "--record=recording").returncode == 0
    for policy in POLICIES if len(machines) > 1 else POLICIES[1:2]:
        check_policy(tmp_path, machines, command, policy)


@pytest.mark.parametrize("name", ["perl", "python3"])
def test_page_sizes_of_real_programs(tmp_path: Path, name: str) -> None:
    machines = ["skylake@heap:2M", "zen4"]
    options = ("--record=recording", "--record-for=skylake,zen4")
    assert record(tmp_path, machines, PROGRAMS[name], *options).returncode == 0
    check_policy(tmp_path, machines, PROGRAMS[name], "--pages=all:2M")


# What is recorded by default. Only for such machines, with LRU of many ways, are uses recorded late.
USUAL = ["skylake", "zen4", "neoverse-n1"]


def test_page_sizes_are_asked_later_of_the_usual_machines(tmp_path: Path) -> None:
    command = page_changes(tmp_path)
    record_for = f"--record-for={','.join(USUAL)}"
    assert record(tmp_path, USUAL[:1], command, "--record=recording", record_for).returncode == 0
    for policy in POLICIES:
        check_policy(tmp_path, [*USUAL, "haswell", "zen2"], command, policy)


@pytest.mark.parametrize("machines", [USUAL, USUAL[:1]], ids=["one_set", "sets"])
def test_uses_between_two_parts_of_a_reference(tmp_path: Path, machines: list[str]) -> None:
    check_same(tmp_path / "run", machines, (str(build(tmp_path, 5, 12, 64)),))


def test_pages_under_the_contiguous_hint(tmp_path: Path) -> None:
    command = page_changes(tmp_path)
    options = ("--record=recording", "--record-pages=64K,2M")
    assert record(tmp_path, ["neoverse-n1", "skylake"], command, *options).returncode == 0
    check_policy(tmp_path, ["neoverse-n1"], command, "--pages=anon:contig,text:2M")


@pytest.mark.parametrize("size", ["4K", "16K", "2M"])
def test_base_pages_are_those_of_the_run(tmp_path: Path, size: str) -> None:
    """Smaller ones than a machine's own, too, and such as no array or no step of its walk is for."""
    machines = ["skylake", "apple-m1", "power9", "default", "default:stlb.entries=3072", "zen3@anon:2M"]
    check_same(tmp_path, machines, PROGRAMS["sort"], f"--page-size={size}")
    assert f"desc: Page size: {int(size[:-1]) << (20 if size[-1] == 'M' else 10)}\n".encode() in (tmp_path / "live_apple_m1").read_bytes()


def test_rules_for_base_pages_need_the_mappings(tmp_path: Path) -> None:
    assert record(tmp_path, ["skylake"], PROGRAMS["sort"], "--record=recording", "--record-pages=none").returncode == 0
    done = simulate(tmp_path, ["skylake@text:4K"])
    assert done.returncode == 1
    assert done.stderr == (
        "tg_simulate: error: recording: skylake@text:4K: the recording has no mappings, which rules for pages are about; "
        "record the program with --record-pages=2M\n"
    )
    assert not (tmp_path / "replay").exists()


def test_pages_that_are_not_recorded_are_refused(tmp_path: Path) -> None:
    options = ("--record=recording", "--record-for=skylake")
    assert record(tmp_path, ["skylake"], ("true",), *options).returncode == 0
    for given, said in {
        "--pages=all:1G": "skylake: the recording is not made for pages of 1G; "
        "record the program with --record-for=skylake --record-pages=2M,1G",
        "--machine=cortex-a53 --thp=always": "cortex-a53: the recording leaves out what its first level may miss; "
        "record the program with --record-for=cortex-a53",
    }.items():
        done = simulate(tmp_path, ["skylake"], *given.split())
        assert (done.returncode, done.stderr) == (1, f"tg_simulate: error: recording: {said}\n")
    for given, said in {"--pages=all:3M": "'3M' is no page size", "--thp=on": "'on' is no mode"}.items():
        done = simulate(tmp_path, ["skylake"], given)
        assert done.returncode == 1 and said in done.stderr
    assert not (tmp_path / "replay").exists()


HUGE = """
#include <sys/mman.h>
int main(void)
{
   char *m = mmap(0, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   for (int i = 0; i < 4 << 20; i += 4096)
      m[i] = 1;
   return madvise(m, 4 << 20, MADV_HUGEPAGE) == 0 && m[0] == 1 ? 0 : 0;
}
"""


def advised(folder: Path, command: tuple[str, ...], *options: str) -> subprocess.CompletedProcess[str]:
    """What tg_simulate says; its files are those of a run with --advice=, and no others are there."""
    machines = ["skylake", "haswell:stlb.entries=512@stack:2M"]
    done = record(folder, machines, command, "--advice=2M,*.so*", "--record=recording", *options)
    assert done.returncode == 0, done.stderr
    again = folder / "again"
    again.mkdir()
    given = [f"--machine={','.join(machines)}", "--advice=2M,*.so*", "-o", "live", "../recording"]
    for jobs in (1, 3):
        replayed = subprocess.run([TG_SIMULATE, *given, f"--jobs={jobs}"], cwd=again, capture_output=True, check=True, encoding="utf-8")
        assert replayed.stderr == ""
        live = {p.name: p.read_bytes() for p in folder.iterdir() if "live" in p.name}
        assert {p.name: p.read_bytes() for p in again.iterdir()} == live
        for path in again.iterdir():
            path.unlink()
    own = done.stderr.decode().partition(" ")[0]  # its forked children have others
    said = [line.partition("== ")[2] for line in done.stderr.decode().splitlines() if line.startswith(own)]
    begin = next(i for i, line in enumerate(said) if line.startswith("No row and no file"))
    end = said.index("", begin)
    rows = replayed.stdout.splitlines()
    assert rows[-1].startswith("To see what larger pages would save:  tg_annotate --advice live_")
    assert rows[rows.index(said[begin]) : -1] == said[begin:end]  # why, and of which memory, is said as in the run
    named = [line.split()[0] for line in rows[1 : rows.index(said[begin])]]
    assert set(named) < {line.split()[0] for line in said if line}
    assert len(named) == sum(name.startswith("live") for name in live)
    return replayed


def test_advice_is_asked_later(tmp_path: Path) -> None:
    rows = advised(tmp_path, page_changes(tmp_path)).stdout
    assert "skylake@anon:2M " in rows and "haswell:stlb.entries=512@stack:2M+all:2M " in rows


def test_advice_with_phases_and_threads(tmp_path: Path, parts: Path) -> None:
    advised(tmp_path, (str(parts), "none"), "--separate-threads=yes")


def test_advice_that_can_not_be(tmp_path: Path) -> None:
    options = ("--record=recording", "--record-for=skylake")
    assert record(tmp_path, ["skylake"], PROGRAMS["perl"], *options).returncode == 0
    for given, said in {
        "--advice=yes": "recording: skylake: the recording is not made for pages of 64K; "
        "record the program with --record-for=skylake --record-pages=64K,2M",
        "--advice=3M": "--advice=3M: '3M' is no page size; allowed are powers of two such as 64K, 2M or 1G",
        "--advice=*.so:2M+*.o": "--advice=*.so:2M+*.o: '*.so:2M+*.o' is more than one memory",
        "--advice=2M --machine=zen4,zen4@heap:2M": "--machine: machine 'zen4@heap:2M' is given twice, or --advice makes it of another",
        "--advice=64K,2M --machine=zen4:stlb.entries=12..1200/12": "--advice=64K,2M: it makes 1500 machines, "
        "one for each memory in pages of each size; a run has at most 960",
        "--advice=2M --from=a": "--advice=2M: it is about the whole run; leave it out, or --from=, --to= and --thread=",
        "--advice=2M --shard=1/2": "--advice=2M: a machine and its variants are simulated together; leave it out, or --shard=",
        "--advice=2M --picture=a.svg": "--picture=a.svg: the variants of --advice= make no map; leave out one of the two",
        "--advice=2M --input=lackey": "--advice=2M: a trace has no mappings; leave out --advice=, or --input=",
    }.items():
        done = simulate(tmp_path, ["skylake"], *given.split())
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {said}\n")
    whole = (tmp_path / "recording").read_bytes()
    (tmp_path / "recording").write_bytes(whole[: len(whole) * 9 // 10])
    cut = simulate(tmp_path, ["skylake"], "--advice=2M")
    assert cut.returncode == 1 and "skylake@all:2M" in cut.stdout and "No row" not in cut.stdout
    assert record(tmp_path, ["skylake"], ("true",), *options, "--record-pages=none").returncode == 0
    done = simulate(tmp_path, ["skylake"], "--advice=4K")
    assert "the recording has no mappings, which --advice= is about" in done.stderr
    assert not list(tmp_path.glob("replay*"))


def check_interrupted(folder: Path, machines: list[str], command: tuple[str, ...], *options: str) -> None:
    done = record(folder, machines, command, "--record=recording", *options)
    assert done.returncode == 0, done.stderr
    replayed = simulate(folder, machines, "--jobs=2", *(option for option in options if option != "--debug-check=yes"))
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert out_files(folder, "replay", machines) == out_files(folder, "live", machines)


@pytest.mark.parametrize("options", [("--switch-every=20000:40", "--syscall-tlb=kernel:30"), ("--switch-every=9000", "--syscall-tlb=flush")])
def test_system_calls_and_context_switches_are_those_of_the_run(tmp_path: Path, options: tuple[str, ...]) -> None:
    check_interrupted(tmp_path, [*MACHINES, "core2"], PROGRAMS["sort"], *options)


def test_where_uses_are_recorded_late(tmp_path: Path) -> None:
    """A page that others may have driven out misses, and a tree then looks at the order of the others."""
    check_interrupted(tmp_path, USUAL, PROGRAMS["sort"], "--switch-every=2000:8")


def test_others_between_changes_of_mappings(tmp_path: Path) -> None:
    options = ("--switch-every=50000:8", "--syscall-tlb=kernel:5", "--flush-policy=linux", "--pages=anon:2M")
    for machines in (PAGED, USUAL):
        check_interrupted(tmp_path / machines[-1][:4], machines, page_changes(tmp_path), *options)


def test_a_debug_check_finds_nothing_wrong_with_others(tmp_path: Path) -> None:
    options = ("--switch-every=50000:8", "--syscall-tlb=flush", "--debug-check=yes")
    check_interrupted(tmp_path, [*MACHINES[:4], "core2", "k8", "champsim"], page_changes(tmp_path), *options)


def test_flushes_are_those_of_the_run(tmp_path: Path) -> None:
    machines = ["skylake", "zen3@flush:all", "cortex-a53@flush:none", "k8@flush:shift:3", "core2@flush:ceiling:2", "champsim@flush:linux"]
    check_interrupted(tmp_path, machines, page_changes(tmp_path), "--flush-policy=linux", "--debug-check=yes")


@pytest.mark.parametrize("seed", range(7, 10))
def test_flushes_in_the_middle_of_random_code(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    rules = ("flush:all", "flush:linux", "flush:none", "flush:ceiling:2")
    machines = [f"{name}@{rule}" for name, rule in zip([*rng.sample(MACHINES, 3), "core2"], rules)]
    program = build(tmp_path, seed, 12, 64, forks=True)
    check_interrupted(tmp_path / "run", machines, (str(program),), "--flush-policy=shift:4")


def test_a_page_of_code_that_a_copy_on_write_throws_out(tmp_path: Path) -> None:
    """its use is told before the flush, though its time is otherwise stored at the segment's end"""
    program = tmp_path / "chain"
    source = Path(os.environ["TG_SRCDIR"], "tests/oracle/copied_chain.c")
    subprocess.run([*CC, "-O2", "-o", program, source], check=True)
    for machine in ("core2", "zen4"):
        options = ("--flush-policy=all",)
        check_interrupted(tmp_path / machine, [machine], (str(program),), *options)
        flushed = [row for row in out_files(tmp_path / machine, "live", [machine])[0].split(b"\n") if row.startswith(b"totals: ")]
        assert int(flushed[0].split()[-6]) > 100  # FLall


@pytest.mark.parametrize("seed", range(3, 5))
def test_random_programs_with_others(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    rules = ("syscall:none+flush:all", "flush:linux+syscall:flush", "syscall:kernel:7")
    machines = [f"{name}@{rule}" for name, rule in zip(rng.sample(MACHINES, 3), rules)]
    check_interrupted(tmp_path / "run", machines, (str(build(tmp_path, seed, 12, 64)),), f"--switch-every={rng.randrange(500, 9000)}")


def test_what_others_do_is_asked_later(tmp_path: Path) -> None:
    machines = ["skylake", "cortex-a53", "k8"]
    options = ("--syscall-tlb=kernel:3", "--switch-every=30000", "--flush-policy=all")
    assert record(tmp_path, machines, PROGRAMS["sort"], "--record=recording", *options).returncode == 0
    for policy in ("--syscall-tlb=flush --switch-every=30000:64", "--syscall-tlb=kernel:50", "--flush-policy=linux", "--thp=never"):
        check_policy(tmp_path, machines, PROGRAMS["sort"], policy)
    for given, said in {
        "--switch-every=40000": "recording: the recording has context switches every 30000 instructions; "
        "record the program with --switch-every=40000",
        "--switch-every=0": "--switch-every=0: not a number of instructions above 0, or one and 1 to 65536 pages, as 1000000:64",
        "--syscall-tlb=some": "--syscall-tlb=some: 'some' is nothing that system calls do to TLBs; "
        "allowed are none, flush, and kernel:0 to kernel:65536, in pages",
        "--flush-policy=shift:32": "--flush-policy=shift:32: 'shift:32' is no policy for flushes; "
        "allowed are none, linux, ceiling:PAGES, shift:0 to shift:31, and all",
        "--syscall-tlb=flush --input=lackey": "--syscall-tlb: a trace tells of no flushes, system calls and context switches; "
        "leave it out, or --input=",
    }.items():
        done = simulate(tmp_path, ["skylake"], *given.split())
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {said}\n")


def test_others_that_are_not_recorded_are_refused(tmp_path: Path) -> None:
    assert record(tmp_path, ["skylake"], ("true",), "--record=recording", "--syscall-tlb=flush").returncode == 0
    for machine, given, said in (
        ("skylake@syscall:kernel:7", (), "does not tell what the kernel refers to in system calls; record the program with --syscall-tlb=kernel:7"),
        ("skylake", ("--flush-policy=all",), "does not tell what is flushed; record the program with --flush-policy=linux"),
        ("skylake", ("--switch-every=5:2",), "has no context switches; record the program with --switch-every=5"),
    ):
        done = simulate(tmp_path, [machine], *given)
        assert (done.returncode, done.stderr) == (1, f"tg_simulate: error: recording: the recording {said}\n")
    assert record(tmp_path, ["skylake"], ("true",), "--record=recording").returncode == 0
    done = simulate(tmp_path, ["skylake"], "--syscall-tlb=flush")
    said = "the recording does not tell where system calls are; record the program with --syscall-tlb=flush"
    assert (done.returncode, done.stderr) == (1, f"tg_simulate: error: recording: {said}\n")
    assert not (tmp_path / "replay").exists()


def test_what_is_left_out_hits_in_arrays_that_others_have_emptied(tmp_path: Path) -> None:
    options = ("--record=recording", "--syscall-tlb=kernel:1", "--switch-every=5000", "--flush-policy=all")
    assert record(tmp_path, ["champsim"], PROGRAMS["sort"], *options).returncode == 0
    assert {what for what, _ in records(tmp_path / "recording") if what < 0} == {-1, -2, -3, -4, -5, -6}
    assert check_naively(tmp_path / "recording", {"code": (16, 4), "data": (16, 4)}) > 100


def test_it_ends_where_the_program_asks_for_huge_pages(tmp_path: Path) -> None:
    (tmp_path / "huge.c").write_text(HUGE)
    subprocess.run([*CC, "-o", "huge", "huge.c"], cwd=tmp_path, check=True)
    done = record(tmp_path, ["skylake"], ("./huge",), "--record=recording", "--record-pages=none")
    assert done.returncode == 0
    assert b"warning: the recording" in done.stderr and b"the program asks for huge pages" in done.stderr
    replayed = simulate(tmp_path, ["skylake"])
    assert replayed.returncode == 1
    assert "the program asks for huge pages" in replayed.stderr and "skylake" in replayed.stdout
    assert not (tmp_path / "replay").exists()


def test_a_file_that_is_cut_is_readable_up_to_there(tmp_path: Path) -> None:
    done = record(tmp_path, ["skylake"], PROGRAMS["perl"], "--record=recording")
    assert done.returncode == 0
    whole = (tmp_path / "recording").read_bytes()
    walks = []
    for part in range(0, 100, 9):
        (tmp_path / "recording").write_bytes(whole[: len(whole) * part // 100])
        done_part = simulate(tmp_path, ["skylake"])
        assert done_part.returncode == 1
        rows = done_part.stdout.splitlines()
        if not rows:
            assert "it ends in its head" in done_part.stderr or "it is no recording" in done_part.stderr
        else:
            assert "the file is not complete; these are the misses up to there" in done_part.stderr
            walks.append(int(rows[1].split()[3].replace(",", "")))
        assert not (tmp_path / "replay").exists()
    assert walks == sorted(walks) and walks[-1] > walks[0]


def test_where_nothing_can_be_written_the_program_goes_on(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "zstd").write_text("#!/bin/sh\nhead -c 1000\nexit 1\n")
    (tools / "zstd").chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    arguments = ["--thp=never", "--machine=cortex-a53", "--record=recording", "--tlbgrind-out-file=live"]
    done = subprocess.run(
        [TLBGRIND, *arguments, *PROGRAMS["perl"]],
        cwd=tmp_path,
        env={**environment("perl"), "PATH": path},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.startswith(b"10,100,"), done.stderr
    assert b"error: can't write recording" in done.stderr and b"zstd could not write all of it" in done.stderr
    assert (tmp_path / "live").exists()


def test_a_file_that_is_changed_is_refused(tmp_path: Path) -> None:
    done = record(tmp_path, ["skylake"], ("true",), "--record=recording")
    assert done.returncode == 0
    path = tmp_path / "recording"
    plain = unpacked(path)
    dice = random.Random(1)
    for _ in range(30):
        at = dice.randrange(plain.index(b"\n\n") + 2, len(plain))
        path.write_bytes(plain[:at] + bytes([plain[at] ^ 1 << dice.randrange(8)]) + plain[at + 1 :])
        changed = simulate(tmp_path, ["skylake"])
        assert changed.returncode == 1, at
        assert "the recording is damaged" in changed.stderr or "the file is not complete" in changed.stderr
        assert not (tmp_path / "replay").exists()


def test_help_names_each_option() -> None:
    done = subprocess.run([TG_SIMULATE, "--help"], capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.startswith("usage: tg_simulate ")
    page = Path(os.environ["TG_SRCDIR"], "docs/tg_simulate.1").read_text()
    for option in ("machine", "jobs", "nested", "tlbgrind-out-file", "help", "version"):
        assert f"--{option}" in done.stdout
        assert f"Fl -{option}" in page


@pytest.mark.parametrize(
    "options, said",
    [
        ((), "the name of a recording is missing: tg_simulate [options] RECORDING"),
        (("a", "b"), "b: one recording at a time; the first is a"),
        (("--jobs=0", "a"), "--jobs=0: '0' is no number of processes; allowed are 1 to 256"),
        (("--nonsense", "a"), "--nonsense: no such option; tg_simulate --help lists them"),
        (("--job=2", "a"), "--job=2: no such option; did you mean --jobs=?"),
        (("--machine=", "a"), "--machine=: a value is missing behind --machine="),
        (("/dev/null",), "/dev/null: it is no regular file"),
        (("/nowhere",), "/nowhere: the file cannot be opened: No such file or directory"),
        ((sys.executable,), f"{sys.executable}: it is no recording of tlbgrind"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = subprocess.run([TG_SIMULATE, *options], cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {said}\n")


assert BUILD.exists()
