# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Links a program statically that has the sizes of another one, and what that needs of libraries, but
does nothing; and records its page faults.

What the archives of the installed libraries bring, in which order, and what a static program does
before main() and behind it, is then not computed but seen.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..formats import elf as elf_files
from ..formats import entries, faultlog
from ..formats.dynamic import COPY, RELATIVE, RELR, SYMBOLIC, Dynamic
from ..formats.elf import (
    EM_386,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_TLS,
    SHF_WRITE,
    SHT_NOBITS,
    STB_WEAK,
    STT_FUNC,
    STT_GNU_IFUNC,
    Elf,
    Section,
)
from .replay import Run

LABEL = "tlbgrind_trial"
AHEAD = ".text.unlikely"
# Not the program's own, but of the C start files or made by the linker.
_MADE = re.compile(
    r"\.(interp|note|gnu|hash|dyn|rel|init|fini|preinit|plt|iplt|got|eh_frame|gcc_except_table|tm_clone|ctors|dtors|jcr)"
)
# Without the table of it (.eh_frame_hdr), which gcc has in dynamic programs only.
_UNWINDING = (".eh_frame", ".gcc_except_table")
# Of the C start files and the linker.
_START = {"main", "_start", "_init", "_fini", "__data_start", "data_start", "_IO_stdin_used", "_edata"}
_START |= {"__bss_start", "_end", "end", "edata", "etext", "_etext", "__dso_handle", "__TMC_END__"}
_BUILT_IN = ("c", "gcc_s", "ld-linux-x86-64", "ld-linux")  # libraries that the compiler names itself
_LIBRARY = re.compile(r"lib(.+?)\.so\b")
_SECONDS = 120
# Names that an assembler takes as they are; a broken file can have any.
_PLAIN = re.compile(r"[A-Za-z0-9_.$]+\Z")
_MAIN, _CALL = 8, 7  # bytes of code at most: main(), a reference


class Impossible(Exception):
    """It cannot be tried here, and why."""


class Reference(NamedTuple):
    name: str
    is_function: bool
    is_weak: bool


@dataclass
class Trial:
    elf: Elf
    run: Run
    starts: dict[str, int]  # of the parts, by their names
    main_at: int  # how many instructions are executed before main()


def code_ahead(elf: Elf, text: Section) -> int:
    """The size of what linkers place before the C start files' code: functions that are unlikely, or of the
    start, of all objects and archives."""
    start = next((symbol.address for symbol in elf.symbols if symbol.name == "_start"), text.address)
    return start - text.address if text.address <= start < text.address + text.size else 0


def own_parts(elf: Elf) -> list[Section]:
    parts = [
        section
        for section in elf.sections
        if section.flags & SHF_ALLOC and section.size and _PLAIN.match(section.name)
        if not _MADE.match(section.name)
    ]
    if sum(part.size for part in parts if part.type != SHT_NOBITS) > os.path.getsize(elf.path):
        raise Impossible("its sections are larger than its file")
    return parts


class Lab(NamedTuple):
    """With what trials are made."""

    tlbgrind: str
    settings: Sequence[str]  # its options for the kernel
    folder: str


def trial(lab: Lab, elf: Elf, dynamic: Dynamic, flag: str) -> Trial:
    """`flag` is -static or -static-pie."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if elf.machine == EM_386 or compiler is None:
        raise Impossible("gcc is not installed" if compiler is None else "not for 32-bit programs")
    path = os.path.join(lab.folder, "trial" + flag)
    source = path + ".s"
    with open(source, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.writelines(f"{line}\n" for line in _source(elf, dynamic))
    libraries = list(_libraries(compiler, dynamic))
    _link([compiler, flag, "-Wl,--unresolved-symbols=ignore-all", "-o", path, source, *libraries])
    log, order = path + ".faults", path + ".entries"
    outputs = [f"--faults-out-file={log}", f"--entries-out-file={order}", "--tlbgrind-out-file=/dev/null"]
    done = subprocess.run(
        [lab.tlbgrind, "-q", "--faults=yes", "--entries=yes", *outputs, *lab.settings, path],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=_SECONDS,
    )  # fmt: skip
    if done.returncode != 0 or not os.path.isfile(log):
        raise Impossible("an empty program that is linked so does not run")
    linked = elf_files.read(path)
    starts = {
        symbol.name[len(LABEL) :]: symbol.address
        for symbol in linked.symbols
        if symbol.name.startswith(LABEL)
    }
    functions = entries.read(order).functions.values()
    main_at = next((function.when for function in functions if function.name == "main"), 0)
    return Trial(linked, Run(faultlog.read(log)), starts, main_at)


def _link(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, errors="replace", check=False, timeout=_SECONDS)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "warning:" not in line and line.strip()]
        reason = lines[0][:160] if lines else "gcc fails"
        raise Impossible(f"an empty program with the same references cannot be linked so: {reason}")


def _libraries(compiler: str, dynamic: Dynamic) -> Iterator[str]:
    for library in (*dynamic.needed, "libc.so.6"):
        match = _LIBRARY.match(os.path.basename(library))
        name = match[1] if match else ""
        if not name or (name in _BUILT_IN and name != "c"):
            continue
        archive = f"lib{name}.a"
        found = subprocess.run(
            [compiler, f"-print-file-name={archive}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if not os.path.isfile(found):
            package = "libc6-dev" if name == "c" else "the library's package with -dev"
            raise Impossible(f"{archive} is not installed (Debian: {package})")
        if name != "c":
            yield f"-l{name}"


def _references(elf: Elf, dynamic: Dynamic) -> Iterator[Reference]:
    """What the program needs of libraries. Data that it has a copy of is the library's, too."""
    copies = {dynamic.symbols[one.symbol].name for one in dynamic.relocations if one.kind == COPY}
    data = {
        dynamic.symbols[one.symbol].name
        for one in dynamic.relocations
        if one.kind in (COPY, SYMBOLIC) and one.symbol < len(dynamic.symbols) and not one.is_in_got
    }
    weak = {symbol.name for symbol in elf.dynamic_symbols() if symbol.binding == STB_WEAK}
    for symbol in dynamic.symbols:
        if _PLAIN.match(symbol.name) and (symbol.name in copies or not (symbol.is_defined or symbol.is_local)):
            yield Reference(symbol.name, symbol.name not in data | copies, symbol.name in weak - copies)


