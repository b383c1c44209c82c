# hosts_support.py -- the tool for another architecture: built, and run under qemu.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Builds the tool for another architecture with Debian's cross compiler and Valgrind package, and
runs it and Valgrind's own tools there under user-mode qemu.

A tool is started directly: Valgrind's launcher and the following of exec do not work under this
qemu, for it executes the host's program.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

BUILD = Path(os.environ["TG_BUILDDIR"])
SOURCE = Path(os.environ["TG_SRCDIR"])

sys.path.insert(0, str(SOURCE / "tlbgrind"))
from tgreport.formats import outfile

EVENTS = ("Ir", "I1tm", "ILtm", "Dr", "D1tmr", "DLtmr", "Dw", "D1tmw", "DLtmw")

# How Vex must translate for lackey and cachegrind to see what the tool sees: see
# tests/oracle/oracle_support.py.
UNCHASED = ("--vex-guest-chase=no", "--vex-iropt-unroll-thresh=0")

# Lackey writes its trace between a load-exclusive and the store-exclusive behind it, and after a
# system call the latter fails, for ever. With this, Valgrind takes both apart into loads and compare
# and swap, for each tool alike.
FALLBACK = "--sim-hints=fallback-llsc"
ALL_LOADS = ("--px-default=allregs-at-each-insn", "--px-file-backed=allregs-at-each-insn")


@dataclass(frozen=True)
class Host:
    """An architecture, by its names."""

    valgrind: str
    debian: str
    triplet: str
    qemu: str
    release: str
    machine: str  # a processor of it
    own_tracer: bool = False  # lackey can not trace programs there: tracer.c

    @property
    def root(self) -> Path:
        """The packages of tests/hosts/get-packages."""
        return Path(os.environ.get("TG_HOSTS", BUILD / "hosts")) / f"{self.debian}-{self.release}"

    @property
    def build(self) -> Path:
        return BUILD / "tests" / "hosts" / f"{self.debian}-{self.release}"

    def emulator(self) -> str | None:
        return shutil.which(self.qemu) or shutil.which(f"{self.qemu}-static")

    def lacks(self) -> str | None:
        """What is missing on this machine to build for and run it."""
        compiler = f"{self.triplet}-gcc"
        if shutil.which(compiler) is None:
            return f"no {compiler} (Debian package: gcc-{self.triplet})"
        if self.emulator() is None:
            return f"no {self.qemu} (Debian package: qemu-user-static)"
        if not (self.root / "complete").exists():
            return (
                f"no packages of {self.debian} in {self.root}: "
                f"tests/hosts/get-packages {self.debian} {self.release} {self.root} fetches them"
            )
        return None


def need(host: Host) -> None:
    """Skips the test on a machine that lacks something; in CI, which installs it, that is an error."""
    lacks = host.lacks()
    if lacks is not None and os.environ.get("CI") == "true":
        pytest.fail(lacks)
    if lacks is not None:
        pytest.skip(lacks)


