# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs tg_faults on the recorded logs."""

from __future__ import annotations

import re
from pathlib import Path

import tg_companions
from tg_companions import Result

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"


def run(folder: Path, *arguments: object) -> Result:
    return tg_companions.run("tg_faults", folder, *arguments)


def good(*arguments: object, folder: Path = DATA) -> str:
    result = run(folder, *arguments).text()
    assert (result.status, result.err) == (0, "")
    return result.out


def refused(complaint: str, *arguments: object, folder: Path = DATA) -> None:
    tg_companions.refused("tg_faults", folder, complaint, *arguments)


def figures(text: str) -> dict[str, int]:
    """The rows of a comparison with the kernel."""
    found = re.findall(r"^([a-z][^0-9%]*?(?:warm)?)  +([\d,]+)(?:  +[\d.]+%)?$", text, re.MULTILINE)
    return {name.strip(): int(count.replace(",", "")) for name, count in found}
