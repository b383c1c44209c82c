# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What misses cost is the measure of all tables: their order, their share of the time, the verdict."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from annotate_support import run
from tg_tables import csv_rows, document

PER_HIT, PER_WALK = 9, 30


def costs(names: list[str], counts: list[int]) -> int:
    """Of any cost line: a sum of its counts, so that those of callers contain those of callees."""
    n = dict(zip(names, counts))
    hits = sum(n[first] - n[last] for first, last in (("I1tm", "ILtm"), ("D1tmr", "DLtmr"), ("D1tmw", "DLtmw")))
    return PER_HIT * hits + PER_WALK * (n["ILtm"] + n["DLtmr"] + n["DLtmw"])


def with_costs(source: Path, to: Path, said: str, least: int = 0, machine: str = "host") -> dict[str, int]:
    """The file as a machine with costs has it; its totals. `said` stands behind the share."""
    lines = source.read_text(encoding="utf-8").splitlines()
    names = next(line for line in lines if line.startswith("events: ")).split()[1:]
    found = []
    totals: list[int] = []
    for line in lines:
        head, _, rest = line.partition(" ")
        if head == "events:":
            line += " Wcyc"
        elif head in ("summary:", "totals:") or head.isdigit():
            counts = [int(word) for word in rest.split()]
            totals = [*counts, costs(names, counts)]
            line += f" {totals[-1]}"
        found.append(line)
    n = dict(zip([*names, "Wcyc"], totals))
    facts = [
        f"desc: Miss cycles: {least}..{n['Wcyc']} assumed",
        f"desc: Share of time: 1.00%..2.00% {said}",
        "event: Wcyc : Cycles of misses, an estimate, assumed",
    ]
    at = next(place for place, line in enumerate(found) if line.startswith("positions:"))
    text = "\n".join([*found[:at], *facts, *found[at:]]) + "\n"
    to.write_text(re.sub(r"(?m)^desc: Machine: .*", f"desc: Machine: {machine}", text), encoding="utf-8")
    return n


ASSUMED = "assumed: 1..2 instructions a cycle"


def out_of(place: Path, *arguments: str) -> str:
    result = run(place, *arguments)
    assert result.status == 0, result.err
    return result.out.decode("utf-8")


@pytest.mark.parametrize("by", ["function", "file", "object", "line"])
@pytest.mark.parametrize("source", ["two-level.out", "calls.out"])
def test_rows_are_sorted_by_cost_and_add_up(place: Path, source: str, by: str) -> None:
    n = with_costs(place / source, place / "costs.out", ASSUMED)
    rows = [row for row in csv_rows(out_of(place, "--format=csv", f"--by={by}", "--threshold=1", "costs.out")) if row["table"] == by]
    named = [row for row in rows if row["omitted"] == "0"]
    cycles = [int(row["Wcyc"]) for row in named]
    assert len(cycles) > 1 and cycles == sorted(cycles, reverse=True)
    assert sum(int(row["Wcyc"]) for row in rows) == n["Wcyc"]
    # The share of the time is of all cycles, at two instructions in one.
    time = Fraction(n["Ir"], 2) + n["Wcyc"]
    for row in rows:
        assert float(row["share_of_time"]) == pytest.approx(float(int(row["Wcyc"]) / time), rel=1e-12, abs=1e-15)


def test_the_cycles_of_calls_add_up(place: Path) -> None:
    """Own costs do, and so do a place of the tree, its own costs and the places below it."""
    n = with_costs(place / "calls.out", place / "costs.out", ASSUMED)
    arguments = ("--inclusive", "--tree", "--threshold=0", "--format=json", "costs.out")
    tables = {table["name"]: table["rows"] for table in document(out_of(place, *arguments))["tables"]}
    assert sum(row["Wcyc:own"] for row in tables["inclusive"]) == n["Wcyc"]
    inclusive = [row["Wcyc"] for row in tables["inclusive"]]
    assert inclusive == sorted(inclusive, reverse=True)
    assert sum(row["Wcyc:own"] + row["Wcyc:below"] for row in tables["tree"]) == n["Wcyc"]


