# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--advice=SIZE[,...]: each memory in larger pages, as runs with such a --pages count it, and tg_annotate --advice."""

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


@pytest.mark.parametrize(
    ("words", "sizes", "named", "kind"),
    [
        ("2M", ["2M"], [], "anon"),
        ("64K", ["64K"], [], "heap"),
        ("yes,data=pages_us*,*.so.*", ["64K", "2M"], ["data=pages_us*", "*.so.*"], "bss"),
    ],
)
def test_counts_are_those_of_runs_with_such_pages(
    tmp_path: Path, words: str, sizes: list[str], named: list[str], kind: str
) -> None:
    files, _ = use(tmp_path / "run-00", "--machine=skylake", f"--advice={words}", kind=kind)
    rules = {f"skylake@{memory}:{size}" for memory in (*KINDS, *named) for size in sizes}
    assert {machine(out) for out in files} == {"skylake", *rules}
    assert len(files) == 1 + len(rules)
    for number, out in enumerate(files, 1):
        rule = machine(out).partition("@")[2]
        # The folder's name stands in the client's environment: all are as long.
        alone, _ = use(tmp_path / f"run-{number:02}", "--machine=skylake", *([f"--pages={rule}"] if rule else []), kind=kind)
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
    rows = [line.split() for line in text[4 : text.index("", 4)]]
    assert rows[0][:5] == ["anon", "2M", f"{anon:,}", f"{base - anon:,}", f"{100 * (base - anon) / base:.1f}%"]
    # 1024 pages of 4K came with a fault each, now two of 2M do.
    assert rows[0][-3:] == ["1,022", "4,096K", "0K"]
    saved = [int(row[3].replace(",", "")) for row in rows[:-1]]
    assert saved == sorted(saved, reverse=True)
    assert rows[-1][:3] == ["all", "of", "it"]
    assert "Pages of 2M pay for anon:" in text
    # The command that the run prints names the files.
    assert said[-2] == "To see what larger pages would save:"
    assert said[-1].split()[:2] == ["tg_annotate", "--advice"]
    assert {Path(word) for word in said[-1].split()[2:]} == {out.path for out in files}


def test_memory_that_is_named_is_a_part_of_its_kind(tmp_path: Path) -> None:
    """All data that the client references at random is its bss; the libraries' data and its own text are others."""
    files, _ = use(tmp_path, "--machine=skylake", "--advice=data=pages_us*,text=pages_us*,2M", kind="bss")
    by_name = {machine(out): out for out in files}
    whole, own = by_name["skylake@data:2M"], by_name["skylake@data=pages_us*:2M"]
    assert own.summary == whole.summary != by_name["skylake"].summary
    assert by_name["skylake@text=pages_us*:2M"].summary == by_name["skylake"].summary
    assert "Pages of 2M pay for data, data=pages_us*:" in advice(files)


def test_first_touches_of_both_sizes_are_of_the_same_base_pages(tmp_path: Path) -> None:
    files, _ = use(tmp_path, "--machine=skylake", "--advice=yes")
    faults = {}
    touches = set()
    for out in files:
        if machine(out) != "skylake":
            (said,) = out.descriptions("First touches")
            pages, _, _, count, _ = said.split()
            touches.add(pages)
            faults[machine(out)] = int(count)
    (pages,) = touches
    assert faults["skylake@heap:2M"] == int(pages)
    assert faults["skylake@anon:2M"] == int(pages) - 1024 + 2
    assert faults["skylake@anon:64K"] == int(pages) - 1024 + 64


def test_nothing_to_win(tmp_path: Path) -> None:
    r = run(tmp_path, "/bin/true", options=["--machine=skylake", "--advice=1G"], geometry=())
    text = advice(r.files)
    assert [line.partition(":")[0] for line in text if "win" in line] == ["Nothing to win"]


def test_rules_of_the_machine_stay(tmp_path: Path) -> None:
    files, _ = use(tmp_path, "--machine=skylake@stack:64K", "--advice=2M")
    assert f"skylake@stack:64K+{KINDS[0]}:2M" in {machine(out) for out in files}
    assert advice(files)[0].startswith("skylake@stack:64K: ")
