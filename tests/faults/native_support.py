# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Fault logs, read strictly as docs/internals/formats.md has them, and what the kernel says natively.

This reader knows nothing of the companions': what is not exactly of the form is an error.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tg_environment import TLBGRIND
from tg_written import recorded_or_written

VIEWS = ("4k", "warm", "cold")
KINDS = "xrzwcd"
PAGE = 4096

# Both runs are given the same variables. Valgrind's processor is one of Intel's without AVX-512 and
# without transactions (RTM, with which Prefer_No_VZEROUPPER goes): without this the C library picks
# other functions natively, on other pages. The last four are what it prefers on that processor.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/",
    "LANG": "C",
    "PYTHONHASHSEED": "0",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps="
    + ",".join(f"-AVX512{part}" for part in ("F", "VL", "BW", "DQ", "CD"))
    + ",-RTM,-Prefer_No_VZEROUPPER"
    + ",Fast_Rep_String,Fast_Unaligned_Load,Fast_Unaligned_Copy,Prefer_PMINUB_for_stringop",
}


class Map(NamedTuple):
    start: int
    end: int
    native: int
    prot: str
    what: str
    offset: int
    name: str


class Code(NamedTuple):
    address: int
    object: str
    function: str
    file: str
    line: int


class Fault(NamedTuple):
    kinds: str
    page: int
    map: Map
    instructions: int
    thread: int
    by: str
    code: Code | None
    brought: str
    cold_brought: str
    read: str
    callers: tuple[Code, ...] = ()

    def kind(self, view: str) -> str:
        return self.kinds[VIEWS.index(view)]

    @property
    def native(self) -> int:
        return self.page - self.map.start + self.map.native


class Used(NamedTuple):
    map: Map
    page: int
    pages: int
    kinds: str
    bytes: int


class Touch(NamedTuple):
    kind: str
    page: int
    map: Map
    instructions: int
    work: str


class Log(NamedTuple):
    path: Path
    header: dict[str, str]
    maps: dict[int, Map]
    faults: list[Fault]
    summary: dict[str, list[int]]
    hidden: dict[str, list[int]]
    phases: dict[str, list[int]]
    used: list[Used]
    touches: list[Touch]

    def view(self, view: str) -> list[Fault]:
        return [f for f in self.faults if f.kind(view) != "-"]


