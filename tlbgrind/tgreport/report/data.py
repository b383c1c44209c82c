# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns data files into a page's tables of data, and of data by line of code."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotate import by_data
from ..annotate.profile import plus
from ..formats.datafile import DataFile, DataObject, Section
from ..formats.outfile import UNKNOWN, Counts
from .columns import Key, of_rows
from .costs import Machine, table
from .rows import Shared

FIELDS = ("Data", "Blocks", "Bytes", "Pages", "Touched", "Per page", "Allocated by")
LINES = ("Data", "Function", "Line of code")


def _stack(obj: DataObject | None) -> str:
    frames = obj.stack if obj is not None else []
    return " < ".join(by_data.place(frame) for frame in frames)


def _objects(data: DataFile, labels: dict[int, str], section: Section) -> dict[Key, Counts]:
    sums: dict[int, Counts] = {}
    for row in section.rows:
        known = sums.get(row.object)
        sums[row.object] = row.counts if known is None else plus(known, row.counts)
    found: dict[Key, Counts] = {}
    for number, counts in sums.items():
        obj = data.objects.get(number)
        numbers = (0, 0, 0, 0, 0)
        if obj is not None:
            average = obj.touched // obj.pages if obj.pages else 0
            numbers = (obj.blocks, obj.bytes, obj.pages, obj.touched, average)
        found[(labels[number], *numbers, _stack(obj))] = counts
    return found


def _lines(labels: dict[int, str], section: Section) -> dict[Key, Counts]:
    sums: dict[Key, Counts] = {}
    for row in section.rows:
        place = UNKNOWN if row.file == UNKNOWN else f"{row.file}:{row.line}"
        key = (labels[row.object], row.function.name, place)
        known = sums.get(key)
        sums[key] = row.counts if known is None else plus(known, row.counts)
    return sums


def tables(files: Sequence[DataFile], shared: Shared) -> list[dict[str, object]]:
    found = []
    for data in files:
        labels = by_data.labels_of(data)
        machines = [Machine(by_data.head(data, s)) for s in data.sections]
        whose = f" of {data.path}" if len(files) > 1 else ""
        objects = [_objects(data, labels, section) for section in data.sections]
        lines = [_lines(labels, section) for section in data.sections]
        for title, fields, sums in (("Data", FIELDS, objects), ("Data by line", LINES, lines)):
            columns = [of_rows(rows, len(m.out.events)) for rows, m in zip(sums, machines)]
            one = table(f"{title}{whose}", fields, machines, columns, shared)
            one["file"] = data.path
            one["machines"] = [machine.description(machine.name) for machine in machines]
            found.append(one)
    return found
