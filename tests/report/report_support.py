# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Inputs for pages, and what is in a page."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import tg_companions
from tg_companions import Result, package

TESTS = Path(__file__).resolve().parents[1]
COSTS = TESTS / "annotate/data/two-level.out"
NAMES = TESTS / "annotate/data/names.out"
FAULTS = TESTS / "faults/data/used.faults"
REPEATED = TESTS / "faults/data/example.faults"
ENTRIES = TESTS / "order/data/first.entries"
NASTY = "</script><script>document.title='taken'</script><!-- \"'&amp;<img src=x onerror=alert(1)>"

needs_library = pytest.mark.skipif(
    not Path(package("report.page").CHART_JS).exists(),
    reason=f"{package('report.page').CHART_JS} is not there (libjs-chart.js)",
)


def run(folder: Path, *arguments: object) -> Result:
    return tg_companions.run("tg_report", folder, *arguments)


ONLY = "--only"  # beside one file lie others of the tests


def made(folder: Path, *files: object) -> Path:
    """The page of these files."""
    path = folder / "page.html"
    assert run(folder, *files, *([ONLY] if len(files) == 1 else []), "-o", path) == (0, b"", b"")
    return path


def data_of(page: Path) -> Any:
    found = re.search(r'<script id="data" type="([^"]*)">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found
    return json.loads(found[2] if found[1] == "application/json" else zlib.decompress(b64decode(found[2])))


def reach_file(folder: Path) -> Path:
    """Misses that halve with each doubling of the entries."""
    rows = [[entries, *((1 << 20) * weight // entries for weight in (6, 5, 4, 3, 2, 1))] for entries in range(8, 8193)]
    head = ["# tlbgrind reach", "# version: 1", "# creator: tlbgrind-0.1.0 (Valgrind 3.19.0)", "# pid: 7", "# cmd: ./halves"]
    head += ["# data references: 5", "entries\tI-4K\tI-64K\tI-2M\tD-4K\tD-64K\tD-2M"]
    path = folder / "made.reach"
    path.write_text("".join(f"{line}\n" for line in [*head, *("\t".join(map(str, row)) for row in rows)]))
    return path


def out_file(path: Path, functions: list[tuple[str, int]], machine: str = "made") -> Path:
    """Each function with its walks, all of one file and object."""
    walks = sum(count for _, count in functions)
    lines = [
        "# callgrind format",
        "version: 1",
        "creator: tlbgrind-0.1.0 (Valgrind 3.19.0)",
        "pid: 7",
        "cmd: ./many",
        f"desc: Machine: {machine}",
        *(f"desc: Rule: {rule}" for rule in machine.split("@")[1:]),
        "desc: Assumption: one",
        "event: ILtm : Instruction page walks",
        "events: Ir ILtm DLtmr DLtmw",
        "",
        "ob=(1) /bin/many",
        "fl=(1) many.c",
    ]
    for number, (name, count) in enumerate(functions, 1):
        lines += [f"fn=({number}) {name}", f"{number} 100 {count} 0 0"]
    sums = f"{100 * len(functions)} {walks} 0 0"
    path.write_text("".join(f"{line}\n" for line in [*lines, "", f"summary: {sums}", f"totals: {sums}"]))
    return path


def timeline_file(folder: Path) -> Path:
    """Three stretches of 1000 instructions, and half of one."""
    rows = [(1000, 3, 5, 4, 20, 10), (1000, 2, 40, 35, 50, 30), (1000, 2, 6, 0, 8, 0), (500, 1, 2, 1, 1, 1)]
    head = ["# tlbgrind timeline", "# version: 1", "# creator: tlbgrind-0.1.0 (Valgrind 3.19.0)", "# pid: 7"]
    head += ["# cmd: ./waves", "# page size: 4096", "# distance: 1000", "# machine 1: made"]
    head += ["Ir\tcode pages\tdata pages\tPF\tL1tm 1\twalks 1"]
    lines = [*head, *("\t".join(map(str, row)) for row in rows), "mark\t1200\tsecond", "end"]
    path = folder / "made.timeline"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def calls_file(path: Path) -> Path:
    """main calls sort and print; both call copy, sort three times as dearly. Ir, walks."""
    path.write_text(
        """# callgrind format
version: 1
creator: tlbgrind-0.1.0 (Valgrind 3.19.0)
pid: 7
cmd: ./calls
desc: Machine: made
events: Ir ILtm DLtmr DLtmw

ob=(1) /bin/calls
fl=(1) calls.c
fn=(1) main
1 10 0 0 0
cfn=(2) sort
calls=2 10
1 500 0 60 0
cfn=(3) print
calls=1 20
2 190 0 40 0

fn=(2)
10 200 0 0 0
cfn=(4) copy
calls=9 30
11 300 0 60 0

fn=(3)
20 90 0 20 0
cfn=(4)
calls=3 30
21 100 0 20 0

fn=(4)
30 400 0 80 0

summary: 700 0 100 0
totals: 700 0 100 0
"""
    )
    return path


def costly_file(path: Path, costs: list[tuple[str, int, int]], machine: str, **facts: str) -> Path:
    """Each function with its walks and miss cycles on a line of source of its own."""
    sums = [sum(each) for each in zip(*((walks, cycles) for _, walks, cycles in costs))]
    lines = ["# callgrind format", "version: 1", "creator: tlbgrind-0.1.0 (Valgrind 3.19.0)", "pid: 7", "cmd: ./costly"]
    lines += [f"desc: Machine: {machine}", *(f"desc: {key.replace('_', ' ')}: {value}" for key, value in facts.items())]
    lines += ["events: Ir ILtm DLtmr DLtmw Wcyc", "", "ob=(1) /bin/costly", f"fl=(1) {path.parent / 'costly.c'}"]
    for number, (name, walks, cycles) in enumerate(costs, 1):
        lines += [f"fn=({number}) {name}", f"{number} 100 0 {walks} 0 {cycles}"]
    totals = f"{100 * len(costs)} 0 {sums[0]} 0 {sums[1]}"
    path.write_text("".join(f"{line}\n" for line in [*lines, "", f"summary: {totals}", f"totals: {totals}"]))
    return path
