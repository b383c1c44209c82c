# test_properties.py -- the simulator against a naive model, reference by reference.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random machines and streams, from a fixed seed, through tests/model/simdrive (sim/mmu, sanitized)
and through tests/model/naive_machine.py: every single outcome must be the same.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Union

import pytest
from model.naive_machine import Array, Machine, Naive
from tg_long import LONG

SIMDRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "model", "simdrive")

POLICIES = ("lru", "plru", "fifo", "nru", "random")

MAX_CONTEXT = 126

# Random cases: half of those of `make check-long'.
LESS = 1 if LONG else 2


@dataclass(frozen=True)
class Reference:
    """`page` counts base pages; the shifts are of the page that backs it and of the block around it."""

    user: str  # f, l, s
    page: int
    context: int = 0
    page_shift: int = 12
    block_shift: int = 12


@dataclass(frozen=True)
class Change:
    """What backs the base pages from `first` to `end` - 1 is another from now on."""

    first: int
    end: int


@dataclass(frozen=True)
class AskNow:
    """From now on it is asked what backs each page: all were base pages before."""


Event = Union[Reference, Change, AskNow]


@dataclass
class Case:
    """Several machines see one stream; what backs its pages is asked, or all are base pages.

    Short cuts (`ask_percent` below 100) know one context only: with them all references are of that.
    """

    machine: Machine
    stream: list[Event] = field(default_factory=list)
    ask_percent: int = 100
    apart: bool = False  # loads and stores note times of their own
    others: list[Machine] = field(default_factory=list)
    asks: bool = True

    def __post_init__(self) -> None:
        if self.ask_percent < 100:
            self.stream = [replace(e, context=0) if isinstance(e, Reference) else e for e in self.stream]

    @property
    def machines(self) -> list[Machine]:
        return [self.machine, *self.others]

    @property
    def base(self) -> int:
        return min(machine.base for machine in self.machines)

    def text(self) -> str:
        lines = [f"base {self.base}", f"ask {self.ask_percent}"]
        lines += ["apart"] * self.apart + ["asks"] * self.asks
        for e in self.stream:
            if isinstance(e, Change):
                lines.append(f"change {e.first} {e.end}")
            elif isinstance(e, AskNow):
                lines.append("ask-now")
            else:
                lines.append(f"{e.user} {e.page} {e.context} {e.page_shift} {e.block_shift}")
        return "".join(machine.text() for machine in self.machines) + "\n".join([*lines, "end", ""])

    def expected(self) -> list[str]:
        return [self.expected_of(machine) for machine in self.machines]

    def expected_of(self, machine: Machine) -> str:
        naive = Naive(machine)
        digits = []
        for r in self.references():
            page = r.page >> machine.base - self.base
            missed, walked = naive.translate(r.user, page, r.context, max(r.page_shift, machine.base), r.block_shift)
            digits.append("0123456789abcdef"[sum(1 << level for level in missed) + 8 * walked])
        return f"{''.join(digits)} {naive.cycles}"

    def references(self) -> list[Reference]:
        return [e for e in self.stream if isinstance(e, Reference)]


