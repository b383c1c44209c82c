# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the head of a report: metadata, and the counts of the whole program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..base.errors import printable
from ..base.text import aligned, percentage, title
from ..formats.outfile import OutFile
from .events import Event, Events
from .profile import Profile
from .selection import Selection
from .table import Table

Fact = tuple[str, str]

# Descriptions that belong to a run rather than to the simulated machine.
_OF_A_RUN = (
    "Memory",
    "Forked",
    "Straddles",
    "Second misses",
    "Unperformed helper accesses",
    "Timerange",
    "Trigger",
)


def metadata(profile: Profile, selection: Selection, options: Sequence[Fact]) -> list[str]:
    files = profile.files
    roles = ("First file", "Second file") if profile.diff else ("Out-file",) * len(files)
    facts = [(role, out.path) for role, out in zip(roles, files)]
    facts += _distinct("Creator", (out.creator for out in files))
    facts += _distinct("Command", (out.command for out in files))
    facts += [("Process", ", ".join(dict.fromkeys(out.pid for out in files if out.pid)))]
    machines: dict[tuple[Fact, ...], list[OutFile]] = {}
    for out in files:
        machine = tuple(fact for fact in out.descriptions if fact[0] not in _OF_A_RUN)
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
    facts = [(name, value) for name, value in facts if value]
    width = 2 + max(len(name) for name, _ in facts)
    return [*title("Metadata"), *(printable(f"{n + ':':<{width}}{v}") for n, v in facts), ""]


def _distinct(name: str, values: Iterable[str]) -> list[Fact]:
    return [(name, value) for value in dict.fromkeys(values)]


def _names(events: Sequence[Event]) -> str:
    return " ".join(event.name for event in events)


def _threshold(profile: Profile, selection: Selection) -> str:
    if selection.primary is None:
        return "none, for nothing was counted"
    whose = ", in the file that has more" if profile.diff else ""
    return f"{float(selection.threshold):g}% of {selection.primary.name}{whose}"


def summary(profile: Profile, selection: Selection, show_percs: bool) -> list[str]:
    table = Table(selection.shown, profile.base, show_percs)
    text = [*title("Summary"), *table.lines([(profile.totals, "PROGRAM TOTALS")], ""), ""]
    events = Events(profile)
    if profile.diff:
        text += [*_changes(profile, events), ""]
    elif events.derived:
        text += [*_rates(profile, events), ""]
    return text


def _changes(profile: Profile, events: Events) -> list[str]:
    rows = [("event", "first", "second", "difference", "", "")]
    for event in events.by_name.values():
        before = event.of(profile.base)
        change = event.of(profile.totals)
        share = percentage(change, before)
        numbers = (f"{before:,}", f"{before + change:,}", f"{change:+,}")
        rows.append((event.name, *numbers, share, event.meaning))
    return aligned(rows)


_MISS = re.compile(r"([IDL])([12L])tm([rw]?)\Z")
_REFERENCES = {
    "I": ("Ir",),
    "D": ("Dr", "Dw"),
    "Dr": ("Dr",),
    "Dw": ("Dw",),
    "L": ("Ir", "Dr", "Dw"),
}


def _rates(profile: Profile, events: Events) -> list[str]:
    """How often each event happened, in proportion to what could have caused it."""

    def total(names: Iterable[str]) -> int:
        known = [events.by_name[name] for name in names if name in events.by_name]
        return sum(event.of(profile.totals) for event in known)

    def rate(factor: int, count: int, names: Iterable[str], unit: str) -> str:
        base = total(names)
        return f"{factor * count / base:,.3f}{unit}" if base else ""

    rows = [("event", "count", "per 1000 Ir", "of accesses", "of L1 misses", "")]
    for event in events.by_name.values():
        count = event.of(profile.totals)
        per_instruction = accesses = l1_misses = ""
        miss = _MISS.match("LLtm" if event.name == "walks" else event.name)
        if miss:
            side, level, kind = miss.groups()
            per_instruction = rate(1000, count, ("Ir",), "")
            accesses = rate(100, count, _REFERENCES.get(side + kind, ()), "%")
            if level != "1":
                l1_misses = rate(100, count, (f"{side}1tm{kind}",), "%")
        rows.append((event.name, f"{count:,}", per_instruction, accesses, l1_misses, event.meaning))
    return aligned(rows)
