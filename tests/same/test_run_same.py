# test_run_same.py -- tests/run-same sees what differs, and only that.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(os.environ["TG_BUILDDIR"])
SCRIPT = Path(os.environ["TG_SRCDIR"]) / "tests" / "run-same"
ONE = "clients/oracle_walk/lru"


def run_same(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.environ.get("PYTHON", sys.executable), str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def doctored(folder: Path, option: str) -> Path:
    """A build whose launcher adds an option."""
    (folder / "tlbgrind").mkdir(parents=True)
    (folder / ".in_place").symlink_to(BUILD / ".in_place")
    text = (BUILD / "tlbgrind" / "tlbgrind").read_text(encoding="utf-8")
    start = '\nexec "$valgrind" --tool=tlbgrind '
    assert text.count(start) == 1
    launcher = folder / "tlbgrind" / "tlbgrind"
    launcher.write_text(text.replace(start, f"{start}{option} "), encoding="utf-8")
    launcher.chmod(0o755)
    return folder


def test_a_build_is_the_same_as_itself() -> None:
    """Also where two processes write, whose numbers differ from run to run."""
    for only, files in ((ONE, 4), ("clients/run_process fork/*", None)):
        done = run_same(BUILD, BUILD, "--only", only)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert ", 0 differ, 0 unsteady, 0 runs failed, 0 not run; " in done.stdout
        assert files is None or done.stdout.startswith(f"1 runs, {files} files the same")


def test_processes_are_numbered_as_they_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPT.parent / "oracle")
    same_runs = importlib.import_module("same_runs")
    most = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))
    for begun in ([7, 8, 301], [most - 2, most - 1, 301, 302]):
        told = same_runs.without_pids({f"tlbgrind.{pid}": b"" for pid in begun}, b"")
        assert [name for name in told if name != "stderr"] == [f"tlbgrind.P{n + 1}" for n in range(len(begun))]


def test_a_build_that_counts_otherwise_differs(tmp_path: Path) -> None:
    """Each file that differs is named with its first lines that do, and kept."""
    other = doctored(tmp_path / "other", "--miss-cost=9")
    done = run_same(BUILD, other, "--only", ONE, "--keep", tmp_path / "kept")
    assert done.returncode == 1
    rows = done.stdout.splitlines()
    assert [row.split(": ")[:3] for row in rows[:-1]] == [["differs", ONE, file] for file in ("stderr.P1", "tlbgrind.P1")]
    assert ": line " in rows[1] and " A: '" in rows[1] and "  B: '" in rows[1], rows[1]
    assert rows[-1].startswith("1 runs, 2 files the same, 2 differ, ")
    a, b = (tmp_path / "kept" / ONE.replace("/", "_") / build / "tlbgrind.P1" for build in "ab")
    assert a.read_bytes() != b.read_bytes()


def test_a_build_that_runs_nothing_is_not_the_same(tmp_path: Path) -> None:
    """Two builds that fail alike have not been compared."""
    broken = doctored(tmp_path / "broken", "--dtlb=0")
    (broken / "tests").mkdir()
    (broken / "tests" / "clients").symlink_to(BUILD / "tests" / "clients")
    done = run_same(broken, broken, "--only", ONE)
    assert done.returncode == 1
    assert f"failed: {ONE}: no out-file; status 1: " in done.stdout


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    """The launcher and the tool of the builds are there, but no client."""
    bare = doctored(tmp_path / "bare", "--miss-cost=9")
    (bare / "tests" / "clients").mkdir(parents=True)
    done = run_same(bare, BUILD, "--only", ONE)
    assert done.returncode == 0
    assert f"not run: {ONE}: {bare}/tests/clients/oracle_walk is missing" in done.stdout
    assert ", 1 not run; " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([BUILD], "the following arguments are required: BUILD"),
        (["/nowhere", BUILD], "/nowhere: not a build of tlbgrind: tlbgrind/tlbgrind is missing"),
        ([BUILD, BUILD, "--parts", "chess"], "--parts: there is no 'chess'; there are machines, "),
        ([BUILD, BUILD, "-j", "0"], "-j: 0; at least 1 is wanted"),
        ([BUILD, BUILD, "--only", "chess"], "--only: no run is called 'chess'"),
    ],
)
def test_wrong_usage_says_what_is_allowed(arguments: list[object], words: str) -> None:
    done = run_same(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
