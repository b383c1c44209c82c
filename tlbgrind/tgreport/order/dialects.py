# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes and reads the ordering files of each linker.

lld     symbols, one a line
BOLT    symbols, one a line; static functions that share a name as NAME/SOURCE/NUMBER
gold    names of sections, one a line
GNU ld  '.text : {', then '*(SECTION...)' for each function: alone, or in a whole linker script

With --with-data variables stand behind the functions; for GNU ld in '.data : {' and '.bss : {'.
BOLT orders no data.

What is written here for one format stands beside what reads it. Which section a function is in
follows from its name and from what the compiler thinks of it, or the object files say it
(class Sections).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..base.command import read_text
from ..base.errors import ReportError
from ..places.dataorder import SECTIONS, DataOrder, Variable
from ..places.order import Order, Placed
from ..places.sections import Sections

Named = tuple[str, str]  # a function's name, and its source file if the order has it


class Writer:
    """Writes one order in every format: the lines of its file."""

    def __init__(
        self, order: Order, sections: Sections | None, page_align: bool, data: DataOrder | None = None
    ) -> None:
        self._order = order
        self._data = data
        self._sections = sections
        self._page_align = page_align

    def names(self) -> list[str]:
        return self._order.names

    def lld(self) -> list[str]:
        functions = (name for p in self._order.placed for name in _all_names(p))
        return _once([*functions, *(name for v in self._variables() for name in v.names)])

    def _variables(self) -> list[Variable]:
        return self._data.placed if self._data is not None else []

    def bolt(self) -> list[str]:
        return _once(name for p in self._order.placed for name in _bolt_names(p))

    def gold(self) -> list[str]:
        names = [n for p in self._order.placed for n in section_names(p, self._sections)]
        names += [n for v in self._variables() for n in data_section_names(v)]
        return _once(name for name in names if _PLAIN.match(name))  # the others would be patterns

    def bfd(self) -> list[str]:
        """For --section-ordering-file of GNU ld 2.43 and later."""
        lines = [".text :", "{", *self._statements("  "), "}"]
        for section in SECTIONS if self._data is not None else ():
            lines += [f"{section} :", "{", *self._data_statements(section, "  "), "}"]
        return lines

    def bfd_script(self, default: list[str]) -> list[str]:
        """A whole linker script for -T: the default one with lines added to .text, .data and .bss."""
        script = _added(default, ".text", self._statements("    "))
        for section in SECTIONS if self._data is not None else ():
            script = _added(script, section, self._data_statements(section, "    "))
        return script

    def _data_statements(self, section: str, indent: str) -> list[str]:
        assert self._data is not None
        return _once(indent + _statement(data_section_names(v)) for v in self._data.within(section))

    def _statements(self, indent: str) -> list[str]:
        out = [f"{indent}. = ALIGN(CONSTANT(MAXPAGESIZE));"] if self._page_align else []
        seen: set[str] = set()
        for placed in self._order.placed:
            names = [n for n in section_names(placed, self._sections) if n not in seen]
            seen.update(names)
            if names:
                out.append(indent + _statement(names))
        return out


def _added(script: list[str], section: str, lines: list[str]) -> list[str]:
    """The script with these lines at the begin of an output section."""
    begin = re.compile(rf"\s*{re.escape(section)}\s*:")
    for number, line in enumerate(script):
        if begin.match(line):
            brace = next((n for n in range(number, len(script)) if "{" in script[n]), None)
            if brace is not None:
                return [*script[: brace + 1], *lines, *script[brace + 1 :]]
    raise ReportError(f"the linker's default script has no section '{section} : {{' to add lines to")


