# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The job of docs/ci.md, as a pipeline runs it: a baseline, a change, a table, exit statuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tg_environment import CC, TLBGRIND
from tool_support import TG_ANNOTATE

DOCS = Path(os.environ["TG_SRCDIR"], "docs")


def compiled(folder: Path, *options: str) -> None:
    """The example; with -DLONG a customer's name is longer."""
    text = (DOCS / "join.c").read_text(encoding="utf-8").replace("name[40]", "name[LENGTH]")
    (folder / "join.c").write_text(text, encoding="utf-8")
    length = [] if options else ["-DLENGTH=40"]
    subprocess.run([*CC, "-O2", "-g", *length, *options, "join.c", "-o", "join"], cwd=folder, check=True)


def job(folder: Path, *program: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(TLBGRIND).parent), str(Path(TG_ANNOTATE).parent), os.environ["PATH"]])
    return subprocess.run(
        ["sh", str(DOCS / "ci.sh"), "baseline.out", *program],
        cwd=folder,
        env={**os.environ, **more, "PATH": path},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_job_makes_a_baseline_and_holds_later_runs_against_it(tmp_path: Path) -> None:
    compiled(tmp_path)
    first = job(tmp_path, "./join")
    assert (first.returncode, first.stderr) == (0, "ci.sh: baseline.out is new: commit it\n")
    kept = (tmp_path / "baseline.out").read_bytes()
    same = job(tmp_path, "./join", SOMETHING="else in the environment")
    assert (same.returncode, same.stderr) == (0, "")
    assert "| kept | `walks>5%` | 0% | ci.out |\n" in (tmp_path / "ci.md").read_text(encoding="utf-8")
    compiled(tmp_path, "-DLENGTH=400")
    worse = job(tmp_path, "./join")
    assert worse.returncode == 3
    assert "tg_annotate: failed: walks grew by " in worse.stderr
    table = (tmp_path / "ci.md").read_text(encoding="utf-8")
    assert "| **above** | `walks>5%` | " in table and "`join.c:find_customer [join]` |\n" in table
    # The share is held whatever it was before.
    compiled(tmp_path)
    share = job(tmp_path, "./join", TLB_SHARE="0.01")
    assert share.returncode == 3 and share.stderr.startswith("tg_annotate: failed: share is ")
    assert (tmp_path / "baseline.out").read_bytes() == kept


def test_a_job_in_another_folder_finds_the_same_functions(tmp_path: Path) -> None:
    for number in ("1", "2"):
        (tmp_path / number).mkdir()
        compiled(tmp_path / number, *(["-DLENGTH=400"] if number == "2" else []))
    assert job(tmp_path / "1", "./join").returncode == 0
    (tmp_path / "1" / "baseline.out").rename(tmp_path / "2" / "baseline.out")
    done = job(tmp_path / "2", "./join", TLB_FOLDER=f"{tmp_path}/.")
    assert done.returncode == 3
    rows = (tmp_path / "2" / "ci.md").read_text(encoding="utf-8")
    assert rows.count("find_customer") == 1


def test_what_fails_otherwise_is_no_exceeded_limit(tmp_path: Path) -> None:
    compiled(tmp_path)
    assert job(tmp_path).returncode == 1
    failed = job(tmp_path, "false")
    assert failed.returncode == 1 and "the program's exit status is 1" in failed.stderr
    assert not (tmp_path / "baseline.out").exists()
    (tmp_path / "baseline.out").write_text("# callgrind format\nversion: 1\n")
    broken = job(tmp_path, "./join")
    assert broken.returncode == 1 and "tg_annotate: error: baseline.out:" in broken.stderr
