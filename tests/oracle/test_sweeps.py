# test_sweeps.py -- tg_simulate's sweeps: maps of two values, shards, and their merging.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What shards write and what --merge prints is what one simulation of all machines writes and prints."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tg_environment import TLBGRIND

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")
SWEEP = "k8,k8:l2-dtlb.entries=256..1024,l2-dtlb.ways=4..16,k8:l2-dtlb.ways=8"
# Three pages of code, then 36 pages of data, 16 apart, five times. The first level has 32 entries, LRU,
# and always misses. A set of the second level hits if no more pages come to it than it has ways: with 128
# sets (512 entries, 4 ways) 36 pages come to 8 sets, four of them have 5 pages, which always miss, and
# four have 4.
TRACE = "I  400000,4\nI  401000,4\nI  402000,4\n" + "".join(f" L {0x10000000 + 65536 * i:08x},8\n" for i in range(36)) * 5
TABLE = """machine                                       I1 misses       I walks       D1 misses       D walks
k8                                                    3             3             180           116
k8:l2-dtlb.entries=256,l2-dtlb.ways=4                 3             3             180           180
k8:l2-dtlb.entries=256,l2-dtlb.ways=8                 3             3             180           180
k8:l2-dtlb.entries=256,l2-dtlb.ways=16                3             3             180           180
k8:l2-dtlb.entries=512,l2-dtlb.ways=4                 3             3             180           116
k8:l2-dtlb.entries=512,l2-dtlb.ways=8                 3             3             180           180
k8:l2-dtlb.entries=512,l2-dtlb.ways=16                3             3             180           180
k8:l2-dtlb.entries=1024,l2-dtlb.ways=4                3             3             180            36
k8:l2-dtlb.entries=1024,l2-dtlb.ways=8                3             3             180            36
k8:l2-dtlb.entries=1024,l2-dtlb.ways=16               3             3             180            36
k8:l2-dtlb.ways=8                                     3             3             180           180
"""
MAP = """
k8: page walks, by l2-dtlb.entries (down) and l2-dtlb.ways (across)
                                 4                       8                      16
       256            183 ########            183 ########            183 ########
       512            119 ####....            183 ########            183 ########
      1024             39 ........             39 ........             39 ........
"""


def simulate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TG_SIMULATE, *arguments], cwd=folder, capture_output=True, check=False, encoding="utf-8")


