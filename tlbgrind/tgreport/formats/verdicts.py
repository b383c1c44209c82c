# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Decides what is worth a change of the program: by the cycles that it saves, as a share of the program's.

All that tells a user to do something, or that there is nothing to win, asks here. A share does not
depend on how long the program runs, as a number of walks in so many instructions does not, but it
counts what misses of the first level cost as well.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ..base.errors import ReportError
from .cost import Cycles, miss_cycles
from .outfile import OutFile
from .share import given_cycles, percent_range

# Less than this share of the program's time is not worth a change: runs of most programs differ by
# as much from one to the next, so nobody could see it.
WORTH_PERCENT = 1

# What misses take at most of the time, below which only what costs no work is worth it.
FREE_PERCENT = 5
# From here on it is worth it to know the share better.
MUCH_PERCENT = 20

YES, PERHAPS, NO = "yes", "perhaps", "no"

# Where a machine does not tell what misses cost: rules of thumb, the lower ends for two at a time.
ASSUMED_WALK = Cycles(10, 40)
ASSUMED_HIT = Cycles(2, 10)
ASSUMED_WORDS = "20 to 40 cycles a walk and 5 to 10 a hit behind the first level, up to two at a time"

# What a minor page fault takes of a page that is there or to be zeroed, without the zeroing: from a
# processor without more ado to a guest whose host has to be asked.
FAULT = Cycles(1_000, 5_000)

PER_CYCLE = (1, 2)  # instructions, with the least cycles of misses and with the most


class Spent(NamedTuple):
    """The cycles of the whole program, at the two ends: where its misses cost least, and most."""

    with_least: Fraction
    with_most: Fraction


class Verdict(NamedTuple):
    word: str  # YES, PERHAPS or NO
    cycles: Cycles  # that are saved, the smaller end first
    share: tuple[Fraction, Fraction]  # of the program's time, likewise
    turns_at: int  # so many cycles saved would be enough at the end that decides

    def percent(self) -> str:
        """Of the time."""
        return percent_range(*self.share)

    def reason(self) -> str:
        """What it rests on, and what would turn it."""
        cycles = self.cycles.words()
        return f"{self.percent()} of the time, {cycles} cycles; worth it from {self.turns_at:,} on"


# ---------------------------------------------------------------- what a run spends


def _sum(out: OutFile, *events: str) -> int:
    return sum(count for event, count in zip(out.events, out.totals) if event in events)


def costs_are_assumed(out: OutFile) -> bool:
    """The file does not tell what misses cost."""
    return miss_cycles(out) is None


def cycles_of(out: OutFile) -> Cycles:
    """What the misses cost; by rules of thumb, where the file does not tell."""
    told = miss_cycles(out)
    if told is not None:
        return told
    walks = _sum(out, "ILtm", "DLtmr", "DLtmw")
    return cycles_by_rule(_sum(out, "I1tm", "D1tmr", "D1tmw"), walks)


def cycles_by_rule(first_level: int, walks: int) -> Cycles:
    hits = max(0, first_level - walks)
    ends = [hits * hit + walks * walk for hit, walk in zip(ASSUMED_HIT, ASSUMED_WALK)]
    return Cycles(ends[0], ends[1])