class Reader:
    """One log. Every rule of the format is an assertion."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, str] = {}
        self.maps: dict[int, Map] = {}
        self.codes: dict[int, Code] = {}
        self.faults: list[Fault] = []
        self.summary: dict[str, list[int]] = {}
        self.hidden: dict[str, list[int]] = {}
        self.phases: dict[str, list[int]] = {}
        self.used: list[Used] = []
        self.used_totals: dict[str, list[int]] = {}
        self.touches: list[Touch] = []
        self.ended = False

    def read(self) -> Log:
        text = recorded_or_written(self.path)
        assert text.endswith("\n")
        lines = text[:-1].split("\n")
        assert lines[0] == "# tlbgrind fault log"
        assert lines[1] == "version: 1"
        for line in lines[1:]:
            assert not self.ended
            self.line(line)
        assert self.ended
        for view, counts in self.summary.items():
            self.check_summary(view, counts)
        self.check_used()
        return Log(
            self.path,
            self.header,
            self.maps,
            self.faults,
            self.summary,
            self.hidden,
            self.phases,
            self.used,
            self.touches,
        )

    def line(self, line: str) -> None:
        field = line.split("\t")
        assert "" not in field, line
        if len(field) == 1 and not self.maps and not self.faults:
            key, colon, value = line.partition(": ")
            assert colon, line
            self.header[key] = value
        elif field[0] == "map":
            assert not self.faults
            self.add_map(field)
        elif field[0] == "code":
            number, address, obj, function, file, at = field[1:]
            assert int(number) == len(self.codes) + 1
            self.codes[int(number)] = Code(int(address, 16), obj, function, file, int(at))
        elif field[0] == "*":
            self.repeat(*field[1:])
        elif field[0] == "touch":
            self.add_touch(*field[1:])
        elif field[0] == "trial":
            assert self.summary and "faults-touches" in self.header, line
            assert int(field[2]) <= len(self.faults)
        elif field[0] == "used":
            assert not self.summary
            self.add_used(*field[1:])
        elif field[0] in ("summary", "hidden", "phase", "used-total"):
            table = {
                "used-total": self.used_totals,
                "summary": self.summary,
                "hidden": self.hidden,
                "phase": self.phases,
            }
            table[field[0]][field[1]] = [int(n) for n in field[2:]]
        elif field[0] == "end":
            assert int(field[1]) == len(self.faults)
            self.ended = True
        else:
            self.fault(field)

    def add_map(self, field: list[str]) -> None:
        number, start, end, native, prot, what, offset, name = field[1:]
        m = Map(
            int(start, 16),
            int(end, 16),
            int(native, 16),
            prot,
            what,
            0 if offset == "-" else int(offset, 16),
            name,
        )
        assert m.start < m.end and m.start % PAGE == m.native % PAGE == 0
        assert re.fullmatch("[r-][w-][x-]s?", prot)
        assert (offset == "-") == (what != "file")
        self.maps[int(number)] = m

    def fault(self, field: list[str]) -> None:
        number, kinds, page, where, instructions, thread, by, code, *brought = field
        callers: tuple[Code, ...] = ()
        if "faults-stacks" in self.header:
            stack = brought.pop()
            callers = tuple(self.codes[int(n)] for n in stack.split(",")) if stack != "-" else ()
            assert len(callers) <= int(self.header["faults-stacks"])
        assert int(number) == len(self.faults) + 1
        assert re.fullmatch("[-xrzwcdXRW]{3}", kinds) and kinds[0] != "-"
        for runs in brought:
            assert re.fullmatch(r"-|[+-]\d+(\.\.[+-]\d+)?(,[+-]\d+(\.\.[+-]\d+)?)*", runs), runs
        warm, cold, read = brought
        fault = Fault(
            kinds,
            int(page, 16),
            self.maps[int(where)],
            int(instructions),
            int(thread),
            by,
            self.codes[int(code)] if code != "0" else None,
            warm,
            cold,
            read,
            callers,
        )
        size = int(self.header["page size"])
        assert fault.page % size == 0
        # Mappings have the pages of the host: a larger one may begin before.
        assert fault.map.start - size < fault.page < fault.map.end
        if self.faults:
            assert fault.instructions >= self.faults[-1].instructions
        else:
            assert fault.instructions == 0
        self.faults.append(fault)

    def repeat(self, count: str, page_step: str, instruction_step: str) -> None:
        assert int(count) > 0
        for _ in range(int(count)):
            last = self.faults[-1]
            self.faults.append(
                last._replace(
                    page=last.page + int(page_step, 16),
                    instructions=last.instructions + int(instruction_step),
                )
            )

    def add_touch(self, kind: str, page: str, where: str, instructions: str, work: str) -> None:
        assert self.header["faults-touches"] == "yes" and not self.summary
        assert kind in ("x", "r", "w") and work in ("program", "linker", "locale")
        touch = Touch(kind, int(page, 16), self.maps[int(where)], int(instructions), work)
        assert touch.page % int(self.header["page size"]) == 0
        assert touch.map.start <= touch.page < touch.map.end
        if self.touches:
            assert touch.instructions >= self.touches[-1].instructions
        self.touches.append(touch)

    def add_used(self, where: str, page: str, count: str, kinds: str, used: str) -> None:
        run = Used(self.maps[int(where)], int(page, 16), int(count), kinds, int(used))
        size = int(self.header["page size"])
        assert run.page % size == 0 and run.pages > 0 and 0 <= run.bytes <= size
        assert re.fullmatch("[xrzwcd+p-]{3}", kinds) and kinds != "---"
        assert not run.bytes or "-" not in kinds
        last = run.page + (run.pages - 1) * size
        assert run.map.start - size < run.page <= last < run.map.end
        self.used.append(run)

    def check_used(self) -> None:
        """The maps are in order, and the totals are those of the lines."""
        if "faults-used" not in self.header:
            assert not self.used and not self.used_totals
            return
        assert self.header["faults-used"] == "yes"
        numbers = {id(m): number for number, m in self.maps.items()}
        places = [(numbers[id(run.map)], run.page) for run in self.used]
        assert places == sorted(places)
        assert list(self.used_totals) == list(VIEWS)
        for n, view in enumerate(VIEWS):
            there = [run for run in self.used if run.kinds[n] != "-"]
            pages = sum(run.pages for run in there)
            assert self.used_totals[view] == [pages, sum(r.pages * r.bytes for r in there)]

    def check_summary(self, view: str, counts: list[int]) -> None:
        kinds = [f.kind(view) for f in self.faults if f.kind(view) != "-"]
        assert counts[0] == len(kinds)
        assert counts[1] == sum(kind.isupper() for kind in kinds)
        assert counts[2:] == [sum(k.lower() == kind for k in kinds) for kind in KINDS]


def read(path: Path) -> Log:
    return Reader(path).read()


def run(
    tmp_path: Path,
    command: Sequence[str | Path],
    options: Sequence[str] = (),
    environment_more: dict[str, str] | None = None,
) -> tuple[list[Log], str]:
    """Runs a program under the tool. Returns the logs of all of its processes in the order of
    their numbers, and what was printed on stderr."""
    for old in tmp_path.glob("faults.*"):
        old.unlink()
    log = tmp_path / "words.txt"
    # The program's own files are what they are natively: a pipe is nothing to seek in.
    done = subprocess.run(
        [
            TLBGRIND,
            "--faults=yes",
            f"--log-file={log}",
            f"--faults-out-file={tmp_path}/faults.%p",
            f"--tlbgrind-out-file={tmp_path}/out.%p",
            *shlex.split(os.environ.get("TG_FAULT_OPTIONS", "")),
            *options,
            *command,
        ],
        env={**ENVIRONMENT, "PWD": str(tmp_path), **(environment_more or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        cwd=tmp_path,
    )
    words = log.read_text(encoding="utf-8", errors="replace")
    assert 0 <= done.returncode < 128, words
    logs = [read(p) for p in sorted(tmp_path.glob("faults.*"), key=order_of_log)]
    assert logs, words
    return logs, words


def order_of_log(path: Path) -> tuple[int, int]:
    """What a process was before exec, faults.PID_exec1, comes before what it is at its end."""
    pid, _, execs = path.name.removeprefix("faults.").partition("_exec")
    return int(pid), int(execs) if execs else 1 << 30


# ---------------------------------------------------------------- the kernel itself


class NativeFault(NamedTuple):
    """What both sides know: the program, the page, and x, r (also of the zero page), w, c (also
    dirty)."""

    program: str
    page: int
    kind: str


def as_native(log: Log) -> list[NativeFault]:
    same = {"z": "r", "d": "c"}
    # As the kernel names a process: 15 bytes of the file's name.
    program = os.path.basename(log.header["cmd"].split(" ")[0])[:15]
    return [
        NativeFault(program, f.native, same.get(f.kind("warm"), f.kind("warm")))
        for f in log.view("warm")
    ]


PERF_LINE = re.compile(
    r"\s*(?P<comm>.*?)\s+(?P<pid>\d+)\s+(?:\d+\.\d+:\s+)?exceptions:page_fault_\w+:\s+"
    r"address=(?P<address>0x[0-9a-f]+)\s+ip=\S+\s+error_code=(?P<code>0x[0-9a-f]+)"
)


def native_kind(code: int) -> str:
    """The error code's bits: 0 the page was present, 1 a write, 4 an instruction fetch."""
    if code & 16:
        return "x"
    if code & 2:
        return "c" if code & 1 else "w"
    return "r"


