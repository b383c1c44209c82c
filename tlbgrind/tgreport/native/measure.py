# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Measures how far one program's fault logs and the kernel's own faults agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..base.errors import ReportError
from ..faults.native import Agreement, Native, agreement
from ..faults.replay import leaves_folios
from ..formats import faultlog
from ..formats.faultlog import FaultLog
from .pairing import (
    Paired,
    by_address,
    by_mapping,
    draws_addresses,
    of_image,
    of_log,
    share,
)
from .perfevents import Image
from .recording import Perf, logs_of, program_file
from .surroundings import passed_on, read_anew

_WARM = faultlog.view_number("warm")


class Wishes(NamedTuple):
    """How programs are to be run."""

    tlbgrind: str
    options: Sequence[str]  # for tlbgrind
    variables: dict[str, str]
    pair: str  # auto, address, mapping
    tries: int
    anew: bool  # read the files anew, page by page
    logs: Sequence[str]  # instead of a run under tlbgrind


class Process(NamedTuple):
    """One program of one process, on both sides."""

    log: FaultLog
    native: list[Native]  # at the addresses of the log
    agreement: Agreement
    paired: Paired


class Measured(NamedTuple):
    processes: list[Process]
    left_out: int  # programs of the kernel's side, or logs, that have no partner
    tries: int
    again: float  # how far two native runs agree, by page

    @property
    def natives(self) -> int:
        return sum(p.agreement.native for p in self.processes)

    @property
    def simulated(self) -> int:
        return sum(len(p.agreement.predicted) for p in self.processes)

    @property
    def pages(self) -> int:
        return sum(p.agreement.pages for p in self.processes)

    @property
    def both(self) -> int:
        return sum(p.agreement.both for p in self.processes)

    @property
    def in_order(self) -> int:
        return sum(p.agreement.in_order for p in self.processes)

    @property
    def regions(self) -> int:
        return sum(p.paired.regions for p in self.processes)

    @property
    def with_kinds(self) -> bool:
        return all(p.agreement.with_kinds for p in self.processes)

    @property
    def share(self) -> float:
        """By page; what one side has more than the other counts against it."""
        return self.pages / max(self.natives, self.simulated, 1)


class Lab:
    """What all programs of one call share: perf, the variables in their order, a folder."""

    def __init__(self, wishes: Wishes, events: str, folder: Path) -> None:
        self.wishes = wishes
        self.folder = folder
        self.perf = Perf(events, folder)
        self.environment = passed_on(wishes.tlbgrind, wishes.variables)

    def measure(self, command: Sequence[str]) -> Measured:
        """Natively no two runs need be alike: a page that another process holds at the moment does
        not come along with its neighbours, and faults. So the run counts that agrees best."""
        path = self.wishes.variables.get("PATH", os.defpath)
        whole = [program_file(command[0], path), *command[1:]]
        # Once without anything, so that all files are in the page cache.
        self.perf.record(whole, self.environment, self.folder)
        paths = self.wishes.logs or logs_of(
            self.wishes.tlbgrind, self.wishes.options, whole, self.wishes.variables, self.folder
        )
        logs = [faultlog.read(path) for path in paths]
        if self.wishes.anew:
            files = {m.name for log in logs for m in log.maps.values() if m.what == "file"}
            read_anew(sorted(files), logs[0].page_size, leaves_folios(logs[0]))
        # This reads what was only dropped.
        before = self.perf.record(whole, self.environment, self.folder)
        best: Measured | None = None
        again = 0.0
        for number in range(1, self.wishes.tries + 1):
            images = self.perf.record(whole, self.environment, self.folder)
            again = max(again, _alike(images, before, logs[0].page_size))
            found = self._compared(logs, images, before)
            if best is None or (found.share, found.in_order) > (best.share, best.in_order):
                best = found
            if best.share == 1:
                break
            before = images
        assert best is not None
        return best._replace(tries=number, again=again)

    def _compared(
        self, logs: Sequence[FaultLog], images: Sequence[Image], before: Sequence[Image]
    ) -> Measured:
        pairs, alone = partners(logs, images)
        processes = []
        for log, image in pairs:
            place = images.index(image)
            moves = place < len(before) and draws_addresses(image, before[place])
            run = of_image(image, log.page_size)
            paired = (
                by_mapping(run, of_log(log, _WARM))
                if self.wishes.pair == "mapping" or self.wishes.pair == "auto" and moves
                else by_address(run)
            )
            native = [
                Native(page, fault.kind, fault.who, image.process)
                for page, fault in zip(paired.pages, image.faults)
            ]
            processes.append(Process(log, native, agreement(log, _WARM, native), paired))
        return Measured(processes, alone, 0, 0)


def _alike(one: Sequence[Image], other: Sequence[Image], page_size: int) -> float:
    """How far two native runs agree, the first program of each: more cannot be expected of a log."""
    run, before = of_image(one[0], page_size), of_image(other[0], page_size)
    return share(run, before, by_mapping(run, before))


def _of_name(images: Sequence[Image], log: FaultLog) -> Image | None:
    """The kernel keeps 15 bytes of a program's name."""
    name = os.fsencode(os.path.basename(log.command.split(" ")[0]))[:15]
    return next((image for image in images if os.fsencode(image.command) == name), None)


def partners(
    logs: Sequence[FaultLog], images: Sequence[Image]
) -> tuple[list[tuple[FaultLog, Image]], int]:
    """The first log is of the first process: of its first program, or of one that this became by exec.
    Of the others those of one name are in the same order, since processes are numbered as they begin."""
    if not logs or not images:
        raise ReportError("there is nothing to compare")
    own = [image for image in images if image.process == images[0].process]
    first = _of_name(own, logs[0]) or images[0]
    pairs = [(logs[0], first)]
    left = [image for image in images if image is not first]
    for log in logs[1:]:
        image = _of_name(left, log)
        if image is not None:
            left.remove(image)
            pairs.append((log, image))
    alone = len(logs) - len(pairs) + (len(left) if len(logs) > 1 else 0)
    return pairs, alone
