# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The reach curve: what fully associative TLBs of all sizes miss, measured in one run."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from tg_environment import client
from tg_written import written
from tool_support import messages, run

OPTIONS = ("--reach=yes", "--reach-out-file=reach.%p")
SIZES = range(8, 8193)

PERL = ("perl", "-e", "$h{$_ * 7919 % 10007} = 'x' x ($_ % 300) for 1 .. 3000; print scalar keys %h")


class Reach(NamedTuple):
    header: dict[str, str]
    columns: dict[str, list[int]]  # misses by name: [0] of 8 entries

    def of(self, name: str, entries: int) -> int:
        return self.columns[name][entries - 8]


def read(path: Path) -> Reach:
    """Strict: what is not exactly of the form in docs/internals/formats.md is an error."""
    text = written(path)
    assert text.endswith("\n")
    rows = text[:-1].split("\n")
    assert rows[0] == "# tlbgrind reach"
    header: dict[str, str] = {}
    at = 1
    while rows[at].startswith("# "):
        name, value = rows[at][2:].split(": ", 1)
        assert name not in header
        header[name] = value
        at += 1
    assert header["version"] == "1"
    entries, *names = rows[at].split("\t")
    assert entries == "entries"
    body = [[int(word) for word in row.split("\t")] for row in rows[at + 1 :]]
    assert [row[0] for row in body] == list(SIZES)
    columns = {name: [row[i + 1] for row in body] for i, name in enumerate(names)}
    sides = {"I": "instruction", "D": "data"}
    for name, misses in columns.items():
        cold = int(header[f"{sides[name[0]]} pages of {name[2:]}"])
        assert misses == sorted(misses, reverse=True)
        assert cold <= misses[-1]
    assert len(header) == len(columns) + 6 + ("forked" in header)
    return Reach(header, columns)


def only(folder: Path) -> Reach:
    (path,) = folder.glob("reach.*")
    return read(path)


def test_larger_base_pages_have_no_smaller_curves(tmp_path: Path) -> None:
    for page, names in (
        ("4K", ["4K", "64K", "2M"]),
        ("16K", ["16K", "64K", "2M"]),
        ("64K", ["64K", "2M"]),
        ("2M", ["2M"]),
        ("4M", ["4M"]),
    ):
        options = (*OPTIONS, f"--page-size={page}")
        geometry = (f"--itlb=8,full,{page}", f"--dtlb=8,full,{page}")
        out = run(tmp_path / page, client("oracle_refs"), options=options, geometry=geometry).only()
        reach = only(tmp_path / page)
        assert list(reach.columns) == [f"{side}-{name}" for side in "ID" for name in names]
        assert reach.of(f"I-{page}", 8) == out.summary[1]
        assert reach.of(f"D-{page}", 8) == out.summary[4] + out.summary[7]


def test_the_table_says_what_the_file_says(tmp_path: Path) -> None:
    r = run(tmp_path, *PERL, options=OPTIONS)
    reach = only(tmp_path)
    said = messages(r.err)
    for side, name in (("I", "instruction"), ("D", "data")):
        refs = int(reach.header[f"{name} references"])
        at = said.index(f"Reach, {name} side: misses, and per cent of {refs:,} references")
        assert said[at + 1].split() == ["entries", "4K", "pages", "64K", "pages", "2M", "pages"]
        columns = [column for column in reach.columns if column[0] == side]
        for i in range(12):
            words = said[at + 2 + i].split()
            if i == 11:
                misses = [int(reach.header[f"{name} pages of {column[2:]}"]) for column in columns]
                assert words[:2] == ["no", "limit"]
                words = words[1:]
            else:
                misses = [reach.of(column, 8 << i) for column in columns]
                assert words[0] == f"{8 << i:,}"
            assert [int(word.replace(",", "")) for word in words[1::2]] == misses
            assert words[2::2] == [f"{(n * 200000 + refs) // (2 * refs) / 1000:.3f}%" for n in misses]
    (path,) = tmp_path.glob("reach.*")
    assert f"Every size from 8 to 8192:  {path}" in said


def test_without_the_option_nothing_is_measured(tmp_path: Path) -> None:
    r = run(tmp_path, client("oracle_refs"))
    assert list(tmp_path.glob("*reach*")) == []
    assert "Reach" not in r.err


def test_the_default_name(tmp_path: Path) -> None:
    r = run(tmp_path, client("oracle_refs"), options=("--reach=yes", "--log-file=/dev/null"))
    assert [re.sub(r"\d+", "N", path.name) for path in tmp_path.glob("tlbgrind.*")] == ["tlbgrind.reach.N"]
    assert r.err == ""


def test_each_process_has_its_own(tmp_path: Path) -> None:
    """A child begins to count at the fork; what it has touched before is not new to it."""
    r = run(tmp_path, client("run_process"), "fork", options=OPTIONS).check()
    reaches = {int(reach.header["pid"]): reach for reach in map(read, tmp_path.glob("reach.*"))}
    assert set(reaches) == {out.pid for out in r.files}
    assert len(reaches) > 1
    for out in r.files:
        reach = reaches[out.pid]
        assert int(reach.header["instruction references"]) == out.summary[0]
        assert int(reach.header["data references"]) == out.summary[3] + out.summary[6]
        forked = out.descriptions("Forked")
        assert ("forked" in reach.header) == bool(forked)
        if forked:
            assert f"pid {reach.header['forked'].split()[-1]}" in forked[0]
            assert int(reach.header["data pages of 4K"]) < 64


def test_a_process_that_becomes_another_writes_before(tmp_path: Path) -> None:
    run(tmp_path, client("run_exec"), options=(*OPTIONS, "--trace-children=yes"), collect=False)
    names = sorted(re.sub(r"\d{2,}", "N", path.name) for path in tmp_path.glob("reach.*"))
    outs = sorted(re.sub(r"\d{2,}", "N", path.name) for path in tmp_path.glob("out.*"))
    assert [name.replace("reach", "out") for name in names] == outs
    for path in tmp_path.glob("reach.*"):
        read(path)


def test_a_file_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "nowhere").mkdir()
    r = run(tmp_path, "rmdir", "nowhere", options=("--reach=yes", "--reach-out-file=nowhere/%p"))
    assert r.status == 0
    said = messages(r.err)
    at = next(i for i, line in enumerate(said) if line.startswith("error:"))
    assert re.fullmatch(
        rf"error: can't write reach file '{re.escape(str(tmp_path))}/nowhere/\d+': there is no such folder", said[at]
    )
    assert said[at + 1] == "       ... so the curve for all sizes will be missing."
    assert any(line.startswith("Reach, data side") for line in said)
    assert "Every size" not in r.err


@pytest.mark.parametrize("option", ["--reach=maybe", "--reach-out-file="])
def test_wrong_options_are_refused(tmp_path: Path, option: str) -> None:
    r = run(tmp_path, client("oracle_refs"), options=(option,))
    assert r.status == 1
    assert option.split("=")[0] in r.err
    assert r.out == ""
    assert os.listdir(tmp_path) == []
