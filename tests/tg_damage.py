# tg_damage.py -- what the damage tests of all companions share.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Files that are damaged by chance, and the streams that a companion called in this process writes."""

from __future__ import annotations

import io
import random


class Text(io.TextIOWrapper):
    """Stands in for stdout and stderr, which are written as bytes and as text."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace")

    def bytes(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()  # type: ignore[attr-defined, no-any-return]


def edited(data: bytes, old: bytes, new: bytes) -> bytes:
    """Something that is there replaced, once."""
    assert old in data
    return data.replace(old, new, 1)


def damaged(data: bytes, chance: random.Random, letters: bytes) -> bytes:
    """One to four bytes or pieces replaced, by one of the letters too, taken out or put in twice."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(out))
        kind = chance.randrange(4)
        if kind == 0:
            out[place] = chance.randrange(256)
        elif kind == 1:
            out[place] = chance.choice(letters)
        elif kind == 2:
            del out[place : place + chance.randint(1, 20)]
        else:
            other = chance.randrange(len(data))
            out[place:place] = data[other : other + chance.randint(1, 40)]
    return bytes(out)
