# test_sweeps.py -- tg_simulate's sweeps: maps of two values, shards, and their merging.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What shards write and what --merge prints is what one simulation of all machines writes and prints."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")
SWEEP = "k8,k8:l2-dtlb.entries=256..1024,l2-dtlb.ways=4..16,k8:l2-dtlb.ways=8"
# Three pages of code, then 36 pages of data, 16 apart, five times. The first level has 32 entries, LRU,
# and always misses. A set of the second level hits if no more pages come to it than it has ways: with 128
# sets (512 entries, 4 ways) 36 pages come to 8 sets, four of them have 5 pages, which always miss, and
# four have 4.
TRACE = "I  400000,4\nI  401000,4\nI  402000,4\n" + "".join(f" L {0x10000000 + 65536 * i:08x},8\n" for i in range(36)) * 5
TABLE = """machine                                       I1 misses       I walks       D1 misses       D walks
k8                                                    3             3             180           116
k8:l2-dtlb.entries=256,l2-dtlb.ways=4                 3             3             180           180
k8:l2-dtlb.entries=256,l2-dtlb.ways=8                 3             3             180           180
k8:l2-dtlb.entries=256,l2-dtlb.ways=16                3             3             180           180
k8:l2-dtlb.entries=512,l2-dtlb.ways=4                 3             3             180           116
k8:l2-dtlb.entries=512,l2-dtlb.ways=8                 3             3             180           180
k8:l2-dtlb.entries=512,l2-dtlb.ways=16                3             3             180           180
k8:l2-dtlb.entries=1024,l2-dtlb.ways=4                3             3             180            36
k8:l2-dtlb.entries=1024,l2-dtlb.ways=8                3             3             180            36
k8:l2-dtlb.entries=1024,l2-dtlb.ways=16               3             3             180            36
k8:l2-dtlb.ways=8                                     3             3             180           180
"""
MAP = """
k8: page walks, by l2-dtlb.entries (down) and l2-dtlb.ways (across)
                                 4                       8                      16
       256            183 ########            183 ########            183 ########
       512            119 ####....            183 ########            183 ########
      1024             39 ........             39 ........             39 ........
"""


def simulate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TG_SIMULATE, *arguments], cwd=folder, capture_output=True, check=False, encoding="utf-8")


