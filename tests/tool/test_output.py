# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The out-file: where it goes, what is said when it cannot, and that it is whole or not there."""

from __future__ import annotations

import ast
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tg_environment import CLIENTS, TLBGRIND, client
from tg_written import written
from tool_support import (
    EVENTS,
    GEOMETRY,
    PYTHON,
    TG_ANNOTATE,
    Run,
    messages,
    read,
    run,
)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs to be root")

PROCESS = (client("run_process"), "exit", 3)
WORK = (4001, 1001, 1000)


def failed(r: Run, name: str, why: str, status: int = 3, printed: str = "expect ") -> None:
    """Two lines, and nothing else is different."""
    assert r.status == status
    assert r.out.startswith(printed)
    said = [m for m in messages(r.err) if m]
    at = said.index(f"error: can't write output data file '{name}': {why}")
    assert said[at + 1] == "       ... so detailed results will be missing."
    assert sum("error:" in m for m in said) == 1
    # The summary is there, but for the line that would name the file.
    assert any(m.startswith("I   refs:") for m in said)
    assert not any("tg_annotate" in m for m in said)


# ---------------------------------------------------------------- names


def test_default_name(tmp_path: Path) -> None:
    r = run(tmp_path, *PROCESS, out_file=None)
    (name,) = os.listdir(tmp_path)
    pid = int(re.fullmatch(r"tlbgrind\.out\.(\d+)", name).group(1))  # type: ignore[union-attr]
    assert read(tmp_path / name).pid == pid
    assert messages(r.err)[-1] == f"To see which code misses:  tg_annotate {tmp_path / name}"


NAMES = [
    ("out.%p", r"out\.(\d+)"),
    ("out.%%p.%p%p", r"out\.%p\.(\d+)\1"),
    ("out.%q{SOME}", r"out\.thing x"),
    ("%q{SOME}/out.%q{SOME}.%p", r"out\.thing x\.\d+"),
    ("out.%n", r"out\.\d+"),
    ("out with spaces é", r"out with spaces é"),
    ("./out.x", r"out\.x"),
]


