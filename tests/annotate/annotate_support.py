# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs tg_annotate on a copy of the recorded inputs.

The copy makes the tests work on a read-only source tree, lets them name files without a path that
differs between machines, and fixes the times on which the warning "newer than" depends.
TG_ANNOTATE names another tg_annotate than the one of this source tree, such as the installed one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPT = Path(os.environ.get("TG_ANNOTATE") or ROOT / "tlbgrind" / "tg_annotate").resolve()

_OLD, _NEW = 1_577_836_800, 1_609_459_200  # the first of January of 2020 and of 2021


class Result(NamedTuple):
    status: int
    out: bytes
    err: bytes


def lay_out(folder: Path) -> Path:
    """Copies the inputs: every source older than every out-file."""
    place = folder / "data"
    place.mkdir()
    (place / "src").mkdir()
    for path in sorted((HERE / "data").glob("*.out")) + sorted((HERE / "data" / "src").iterdir()):
        copy = place / path.relative_to(HERE / "data")
        shutil.copyfile(path, copy)
        time = _OLD if copy.parent.name == "src" else _NEW
        os.utime(copy, (time, time))
    return place


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-B", str(SCRIPT), *arguments]


def run(place: Path, *arguments: str) -> Result:
    # In the C locale: what is printed must not depend on it.
    done = subprocess.run(
        command(*arguments),
        cwd=place,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)
