# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Counts are added up only where they belong together, and nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from annotate_support import run
from tg_companions import call, package


def test_events_that_differ_cannot_be_merged(place: Path) -> None:
    result = run(place, "two-level.out", "callgrind.out")
    assert result.err == (
        b"tg_annotate: error: callgrind.out:12: events 'Ir Dr sysTime', but 'Ir I1tm ILtm Dr D1tmr"
        b" DLtmr Dw D1tmw DLtmw' in two-level.out: files of different events cannot be taken"
        b" together\n"
    )
    assert (result.status, result.out) == (1, b"")


@pytest.mark.parametrize(
    ("lossy", "what"),
    [
        ("functions", "the table by function"),
        ("source_files", "the table by file"),
        ("objects", "the table by object"),
        ("lines", "the annotation summary"),
    ],
)
def test_nothing_is_printed_that_does_not_add_up(
    lossy: str,
    what: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = package("annotate.profile").Profile
    whole = getattr(profile, lossy)

    def without_the_first(*arguments: Any) -> Any:
        sums = whole(*arguments)
        if lossy == "lines":
            sums["src/stride.c"].popitem()
        else:
            del sums[next(iter(sums))]
        return sums

    monkeypatch.setattr(profile, lossy, without_the_first)
    monkeypatch.chdir(place)
    options = ["--annotate"] if lossy == "lines" else []
    status, out, err = call("tg_annotate", *options, "two-level.out")
    assert err.startswith(f"tg_annotate: error: internal error: {what} adds up to (".encode())
    assert (status, out) == (1, b"")