@pytest.mark.parametrize("given, made", NAMES)
def test_name(tmp_path: Path, given: str, made: str) -> None:
    (tmp_path / "thing x").mkdir()
    r = run(tmp_path, *PROCESS, out_file=given, env={"SOME": "thing x"}, collect=False)
    assert r.status == 3
    (path,) = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert re.fullmatch(made, path.name)
    assert read(path).function("work") == WORK
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_absolute_name(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    run(tmp_path / "here", *PROCESS, out_file=str(there / "out.a"))
    assert read(there / "out.a").function("work") == WORK
    assert os.listdir(tmp_path / "here") == []


# ---------------------------------------------------------------- names that cannot be


def refused(r: Run, option: str, why: str) -> None:
    """Before the program starts, so that nothing is counted that would be lost."""
    assert (r.status, r.out) == (1, "")
    said = [m for m in messages(r.err) if m]
    at = said.index(f"Bad option: {option}")
    assert said[at + 1] == f"{why}; give a file that can be written"
    assert not any("refs:" in m for m in said)


ALL_OUTPUTS = ["tlbgrind", "faults", "reach", "timeline", "entries", "data"]


@pytest.mark.parametrize("output", ALL_OUTPUTS)
def test_a_missing_folder_is_refused_before_the_program_starts(tmp_path: Path, output: str) -> None:
    option = f"--{output}-out-file=no/such/%q{{SOME}}.%p"
    r = run(tmp_path, *PROCESS, options=[option], env={"SOME": "x"}, out_file=None, collect=False)
    refused(r, option, "there is no such folder")
    assert os.listdir(tmp_path) == []


def test_of_several_machines_the_longest_name_is_refused(tmp_path: Path) -> None:
    option = f"--tlbgrind-out-file={'x' * 250}"
    machines = "--machine=zen4,skylake"
    r = run(tmp_path, *PROCESS, options=[option, machines], geometry=(), out_file=None, collect=False)
    refused(r, option, "the name is too long")


def test_a_folder_that_goes_during_the_run_loses_the_details_only(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    r = run(tmp_path, "rmdir", "folder", out_file="folder/out.%p", collect=False)
    (name,) = re.findall(r"file '(.*folder/out\.\d+)'", r.err)
    failed(r, name, "there is no such folder", status=0, printed="")
    assert os.listdir(tmp_path) == []


def test_a_program_after_exec_is_not_refused(tmp_path: Path) -> None:
    """Its folder can be gone, and the process has counted already."""
    (tmp_path / "folder").mkdir()
    options = ["--trace-children=yes"]
    r = run(tmp_path, "sh", "-c", "rm -r folder; exec true", options=options, out_file="folder/out.%p", collect=False)
    assert r.status == 0
    assert "Bad option" not in r.err
    assert "error: can't write output data file" in r.err


def test_a_folder_is_no_name_of_the_files_of_several_machines(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    r = run(tmp_path, *PROCESS, options=["--machine=skylake,zen4"], geometry=(), out_file="out", collect=False)
    assert "can't write" not in r.err
    assert sorted(os.listdir(tmp_path)) == ["out", "out_skylake", "out_zen4"]
    assert os.listdir(tmp_path / "out") == []


def test_folder_as_name(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in (folder, f"{folder}/"):
        option = f"--tlbgrind-out-file={name}"
        refused(run(tmp_path, *PROCESS, options=[option], out_file=None, collect=False), option, "it is a folder")
    assert os.listdir(folder) == []


def test_file_as_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    option = "--tlbgrind-out-file=file/out"
    r = run(tmp_path, *PROCESS, options=[option], out_file=None, collect=False)
    refused(r, option, "there is no such folder")
    assert (tmp_path / "file").read_text() == "x"


def test_a_link_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("no/such")
    option = "--tlbgrind-out-file=link"
    r = run(tmp_path, *PROCESS, options=[option], out_file=None, collect=False)
    refused(r, option, "there is no such folder")


def test_proc(tmp_path: Path) -> None:
    r = run(tmp_path, *PROCESS, out_file="/proc/out")
    failed(r, "/proc/out", "there is no such folder")


def device(folder: Path, minor: int) -> Path:
    """A device of our own, for root must not risk the machine's."""
    node = folder / "device"
    try:
        os.mknod(node, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        node.open("wb").close()
    except OSError as e:
        pytest.skip(f"no devices can be made here: {e}")
    return node


def test_full_device(tmp_path: Path) -> None:
    full = device(tmp_path, 7)
    failed(run(tmp_path, *PROCESS, out_file=str(full)), str(full), "no space is left on the device")
    assert full.is_char_device()
    assert os.listdir(tmp_path) == ["device"]


def test_name_that_is_too_long(tmp_path: Path) -> None:
    option = f"--tlbgrind-out-file={'x' * 256}"
    r = run(tmp_path, *PROCESS, options=[option], out_file=None, collect=False)
    refused(r, option, "the name is too long")


def test_name_that_is_just_short_enough(tmp_path: Path) -> None:
    name = "x" * 255
    run(tmp_path, *PROCESS, out_file=name, collect=False)
    assert os.listdir(tmp_path) == [name]


def test_file_size_limit(tmp_path: Path) -> None:
    r = run(tmp_path, client("run_process"), "file-size", out_file=str(tmp_path / "out.x"))
    failed(r, str(tmp_path / "out.x"), "the file would be too large", status=5)
    assert os.listdir(tmp_path) == []


def in_namespace(folder: Path, mount: str, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs with something mounted on the folder that nobody else sees."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    probe = subprocess.run(
        ["unshare", "-m", "sh", "-c", mount, "sh", str(folder)], capture_output=True, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"cannot mount here: {probe.stderr.decode().strip()}")
    # What is there afterwards is listed inside, for it goes with the mount.
    script = f'{mount}; shift; "$@"; status=$?; ls -A "$FOLDER" >"$LISTING"; exit $status'
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(folder), *command],
        env={**os.environ, "FOLDER": str(folder), "LISTING": str(folder.parent / "listing")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


MOUNTS = [
    ('mount -t tmpfs -o size=4k tmpfs "$1"', "no space is left on the device", ""),
    ('mount -t tmpfs -o nr_inodes=1 tmpfs "$1"', "no space is left on the device", ""),
    # The old file stays as it was.
    (
        'mount -t tmpfs -o size=8k tmpfs "$1" && echo old >"$1/out.x"',
        "no space is left on the device",
        "out.x\n",
    ),
]


@pytest.mark.parametrize("mount, why, left", MOUNTS)
def test_no_room(tmp_path: Path, mount: str, why: str, left: str) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    name = f"{folder}/out.x"
    command = [TLBGRIND, *GEOMETRY, f"--tlbgrind-out-file={name}", *map(str, PROCESS)]
    done = in_namespace(folder, mount, command)
    failed(Run(done.returncode, done.stdout, done.stderr, []), name, why)
    assert (tmp_path / "listing").read_text() == left


@pytest.mark.parametrize("is_default", [False, True])
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path, is_default: bool) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    given = [] if is_default else [f"--tlbgrind-out-file={folder}/out.x"]
    # The working folder is entered again, for it is below the mount.
    command = ["sh", "-c", 'cd "$0" && exec "$@"', str(folder), TLBGRIND, *GEOMETRY, *given, *map(str, PROCESS)]
    done = in_namespace(folder, 'mount -t tmpfs -o ro tmpfs "$1"', command)
    r = Run(done.returncode, done.stdout, done.stderr, [])
    why = "no file may be made in that folder"
    if is_default:
        refused(r, "--tlbgrind-out-file", f"the default is a file in the working folder: {why}")
    else:
        refused(r, given[0], why)
    assert (tmp_path / "listing").read_text() == ""


# ---------------------------------------------------------------- what is no plain file


def test_null_device(tmp_path: Path) -> None:
    null = device(tmp_path, 3)
    assert run(tmp_path, *PROCESS, out_file=str(null)).status == 3
    assert null.is_char_device()
    assert os.listdir(tmp_path) == ["device"]


def private_stdout(folder: Path) -> Path:
    """A link like /dev/stdout, which root must not risk: a tool that renames over it destroys it
    for the whole machine."""
    link = folder / "stdout"
    link.symlink_to("/proc/self/fd/1")
    return link


def test_stdout_that_is_a_pipe(tmp_path: Path) -> None:
    link = private_stdout(tmp_path)
    r = run(tmp_path, *PROCESS, out_file=str(link))
    assert r.status == 3
    assert link.is_symlink()
    expected, _, rest = r.out.partition("\n")
    assert expected.startswith("expect ")
    (tmp_path / "out").write_text(rest)
    assert read(tmp_path / "out").function("work") == WORK


def test_stdout_that_is_a_file(tmp_path: Path) -> None:
    """The out-file stands behind what the program printed."""
    link = private_stdout(tmp_path)
    with open(tmp_path / "all", "w", encoding="utf-8") as stream:
        subprocess.run(
            [TLBGRIND, "-q", *GEOMETRY, f"--tlbgrind-out-file={link}", *map(str, PROCESS)],
            stdout=stream,
            check=False,
        )
    assert link.is_symlink()
    printed, _, profile = (tmp_path / "all").read_text(encoding="utf-8").partition("\n")
    assert printed.startswith("expect ")
    (tmp_path / "out").write_text(profile, encoding="utf-8")
    assert read(tmp_path / "out").function("work") == WORK


def test_fifo(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with open(tmp_path / "out", "wb") as sink, subprocess.Popen(["cat", str(fifo)], stdout=sink):
        assert run(tmp_path, *PROCESS, out_file=str(fifo), collect=False).status == 3
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert read(tmp_path / "out").function("work") == WORK


def test_folder_that_is_gone(tmp_path: Path) -> None:
    """Only what the run writes has to have a place; what it does not write has only a name."""
    gone = tmp_path / "gone"
    gone.mkdir()
    command = [TLBGRIND, "-q", *GEOMETRY, f"--tlbgrind-out-file={tmp_path / 'out'}", *map(str, PROCESS)]
    there = 'cd "$1" && shift && rmdir "$PWD" && exec "$@"'
    done = subprocess.run(["sh", "-c", there, "sh", str(gone), *command], capture_output=True, check=False)
    assert done.returncode == 3, done.stderr
    assert read(tmp_path / "out").function("work") == WORK


# ---------------------------------------------------------------- an older file


def test_older_file_is_replaced(tmp_path: Path) -> None:
    old = tmp_path / "out.x"
    old.write_text("old" * 1_000_000)
    old.chmod(0o644)
    with open(old, encoding="utf-8") as reader:
        r = run(tmp_path, *PROCESS, out_file="out.x")
        # Who had it open still reads the old one, whole.
        assert reader.read() == "old" * 1_000_000
    assert r.only().function("work") == WORK
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


def test_link_to_an_older_file(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old" * 1_000_000)
    (tmp_path / "out.x").symlink_to("target")
    r = run(tmp_path, *PROCESS, out_file="out.x")
    assert r.only().function("work") == WORK
    assert (tmp_path / "out.x").is_symlink()
    assert read(tmp_path / "target").function("work") == WORK


# ---------------------------------------------------------------- who reads it


def test_callgrind_annotate_agrees(tmp_path: Path) -> None:
    if shutil.which("callgrind_annotate") is None:
        pytest.skip("callgrind_annotate is not installed")
    out = run(tmp_path, client("run_code"), "load", CLIENTS / "run_plugin_a.so", CLIENTS / "run_plugin_b.so", 3).only()
    done = subprocess.run(
        ["callgrind_annotate", "--threshold=100", "--auto=no", str(out.path)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    (totals,) = [row for row in done.stdout.splitlines() if "PROGRAM TOTALS" in row]
    assert [int(n.replace(",", "")) for n in re.findall(r"[\d,]+(?= \()|(?<= )0(?= )", totals)] == [
        n for n in out.summary
    ]
    rows = [row for row in done.stdout.splitlines() if ":plugin [" in row]
    shown = sum(int(row.split()[0].replace(",", "")) for row in rows)
    assert shown == out.function("plugin")[0]


def test_header(tmp_path: Path) -> None:
    out = run(tmp_path, *PROCESS).only()
    assert out.header[:2] == ["# callgrind format", "version: 1"]
    assert re.fullmatch(r"tlbgrind-[\d.]+ \(Valgrind [\d.]+[^)]*\)", out.field("creator"))
    assert out.field("part") == "1"
    assert out.field("cmd") == f"{client('run_process')} exit 3"
    assert out.descriptions("Format") == ["1"]
    assert out.descriptions("Machine") == ["custom"]
    assert out.descriptions("Page size") == ["4096"]
    assert out.descriptions("Array") == [
        "level 1, instruction, 16 entries, 4-way, 4 sets, pages 4K, lru",
        "level 1, data, 16 entries, 4-way, 4 sets, pages 4K, lru",
        "level 2, unified, 64 entries, 8-way, 8 sets, pages 4K, lru",
    ]
    assert out.header[-1].split()[1:] == list(EVENTS)
    names = [row.split()[1] for row in out.header if row.startswith("event: ")]
    # The last one is a sum that readers make themselves.
    assert names[: len(EVENTS)] == list(EVENTS)


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    a, b = (run(tmp_path / name, *PROCESS, prefix=["setarch", "-R"]).only() for name in "ab")
    assert a.body() == b.body()


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    """tg_annotate says in one line what is missing, and prints no table that looks whole."""
    out = run(tmp_path, *PROCESS).only()
    rows = written(out.path).split("\n")[:-1]
    part = tmp_path / "part"
    cuts = sorted({*range(0, len(rows), max(10, len(rows) // 300 * 10)), len(rows) - 2, len(rows) - 1})
    assert len(cuts) > 20
    script = (
        "import runpy, sys, io, contextlib\n"
        "tool, part, source, *cuts = sys.argv[1:]\n"
        "rows = open(source, encoding='utf-8').read().split('\\n')[:-1]\n"
        "sys.argv = [tool, part]\n"
        "for cut in map(int, cuts):\n"
        "    open(part, 'w', encoding='utf-8').write(''.join(r + '\\n' for r in rows[:cut]))\n"
        "    out, err = io.StringIO(), io.StringIO()\n"
        "    status = 0\n"
        "    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):\n"
        "        try:\n"
        "            runpy.run_path(tool, run_name='__main__')\n"
        "        except SystemExit as end:\n"
        "            status = end.code\n"
        "    print(cut, status, repr(out.getvalue()), repr(err.getvalue()), sep='\\t')\n"
    )
    done = subprocess.run(
        [PYTHON, "-B", "-c", script, TG_ANNOTATE, str(part), str(out.path), *map(str, cuts)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    results = [row.split("\t") for row in done.stdout.splitlines()]
    assert [int(row[0]) for row in results] == cuts
    for cut, status, printed, error in results:
        assert (status, printed) == ("1", "''"), error
        said = ast.literal_eval(error)
        where = "" if cut == "0" else r":\d+"
        assert re.fullmatch(rf"tg_annotate: error: {re.escape(str(part))}{where}: .+\n", said), said


def test_names_that_are_shown_are_no_commands_to_the_terminal(tmp_path: Path) -> None:
    """Question marks stand for control characters, in what could be written and in what could not."""
    (tmp_path / "nowhere").mkdir()
    for folder, command in (("", ["true"]), ("nowhere/", ["rmdir", tmp_path / "nowhere"])):
        name = os.fsencode(f"{tmp_path}/{folder}") + b"a\x1b[31m\x9b\xc3\xa4"
        options = [b"--tlbgrind-out-file=" + name, b"--faults=yes", b"--faults-out-file=" + name + b"f"]
        done = subprocess.run([TLBGRIND, *options, *command], check=False, capture_output=True, timeout=120)
        own = done.stderr.split(b"Command:")[1].split(b"\n", 1)[1]
        shown = f"{tmp_path}/{folder}a?[31m?ä".encode()
        assert own.count(shown) >= 2
        assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", own)
        own.decode()
