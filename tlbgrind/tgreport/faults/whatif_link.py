# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program were linked otherwise: not position-independent, or with packed relocations."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from ..base.errors import ReportError
from ..base.text import counted
from ..formats.dynamic import (
    JUMP_SLOT,
    RELATIVE,
    RELR,
    Dynamic,
    dynamic_of,
    words_of_relr,
)
from ..formats.elf import PF_W, PF_X, PT_DYNAMIC, PT_INTERP, Elf
from ..formats.fault import Map
from ..formats.faultlog import LINKER
from .replay import Change, Event, Piece, Run
from .whatif import Remedy, Way

# The work of an event that is a relative relocation, and nothing else.
RELOCATION = "relocation"
_FIXED = 0x400  # the page where programs begin that are not position-independent


@dataclass
class Program:
    """The program's file, as it is mapped."""

    path: str
    elf: Elf
    dynamic: Dynamic
    base: int  # page
    maps: list[Map]  # of the file, by their offset


def program_of(run: Run) -> Program | None:
    """None: it is linked statically."""
    for map_ in run.log.maps.values():
        elf = run.files.elves.get(map_.name) if map_.what == "file" else None
        if elf is None or not elf.is_program or not any(s.type == PT_INTERP for s in elf.segments):
            continue
        dynamic = dynamic_of(elf)
        maps = [other for other in run.log.maps.values() if other.what == "file" and other.name == map_.name]
        address = elf.address_of(map_.offset)
        if dynamic is None or address is None:
            return None
        base = map_.native // run.page_size - address // run.page_size if elf.is_pie else 0
        return Program(map_.name, elf, dynamic, base, sorted(maps, key=lambda one: one.offset))
    return None