def test_order_and_columns_by_walks_are_as_they_were(place: Path) -> None:
    """With --sort=walks, and without costs by default."""
    with_costs(place / "two-level.out", place / "costs.out", ASSUMED)
    sections = [
        re.findall(r"(?m)^-- By function, sorted by (.*?) -", out_of(place, *arguments))
        for arguments in (("costs.out",), ("--sort=walks", "costs.out"), ("two-level.out",))
    ]
    assert sections == [["miss cycles (Wcyc)"], ["walks"], ["walks"]]
    show = ("--show=walks,L1tm", "--sort=walks", "--by=function,line,object", "--format=csv")
    assert out_of(place, *show, "costs.out") == out_of(place, *show, "two-level.out")
    assert "of the time" not in out_of(place, "two-level.out")


def heads(place: Path, *arguments: str) -> str:
    """The first sentence."""
    return " ".join(out_of(place, *arguments).split("\n\n")[0].split("\n"))


def scaled(place: Path, instructions: int, least: int = 0) -> str:
    """The sentence for so many instructions."""
    path = place / "costs.out"
    n = with_costs(place / "two-level.out", path, ASSUMED, least)
    more = instructions - n["Ir"]
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(summary|totals): \d+", rf"\1: {instructions}", text)
    path.write_text(re.sub(r"(?m)^(\d+) (\d+) ", lambda m: f"{m[1]} {int(m[2]) + more} ", text, count=1), encoding="utf-8")
    return heads(place, "costs.out")


