#!/usr/bin/env python3
# ranges.py -- draws what was measured beside a predicted range, for the manual.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""ranges.py TITLE: reads lines of two ends, a measured number and a name, writes an SVG picture of a bar and a mark for each."""

from __future__ import annotations

import sys
from html import escape

WIDTH, NAMES, ROW, HEAD = 720, 130, 22, 40
SPAN = WIDTH - NAMES - 60


def picture(title: str, rows: list[tuple[float, float, float, str]]) -> str:
    largest = max((max(high, measured) for _, high, measured, _ in rows), default=0) or 1
    least = min((min(low, measured, 0) for low, _, measured, _ in rows), default=0)
    height = HEAD + ROW * len(rows) + 8

    def at(number: float) -> float:
        return NAMES + SPAN * (number - least) / (largest - least)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}">',
        "<style>text { font: 13px sans-serif }</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-weight="bold">{escape(title)}</text>',
        f'<line x1="{at(0):.1f}" y1="{HEAD - 6}" x2="{at(0):.1f}" y2="{height - 4}" stroke="#999"/>',
    ]
    for index, (low, high, measured, name) in enumerate(rows):
        top = HEAD + ROW * index
        lines += [
            f'<text x="{NAMES - 8}" y="{top + 12}" text-anchor="end">{escape(name)}</text>',
            f'<rect x="{at(low):.1f}" y="{top}" width="{max(at(high) - at(low), 1):.1f}" height="15" fill="#88aacc"/>',
            f'<circle cx="{at(measured):.1f}" cy="{top + 7.5}" r="5" fill="#bb4422"/>',
            f'<text x="{WIDTH - 48}" y="{top + 12}">{measured:,.1f}</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    rows = []
    for line in sys.stdin:
        low, high, measured, name = line.split(None, 3)
        rows.append((float(low), float(high), float(measured), name.strip()))
    sys.stdout.write(picture(sys.argv[1], rows))


if __name__ == "__main__":
    main()
