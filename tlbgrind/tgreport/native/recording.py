# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs a program under tlbgrind, for its fault logs, and under perf, for the kernel's faults."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..base.errors import ReportError
from .perfevents import FIELDS, Image, images

EVENTS = {
    "tracepoints": ["-e", "exceptions:page_fault_user", "-e", "exceptions:page_fault_kernel"],
    "software": ["-e", "page-faults", "-c", "1"],
}
_NO_RANDOM_ADDRESSES = 0x0040000  # ADDR_NO_RANDOMIZE of personality(2)
# perf executes env, and env the program.
_EXECS_BEFORE = 1


def program_file(name: str, path: str) -> str:
    """The file of a program, by whose whole name both sides call it."""
    found = shutil.which(name, path=path)
    if found is None:
        raise ReportError("there is no such program", name)
    return os.path.abspath(found)


def command_file(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ReportError(f"there is no {name} here (Debian package: {package})")
    return found


class Perf:
    """Records with the events that this system allows."""

    def __init__(self, wanted: str, folder: Path) -> None:
        self._perf = command_file("perf", "linux-perf")
        self._env = command_file("env", "coreutils")
        self._data = folder / "perf.data"
        self.events = ""
        reasons = []
        for events in [wanted] if wanted != "auto" else list(EVENTS):
            self.events = events
            found, why = self._record([shutil.which("true") or "/bin/true"], [], folder)
            if found and found[0].faults:
                return
            reasons.append(f"{events}: {why or 'no fault was recorded'}")
        raise ReportError(f"perf cannot record page faults here; {'; '.join(reasons)}")

    def record(self, command: Sequence[str], environment: Sequence[str], folder: Path) -> list[Image]:
        found, why = self._record(command, environment, folder)
        if not found:
            raise ReportError(f"perf recorded nothing of it; {why}", command[0])
        return found

    def _record(
        self, command: Sequence[str], environment: Sequence[str], folder: Path
    ) -> tuple[list[Image], str]:
        """perf has variables of its own for what it starts; env takes them away."""
        start = [self._perf, "record", "-q", "-d", *EVENTS[self.events], "-o", str(self._data), "--"]
        done = subprocess.run(
            [*start, self._env, "-i", *environment, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            errors="replace",
            check=False,
            preexec_fn=_without_random_addresses,
        )
        if not self._data.exists():
            return [], _last_line(done.stderr)
        script = subprocess.run(
            [self._perf, "script", "-i", str(self._data), "-F", FIELDS[self.events]]
            + ["--show-task-events", "--show-mmap-events", "--show-lost-events"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            errors="surrogateescape",
            check=False,
        )
        self._data.unlink()
        return images(script.stdout.split("\n"), _EXECS_BEFORE), _last_line(done.stderr)


def hides_the_kernel() -> bool:
    """Whether perf leaves out what the kernel itself touches, in system calls and at the start."""
    try:
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as stream:
            return os.geteuid() != 0 and int(stream.read()) > 1
    except (OSError, ValueError):
        return False


def draws_addresses() -> bool:
    """Whether memory is at random addresses all the same: many containers forbid to turn that off."""
    personality = ctypes.CDLL(None).personality
    before = personality(0xFFFFFFFF)
    refused: bool = personality(_NO_RANDOM_ADDRESSES) < 0
    personality(before)
    return refused


def _without_random_addresses() -> None:
    ctypes.CDLL(None).personality(_NO_RANDOM_ADDRESSES)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def logs_of(
    tlbgrind: str,
    options: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
) -> list[str]:
    """Runs it under the tool: a log for each program of each process, in the order of their begin."""
    for old in folder.glob("faults.*"):
        old.unlink()
    words = folder / "words.txt"
    done = subprocess.run(
        [tlbgrind, "--faults=yes", f"--faults-out-file={folder}/faults.%p", "--tlbgrind-out-file=/dev/null"]
        + [f"--log-file={words}", *options, *command],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        errors="replace",
        check=False,
    )
    found = sorted(map(str, folder.glob("faults.*")), key=_order)
    if not found:
        said = words.read_text(errors="replace") if words.exists() else ""
        raise ReportError(f"tlbgrind wrote no fault log; {_last_line(done.stderr or said)}", command[0])
    return found


def _order(path: str) -> tuple[int, int]:
    """What a process was before an exec, faults.PID_exec1, comes before what it is at its end."""
    found = re.search(r"faults\.(\d+)(?:_exec(\d+))?\Z", path)
    return (int(found[1]), int(found[2] or 1 << 30)) if found else (0, 0)
