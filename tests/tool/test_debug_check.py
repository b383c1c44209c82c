# test_debug_check.py -- --debug-check=yes finds the simulator's data in order, and counts the same.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The check ends the run when data disagree; tests/unit/test_mmus.c has data that are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from tg_environment import client
from tool_support import run

MACHINES = {
    "lru": ("skylake",),
    "plru": ("apple-m1",),
    "larger-base-pages": ("skylake", "apple-m1", "power9", "cortex-a53"),
    "loads-and-stores-apart": ("goldencove", "bonnell", "ultrasparc-iii"),
    "huge-pages": ("skylake@all:2M", "zen2@heap:thp", "neoverse-n1@thp"),
    "many": ("skylake", "zen1", "zen2", "zen3", "haswell", "nehalem", "k8", "k10", "power4", "knl", "jaguar", "u74"),
}


@pytest.mark.parametrize("program", ["oracle_refs", "run_process"])
@pytest.mark.parametrize("name", MACHINES)
def test_the_data_are_in_order_and_the_counts_the_same(tmp_path: Path, name: str, program: str) -> None:
    machines = MACHINES[name]
    geometry = (f"--machine={','.join(machines)}",)
    options = ("--faults=yes", "--reach=yes")
    plain, checked = (
        run(tmp_path / check, client(program), geometry=geometry, options=(*options, f"--debug-check={check}"))
        for check in ("no", "yes")
    )
    assert checked.status == plain.status
    assert len(checked.files) == len(plain.files) > 0
    if len(checked.files) == len(machines):
        assert [f.summary for f in checked.files] == [f.summary for f in plain.files]
