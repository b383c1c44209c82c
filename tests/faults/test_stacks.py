# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--faults-stacks=N: who called the code that took a fault, in the log and in tg_faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults_support import DATA, good, refused
from faults_support import run as tg_faults
from native_support import Fault, Log, run
from tg_environment import client
from tg_tables import document

CLIENT = client("fault_stacks")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    (found,), _ = run(tmp_path_factory.mktemp("stacks"), [CLIENT], ["--faults-stacks=16"])
    return found


def ways(log: Log) -> list[list[str]]:
    """Of the faults of the client's functions, or for them: the functions, the innermost first."""
    own = {"inner", "outer", "fill", "ask", "deep"}
    found = []
    for fault in log.faults:
        names = [code.function for code in ([fault.code] if fault.code else [])]
        names += [code.function for code in fault.callers]
        if fault.map.what == "bss" and fault.map.name == str(CLIENT) and own & {*names}:
            found.append(names)
    return found


def up_to_main(names: list[str]) -> list[str]:
    return names[: names.index("main") + 1] if "main" in names else names


def test_a_fault_has_the_calls_on_the_way_to_it(log: Log) -> None:
    """of the program's own code, of the C library's, and in a system call"""
    outer, fill, ask, deep = ways(log)
    assert up_to_main(outer) == ["inner", "outer", "main"]
    assert up_to_main(fill)[1:] == ["fill", "main"]
    assert "memset" in fill[0]
    assert up_to_main(ask)[-2:] == ["ask", "main"]
    assert deep == ["inner"] + ["deep"] * 16


def test_a_caller_is_the_instruction_that_calls(log: Log) -> None:
    """its line is that of the call"""
    lines = (Path(__file__).parents[1] / "clients" / "fault_stacks.c").read_text().splitlines()
    (fault,) = [f for f in log.faults if [c.function for c in f.callers[:1]] == ["outer"]]
    assert "inner(at);" in lines[fault.callers[0].line - 1]
    assert "outer(area" in lines[fault.callers[1].line - 1]


def without_stacks(fault: Fault) -> Fault:
    """Blocks end at other places with --calls, and a block's instructions are counted together."""
    return fault._replace(callers=(), instructions=0)


def test_the_faults_are_the_same_with_stacks_and_without(log: Log, tmp_path: Path) -> None:
    (plain,), _ = run(tmp_path, [CLIENT])
    assert list(map(without_stacks, log.faults)) == list(map(without_stacks, plain.faults))
    assert log.summary == plain.summary


def test_a_stack_has_no_more_callers_than_asked_for(tmp_path: Path) -> None:
    (short,), _ = run(tmp_path, [CLIENT], ["--faults-stacks=1"])
    assert max(len(fault.callers) for fault in short.faults) == 1
    assert ways(short)[0] == ["inner", "outer"]


def test_a_child_has_the_stacks_of_its_parent(tmp_path: Path) -> None:
    """what main called before the fork is on the child's stacks, too"""
    logs, _ = run(tmp_path, [client("fault_forks")], ["--faults-stacks=16", "--trace-children=yes"])
    assert len(logs) > 1
    for one in logs[1:]:
        functions = {code.function for fault in one.faults for code in fault.callers}
        assert "main" in functions


def test_a_series_is_of_one_stack(tmp_path: Path) -> None:
    """many faults of one loop are still one line"""
    (log,), _ = run(tmp_path, [client("fault_heap")], ["--faults-stacks=16"])
    assert len(log.path.read_text().splitlines()) < len(log.faults)


# --- What tg_faults makes of them ---


def rows(text: str, title: str) -> dict[str, int]:
    block = text.split(f"-- {title}")[1].split("\n\n")[0].splitlines()[2:]
    return {line.rsplit("  ", 1)[1].strip(): int(line.split()[0].replace(",", "")) for line in block}


