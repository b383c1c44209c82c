# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What misses cost where the machine has ranges or assumes them: cycles, and the share of the time."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tg_environment import client
from tool.test_walks import (
    FIRST,
    L1,
    MEMORY,
    array,
    by_function,
    cached,
    count,
    events,
    guest,
    machine,
    walks,
)
from tool_support import PYTHON, TG_ANNOTATE, OutFile, messages, run

SECOND = FIRST + array("L2", 2, "all", 24, "5..7")


def hundredths(part: int, whole: int) -> int:
    return (2 * 10000 * part + whole) // (2 * whole)


def shares(least: int, most: int, instructions: int) -> tuple[int, int]:
    """The least cost at one instruction a cycle, the most at two."""
    return hundredths(least, instructions + least), hundredths(2 * most, instructions + 2 * most)


def shown(share: int) -> str:
    return f"{(share + 5) // 10 / 10:.1f}" if share < 995 else f"{(share + 50) // 100}"


def line_of(lines: list[str], label: str) -> str:
    (line,) = [line for line in lines if line.startswith(f"{label}:")]
    return line.removeprefix(f"{label}:").strip()


def range_of(of: dict[str, int]) -> tuple[int, int]:
    hits = of["I1tm"] + of["D1tmr"] + of["D1tmw"] - walks(of)
    return 5 * hits + 20 * walks(of), 7 * hits + 35 * walks(of)


@pytest.mark.parametrize("given", ["20..35", "unknown, assume 20..35"])
def test_a_range_is_told_without_any_option(tmp_path: Path, given: str) -> None:
    out, lines = count(tmp_path, machine(tmp_path, SECOND, cycles=given))
    of = events(out)
    least, most = range_of(of)
    assert 0 < least < most == of["Wcyc"]
    assumed = "assumed: " if "assume" in given else ""
    start = f"{least:,} to {most:,}  estimated"
    assert line_of(lines, "miss cycles") == f"{start} ({assumed}20 to 35 cycles a walk)"
    low, high = shares(least, most, of["Ir"])
    assert line_of(lines, "share of time") == (
        f"{shown(low)} to {shown(high)}%  estimated (assumed: 1 to 2 instructions a cycle)"
    )
    mark = " assumed" if assumed else ""
    assert out.descriptions("Walk cycles") == [f"20..35{mark}"]
    assert out.descriptions("Miss cycles") == [f"{least}..{most}{mark}"]
    in_words = f"{low // 100}.{low % 100:02}%..{high // 100}.{high % 100:02}%"
    assert out.descriptions("Share of time") == [f"{in_words} assumed: 1..2 instructions a cycle"]
    assert ("cycles of a walk unknown, 20 to 35 assumed" in out.descriptions("Assumption")) == bool(assumed)


def test_a_long_range_is_not_cut(tmp_path: Path) -> None:
    out, lines = count(tmp_path, machine(tmp_path, cycles="100000..1000000"))
    of = events(out)
    assert line_of(lines, "miss cycles").startswith(f"{100000 * walks(of):,} to {of['Wcyc']:,}  estimated")


def test_cycles_that_are_given_take_the_place_of_the_assumption(tmp_path: Path) -> None:
    out, lines = count(tmp_path, machine(tmp_path, SECOND, cycles="20..35"), "--cycles=1000000")
    least, most = range_of(events(out))
    low, high = hundredths(least, 1000000), hundredths(most, 1000000)
    said = line_of(lines, "share of time")
    assert said == f"{shown(low)} to {shown(high)}%  of 1000000 cycles, estimated"
    assert out.descriptions("Share of time")[0].endswith(" of 1000000 cycles")


def test_a_cost_that_is_given_is_not_assumed(tmp_path: Path) -> None:
    option = machine(tmp_path, cycles="unknown, assume 20..35")
    out, lines = count(tmp_path, option, "--miss-cost=19")
    of = events(out)
    assert line_of(lines, "miss cycles") == f"{19 * walks(of):,}  estimated (19 cycles a walk)"
    assert not out.descriptions("Assumption")
    assert out.descriptions("Walk cycles") == ["19..19"]


