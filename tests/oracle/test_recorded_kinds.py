# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Recordings for machines of all kinds: other base pages, entries of several pages, an array that is
first for some references and behind another for others, inclusive levels, arrays of code and data.

Machines of a run are what is simulated later, and machines that the run did not have. A naive reader
of the file shows that what was left out of it hits.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from oracle_random import build
from test_recordings import (
    HUGE,
    PROGRAMS,
    record,
    records,
    simulate,
    unpacked,
    without_pid,
)
from tg_environment import CC

KINDS = ["skylake", "apple-m1", "power9", "ultrasparc-t1", "core2", "xiangshan"]
KINDS += ["zen4:dtlb.coalesces=16K,itlb.coalesces=16K", "haswell:dtlb-4k.coalesces=16K"]

Array = tuple[str, int, str, int, str, str, str]

MIXED: dict[str, list[Array]] = {
    "shared": [("L1", 1, "all", 32, "4", "4K", "lru"), ("L2", 2, "all", 256, "4", "4K+2M", "lru")],
    "shared-tree": [("L1", 1, "all", 16, "full", "4K+2M", "plru"), ("L2", 2, "all", 64, "4", "4K+2M", "lru")],
    "code-behind": [("I", 1, "fetches", 4, "full", "4K+2M", "lru"), ("J", 2, "all", 64, "4", "4K+2M", "lru")],
    "data-behind": [("D", 1, "loads+stores", 8, "full", "4K+2M", "lru"), ("J", 2, "all", 64, "4", "4K", "lru")],
    "random-behind": [("I", 1, "fetches", 4, "full", "4K", "lru"), ("J", 2, "all", 32, "full", "4K+2M", "random")],
    "inclusive": [
        ("I", 1, "fetches", 16, "4", "4K+2M", "lru"),
        ("D", 1, "loads+stores", 32, "4", "4K+2M", "lru"),
        ("L2", 2, "all", 64, "4", "4K+2M", "lru\n   inclusion inclusive"),
    ],
    "inclusive-data": [
        ("I", 1, "fetches", 16, "4", "4K+2M", "lru"),
        ("D", 1, "loads+stores", 32, "4", "4K+2M", "lru"),
        ("L2", 2, "loads+stores", 64, "4", "4K+2M", "lru\n   inclusion inclusive"),
    ],
    "beside": [
        ("I", 1, "fetches", 16, "4", "4K", "lru"),
        ("D", 1, "loads+stores", 32, "4", "4K+2M", "lru"),
        ("S", 1, "stores", 16, "4", "4K", "lru"),
        ("L2", 2, "loads+stores", 64, "4", "4K+2M", "lru"),
    ],
}


def write_machine(folder: Path, name: str) -> str:
    """A file of that machine, by which it can be named."""
    text = f"tlbgrind-machine 1\nname {name}\ntitle {name}\nisa any\nconfidence C\nbase-page 4K\n"
    for array, level, users, entries, ways, pages, policy in MIXED[name]:
        text += f"array {array}\n   level {level}\n   users {users}\n   entries {entries}\n   ways {ways}\n"
        text += f"   pages {pages}\n   larger-pages split\n   policy {policy}\n"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.machine").write_text(text + "end\n")
    return f"../machines/{name}.machine"


def out_files(folder: Path, name: str) -> list[list[bytes]]:
    found = sorted(p for p in folder.iterdir() if p.name.startswith(name))
    return [without_pid(p.read_bytes()) for p in found]


def check_replay(folder: Path, machines: list[str], live: list[list[bytes]], *options: str) -> None:
    replayed = simulate(folder, machines, *options)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert len(live) == len(machines)
    assert out_files(folder, "replay") == live


def check_same(folder: Path, machines: list[str], command: tuple[str, ...]) -> None:
    """Machines of the run."""
    assert record(folder, machines, command, "--record=recording").returncode == 0
    check_replay(folder, machines, out_files(folder, "live"))


def check_later(folder: Path, later: list[str], command: tuple[str, ...], *options: str) -> None:
    """What machines count that the recorded run did not have is what they count in a run of theirs."""
    assert record(folder, later, command, *options).returncode == 0
    live = out_files(folder, "live")
    for path in folder.iterdir():
        path.unlink()
    names = f"--record-for={','.join(later)}"
    assert record(folder, ["skylake"], command, "--record=recording", names, *options).returncode == 0
    check_replay(folder, later, live, *options)


def test_machines_of_the_run(tmp_path: Path) -> None:
    check_same(tmp_path, KINDS, PROGRAMS["perl"])


