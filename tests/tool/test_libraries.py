# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--merge-code: the instruction side of programs whose libraries are really merged."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tg_environment import CC
from tool_support import EVENTS, PYTHON, TG_ANNOTATE, OutFile, run

NAMES = "abcdefghijklmnopqrstuvwxyz"
PAGES = len(NAMES) + 1  # of code in a round of 26 libraries: theirs and the loop's
ROUNDS = 1000
FLAGS = ("-O1", "-fPIC", "-fcf-protection=none", "-fno-optimize-sibling-calls", "-Wl,-z,lazy", "-Wl,-z,separate-code")


def cc(*arguments: object) -> None:
    subprocess.run([*CC, *FLAGS, *map(str, arguments)], check=True)


def routine(name: str) -> str:
    """Calls the next one. A store keeps each call from being the last instruction."""
    following = chr(ord(name) + 1)
    if name == NAMES[-1]:
        return f"void {name}(void) {{}}\n"
    return f"void {following}(void);\nvoid {name}(void) {{ {following}(); __asm__ volatile (\"\" ::: \"memory\"); }}\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same routines in 26 libraries and in one. Their folders' names are equally long."""
    top = tmp_path_factory.mktemp("libraries")
    main = top / "main.c"
    main.write_text(
        "#include <stdlib.h>\nvoid a(void);\n"
        "int main(int argc, char** argv) { for (long i = atol(argv[argc - 1]); i > 0; i--) a(); return 0; }\n"
    )
    made = {}
    for kind, parts in (("many", list(NAMES)), ("once", [NAMES])):
        folder = top / kind
        folder.mkdir()
        libraries: list[Path] = []
        for part in reversed(parts):
            source = folder / f"{part}.c"
            source.write_text("".join(map(routine, part)))
            library = folder / f"lib{part}.so"
            cc("-shared", "-nostdlib", "-o", library, source, *libraries[-1:], f"-Wl,-rpath,{folder}")
            libraries.append(library)
        made[kind] = folder / "program"
        cc("-o", made[kind], main, "-Wl,--no-as-needed", *reversed(libraries), f"-Wl,-rpath,{folder}")
    return made


def profile(folder: Path, program: Path, rounds: int, entries: int, *options: str) -> OutFile:
    r = run(
        folder, program, str(rounds), options=[f"--itlb={entries},full", "--dtlb=16,full", *options],
        geometry=(), prefix=["setarch", "-R"],
    )
    assert r.status == 0, r.err
    return r.only()


def misses(out: OutFile) -> int:
    return dict(zip(out.field("events").split(), out.summary))["I1tm"]


def per_round(folder: Path, program: Path, entries: int, *options: str) -> float:
    """Of further rounds."""
    two = [misses(profile(folder / f"{n}", program, n * ROUNDS, entries, *options)) for n in (1, 2)]
    return (two[1] - two[0]) / ROUNDS


@pytest.mark.parametrize("entries", [64, 16, 8, 2, 1])
def test_merged_libraries_miss_as_often_as_one_library(tmp_path: Path, programs: dict[str, Path], entries: int) -> None:
    apart = per_round(tmp_path / "a", programs["many"], entries)
    merged = per_round(tmp_path / "b", programs["many"], entries, "--merge-code=lib?.so")
    once = per_round(tmp_path / "c", programs["once"], entries)
    assert merged == once
    assert entries == 1 or (apart, merged) == (2 * max(0, PAGES - entries), 0)


def test_data_and_instructions_stay(tmp_path: Path, programs: dict[str, Path]) -> None:
    plain = profile(tmp_path / "a", programs["many"], ROUNDS, 16)
    merged = profile(tmp_path / "b", programs["many"], ROUNDS, 16, "--merge-code=lib?.so")
    slow = profile(tmp_path / "c", programs["many"], ROUNDS, 16, "--merge-code=lib?.so", "--fast-path=no")
    events = plain.field("events").split()
    for event, before, after in zip(events, plain.summary, merged.summary):
        assert before == after or event in ("I1tm", "ILtm")
    assert merged.body() == slow.body()
    pieces = [text.split() for text in merged.descriptions("Merged code")]
    assert {Path(piece[3]).name for piece in pieces} == {f"lib{name}.so" for name in NAMES}
    starts = [int(piece[2], 16) for piece in pieces]
    assert all(start + int(piece[1]) <= following for start, piece, following in zip(starts, pieces, starts[1:]))
    assert starts[0] % 4096 == 0


def test_nothing_changes_where_no_object_matches(tmp_path: Path, programs: dict[str, Path]) -> None:
    plain = profile(tmp_path / "a", programs["many"], ROUNDS, 16)
    same = profile(tmp_path / "b", programs["many"], ROUNDS, 16, "--merge-code=nothing")
    assert plain.body() == same.body()


def test_a_pattern_that_no_object_matches_is_reported(tmp_path: Path, programs: dict[str, Path]) -> None:
    message = "Nothing was merged: no object that was executed matches --merge-code=."
    for pattern, said in (("nothing", True), ("lib?.so", False)):
        (tmp_path / str(said)).mkdir()
        r = run(tmp_path / str(said), programs["many"], "1", options=[f"--merge-code={pattern}"])
        assert r.status == 0, r.err
        assert (message in r.err) == said


def endless(folder: Path, program: Path, *options: str) -> dict[str, int]:
    """By object, the misses of an instruction TLB that holds every page: one for each page."""
    out = profile(folder, program, 10, 65536, *options)
    found: dict[str, int] = {}
    for line in out.lines:
        found[line.object] = found.get(line.object, 0) + line.costs[EVENTS.index("I1tm")]
    return found


