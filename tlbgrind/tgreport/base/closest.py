# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds what a mistyped word was meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], after: str = "") -> str:
    """A question to put behind an error: the word that `word` resembles, and `after` behind it;
    empty if it resembles none."""
    # Letters of the other case are no mistake of their own.
    names = {name.lower(): name for name in reversed(list(known))}
    close = difflib.get_close_matches(word.lower(), names, 1, 0.6)
    return f"; did you mean {names[close[0]]}{after}?" if close else ""
