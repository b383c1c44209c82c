# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Where experiments are made: a folder, the compiler, tlbgrind, and the counts that it wrote."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from exp_frame import Missing

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tlbgrind"))

from tgreport import outfile

PATH = "/usr/bin:/bin:/usr/games"
# An experiment counts; the program must be the same with every compiler's defaults.
FLAGS = ["-g", "-O2", "-fno-tree-loop-distribute-patterns", "-fno-pie", "-fcf-protection=none", "-fno-stack-protector", "-Wall"]


class Broken(Exception):
    """A program did not end as it should."""


class Machine(NamedTuple):
    """A processor, by the options that describe it."""

    name: str
    options: tuple[str, ...]


class Profile:
    """The counts of one out-file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._out = outfile.read(str(path))

    def total(self, *events: str) -> int:
        return sum(self._out.totals[self._out.events.index(event)] for event in events)

    def function(self, name: str, *events: str) -> int:
        """The sum of these events over all functions of that name."""
        places = [self._out.events.index(event) for event in events]
        found = [run.sums for (function, _), run in self._out.runs.items() if function.name == name]
        if not found:
            raise Broken(f"{self.path}: no costs of a function '{name}'")
        return sum(sums[place] for sums in found for place in places)

    def objects(self, *events: str) -> dict[str, int]:
        """The sum of these events by the file name of the object."""
        places = [self._out.events.index(event) for event in events]
        counts: dict[str, int] = {}
        for (function, _), run in self._out.runs.items():
            name = function.object.rpartition("/")[2]
            counts[name] = counts.get(name, 0) + sum(run.sums[place] for place in places)
        return counts

    def counts(self) -> tuple[object, ...]:
        """All that two equal runs have in common, line by line."""
        runs = {key: (list(run.rows), run.sums) for key, run in self._out.runs.items()}
        return self._out.events, self._out.totals, runs


class Lab:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs = 0
        # The same for every run: the environment is on the program's stack.
        self.environment = {"PATH": PATH, "HOME": str(folder), "LC_ALL": "C", "PYTHONHASHSEED": "0"}

    # Programs

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def cc(self, output: str, *arguments: object) -> Path:
        """Runs the compiler, with no flags but those given."""
        path = self.folder / output
        path.parent.mkdir(parents=True, exist_ok=True)
        self.call([*_setting("CC"), "-o", path, *arguments])
        return path

    def client(self, name: str, *flags: str) -> Path:
        """Compiles clients/NAME.c."""
        words = re.sub(r"[^A-Za-z0-9]+", "-", "".join(flags))
        return self.cc(f"{name}{words}", *FLAGS, *flags, "-no-pie", HERE / "clients" / f"{name}.c")

    def need(self, program: str, package: str) -> str:
        path = shutil.which(program, path=PATH)
        if path is None:
            raise Missing(f"{program} is not installed (Debian package: {package})")
        return path

    # Runs

    def call(self, command: Sequence[object], stdin: Path | None = None, env: Mapping[str, str] | None = None) -> str:
        """Runs a command to its end and returns what it printed. It must end with status 0."""
        words = [str(word) for word in command]
        with open(stdin or os.devnull, "rb") as source:
            done = subprocess.run(
                words,
                stdin=source,
                capture_output=True,
                cwd=self.folder,
                env={**self.environment, **(env or {})},
                check=False,
            )
        if done.returncode != 0:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
            raise Broken(f"{shlex.join(words)}: exit status {done.returncode}: {' | '.join(last)}")
        return done.stdout.decode("utf-8", "replace")

    def simulate(
        self, machines: Sequence[Machine], command: Sequence[object], options: Sequence[str] = (), stdin: Path | None = None
    ) -> dict[str, Profile]:
        """Runs the command on these machines and returns the counts of each."""
        profiles: dict[str, Profile] = {}
        for machine in machines:
            self._runs += 1
            out = self.folder / f"out.{self._runs}.{machine.name}"
            tool = [*_setting("TLBGRIND"), "-q", f"--tlbgrind-out-file={out}"]
            self.call([*tool, *machine.options, *options, *command], stdin)
            profiles[machine.name] = Profile(out)
        return profiles

    def annotate(self, *arguments: object) -> str:
        return self.call([*_setting("PYTHON"), *_setting("TG_ANNOTATE"), *arguments])

    def seconds(self, command: Sequence[object], env: Mapping[str, str] | None = None) -> float:
        """User time of a native run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.call(command, env=env)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def _setting(name: str) -> list[str]:
    value = os.environ.get(name, "")
    if not value:
        raise Broken(f"{name} is not set; run it as `make experiments EXPERIMENT=NAME`")
    return shlex.split(value)
