# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""For experiments on function orders: entries files, orders, relinked programs, and the code faults that the kernel
takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exp_frame import Missing
from exp_lab import HERE, PATH, Lab, setting
from tgreport.formats import elf, entries
from tgreport.places import layout
from tgreport.places.order import Order, order
from tgreport.places.trace import Function, Trace, load

PAGE = 4096
TG_ORDER = HERE.parents[1] / "tlbgrind" / "tg_order"

# The flags with which gcc hands an order to each linker.
LINKERS = {
    "bfd-script": ("ld.bfd", "binutils", ("-fuse-ld=bfd", "-Wl,-T,{}")),
    "bfd": ("ld.bfd", "binutils", ("-fuse-ld=bfd", "-Wl,--section-ordering-file={}")),
    "gold": ("ld.gold", "binutils", ("-fuse-ld=gold", "-Wl,--section-ordering-file,{}")),
    "lld": ("ld.lld", "lld", ("-fuse-ld=lld", "-Wl,--symbol-ordering-file={}", "-Wl,--no-warn-symbol-ordering")),
}


def linkers() -> list[str]:
    """Those that are installed; GNU ld has its own ordering file since 2.43."""
    found = []
    for name, (program, _, _) in LINKERS.items():
        path = shutil.which(program, path=PATH)
        if path is None:
            continue
        if name == "bfd":
            text = subprocess.run([path, "--help"], check=True, capture_output=True, text=True).stdout
            if "--section-ordering-file" not in text:
                continue
        found.append(name)
    return found


def not_there(found: Sequence[str]) -> list[str]:
    """A note for each linker that is not."""
    return [
        f"{name} was not tried: " + ("it needs GNU ld 2.43" if name == "bfd" else f"Debian package {package}")
        for name, (_, package, _) in LINKERS.items()
        if name not in found
    ]


@dataclass
class Run:
    """What a program executed, and the order that follows from it."""

    lab: Lab
    path: Path
    trace: Trace = field(init=False)
    order: Order = field(init=False)

    def __post_init__(self) -> None:
        self.trace = load(entries.read(str(self.path)), "", "", [])
        self.order = order([self.trace], [1.0], 0)

    @property
    def functions(self) -> list[Function]:
        return [placed.function for placed in self.order.placed]

    def file(self, linker: str, *options: object) -> Path:
        """The order for a linker."""
        out = self.lab.folder / f"order.{linker}"
        self.lab.call([*setting("PYTHON"), TG_ORDER, f"--{linker}={out}", *options, self.path])
        return out

    def now(self) -> layout.Measure:
        """What its own layout costs it."""
        return layout.measure(self.trace.touches, layout.own_places(self.trace), layout.Text(self.binary))

    def forecast(self, at_end: bool) -> layout.Measure:
        places = layout.forecast_places(self.trace, self.functions, self.binary, at_end, False)
        return layout.measure(self.trace.touches, places, layout.Text(self.binary))

    @property
    def binary(self) -> elf.Elf:
        assert self.trace.binary is not None
        return self.trace.binary


def record(lab: Lab, program: Path, *arguments: object, env: Mapping[str, str] | None = None) -> Run:
    out = lab.folder / f"{program.name}.entries"
    tool = [*setting("TLBGRIND"), "-q", "--machine=default", "--entries=yes", f"--entries-out-file={out}"]
    lab.call([*tool, f"--tlbgrind-out-file={lab.folder / 'order.out'}", program, *arguments], env=env)
    return Run(lab, out)


def link_flags(linker: str, order_file: Path) -> list[str]:
    return [flag.format(order_file) for flag in LINKERS[linker][2]]


# ---------------------------------------------------------------- the kernel's own count


@dataclass
class Native:
    """Page faults of a run without Valgrind."""

    total: int
    code: int  # instruction fetches from the program's own code


def in_small_folios(program: Path) -> None:
    """Writes the file anew, page by page: just after linking it is in large pieces of the page cache, which the kernel
    maps with fewer faults than it will after the next start of the machine."""
    data = program.read_bytes()
    mode = program.stat().st_mode
    program.unlink()
    handle = os.open(program, os.O_WRONLY | os.O_CREAT, mode & 0o777)
    try:
        for at in range(0, len(data), PAGE):
            os.write(handle, data[at : at + PAGE])
        # Pages that are being written to the disk are not mapped along with others.
        os.fsync(handle)
    finally:
        os.close(handle)


def native_faults(lab: Lab, program: Path, *arguments: object, env: Mapping[str, str] | None = None) -> Native:
    """Counted with perf, without address randomisation. A fetch is a fault whose address is that of the instruction."""
    perf = lab.need("perf", "linux-perf")
    in_small_folios(program)
    data = lab.folder / "perf.data"
    command = [lab.need("setarch", "util-linux"), "-R", perf, "record", "-q", "-e", "page-faults", "-c", "1", "-d", "-o"]
    done = subprocess.run(
        [*map(str, command), str(data), str(program), *map(str, arguments)],
        cwd=lab.folder, env={**lab.environment, **(env or {})}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise Missing(f"perf cannot count page faults here: {done.stderr.strip().splitlines()[-1:]}")
    listing = lab.call([perf, "script", "-i", data, "-F", "comm,addr,ip"])
    binary = elf.read(str(program))
    base = layout.PIE_BASE if binary.is_pie else 0
    total = code = 0
    for line in listing.splitlines():
        match = re.fullmatch(r"\s*(\S.*?)\s+([0-9a-f]+)\s+([0-9a-f]+)\s*", line)
        if match is None or match[1] != program.name[:15]:
            continue
        address, instruction = int(match[2], 16), int(match[3], 16)
        total += 1
        code += address == instruction and any(
            load.address <= address - base < load.address + load.file_size for load in binary.loads
        )
    return Native(total, code)
