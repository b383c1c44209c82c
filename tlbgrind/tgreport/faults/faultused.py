# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Shows how many bytes were used of each page that a fault made present."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from ..base.documents import Value
from ..base.errors import printable
from ..base.terminal import Screen
from ..formats.fault import VIEWS
from ..formats.faultlog import ARRIVALS, FaultLog
from . import faultrows
from .faultrows import used_there
from .faulttables import percent, rows_of

FORMATS = ("text", "csv", "json")


_HEADING = ("pages", "never used", "bytes used", "share", "bytes unused")


def tables(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    text = _by_kind(log, view, screen)
    text += _by_mapping(log, view, top, screen)
    return text + _least(log, view, top, screen)


def _cells(log: FaultLog, values: tuple[Value, ...]) -> tuple[str, ...]:
    pages, never, used, unused = (int(value or 0) for value in values)
    share = percent(used, pages * log.page_size) if pages else ""
    return f"{pages:,}", f"{never:,}", f"{used:,}", share, f"{unused:,}"


def _by_kind(log: FaultLog, view: int, screen: Screen) -> list[str]:
    found = faultrows.used_by_arrival(log, view)
    rows: list[tuple[str, ...]] = [(*_HEADING, "came by")]
    rows += [(*_cells(log, values), label) for label, values in rows_of(found)]
    sums = tuple(sum(column) for column in zip(*(row.values for row in found.rows)))
    rows.append((*_cells(log, sums or (0, 0, 0, 0)), "TOTAL"))
    heading = f"Bytes used, by how the page came, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def _by_mapping(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    found = faultrows.used_by_mapping(log, view, top)
    rows: list[tuple[str, ...]] = [(*_HEADING, "came by", "mapping")]
    for (mapping, came_by), values, _ in found.rows:
        rows.append((*_cells(log, values), str(came_by), str(mapping)))
    if found.omitted:
        rows.append((*_cells(log, found.rest), "", f"<{found.omitted} more>"))
    heading = f"Bytes used, by mapping, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def _least(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    rows: list[tuple[str, ...]] = [("bytes used", "share", "pages", "came by", "page")]
    for (page, came_by), (used, pages), _ in faultrows.least_used(log, view, top).rows:
        share = percent(used, log.page_size)
        rows.append((f"{used:,}", share, f"{pages:,}", str(came_by), str(page)))
    heading = f"The pages that were used least, but were used, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


# --- Listings ---


class _Page(NamedTuple):
    page: str
    native_page: str
    what: str
    name: str
    protection: str
    file_offset: str
    kind: str
    bytes_used: int


FIELDS = _Page._fields


def values(log: FaultLog, view: int) -> Iterator[_Page]:
    """What FIELDS names, of each page."""
    for run in used_there(log, view):
        for number in range(run.pages):
            distance = number * log.page_size
            offset = run.map.offset_of(run.page + distance)
            yield _Page(
                f"{run.page + distance:#x}",
                f"{run.native + distance:#x}",
                run.map.what,
                run.map.name,
                run.map.protection,
                f"{offset:#x}" if run.map.what == "file" else "",
                ARRIVALS[run.kinds[view]],
                run.bytes,
            )


def listing(log: FaultLog, view: int, form: str, native: bool) -> Iterator[str]:
    """One row a page, by mapping and address."""
    if form == "csv":
        return _csv(log, view)
    return _lines(log, view, native)


def _lines(log: FaultLog, view: int, native: bool) -> Iterator[str]:
    yield f"{'page':<14}  {'bytes used':>10}  {'came by':<13}  where"
    for run in used_there(log, view):
        for number in range(run.pages):
            distance = number * log.page_size
            address = (run.native if native else run.page) + distance
            yield printable(
                f"{address:#014x}  {run.bytes:>10,}  {ARRIVALS[run.kinds[view]]:<13}  "
                f"{run.map.place(run.page + distance)}"
            )


def _csv(log: FaultLog, view: int) -> Iterator[str]:
    yield ",".join(_Page._fields)
    for page in values(log, view):
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(page)
        yield out.getvalue()
