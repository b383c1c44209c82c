# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Output files in folders where other users may make files, too: nothing is written through what they
put there, and of two runs with one name each file is whole."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tg_companions import ROOT, call
from tg_environment import TLBGRIND, client
from tool_support import GEOMETRY, check_sound, messages, read, run

OTHER, OWNER = 65534, 65533
"""Users that nobody is."""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what belongs to another user")
PROCESS = (client("run_process"), "exit", 3)
OF_OTHERS = "it is no file but another user's link or pipe, in a folder of several users"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """As /tmp is, but of no user that makes files here, and without its sticky bit, with which some kernels refuse, too."""
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chown(folder, OWNER, -1)
    folder.chmod(0o777)
    return folder


def plant(folder: Path, kind: str, owner: int = OTHER) -> Path:
    """What is in the place of `out`; the victim is beside the folder."""
    victim = folder.parent / "victim"
    victim.write_text("mine\n", encoding="ascii")
    if kind == "pipe":
        os.mkfifo(folder / "out")
    else:
        (folder / "out").symlink_to({"link": victim, "dangling": folder.parent / "new"}[kind])
    os.chown(folder / "out", owner, -1, follow_symlinks=False)
    return victim


@needs_root
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_what_another_user_put_there_is_refused_before_the_program_starts(shared: Path, kind: str) -> None:
    victim = plant(shared, kind)
    command = [TLBGRIND, *GEOMETRY, "--tlbgrind-out-file=out", "touch", "it-ran"]
    done = subprocess.run(command, cwd=shared, capture_output=True, encoding="utf-8", check=False)
    check_sound(done.stderr)
    assert (done.returncode, os.listdir(shared)) == (1, ["out"])
    assert f"Bad option: --tlbgrind-out-file=out\n{OF_OTHERS}" in "\n".join(messages(done.stderr))
    assert victim.read_text(encoding="ascii") == "mine\n"
    assert not (shared.parent / "new").exists()


@needs_root
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_comes_while_the_program_runs_is_not_written_either(shared: Path, kind: str) -> None:
    victim = plant(shared, kind)
    os.rename(shared / "out", shared / "elsewhere")
    r = run(shared, "sh", "-c", "mv elsewhere out; exit 3", out_file="out", collect=False)
    assert r.status == 3
    assert OF_OTHERS in "\n".join(messages(r.err))
    assert victim.read_text(encoding="ascii") == "mine\n"
    assert os.listdir(shared) == ["out"]


@needs_root
@pytest.mark.parametrize(("owner", "mode"), [(0, 0o777), (OWNER, 0o777), (OTHER, 0o755)], ids=["of root", "of the folder's owner", "nobody else's folder"])
def test_other_links_are_followed(shared: Path, owner: int, mode: int) -> None:
    victim = plant(shared, "link", owner)
    shared.chmod(mode)
    assert run(shared, *PROCESS, out_file="out", collect=False).status == 3
    assert read(victim).function("work")[0] > 0
    assert (shared / "out").is_symlink()


@pytest.fixture
def tool_for_all() -> Iterator[Path]:
    """The tool where each user may read it, and a sticky folder with another user's file `out`."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        place = Path(name)
        place.chmod(0o755)
        built = Path(TLBGRIND).resolve().parents[1] / ".in_place"
        (place / "lib").mkdir(mode=0o755)
        for file in built.iterdir():
            target = place / "lib" / file.name
            if file.name.startswith("tlbgrind"):
                shutil.copy(file, target)
            else:
                target.symlink_to(file.resolve())
        (place / "sticky").mkdir()
        os.chown(place / "sticky", OWNER, -1)
        (place / "sticky").chmod(0o777 | stat.S_ISVTX)
        (place / "sticky" / "out").write_text("theirs\n", encoding="ascii")
        yield place


@needs_root
def test_another_users_file_in_a_sticky_folder_is_refused_before_the_program_starts(tool_for_all: Path) -> None:
    """At the end it could not be replaced."""
    user = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
    tool = [os.environ["VALGRIND"], "--tool=tlbgrind", *GEOMETRY]
    for name, status in (("out", 1), ("new", 0)):
        done = subprocess.run(
            [*user, *tool, f"--tlbgrind-out-file={name}", "true"],
            cwd=tool_for_all / "sticky",
            env={"PATH": os.environ["PATH"], "VALGRIND_LIB": str(tool_for_all / "lib")},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == status, done.stderr
        assert ("it is another user's file, which only they may replace" in done.stderr) == (status == 1)
    assert (tool_for_all / "sticky" / "out").read_text(encoding="ascii") == "theirs\n"


def test_of_runs_with_one_name_the_file_is_whole(tmp_path: Path) -> None:
    command = [TLBGRIND, "-q", *GEOMETRY, "--tlbgrind-out-file=out", "--faults=yes", "--faults-out-file=faults"]
    runs = {status: subprocess.Popen([*command, str(client("run_process")), "exit", str(status)], cwd=tmp_path) for status in range(3, 9)}
    for status, process in runs.items():
        assert process.wait() == status
    assert sorted(os.listdir(tmp_path)) == ["faults", "out"]
    out = read(tmp_path / "out")
    assert int(out.field("cmd").split()[-1]) in runs
    assert call("tg_faults", str(tmp_path / "faults")).status == 0


# ---------------------------------------------------------------- companions

TESTS = ROOT / "tests"
ENTRIES = TESTS / "order" / "data" / "first.entries"
WRITERS = {
    "tg_report": ("--only", f"--chart-js={TESTS}/report/data/no_chart.js", str(ENTRIES), "-o"),
    "tg_order": (str(ENTRIES), "--names"),
}


@needs_root
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe"])
def test_companions_write_through_nothing_of_others(shared: Path, name: str, kind: str) -> None:
    victim = plant(shared, kind)
    result = call(name, *WRITERS[name], str(shared / "out"))
    complaint = f"{name}: error: {shared}/out: {OF_OTHERS}\n"
    assert (result.status, result.err.decode().splitlines(keepends=True)[-1]) == (1, complaint)
    assert victim.read_text(encoding="ascii") == "mine\n"
    assert not (shared.parent / "new").exists()


@pytest.mark.parametrize("name", WRITERS)
def test_companions_follow_a_link_of_ones_own_and_leave_no_other_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "target").write_text("old\n", encoding="ascii")
    (tmp_path / "out").symlink_to("target")
    assert call(name, *WRITERS[name], str(tmp_path / "out")).status == 0
    assert (tmp_path / "target").read_text(encoding="utf-8") != "old\n"
    assert sorted(os.listdir(tmp_path)) == ["out", "target"]
    assert (tmp_path / "out").is_symlink()
