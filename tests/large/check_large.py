# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make check-large: programs with very many items of one kind.

Each kind runs with N/2 and with N items, with what a run counts by default and with all that it records. Each
run has to end as the program ends natively, to count what the program knows of itself, and the tool
must not take more memory for an item more than is said below, beyond what `none` takes.

The time is printed, with how many times as long N items take as half of them: 2 is linear, 4 quadratic.
It is no test, since the machine may be busy.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tg_written import without_checksum

VALGRIND = os.environ["VALGRIND"]
BUILD = Path(os.environ["TG_BUILDDIR"])
CLIENTS = BUILD / "tests" / "large"
ALL = ("--faults=yes", "--data=yes", "--mappings=yes", "--reach=yes", "--timeline=yes", "--entries=data")
PIDS_FROM = 10_000_000  # clients/run_work.h


class Kind(NamedTuple):
    """`{n}` in the arguments is how many; `{half}` is half of them in both runs, `{folder}` has libraries."""

    n: int
    arguments: str
    most: tuple[int, int]  # bytes of the tool for an item, by default and with ALL
    core: str = ""  # options of Valgrind's core
    own: str = ""  # options of the tool
    files: int = 1  # out-files of a run; 0: as many as items
    program: str = "large_items"


KINDS = {
    "pages of 10 GB": Kind(1 << 18, "touches 10 {n}", (2_500, 7_000)),
    "mappings, one after the other": Kind(100_000, "mappings {n} 1", (100, 1_000)),
    # Valgrind has room for 30,000 mappings; each of these is two.
    "mappings, 10,000 at once": Kind(40_000, "mappings {n} 10000", (1_000, 8_000)),
    "threads, one after the other": Kind(5_000, "threads {n} 1", (2_000, 5_000)),
    # Each has the TLBs of a core.
    "threads, all at once": Kind(5_000, "threads {n} {n}", (500_000, 600_000), core="--max-threads=5002"),
    "threads, a file each": Kind(2_000, "threads {n} {n}", (500_000, 700_000), core="--max-threads=5002", own="--separate-threads=yes"),
    "libraries, one after the other": Kind(10_000, "libraries {n} 1 {folder}", (1_000, 40_000)),
    "libraries, 1,000 at once": Kind(10_000, "libraries {n} 1000 {folder}", (4_000, 50_000)),
    "programs, the last one counted": Kind(1_000, "programs 0 {n}", (100, 100), program="large_static"),
    "programs, all counted": Kind(1_000, "programs 0 {n}", (100, 100), core="--trace-children=yes", files=0, program="large_static"),
}


class Ran(NamedTuple):
    status: int
    out: str
    said: str
    memory: int  # bytes
    seconds: float  # of the processor


