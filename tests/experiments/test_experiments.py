# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""That experiments say what is off, and the short ones themselves. No native time is checked."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import e15_time as time
import exp_frame as frame
import exp_timed as timed
import pytest
from exp_frame import Missing
from exp_lab import Array, Broken, Lab, Machine, named
from exp_timed import Timed
from tg_long import long

RESULT = frame.Result(
    [frame.Table("Misses", ["machine", "counted"], [["small", "7"], ["large", "0"]])],
    [frame.exact("small", 7, 7), frame.at_most("large", 3, 0)],
    ["a note"],
    [frame.Chart("Chart", ["small", "large"], [frame.Series("ours", [7, 0])], "machine", "misses", bars=True)],
    [frame.Text("What it printed", "one\ntwo\n")],
)
EXPERIMENT = frame.Experiment("E0", "Nothing", "nowhere", lambda _: RESULT)


def test_checks_at_their_bounds() -> None:
    assert frame.exact("x", 7, 7).ok
    assert not frame.exact("x", 7, 8).ok
    assert frame.within("x", 1000, 0.5, 1005).ok
    assert frame.within("x", 1000, 0.5, 995).ok
    assert not frame.within("x", 1000, 0.5, 1006).ok
    assert not frame.within("x", 1000, 0.5, 994).ok
    assert frame.near("x", 0.75, 0.002, 0.752).ok
    assert not frame.near("x", 0.75, 0.002, 0.7521).ok
    assert not frame.near("x", 0.75, 0.002, 0.7479).ok
    assert frame.at_most("x", 3, 3).ok
    assert not frame.at_most("x", 3, 4).ok
    assert frame.at_least("x", 3, 3).ok
    assert not frame.at_least("x", 3, 2).ok
    assert frame.within("x", 27392, 0.5, 27433).wanted == "27,392 within 0.5 %"


def test_the_report() -> None:
    lines = frame.report(EXPERIMENT, RESULT, 2.4).splitlines()
    assert lines[0] == "# E0: Nothing"
    assert "| small   |       7 |" in lines
    assert "| large | at most 3 |   0 | yes |" in lines
    assert lines[lines.index("What it printed:") + 2 :][:4] == ["```", "one", "two", "```"]
    assert lines[-2:] == ["", "E0: all 2 numbers as wanted (2 s)"]


def test_the_report_of_a_number_that_is_off() -> None:
    off = RESULT._replace(checks=[*RESULT.checks, frame.exact("more", 1, 2)])
    lines = frame.report(EXPERIMENT, off, 2).splitlines()
    assert "| more  |         1 |   2 |  NO |" in lines
    assert lines[-1] == "E0: 1 of 3 numbers are off (2 s)"
    assert json.loads(frame.as_json(EXPERIMENT, off, {}))["ok"] is False
    assert json.loads(frame.as_json(EXPERIMENT, RESULT, {}))["ok"] is True


def experiments(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.environ.get("PYTHON", "python3"), Path(__file__).with_name("experiments.py"), *map(str, arguments)],
        check=False,
        capture_output=True,
        encoding="utf-8",
    )


