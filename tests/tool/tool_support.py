# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs programs under the tool and reads what it writes.

The out-file's reader here is strict and knows nothing of tg_annotate's: what is not exactly of the
form in docs/internals/formats.md is an error.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tg_environment import CC, TLBGRIND
from tg_written import written

TG_ANNOTATE = os.environ["TG_ANNOTATE"]
PYTHON = os.environ.get("PYTHON", "python3")
CLIENT_FLAGS = ["-g", "-O1", "-fno-pie", "-fcf-protection=none", "-fno-stack-protector", "-no-pie"]

# The launcher's shell puts PWD on the program's stack, so a folder's length would change the counts;
# a PWD that names the current folder is left as it is.
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PWD": "/proc/self/cwd"}

# Small enough to miss, and the same on every host.
GEOMETRY = ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8")
EVENTS = ("Ir", "I1tm", "ILtm", "Dr", "D1tmr", "DLtmr", "Dw", "D1tmw", "DLtmw")
UNKNOWN = "???"
MADE = "[code made at run time]"
"""The object of code that is in no file."""

Costs = tuple[int, ...]


class Line(NamedTuple):
    object: str
    function_file: str
    function: str
    file: str
    number: int
    costs: Costs

    @property
    def refs(self) -> tuple[int, int, int]:
        """Ir, Dr, Dw."""
        return self.costs[0], self.costs[3], self.costs[6]


class OutFile(NamedTuple):
    path: Path
    header: list[str]
    lines: list[Line]
    summary: Costs

    @property
    def pid(self) -> int:
        return int(self.field("pid"))

    def field(self, name: str) -> str:
        found = [line.partition(": ")[2] for line in self.header if line.startswith(f"{name}: ")]
        assert len(found) == 1, f"{name}: {found}"
        return found[0]

    def descriptions(self, name: str) -> list[str]:
        start = f"desc: {name}: "
        return [line[len(start) :] for line in self.header if line.startswith(start)]

    def function(self, name: str, obj: str | None = None) -> tuple[int, int, int]:
        """Ir, Dr and Dw of all functions of that name."""
        return add(
            line.refs
            for line in self.lines
            if line.function == name and obj in (None, line.object)
        )

    def made(self) -> tuple[int, int, int]:
        """The same of all code that is made at run time."""
        return add(line.refs for line in self.lines if line.object == MADE)

    def body(self) -> list[str]:
        """All that must be the same from run to run, also of a run with other machines beside it."""
        text = written(self.path)
        return [line for line in text.split("\n") if not line.startswith(("pid: ", "desc: Machine number: "))]


def add(rows: object) -> tuple[int, int, int]:
    total = [0, 0, 0]
    for row in rows:  # type: ignore[attr-defined]
        for i, n in enumerate(row):
            total[i] += n
    return total[0], total[1], total[2]


class Run(NamedTuple):
    status: int
    out: str
    err: str
    files: list[OutFile]

    def only(self) -> OutFile:
        assert len(self.files) == 1, [f.path for f in self.files]
        return self.files[0]

    def of(self, pid: int) -> OutFile:
        found = [f for f in self.files if f.pid == pid]
        assert len(found) == 1, (pid, [f.path for f in self.files])
        return found[0]

    def check(self) -> Run:
        """What the client expects is what was counted, process by process."""
        expected = expectations(self.out)
        assert expected, f"the client expects nothing: {self.out!r} {self.err!r}"
        # Code without a symbol is common in libraries; that of a client was made by it.
        counted = {
            (pid, function): self.of(pid).made() if function == UNKNOWN else self.of(pid).function(function)
            for pid, function in expected
        }
        assert counted == expected
        return self


PIDS_FROM = 10_000_000
"""What clients add to a pid that they print, see clients/run_work.h."""


def expectations(out: str) -> dict[tuple[int, str], tuple[int, int, int]]:
    expected: dict[tuple[int, str], tuple[int, int, int]] = {}
    for line in out.splitlines():
        if line.startswith("expect "):
            _, pid, function, ir, dr, dw = line.split()
            expected[int(pid) - PIDS_FROM, function] = (int(ir), int(dr), int(dw))
    return expected


