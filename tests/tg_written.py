# tg_written.py -- what the tool has written, without the checksum that it has put behind it.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import re
from pathlib import Path
from zlib import adler32


def without_checksum(data: bytes) -> str:
    """The text of a file of the tool; the checksum has to be that of all before it."""
    found = re.fullmatch(rb"(.*\n)# checksum: ([0-9a-f]{8})\n", data, re.DOTALL)
    assert found, data[-200:]
    assert int(found[2], 16) == adler32(found[1])
    return found[1].decode("utf-8", errors="surrogateescape")


def recorded_or_written(path: Path) -> str:
    """The text of a recorded file, which may be changed and has no checksum, or of one of the tool."""
    recorded = path.suffix == ".faults"
    return path.read_text(encoding="utf-8", errors="surrogateescape") if recorded else written(path)


def written(path: Path) -> str:
    return without_checksum(path.read_bytes())
