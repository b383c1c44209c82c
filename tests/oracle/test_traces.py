# test_traces.py -- tg_simulate --input=: the traces of lackey, ChampSim and DynamoRIO.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lackey's trace of a program must give what the tool counts in a run of it, and what a naive
simulation of the trace gives, to the digit. The other formats are written here, from the same
references, and must give the same counts."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import shutil
import struct
import subprocess
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from oracle.lackey_trace import read, totals_of, valgrind
from oracle.naive_tlb import Array, Hierarchy
from oracle.test_lackey import CLIENT, EVENTS, OF_KIND, build
from tg_companions import run as companion

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")

# The naive machine: code 4 ways, data fully associative, a second level for both.
NAIVE = """tlbgrind-machine 1
name naive
title naive
isa x86-64
year 2000
confidence A
source none
base-page 4K
array ITLB
   level 1
   users fetches
   entries 16
   ways 4
   pages 4K+2M
   policy lru
   source none
array DTLB
   level 1
   users loads+stores
   entries 20
   ways full
   pages 4K+2M
   policy lru
   source none
array STLB
   level 2
   users all
   entries 60
   ways 5
   pages 4K+2M
   policy lru
   source none
end
"""
# Pages by XOR, arrays for loads and stores alone, several policies.
MACHINES = [
    "skylake",
    "icelake",
    "k8",
    "bonnell",
    "c906",
    "nehalem:dtlb-4k.policy=fifo",
    "haswell:dtlb-4k.policy=random:5",
]


def simulate(folder: Path, kind: str, machines: str, trace: str, *options: str, **more: object) -> subprocess.CompletedProcess[str]:
    arguments = [TG_SIMULATE, f"--input={kind}", f"--machine={machines}", *options, trace]
    return subprocess.run(arguments, cwd=folder, capture_output=True, check=False, encoding="utf-8", **more)  # type: ignore[call-overload,no-any-return]