def header(folder: Path, program: Path, *options: str) -> list[str]:
    run(
        folder, program, "10", options=["--dump-instr=yes", *options], prefix=["setarch", "-R"], collect=False,
        out_file="out",
    )
    return (folder / "out").read_text(encoding="utf-8").partition("\nevents:")[0].splitlines()


def test_code_pages_are_those_that_an_endless_tlb_misses(tmp_path: Path, programs: dict[str, Path]) -> None:
    merge = "--merge-code=lib*.so"
    apart = endless(tmp_path / "a", programs["many"])
    merged = endless(tmp_path / "b", programs["many"], merge)
    for lines in (header(tmp_path / "c", programs["many"]), header(tmp_path / "d", programs["many"], merge)):
        uses = [line.split(" ", 4)[2:] for line in lines if line.startswith("desc: Code: ")]
        assert {name: int(pages) for pages, _, name in uses} == apart
    [(pages, size)] = [line.split()[4:] for line in lines if line.startswith("desc: Merged code pages: ")]
    inside = [name for name in apart if name.startswith(f"{programs['many'].parent}/lib")]
    assert len(inside) == len(NAMES)
    assert int(pages) == sum(merged[name] for name in inside) < sum(apart[name] for name in inside)
    assert int(size) == sum(int(n) for _, n, name in uses if name in inside)


def advice(folder: Path, *files: Path) -> dict[str, list[dict[str, Any]]]:
    """The tables of tg_annotate --advice=libraries, by name."""
    command = [PYTHON, TG_ANNOTATE, "--advice=libraries", "--threshold=0", "--format=json", *map(str, files)]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True)
    assert done.stderr == ""
    return {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}


def test_advice_has_the_calls_misses_and_pages_of_the_chain(tmp_path: Path, programs: dict[str, Path]) -> None:
    """Each routine calls the next once a round. A TLB of 8 pages keeps 8 of the 27, on each way."""
    files = []
    for name, more in (("apart", ["--calls=yes"]), ("merged", ["--merge-code=lib?.so"])):
        options = ["--itlb=8,full", "--dtlb=16,full", "--dump-instr=yes", *more]
        r = run(
            tmp_path / name, programs["many"], str(ROUNDS), options=options, geometry=(), collect=False, out_file="out",
            prefix=["setarch", "-R"], env={"LD_BIND_NOW": "1"},
        )  # fmt: skip
        assert r.status == 0, r.err
        files.append(tmp_path / name / "out")
    found = advice(tmp_path, *files)
    libraries = [str(programs["many"].parent / f"lib{name}.so") for name in NAMES]
    chain = [str(programs["many"]), *libraries]
    calls = {(row["object"], row["other"]): (row["calls"], row["back"]) for row in found["pair"]}
    assert [calls[pair] for pair in zip(chain, chain[1:])] == [(ROUNDS, 0)] * len(NAMES)
    assert not [pair for pair in calls if set(pair) <= set(libraries) and pair not in zip(chain, chain[1:])]
    objects = {row["object"]: row for row in found["object"]}
    assert all(objects[name]["code_pages"] == 1 for name in chain)
    apart, merged = found["merge"]
    assert merged["objects"] == len(NAMES)
    assert abs(merged["I1tm_saved"] - 2 * (PAGES - 8) * ROUNDS) < ROUNDS
    assert merged["pays"] == "yes"
    size = sum(objects[name]["code_bytes"] for name in libraries)
    assert merged["least_pages"] == -(-size // 4096) <= len(NAMES) - merged["code_pages_saved"]
    assert apart["code_pages"] == sum(row["code_pages"] for row in found["object"])
    for event in ("I1tm", "ILtm"):
        assert apart[event] == sum(row[event] for row in found["object"]) == merged[event] + merged[f"{event}_saved"]


def test_advice_for_one_library_is_that_there_is_nothing_to_win(tmp_path: Path, programs: dict[str, Path]) -> None:
    options = ["--itlb=64,full", "--dtlb=16,full", "--dump-instr=yes", "--calls=yes"]
    r = run(tmp_path, programs["once"], str(100 * ROUNDS), options=options, geometry=(), collect=False, out_file="out")
    assert r.status == 0, r.err
    done = subprocess.run([PYTHON, TG_ANNOTATE, "--advice=libraries", "out"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert "\nNothing to win in the instruction TLBs: " in done.stdout


def test_code_pages_are_the_faults_of_code(tmp_path: Path, programs: dict[str, Path]) -> None:
    """In the view in which each first touch of a page is a fault."""
    r = run(
        tmp_path, programs["many"], "10", options=["--dump-instr=yes", "--faults=yes", "--faults-out-file=faults"],
        collect=False, out_file="out", prefix=["setarch", "-R"],
    )  # fmt: skip
    assert r.status == 0, r.err
    out = (tmp_path / "out").read_text(encoding="utf-8")
    chain = str(programs["many"].parent)
    pages = {name: int(n) for n, name in re.findall(r"^desc: Code: (\d+) \d+ (.+)$", out, re.MULTILINE) if name.startswith(chain)}
    assert len(pages) == PAGES
    command = [PYTHON, Path(TG_ANNOTATE).with_name("tg_faults"), "--view=4k", "--by=mapping", "--top=0", "--format=json", "faults"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    tables = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    faults = {row["mapping"][: -len(" r-x")]: row["code"] for row in tables["mapping"] if row["mapping"].endswith(" r-x")}
    assert {name: faults[name] for name in pages} == pages
