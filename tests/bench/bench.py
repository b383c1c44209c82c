# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make bench: how long programs take under tlbgrind, beside Valgrind's other tools.

docs/internals/measurements.md tells what is measured and how to read it. The tools take turns on each program, so that a machine
that becomes slower for a while is slower for all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import bench_compare
import bench_programs as programs
import bench_report as report
from bench_compare import AFTER, BEFORE
from bench_report import (
    COUNT,
    FEW,
    MANY,
    NATIVE,
    NONE,
    ONE,
    PAGES,
    POLICY,
    REACH,
    TLBGRIND,
    Row,
    Run,
)

FIRST_LEVELS = [
    f"64,{ways}{policy}" for ways in ("4", "full") for policy in ("", ",4K,nru", ",4K,plru", ",4K,fifo", ",4K,random")
]

# Processors of all families, and most that there are; skylake alone is the measure.
TWO_DOZEN = (
    "skylake,haswell,broadwell,sandybridge,nehalem,icelake,goldencove,lioncove,gracemont,zen1,zen2,zen3,zen4,"
    "zen5,k8,k10,bulldozer,cortex-a57,cortex-a76,neoverse-v2,power8,c910,u74,knl"
)
SIXTY = (
    "apple-m1-e,apple-m1,apple-m2-e,apple-m2,apple-m4-e,apple-m4,bonnell,broadwell,bulldozer,c910,"
    "core-duo-t2600,core2,cortex-a15,cortex-a35,cortex-a53,cortex-a55,cortex-a57,cortex-a7,cortex-a72,"
    "cortex-a725,cortex-a76,cortex-x2,cortex-x925,cougarcove,crestmont,emag,falkor,geode-lx,goldencove,"
    "goldmont-plus,gracemont,haswell,icelake,ivybridge,jaguar,k10,k8,knl,lioncove,nehalem,neoverse-n1,"
    "neoverse-v1,neoverse-v2,neoverse-v3,oryon,p550,piledriver,power10,power4,power7,power8,power9,ppc970,"
    "redwoodcove,sandybridge,skylake,skymont,tigerlake,tremont,u54"
)

# Valgrind's options of each tool; OUT is a file that is thrown away.
TOOLS: dict[str, list[str]] = {
    NATIVE: [],
    NONE: ["--tool=none"],
    TLBGRIND: ["--tool=tlbgrind", "--machine=default", "--tlbgrind-out-file=OUT", "--faults=yes", "--faults-out-file=OUT2"],
    PAGES: [
        "--tool=cachegrind",
        "--cache-sim=yes",
        "--I1=262144,4,4096",
        "--D1=262144,4,4096",
        "--LL=8388608,8,4096",
        "--cachegrind-out-file=OUT",
    ],
    COUNT: ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=OUT"],
    REACH: [
        *("--tool=tlbgrind", "--machine=default", "--tlbgrind-out-file=OUT", "--faults=yes", "--faults-out-file=OUT2"),
        *("--reach=yes", "--reach-out-file=OUT3"),
    ],
    **{
        name: ["--tool=tlbgrind", f"--machine={machines}", "--tlbgrind-out-file=OUT"]
        for name, machines in ((ONE, "skylake"), (FEW, TWO_DOZEN), (MANY, SIXTY))
    },
    "lackey": ["--tool=lackey", "--trace-mem=no"],
    **{
        POLICY + level: ["--tool=tlbgrind", f"--itlb={level}", f"--dtlb={level}", "--stlb=2048,8", "--tlbgrind-out-file=OUT"]
        for level in FIRST_LEVELS
    },
}
USUAL = [NATIVE, NONE, TLBGRIND, PAGES, COUNT]
COST_LINES = 500_000


def options_of(tool: str) -> list[str]:
    """A tool of one of two builds has the options of the tool."""
    return TOOLS[tool.removeprefix(BEFORE).removeprefix(AFTER)]


class Options(NamedTuple):
    rounds: int
    quick: bool
    tools: list[str]
    rows: list[programs.Program]
    annotate: bool
    output: Path
    name: str  # of the files that are written, without the end
    before: Path | None = None  # a build that this one is compared with


class Broken(Exception):
    """A program ended otherwise than it does natively."""


def die(message: str) -> NoReturn:
    sys.exit(f"bench.py: {message}")


