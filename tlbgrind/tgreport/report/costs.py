# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns out-files into a page's machines and tables of code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..annotate import sources
from ..annotate.events import Event, Events
from ..annotate.profile import Profile
from ..formats.outfile import OutFile
from ..formats.share import told_by
from .columns import Column, Columns, Key, Layout, Sums, added, of_rows
from .rows import MOST_LINES, Shared, count, kept

# What a page is sorted by: of what the chosen machine has, the first that is not zero.
MEASURES = ("Wcyc", "walks", "L1tm", "Ir")
_LONGEST_LINE = 160


def _same(name: str) -> str:
    return name


class Machine:
    """One out-file: what was simulated, and its counts."""

    def __init__(self, out: OutFile, columns: Columns | None = None) -> None:
        self.out = out
        self.columns = columns
        self.profile = Profile([out], False, _same, _same)
        self.events = Events(self.profile)
        self.totals = out.totals
        self.weight = self._weight()
        self.name = dict(out.descriptions).get("Machine") or out.creator or out.path

    def _weight(self) -> Event:
        known = [self.events.by_name[name] for name in MEASURES if name in self.events.by_name]
        others = known or self.events.default_sort()
        return next((event for event in others if event.of(self.totals)), others[0])

    def costs(self) -> Columns:
        if self.columns is None:
            self.columns = Columns(self.out)
        return self.columns

    def is_whole(self) -> bool:
        """Of a run, not of a part of it."""
        return not {"Of phase", "Of thread"} & {key for key, _ in self.out.descriptions}

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
            "share": _share(self.out),
            "events": [
                {"name": event.name, "meaning": event.meaning, "parts": event.parts}
                for event in self.events.by_name.values()
            ],
            "shown": [event.name for event in self.events.default_shown()],
            "measures": [name for name in MEASURES if name in self.events.by_name],
            "sort": self.weight.name,
            "totals": [count(value) for value in self.totals],
        }


def _share(out: OutFile) -> dict[str, object]:
    """Of the time, in per cent."""
    told = told_by(out)
    if told is None:
        return {"low": None, "high": None, "words": "unknown", "basis": ""}
    low, high = (float(100 * end) for end in (told.least, told.most))
    return {"low": low, "high": high, "words": told.words(), "basis": told.basis}


def _weights(machine: Machine, sums: Sums) -> Column:
    weights: Column = [0] * len(sums.keys)
    for part in machine.weight.parts:
        weights = added(weights, sums.columns[part])
    return weights


def _aligned(sums: Sequence[Sums]) -> tuple[Sequence[Key], list[Sums]]:
    """All with the same rows."""
    first = sums[0].keys if sums else []
    if all(each.keys is first or each.keys == first for each in sums):
        return first, list(sums)
    keys = list(dict.fromkeys(key for each in sums for key in each.keys))
    found = []
    for each in sums:
        places = {key: place for place, key in enumerate(each.keys)}
        order = [places.get(key, -1) for key in keys]
        columns = [[column[at] if at >= 0 else 0 for at in order] for column in each.columns]
        found.append(Sums(keys, columns))
    return keys, found


def table(
    title: str,
    fields: Sequence[str],
    machines: Sequence[Machine],
    sums: Sequence[Sums],
    shared: Shared,
) -> dict[str, object]:
    keys, rows = _aligned(sums)
    weights: Column = [0] * len(keys)
    for machine, each in zip(machines, rows):
        weights = added(weights, _weights(machine, each))
    places = kept(weights)
    if len(places) < len(keys):
        keys = [keys[place] for place in places]
        rows = [Sums(keys, [[c[place] for place in places] for c in each.columns]) for each in rows]
    return _described(title, fields, keys, len(weights), [each.columns for each in rows], shared)


def _described(
    title: str,
    fields: Sequence[str],
    keys: Sequence[Key],
    all_rows: int,
    counts: Sequence[Sequence[Column]],
    shared: Shared,
) -> dict[str, object]:
    fields_of = list(zip(*keys)) or [()] * len(fields)
    return {
        "title": title,
        "fields": [
            {"title": field, "values": _values(values, shared)}
            for field, values in zip(fields, fields_of)
        ],
        "rows": len(keys),
        "omitted": all_rows - len(keys),
        "counts": [[shared.column(column) for column in columns] for columns in counts],
    }


def _values(values: Iterable[str | int], shared: Shared) -> dict[str, object]:
    """A column of names, or of the numbers of lines."""
    column = list(values)
    if int in set(map(type, column)):
        return {"numbers": column}
    return {"texts": shared.texts(map(str, column))}


