# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What lackey sees of a program, reference by reference, and what the tool counts of the same run.

What must be pinned for two tools to see one stream of addresses: the environment and the length of
VALGRIND_LIB (they lie on the stack, and ld.so walks over them), and the kernel's random layout.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from oracle_support import BUILD, VALGRIND

# lackey's program starts, and lies, as Valgrind has it.
AS_LACKEY = ["--native-start=no", "--thp=madvise"]


def valgrind(tool: str, options: list[str], program: list[str]) -> None:
    if tool == "tlbgrind":
        options = [*AS_LACKEY, *options]
    run = subprocess.run(
        ["setarch", "-R", VALGRIND, f"--tool={tool}", *options, *program],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "VALGRIND_LIB": str(BUILD / ".in_place")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def read(log: Path) -> Iterator[tuple[str, int, int]]:
    with log.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            if not line.startswith("=="):
                kind, where = line.split()
                address, size = where.split(",")
                yield kind, int(address, 16), int(size)


def trace(program: list[str], folder: Path) -> list[tuple[str, int, int]]:
    """(kind, address, size) in the program's order; the kinds are I, L, S, and M for a modify."""
    log = folder / "trace"
    # As the tool has it: by default Vex executes, and lackey traces, the second condition of
    # "a && b" in any case.
    vex = ["--vex-guest-chase=no", "--vex-iropt-unroll-thresh=0"]
    valgrind("lackey", [*vex, "--basic-counts=no", "--trace-mem=yes", f"--log-file={log}"], program)
    accesses = list(read(log))
    log.unlink()
    return accesses


def totals_of(out: Path) -> tuple[Counter[str], dict[str, str]]:
    """The totals of an out-file, and its descriptions by name."""
    fields: dict[str, str] = {}
    for line in out.read_text().splitlines():
        name, _, value = line.removeprefix("desc: ").partition(": ")
        fields.setdefault(name, value)
    return Counter(dict(zip(fields["events"].split(), map(int, fields["summary"].split())))), fields