@pytest.mark.parametrize(
    ("per_mille", "least", "said"),
    [
        (9, 0, "nothing to win (below 1%)"),
        (11, 0, "worth what is free, such as transparent huge pages (below 5%)"),
        (49, 0, "worth what is free, such as transparent huge pages (below 5%)"),
        (51, 0, "may be worth a look (5% or more)"),
        (200, 100, "worth a look (5% or more)"),
    ],
)
def test_the_verdict_follows_the_share(place: Path, per_mille: int, least: int, said: str) -> None:
    cycles = with_costs(place / "two-level.out", place / "x.out", ASSUMED)["Wcyc"]
    # Of the time at most: cycles / (instructions / 2 + cycles).
    instructions = 2 * (cycles * 1000 // per_mille - cycles)
    # And at least: so many cycles of the same run at one instruction in a cycle.
    lowest = instructions * least // (1000 - least)
    line = scaled(place, instructions, lowest)
    most = f"{per_mille / 10:.1f}" if per_mille < 100 else f"{per_mille // 10}"
    low = f"{least / 10:.1f}" if least < 100 else f"{least // 10}"
    assert line.startswith(f"TLB misses take {low} to {most}% of the time (estimate)")
    assert line.endswith(f"; {said}")


def test_the_verdict_names_the_first_row(place: Path) -> None:
    n = with_costs(place / "two-level.out", place / "costs.out", ASSUMED)
    rows = [row for row in csv_rows(out_of(place, "--format=csv", "--by=function", "costs.out")) if row["table"] == "function"]
    first = rows[0]
    percent = 100 * int(first["Wcyc"]) / n["Wcyc"]
    for arguments in ((), ("--by=line",), ("--sort=Ir",), ("--show=walks", "--by=object")):
        assert f"{percent:.1f}% of that in {first['function']} [{first['object'].rpartition('/')[2]}]" in heads(place, *arguments, "costs.out")
    assert document(out_of(place, "--format=json", "costs.out"))["verdict"] == heads(place, "costs.out")
    assert heads(place, "costs.out") in out_of(place, "--format=markdown", "costs.out").replace("\\", "")


def test_given_cycles_are_the_time(place: Path) -> None:
    n = with_costs(place / "two-level.out", place / "costs.out", "of 1000000 cycles", 10000)
    assert heads(place, "costs.out").startswith(f"TLB misses take 1.0 to {round(n['Wcyc'] / 10000)}% of the time")
    file = document(out_of(place, "--format=json", "costs.out"))["files"][0]
    assert file["share_of_time"] == {"least": 0.01, "most": n["Wcyc"] / 1000000}


def test_files_of_one_machine_have_a_share_together(place: Path) -> None:
    one = with_costs(place / "two-level.out", place / "a.out", ASSUMED)
    other = with_costs(place / "second.out", place / "b.out", ASSUMED)
    cycles, instructions = (one[event] + other[event] for event in ("Wcyc", "Ir"))
    share = 100 * cycles / (instructions / 2 + cycles)
    assert f"to {share:.{1 if share < 9.95 else 0}f}% of the time" in heads(place, "a.out", "b.out")
    with_costs(place / "second.out", place / "b.out", ASSUMED, machine="another")
    assert "of the time" not in heads(place, "a.out", "b.out")


def test_a_difference_has_two_shares(place: Path) -> None:
    with_costs(place / "two-level.out", place / "a.out", ASSUMED)
    with_costs(place / "second.out", place / "b.out", ASSUMED)
    line = heads(place, "--diff", "a.out", "b.out")
    assert re.match(r"TLB misses take \S+ to \S+% of the time \(estimate\) in the first file, \S+ to \S+% in the second; most of the change: ", line)
    assert heads(place, "--diff", "a.out", "a.out").endswith("; nothing changed")


def test_one_walk_is_a_walk(tmp_path: Path) -> None:
    for walks, said in ((1, "1 page walk, 0.500 per 1000 Ir"), (2, "2 page walks, 1.000 per 1000 Ir")):
        counts = f"2000 {walks} 0 0"
        head = "# callgrind format\npositions: line\nevents: Ir ILtm DLtmr DLtmw\nob=a\nfl=a.c\nfn=f\n"
        (tmp_path / "out").write_text(f"{head}1 {counts}\ntotals: {counts}\n")
        assert f"; {said}\n" in out_of(tmp_path, "out")


TWO = """# callgrind format
desc: Machine: m
desc: Miss cycles: {least}..{least}
desc: Share of time: 1.00%..2.00% assumed: 1..2 instructions a cycle
positions: line
events: Ir Wcyc
ob=a
fl=a.c
fn=f
1 {f}
fn=g
2 {g}
totals: {sums}
"""


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (((900, 50), (100, 50)), ((900, 49), (100, 151)), "most of the change: g [a]"),
        (((900, 90), (100, 10)), ((900, 10), (100, 90)), "largest change: f [a]"),
        (((900, 90), (100, 50)), ((900, 10), (100, 100)), "most of the change: f [a]"),
        (((900, 10), (100, 20)), ((900, 90), (100, 0)), "most of the change: f [a]"),
        (((900, 10), (100, 20)), ((900, 20), (100, 0)), "most of the change: g [a]"),
        # Its share is another, since it executes less.
        (((900, 50), (100, 50)), ((100, 50), (100, 50)), "their cycles changed nowhere"),
    ],
)
def test_one_place_has_most_of_a_change_or_only_the_largest(
    tmp_path: Path, before: tuple[tuple[int, int], ...], after: tuple[tuple[int, int], ...], said: str
) -> None:
    for name, (f, g) in (("a.out", before), ("b.out", after)):
        lines = [f"{f[0]} {f[1]}", f"{g[0]} {g[1]}", f"{f[0] + g[0]} {f[1] + g[1]}"]
        text = TWO.format(least=f[1] + g[1], f=lines[0], g=lines[1], sums=lines[2])
        (tmp_path / name).write_text(text)
    assert heads(tmp_path, "--diff", "a.out", "b.out").endswith(f"in the second; {said}")


def test_a_comparison_has_the_share_of_each_place(place: Path) -> None:
    n = with_costs(place / "two-level.out", place / "a.out", ASSUMED)
    with_costs(place / "second.out", place / "b.out", ASSUMED, machine="another")
    text = out_of(place, "--compare", "--by=object", "a.out", "b.out")
    assert "-- By object: miss cycles (Wcyc) and share of time, sorted by the most in any column" in text
    rows = [row for row in csv_rows(out_of(place, "--compare", "--by=object", "--format=csv", "a.out", "b.out")) if row["table"] == "object"]
    time = Fraction(n["Ir"], 2) + n["Wcyc"]
    for row in rows:
        assert float(row["share_of_time:host"]) == pytest.approx(float(int(row["Wcyc:host"]) / time))
    # Where one of the files has no costs, all are sorted by what they have in common.
    assert "sorted by the most" in (text := out_of(place, "--compare", "--by=object", "a.out", "second.out"))
    assert "-- By object: walks" in text
