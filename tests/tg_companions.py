# tg_companions.py -- calls the companions, by process or in this one.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The companions of the source tree, or those beside the tg_annotate that TG_ANNOTATE names."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = Path(os.environ.get("TG_ANNOTATE") or ROOT / "tlbgrind" / "tg_annotate").resolve().parent
MAIN = {
    "tg_annotate": "annotate.cli",
    "tg_faults": "faults.cli",
    "tg_native": "native.cli",
    "tg_order": "order.cli",
    "tg_report": "report.cli",
}
# Those whose arguments are files.
READERS = [name for name in MAIN if name != "tg_native"]


class Answer(NamedTuple):
    """A result in characters."""

    status: int
    out: str
    err: str


class Result(NamedTuple):
    status: int
    out: bytes
    err: bytes

    def text(self) -> Answer:
        out, err = (data.decode("utf-8", "surrogateescape") for data in (self.out, self.err))
        return Answer(self.status, out, err)


def command(name: str, *arguments: object) -> list[str]:
    return [sys.executable, "-B", str(SCRIPTS / name), *map(str, arguments)]


def run(name: str, folder: Path, *arguments: object) -> Result:
    # In the C locale: what is printed must not depend on it.
    done = subprocess.run(
        command(name, *arguments),
        cwd=folder,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr
    return Result(done.returncode, done.stdout, done.stderr)


def refused(name: str, folder: Path, complaint: str, *arguments: object) -> None:
    """One line on stderr, nothing on stdout, status 1."""
    assert run(name, folder, *arguments).text() == (1, "", f"{name}: error: {complaint}\n")


def package(module: str) -> Any:
    """A module of the package that the companions use, in the source tree or installed."""
    beside, installed = SCRIPTS, SCRIPTS.parent / "share" / "tlbgrind" / "python"
    folder = str(beside if (beside / "tgreport").is_dir() else installed)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(f"tgreport.{module}")


class Stream(io.TextIOWrapper):
    """Stands in for stdout and stderr, which are written as bytes and as text."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace")

    def bytes(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()  # type: ignore[attr-defined, no-any-return]


def call(name: str, *arguments: str) -> Result:
    """Without a process, as one for each of thousands of calls would take minutes."""
    out, err = Stream(), Stream()
    with redirect_stdout(out), redirect_stderr(err):
        status = package(MAIN[name]).main(list(arguments))
    return Result(status, out.bytes(), err.bytes())
