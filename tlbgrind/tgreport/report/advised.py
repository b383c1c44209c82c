# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns the out-files of runs with --advice=SIZE into a page's advice: one table for each run."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotate import advice
from ..annotate.advice import Advice, Gain
from ..base.errors import ReportError
from ..formats.outfile import OutFile
from .rows import count

_WIDTH = 100
_PAYS = {"walks": "yes", "faults": "by faults", "no": "no"}


class Advised:
    """What was advised, and the out-files that say nothing else."""

    def __init__(self, files: Sequence[OutFile]) -> None:
        self.page: list[dict[str, object]] = []
        self.variants: set[str] = set()
        runs: dict[tuple[str, str], list[OutFile]] = {}
        for out in files:
            runs.setdefault((out.pid, out.command), []).append(out)
        for (pid, _), group in runs.items():
            try:
                found = advice.advise(group)
            except ReportError:
                continue  # not such a run
            self.page.append({"pid": pid, **_table(found)})
            own = {out.path for out in group if advice.machine_of(out) == found.machine}
            self.variants.update(out.path for out in group if out.path not in own)


def _table(found: Advice) -> dict[str, object]:
    gains = found.shown()
    return {
        "machine": found.machine,
        "walks": count(found.walks),
        "misses": count(found.misses),
        "faults": count(found.faults),
        "rows": [_row(found, gain) for gain in gains],
        "verdicts": [line for size in found.sizes for line in advice.verdict_of(found, size, _WIDTH)],
    }


def _row(found: Advice, gain: Gain) -> dict[str, object]:
    return {
        "memory": advice.name_of(gain),
        "pages": gain.size,
        "pays": _PAYS[found.verdict(gain)],
        "walks_saved": gain.saved,
        "misses_saved": gain.misses_saved,
        "faults_saved": gain.faults_saved,
        "backed": gain.backed,
        "unused": gain.backed - gain.touched,
        "which": gain.mapping,
        "how": gain.how(),
    }
