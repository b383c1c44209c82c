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
from .columns import Columns


@dataclass
class Inputs:
    """What was read, in the order in which it was named."""

    costs: list[OutFile] = field(default_factory=list)
    columns: dict[str, Columns] = field(default_factory=dict)  # of out-files, by path
    faults: list[FaultLog] = field(default_factory=list)
    reaches: list[Reach] = field(default_factory=list)
    entries: list[Entries] = field(default_factory=list)
    data: list[DataFile] = field(default_factory=list)
    timelines: list[Timeline] = field(default_factory=list)

    def in_order_of_machines(self) -> list[OutFile]:
        """As the run had them, if the files tell, or its timeline or data file; else as they were named."""
        order: dict[tuple[str, str], int] = {}
        for out in self.costs:
            facts = dict(out.descriptions)
            number = facts.get("Machine number", "").split(" ")[0]
            if number.isdecimal():
                order.setdefault((out.pid, plain(facts.get("Machine", ""))), int(number) - 1)
        for pid, names in (
            *((read.header.get("pid", ""), read.machines) for read in self.timelines),
            *((data.header.get("pid", ""), [s.machine for s in data.sections]) for data in self.data),
        ):
            for place, name in enumerate(names):
                order.setdefault((pid, plain(name)), place)

        def rank(out: OutFile) -> int:
            return order.get((out.pid, plain(dict(out.descriptions).get("Machine", ""))), len(order))

        return sorted(self.costs, key=rank)


def plain(machine: str) -> str:
    """A name as it stands in names of files."""
    return "".join(letter if letter.isalnum() else "_" for letter in machine)


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return plain_text(stream.readline(80), path).rstrip(b"\n").decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path or "''") from None


_HEAD = 1 << 16  # bytes; a head is shorter


def _has_rules(path: str) -> bool:
    """Some memory is in pages of another size, as in what is simulated for advice."""
    try:
        with open(path, "rb") as stream:
            return b"\ndesc: Rule: " in stream.read(_HEAD)
    except (OSError, ValueError):
        return False


def _add_costs(inputs: Inputs, out: OutFile, stays: bool) -> None:
    """Advice compares out-files as they are. All others are kept as columns only, as they are read:
    several of a large program would fill the memory."""
    if not stays:
        before = next(reversed(inputs.columns.values()), None)
        inputs.columns[out.path] = Columns(out, before)
    inputs.costs.append(out)


def read_all(paths: Sequence[str], progress: Progress) -> Inputs:
    inputs = Inputs()
    stays = any(map(_has_rules, paths))
    for number, path in enumerate(paths):
        progress.say(f"{number:,} of {len(paths):,} files read")
        first = _first_line(path)
        if first == kinds.COSTS or first.startswith(("version:", "creator:")):
            _add_costs(inputs, outfile.read(path, progress), stays)
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
