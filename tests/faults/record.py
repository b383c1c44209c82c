# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Records what tests/faults/test_recorded.py compares, into tests/faults/data/native:

  NAME.perf, NAME.faults   what perf script printed of a program, and its log under tlbgrind
  fixed.native             the faults of tests/clients/fault_fixed, by process, kind and page

usage, as root, in the build folder after `make check TESTS=`:
  TLBGRIND=$PWD/tlbgrind/tlbgrind TG_CLIENTS=$PWD/tests/clients TG_SRCDIR=SOURCES \\
    PYTHONPATH=SOURCES/tests python3 SOURCES/tests/faults/record.py

Both sides are given the same variables, files in the page cache by single pages, and no address
randomisation. Of several native runs the one is taken that agrees best: what other programs do at
the moment can only disturb. Paths of the source tree become /src/tlbgrind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from native_support import (
    ENVIRONMENT,
    as_native,
    as_passed_on,
    fault_of,
    in_small_pieces,
    match,
    perf_command,
    run,
)
from tg_environment import client
from tg_written import written

FOLDER = Path("/tmp/tlbgrind-recorded")
DATA = Path(__file__).resolve().parent / "data" / "native"
TRIES = 12
PROGRAMS = {
    "hello": [client("fault_hello")],
    "perl": ["/usr/bin/perl", "-e", "1"],
}
EXACT_LINES = "comm,pid,time,event,trace"
SOFTWARE_LINES = "comm,pid,addr,ip,sym"


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    DATA.mkdir(exist_ok=True)
    for name, command in PROGRAMS.items():
        own = Path(command[0]).parent == client("")
        record_pair(name, [in_small_pieces(Path(command[0]), FOLDER), *command[1:]] if own else command)
    record_fixed(in_small_pieces(client("fault_fixed"), FOLDER))
    shutil.rmtree(FOLDER)


def record_pair(name: str, command: list[str | Path]) -> None:
    (log,), _ = run(FOLDER, command)
    ours = as_native(log)
    environment = as_passed_on(FOLDER)
    best, text = 0.0, ""
    for _ in range(TRIES):
        lines = own_lines(listing(command, environment, "tracepoints", EXACT_LINES), command)
        found = match([f for f in map(fault_of, lines) if f], ours)
        if found.share > best:
            best, text = found.share, "".join(lines)
    (DATA / f"{name}.perf").write_text(text, encoding="utf-8")
    (DATA / f"{name}.faults").write_text(neutral(written(log.path)), encoding="utf-8")
    print(f"{name}: {best:.2%}")
    if name == "hello":
        lines = own_lines(listing(command, environment, "software", SOFTWARE_LINES), command)
        (DATA / f"{name}-software.perf").write_text("".join(lines), encoding="utf-8")


def listing(command: list[str | Path], environment: dict[str, str], events: str, fields: str) -> str:
    data = FOLDER / "perf.data"
    subprocess.run(
        perf_command(data, command, environment, events),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
        cwd=FOLDER,
    )
    script = ["perf", "script", "-i", data, "-F", fields]
    return subprocess.run(script, capture_output=True, text=True, check=True).stdout


def own_lines(text: str, command: list[str | Path]) -> list[str]:
    """Without what setarch and env did before."""
    name = os.path.basename(command[0])[:15]
    return [line for line in text.splitlines(keepends=True) if line.split()[0] == name]


def neutral(text: str) -> str:
    return text.replace(str(Path(os.environ["TG_SRCDIR"]).resolve()), "/src/tlbgrind")


def record_fixed(program: Path) -> None:
    text = listing([program], dict(ENVIRONMENT), "tracepoints", EXACT_LINES)
    rows, processes = [], list[str]()
    for line in own_lines(text, [program]):
        fault = fault_of(line)
        process = line.split()[1]
        if process not in processes:
            processes.append(process)
        if fault:
            rows.append((processes.index(process) + 1, fault))
    head = f"# The faults of fault_fixed natively, Linux {os.uname().release}: process, kind, page\n"
    ordered = sorted(rows, key=lambda row: row[0])
    lines = [f"{process} {fault.kind} {fault.page:#x}\n" for process, fault in ordered]
    (DATA / "fixed.native").write_text(head + "".join(lines), encoding="utf-8")
    print(f"fixed: {len(rows)} faults of {len(processes)} processes")


if __name__ == "__main__":
    sys.exit(main())