def checked(command: Sequence[str | Path], place: Path, log: Path) -> None:
    with log.open("ab") as out:
        done = subprocess.run(
            command,
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            # The tests' own variables name the build for this machine.
            env={
                name: value
                for name, value in os.environ.items()
                if name not in ("CC", "VALGRIND", "PKG_CONFIG", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
            },
            check=False,
        )
    assert done.returncode == 0, log.read_text(errors="replace")[-3000:]


def build_tool(host: Host) -> None:
    """As a user would do it on this machine; a second run builds only what has changed."""
    host.build.mkdir(parents=True, exist_ok=True)
    log = host.build / "log"
    log.unlink(missing_ok=True)
    if not (host.build / "Makefile").exists():
        configure: list[str | Path] = [SOURCE / "configure", f"--host={host.triplet}", f"--with-valgrind={host.root / 'usr'}"]
        checked([*configure, "--enable-werror", "PKG_CONFIG=pkg-config"], host.build, log)
    wanted = [f"tlbgrind/tlbgrind-{host.valgrind}-linux", ".in_place/stamp"]
    checked(["make", "-j2", *wanted], host.build, log)


def build_tracer(host: Host) -> None:
    """The tool that keeps a trace in memory, linked as configure links its smallest tool."""
    archives = next(host.root.glob(f"usr/lib/**/libcoregrind-{host.valgrind}-linux.a")).parent
    platform = [f"-DVGA_{host.valgrind}=1", "-DVGO_linux=1", f"-DVGP_{host.valgrind}_linux=1", f"-DVGPV_{host.valgrind}_linux_vanilla=1"]
    alone = ["-static", "-nodefaultlibs", "-nostartfiles", "-u", "_start", "-Wl,-Ttext-segment=0x58000000"]
    code = ["-std=gnu11", "-O2", "-fno-pic", "-fno-pie", "-fno-stack-protector", "-fno-strict-aliasing", "-fno-builtin"]
    checked(
        [f"{host.triplet}-gcc", "-isystem", host.root / "usr/include/valgrind", *platform, *code, *alone]
        + ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
        + ["-o", host.build / ".in_place" / f"tracer-{host.valgrind}-linux", SOURCE / "tests/hosts/tracer.c"]
        + [archives / f"lib{part}-{host.valgrind}-linux.a" for part in ("coregrind", "vex")]
        + ["-lgcc", archives / f"libgcc-sup-{host.valgrind}-linux.a"],
        host.build,
        host.build / "log",
    )


def compile_client(host: Host, source: Path, folder: Path, *flags: str) -> Path:
    program = folder / source.stem
    # Valgrind reads no debug information of a program with a segment that the file has nothing of.
    pages = "-Wl,-z,max-page-size=65536"
    command = [f"{host.triplet}-gcc", "-g", "-O1", "-fno-pie", "-no-pie", "-static", pages, "-Wall", "-Werror"]
    checked([*command, *flags, "-o", program, source], folder, folder / "log")
    return program


def run(host: Host, tool: str, options: Sequence[str], program: Sequence[str | Path]) -> tuple[str, str]:
    """What the program printed, and what Valgrind did."""
    folder = host.build / ".in_place"
    emulator = host.emulator()
    assert emulator is not None
    setarch = ["setarch", "-R"] if shutil.which("setarch") else []
    done = subprocess.run(
        [*setarch, emulator, folder / f"{tool}-{host.valgrind}-linux", f"--tool={tool}", *options, *program],
        env={
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C",
            "QEMU_LD_PREFIX": str(host.root),
            "VALGRIND_LIB": str(folder),
            "VALGRIND_LAUNCHER": "/usr/bin/valgrind",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    said = done.stderr.decode(errors="replace")
    assert done.returncode == 0, f"{tool} on {program[0]}: status {done.returncode}\n{said[-3000:]}"
    return done.stdout.decode(errors="replace"), said


def profile(path: Path) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """The totals of an out-file, and the counts of each function."""
    data = outfile.read(str(path))
    width = len(data.events)
    functions: dict[str, Counter[str]] = {}
    for (function, _), part in data.runs.items():
        counts = functions.setdefault(function.name, Counter())
        for start in range(0, len(part.rows), width + 1):
            counts.update(dict(zip(data.events, part.rows[start + 1 : start + 1 + width])))
    return Counter(dict(zip(data.events, data.totals))), functions


def accesses(host: Host, program: Sequence[str | Path], folder: Path) -> list[tuple[str, int, int]]:
    """(kind, address, size) of lackey, in the program's order; M is a modify."""
    log = folder / "trace"
    if host.own_tracer:
        run(host, "tracer", [*UNCHASED, f"--trace-file={log}"], program)
        kept = log.read_bytes()
        log.unlink()
        return [(chr(letter), address, size) for address, size, letter in struct.iter_unpack("<QII", kept)]
    options = [*UNCHASED, FALLBACK, "--basic-counts=no", "--trace-mem=yes", f"--log-file={log}"]
    run(host, "lackey", options, program)

    def lines() -> Iterator[tuple[str, int, int]]:
        with log.open(encoding="ascii", errors="replace") as file:
            for line in file:
                if not line.startswith("=="):
                    kind, where = line.split()
                    address, size = where.split(",")
                    yield kind, int(address, 16), int(size)

    found = list(lines())
    log.unlink()
    return found
