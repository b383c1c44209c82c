# test_reach.py -- stack distances against a list, and against the arrays that they speak for.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random streams, from fixed seeds, through tests/model/reachdrive (the sanitized simulator): every
array from 8 to 8192 entries must miss as often as a list says that is searched from its end, with
pages of 4K, 64K and 2M, whether known pages are told of or not.
"""

from __future__ import annotations

import os
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from model.test_properties import CHARACTERS, one_sided, simulate

REACHDRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "model", "reachdrive")

SMALLEST, LARGEST = 8, 8192
SHIFTS = (0, 4, 9)  # 4K, 64K and 2M in pages of 4K


@dataclass
class Case:
    pages: list[int]
    ask_percent: int = 100

    def text(self) -> str:
        return "\n".join([f"ask {self.ask_percent}", *map(str, self.pages), "end", ""])


@dataclass
class Curve:
    cold: int
    misses: dict[int, int]  # by entries, where they change

    def at(self, entries: int) -> int:
        return self.misses[max(each for each in self.misses if each <= entries)]


def naive(pages: list[int]) -> Curve:
    """Distances by searching, misses by adding up."""
    order: list[int] = []
    at: dict[int, int] = {}
    cold = 0
    for page in pages:
        if page in order:
            distance = order[::-1].index(page)
            at[distance] = at.get(distance, 0) + 1
            order.remove(page)
        else:
            cold += 1
        order.append(page)
    misses: dict[int, int] = {}
    for entries in range(SMALLEST, LARGEST + 1):
        if entries == SMALLEST:
            misses[entries] = cold + sum(n for distance, n in at.items() if distance >= entries)
        elif entries - 1 in at:
            misses[entries] = misses[max(misses)] - at[entries - 1]
    return Curve(cold, misses)


def curves(cases: list[Case]) -> list[list[Curve]]:
    run = subprocess.run(
        [REACHDRIVE], input="".join(case.text() for case in cases), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == len(SHIFTS) * len(cases)
    made = []
    for line in lines:
        cold, *points = line.split()
        made.append(Curve(int(cold), {int(e): int(n) for e, n in (point.split(":") for point in points)}))
    return [made[i : i + len(SHIFTS)] for i in range(0, len(made), len(SHIFTS))]


def stream(rng: random.Random, n: int) -> list[int]:
    """Spread so that the larger pages hold one, some or all of the smaller."""
    spread = rng.choice([1, 1, 3, 16, 17, 100, 512, 513])
    span = rng.choice([5, 8, 9, 20, 64, 65, 150, 400])
    base = rng.choice([0, 1, 511, 0x7FFFFFFDE, 2**52 - 2**18])
    character = rng.choice(CHARACTERS)
    return [base + page * spread + (rng.randrange(spread) if spread > 3 else 0) for page in character(rng, n, span)]


@pytest.mark.parametrize("ask_percent", [0, 30, 100])
def test_each_size_misses_what_a_searched_list_misses(ask_percent: int) -> None:
    rng = random.Random(f"reach {ask_percent}")
    cases = [Case(stream(rng, 3000), ask_percent) for _ in range(60)]
    for case, got in zip(cases, curves(cases)):
        for shift, curve in zip(SHIFTS, got):
            assert curve == naive([page >> shift for page in case.pages])


def test_each_point_of_the_curve_is_what_an_array_of_that_size_misses() -> None:
    """One run with the curve says what one run for each array says."""
    rng = random.Random("arrays")
    sizes = [8, 9, 12, 16, 31, 64, 72, 100, 128]
    for character in CHARACTERS:
        pages = list(character(rng, 4000, 150))
        outcomes = simulate([one_sided(f"{size},full", pages) for size in sizes])
        curve = curves([Case(pages, 0)])[0][0]
        missed = [sum(digit != "0" for _, digit in zip(pages, digits)) for digits in outcomes]
        assert [curve.at(size) for size in sizes] == missed


def test_distances_beyond_the_largest_array_are_misses_of_all() -> None:
    """More pages than any array holds, so that each is too far away the second time; then some at random."""
    rng = random.Random("beyond")
    pages = list(range(9000)) * 2
    pages += [rng.randrange(8700) for _ in range(16000)]
    case = Case(pages, 0)
    curve = curves([case])[0][0]
    assert curve == naive(pages)
    # Of the pages at random, some are too far away, and some just so.
    assert curve.at(LARGEST - 1) > curve.at(LARGEST) > 2 * 9000 + 1000


def test_the_list_and_the_curve_can_disagree() -> None:
    """The comparison has teeth: one reference more or less is seen."""
    rng = random.Random("teeth")
    pages = [rng.randrange(100) for _ in range(2000)]
    got = curves([Case(pages)])[0][0]
    assert got == naive(pages)
    assert got != naive(pages[:-1])
    assert got != naive([*pages[:1000], 1000, *pages[1000:]])


def test_the_driver_refuses_broken_cases() -> None:
    for text, message in (("reach\n", "reach"), ("1\n2\n", "end of input")):
        run = subprocess.run([REACHDRIVE], input=text, capture_output=True, text=True, check=False)
        assert run.returncode == 1
        assert message in run.stderr
