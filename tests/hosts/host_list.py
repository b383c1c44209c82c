# host_list.py -- which architectures with which versions of Valgrind the tests of tests/hosts/ run.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A host is an architecture with one version of Valgrind: that of a Debian release.

Hosts of this machine's processor run where that Valgrind is installed, in `make check' and in the
roots of .ci/releases; others run under user-mode qemu, with unpacked packages of that release.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]

# The Valgrind of each release; a test fails where it has become another.
RELEASES = {"bookworm": "3.19", "trixie": "3.24", "sid": "3.27"}
RELEASE_NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13", "sid": "Debian sid"}


@dataclass(frozen=True)
class Program:
    """A program of the distribution, by its path there, or a source file; all tools can run it."""

    path: str
    arguments: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return Path(self.path).stem


@dataclass(frozen=True)
class System:
    """A whole machine that is emulated for test_kernel.py, and what the tool must find there."""

    emulator: str
    package: str
    options: tuple[str, ...]
    console: str  # and other words for the kernel
    page: int
    processor: str
    levels: str = ""  # of its page tables, where there is a choice
    has_folios: bool = False  # its kernel has anonymous folios of sizes that can be chosen: Linux 6.8


@dataclass(frozen=True)
class Host:
    """An architecture, by its names, with the Valgrind of a release."""

    valgrind: str
    debian: str
    triplet: str
    qemu: str  # empty: the processor at hand
    release: str
    machine: str  # a processor of it
    programs: tuple[Program, ...]
    more_programs: tuple[Program, ...] = ()  # for the comparison with cachegrind alone
    oracles: bool = True  # whether lackey and cachegrind run there, too
    references: str = ""  # the source of functions whose references are known; default: refs_ARCH.c
    large_pages: str = "all:contig"
    own_tracer: bool = False  # lackey can not trace programs there: tracer.c
    # Where the emulator forgets a reservation now and then, and the program goes round its loop once
    # more, counts are compared so often at most. What is wrong is so each time.
    tries: int = 1
    systems: tuple[System, ...] = ()
    emulator_options: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        return RELEASES[self.release]

    @property
    def name(self) -> str:
        return f"{self.valgrind}-{self.version}"

    @property
    def known_references(self) -> Path:
        return SOURCE / "tests" / (self.references or f"hosts/refs_{self.valgrind}.c")


SORTED = "select sum(x) from (with recursive n(x) as (select 1 union all select x + 1 from n where x < 50) select x from n order by -x)"
LOOP = Program("bin/bash", ("-c", "for i in 1 2 3; do echo $((i * i)); done"))
PYTHON = Program("usr/bin/python3", ("-S", "-c", "print(sum(range(100)))"))
SMALL = (
    Program("bin/busybox", ("sort", str(SOURCE / "tests" / "hosts" / "refs.h"))),
    LOOP,
    Program("usr/bin/sqlite3", (":memory:", SORTED)),
    Program("usr/bin/xz", ("-0", "-T1", "-c", str(SOURCE / "tests" / "hosts" / "refs.h"))),
)
# What each root has. How much memory is free decides what sort does, unless told.
ESSENTIAL = (
    Program("usr/bin/sort", ("--parallel=1", "-S1M", "-k3", str(SOURCE / "NEWS"))),
    LOOP,
    Program("bin/gzip", ("-n", "-c", str(SOURCE / "tests" / "hosts" / "refs.h"))),
    Program("bin/sed", ("-n", "s/function/call/p", str(SOURCE / "tests" / "hosts" / "refs.h"))),
)
COMPILED = (Program("tests/hosts/pages.c"),)


AMD64 = Host(
    "amd64", "amd64", "x86_64-linux-gnu", "", "bookworm", "skylake", ESSENTIAL, (PYTHON,),
    references="clients/oracle_refs.c", large_pages="all:2M",
)
# Debian's root for 64 bits has no programs of 32.
X86 = Host(
    "x86", "i386", "i686-linux-gnu", "", "bookworm", "skylake", COMPILED,
    references="clients/oracle_refs.c", large_pages="all:2M",
)
# Debian has signed return addresses since trixie; to sign as a processor does takes the emulator seven
# times as long as all the rest.
ARM64 = Host(
    "arm64", "arm64", "aarch64-linux-gnu", "qemu-aarch64", "bookworm", "neoverse-v2", SMALL, (PYTHON,),
    emulator_options=("-cpu", "max,pauth-impdef=on"),
)
# The emulated machines of test_kernel.py.
ARM_SYSTEM = System(
    "qemu-system-aarch64", "qemu-system-arm", ("-M", "virt", "-cpu", "neoverse-n1"), "ttyAMA0", 4096,
    "the processor has CPU implementer 0x41 part 0xd0c variant 0x4, which the machine file neoverse-n1 describes",
)
POWER_SYSTEM = System(
    "qemu-system-ppc64", "qemu-system-ppc",
    # The emulation has none of what is off, and says so at length.
    ("-M", "pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off", "-cpu", "power9"),
    "hvc0", 65536, "the processor has PVR version 0x4e, which the machine file power9 describes",
)
RISCV_SYSTEM = System(
    "qemu-system-riscv64", "qemu-system-misc, since Debian sid qemu-system-riscv", ("-M", "virt"), "ttyS0", 4096,
    "the processor's arrays: no machine file describes RISC-V marchid ", levels="five levels", has_folios=True,
)

HOSTS = (
    AMD64,
    replace(AMD64, release="trixie"),
    # Python 3.14 asks for its stack in /proc/self/maps, which is another under each tool.
    replace(AMD64, release="sid", more_programs=()),
    X86,
    replace(X86, release="trixie"),
    replace(X86, release="sid"),
    replace(ARM64, systems=(ARM_SYSTEM,)),
    # The emulation is slow: other versions of Valgrind run what takes seconds.
    replace(ARM64, release="trixie", programs=COMPILED, oracles=False),
    replace(ARM64, release="sid", programs=COMPILED, oracles=False),
    Host(
        "ppc64le", "ppc64el", "powerpc64le-linux-gnu", "qemu-ppc64le", "bookworm", "power9", SMALL,
        large_pages="all:2M", own_tracer=True, tries=6,
        systems=(POWER_SYSTEM,),
    ),
    # Python 3.14 does not end on riscv64 under qemu, nor with Valgrind's own tool none.
    Host(
        "riscv64", "riscv64", "riscv64-linux-gnu", "qemu-riscv64", "sid", "p550", SMALL,
        systems=(RISCV_SYSTEM, replace(RISCV_SYSTEM, console="ttyS0 no4lvl no5lvl", levels="three levels")),
    ),
)
