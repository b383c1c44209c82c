# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Shows on a terminal what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

AFTER = 2.0  # seconds without a word
EVERY = 0.2

_ERASE = "\r\033[K"


class Progress:
    """One line on standard error, which is erased at the end; nothing where that is no terminal."""

    def __init__(self) -> None:
        try:
            self._on = sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # it is closed
            self._on = False
        self._next = time.monotonic() + AFTER
        self._shown = False

    def say(self, text: str) -> None:
        if self._on and time.monotonic() >= self._next:
            self._write(f"{_ERASE}{text}")
            self._shown = True
            self._next = time.monotonic() + EVERY

    def end(self) -> None:
        if self._shown:
            self._write(_ERASE)
            self._shown = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:  # the terminal is gone
            self._on = False


@contextmanager
def progress_shown() -> Iterator[Progress]:
    progress = Progress()
    try:
        yield progress
    finally:
        progress.end()
