# test_links.py -- what the documents link to is there.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_support import DOCUMENTS, ROOT, prose_of

LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """The names of the headings, as GitHub makes them."""
    found: set[str] = set()
    for title in re.findall(r"^#+ +(.*)$", prose_of(path), re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        number = 0
        while f"{name}-{number}" if number else name in found:
            number += 1
            if f"{name}-{number}" not in found:
                break
        found.add(f"{name}-{number}" if number else name)
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files_and_headings(name: str) -> None:
    path = ROOT / name
    for link in LINK.findall(prose_of(path)):
        if re.match("[a-z]+:", link):
            continue
        place, _, heading = link.partition("#")
        target = path.parent / place if place else path
        assert target.exists(), f"{name}: {link}"
        if heading:
            assert heading in anchors(target), f"{name}: {link}"


FLOOR_PLAN = ROOT / "docs/internals/README.md"
NAMED = re.compile(r"`((?:[\w.-]+/)+[\w.-]+\.(?:c|h|py|js|mk|txt)|(?:[\w.-]+/)*run-\w+)`")


def test_files_that_the_floor_plan_names_are_there() -> None:
    folders = [ROOT, ROOT / "tlbgrind", ROOT / "tlbgrind/tgreport", ROOT / "tests"]
    named = NAMED.findall(prose_of(FLOOR_PLAN))
    assert len(named) > 100
    missing = {name for name in named if not any((folder / name).is_file() for folder in folders)}
    assert missing == set()


def test_each_place_that_is_asked_for_has_tests_that_run() -> None:
    run = (ROOT / "tests/local.mk").read_text(encoding="utf-8").split()
    rows = re.findall(r"^\| ([^|]*\?) \|[^|]*\|(.*) \|$", prose_of(FLOOR_PLAN), re.MULTILINE)
    assert len(rows) > 30
    for question, guards in rows:
        tests = re.findall("`([^`]*)`", guards)
        assert tests, question
        for name in tests:
            assert {f"tests/{name}", f"tests/{name}".removesuffix(".c")} & set(run), f"{question} {name}"
