# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns the out-files of runs with --mappings=yes into a page's mappings: one table for each machine."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotate import mappings
from ..annotate.mappings import Found, Row
from ..formats.mappings import PARTS
from ..formats.outfile import OutFile
from .costs import Machine
from .rows import count


def mapped(machines: Sequence[Machine], names: Sequence[str]) -> list[dict[str, object]]:
    found = [(name, machine.out) for name, machine in zip(names, machines) if _has_mappings(machine.out)]
    return [_table(name, mappings.find(out)) for name, out in found]


def _has_mappings(out: OutFile) -> bool:
    return any(key == "Large pages" for key, _ in out.descriptions)


def _table(machine: str, found: Found) -> dict[str, object]:
    return {
        "machine": machine,
        "large": mappings.size_name(found.large),
        "totals": {
            "references": count(found.total.references),
            "misses": count(found.total.misses),
            "walks": count(found.total.walks),
            "cycles": count(found.total.most_cycles) if found.has_costs else None,
        },
        "rows": [_row(found, row) for row in found.rows],
    }


def _row(found: Found, row: Row) -> dict[str, object]:
    sums = row.all
    cells: dict[str, object] = {
        "address": f"{row.mapping.start:#x}",
        "mapped": row.name,
        "mode": row.mode,
        "kib": (row.mapping.end - row.mapping.start) >> 10,
        "pages": row.page_sizes,
        "references": count(sums.references),
        "misses": count(sums.misses),
        "walks": count(sums.walks),
        "cycles": count(sums.most_cycles) if found.has_costs else None,
        "time": float(100 * found.time(sums)) if found.has_costs else None,
    }
    for part in PARTS:
        cells[f"kib_{part}"] = row.mapping.bytes_of(part) >> 10
        cells[f"walks_{part}"] = count(row.parts[part].walks)
    win = "; ".join(found.advice(row)) or "nothing to win"
    return {**cells, "win": win if found.has_room(row) else ""}