@pytest.mark.parametrize("thp", ["never", "always"])
def test_machines_that_come_later(tmp_path: Path, thp: str) -> None:
    program = build(tmp_path, 7, 12, 64)
    check_later(tmp_path / "run", KINDS, (str(program),), f"--thp={thp}")


@pytest.mark.parametrize("name", MIXED)
def test_each_kind_alone(tmp_path: Path, name: str) -> None:
    machine = write_machine(tmp_path / "machines", name)
    check_same(tmp_path / "same", ["skylake", machine], PROGRAMS["sort"])


def test_all_of_them_later(tmp_path: Path) -> None:
    later = ["skylake", *(write_machine(tmp_path / "machines", name) for name in MIXED)]
    program = build(tmp_path, 8, 12, 64)
    check_later(tmp_path / "run", later, (str(program),))


def test_stores_that_are_left_out_hit_behind_the_loads(tmp_path: Path) -> None:
    # core2: stores ask 64 sets of 4 ways first. Loads that are recorded may ask it, and may not.
    assert record(tmp_path, ["core2"], PROGRAMS["sort"], "--record=recording", "--record-pages=none").returncode == 0
    for all_loads in (True, False):
        held: dict[int, list[int]] = {}
        uses = 0
        for what, page in records(tmp_path / "recording"):
            if what & 3 == 0 or (what & 3 == 1 and (what & 32 or not (all_loads or what & 4))):
                continue
            pages = held.setdefault(page % 64, [])
            assert page in pages or what & 32 == 0
            uses += what >> 5
            pages[:] = [page, *(p for p in pages if p != page)][:4]
        assert uses > 50


def test_larger_base_pages_are_told_of(tmp_path: Path) -> None:
    assert record(tmp_path, ["skylake"], ("true",), "--record=recording").returncode == 0
    done = simulate(tmp_path, ["apple-m1"])
    assert done.returncode == 1
    assert done.stderr == (
        "tg_simulate: error: recording: apple-m1: the recording is not made for pages of 16K; record the program "
        "with --record-for=apple-m1 --record-pages=16K,2M\n"
    )


def test_the_reach_curve_is_the_live_run_s(tmp_path: Path) -> None:
    names = "--record-for=skylake,icelake,reach"
    options = ("--record=recording", names, "--reach=yes", "--reach-out-file=live.reach")
    assert record(tmp_path, ["skylake", "icelake"], PROGRAMS["perl"], *options).returncode == 0
    done = simulate(tmp_path, ["skylake", "icelake"], "--jobs=2", "--reach=yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "recording.reach").read_bytes() == (tmp_path / "live.reach").read_bytes()
    done = simulate(tmp_path, ["skylake"], "--reach-out-file=replay")
    assert done.returncode == 1 and "replay: that is an out-file, too; --reach-out-file= names another" in done.stderr


def test_a_curve_that_is_not_recorded_is_refused(tmp_path: Path) -> None:
    assert record(tmp_path, ["cortex-a53"], ("true",), "--record=recording").returncode == 0
    done = simulate(tmp_path, ["cortex-a53"], "--reach=yes")
    assert (done.returncode, done.stdout) == (1, "")
    assert "may miss; record the program with --record-for=reach and the names of machines" in done.stderr
    assert not (tmp_path / "recording.reach").exists()


def test_where_nothing_is_said_it_is_for_usual_machines(tmp_path: Path) -> None:
    heads = []
    for options in (["--record=recording", "--record-for=k8,skylake,zen4,neoverse-n1"], ["--record=./recording"]):
        assert record(tmp_path, ["k8"], ("true",), *options).returncode == 0
        head = unpacked(tmp_path / "recording").split(b"\n\n")[0]
        heads.append([row for row in head.split(b"\n") if row.startswith((b"filter: ", b"pages:"))])
    assert heads[0] == heads[1] != []
    assert simulate(tmp_path, ["zen4", "neoverse-n1", "skylake", "k8"]).returncode == 0


def test_huge_pages_that_nothing_has_need_not_be_covered(tmp_path: Path) -> None:
    (tmp_path / "huge.c").write_text(HUGE)
    subprocess.run([*CC, "-o", "huge", "huge.c"], cwd=tmp_path, check=True)
    assert record(tmp_path, ["skylake"], ("./huge",), "--record=recording").returncode == 0
    few = ["skylake:dtlb-2m.entries=16"]
    assert simulate(tmp_path, few, "--thp=never").returncode == 0
    done = simulate(tmp_path, few, "--thp=madvise")
    assert done.returncode == 1 and "the recording leaves out what its first level may miss" in done.stderr
