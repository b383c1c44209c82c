# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--data-offsets=yes: the words of records have their own references, misses and walks."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from data_support import DATA, FAULTS, MACHINE, Data, observe, only
from tg_environment import HAVE_X86, client
from tool_support import PYTHON, TG_ANNOTATE, run

STRIDES = "--data-stride=table:40,grown:24,pool:48"
STRIDES32 = "--data-stride=table:20,grown:12,pool:48"
COLUMNS = ("Dr", "Dw", "D1tm", "DLtm")


def at(data: Data, kind: str, name: str, offset: str) -> tuple[set[str], Counter[str]]:
    """The records of the objects of that kind and name, and the counts at the offset."""
    numbers = [number for number, key in data.names.items() if key == (kind, name)]
    assert numbers, f"no {kind} {name}"
    counts = sum((data.cells[0].get((n, offset), Counter()) for n in numbers), Counter[str]())
    for event in ("D1tm", "DLtm"):
        counts[event] = counts[f"{event}r"] + counts[f"{event}w"]
    return {data.records[n] for n in numbers}, counts


@pytest.mark.parametrize("more", [(), ("--fast-path=no",)])
@pytest.mark.parametrize(
    "program, strides",
    [("run_offsets", STRIDES), *([("run_offsets32", STRIDES32)] if HAVE_X86 else [])],
)
def test_each_offset_has_what_the_program_did_with_it(
    tmp_path: Path, program: str, strides: str, more: tuple[str, ...]
) -> None:
    done = observe(tmp_path, options=(strides, *FAULTS, *more), program=program)
    assert done.status == 0, done.err
    data = only(tmp_path)
    assert done.out.count("\n") > 15
    for line in done.out.splitlines():
        kind, name, size, how, offset, *numbers = line.split()
        records, counted = at(data, kind, name, offset)
        shown = [n if n == "-" else str(counted[e]) for e, n in zip(COLUMNS, numbers)]
        assert (shown, records) == (numbers, {f"{size} {how}"}), line


def test_offsets_lie_in_the_record(tmp_path: Path) -> None:
    observe(tmp_path, options=(STRIDES,), program="run_offsets")
    data = only(tmp_path)
    for number, offset in data.cells[0]:
        size = int(data.records.get(number, "0").split()[0])
        if size and offset != "-":
            assert int(offset) < size and int(offset) % 8 == 0


@pytest.mark.parametrize("program", ["run_data", "run_names", "run_conditions"])
def test_objects_have_the_same_counts_as_without_offsets(tmp_path: Path, program: str) -> None:
    found = []
    for name, options in (("on", ("--data-offsets=yes",)), ("no", ())):
        place = tmp_path / name
        done = run(
            place, client(program), options=[*DATA, *options, *FAULTS], geometry=MACHINE, prefix=["setarch", "-R"]
        )
        data = only(place)
        assert {data.totals} == {f.summary for f in done.files}
        found.append((data.sections, data.facts, data.names))
    assert found[0] == found[1]


@pytest.mark.parametrize("value", ["", "table", "table:", "table:0", ":8", "table:x", "a:8,,b:9", "a:65537"])
def test_a_stride_that_is_none_is_refused(tmp_path: Path, value: str) -> None:
    done = run(tmp_path, client("run_offsets"), options=[f"--data-stride={value}"], collect=False)
    assert done.status == 1 and "--data-stride=" in done.err and "NAME:BYTES" in done.err


def test_a_stride_of_no_data_is_reported_at_the_end(tmp_path: Path) -> None:
    strides = "--data-stride=tabel:40,table:40,nodes*:24,grown:24,pool:48"
    done = run(tmp_path / "a", client("run_offsets"), options=[*DATA, strides], geometry=MACHINE)
    said = [line for line in done.err.splitlines() if "--data-stride=" in line and "No data" in line]
    assert [line.split("--data-stride=")[1].split(": ")[0] for line in said] == ["tabel:40", "nodes*:24"]
    quiet = run(tmp_path / "b", client("run_offsets"), options=[*DATA, strides, "-q"], geometry=MACHINE)
    assert "No data" not in quiet.err


def annotated(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, TG_ANNOTATE, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8")


def test_tg_annotate_shows_the_offsets_of_each_object(tmp_path: Path) -> None:
    observe(tmp_path, options=(STRIDES,), program="run_offsets")
    path = only(tmp_path).path
    common = ("--by=data:offset", "--show=Dr,Dw", "--sort=Dw", "--threshold=0")
    done = annotated(*common, "--of=table", path)
    assert done.returncode == 0, done.stderr
    rows = [row.split() for row in done.stdout.splitlines()]
    assert [row for row in rows if row[-3:] == ["8", "(0x8)", "word[1]"] and "4,096" in row]
    assert [row for row in rows if row[-3:] == ["32", "(0x20)", "word[4]"] and "4,096" in row]
    assert "40 (--data-stride)" in done.stdout
    tables = json.loads(annotated(*common, "--format=json", path).stdout)["tables"]
    (table,) = (t for t in tables if t["name"] == "data:offset")
    for row in table["rows"]:
        parts = row["parts"]
        counts = [part["Dw"] for part in parts["rows"]] + ([parts["rest"]["Dw"]] if parts["rest"] else [])
        assert sum(counts) == row["Dw"]
    written = {row["data"]: {p["offset"]: p["Dw"] for p in row["parts"]["rows"]} for row in table["rows"]}
    (triples,) = (parts for data, parts in written.items() if data.startswith("heap triples"))
    assert (triples["0 (0x0)"], triples["8 (0x8)"]) == (2000, 4000)


def test_tg_annotate_says_where_offsets_come_from(tmp_path: Path) -> None:
    observe(tmp_path)
    done = annotated("--by=data:offset", only(tmp_path).path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "--by=data:offset takes data files of --data-offsets=yes" in done.stderr
