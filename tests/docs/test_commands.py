# test_commands.py -- the commands of the documents print what these say.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import platform
import shutil
from pathlib import Path

import pytest
from docs_blocks import commands_of, unmarked_of
from docs_not_run import NEEDED, NOT_RUN
from docs_run import Reader, difference, faults_of
from docs_support import DOCUMENTS, ROOT

QUESTIONS = ["README.md", *(
    f"docs/{name}.md"
    for name in ("is-it-a-lot", "huge-pages", "data", "processor", "start-up", "libraries", "trust")
)]
MAN_PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.[1-9]"))
# Every document with commands.
PAGES = [
    page
    for page in [*DOCUMENTS, *MAN_PAGES]
    if commands_of(ROOT / page) or unmarked_of(ROOT / page)
]


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    needed = NEEDED.get(page, [])
    if "cpuid" in needed and platform.machine() not in ("x86_64", "i686"):
        pytest.skip("Debian has the program cpuid for x86 alone")
    missing = [name for name in needed if shutil.which(name) is None and not Path(name).exists()]
    assert not missing, f"{missing} missing: ./quickstart --check names the packages"
    faults = faults_of(page, tmp_path, NOT_RUN.get(page, {}))
    assert not faults, "\n".join(faults)
    # The pictures are made by commands of the page that shows them.
    for picture in sorted(tmp_path.glob("*.svg")):
        shown = ROOT / "docs" / "img" / picture.name
        assert f"img/{picture.name}" in (ROOT / page).read_text(encoding="utf-8")
        # Their lengths are numbers of the output above, some of which depend on the system.
        assert difference(shown.read_text("utf-8"), picture.read_text("utf-8"), "words") is None


@pytest.mark.parametrize("page", QUESTIONS)
def test_each_page_by_question_runs_tlbgrind(page: str) -> None:
    texts = [command.text for command in commands_of(ROOT / page)]
    assert any("tlbgrind " in text and not text.startswith(tuple(NOT_RUN.get(page, {}))) for text in texts)


@pytest.mark.parametrize("page", PAGES)
def test_a_command_that_is_not_run_has_a_reason(page: str) -> None:
    listed = tuple(NOT_RUN.get(page, {}))
    unmarked = [command for command in unmarked_of(ROOT / page) if not command.text.startswith(listed)]
    assert unmarked == []


def test_the_list_of_commands_that_are_not_run_has_no_others() -> None:
    for page, reasons in NOT_RUN.items():
        texts = [command.text for command in commands_of(ROOT / page) + unmarked_of(ROOT / page)]
        for beginning in reasons:
            assert any(text.startswith(beginning) for text in texts), f"{page}: {beginning}"


def test_each_man_page_shows_commands() -> None:
    assert len(MAN_PAGES) == 9
    assert set(MAN_PAGES) <= set(PAGES)


def test_a_command_that_fails_or_prints_otherwise_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\n$ false\n$ echo 1,000,000\n900,000\n$ echo 10 a\n10 a\n```\n")
    (tmp_path / "run").mkdir()
    faults = faults_of(str(page), tmp_path / "run")
    assert [fault.partition("$ ")[2].splitlines()[:2] for fault in faults] == [
        ["false", "exit status 1"],
        ["echo 1,000,000", "line 1: 900,000"],
    ]


def test_each_process_gets_its_number_of_the_page(tmp_path: Path) -> None:
    command = "for i in 1 2; do sh -c 'echo ==$$== out.$$x; touch out.$$_exec1'; done; ls"
    output = "==17== out.17x\n==18== out.18x\ndocs\nout.17_exec1\nout.18_exec1\npage.md\n"
    (tmp_path / "page.md").write_text(f"```\n$ {command}\n{output}$ ls\n```\n")
    reader = Reader(tmp_path)
    first, second = commands_of(tmp_path / "page.md")
    assert sorted(reader.does(first)[1].splitlines()) == sorted(output.splitlines())
    assert reader.does(second) == (0, "docs\nout.17_exec1\nout.18_exec1\npage.md\n")


def test_files_get_the_process_number_of_the_page(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    command = "echo ==$$== out.$$ >&2; touch out.$$ out.$$_zen4"
    block = f"```\n$ {command}\n==24123== out.24123\n```\n"
    (tmp_path / "page.md").write_text(block)
    status, printed = reader.does(commands_of(tmp_path / "page.md")[0])
    assert (status, printed) == (0, "==24123== out.24123\n")
    assert (tmp_path / "out.24123").exists() and (tmp_path / "out.24123_zen4").exists()
