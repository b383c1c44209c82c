# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The man page and the reference have the options of the tool's table, as --help prints it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tg_environment import TLBGRIND

DOCS = Path(os.environ["TG_SRCDIR"], "docs")

# What a process tells the program that it becomes by exec, and nobody else.
INTERNAL = "--was"

# Valgrind's own, of which the documents say more than Valgrind does.
VALGRINDS = {"--trace-children", "--version", "--help"}


def words(values: str) -> set[str]:
    """The words in what stands behind an option's name, in any order."""
    return set(re.findall(r"[\w@#-]+", values))


def in_help() -> dict[str, set[str]]:
    done = subprocess.run([TLBGRIND, "--help-debug"], capture_output=True, check=True, encoding="utf-8")
    own = [part.partition("\n\n")[0] for part in done.stdout.split("options for tlbgrind:\n")[1:]]
    lines = re.findall(r"^    (--[a-z-]+)(\S*)", "\n".join(own), re.MULTILINE)
    assert len(own) == 2 and len(lines) > 50
    return {name: words(values) for name, values in lines if name != INTERNAL}


def in_man_page() -> dict[str, set[str]]:
    """Items of the list, and what the synopsis has."""
    text = (DOCS / "tlbgrind.1").read_text(encoding="utf-8")
    synopsis, _, rest = text.partition(".Sh DESCRIPTION\n")
    pattern = r"Fl -([a-z-]+)((?: Ns .*)?)$"
    items = re.findall(rf"^\.{pattern}", synopsis, re.MULTILINE) + re.findall(rf"^\.It {pattern}", rest, re.MULTILINE)
    found: dict[str, set[str]] = {}
    for name, values in items:
        if name != "tool":
            found.setdefault(f"--{name}", set()).update(words(re.sub(r"\b(Ns|Cm|Ar|Op|Oo|Oc)\b|\\&", " ", values)))
    return found


OPTIONS = in_help()


def test_the_man_page_has_the_options_of_the_help_and_no_others() -> None:
    assert set(in_man_page()) - VALGRINDS == set(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS)
def test_the_man_page_has_the_values_of_the_help(option: str) -> None:
    assert in_man_page()[option] == OPTIONS[option]


def test_the_reference_has_the_options_of_the_help() -> None:
    tables = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("reference.md", "page-faults.md"))
    rows = set(re.findall(r"^\| `(--[a-z-]+)", tables, re.MULTILINE))
    assert rows - VALGRINDS == set(OPTIONS) - {"--help-all", "--list-machines", "--show-machine"}


def printed(*arguments: str) -> str:
    return subprocess.run(arguments, capture_output=True, check=True, encoding="utf-8").stdout


def names(text: str) -> list[str]:
    return re.findall(r"^    (--[a-z-]+)", text, re.MULTILINE)


def test_the_help_has_the_options_for_every_day_and_where_the_others_are() -> None:
    text = printed(TLBGRIND, "--help")
    assert printed(TLBGRIND, "-q", "-h", "./program") == text
    tool = [name for name in names(text) if name in OPTIONS]
    assert 8 <= len(tool) <= 14 and len(text.splitlines()) < 60
    assert {"--machine", "--out-prefix", "--calls", "--data", "--faults"} <= set(tool)
    assert "tlbgrind --help-all" in text


def test_help_all_has_each_option_once_below_a_subject_and_valgrind_s_below_a_title() -> None:
    text = printed(TLBGRIND, "--help-all")
    own, _, core = text.partition("\nOptions of Valgrind's core:\n")
    _, title, own = own.partition("\nOptions of tlbgrind:\n")
    assert title
    debugging = {"--as-cachegrind", "--list-conflicts", "--list-implied", "--trace-aspace", "--debug-check"}
    assert sorted(names(own)) == sorted(set(OPTIONS) - debugging)
    subjects = re.findall(r"^  (\S.*):$", own, re.MULTILINE)
    assert own.startswith(f"  {subjects[0]}:\n") and len(subjects) == len(set(subjects)) > 5
    assert "--log-file" in names(core) and not set(names(core)) & set(OPTIONS)


def test_help_of_valgrind_has_all_options_of_the_tool() -> None:
    """As it does for any tool; the launcher's completion reads it."""
    environment = {key: value for key, value in os.environ.items() if key != "TLBGRIND_HELP"}
    text = subprocess.run([TLBGRIND, "--list-options"], capture_output=True, check=True, encoding="utf-8", env=environment)
    listed = {line.split()[0].rstrip("=") for line in text.stdout.splitlines()}
    assert {"--out-prefix", "--fast-path", "--log-file", "--help-all"} <= listed
