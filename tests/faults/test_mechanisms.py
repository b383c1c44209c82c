# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Each way to take faults, natively and simulated: the kernel counts its own (getrusage)."""

from __future__ import annotations

import contextlib
import re
import subprocess
from pathlib import Path

import pytest
from native_support import Log, read, run
from tg_environment import TLBGRIND, client
from tg_huge import huge_pages

MIB = 1 << 20
# What experiment E11 publishes, and what else the kernel is known to do.
KNOWN = {
    "write": 16384,
    "dontneed": 2 * 16384,
    "read-write": 2 * 16384,
    "populate": 0,
    "populate-read": 2048,
    "populate-write": 0,
    "mlock": 0,
    "free": 2048,
    "thp": 32,
    "thp-off": 515,
    "file-read": 128,
    "file-random": 128,
    "file-willneed": 128,
    "file-write": 64 + 2048,
    "file-protect": 129,
    "shared": 128 + 2048,
    "shared-populate": 2048,
    "shared-anon": 2048,
    "mremap": 4096,
    "protect": 2048,
    "unmap": 4096,
    "fork": 2048,
    "msync": 3 * 2048,
    "grown-file": 1 + 128,
    "unlinked": 2048,
    "remove": 2 * 2048,
    "shared-protect": 2048,
    "segment": 2 * 2048,
    "mlock-protect": 0,
    "thp-zero-split": 4 + 2048,
    "zero-device": 2048,
    "zero-device-private": 1024 + 2048,
    "payload": 2048 // 4 * 3,
    "hugetlb": 4 + 4 + 1 + 4,
    "hugetlb-shared": 4,
    "hugetlb-file": 4 + 4 + 4,
}
# Without these the kernel does otherwise; the simulation is told to do so all the same.
OPTIONS = ("--thp=madvise", "--mthp=none", "--fault-around=64K", "--hugetlb=fake")
THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def simulated(tmp_path: Path, mode: str) -> tuple[Log, int]:
    """The log, and how many faults of the warm view lie in the memory that is touched."""
    logs, _ = run(
        tmp_path,
        [client("fault_mechanisms"), mode, tmp_path / "touched.file"],
        OPTIONS,
    )
    log = next(log for log in logs if "forked from" not in log.header)
    region = [
        f
        for f in log.view("warm")
        if f.map.end - f.map.start >= 4 * MIB
        and (f.map.what in ("anon", "shm") or "touched.file" in f.map.name)
        and "libc" not in f.map.name
    ]
    return log, len(region)


@pytest.mark.parametrize("mode", KNOWN)
def test_a_mechanism_makes_as_many_faults_as_published(mode: str, tmp_path: Path) -> None:
    """as many faults as published"""
    log, faults = simulated(tmp_path, mode)
    if mode == "fork":
        # Before the fork they were written to as well.
        faults -= 2048
    assert faults == KNOWN[mode]
    assert int(log.header["page size"]) == 4096


# Modes that make pages present without a fault, and how many of them getrusage() counts.
POPULATED = {"write": None, "populate": 16384, "populate-read": 2048, "populate-write": 2048, "mlock": 1024}


@pytest.mark.parametrize("mode", POPULATED)
def test_what_is_populated_is_told_apart(mode: str, tmp_path: Path) -> None:
    """The summary has what time(1) counts and perf does not."""
    _, words = run(tmp_path, [client("fault_mechanisms"), mode, tmp_path / "touched.file"], OPTIONS)
    found = re.search(r"populated: +([\d,]+)  in MAP_POPULATE", words)
    assert (int(found[1].replace(",", "")) if found else None) == POPULATED[mode]


def test_bss_apart_from_the_data_is_the_program_s(tmp_path: Path) -> None:
    """What lies in a segment of which the file has nothing is known as the program's, and taken page by page."""
    program = client("fault_bss")
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    assert re.search(r"LOAD +0x[0-9a-f]{6} .* 0x000000 0x80[0-9a-f]{4} RW ", headers), "what the linker is expected to do"
    (log,), words = run(tmp_path, [program], (*OPTIONS, "--trace-aspace=yes"))
    written = {f.page for f in log.view("warm") if f.map.what == "bss" and f.map.name == str(program)}
    assert len(written) in (2048, 2049)  # the C start code can have a variable there
    assert re.search(r"aspace: map .*program bss .*fault_bss", words)


