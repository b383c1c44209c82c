# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Inclusive costs, callers, the tree and folded stacks, of programs whose ways are known."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from annotate_support import HERE
from call_traces import Trace, by_chance, write
from tg_companions import call, package
from tg_tables import as_csv, csv_rows, document

SEEDS = range(20)
FEW = ["main", "alpha", "beta", "gamma", "delta", "epsilon"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def good(*arguments: str) -> str:
    status, out, err = call("tg_annotate", *arguments).text()
    assert (status, err) == (0, "")
    return out


def table(name: str, *arguments: str) -> list[dict[str, Any]]:
    found = document(good("--format=json", "--threshold=0", "--show=walks,Ir", *arguments))
    rows: list[dict[str, Any]] = next(t for t in found["tables"] if t["name"] == name)["rows"]
    return rows


def folded(*arguments: str) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for line in good("--to=folded=walks", "--threshold=0", *arguments).splitlines():
        stack, _, count = line.rpartition(" ")
        assert int(count) > 0
        found[tuple(stack.split(";"))] += int(count)
    return found


# ---------------------------------------------------------------- programs that are known


@pytest.mark.parametrize("seed", SEEDS)
def test_inclusive_costs_are_those_while_the_function_is_active(seed: int, tmp_path: Path) -> None:
    """In a cycle of several functions, arcs do not say so much: there it is at least that."""
    trace = by_chance(seed, FEW if seed % 2 else [f"f{n}" for n in range(25)], recursive=seed % 4 > 1)
    rows = table("inclusive", "--inclusive", str(trace.write(tmp_path / "out")))
    assert {row["function"] for row in rows} == {name for name, n in trace.inclusive.items() if n}
    for row in rows:
        true = trace.inclusive[row["function"]]
        if row["cycle"] is None:
            assert row["walks"] == true
        assert true <= row["walks"] <= trace.total
        assert row["Ir"] == 10 * row["walks"]
        assert row["walks:own"] == trace.own[row["function"]]
        assert row["calls"] == sum(n for (_, to), n in trace.calls.items() if to == row["function"])
    assert seed % 4 > 1 or all(row["cycle"] is None for row in rows)


def test_a_function_that_calls_itself_is_counted_once(tmp_path: Path) -> None:
    trace = Trace()
    trace.call("main")
    for _ in range(5):
        trace.call("deeper")
        trace.cost(3)
    trace.call("leaf")
    trace.cost(7)
    path = str(trace.write(tmp_path / "out"))
    rows = {row["function"]: row for row in table("inclusive", "--inclusive", path)}
    assert (rows["deeper"]["walks"], rows["deeper"]["calls"], rows["deeper"]["cycle"]) == (22, 5, None)
    assert folded(path) == {("main", "deeper"): 15, ("main", "deeper", "leaf"): 7}
    text = good("--callers=deeper", path)
    assert re.search(r"^58  .* 4    < \(recursive\) d\.c:deeper", text, re.MULTILINE)


@pytest.mark.parametrize("seed", SEEDS)
def test_where_each_function_has_one_caller_stacks_are_the_program_s(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    parents = {f"f{n}": f"f{chance.randrange(n)}" for n in range(1, 30)}
    trace = Trace()
    for _ in range(100):
        way = [f"f{chance.randrange(30)}"]
        while way[0] in parents:
            way.insert(0, parents[way[0]])
        trace.stack = []
        for name in way:
            trace.call(name)
        trace.cost(chance.randrange(50))
    path = str(trace.write(tmp_path / "out"))
    assert folded(path) == {way: n for way, n in trace.walks.items() if n}
    rows = table("tree", "--tree", path)
    assert all(row["costs"] == "exact" for row in rows)
    for row in rows:
        assert row["walks"] == trace.inclusive[row["function"]]
        assert row["walks:own"] == trace.own[row["function"]]


def test_several_callers_share_in_proportion_to_what_their_calls_cost(tmp_path: Path) -> None:
    own = {"main": 1, "left": 2, "right": 3, "shared": 10, "leaf": 30}
    arcs = {
        ("main", "left"): (1, 12),
        ("main", "right"): (1, 33),
        ("left", "shared"): (1, 10),
        ("right", "shared"): (3, 30),
        ("shared", "leaf"): (8, 30),
    }
    path = str(write(tmp_path / "out", own, arcs))
    # A quarter of 10 and of 30, in integers that add up to the 10 of the call.
    assert folded(path) == {
        ("main",): 1,
        ("main", "left"): 2,
        ("main", "left", "shared"): 2,
        ("main", "left", "shared", "leaf"): 8,
        ("main", "right"): 3,
        ("main", "right", "shared"): 7,
        ("main", "right", "shared", "leaf"): 23,
    }
    lines = good("--tree", "--show=walks", "--show-percs=no", path).splitlines()
    begin = lines.index(next(line for line in lines if line.startswith("-- Tree of calls")))
    assert lines[begin + 2 : begin + 9] == [
        "   46    1  m.c:main [prog]",
        "   33    3    r.c:right [prog]",
        "   30    7      s.c:shared [prog]",
        "   23   23        ~ l.c:leaf [prog]",
        "   12    2    l.c:left [prog]",
        "   10    2      s.c:shared [prog]",
        "    8    8        ~ l.c:leaf [prog]",
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_stacks_add_up_to_the_total_and_nearly_to_each_function(seed: int, tmp_path: Path) -> None:
    trace = by_chance(seed, FEW, recursive=seed % 2 > 0)
    path = str(trace.write(tmp_path / "out"))
    stacks = folded(path)
    assert sum(stacks.values()) == trace.total
    for name in FEW:
        tops = [count for stack, count in stacks.items() if stack[-1] == name]
        assert abs(sum(tops) - trace.own[name]) <= 4 ** len(FEW)
        assert not name or all(stack.count(name) <= 1 for stack in stacks)
    # Each way exists: it only goes where calls go.
    assert all(arc in trace.calls for stack in stacks for arc in zip(stack, stack[1:]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("threshold", ["0", "0.1", "20"])
def test_a_place_of_the_tree_is_its_own_costs_and_what_is_below(seed: int, threshold: str, tmp_path: Path) -> None:
    trace = by_chance(seed, FEW)
    path = str(trace.write(tmp_path / "out"))
    found = document(good("--format=json", "--tree", f"--threshold={threshold}", path))
    rows = found["tables"][1]["rows"]
    for place, row in enumerate(rows):
        children = []
        for other in rows[place + 1 :]:
            if other["depth"] <= row["depth"]:
                break
            children += [other] if other["depth"] == row["depth"] + 1 else []
        for event in ("walks", "Ir", "DLtmr", "Drw"):
            parts = [child[event] for child in children]
            assert row[event] == row[f"{event}:own"] + row[f"{event}:below"] + sum(parts)
        assert row["walks"] >= trace.total * float(threshold) / 100
    assert sum(row["walks"] for row in rows if row["depth"] == 0) == trace.total


def test_csv_has_the_cells_of_json(tmp_path: Path) -> None:
    path = str(by_chance(1, FEW).write(tmp_path / "out"))
    arguments = ("--tree", "--callers", "--inclusive", "--by=line", "--threshold=3", path)
    found = document(good("--format=json", *arguments))
    assert [table["name"] for table in found["tables"]] == ["program", "line", "inclusive", "calls", "tree"]
    rows = csv_rows(good("--format=csv", *arguments))
    assert [{key: cell for key, cell in row.items() if cell} for row in rows] == as_csv(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_are_those_of_the_program(seed: int, tmp_path: Path) -> None:
    trace = by_chance(seed, FEW)
    rows = table("calls", "--callers", str(trace.write(tmp_path / "out")))
    found = {(row["caller_function"], row["callee_function"]): (row["calls"], row["walks"]) for row in rows}
    # A call without costs does not matter.
    assert found == {arc: (n, trace.below[arc]) for arc, n in trace.calls.items() if trace.below[arc]}


def test_calls_of_several_files_are_added_up(tmp_path: Path) -> None:
    first, second = by_chance(1, FEW), by_chance(2, FEW)
    paths = [str(first.write(tmp_path / "first")), str(second.write(tmp_path / "second"))]
    for row in table("calls", "--callers", *paths):
        arc = (row["caller_function"], row["callee_function"])
        assert row["calls"] == first.calls[arc] + second.calls[arc]
        assert row["walks"] == first.below[arc] + second.below[arc]
    assert sum(folded(*paths).values()) == first.total + second.total


# ---------------------------------------------------------------- what is chosen


def test_the_threshold_of_a_named_function_is_of_its_own_costs(tmp_path: Path) -> None:
    own = {"main": 1_000_000, "small": 6, "callee": 2}
    arcs = {("main", "small"): (3, 8), ("small", "callee"): (5, 2)}
    path = str(write(tmp_path / "out", own, arcs))
    assert "c.c:callee" not in good("--callers", path)
    text = good("--callers=small", "--show=walks", "--show-percs=no", path)
    title, heading, *rows = text.splitlines()[2:7]
    assert title.startswith("-- Callers and callees of small, sorted by walks")
    assert heading == "walks  own  calls  < caller, function, > callee"
    assert [re.sub(" +", " ", row).strip() for row in rows] == [
        "8 . 3 < m.c:main [prog]",
        "8 6 3 s.c:small [prog]",
        "2 . 5 > c.c:callee [prog]",
    ]


def test_a_tree_may_begin_below(tmp_path: Path) -> None:
    path = str(by_chance(3, FEW, recursive=False).write(tmp_path / "out"))
    whole = {row["function"]: row["walks"] for row in table("inclusive", "--inclusive", path)}
    rows = table("tree", "--tree=*a", path)
    roots = {row["function"]: row["walks"] for row in rows if row["depth"] == 0}
    assert roots == {name: n for name, n in whole.items() if name.endswith("a")}


def test_no_name_of_a_frame_has_a_semicolon_or_is_empty(tmp_path: Path) -> None:
    path = write(tmp_path / "out", {"main": 1, "a;b c": 2, "???": 3}, {("main", "a;b c"): (1, 2), ("main", "???"): (1, 3)})
    assert good("--to=folded", str(path)).splitlines() == ["main 1", "main;[prog] 3", "main;a:b c 2"]


REFUSED = {
    "--tree --diff out out": "--tree goes without --diff",
    "--callers=main --compare out out": "--callers goes without --compare",
    "--inclusive --advice out": "--inclusive goes without --advice",
    "--to=folded --by=line out": "--to goes without --by",
    "--to=folded --tree out": "--to goes without --tree",
    "--to=folded --format=json out": "--to goes without --format",
    "--to=cachegrind --fail-above=Ir>1 out": "--to goes without --fail-above",
    "--to=perf out": "argument --to: 'perf' is not one of folded, pprof, firefox, cachegrind, callgrind; did you mean pprof?",
    "--to=folded= out": "argument --to: 'folded=' is not folded=EVENT or pprof=EVENT or firefox=EVENT",
    "--to=cachegrind=Ir out": "argument --to: 'cachegrind=Ir' is not folded=EVENT or pprof=EVENT or firefox=EVENT",
    "--tree= out": "argument --tree: the name of the function is missing",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_does_not_go_together_is_refused(arguments: str, tmp_path: Path) -> None:
    by_chance(1, FEW).write(tmp_path / "out")
    told = call("tg_annotate", *arguments.split()).text()
    complaint = f"{REFUSED[arguments]} (tg_annotate --help lists what is allowed)"
    assert told == (1, "", f"tg_annotate: error: {complaint}\n")


@pytest.mark.parametrize("option", ["--tree", "--callers=main", "--inclusive", "--to=folded"])
def test_a_file_without_calls_names_the_option(option: str, tmp_path: Path) -> None:
    path = write(tmp_path / "out", {"main": 1}, {})
    told = call("tg_annotate", option, path.name).text()
    assert told == (1, "", "tg_annotate: error: out: without calls; tlbgrind records them with --calls=yes\n")


def test_a_function_that_is_not_there_is_named(tmp_path: Path) -> None:
    by_chance(1, FEW).write(tmp_path / "out")
    for option in ("tree", "callers"):
        told = call("tg_annotate", f"--{option}=zeta", "out").text()
        complaint = f"out: argument --{option}: no function 'zeta'; --inclusive --threshold=0 lists them; did you mean beta?"
        assert told == (1, "", f"tg_annotate: error: {complaint}\n")


def test_an_event_that_is_not_there_is_named(tmp_path: Path) -> None:
    by_chance(1, FEW).write(tmp_path / "out")
    status, out, err = call("tg_annotate", "--to=folded=cycles", "out").text()
    assert (status, out) == (1, "")
    assert err.startswith("tg_annotate: error: argument --to: no event 'cycles'; there are Ir, ")


# ---------------------------------------------------------------- files that are odd


def test_nothing_counted_is_no_stack(tmp_path: Path) -> None:
    path = write(tmp_path / "out", {"main": 0}, {("main", "leaf"): (3, 0)})
    told = call("tg_annotate", "--to=folded", path.name).text()
    assert told == (0, "", "tg_annotate: warning: no stacks, for nothing was counted: walks L1tm Ir\n")
    good("--tree", "--callers", "--inclusive", path.name)


@pytest.mark.parametrize("seed", SEEDS)
def test_arcs_that_claim_too_much_or_too_little_change_no_total(seed: int, tmp_path: Path) -> None:
    """As of a broken file: the functions' own costs are what there is."""
    chance = random.Random(seed)
    own = {f"f{n}": chance.randrange(100) for n in range(8)}
    names = [*own, "nowhere"]
    arcs = {
        (chance.choice(names), chance.choice(names)): (chance.randrange(3), chance.choice((0, 1, 1000, 2**64 // 20)))
        for _ in range(chance.randrange(1, 30))
    }
    path = str(write(tmp_path / "out", own, arcs))
    assert sum(folded(path).values()) == sum(own.values())
    roots = [row for row in table("tree", "--tree", path) if row["depth"] == 0]
    assert sum(row["walks"] for row in roots) == sum(own.values())
    good("--tree", "--callers", "--inclusive", path)


def test_a_recursion_through_thousands_of_functions_ends(tmp_path: Path) -> None:
    """A stack is cut where it is deeper than 256 functions; its costs stay."""
    count = 2_000
    own = {f"f{n}": 1 for n in range(count)}
    arcs = {(f"f{n}", f"f{n + 1}"): (1, count - n - 1) for n in range(count - 1)}
    chain = str(write(tmp_path / "chain", own, arcs))
    stacks = folded(chain)
    assert sum(stacks.values()) == count
    assert max(map(len, stacks)) == package("annotate.calltree").DEEPEST == 256
    arcs[f"f{count - 1}", "f0"] = (1, 5)
    circle = str(write(tmp_path / "circle", own, arcs))
    assert sum(folded(circle).values()) == count
    for path in (chain, circle):
        rows = table("tree", "--tree", path)
        assert (rows[0]["walks"], rows[-1]["depth"]) == (count, 255)
        assert len(table("inclusive", "--inclusive", path)) == count


def test_a_hundred_thousand_arcs(tmp_path: Path) -> None:
    chance = random.Random(1)
    count = 5_000
    own = {f"f{n}": chance.randrange(1000) for n in range(count)}
    arcs = {
        (f"f{low}", f"f{low + chance.randrange(1, count - low)}"): (1, chance.randrange(1000))
        for low in (chance.randrange(count - 1) for _ in range(105_000))
    }
    assert len(arcs) > 100_000
    path = str(write(tmp_path / "out", own, arcs))
    good("--tree", "--callers", "--inclusive", "--threshold=1", path)
    lines = good("--to=folded", path).splitlines()
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(own.values())


# ---------------------------------------------------------------- callgrind's files, and other readers


def test_calls_of_callgrind_are_read() -> None:
    rows = json.loads(good("--callers", "--format=json", "--threshold=0", str(HERE / "data" / "callgrind.out")))["tables"][1]["rows"]
    found = [[row["caller_function"], row["callee_file"], row["callee_function"], row["callee_object"], row["calls"], row["Ir"]] for row in rows]
    assert found == [
        ["main", "calloc.c", "calloc", "/usr/lib/libc.so.6", 3, 100],
        ["main", "src/stride.c", "walk", "/tmp/t", 1, 60],
    ]


def test_cg_annotate_reads_what_is_written_for_it(tmp_path: Path) -> None:
    tool = shutil.which("cg_annotate")
    if tool is None:
        pytest.skip("cg_annotate is not installed")
    trace = by_chance(1, FEW)
    trace.write(tmp_path / "out")
    (tmp_path / "cg.out").write_text(good("--to=cachegrind", "out"), encoding="utf-8")
    done = subprocess.run([tool, "cg.out"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (totals,) = [line for line in done.stdout.splitlines() if "PROGRAM TOTALS" in line]
    assert totals.split()[0] == f"{10 * trace.total:,}"
    for name in FEW:
        (row,) = [line for line in done.stdout.splitlines() if re.search(rf" {name[0]}\.c:{name}\b", line)]
        assert row.split()[0] == f"{10 * trace.own[name]:,}"


def test_cachegrind_s_files_have_each_line_of_several_files(tmp_path: Path) -> None:
    file = HERE / "data" / "two-level.out"
    text = good("--to=cachegrind", str(file), str(shutil.copy(file, tmp_path)))
    sums: Counter[int] = Counter()
    for line in text.splitlines():
        if line[:1].isdigit():
            sums.update(dict(enumerate(map(int, line.split()[1:]))))
    (summary,) = re.findall("^summary: (.*)$", text, re.MULTILINE)
    assert [sums[place] for place in sorted(sums)] == list(map(int, summary.split()))


def test_gprof2dot_reads_a_file_with_calls(tmp_path: Path) -> None:
    tool = shutil.which("gprof2dot")
    if tool is None:
        pytest.skip("gprof2dot is not installed")
    path = by_chance(4, FEW).write(tmp_path / "out")
    done = subprocess.run([tool, "-f", "callgrind", "-n0", "-e0", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(f"{name}\\n" in done.stdout for name in FEW)
