# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if anonymous memory came in larger pieces: folios of several pages, or huge pages.

The run itself has counted that, by the lines 'trial' of its log: how large a folio can be depends on
how far the heap reached at each moment, which the touches do not say.
"""

from __future__ import annotations

from collections.abc import Iterator

from .replay import Run
from .whatif import Remedy, Way

_SWITCH = "/sys/kernel/mm/transparent_hugepage"
_HUGE = "thp=always"
_FOLIO = "mthp="
# What logs have had trials of since there are any.
_SIZES = ("16K", "64K")


def remedies(run: Run) -> Iterator[Remedy]:
    trials = run.log.trials
    if not trials:
        if run.log.header.get("mthp", "none") == "none":
            yield from (_not_known(size) for size in _SIZES)
        return
    warm = run.log.totals["warm"].faults
    for setting, faults in trials.items():
        if setting == _HUGE:
            yield Remedy(
                "huge pages",
                f"{_SWITCH}/enabled: always",
                (Way((), warm - faults),),
                "all memory that is not of files, where 2M of a mapping are there when it is first touched",
                "what khugepaged makes huge later; how long the kernel clears 2M at a time; sizes of folios that "
                "inherit this setting",
                joins=False,
            )
            continue
        size = setting[len(_FOLIO) :]
        yield Remedy(
            f"folios of {size}",
            _how(size),
            (Way((), warm - faults),),
            "all memory that is not of files; a folio is as large as that where its mapping has all of it, so a heap "
            "that grows in smaller steps has none",
            "memory that is then there without being used",
            joins=False,
        )


def _how(size: str) -> str:
    return f"{_SWITCH}/hugepages-{size[:-1]}kB/enabled: always (Linux 6.8)"


def _not_known(size: str) -> Remedy:
    why = f"the log has no trial of it, as an older tlbgrind wrote it; a run with tlbgrind --mthp={size} tells"
    return Remedy(f"folios of {size}", _how(size), (), why, "")