def refused(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert (done.returncode, done.stderr) == (1, f"tg_simulate: error: {message}\n")


def rows(table: str) -> dict[str, list[int]]:
    """I1 misses, I walks, D1 misses, D walks by machine."""
    lines = [line.split() for line in table.splitlines()[1:] if not line.startswith("trace: ")]
    return {name: [int(n.replace(",", "")) for n in numbers] for name, *numbers in lines}


def costs(out: Path) -> dict[str, int]:
    return dict(totals_of(out)[0])


# ---------------------------------------------------------------- lackey


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With lackey's trace of a program that crosses pages in every way."""
    folder = tmp_path_factory.mktemp("traces")
    client = build(folder, "client", CLIENT)
    vex = ["--vex-guest-chase=no", "--vex-iropt-unroll-thresh=0"]
    valgrind("lackey", [*vex, "--basic-counts=no", "--trace-mem=yes", f"--log-file={folder}/client.lackey"], client)
    (folder / "naive.machine").write_text(NAIVE)
    return folder


def naive(accesses: Iterable[tuple[str, int, int]], page_bytes: int) -> dict[str, int]:
    stlb = Array(60, 5)
    hierarchy = Hierarchy([{"I": Array(16, 4), "D": Array(20, 20)}, {"I": stlb, "D": stlb}])
    totals: Counter[str] = Counter({event: 0 for event in EVENTS})
    for kind, address, size in accesses:
        references, first, walks = OF_KIND[kind]
        totals[references] += 1
        # What crosses a base page is looked up twice.
        for page in range(address // 4096, (address + size - 1) // 4096 + 1):
            missed, walked = hierarchy.translate("I" if kind == "I" else "D", page * 4096 // page_bytes)
            totals[first] += 0 in missed
            totals[walks] += walked
    return dict(totals)


def test_lackeys_trace_counts_as_a_run(folder: Path) -> None:
    names = ",".join(MACHINES)
    valgrind("tlbgrind", ["-q", f"--machine={names}", f"--tlbgrind-out-file={folder}/live"], [str(folder / "client")])
    done = simulate(folder, "lackey", names, "client.lackey", "-o", "replay", "--jobs=2")
    assert (done.returncode, done.stderr) == (0, "")
    lives = sorted(folder.glob("live_*"))
    assert len(lives) == len(MACHINES)
    for live in lives:
        here = folder / live.name.replace("live", "replay")
        expected, told = totals_of(live)
        got, told_here = totals_of(here)
        assert got == expected, live.name
        assert told_here["Straddles"] == told["Straddles"]
        assert told_here["Second misses"] == told["Second misses"]
        assert told_here["Machine number"] == told["Machine number"]
    assert int(told["Straddles"].split()[1].strip(",")) > 500


@pytest.mark.parametrize(("pages", "page_bytes"), [(None, 4096), ("all:2M", 1 << 21)])
def test_lackeys_trace_counts_as_the_naive_simulation(folder: Path, pages: str | None, page_bytes: int) -> None:
    options = [] if pages is None else [f"--pages={pages}"]
    done = simulate(folder, "lackey", "naive.machine", "client.lackey", "-o", "out", *options)
    assert (done.returncode, done.stderr) == (0, "")
    expected = naive(read(folder / "client.lackey"), page_bytes)
    got = costs(folder / "out")
    assert {event: got[event] for event in EVENTS} == expected
    data = [expected["D1tmr"] + expected["D1tmw"], expected["DLtmr"] + expected["DLtmw"]]
    assert rows(done.stdout) == {"naive": [expected["I1tm"], expected["ILtm"], *data]}
    assert f"lackey, {expected['Ir']} instructions, {expected['Dr']} reads, {expected['Dw']} writes" in done.stdout


def test_costs_stand_at_the_page_of_their_code(tmp_path: Path) -> None:
    text = "==1== Lackey\n L 5000,8\nI  400ffe,4\n S 7000,8\nI  401002,2\n M 8ffc,8\nI  400000,1\n"
    (tmp_path / "t").write_text(text)
    done = simulate(tmp_path, "lackey", "skylake", "t")
    assert (done.returncode, done.stderr) == (0, "")
    lines = (tmp_path / "t.out").read_text().splitlines()
    found = {line: lines[i + 1].split()[:9] for i, line in enumerate(lines) if line.startswith("fn=")}
    assert found == {
        "fn=(1) before the first instruction": ["0", "0", "0", "0", "1", "1", "1", "0", "0"],
        "fn=(2) page 0x400000": ["0", "2", "2", "2", "0", "0", "0", "1", "1"],
        "fn=(3) page 0x401000": ["0", "1", "0", "0", "1", "2", "2", "0", "0"],
    }
    shown = companion("tg_annotate", tmp_path, "t.out")
    assert shown.status == 0 and b"page 0x401000" in shown.out


def test_addresses_may_be_the_first_and_the_last(tmp_path: Path) -> None:
    """Those of a kernel are in the upper half. Where code and data share the second level, data find their pages there."""
    places = ["0,1", "ffffffffffffffff,1", "fffffffffffff000,4096", "ffff800000000ffe,4", "7fffffffffffffff,2"]
    (tmp_path / "t").write_text("".join(f"{kind}{place}\n" for place in places for kind in ("I  ", " L ", " S ")))
    done = simulate(tmp_path, "lackey", "skylake,bonnell,c906", "t")
    assert (done.returncode, done.stderr) == (0, "")
    assert {name: counts[1::2] for name, counts in rows(done.stdout).items()} == {
        "skylake": [6, 0], "bonnell": [6, 6], "c906": [6, 0]
    }  # fmt: skip


def test_a_trace_can_come_from_the_standard_input(folder: Path) -> None:
    with (folder / "client.lackey").open() as trace:
        done = simulate(folder, "lackey", "skylake", "-", "-o", "piped", stdin=trace)
    assert (done.returncode, done.stderr) == (0, "")
    plain = simulate(folder, "lackey", "skylake", "client.lackey", "-o", "plain")
    assert plain.stdout == done.stdout
    refused(simulate(folder, "lackey", "skylake", "-"), "-: the name of the out-file is missing; give -o FILE")
    refused(simulate(folder, "lackey", "skylake,k8", "-", "-o", "o", "--jobs=2"), "--jobs=2: the standard input can be read by one process only")


# ---------------------------------------------------------------- the other formats


class Step(NamedTuple):
    """An instruction, with what it loads and stores: address and size."""

    at: tuple[int, int]
    loads: list[tuple[int, int]]
    stores: list[tuple[int, int]]


def steps_of(trace: Path, size: int | None, most: int = 30000) -> list[Step]:
    """As many loads and stores as ChampSim's records have room for; of one size, if told."""
    steps: list[Step] = []
    for kind, address, bytes_there in read(trace):
        if len(steps) == most:
            break
        reference = (address, size or bytes_there)
        if kind == "I":
            steps.append(Step(reference, [], []))
        elif steps:
            if kind != "S" and len(steps[-1].loads) < 4:
                steps[-1].loads.append(reference)
            if kind != "L" and len(steps[-1].stores) < 2:
                steps[-1].stores.append(reference)
    return steps


def as_lackey(steps: list[Step]) -> bytes:
    lines = []
    for step in steps:
        lines += [f"I  {step.at[0]:08x},{step.at[1]}"]
        lines += [f" L {address:08x},{size}" for address, size in step.loads]
        lines += [f" S {address:08x},{size}" for address, size in step.stores]
    return "".join(line + "\n" for line in lines).encode()


def as_champsim(steps: list[Step]) -> bytes:
    def padded(references: list[tuple[int, int]], n: int) -> list[int]:
        return [address for address, _ in references] + [0] * (n - len(references))

    return b"".join(
        struct.pack("<Q8B2Q4Q", step.at[0], 1, 0, 3, 4, 5, 6, 7, 8, *padded(step.stores, 2), *padded(step.loads, 4))
        for step in steps
    )


def record(kind: int, size: int, value: int) -> bytes:
    return struct.pack("<HHQ", kind, size, value)


HEAD = record(25, 0, 5) + record(28, 12, 5) + record(28, 9, 0x240) + record(22, 0, 77) + record(24, 0, 76)
PAGES_OF_4K = record(28, 18, 4096)
FOOT = record(23, 0, 77) + record(26, 0, 0)


def as_drmemtrace(steps: list[Step], head: bytes = HEAD + PAGES_OF_4K) -> bytes:
    """All kinds of fetches in turn, with markers, encodings and what else stands between."""
    fetches = [10, 11, 12, 13, 14, 15, 16, 31, 48, 49, 30]
    between = [record(28, 2, 1 << 60), record(28, 3, 1), record(20, 64, 0x1000), record(28, 29, 3), b""]
    records = [head]
    for i, step in enumerate(steps):
        records += [between[i % len(between)], record(47, 3, 0x909090)]
        # One that may be the last again is fetched, if it is another.
        fetch = fetches[i % len(fetches)]
        records.append(record(10 if fetch == 30 and i > 0 and steps[i - 1].at == step.at else fetch, step.at[1], step.at[0]))
        records += [record(0, size, address) for address, size in step.loads]
        records += [record(1, size, address) for address, size in step.stores]
    return b"".join([*records, FOOT])


def same_costs(folder: Path, kinds: dict[str, bytes]) -> None:
    found = {}
    for kind, trace in kinds.items():
        (folder / kind).write_bytes(trace)
        done = simulate(folder, kind, "skylake,bonnell,c906", kind, "-o", f"{kind}.out")
        assert (done.returncode, done.stderr) == (0, "")
        found[kind] = [(folder / f"{kind}.out_{label}").read_text() for label in ("skylake", "bonnell", "c906")]
    one, *others = [[re.sub(r"(?m)^(cmd|desc: Trace|# checksum): .*\n", "", text) for text in texts] for texts in found.values()]
    for other in others:
        assert other == one


def test_champsims_and_drmemtraces_records_count_as_lackeys_lines(folder: Path) -> None:
    """Without sizes, which ChampSim's do not have."""
    steps = steps_of(folder / "client.lackey", 1)
    assert sum(len(step.loads) > 1 for step in steps) > 10 and sum(len(step.stores) > 0 for step in steps) > 500
    same_costs(folder, {"lackey": as_lackey(steps), "champsim": as_champsim(steps), "drmemtrace": as_drmemtrace(steps)})


def test_drmemtraces_records_count_as_lackeys_lines_with_sizes(folder: Path) -> None:
    steps = steps_of(folder / "client.lackey", None)
    same_costs(folder, {"lackey": as_lackey(steps), "drmemtrace": as_drmemtrace(steps)})


@pytest.mark.parametrize("packing", ["gz", "xz", "zst", "zip"])
def test_a_compressed_trace_counts_as_it_is(folder: Path, packing: str) -> None:
    plain = as_drmemtrace(steps_of(folder / "client.lackey", None, 3000))
    (folder / "plain").write_bytes(plain)
    packed = folder / f"a [packed]*.{packing}"
    if packing == "zip":  # in pieces, which follow each other
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for n, at in enumerate(range(0, len(plain), 12000)):
                archive.writestr(f"chunk.{n:04}", plain[at : at + 12000])
    elif packing == "zst":
        packed.write_bytes(subprocess.run(["zstd", "-q", "-c"], input=plain, capture_output=True, check=True).stdout)
    else:
        packed.write_bytes(gzip.compress(plain) if packing == "gz" else lzma.compress(plain))
    one = simulate(folder, "drmemtrace", "skylake", "plain")
    other = simulate(folder, "drmemtrace", "skylake", packed.name)
    assert (other.returncode, other.stderr, other.stdout) == (0, "", one.stdout)
    half = packed.read_bytes()[: packed.stat().st_size // 2]
    packed.write_bytes(half)
    Path(f"{packed}.out").unlink()
    cut = simulate(folder, "drmemtrace", "skylake", packed.name)
    assert cut.returncode == 1 and not Path(f"{packed}.out").exists()
    assert re.search(r"the trace ends after \d+ instructions: \w+ cannot unpack the file to its end; ", cut.stderr)


def test_what_unpacks_it_may_be_missing(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t.xz").write_bytes(lzma.compress(b"I  400000,4\n"))
    done = simulate(tmp_path, "lackey", "skylake", "t.xz", env={**os.environ, "PATH": str(tmp_path)})
    refused(done, "t.xz: the file is compressed, and xz, which unpacks it, is not installed (Debian package: xz-utils)")


# ---------------------------------------------------------------- what drmemtrace has beside


def drmemtrace(folder: Path, *records: bytes, machine: str = "skylake") -> subprocess.CompletedProcess[str]:
    (folder / "d").write_bytes(b"".join(records))
    return simulate(folder, "drmemtrace", machine, "d")


def test_repetitions_and_prefetches_are_no_references(tmp_path: Path) -> None:
    """Bundles are: three instructions, the last of them on another page."""
    done = drmemtrace(
        tmp_path, HEAD, record(10, 2, 0x400FF8), record(17, 2, 0x0304), record(30, 3, 0x400FFE), record(29, 3, 0x400FFE),
        record(7, 64, 0x9000), record(34, 64, 0x9000), record(10, 0, 0x5000), record(0, 70, 0x8FF0), record(18, 0, 1),
        record(19, 0, 9), record(27, 1, 1), FOOT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(
        "trace: drmemtrace, 3 instructions, 1 reads, 0 writes; it has no names, no lines of source, no mappings; "
        "3 prefetches are left out; 2 repetitions of instructions are not fetched again\n"
    )
    assert rows(done.stdout) == {"skylake": [2, 2, 2, 2]}


def test_the_traces_page_size_is_the_base_page(tmp_path: Path) -> None:
    """Machines without such pages are refused."""
    body = b"".join(record(10, 4, 0x400000 + 4096 * i) for i in range(64))
    done = drmemtrace(tmp_path, HEAD, record(28, 18, 65536), body, FOOT, machine="a64fx")
    assert (done.returncode, done.stderr) == (0, "")
    assert rows(done.stdout) == {"a64fx": [4, 4, 0, 0]}
    refused(
        drmemtrace(tmp_path, HEAD, record(28, 18, 65536), body, FOOT),
        "--machine=skylake: no first-level array for instructions holds pages of 64K (the trace has such pages)",
    )


DAMAGED = {
    "raw": (record(28, 2, 5), "record 1: it is not what a drmemtrace trace begins with; raw files become traces by drraw2trace"),
    "32 bits": (struct.pack("<HHLHHL", 25, 0, 5, 28, 12, 5), "record 1: version 51540361221 can not be; a 32-bit program's trace is not read".replace("51540361221", str(5 + (28 << 32) + (12 << 48)))),
    "filtered": (record(25, 0, 5) + record(28, 9, 0x80), "record 2: the trace was filtered through a cache when it was recorded, and lacks references that a TLB sees"),
    "of 32 bits": (record(25, 0, 5) + record(28, 9, 0x20), "record 2: the trace is that of a 32-bit program, which is not read"),
    "page": (HEAD + record(28, 18, 5000), "record 6: pages have 5000 bytes, which can not be"),
    "pages": (HEAD + PAGES_OF_4K + record(28, 18, 8192), "record 7: pages have another size than before"),
    "process": (HEAD + record(24, 0, 9), "record 6: another process follows (9 behind 76); a trace of one process is read"),
    "type": (HEAD + record(50, 0, 9), "record 6: it has type 50, and no type is known beyond 49"),
    "bundle": (HEAD + record(17, 9, 9), "record 6: a bundle of 9 instructions can not be; allowed are 1 to 8"),
    "wrap": (HEAD + record(1, 9, 2**64 - 8), "record 6: 9 bytes at address 0xfffffffffffffff8 can not be"),
    "no bytes": (HEAD + record(0, 0, 8), "record 6: 0 bytes at address 0x8 can not be"),
    "behind": (HEAD + FOOT + b"x", "record 7: it is the end, and something stands behind it"),
    "nothing": (HEAD + FOOT, "there is no reference in it"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_no_drmemtrace_is_refused(name: str, tmp_path: Path) -> None:
    trace, message = DAMAGED[name]
    refused(drmemtrace(tmp_path, trace), f"d: {message}")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize(
    ("kind", "trace", "message"),
    [
        ("lackey", b"I  400000,4\nhello\n", "line 2: it is no line of lackey's; with --log-file=FILE it keeps apart from what the program prints"),
        ("lackey", b"I  400000,0\n", "line 1: it is no line"),
        ("lackey", b"I  400000,65536\n", "line 1: it is no line"),
        ("lackey", b"I  12345678123456781,4\n", "line 1: it is no line"),
        ("lackey", b"I  ,4\n", "line 1: it is no line"),
        ("lackey", b" I 400000,4\n", "line 1: it is no line"),
        ("lackey", b"I  400000,4 \n", "line 1: it is no line"),
        ("lackey", b"\n", "line 1: it is no line"),
        ("lackey", b" M ffffffffffffffff,2\n", "line 1: 2 bytes at address 0xffffffffffffffff can not be"),
        ("lackey", b"=" * (1 << 18) + b"\n", "line 1: it is too long"),
        ("lackey", b"", "there is no reference in it"),
        ("champsim", b"", "there is no reference in it"),
        ("champsim", bytes(8) + b"\2" + bytes(55), "record 1: its bytes 8 and 9 tell of a branch, and are 2 and 0; allowed are 0 and 1"),
    ],
    # Programs are started with the name of the test in the environment.
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_what_is_no_trace_is_refused(kind: str, trace: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(trace)
    done = simulate(tmp_path, kind, "skylake", "t")
    assert done.returncode == 1 and done.stderr.startswith(f"tg_simulate: error: t: {message}")
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


@pytest.mark.parametrize("kind", ["lackey", "champsim", "drmemtrace"])
def test_a_trace_that_is_cut_is_read_up_to_there(kind: str, tmp_path: Path) -> None:
    steps = [Step((0x400000 + 4096 * i, 4), [], []) for i in range(9)]
    whole = {"lackey": as_lackey, "champsim": as_champsim, "drmemtrace": as_drmemtrace}[kind](steps)
    seen = set()
    for length in range(1, len(whole), 11):
        (tmp_path / "t").write_bytes(whole[:length])
        done = simulate(tmp_path, kind, "k8", "t")
        if done.returncode == 0:  # at the end of a line or record
            assert (kind != "drmemtrace") and length % (64 if kind == "champsim" else len(b"I  00400000,4\n")) == 0
            (tmp_path / "t.out").unlink()
            continue
        assert [path.name for path in tmp_path.iterdir()] == ["t"]
        n = int(re.search(r"t: the trace ends after (\d+) instructions: the file is not complete; ", done.stderr)[1])  # type: ignore[index]
        assert rows(done.stdout)["k8"] == [n, n, 0, 0]
        seen.add(n)
    assert seen == set(range(9)) | ({9} if kind == "drmemtrace" else set())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input=pin", "t"], "--input=pin: 'pin' is no format; allowed are champsim, drmemtrace and lackey"),
        (["--input=lackey", "--pages=heap:2M", "t"], "--pages=heap:2M: a trace has no mappings; allowed is all:SIZE, with one size"),
        (["--input=lackey", "--pages=all:thp", "t"], "--pages=all:thp: a trace has no mappings; allowed is all:SIZE, with one size"),
        (["--input=lackey", "--pages=all:2M", "--pages=all:4K", "t"], "--pages=all:4K: all memory of a trace has pages of one size"),
        (["--input=lackey", "--thp=always", "t"], "--thp: a trace has no mappings; only --pages=all:SIZE goes with --input"),
        (["--input=lackey", "--machine=skylake@2M", "t"], "--machine=skylake@2M: a trace has no mappings; leave out what stands behind '@'"),
        (["-"], "-: a recording is a file; only a trace (--input) comes from the standard input"),
        (["--input=drmemtrace", "-o", "x", "-"], "-: a drmemtrace trace is a file: its page size is read first"),
        (["--input=lackey", "none"], "none: the file cannot be opened: No such file or directory"),
        (["--input=lackey", "."], ".: it is no regular file"),
        (["--input=lackey", "--machine=skylake:dtlb-4k.coalesces=16K", "t"], "--machine=skylake:dtlb-4k.coalesces=16K: its entries cover several pages (coalescing), which depends on where these lie: --v2p=FILE tells"),
    ],
)  # fmt: skip
def test_options_that_can_not_be_are_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("I  400000,4\n")
    done = subprocess.run(
        [TG_SIMULATE, "--machine=skylake", *arguments], cwd=tmp_path, capture_output=True, check=False, encoding="utf-8"
    )
    refused(done, message)


def test_all_programs_that_unpack_are_there() -> None:
    for program in ("gzip", "xz", "zstd", "unzip"):
        assert shutil.which(program) is not None, f"{program} is missing; ./quickstart --check installs it"
