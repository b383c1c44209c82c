# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Decides how wide text may be, and whether it has colours: on a terminal, or in a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .names import shortened
from .text import TITLE_WIDTH, aligned_cells, is_text, title

COLOURS = ("auto", "always", "never")

# In a pipe or a file, where nothing is known of the reader: the same for all terminals.
PIPE_WIDTH = 100
_UNKNOWN_WIDTH = 80
LEAST_ROOM = 24  # of a name, however many columns stand before it

_BOLD, _STRONG, _NOTABLE, _LESS = "1", "1;31", "33", "32"


class Screen(NamedTuple):
    """What text is laid out for."""

    width: int = PIPE_WIDTH
    wide: bool = False  # names as they were recorded, whatever the width
    colour: bool = False
    folder: str = "/"  # what is below it has relative names

    def title(self, text: str) -> list[str]:
        return [self.heading(title(text, min(self.width, TITLE_WIDTH)))]

    def heading(self, line: str) -> str:
        return self.paint(line, _BOLD)

    def paint(self, text: str, colour: str) -> str:
        return f"\033[{colour}m{text}\033[0m" if self.colour and colour and text else text

    def table(
        self, title: str, rows: Sequence[tuple[str, ...]], left: int = 1, shares: bool = False
    ) -> list[str]:
        """A table with a heading; names in the last column are shortened to the screen.

        With `shares`, the percentages in the column of that name have the colour of their weight.
        """
        heading, *body = rows
        if is_text([row[-1] for row in rows]) and not self.wide:
            used = sum(2 + max(map(len, column)) for column in list(zip(*rows))[:-1])
            names = self.labels([row[-1] for row in body], used)
            body = [(*row[:-1], name) for row, name in zip(body, names)]
        place = heading.index("share") if shares else -1
        text: list[str] = []
        for row in aligned_cells([heading, *body], left):
            cells = list(row)
            if shares and text and cells[place].strip():
                cells[place] = self.paint(cells[place], weight(float(cells[place][:-1]) / 100))
            line = "  ".join(cells).rstrip()
            text.append(line if text else self.heading(line))
        return [*self.title(title), *text, ""]

    def labels(self, labels: Sequence[str], columns: int) -> list[str]:
        """The names in the last column, as short as the columns before them require."""
        if self.wide:
            return list(labels)
        return shortened(labels, max(LEAST_ROOM, self.width - columns), self.folder)


def weight(share: float) -> str:
    """The colour of a row that has this share of all."""
    return _STRONG if share >= 0.1 else _NOTABLE if share >= 0.01 else ""


def change(difference: int) -> str:
    """The colour of a difference: less is better."""
    return _STRONG if difference > 0 else _LESS if difference < 0 else ""


def screen(wide: bool, colour: str, environment: Mapping[str, str] = os.environ) -> Screen:
    """What standard output is."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    if colour == "auto":
        plain = environment.get("NO_COLOR") or environment.get("TERM") in (None, "", "dumb")
        coloured = terminal and not plain
    else:
        coloured = colour == "always"
    return Screen(_columns() if terminal else PIPE_WIDTH, wide, coloured, _folder())


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _UNKNOWN_WIDTH
    except OSError:
        return _UNKNOWN_WIDTH


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # the folder was removed
        return "/"