def read(path: str) -> list[Named]:
    """The functions and the variables that an ordering file names, in any of the formats: which of
    them a symbol is, the binary knows."""
    text = read_text(path)
    if "\0" in text:
        raise ReportError("not an ordering file: it holds bytes of 0", path)
    is_script = _BEGIN_OF_TEXT.search(text) is not None
    names: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if is_script:
            names += map(_symbol_of_section, _sections_of_statement(line))
            continue
        words = [] if line.startswith("#") else line.split()
        if len(words) > 1:
            raise ReportError(f"more than one name: '{line[:40]}'", path, number)
        names += map(_symbol_of_section, words)
    if not names:
        raise ReportError("it names no function", path)
    return list(map(_function_of_bolt, _once(names)))


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _all_names(placed: Placed) -> list[str]:
    return [placed.function.name, *placed.others]


# ---------------------------------------------------------------- BOLT

_OF_A_FILE = re.compile(r"(?P<name>[^/]+)/(?P<file>.+)/[0-9]+")


def _bolt_names(placed: Placed) -> list[str]:
    """BOLT takes the plain name of a static function for all that have it. Where there are several,
    it tells them apart by source file and number. It only notes names that do not exist."""
    function = placed.function
    if placed.duplicates and function.file:
        return [f"{function.name}/{function.file}/{placed.turn}"]
    return _all_names(placed)


def _function_of_bolt(word: str) -> Named:
    found = _OF_A_FILE.fullmatch(word)
    return (found["name"], found["file"]) if found else (word, "")


# ---------------------------------------------------------------- names of sections

# Where gcc and clang put a function called f with -ffunction-sections: the common place first.
_PREFIXES = (".text.", ".text.startup.", ".text.hot.", ".text.unlikely.", ".text.exit.")
_LONGEST_FIRST = sorted(_PREFIXES, key=len, reverse=True)
_PREFIX = re.compile(f"(?:{'|'.join(map(re.escape, _LONGEST_FIRST))})(?=.)")
_COLD = re.compile(r"\.cold(?:\.[0-9]+)?\Z")


def section_names(placed: Placed, sections: Sections | None) -> list[str]:
    names = _all_names(placed)
    if sections is not None:
        return _once(s for name in names for s in sections.of.get(name, ()) if s != ".text")
    out = []
    for name in names:
        if _COLD.search(name):
            # The cold part of f is in the section of an unlikely f, whatever its own name.
            out += [f".text.unlikely.{_COLD.sub('', name)}", f".text.unlikely.{name}"]
        else:
            out += [prefix + name for prefix in _PREFIXES]
    return _once(out)


# The same of a variable, with -fdata-sections: with relocations or without.
_DATA_PREFIXES = {".data": (".data.", ".data.rel.local.", ".data.rel."), ".bss": (".bss.",)}
_DATA_PREFIX = re.compile(r"\.(?:data\.rel\.local|data\.rel|data|bss)\.(?=.)")


def data_section_names(variable: Variable) -> list[str]:
    if variable.inputs:
        return variable.inputs
    return [prefix + name for name in variable.names for prefix in _DATA_PREFIXES[variable.section]]


def _symbol_of_section(name: str) -> str:
    """The function or variable of a section's name; what is no such name is a symbol, and stays."""
    prefix = _PREFIX.match(name) or _DATA_PREFIX.match(name)
    return name[prefix.end() :] if prefix else name


# ---------------------------------------------------------------- GNU ld

_BEGIN_OF_TEXT = re.compile(r"^\s*\.text\s*:", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z0-9_.$]+\Z")
# What the default script has itself, beside patterns.
_OF_THE_SCRIPT = (".text.unlikely", ".text.exit", ".text.startup", ".text.hot", ".data.rel.ro")


def _statement(names: list[str]) -> str:
    """All sections in which one function may be."""
    return f"*({' '.join(map(_quoted, names))})"


def _quoted(name: str) -> str:
    return name if _PLAIN.match(name) else f'"{name}"'


def _sections_of_statement(line: str) -> list[str]:
    """The sections of a function or variable in a line of a script; none if the line is another's."""
    match = re.fullmatch(r"\*\((.*)\)", line)
    words = match[1].replace('"', "").split() if match else []
    return [w for w in words if "*" not in w and w not in _OF_THE_SCRIPT and (_PREFIX.match(w) or _DATA_PREFIX.match(w))]