def simulate_all(cases: list[Case]) -> list[list[str]]:
    run = subprocess.run(
        [SIMDRIVE], input="".join(case.text() for case in cases), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    lines = iter(run.stdout.splitlines())
    made = [[next(lines) for _ in case.machines] for case in cases]
    assert list(lines) == []
    return made


def simulate(cases: list[Case]) -> list[str]:
    """Of cases with one machine."""
    return [line for [line] in simulate_all(cases)]


def compare(cases: list[Case]) -> None:
    for number, (case, lines) in enumerate(zip(cases, simulate_all(cases))):
        for machine, got, expected in zip(case.machines, lines, case.expected()):
            if got == expected:
                continue
            at = next((i for i, (a, b) in enumerate(zip(got, expected)) if a != b), min(len(got), len(expected)))
            references = case.references()
            pytest.fail(
                f"case {number}, ask {case.ask_percent}, apart {case.apart}, asks {case.asks}, "
                f"{len(case.machines)} machines: reference {at}, {references[at : at + 1]}: "
                f"{got[at:][:20]}, the model says {expected[at:][:20]}\n{machine.text()}"
                f"the references before it: {references[max(0, at - 40) : at]}"
            )


# --- machines ---


def shape(rng: random.Random, policy: str, most: int) -> tuple[int, int, str]:
    """Entries, ways and policy. Any ways, any number of sets: most of them are no powers of two."""
    if policy == "plru":
        ways = 2 ** rng.randrange(0, 8)
    else:
        ways = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 17, 20, 31, 33, 48, 72, 100])
    ways = min(ways, most) if policy != "plru" else min(ways, 2 ** (most.bit_length() - 1))
    sets = rng.choice([1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64])
    sets = max(1, min(sets, most // ways))
    name = f"random:{rng.getrandbits(64)}" if policy == "random" else policy
    return ways * sets, ways, name


def simple_machine(rng: random.Random, policy: str) -> Machine:
    """The first levels under the policy; the levels behind them under any; one size of pages."""
    made = [Array(1, users, *shape(rng, policy, 128)) for users in ("f", "ls")]
    for level in range(2, rng.choice([1, 2, 2, 2, 3, 3]) + 1):
        groups = rng.choice([["fls"], ["fls"], ["fls"], ["f", "ls"], ["ls"], ["f"]])
        made += [Array(level, users, *shape(rng, rng.choice(POLICIES), 400)) for users in groups]
    # Levels follow each other: what is left out on one side is there on the other.
    return Machine(made)


# Which users ask which array first: the groups of the first level, and of those behind it.
FIRST_GROUPS = (
    *(["f", "ls"], ["f", "ls"], ["f", "ls"], ["f", "ls"], ["fls"], ["f", "l", "s"], ["f", "l", "ls"], ["fl", "s"], ["fs", "l"]),
    *(["f", "l"], ["f", "s"], ["f"], ["ls"], ["l"], ["s"]),
)
LATER_GROUPS = (["fls"], ["fls"], ["f", "ls"], ["ls"], ["f", "l", "s"], ["f"])


def larger_sizes(rng: random.Random, base: int) -> tuple[int, ...]:
    sizes = [shift for shift in (13, 14, 15, 16, 21, 22, 24, 30) if shift > base]
    return tuple(sorted(rng.sample(sizes, rng.choice([0, 1, 1, 2, 3]))))


def blocks_by_size(rng: random.Random, pages: set[int]) -> dict[int, int]:
    """Of two to 128 pages of each size, no two of the same size."""
    made: dict[int, int] = {}
    for page in sorted(pages):
        block = page + rng.randrange(1, 8)
        if block <= 34 and block not in made.values() and rng.random() < 0.8:
            made[page] = block
    return made


def group_of_arrays(
    rng: random.Random, level: int, users: str, policies: tuple[str, ...], most: int, base: int, sizes: tuple[int, ...]
) -> list[Array]:
    """One to three arrays for some pages each; the first takes base pages, or what they consist of."""
    inclusion = "neither" if level == 1 else rng.choice(["neither", "neither", "neither", "inclusive", "exclusive"])
    made: list[Array] = []
    for number in range(rng.choice([1, 1, 2, 2, 3])):
        least = base if number == 0 else rng.choice([*sizes, base])
        pages = {least, *(shift for shift in sizes if shift > least and rng.random() < 0.4)}
        if rng.random() < 0.2:
            pages.add(12)  # which may be smaller than any page here
        if sum(len(pages & set(other.pages)) > 0 for other in made) == 2:
            continue
        array = Array(level, users, *shape(rng, rng.choice(policies), most), tuple(sorted(pages)), rng.random() < 0.5)
        blocks = [shift for shift in (13, 14, 15, 16) if shift > min(pages)]
        if blocks and rng.random() < 0.3:
            array.coalesces = {0: rng.choice(blocks)}
        elif rng.random() < 0.2:
            array.coalesces = blocks_by_size(rng, pages)
        array.paired = rng.random() < 0.15
        if array.ways == array.entries and rng.random() < 0.2:
            array.wired = rng.choice([1, 2, 5])
        if level > 1:
            array.hit_cycles = rng.choice([None, 0, 2, 7, 9])
            array.inclusion = inclusion
        if inclusion == "exclusive":
            array.paired = False
        made.append(array)
    return made


def is_whole(arrays: list[Array], base: int) -> bool:
    """Whether such a machine can be: everybody has somewhere to ask first, for base pages, too."""
    levels = {array.level for array in arrays}
    if levels != set(range(1, len(levels) + 1)) or len(arrays) > 16:
        return False
    for user in "fls":
        mine = [array for array in arrays if user in array.users]
        first = min((array.level for array in mine), default=0)
        if not any(array.level == first and base in array.pages for array in mine):
            return False
        for level in levels:
            pages = [shift for array in mine if array.level == level for shift in array.pages]
            if any(pages.count(shift) > 2 for shift in pages):
                return False
    return all(can_include(arrays, array) for array in arrays)


def can_include(arrays: list[Array], array: Array) -> bool:
    """Whether its inclusion can be: those side by side agree, an exclusive one is first for nobody and has no pairs."""
    beside = [
        other
        for other in arrays
        if other.level == array.level and set(other.users) & set(array.users) and set(other.pages) & set(array.pages)
    ]
    front = [other for other in arrays if other.level + 1 == array.level and set(other.users) & set(array.users)]
    if {other.inclusion for other in beside} != {array.inclusion}:
        return False
    if array.inclusion == "exclusive":
        first = [min(other.level for other in arrays if user in other.users) for user in array.users]
        return bool(front) and array.level not in first and not any(other.paired for other in [array, *front])
    return array.inclusion == "neither" or bool(front)


def is_clear(machine: Machine, sizes: tuple[int, ...]) -> bool:
    """Whether a page goes to two arrays at most, at each level."""
    naive = Naive(machine)
    for user in "fls":
        first = min(array.level for array in machine.arrays if user in array.users)
        for level in (1, 2, 3):
            for page_shift in (machine.base, *sizes):
                if len(naive.takers(level, user, page_shift, level == first)) > 2:
                    return False
    return True


def is_told(machine: Machine, sizes: tuple[int, ...]) -> bool:
    """Whether short cuts can tell which entry of the first level a page is in.

    If not, a page can be in two arrays side by side at once: as entries of two sizes, or because
    not the same kinds of reference ask them.
    """
    naive = Naive(machine)
    arrays = machine.arrays
    for user in "fls":
        first = min(array.level for array in arrays if user in array.users)
        for page_shift in (machine.base, *sizes):
            for block_shift in range(machine.base, max(page_shift + 8, 17)):
                takers = naive.takers(first, user, page_shift, True)
                shifts = {naive.piece(arrays[number], page_shift, block_shift) for number in takers}
                if len(shifts) > 1 or len({askers(machine, arrays[number]) for number in takers}) > 1:
                    return False
    return True


def askers(machine: Machine, array: Array) -> str:
    """The users that ask this array before any other."""
    return "".join(
        user
        for user in array.users
        if array.level == min(other.level for other in machine.arrays if user in other.users)
    )


def any_machine(
    rng: random.Random,
    policies: tuple[str, ...],
    most: int,
    told: bool,
    base: int | None = None,
    sizes: tuple[int, ...] | None = None,
) -> tuple[Machine, tuple[int, ...]]:
    """A machine and the sizes of pages that its programs have."""
    base = rng.choice([12, 12, 12, 12, 14, 16]) if base is None else base
    sizes = larger_sizes(rng, base) if sizes is None else sizes
    while True:
        arrays: list[Array] = []
        for level in range(1, rng.choice([1, 2, 2, 2, 3, 3]) + 1):
            for users in rng.choice(FIRST_GROUPS if level == 1 else LATER_GROUPS):
                # Behind the first level, policies are any.
                of = policies if level == 1 else POLICIES
                arrays += group_of_arrays(rng, level, users, of, most if level == 1 else 200, base, sizes)
        machine = Machine(arrays, base, rng.choice([None, 0, 31, 100]))
        if is_whole(arrays, base) and is_clear(machine, sizes) and is_told(machine, sizes) == told:
            return machine, sizes


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


def users_of(rng: random.Random, side: str) -> str:
    return "f" if side == "f" else rng.choice("ls")


def stream(rng: random.Random, machine: Machine, n: int) -> list[Event]:
    """Fetches and data interleaved; round the sizes of the arrays, one more or less."""
    sizes = [array.entries for array in machine.arrays]
    base = rng.choice([0, 1, 1023, 0x400, 0x7FFFFFFDE, 2**52 - 2**17])
    contexts = rng.choice([(0,), (0,), (0, 1), (0, MAX_CONTEXT, 7)])
    both = rng.random() < 0.3
    pages: dict[str, Iterator[int]] = {}
    for side in "fd":
        span = max(1, rng.choice(sizes) + rng.choice([-1, 0, 1, 1, 3, 20]))
        pages[side] = rng.choice(CHARACTERS)(rng, n, span)
    made: list[Event] = []
    for _ in range(n):
        side = rng.choice("fd")
        # The sides share their pages or lie far apart.
        page = base + next(pages[side]) + (0 if both or side == "f" else 50000)
        made.append(Reference(users_of(rng, side), page, rng.choice(contexts)))
    return made


@dataclass
class Region:
    """Base pages that belong together: a large page, or base pages in blocks of one size."""

    first: int
    end: int
    page_shift: int
    block_shift: int
    most: int  # the largest block that it is made of


class Layout:
    """What backs which pages: `spot` turns the numbers of a stream, from 0 on, into addresses."""

    def __init__(self, rng: random.Random, base: int, sizes: tuple[int, ...], span: int) -> None:
        self.base = base
        self.sizes = sizes
        self.regions: list[Region] = []
        self.spots: list[tuple[Region, int]] = []
        self.rng = rng
        at = rng.choice([0, 1 << 18, 0x7FFFC0000, (1 << 52 - (base - 12)) - (1 << 30)])
        while len(self.spots) < span:
            shift = rng.choice([*sizes, base]) if sizes else base
            most = max(shift + (rng.choice([0, 0, 1, 3, 7]) if shift > base else 0), 16, base)
            pages = 1 << most - base
            if shift == base:
                pages *= rng.randrange(1, 4)
            at = -(-at // pages) * pages
            region = Region(at, at + pages, shift, base, most)
            self.back(region, shift)
            self.regions.append(region)
            inside = range(at, at + pages)
            few = rng.choice([1, 2, 5, 40])
            chosen = list(inside) if pages <= few else sorted(rng.sample(inside, few))
            self.spots += [(region, page) for page in chosen]
            at += pages
        if rng.random() < 0.5:
            rng.shuffle(self.spots)

    def back(self, region: Region, shift: int) -> None:
        region.page_shift = shift
        # A page lies in one mapping: the block around it is at least as large.
        block = max(shift, self.base)
        choices = [block, 16, 16, 15, 14, 13] if shift == self.base else [block, region.most]
        region.block_shift = max(self.rng.choice(choices), block)

    def change(self) -> Change:
        """Breaks a large page, makes one, or joins and parts blocks."""
        region = self.rng.choice(self.regions)
        large = (region.end - region.first).bit_length() - 1 + self.base
        whole = region.end - region.first == 1 << large - self.base
        shifts = {self.base, large} if whole and large in self.sizes else {self.base}
        self.back(region, self.rng.choice(sorted(shifts)))
        return Change(region.first, region.end)

    def reference(self, user: str, spot: int, context: int) -> Reference:
        region, page = self.spots[spot % len(self.spots)]
        return Reference(user, page, context, region.page_shift, region.block_shift)


def paged_stream(rng: random.Random, machine: Machine, sizes: tuple[int, ...], n: int) -> list[Event]:
    entries = [array.entries for array in machine.arrays]
    contexts = rng.choice([(0,), (0,), (0,), (0, MAX_CONTEXT, 7)])
    both = rng.random() < 0.3
    moves = rng.choice([0, 0, 0.003, 0.02])
    layouts: dict[str, Layout] = {}
    pages: dict[str, Iterator[int]] = {}
    for side in "fd":
        span = max(1, rng.choice(entries) + rng.choice([-1, 0, 1, 1, 3, 20]))
        layouts[side] = layouts["f"] if both and side == "d" else Layout(rng, machine.base, sizes, span)
        pages[side] = rng.choice(CHARACTERS)(rng, n, span)
    if not both:
        # Layouts that lie in the same place would tell two stories of one page.
        lift = 1 << 40 - machine.base
        for region in layouts["d"].regions:
            region.first += lift
            region.end += lift
        layouts["d"].spots = [(region, page + lift) for region, page in layouts["d"].spots]
    made: list[Event] = []
    for _ in range(n):
        side = rng.choice("fddd")
        if rng.random() < moves:
            made.append(layouts[side].change())
        made.append(layouts[side].reference(users_of(rng, side), next(pages[side]), rng.choice(contexts)))
    return made


def cases_of(policy: str, ask_percent: int, count: int = 60 // LESS, n: int = 1500) -> list[Case]:
    rng = random.Random(f"{policy} {ask_percent}")
    made = []
    for _ in range(count):
        machine = simple_machine(rng, policy)
        apart = rng.choice([False, False, True])
        asks = ask_percent == 30 or rng.random() < 0.5
        made.append(Case(machine, stream(rng, machine, n), ask_percent, apart, asks=asks))
    return made


def paged_cases(name: str, ask_percent: int, count: int, n: int, policies: tuple[str, ...], most: int, told: bool = True) -> list[Case]:
    rng = random.Random(f"{name} {ask_percent}")
    made = []
    for _ in range(count):
        machine, sizes = any_machine(rng, policies, most, told)
        made.append(Case(machine, paged_stream(rng, machine, sizes, n), ask_percent, rng.choice([False, False, True])))
    return made


@pytest.mark.parametrize("ask_percent", [100, 0, 30])
@pytest.mark.parametrize("policy", POLICIES)
def test_each_outcome_is_the_models(policy: str, ask_percent: int) -> None:
    """With first levels of that policy; without short cuts, with them, and with some not taken."""
    compare(cases_of(policy, ask_percent))


@pytest.mark.parametrize("ask_percent", [100, 0, 30])
@pytest.mark.parametrize("policy", POLICIES)
def test_each_outcome_on_random_machines_is_the_models(policy: str, ask_percent: int) -> None:
    """Pages of many sizes that change, arrays by size and by kind, splitting, coalescing, side by side."""
    compare(paged_cases(policy, ask_percent, 40 // LESS, 1500, (policy, policy, policy, *POLICIES), 64))


@pytest.mark.parametrize("ask_percent", [100, 0])
@pytest.mark.parametrize("policy", POLICIES)
def test_each_outcome_is_the_models_if_a_page_can_be_in_two_arrays(policy: str, ask_percent: int) -> None:
    """Arrays side by side in which a page can be at once; then every reference is asked."""
    compare(paged_cases(f"twice {policy}", ask_percent, 20 // LESS, 1500, (policy, *POLICIES), 64, told=False))


@pytest.mark.parametrize("ask_percent", [0, 30])
def test_each_outcome_is_the_models_in_lru_arrays_of_many_ways(ask_percent: int) -> None:
    """First levels of many ways, in which most entries stand for many pages."""
    cases = paged_cases("heap", ask_percent, 60 // LESS, 2000, ("lru",), 128)
    compare([Case(full(case.machine), case.stream, case.ask_percent, case.apart) for case in cases])


# --- several machines at once ---


def alike(rng: random.Random, machine: Machine) -> Machine:
    """A machine that has something in common with the other: all, its first levels, or their sets."""
    how = rng.randrange(4)
    if how == 0:
        return machine
    arrays = []
    for a in machine.arrays:
        if a.level == 1 and how == 2 and a.policy == "lru":
            sets = a.entries // a.ways
            ways = a.ways * rng.choice([1, 2, 3])
            a = replace(a, entries=sets * ways, ways=ways)
        if a.level > 1 and how > 0:
            entries, ways, policy = shape(rng, a.policy.split(":")[0], 400)
            a = replace(a, entries=entries, ways=ways, policy=policy)
        arrays.append(a)
    return replace(machine, arrays=arrays)


def with_base(machine: Machine, base: int) -> Machine:
    return Machine([replace(a, pages=(base,)) for a in machine.arrays], base)


def several_machines(rng: random.Random, n: int) -> list[Machine]:
    """With base pages alone: the first has the smallest."""
    made = [simple_machine(rng, rng.choice(["lru", "lru", *POLICIES]))]
    while len(made) < n:
        if rng.random() < 0.5:
            made.append(alike(rng, rng.choice(made)))
        else:
            other = simple_machine(rng, rng.choice(["lru", "lru", *POLICIES]))
            made.append(with_base(other, rng.choice([12, 12, 14, 16])))
    return made


@pytest.mark.parametrize("asks", ["never", "from-the-start", "half-way"])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_several_machines_see_what_each_sees_alone(n: int, asks: str) -> None:
    rng = random.Random(f"several {n} {asks}")
    cases = []
    for _ in range(120 // n // LESS):
        first, *others = several_machines(rng, n)
        refs = stream(rng, first, 1500)
        if asks == "half-way":
            refs.insert(700, AskNow())
        cases.append(Case(first, refs, 0, rng.random() < 0.3, others, asks == "from-the-start"))
    compare(cases)


@pytest.mark.parametrize("ask_percent", [0, 30])
def test_several_machines_whose_pages_change_see_what_each_sees_alone(ask_percent: int) -> None:
    """Machines of every kind with base pages of one size, in one run."""
    rng = random.Random(f"several, any {ask_percent}")
    cases: list[Case] = []
    while len(cases) < 30 // LESS:
        first, sizes = any_machine(rng, POLICIES, 64, True)
        others = []
        for _ in range(rng.choice([1, 2, 4])):
            other, _ = any_machine(rng, POLICIES, 64, True, first.base, sizes)
            others.append(other)
        cases.append(Case(first, paged_stream(rng, first, sizes, 1500), ask_percent, False, others))
    compare(cases)


def full(machine: Machine) -> Machine:
    arrays = [replace(a, ways=a.entries) if a.level == 1 else a for a in machine.arrays]
    return replace(machine, arrays=arrays)


def test_the_random_machines_use_each_word_of_the_format() -> None:
    """What is random must happen: each word of the machine format, and each way a page can go."""
    machines = [
        case.machine
        for policy in POLICIES
        for ask_percent in (100, 0, 30)
        for case in paged_cases(policy, ask_percent, 60, 1, (policy, policy, policy, *POLICIES), 64)
    ]
    arrays = [array for machine in machines for array in machine.arrays]
    assert {array.users for array in arrays} >= {"f", "l", "s", "ls", "fls", "fl"}
    assert {array.coalesces.get(0) for array in arrays} == {None, 13, 14, 15, 16}
    by_size = {pair for array in arrays for pair in array.coalesces.items() if pair[0]}
    assert {block - page for page, block in by_size} == {1, 2, 3, 4, 5, 6, 7}
    assert {12, 14, 16, 21} <= {page for page, _ in by_size}
    assert {array.splits for array in arrays} == {False, True}
    assert {array.paired for array in arrays} == {False, True}
    assert {array.inclusion for array in arrays if array.level > 1} == {"neither", "inclusive", "exclusive"}
    assert {array.wired for array in arrays} == {0, 1, 2, 5}
    assert {machine.base for machine in machines} == {12, 14, 16}
    stores_start_late = [m for m in machines if not any("s" in a.users and a.level == 1 for a in m.arrays)]
    assert len(stores_start_late) > 20
    assert len([m for m in stores_start_late if any(a.level == 2 and "l" in a.users and "s" in a.users for a in m.arrays)]) > 10
    takers = [
        (len(chosen), page_shift in machine.arrays[chosen[0]].pages if chosen else None, level == 1)
        for machine in machines
        for naive in [Naive(machine)]
        for page_shift in (machine.base, 16, 21)
        if page_shift >= machine.base
        for level in (1, 2, 3)
        for chosen in [naive.takers(level, "l", page_shift, level == 1)]
    ]
    for number in (1, 2):
        for whole in (True, False):
            for first in (True, False):
                assert takers.count((number, whole, first)) > 10
    assert takers.count((0, None, False)) > 10


def one_sided(text: str, pages: list[int], ask_percent: int = 100) -> Case:
    return Case(Machine([Array(1, "f", 1, 1), data_array(text)]), [Reference("l", page) for page in pages], ask_percent)


def data_array(text: str) -> Array:
    """As the tool's own options have it: "64,4,4K,lru"."""
    entries, ways, _, policy = (text + ",4K,lru").split(",")[:4]
    return Array(1, "ls", int(entries), int(entries if ways == "full" else ways), policy)


@pytest.mark.parametrize("policy", POLICIES)
def test_loops_of_about_the_arrays_size_miss_as_the_model(policy: str) -> None:
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


def digits(line: str) -> str:
    """The outcomes without the cycles."""
    return line.split()[0]


def test_lru_of_more_entries_never_misses_more() -> None:
    """Inclusion: whatever hits in a fully associative LRU array hits in every larger one."""
    rng = random.Random("inclusion")
    sizes = [1, 2, 3, 4, 6, 8, 9, 15, 16, 17, 24, 32, 48, 64, 72, 96, 128, 200]
    for character in CHARACTERS:
        pages = list(character(rng, 4000, 150))
        outcomes = [digits(line) for line in simulate([one_sided(f"{size},full", pages) for size in sizes])]
        for small, large in zip(outcomes, outcomes[1:]):
            assert all(s != "0" or l == "0" for s, l in zip(small, large))
        if character is uniform:
            assert outcomes[0].count("0") < outcomes[8].count("0") < outcomes[-2].count("0")


@pytest.mark.parametrize("policy", POLICIES)
def test_each_page_misses_once_if_all_pages_fit(policy: str) -> None:
    rng = random.Random(f"cold {policy}")
    cases = []
    for character in CHARACTERS:
        pages = [page % 256 for page in character(rng, 3000, 256)]
        cases += [one_sided(f"256,{ways},4K,{policy}", pages) for ways in ("full", "4", "1", "64")]
    for case, got in zip(cases, simulate(cases)):
        seen: set[int] = set()
        for reference, digit in zip(case.references(), digits(got)):
            assert digit == ("0" if reference.page in seen else "9")
            seen.add(reference.page)


def test_lower_levels_change_no_miss_of_the_first() -> None:
    """What stands behind the first level changes nothing in it."""
    rng = random.Random("behind")
    for policy in POLICIES:
        name = "random:0" if policy == "random" else policy
        front = [Array(1, "f", 8, 2, name), Array(1, "ls", 32, 32, name)]
        behind = [
            [],
            [Array(2, "fls", 60, 5)],
            [Array(2, "ls", 64, 4), Array(3, "fls", 600, 600, "fifo")],
        ]
        refs = stream(rng, Machine(front), 4000)
        lines = simulate([Case(Machine(front + more), refs) for more in behind])
        alone, backed, split = ([int(digit, 16) & 1 for digit in digits(line)] for line in lines)
        assert alone == backed == split


def test_the_model_and_the_simulator_can_disagree() -> None:
    """The comparison has teeth: another policy, size or seed gives another outcome."""
    rng = random.Random("teeth")
    refs = list(zipf(rng, 3000, 100))
    texts = ["32,4", "32,4,4K,plru", "32,4,4K,fifo", "32,4,4K,nru", "32,4,4K,random:1", "32,4,4K,random:2",
             "32,2", "32,full", "33,3", "36,4"]
    outcomes = simulate([one_sided(text, refs) for text in texts])
    assert len(set(outcomes)) == len(texts)
