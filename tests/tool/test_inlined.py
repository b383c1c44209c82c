# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate --inlined: costs of inlined functions, of a program whose reads are known."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from call_graph import read_graph
from tg_environment import CLIENTS, TLBGRIND, client
from tool_support import PYTHON, TG_ANNOTATE

# Both tables are larger than the first level, so each read of a page misses.
MACHINE = ("--itlb=16,full", "--dtlb=16,full", "--stlb=64,8")
MANY, FEW = 64, 32
MANY_ROUNDS, FEW_ROUNDS = 10, 5
READS = MANY_ROUNDS * MANY + FEW_ROUNDS * FEW
IN_NOTE = 2  # reads of a call of note(): its variable, and the address to return to
SOURCES = Path(__file__).resolve().parent.parent / "clients"


def profile(out: Path, *options: str, program: str) -> str:
    # Of the program alone: names of what the loader did are looked up in large files.
    command = [TLBGRIND, "-q", "--log-file=/dev/null", "--toggle-collect=main", *MACHINE, *options, f"--tlbgrind-out-file={out}"]
    subprocess.run([*command, program], check=True, stdout=subprocess.DEVNULL)
    return str(out)


@pytest.fixture(scope="module", params=["no", "yes"])
def out(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Profiled without and with calls."""
    folder = tmp_path_factory.mktemp("inlined")
    calls = f"--calls={request.param}"
    return profile(folder / request.param, "--dump-instr=yes", calls, program=client("run_inlined"))


@pytest.fixture(scope="module")
def with_calls(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("inlined")
    return profile(folder / "out", "--dump-instr=yes", "--calls=yes", program=client("run_inlined"))


def annotate(
    *arguments: str, python: str = PYTHON, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [python, TG_ANNOTATE, *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, env=env)


def good(*arguments: str) -> str:
    done = annotate(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def table(name: str, *arguments: str) -> list[dict[str, Any]]:
    found = json.loads(good("--format=json", "--threshold=0", "--show=Dr,D1tmr", *arguments))
    rows: list[dict[str, Any]] = next(t for t in found["tables"] if t["name"] == name)["rows"]
    return rows


def line_of(file: str, mark: str) -> tuple[str, int]:
    lines = (SOURCES / file).read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.endswith(f"/* {mark} */")]
    assert len(found) == 1
    return file, found[0]


def lines(by: str, *arguments: str) -> dict[tuple[str, int], tuple[int, int]]:
    rows = table(by, f"--by={by}", *arguments)
    return {
        (row["file"].rpartition("/")[2], row["line"]): (row["Dr"], row["D1tmr"])
        for row in rows
        if "run_inlined" in row["file"]
    }


def functions(*arguments: str) -> dict[str, tuple[int, int]]:
    rows = table("function", "--by=function", *arguments)
    client_file = str(CLIENTS / "run_inlined")
    return {row["function"]: (row["Dr"], row["D1tmr"]) for row in rows if row["object"] == client_file}


def test_a_line_has_what_is_inlined_and_called_there(out: str) -> None:
    found = lines("line:inclusive", out)
    notes = (MANY_ROUNDS, FEW_ROUNDS) if out.endswith("yes") else (0, 0)
    of_note = [(IN_NOTE * n, n) for n in notes]
    in_loop = [(MANY_ROUNDS * MANY,) * 2, (FEW_ROUNDS * FEW,) * 2]
    for mark, inside, called in zip(("many", "few"), in_loop, of_note):
        expected = tuple(a + b for a, b in zip(inside, called))
        assert found[line_of("run_inlined.cc", mark)] == expected
    assert found[line_of("run_inlined.h", "of a page")] == (READS, READS)
    assert found[line_of("run_inlined.h", "the read")] == (READS, READS)


def test_inlined_functions_are_functions(out: str) -> None:
    found = functions("--inlined", out)
    assert found["first_of"] == (READS, READS)
    assert found["sum_of<64>"] == found["sum_of<32>"] == (0, 0)
    assert found["note(int)"][0] == IN_NOTE * (MANY_ROUNDS + FEW_ROUNDS)
    # Without, all of it is of main, which itself reads what it pushed.
    before = functions(out)
    assert "first_of" not in before
    assert before["main"][0] == READS + found["main"][0]


@pytest.mark.parametrize("by", ["line", "file", "object"])
def test_other_tables_are_the_same(by: str, out: str) -> None:
    options = ("--threshold=0", "--show=all", "--format=csv", f"--by={by}", out)
    assert good(*options) == good("--inlined", *options)


def test_inlined_functions_are_called_no_times(with_calls: str) -> None:
    rows = table("calls", "--inlined", "--callers=sum_of*", with_calls)
    arcs = {(row["caller_function"], row["callee_function"]): row for row in rows}
    for name, rounds, pages in (("sum_of<64>", MANY_ROUNDS, MANY), ("sum_of<32>", FEW_ROUNDS, FEW)):
        reads = rounds * pages
        counts = [(arcs[ends]["calls"], arcs[ends]["Dr"], arcs[ends]["D1tmr"]) for ends in (
            ("main", name), (name, "first_of"), (name, "note(int)"),
        )]  # fmt: skip
        assert counts == [
            (0, reads + IN_NOTE * rounds, reads + rounds),
            (0, reads, reads),
            (rounds, IN_NOTE * rounds, rounds),
        ]


def test_main_costs_the_same_with_what_it_calls(with_calls: str) -> None:
    found = []
    for options in ((), ("--inlined",)):
        rows = table("inclusive", "--inclusive", *options, with_calls)
        found.append([row for row in rows if row["function"] == "main"])
    assert len(found[0]) == 1
    assert [found[0][0][name] for name in ("Dr", "D1tmr", "calls")] == [
        found[1][0][name] for name in ("Dr", "D1tmr", "calls")
    ]


def test_without_calls_there_is_a_tree_of_inlined_functions(out: str) -> None:
    rows = table("tree", "--inlined", "--tree=main", out)
    names = [row["function"] for row in rows]
    assert names[:3] == ["main", "sum_of<64>", "first_of"]
    assert rows[2]["Dr"] == MANY_ROUNDS * MANY


def test_a_source_shows_what_is_inlined_and_called(with_calls: str) -> None:
    text = good("--inlined", "--source=run_inlined.cc", "--source=run_inlined.h", "--show=Dr", "--show-percs=no", with_calls)
    shown = re.findall(r"^ *([0-9,]+) +=> +(.*)$", text, re.MULTILINE)
    # Of two sources, the one that has more itself comes first.
    assert sorted(shown) == [
        ("170", "inlined: sum_of<32>"),
        ("30", "called 15 times: note(int)"),
        ("660", "inlined: sum_of<64>"),
        ("800", "inlined: first_of"),
    ]


def test_tables_of_a_source_have_what_is_inlined_and_called(with_calls: str) -> None:
    rows = table("source_calls", "--inlined", "--source=run_inlined.cc", "--source=run_inlined.h", with_calls)
    found = {(row["callee_function"], row["calls"]): row["Dr"] for row in rows}
    assert found == {
        ("sum_of<64>", 0): MANY_ROUNDS * (MANY + IN_NOTE),
        ("sum_of<32>", 0): FEW_ROUNDS * (FEW + IN_NOTE),
        ("first_of", 0): READS,
        ("note(int)", MANY_ROUNDS + FEW_ROUNDS): IN_NOTE * (MANY_ROUNDS + FEW_ROUNDS),
    }


def test_the_file_for_other_readers_says_the_same(with_calls: str, tmp_path: Path) -> None:
    written = tmp_path / "callgrind.out"
    written.write_text(good("--inlined", "--to=callgrind", with_calls), encoding="utf-8")
    options = ("--threshold=0", "--show=all", "--format=csv", "--by=function,line,object")
    calls = ("--inclusive", "--callers")
    before = good("--inlined", *options, *calls, with_calls)
    assert good(*options, *calls, str(written)) == before
    graph = read_graph(written)
    assert graph.totals == read_graph(Path(with_calls)).totals
    ours = {obj for obj, name in graph.own if name == "sum_of<64>"}
    assert ours == {str(client("run_inlined"))}
    done = subprocess.run(
        ["callgrind_annotate", "--tree=caller", "--inclusive=yes", "--threshold=100", str(written)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "sum_of<64>" in done.stdout


def test_several_files_are_added_up_and_subtracted(out: str, tmp_path: Path) -> None:
    one = lines("line:inclusive", out)
    other = shutil.copy(out, tmp_path)
    assert lines("line:inclusive", out, other) == {key: (2 * a, 2 * b) for key, (a, b) in one.items()}
    text = good("--diff", "--inlined", "--by=line:inclusive,function", "--threshold=0", "--show=Dr", out, out)
    assert "first_of" not in text


def test_an_object_that_is_gone_is_warned_of(tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy(client("run_inlined"), program)
    out = profile(tmp_path / "out", "--dump-instr=yes", program=str(program))
    program.unlink()
    done = annotate("--inlined", "--by=function", "--threshold=0", out)
    assert done.returncode == 0
    assert f"{program}: not there any more, so its inlined functions are not known" in done.stderr
    assert "first_of" not in done.stdout
    assert re.search(r"main \[.*program\]", done.stdout)


def test_an_object_that_is_newer_is_warned_of(tmp_path: Path) -> None:
    program = tmp_path / "program"
    shutil.copy(client("run_inlined"), program)
    out = profile(tmp_path / "out", "--dump-instr=yes", program=str(program))
    later = os.stat(out).st_mtime + 60
    os.utime(program, (later, later))
    done = annotate("--inlined", "--by=function", "--threshold=0", out)
    assert f"{program}: newer than {out}, so its inlined functions may be wrong ones" in done.stderr
    assert "first_of" in done.stdout


def test_what_is_needed_is_named(out: str, tmp_path: Path) -> None:
    plain = profile(tmp_path / "plain", program=client("run_inlined"))
    done = annotate("--inlined", plain)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"tg_annotate: error: {plain}: argument --inlined: no costs by instruction; tlbgrind "
        "--dump-instr=yes writes them\n"
    )
    done = annotate("--inlined", out, python=sys.executable, env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "tg_annotate: error: argument --inlined: eu-addr2line is not installed; it is in the package "
        "elfutils\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by=line:inclusive", "--compare", "a", "b"], "--by=line:inclusive goes without --compare"),
        (["--inlined", "--asm=main", "a"], "--inlined goes without --asm"),
        (["--inlined", "--advice", "a"], "--inlined goes without --advice"),
        (["--inlined", "--of=main", "a"], "--inlined goes without --of"),
        (["--to=callgrind", "a"], "--to=callgrind goes with --inlined: without, the OUTFILE is the same"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: list[str], message: str) -> None:
    done = annotate(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"tg_annotate: error: {message}")


# ---------------------------------------------------------------- what eu-addr2line says


def fake(folder: Path, answer: str, status: int = 0) -> dict[str, str]:
    """An environment in which eu-addr2line says this."""
    script = folder / "eu-addr2line"
    script.write_text(f"#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{answer}END\nexit {status}\n")
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "main\n",
        "0x401106\n",
        "0x401106\nmain\n",
        "0x401106\nmain\n??:0\nmain\n/a/b.c:1\n",
        "0x401106\nmain\nnonsense\nmain\n/a/b.c:1\n",
        "0x1\nmain\n/a/b.c:1:1\nmain\n/a/b.c:1\n",
    ],
)
def test_an_answer_that_is_not_whole_changes_nothing(answer: str, out: str, tmp_path: Path) -> None:
    options = ("--threshold=0", "--show=all", "--by=function,line", out)
    done = annotate("--inlined", *options, env=fake(tmp_path, answer))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == without_hint(good(*options))


def without_hint(shown: str) -> str:
    """Without the advice to ask for what --inlined has asked for."""
    return re.sub(r"\n\d+% of walks is inlined code of other files [^;]*;(?:.+\n)+", "", shown)


def test_a_failure_is_told(out: str, tmp_path: Path) -> None:
    done = annotate("--inlined", out, env=fake(tmp_path, "", 1))
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(r"tg_annotate: error: /.*: argument --inlined: eu-addr2line failed\n", done.stderr)
