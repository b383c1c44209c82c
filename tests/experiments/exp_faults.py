# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""For experiments on page faults: a program's fault log, and the faults that this machine's kernel takes."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from exp_frame import Missing
from exp_lab import HERE, Lab, setting

sys.path[:0] = [str(HERE.parent), str(HERE.parent / "faults")]

from native_support import ENVIRONMENT
from tgreport.formats import faultlog
from tgreport.formats.faultlog import FaultLog

PAGE = 4096
TG_FAULTS = HERE.parents[1] / "tlbgrind" / "tg_faults"
# Whatever the host's kernel is set to.
KERNEL = ("--thp=madvise", "--mthp=none", "--fault-around=64K", "--page-size=4K")
# Natively the C library picks the functions that it picks on Valgrind's processor.
SAME_LIBRARY = {"GLIBC_TUNABLES": ENVIRONMENT["GLIBC_TUNABLES"]}
SWITCH = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def record(lab: Lab, name: str, command: Sequence[object], *options: str, env: Mapping[str, str] | None = None) -> tuple[FaultLog, str]:
    """The program's faults, and what it printed."""
    path = lab.folder / f"{name}.faults"
    tool = [*setting("TLBGRIND"), "-q", *KERNEL, "--faults=yes", f"--faults-out-file={path}", *options]
    printed = lab.call([*tool, f"--tlbgrind-out-file={lab.folder / name}.out", *command], env=env)
    return faultlog.read(str(path)), printed


def show(lab: Lab, *arguments: object) -> str:
    """What tg_faults prints; not the folder's name on each line."""
    return lab.call([*setting("PYTHON"), TG_FAULTS, *arguments]).replace(f"{lab.folder}/", "")


def section(text: str, title: str) -> str:
    """The table below that title."""
    return text.partition(f"-- {title}")[2].partition("\n")[2].partition("\n\n")[0]


class Native(NamedTuple):
    """A fault that the kernel took."""

    page: int
    letter: str  # as pagein has it: C(ode), whose address is that of the instruction, or D(ata)


def kernel_order(lab: Lab, command: Sequence[object], env: Mapping[str, str]) -> tuple[list[Native], Path]:
    """The faults of a native run without address randomisation, and the listing that perf makes of them."""
    perf = lab.need("perf", "linux-perf")
    setarch = lab.need("setarch", "util-linux")
    data, listing = lab.folder / "perf.data", lab.folder / "perf.txt"
    given = [f"{name}={value}" for name, value in {**lab.environment, **env}.items()]
    # perf has variables of its own for what it starts, and env takes them away.
    words = [perf, "record", "-q", "-e", "page-faults", "-c", "1", "-d", "-o", data, setarch, "-R", "env", "-i", *given, *command]
    done = subprocess.run(
        [str(word) for word in words], cwd=lab.folder, env=lab.environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise Missing(f"perf cannot record page faults here: {' | '.join(done.stderr.strip().splitlines()[-1:])}")
    text = lab.call([perf, "script", "-i", data, "-F", "comm,pid,addr,ip,sym"])
    listing.write_text(text, encoding="utf-8")
    name = Path(str(command[0])).name[:15]
    lines = re.findall(r"^\s*(\S.*?)\s+\d+\s+([0-9a-f]+) .*?\s([0-9a-f]{4,16}) .*$", text, re.MULTILINE)
    found = [(int(address, 16), int(at, 16)) for comm, address, at in lines if comm == name]
    if not found:
        raise Missing("perf records no page faults here")
    return [Native(address // PAGE * PAGE, "C" if address == at else "D") for address, at in found], listing


def host() -> str:
    """What of the kernel decides how many faults it takes."""
    modes = re.search(r"\[(\w+)\]", SWITCH.read_text(encoding="ascii")) if SWITCH.exists() else None
    return f"Linux {platform.release()}, transparent huge pages: {modes[1] if modes else 'none'}"