def printed(folder: Path, *arguments: str) -> str:
    done = simulate(folder, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def without_trace(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("trace: "))


def files(folder: Path, name: str) -> dict[str, bytes]:
    return {path.name.removeprefix(name): path.read_bytes() for path in folder.glob(f"{name}_*")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t").write_text(TRACE)
    return tmp_path


def test_a_sweep_of_two_values_has_a_map(folder: Path) -> None:
    text = without_trace(printed(folder, "--input=lackey", f"--machine={SWEEP}", "t"))
    assert text == TABLE + MAP
    text = without_trace(printed(folder, "--input=lackey", f"--machine={SWEEP}", "--map=no", "t"))
    assert text == TABLE
    for count, title, number in (("misses", "first-level misses", " 183 ........"), ("cycles", "miss cycles", "########")):
        text = printed(folder, "--input=lackey", f"--machine={SWEEP}", f"--map={count}", "t")
        assert f"\nk8: {title}, by l2-dtlb.entries (down) and l2-dtlb.ways (across)\n" in text and number in text


@pytest.mark.parametrize(
    "machines",
    ["k8:l2-dtlb.entries=64..256", "k8:l2-dtlb.entries=64..256,l2-dtlb.ways=4..8,l2-itlb.ways=2..4", "skylake,k8"]
    + ["k8:l2-dtlb.entries=64,l2-dtlb.ways=4,k8:l2-dtlb.entries=128,l2-dtlb.ways=8"],
)
def test_one_value_three_and_gaps_have_none(folder: Path, machines: str) -> None:
    assert "(down)" not in printed(folder, "--input=lackey", f"--machine={machines}", "t")


def test_shards_write_what_one_simulation_writes(folder: Path) -> None:
    whole = printed(folder, "--input=lackey", f"--machine={SWEEP}", "-o", "whole", "t")
    for k in (1, 2, 3):
        printed(folder, "--input=lackey", f"--machine={SWEEP}", "-o", "shard", f"--shard={k}/3", f"--jobs={k}", "t")
        assert len(files(folder, "shard")) == (4, 8, 11)[k - 1]
    assert files(folder, "shard") == files(folder, "whole")
    names = sorted(path.name for path in folder.glob("shard_*"))
    assert printed(folder, "--merge", *names) == without_trace(whole)
    assert printed(folder, "--map=no", "--merge", *names) == TABLE


def test_more_machines_than_one_process_simulates(folder: Path) -> None:
    machines = "--machine=k8:l2-dtlb.entries=4..512/4"
    one = printed(folder, "--input=lackey", machines, "-o", "one", "t")
    assert one.count("\n") == 1 + 128 + 1
    assert printed(folder, "--input=lackey", machines, "-o", "other", "--jobs=2", "t") == one
    assert files(folder, "one") == files(folder, "other")
    alone = printed(folder, "--input=lackey", "--machine=k8:l2-dtlb.entries=400", "t").splitlines()[1]
    assert alone.split() in [row.split() for row in one.splitlines()]


def refused(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {message}\n")


def test_what_does_not_belong_together_is_refused(folder: Path) -> None:
    printed(folder, "--input=lackey", "--machine=skylake,k8,zen4", "-o", "all", "t")
    printed(folder, "--input=lackey", "--machine=skylake,k8", "-o", "two", "t")
    (folder / "u").write_text(TRACE)
    printed(folder, "--input=lackey", "--machine=skylake,k8,zen4", "-o", "of_u", "u")
    refused(simulate(folder, "--merge", "all_skylake", "all_zen4"), "machine number 2 of 3 is in none of the files")
    refused(simulate(folder, "--merge", "all_zen4"), "machine number 1 of 3 is in none of the files")
    refused(simulate(folder, "--merge", "all_k8", "all_k8"), "all_k8: machine number 2, 'k8', is in another file, too")
    refused(simulate(folder, "--merge", "all_k8", "two_skylake"), "two_skylake: it is of 2 machines, and all_k8 of 3")
    refused(simulate(folder, "--merge", "all_k8", "of_u_zen4"), "of_u_zen4: it is of another run than all_k8")
    refused(simulate(folder, "--merge", "none"), "none: the file cannot be read: No such file or directory")
    refused(simulate(folder, "--merge", "t"), "t: it is no out-file, or not complete: its last line is no checksum")
    refused(simulate(folder, "--merge"), "--merge: the names of out-files belong behind it")
    refused(simulate(folder, "t", "--merge", "all_k8"), "--merge: the names of out-files belong behind it")
    whole = (folder / "all_k8").read_bytes()
    (folder / "changed").write_bytes(whole.replace(b"machine", b"machinE", 1).replace(b"summary: 3", b"summary: 4"))
    refused(simulate(folder, "--merge", "changed"), "changed: the file has been changed: its checksum is another")
    for length in range(0, len(whole), 97):
        (folder / "cut").write_bytes(whole[:length])
        refused(simulate(folder, "--merge", "cut"), "cut: it is no out-file, or not complete: its last line is no checksum")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shard=0/3"], "--shard=0/3: '0/3' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=4/3"], "--shard=4/3: '4/3' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=1"], "--shard=1: '1' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=1/2x"], "--shard=1/2x: '1/2x' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=2/3", "--machine=k8,zen4"], "--shard=2/3: there are 2 machines, and no more shards than that"),
        (["--map=walk"], "--map=walk: 'walk' is no count; allowed are walks, misses, cycles and no"),
        (["--machine=k8:l2-dtlb.entries=4..4000/4"], "--machine=k8:l2-dtlb.entries=4..4000/4: the range makes at least 1000 machines; at most 960 at once"),
    ],
)  # fmt: skip
def test_options_that_can_not_be_are_refused(folder: Path, arguments: list[str], message: str) -> None:
    refused(simulate(folder, "--input=lackey", "--machine=k8", *arguments, "t"), message)
