# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The kinds of files, each with its first line and the command that reads it."""

from __future__ import annotations

from typing import NamedTuple

COSTS = "# callgrind format"
DATA = "# tlbgrind data"
ENTRIES = "# tlbgrind entries"
FAULTS = "# tlbgrind fault log"
REACH = "# tlbgrind reach"
TIMELINE = "# tlbgrind timeline"


class Kind(NamedTuple):
    what: str
    reader: str


_KINDS = {
    COSTS: Kind("an out-file", "tg_annotate"),
    DATA: Kind("a data file", "tg_annotate --by=data"),
    ENTRIES: Kind("an entries file", "tg_order"),
    FAULTS: Kind("a fault log", "tg_faults"),
    REACH: Kind("a reach file", "tg_report"),
    TIMELINE: Kind("a timeline", "tg_report"),
}


def kind_of(first_line: str) -> Kind | None:
    return _KINDS.get(first_line)


def other_than(expected: str, first_line: str) -> str:
    """Why a file with that first line is none of the kind that has the line `expected`."""
    what = _KINDS[expected].what
    other = kind_of(first_line)
    if other is None:
        return f"not {what}: the first line is not '{expected}'"
    return f"this is {other.what}, not {what}; {other.reader} reads it"