@pytest.mark.parametrize(
    ("native", "found"), [("yes", "linux-vdso.so.1, LINUX_2.6, no function"), ("no", "none")]
)
def test_the_vdso_s_stand_in_has_the_versions_of_programs(native: str, found: str, tmp_path: Path) -> None:
    """the stand-in has the versions that programs rely on, and no function that Valgrind could not see"""
    tool = [TLBGRIND, "-q", f"--native-start={native}", "--tlbgrind-out-file=/dev/null"]
    done = subprocess.run([*tool, client("fault_vdso")], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == found


def test_the_vdso_s_stand_in_has_getrandom_where_the_kernel_has(tmp_path: Path) -> None:
    """The one function that the stand-in has, where the kernel has it: C libraries ask it when a program starts."""
    tool = [TLBGRIND, "-q", "--faults=yes", "--tlbgrind-out-file=/dev/null", "--faults-out-file=log"]
    outputs = [
        subprocess.run([*before, client("fault_vdso")], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for before in ([], tool)
    ]
    native, simulated = (output.splitlines()[1:] for output in outputs)
    assert simulated == native
    if native == ["no random bytes"]:
        pytest.skip("this kernel's vDSO has none")
    (code,) = [f for f in read(tmp_path / "log").view("warm") if f.map.name == "[vdso]" and f.kind("warm") == "x"]
    # Its code has a name, unlike code that the program makes itself.
    tool = [TLBGRIND, "-q", f"--tlbgrind-out-file={tmp_path}/out"]
    subprocess.run([*tool, client("fault_vdso")], cwd=tmp_path, capture_output=True, check=True)
    names = (tmp_path / "out").read_text()
    assert ") [vdso]\n" in names
    assert ") __vdso_getrandom\n" in names
    assert not re.search(r"^ob=\(\d+\) \?\?\?$", names, re.MULTILINE)
    (data,) = [f for f in read(tmp_path / "log").view("warm") if f.map.name == "[vvar]"]
    assert (code.page - code.map.start, data.page - data.map.start) == (4096, 8192)


def test_the_break_grows_as_far_as_natively(tmp_path: Path) -> None:
    """the break grows as far as natively, where Valgrind alone has room for 8 MiB"""
    program = client("fault_heap")
    native = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    assert int(native) > 30e6
    done = subprocess.run(
        [TLBGRIND, "--faults=yes", "--tlbgrind-out-file=/dev/null", "--faults-out-file=log", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == native
    assert "brk segment overflow" not in done.stderr
    heap = [f for f in read(tmp_path / "log").view("warm") if f.map.what == "heap"]
    assert len(heap) >= int(native) // 4096 - 33  # malloc() keeps the top for later


def native_faults(mode: str, tmp_path: Path) -> int:
    command: list[str | Path] = [client("fault_mechanisms"), mode, tmp_path / "touched.file"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def kernel_is_set_up(mode: str) -> str | None:
    if mode.startswith("thp") and (not THP.exists() or "[never]" in THP.read_text()):
        return "this host has no transparent huge pages"
    return None


@pytest.mark.parametrize("mode", KNOWN)
def test_a_mechanism_makes_as_many_faults_as_this_kernel(mode: str, tmp_path: Path) -> None:
    """as many faults as this very kernel takes"""
    reason = kernel_is_set_up(mode)
    if reason is not None:
        pytest.skip(reason)
    # A page that another process has locked at the moment does not come along: never less.
    # Of what is private in huge pages of a file, both are in use.
    with huge_pages(8) if mode.startswith("hugetlb") else contextlib.nullcontext():
        native = min(native_faults(mode, tmp_path) for _ in range(3))
    # When the kernel takes the processor away from a thread, it writes to the thread's rseq area,
    # and copies its page if that is the first write after the fork.
    assert native in ([KNOWN[mode], KNOWN[mode] + 1] if mode == "fork" else [KNOWN[mode]])


def test_rings_of_io_uring_are_there_from_the_start(tmp_path: Path) -> None:
    """no page of them is a fault, natively or simulated"""
    command = [client("fault_mechanisms"), "rings"]
    native = subprocess.run(command, capture_output=True, text=True, check=False)
    if native.stderr.startswith("io_uring_setup"):
        pytest.skip("this kernel has no io_uring, or has it switched off")
    (log,), _ = run(tmp_path, command, OPTIONS)
    by_touches = [f for f in log.view("warm") if f.code and f.code.function == "touch" and f.map.what == "file"]
    assert native.stdout == f"{len(by_touches)}\n" == "0\n"


def test_huge_pages_save_511_faults_each(tmp_path: Path) -> None:
    """511 fewer faults per 2M page"""
    log, faults = simulated(tmp_path, "thp")
    by_page = [f for f in log.faults if f.map.what == "anon" and f.page]
    touched = [f for f in by_page if f.map.end - f.map.start == 64 * MIB]
    assert len(touched) - faults == 32 * 511
    assert all(f.kind("4k") == "w" for f in touched)