def as_passed_on(tmp_path: Path) -> dict[str, str]:
    """The same variables in the order in which the tool's program gets them: a shell stands in
    between (Debian's wrapper of Valgrind), which has an order of its own."""
    command = [
        TLBGRIND,
        "-q",
        "--faults=yes",
        f"--faults-out-file={tmp_path}/order.faults",
    ]
    command += [f"--tlbgrind-out-file={tmp_path}/order.out", "/usr/bin/env"]
    given = {**ENVIRONMENT, "PWD": str(tmp_path)}
    done = subprocess.run(
        command, env=given, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    passed = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert passed == given
    return passed


EVENTS = {
    "tracepoints": ["-e", "exceptions:page_fault_user", "-e", "exceptions:page_fault_kernel"],
    "software": ["-e", "page-faults", "-c", "1", "-d"],
    "major": ["-e", "major-faults", "-c", "1", "-d"],
}


def perf_command(
    data: Path,
    command: Sequence[str | Path],
    environment: dict[str, str],
    events: str = "tracepoints",
) -> list[str | Path]:
    """What records a program without Valgrind and without address randomisation. perf has
    variables of its own for what it starts, and env takes them away."""
    given = [f"{name}={value}" for name, value in environment.items()]
    perf: list[str | Path] = ["perf", "record", "-q", *EVENTS[events], "-o", data]
    return [*perf, "setarch", "-R", "env", "-i", *given, *command]


def fault_of(line: str) -> NativeFault | None:
    """What a line of `perf script` says of the tracepoints; None: no fault of the program's."""
    match = PERF_LINE.match(line)
    assert match, line
    address = int(match["address"], 16)
    if match["comm"] in ("setarch", "env") or address >= 1 << 47:
        return None
    page = address - address % PAGE
    return NativeFault(match["comm"], page, native_kind(int(match["code"], 16)))


def record(
    tmp_path: Path,
    command: Sequence[str | Path],
    environment: dict[str, str] = ENVIRONMENT,
) -> list[NativeFault]:
    """The faults of a program and its children without Valgrind and without address
    randomisation."""
    data = tmp_path / "perf.data"
    subprocess.run(
        perf_command(data, command, environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        cwd=tmp_path,
    )
    script = subprocess.run(
        ["perf", "script", "-i", data, "-F", "comm,pid,event,trace"],
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    ).stdout
    return [fault for fault in map(fault_of, script.splitlines()) if fault]


def in_small_pieces(file: Path, folder: Path) -> Path:
    """A copy in the page cache by single pages: what has just been linked lies there in large
    folios, which Linux maps whole, but not after the next boot."""
    copy = folder / file.name
    data = file.read_bytes()
    with open(copy, "wb", buffering=0) as out:
        out.writelines(data[at : at + PAGE] for at in range(0, len(data), PAGE))
    copy.chmod(0o755)
    return copy


def read_in_small_pieces(file: Path) -> None:
    """The same for a file that stays where it is; a package that has just been installed is no
    better. Pages that somebody has mapped at the moment stay as they are."""
    fd = os.open(file, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        at = 0
        while os.pread(fd, PAGE, at):
            at += PAGE
    finally:
        os.close(fd)


def why_no_native(tmp_path: Path) -> str | None:
    """Why the kernel's own faults can not be had here; None: they can."""
    for tool in ("perf", "setarch"):
        if not any((Path(d) / tool).exists() for d in os.environ["PATH"].split(":")):
            return f"there is no {tool} here"
    try:
        faults = record(tmp_path, ["/bin/true"])
    except (subprocess.CalledProcessError, OSError) as error:
        return f"perf can not record page faults here: {error}"
    if not faults:
        return "perf records no page faults here (are the tracepoints exceptions:* allowed?)"
    return None


class Match(NamedTuple):
    native: int
    matched: int
    ours: int
    missing: Counter[NativeFault]
    extra: Counter[NativeFault]

    @property
    def share(self) -> float:
        return self.matched / self.native

    @property
    def excess(self) -> float:
        return (self.ours - self.matched) / self.native


def match(native: Sequence[NativeFault], ours: Sequence[NativeFault]) -> Match:
    a, b = Counter(native), Counter(ours)
    return Match(len(native), (a & b).total(), len(ours), a - b, b - a)
