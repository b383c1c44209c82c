# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds GNU ld's default linker script, which --bfd-script adds lines to."""

from __future__ import annotations

import re
import subprocess

from ..base.errors import ReportError
from ..formats import elf
from ..formats.elf import Elf


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
