# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs tg_faults on the recorded logs."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
ROOT = HERE.parents[1]
COMPANIONS = Path(os.environ.get("TG_ANNOTATE") or ROOT / "tlbgrind" / "tg_annotate").resolve().parent


class Result(NamedTuple):
    status: int
    out: bytes
    err: bytes


def package(module: str) -> Any:
    """A module of the package that the companions use, in the source tree or installed."""
    beside, installed = COMPANIONS, COMPANIONS.parent / "share" / "tlbgrind" / "python"
    folder = str(beside if (beside / "tgreport").is_dir() else installed)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(f"tgreport.{module}")


def run(folder: Path, *arguments: object) -> Result:
    done = subprocess.run(
        [sys.executable, "-B", str(COMPANIONS / "tg_faults"), *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def good(*arguments: object, folder: Path = DATA) -> str:
    result = run(folder, *arguments)
    assert (result.status, result.err) == (0, b"")
    return result.out.decode("utf-8", "surrogateescape")


def refused(complaint: str, *arguments: object, folder: Path = DATA) -> None:
    """One line on stderr, nothing on stdout, status 1."""
    result = run(folder, *arguments)
    assert result.err.decode("utf-8", "replace") == f"tg_faults: error: {complaint}\n"
    assert (result.status, result.out) == (1, b"")


def figures(text: str) -> dict[str, int]:
    """The rows of a comparison with the kernel."""
    found = re.findall(r"^([a-z][^0-9%]*?(?:warm)?)  +([\d,]+)  +[\d.]+%$", text, re.MULTILINE)
    return {name.strip(): int(count.replace(",", "")) for name, count in found}
