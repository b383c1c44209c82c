# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""That experiments say what is off, and the short ones themselves. No native time is checked."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import exp_frame as frame
import pytest

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


@pytest.mark.parametrize("name", ["E1", "E2", "E3", "E6", "E7", "E8", "E9", "E10", "E11", "E12-small"])
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
