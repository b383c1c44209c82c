# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Gives a stripped ELF file the symbols of its separate debug file."""

from __future__ import annotations

import os

from . import elf
from .elf import SHF_ALLOC, Elf

_FOLDER = "/usr/lib/debug/.build-id"


def add_symbols(binary: Elf) -> None:
    """Of the file that its build ID names, if that is installed and of this binary."""
    if not binary.stripped or not binary.build_id:
        return
    apart = f"{_FOLDER}/{binary.build_id[:2]}/{binary.build_id[2:]}.debug"
    if not os.path.isfile(apart):
        return
    debug = elf.read(apart)
    if debug.build_id == binary.build_id and _same_sections(binary, debug):
        binary.symbols = debug.symbols
        binary.stripped = debug.stripped


def _same_sections(binary: Elf, debug: Elf) -> bool:
    """Symbols name their sections by number. A debug file has more of them, behind these."""
    places = [(s.name, s.address) for s in binary.sections if s.flags & SHF_ALLOC]
    return places == [(s.name, s.address) for s in debug.sections if s.flags & SHF_ALLOC] and all(
        ours.address == theirs.address
        for ours, theirs in zip(binary.sections, debug.sections)
        if ours.flags & SHF_ALLOC
    )
