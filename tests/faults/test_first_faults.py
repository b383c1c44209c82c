# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Experiment E4: the first three faults of a dynamically linked program, as pagein published them.

The dynamic linker's entry is `mov %rsp,%rdi; call _dl_start`: a code fault on its page; three bytes
on, the call pushes its return address on the stack; then the page of `_dl_start`. On Linux the
kernel has written to the last page of the stack before, so the second is a fault only if the stack
begins with a page: the environment is made as long as that takes.

Where `_dl_start` lies on the page of the entry (the C library of Debian 13), there is no third of
that kind: the next fault is the first datum that `_dl_start` touches.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from faults_support import good
from native_support import (
    ENVIRONMENT,
    PAGE,
    Log,
    read,
    record,
    why_no_native,
)
from tg_environment import TLBGRIND, client

ENTRY = client("fault_entry")
CALL = 3  # bytes of `mov %rsp,%rdi`
CALL_BYTES = 5


class Start(NamedTuple):
    log: Log
    stack: int  # the stack pointer at the first instruction, in this run


def start(folder: Path, padding: int) -> Start:
    out = folder / "log"
    tool = [TLBGRIND, "-q", "--faults=yes", f"--faults-out-file={out}"]
    done = subprocess.run(
        [*tool, f"--tlbgrind-out-file={folder}/out", ENTRY],
        env=padded(padding),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return Start(read(out), int(done.stdout, 16))


def padded(padding: int) -> dict[str, str]:
    return {**ENVIRONMENT, "PADDING": "x" * padding}


def padding_to_a_page(folder: Path) -> int:
    """How much longer the environment must be for the stack to begin with a page. The strings lie
    above, and everything is aligned to 16, so the stack pointer goes down with them."""
    return start(folder, 0).stack % PAGE


def linker_entry(path: str) -> int:
    """Where in its file the dynamic linker begins: e_entry, which is an offset from its base."""
    (entry,) = struct.unpack_from("<Q", Path(path).read_bytes(), 0x18)
    return int(entry)


def base_of(log: Log, name: str) -> int:
    return min(m.start for m in log.maps.values() if m.name == name)


def called_first(path: str) -> int:
    """What the call at the dynamic linker's entry goes to, _dl_start, as an offset from its base."""
    data = Path(path).read_bytes()
    at = linker_entry(path) + CALL
    assert data[at] == 0xE8
    (distance,) = struct.unpack_from("<i", data, at + 1)
    return at + CALL_BYTES + int(distance)


class Expected(NamedTuple):
    entry: int
    start: int  # _dl_start

    @property
    def has_code_page(self) -> bool:
        """_dl_start lies on another page than the entry"""
        return self.entry // PAGE != self.start // PAGE


def expected(log: Log, linker: str) -> Expected:
    base = base_of(log, linker)
    return Expected(base + linker_entry(linker), base + called_first(linker))


def test_the_first_faults_are_code_stack_and_code(tmp_path: Path) -> None:
    """code at the dynamic linker's entry, the stack three bytes on, code of _dl_start"""
    log, stack = start(tmp_path, padding_to_a_page(tmp_path))
    assert stack % PAGE == 0
    first, second, third = [f for f in log.view("4k") if f.by == "-"][:3]
    assert first.code and second.code and third.code
    linker = first.map.name
    assert os.path.basename(linker).startswith("ld")
    at = expected(log, linker)
    assert (first.code.address, first.instructions) == (at.entry, 0)
    assert second.code.address == at.entry + CALL
    assert third.code.function == "_dl_start"
    assert [f.code and f.code.object for f in (second, third)] == [linker, linker]
    assert (first.kind("4k"), first.page) == ("x", at.entry - at.entry % PAGE)
    assert (second.kind("4k"), second.map.what, second.page) == ("w", "stack", stack - PAGE)
    assert second.instructions == 1
    if at.has_code_page:
        assert third.code.address == at.start
        assert (third.kind("4k"), third.page) == ("x", at.start - at.start % PAGE)
        assert third.instructions == 2
    else:
        assert at.start < third.code.address < at.start + PAGE
        assert third.kind("4k") != "x"
        assert third.instructions > 2


def test_pagein_s_columns_have_the_first_faults(tmp_path: Path) -> None:
    """the same in pagein's columns: number, page, C or D, instruction, where"""
    log, _ = start(tmp_path, padding_to_a_page(tmp_path))
    lines = good("--format=pagein", "--view=4k", log.path).splitlines()
    lines = lines[len([f for f in log.faults if f.by == "exec"]) :][:3]
    rows = [
        re.fullmatch(r" *\d+ 0x([ \dA-F]{10}) ([CD]) +(\d+) 0x([\dA-F]+): (.*)", line)
        for line in lines
    ]
    assert all(rows)
    c, d, c2 = (row.groups() for row in rows if row)
    (linker,) = {f.map.name for f in log.view("4k") if f.instructions == 0 and f.by == "-"}
    at = expected(log, linker)
    assert (c[1], d[1], c2[1]) == ("C", "D", "C" if at.has_code_page else "D")
    assert int(c[3], 16) == at.entry and int(d[3], 16) == at.entry + CALL
    assert int(c[0], 16) == int(c[3], 16) // PAGE * PAGE
    if at.has_code_page:
        assert int(c2[0], 16) == int(c2[3], 16) // PAGE * PAGE != int(c[0], 16)
    assert c2[4].startswith("_dl_start (")


def test_a_page_that_the_kernel_filled_is_no_fault(tmp_path: Path) -> None:
    """the page that the kernel has filled with the arguments is no fault: the first two are code"""
    log, stack = start(tmp_path, 0)
    assert stack % PAGE >= 16
    assert all(f.page != stack - stack % PAGE for f in log.faults)
    first, second = [f for f in log.view("4k") if f.by == "-"][:2]
    at = expected(log, first.map.name)
    assert first.kind("4k") == "x"
    assert (second.kind("4k") == "x") == at.has_code_page
    assert second.code and second.code.function == "_dl_start"


def test_the_kernel_takes_the_first_faults_too(tmp_path: Path) -> None:
    """the kernel takes the first two as well; the third page comes along with the first"""
    reason = why_no_native(tmp_path)
    if reason is not None:
        pytest.skip(reason)
    log, _ = start(tmp_path, padding_to_a_page(tmp_path))
    ours = [(f.native, f.kind("warm")) for f in log.view("warm") if f.by == "-"]
    native = [(f.page, f.kind) for f in record(tmp_path, [ENTRY], padded(native_padding(tmp_path)))]
    fetches = [number for number, (_, kind) in enumerate(native) if kind == "x"]
    begin = fetches[0]
    assert [kind for _, kind in native[begin : begin + 2]] == ["x", "w"]
    assert native[begin : begin + 2] == ours[:2]


def native_padding(folder: Path) -> int:
    done = subprocess.run(
        ["setarch", "-R", ENTRY],
        env=padded(0),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout, 16) % PAGE
