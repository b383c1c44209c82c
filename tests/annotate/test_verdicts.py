# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The one place that decides what is worth a change: by cycles, as a share of the program's."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from tg_companions import package

cost, share, verdicts = package("formats.cost"), package("formats.share"), package("formats.verdicts")
Cycles = cost.Cycles

# A million instructions take a million cycles beside the least that misses cost, and half of that beside the most.
MILLION = 1_000_000

# Cycles saved, of misses that cost 0 to 500,000: a hundredth of the time is 10,000 at either end.
CASES = [
    ((10_000, 10_000), "yes", 10_000),
    ((9_999, 10_000), "perhaps", 10_000),
    ((9_999, 9_999), "no", 10_000),
    ((0, 400_000), "perhaps", 10_000),
    ((-5_000, 9_999), "no", 10_000),
    ((-5_000, -4_000), "no", 10_000),
    ((0, 0), "no", 10_000),
]


@pytest.mark.parametrize(("saved", "word", "turns"), CASES)
def test_one_hundredth_of_the_time_is_worth_it(saved: tuple[int, int], word: str, turns: int) -> None:
    whole = verdicts.spent(MILLION, Cycles(0, 500_000))
    assert whole == (MILLION, MILLION)
    found = verdicts.judge(Cycles(*saved), whole)
    assert (found.word, found.turns_at) == (word, turns)
    assert found.share == tuple(sorted(Fraction(end, MILLION) for end in saved))


@pytest.mark.parametrize(("saved", "word", "turns"), CASES)
@pytest.mark.parametrize("times", [3, 10, 1000])
def test_a_longer_run_has_the_same_verdict(saved: tuple[int, int], word: str, turns: int, times: int) -> None:
    whole = verdicts.spent(times * MILLION, Cycles(0, times * 500_000))
    found = verdicts.judge(Cycles(*(times * end for end in saved)), whole)
    assert (found.word, found.turns_at) == (word, times * turns)


# Cycles saved, which of the two ends decides, and the verdicts with enough there, and with one cycle fewer.
TURNS = [
    ((7_000, 12_345), 1, "perhaps", "no"),
    ((20_000, 30_000), 0, "yes", "perhaps"),
    ((500_000, 20_000), 1, "yes", "perhaps"),
    ((9_000, 2_000), 0, "perhaps", "no"),
]


@pytest.mark.parametrize(("saved", "end", "enough", "short"), TURNS)
def test_the_number_that_turns_it_does(saved: tuple[int, int], end: int, enough: str, short: str) -> None:
    whole = verdicts.spent(MILLION, Cycles(30_000, 600_000))
    turns = verdicts.judge(Cycles(*saved), whole).turns_at
    for cycles, word in ((turns, enough), (turns - 1, short)):
        ends = [cycles if number == end else other for number, other in enumerate(saved)]
        assert verdicts.judge(Cycles(*ends), whole).word == word


def test_where_misses_cost_most_can_be_the_smaller_share() -> None:
    """Each end is held against its own time."""
    whole = verdicts.spent(MILLION, Cycles(0, 9_500_000))
    found = verdicts.judge(Cycles(20_000, 20_000), whole)
    assert found.share == (Fraction(20_000, 10_000_000), Fraction(20_000, MILLION))
    assert (found.word, found.turns_at) == ("perhaps", 10_000)


def test_page_faults_take_time_of_their_own() -> None:
    """A thousand faults of 1,000 to 5,000 cycles, beside a program of a million."""
    whole = verdicts.spent(MILLION, Cycles(0, 500_000))
    found = verdicts.judge_faults(500, 1000, whole)
    assert found.cycles == (500_000, 2_500_000)
    assert found.share == (Fraction(1, 4), Fraction(5, 12))
    assert verdicts.judge_faults(12, 1000, whole).word == "perhaps"


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0, 0), "0.0%"),
        ((0.0949, 0.34), "9.5 to 34%"),
        ((0.09951, 0.1), "10%"),
        ((-0.004, 0.0044), "-0.4 to 0.4%"),
        ((-0.0004, 0), "0.0%"),
    ],
)
def test_shares_read_as_the_summary_has_them(ends: tuple[float, float], text: str) -> None:
    assert share.percent_range(*map(Fraction, ends)) == text


# What misses take of ten thousand, and what is said of it.
LOOKS = [
    ((0, 99), "NOTHING_TO_WIN"),
    ((0, 100), "ONLY_FREE"),
    ((400, 499), "ONLY_FREE"),
    ((499, 500), "PERHAPS_A_LOOK"),
    ((500, 500), "A_LOOK"),
]


@pytest.mark.parametrize(("ends", "said"), LOOKS)
def test_what_a_share_of_the_time_deserves(ends: tuple[int, int], said: str) -> None:
    assert verdicts.look(*(Fraction(end, 10_000) for end in ends)) == getattr(verdicts, said)


def test_a_start_is_not_worth_it_in_longer_runs() -> None:
    """Longer than the one in which the upper end is just enough; before, it may be."""
    saved = Cycles(700, 900)
    longest = verdicts.longest_run(saved)
    assert longest == 90_000
    for cycles, word in ((70_000, "yes"), (70_001, "perhaps"), (longest, "perhaps"), (longest + 1, "no")):
        assert verdicts.word_of(*(Fraction(end, cycles) for end in saved)) == word


def test_faults_that_are_saved_at_most_pay_at_most() -> None:
    whole = verdicts.spent(MILLION, Cycles(0, 0))
    found = verdicts.judge_faults_at_most(100, 200, whole)
    assert (found.word, found.cycles) == ("perhaps", (0, 500_000))
    assert found.share == (0, Fraction(500_000, 1_500_000))
    assert verdicts.judge_faults_at_most(2, 200, whole).word == "no"


@pytest.mark.parametrize(("knows", "cycles"), [(False, (600, 3000)), (True, (2400, 2400))])
def test_instructions_have_their_part_of_what_all_misses_cost(tmp_path: Path, knows: bool, cycles: tuple[int, int]) -> None:
    """Three of four misses, all of which hit behind the first level, where the file says of how many cycles."""
    costs = ["Walk cycles: 20..20", "Hit cycles: itlb 1 I 0..0", "Hit cycles: dtlb 1 R 0..0", "Hit cycles: stlb 2 IR 8..8"]
    counts = "100000 300 0 100 0 0 0 3200"
    lines = [
        "version: 1", "creator: tlbgrind-0.1.0", "cmd: ./a", "desc: Format: 1", *(f"desc: {cost}" for cost in costs if knows),
        "positions: line", "events: Ir I1tm ILtm D1tmr DLtmr D1tmw DLtmw Wcyc", "", "ob=a", "fl=a.c", "fn=main", f"1 {counts}",
        "", f"summary: {counts}", f"totals: {counts}",
    ]  # fmt: skip
    path = tmp_path / "out"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    out = package("formats.outfile").read(str(path))
    assert verdicts.cycles_of_code(out) == cycles
