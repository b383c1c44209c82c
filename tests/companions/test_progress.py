# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What takes long is shown on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tg_companions import package

TESTS = Path(__file__).resolve().parent.parent
FILES = {
    "annotate": ("annotate/data/two-level.out", "annotate/data/second.out"),
    "faults": ("faults/data/recorded.faults",),
    "report": ("annotate/data/second.out", "faults/data/recorded.faults"),
}
# The last file that is read, and a step that follows.
SHOWN = {
    "annotate": ("second.out", b"table by function"),
    "faults": ("recorded.faults", b"making the tables"),
    "report": ("recorded.faults", b"making the page"),
}


def arguments(companion: str, folder: Path) -> list[str]:
    """A call with no wait before the progress, as the time that it takes depends on the machine."""
    for name in FILES[companion]:
        shutil.copy(TESTS / name, folder)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from tgreport.base import progress; progress.AFTER = progress.EVERY = 0\n"
        f"from tgreport.{companion} import cli; sys.exit(cli.main(sys.argv[2:]))"
    )
    python = Path(package(f"{companion}.cli").__file__).parents[2]
    return [sys.executable, "-B", "-c", script, str(python), *(Path(n).name for n in FILES[companion])]


@pytest.mark.parametrize("companion", FILES)
def test_progress_is_shown_on_a_terminal_only_and_erased(companion: str, tmp_path: Path) -> None:
    call = arguments(companion, tmp_path)
    leader, follower = pty.openpty()
    done = subprocess.run(call, cwd=tmp_path, stdout=subprocess.PIPE, stderr=follower, check=True)
    os.close(follower)
    said = os.read(leader, 65536)
    os.close(leader)
    last, step = SHOWN[companion]
    assert re.search(rb"\r\033\[K" + re.escape(last.encode()) + rb": [0-9]+% read\r\033\[K", said)
    assert step in said
    piped = subprocess.run(call, cwd=tmp_path, capture_output=True, check=True)
    assert piped.stdout == done.stdout
    warning = piped.stderr.replace(b"\n", b"\r\n")
    assert said.endswith(b"\r\033[K" + warning)
    assert b"read" not in piped.stderr and step not in piped.stderr
