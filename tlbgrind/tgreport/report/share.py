# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The share of time that an out-file tells, in the words of tlbgrind's summary."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..formats.outfile import OutFile

_SHARE = re.compile(r"(\d+)\.(\d\d)%\.\.(\d+)\.(\d\d)%(?: (.*))?")


class Share(NamedTuple):
    low: float | None  # in per cent; None: not known
    high: float | None
    words: str
    basis: str  # what it is of, or what was assumed for it


UNKNOWN = Share(None, None, "unknown", "")


def share_of(out: OutFile) -> Share:
    facts = dict(out.descriptions)
    match = _SHARE.fullmatch(facts.get("Share of time", ""))
    if match is None:
        return UNKNOWN
    least, most = int(match[1] + match[2]), int(match[3] + match[4])
    mark = "~" if facts.get("Miss cycles", "").endswith(" assumed") else ""
    return Share(least / 100, most / 100, mark + _words(least, most), match[5] or "")


def _words(least: int, most: int) -> str:
    ends = list(dict.fromkeys(map(_rounded, (least, most))))
    return f"{' to '.join(ends)}%"


def _rounded(hundredths: int) -> str:
    """Half up, as the summary does it."""
    if hundredths < 995:
        tenths = (hundredths + 5) // 10
        return f"{tenths // 10}.{tenths % 10}"
    return str((hundredths + 50) // 100)
