# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What `make bench` makes of its times, on times that are written down here, and that it runs. No time is checked."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import bench_compare
import bench_report as report
import pytest
from bench_report import COUNT, NATIVE, NONE, PAGES, TLBGRIND, Row, Run, Spread

MIB = 1024 * 1024
TOOLS = (NATIVE, NONE, TLBGRIND, PAGES, COUNT)


def runs(maxrss: int, *seconds: float) -> list[Run]:
    return [Run(cpu - 0.25, 0.25, cpu, maxrss, 0) for cpu in seconds]


def row(name: str, group: str, tlbgrind: tuple[float, ...], pages: tuple[float, ...], count: tuple[float, ...]) -> Row:
    return Row(
        name,
        group,
        f"what {name} does",
        [f"/usr/bin/{name}"],
        {
            NATIVE: runs(4 * MIB, 0.5),
            NONE: runs(40 * MIB, 2.0, 1.5, 4.0),
            TLBGRIND: runs(58 * MIB, *tlbgrind),
            PAGES: runs(41 * MIB, *pages),
            COUNT: runs(41 * MIB, *count),
        },
        instructions=10_000,
    )


SLOW = row("slow", "compressors", (8.0, 6.0, 9.0), (16.0,), (4.0,))
FAST = row("fast", "kernels", (2.0, 2.0, 2.0), (16.0,), (4.0,))
MISSING = Row("chess", "programs", "plays", [], {tool: [] for tool in TOOLS}, left_out="chess is not installed")
ROWS = [SLOW, MISSING, FAST]


def cells(lines: list[str], first: str) -> list[str]:
    """The cells of the row that begins so."""
    found = [line for line in lines if line.startswith(f"| {first} ")]
    assert len(found) == 1, lines
    return [cell.strip() for cell in found[0].strip("|").split("|")]


def test_a_spread_is_median_fastest_and_slowest() -> None:
    assert report.spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)
    assert report.spread([3.0, 1.0]) == Spread(2.0, 1.0, 3.0)
    assert report.spread([]) is None


def test_the_geometric_mean_of_ratios() -> None:
    assert report.geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert report.geometric_mean([0.5, 2.0, 8.0]) == pytest.approx(2.0)
    assert report.geometric_mean([]) is None
    assert report.geometric_mean([1.0, 0.0]) is None


def test_a_ratio_is_one_of_medians() -> None:
    assert SLOW.ratio(TLBGRIND, NONE) == Spread(4.0, 3.0, 4.5)
    assert SLOW.ratio("lackey", NONE) is None
    assert MISSING.ratio(TLBGRIND, NONE) is None


def test_the_table_of_times() -> None:
    lines = report.times(ROWS, TOOLS)
    assert len({len(line) for line in lines}) == 1
    assert cells(lines, "slow")[1:] == ["0.500 (0.500..0.500)", "2.000 (1.500..4.000)", "4.00 (3.00..4.50)", "8.00 (8.00..8.00)", "2.00 (2.00..2.00)"]
    assert cells(lines, "chess")[1:] == [""] * 5
    assert cells(lines, "geometric mean, kernels")[3:] == ["1.00", "8.00", "2.00"]
    assert cells(lines, "geometric mean, all")[3:] == ["2.00", "8.00", "2.00"]


def test_memory_is_compared_with_the_pages_and_the_instructions() -> None:
    assert SLOW.memory_limit() == 64 * 1024 + 100 * 10_000 + 16 * MIB
    assert SLOW._replace(instructions=None).memory_limit() is None
    # 18 MiB are more than 16.95, and not more than 17.02.
    assert report.hungry(ROWS) == ["slow", "fast"]
    assert report.hungry([FAST._replace(instructions=30_000)]) == []
    assert cells(report.memory(ROWS, TOOLS), "fast")[1:] == ["4.0", "40.0", "18.0", "1.0", "1.0", "17.0", "10,000"]


def test_the_targets() -> None:
    lines = report.targets(ROWS, TOOLS)
    assert cells(lines, "time / none, geometric mean, all")[1:] == ["2.00", "1.50", "no", ""]
    assert cells(lines, "time / none, worst program")[1:] == ["4.00", "2.00", "no", "slow"]
    assert cells(lines, "time / cachegrind-pages, geometric mean, kernels and compressors")[1:] == ["0.25", "0.45", "yes", ""]
    assert cells(lines, "time / cachegrind-count, geometric mean, all")[1:] == ["1.00", "1.00", "yes", ""]
    assert cells(lines, "programs with more memory above none's than the target")[1:] == ["2.00", "0.00", "no", "slow, fast"]


def test_a_program_that_is_missing_is_named() -> None:
    assert "- left out: `chess`: chess is not installed\n" in report.report(ROWS, TOOLS)


