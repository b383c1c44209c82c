# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E4: the page faults of a dynamically linked program's start, in order, and the first three, as pagein printed them.

The dynamic linker begins with `mov %rsp,%rdi; call _dl_start`: a code fault on its page, one on the stack three bytes
on, where the call pushes its return address, and one on the page of `_dl_start`. Linux has written to the last page of
the stack before, so the second is a fault only where the stack begins with a page: the environment is made as long as
that takes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import exp_faults
from exp_faults import PAGE, SAME_LIBRARY, Native
from exp_frame import (
    Chart,
    Check,
    Experiment,
    Missing,
    Number,
    Result,
    Series,
    Table,
    Text,
    exact,
)
from exp_lab import FLAGS, HERE, Lab
from tgreport.formats import faultlog
from tgreport.formats.fault import Fault
from tgreport.formats.faultlog import FaultLog

PUBLISHED = "U. Drepper, pagein (2007): the first faults of a program, within ld-2.5.so"
# Page, code or data, instruction, as published.
FIRST = (
    (0x3000000000, "C", 0x3000000B50, "the dynamic linker's entry"),
    (0x7FF000000, "D", 0x3000000B53, "the stack, three bytes on"),
    (0x3000001000, "C", 0x3000001080, "_dl_start"),
)
ENTRY = bytes.fromhex("4889e7e8")  # mov %rsp,%rdi; call
CALL, CALL_BYTES = 3, 5
KERNEL = "this kernel"


class Linker(NamedTuple):
    """Where the dynamic linker's first instructions are, as offsets from its base."""

    entry: int
    start: int  # _dl_start

    @property
    def has_two_pages(self) -> bool:
        return self.entry // PAGE != self.start // PAGE


def linker(path: str) -> Linker:
    """Read from the file: its header says where it begins, and there stands a call."""
    data = Path(path).read_bytes()
    (entry,) = struct.unpack_from("<Q", data, 0x18)
    if data[entry : entry + len(ENTRY)] != ENTRY:
        raise Missing(f"{path} does not begin with mov %rsp,%rdi; call")
    (distance,) = struct.unpack_from("<i", data, entry + CALL + 1)
    return Linker(entry, entry + CALL + CALL_BYTES + distance)


def padded(padding: int) -> dict[str, str]:
    return {**SAME_LIBRARY, "PADDING": "x" * padding}


def simulate(lab: Lab, program: Path) -> FaultLog:
    """A run whose stack begins with a page. The strings lie above it, and all is aligned to 16."""
    _, stack = exp_faults.record(lab, "before", [program], env=padded(0))
    log, stack = exp_faults.record(lab, "entry", [program], env=padded(int(stack, 16) % PAGE))
    if int(stack, 16) % PAGE != 0:
        raise Missing("the stack does not go down with the environment here")
    return log


def native(lab: Lab, program: Path) -> tuple[list[Native], Path]:
    setarch = lab.need("setarch", "util-linux")
    given = [f"{name}={value}" for name, value in {**lab.environment, **padded(0)}.items()]
    stack = int(lab.call([setarch, "-R", "env", "-i", *given, program]), 16)
    return exp_faults.kernel_order(lab, [program], padded(stack % PAGE))


def own(log: FaultLog, view: str) -> list[Fault]:
    """Those of the program itself, without what the kernel touches when it loads it."""
    return [fault for fault in log.of(faultlog.view_number(view)) if not fault.by]


def letter(fault: Fault, view: str) -> str:
    return "C" if fault.kind(faultlog.view_number(view)) == "x" else "D"


