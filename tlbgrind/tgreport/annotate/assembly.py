# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the instructions of a function with the counts of each, of files of --dump-instr=yes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..base.errors import ReportError
from ..formats.outfile import Counts, Function, OutFile
from .listing import label_of
from .profile import Profile, plus
from .selection import Selection
from .table import Row, Style, Table

_ByAddress = dict[int, Counts]
_LINE = re.compile(r"\s*([0-9a-f]+):\t(.*)")


def assembly(
    profile: Profile, selection: Selection, pattern: str, style: Style, warnings: list[str]
) -> list[str]:
    functions = _matching(profile.files, pattern)
    sums = {f: _sum(counts, profile) for f, counts in functions.items()}
    text: list[str] = []
    for function in sorted(functions, key=lambda f: (selection.rank(sums[f]), f)):
        table = Table(profile, selection, style, sums[function])
        rows = _rows(function, functions[function], profile, warnings)
        names = (function.file, function.name, function.object)
        label = label_of(("file", "function", "object"), names)
        text += style.screen.title(f"Instructions of {label}")
        text += [*table.lines(rows, "address  instruction"), ""]
    return text


def _matching(files: Sequence[OutFile], pattern: str) -> dict[Function, _ByAddress]:
    found: dict[Function, _ByAddress] = {}
    for out in files:
        if not out.instructions:
            raise ReportError(
                "argument --asm: no costs by instruction; tlbgrind --dump-instr=yes writes them",
                out.path,
            )
        exact = any(function.name == pattern for function in out.instructions)
        for function, counts in out.instructions.items():
            if function.name == pattern or (not exact and fnmatchcase(function.name, pattern)):
                known = found.setdefault(function, {})
                for address, more in counts.items():
                    before = known.get(address)
                    known[address] = more if before is None else plus(before, more)
    if not found:
        raise ReportError(
            f"argument --asm: no function '{pattern}'; --by=function --threshold=0 lists them",
            files[0].path,
        )
    return found


def _sum(counts: _ByAddress, profile: Profile) -> Counts:
    total = profile.zero
    for more in counts.values():
        total = plus(total, more)
    return total


def _rows(
    function: Function, counts: _ByAddress, profile: Profile, warnings: list[str]
) -> list[Row]:
    """From the first instruction with counts to the last; one that was not executed has none."""
    code = _disassembled(function.object, min(counts), max(counts))
    older = [out.path for out in profile.files if out.mtime < os.stat(function.object).st_mtime]
    if older:
        warnings.append(
            f"{function.object}: newer than {older[0]}, so counts may stand beside the wrong "
            "instructions"
        )
    rows = [Row(counts.get(address), f"{address:7x}  {text}") for address, text in code.items()]
    lost = {address: more for address, more in counts.items() if address not in code}
    if lost:
        warnings.append(f"{function.object}: {len(lost)} instructions with counts are not there")
        rows.append(Row(_sum(lost, profile), "instructions that are not in the object"))
    return rows


def _disassembled(path: str, first: int, last: int) -> dict[int, str]:
    if not os.path.isfile(path):
        raise ReportError("argument --asm: the object is not there any more", path)
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn"]
    bounds = [f"--start-address={first:#x}", f"--stop-address={last + 1:#x}"]
    try:
        done = subprocess.run(
            [*command, *bounds, path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        raise ReportError(
            "argument --asm: objdump is not installed; it is in the package binutils"
        ) from None
    if done.returncode != 0:
        raise ReportError(f"argument --asm: {done.stderr.strip() or 'objdump failed'}", path)
    found = (_LINE.fullmatch(line) for line in done.stdout.splitlines())
    return {int(line[1], 16): line[2].replace("\t", " ").rstrip() for line in found if line}
