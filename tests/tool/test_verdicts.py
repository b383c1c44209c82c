# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The verdicts of --advice on programs of which it is plain what huge pages are worth to them.

The client reads at random, and computes after each read. What it costs in a small page follows from counting: a first
level of some hundred entries at most has no page of many, so each read misses it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tg_companions import SCRIPTS
from tg_environment import client
from tool_support import run

MACHINES = ("skylake", "zen4", "neoverse-v1")


def verdicts(folder: Path, mib: int, reads: int, work: int) -> list[str]:
    """Of anonymous memory in pages of 2M, on each machine."""
    options = [f"--machine={','.join(MACHINES)}", "--advice=2M"]
    r = run(folder, client("verdict_reads"), mib, reads, work, options=options, geometry=(), prefix=["setarch", "-R"])
    assert r.status == 0, r.err
    command = [sys.executable, str(SCRIPTS / "tg_annotate"), "--advice", "--format=json"]
    bases = [str(out.path) for out in r.files if out.descriptions("Variants")]
    done = subprocess.run([*command, *bases], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows = json.loads(done.stdout)["tables"][1]["rows"]
    by_machine = {row["machine"]: row["pays"] for row in rows if row["memory"] == "anon"}
    return [by_machine[machine] for machine in MACHINES]


# MiB, reads, steps of arithmetic after each; and the verdict. A step is three instructions: a read with 3,000 of them
# has some 9,000, of which even a walk of 60 cycles that nothing hides is below a hundredth.
CASES = [
    # Each read misses the first level: some ten cycles in fewer than twenty instructions.
    (6, 200_000, 0, "yes"),
    (6, 20_000, 0, "yes"),
    # More than the second level holds: walks as well.
    (64, 200_000, 0, "yes"),
    # The same misses, hidden in arithmetic: 360 million instructions.
    (6, 40_000, 3_000, "no"),
    # A tenth of it: the 1,536 first touches of pages are worth more than a hundredth now, the misses are not.
    (6, 4_000, 3_000, "faults"),
    # One page: no miss.
    (0, 200_000, 0, "no"),
]


@pytest.mark.parametrize(("mib", "reads", "work", "pays"), CASES)
def test_verdicts_are_as_counting_has_them(tmp_path: Path, mib: int, reads: int, work: int, pays: str) -> None:
    assert verdicts(tmp_path, mib, reads, work) == [pays] * len(MACHINES)
