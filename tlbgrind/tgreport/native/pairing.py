# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds for each fault of one run the page of another run that is the same, wherever both lie.

Without address randomisation most programs have the same addresses in each run, and then a page is
named by its address. Some draw addresses themselves (node, Go). Their memory is paired:

- a page of a file by the file and the offset in it;
- other memory by the address, if the other run touches most of the region's pages there, too;
- what is left, region by region: with the region of the other run, and the distance between the
  two, that most of its faults agree with, and of several the first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from ..formats.faultlog import FaultLog
from .perfevents import Image

_TRIED = 48  # distances between two regions, the likeliest first
_SEEN_AS = {"x": "x", "r": "r", "z": "r", "w": "w", "c": "c", "d": "c"}

Place = tuple[int, str]  # page, kind


class Touch(NamedTuple):
    """A fault, as far as pairing needs it."""

    page: int
    kind: str
    region: tuple[int, str]  # what tells it from others of the run: start, file
    file: str  # "": none
    offset: int  # of the page, in the file


class Paired(NamedTuple):
    pages: list[int]  # of the other run, one for each fault
    regions: int  # that lie elsewhere there
    faults: int  # in these


def of_log(log: FaultLog, view: int) -> list[Touch]:
    size = log.page_size
    touches = []
    for fault in log.of(view):
        page = fault.native // size * size
        file = fault.map.name if fault.map.what == "file" else ""
        offset = page - fault.map.native + fault.map.offset
        kind = _SEEN_AS[fault.kind(view)]
        touches.append(Touch(page, kind, (fault.map.number, fault.map.name), file, offset))
    return touches


def of_image(image: Image, page_size: int) -> list[Touch]:
    touches = []
    for fault in image.faults:
        page = fault.address // page_size * page_size
        region = fault.region
        file = region.name if region.is_file else ""
        offset = page - region.start + region.offset
        touches.append(Touch(page, fault.kind, (region.start, region.name), file, offset))
    return touches


def draws_addresses(one: Image, other: Image) -> bool:
    """Whether a program maps memory at other addresses in another run."""
    return one.layout != other.layout


def by_address(run: Sequence[Touch]) -> Paired:
    return Paired([touch.page for touch in run], 0, 0)


def by_mapping(run: Sequence[Touch], other: Sequence[Touch]) -> Paired:
    with_kinds = all(touch.kind for touch in [*run, *other])

    def place(touch: Touch) -> Place:
        return touch.page, touch.kind if with_kinds else ""

    files = _files(other)
    pages = [touch.page for touch in run]
    for number, touch in enumerate(run):
        if touch.file:
            there = files.get((touch.file, touch.offset), [touch.page])
            # A file may be mapped several times: if one of them is at the same address, it is meant.
            pages[number] = touch.page if touch.page in there else there[0]
    strays = _elsewhere(run, other)
    free = {
        region: [place(other[number]) for number in numbers]
        for region, numbers in _elsewhere(other, run).items()
    }
    moved = regions = 0
    for numbers in sorted(strays.values(), key=lambda numbers: (-len(numbers), numbers[0])):
        here = [place(run[number]) for number in numbers]
        found = [(*_closest(here, faults), region) for region, faults in free.items()]
        agree, distance, region = max(found, key=lambda one: one[0], default=(0, 0, (0, "")))
        if not agree:
            continue
        del free[region]
        regions += 1
        moved += len(numbers)
        for number in numbers:
            pages[number] += distance
    return Paired(pages, regions, moved)


def _elsewhere(run: Sequence[Touch], other: Sequence[Touch]) -> dict[tuple[int, str], list[int]]:
    """The regions, with the numbers of their faults, most of whose pages the other run does not
    touch at the same addresses; no files."""
    settled = {touch.page for touch in other}
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    for number, touch in enumerate(run):
        if not touch.file:
            found[touch.region].append(number)
    return {
        region: numbers
        for region, numbers in found.items()
        if 2 * sum(run[number].page in settled for number in numbers) < len(numbers)
    }


def share(run: Sequence[Touch], other: Sequence[Touch], paired: Paired) -> float:
    """The part of the larger run whose pages both have."""
    both = Counter(paired.pages) & Counter(touch.page for touch in other)
    return sum(both.values()) / max(len(run), len(other), 1)


def _files(run: Sequence[Touch]) -> dict[tuple[str, int], list[int]]:
    """Pages of files -> where the run has them."""
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for touch in run:
        if touch.file:
            found[touch.file, touch.offset].append(touch.page)
    return found


def _closest(one: Sequence[Place], other: Sequence[Place]) -> tuple[int, int]:
    """How many of them agree at the distance at which most do, and that distance."""
    distances = Counter(there - here for here, _ in one[:_TRIED] for there, _ in other[:_TRIED])
    counts = Counter(other)
    best = 0, 0
    for distance, _ in distances.most_common(_TRIED):
        moved = Counter((page + distance, kind) for page, kind in one)
        best = max(best, (sum((moved & counts).values()), distance))
    return best
