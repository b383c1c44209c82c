# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Measured curves of the latency by number of pages, as knees of the simulated machines.

AIDA64 (InstLatx64) measured loads of one line in each of N pages of 4K, in a chain of random order.
The last number of a plateau must not miss, the next one that was measured must.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from cpuid_facts import dump_lines, show
from cpuid_made_up import MADE_UP

DRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "machines", "streamdrive")
ROUNDS = 4


def misses(machine: str, folder: Path, pages: int) -> tuple[int, int]:
    """Of the last of some rounds over that many pages: misses of the first level, and walks."""
    chain = list(range(pages))
    random.Random(pages).shuffle(chain)
    file = folder / "x.machine"
    file.write_text(machine)
    text = "".join(f"l {page << 12} 12 12\n" for _ in range(ROUNDS) for page in chain)
    run = subprocess.run([DRIVE, file], input=f"0\n{text}end\n", capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    last = run.stdout.strip()[-pages:]
    return sum(int(digit, 16) & 1 for digit in last), sum(int(digit, 16) >> 3 for digit in last)


def decoded(name: str, folder: Path) -> str:
    dump = folder / "dump"
    dump.write_text(dump_lines(MADE_UP[name]))
    return show(dump)


# Pages at the end of the first plateau, at the next point; the same for walks.
CURVES = [
    ("silvermont", "silvermont, j1900", (32, 48), (128, 192)),
    ("bonnell", "bonnell, diamondville", (16, 24), (64, 96)),
    # It walked from 256 pages on, all of which its 256 entries hold: other pages have some of them.
    ("airmont", "airmont, braswell", (32, 48), (192, 384)),
    ("zx-e", "zx-e", (96, 128), (96, 128)),
]


@pytest.mark.parametrize("shipped, dump, first, walks", CURVES)
def test_a_machine_misses_where_the_processor_was_slower(
    tmp_path: Path, shipped: str | None, dump: str, first: tuple[int, int], walks: tuple[int, int] | None
) -> None:
    for machine in [decoded(dump, tmp_path), *([show(shipped)] if shipped else [])]:
        assert misses(machine, tmp_path, first[0])[0] == 0
        assert misses(machine, tmp_path, first[1])[0] > first[1] // 4
        if walks is not None:
            assert misses(machine, tmp_path, walks[0])[1] == 0
            assert misses(machine, tmp_path, walks[1])[1] > walks[1] // 4
