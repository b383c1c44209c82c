# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Which code of a static program the archives of the C library have brought: it has no sections of its own,
so no order moves it.

In .text it stands behind that of the program's own object files and of other archives.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache

from ..base.command import read_bytes
from ..base.errors import ReportError
from ..formats.archive import names_of
from ..formats.elf import (
    PT_INTERP,
    STB_GLOBAL,
    STB_LOCAL,
    STT_FUNC,
    STT_GNU_IFUNC,
    Elf,
    Symbol,
)

_ARCHIVES = ("libc.a", "libm.a", "libgcc.a", "libgcc_eh.a")
_IN_SCRIPT = re.compile(rb"[^\s()]+\.a\b")  # libm.a of glibc names two archives
_LONGEST_SCRIPT = 4096  # bytes


def archived_from(binary: Elf) -> int | None:
    """Where it begins. None: the program is not static, or the archives are not installed."""
    if not binary.is_program or any(segment.type == PT_INTERP for segment in binary.segments):
        return None
    text = next((section for section in binary.sections if section.name == ".text"), None)
    theirs = _names() if text is not None else set()
    if text is None or not theirs:
        return None
    start = next((symbol.address for symbol in binary.symbols if symbol.name == "_start"), text.address)
    functions = sorted(
        (symbol for symbol in binary.symbols if start < symbol.address < text.address + text.size and _is_code(symbol)),
        key=lambda symbol: symbol.address,
    )
    own = [place for place, one in enumerate(functions) if one.binding == STB_GLOBAL and one.name not in theirs]
    behind = own[-1] + 1 if own else 0
    # A static function that stands behind all that the program exports is the program's if others of its file are.
    files = {one.file for one in functions[:behind] if one.binding == STB_LOCAL}
    rest = (one.address for one in functions[behind:] if one.binding != STB_LOCAL or one.file not in files)
    return next(rest, None)


def _is_code(symbol: Symbol) -> bool:
    return symbol.type in (STT_FUNC, STT_GNU_IFUNC)


@cache
def _names() -> set[str]:
    found: set[str] = set()
    for path in _paths():
        try:
            data = read_bytes(path)
            if len(data) < _LONGEST_SCRIPT:
                for inner in _IN_SCRIPT.findall(data):
                    name = inner.decode("utf-8", "surrogateescape")
                    found |= names_of(name, read_bytes(name))
            else:
                found |= names_of(path, data)
        except ReportError:
            return set()
    return found


def _paths() -> Iterator[str]:
    compiler = shutil.which("gcc") or shutil.which("cc")
    for archive in _ARCHIVES if compiler is not None else ():
        try:
            asked = subprocess.run(
                [str(compiler), f"-print-file-name={archive}"], capture_output=True, text=True, check=False, timeout=20
            )
        except (OSError, subprocess.SubprocessError):
            return
        path = asked.stdout.strip()
        if path.startswith("/"):
            yield path
