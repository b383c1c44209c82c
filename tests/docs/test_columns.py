# test_columns.py -- how wide the documents are.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prose of the documents has at most 100 columns, so that it can be read and compared on a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(os.environ["TG_SRCDIR"])
COLUMNS = 100
DOCUMENTS = [
    *(SOURCE / name for name in ("README.md", "NEWS", "CONTRIBUTING.md")),
    *sorted((SOURCE / "docs").glob("*.md")),
    *sorted((SOURCE / "docs" / "internals").glob("*.md")),
]
# Tables, headings, tags and pictures have one line each.
ONE_LINE = ("|", "#", "<", "![", "[![")


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines that could be broken, with their numbers: all but those of code and the above."""
    fenced, before = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(ONE_LINE):
            if not (line.startswith("    ") and not before):
                yield number, line
            else:
                line = ""  # what follows is code, too
        before = line
    assert not fenced


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_prose_fits(document: Path) -> None:
    lines = list(prose(document.read_text(encoding="utf-8")))
    assert lines
    wide = [f"{document}:{number}: {len(line)} columns" for number, line in lines if len(line) > COLUMNS and " " in line.strip()]
    assert wide == []


def test_what_is_prose() -> None:
    text = "# head\nword\n\n    code\n    more code\n\n- item\n\n```\nfenced\n```\n| table |\nend\n"
    assert list(prose(text)) == [(2, "word"), (3, ""), (6, ""), (7, "- item"), (8, ""), (13, "end")]
