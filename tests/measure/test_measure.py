# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_measure: options, what it refuses, its files, and one measurement of some seconds.

What a measurement finds depends on the machine and on what else runs there; the tests look at its
form alone. The detection itself is tested in tests/unit, on curves that are written down.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tg_environment import TLBGRIND

TG_MEASURE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_measure")
SRCDIR = Path(os.environ["TG_SRCDIR"])
RECORDED = SRCDIR / "tests/measure/zen4.csv"
HEADING = ["kind", "ask", "page_bytes", "stride", "chains", "pages", "cycles", "spread", "rounds"]


def measure(*options: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TG_MEASURE, *options], capture_output=True, text=True, check=False, cwd=cwd)


def refused(words: str, *options: str, cwd: Path | None = None) -> None:
    """One line that says all, and status 1."""
    done = measure(*options, cwd=cwd)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tg_measure: error: {words}\n"


# ---------------------------------------------------------------- options


def test_help_has_all_options_that_shells_complete() -> None:
    listed = measure("--list-options").stdout.splitlines()
    done = measure("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: tg_measure ")
    for line in listed:
        assert f"  {line.split()[0]}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_man_page_has_all_options() -> None:
    page = (SRCDIR / "docs/tg_measure.1").read_text()
    for line in measure("--list-options").stdout.splitlines():
        name = line.split()[0].removeprefix("--")
        assert f".It Fl -{name.removesuffix('=')}" in page


def test_its_version() -> None:
    done = measure("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"tg_measure {os.environ['TG_VERSION']}\n", "")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--nonsense", "--nonsense: no such option; tg_measure --help lists them"),
        ("--outptu=x", "--outptu=x: no such option; did you mean --output=?"),
        ("file", "file: no such option; tg_measure --help lists them"),
        ("--seconds", "--seconds needs a value: --seconds=N"),
        ("--output", "--output needs a value: --output=FILE"),
        ("--against", "--against needs a value: --against=NAME"),
        ("--output=", "--output= names no file"),
        ("--against=", "--against= names no machine"),
        ("--which=yes", "--which=yes: --which takes no value"),
    ],
)
def test_a_wrong_option_is_refused(option: str, words: str) -> None:
    refused(words, option)


@pytest.mark.parametrize("value", ["", "0", "0.5", "3601", "-1", "x", "5x", " 5", "nan", "inf", "1e9"])
def test_a_wrong_number_of_seconds_is_refused(value: str) -> None:
    refused(f"--seconds={value}: '{value}' is no number of seconds; allowed are 1 to 3600", f"--seconds={value}")


def test_an_unknown_machine_is_refused_before_anything_is_measured() -> None:
    done = measure("--against=zen44")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tg_measure: error: --against=zen44: ")
    assert "zen4" in done.stderr.removeprefix("tg_measure: error: --against=zen44: ")
    assert done.stderr.count("\n") == 1


