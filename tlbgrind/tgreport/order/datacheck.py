# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Checks whether a binary has its variables in an order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..base.errors import printable
from ..formats.elf import Elf, Symbol, data_symbols
from ..places.datafaults import PAGE
from ..places.dataorder import SECTIONS
from .work import some

_FOLLOWS = 0.9  # as of functions


class Wanted(NamedTuple):
    """A variable of the order."""

    names: Sequence[str]
    file: str
    place: range  # in the binary that was run; empty: not known
    is_written: bool


class DataCheck(NamedTuple):
    lines: list[str]
    follows: bool


def variables_of(binary: Elf) -> dict[str, list[Symbol]]:
    """What can be ordered, by name."""
    found: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in data_symbols(binary):
        section = binary.section_of(symbol)
        if section is not None and section.name in SECTIONS:
            found[symbol.name].append(symbol)
    return found


def check_data(wanted: Sequence[Wanted], binary: Elf) -> DataCheck:
    known = variables_of(binary)
    missing: list[str] = []
    places: list[Symbol] = []
    for one in wanted:
        found = [symbol for name in one.names for symbol in known.get(name, ())]
        found = [symbol for symbol in found if symbol.file == one.file] or found
        if not found:
            missing.append(one.names[0])
        elif found[0] not in places[-1:]:
            places.append(found[0])
    # Linkers order within a section.
    pairs = [(a.address, b.address) for a, b in zip(places, places[1:]) if a.section == b.section]
    share = sum(a < b for a, b in pairs) / len(pairs) if pairs else 1.0
    follows = share >= _FOLLOWS
    verdict = "follows" if follows else "does NOT follow"
    text = [f"Its data {verdict} the order: {100 * share:.1f}% of neighbouring variables are ascending."]
    if not follows:
        text.append("Was it compiled with -fdata-sections, and did the linker get the file?")
    if any(len(one.place) for one in wanted):
        before = _pages(one.place for one in wanted if one.is_written)
        by_name = {s.name: range(s.address, s.address + s.size) for s in places}
        after = _pages(by_name[one.names[0]] for one in wanted if one.is_written and one.names[0] in by_name)
        text.append(f"Pages with variables that are written or relocated: {before:,} as it ran, {after:,} here.")
    if missing:
        text.append(f"Not in this binary: {len(missing):,} of {len(wanted):,} variables: {some(missing, 20)}")
    return DataCheck([printable(line) for line in text], follows)


def _pages(places: Iterable[range]) -> int:
    """How many pages they are on together."""
    count = 0
    last = -1
    for place in sorted(places, key=lambda r: r.start):
        first, end = max(last + 1, place.start // PAGE), (place.stop - 1) // PAGE
        count += max(0, end - first + 1)
        last = max(last, end)
    return count
