# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the files that --advice=libraries reads: out-files, and the fault log of the first one's run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..base.errors import ReportError
from ..base.progress import Progress
from ..formats import faultlog, outfile
from ..formats.faultlog import FaultLog
from ..formats.kinds import FAULTS
from ..formats.outfile import OutFile


def read(paths: Sequence[str], progress: Progress) -> tuple[list[OutFile], FaultLog | None]:
    """The out-files in their order, and the fault log: one of the files, or that beside the first."""
    logs = [path for path in paths if _is_log(path)]
    outs = [path for path in paths if path not in logs]
    if not outs:
        raise ReportError("a fault log; --advice=libraries takes the out-file of its run before it", logs[0])
    if len(logs) > 1:
        raise ReportError("a second fault log; --advice=libraries takes that of the first out-file", logs[1])
    files = []
    for number, path in enumerate(outs):
        progress.say(f"{number:,} of {len(outs):,} out-files read")
        files.append(outfile.read(path, progress, by_address=number == 0))
    if logs:
        log = faultlog.read(logs[0], progress)
        if not _is_of(log, files[0]):
            raise ReportError(f"not of the run of {files[0].path}", logs[0])
        return files, log
    beside = _beside(files[0].path)
    found = faultlog.read(beside, progress) if beside and _is_log(beside) else None
    return files, found if found is not None and _is_of(found, files[0]) else None


def _is_log(path: str) -> bool:
    try:
        if not os.path.isfile(path):  # opening a pipe would wait for its writer
            return False
        with open(path, "rb") as stream:
            return stream.readline(80).rstrip(b"\n") == FAULTS.encode()
    except OSError:
        return False  # who reads it, says why it cannot be read


def _is_of(log: FaultLog, out: OutFile) -> bool:
    return (log.command, log.header.get("pid")) == (out.command, out.pid)


def _beside(path: str) -> str:
    """tlbgrind.faults.PID of tlbgrind.out.PID, and so on; several machines have one log."""
    folder, name = os.path.split(path)
    head, out, tail = name.rpartition("out")
    if not out:
        return ""
    tail = tail.split("_")[0] if not os.path.exists(os.path.join(folder, f"{head}faults{tail}")) else tail
    return os.path.join(folder, f"{head}faults{tail}")