@pytest.mark.parametrize("cycles", ["30", "unknown, assume 20..35"])
def test_quiet_runs_print_what_misses_cost_as_others_do(tmp_path: Path, cycles: str) -> None:
    option = machine(tmp_path, cycles=cycles)
    said = [[line for line in count(tmp_path, option, *quiet)[1] if line.startswith(("most", "share"))] for quiet in ((), ("-q",))]
    assert len(said[0]) == 2 and said[0] == said[1]


def test_each_machine_can_have_cycles_of_its_own(tmp_path: Path) -> None:
    """And the table marks what is assumed."""
    machine(tmp_path, SECOND, cycles="unknown, assume 20..35")
    (tmp_path / "known").mkdir()
    known = Path(machine(tmp_path / "known", FIRST, cycles=24).rpartition("=")[2])
    known.write_text(re.sub(r"(?m)^(name +)test$", r"\1known", known.read_text(encoding="ascii")), encoding="ascii")
    names = f"{known},{known}@thp,../test.machine,../test.machine:dtlb.entries=8".replace("dtlb", "d")
    given = "--cycles=known:1000000,known@thp:2000000"
    r = run(tmp_path / "run", client("oracle_refs"), geometry=(f"--machine={names}",), options=(given,))
    assert r.status == 0, r.err
    said = messages(r.err)
    at = next(i for i, line in enumerate(said) if line.startswith("machine  "))
    assert said[at].endswith("miss cycles  share of time")
    rows = {line.split()[0]: line.split("  ") for line in said[at + 1 : at + 5]}
    by_name = {out.descriptions("Machine")[0]: events(out) for out in r.files}
    for name, cycles in (("known", 1000000), ("known@thp", 2000000)):
        share = hundredths(by_name[name]["Wcyc"], cycles)
        assert rows[name][-1].strip() == f"{share // 100}.{share % 100:02}%"
    of = by_name["test"]
    least, most = range_of(of)
    low, high = shares(least, most, of["Ir"])
    assert rows["test"][-1].strip() == f"~{shown(low)} to {shown(high)}%"
    assert f"~{most:,}" in [cell.strip() for cell in rows["test"]]
    notes = said[at + 5 :]
    assert "~: what a miss costs is assumed (-v prints it)" in notes
    assert "share of time: of the cycles of --cycles, estimated" in notes
    assert "share of time: estimated without them (assumed: 1 to 2 instructions a cycle)" in notes


# ---------------------------------------------------------------- within a window

OVERLAPPING = SECOND.replace("hit-cycles   5..7\n", "hit-cycles   5..7\n   overlap 4.0\n")


