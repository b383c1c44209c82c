# test_columns.py -- how wide the documents and the C sources are.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prose of the documents has at most 100 columns, so that it can be read and compared on a terminal.

So have all lines of C and C++, without exception.
"""

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
C_ENDS = (".c", ".cc", ".h")
# Made from the machine files, by a build in the sources' own folder.
MADE = SOURCE / "tlbgrind" / "machines.c"


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


def c_sources(top: Path) -> list[Path]:
    """The sources below a folder, but for those in hidden folders and in builds."""
    found = []
    for place, folders, names in os.walk(top):
        at = Path(place)
        folders[:] = [name for name in folders if not name.startswith(".") and not (at / name / "config.status").exists()]
        found += [at / name for name in names if name.endswith(C_ENDS) and at / name != MADE]
    return sorted(found)


def wide_lines(text: str) -> list[tuple[int, int]]:
    """The lines that are too wide: their numbers, and how many columns they have."""
    widths = ((number, len(line.expandtabs())) for number, line in enumerate(text.split("\n"), 1))
    return [(number, width) for number, width in widths if width > COLUMNS]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_prose_fits(document: Path) -> None:
    lines = list(prose(document.read_text(encoding="utf-8")))
    assert lines
    wide = [f"{document}:{number}: {len(line)} columns" for number, line in lines if len(line) > COLUMNS and " " in line.strip()]
    assert wide == []


def test_what_is_prose() -> None:
    text = "# head\nword\n\n    code\n    more code\n\n- item\n\n```\nfenced\n```\n| table |\nend\n"
    assert list(prose(text)) == [(2, "word"), (3, ""), (6, ""), (7, "- item"), (8, ""), (13, "end")]


def test_c_fits() -> None:
    sources = c_sources(SOURCE)
    assert {path.relative_to(SOURCE).parts[0] for path in sources} >= {"docs", "tests", "tlbgrind"}
    assert {path.suffix for path in sources} == set(C_ENDS)
    wide = [f"{path}:{number}: {width} columns" for path in sources for number, width in wide_lines(path.read_text(encoding="utf-8"))]
    assert wide == []


def test_what_is_wide() -> None:
    fits, wide = "x" * COLUMNS, "x" * (COLUMNS + 1)
    assert wide_lines(f"{fits}\n{wide}\n\n\t{fits}\n{'é' * COLUMNS}\n{wide}") == [(2, 101), (4, 108), (6, 101)]


def test_which_c_sources(tmp_path: Path) -> None:
    for name in ("a.c", "a.cc", "a.py", "sub/a.h", ".hidden/a.c", "build/config.status", "build/a.c", "build/sub/a.c"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.touch()
    assert c_sources(tmp_path) == [tmp_path / name for name in ("a.c", "a.cc", "sub/a.h")]
