# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Formats text: titles, percentages, aligned columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .errors import printable

TITLE_WIDTH = 80


def title(text: str, width: int = TITLE_WIDTH) -> str:
    return f"-- {printable(text)} ".ljust(width, "-").rstrip()


def in_brackets(name: str) -> str:
    """An object's name. Of what is in no file, such as [vdso], it has them already."""
    return name if name.startswith("[") else f"[{name}]"


def percentage(value: int, base: float) -> str:
    return f"{100 * value / base:.1f}%" if value and base else ""


def counted(number: int, what: str) -> str:
    """One page, 2 pages."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def wrapped(label: str, text: str, width: int, indent: int = 100) -> list[str]:
    """A paragraph behind a label, in lines of 100 columns at most, below the text that begins behind
    the label, or `indent` columns in."""
    return textwrap.wrap(
        text,
        min(width, 100),
        initial_indent=label,
        subsequent_indent=" " * min(len(label), indent),
        break_long_words=False,
        break_on_hyphens=False,
    )


def aligned(rows: Sequence[tuple[str, ...]], left: int = 1) -> list[str]:
    """Columns of text: the first `left` ones and those of words to the left, numbers to the
    right."""
    return ["  ".join(row).rstrip() for row in aligned_cells(rows, left)]


def aligned_cells(rows: Sequence[tuple[str, ...]], left: int = 1) -> list[tuple[str, ...]]:
    """The same before the columns are joined."""
    columns = list(zip(*rows))
    widths = [max(map(len, column)) for column in columns]
    text = {number for number, column in enumerate(columns) if is_text(column)}
    return [
        tuple(
            printable(cell.ljust(width) if number < left or number in text else cell.rjust(width))
            for number, (cell, width) in enumerate(zip(row, widths))
        )
        for row in zip(*columns)
    ]


def is_text(column: Sequence[str]) -> bool:
    """Whether what stands below the heading is not numbers."""
    return not all(cell[:1].isdigit() or cell[:1] in ("", "-", "+") for cell in column[1:])