def within(most: int, misses: int, window: int, instructions: int) -> int:
    """How far they overlap, in thousandths."""
    return max(1000, min(most, 1000 * window * misses // instructions)) if instructions else most


def windowed(of: dict[str, int], window: int) -> int:
    kinds = [("I1tm", "ILtm"), ("D1tmr", "DLtmr"), ("D1tmw", "DLtmw")]
    hits = [of[first] - of[last] for first, last in kinds]
    overlap = within(4000, sum(hits), window, of["Ir"])
    least = sum(5 * n * 1000 // overlap for n in hits)
    return least + 20 * walks(of) * 1000 // within(6000, walks(of), window, of["Ir"])


@pytest.mark.parametrize("window", [1, 40, 65536])
def test_misses_overlap_within_the_window_by_function(tmp_path: Path, window: int) -> None:
    more = f"   overlap 6.0\n   window unknown, assume {window}\n"
    out, lines = count(tmp_path, cached(tmp_path, "", "20..35", OVERLAPPING, more))
    of = events(out)
    least = sum(windowed(mine, window) for mine in by_function(out))
    assert out.descriptions("Miss cycles") == [f"{least}..{of['Wcyc']} assumed"]
    assert out.descriptions("Window") == [f"{window} assumed"]
    assert f"instructions under way unknown, {window} assumed" in out.descriptions("Assumption")
    assert "(20 to 35 cycles a walk, 6.0 at a time)" in line_of(lines, "miss cycles")
    serial, _ = range_of(of)
    if window == 1:
        assert least == serial
    else:
        assert serial // 6 <= least < serial
    # By function is not the same as all together.
    assert window != 40 or least != windowed(of, window)


def costs_of(files: list[OutFile]) -> list[str]:
    """What the companions compute of each file, LEAST..MOST."""
    code = (
        "import sys; from tgreport.formats import cost, outfile\n"
        "for path in sys.argv[1:]:\n"
        "    found = cost.miss_cycles(outfile.read(path))\n"
        "    print(f'{found.least}..{found.most}' if found else '')\n"
    )
    done = subprocess.run(
        [PYTHON, "-c", code, *(str(out.path) for out in files)],
        check=False, capture_output=True, encoding="utf-8", cwd=Path(TG_ANNOTATE).parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def told(out: OutFile) -> str:
    return "".join(out.descriptions("Miss cycles")).removesuffix(" assumed")


@pytest.mark.parametrize(
    "options",
    [(), ("--nested=yes",), ("--miss-cost=30",), ("--page-size=2M",), ("--separate-threads=yes",), ("--prefetch=strong",)],
    ids=" ".join,
)
def test_companions_compute_the_same_from_the_counts(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "own").mkdir()
    more = "   overlap 2.4\n   window 150\n"
    third = OVERLAPPING + array("L3", 3, "all", 32, "9..20").replace("hit-cycles   9..20\n", "hit-cycles 9..20\n   overlap 2.0\n")
    own = cached(tmp_path / "own", L1.replace("32K", "1K") + MEMORY, "20..35", third, more).removeprefix("--machine=")
    (tmp_path / "guest").mkdir()
    if options != ("--nested=yes",):
        own += "," + guest(tmp_path / "guest", more="   overlap 6.7\n").removeprefix("--machine=") + "@all:2M"
    names = f"{own},core2,zen4,skylake,nehalem,rocket,power8,apple-m1,a64fx,default"
    r = run(tmp_path / "run", client("oracle_refs"), geometry=(f"--machine={names}",), options=options)
    assert r.status == 0, r.err
    assert costs_of(r.files) == [told(out) for out in r.files]
    assert sum(".." in told(out) for out in r.files) >= 8


def test_what_misses_cost_does_not_depend_on_how_counts_are_divided(tmp_path: Path) -> None:
    """The file of a thread has its own; the run's is the same whatever else is recorded."""
    option = cached(tmp_path, "", "20..35", OVERLAPPING, "   overlap 6.0\n   window 40\n")
    alone = told(count(tmp_path, option)[0])
    for given in ("--data=yes", "--mappings=yes", "--fast-path=no"):
        assert told(count(tmp_path, option, given)[0]) == alone, given
    r = run(tmp_path / "threads", client("oracle_refs"), geometry=(option,), options=("--separate-threads=yes",))
    assert r.status == 0, r.err
    assert [told(out) for out in r.files] == [alone] * 2


def test_the_rules_of_thumb_are_the_formula() -> None:
    """The manual's table of walks per 1000 instructions and cycles a walk."""
    page = Path(os.environ["TG_SRCDIR"], "docs", "is-it-a-lot.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| [0-9.]+ \|", line)]
    assert len(rows) >= 6
    for row in rows:
        walks_of = float(row[0])
        for cost, cell in zip((20, 40, 100), row[1:]):
            both = []
            for cycles in (1000, 500):
                share = 100 * walks_of * cost / (cycles + walks_of * cost)
                both.append(f"{share:.1f}" if share < 9.95 else f"{share:.0f}")
            assert cell == " to ".join(both)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--cycles=skylake:100", "'skylake' is no machine of this run"),
        ("--cycles=k8:100,200", "'200' is no machine of this run"),
        ("--cycles=k8:1e9", "'1e9' is no number of cycles"),
        ("--cycles=k8:", "'' is no number of cycles"),
    ],
)
def test_wrong_cycles_of_a_machine_are_refused(tmp_path: Path, option: str, words: str) -> None:
    r = run(tmp_path, client("oracle_refs"), geometry=("--machine=k8",), options=(option,))
    assert r.status == 1
    assert option in r.err and words in r.err
