# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Defines the failures that a user can act on."""

from __future__ import annotations

# Names come from the program under test. Whatever moves a terminal's cursor, or would break "one
# error, one line", must not come through.
_CONTROL = {code: "?" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0))}


def printable(text: str) -> str:
    """The text without control characters."""
    return text if text.isprintable() else text.translate(_CONTROL)  # the test is much faster


class ReportError(Exception):
    """Ends the command with one line on stderr: what is wrong and, where it applies, where."""

    def __init__(self, what: str, path: str = "", line: int = 0) -> None:
        place = f"{path}:{line}: " if line else f"{path}: " if path else ""
        super().__init__(printable(place + what))
