# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says what another layout of code changes of what is read from the disk, with no file cached.

The run of the fault log is computed once more, as tg_faults --what-if does it, with the code's pages in
the order in which the entries file has them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from ..base.errors import ReportError
from ..base.text import aligned, title
from ..faults.replay import Event, Piece, Run, replay
from ..formats.elf import PF_X, Elf
from ..formats.fault import Map
from ..formats.faultlog import PROGRAM, FaultLog
from ..places.layout import PAGE, Place, Touch

_COLUMNS = ("", "major faults", "requests", "KiB read")


def table(
    log: FaultLog,
    read_ahead: int | None,
    code: tuple[str, Elf, Sequence[Touch]],
    own: dict[int, Place],
    named: tuple[str, dict[int, Place], Elf],
) -> list[str]:
    """`code`: the object's name, its file, and what of it was executed; `named`: another layout, what it
    is called, and its file. Empty for a log that does not have the kernel's settings."""
    name, binary, touches = code
    if "read-ahead" not in log.header or "fault-around" not in log.header:
        return []
    if log.page_size != PAGE:
        raise ReportError(f"pages of {log.page_size} bytes; the forecast knows 4096 only", log.path)
    run = Run(log)
    if read_ahead is not None:
        run.ahead = read_ahead * 1024 // PAGE
    map_ = _code(log, name, binary)
    label, places, file = named
    rows = [_COLUMNS, _row("as it ran", run), _row(label, _changed(run, map_, (binary, file), touches, own, places))]
    kib = run.ahead * PAGE // 1024
    return [
        title(f"The whole run, no file cached, read-ahead of {kib}K, Linux {run.kernel_name}"),
        *aligned(rows),
        "",
        "requests: of neighbouring pages, each a read of the disk; those before a page is touched as well",
        "",
    ]


def _row(label: str, run: Run) -> tuple[str, ...]:
    found = replay(run, is_cold=True)
    return (label, f"{found.major:,}", f"{found.requests:,}", f"{found.read * PAGE // 1024:,}")


def _code(log: FaultLog, name: str, binary: Elf) -> Map:
    for map_ in reversed(log.maps.values()):
        is_code = map_.what == "file" and map_.name == name and "x" in map_.protection
        if is_code and binary.address_of(map_.offset, PF_X) is not None:
            return map_
    raise ReportError(f"no code of {name} is mapped in it: this is the log of another program", log.path)


def _changed(
    run: Run,
    map_: Map,
    files: tuple[Elf, Elf],
    touches: Sequence[Touch],
    own: dict[int, Place],
    places: dict[int, Place],
) -> Run:
    """The run with the code in its new places: where a page was fetched for the first time, the pages
    come of what is executed from there on up to the next such page."""
    before, after = files
    address = before.address_of(map_.offset, PF_X)
    assert address is not None
    base = (map_.native - address) // PAGE
    first: dict[int, int] = {}
    for place, event in enumerate(run.events):
        if event.map is map_ and event.fetches:
            first.setdefault(event.page, place)
    moved: dict[int, list[int]] = {}
    fetched: set[int] = set()
    now = min(first.values(), default=-1)
    ours: set[int] = set()
    for old, new in zip(_pages(touches, own, own), _pages(touches, places, own)):
        ours.update(first[base + page] for page in old if base + page in first)
        now = max([now, *(first[base + page] for page in old if base + page in first)])
        here = moved.setdefault(now, [])
        for page in new:
            if page not in fetched:
                fetched.add(page)
                here.append(base + page)
    code = _in_file(map_, after, base)
    changed = copy.copy(run)
    changed.events = []
    numbers = []  # of the new events, where the old ones were
    for place, event in enumerate(run.events):
        numbers.append(len(changed.events))
        if event.map is map_:
            event = event._replace(map=code)
        if place not in ours:
            changed.events.append(event)
        for page in moved.get(place, ()):
            changed.events.append(Event(code, page, False, True, PROGRAM, event.when))
    changed.protected = {number: (page, numbers[last]) for number, (page, last) in run.protected.items()}
    changed.pieces = {**run.pieces, map_.number: [Piece(code.native // PAGE, _end(code))]}
    return changed


def _end(map_: Map) -> int:
    return -(-(map_.native + map_.end - map_.start) // PAGE)


def _in_file(map_: Map, binary: Elf, base: int) -> Map:
    """The mapping of the code as it is in the other file."""
    segment = next((s for s in binary.loads if s.flags & PF_X and s.file_size), None)
    if segment is None:
        raise ReportError("it has no code", binary.path)
    begin = segment.address // PAGE
    size = (-(-(segment.address + segment.file_size) // PAGE) - begin) * PAGE
    offset = segment.offset // PAGE * PAGE
    return map_._replace(native=(base + begin) * PAGE, end=map_.start + size, offset=offset)


def _pages(touches: Sequence[Touch], places: dict[int, Place], own: dict[int, Place]) -> Iterator[range]:
    """Of each touch its pages; what has no place stays in its own. Of a function that has changed, all
    is touched at once."""
    seen: set[int] = set()
    for function, (offset, length) in touches:
        place = places.get(id(function), own.get(id(function)))
        if place is None:
            yield range(0)
        elif place.size == function.size:
            yield range((place.address + offset) // PAGE, (place.address + offset + length - 1) // PAGE + 1)
        elif id(function) not in seen:
            seen.add(id(function))
            yield range(place.address // PAGE, (place.address + max(1, place.size) - 1) // PAGE + 1)
        else:
            yield range(0)
