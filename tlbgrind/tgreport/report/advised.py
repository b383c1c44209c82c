# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns the out-files of runs with --advice=SIZE into a page's advice: one table for each run."""

from __future__ import annotations

from collections.abc import Sequence

from ..annotate import advice, advicetext
from ..annotate.advice import Advice, Gain
from ..base.errors import ReportError
from ..formats.outfile import OutFile
from .rows import count

_WIDTH = 100
_PAYS = {"yes": "yes", "perhaps": "perhaps", "faults": "by faults", "no": "no"}


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
            self.page += [{"pid": pid, **_table(one)} for one in found]
            own = {one.machine for one in found}
            self.variants.update(out.path for out in group if advice.machine_of(out) not in own)


def _table(found: Advice) -> dict[str, object]:
    gains = found.shown()
    return {
        "machine": found.machine,
        "walks": count(found.walks),
        "misses": count(found.misses),
        "faults": count(found.faults),
        "rows": [_row(gain) for gain in gains],
        "verdicts": [line for size in found.sizes for line in advicetext.verdict_of(found, size, _WIDTH)],
    }


def _row(gain: Gain) -> dict[str, object]:
    return {
        "memory": advice.name_of(gain),
        "pages": gain.size,
        "pays": _PAYS[gain.pays()],
        "time_saved": gain.verdict.percent(),
        "walks_saved": gain.saved,
        "misses_saved": gain.misses_saved,
        "faults_saved": gain.faults_saved,
        "backed": gain.backed,
        "unused": gain.backed - gain.touched,
        "which": gain.mapping,
        "how": gain.how(),
    }