def test_a_machine_file_that_is_missing_or_broken_is_refused(tmp_path: Path) -> None:
    refused("--against=./x.machine: the file cannot be read: No such file or directory", "--against=./x.machine", cwd=tmp_path)
    (tmp_path / "x.machine").write_text("tlbgrind-machine 1\nname x\nnonsense\nend\n")
    done = measure("--against=./x.machine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("tg_measure: error: ./x.machine:")


def test_control_characters_are_not_repeated() -> None:
    done = measure("--\x1b[31mred\n")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "\x1b" not in done.stderr


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("option", ["--output", "--curves", "--picture"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(option: str, tmp_path: Path) -> None:
    refused(f"{option}=no/file: the file cannot be written: No such file or directory", f"{option}=no/file", cwd=tmp_path)
    refused(f"{option}=.: the file cannot be written: Is a directory", f"{option}=.", cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_outputs_cannot_have_one_file(tmp_path: Path) -> None:
    refused("--output and --curves name the same file, x", "--curves=x", "--output=x", cwd=tmp_path)


def test_curves_that_are_missing_or_broken_are_refused(tmp_path: Path) -> None:
    refused("--from=x.csv: the file cannot be read: No such file or directory", "--from=x.csv", cwd=tmp_path)
    lines = RECORDED.read_text().splitlines(keepends=True)
    for bad in ("nonsense\n", "pages,load,4096,1,1,8\n", "pages,load,4096,1,1,eight,4.0,0.0,9\n"):
        (tmp_path / "x.csv").write_text("".join([*lines[:3], bad]))
        done = measure("--from=x.csv", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("tg_measure: error: x.csv:4: ")
        assert done.stderr.count("\n") == 1


def test_recorded_curves_give_the_same_files_each_time(tmp_path: Path) -> None:
    options = [f"--from={RECORDED}", "--output=m.machine", "--curves=m.csv", "--picture=m.svg", "--which", "--against=zen4"]
    seen = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        done = measure(*options, cwd=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(file.name for file in folder.iterdir()) == ["m.csv", "m.machine", "m.svg"]
        seen.append((done.stdout, *(file.read_bytes() for file in sorted(folder.iterdir()))))
    assert seen[0] == seen[1]


def test_curves_that_are_read_are_written_as_they_were(tmp_path: Path) -> None:
    assert measure(f"--from={RECORDED}", "--curves=again.csv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "again.csv").read_text() == RECORDED.read_text()


def test_an_output_can_be_a_pipe() -> None:
    done = measure(f"--from={RECORDED}", "--curves=/dev/stdout")
    assert done.returncode == 0
    assert ",".join(HEADING) in done.stdout


def test_the_picture_is_an_image_with_a_line_for_each_curve(tmp_path: Path) -> None:
    assert measure(f"--from={RECORDED}", "--picture=m.svg", cwd=tmp_path).returncode == 0
    root = ElementTree.parse(tmp_path / "m.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    with RECORDED.open() as file:
        curves = {tuple(row[:5]) for row in list(csv.reader(file))[1:]}
    assert len(root.findall(f".//{space}polyline")) == len(curves)
    height = float(root.attrib["height"])
    for line in root.findall(f".//{space}polyline"):
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= float(root.attrib["width"]) and 0 <= y <= height


# ---------------------------------------------------------------- what the recorded curves tell


def words(text: str) -> dict[str, str]:
    """The lines NAME=VALUE of a report."""
    return dict(line.split("=") for line in text.splitlines() if line.startswith("TLB_"))


def figures(text: str, side: str) -> dict[str, tuple[str, str]]:
    """What the report tells of loads, stores or fetches: a value and how sure it is, by level and name."""
    found: dict[str, tuple[str, str]] = {}
    level = ""
    for line in text.split(f"\n{side}, pages of 4K\n")[1].split("\n\n")[0].splitlines():
        begin, value = line[:25].strip(), line[25:].split("  ")[0].strip()
        if begin.startswith("level "):
            level, begin = begin.split(": ")
        found[f"{level}: {begin}"] = (value, "not told" if value == "not told" else line[38:46].strip())
    return found


# Both are virtual machines with other work beside; what AMD's optimization guides tell of them.
@pytest.mark.parametrize(("name", "first", "second", "ways"), [("zen4", 72, 3072, 24), ("zen5", 96, 4096, 16)])
def test_recorded_machines_have_their_two_levels(name: str, first: int, second: int, ways: int) -> None:
    text = measure(f"--from={RECORDED.with_stem(name)}").stdout
    told = words(text)
    assert told["TLB_LEVELS"] == "2"
    assert (told["TLB_LEVEL1_ENTRIES"], told["TLB_LEVEL2_ENTRIES"]) == (str(first), str(second))
    assert int(told["TLB_MISS_LATENCY_CYCLES"]) > 0
    loads, stores, fetches = (figures(text, side) for side in ("loads", "stores", "fetches"))
    assert loads["level 1: ways"][0] == "full"
    assert loads["level 2: ways"][0] == str(ways)
    assert not any("level 3" in name for name in (*loads, *stores))
    # What the others have is one of their own levels, or not told.
    right = {str(first), "not told"}, {str(second), "not told"}
    assert all(stores.get(f"level {level}: entries", ("not told",))[0] in allowed for level, allowed in zip((1, 2), right))
    assert all(value in ("64", "not told") for name, (value, _) in fetches.items() if name.endswith("entries"))


def test_a_recorded_golden_cove_has_its_arrays() -> None:
    """A virtual machine, too. 96 entries in 16 sets of 6 ways for loads, 16 for stores, 256 in 32 sets of 8 for
    fetches, in front of which guesses have a step of their own; four walkers. The second level's sets are no
    function that strides find, so its entries are not told."""
    text = measure(f"--from={RECORDED.with_stem('goldencove')}", "--which").stdout
    loads, stores, fetches = (figures(text, side) for side in ("loads", "stores", "fetches"))
    assert [loads[f"level 1: {name}"] for name in ("entries", "ways", "sets")] == [("96", "sure"), ("6", "sure"), ("16", "sure")]
    assert [fetches[f"level 1: {name}"][0] for name in ("entries", "ways", "sets")] == ["256", "8", "32"]
    assert stores["level 1: entries"] == ("15", "likely")
    assert {loads["level 2: entries"][1], stores["level 2: entries"][1], fetches["level 2: entries"][1]} == {"not told"}
    (overlap,) = re.findall(r"^  overlap +(\S+) ", text, re.MULTILINE)
    assert 3.5 <= float(overlap) <= 4.5
    (near,) = re.findall(r"^  cycles, tables near .* (a step from .*) cycles between", text, re.MULTILINE)
    assert near.startswith("a step from 12.")
    assert [line.split()[0] for line in text.splitlines() if line.endswith(", fits best")] == ["goldencove", "redwoodcove"]


def test_a_busy_golden_cove_has_no_wrong_figure() -> None:
    """Beside nine other processes, so that half of the rounds were disturbed. Two steps of guesses are in front of the
    256 entries for fetches."""
    text = measure(f"--from={RECORDED.with_stem('goldencove-busy')}", "--which").stdout
    loads, stores, fetches = (figures(text, side) for side in ("loads", "stores", "fetches"))
    assert [loads[f"level 1: {name}"] for name in ("entries", "ways", "sets")] == [("96", "sure"), ("6", "sure"), ("16", "sure")]
    assert [fetches[f"level 1: {name}"] for name in ("entries", "ways", "sets")] == [
        ("256", "likely"), ("8", "likely"), ("32", "likely")
    ]
    assert {loads["level 2: entries"][1], stores["level 1: entries"][1], stores["level 2: entries"][1]} == {"not told"}
    assert [line.split()[0] for line in text.splitlines() if line.endswith(", fits best")] == ["goldencove", "redwoodcove"]


def test_the_recorded_zen_4_is_found_among_the_shipped_machines() -> None:
    text = measure(f"--from={RECORDED}", "--which").stdout
    assert any(line.split()[0] == "zen4" and line.endswith(", fits best") for line in text.splitlines() if line.startswith("  "))


def test_the_machine_file_of_recorded_curves_is_a_machine(tmp_path: Path) -> None:
    assert measure(f"--from={RECORDED}", "--output=zen4-measured.machine", cwd=tmp_path).returncode == 0
    shown = subprocess.run(
        [TLBGRIND, "--show-machine=./zen4-measured.machine"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "name            zen4-measured\n" in shown.stdout


def test_stores_that_miss_long_before_loads_have_an_array_of_their_own(tmp_path: Path) -> None:
    """Though its entries are not told: the misses begin behind 16 pages, those of loads behind 96."""
    recorded = RECORDED.with_stem("goldencove-busy")
    assert measure(f"--from={recorded}", "--output=m.machine", cwd=tmp_path).returncode == 0
    blocks = [dict(line.split(None, 1) for line in block.splitlines()) for block in arrays(tmp_path / "m.machine")]
    found = {block["array"]: (block["level"], block["users"], block["entries"]) for block in blocks}
    assert found["DTLB-loads"] == ("1", "loads", "96")
    assert found["DTLB-stores"] == ("1", "stores", "unknown, assume 16")


def arrays(path: Path) -> list[str]:
    return [block for block in path.read_text(encoding="ascii").split("\n\n") if block.startswith("array ")]


# ---------------------------------------------------------------- a measurement


def test_a_measurement_of_some_seconds_is_well_formed(tmp_path: Path) -> None:
    done = measure("--seconds=4", "--curves=m.csv", "--picture=m.svg", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    ElementTree.parse(tmp_path / "m.svg")
    with (tmp_path / "m.csv").open() as file:
        heading, *rows = csv.reader(file)
    assert heading == HEADING
    assert {("pages", "load"), ("control", "load"), ("pages", "store")} <= {(row[0], row[1]) for row in rows}
    before: list[str] = []
    for row in rows:
        assert int(row[2]) >= 4096 and int(row[3]) >= 1 and int(row[4]) >= 1
        assert float(row[6]) > 0.0 and float(row[7]) >= 0.0 and int(row[8]) >= 1
        if row[:5] == before[:5]:
            assert int(row[5]) > int(before[5])
        before = row
    # It can be read again, whatever it tells.
    assert measure("--from=m.csv", cwd=tmp_path).returncode == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.csv", "m.svg"]


def test_what_can_be_measured_is_listed() -> None:
    done = measure("--list")
    assert (done.returncode, done.stderr) == (0, "")
    heading, *rows = done.stdout.splitlines()
    assert heading.split() == ["kind", "asks", "pages", "stride", "chains", "up", "to"]
    assert any(row.split()[:2] == ["pages", "load"] for row in rows)
