# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Damage of every kind: an out-file is either read whole or refused in one line."""

from __future__ import annotations

import importlib
import random
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Callable

import pytest
from annotate_support import HERE, SCRIPT
from tg_damage import Text, damaged

SAMPLES = ["two-level.out", "three-level.out", "names.out", "callgrind.out"]

ERROR = re.compile(rb"tg_annotate: error: damaged\.out(:[0-9]+)?: [^\n]+\n\Z")


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a module of the package that the script would use."""
    beside, installed = SCRIPT.parent, SCRIPT.parent.parent / "share" / "tlbgrind" / "python"
    monkeypatch.syspath_prepend(str(beside if (beside / "tgreport").is_dir() else installed))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return lambda module: importlib.import_module(f"tgreport.{module}")


@pytest.fixture
def annotate(
    place: Path, package: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> Callable[[bytes], int]:
    """Reads one damaged file in this process, as a process for each would take minutes."""
    main = package("annotate.cli").main
    monkeypatch.chdir(place)

    def one(data: bytes) -> int:
        Path("damaged.out").write_bytes(data)
        out, err = Text(), Text()
        with redirect_stdout(out), redirect_stderr(err):
            status = main(["--annotate", "--by=line,function", "damaged.out"])
        if status == 0:
            assert out.bytes().endswith(b"not annotated: no source file is known\n")
        else:
            assert status == 1
            assert out.bytes() == b""
            assert ERROR.match(err.bytes())
        return int(status)

    return one


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_cut_after_any_line_is_refused(
    sample: str, annotate: Callable[[bytes], int]
) -> None:
    lines = (HERE / "data" / sample).read_bytes().splitlines(keepends=True)
    assert annotate(b"".join(lines)) == 0
    for count in range(len(lines)):
        assert annotate(b"".join(lines[:count])) == 1, f"cut after line {count}"


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file_cut_at_any_byte_is_refused_or_whole(
    sample: str, annotate: Callable[[bytes], int]
) -> None:
    data = (HERE / "data" / sample).read_bytes()
    for size in range(len(data) - 1):
        assert annotate(data[:size]) == 1, f"cut after byte {size}"
    assert annotate(data[:-1]) == 0  # only the last line feed is missing


@pytest.mark.parametrize("sample", SAMPLES)
def test_random_damage_never_ends_in_a_traceback(
    sample: str, annotate: Callable[[bytes], int]
) -> None:
    data = (HERE / "data" / sample).read_bytes()
    chance = random.Random(sample)
    statuses = set()
    for _ in range(500):
        statuses.add(annotate(damaged(data, chance, b"0123456789 -+*()=:\n")))
    assert statuses == {0, 1}  # else the damage is too small or too large to prove anything


@pytest.mark.parametrize(
    ("lossy", "what"),
    [
        ("functions", "the table by function"),
        ("source_files", "the table by file"),
        ("objects", "the table by object"),
        ("lines", "the annotation summary"),
    ],
)
def test_nothing_is_printed_that_does_not_add_up(
    lossy: str,
    what: str,
    place: Path,
    package: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = package("annotate.profile").Profile
    whole = getattr(profile, lossy)

    def without_the_first(*arguments: Any) -> Any:
        sums = whole(*arguments)
        if lossy == "lines":
            sums["src/stride.c"].popitem()
        else:
            del sums[next(iter(sums))]
        return sums

    monkeypatch.setattr(profile, lossy, without_the_first)
    monkeypatch.chdir(place)
    out, err = Text(), Text()
    with redirect_stdout(out), redirect_stderr(err):
        status = package("annotate.cli").main(["--annotate", "two-level.out"])
    assert err.bytes().startswith(
        f"tg_annotate: error: internal error: {what} adds up to (".encode()
    )
    assert (status, out.bytes()) == (1, b"")
