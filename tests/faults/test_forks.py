# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Transparent huge pages that a fork shares: which of them break, and the faults of that, as the kernel has it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from native_support import read
from tg_environment import TLBGRIND, client

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
BLOCKS = 8

# By way: huge pages of the area that are left, and faults of the writes, as Linux 6.18 has them.
WAYS = {
    "parent": (5, 3),
    "all": (7, 507),
    "kernel": (7, 2),
    "ended": (8, 8),
    "exec": (8, 8),
    "vfork": (8, 0),
    "dontfork": (8, 0),
    "child": (6, 2),
}


def broken(words: str) -> int:
    return sum(int(n) for n in re.findall(r"large pages broken: (\d+)", words))


def simulate(folder: Path, way: str, *options: str) -> str:
    command = [TLBGRIND, "--machine=zen4", "--thp=madvise", f"--tlbgrind-out-file={folder}/out.%p", *options]
    done = subprocess.run(
        [*command, client("run_forks"), way], capture_output=True, text=True, check=True, cwd=folder, timeout=300
    )
    return done.stderr


@pytest.mark.parametrize("way", WAYS)
def test_a_write_breaks_a_huge_page_that_another_process_has(way: str, tmp_path: Path) -> None:
    """also in runs that record no faults, and on both paths; a process that ended or is another program has none"""
    for options in ((), ("--fast-path=no",), ("--debug-check=yes",)):
        assert BLOCKS - broken(simulate(tmp_path, way, *options)) == WAYS[way][0], options


@pytest.mark.parametrize("way", WAYS)
def test_faults_and_pages_are_of_one_mind(way: str, tmp_path: Path) -> None:
    """as many faults as the same writes take natively, and the same huge pages left"""
    words = simulate(tmp_path, way, "--faults=yes", "--faults-out-file=log.%p")
    logs = [read(path) for path in tmp_path.glob("log.*")]
    by_writes = [
        f
        for log in logs
        for f in log.view("warm")
        if (f.code and f.code.function == "write_to" and f.map.what == "anon") or (way == "kernel" and f.by == "read")
    ]
    assert (BLOCKS - broken(words), len([f for f in by_writes if f.kind("warm") == "c"])) == WAYS[way]


@pytest.mark.parametrize("way", WAYS)
def test_this_kernel_breaks_the_same_pages(way: str) -> None:
    if not THP.exists() or "[never]" in THP.read_text(encoding="ascii"):
        pytest.skip("this host has no transparent huge pages")
    # When the kernel takes the processor away from a thread, it writes to the thread's rseq area, and
    # copies its page if that is the first write after the fork: never less.
    seen = []
    for _ in range(3):
        done = subprocess.run([client("run_forks"), way], capture_output=True, text=True, check=True, timeout=300)
        if "few huge pages" in done.stdout:
            pytest.skip("this host has not enough memory in huge pages at the moment")
        left, faults = re.findall(r"\d+", done.stdout)
        seen.append((int(left), int(faults)))
    assert (min(left for left, _ in seen), min(faults for _, faults in seen)) == WAYS[way]


def test_a_page_that_breaks_is_a_flush_of_everything(tmp_path: Path) -> None:
    """and one of the small page that is copied: the fork's, and three"""
    words = simulate(tmp_path, "parent", "--flush-policy=linux")
    of_everything = [int(n) for n in re.findall(r"^==\d+== zen4 +(\d+)", words, re.MULTILINE)]
    assert max(of_everything) == 1 + 3
