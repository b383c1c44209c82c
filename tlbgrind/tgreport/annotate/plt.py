# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Counts calls through procedure linkage tables, of files of --dump-instr=yes: how often each entry
was executed, and of which symbol it is.

An entry is recognised by its jump through a word of the global offset table, whose relocation has
the symbol; so the linker's order of entries does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..formats.dynamic import Dynamic
from ..formats.elf import Elf, Section
from ..formats.outfile import Counts

_ENDS = (b"\xf2", b"")  # what may stand before the jump: bnd
_JUMP = b"\xff\x25"  # through a word, relative to the code or, of i386, at its address
_JUMP_FROM_GOT = b"\xff\xa3"  # of i386: relative to the table
_PLTGOT = 3


class LinkageTable(NamedTuple):
    """What one object's linkage tables executed."""

    instructions: int
    counts: list[Counts]  # of each of them
    calls: dict[str, int]  # by symbol; "": of entries whose word has no symbol


def calls_of(elf: Elf, dynamic: Dynamic, executed: Mapping[int, Counts], at_ir: int) -> LinkageTable:
    """Of the executed instructions' counts by address in the object."""
    found = LinkageTable(0, [], {})
    instructions = 0
    symbols = {}
    for one in dynamic.relocations:
        symbol = dynamic.symbol_of(one)
        if symbol is not None:
            symbols[one.address] = symbol.name
    table = next((value for tag, value in elf.dynamic() if tag == _PLTGOT), 0)
    for section in elf.sections:
        if not section.name.startswith(".plt") or not section.is_code:
            continue
        code = elf.section_bytes(section)
        inside = range(section.address, section.address + section.size)
        for address, counts in executed.items():
            if address not in inside:
                continue
            instructions += counts[at_ir]
            found.counts.append(counts)
            word = _word(elf, section, code, address, table)
            if word is not None and word in symbols:
                name = symbols[word]
                found.calls[name] = found.calls.get(name, 0) + counts[at_ir]
    return found._replace(instructions=instructions)


def _word(elf: Elf, section: Section, code: bytes, address: int, table: int) -> int | None:
    """The address of the word that the jump there goes through."""
    at = address - section.address
    for before in _ENDS:
        for jump in (_JUMP, _JUMP_FROM_GOT):
            operand = at + len(before) + len(jump)
            if code[at:operand] != before + jump or operand + 4 > len(code):
                continue
            offset = int.from_bytes(code[operand : operand + 4], "little", signed=True)
            if jump == _JUMP_FROM_GOT:
                return table + offset
            return address + operand + 4 - at + offset if elf.is_64 else offset & 0xFFFFFFFF
    return None
