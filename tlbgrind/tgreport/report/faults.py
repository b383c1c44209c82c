# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns a fault log into a page's timeline, mappings and faulting code."""

from __future__ import annotations

from collections.abc import Iterator

from ..faults.faulttables import verdict
from ..formats.fault import KINDS, VIEWS, Code, Fault
from ..formats.faultlog import FaultLog, of_phase, phases
from .rows import Shared, count


def _runs(log: FaultLog) -> Iterator[tuple[Fault, int]]:
    """Each line's fault, and for how many it stands."""
    last: Fault | None = None
    for line in log.lines:
        if isinstance(line, Fault):
            last = line
            yield line, 1
        else:
            assert last is not None
            yield last, line.times


class _Sums:
    """Faults in each view, and major ones."""

    def __init__(self) -> None:
        self.faults = [0] * len(VIEWS)
        self.major = [0] * len(VIEWS)

    def add(self, fault: Fault, times: int) -> None:
        for view, letter in enumerate(fault.kinds):
            if letter != "-":
                self.faults[view] += times
                self.major[view] += times * letter.isupper()

    def json(self) -> dict[str, object]:
        return {"faults": list(map(count, self.faults)), "major": list(map(count, self.major))}


def _mappings(log: FaultLog, sums: dict[int, _Sums], shared: Shared) -> list[dict[str, object]]:
    there = {number: [0, 0] for number in log.maps}
    for used in log.used:
        if used.is_there(VIEWS.index("warm")):
            there[used.map.number][0] += used.pages
            there[used.map.number][1] += used.pages * used.bytes
    size = log.page_size
    return [
        {
            "name": shared.text(map_.name or f"[{map_.what}]"),
            "what": map_.what,
            "protection": map_.protection,
            "native": f"{map_.native:#x}",
            "pages": (map_.end - map_.start + size - 1) // size,
            "there": count(there[number][0]),
            "used": count(there[number][1]),
            **sums[number].json(),
        }
        for number, map_ in log.maps.items()
    ]


def _timeline(log: FaultLog, maps: dict[int, int], codes: dict[Code, int]) -> dict[str, object]:
    """The log's lines in columns. A repetition is {line, times, steps}: the page unfolds it."""
    faults = [line for line in log.lines if isinstance(line, Fault)]
    kinds = {letters: place for place, letters in enumerate(dict.fromkeys(f.kinds for f in faults))}
    calls = {name: place for place, name in enumerate(dict.fromkeys(f.by for f in faults))}
    repeats: list[tuple[int, int, int, int]] = []
    at = -1
    for line in log.lines:
        if isinstance(line, Fault):
            at += 1
        else:
            step = line.page_step // log.page_size
            repeats.append((at, line.times, step, line.instruction_step))
    return {
        "kindNames": list(kinds),
        "calls": list(calls),
        "kinds": [kinds[f.kinds] for f in faults],
        "pages": [(f.page - f.map.start) // log.page_size for f in faults],
        "maps": [maps[f.map.number] for f in faults],
        "instructions": _steps([f.instructions for f in faults]),
        "threads": [f.thread for f in faults],
        "by": [calls[f.by] for f in faults],
        "codes": [codes[f.code] for f in faults],
        "repeats": repeats,
    }


def _steps(values: list[int]) -> list[int]:
    """Each minus the one before: shorter."""
    return [value - before for before, value in zip([0, *values], values)]


def _code(code: Code, sums: _Sums, shared: Shared) -> dict[str, object]:
    file = f"{code.file}:{code.line}" if code.line else code.file
    return {
        "function": shared.text(code.function),
        "place": shared.text(file),
        "object": shared.text(code.object),
        "address": f"{code.address:#x}",
        **sums.json(),
    }


def _phases(log: FaultLog) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for phase in phases(log):
        totals = of_phase(log, phase).totals.values()
        found.append({"name": phase, "faults": [count(each.faults) for each in totals]})
    return found


def _start(log: FaultLog) -> dict[str, object] | None:
    """The faults of each view before the program's own code runs: of the kernel and the dynamic
    linker. None: it never runs, or there is no such program."""
    program = next((map_.name for map_ in log.maps.values() if map_.what == "file"), None)
    sums = _Sums()
    for fault, times in _runs(log):
        if program is not None and fault.code.object == program and not fault.by:
            return {**sums.json(), "instructions": count(fault.instructions)}
        sums.add(fault, times)
    return None


def faults(log: FaultLog, shared: Shared) -> dict[str, object]:
    by_map = {number: _Sums() for number in log.maps}
    by_code: dict[Code, _Sums] = {}
    for fault, times in log.lines.counts():
        by_map[fault.map.number].add(fault, times)
        by_code.setdefault(fault.code, _Sums()).add(fault, times)
    maps = {number: place for place, number in enumerate(log.maps)}
    codes = {code: place for place, code in enumerate(by_code)}
    return {
        "file": log.path,
        "command": log.command,
        "pageSize": log.page_size,
        "facts": [[key, value] for key, value in log.header.items() if key not in _FORMAT],
        "assumptions": log.assumptions,
        "views": list(VIEWS),
        "kinds": KINDS,
        "totals": {
            view: {
                "faults": count(totals.faults),
                "major": count(totals.major),
                "kinds": list(map(count, totals.kinds)),
            }
            for view, totals in log.totals.items()
        },
        "knowsUse": log.knows_use,
        "maps": _mappings(log, by_map, shared),
        "codes": [_code(code, sums, shared) for code, sums in by_code.items()],
        "timeline": _timeline(log, maps, codes),
        "marks": [[count(mark.instructions), mark.phase] for mark in log.marks],
        "phases": _phases(log),
        "start": _start(log),
        "verdict": verdict(log),
    }


# Of the header: what tells of the file and not of the run.
_FORMAT = ("version", "columns", "views", "creator")
