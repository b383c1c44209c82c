# tg_names.py -- what the files of a run with several machines are called.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

from collections.abc import Sequence


def label_of(machine: str) -> str:
    """What stands behind the name of the out-file and its "_"."""
    return machine.replace("-", "_").replace(".", "_")


def labels_of(machines: Sequence[str]) -> list[str]:
    """The same of all machines of a run, none of which is the beginning of another."""
    labels = [label_of(machine).replace("/", "_") for machine in machines]
    for i in range(len(labels)):
        number = 1
        while any(j != i and other.startswith(labels[i]) for j, other in enumerate(labels)):
            labels[i] += f"_{number}"
            number += 1
    return labels
