# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Shows how many bytes were used of each page that a fault made present."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..base.errors import printable
from ..base.terminal import Screen
from ..formats.faultlog import ARRIVALS, VIEWS, FaultLog, Used

FORMATS = ("text", "csv", "json")


class _Sum:
    """Of some pages: how many, how many of them were never used, and the bytes that were."""

    def __init__(self) -> None:
        self.pages = 0
        self.untouched = 0
        self.bytes = 0

    def add(self, run: Used) -> None:
        self.pages += run.pages
        self.untouched += run.pages * (not run.bytes)
        self.bytes += run.pages * run.bytes

    def join(self, other: _Sum) -> None:
        self.pages += other.pages
        self.untouched += other.untouched
        self.bytes += other.bytes

    def unused(self, page_size: int) -> int:
        return self.pages * page_size - self.bytes

    def cells(self, page_size: int) -> tuple[str, ...]:
        numbers = (self.pages, self.untouched, self.bytes)
        waste = f"{self.unused(page_size):,}"
        return (*(f"{n:,}" for n in numbers), _share(self.bytes, self.pages * page_size), waste)


_HEADING = ("pages", "never used", "bytes used", "share", "bytes unused")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


def _there(log: FaultLog, view: int) -> Iterator[Used]:
    return (run for run in log.used if run.is_there(view))


def tables(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    text = _by_kind(log, view, screen)
    text += _by_mapping(log, view, top, screen)
    return text + _least(log, view, top, screen)


def _sums(log: FaultLog, view: int, key: Callable[[Used], str]) -> dict[str, _Sum]:
    sums: dict[str, _Sum] = {}
    for run in _there(log, view):
        sums.setdefault(key(run), _Sum()).add(run)
    return sums


def _by_kind(log: FaultLog, view: int, screen: Screen) -> list[str]:
    sums = _sums(log, view, lambda run: run.kinds[view])
    rows: list[tuple[str, ...]] = [(*_HEADING, "came by")]
    rows += [
        (*sums[kind].cells(log.page_size), name) for kind, name in ARRIVALS.items() if kind in sums
    ]
    whole = _Sum()
    for part in sums.values():
        whole.join(part)
    rows.append((*whole.cells(log.page_size), "TOTAL"))
    heading = f"Bytes used, by how the page came, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def _by_mapping(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    """Those first that waste most."""
    sums: dict[tuple[str, str], _Sum] = {}
    for run in _there(log, view):
        sums.setdefault((run.map.label, run.kinds[view]), _Sum()).add(run)

    def rank(key: tuple[str, str]) -> tuple[int, tuple[str, str]]:
        return -sums[key].unused(log.page_size), key

    ranked = sorted(sums, key=rank)
    shown = ranked[: top - 1] if top and len(ranked) > top else ranked
    rows: list[tuple[str, ...]] = [(*_HEADING, "came by", "mapping")]
    for label, kind in shown:
        rows.append((*sums[label, kind].cells(log.page_size), ARRIVALS[kind], label))
    rest = ranked[len(shown) :]
    if rest:
        other = _Sum()
        for key in rest:
            other.join(sums[key])
        rows.append((*other.cells(log.page_size), "", f"<{len(rest)} more>"))
    heading = f"Bytes used, by mapping, view {VIEWS[view]}"
    return screen.table(heading, rows, left=0)


def _least(log: FaultLog, view: int, top: int, screen: Screen) -> list[str]:
    """Pages of which little was used; those of which nothing was are counted above."""
    runs = sorted((run for run in _there(log, view) if run.bytes), key=lambda run: run.bytes)
    rows: list[tuple[str, ...]] = [("bytes used", "share", "pages", "came by", "page")]
    for run in runs[: top or None]:
        share = _share(run.bytes, log.page_size)
        name = ARRIVALS[run.kinds[view]]
        rows.append((f"{run.bytes:,}", share, f"{run.pages:,}", name, run.map.place(run.page)))
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
    for run in _there(log, view):
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
    for run in _there(log, view):
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
