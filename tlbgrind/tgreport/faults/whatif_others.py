# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Remedies that a fault log alone says nothing of, and which command does."""

from __future__ import annotations

from collections.abc import Iterator

from .replay import Run
from .whatif import Remedy
from .whatif_link import Program


def remedies(run: Run, program: Program | None) -> Iterator[Remedy]:
    if program is None:
        return
    libraries = [
        name for name, elf in run.files.elves.items() if name != program.path and not elf.is_program
    ]
    # Besides the dynamic linker and the C library.
    if len(libraries) > 3:
        yield Remedy(
            "fewer libraries",
            "one link of their object files",
            (),
            "tg_annotate --advice=libraries tells which symbols and pages a merge saves, of a run with "
            "--dump-instr=yes",
            "",
        )
