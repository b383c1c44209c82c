# tg_thp.py -- transparent huge pages: what the kernel gives a program.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# For tests and experiments that compare it with what tlbgrind says.
from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple, TypeVar

THP = Path("/sys/kernel/mm/transparent_hugepage")
MODES = ("always", "madvise")
HUGE_KIB = 2048
ATTEMPTS = 20
CLIENTS = Path(__file__).resolve().parent / "experiments" / "clients"

T = TypeVar("T")


class Unavailable(Exception):
    """There are no huge pages to compare with here, or others disturb; the text says why."""


def options(mode: str) -> list[str]:
    """What makes tlbgrind do as a kernel in that mode."""
    return [f"--thp={mode}"]


def host_mode() -> str:
    """always, madvise or never."""
    try:
        text = (THP / "enabled").read_text(encoding="ascii")
        size = (THP / "hpage_pmd_size").read_text(encoding="ascii")
    except OSError as error:
        raise Unavailable(f"this kernel has no transparent huge pages: {error.strerror}") from None
    chosen = re.search(r"\[(\w+)\]", text)
    if chosen is None or int(size) != HUGE_KIB << 10:
        raise Unavailable("huge pages of this kernel are not 2M")
    return chosen[1]


# ---------------------------------------------------------------- what disturbs


def others() -> tuple[str, str]:
    """No memory for a huge page, and khugepaged, which makes some behind a program's back."""
    rows = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    fallbacks = next(row for row in rows if row.startswith("thp_fault_fallback "))
    return fallbacks, (THP / "khugepaged/pages_collapsed").read_text(encoding="ascii")


def undisturbed(run: Callable[[], T]) -> T:
    for _ in range(ATTEMPTS):
        before = others()
        result = run()
        if others() == before:
            return result
    raise Unavailable(f"khugepaged, or a lack of memory, disturbed {ATTEMPTS} runs")


# ---------------------------------------------------------------- the kernel's switch

# khugepaged sleeps for an hour, and if it wakes nevertheless it finds little to do.
QUIET = {"khugepaged/max_ptes_none": "0", "khugepaged/pages_to_scan": "1", "khugepaged/scan_sleep_millisecs": "3600000"}

# Puts the settings back when its input ends, hence also when this process is killed.
GUARD = """trap '' INT TERM HUP
read -r line
while [ $# -gt 1 ]; do printf %s "$2" >"$1"; shift 2; done"""


@contextlib.contextmanager
def kernel_in(mode: str) -> Iterator[None]:
    """The host's kernel is in that mode, and khugepaged is quiet; all is put back in the end."""
    before = {"enabled": host_mode()}
    if os.geteuid() != 0:
        raise Unavailable("only root can switch transparent huge pages")
    for name in QUIET:
        before[name] = (THP / name).read_text(encoding="ascii").strip()
    with open(Path(tempfile.gettempdir()) / "tlbgrind-thp.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = [word for name, value in before.items() for word in (str(THP / name), value)]
        guard = subprocess.Popen(["sh", "-c", GUARD, "sh", *words], stdin=subprocess.PIPE, start_new_session=True)
        try:
            for name, value in {**QUIET, "enabled": mode}.items():
                (THP / name).write_text(value, encoding="ascii")
            time.sleep(0.2)  # the setting wakes khugepaged
            yield
        except OSError as error:
            raise Unavailable(f"transparent huge pages cannot be switched: {error.strerror}") from None
        finally:
            guard.communicate()


# ---------------------------------------------------------------- native runs


class Native(NamedTuple):
    """When a program had most of its anonymous memory."""

    anonymous: int  # kilobytes
    huge: int  # pages of 2M
    maps: list[str]  # "START-END KILOBYTES NAME" of those with huge pages


def compile_watch(folder: Path) -> Path:
    """Compiles clients/hugewatch.c, which runs a program and looks at it."""
    watch = folder / "hugewatch"
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    subprocess.run([*compiler, "-O2", "-Wall", "-o", watch, CLIENTS / "hugewatch.c"], check=True)
    return watch


def read_watch(path: Path) -> Native:
    """What hugewatch has written."""
    lines = [line.split(" ", 1) for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    anonymous, huge = next(map(int, rest.split()) for word, rest in lines if word == "peak")
    return Native(anonymous, huge // HUGE_KIB, [rest for word, rest in lines if word == "map"])
