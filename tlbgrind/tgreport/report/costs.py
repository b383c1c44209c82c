# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns out-files into a page's machines and tables of code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Union

from ..annotate.events import Event, Events
from ..annotate.profile import Profile
from ..formats.outfile import Counts, OutFile
from .rows import Shared, count, kept

Key = tuple[Union[str, int], ...]
Sums = Mapping[Key, Counts]


def _same(name: str) -> str:
    return name


class Machine:
    """One out-file: what was simulated, and its counts."""

    def __init__(self, out: OutFile) -> None:
        self.out = out
        self.profile = Profile([out], False, _same, _same)
        self.events = Events(self.profile)
        self.weight: Event = self.events.default_sort()[0]
        self.name = dict(out.descriptions).get("Machine") or out.creator or out.path

    def functions(self) -> Sums:
        return {(f.name, f.file, f.object): sums for f, sums in self.profile.functions().items()}

    def lines(self) -> Sums:
        return {
            (file, line): counts
            for file, lines in self.profile.lines().items()
            for line, counts in lines.items()
        }

    def files(self) -> Sums:
        return {(file,): sums for file, sums in self.profile.source_files().items()}

    def objects(self) -> Sums:
        return {(name,): sums for name, sums in self.profile.objects().items()}

    def description(self, name: str) -> dict[str, object]:
        facts = self.out.descriptions
        return {
            "name": name,
            "file": self.out.path,
            "command": self.out.command,
            "pid": self.out.pid,
            "creator": self.out.creator,
            "facts": [fact for fact in facts if fact[0] not in ("Machine", "Assumption")],
            "assumptions": [value for key, value in facts if key == "Assumption"],
            "events": [
                {"name": event.name, "meaning": event.meaning, "parts": event.parts}
                for event in self.events.by_name.values()
            ],
            "shown": [event.name for event in self.events.default_shown()],
            "sort": self.weight.name,
            "totals": [count(value) for value in self.profile.totals],
        }


def table(
    title: str,
    fields: Sequence[str],
    machines: Sequence[Machine],
    sums: Sequence[Sums],
    shared: Shared,
) -> dict[str, object]:
    keys = list(dict.fromkeys(key for each in sums for key in each))
    zeros = [machine.profile.zero for machine in machines]
    rows = [[each.get(key, zero) for key in keys] for each, zero in zip(sums, zeros)]
    weights = [0] * len(keys)
    for machine, counts in zip(machines, rows):
        for place, row in enumerate(counts):
            weights[place] += machine.weight.of(row)
    places = kept(weights)
    fields_of = list(zip(*(keys[place] for place in places))) or [()] * len(fields)
    return {
        "title": title,
        "fields": [
            {"title": field, "values": _values(values, shared)}
            for field, values in zip(fields, fields_of)
        ],
        "rows": len(places),
        "omitted": len(keys) - len(places),
        "counts": [_columns(counts, places, shared) for counts in rows],
    }


def _values(values: Iterable[str | int], shared: Shared) -> dict[str, object]:
    """A column of names, or of the numbers of lines."""
    column = list(values)
    if any(isinstance(value, int) for value in column):
        return {"numbers": column}
    return {"texts": shared.texts(str(value) for value in column)}


def _columns(rows: Sequence[Counts], places: Sequence[int], shared: Shared) -> list[int]:
    width = len(rows[0]) if rows else 0
    return [shared.column([rows[place][event] for place in places]) for event in range(width)]


def _names(machines: Sequence[Machine]) -> list[str]:
    """What each is called: two of one name by their files, too."""
    names = [machine.name for machine in machines]
    return [
        f"{name} ({machine.out.path})" if names.count(name) > 1 else name
        for name, machine in zip(names, machines)
    ]


def _phase(out: OutFile) -> str | None:
    """The phase that it has the costs of; None: the whole run."""
    return dict(out.descriptions).get("Of phase")


def _phases(
    machines: Sequence[Machine], files: Sequence[OutFile], shared: Shared
) -> list[dict[str, object]]:
    """A table of what each phase costs; none if there are no out-files of phases."""
    sums: list[dict[Key, Counts]] = []
    for machine in machines:
        own = machine.out
        run = (own.pid, own.command, dict(own.descriptions).get("Machine"))
        sums.append(
            {
                (phase,): out.totals
                for out in files
                if (phase := _phase(out)) is not None
                and (out.pid, out.command, dict(out.descriptions).get("Machine")) == run
                and out.events == own.events
            }
        )
    if not any(sums):
        return []
    return [table("Phases", ("Phase",), machines, sums, shared)]


def machines_of(files: Sequence[OutFile]) -> tuple[list[Machine], list[str]]:
    """Of whole runs, if there are any, and what they are called."""
    machines = [Machine(out) for out in files if _phase(out) is None]
    machines = machines or [Machine(out) for out in files]
    return machines, _names(machines)


def costs(
    machines: Sequence[Machine], names: Sequence[str], files: Sequence[OutFile], shared: Shared
) -> dict[str, object]:

    def of_code(title: str, fields: Sequence[str], sums: Sequence[Sums]) -> dict[str, object]:
        return table(title, fields, machines, sums, shared)

    functions = ("Function", "Source file", "Object")
    tables = [
        of_code("Functions", functions, [m.functions() for m in machines]),
        of_code("Lines", ("Source file", "Line"), [m.lines() for m in machines]),
        of_code("Source files", ("Source file",), [m.files() for m in machines]),
        of_code("Objects", ("Object",), [m.objects() for m in machines]),
    ]
    if machines and _phase(machines[0].out) is None:
        tables = [*_phases(machines, files, shared), *tables]
    return {
        "machines": [each.description(name) for each, name in zip(machines, names)],
        "tables": tables if machines else [],
    }
