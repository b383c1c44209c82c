# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Transparent huge pages: the page map has one where this machine's kernel has one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tg_thp import Unavailable, host_mode, undisturbed

STEPS = 30


def run() -> str:
    client = Path(os.environ["TG_BUILDDIR"]) / "tests/model/thpnative"
    return subprocess.run([client], check=True, capture_output=True, text=True).stdout


def test_huge_pages_are_where_this_kernel_has_them() -> None:
    try:
        if host_mode() != "madvise":
            pytest.skip("the kernel's transparent huge pages are not set to madvise")
        out = undisturbed(run)
    except Unavailable as error:
        pytest.skip(str(error))
    rows = [row.split() for row in out.splitlines()]
    assert len(rows) == STEPS
    assert {step: kernel for step, kernel, _ in rows} == {step: ours for step, _, ours in rows}
    # And there were some.
    assert rows[0][1] == "4"
