# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the page cache has of a file that is read from the disk by faults alone, for replay.py.

The rules are those of sim/faults/page_cache.c, which says where Linux has them, and which versions
differ is in sim/faults/kernel_rules.c.
"""

from __future__ import annotations

from typing import NamedTuple

_MANY_MISSES = 100
_MOST_MISSES = 10 * _MANY_MISSES
_NODE = 64  # slots
_MOST_PAGES = 1 << 24  # of larger files, the cache is taken to have what is behind


class Kernel(NamedTuple):
    """What differs from the oldest version, of what does not depend on madvise."""

    large_folios: bool = False
    first_order: int = 0
    grows_by_folio: bool = False
    code_ahead: bool = False
    whole_folios: bool = False
    few_hits: bool = False
    no_mark_at_end: bool = False
    next_keeps_mark: bool = False
    follows_behind: bool = False
    scans_less: bool = False
    reading_on_waits: bool = False


_6_17 = Kernel(large_folios=True, code_ahead=True)
_6_18 = _6_17._replace(whole_folios=True, no_mark_at_end=True, next_keeps_mark=True)
KERNELS = {
    "6.1": Kernel(follows_behind=True, scans_less=True, reading_on_waits=True),
    "6.12": Kernel(),
    "6.16": Kernel(large_folios=True, first_order=2, grows_by_folio=True),
    "6.17": _6_17,
    "6.18": _6_18,
    "7.2": _6_18._replace(next_keeps_mark=False, few_hits=True),
}
USUAL = "6.18"  # of logs that do not say it


class CachedFile:
    """The cached pages of a file; a folio's first page and its pages, and which folios are marked."""

    def __init__(self, pages: int, ahead: int, kernel: Kernel, code_folio: int = 1) -> None:
        self.pages = pages
        self.ahead = ahead  # pages that a miss reads
        self.kernel = kernel
        self.code_folio = code_folio  # pages
        self.order: dict[int, int] = {}  # of the folio of each cached page
        self.marked: set[int] = set()
        self.coming: set[int] = set()  # read on by the fault at hand, which does not wait for the disk
        self.runs: list[range] = []  # pages that were read from the disk, a request each
        self.told: list[tuple[CachedFile, int]] = []  # each run when it begins, of all files in one list
        self.start = self.size = self.async_ = self.ahead_order = self.misses = 0
        self.goes_on = False  # a window is being read that follows another

    def has(self, page: int) -> bool:
        return page in self.order or page >= _MOST_PAGES

    def gives(self, page: int) -> bool:
        """Whether fault-around takes it along."""
        return self.has(page) and page not in self.marked and page not in self.coming

    def arrives(self) -> None:
        """The fault is over."""
        self.coming.clear()

    @property
    def read(self) -> int:
        """Pages, from the disk."""
        return sum(len(run) for run in self.runs)

    def _add(self, page: int, order: int, marked: bool, begins: bool) -> None:
        """`begins`: not in one request with the page before."""
        self.order[page] = order
        if begins:
            self.told.append((self, len(self.runs)))
            self.runs.append(range(page, page))
        self.runs[-1] = range(self.runs[-1].start, page + 1)
        if marked:
            self.marked.add(page)
        if self.goes_on:
            self.coming.add(page)

    def header(self) -> None:
        """The first bytes have been read by a loader."""
        most = self.ahead
        if self.has(0):
            return
        self.start = 0
        self.size = 4 if most >= 32 else 2 if most >= 4 else max(most, 1)
        self.async_ = self.size - 1 if self.size > 1 else 0
        self.ahead_order = self.kernel.first_order
        self._window(0)

    def need(self, page: int, first: int, last: int, executes: bool, around_first: bool) -> bool:
        """A fault on the page, of a mapping with file pages [first, last): whether it is major."""
        if not self.has(page):
            self._read_in(page, first, last, executes)
            return True
        if not around_first or page in self.marked:
            return self._found(page, executes)
        return False

    def looks_around(self, page: int, window: range) -> None:
        """The first try, before the page itself is looked for."""
        if not self.kernel.few_hits and not self.gives(page):
            self.misses -= min(self.misses, sum(self.comes_along(other) for other in window))

    def around(self, page: int, window: range, executes: bool, major: bool) -> None:
        """Fault-around has mapped these."""
        if not self.kernel.few_hits:
            hits = sum(self.comes_along(other) for other in window)
        else:
            hits = not major and not executes and self.comes_along(page)
        self.misses -= min(self.misses, hits)

    def comes_along(self, page: int) -> bool:
        return page < self.pages and self.gives(page)

    def folio(self, page: int) -> range:
        """All pages of the one that the page is in."""
        start = self._folio(page)
        return range(start, start + (1 << self.order.get(page, 0)))

    def _single(self, start: int, size: int, async_: int) -> None:
        count = min(size, self.pages - start) if start < self.pages else 0
        mark = start + count - async_
        has_mark = async_ != 0 and not (self._ends() and start + size >= self.pages)
        begins = True
        for page in range(start, start + count):
            if page in self.order:
                begins = True
            else:
                self._add(page, 0, has_mark and page == mark, begins)
                begins = False

    def _window(self, start: int) -> None:
        end = min(start + self.size, self.pages)
        mark = start + self.size - self.async_
        if not self.kernel.large_folios:
            self._single(start, self.size, self.async_)
            return
        if self._ends() and start + self.size >= self.pages:
            mark = -1
        while self.ahead_order > 0 and 1 << self.ahead_order > self.size:
            self.ahead_order -= 1
        page = start
        while page < end:
            order = self.ahead_order
            while page & ((1 << order) - 1) or page + (1 << order) > end:
                order -= 1
            count = 1 << order
            if any(other in self.order for other in range(page, page + count)):
                self._single(page, start + self.size - page, self.async_)
                return
            for other in range(page, page + count):
                self._add(other, order, mark >= 0 and mark & ~(count - 1) == page, other == start)
            page += count

    def _ends(self) -> bool:
        """Whether a window that ends with its file has no mark."""
        return self.kernel.no_mark_at_end and not (self.kernel.next_keeps_mark and self.goes_on)

    def _counts(self, executes: bool) -> bool:
        return not (self.kernel.few_hits and executes)

    def _read_in(self, page: int, first: int, last: int, executes: bool) -> None:
        counts = self.ahead > 0 and self._counts(executes)
        if counts and self.misses < _MOST_MISSES:
            self.misses += 1
        if not self.ahead or (counts and self.misses > _MANY_MISSES):
            self._single(page, 1, 0)
            return
        if executes and self.kernel.code_ahead:
            folio = self.code_folio
            self.start = max(page - page % folio, first)
            self.size = min(-(-(self.start + self.ahead) // folio) * folio, last) - self.start
            self.async_ = 0
            self.ahead_order = folio.bit_length() - 1
        else:
            self.start = page - min(page, self.ahead // 2)
            self.size = self.ahead
            self.async_ = self.ahead // 4
            self.ahead_order = self.kernel.first_order
        self._window(self.start)

    def _found(self, page: int, executes: bool) -> bool:
        if not self.ahead:
            return False
        if self._counts(executes):
            self.misses -= self.misses > 0
        if page not in self.marked:
            return False
        self._read_on(page)
        return self.kernel.reading_on_waits

    def _folio(self, page: int) -> int:
        order = self.order.get(page, 0)
        return page >> order << order

    def _next_miss(self, first: int, most: int) -> int:
        number, place = first, self._folio(first)
        for _ in range(most):
            if not self.has(place):
                return number
            number += 1
            place = place + 1 if place % _NODE != _NODE - 1 else number
        return first + most - self.kernel.scans_less

    def _read_on(self, page: int) -> None:
        most = self.ahead
        folio_order = self.order[page]
        folio = 1 << folio_order
        first = page & ~(folio - 1)
        self.marked.difference_update(range(first, first + folio))
        behind = self.start + self.size
        if page == (behind - self.async_) & ~(folio - 1) or (self.kernel.follows_behind and page == behind):
            self.start = behind
            self.size = max(self.size, _grown(self.size, most))
            self.async_ = self.size
            if self.kernel.follows_behind and page == behind:
                more = _grown(self.size, most)
                self.async_ = more if self.size + more <= most else most // 2
                self.size = min(self.size + more, most)
        else:
            start = self._next_miss(page + 1, most)
            if start - page > most:
                return
            self.start = start
            self.size = _grown(start - page + most, most)
            self.async_ = self.size
        self.ahead_order = (folio_order if self.kernel.grows_by_folio else self.ahead_order) + 2
        if self.kernel.large_folios and not self.kernel.grows_by_folio:
            self._end_with_folio(most)
        self.goes_on = True
        self._window(self.start)
        self.goes_on = False

    def _end_with_folio(self, most: int) -> None:
        order = 0
        while order < self.ahead_order and not most >> order & 1:
            order += 1
        end = self.start + self.size
        aligned = end >> order << order
        if aligned > self.start:
            self.size -= end - aligned
        self.async_ = self.size


def _grown(pages: int, most: int) -> int:
    return pages * 4 if pages < most // 16 else pages * 2 if pages <= most // 2 else most