def printed(folder: Path, *arguments: str) -> str:
    done = simulate(folder, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def without_trace(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("trace: "))


def files(folder: Path, name: str) -> dict[str, bytes]:
    return {path.name.removeprefix(name): path.read_bytes() for path in folder.glob(f"{name}_*")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t").write_text(TRACE)
    return tmp_path


def test_a_sweep_of_two_values_has_a_map(folder: Path) -> None:
    text = without_trace(printed(folder, "--input=lackey", f"--machine={SWEEP}", "t"))
    assert text == TABLE + MAP
    text = without_trace(printed(folder, "--input=lackey", f"--machine={SWEEP}", "--map=no", "t"))
    assert text == TABLE
    for count, title, number in (("misses", "first-level misses", " 183 ........"), ("cycles", "miss cycles", "########")):
        text = printed(folder, "--input=lackey", f"--machine={SWEEP}", f"--map={count}", "t")
        assert f"\nk8: {title}, by l2-dtlb.entries (down) and l2-dtlb.ways (across)\n" in text and number in text


@pytest.mark.parametrize(
    "machines",
    ["k8:l2-dtlb.entries=64..256", "k8:l2-dtlb.entries=64..256,l2-dtlb.ways=4..8,l2-itlb.ways=2..4", "skylake,k8"]
    + ["k8:l2-dtlb.entries=64,l2-dtlb.ways=4,k8:l2-dtlb.entries=128,l2-dtlb.ways=8"],
)
def test_one_value_three_and_gaps_have_none(folder: Path, machines: str) -> None:
    assert "(down)" not in printed(folder, "--input=lackey", f"--machine={machines}", "t")


def test_shards_write_what_one_simulation_writes(folder: Path) -> None:
    whole = printed(folder, "--input=lackey", f"--machine={SWEEP}", "-o", "whole", "t")
    for k in (1, 2, 3):
        printed(folder, "--input=lackey", f"--machine={SWEEP}", "-o", "shard", f"--shard={k}/3", f"--jobs={k}", "t")
        assert len(files(folder, "shard")) == (4, 8, 11)[k - 1]
    assert files(folder, "shard") == files(folder, "whole")
    names = sorted(path.name for path in folder.glob("shard_*"))
    assert printed(folder, "--merge", *names) == without_trace(whole)
    assert printed(folder, "--map=no", "--merge", *names) == TABLE


def test_more_machines_than_one_process_simulates(folder: Path) -> None:
    machines = "--machine=k8:l2-dtlb.entries=4..512/4"
    one = printed(folder, "--input=lackey", machines, "-o", "one", "t")
    assert one.count("\n") == 1 + 128 + 1
    assert printed(folder, "--input=lackey", machines, "-o", "other", "--jobs=2", "t") == one
    assert files(folder, "one") == files(folder, "other")
    alone = printed(folder, "--input=lackey", "--machine=k8:l2-dtlb.entries=400", "t").splitlines()[1]
    assert alone.split() in [row.split() for row in one.splitlines()]


SVG = "{http://www.w3.org/2000/svg}"


def test_a_map_is_drawn(folder: Path) -> None:
    """With all numbers of the text; two maps stand one below the other, and shards give the same."""
    machines = f"--machine={SWEEP},zen4,skylake:stlb.entries=512..1024,stlb.ways=4..8"
    printed(folder, "--input=lackey", machines, "--picture=m.svg", "-o", "whole", "t")
    text = (folder / "m.svg").read_text()
    assert not re.search(r"href|url\(|http(?!://www.w3.org/2000/svg')", text) and "prefers-color-scheme:dark" in text
    root = ElementTree.fromstring(text)
    assert root.attrib["role"] == "img" and root.attrib["aria-labelledby"] == "title desc"
    assert [root.findtext(f"{SVG}{tag}[@id='{tag}']") is not None for tag in ("title", "desc")] == [True, True]
    counts = {f"{tags[0]}, {tags[1]}": 183 for tags in ((f"l2-dtlb.entries={e}", f"l2-dtlb.ways={w}") for e in (256, 512) for w in (4, 8, 16))}
    counts |= {f"l2-dtlb.entries=1024, l2-dtlb.ways={w}": 39 for w in (4, 8, 16)}
    counts["l2-dtlb.entries=512, l2-dtlb.ways=4"] = 119
    cells = root.findall(f"{SVG}g[@class='n']")
    titles = [cell.findtext(f"{SVG}title") or "" for cell in cells]
    assert titles[:9] == [f"{name}: {count} page walks" for name, count in counts.items()]
    assert len(titles) == 9 + 4 and titles[12].startswith("stlb.entries=1024, stlb.ways=8: ")
    shades = {cell.findtext(f"{SVG}text"): cell.find(f"{SVG}rect").attrib["class"] for cell in cells[:9]}  # type: ignore[union-attr]
    assert shades == {"183": "s8", "119": "s4", "39": "s0"}
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    places = [[int(cell.find(f"{SVG}rect").attrib[a]) for a in ("x", "y", "width", "height")] for cell in cells]  # type: ignore[union-attr]
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in places)
    assert len({(x, y) for x, y, _, _ in places}) == len(cells)
    names = sorted(path.name for path in folder.glob("whole_*"))
    printed(folder, "--picture=merged.svg", "--merge", *names)
    assert (folder / "merged.svg").read_text() == text


def test_names_in_a_picture_are_text(folder: Path) -> None:
    machine = subprocess.run([TLBGRIND, "--show-machine=k8"], check=True, capture_output=True).stdout
    (folder / "a<&b.machine").write_bytes(machine)
    printed(folder, "--input=lackey", "--machine=./a<&b.machine:l2-dtlb.entries=256..512,l2-dtlb.ways=4..8", "--picture=m.svg", "t")
    root = ElementTree.parse(folder / "m.svg").getroot()
    assert any("page walks" in (text.text or "") for text in root.findall(f"{SVG}text"))


def on_a_terminal(folder: Path, *arguments: str) -> tuple[str, str]:
    """What goes to the standard output, and to the terminal that is the standard error."""
    leader, follower = pty.openpty()
    done = subprocess.run([TG_SIMULATE, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=follower, check=False, encoding="utf-8")
    os.write(follower, b"|")
    os.close(follower)
    said = b""
    while not said.endswith(b"|"):
        said += os.read(leader, 65536)
    os.close(leader)
    return done.stdout, said.decode()[:-1]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bar_is_shown_on_a_terminal_and_erased(folder: Path, jobs: str) -> None:
    arguments = ("--input=lackey", f"--machine={SWEEP}", f"--jobs={jobs}", "t")
    output, said = on_a_terminal(folder, *arguments)
    assert re.fullmatch(r"(\r\[#* *\] +[0-9]+% ([0-9:]+ left)?\033\[K)+\r\033\[K", said)
    assert said.startswith(f"\r[{' ' * 40}]   0% \033[K")
    assert output == printed(folder, *arguments)
    assert on_a_terminal(folder, *arguments, "--quiet") == (output, "")
    (folder / "t").write_text("nonsense\n")
    _, said = on_a_terminal(folder, *arguments)
    assert said.startswith("\r[") and "\r\033[Ktg_simulate: error: t: line 1: it is no line of lackey" in said


def refused(done: subprocess.CompletedProcess[str], message: str) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {message}\n")


def test_what_does_not_belong_together_is_refused(folder: Path) -> None:
    printed(folder, "--input=lackey", "--machine=skylake,k8,zen4", "-o", "all", "t")
    printed(folder, "--input=lackey", "--machine=skylake,k8", "-o", "two", "t")
    (folder / "u").write_text(TRACE)
    printed(folder, "--input=lackey", "--machine=skylake,k8,zen4", "-o", "of_u", "u")
    refused(simulate(folder, "--merge", "all_skylake", "all_zen4"), "machine number 2 of 3 is in none of the files")
    refused(simulate(folder, "--merge", "all_zen4"), "machine number 1 of 3 is in none of the files")
    refused(simulate(folder, "--merge", "all_k8", "all_k8"), "all_k8: machine number 2, 'k8', is in another file, too")
    refused(simulate(folder, "--merge", "all_k8", "two_skylake"), "two_skylake: it is of 2 machines, and all_k8 of 3")
    refused(simulate(folder, "--merge", "all_k8", "of_u_zen4"), "of_u_zen4: it is of another run than all_k8")
    refused(simulate(folder, "--merge", "none"), "none: the file cannot be read: No such file or directory")
    refused(simulate(folder, "--merge", "t"), "t: it is no out-file, or not complete: its last line is no checksum")
    refused(simulate(folder, "--merge"), "--merge: the names of out-files belong behind it")
    refused(simulate(folder, "t", "--merge", "all_k8"), "--merge: the names of out-files belong behind it")
    whole = (folder / "all_k8").read_bytes()
    (folder / "changed").write_bytes(whole.replace(b"machine", b"machinE", 1).replace(b"summary: 3", b"summary: 4"))
    refused(simulate(folder, "--merge", "changed"), "changed: the file has been changed: its checksum is another")
    for length in range(0, len(whole), 97):
        (folder / "cut").write_bytes(whole[:length])
        refused(simulate(folder, "--merge", "cut"), "cut: it is no out-file, or not complete: its last line is no checksum")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shard=0/3"], "--shard=0/3: '0/3' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=4/3"], "--shard=4/3: '4/3' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=1"], "--shard=1: '1' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=1/2x"], "--shard=1/2x: '1/2x' is no shard; it is K/N, K from 1 to N, N up to 1000"),
        (["--shard=2/3", "--machine=k8,zen4"], "--shard=2/3: there are 2 machines, and no more shards than that"),
        (["--picture=m.svg"], "--picture=m.svg: there is no map: two values of a machine have to differ, as in skylake:stlb.entries=512..4096,stlb.ways=4..16"),
        (["--picture=m.svg", "--map=no"], "--picture=m.svg: --map=no leaves out the maps that it shows"),
        ([f"--machine={SWEEP}", "--picture=no/m.svg"], "--picture=no/m.svg: the file cannot be written: No such file or directory"),
        ([f"--machine={SWEEP}", "--picture=m.svg", "--shard=1/2"], "--picture=m.svg: a shard has not all of a map; tg_simulate --picture= --merge draws it"),
        (["--map=walk"], "--map=walk: 'walk' is no count; allowed are walks, misses, cycles and no"),
        (["--machine=k8:l2-dtlb.entries=4..4000/4"], "--machine=k8:l2-dtlb.entries=4..4000/4: the range makes at least 1000 machines; at most 960 at once"),
    ],
)  # fmt: skip
def test_options_that_can_not_be_are_refused(folder: Path, arguments: list[str], message: str) -> None:
    refused(simulate(folder, "--input=lackey", "--machine=k8", *arguments, "t"), message)