def cycles_of_code(out: OutFile) -> Cycles:
    """What misses of instructions cost: their part of all, as rules of thumb divide it."""
    part = cycles_by_rule(_sum(out, "I1tm"), _sum(out, "ILtm"))
    told = miss_cycles(out)
    if told is None:
        return part
    first_level = _sum(out, "I1tm", "D1tmr", "D1tmw")
    all_of_it = cycles_by_rule(first_level, _sum(out, "ILtm", "DLtmr", "DLtmw"))
    ends = [cost * some // whole if whole else 0 for cost, some, whole in zip(told, part, all_of_it)]
    return Cycles(*sorted(ends))


def spent_by(out: OutFile) -> Spent:
    """The cycles that --cycles= gives, or instructions at so many a cycle and what misses cost."""
    given = given_cycles(out)
    if given == 0:
        raise ReportError("'desc: Share of time:' is of no cycles", out.path)
    if given is not None:
        return Spent(Fraction(given), Fraction(given))
    return spent(_sum(out, "Ir"), cycles_of(out))


def spent(instructions: int, misses: Cycles) -> Spent:
    ends = [Fraction(instructions, per_cycle) + cost for per_cycle, cost in zip(PER_CYCLE, misses)]
    return Spent(ends[0], ends[1])


# ---------------------------------------------------------------- verdicts


def judge(saved: Cycles, whole: Spent) -> Verdict:
    """Of a change that saves so many cycles: at the end where misses cost least, and where they cost
    most, in this order, whichever is smaller."""
    shares = sorted(cost / time if time else Fraction(0) for cost, time in zip(saved, whole))
    word = word_of(shares[0], shares[1])
    # The end whose share is the smaller one decides for YES, else the larger one.
    smaller_first = saved.least * whole.with_most <= saved.most * whole.with_least
    deciding = whole[0 if (word == YES) == smaller_first else 1]
    return Verdict(word, Cycles(*sorted(saved)), (shares[0], shares[1]), worth(deciding))


def word_of(least: Fraction, most: Fraction) -> str:
    """Of the share of the time that is saved."""
    return YES if _is_enough(least) else PERHAPS if _is_enough(most) else NO


def longest_run(cycles: Cycles) -> int:
    """In so many cycles of a run a saving that does not grow with it can just be enough: in a longer
    one the word is NO."""
    return cycles.most * 100 // WORTH_PERCENT


def _is_enough(share: Fraction) -> bool:
    return share > 0 and share * 100 >= WORTH_PERCENT


def worth(time: Fraction) -> int:
    """The least whole number of cycles that is enough of so many."""
    return max(1, -int(-time * WORTH_PERCENT // 100))


def judge_change(before: OutFile, after: OutFile) -> Verdict:
    """Of two runs of one program, or one program on two machines."""
    had, left = cycles_of(before), cycles_of(after)
    return judge(Cycles(had.least - left.least, had.most - left.most), spent_by(before))


def judge_faults(saved: int, all_faults: int, whole: Spent) -> Verdict:
    """Of a change that saves page faults, whose time is the kernel's and comes to the program's."""
    ends = [time + all_faults * cost for time, cost in zip(whole, FAULT)]
    return judge(Cycles(saved * FAULT.least, saved * FAULT.most), Spent(ends[0], ends[1]))


def judge_faults_at_most(saved: int, all_faults: int, whole: Spent) -> Verdict:
    """Of a change that saves at most so many, for Linux may map several pages with one."""
    ends = [time + all_faults * cost for time, cost in zip(whole, FAULT)]
    return judge(Cycles(0, saved * FAULT.most), Spent(ends[0], ends[1]))


def spent_by_instructions(instructions: int) -> Spent:
    """Where what misses cost is not known, as of a fault log."""
    return spent(instructions, Cycles(0, 0))


def time_of_faults(faults: int, instructions: int) -> Verdict:
    """Of all page faults of a run: what they take, as if a change saved them all."""
    return judge_faults(faults, faults, spent_by_instructions(instructions))


# ---------------------------------------------------------------- all that misses take

# docs/is-it-a-lot.md has the same, and why.
NOTHING_TO_WIN = f"nothing to win (below {WORTH_PERCENT}%)"
ONLY_FREE = f"worth what is free, such as transparent huge pages (below {FREE_PERCENT}%)"
PERHAPS_A_LOOK = f"may be worth a look ({FREE_PERCENT}% or more)"
A_LOOK = f"worth a look ({FREE_PERCENT}% or more)"


def look(least: Fraction, most: Fraction) -> str:
    """Whether such a share of the time deserves work. By the upper end where there is little: there is
    no more for sure. By the lower end where there is much."""
    if not _is_enough(most):
        return NOTHING_TO_WIN
    if most * 100 < FREE_PERCENT:
        return ONLY_FREE
    return A_LOOK if least * 100 >= FREE_PERCENT else PERHAPS_A_LOOK


def is_much(most: Fraction) -> bool:
    return most * 100 >= MUCH_PERCENT