# ---------------------------------------------------------------- lines

LINES = ("Source file", "Line", "Function", "Text")


def _lines(machines: Sequence[Machine], with_source: bool, shared: Shared) -> dict[str, object]:
    """The lines that cost most, each with the function that has most of it, and its text."""
    layouts: dict[Layout, Column] = {}  # which machines of a run share
    for machine in machines:
        costs = machine.costs()
        own = costs.weights(machine.weight.parts)
        known = layouts.get(costs.layout)
        layouts[costs.layout] = own if known is None else added(known, own)
    weights: dict[Key, int] = {}
    for layout, rows in layouts.items():
        for_all = layout.sums_of_lines(rows)
        weights = for_all if not weights else _sum(weights, for_all)
    keys = list(weights)
    places = kept(list(weights.values()), MOST_LINES)
    chosen = {keys[place]: at for at, place in enumerate(places)}
    functions = _functions(layouts, chosen)
    text = _Texts(machines) if with_source else None
    named: list[Key] = [
        (file, line, function, text.of(str(file), int(line)) if text else "")
        for (file, line), function in zip(chosen, functions)
    ]
    counts = [machine.costs().lines(chosen) for machine in machines]
    found = _described("Lines", LINES, named, len(keys), counts, shared)
    found["newer"] = sorted(text.newer) if text else []
    return found


def _sum(one: dict[Key, int], other: dict[Key, int]) -> dict[Key, int]:
    for key, weight in other.items():
        one[key] = one.get(key, 0) + weight
    return one


def _functions(layouts: dict[Layout, Column], chosen: dict[Key, int]) -> list[str]:
    names = [""] * len(chosen)
    for layout, weights in layouts.items():
        for place, costs in enumerate(layout.functions_of_lines(chosen, weights)):
            if costs and not names[place]:
                most = max(costs, key=lambda name: costs[name])
                names[place] = most if len(costs) == 1 else f"{most} and {len(costs) - 1} more"
    return names


class _Texts:
    """Source files, each read once, as far as they can be read."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self._run = min((machine.out.mtime for machine in machines), default=0.0)
        self._lines: dict[str, list[str]] = {}
        self.newer: set[str] = set()  # changed since the run: perhaps not what was run

    def of(self, file: str, line: int) -> str:
        lines = self._lines.get(file)
        if lines is None:
            # A name that is relative is where the program was compiled, not where this runs.
            source = sources.find(file, ())
            lines = self._lines[file] = source.lines if source is not None else []
            if source is not None and source.mtime > self._run:
                self.newer.add(file)
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return text if len(text) <= _LONGEST_LINE else f"{text[: _LONGEST_LINE - 1]}…"


# ---------------------------------------------------------------- all of it


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
    sums: list[Sums] = []
    for machine in machines:
        own = machine.out
        run = (own.pid, own.command, dict(own.descriptions).get("Machine"))
        rows: dict[Key, tuple[int, ...]] = {
            (phase,): out.totals
            for out in files
            if (phase := _phase(out)) is not None
            and (out.pid, out.command, dict(out.descriptions).get("Machine")) == run
            and out.events == own.events
        }
        sums.append(of_rows(rows, len(own.events)))
    if not any(each.keys for each in sums):
        return []
    return [table("Phases", ("Phase",), machines, sums, shared)]


def machines_of(
    files: Sequence[OutFile], columns: dict[str, Columns]
) -> tuple[list[Machine], list[str]]:
    """Of whole runs, if there are any, and what they are called."""
    machines = [Machine(out, columns.get(out.path)) for out in files]
    machines = [machine for machine in machines if machine.is_whole()] or machines
    return machines, _names(machines)


def costs(
    machines: Sequence[Machine],
    names: Sequence[str],
    files: Sequence[OutFile],
    with_source: bool,
    shared: Shared,
) -> dict[str, object]:

    def of_code(title: str, fields: Sequence[str], sums: Sequence[Sums]) -> dict[str, object]:
        return table(title, fields, machines, sums, shared)

    if not machines:
        return {"machines": [], "tables": []}
    functions = ("Function", "Source file", "Object")
    tables = [
        of_code("Functions", functions, [m.costs().functions() for m in machines]),
        _lines(machines, with_source, shared),
        of_code("Source files", ("Source file",), [m.costs().files() for m in machines]),
        of_code("Objects", ("Object",), [m.costs().objects() for m in machines]),
    ]
    if machines[0].is_whole():
        tables = [*_phases(machines, files, shared), *tables]
    return {
        "machines": [each.description(name) for each, name in zip(machines, names)],
        "tables": tables,
    }
