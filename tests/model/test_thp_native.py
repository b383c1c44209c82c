# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Transparent huge pages: the page map has one where this machine's kernel has one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

THP = Path("/sys/kernel/mm/transparent_hugepage")
STEPS = 30


ATTEMPTS = 20


def others() -> tuple[str, str]:
    """What disturbs: no memory for a huge page, and khugepaged, which makes some behind our back."""
    rows = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    fallbacks = next(row for row in rows if row.startswith("thp_fault_fallback "))
    return fallbacks, (THP / "khugepaged/pages_collapsed").read_text(encoding="ascii")


def undisturbed() -> str:
    for _ in range(ATTEMPTS):
        before = others()
        out = subprocess.run(
            [Path(os.environ["TG_BUILDDIR"]) / "tests/model/thpnative"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        if others() == before:
            return out
    pytest.skip(f"khugepaged, or a lack of memory, disturbed {ATTEMPTS} runs")


def test_as_this_kernel() -> None:
    if not (THP / "enabled").exists() or "[madvise]" not in (THP / "enabled").read_text():
        pytest.skip("the kernel's transparent huge pages are not set to madvise")
    if (THP / "hpage_pmd_size").read_text().strip() != str(2 << 20):
        pytest.skip("huge pages of this kernel are not 2M")
    rows = [row.split() for row in undisturbed().splitlines()]
    assert len(rows) == STEPS
    assert {step: kernel for step, kernel, _ in rows} == {step: ours for step, _, ours in rows}
    # And there were some.
    assert rows[0][1] == "4"
