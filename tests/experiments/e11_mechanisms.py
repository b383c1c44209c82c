# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E11: ways in which 64 MiB come to be present, and how many page faults each takes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import exp_faults
from exp_frame import Chart, Check, Experiment, Result, Series, Table, Text, exact
from exp_lab import Lab
from tgreport.formats import fault, faultlog

PUBLISHED = "counted on Linux with getrusage: 64 MiB of anonymous memory, 16,384 pages of 4K"
BYTES = 64 << 20
PAGES = BYTES // exp_faults.PAGE
HUGE = BYTES >> 21
AROUND = PAGES // 16  # fault-around maps 64K at once
HALF = PAGES // 2


class Way(NamedTuple):
    how: str  # prefault's
    name: str
    faults: Mapping[str, int]  # by kind: write, zero page, copy on write, read
    populated: int = 0  # pages that are present without a fault
    unused: int = 0  # pages that are present and never touched
    is_published: bool = True


WAYS = (
    Way("write", "write", {"w": PAGES}),
    Way("dontneed", "write, MADV_DONTNEED, write", {"w": 2 * PAGES}),
    Way("read-write", "read, then write", {"z": PAGES, "c": PAGES}),
    Way("populate", "MAP_POPULATE, write", {}, populated=PAGES),
    Way("thp", "pages of 2M, write", {"w": HUGE}),
    Way("willneed", "POSIX_MADV_WILLNEED, write", {"w": PAGES}),
    Way("file", "a file, read", {"r": AROUND}, is_published=False),
    Way("file-willneed", "a file, POSIX_MADV_WILLNEED, read", {"r": AROUND}, is_published=False),
    Way("populate-sparse", "MAP_POPULATE, every 2nd page written", {}, populated=PAGES, unused=HALF, is_published=False),
    Way("thp-sparse", "pages of 2M, one byte of each written", {"w": HUGE}, unused=PAGES - HUGE, is_published=False),
)


class Counted(NamedTuple):
    faults: Counter[str]
    populated: int
    unused: int


def simulate(lab: Lab, program: object, way: Way) -> Counted:
    """What the log has of the 64 MiB, in the view of a kernel with its files in the page cache."""
    log, _ = exp_faults.record(lab, way.how, [program, way.how, "touched"], "--faults-used=yes")
    warm = faultlog.view_number("warm")
    faults = Counter(fault.kind(warm) for fault in log.of(warm) if fault.map.end - fault.map.start == BYTES)
    there = [run for run in log.used if run.map.end - run.map.start == BYTES and run.is_there(warm)]
    populated = sum(run.pages for run in there if run.kinds[warm] == faultlog.PRESENT)
    return Counted(faults, populated, sum(run.pages for run in there if run.bytes == 0))


def in_words(faults: Mapping[str, int]) -> str:
    kinds = fault.KINDS
    return " + ".join(f"{count:,} {kinds[kind]}" for kind, count in faults.items()) or "0"


def run(lab: Lab) -> Result:
    program = lab.client("prefault")
    rows, checks, notes = list[list[str]](), list[Check](), list[str]()
    simulated, native = dict[str, int](), dict[str, int]()
    for way in WAYS:
        found = simulate(lab, program, way)
        mapping, touching = map(int, lab.call([program, way.how, "touched"]).split())
        simulated[way.how], native[way.how] = sum(found.faults.values()), touching
        (lab.folder / "touched").unlink(missing_ok=True)
        for kind in sorted({*way.faults, *found.faults}):
            what = fault.KINDS.get(kind, kind)
            checks.append(exact(f"{way.name}: faults, {what}", way.faults.get(kind, 0), found.faults[kind]))
        checks += [
            exact(f"{way.name}: faults", sum(way.faults.values()), simulated[way.how]),
            exact(f"{way.name}: pages present without a fault", way.populated, found.populated),
            exact(f"{way.name}: pages never touched", way.unused, found.unused),
        ]
        published = in_words(way.faults) if way.is_published else ""
        counts = [f"{found.populated:,}", f"{found.unused:,}", f"{mapping:,}", f"{touching:,}"]
        rows.append([way.name, published, in_words(found.faults), *counts])
        if (mapping, touching) != (way.populated, sum(way.faults.values())):
            notes.append(f"{way.name}: this kernel takes {mapping:,} + {touching:,} ({exp_faults.host()})")
    saved = (simulated["write"] - simulated["thp"]) / HUGE
    checks.append(exact("faults that a page of 2M saves", 511, int(saved) if saved.is_integer() else saved))
    text = exp_faults.show(lab, "--used", "--top=4", lab.folder / "populate-sparse.faults")
    table = exp_faults.section(text, "Bytes used, by mapping")
    named = re.search(r"^ *[0-9,]+ +([0-9,]+) .* no fault +\[anon\]$", table, re.MULTILINE)
    checks.append(exact("tg_faults: populated pages that are never touched", HALF, int(named[1].replace(",", "")) if named else 0))
    head = ["64 MiB", "published", "simulated, on touch", "no fault", "never touched", "kernel, at the call", "kernel, on touch"]
    names = [way.how for way in WAYS]
    wanted = [sum(way.faults.values()) if way.is_published else None for way in WAYS]
    series = [Series("published", wanted, True), Series("tlbgrind", list(simulated.values())), Series("this kernel", list(native.values()))]
    return Result(
        [Table("Page faults of 64 MiB, 16,384 pages; the kernel's are not checked", head, rows)],
        checks,
        [*notes, f"the kernel's counts are those of {exp_faults.host()}"],
        [Chart("E11: page faults of 64 MiB", names, series, "", "page faults", bars=True, logarithmic=True)],
        [Text("tg_faults --used, every second page written after MAP_POPULATE", table)],
    )


EXPERIMENT = Experiment("E11", "Ways to take page faults", PUBLISHED, run)
