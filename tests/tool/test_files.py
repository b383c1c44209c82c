# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The files of one run: none hides another, whatever they are called and wherever they go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tg_companions import package
from tg_environment import TLBGRIND, client
from tg_names import labels_of
from tool_support import (
    GEOMETRY,
    OutFile,
    check_sound,
    messages,
    read,
    run,
)

PROCESS = (client("run_process"), "exit", 3)
SHIPPED = sorted(path.stem for path in Path(os.environ["TG_SRCDIR"], "tlbgrind/machines").glob("*.machine"))


# ---------------------------------------------------------------- names


def parts_for_kcachegrind(name: str, folder: list[str]) -> set[str]:
    """What it adds up when it opens `name`: TraceData::load() takes the files that match NAME*, by Qt's
    rules for names in folders, which know no upper case and no hidden files."""
    return {other for other in folder if not other.startswith(".") and other.lower().startswith(name.lower())}


EVERYTHING = ("--faults=yes", "--data=yes", "--entries=yes", "--reach=yes", "--timeline=yes")
ENDINGS = ["data", "entries", "faults", "out", "reach", "timeline"]


def prefixed(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [TLBGRIND, *GEOMETRY, *options, *map(str, PROCESS)]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("given", [("-o", "a b"), ("--out-prefix=a b",)])
def test_all_files_of_a_run_have_the_prefix(tmp_path: Path, given: Sequence[str]) -> None:
    assert prefixed(tmp_path, *EVERYTHING, *given).returncode == 3
    assert sorted(os.listdir(tmp_path)) == [f"a b.{ending}" for ending in ENDINGS]


def test_a_prefix_that_ends_with_a_slash_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    assert prefixed(tmp_path, *EVERYTHING, "-o", "run/").returncode == 3
    assert os.listdir(tmp_path) == ["run"]
    names = sorted(os.listdir(tmp_path / "run"))
    assert [re.sub(r"\d+$", "%p", name) for name in names] == [f"tlbgrind.{ending}.%p" for ending in ENDINGS]


def test_a_file_with_a_name_of_its_own_keeps_it(tmp_path: Path) -> None:
    options = ("--faults=yes", "-o", "%p-of-it", "--faults-out-file=faults")
    assert prefixed(tmp_path, *options).returncode == 3
    names = sorted(os.listdir(tmp_path))
    assert len(names) == 2 and names[1] == "faults" and re.fullmatch(r"\d+-of-it\.out", names[0])


@pytest.mark.parametrize(
    ("given", "blamed", "what"),
    [
        ("--out-prefix=", "--out-prefix=", "the name of the file is missing"),
        ("--out-prefix=gone/x", "--out-prefix=gone/x", "there is no such folder; give a file that can be written"),
    ],
)
def test_a_prefix_that_cannot_be_is_refused_before_the_program_starts(
    tmp_path: Path, given: str, blamed: str, what: str
) -> None:
    done = prefixed(tmp_path, given)
    assert done.returncode == 1 and os.listdir(tmp_path) == []
    assert f"Bad option: {blamed}\n{what}\n" in "\n".join(messages(done.stderr))


def test_two_outputs_of_one_name_are_refused_with_a_prefix_too(tmp_path: Path) -> None:
    done = prefixed(tmp_path, "--faults=yes", "-o", "x", "--tlbgrind-out-file=x.faults")
    assert done.returncode == 1 and "would go to the same file" in done.stderr


RULES = ["zen4@thp", "zen4@heap:2M", "zen4@heap:2M+text:64K", "zen4@/lib/x-1.so:64K", "zen4@/lib/*.so:64K"]


@pytest.mark.parametrize(
    "names", [SHIPPED[: len(SHIPPED) // 2], SHIPPED[len(SHIPPED) // 2 :], [*RULES, "zen4"], ["zen4", "zen4@thp"], ["apple-m1"]]
)
@pytest.mark.parametrize("what", ["all", "threads", "phases"])
def test_kcachegrind_adds_up_no_two_files(tmp_path: Path, names: list[str], what: str) -> None:
    """Of machines and rules, and of a whole and its threads or phases."""
    program = {"all": PROCESS, "threads": (client("run_cores"), "in-turn", 2, 10, 1), "phases": (client("run_region"), "phases")}
    options = [f"--machine={','.join(names)}", "--separate-threads=yes"]
    run(tmp_path, *program[what], options=options[: 2 if what == "threads" else 1], geometry=(), out_file="out", collect=False)
    files = [name for name in os.listdir(tmp_path) if "out" in name]
    wholes = {f"out_{label}" for label in labels_of(names)} if len(names) > 1 else {"out"}
    assert wholes <= set(files)
    assert (len(files) > len(names)) == (what != "all")
    assert {name: parts_for_kcachegrind(name, files) for name in files} == {name: {name} for name in files}


# ---------------------------------------------------------------- checksums


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    """Each kind of file, whichever line it has lost, or has twice; but not without its checksum."""
    kinds = {"out": "outfile", "timeline": "timeline", "faults": "faultlog", "entries": "entries", "data": "datafile", "reach": "reach"}
    options = [f"--{kind}=yes" for kind in kinds if kind != "out"]
    options += [f"--{kind}-out-file={tmp_path / kind}" for kind in kinds if kind != "out"]
    run(tmp_path, *PROCESS, options=options, out_file="out", collect=False)
    error = package("base.errors").ReportError
    for kind, module in kinds.items():
        reader = package(f"formats.{module}")
        lines = (tmp_path / kind).read_bytes().splitlines(keepends=True)
        changed = tmp_path / "changed"
        for at in range(0, len(lines) - 1, max(1, len(lines) // 50)):
            for new in (lines[:at] + lines[at + 1 :], lines[:at] + lines[at : at + 1] + lines[at:]):
                changed.write_bytes(b"".join(new))
                with pytest.raises(error, match=rf"changed:{len(new)}: the checksum is not that of the lines above"):
                    reader.read(str(changed))
        changed.write_bytes(b"".join(lines[:-1]))
        reader.read(str(changed))
        changed.write_bytes(b"".join(lines).replace(b"\n", b"\r\n"))
        reader.read(str(changed))


# ---------------------------------------------------------------- temporary names


@pytest.mark.parametrize("made", ['echo theirs >"$name"', 'echo theirs >victim; ln -s victim "$name"'])
def test_what_another_run_writes_is_left_alone(tmp_path: Path, made: str) -> None:
    """Two containers can share a folder, and in both the pid is 1: what has the pid in its name may
    be another's. Neither is it removed, nor does anything go through a link."""
    script = f'name=.tlbgrind.$$.part; {made}; exec "$@"'
    command = [TLBGRIND, "-q", *GEOMETRY, "--tlbgrind-out-file=out.x", *map(str, PROCESS)]
    done = subprocess.run(["sh", "-c", script, "sh", *command], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 3
    (other,) = tmp_path.glob(".*")
    assert other.read_text() == "theirs\n"
    assert other.is_symlink() == ("ln" in made)
    assert read(tmp_path / "out.x").function("work")[0] > 0


def test_equal_pids_in_one_folder(tmp_path: Path) -> None:
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no pid namespace can be made here")
    runs = {}
    for status in range(3, 9):
        command = [TLBGRIND, "-q", *GEOMETRY, f"--tlbgrind-out-file=out.{status}"]
        process = [*alone, *command, str(client("run_process")), "exit", str(status)]
        runs[status] = subprocess.Popen(process, cwd=tmp_path, stdout=subprocess.DEVNULL)
    for status, process in runs.items():
        assert process.wait() == status
    assert {path.name for path in tmp_path.iterdir()} == {f"out.{status}" for status in runs}
    for status in runs:
        out = read(tmp_path / f"out.{status}")
        assert out.field("cmd").split()[-1] == str(status)
        assert out.pid == 1


# ---------------------------------------------------------------- several outputs, one name

PAIR = "--machine=zen4,zen5"


def split(folder: Path, text: str) -> list[OutFile]:
    """The out-files that stand one behind the other."""
    _, *others = re.split(r"^(?=# callgrind format\n)", text, flags=re.MULTILINE)
    files = []
    for i, other in enumerate(others):
        path = folder / f"split.{i}"
        path.write_text(other, encoding="utf-8")
        files.append(read(path))
    return files


def machines_of(files: Sequence[OutFile]) -> list[str]:
    return [file.descriptions("Machine")[0] for file in files]


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "link"])
@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_standard_output_takes_all(tmp_path: Path, name: str, kind: str) -> None:
    """Behind what the program prints, before what comes later; even if the program closes it, as ls does."""
    if name == "link":
        (tmp_path / name).symlink_to("/proc/self/fd/1")
    script = 'echo first; "$@"; echo last'
    options = [PAIR, f"--tlbgrind-out-file={name}", f"--reach-out-file={name}"]
    command = ["sh", "-c", script, "sh", TLBGRIND, "-q", *options, "ls", "-d", "/"]
    with open(tmp_path / "all", "wb") as stream:
        if kind == "file":
            subprocess.run(command, cwd=tmp_path, stdout=stream, check=True)
        else:
            with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=stream) as cat:
                subprocess.run(command, cwd=tmp_path, stdout=cat.stdin, check=True)
    text = (tmp_path / "all").read_text(encoding="utf-8")
    assert text.startswith("first\n/\n# callgrind format\n")
    assert text.endswith("\nlast\n")
    costs, begin, reach = text.partition("# tlbgrind reach")
    assert begin and "creator" in reach
    assert machines_of(split(tmp_path, costs)) == ["zen4", "zen5"]


def test_a_named_pipe_takes_all(tmp_path: Path) -> None:
    """Its reader sees one end, that of the run."""
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "all", "wb") as sink, subprocess.Popen(["cat", str(tmp_path / "pipe")], stdout=sink):
        r = run(tmp_path, *PROCESS, options=[PAIR], geometry=(), out_file="pipe", collect=False)
    assert r.status == 3
    assert machines_of(split(tmp_path, (tmp_path / "all").read_text(encoding="utf-8"))) == ["zen4", "zen5"]


def test_several_machines_beside_a_link(tmp_path: Path) -> None:
    """A link to a file can be one machine's; those of several lie beside it."""
    (tmp_path / "target").write_text("mine")
    (tmp_path / "out").symlink_to("target")
    r = run(tmp_path, *PROCESS, options=[PAIR], geometry=(), out_file="out", collect=False)
    assert r.status == 3
    assert (tmp_path / "target").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["out", "out_zen4", "out_zen5", "target"]
    assert machines_of([read(tmp_path / "out_zen4"), read(tmp_path / "out_zen5")]) == ["zen4", "zen5"]
    assert f"  tg_annotate {tmp_path}/out_zen5" in messages(r.err)


def test_a_link_to_a_file_is_named_in_the_summary(tmp_path: Path) -> None:
    (tmp_path / "out.x").symlink_to("target")
    r = run(tmp_path, *PROCESS, out_file="out.x")
    assert messages(r.err)[-1] == f"To see which code misses:  tg_annotate {tmp_path}/out.x"


@pytest.mark.parametrize(
    "options",
    [
        ["--tlbgrind-out-file=link", "--faults-out-file=link"],
        ["--tlbgrind-out-file=link", "--faults-out-file=other"],
        ["--tlbgrind-out-file=link", "--faults-out-file=target"],
        ["--tlbgrind-out-file=target", "--faults-out-file=far"],
        [PAIR, "--tlbgrind-out-file=costs", "--faults-out-file=link"],
        [PAIR, "--tlbgrind-out-file=twice"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("there", [True, False])
def test_two_outputs_over_one_link_are_refused(tmp_path: Path, options: list[str], there: bool) -> None:
    """Each would cut off what the other wrote. Whether the file is there already makes no difference."""
    for link, target in {
        "link": "target",
        "other": "./target",
        "far": "link",
        "costs_zen5": "target",
        "twice_zen4": "target",
        "twice_zen5": "far",
    }.items():
        (tmp_path / link).symlink_to(target)
    if there:
        (tmp_path / "target").write_text("mine")
    before = sorted(os.listdir(tmp_path))
    command = [TLBGRIND, *options, "touch", "it-ran"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
    check_sound(done.stderr)
    assert done.returncode == 1
    assert f"Bad option: {options[-1]}" in done.stderr
    assert "would go to the same file" in done.stderr or "is a link to another machine's" in done.stderr
    assert sorted(os.listdir(tmp_path)) == before
