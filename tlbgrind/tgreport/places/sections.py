# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the section of each function and each variable in object files.

A linked binary has no such sections any more, but gold and GNU ld order by their names.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..base.command import read_bytes
from ..base.errors import ReportError
from ..formats import elf
from ..formats.archive import ARCHIVE, THIN_ARCHIVE, read_archive
from ..formats.elf import Elf
from .trace import code_symbols


class DataSection(NamedTuple):
    """A section of data of an object file."""

    name: str
    alignment: int
    variables: int  # how many it holds


class Sections:
    """Which section of which object file each function is in, and each variable."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.of: dict[str, list[str]] = defaultdict(list)
        self.crowded: dict[str, int] = {}  # functions of sections that hold several
        self.data: dict[str, list[DataSection]] = defaultdict(list)
        self.files = 0
        for path in paths:
            for binary in self._files(path):
                self.files += 1
                self._add(binary)
        if paths and not self.files:
            raise ReportError("no object file", ", ".join(paths))

    def _files(self, path: str) -> Iterator[Elf]:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders.sort()
                for name in sorted(names):
                    if name.endswith((".o", ".a")):
                        yield from self._file(os.path.join(folder, name), is_asked=False)
        else:
            yield from self._file(path, is_asked=True)

    def _file(self, path: str, is_asked: bool) -> Iterator[Elf]:
        data = read_bytes(path)
        if data.startswith((ARCHIVE, THIN_ARCHIVE)):
            yield from read_archive(path, data)
            return
        # Linker scripts, compilers' own formats, what a build left empty.
        if not is_asked and not data.startswith(elf.MAGIC):
            return
        binary = Elf(path, data)
        if binary.type == elf.ET_REL:
            yield binary

    def _add(self, binary: Elf) -> None:
        self._add_code(binary)
        self._add_data(binary)

    def _add_data(self, binary: Elf) -> None:
        inside: dict[int, list[elf.Symbol]] = defaultdict(list)
        for symbol in elf.data_symbols(binary):
            inside[symbol.section].append(symbol)
        for index, symbols in inside.items():
            section = binary.sections[index]
            if not section.flags & elf.SHF_WRITE:
                continue
            places = len({symbol.address for symbol in symbols})
            for symbol in symbols:
                self.data[symbol.name].append(DataSection(section.name, section.alignment, places))

    def _add_code(self, binary: Elf) -> None:
        inside: dict[int, list[str]] = defaultdict(list)
        places: dict[int, set[int]] = defaultdict(set)
        for symbol in code_symbols(binary):
            if symbol.type == elf.STT_NOTYPE and symbol.size == 0:
                continue
            inside[symbol.section].append(symbol.name)
            places[symbol.section].add(symbol.address)
        for index, names in inside.items():
            section = binary.sections[index].name
            for name in names:
                if section not in self.of[name]:
                    self.of[name].append(section)
                if len(places[index]) > 1:
                    self.crowded[name] = len(places[index])