def _pages(size: int) -> int:
    return -(-size // 4096)


def _table_at(elf: Elf) -> int | None:
    """The address of the table whose relative relocations come first."""
    return next((section.address for section in elf.sections if section.name in (".rela.dyn", ".rel.dyn")), None)


@dataclass
class _Shrunk:
    """The first segment with so many bytes fewer, and what lies behind it so many pages lower."""

    start: int  # of the bytes that are gone
    gone: int
    pages: int
    by: int  # pages that all moves by


def _shrunk(program: Program, gone: int, by: int) -> _Shrunk | None:
    first = program.elf.loads[0]
    start = _table_at(program.elf)
    if start is None or not first.address <= start < first.address + first.file_size:
        return None
    pages = _pages(first.file_size) - _pages(first.file_size - gone)
    return _Shrunk(start, gone, pages, by)


def _moves(run: Run, program: Program, shrunk: _Shrunk) -> Change:
    change = Change()
    first_end = program.base + _pages(program.elf.loads[0].address + program.elf.loads[0].file_size)
    for map_ in program.maps:
        is_first = map_.native // run.page_size < first_end and "x" not in map_.protection
        by = shrunk.by if is_first else shrunk.by - shrunk.pages
        change.by[map_.number] = shrunk.by  # in the file, too, the pages are lower
        change.page[map_.number] = _first_page(program, shrunk) if is_first else _mover(by)
        change.piece[map_.number] = _piece_mover(by, shrunk.pages if is_first else 0)
    return change


def _mover(by: int) -> Callable[[int], int | None]:
    return lambda page: page + by


def _piece_mover(by: int, fewer: int) -> Callable[[Piece], Piece]:
    return lambda piece: Piece(piece.start + by, piece.end + by - fewer)


def _first_page(program: Program, shrunk: _Shrunk) -> Callable[[int], int | None]:
    end = shrunk.start + shrunk.gone

    def move(page: int) -> int | None:
        address = (page - program.base) * 4096
        if address >= end:
            address -= shrunk.gone
        elif address >= shrunk.start and address + 4096 <= end:
            return None
        elif address >= shrunk.start:
            address = shrunk.start
        return program.base + shrunk.by + address // 4096

    return move


def no_separate_code(run: Run, program: Program | None) -> Remedy | None:
    """None: code has no pages of its own."""
    if program is None:
        return None
    parts = [segment for segment in program.elf.loads if not segment.flags & PF_W]
    behind = [segment for segment in program.elf.loads if segment.flags & PF_W]
    if len(parts) < 2 or parts[0].flags & PF_X or any(s.address < parts[-1].address for s in behind):
        return None
    at = parts[0].address + parts[0].file_size
    lower = {parts[0].address: 0}  # by how many bytes each part moves
    for part in parts[1:]:
        start = -(-at // 16) * 16
        lower[part.address] = part.address - start
        at = start + part.file_size
    saved = _pages(parts[-1].address + parts[-1].file_size) - _pages(at)
    end = program.base + _pages(at)
    ways = []
    for upper in (0, 1):
        change = Change()
        for map_ in program.maps:
            address = (map_.native // run.page_size - program.base) * run.page_size
            moved = next((by for start, by in lower.items() if start // 4096 * 4096 == address), None)
            if moved is None:
                change.page[map_.number] = _mover(-saved)
                change.piece[map_.number] = _piece_mover(-saved, 0)
                continue
            pages = moved // 4096 if upper or moved % 4096 == 0 else moved // 4096 + 1
            change.page[map_.number] = _mover(-pages)
            change.piece[map_.number] = _fixed_piece(Piece(program.base, end))
            change.executes |= {map_.number}
        ways.append(Way((change,)))
    return Remedy(
        "-z noseparate-code",
        "-Wl,-z,noseparate-code",
        ways,
        "headers, code and constants are one mapping; each page's bytes lie on two of its pages, of which "
        "the upper or the lower is the one that is used",
        "constants may be executed, a loss of safety",
        joins=False,
    )


def _fixed_piece(piece: Piece) -> Callable[[Piece], Piece]:
    return lambda _piece: piece


def needed(run: Run, program: Program) -> list[tuple[Elf, Dynamic]]:
    """The libraries that are loaded with the program, as they are needed: breadth first."""
    there: dict[str, tuple[Elf, Dynamic]] = {}
    for path, elf in run.files.elves.items():
        try:
            dynamic = dynamic_of(elf) if not elf.is_program else None
        except ReportError:
            continue
        if dynamic is not None:
            there.setdefault(dynamic.soname or os.path.basename(path), (elf, dynamic))
            there.setdefault(os.path.basename(path), (elf, dynamic))
    found: dict[str, tuple[Elf, Dynamic]] = {}
    waiting = list(program.dynamic.needed)
    for name in waiting:
        one = there.get(os.path.basename(name))
        if one is not None and one[0].path not in found:
            found[one[0].path] = one
            waiting += one[1].needed
    return list(found.values())


def _relative(dynamic: Dynamic) -> int:
    return sum(one.kind == RELATIVE for one in dynamic.relocations)


def no_pie(run: Run, program: Program | None) -> Remedy | None:
    """None: there is no program that is position-independent."""
    if program is None or not program.elf.is_pie:
        return None
    kinds = [one for one in program.dynamic.relocations if one.kind in (RELATIVE, RELR)]
    gone = _relative(program.dynamic) * program.dynamic.entry
    relr = next((section.size for section in program.elf.sections if section.name == ".relr.dyn"), 0)
    shrunk = _shrunk(program, gone + relr, _FIXED - program.base)
    if shrunk is None:
        return None
    change = _moves(run, program, shrunk)
    kept = _still_written(program)
    numbers = {map_.number for map_ in program.maps if "w" in map_.protection}

    def keep(_place: int, event: Event) -> bool:
        if event.work == RELOCATION:
            return False
        is_relocation = event.work == LINKER and event.map.number in numbers
        return not is_relocation or event.page - program.base in kept

    change.keep = keep
    return Remedy(
        "no PIE",
        "-fno-pie when compiling, -no-pie when linking",
        (Way((change,)),),
        f"without {counted(len(kinds), 'relative relocation')}; code and data are as large as now",
        "the program is no longer placed at random, a loss of safety",
    )


def _still_written(program: Program) -> set[int]:
    """Pages, counted from the base, that the dynamic linker touches without relative relocations, too."""
    kept = {
        one.address // 4096 for one in program.dynamic.relocations if one.kind not in (RELATIVE, RELR)
    }
    for segment in program.elf.segments:
        if segment.type == PT_DYNAMIC:
            kept.update(range(segment.address // 4096, (segment.address + segment.file_size - 1) // 4096 + 1))
    if any(one.kind == JUMP_SLOT for one in program.dynamic.relocations) and not program.dynamic.binds_now:
        # Its first words are the dynamic linker's.
        kept.update(s.address // 4096 for s in program.elf.sections if s.name == ".got.plt")
    return kept


def relr(run: Run, program: Program | None) -> Remedy | None:
    """None: there is nothing to pack."""
    if program is None or not _relative(program.dynamic):
        return None
    dynamic = program.dynamic
    addresses = sorted(one.address for one in dynamic.relocations if one.kind == RELATIVE)
    packed = [address for address in addresses if address % dynamic.word == 0]
    words = words_of_relr(packed, dynamic.word)
    shrunk = _shrunk(program, len(packed) * dynamic.entry - words * dynamic.word, 0)
    if shrunk is None:
        return None
    return Remedy(
        "RELR",
        "-Wl,-z,pack-relative-relocs (glibc 2.36 or newer)",
        (Way((_moves(run, program, shrunk),)),),
        f"{counted(len(packed), 'relative relocation')}, in {words * dynamic.word:,} bytes; what they write to "
        "is written as now",
        "libraries, which their own links would pack",
    )