def _source(elf: Elf, dynamic: Dynamic) -> Iterator[str]:
    parts = own_parts(elf)
    copies = {dynamic.symbols[one.symbol].name for one in dynamic.relocations if one.kind == COPY}
    exported = {s.name for s in dynamic.symbols if s.is_defined and _PLAIN.match(s.name)} - copies - _START
    references = [one for one in _references(elf, dynamic) if one.name not in exported | _START]
    words = sorted(
        one.address for one in dynamic.relocations if one.kind in (RELATIVE, RELR) or (one.kind == SYMBOLIC)
    )
    for part in parts:
        ahead = code_ahead(elf, part) if part.name == ".text" else 0
        if ahead:
            label = f'"{LABEL}{AHEAD}"'
            yield from (f'.section "{AHEAD}","ax",@progbits', ".balign 32", f".globl {label}", f"{label}:", f".skip {ahead}")
        label = f'"{LABEL}{part.name}"'
        flags = "a" + "w" * bool(part.flags & SHF_WRITE) + "x" * bool(part.flags & SHF_EXECINSTR)
        flags += "T" * bool(part.flags & SHF_TLS)
        kind = "nobits" if part.type == SHT_NOBITS else "progbits"
        yield f'.section "{part.name}","{flags}",@{kind}'
        yield ".balign 32"
        yield f".globl {label}"
        yield f"{label}:"
        if part.name == ".text":
            yield from _code(references)
        elif part.flags & SHF_WRITE and kind == "progbits" and not part.flags & SHF_TLS:
            for address in words:
                if part.address <= address and address + 8 <= part.address + part.size:
                    yield f".org {label} + {address - part.address}"
                    yield f'.quad "{LABEL}.text"'
        if part.name != ".text" or part.size - ahead > _MAIN + _CALL * len(references):
            yield f".org {label} + {part.size - ahead}"
    # What unwinds the stack is not read, but what lies behind it is so much further on in the file.
    unwinding = sum(section.size for section in elf.sections if section.name in _UNWINDING)
    yield '.section .gcc_except_table,"a",@progbits'
    yield f".skip {unwinding}"
    # They are in the program, so no archive brings its own.
    for symbol in elf.dynamic_symbols():
        if symbol.name not in exported:
            continue
        section = elf.section_at(symbol.address)
        is_code = symbol.type in (STT_FUNC, STT_GNU_IFUNC)
        exported.discard(symbol.name)
        if not is_code and section is not None and section.name in [part.name for part in parts]:
            place = f'"{LABEL}{section.name}" + {symbol.address - section.address}'
        else:
            place = f'"{LABEL}.text"'
        yield f'.globl "{symbol.name}"'
        yield f'.set "{symbol.name}", {place}'
    yield '.section .note.GNU-stack,"",@progbits'


def _code(references: Sequence[Reference]) -> Iterator[str]:
    """Functions that the program has in the place of a library's do nothing, and so does main()."""
    nothing = ("xor %eax, %eax", "ret")
    yield from nothing
    yield from (".globl main", ".type main, @function", "main:", *nothing, ".size main, . - main")
    for one in references:
        if one.is_weak:
            yield f'.weak "{one.name}"'
        if one.is_function:
            yield f'call "{one.name}"'
        else:
            yield f'mov "{one.name}"@GOTPCREL(%rip), %rax'
