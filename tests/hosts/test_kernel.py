# test_kernel.py -- the tool under Linux of another architecture, on an emulated machine.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""User-mode qemu has this machine's kernel, with its base pages. Here the whole machine is emulated,
with Debian's kernel of the architecture: what the tool says of programs' page faults and places is
compared with what that kernel does, and the base page and the processor are those that it has.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from host_list import SOURCE, Host, System
from hosts_support import (
    build_of,
    build_tool,
    command_line,
    compile_client,
    hosts_here,
    need,
    root_of,
)
from machine_image import Image
from tg_lacking import skip_what_lacks
from tg_long import LONG

MACHINES = [(h, s) for h in hosts_here() for s in h.systems]
HUGE_PAGES, FOLIOS = "huge", "folios"  # the numbers of huge.c
THP = "/sys/kernel/mm/transparent_hugepage"
RUN = """echo "== faults {number}"
/native_run {command}
$tool --faults=yes --itlb=64,4 --dtlb=64,4 --out-prefix=/tmp/{number} {command} >/dev/null 2>/tmp/log
grep -a "as perf counts" /tmp/log
"""
SCRIPT = """#!/bin/busybox sh
PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
echo never >/sys/kernel/mm/transparent_hugepage/enabled
echo
export LC_ALL=C VALGRIND_LIB=/valgrind VALGRIND_LAUNCHER=/valgrind/none
tool="/valgrind/tlbgrind-ARCH-linux --tool=tlbgrind"
RUNS
echo "== native places"
/native_run --show /bin/busybox cat /proc/self/maps
echo "== places"
$tool -q --faults=yes --itlb=64,4 --dtlb=64,4 --out-prefix=/tmp/places /bin/busybox cat /proc/self/maps >/dev/null 2>&1
grep -a "^map" /tmp/places.faults
echo "== base page"
grep -a "^page size" /tmp/places.faults
echo "== machine"
$tool -v --machine=host --tlbgrind-out-file=/tmp/out /pages 2>&1 | grep -aE "base page|assumed: the processor"
echo always >/sys/kernel/mm/transparent_hugepage/enabled
HUGE
echo "== end"
poweroff -f
"""


@dataclass(frozen=True)
class Said:
    system: System
    commands: list[str]
    sections: dict[str, list[str]]


def libraries(host: Host, program: Path) -> list[str]:
    """Which shared objects a program or library needs, and its loader."""
    listed = subprocess.run(
        [f"{host.triplet}-readelf", "-d", "-l", program], capture_output=True, encoding="utf-8", check=True
    ).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listed) + re.findall(r"program interpreter: (.*)\]", listed)


def add_program(image: Image, host: Host, path: str, known: set[str]) -> None:
    """With all that it needs, at the paths of the packages."""
    if path in known:
        return
    known.add(path)
    place = root_of(host) / path.lstrip("/")
    image.file(path, place.read_bytes())
    for name in libraries(host, place):
        folders = (f"lib/{host.triplet}", f"usr/lib/{host.triplet}")
        found = name if name.startswith("/") else next(f"/{f}/{name}" for f in folders if (root_of(host) / f / name).exists())
        add_program(image, host, found, known)


def disk(host: Host, system: System, folder: Path) -> tuple[bytes, list[str]]:
    """The machine's files, and the commands that it compares."""
    image = Image()
    known: set[str] = set()
    tools = build_of(host) / ".in_place"
    for name in (f"tlbgrind-{host.valgrind}-linux", f"vgpreload_core-{host.valgrind}-linux.so", "default.supp"):
        image.file(f"/valgrind/{name}", (tools / name).read_bytes())
    for source in ("native_run.c", "pages.c", "huge.c"):
        image.file(f"/{source[:-2]}", compile_client(host, SOURCE / "tests" / "hosts" / source, folder).read_bytes())
    commands = ["/pages"]
    for program in host.programs if LONG else host.programs[:2]:
        path, *arguments = command_line(host, program, folder)
        inside = f"/{Path(path).relative_to(root_of(host))}"
        add_program(image, host, inside, known)
        for argument in arguments:
            if str(argument).startswith(str(SOURCE)):
                image.file(str(argument), Path(argument).read_bytes())
        commands.append(shlex.join([inside, *map(str, arguments)]))
    for path in ("/proc", "/sys", "/tmp"):
        image.folder(path)
    for name in ("sh", "mount", "cat", "grep", "poweroff"):
        image.link(f"/bin/{name}", "/bin/busybox")
    image.device("/dev/console", 5, 1)
    image.device("/dev/null", 1, 3)
    runs = "".join(RUN.format(number=n, command=command) for n, command in enumerate(commands))
    huge = RUN.format(number=HUGE_PAGES, command="/huge")
    if system.has_folios:
        huge += f"echo never >{THP}/enabled\necho always >{THP}/hugepages-16kB/enabled\n"
        huge += RUN.format(number=FOLIOS, command="/huge") + RUN.format(number=f"{FOLIOS}-0", command=commands[0])
    image.file("/init", SCRIPT.replace("ARCH", host.valgrind).replace("RUNS\n", runs).replace("HUGE\n", huge).encode())
    return image.archive(), commands


