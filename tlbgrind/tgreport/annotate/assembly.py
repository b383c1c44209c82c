# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the instructions of a function with the counts of each, of files of --dump-instr=yes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..base.errors import ReportError
from ..base.functions import matching, near
from ..base.text import counted
from ..formats.outfile import Counts, Function, OutFile
from .listing import label_of
from .profile import Profile, plus
from .selection import Selection
from .table import Row, Style, Table

_ByAddress = dict[int, Counts]
_LINE = re.compile(r"\s*([0-9a-f]+):\t(.*)")


class Disassembly(NamedTuple):
    """The instructions of a function, from the first with counts to the last. One that was not
    executed has no counts; one that is not in the object has no text."""

    function: Function
    sum: Counts
    rows: list[tuple[int, str | None, Counts | None]]

    def text(self, profile: Profile, selection: Selection, style: Style) -> list[str]:
        table = Table(profile, selection, style, self.sum)
        rows = [Row(counts, f"{at:7x}  {text}") for at, text, counts in self.rows if text is not None]
        lost = [counts for _, text, counts in self.rows if text is None and counts is not None]
        if lost:
            rows.append(Row(_sum(lost, profile), "instructions that are not in the object"))
        names = (self.function.file, self.function.name, self.function.object)
        label = label_of(("file", "function", "object"), names)
        title = style.screen.title(f"Instructions of {label}")
        return [*title, *table.lines(rows, "address  instruction"), ""]


def assembly(
    profile: Profile, selection: Selection, pattern: str, warnings: list[str]
) -> list[Disassembly]:
    functions = _matching(profile.files, pattern)
    sums = {f: _sum(counts.values(), profile) for f, counts in functions.items()}
    return [
        Disassembly(function, sums[function], _rows(function, functions[function], profile, warnings))
        for function in sorted(functions, key=lambda f: (selection.rank(sums[f]), f))
    ]


def _matching(files: Sequence[OutFile], pattern: str) -> dict[Function, _ByAddress]:
    for out in files:
        if not out.instructions:
            raise ReportError(
                "argument --asm: no costs by instruction; tlbgrind --dump-instr=yes writes them",
                out.path,
            )
    names = {function.name for out in files for function in out.instructions}
    wanted = matching(names, pattern)
    if not wanted:
        raise ReportError(
            f"argument --asm: no function '{pattern}'; --by=function --threshold=0 lists them"
            f"{near(names, pattern)}",
            files[0].path,
        )
    found: dict[Function, _ByAddress] = {}
    for out in files:
        for function, counts in out.instructions.items():
            if function.name in wanted:
                known = found.setdefault(function, {})
                for address, more in counts.items():
                    before = known.get(address)
                    known[address] = more if before is None else plus(before, more)
    return found


def _sum(counts: Iterable[Counts], profile: Profile) -> Counts:
    total = profile.zero
    for more in counts:
        total = plus(total, more)
    return total


def _rows(
    function: Function, counts: _ByAddress, profile: Profile, warnings: list[str]
) -> list[tuple[int, str | None, Counts | None]]:
    code = _disassembled(function.object, min(counts), max(counts))
    older = [out.path for out in profile.files if out.mtime < os.stat(function.object).st_mtime]
    if older:
        warnings.append(
            f"{function.object}: newer than {older[0]}, so counts may stand beside the wrong "
            "instructions"
        )
    lost = len(counts.keys() - code.keys())
    if lost:
        warnings.append(f"{function.object}: {counted(lost, 'instruction')} with counts {'is' if lost == 1 else 'are'} not there")
    return [(at, code.get(at), counts.get(at)) for at in sorted(code.keys() | counts.keys())]


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
