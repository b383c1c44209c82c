# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What the page cache has of a file that is read from the disk by faults alone, for replay.py.

The rules are those of sim/faults/page_cache.c, which says where Linux has them.
"""

from __future__ import annotations

from collections.abc import Iterable

_MANY_MISSES = 100
_MOST_MISSES = 10 * _MANY_MISSES
_NODE = 64  # slots
_MOST_PAGES = 1 << 24  # of larger files, the cache is taken to have what is behind


class CachedFile:
    """The cached pages of a file; a folio's first page and its pages, and which folios are marked."""

    def __init__(self, pages: int, ahead: int) -> None:
        self.pages = pages
        self.ahead = ahead  # pages that a miss reads
        self.order: dict[int, int] = {}  # of the folio of each cached page
        self.marked: set[int] = set()
        self.read = 0  # pages, from the disk
        self.start = self.size = self.async_ = self.ahead_order = self.misses = 0

    def has(self, page: int) -> bool:
        return page in self.order or page >= _MOST_PAGES

    def gives(self, page: int) -> bool:
        """Whether fault-around takes it along."""
        return self.has(page) and page not in self.marked

    def _add(self, page: int, order: int, marked: bool) -> None:
        self.order[page] = order
        self.read += 1
        if marked:
            self.marked.add(page)

    def header(self) -> None:
        """The first bytes have been read by a loader."""
        most = self.ahead
        if self.has(0):
            return
        self.start = 0
        self.size = 4 if most >= 32 else 2 if most >= 4 else max(most, 1)
        self.async_ = self.size - 1 if self.size > 1 else 0
        self.ahead_order = 0
        self._window()

    def need(self, page: int, first: int, last: int, executes: bool, around_first: bool) -> bool:
        """A fault on the page, of a mapping with file pages [first, last): whether it is major."""
        if not self.has(page):
            self._read_in(page, last, executes)
            return True
        if not around_first or page in self.marked:
            self._found(page)
        return False

    def passed(self, pages: Iterable[int]) -> None:
        """Fault-around has looked at these."""
        for page in pages:
            if self.misses and page < self.pages and self.gives(page):
                self.misses -= 1

    def _single(self, start: int, size: int, async_: int) -> None:
        count = min(size, self.pages - start) if start < self.pages else 0
        mark = start + count - async_
        for page in range(start, start + count):
            if page not in self.order:
                self._add(page, 0, async_ != 0 and page == mark)

    def _window(self) -> None:
        end = min(self.start + self.size, self.pages)
        mark = self.start + self.size - self.async_
        while self.ahead_order > 0 and 1 << self.ahead_order > self.size:
            self.ahead_order -= 1
        page = self.start
        while page < end:
            order = self.ahead_order
            while page & ((1 << order) - 1) or page + (1 << order) > end:
                order -= 1
            count = 1 << order
            if any(other in self.order for other in range(page, page + count)):
                self._single(page, self.start + self.size - page, self.async_)
                return
            for other in range(page, page + count):
                self._add(other, order, mark & ~(count - 1) == page)
            page += count

    def _read_in(self, page: int, last: int, executes: bool) -> None:
        if self.ahead and self.misses < _MOST_MISSES:
            self.misses += 1
        if not self.ahead or self.misses > _MANY_MISSES:
            self._single(page, 1, 0)
            return
        self.start = page if executes else page - min(page, self.ahead // 2)
        self.size = min(self.ahead, last - page) if executes else self.ahead
        self.async_ = 0 if executes else self.ahead // 4
        self.ahead_order = 0
        self._window()

    def _found(self, page: int) -> None:
        if not self.ahead:
            return
        self.misses -= self.misses > 0
        if page in self.marked:
            self._read_on(page)

    def _folio(self, page: int) -> int:
        order = self.order.get(page, 0)
        return page >> order << order

    def _next_miss(self, first: int, most: int) -> int:
        number, place = first, self._folio(first)
        for _ in range(most):
            if not self.has(place):
                return number
            if place % _NODE != _NODE - 1:
                number += 1
                place += 1
            else:
                number += number % _NODE == _NODE - 1
                place = self._folio(number)
        return first + most

    def _read_on(self, page: int) -> None:
        most = self.ahead
        folio = 1 << self.order[page]
        first = page & ~(folio - 1)
        self.marked.difference_update(range(first, first + folio))
        behind = self.start + self.size
        if page == (behind - self.async_) & ~(folio - 1):
            self.start = behind
            self.size = max(self.size, _grown(self.size, most))
        else:
            start = self._next_miss(page + 1, most)
            if start - page > most:
                return
            self.start = start
            self.size = _grown(start - page + most, most)
        self.ahead_order += 2
        order = 0
        while order < self.ahead_order and not most >> order & 1:
            order += 1
        end = self.start + self.size
        aligned = end >> order << order
        if aligned > self.start:
            self.size -= end - aligned
        self.async_ = self.size
        self._window()


def _grown(pages: int, most: int) -> int:
    return pages * 4 if pages < most // 16 else pages * 2 if pages <= most // 2 else most