def run(tool: str, options: Sequence[str], program: Path, arguments: Sequence[str], folder: Path) -> Ran:
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "VALGRIND_LIB": str(BUILD / ".in_place")}
    log = folder / "log"
    command = [VALGRIND, f"--tool={tool}", "-q", f"--log-file={log}", *options, str(program), *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = log.read_text(encoding="utf-8") if log.exists() else ""
        return Ran(process.returncode, out.read(), said, used.ru_maxrss << 10, used.ru_utime + used.ru_stime)


def counted(files: Sequence[Path], function: str) -> tuple[int, int, int]:
    """Ir, Dr and Dw of all functions of that name in all the files."""
    sums = [0, 0, 0]
    for file in files:
        text = without_checksum(file.read_bytes())
        events = re.search(r"^events: (.*)$", text, re.MULTILINE)
        assert events, file
        at = [1 + events[1].split().index(event) for event in ("Ir", "Dr", "Dw")]
        names: dict[str, str] = {}
        inside = False
        for line in text.splitlines():
            if line.startswith("fn="):
                number, _, name = line[3:].partition(" ")
                inside = names.setdefault(number, name) == function
            elif inside and line[:1].isdigit():
                words = line.split(" ")
                for i, place in enumerate(at):
                    sums[i] += int(words[place])
    return sums[0], sums[1], sums[2]


def check(kind: Kind, n: int, ran: Ran, folder: Path) -> list[str]:
    """What is wrong."""
    if ran.status != 0:
        return [f"status {ran.status}: {ran.out[-200:]} {ran.said[-400:]}"]
    expected = [line.split() for line in ran.out.splitlines() if line.startswith("expect ")]
    if len(expected) != 1:
        return [f"the program says {ran.out[-200:]!r}"]
    _, _, function, *counts = expected[0]
    files = sorted(path for path in folder.iterdir() if path.suffix == ".out" or "_of_" in path.name or "_exec" in path.name)
    files = [path for path in files if path.read_bytes().startswith(b"# callgrind format")]
    programs = n if kind.files == 0 else 1
    wanted = tuple(programs * int(count) for count in counts)
    wrong = []
    if "_of_" in " ".join(path.name for path in files):
        # The threads' files together have what the whole has.
        whole = [path for path in files if "_of_" not in path.name]
        parts = [path for path in files if path not in whole]
        if len(parts) != n + 1:
            wrong.append(f"{len(parts)} files of threads, of {n + 1}")
        if counted(parts, function) != wanted:
            wrong.append(f"the threads have {counted(parts, function)}, the program {wanted}")
        files = whole
    if len(files) != programs:
        wrong.append(f"{len(files)} out-files, of {programs}")
    if counted(files, function) != wanted:
        wrong.append(f"{function} has {counted(files, function)}, and should have {wanted}")
    if "INTERNAL ERROR" in ran.said or "impossible" in ran.said:
        wrong.append(ran.said[-400:])
    return wrong


def compare(name: str, kind: Kind, n: int, place: Path) -> list[str]:
    wrong = []
    libraries = place / "libraries"
    if "{folder}" in kind.arguments and not libraries.exists():
        libraries.mkdir()
        for i in range(n):
            shutil.copyfile(CLIENTS / "large_library.so", libraries / f"{i}.so")
    rows: dict[str, list[Ran]] = {}
    for half in (n // 2, n):
        arguments = kind.arguments.format(n=half, folder=libraries).split()
        for title, tool, options in (("none", "none", ()), ("default", "tlbgrind", ()), ("all", "tlbgrind", ALL)):
            folder = place / "run"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            own = ["--machine=skylake", "--thp=never", f"--out-prefix={folder}/%p", *kind.own.split(), *options] if tool != "none" else []
            ran = run(tool, [*kind.core.split(), *own], CLIENTS / kind.program, arguments, folder)
            rows.setdefault(title, []).append(ran)
            if tool == "none":
                wrong += [f"none, {half}: status {ran.status} {ran.out[-200:]}"] if ran.status != 0 else []
            else:
                wrong += [f"{title}, {half}: {what}" for what in check(kind, half, ran, folder)]
    more = {title: (two.memory - one.memory) / (n - n // 2) for title, (one, two) in rows.items()}
    for title, (one, two) in rows.items():
        extra = max(0, more[title] - more["none"])
        print(
            f"{name:32} {n:8,} {title:8} {two.memory >> 20:6,} MB {more[title]:8,.0f} bytes an item {two.seconds:8.1f} s"
            f" {two.seconds / max(one.seconds, 0.01):5.1f} times as long",
            flush=True,
        )
        if title != "none" and extra > kind.most[title == "all"]:
            wrong.append(f"{title}: {extra:,.0f} bytes more for each than none takes, where {kind.most[title == 'all']:,} are allowed")
    return [f"{name}: {what}" for what in wrong]


def main() -> None:
    parser = argparse.ArgumentParser(prog="check_large.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="the kinds with such names")
    parser.add_argument("--divide", type=int, default=1, metavar="N", help="take an N-th of the items")
    given = parser.parse_args()
    # Each of thousands of libraries or files may be open.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    wrong = []
    for name, kind in KINDS.items():
        if re.search(given.only, name):
            with tempfile.TemporaryDirectory(prefix="tlbgrind-large-") as place:
                wrong += compare(name, kind, kind.n // given.divide, Path(place))
    print("".join(f"FAIL: {line}\n" for line in wrong), end="")
    print(f"check-large: {len(wrong)} wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
