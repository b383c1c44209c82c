# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds out by its first line which kind of file each one is, and reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..base.command import plain_text
from ..base.errors import ReportError
from ..base.progress import Progress
from ..formats import datafile, entries, faultlog, kinds, outfile, reach, timeline
from ..formats.datafile import DataFile
from ..formats.entries import Entries
from ..formats.faultlog import FaultLog
from ..formats.outfile import OutFile
from ..formats.reach import Reach
from ..formats.timeline import Timeline


@dataclass
class Inputs:
    """What was read, in the order in which it was named."""

    costs: list[OutFile] = field(default_factory=list)
    faults: list[FaultLog] = field(default_factory=list)
    reaches: list[Reach] = field(default_factory=list)
    entries: list[Entries] = field(default_factory=list)
    data: list[DataFile] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return plain_text(stream.readline(80), path).rstrip(b"\n").decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path or "''") from None


def read_all(paths: Sequence[str], progress: Progress) -> Inputs:
    inputs = Inputs()
    for number, path in enumerate(paths):
        progress.say(f"{number:,} of {len(paths):,} files read")
        first = _first_line(path)
        if first == kinds.COSTS or first.startswith(("version:", "creator:")):
            inputs.costs.append(outfile.read(path, progress))
        elif first == kinds.FAULTS:
            inputs.faults.append(faultlog.read(path, progress))
        elif first == kinds.REACH:
            inputs.reaches.append(reach.read(path))
        elif first == kinds.ENTRIES:
            inputs.entries.append(entries.read(path))
        elif first == kinds.DATA:
            inputs.data.append(datafile.read(path))
        elif first == kinds.TIMELINE:
            inputs.timelines.append(timeline.read(path))
        elif not first:
            raise ReportError("the file is empty", path)
        else:
            raise ReportError(
                "not a file of tlbgrind: the first line is that of no out-file, fault log, "
                "reach file, entries file, data file or timeline",
                path,
                1,
            )
    return inputs