@pytest.mark.parametrize("name", ["E1", "E2", "E3", "E6", "E7", "E8", "E9", "E10", "E11", long("E12-small")])
def test_short_experiments(name: str, tmp_path: Path) -> None:
    done = experiments("--only", name, "--output", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split() == [name, "ok"]
    numbers = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert numbers["checks"]
    assert all(check["ok"] for check in numbers["checks"])
    assert (tmp_path / f"{name}.md").read_text(encoding="utf-8").startswith(f"# {name}: ")


def test_what_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLBGRIND", "false")
    done = experiments("--only", "E1", "--output", tmp_path)
    assert done.returncode == 1
    assert "E1: not made: false -q " in done.stdout
    assert "exit status 1" in done.stdout
    assert done.stderr == ""
    assert not list(tmp_path.iterdir())


def test_an_experiment_that_there_is_not() -> None:
    done = experiments("--only", "E99")
    assert done.returncode == 2
    assert "there is no experiment 'E99'; there are: E1, " in done.stderr


# ---------------------------------------------------------------- E15: time


def row(base: list[float], huge: list[float], costs: tuple[int, int, int, int]) -> time.Row:
    """Seconds of each round, at 1000 Hz; least and most cycles of misses with base pages, then with huge ones."""
    low, high, huge_low, huge_high = costs
    return time.Row(
        Timed("program", "", []),
        [time.Run(seconds, 0) for seconds in base],
        [time.Run(seconds, 0) for seconds in huge],
        1000,
        time.Counts(1, 1, 9, 9, low, high),
        time.Counts(1, 1, 1, 1, huge_low, huge_high),
    )


def test_a_saving_is_held_against_the_range() -> None:
    seconds = ([10.0, 20.0, 10.0], [8.0, 12.0, 8.0])
    verdict = time.judge(row(*seconds, (1100, 4500, 100, 500)))
    assert (verdict.saved, verdict.of_least) == (0.2, 0.2)
    assert (verdict.low, verdict.high, verdict.word) == (0.1, 0.4, "in")
    assert time.judge(row(*seconds, (100, 1500, 0, 500))).word == "more"
    assert time.judge(row(*seconds, (4500, 8500, 500, 500))).word == "less"


def test_the_bounds_belong_to_the_range() -> None:
    assert time.word_for(0.1, 0.1, 0.2) == time.word_for(0.2, 0.1, 0.2) == "in"
    assert time.word_for(0.201, 0.1, 0.2) == "more"
    assert time.word_for(0.099, 0.1, 0.2) == "less"


def test_what_is_nothing_on_both_sides_agrees() -> None:
    assert time.word_for(-0.004, 0.001, 0.003) == "both nothing"
    assert time.word_for(0.02, 0.001, 0.003) == "more"
    assert time.word_for(-0.02, 0.001, 0.003) == "less"
    assert time.word_for(0.004, 0.02, 0.03) == "less"


def test_time_is_held_against_medians() -> None:
    """A round in which others had the processor moves neither the saving nor the cycles."""
    quiet = time.judge(row([10.0] * 5, [8.0] * 5, (1000, 2000, 0, 0)))
    disturbed = time.judge(row([10.0] * 4 + [50.0], [8.0] * 5, (1000, 2000, 0, 0)))
    assert quiet[:1] + quiet[3:] == disturbed[:1] + disturbed[3:]


def test_a_client_that_prints_no_time() -> None:
    assert time.phase_seconds("seconds 1.250000 sum 7\n") == 1.25
    with pytest.raises(Broken, match="did not print its time"):
        time.phase_seconds("sum 7\n")


# 64 entries of 4K hold 256K, as many of 2M 128M; the walk costs from 20 to 50 cycles.
DATA = Machine("small", (Array(1, "fetches", 64, pages="4K+2M"), Array(1, "loads+stores", 64, pages="4K+2M")))
WALKS = DATA.text().replace("end\n", "walk hardware\ncycles 20..50\nstep 2M\ncache none\nstep 4K\ncache none\nend\n")


def test_the_phase_is_counted_with_both_kinds_of_pages(tmp_path: Path) -> None:
    """Of a chain through 64 MB, 16384 pages, in random order hardly a step hits; 32 pages of 2M it holds."""
    lab = Lab(tmp_path)
    lab.machines = [named(str(lab.write("small.machine", WALKS)))]
    steps = 100_000
    program = Timed("chain", "", [str(lab.client("timed_chains")), "64", str(steps), "1"], client=True)
    base, huge = (time.simulate(lab, program, is_huge)["small"] for is_huge in (False, True))
    assert base.references == huge.references
    assert steps <= base.references < steps + 100
    assert base.walks == pytest.approx(steps * (1 - 64 / 16384), rel=0.01)
    assert (base.low, base.high) == (20 * base.walks, 50 * base.walks)
    assert huge.walks < 50
    assert (huge.low, huge.high) == (20 * huge.walks, 50 * huge.walks)


@pytest.mark.parametrize(
    "words",
    [
        ("reads", 1, 1000, 3),
        ("chains", 1, 1000, 8),
        ("join", 1000, 1000),
        ("tree", 1000, 1000),
        ("sparse", 1000, 2),
        ("stream", 1000, 2),
        ("transpose", 50, 2),
        ("adds", 1000),
    ],
)
def test_clients_do_the_same_each_time(words: tuple[str, int], tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    client = lab.client(f"timed_{words[0]}")
    printed = [lab.call([client, *words[1:]]) for _ in range(2)]
    assert all(time.phase_seconds(text) >= 0 for text in printed)
    assert printed[0].split()[2:] == printed[1].split()[2:]
    assert printed[0].split()[2] == "sum"


def test_the_chain_of_additions_adds(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    assert lab.call([lab.client("timed_adds"), "1000"]).split()[3] == "100000"


PROGRAM = """#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
   enum { BYTES = 8 << 20 };
   char *blocks[2] = { malloc(BYTES),
      mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
   for (int i = 0; i < 2; i++)
      for (int at = 0; at < BYTES; at += 4096)
         blocks[i][at] = (char)argc;
   exit(strlen(argv[0]) == 0);
}
"""


def preloaded(lab: Lab) -> Timed:
    program = lab.cc("program", "-O1", lab.write("program.c", PROGRAM))
    return timed.preloaded(lab, [Timed("program", "", [str(program)], environment={"TIMED_ARENA": "32"})])[0]


def test_a_program_finds_its_memory_there(tmp_path: Path) -> None:
    """What it touches of heap and mapping, 4096 pages, is populated before, and counted is main() alone."""
    lab = Lab(tmp_path)
    lab.machines = [named(str(lab.write("small.machine", WALKS)))]
    program = preloaded(lab)
    base, huge = (time.simulate(lab, program, is_huge)["small"] for is_huge in (False, True))
    assert 4096 <= base.walks < 4096 + 200
    assert huge.walks < 300
    run = time.native(lab, program, True)
    assert run.seconds >= 0 and (tmp_path / "seconds").exists()


def test_native_times_are_kept(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rounds=2, times=tmp_path / "times.json")
    program = Timed("reads", "", [str(lab.client("timed_reads")), "1", "1000", "0"], client=True)
    measured = time.kept(lab, [program])
    assert [len(runs) for runs in measured[0][0]] == [2, 2]
    assert time.kept(lab, [program]) == measured
    with pytest.raises(Missing, match="has no times of other; remove it"):
        time.kept(lab, [program, program._replace(name="other")])
