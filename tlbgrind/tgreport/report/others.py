# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns reach files and entries files into a page's curves and tables."""

from __future__ import annotations

from ..formats.entries import Entries
from ..formats.reach import COLUMNS, FEWEST, Reach
from ..formats.timeline import Timeline
from .rows import MOST_ROWS, Shared, count, kept


def reach(read: Reach) -> dict[str, object]:
    """Of equal neighbours the first and the last are enough to draw a line."""
    curves = []
    for column in zip(*read.misses):
        last = len(column) - 1
        corners = [
            place
            for place, misses in enumerate(column)
            if place in (0, last) or not column[place - 1] == misses == column[place + 1]
        ]
        curves.append([[FEWEST + place, count(column[place])] for place in corners])
    return {
        "file": read.path,
        "command": read.command,
        "facts": [[key, value] for key, value in read.header.items() if key not in _FORMAT],
        "columns": COLUMNS,
        "curves": curves,
    }


_FORMAT = ("version", "creator")


def timeline(read: Timeline) -> dict[str, object]:
    return {
        "file": read.path,
        "command": read.command,
        "machines": read.machines,
        "columns": read.columns,
        "rows": [list(map(count, row)) for row in read.rows],
        "marks": [[count(at), phase] for at, phase in read.marks],
    }


def entries(read: Entries, shared: Shared) -> dict[str, object]:
    """Functions in the order in which they were entered first."""
    executed: dict[int, int] = {}
    for block in read.blocks:
        executed[block.function] = executed.get(block.function, 0) + block.length
    ordered = sorted(read.functions.items(), key=lambda item: (item[1].when, item[0]))
    places = kept([-place for place in range(len(ordered))])
    chosen = [ordered[place] for place in places]
    objects = {number: place for place, number in enumerate(read.objects)}
    functions = [[0, 0] for _ in objects]
    for number, function in read.functions.items():
        sums = functions[objects[function.object]]
        sums[0] += 1
        sums[1] += executed.get(number, 0)
    written = [0] * len(objects)
    for write in read.writes:
        written[objects[write.object]] += write.length
    writes = sorted((write.when, write.length) for write in read.writes)
    return {
        "file": read.path,
        "command": read.command,
        "omitted": len(ordered) - len(chosen),
        "functions": {
            "names": shared.texts(function.name for _, function in chosen),
            "objects": [objects[function.object] for _, function in chosen],
            "when": [count(function.when) for _, function in chosen],
            "offsets": [f"{function.offset:#x}" for _, function in chosen],
            "sizes": [count(function.size) for _, function in chosen],
            "executed": [count(executed.get(number, 0)) for number, _ in chosen],
        },
        "objects": [
            {
                "name": shared.text(known.name),
                "functions": functions[place][0],
                "executed": count(functions[place][1]),
                "written": count(written[place]),
            }
            for place, known in enumerate(read.objects.values())
        ],
        "writes": [[count(when), length] for when, length in writes[:MOST_ROWS]],
    }
