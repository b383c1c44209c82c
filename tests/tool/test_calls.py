# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--calls=yes: who calls whom, how often, and at what inclusive cost in every event."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from call_graph import Graph, read_graph
from tg_environment import CLIENTS, TLBGRIND
from tg_written import written
from tool_support import ENVIRONMENT, PYTHON, TG_ANNOTATE

ROUNDS = 7
CLIENT = str(CLIENTS / "run_calls")
MACHINES = "--machine=skylake,zen4,power8"


def profile(folder: Path, *options: str, program: tuple[str, ...] = (CLIENT,)) -> list[Path]:
    folder.mkdir()
    command = [TLBGRIND, "-q", f"--tlbgrind-out-file={folder}/out.%p", *options, *program]
    done = subprocess.run(
        command, env=ENVIRONMENT, cwd=folder, capture_output=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return sorted(folder.glob("out.*"))


def graph(folder: Path, *options: str, program: tuple[str, ...] = (CLIENT,)) -> Graph:
    (path,) = profile(folder, "--calls=yes", *options, program=program)
    return read_graph(path)


def without_run(path: Path) -> list[str]:
    lines = written(path).splitlines()
    return [line for line in lines if not line.startswith("pid: ")]


ONE = ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8", "--faults=yes", "--faults-out-file=faults")


def test_each_function_has_been_called_as_often_as_the_program_says(tmp_path: Path) -> None:
    g = graph(tmp_path / "run", *ONE)
    assert g.calls("middle") == ROUNDS
    assert g.arc("middle", "leaf").calls == 2 * ROUNDS
    assert g.arc("recursive", "recursive").calls == 11
    assert (g.arc("even", "odd").calls, g.arc("odd", "even").calls) == (5, 4)
    assert g.arc("caught", "jumps").calls == ROUNDS
    assert g.arc("jumps", "jumps").calls == 20 * ROUNDS
    assert g.arc("caught", "leaf").calls == ROUNDS


def test_inclusive_costs_are_the_functions_own_and_those_of_its_callees(tmp_path: Path) -> None:
    g = graph(tmp_path / "run", *ONE)
    # The first function has no caller, and its costs are all that there are. Page faults before it
    # have no function.
    rest = g.out_of_balance()
    no_function = rest.pop(("???", "???"), (0,) * len(g.events))
    assert [tuple(map(sum, zip(costs, no_function))) for costs in rest.values()] == [g.totals]
    for event in ("D1tmr", "DLtmr", "PFw"):
        assert g.arc("middle", "leaf").costs[g.events.index(event)] > 0


def test_a_frame_that_longjmp_leaves_has_its_costs(tmp_path: Path) -> None:
    g = graph(tmp_path / "run", *ONE)
    (caught,) = [f for f in g.own if f[1] == "caught"]
    assert caught not in g.out_of_balance()
    stores = g.events.index("Dw")
    # leaf() stores at least once for each of 20 + 19 + ... pages.
    assert g.arc("caught", "jumps").costs[stores] > ROUNDS * 210


def test_exceptions_and_tail_calls_leave_each_function_with_its_calls(tmp_path: Path) -> None:
    g = graph(tmp_path / "run", *ONE, program=(str(CLIENTS / "run_throws"),))
    rounds, depth = 5, 6
    leaves = (depth + 1) + 2  # of the functions that fall, and of the one that catches
    assert g.calls("catches()") == g.calls("passes(int)") == g.calls("points(int)") == rounds
    assert g.calls("falls(int)") == rounds * (depth + 1)
    assert g.calls("last(int)") == 2 * rounds
    assert g.calls("leaf(int)") == rounds * (leaves + 2 + 2)
    for caller in ("passes(int)", "points(int)"):
        assert g.arc(caller, "last(int)").calls == rounds
    # Each frame that the exception leaves has its costs.
    rest = g.out_of_balance()
    no_function = rest.pop(("???", "???"), (0,) * len(g.events))
    assert [tuple(map(sum, zip(costs, no_function))) for costs in rest.values()] == [g.totals]


def test_the_file_is_the_same_without_the_fast_path(tmp_path: Path) -> None:
    fast = profile(tmp_path / "run", "--calls=yes", MACHINES)
    texts = [without_run(path) for path in fast]
    shutil.rmtree(tmp_path / "run")
    slow = profile(tmp_path / "run", "--calls=yes", MACHINES, "--fast-path=no")
    assert len(texts) == 3
    assert texts == [without_run(path) for path in slow]


def test_a_machine_has_the_same_calls_in_a_run_of_many_and_alone(tmp_path: Path) -> None:
    many = profile(tmp_path / "run", "--calls=yes", MACHINES)
    together = {path.name.rsplit("_")[-1]: read_graph(path) for path in many}
    assert len(together) == 3
    for name, of_many in together.items():
        # The same folder each time: its name stands in the program's environment, thus on its stack.
        shutil.rmtree(tmp_path / "run")
        alone = graph(tmp_path / "run", f"--machine={name}")
        assert (of_many.arcs, of_many.own) == (alone.arcs, alone.own)


def test_own_costs_are_those_of_a_run_without_calls(tmp_path: Path) -> None:
    (off,) = profile(tmp_path / "run", *ONE)
    assert not re.search("^c(alls|fn|ob|fi)=", off.read_text(encoding="utf-8"), re.MULTILINE)
    before = read_graph(off)
    shutil.rmtree(tmp_path / "run")
    after = graph(tmp_path / "run", *ONE)
    assert (after.own, after.totals) == (before.own, before.totals)


def test_a_handlers_costs_are_not_those_of_the_function_that_it_interrupts(tmp_path: Path) -> None:
    paths = profile(tmp_path / "run", "--calls=yes", *ONE, program=(CLIENT, "all"))
    graphs = sorted(map(read_graph, paths), key=lambda g: -g.totals[0])
    parent, child = graphs
    assert parent.calls("handler") == ROUNDS
    assert parent.arc("handler", "leaf").calls == ROUNDS
    instructions = parent.events.index("Ir")
    rest = parent.out_of_balance()
    assert all(count >= 0 for costs in rest.values() for count in costs)
    assert [sum(column) for column in zip(*rest.values())] == list(parent.totals)
    # 50 rounds of leaf() are more than all that raised() does.
    called = parent.arc("main", "raised").costs[instructions]
    assert called < parent.arc("handler", "leaf").costs[instructions]
    assert parent.arc("escaped", "leaf").calls == ROUNDS
    assert parent.arc("thread", "middle").calls == 2 * ROUNDS
    # A child has what was called since the fork.
    assert child.calls("middle") == 1
    assert child.calls("recursive") == 0


PROGRAMS = (
    ("bzip2", "-9", "-k", "-c", CLIENT),
    ("gzip", "-c", CLIENT),
    ("ls", "-l", "/usr/lib"),
    ("cat", CLIENT),
    ("md5sum", CLIENT),
    ("od", "-A", "x", CLIENT),
    ("objdump", "-d", CLIENT),
    ("nm", "-C", CLIENT),
    ("readelf", "-a", CLIENT),
    ("sed", "-n", "s/a/b/p", "/etc/services"),
    ("tr", "a", "b"),
    ("sort", "/etc/services"),
    (CLIENT,),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: Path(program[0]).name)
def test_functions_are_called_as_often_as_callgrind_counts(
    tmp_path: Path, program: tuple[str, ...]
) -> None:
    path = shutil.which(program[0])
    if path is None:
        pytest.skip(f"no {program[0]} here")
    program = (path, *program[1:])
    ours = graph(tmp_path / "run", "--native-start=no", "--machine=skylake", program=program)
    out = tmp_path / "callgrind"
    valgrind = os.environ.get("VALGRIND", "valgrind")
    subprocess.run(
        [valgrind, "-q", "--tool=callgrind", f"--callgrind-out-file={out}", *program],
        env=ENVIRONMENT,
        cwd=tmp_path / "run",
        capture_output=True,
        check=True,
        timeout=600,
    )
    theirs = read_graph(out)
    assert theirs.called()
    assert ours.called() == theirs.called()


def test_callgrind_annotate_shows_callers_and_callees(tmp_path: Path) -> None:
    tool = shutil.which("callgrind_annotate")
    if tool is None:
        pytest.skip("no callgrind_annotate here")
    (path,) = profile(tmp_path / "run", "--calls=yes", *ONE)
    done = subprocess.run(
        [tool, "--tree=both", "--inclusive=yes", "--threshold=100", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\* .*:middle ", done.stdout)
    assert re.search(rf"< .*:main \({ROUNDS}x\)", done.stdout)
    assert re.search(rf"> .*:leaf \({2 * ROUNDS}x\)", done.stdout)


def test_tg_annotate_reads_a_file_with_calls(tmp_path: Path) -> None:
    (path,) = profile(tmp_path / "run", "--calls=yes", *ONE)
    done = subprocess.run([PYTHON, TG_ANNOTATE, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
