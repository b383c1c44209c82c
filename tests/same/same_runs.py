# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs a program under two builds of the tool and compares all files that they write.

Both builds run in one folder, under the same path and with the same environment: a copy of
each build is moved to that path for its run. Only process numbers have to be taken out of the files
before they are compared.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from oracle_support import environment, prefix, tidy

TIMEOUT = 3600  # seconds; a run that takes longer hangs
SEARCHED = "/usr/bin:/bin:/usr/games"

Files = dict[str, list[bytes]]  # lines, by name


class Missing(Exception):
    """A job cannot run here; the text says why."""


class Command(NamedTuple):
    """What a job runs: the tool's options, the program and its input."""

    options: list[str]
    program: list[str]
    place: Path  # where it runs
    stdin: Path | None = None
    if_refused: list[str] | None = None  # options to take when the tool refuses those


@dataclass(frozen=True)
class Job:
    """One run of each build."""

    name: str
    make: Callable[[Worker], Command]
    traces: bytes = b""  # a word: only lines of stderr that have it are compared
    writes_files: bool = True  # False: only what it prints counts


class Worker:
    """A folder in which one job runs at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / "place"  # where programs run, unless they need another folder
        self.inputs = folder / "inputs"
        self.out = folder / "out"
        self.stage = folder / "stage"
        self.stages: dict[Path, Path] = {}  # where builds are that are not at work
        self.staged: Path | None = None
        for path in (self.place, self.inputs):
            path.mkdir(parents=True)
        self.ready: set[str] = set()
        self.missing: dict[str, str] = {}

    def once(self, name: str, prepare: Callable[[], None]) -> None:
        """Prepares something that many jobs need when the first of them does."""
        if name in self.missing:
            raise Missing(self.missing[name])
        if name not in self.ready:
            try:
                prepare()
            except Missing as error:
                self.missing[name] = str(error)
                raise
            self.ready.add(name)

    def stage_build(self, build: Path) -> Path:
        """A build's launcher and tool, under a path that is the same for all builds.

        They are copies, made once: a program that reads /proc/self/maps finds the path of the tool
        in it, and a build may be made anew meanwhile."""
        if self.staged != build:
            if self.staged is not None:
                self.stage.rename(self.stages[self.staged])
            if build in self.stages:
                self.stages[build].rename(self.stage)
            else:
                self.stages[build] = self.folder / f"stage-{len(self.stages)}"
                copy_build(build, self.stage)
            self.staged = build
        return self.stage / "tlbgrind" / "tlbgrind"

    def run(self, build: Path, command: Command) -> Files:
        """All that one run wrote and printed, without process numbers."""
        launcher = self.stage_build(build)
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        before = set(os.listdir(command.place))
        variables = environment(command.program[0] if command.program else "")
        del variables["VALGRIND_LIB"]  # the launcher sets it
        out, err = self.folder / "stdout", self.folder / "stderr"
        with open(command.stdin or os.devnull, "rb") as stdin, open(out, "wb") as stdout, open(err, "wb") as stderr:
            try:
                status: object = subprocess.run(
                    [*prefix(), str(launcher), *command.options, *self.out_files(command), *command.program],
                    stdin=stdin,
                    stdout=stdout,
                    stderr=stderr,
                    env={**variables, "PATH": SEARCHED},
                    cwd=command.place,
                    timeout=TIMEOUT,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                status = f"none after {TIMEOUT} s"
        tidy_folders(command.place, before)
        written = {path.name: path.read_bytes() for path in self.out.iterdir()}
        files = without_pids(written, err.read_bytes())
        files["stdout"] = without_shown_pids(out.read_bytes())
        files["status"] = [str(status).encode()]
        return files

    def out_files(self, command: Command) -> list[str]:
        """Where the tool writes. A file that is not asked for is not named: to name it may be to ask."""
        if not command.program:
            return []
        asked = " ".join(command.options)
        kinds = {"tlbgrind": "", "faults": "--fault", "reach": "--reach", "entries": "--entries", "data": "--data", "timeline": "--timeline"}
        return [f"--{kind}-out-file={self.out}/{kind}.%p" for kind, option in kinds.items() if option in asked]


def copy_build(build: Path, stage: Path) -> None:
    """Valgrind's other files are links to where they are."""
    (stage / ".in_place").mkdir(parents=True)
    (stage / "tlbgrind").mkdir()
    for path in (build / ".in_place").iterdir():
        staged = stage / ".in_place" / path.name
        if path.name.startswith("tlbgrind"):
            shutil.copy2(path, staged)
        else:
            staged.symlink_to(path.resolve())
    for name in ("tlbgrind", "tlbgrind-machine"):
        if (build / "tlbgrind" / name).exists():
            shutil.copy2(build / "tlbgrind" / name, stage / "tlbgrind" / name)
    # The launcher looks for the tool beside itself.
    (stage / "tlbgrind" / "tlbgrind-amd64-linux").symlink_to("../.in_place/tlbgrind-amd64-linux")


def tidy_folders(place: Path, before: set[str]) -> None:
    """Removes what a run made; oracle_support.tidy() would stop at a folder."""
    for name in set(os.listdir(place)) - before:
        if (place / name).is_dir() and not (place / name).is_symlink():
            shutil.rmtree(place / name)
    tidy(place, before)


def warm_up(command: Command) -> None:
    """Runs the program once without the tool: files come into the page cache and get their times of access."""
    before = set(os.listdir(command.place))
    with open(command.stdin or os.devnull, "rb") as stdin:
        subprocess.run(
            command.program,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**environment(command.program[0]), "PATH": SEARCHED},
            cwd=command.place,
            timeout=TIMEOUT,
            check=False,
        )
    tidy_folders(command.place, before)


