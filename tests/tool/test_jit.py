# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Code that is made at run time: its names, from perf maps and jitdump files, and without them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from call_graph import Graph, read_graph
from tg_environment import HAVE_X86, client
from tg_written import written
from tool_support import MADE, PYTHON, TG_ANNOTATE, OutFile, Run, run

needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
BITS = ["", pytest.param("32", marks=needs_x86)]

NAMED = [
    "before",
    "late",
    "late_unmapped",
    "renamed",
    "written_anew",
    "unended",
    "reused",
    "reused_late",
    "mapped_again",
    "nested",
    "forks",
    "dump",
    "dump_unmapped",
    "dump_moves",
    "broken",
]
REFUSED = ["is_pipe", "is_folder", "is_link", "is_others", "is_old"]


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _no_maps_are_left() -> Iterator[None]:
    """A process of the test itself may have had one of the numbers."""
    yield
    for pid in PIDS:
        for name in (f"perf-{pid}.map", f"perf-{pid}.map.target"):
            remove(Path("/tmp") / name)
    PIDS.clear()


PIDS: list[int] = []


def jit(folder: Path, way: str, *options: str, bits: str = "") -> Run:
    r = run(folder, client(f"run_jit{bits}"), way, options=options)
    PIDS.extend(out.pid for out in r.files)
    if r.status == 77:
        pytest.skip(f"{way}: the system does not let the client do this")
    assert r.status == 0, r.err
    return r


def made_by(out: OutFile) -> set[str]:
    return {line.function for line in out.lines if line.object == MADE}


def only(folder: Path) -> Graph:
    (path,) = folder.glob("out.*")
    PIDS.append(int(path.suffix[1:]))
    return read_graph(path)


def own_of(graph: Graph) -> dict[str, int]:
    """The instructions of each function that was made at run time."""
    return {name: costs[0] for (obj, name), costs in graph.own.items() if obj == MADE}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("way", NAMED)
def test_code_is_called_by_what_the_program_writes(tmp_path: Path, way: str, bits: str) -> None:
    jit(tmp_path, way, "--trace-children=yes", bits=bits).check()


@pytest.mark.parametrize("option", ["--fast-path=no", "--dump-instr=yes", "--toggle-collect=main"])
def test_counts_by_name_do_not_depend_on_the_way_to_count(tmp_path: Path, option: str) -> None:
    run(tmp_path, client("run_jit"), "late", options=(option,), collect=False)
    assert own_of(only(tmp_path)) == {"walk": 33, "step": 15}


def test_each_machine_has_the_names(tmp_path: Path) -> None:
    run(tmp_path, client("run_jit"), "late", options=("--machine=skylake,zen4",), geometry=(), collect=False)
    paths = sorted(tmp_path.glob("out.*"))
    PIDS.append(int(paths[0].name.split(".")[1].partition("_")[0]))
    assert [own_of(read_graph(path)) for path in paths] == [{"walk": 33, "step": 15}] * 2


def test_code_without_a_file_is_called_by_its_mapping(tmp_path: Path) -> None:
    (name,) = made_by(jit(tmp_path, "nameless").only())
    assert re.fullmatch(r"\[code made at run time, 4 KB at 0x[0-9a-f]+000\]", name)


@pytest.mark.parametrize("way", REFUSED)
def test_a_file_that_may_be_another_ones_is_not_read(tmp_path: Path, way: str) -> None:
    (name,) = made_by(jit(tmp_path, way).only())
    assert name.startswith("[code made at run time, ")


def test_what_is_behind_the_limits_is_said_to_be_left_out(tmp_path: Path) -> None:
    for way in ("large", "many"):
        r = jit(tmp_path / way, way).check()
        assert len(re.findall(r"Only the begin of /tmp/perf-\d+\.map is read", r.err)) == 1


def test_names_may_have_any_characters(tmp_path: Path) -> None:
    out = jit(tmp_path, "strange_names").only()
    assert made_by(out) == {"(a) b=c?[1m;\udcff", "fn=(3) +5 *"}
    done = subprocess.run([PYTHON, TG_ANNOTATE, "--threshold=0", "--show=Ir", str(out.path)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"fn=(3) +5 * [code made at run time]" in done.stdout


def test_code_of_a_file_without_symbols_keeps_its_object(tmp_path: Path) -> None:
    r = jit(tmp_path, "twice_mapped").check()
    found = {line.object for line in r.only().lines if line.function in ("walk", "step")}
    assert len(found) == 1
    assert "doublemapper" in found.pop()


@pytest.mark.parametrize("way", ["dump", "dump_unmapped"])
def test_lines_of_a_jitdump_file_are_lines_of_the_out_file(tmp_path: Path, way: str) -> None:
    out = jit(tmp_path, way).only()
    found = {(line.function_file, line.file, line.number): line.costs[0] for line in out.lines if line.function == "walk"}
    assert found == {("made.source", "made.source", 7): 15, ("made.source", "made.source", 9): 18}


def test_code_has_its_names_before_the_process_becomes_another_program(tmp_path: Path) -> None:
    r = jit(tmp_path, "execs", "--trace-children=yes")
    found = {out.path.name.endswith("_exec1"): made_by(out) for out in r.files}
    assert found == {True: {"walk", "step"}, False: set()}


def test_a_forked_child_has_names_of_its_parent_and_its_own(tmp_path: Path) -> None:
    r = jit(tmp_path, "forks")
    assert {len(made_by(out)) for out in r.files} == {2}


def test_calls_lead_to_named_functions(tmp_path: Path) -> None:
    run(tmp_path, client("run_jit"), "late", options=("--calls=yes",), collect=False)
    graph = only(tmp_path)
    called = {callee[1]: arc for (_, callee), arc in graph.arcs.items() if callee[0] == MADE}
    assert {name: (arc.calls, arc.costs[0]) for name, arc in called.items()} == {"walk": (3, 33), "step": (3, 15)}


def test_the_data_file_and_the_fault_log_have_the_names(tmp_path: Path) -> None:
    jit(tmp_path, "touches", "--data=yes", "--faults=yes", "--mappings=yes").check()
    (data,) = tmp_path.glob("tlbgrind.data.*")
    assert re.search(r"^fn=\(\d+\) touch$", written(data), re.MULTILINE)
    (faults,) = tmp_path.glob("tlbgrind.faults.*")
    assert len(re.findall(rf"^code\t\d+\t0x[0-9a-f]+000\t{re.escape(MADE)}\ttouch\t", written(faults), re.MULTILINE)) == 1


def test_a_part_of_a_run_has_the_names_that_are_known_at_its_end(tmp_path: Path) -> None:
    r = jit(tmp_path, "late", "--separate-threads=yes")
    for out in r.files:
        assert (out.function("walk", MADE), out.function("step", MADE)) == ((33, 3, 0), (15, 3, 0))
    assert len(r.files) == 2
