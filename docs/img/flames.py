#!/usr/bin/env python3
# flames.py -- draws the flame graphs of the manual.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""flames.py TITLE: reads folded stacks (a;b;c NUMBER), writes an SVG picture: who called stands below."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape

WIDTH, ROW, HEAD, LETTER = 960, 18, 34, 6.6
COLOURS = ("#e8a33d", "#e2854a", "#e9bb5a", "#dd6f4a")


class Frame:
    def __init__(self, name: str) -> None:
        self.name = name
        self.number = 0
        self.above: dict[str, Frame] = {}

    def add(self, stack: list[str], number: int) -> None:
        self.number += number
        if stack:
            self.above.setdefault(stack[0], Frame(stack[0])).add(stack[1:], number)

    def depth(self) -> int:
        return 1 + max((frame.depth() for frame in self.above.values()), default=0)


def boxes(frame: Frame, left: float, level: int, scale: float) -> Iterator[tuple[Frame, float, int]]:
    yield frame, left, level
    for name in sorted(frame.above):
        yield from boxes(frame.above[name], left, level + 1, scale)
        left += frame.above[name].number * scale


def picture(title: str, root: Frame) -> str:
    scale = (WIDTH - 24) / (root.number or 1)
    height = HEAD + ROW * root.depth() + 10
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}">',
        "<style>text { font: 11px monospace }</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="20" style="font: bold 13px sans-serif">{escape(title)}</text>',
    ]
    for frame, left, level in boxes(root, 12, 0, scale):
        width = frame.number * scale
        top = height - 10 - ROW * (level + 1)
        colour = COLOURS[sum(map(ord, frame.name)) % len(COLOURS)]
        shown = f"{frame.name} {frame.number}"
        room = int((width - 4) / LETTER)
        lines.append(f'<g><title>{escape(shown)}</title><rect x="{left:.1f}" y="{top}" width="{max(width - 1, 0.5):.1f}" height="{ROW - 1}" fill="{colour}"/>')
        if room >= 4:
            text = shown if len(shown) <= room else shown[: room - 1] + "…"
            lines.append(f'<text x="{left + 3:.1f}" y="{top + 12}">{escape(text)}</text>')
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    root = Frame("all")
    for line in sys.stdin:
        stack, _, number = line.rstrip("\n").rpartition(" ")
        root.add(stack.split(";"), int(number))
    sys.stdout.write(picture(sys.argv[1], root))


if __name__ == "__main__":
    main()
