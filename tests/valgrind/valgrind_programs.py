# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Gets Valgrind's sources as Debian has them, and builds the programs of its regression tests.

Everything lies in one folder, outside of the sources, and stays there: apt's lists of source packages, the
package, and the tree in which the programs are built. Nothing of the system's apt is changed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
# Folders with programs that need nothing but themselves; those of gdbserver need gdb at the other end.
SUITES = ("none", "memcheck", "helgrind", "drd", "cachegrind", "callgrind", "massif", "dhat", "lackey")
PLATFORMS = ("", "linux", "amd64", "amd64-linux", "x86", "x86-linux")
# Of the options of a test, those of the core that decide what a program can do. Some tests have values that the
# core refuses.
CORE_OPTIONS = re.compile(
    r"--((smc-check|sim-hints|kernel-variant|main-stacksize|max-threads|fair-sched|aspace-minaddr"
    r"|valgrind-stacksize|num-transtab-sectors|vex-[a-z-]+|px-[a-z-]+)=|trace-children=(yes|no)$)"
)


class Program(NamedTuple):
    """What a file .vgtest has executed."""

    name: str  # folder/test
    folder: Path
    command: str  # for a shell, in the folder
    options: tuple[str, ...]
    needs: str  # a shell command; its failure says that the test cannot be run here
    cleanup: str


class Missing(Exception):
    """The sources cannot be had or built here."""


def step(what: str, command: Sequence[str | Path], folder: Path, log: Path) -> None:
    with open(log, "ab") as output:
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Missing(f"{what}: see {log}")


def release() -> str:
    """Debian's name for the release here, such as bookworm."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    found = re.search(r"^VERSION_CODENAME=(\w+)", text, re.MULTILINE)
    if "ID=debian" not in text or not shutil.which("apt-get"):
        raise Missing("only Debian's sources are fetched; give a folder by --source=DIR")
    return found[1] if found else "sid"


def fetch(version: str, cache: Path, mirror: str) -> Path:
    """The unpacked source package, in the version of the Valgrind at hand."""
    tree = cache / f"valgrind-{version}"
    if (tree / "configure").exists():
        return tree
    apt = cache / "apt"
    for folder in ("lists/partial", "archives/partial", "parts"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    names = {release(), "sid"}
    lines = [f"deb-src [signed-by={KEYRING}] {mirror} {name} main\n" for name in sorted(names)]
    (apt / "sources.list").write_text("".join(lines), encoding="utf-8")
    options = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": apt / "parts",
        "Dir::State::Lists": apt / "lists",
        "Dir::Cache": apt,
    }
    get = ["apt-get", *(f"-o{name}={value}" for name, value in options.items())]
    log = cache / "fetch.log"
    step("the lists of source packages cannot be had", [*get, "update"], cache, log)
    show = ["apt-cache", *get[1:], "showsrc", "--only-source", "valgrind"]
    shown = subprocess.run(show, capture_output=True, text=True, check=False).stdout
    versions = [text for text in re.findall(r"^Version: (\S+)", shown, re.MULTILINE) if re.search(rf"(^|:){re.escape(version)}\b", text)]
    if not versions:
        raise Missing(f"no source package of Valgrind {version} in {', '.join(sorted(names))}")
    step("the source package cannot be had", [*get, "source", f"valgrind={versions[0]}"], cache, log)
    if not (tree / "configure").exists():
        raise Missing(f"the source package has no folder {tree.name}")
    return tree


def build(tree: Path, jobs: int) -> None:
    """The programs, without Valgrind itself. Some are for other compilers or kernels, and are not there then."""
    log = tree / "tlbgrind-build.log"
    if not (tree / "config.status").exists():
        step("configure fails", ["./configure"], tree, log)
    if not (tree / "tests" / "os_test").exists():
        step("make fails", ["make", f"-j{jobs}", "-C", "tests", "check"], tree, log)
    for suite in SUITES:
        done = tree / suite / "tests" / "tlbgrind-built"
        if not done.exists():
            with open(log, "ab") as output:
                subprocess.run(["make", "-k", f"-j{jobs}", "-C", f"{suite}/tests", "check"], cwd=tree, stdout=output, stderr=output, check=False)
            done.touch()


def read(file: Path) -> dict[str, str]:
    """What a file .vgtest says. Of what stands twice the last counts, as in Valgrind's own script; but options add up."""
    said: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() and not key.startswith("#"):
            key = key.strip()
            said[key] = f"{said.get(key, '')} {value.strip()}".strip() if key == "vgopts" else value.strip()
    return said


def programs(tree: Path) -> Iterator[Program]:
    """Each program with its arguments once, in whichever suite it comes first."""
    seen = set()
    for suite in SUITES:
        for platform in PLATFORMS:
            folder = tree / suite / "tests" / platform
            for file in sorted(folder.glob("*.vgtest")):
                said = read(file)
                if "prog" not in said:
                    continue
                options = tuple(word for word in said.get("vgopts", "").split() if CORE_OPTIONS.match(word))
                program, _, rest = said["prog"].partition(" ")
                if not program.startswith(("/", "./", "../")) and (folder / program).exists():
                    program = f"./{program}"
                command = " ".join(f"{program} {rest} {said.get('args', '')}".split())
                # In helgrind's and drd's folders the same program stands as ../../helgrind/tests/NAME, too.
                where = (folder / program).resolve()
                key = (where, command.partition(" ")[2], options)
                if key in seen:
                    continue
                seen.add(key)
                name = "/".join(part for part in (suite, platform, file.stem) if part)
                yield Program(name, folder, command, options, said.get("prereq", ""), said.get("cleanup", ""))