def counts(log: Log) -> dict[str, int]:
    found: dict[str, int] = {}
    for line in good("--format=folded", log.path, folder=log.path.parent).splitlines():
        stack, _, number = line.rpartition(" ")
        found[stack] = int(number)
    return found


def test_folded_stacks_add_up(log: Log) -> None:
    """each fault of the view once, the outermost function first"""
    folded = counts(log)
    assert sum(folded.values()) == len(log.view("warm"))
    assert any(stack.endswith("main;outer;inner") for stack in folded)
    assert any(";main;ask;" in stack and stack.endswith(";<read>") for stack in folded)
    assert any(stack.startswith("...;deep;") for stack in folded)
    assert "<exec>" in folded


def test_the_first_caller_that_is_not_the_c_library(log: Log) -> None:
    text = good("--by=caller", "--top=0", "--wide", log.path, folder=log.path.parent)
    found = rows(text, "By first caller that is not the C library")
    assert sum(found.values()) == len(log.view("warm"))
    own = {name.split(" ")[0]: count for name, count in found.items() if str(CLIENT) in name}
    assert own["fill"] >= 1 and own["ask"] >= 1 and own["inner"] >= 2
    assert not any("libc.so" in name or "ld-linux" in name for name in found)


def test_a_function_with_all_that_it_calls(log: Log) -> None:
    """main has what its callees have, recursion counts once"""
    text = good("--by=inclusive,function", "--top=0", "--wide", log.path, folder=log.path.parent)
    own = {
        name.split(" ")[0]: count
        for name, count in rows(text, "By function with all that it calls").items()
        if str(CLIENT) in name
    }
    alone = {
        name.split(" ")[0]: count
        for name, count in rows(text, "By function: the code that touched it").items()
        if str(CLIENT) in name
    }
    assert own["inner"] == alone["inner"]
    assert own["deep"] - alone.get("deep", 0) == 1
    assert own["main"] >= own["outer"] + own["fill"] + own["ask"]


def test_functions_that_have_no_room_are_counted(log: Log) -> None:
    """A fault is in several of these rows, so they have no sum."""
    place = log.path.parent
    everything = document(good("--by=inclusive", "--top=0", "--format=json", log.path, folder=place))["tables"][1]
    few = document(good("--by=inclusive", "--top=2", "--format=json", log.path, folder=place))["tables"][1]
    others = len(everything["rows"]) - 2
    assert (everything["rest"], few["rows"]) == (None, everything["rows"][:2])
    assert others > 2
    assert few["rest"] == {"rows": others, **dict.fromkeys(few["columns"])}
    assert f"  <{others} more>\n" in good("--by=inclusive", "--top=2", log.path, folder=place)
    compared = good("--compare", "--by=inclusive", "--top=2", log.path, log.path, folder=place)
    assert f"  <{others} more>\n" in compared
    good("--by=inclusive", "--top=2", "--color=always", log.path, folder=place)


def test_a_log_without_stacks_is_refused(tmp_path: Path) -> None:
    said = "has no call stacks; tlbgrind records them with --faults-stacks=16"
    for option in ("--by=caller", "--by=inclusive", "--format=folded"):
        refused(f"mixed.faults: {said}", option, "mixed.faults", folder=DATA)


@pytest.mark.parametrize("stack", ["1,", "x", "99999", "1 2", ""])
def test_a_broken_stack_is_refused(stack: str, log: Log, tmp_path: Path) -> None:
    lines = log.path.read_text().splitlines(keepends=True)[:-1]  # without the checksum
    at = next(n for n, line in enumerate(lines) if line[:1].isdigit())
    broken = "\t".join([*lines[at].split("\t")[:-1], stack])
    (tmp_path / "broken").write_text("".join([*lines[:at], f"{broken}\n", *lines[at + 1 :]]))
    told = tg_faults(tmp_path, "broken").text()
    assert told.status == 1
    assert told.err.startswith(f"tg_faults: error: broken:{at + 1}: ")