def usual_thp(options: Sequence[str]) -> list[str]:
    """Whatever the host does with transparent huge pages, unless the options say what to do."""
    told = any(re.match(r"--thp=|--pages=(.*,)?(all:)?thp", option) for option in options)
    return [] if told else ["--thp=madvise"]


def run(
    folder: Path,
    *command: object,
    options: Sequence[str] = (),
    out_file: str | None = "out.%p",
    geometry: Sequence[str] = GEOMETRY,
    env: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    collect: bool = True,
    close_fds: bool = True,
) -> Run:
    """Runs the command under the tool, in the folder, and reads every out.* there."""
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [*prefix, TLBGRIND, *usual_thp(options), *geometry, *options]
    if out_file is not None:
        arguments.append(f"--tlbgrind-out-file={out_file}")
    done = subprocess.run(
        [*arguments, *map(str, command)],
        cwd=folder,
        env={**ENVIRONMENT, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="surrogateescape",
        close_fds=close_fds,
    )
    check_sound(done.stderr)
    leftovers = [p.name for p in folder.rglob(".*.part")]
    assert leftovers == [], f"temporary files are left: {leftovers}"
    files = [read(p) for p in sorted([*folder.glob("out.*"), *folder.glob("*_of_out.*")])] if collect else []
    return Run(done.returncode, done.stdout, done.stderr, files)


def check_sound(err: str) -> None:
    for word in ("Assertion", "tool_panic", "valgrind: the 'impossible' happened", "sched status"):
        assert word not in err, err


def messages(err: str) -> list[str]:
    """Valgrind's lines without the pid in front of them."""
    return [re.sub(r"^==\d+== ?", "", line).rstrip() for line in err.splitlines()]


_NAME = re.compile(r"\((\d+)\)(?: (.+))?$")


def read(path: Path) -> OutFile:
    """Reads an out-file and checks that it is well-formed and adds up."""
    text = written(path)
    assert text.endswith("\n"), path
    rows = text[:-1].split("\n")
    assert rows[0] == "# callgrind format"
    start = next(i for i, row in enumerate(rows) if row.startswith("events: "))
    header = rows[: start + 1]
    events = header[-1].split()[1:]
    assert re.fullmatch(r"summary:( \d+)+", rows[-2]), rows[-2]
    assert re.fullmatch(r"totals:( \d+)+", rows[-1]), rows[-1]
    summary = tuple(map(int, rows[-2].split()[1:]))
    assert summary == tuple(map(int, rows[-1].split()[1:]))
    assert len(summary) == len(events)

    names: dict[str, dict[str, str]] = {"o": {}, "f": {}, "n": {}}
    at: dict[str, str] = {}
    lines: list[Line] = []
    for row in rows[start + 1 : -2]:
        if not row:
            continue
        position, equals, value = row.partition("=")
        if equals and position in ("ob", "fl", "fn", "fi", "fe"):
            space = "o" if position == "ob" else "n" if position == "fn" else "f"
            match = _NAME.match(value)
            assert match, row
            number, name = match.groups()
            if name is not None:
                assert number not in names[space], f"{path}: defined twice: {row}"
                names[space][number] = name
            name = names[space][number]
            at[position] = name
            if position == "ob":
                at.pop("fl", None)
            if position in ("ob", "fl"):
                at.pop("fn", None)
            if position in ("fi", "fe"):
                at["file"] = name
                assert (position == "fe") == (name == at["fl"]), row
            elif position in ("fl", "fn"):
                at["file"] = at["fl"]
        else:
            costs = [int(word) for word in row.split(" ")]
            assert len(costs) == len(events) + 1, row
            assert any(costs[1:]), f"a line of nothing: {row}"
            line = Line(at["ob"], at["fl"], at["fn"], at["file"], costs[0], tuple(costs[1:]))
            lines.append(line)
    assert total(lines, len(events)) == summary, f"{path} does not add up"
    keys = Counter(line[:5] for line in lines)
    repeated = [key for key, n in keys.items() if n > 1]
    assert not repeated, f"{path}: lines that are there twice: {repeated[:3]}"
    return OutFile(path, header, lines, summary)


def sum_of(out: OutFile, event: str, function: str | None = None) -> int:
    place = out.field("events").split().index(event)
    return sum(line.costs[place] for line in out.lines if function in (None, line.function))


def lines_of(files: Sequence[OutFile]) -> Counter[tuple[object, ...]]:
    """The costs of all lines of several files, added up event by event."""
    sums: Counter[tuple[object, ...]] = Counter()
    for file in files:
        for line in file.lines:
            for event, cost in enumerate(line.costs):
                sums[(*line[:5], event)] += cost
    return +sums


def total(lines: Sequence[Line], n_events: int = len(EVENTS)) -> Costs:
    sums = [0] * n_events
    for line in lines:
        for i, n in enumerate(line.costs):
            sums[i] += n
    return tuple(sums)


def compile_program(folder: Path, name: str, *arguments: str, compiler: Sequence[str] = ()) -> Path:
    """Compiles with the flags of the clients."""
    program = folder / name
    command = [*(compiler or CC), *CLIENT_FLAGS, "-o", str(program), *arguments]
    subprocess.run(command, cwd=folder, check=True)
    return program


def straight_line(binary: Path, function: str) -> dict[tuple[str, int], tuple[int, int, int]]:
    """What one run through a function without jumps must count, by file and line.

    From the disassembly and the line table. The first operand of an instruction is read, the last
    is written, or read by one that modifies it.
    """
    listing = subprocess.run(
        ["objdump", "-dl", "--no-show-raw-insn", str(binary)],
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    match = re.search(rf"^[0-9a-f]+ <{re.escape(function)}>:\n(.*?)(?:\n\n|\Z)", listing, re.MULTILINE | re.DOTALL)
    assert match, f"{function} is not in {binary}"
    counts: dict[tuple[str, int], tuple[int, int, int]] = {}
    at = ("", 0)
    for row in match.group(1).splitlines():
        place = re.match(r"(/.+):(\d+)(?: \(discriminator \d+\))?$", row)
        if place:
            at = (place.group(1), int(place.group(2)))
            continue
        code = re.match(r" +[0-9a-f]+:\t(\S+) *([^#<]*)", row)
        if code:
            counts[at] = add([counts.get(at, (0, 0, 0)), (1, *_accesses(*code.groups()))])
    return counts


_WRITES = ("mov", "movl", "movq", "movb", "movw", "movss", "movsd")
_READS = ("add", "addl", "sub", "subl", "and", "or", "xor", "cmp", "cmpl", "imul", "test", "addq")
_NONE = ("lea", "nop", "cltq", "cltd", "endbr64")


def _accesses(name: str, operands: str) -> tuple[int, int]:
    """Reads and writes of one instruction."""
    if name in ("ret", "pop", "leave"):
        return 1, 0
    if name in ("call", "push"):
        assert "(" not in operands
        return 0, 1
    if name in _NONE or "(" not in operands:
        return 0, 0
    last = operands.strip().endswith(")")
    if name in _WRITES:
        return (0, 1) if last else (1, 0)
    assert name in _READS or name.startswith("mov"), f"unknown instruction: {name} {operands}"
    return 1, 0


def times(n: int, counts: Mapping[tuple[str, int], tuple[int, int, int]]) -> dict[tuple[str, int], tuple[int, int, int]]:
    return {at: (n * row[0], n * row[1], n * row[2]) for at, row in counts.items()}


def by_line(
    out: OutFile, function: str, obj: str | None = None
) -> dict[tuple[str, int], tuple[int, int, int]]:
    """Ir, Dr and Dw of a function by file and line."""
    return {
        (line.file, line.number): line.refs
        for line in out.lines
        if line.function == function and obj in (None, line.object)
    }
