# hosts_support.py -- the tool of a host: built, and run, under qemu if it is of another processor.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Builds the tool for another architecture with Debian's cross compiler and Valgrind package, and
runs it and Valgrind's own tools there under user-mode qemu; or runs the tool of this machine.

A tool is started directly: Valgrind's launcher and the following of exec do not work under this
qemu, for it executes the host's program.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shlex
import shutil
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from host_list import HOSTS, Host, Program
from tg_lacking import skip_what_lacks

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



def root_of(host: Host) -> Path:
    """What the host's programs lie in: the packages of tests/hosts/get-packages, or this system."""
    if not host.qemu:
        return Path("/")
    return Path(os.environ.get("TG_HOSTS", BUILD / "hosts")) / f"{host.debian}-{host.release}"


def build_of(host: Host) -> Path:
    return BUILD / "tests" / "hosts" / f"{host.debian}-{host.release}" if host.qemu else BUILD


def compiler_of(host: Host) -> list[str]:
    if host.qemu:
        return [f"{host.triplet}-gcc"]
    return [*shlex.split(os.environ.get("CC", "gcc")), "-m32" if host.valgrind == "x86" else "-m64"]


def emulator_of(host: Host) -> list[str]:
    if not host.qemu:
        return []
    found = shutil.which(host.qemu) or shutil.which(f"{host.qemu}-static")
    assert found is not None
    return [found, *host.emulator_options]


def hosts_here() -> list[Host]:
    """Those that this machine can run if the packages are there."""
    if os.environ.get("TG_EVERY_HOST"):
        return list(HOSTS)
    processors = {"x86_64": {"amd64"} | ({"x86"} if os.environ.get("TG_HAVE_X86") == "yes" else set())}
    mine = processors.get(platform.machine(), set())
    done = subprocess.run([os.environ.get("VALGRIND", "valgrind"), "--version"], capture_output=True, encoding="utf-8", check=True)
    version = done.stdout.strip().removeprefix("valgrind-")
    return [h for h in HOSTS if h.qemu or (h.valgrind in mine and version.startswith(f"{h.version}."))]


def lacks(host: Host) -> str | None:
    """What is missing on this machine to build for and run a host of another processor."""
    compiler = f"{host.triplet}-gcc"
    if shutil.which(compiler) is None:
        return f"no {compiler} (Debian package: gcc-{host.triplet})"
    if not (shutil.which(host.qemu) or shutil.which(f"{host.qemu}-static")):
        return f"no {host.qemu} (Debian package: qemu-user-static)"
    if not (root_of(host) / "complete").exists():
        return (
            f"no packages of {host.debian} in {root_of(host)}: "
            f"tests/hosts/get-packages {host.debian} {host.release} {root_of(host)} fetches them"
        )
    return None


def need(host: Host) -> None:
    """Skips the test on a machine that lacks something."""
    missing = lacks(host) if host.qemu else None
    if missing is not None:
        skip_what_lacks(missing)


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
    """As a user would do it on this machine; a second run builds only what has changed. The tool of
    this machine is built."""
    if not host.qemu:
        return
    build = build_of(host)
    build.mkdir(parents=True, exist_ok=True)
    with (build / "lock").open("w") as lock:
        # Tests of several files run at once.
        fcntl.flock(lock, fcntl.LOCK_EX)
        build_for(host, build)


def build_for(host: Host, build: Path) -> None:
    log = build / "log"
    log.unlink(missing_ok=True)
    if not (build / "Makefile").exists():
        valgrind = f"--with-valgrind={root_of(host) / 'usr'}"
        configure: list[str | Path] = [SOURCE / "configure", f"--host={host.triplet}", valgrind, "--enable-werror", "PKG_CONFIG=pkg-config"]
        checked(configure, build, log)
    made = re.search(r"^VALGRIND_VERSION = (.*)$", (build / "Makefile").read_text(), re.MULTILINE)
    assert made and made[1].startswith(f"{host.version}."), (
        f"the Valgrind of {host.release} is {made and made[1]}: tests/hosts/host_list.py says {host.version}"
    )
    wanted = [f"tlbgrind/tlbgrind-{host.valgrind}-linux", ".in_place/stamp"]
    # Without the oracles it is the same code with another Valgrind, and linking is half of the time.
    quickly = [] if host.oracles else ["TG_LTO_CFLAGS="]
    checked(["make", "-j2", *quickly, *wanted], build, log)


def build_tracer(host: Host) -> None:
    """The tool that keeps a trace in memory, linked as configure links its smallest tool."""
    archives = next(root_of(host).glob(f"usr/lib/**/libcoregrind-{host.valgrind}-linux.a")).parent
    defines = [f"-DVGA_{host.valgrind}=1", "-DVGO_linux=1", f"-DVGP_{host.valgrind}_linux=1", f"-DVGPV_{host.valgrind}_linux_vanilla=1"]
    alone = ["-static", "-nodefaultlibs", "-nostartfiles", "-u", "_start", "-Wl,-Ttext-segment=0x58000000"]
    code = ["-std=gnu11", "-O2", "-fno-pic", "-fno-pie", "-fno-stack-protector", "-fno-strict-aliasing", "-fno-builtin"]
    warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
    program = build_of(host) / ".in_place" / f"tracer-{host.valgrind}-linux"
    command: list[str | Path] = [f"{host.triplet}-gcc", "-isystem", root_of(host) / "usr/include/valgrind"]
    command += [*defines, *code, *alone, *warnings, "-o", program, SOURCE / "tests/hosts/tracer.c"]
    command += [archives / f"lib{part}-{host.valgrind}-linux.a" for part in ("coregrind", "vex")]
    command += ["-lgcc", archives / f"libgcc-sup-{host.valgrind}-linux.a"]
    checked(command, build_of(host), build_of(host) / "tracer.log")


def compile_client(host: Host, source: Path, folder: Path, *flags: str) -> Path:
    program = folder / source.stem
    # Valgrind reads no debug information of a program with a segment that the file has nothing of.
    pages = "-Wl,-z,max-page-size=65536"
    options = ["-g", "-O1", "-fno-pie", "-no-pie", "-static", pages, "-Wall", "-Werror"]
    checked([*compiler_of(host), *options, *flags, "-o", program, source], folder, folder / "log")
    return program


def command_line(host: Host, program: Program, folder: Path) -> list[str | Path]:
    if not program.path.endswith(".c"):
        return [root_of(host) / program.path, *program.arguments]
    compiled = folder / host.name
    compiled.mkdir(exist_ok=True)
    return [compile_client(host, SOURCE / program.path, compiled), *program.arguments]


def run(host: Host, tool: str, options: Sequence[str], program: Sequence[str | Path]) -> tuple[str, str]:
    """What the program printed, and what Valgrind did."""
    folder = build_of(host) / ".in_place"
    setarch = ["setarch", "-R"] if shutil.which("setarch") else []
    done = subprocess.run(
        [*setarch, *emulator_of(host), folder / f"{tool}-{host.valgrind}-linux", f"--tool={tool}", *options, *program],
        env={
            "PATH": "/usr/bin:/bin",
            "LC_ALL": "C",
            "QEMU_LD_PREFIX": str(root_of(host)),
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