def setting(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        die(f"{name} is not set; run it as `make bench BENCH_FLAGS='OPTIONS'`")
    return value


def parse(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="bench.py", description="Runs programs under tlbgrind and other tools of Valgrind.")
    add = parser.add_argument
    add("--rounds", type=int, help="how often each tool runs each program (default 5)")
    add("--quick", action="store_true", help="small inputs, one round")
    add("--only", metavar="NAME,...", help="only these programs or groups")
    add("--tools", metavar="NAME;...", help=f"only these tools, of: {'; '.join(TOOLS)}")
    add("--lackey", action="store_true", help="lackey too (slow)")
    add("--policies", action="store_true", help="tlbgrind with first levels of other policies and ways")
    add("--reach", action="store_true", help="tlbgrind with the reach curve")
    add("--machines", action="store_true", help="tlbgrind with one machine, with 24 and with 60")
    add("--full-stream", action="store_true", help="only STREAM on 1 GiB")
    add("--annotate", action="store_true", help=f"only tg_annotate and callgrind_annotate on {COST_LINES:,} cost lines")
    add("--compare", type=Path, metavar="BUILD", help="this build beside another: tlbgrind alone, with 24 and with 60 machines")
    add("--output", type=Path, metavar="FOLDER", help="where the results go (default tests/bench in the build folder)")
    given = parser.parse_args(arguments)

    name = "bench"
    rows = [row for row in programs.ALL.values() if row.group != programs.MEMORY]
    tools = list(USUAL)
    if given.policies:
        name = "bench-policies"
        tools = [NONE, *(POLICY + level for level in FIRST_LEVELS)]
    if given.reach:
        name = "bench-reach"
        tools = [NONE, TLBGRIND, REACH]
    if given.machines:
        name = "bench-machines"
        tools = [NONE, ONE, FEW, MANY]
    if given.full_stream:
        name = "bench-full-stream"
        rows = [programs.FULL_STREAM]
        tools = [NATIVE, NONE, TLBGRIND]
    if given.annotate:
        name = "bench-annotate"
    if given.compare:
        name = "bench-compare"
        tools = [TLBGRIND, FEW, MANY]
        tool_of_other = given.compare / ".in_place" / "tlbgrind-amd64-linux"
        if not tool_of_other.exists():
            parser.error(f"--compare: {given.compare} is not a build of tlbgrind: {tool_of_other} is missing; run make there")
    if given.tools:
        tools = [tool for tool in given.tools.split(";") if tool]
        if NONE not in tools and not given.compare:
            tools.insert(0, NONE)
    if given.lackey:
        tools.append("lackey")
    for tool in tools:
        if tool not in TOOLS:
            parser.error(f"--tools: there is no {tool!r}; there are: {'; '.join(TOOLS)}")
    if given.only:
        asked = [word for word in given.only.split(",") if word]
        known = {*programs.ALL, *programs.GROUPS}
        for word in asked:
            if word not in known:
                parser.error(f"--only: there is no {word!r}; there are: {', '.join(known)}")
        if not given.full_stream:
            rows = list(programs.ALL.values())
        rows = [row for row in rows if row.name in asked or row.group in asked]
        if not rows:
            parser.error(f"--only: {given.only} leaves nothing to run")
    if given.compare:
        tools = [build + tool for tool in tools for build in (BEFORE, AFTER)]
    once = (given.quick or given.full_stream) and not given.compare
    rounds = given.rounds if given.rounds is not None else 1 if once else 5
    if rounds < 1:
        parser.error(f"--rounds: {rounds}; at least 1 is wanted")
    output = given.output or Path(setting("TG_BUILDDIR")) / "tests" / "bench"
    return Options(rounds, given.quick, tools, rows, given.annotate, output, name, given.compare)


# ---------------------------------------------------------------- one run


class Bench:
    """Runs commands in a folder of its own."""

    def __init__(self, folder: Path, before: Path | None = None) -> None:
        self.folder = folder
        self.valgrind = setting("VALGRIND")
        self.measure = folder / "measure"
        self.cwd = folder / "run"
        self.cwd.mkdir()
        # All tools get the same: the environment is on the program's stack.
        self.environment = {
            "PATH": programs.PATH,
            "HOME": str(self.cwd),
            "LC_ALL": "C",
            "PYTHONHASHSEED": "0",
            "PERL_HASH_SEED": "0",
        }
        # Under paths of one length, for that is on the stack, too.
        self.libraries = {AFTER: folder / "lib-b", BEFORE: folder / "lib-a"}
        for link, build in zip(self.libraries.values(), (Path(setting("TG_BUILDDIR")), before)):
            if build is not None:
                link.symlink_to(build.resolve() / ".in_place")
        source = programs.HERE / "measure.c"
        subprocess.run([*programs.compiler(), "-O2", "-o", str(self.measure), str(source)], check=True)

    def under(self, tool: str, command: Sequence[str], *more: str) -> list[str]:
        if tool == NATIVE:
            return list(command)
        options = [option.replace("OUT", str(self.cwd / "out")) for option in options_of(tool)]
        return [self.valgrind, *options, *more, *command]

    @property
    def stderr(self) -> Path:
        return self.folder / "stderr"

    def run(self, arguments: Sequence[str], stdin: Path | None = None, build: str = AFTER) -> Run:
        result = self.folder / "result"
        with open(stdin or os.devnull, "rb") as source, open(self.stderr, "wb") as errors:
            subprocess.run(
                [str(self.measure), str(result), *arguments],
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=self.cwd,
                env={**self.environment, "VALGRIND_LIB": str(self.libraries[build])},
                check=True,
            )
        for path in self.cwd.iterdir():
            path.unlink()
        status, user, system, wall, maxrss = map(int, result.read_text(encoding="ascii").split())
        run = Run(user / 1e6, system / 1e6, wall / 1e6, maxrss, status)
        if run.status != 0:
            last = self.stderr.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-3:]
            raise Broken(f"exit status {run.status}: {' | '.join(last)}")
        return run

    def instructions(self, command: programs.Command) -> int | None:
        """How many instructions Valgrind translated: from a run that is not timed."""
        self.run(self.under(TLBGRIND, command.arguments, "--stats=yes"), command.stdin)
        text = self.stderr.read_text(encoding="utf-8", errors="replace")
        found = re.findall(r"translate: ([\d,]+) guest insns", text)
        return sum(int(n.replace(",", "")) for n in found) if found else None


