# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--data-offsets=yes: arrays whose records nothing states but the references to them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from data_support import Data, observe, only

COLUMNS = ("Dr", "Dw")


def at(data: Data, kind: str, name: str, offset: str) -> tuple[set[str], Counter[str]]:
    numbers = [number for number, key in data.names.items() if key == (kind, name)]
    assert numbers, f"no {kind} {name}"
    counts = sum((data.cells[0].get((n, offset), Counter()) for n in numbers), Counter[str]())
    return {data.records[n] for n in numbers}, counts


@pytest.mark.parametrize("more", [(), ("--fast-path=no",)])
def test_records_that_only_references_show_have_exact_counts(tmp_path: Path, more: tuple[str, ...]) -> None:
    done = observe(tmp_path, options=("--data-offsets=yes", *more), program="run_strides")
    assert done.status == 0, done.err
    data = only(tmp_path)
    assert done.out.count("\n") > 20
    for line in done.out.splitlines():
        kind, name, size, how, offset, *numbers = line.split()
        records, counted = at(data, kind, name, offset)
        shown = [n if n == "-" else str(counted[e]) for e, n in zip(COLUMNS, numbers)]
        assert (shown, records) == (numbers[:2], {f"{size} {how}"}), line
