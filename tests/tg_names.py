# tg_names.py -- what the files of a run with several machines are called.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations


def label_of(machine: str) -> str:
    """What stands behind the name of the out-file and its "_"."""
    return machine.replace("-", "_").replace(".", "_")