# ---------------------------------------------------------------- process numbers

_FILE_PID = re.compile(r"^((?:thread_\d+_of_)?[a-z]+\.)(\d+)")
_STDERR_PID = re.compile(rb"^(==|--|\*\*)(\d+)\1")
# "pid: 12", "from pid 12", "forked from: 12", "tlbgrind.12" in a file's name, and clients' lines
# "expect 10000012".
_TOLD_PID = re.compile(rb"(pid:? |forked from: |(?:/|_of_)(?:tlbgrind|faults|reach|entries|data|timeline)\.)(\d+)")
_SHOWN_PID = re.compile(rb"^(expect )\d+", re.MULTILINE)


def as_begun(pids: set[int]) -> list[int]:
    """In the order in which the processes began: behind the largest number the kernel starts anew."""
    half = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii")) // 2
    return sorted(pids, key=lambda pid: (max(pids) - pid > half, pid))


def without_pids(written: dict[str, bytes], stderr: bytes) -> Files:
    """The files, with P1, P2 ... for process numbers; stderr by process, for several write when they happen to."""
    pids = {int(match[2]) for match in map(_FILE_PID.match, written) if match}
    lines = stderr.removesuffix(b"\n").split(b"\n")
    pids |= {int(match[2]) for match in map(_STDERR_PID.match, lines) if match}
    names = {pid: f"P{n + 1}" for n, pid in enumerate(as_begun(pids))}

    def named(digits: str) -> str:
        return names.get(int(digits), digits)

    def told(line: bytes) -> bytes:
        return _TOLD_PID.sub(lambda match: match[1] + named(match[2].decode()).encode(), line)

    files: Files = {}
    for name, content in written.items():
        shown = _FILE_PID.sub(lambda match: match[1] + named(match[2]), name)
        files[shown] = [told(line) for line in content.split(b"\n") if not line.startswith(b"# checksum: ")]
    for line in lines:
        match = _STDERR_PID.match(line)
        process = named(match[2].decode()) if match else ""
        rest = line[match.end() :] if match else line
        files.setdefault(f"stderr{'.' if process else ''}{process}", []).append(told(rest))
    return files


def without_shown_pids(stdout: bytes) -> list[bytes]:
    return _SHOWN_PID.sub(rb"\1PID", stdout).split(b"\n")


# ---------------------------------------------------------------- comparison


class Difference(NamedTuple):
    file: str
    where: str


class Outcome(NamedTuple):
    """What became of a job."""

    same: int  # files
    different: list[Difference]
    unsteady: list[Difference]  # build A alone writes them in two ways
    failed: str  # why nothing could be compared


def first_difference(a: Sequence[bytes] | None, b: Sequence[bytes] | None) -> str:
    """The first lines that differ, as one line."""
    if a is None or b is None:
        return f"only build {'A' if b is None else 'B'} writes it"
    for number, (one, other) in enumerate(zip(a, b)):
        if one != other:
            return f"line {number + 1}: A: {shown(one)}  B: {shown(other)}"
    longer, lines = ("A", a) if len(a) > len(b) else ("B", b)
    number = min(len(a), len(b))
    return f"line {number + 1}: only in {longer}: {shown(lines[number])}"


def shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 120 else text[:117] + "...")


def differences(a: Files, b: Files) -> list[Difference]:
    return [
        Difference(name, first_difference(a.get(name), b.get(name)))
        for name in sorted(a.keys() | b.keys())
        if a.get(name) != b.get(name)
    ]


def compare(job: Job, worker: Worker, builds: tuple[Path, Path], keep: Path | None) -> Outcome:
    command = job.make(worker)
    if command.program:
        warm_up(command)
    outcome = compare_runs(job, command, worker, builds, keep)
    if outcome.failed and command.if_refused is not None:
        outcome = compare_runs(job, command._replace(options=command.if_refused), worker, builds, keep)
    return outcome


def compare_runs(job: Job, command: Command, worker: Worker, builds: tuple[Path, Path], keep: Path | None) -> Outcome:
    def run(build: Path) -> Files:
        files = worker.run(build, command)
        if not job.traces:
            return files
        traced = {name: lines for name, lines in files.items() if name.startswith(("tlbgrind.", "stderr"))}
        return {name: [line for line in lines if job.traces in line] for name, lines in traced.items()}

    a, b = map(run, builds)
    if job.writes_files and not any(name.startswith("tlbgrind.") for name in a.keys() | b.keys()):
        last = b" | ".join(line for name in sorted(a) if name.startswith("stderr") for line in a[name] if line)
        return Outcome(0, [], [], f"no out-file; status {a['status'][0].decode()}: {shown(last[-120:])}")
    found = differences(a, b)
    unsteady: list[Difference] = []
    if found:
        again = {difference.file for difference in differences(a, run(builds[0]))}
        unsteady = [difference for difference in found if difference.file in again]
        found = [difference for difference in found if difference.file not in again]
        if keep is not None:
            save(keep / re.sub(r"[/ ]", "_", job.name), {"a": a, "b": b})
    return Outcome(len(a.keys() | b.keys()) - len(found) - len(unsteady), found, unsteady, "")


def save(folder: Path, builds: dict[str, Files]) -> None:
    for build, files in builds.items():
        (folder / build).mkdir(parents=True, exist_ok=True)
        for name, lines in files.items():
            (folder / build / name).write_bytes(b"\n".join(lines))
