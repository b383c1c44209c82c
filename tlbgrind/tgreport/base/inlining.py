# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds which functions were inlined at an instruction, by eu-addr2line of elfutils.

It reads DWARF, also that of separate files below /usr/lib/debug. That of binutils gives an
innermost function without a symbol of its own the name of the function around it.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from .errors import ReportError, printable
from .progress import Progress

_NAME = re.compile(r"(.*?)(?: inlined at .*)?")
_PLACE = re.compile(r"(.*?):([0-9]+)(?::[0-9]+)?")
_UNKNOWN = "??"
_AT_ONCE = 5000  # about a second


class Frame(NamedTuple):
    """A function, and the place in it: of the instruction, or of what is inlined there."""

    function: str
    file: str
    line: int


Frames = tuple[Frame, ...]  # the innermost first; the last is not inlined


def frames(path: str, addresses: Iterable[int], progress: Progress) -> dict[int, Frames]:
    """Of the addresses, as the object's file has them, those whose places in sources are known."""
    asked = sorted(addresses)
    found: dict[int, Frames] = {}
    for start in range(0, len(asked), _AT_ONCE):
        progress.say(f"{printable(path)}: {start:,} of {len(asked):,} instructions looked up")
        found.update(_some(path, asked[start : start + _AT_ONCE]))
    return found


def _some(path: str, addresses: list[int]) -> dict[int, Frames]:
    try:
        done = subprocess.run(
            ["eu-addr2line", "--addresses", "--functions", "--inlines", "--demangle", "-e", path],
            input="".join(f"{address:#x}\n" for address in addresses),
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        raise ReportError(
            "argument --inlined: eu-addr2line is not installed; it is in the package elfutils"
        ) from None
    if done.returncode != 0:
        raise ReportError(f"argument --inlined: {done.stderr.strip() or 'eu-addr2line failed'}", path)
    found = {}
    for address, lines in _answers(done.stdout.splitlines()):
        names = [_NAME.fullmatch(line) for line in lines[::2]]
        places = [_PLACE.fullmatch(line) for line in lines[1::2]]
        chain = tuple(
            Frame(name[1], place[1], int(place[2]))
            for name, place in zip(names, places)
            if name is not None and place is not None and place[1] != _UNKNOWN
        )
        # A chain of which not every place is known would lead to wrong lines.
        if 0 < len(chain) == len(names):
            found[address] = chain
    return found


def _answers(lines: list[str]) -> Iterable[tuple[int, list[str]]]:
    """Each address with the lines that follow it, two for each function."""
    starts = [number for number, line in enumerate(lines) if line.startswith("0x")]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        yield int(lines[start], 16), lines[start + 1 : end]
