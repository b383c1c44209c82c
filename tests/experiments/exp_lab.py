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
from typing import NamedTuple, Union

from exp_frame import Missing

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tlbgrind")]

from tg_names import labels_of
from tgreport.formats import outfile

PATH = "/usr/bin:/bin:/usr/games"
# An experiment counts; the program must be the same with every compiler's defaults.
FLAGS = ["-g", "-O2", "-fno-tree-loop-distribute-patterns", "-fno-pie", "-fcf-protection=none", "-fno-stack-protector", "-Wall"]


class Broken(Exception):
    """A program did not end as it should."""


class Array(NamedTuple):
    """One translation array of a machine."""

    level: int
    users: str  # fetches, loads, stores, joined by +, or all
    entries: int
    ways: int = 0  # 0: fully associative
    pages: str = "4K+64K+2M+16M"
    larger_pages: str = "split"  # or bypass
    policy: str = "lru"


class Machine(NamedTuple):
    """A processor that is described by a machine file (docs/machines.md), and its pages: what stands behind the @."""

    label: str
    arrays: tuple[Array, ...]
    pages: str = ""

    @property
    def name(self) -> str:
        return f"{self.label}@{self.pages}" if self.pages else self.label

    def text(self) -> str:
        lines = ["tlbgrind-machine 1", f"name {self.label}", "title made for an experiment", "isa x86-64", "year unknown"]
        lines += ["confidence C", "base-page 4K"]
        for i, array in enumerate(self.arrays):
            lines += [f"array A{i}", f"level {array.level}", f"users {array.users}", f"entries {array.entries}"]
            lines += [f"ways {array.ways or 'full'}", f"pages {array.pages}", f"larger-pages {array.larger_pages}"]
            lines += [f"policy {array.policy}", "threads 1", *(["hit-cycles unknown"] if array.level > 1 else [])]
        return "\n".join([*lines, "end", ""])


class Shipped(NamedTuple):
    """One of tlbgrind's own machines, by what --machine= takes."""

    name: str


class FromFile(NamedTuple):
    """A machine file that somebody has: its path, and the name that it gives."""

    path: Path
    name: str


AnyMachine = Union[Machine, Shipped, FromFile]