# ---------------------------------------------------------------- all runs


def measure(options: Options, folder: Path) -> list[Row]:
    bench = Bench(folder, options.before)
    place = programs.Place(folder / "inputs", options.quick)
    place.folder.mkdir()
    commands: dict[str, programs.Command] = {}
    rows: dict[str, Row] = {}
    broken: dict[str, str] = {}
    for program in options.rows:
        row = Row(program.name, program.group, program.what, [], {tool: [] for tool in options.tools})
        try:
            commands[row.name] = program.make(place)
            row = row._replace(command=commands[row.name].arguments)
            if TLBGRIND in options.tools:
                row = row._replace(instructions=bench.instructions(commands[row.name]))
        except (programs.Missing, Broken) as error:
            broken[row.name] = str(error)
        rows[row.name] = row
    for n in range(options.rounds):
        for name, row in rows.items():
            for i in range(len(options.tools)):
                tool = options.tools[(i + n) % len(options.tools)]
                if name not in broken:
                    say(f"round {n + 1} of {options.rounds}: {name}, {tool}")
                    try:
                        line = bench.under(tool, commands[name].arguments)
                        build = BEFORE if tool.startswith(BEFORE) else AFTER
                        row.runs[tool].append(bench.run(line, commands[name].stdin, build))
                    except Broken as error:
                        broken[name] = f"{tool}: {error}"
    say("")
    return [row._replace(left_out=broken.get(name, "")) for name, row in rows.items()]