def test_the_numbers_of_the_report_can_be_written_as_json() -> None:
    read = json.loads(json.dumps(report.summary(ROWS, TOOLS)))
    assert read["ratios_to_none"]["slow"][TLBGRIND] == {"median": 4.0, "low": 3.0, "high": 4.5}
    assert read["geometric_means"]["all"][TLBGRIND] == pytest.approx(2.0)
    assert read["over_memory_target"] == ["slow", "fast"]


def bench(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.environ.get("PYTHON", "python3"), Path(__file__).with_name("bench.py"), *map(str, arguments)],
        check=False,
        capture_output=True,
        encoding="utf-8",
    )


def test_it_runs(tmp_path: Path) -> None:
    done = bench("--quick", "--only", "ls", "--rounds", 1, "--output", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "bench.md").read_text(encoding="utf-8") in done.stdout
    read = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert set(read) == {"format", "machine", "versions", "settings", "programs", "summary"}
    assert (read["format"], read["settings"]["rounds"], read["settings"]["quick"]) == (1, 1, True)
    (ls,) = read["programs"]
    assert (ls["name"], ls["group"], ls["left_out"]) == ("ls", "start-up", "")
    assert ls["instructions"] > 1000
    assert list(ls["runs"]) == list(TOOLS)
    for tool_runs in ls["runs"].values():
        assert [(sorted(run), run["status"]) for run in tool_runs] == [(["maxrss", "status", "system", "user", "wall"], 0)]
    assert set(read["summary"]["ratios_to_none"]["ls"]) == {TLBGRIND, PAGES, COUNT}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "chess"], "--only: there is no 'chess'"),
        (["--tools", "none;magic"], "--tools: there is no 'magic'"),
        (["--compare", "/nowhere"], "--compare: /nowhere is not a build of tlbgrind: /nowhere/.in_place/tlbgrind-amd64-linux is missing"),
        (["--rounds", "0"], "--rounds: 0; at least 1 is wanted"),
    ],
)
def test_what_does_not_exist_is_refused(arguments: list[str], words: str) -> None:
    done = bench(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_policies_are_compared_with_the_four_way_lru() -> None:
    times = {NONE: runs(MIB, 1.0), "tlbgrind 64,4": runs(MIB, 2.0), "tlbgrind 64,full": runs(MIB, 3.0)}
    rows = [SLOW._replace(runs=times), FAST._replace(runs={**times, "tlbgrind 64,full": runs(MIB, 2.0)})]
    lines = report.targets(rows, list(times))
    assert cells(lines, "time tlbgrind 64,full / tlbgrind 64,4, geometric mean, all")[1:] == ["1.22", "1.15", "no", "worst: slow 1.50"]
    assert cells(report.times(rows, list(times)), "program") == ["program", "none, s", "tlbgrind 64,4", "tlbgrind 64,full"]


def test_the_full_stream_has_a_target_of_its_own() -> None:
    lines = report.targets([FAST._replace(name="stream-full")], (NATIVE, NONE, TLBGRIND))
    assert cells(lines, "time / none, full-size STREAM")[1:] == ["1.00", "1.80", "yes", ""]


def test_two_builds_are_compared_by_their_least_times() -> None:
    """B is 1.5 times A in one program and 0.96 times in the other, whatever disturbed some of the runs."""
    times = {"A tlbgrind": runs(20 * MIB, 2.0, 9.0, 3.0), "B tlbgrind": runs(22 * MIB, 8.0, 3.0, 3.3)}
    faster = {"A tlbgrind": runs(20 * MIB, 2.0, 2.0), "B tlbgrind": runs(20 * MIB, 1.92, 2.4)}
    rows = [SLOW._replace(runs=times), MISSING, FAST._replace(runs=faster)]
    lines = bench_compare.of_tool(rows, TLBGRIND)
    assert cells(lines, "slow")[1:] == ["2.000", "3.000", "1.500", "1.100", "1.100"]
    assert cells(lines, "fast")[1:] == ["2.000", "1.920", "0.960", "1.080", "1.000"]
    assert cells(lines, "chess")[1:] == [""] * 5
    assert cells(lines, "geometric mean")[3:] == ["1.200", "1.090", "1.049"]
    assert cells(lines, "highest")[3:] == ["1.500", "1.100", "1.100"]
    assert "- left out: `chess`: chess is not installed\n" in bench_compare.report(rows, list(times), Path())


def test_it_runs_two_builds(tmp_path: Path) -> None:
    build = os.environ["TG_BUILDDIR"]
    more = ("--only", "bash", "--tools", TLBGRIND, "--rounds", 2, "--output", tmp_path)
    done = bench("--quick", "--compare", build, *more)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"- A: {build}\n- B: this build\n" in done.stdout
    (bash,) = json.loads((tmp_path / "bench-compare.json").read_text(encoding="utf-8"))["programs"]
    assert {tool: len(found) for tool, found in bash["runs"].items()} == {"A tlbgrind": 2, "B tlbgrind": 2}
