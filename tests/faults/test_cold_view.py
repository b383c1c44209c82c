# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The cold view against the kernel: which touches wait for the disk.

A file, and programs, on a disk of their own, taken out of the page cache. tests/clients/fault_cold
touches the file's pages in one order after another, through mappings of several kinds, and prints
which of its touches the kernel counted as major (getrusage): exactly those are predicted, in order,
with every size of read-ahead. Of real programs, perf lists the major faults on their own file.

Kernels older than the oldest whose rules are known (sim/faults/kernel_rules.c) are not compared.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cold_support import Disk, disk_with
from native_support import (
    PAGE,
    Log,
    as_passed_on,
    perf_command,
    run,
    why_no_native,
)
from tg_environment import client
from tg_long import long_but

FILE_PAGES = 400
# What the disk does at the moment can only be in the way.
TRIES = 4
SHARE = 0.97
EXCESS = 0.03
SOME = ("up", "streams", "random")
ORDERS = (*SOME, "down", "stride", "far", "again")
# How the mapping may be used, and what madvise() was told (see the client), and read_ahead_kb.
CASES = [
    *((mapping, 128, ORDERS) for mapping in ("r", "x", "w")),
    *((mapping, 128, SOME) for mapping in ("rR", "xR", "wR", "rS", "wS")),
    *((mapping, kb, SOME) for mapping in ("r", "x", "w") for kb in (32, 512)),
]
PROGRAMS = {
    "python3": (["-S", "-c", "pass"], {"PYTHONHOME": "/usr"}),
    "bash": (["-c", ":"], {}),
    "vim": (["-u", "NONE", "-es", "-c", "q"], {}),
    "perl": (["-e", "1"], {}),
    "git": (["--version"], {}),
}


def kernel() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", os.uname().release)
    assert found
    return int(found[1]), int(found[2])


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    if kernel() < (6, 1):
        pytest.skip(f"how Linux {os.uname().release} reads ahead is not known")
    with disk_with(tmp_path_factory.mktemp("cold"), read_ahead_kb=128) as made:
        yield made


def major_pages(log: Log, file: Path) -> list[int]:
    """The pages of the major faults on a file, as they lie natively."""
    faults = [f for f in log.view("cold") if f.map.name == str(file)]
    return [f.native for f in faults if f.kind("cold").isupper()]


@pytest.mark.parametrize(("mapping", "kb", "orders"), long_but(lambda case: case[1] == 128 or case[0] == "r", CASES), ids=[f"{m}-{kb}" for m, kb, _ in CASES])
def test_the_touches_that_wait_for_the_disk_are_major(
    mapping: str, kb: int, orders: tuple[str, ...], disk: Disk, tmp_path: Path
) -> None:
    """every order of touches: the very touches that wait for the disk"""
    disk.set_read_ahead(kb)
    file = disk.folder / "file"
    file.write_bytes(bytes(range(256)) * (FILE_PAGES * PAGE // 256))
    for order in orders:
        command: list[str | Path] = [client("fault_cold"), file, order, mapping]
        (log,), _ = run(tmp_path, command, [f"--read-ahead={kb}K", "--fault-around=64K"])
        start = next(m.native for m in log.maps.values() if m.name == str(file))
        ours = [(page - start) // PAGE for page in major_pages(log, file)]
        for _ in range(TRIES):
            disk.forget(file)
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            native = [int(line) for line in done.stdout.split()]
            if native == ours:
                break
        assert ours == native, order
        assert len(native) > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_major_faults_of_a_program_are_predicted(name: str, disk: Disk, tmp_path: Path) -> None:
    """the major faults of a program on its own file: 97 % are predicted, at most 3 % too much"""
    reason = why_no_native(tmp_path)
    if reason is not None:
        pytest.skip(reason)
    found = shutil.which(name, path="/usr/bin:/bin")
    if found is None:
        pytest.skip(f"there is no {name} here")
    disk.set_read_ahead(128)
    program = disk.folder / name
    shutil.copyfile(os.path.realpath(found), program)
    program.chmod(0o755)
    arguments, variables = PROGRAMS[name]
    command: list[str | Path] = [program, *arguments]
    options = ["--read-ahead=128K", "--fault-around=64K"]
    (log,), _ = run(tmp_path, command, options, environment_more=variables)
    ours = set(major_pages(log, program))
    environment = {**as_passed_on(tmp_path), **variables}
    best: set[int] = set()
    for _ in range(TRIES):
        native = native_major(command, environment, log, disk, tmp_path)
        if not best or len(native & ours) / len(native) > len(best & ours) / len(best):
            best = native
        if best == ours:
            break
    print(f"{name}: native {len(best)}, ours {len(ours)}, matched {len(best & ours)}")
    assert len(best & ours) >= SHARE * len(best)
    assert len(ours - best) <= EXCESS * len(best)


def native_major(
    command: list[str | Path],
    environment: dict[str, str],
    log: Log,
    disk: Disk,
    folder: Path,
) -> set[int]:
    program = Path(command[0])
    maps = [m for m in log.maps.values() if m.name == str(program)]
    low = min(m.native for m in maps)
    high = max(m.native + m.end - m.start for m in maps)
    disk.forget(program)
    data = folder / "major.data"
    record = perf_command(data, command, environment, "major")
    subprocess.run(record, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=folder)
    script = ["perf", "script", "-i", data, "-F", "comm,addr"]
    lines = subprocess.run(script, capture_output=True, text=True, check=True).stdout.splitlines()
    own = [line.split()[-1] for line in lines if line.split()[0] == program.name]
    pages = {int(address, 16) // PAGE * PAGE for address in own}
    return {page for page in pages if low <= page < high}