def named(word: str) -> AnyMachine:
    """What --machine= means by a word: a file, or one of tlbgrind's own."""
    path = Path(word).resolve()
    if not path.is_file():
        return Shipped(word)
    found = re.search(r"^name\s+(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return FromFile(path, found[1] if found else path.name)


def two_sides(name: str, itlb: int, dtlb: int, stlb: int = 0, ways: int = 0, pages: str = "") -> Machine:
    """A machine of an instruction and a data TLB, and a 4-way second level for both if stlb is not 0."""
    arrays = [Array(1, "fetches", itlb, ways), Array(1, "loads+stores", dtlb, ways)]
    return Machine(name, (*arrays, *([Array(2, "all", stlb, 4)] if stlb else [])), pages)


class Profile:
    """The counts of one out-file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._out = outfile.read(str(path))

    @property
    def descriptions(self) -> list[tuple[str, str]]:
        return self._out.descriptions

    @property
    def events(self) -> Sequence[str]:
        return self._out.events

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

    def _memory_lines(self) -> list[str]:
        return [text for name, text in self._out.descriptions if name == "Memory"]

    def pages(self, size: str) -> int:
        """How many pages of that size backed memory when most was backed."""
        found = [re.match(rf"backed at the peak: (\d+) pages of {size},", line) for line in self._memory_lines()]
        return sum(int(match[1]) for match in found if match)

    def memory(self) -> tuple[int, int]:
        """Kilobytes that pages backed when it was most, and how many of them were touched, on a machine with large pages."""
        lines = self._memory_lines()
        found = [re.match(r"backed at the peak: \d+ pages of \w+, (\d+)K, of which (\d+)K touched", line) for line in lines]
        if not any(found):
            raise Broken(f"{self.path} does not tell what backed the memory")
        sizes = [(int(match[1]), int(match[2])) for match in found if match]
        return sum(backed for backed, _ in sizes), sum(touched for _, touched in sizes)

    def counts(self) -> tuple[object, ...]:
        """All that two equal runs have in common, line by line."""
        runs = {key: (list(run.rows), run.sums) for key, run in self._out.runs.items()}
        return self._out.events, self._out.totals, runs


class Dialog(NamedTuple):
    """What a program is told that looks for input while it works: first, and once it has printed such a line."""

    first: str
    line: str  # its beginning
    then: str

    def hold(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(self.first.encode("ascii"))
        process.stdin.flush()
        printed = b""
        for line in process.stdout:
            printed += line
            if line.startswith(self.line.encode("ascii")):
                process.stdin.write(self.then.encode("ascii"))
                process.stdin.flush()
                break
        return printed


Input = Union[Path, Dialog, None]


class Lab:
    def __init__(self, folder: Path, machines: Sequence[AnyMachine] = (Shipped("host"),), rounds: int = 9, only: Sequence[str] = (), times: Path | None = None) -> None:
        self.folder = folder
        # For E15: what it predicts for, how often it measures, which of its programs, and where the times are kept.
        self.machines, self.rounds, self.only, self.times = machines, rounds, only, times
        self._runs = 0
        # The same for every run: the environment is on the program's stack.
        self.environment = {"PATH": PATH, "HOME": str(folder), "LC_ALL": "C", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}

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
        self.call([*setting("CC"), "-o", path, *arguments])
        return path

    def client(self, name: str, *flags: str, libraries: Sequence[str] = ()) -> Path:
        """Compiles clients/NAME.c."""
        words = re.sub(r"[^A-Za-z0-9]+", "-", "".join(flags))
        return self.cc(f"{name}{words}", *FLAGS, *flags, "-no-pie", HERE / "clients" / f"{name}.c", *libraries)

    def example(self, name: str) -> Path:
        """Compiles docs/NAME.c."""
        return self.cc(name, *FLAGS, "-no-pie", HERE.parents[1] / "docs" / f"{name}.c")

    def kernel(self, name: str) -> Path:
        """Compiles a kernel of the bench."""
        return self.cc(name, *FLAGS, "-no-pie", HERE.parent / "bench" / "kernels" / f"{name}.c")

    def program(self, source: str, *flags: str) -> Path:
        """Compiles clients/SOURCE, C or C++, as programs are today: its counts may depend on the compiler."""
        compiler = [self.need("g++", "g++")] if source.endswith(".cc") else setting("CC")
        path = self.folder / Path(source).stem
        self.call([*compiler, "-O2", "-g", "-fPIE", "-pie", *flags, "-o", path, HERE / "clients" / source])
        return path

    def need(self, program: str, package: str) -> str:
        path = shutil.which(program, path=PATH)
        if path is None:
            raise Missing(f"{program} is not installed (Debian package: {package})")
        return path

    # Runs

    def call(self, command: Sequence[object], stdin: Input = None, env: Mapping[str, str] | None = None) -> str:
        """Runs a command to its end and returns what it printed. It must end with status 0."""
        words = [str(word) for word in command]
        errors = self.folder / "stderr"
        with open(stdin if isinstance(stdin, Path) else os.devnull, "rb") as source, open(errors, "wb") as stderr:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE if isinstance(stdin, Dialog) else source,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=self.folder,
                env={**self.environment, **(env or {})},
            )
        with process:
            printed = stdin.hold(process) if isinstance(stdin, Dialog) else b""
            printed += process.communicate()[0]
        if process.returncode != 0:
            last = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
            raise Broken(f"{shlex.join(words)}: exit status {process.returncode}: {' | '.join(last)}")
        return printed.decode("utf-8", "replace")

    def simulate(
        self,
        machines: Sequence[AnyMachine],
        command: Sequence[object],
        options: Sequence[str] = (),
        stdin: Input = None,
        env: Mapping[str, str] | None = None,
    ) -> dict[str, Profile]:
        """Runs the command once, on all these machines, and returns the counts of each."""
        out = self.out_file()
        self.call([*setting("TLBGRIND"), "-q", *self.options(machines, out, self.folder), *options, *command], stdin, env)
        return self.profiles(machines, out, self.folder)

    def out_file(self) -> Path:
        self._runs += 1
        return self.folder / f"out.{self._runs}"

    def options(self, machines: Sequence[AnyMachine], out: Path, folder: Path) -> list[str]:
        """What describes the machines to a run in that folder."""
        names = ",".join(self._name(machine, folder) for machine in machines)
        # What the host does with transparent huge pages is another question.
        return ["--thp=madvise", f"--machine={names}", f"--tlbgrind-out-file={out}"]

    def _name(self, machine: AnyMachine, folder: Path) -> str:
        """What --machine= takes."""
        if isinstance(machine, Shipped):
            return machine.name
        if isinstance(machine, FromFile):
            return str(machine.path)
        path = os.path.relpath(self.write(f"{machine.label}.machine", machine.text()), folder)
        return f"{path}@{machine.pages}" if machine.pages else path

    def profiles(self, machines: Sequence[AnyMachine], out: Path, folder: Path) -> dict[str, Profile]:
        """What a run in that folder wrote."""
        if len(machines) == 1:
            return {machines[0].name: Profile(out)}
        names = [machine.name for machine in machines]
        return {name: Profile(out.with_name(f"{out.name}_{label}")) for name, label in zip(names, labels_of(names))}

    def tlbgrind(self, *arguments: object) -> str:
        """A run whose arrays are options."""
        return self.call([*setting("TLBGRIND"), *arguments])

    def annotate(self, *arguments: object) -> str:
        return self.call([*setting("PYTHON"), *setting("TG_ANNOTATE"), *arguments])

    def seconds(self, command: Sequence[object], env: Mapping[str, str] | None = None) -> float:
        """User time of a native run."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        self.call(command, env=env)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def setting(name: str) -> list[str]:
    value = os.environ.get(name, "")
    if not value:
        raise Broken(f"{name} is not set; run it as `make experiments EXPERIMENT=NAME`")
    return shlex.split(value)
