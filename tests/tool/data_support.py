# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads data files, and runs clients that print what one must say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tg_environment import client
from tg_written import written
from tool_support import Run, run

DATA = ("--data=yes", "--data-out-file=data.%p")
# A first level whose misses clients/run_data.c computes, and a second that holds everything.
MACHINE = ("--itlb=64,4", "--dtlb=16,full", "--stlb=65536,16")
EXPECTED = ("Dr", "Dw", "D1tm", "DLtm", "PF", "pages", "touched")
# In call stacks, above the function that allocates.
ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "mmap", "mmap64", "???"}
ALLOCATORS |= {"_mid_memalign", "memalign"}


class Data:
    """Reads a data file: strict, and without tg_annotate's reader."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = written(path)
        head, *parts = text.split("\nmachine: ")
        assert head.startswith("# tlbgrind data\nversion: 1\n") and text.endswith("\n\nend\n")
        self.facts: dict[int, Counter[str]] = {}
        self.names: dict[int, tuple[str, str]] = {}
        self.records: dict[int, str] = {}
        for part in head.split("\n\nobject: ")[1:]:
            first, *rows = part.split("\n")
            match = re.fullmatch(r"(\d+) (\w+) pages (\d+) touched (\d+) blocks (\d+) bytes (\d+)", first)
            assert match, first
            number = int(match[1])
            keys = ("pages", "touched", "blocks", "bytes")
            self.facts[number] = Counter(dict(zip(keys, map(int, match.groups()[2:]))))
            name = next((row[6:] for row in rows if row.startswith("name: ")), "")
            self.records[number] = next((row[8:] for row in rows if row.startswith("record: ")), "0 none")
            frames = [row[7:] for row in rows if row.startswith("frame: ")]
            caller = next((frame for frame in frames if frame not in ALLOCATORS), "")
            self.names[number] = (match[2], (name or caller).replace(" ", "_"))
        assert list(self.facts) == list(range(1, len(self.facts) + 1))
        self.cells: list[dict[tuple[int, str], Counter[str]]] = []  # by object and offset
        self.sections = [self.section(part) for part in parts]

    def section(self, text: str) -> dict[int, Counter[str]]:
        events = re.search(r"^events: (.+)$", text, re.MULTILINE)[1].split(" ")  # type: ignore[index]
        costs: dict[int, Counter[str]] = {}
        cells: dict[tuple[int, str], Counter[str]] = {}
        for row in re.findall(r"^\d+ (\d+(?:\+\d+)?(?: \d+)+)$", text, re.MULTILINE):
            place, *numbers = row.split(" ")
            counts = dict(zip(events, map(int, numbers)))
            number, _, offset = place.partition("+")
            costs.setdefault(int(number), Counter()).update(counts)
            cells.setdefault((int(number), offset or "-"), Counter()).update(counts)
        self.cells.append(cells)
        totals = re.search(r"^totals: (.+)$", text, re.MULTILINE)[1].split(" ")  # type: ignore[index]
        assert sum(costs.values(), Counter()) == +Counter(dict(zip(events, map(int, totals))))
        assert +Counter({e: n for e, n in costs.get(0, Counter()).items() if e[:2] in ("Dr", "Dw", "D1", "DL")}) == {}
        assert not any(n for number in costs if number for e, n in costs[number].items() if e[0] == "I")
        self.totals = tuple(map(int, totals))
        return costs

    def of(self, kind: str, name: str) -> Counter[str]:
        """All that is said of the objects of that kind and name."""
        total: Counter[str] = Counter()
        numbers = [number for number, key in self.names.items() if key == (kind, name)]
        assert numbers, f"no {kind} {name}"
        for number in numbers:
            total += self.facts[number]
            total += self.sections[0].get(number, Counter())
        for event in ("D1tm", "DLtm"):
            total[event] = total[f"{event}r"] + total[f"{event}w"]
        total["PF"] = total["PFr"] + total["PFw"]
        return total

    def check(self, expected: Sequence[str]) -> None:
        assert expected
        for line in expected:
            kind, name, *numbers = line.split()
            counted = self.of(kind, name)
            shown = [n if n == "-" else str(counted[e]) for e, n in zip(EXPECTED, numbers)]
            assert shown == numbers, line


def observe(folder: Path, *command: object, options: Sequence[str] = (), program: str = "run_data") -> Run:
    return run(folder, client(program), *command, options=[*DATA, *options], geometry=MACHINE)


def only(folder: Path) -> Data:
    (path,) = folder.glob("data.*")
    return Data(path)


FAULTS = ("--faults=yes", "--faults-out-file=faults.%p")