def say(progress: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{progress}", end="", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- the readers

HEADER = """# callgrind format
version: 1
creator: bench.py
pid: 1
cmd: generated
part: 1
desc: Format: 1
desc: Machine: default
desc: Page size: 4096
desc: Array: level 1, data, 64 entries, 4-way, 16 sets, pages 4K, lru
positions: line
events: Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw
"""


def out_file(lines: int) -> str:
    """An out-file of so many cost lines: 50 objects, functions of 25 lines, five of them inlined from a header."""
    rng = random.Random(3)
    headers = 300
    parts = [HEADER]
    totals = [0] * 9
    for function in range(lines // 25):
        if function % (lines // 25 // 50) == 0:
            n = function // (lines // 25 // 50) + 1
            parts.append(f"\nob=({n}) /usr/lib/generated/lib{n}.so\n")
        if function % 40 == 0:
            n = function // 40 + 1
            parts.append(f"fl=({n}) /usr/src/generated/source-{n}.c\n")
        parts.append(f"fn=({function + 1}) function_number_{function}\n")
        for line in range(25):
            if line == 10:
                header = f"({1_000_000 + function % headers})"
                parts.append(f"fi={header} /usr/include/generated/{function}.h\n" if function < headers else f"fi={header}\n")
            if line == 15:
                parts.append(f"fe=({function // 40 + 1})\n")
            ir = int(10 ** (6 * rng.random()))
            costs = [ir, ir // 1000, ir // 9000, ir // 3, ir // 100, ir // 1000, ir // 7, ir // 300, ir // 2000]
            totals = [total + cost for total, cost in zip(totals, costs)]
            parts.append(f"{line * 3 + 10} {' '.join(map(str, costs))}\n")
    words = " ".join(map(str, totals))
    parts.append(f"\nsummary: {words}\ntotals: {words}\n")
    return "".join(parts)


def annotate(options: Options, folder: Path) -> list[Row]:
    """The rows are tg_annotate and callgrind_annotate, run natively."""
    bench = Bench(folder)
    profile = folder / "profile"
    lines = COST_LINES // (10 if options.quick else 1)
    profile.write_text(out_file(lines), encoding="ascii")
    commands = {
        "tg_annotate": [sys.executable, setting("TG_ANNOTATE"), str(profile)],
        "callgrind_annotate": [programs.installed("callgrind_annotate", "valgrind"), str(profile)],
    }
    what = f"{lines:,} cost lines"
    rows = [Row(name, "readers", what, command, {NATIVE: []}) for name, command in commands.items()]
    for n in range(options.rounds):
        for row in rows:
            say(f"round {n + 1} of {options.rounds}: {row.name}")
            row.runs[NATIVE].append(bench.run(row.command))
    say("")
    return rows


def annotate_report(rows: Sequence[Row]) -> str:
    seconds = {row.name: row.time(NATIVE) for row in rows}
    body = [[name, time.seconds() if time else ""] for name, time in seconds.items()]
    ours, theirs = seconds["tg_annotate"], seconds["callgrind_annotate"]
    assert ours and theirs
    body.append(["tg_annotate / callgrind_annotate", report.number(ours.median / theirs.median)])
    return "\n".join(report.table([rows[0].what, "s"], body)) + "\n"


# ---------------------------------------------------------------- where it was measured


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", errors="replace")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return (done.stdout.splitlines() or ["unknown"])[0]


def field(path: str, pattern: str) -> str:
    try:
        match = re.search(pattern, Path(path).read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return "unknown"
    return match.group(1).strip() if match else "unknown"


def machine() -> dict[str, Any]:
    return {
        "processor": field("/proc/cpuinfo", r"^model name\s*:(.*)$"),
        "family": field("/proc/cpuinfo", r"^cpu family\s*:(.*)$"),
        "model": field("/proc/cpuinfo", r"^model\s*:(.*)$"),
        "processors": os.cpu_count(),
        "memory": field("/proc/meminfo", r"^MemTotal:(.*)$"),
        "system": field("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "kernel": platform.release(),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }


def versions() -> dict[str, str]:
    source = setting("TG_SRCDIR")
    revision = first_line("git", "-C", source, "describe", "--always", "--dirty")
    return {
        "tlbgrind": os.environ.get("TG_VERSION", "unknown"),
        "revision": revision,
        "valgrind": first_line(setting("VALGRIND"), "--version"),
        "gcc": first_line(*programs.compiler(), "--version"),
        "python": platform.python_version(),
    }


# ---------------------------------------------------------------- main


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    about = {"machine": machine(), "versions": versions()}
    with tempfile.TemporaryDirectory(prefix="tlbgrind-bench-") as folder:
        rows = (annotate if options.annotate else measure)(options, Path(folder))

    if options.annotate:
        text = annotate_report(rows)
    elif options.before:
        text = bench_compare.report(rows, options.tools, options.before)
    else:
        text = report.report(rows, options.tools)
    where, what = about["machine"], about["versions"]
    head = (
        f"- tlbgrind {what['tlbgrind']} ({what['revision']}), {what['valgrind']}, {what['gcc']}\n"
        f"- {where['processor']} (family {where['family']}), {where['processors']} processors, {where['system']}, "
        f"Linux {where['kernel']}, load before {where['load']}\n"
        f"- {'least and median' if options.before else 'medians'} of {options.rounds}"
        f"{'' if options.before else ' (fastest..slowest)'}, {'small' if options.quick else 'full'} inputs; CPU time"
        f"{'' if options.before else ', ratios to none'}\n"
    )
    text = f"{head}\n{text}"
    options.output.mkdir(parents=True, exist_ok=True)
    result = {
        "format": 1,
        **about,
        "settings": {"rounds": options.rounds, "quick": options.quick, "tools": {tool: options_of(tool) for tool in options.tools}},
        "programs": [{**row._asdict(), "runs": {t: [r._asdict() for r in runs] for t, runs in row.runs.items()}} for row in rows],
        "summary": {} if options.annotate or options.before else report.summary(rows, options.tools),
    }
    markdown = options.output / f"{options.name}.md"
    markdown.write_text(text, encoding="utf-8")
    markdown.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(text)
    if not options.annotate and not options.before:
        print(report.draw(rows, options.tools, markdown.with_suffix(".png")))
    print(f"table: {markdown}\nnumbers: {markdown.with_suffix('.json')}")
    return 1 if any(row.left_out and row.command for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