def first_three(log: FaultLog, at: Linker) -> list[Check]:
    """Compared with the dynamic linker's own file."""
    one, two, three = own(log, "4k")[:3]
    base = min(m.start for m in log.maps.values() if m.name == one.map.name)
    stack = int(two.map.what == "stack")
    checks = [
        exact("1st: is of code", 1, int(letter(one, "4k") == "C")),
        exact("1st: instruction, from the dynamic linker's base", at.entry, one.code.address - base),
        exact("1st: page, from there", at.entry // PAGE * PAGE, one.page - base),
        exact("2nd: is a write to the stack", 1, stack * int(letter(two, "4k") == "D")),
        exact("2nd: bytes behind the first instruction", CALL, two.code.address - one.code.address),
        exact("3rd: is in _dl_start", 1, int(three.code.function == "_dl_start" or three.code.address - base == at.start)),
    ]
    if at.has_two_pages:
        checks += [
            exact("3rd: is of code", 1, int(letter(three, "4k") == "C")),
            exact("3rd: instruction, from the dynamic linker's base", at.start, three.code.address - base),
            exact("3rd: page, from there", at.start // PAGE * PAGE, three.page - base),
        ]
    else:
        checks.append(exact("3rd: is a datum of _dl_start, which lies on the first page", 1, int(letter(three, "4k") == "D")))
    return checks


def cumulated(letters: Sequence[str], length: int) -> list[Number | None]:
    """How many of the first n are of code."""
    counts: list[Number | None] = [letters[:n].count("C") for n in range(1, len(letters) + 1)]
    return counts + [None] * (length - len(counts))


def in_words(page: int, kind: str, instruction: int) -> str:
    return f"{page:#x} {kind} at {instruction:#x}"


def run(lab: Lab) -> Result:
    program = lab.cc("entry", *FLAGS, "-no-pie", HERE.parent / "clients" / "fault_entry.c")
    log = simulate(lab, program)
    found = own(log, "4k")
    at = linker(found[0].map.name)
    checks = first_three(log, at)
    notes = [] if at.has_two_pages else ["_dl_start lies on the page of the entry here, so the third fault is its first datum"]
    letters = {f"tlbgrind, {view}": [letter(fault, view) for fault in own(log, view)] for view in ("4k", "warm")}
    texts = [Text("pagein's columns: tg_faults --format=pagein --view=4k", "\n".join(pagein(lab)))]
    kernel = ["" for _ in FIRST]
    try:
        order, listing = native(lab, program)
    except Missing as error:
        notes.append(f"the kernel was not asked: {error}")
    else:
        begin = [fault.letter for fault in order].index("C")
        order = order[begin:]
        kernel = [f"{fault.page:#x} {fault.letter}" for fault in order[: len(FIRST)]]
        ours = [(fault.native, letter(fault, "warm")) for fault in own(log, "warm")]
        for n, name in enumerate(("1st", "2nd")):
            checks.append(exact(f"{name}: the kernel's is the same page and letter", 1, int(order[n] == ours[n])))
        letters[KERNEL] = [fault.letter for fault in order]
        compared = exp_faults.show(lab, f"--native={listing}", lab.folder / "entry.faults")
        name = "Against the kernel: perf.txt"
        texts.append(Text("tg_faults --native, all faults, those of loading the program included", exp_faults.section(compared, name)))
        notes.append(f"the kernel's order is that of {exp_faults.host()}; only its first two faults are checked")
    rows = [
        [f"{n}: {where}", in_words(page, kind, address), in_words(fault.page, letter(fault, "4k"), fault.code.address), theirs]
        for n, ((page, kind, address, where), fault, theirs) in enumerate(zip(FIRST, found, kernel))
    ]
    totals = [[name, *(f"{each.count(c):,}" for c in "CD"), f"{len(each):,}"] for name, each in letters.items()]
    length = max(map(len, letters.values()))
    places = [str(n) if n % 10 == 0 else "" for n in range(1, length + 1)]
    # Crosses for the kernel, whose order is that of the warm view where both agree.
    series = [Series(name, cumulated(each, length), name == KERNEL) for name, each in letters.items()]
    return Result(
        [
            Table("The first faults; the kernel maps what lies around with the first", ["", "published", "tlbgrind, 4k", KERNEL], rows),
            Table("All faults until the program ends", ["", "code", "data", "all"], totals),
        ],
        checks,
        notes,
        [Chart("E4: faults of the start, in order", places, series, "page faults", "of them, of code")],
        texts,
    )


def pagein(lab: Lab) -> list[str]:
    """The first lines, without those of loading the program."""
    lines = exp_faults.show(lab, "--format=pagein", "--view=4k", lab.folder / "entry.faults").splitlines()
    return [line for line in lines if "by the kernel: exec" not in line][:8]


EXPERIMENT = Experiment("E4", "The page faults of a start, in order", PUBLISHED, run)
