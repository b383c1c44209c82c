# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--advice=SIZE: each kind of memory in larger pages, as runs with such a --pages count it, and tg_annotate --advice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tg_companions import SCRIPTS
from tg_environment import client
from tool_support import OutFile, messages, run

KINDS = ("text", "data", "heap", "anon", "stack", "file", "all")


def use(folder: Path, *options: str, kind: str = "anon") -> tuple[list[OutFile], list[str]]:
    r = run(folder, client("pages_use"), kind, 4, options=list(options), geometry=(), prefix=["setarch", "-R"])
    assert r.status == 0, r.err
    return r.files, messages(r.err)


def machine(out: OutFile) -> str:
    (name,) = out.descriptions("Machine")
    return name


def counted(out: OutFile) -> list[str]:
    """All of the file, but the machine's name."""
    return [line for line in out.body() if not line.startswith("desc: Machine:")]


def walks(out: OutFile) -> int:
    counts = dict(zip(out.field("events").split(), out.summary))
    return counts["ILtm"] + counts["DLtmr"] + counts["DLtmw"]


@pytest.mark.parametrize(("size", "kind"), [("2M", "anon"), ("64K", "heap")])
def test_counts_are_those_of_runs_with_such_pages(tmp_path: Path, size: str, kind: str) -> None:
    files, _ = use(tmp_path / "run-0", "--machine=skylake", f"--advice={size}", kind=kind)
    assert {machine(out) for out in files} == {"skylake", *(f"skylake@{memory}:{size}" for memory in KINDS)}
    for number, out in enumerate(files, 1):
        rule = machine(out).partition("@")[2]
        # The folder's name stands in the client's environment: all are as long.
        alone, _ = use(tmp_path / f"run-{number}", "--machine=skylake", *([f"--pages={rule}"] if rule else []), kind=kind)
        assert counted(out) == counted(alone[0])


def advice(files: list[OutFile]) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "tg_annotate"), "--advice", *(str(out.path) for out in files)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_pays_is_named_with_what_it_saves(tmp_path: Path) -> None:
    """The client reads 4 MiB of anonymous memory at random: two pages of 2M, whichever order the files are given in."""
    files, said = use(tmp_path, "--machine=skylake", "--advice=2M")
    by_name = {machine(out): out for out in files}
    base, anon = walks(by_name["skylake"]), walks(by_name["skylake@anon:2M"])
    text = advice(files[::-1])
    assert text[0].startswith(f"skylake: {base:,} page walks with its own pages, ")
    rows = [line.split() for line in text[3 : text.index("", 3)]]
    assert rows[0][:4] == ["anon", f"{anon:,}", f"{base - anon:,}", f"{100 * (base - anon) / base:.1f}%"]
    assert rows[0][-2:] == ["4,096K", "0K"]
    saved = [int(row[2].replace(",", "")) for row in rows[:-1]]
    assert saved == sorted(saved, reverse=True)
    assert rows[-1][:3] == ["all", "of", "it"]
    assert "Pages of 2M pay for anon:" in text
    # The command that the run prints names the files.
    assert said[-2] == "To see what larger pages would save:"
    assert said[-1].split()[:2] == ["tg_annotate", "--advice"]
    assert {Path(word) for word in said[-1].split()[2:]} == {out.path for out in files}


def test_nothing_to_win(tmp_path: Path) -> None:
    r = run(tmp_path, "/bin/true", options=["--machine=skylake", "--advice=1G"], geometry=())
    text = advice(r.files)
    assert [line.partition(":")[0] for line in text if "win" in line] == ["Nothing to win"]


def test_rules_of_the_machine_stay(tmp_path: Path) -> None:
    files, _ = use(tmp_path, "--machine=skylake@stack:64K", "--advice=2M")
    assert f"skylake@stack:64K+{KINDS[0]}:2M" in {machine(out) for out in files}
    assert advice(files)[0].startswith("skylake@stack:64K: ")
