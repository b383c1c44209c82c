# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs tg_annotate on a copy of the recorded inputs.

The copy makes the tests work on a read-only source tree, lets them name files without a path that
differs between machines, and fixes the times on which the warning "newer than" depends.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import tg_companions
from tg_companions import SCRIPTS, Result

HERE = Path(__file__).resolve().parent
SCRIPT = SCRIPTS / "tg_annotate"

# What a data file of one machine begins with.
DATA_HEAD = """# tlbgrind data
version: 1
creator: tlbgrind-0.1.0
pid: 1
cmd: ./a
page-size: 4096
word-size: 8
machines: 1
"""

_OLD, _NEW = 1_577_836_800, 1_609_459_200  # the first of January of 2020 and of 2021


def lay_out(folder: Path) -> Path:
    """Copies the inputs: every source older than every out-file. One out-file is there twice."""
    place = folder / "data"
    place.mkdir()
    (place / "src").mkdir()
    for path in sorted((HERE / "data").glob("*.out")) + sorted((HERE / "data" / "src").iterdir()):
        copy = place / path.relative_to(HERE / "data")
        shutil.copyfile(path, copy)
        time = _OLD if copy.parent.name == "src" else _NEW
        os.utime(copy, (time, time))
    shutil.copy2(place / "two-level.out", place / "copy.out")
    return place


def command(*arguments: str) -> list[str]:
    return tg_companions.command("tg_annotate", *arguments)


def run(place: Path, *arguments: str) -> Result:
    return tg_companions.run("tg_annotate", place, *arguments)
