# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Computes what is said of the whole program: metadata, rates of its events, changes.

All of it is data; report.py prints it as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from ..formats.outfile import UNKNOWN, OutFile
from .events import Event, Events
from .profile import Profile
from .selection import Selection

Fact = tuple[str, str]

# Descriptions that belong to a run rather than to the simulated machine.
_OF_A_RUN = (
    "Memory",
    "Miss cycles",
    "Share of time",
    "Code",
    "Merged code pages",
    "Forked",
    "Collected",
    "Straddles",
    "Second misses",
    "Unperformed helper accesses",
    "Timerange",
    "Trigger",
)


# For programs; what they say, Memory says to people.
_KEYS = ("Backed", "First touches", "Hit cycles", "Numbered", "Rule", "Touched", "Unheld")


def metadata(profile: Profile, selection: Selection, options: Sequence[Fact]) -> list[Fact]:
    """Names and values, in order; a name may come more than once, a value is never empty."""
    files = profile.files
    roles = ("First file", "Second file") if profile.diff else ("Out-file",) * len(files)
    facts = [(role, out.path) for role, out in zip(roles, files)]
    facts += _distinct("Creator", (out.creator for out in files))
    facts += _distinct("Command", (out.command for out in files))
    facts += [("Process", ", ".join(dict.fromkeys(out.pid for out in files if out.pid)))]
    machines: dict[tuple[Fact, ...], list[OutFile]] = {}
    for out in files:
        apart = (*_OF_A_RUN, *_KEYS)
        machine = tuple(fact for fact in out.descriptions if fact[0] not in apart)
        machines.setdefault(machine, []).append(out)
    for machine, outs in machines.items():
        facts += [("Machine of", outs[0].path)] if len(machines) > 1 else []
        facts += machine
        for name in _OF_A_RUN:
            facts += _distinct(
                name, (value for out in outs for key, value in out.descriptions if key == name)
            )
    facts += [
        ("Events recorded", " ".join(profile.events)),
        ("Events shown", _names(selection.shown)),
        ("Sorted by", _names(selection.sort)),
        ("Threshold", _threshold(profile, selection)),
    ]
    facts += options
    return [(name, value) for name, value in facts if value]


def _distinct(name: str, values: Iterable[str]) -> list[Fact]:
    return [(name, value) for value in dict.fromkeys(values)]


def _names(events: Sequence[Event]) -> str:
    return " ".join(event.name for event in events)


def _threshold(profile: Profile, selection: Selection) -> str:
    if selection.primary is None:
        return "none, for nothing was counted"
    whose = ", in the file that has more" if profile.diff else ""
    return f"{float(selection.threshold):g}% of {selection.primary.name}{whose}"


class Change(NamedTuple):
    """An event in two files."""

    event: Event
    first: int
    second: int


def changes(profile: Profile, shown: Iterable[Event]) -> list[Change]:
    found = []
    for event in shown:
        first = event.of(profile.base)
        found.append(Change(event, first, first + event.of(profile.totals)))
    return found


class Rate(NamedTuple):
    """How often an event happened, in proportion to what could have caused it.

    A proportion is None where it makes no sense, or where there was nothing to cause the event.
    """

    event: Event
    total: int
    per_instruction: Fraction | None
    per_access: Fraction | None
    per_l1_miss: Fraction | None  # of misses beyond the first level


_MISS = re.compile(r"([IDL])([12L])tm([rw]?)\Z")
_REFERENCES = {
    "I": ("Ir",),
    "D": ("Dr", "Dw"),
    "Dr": ("Dr",),
    "Dw": ("Dw",),
    "L": ("Ir", "Dr", "Dw"),
}


def rates(profile: Profile, shown: Iterable[Event]) -> list[Rate]:
    events = Events(profile)

    def rate(count: int, names: Iterable[str]) -> Fraction | None:
        known = [events.by_name[name] for name in names if name in events.by_name]
        base = sum(event.of(profile.totals) for event in known)
        return Fraction(count, base) if base else None

    found = []
    for event in shown:
        count = event.of(profile.totals)
        per_instruction = per_access = per_l1_miss = None
        miss = _MISS.match("LLtm" if event.name == "walks" else event.name)
        if miss:
            side, level, kind = miss.groups()
            per_instruction = rate(count, ("Ir",))
            per_access = rate(count, _REFERENCES.get(side + kind, ()))
            if level != "1":
                per_l1_miss = rate(count, (f"{side}1tm{kind}",))
        found.append(Rate(event, count, per_instruction, per_access, per_l1_miss))
    return found


class Headline(NamedTuple):
    """A report in one line."""

    file: str  # or how many
    command: str
    machine: str  # empty if none is recorded
    result: str


def headline(profile: Profile, selection: Selection) -> Headline:
    files = profile.files
    names = [out.path for out in files]
    many = f"{len(files):,} out-files"
    file = " -> ".join(names) if profile.diff else names[0] if len(names) == 1 else many
    commands = " / ".join(dict.fromkeys(out.command or "unknown command" for out in files))
    machines = dict.fromkeys(
        value for out in files for key, value in out.descriptions if key == "Machine"
    )
    return Headline(file, commands, ", ".join(machines), _result(profile, selection))


def _result(profile: Profile, selection: Selection) -> str:
    events = Events(profile).by_name
    event = events.get("walks") or selection.primary or selection.sort[0]
    name = "page walks" if event.name == "walks" else event.name
    singular = "page walk" if event.name == "walks" else event.name
    total = event.of(profile.totals)
    if profile.diff:
        first = event.of(profile.base)
        return f"{name} {first:,} -> {first + total:,}"
    instructions = events["Ir"].of(profile.totals) if "Ir" in events else 0
    if event.name == "Ir" or not instructions:
        return f"{total:,} {name}"
    return f"{total:,} {singular if total == 1 else name}, {1000 * total / instructions:,.3f} per 1000 Ir"


class Elsewhere(NamedTuple):
    """Costs on lines of other files than their function's: what the compiler inlined from there."""

    share: Fraction
    file: str  # the one with most


_LEAST_ELSEWHERE = Fraction(1, 10)


def inlined_from_elsewhere(profile: Profile, selection: Selection) -> Elsewhere | None:
    """None: hardly any."""
    event = selection.primary
    whole = event.of(profile.totals) if event is not None else 0
    if event is None or profile.diff or not whole:
        return None
    files: dict[str, int] = {}
    for (function, file), counts in profile.functions_by_file().items():
        if UNKNOWN not in (file, function.file) and file != function.file:
            files[file] = files.get(file, 0) + event.of(counts)
    share = Fraction(sum(files.values()), whole)
    if share < _LEAST_ELSEWHERE:
        return None
    return Elsewhere(share, max(files, key=lambda file: (files[file], file)))
