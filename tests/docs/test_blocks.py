# test_blocks.py -- the comparison of documents with outputs finds what differs.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

from pathlib import Path

import pytest
from docs_blocks import commands_of, difference, unmarked_of

TOLD = """\
-- By function --------------
            walks               Ir
1,050,625 (93.8%)  4,202,502 (46.7%)  by_rows
   69,649  (6.2%)  4,686,342 (52.1%)  by_blocks
      190  (0.0%)    114,513  (1.3%)  228 functions below 1%
ratio 0.728"""


def test_equal_outputs_agree() -> None:
    for how in ("near", "exact", "words"):
        assert difference(TOLD, TOLD, how) is None


def test_another_start_of_the_c_library_is_near() -> None:
    seen = TOLD.replace("190", "233").replace("114,513", "118,000").replace("---\n", "-----\n")
    assert difference(TOLD, seen, "near") is None
    assert difference(TOLD, seen, "words") is None
    assert difference(TOLD, seen, "exact") is not None


@pytest.mark.parametrize(
    "old, new",
    [
        ("1,050,625", "980,000"),
        ("93.8%", "88.0%"),
        ("(93.8%)", "93.8"),
        ("by_rows", "by_columns"),
        ("69,649", "500"),
        ("0.728", "0.8"),
        ("190  (0.0%)", "900  (0.0%)"),
    ],
)
def test_a_number_or_word_that_differs_is_found(old: str, new: str) -> None:
    assert difference(TOLD, TOLD.replace(old, new), "near") is not None


@pytest.mark.parametrize("how", ["near", "words"])
def test_rows_that_change_places_or_miss_are_found(how: str) -> None:
    lines = TOLD.splitlines()
    swapped = [*lines[:2], lines[3], lines[2], *lines[4:]]
    assert difference(TOLD, "\n".join(swapped), how) is not None
    assert difference(TOLD, "\n".join(lines[:-1]), how) is not None
    assert difference("\n".join(lines[:-1]), TOLD, how) is not None
    assert difference(TOLD, TOLD.replace("Ir", "Dr", 1), how) is not None


def test_both_ends_of_a_range_are_percentages() -> None:
    assert difference("share of time: ~17 to 34%", "share of time: ~17.4 to 34%", "near") is None
    assert difference("share of time: ~17 to 34%", "share of time: ~36 to 34%", "near") is not None


def test_dots_stand_for_any_lines() -> None:
    for told in ("...", "a\n...", "...\nd", "a\n...\nc\n...", "...\nb\nc\n...\nd", "a\nb\n...\nc\nd"):
        assert difference(told, "a\nb\nc\nd", "exact") is None, told
    for told in ("b\n...", "...\nc", "a\n...\nx\n...", "...\nb\nd", "...\nc\n...\nb\n...", "...\nd\nd"):
        assert difference(told, "a\nb\nc\nd", "exact") is not None, told


def test_commands_go_on_behind_a_backslash(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("A\n```\n$ one\nx\n\n$ two \\\n   more\n```\n<!-- compare: exact -->\n```\n$ three\n```\n")
    assert [(c.line, c.how, c.text, c.output) for c in commands_of(page)] == [
        (3, "near", "one", "x\n"),
        (6, "near", "two \\\n   more", ""),
        (11, "exact", "three", ""),
    ]


def test_a_block_of_code_hides_no_commands_behind_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```c\n$ int\n```\n\n```\n$ one\n```\n")
    assert [(c.line, c.text) for c in commands_of(page)] == [(6, "one")]


def test_commands_of_a_man_page_stand_in_displays_and_print_anything(tmp_path: Path) -> None:
    page = tmp_path / "page.1"
    page.write_text(
        "$ none\n.Bd -literal -offset indent\n$ one |\n    two\n$ three \\e\n    four\n.Ed\n"
        ".Bd -literal\nnone\n.Ed\n.Dl $ five\n.Dl none\n"
    )
    assert [(c.line, c.text, c.output) for c in commands_of(page)] == [
        (3, "one |\n    two", "..."),
        (5, "three \\\n    four", "..."),
        (11, "five", "..."),
    ]


def test_commands_without_a_mark_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```\ntlbgrind ./x\ntlbgrind.out.1: ./x\n  ../configure\n```\n"
        "```sh\nmake\nmakes\n```\n```\n$ ls\ntlbgrind x\n```\ntlbgrind ./x\n"
    )
    found = [(c.line, c.text) for c in unmarked_of(page)]
    assert found == [(2, "tlbgrind ./x"), (4, "../configure"), (7, "make")]
