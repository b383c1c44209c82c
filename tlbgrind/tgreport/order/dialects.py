# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""An order of functions in the languages of linkers.

lld and BOLT want symbols. gold and GNU ld want the names of sections, which a linked binary does
not have any more: with -ffunction-sections they follow from the function's name and from what the
compiler thinks of it, or the object files are asked (class Sections).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..base.command import read_bytes
from ..base.errors import ReportError
from ..formats import elf
from ..formats.archive import ARCHIVE, THIN_ARCHIVE, read_archive
from ..formats.elf import Elf
from .order import Order, Placed
from .trace import code_symbols

# Where gcc and clang put a function called f with -ffunction-sections: the common place first.
_PREFIXES = (".text.", ".text.startup.", ".text.hot.", ".text.unlikely.", ".text.exit.")
_PLAIN = re.compile(r"[A-Za-z0-9_.$]+\Z")
_COLD = re.compile(r"\.cold(?:\.[0-9]+)?\Z")


class Sections:
    """Which section of which object file each function is in."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.of: dict[str, list[str]] = defaultdict(list)
        self.crowded: dict[str, int] = {}  # functions of sections that hold several
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


def section_names(placed: Placed, sections: Sections | None) -> list[str]:
    names = [placed.function.name, *placed.others]
    if sections is not None:
        found = [s for name in names for s in sections.of.get(name, ()) if s != ".text"]
        return list(dict.fromkeys(found))
    out = []
    for name in names:
        if _COLD.search(name):
            # The cold part of f is in the section of an unlikely f, whatever its own name.
            out += [f".text.unlikely.{_COLD.sub('', name)}", f".text.unlikely.{name}"]
        else:
            out += [prefix + name for prefix in _PREFIXES]
    return list(dict.fromkeys(out))


class Writer:
    """Writes one order in every language."""

    def __init__(self, order: Order, sections: Sections | None, page_align: bool) -> None:
        self._order = order
        self._sections = sections
        self._page_align = page_align

    def _all_names(self) -> list[str]:
        names = [n for p in self._order.placed for n in (p.function.name, *p.others)]
        return list(dict.fromkeys(names))

    def lld(self) -> list[str]:
        return self._all_names()

    def names(self) -> list[str]:
        return self._order.names

    def bolt(self) -> list[str]:
        """BOLT takes the plain name of a static function for all that have it. Where there are
        several, it knows one by the source file and a number. Names that do not exist are only
        noted."""
        names = [
            name
            for p in self._order.placed
            for name in (
                [f"{p.function.name}/{p.function.file}/{p.turn}"]
                if p.duplicates and p.function.file
                else [p.function.name, *p.others]
            )
        ]
        return list(dict.fromkeys(names))

    def gold(self) -> list[str]:
        lines: dict[str, None] = {}
        for placed in self._order.placed:
            for name in section_names(placed, self._sections):
                if _PLAIN.match(name):  # gold takes the lines for patterns
                    lines[name] = None
        return list(lines)

    def _statements(self, indent: str) -> list[str]:
        out = [f"{indent}. = ALIGN(CONSTANT(MAXPAGESIZE));"] if self._page_align else []
        seen: set[str] = set()
        for placed in self._order.placed:
            names = [n for n in section_names(placed, self._sections) if n not in seen]
            seen.update(names)
            if names:
                out.append(f"{indent}*({' '.join(map(_quoted, names))})")
        return out

    def bfd(self) -> list[str]:
        """For --section-ordering-file of GNU ld 2.43 and later."""
        return [".text :", "{", *self._statements("  "), "}"]

    def bfd_script(self, default: list[str]) -> list[str]:
        """A whole linker script for -T: the default one with lines added to .text."""
        for number, line in enumerate(default):
            if re.match(r"\s*\.text\s*:", line):
                brace = next((n for n in range(number, len(default)) if "{" in default[n]), None)
                if brace is not None:
                    head = default[: brace + 1]
                    return [*head, *self._statements("    "), *default[brace + 1 :]]
        raise ReportError("the linker's default script has no section '.text : {' to add lines to")


def _quoted(name: str) -> str:
    return name if _PLAIN.match(name) else f'"{name}"'


def default_script(command: str, binary: Elf | None) -> list[str]:
    """What `ld --verbose` prints for a binary of the same kind."""
    words = command.split()
    if binary is not None:
        words += linker_flags(binary)
    try:
        done = subprocess.run(
            [*words, "--verbose"], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ReportError(f"argument --ld: '{command}': {reason}") from None
    complaint = f"argument --ld: '{' '.join(words)}' prints no linker script (is it GNU ld?)"
    return cut_script(done.stdout.decode("utf-8", "surrogateescape"), complaint)


def cut_script(text: str, complaint: str) -> list[str]:
    """The script in the output of --verbose stands between two lines of equal signs; a file that
    holds nothing but the script is taken as it is."""
    lines = text.splitlines()
    rules = [number for number, line in enumerate(lines) if re.match(r"={20,}\s*\Z", line)]
    if len(rules) >= 2:
        return lines[rules[0] + 1 : rules[1]]
    if any(line.strip().startswith("SECTIONS") for line in lines):
        return lines
    raise ReportError(complaint)


def linker_flags(binary: Elf) -> list[str]:
    """The flags that choose among GNU ld's default scripts, as far as the binary shows them."""
    flags = []
    if not binary.is_64 and binary.machine == elf.EM_386:
        flags += ["-m", "elf_i386"]
    if binary.type == elf.ET_DYN:
        flags.append("-pie" if binary.is_program else "-shared")
    if binary.binds_now:
        flags += ["-z", "now"]
    if not len(binary.relro):
        flags += ["-z", "norelro"]
    loads = binary.loads
    separate = bool(loads) and not loads[0].flags & elf.PF_X
    flags += ["-z", "separate-code" if separate else "noseparate-code"]
    return flags
