# test_properties.py -- the simulator against a naive model, reference by reference.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random designs and streams, from a fixed seed, through tests/model/simdrive (the sanitized
simulator) and through tests/oracle/naive_tlb.py: every single outcome must be the same.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from oracle.naive_tlb import Array, Hierarchy

SIMDRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "model", "simdrive")

POLICIES = ("lru", "plru", "fifo", "nru", "random")

# side, page, context
Reference = tuple[str, int, int]


@dataclass
class Case:
    """A design, as (level from 1, side i, d or u, geometry), and what it is asked."""

    arrays: list[tuple[int, str, str]]
    stream: list[Reference] = field(default_factory=list)
    ask_percent: int = 100

    def text(self) -> str:
        lines = [f"{level} {side} {geometry}" for level, side, geometry in self.arrays]
        lines.append(f"ask {self.ask_percent}")
        lines += [f"{side} {page} {context}" for side, page, context in self.stream]
        return "\n".join([*lines, "end", ""])

    def expected(self) -> str:
        levels: list[dict[str, Array | None]] = [
            {"i": None, "d": None} for _ in range(max(level for level, _, _ in self.arrays))
        ]
        for level, side, geometry in self.arrays:
            array = Array.parse(geometry)
            for each in "id" if side == "u" else side:
                levels[level - 1][each] = array
        naive = Hierarchy(levels)
        digits = []
        for side, page, context in self.stream:
            missed, walked = naive.translate(side, page, context)
            digits.append("0123456789abcdef"[sum(1 << level for level in missed) + 8 * walked])
        return "".join(digits)