def start(system: System, kernel: Path, initial: Path) -> str:
    """What the machine wrote until it was switched off. With one processor that is the only one ever,
    or in one thread, the emulator makes a load and a store of each atomic instruction, and the load
    takes a page fault of its own."""
    done = subprocess.run(
        [system.emulator, *system.options, "-accel", "tcg,thread=multi", "-smp", "1,maxcpus=2", "-m", "2G", "-nographic", "-nodefaults", "-serial", "stdio", "-no-reboot"]
        + ["-kernel", kernel, "-initrd", initial, "-append", f"console={system.console} panic=-1 quiet rdinit=/init"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode(errors="replace").replace("\r", "")


@pytest.fixture(scope="module", params=MACHINES, ids=[" ".join(filter(None, (h.name, s.levels))) for h, s in MACHINES])
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Said:
    host, system = request.param
    assert isinstance(host, Host) and isinstance(system, System)
    need(host)
    kernel = next((root_of(host) / "boot").glob("vmlinu*"), None)
    if shutil.which(system.emulator) is None:
        skip_what_lacks(f"no {system.emulator} (Debian package: {system.package})")
    if kernel is None:
        skip_what_lacks(f"no kernel in {root_of(host) / 'boot'}: remove {root_of(host)}, and fetch it again")
    assert kernel is not None
    build_tool(host)
    folder = tmp_path_factory.mktemp("machine")
    archive, commands = disk(host, system, folder)
    initial = folder / "initial"
    initial.write_bytes(archive)
    written = start(system, kernel, initial)
    sections = re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", written, re.MULTILINE)
    assert sections and sections[-1][0] == "end", written[-3000:]
    return Said(system, commands, {title: text.splitlines() for title, text in sections})


def test_page_faults_are_the_kernels(said: Said) -> None:
    """And the one of execve() itself, which perf does not count."""
    runs: list[tuple[int | str, str]] = [*enumerate(said.commands), (HUGE_PAGES, "/huge")]
    if said.system.has_folios:
        runs += [(FOLIOS, "/huge"), (f"{FOLIOS}-0", said.commands[0])]
    for number, command in runs:
        lines = said.sections[f"faults {number}"]
        native = {int(line.split()[1]) for line in lines if line.startswith("native ")}
        counted = [int(re.sub(r".*faults: *([\d,]+).*", r"\1", line).replace(",", "")) for line in lines if "perf" in line]
        assert native == {n + 1 for n in counted}, (command, lines)
        assert len(counted) == 1, (command, lines)


def test_places_are_the_kernels(said: Said) -> None:
    """Each file of the program and the vDSO, and of each file each part."""
    native = [line.split() for line in said.sections["native places"]]
    parts: dict[int, tuple[int, int, str]] = {}
    for words in native:
        start, end = (int(word, 16) for word in words[0].split("-"))
        parts[start] = (end, int(words[2], 16), words[5] if len(words) > 5 else "")
    seen = set()
    for line in said.sections["places"]:
        _, _, low, high, place, _, kind, offset, name = line.split("\t")
        if kind not in ("file", "vdso"):
            continue
        at = int(place, 16)
        inside = [(s, o, n) for s, (e, o, n) in parts.items() if s <= at < e]
        assert len(inside) == 1, line
        begin, begins_with, whose = inside[0]
        assert whose == name, line
        if kind == "file":
            assert at - begin + begins_with == int(offset, 16), line
        else:
            assert begin == at and parts[begin][0] - at == int(high, 16) - int(low, 16), line
        seen.add(name)
    assert seen == {name for _, _, name in parts.values() if name not in ("", "[heap]", "[stack]", "[vvar]")}


def test_base_page_and_processor_are_those_of_the_machine(said: Said) -> None:
    assert said.sections["base page"] == [f"page size: {said.system.page}"]
    text = "\n".join(said.sections["machine"])
    assert f"Machine: host, base page {said.system.page} bytes" in text
    assert said.system.processor in text
