# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Says whether a new layout of code or data is worth it, by the page faults that it saves."""

from __future__ import annotations

from ..base.text import TITLE_WIDTH, counted, wrapped
from ..formats.faultlog import FaultLog
from ..formats.verdicts import NO, YES, judge_faults, longest_run, spent_by_instructions


def verdict_of(what: str, saved: int, log: FaultLog) -> list[str]:
    """Of the run that the log is of; nothing where it does not tell how long that was.

    Files are taken to be in the page cache: what a disk needs is not a matter of cycles.
    """
    all_faults = log.totals["warm"].faults
    if log.instructions is None or not all_faults:
        return []
    if saved <= 0:
        return wrapped("Nothing to win: ", f"{what} saves no page fault of this run.", TITLE_WIDTH)
    found = judge_faults(saved, all_faults, spent_by_instructions(log.instructions))
    label = {YES: "It pays: ", NO: "Nothing to win: "}.get(found.word, "It may pay: ")
    turn = longest_run(found.cycles)
    turns = (
        f"in a run of {turn:,} cycles or fewer it may be worth it"
        if found.word == NO
        else f"in a run of more than {turn:,} cycles it would not be worth it"
    )
    spared = f"{counted(saved, 'page fault')}, {found.percent()} of the time, {found.cycles.words()} cycles"
    text = f"{what} saves {spared}; {turns}."
    return wrapped(label, text, TITLE_WIDTH, 4)
