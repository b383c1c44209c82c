# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A damaged reach file is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_support import reach_file
from tg_companions import refused

EDITS = {
    "a newer version": ("version: 1", "version: 2", ":2: version '2' of the reach file, where only 1 is known"),
    "no version": ("# version: 1\n", "", ":6: there is no 'version:' in the header"),
    "a header line twice": ("# pid: 7", "# pid: 7\n# pid: 7", ":5: a second 'pid:'"),
    "no header line": ("# pid: 7", "# pid 7", ":4: not a line of a reach file: '# pid 7'"),
    "a lost line": ("\n9\t", "\n10\t", ":9: a line of 10 entries, where that of 9 is due"),
    "a lost count": ("\n9\t699050\t", "\n9\t", ":9: not 7 numbers with tabs between them: '9\t582542\t466033\t349525\t233016\t116508'"),
    "more misses with more entries": (
        "\n9\t699050\t",
        "\n9\t799050\t",
        ":9: 799050 misses of I-4K, but 786432 with one entry less",
    ),
    "too large a number": (
        "\n8\t786432\t",
        f"\n8\t{2**64}\t",
        f":8: {2**64} is not a number from 0 to 2^64-1",
    ),
    "no columns": ("entries\tI-4K", "entries\tI-8K", None),
}


@pytest.mark.parametrize("title", EDITS)
def test_an_edited_reach_file_is_refused(tmp_path: Path, title: str) -> None:
    old, new, complaint = EDITS[title]
    text = reach_file(tmp_path).read_text()
    assert old in text
    (tmp_path / "damaged").write_text(text.replace(old, new, 1))
    if complaint is None:
        names = "I-4K\tI-64K\tI-2M\tD-4K\tD-64K\tD-2M"
        complaint = (
            f":7: columns 'entries\t{names.replace('I-4K', 'I-8K', 1)}', where 'entries\t{names}' is expected"
        )
    refused("tg_report", tmp_path, f"damaged{complaint}".replace("\t", "?"), "damaged")


def test_a_reach_file_cut_at_any_line_is_refused(tmp_path: Path) -> None:
    lines = reach_file(tmp_path).read_text().splitlines(keepends=True)
    for end in (1, 3, 7, 8, 100, len(lines) - 1):
        (tmp_path / "damaged").write_text("".join(lines[:end]))
        complaint = f"damaged:{end}: the file ends without the line of 8192 entries, so it is not whole"
        refused("tg_report", tmp_path, complaint, "damaged")
    for cut in (1, 2, 3):  # the last number would be another one
        (tmp_path / "damaged").write_text("".join(lines)[:-cut])
        complaint = f"damaged:{len(lines)}: the file ends within a line, so it is not whole"
        refused("tg_report", tmp_path, complaint, "damaged")
