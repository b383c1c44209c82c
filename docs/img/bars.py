#!/usr/bin/env python3
# bars.py -- draws the bar charts of the manual.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""bars.py TITLE: reads lines of a number and a name, writes an SVG picture of a bar for each."""

from __future__ import annotations

import sys
from html import escape

WIDTH, NAMES, ROW, HEAD = 720, 210, 24, 40
SPAN = WIDTH - NAMES - 110


def picture(title: str, rows: list[tuple[float, str]]) -> str:
    largest = max((number for number, _ in rows), default=0) or 1
    height = HEAD + ROW * len(rows) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}">',
        "<style>text { font: 13px sans-serif }</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-weight="bold">{escape(title)}</text>',
    ]
    for index, (number, name) in enumerate(rows):
        top = HEAD + ROW * index
        length = SPAN * number / largest
        shown = f"{number:,.0f}" if number == int(number) else f"{number:,.3f}"
        lines += [
            f'<text x="{NAMES - 8}" y="{top + 13}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{NAMES}" y="{top}" width="{max(length, 1):.1f}" height="17" fill="#4477aa"/>',
            f'<text x="{NAMES + max(length, 1) + 6:.1f}" y="{top + 13}">{shown}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    rows = []
    for line in sys.stdin:
        number, name = line.split(None, 1)
        rows.append((float(number.replace(",", "")), name.strip()))
    sys.stdout.write(picture(sys.argv[1], rows))


if __name__ == "__main__":
    main()
