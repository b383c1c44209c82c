# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints what remedies would bring, and makes the table of it that other programs read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..base.documents import Record, Table, Value
from ..base.terminal import Screen
from ..base.text import counted, wrapped
from ..formats.entries import Entries
from ..formats.faultlog import FaultLog
from . import (
    whatif_data,
    whatif_folios,
    whatif_heap,
    whatif_huge_text,
    whatif_link,
    whatif_locale,
    whatif_merged,
    whatif_now,
    whatif_order,
    whatif_populate,
    whatif_static,
)
from .replay import Run
from .whatif import Forecast, Remedy, Saved, forecast, need
from .whatif_code import Used

_COLUMNS = ("minor", "major", "KiB")
_NUMBERS = 30  # columns that these take at most


class Given(NamedTuple):
    """What a forecast has beside the log."""

    entries: Entries | None
    tlbgrind: str  # "": the one beside this command, or in PATH


def forecast_of(log: FaultLog, given: Given) -> Forecast:
    need(log)
    run = Run(log)
    used = Used(run, given.entries) if given.entries is not None else None
    program = whatif_link.program_of(run)
    found: list[Remedy | None] = [
        whatif_locale.remedy(run),
        whatif_locale.characters_only(run),
        whatif_link.no_pie(run, program),
        whatif_link.relr(run, program),
        whatif_now.remedy(run, program),
        whatif_link.no_separate_code(run, program),
        whatif_heap.kept(run),
        whatif_heap.by_brk(run),
        *whatif_folios.remedies(run),
        *whatif_static.remedies(run, program, used, given.tlbgrind),
        *whatif_populate.remedies(run, program),
        whatif_huge_text.remedy(run, program),
        whatif_order.remedy(run, program, used),
        whatif_data.remedy(run, program, used),
        *whatif_merged.remedies(run, program, used, given.tlbgrind),
    ]
    return forecast(run, [remedy for remedy in found if remedy is not None])


def text(log: FaultLog, given: Given, screen: Screen) -> list[str]:
    found = forecast_of(log, given)
    total, cold = log.totals["warm"].faults, log.totals["cold"].major
    kib = found.cold.read * log.page_size // 1024
    rows: list[tuple[str, ...]] = [(*_COLUMNS, "saved by")]
    rows += [(*_cells(saved), _shown(saved.remedy)) for saved in found.saved]
    lines = wrapped(
        "",
        f"Of {counted(total, 'fault')} with all files in the page cache, and of {cold:,} major ones and {kib:,} KiB "
        "read with none, each change would save, from this recording alone:",
        screen.width,
    )
    lines += ["", *screen.table("What if", rows, left=0)]
    lines += _long(found, screen)
    for saved in found.saved:
        lines += _words(saved.remedy, screen)
    lines += ["minor: of the view warm; major, KiB: of the view cold; -: it takes so much more"]
    return [*lines, *_honest(found, screen), ""]


def _cells(saved: Saved) -> tuple[str, ...]:
    return tuple("?" if found is None else str(found) for found in (saved.minor, saved.major, saved.kib))


def _shown(remedy: Remedy) -> str:
    """Of a combination all ranges that are populated at once, at the place of the first."""
    first = f"{whatif_populate.NAME}: "
    parts = remedy.name.split(" + ")
    ranges = [part[len(first) :] for part in parts if part.startswith(first)]
    shown = dict.fromkeys(first + ", ".join(ranges) if part.startswith(first) else part for part in parts)
    return " + ".join(shown)


def _long(found: Forecast, screen: Screen) -> list[str]:
    """Combinations whose names have no room in the table."""
    lines = []
    for saved in found.saved:
        name = _shown(saved.remedy)
        if saved.remedy.is_joined and len(name) > screen.width - _NUMBERS:
            lines += wrapped(f"{saved.minor} together: ", name, screen.width)
    return [*lines, ""] if lines else []


def _words(remedy: Remedy, screen: Screen) -> list[str]:
    if remedy.is_joined:
        return []
    lines = [f"{remedy.name}:"]
    for label, words in (
        ("how: ", remedy.how),
        ("not known: " if not remedy.ways else "if: ", remedy.assumption),
        ("left out: ", remedy.left_out),
    ):
        lines += wrapped(f"   {label}", words, screen.width) if words else []
    return [*lines, ""]


def _honest(found: Forecast, screen: Screen) -> list[str]:
    if not any(found.differs):
        return []
    words = (
        f"The unchanged run, computed in the same way, differs from the log by {found.differs.least:,} "
        f"faults in warm and {found.differs.most:,} major ones in cold: so much each number can be wrong."
    )
    return wrapped("", words, screen.width)


def table(log: FaultLog, given: Given) -> Table:
    columns = tuple(f"{name}_{end}" for name in ("minor", "major", "KiB") for end in ("least", "most"))
    rows = [
        Record((saved.remedy.name,), (*_numbers(saved), *_texts(saved.remedy)))
        for saved in forecast_of(log, given).saved
    ]
    return Table("what_if", ("remedy",), (*columns, "how", "assumption", "left_out"), rows)


def _numbers(saved: Saved) -> Iterator[Value]:
    for found in (saved.minor, saved.major, saved.kib):
        yield from (None, None) if found is None else found


def _texts(remedy: Remedy) -> tuple[Value, ...]:
    return remedy.how, remedy.assumption, remedy.left_out