def simulate(cases: list[Case]) -> list[str]:
    run = subprocess.run(
        [SIMDRIVE], input="".join(case.text() for case in cases), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == len(cases)
    return lines


def compare(cases: list[Case]) -> None:
    for number, (case, got) in enumerate(zip(cases, simulate(cases))):
        expected = case.expected()
        if got == expected:
            continue
        at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
        pytest.fail(
            f"case {number}: {case.arrays}, ask {case.ask_percent}: reference {at}, {case.stream[at]}: "
            f"{got[at : at + 1]}, the model says {expected[at : at + 1]}\n"
            f"the references before it: {case.stream[max(0, at - 40) : at]}"
        )


# --- designs ---


def geometry(rng: random.Random, policy: str, most: int) -> str:
    """Any ways, any number of sets: most of them are no powers of two."""
    if policy == "plru":
        ways = 2 ** rng.randrange(0, 8)
    else:
        ways = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17, 20, 31, 33, 48, 72, 100])
    ways = min(ways, most) if policy != "plru" else min(ways, 2 ** (most.bit_length() - 1))
    sets = rng.choice([1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64])
    sets = max(1, min(sets, most // ways))
    name = f"random:{rng.getrandbits(64)}" if policy == "random" else policy
    return f"{ways * sets},{'full' if sets == 1 else ways},4K,{name}"


def arrays(rng: random.Random, policy: str) -> list[tuple[int, str, str]]:
    """The first levels under the policy; the levels behind them under any."""
    made = [(1, side, geometry(rng, policy, 128)) for side in "id"]
    for level in range(2, rng.choice([1, 2, 2, 2, 3, 3]) + 1):
        shape = rng.choice(["u", "u", "u", "id", "d", "i"])
        made += [(level, side, geometry(rng, rng.choice(POLICIES), 400)) for side in shape]
    return made


def entries(geometry_text: str) -> int:
    return int(geometry_text.split(",")[0])


# --- streams ---


def uniform(rng: random.Random, n: int, span: int) -> Iterator[int]:
    for _ in range(n):
        yield rng.randrange(span)


def zipf(rng: random.Random, n: int, span: int) -> Iterator[int]:
    pages = list(range(span))
    rng.shuffle(pages)
    yield from rng.choices(pages, weights=[1 / (rank + 1) for rank in range(span)], k=n)


def loop(_rng: random.Random, n: int, span: int) -> Iterator[int]:
    for i in range(n):
        yield i % span


def stride(rng: random.Random, n: int, span: int) -> Iterator[int]:
    step = rng.choice([2, 3, 4, 7, 8, 12, 16, 64, 100])
    for i in range(n):
        yield i % span * step


def walk(rng: random.Random, n: int, span: int) -> Iterator[int]:
    """Runs of references to one page, then a step to a near one: what a program does."""
    page = 0
    while n > 0:
        for _ in range(min(n, rng.randrange(1, 6))):
            n -= 1
            yield page
        page = (page + rng.choice([-2, -1, 1, 1, 1, 2, span // 2])) % max(span, 1)


def mixed(rng: random.Random, n: int, span: int) -> Iterator[int]:
    while n > 0:
        part = min(n, rng.randrange(1, 120))
        yield from rng.choice([uniform, zipf, loop, stride, walk])(rng, part, span)
        n -= part


CHARACTERS = (uniform, zipf, loop, stride, walk, mixed)


def stream(rng: random.Random, made: list[tuple[int, str, str]], n: int) -> list[Reference]:
    """Instructions and data interleaved; round the sizes of the arrays, one more or less."""
    sizes = [entries(text) for _, _, text in made]
    base = rng.choice([0, 1, 1023, 0x400, 0x7FFFFFFDE, 2**52 - 2**17])
    contexts = rng.choice([(0,), (0,), (0, 1), (0, 4094, 7)])
    both = rng.random() < 0.3
    pages: dict[str, Iterator[int]] = {}
    for side in "id":
        span = max(1, rng.choice(sizes) + rng.choice([-1, 0, 1, 1, 3, 20]))
        pages[side] = rng.choice(CHARACTERS)(rng, n, span)
    made_stream = []
    for _ in range(n):
        side = rng.choice("id")
        # The sides share their pages or lie far apart.
        page = base + next(pages[side]) + (0 if both or side == "i" else 50000)
        made_stream.append((side, page, rng.choice(contexts)))
    return made_stream


def cases_of(policy: str, ask_percent: int, count: int = 60, n: int = 3000) -> list[Case]:
    rng = random.Random(f"{policy} {ask_percent}")
    made = []
    for _ in range(count):
        design = arrays(rng, policy)
        made.append(Case(design, stream(rng, design, n), ask_percent))
    return made


@pytest.mark.parametrize("ask_percent", [100, 0, 30])
@pytest.mark.parametrize("policy", POLICIES)
def test_every_outcome_is_the_model_s(policy: str, ask_percent: int) -> None:
    """With first levels of that policy; without short cuts, with them, and with some not taken."""
    compare(cases_of(policy, ask_percent))


def one_sided(text: str, pages: list[int], ask_percent: int = 100) -> Case:
    return Case([(1, "i", "1,1"), (1, "d", text)], [("d", page, 0) for page in pages], ask_percent)


@pytest.mark.parametrize("policy", POLICIES)
def test_loops_round_the_size_of_the_array(policy: str) -> None:
    """The knee: E - 1, E and E + 1 pages over E entries, page after page and in one set."""
    cases = []
    for shape in ("1,1", "2,full", "16,full", "17,full", "64,full", "64,4", "72,6", "1280,5", "128,64", "31,1"):
        number, ways = shape.split(",")
        if policy == "plru" and (ways in ("5", "6") or number == "17"):
            continue
        size = int(number)
        sets = 1 if ways == "full" else size // int(ways)
        for pages in (size - 1, size, size + 1):
            cases.append(one_sided(f"{shape},4K,{policy}", [i % max(pages, 1) for i in range(5 * pages + 7)], 0))
        for pages in (size // sets, size // sets + 1):
            cases.append(one_sided(f"{shape},4K,{policy}", [i % pages * sets for i in range(9 * pages)], 0))
    compare(cases)


def test_lru_of_more_entries_never_misses_more() -> None:
    """Inclusion: whatever hits in a fully associative LRU array hits in every larger one."""
    rng = random.Random("inclusion")
    sizes = [1, 2, 3, 4, 6, 8, 9, 15, 16, 17, 24, 32, 48, 64, 72, 96, 128, 200]
    for character in CHARACTERS:
        pages = list(character(rng, 4000, 150))
        outcomes = simulate([one_sided(f"{size},full", pages) for size in sizes])
        for small, large in zip(outcomes, outcomes[1:]):
            assert all(s != "0" or l == "0" for s, l in zip(small, large))
        if character is uniform:
            assert outcomes[0].count("0") < outcomes[8].count("0") < outcomes[-2].count("0")


@pytest.mark.parametrize("policy", POLICIES)
def test_where_everything_fits_each_page_misses_once(policy: str) -> None:
    rng = random.Random(f"cold {policy}")
    cases = []
    for character in CHARACTERS:
        pages = [page % 256 for page in character(rng, 3000, 256)]
        cases += [one_sided(f"256,{ways},4K,{policy}", pages) for ways in ("full", "4", "1", "64")]
    for case, got in zip(cases, simulate(cases)):
        seen: set[int] = set()
        for (_, page, _), digit in zip(case.stream, got):
            assert digit == ("0" if page in seen else "9")
            seen.add(page)


def test_a_second_level_hides_no_miss_of_the_first() -> None:
    """What stands behind the first level changes nothing in it."""
    rng = random.Random("behind")
    for policy in POLICIES:
        front = [(1, "i", f"8,2,4K,{policy}"), (1, "d", f"32,full,4K,{policy}")]
        refs = stream(rng, front, 4000)
        alone, backed, split = simulate(
            [
                Case(front, refs),
                Case([*front, (2, "u", "60,5")], refs),
                Case([*front, (2, "d", "64,4"), (3, "u", "600,full,4K,fifo")], refs),
            ]
        )
        assert [int(digit, 16) & 1 for digit in alone] == [int(digit, 16) & 1 for digit in backed]
        assert [int(digit, 16) & 1 for digit in alone] == [int(digit, 16) & 1 for digit in split]


def test_the_model_and_the_simulator_can_disagree() -> None:
    """The comparison has teeth: another policy, size or seed gives another outcome."""
    rng = random.Random("teeth")
    refs = [("d", page, 0) for page in zipf(rng, 3000, 100)]
    texts = ["32,4", "32,4,4K,plru", "32,4,4K,fifo", "32,4,4K,nru", "32,4,4K,random:1", "32,4,4K,random:2",
             "32,2", "32,full", "33,3", "36,4"]
    outcomes = simulate([Case([(1, "i", "1,1"), (1, "d", text)], refs) for text in texts])
    assert len(set(outcomes)) == len(texts)
