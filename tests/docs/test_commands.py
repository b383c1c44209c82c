# test_commands.py -- the commands of README and manual print what these say.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

from pathlib import Path

import pytest
from docs_blocks import commands_of
from docs_run import Reader, difference, faults_of
from docs_support import ROOT

REFERENCE = {"docs/manual-annotate.md"}
PAGES = ["README.md", "docs/manual.md", "docs/reach.md"] + sorted(
    page
    for page in (str(path.relative_to(ROOT)) for path in ROOT.glob("docs/manual-*.md"))
    if page not in REFERENCE
)


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    assert faults_of(page, tmp_path) == []
    # The pictures are made by commands of the page that shows them.
    for picture in sorted(tmp_path.glob("*.svg")):
        shown = ROOT / "docs" / "img" / picture.name
        assert f"img/{picture.name}" in (ROOT / page).read_text(encoding="utf-8")
        # Their lengths are numbers of the output above, some of which depend on the system.
        assert difference(shown.read_text("utf-8"), picture.read_text("utf-8"), "words") is None


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/manual.md"])
def test_each_page_shows_commands(page: str) -> None:
    texts = [command.text for command in commands_of(ROOT / page)]
    assert any("tlbgrind " in text for text in texts)


def test_a_command_that_fails_or_prints_otherwise_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\n$ false\n$ echo 1,000,000\n900,000\n$ echo 10 a\n10 a\n```\n")
    (tmp_path / "run").mkdir()
    faults = faults_of(str(page), tmp_path / "run")
    assert [fault.partition("$ ")[2].splitlines()[:2] for fault in faults] == [
        ["false", "exit status 1"],
        ["echo 1,000,000", "line 1: 900,000"],
    ]


def test_files_get_the_process_number_of_the_page(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    command = "echo ==$$== out.$$ >&2; touch out.$$ out.$$_zen4"
    block = f"```\n$ {command}\n==24123== out.24123\n```\n"
    (tmp_path / "page.md").write_text(block)
    status, printed = reader.does(commands_of(tmp_path / "page.md")[0])
    assert (status, printed) == (0, "==24123== out.24123\n")
    assert (tmp_path / "out.24123").exists() and (tmp_path / "out.24123_zen4").exists()
