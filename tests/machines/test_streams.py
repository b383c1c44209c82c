# test_streams.py -- what streams of references do to the machines that are shipped.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Streams whose misses follow from the facts (facts.py), and random ones that a naive model
(model/naive_machine.py) has to agree with, reference by reference, on every machine.
"""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from machines.facts import FACTS, INCLUSION
from machines.naive_reader import describe, shift
from model.naive_machine import Machine, Naive

DRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "machines", "streamdrive")
FOLDER = Path(os.environ["TG_SRCDIR"], "tlbgrind", "machines")
NAMES = sorted(FACTS)

# user f, l or s; address; logarithms of the sizes of its page and of the block around it
Reference = tuple[str, int, int, int]


def base_of(name: str) -> int:
    """The base pages of the processors' usual systems."""
    if name.startswith("ultrasparc"):
        return 13
    if name.startswith("apple") or name in ("gs464e", "la464", "la664"):
        return 14
    return 16 if name in ("a64fx", "power7", "power8", "power9", "power10", "power11") else 12


def simulate(cases: list[tuple[str, list[Reference]]], folder: Path = FOLDER, walks: bool = False) -> list[str]:
    """`walks`: they leave in the last level what machines keep there."""
    names = sorted({name for name, _ in cases})
    text = []
    for name, stream in cases:
        text.append(str(names.index(name)))
        text += [f"{user} {address} {page} {block}" for user, address, page, block in stream]
        text.append("end")
    run = subprocess.run(
        [DRIVE, *["--walks"] * walks, *(folder / f"{name}.machine" for name in names)],
        input="\n".join([*text, ""]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def plain(name: str, user: str, pages: Iterable[int]) -> list[Reference]:
    base = base_of(name)
    return [(user, page << base, base, base) for page in pages]


@dataclass(frozen=True)
class Fact:
    level: int
    users: str
    entries: int
    ways: int
    sizes: tuple[int, ...]
    policy: str


def facts_of(name: str, user: str, page: int) -> list[list[Fact]] | None:
    """By level, the arrays that hold pages of that size for a user; None where a ? leaves it open."""
    word = {"f": "fetches", "l": "loads", "s": "stores"}[user]
    levels: dict[int, list[Fact]] = {}
    for line in FACTS[name].strip().splitlines():
        level, users, entries, ways, sizes, policy, _ = (each.lstrip("?") for each in line.split())
        if word not in users and users != "all":
            continue
        if not sizes or not ways:
            return None
        held = tuple(shift(size) for size in sizes.split("+"))
        number = int(entries) if ways == "full" else int(ways)
        if page in held:
            fact = Fact(int(level), users, int(entries), number, held, policy or "lru")
            levels.setdefault(fact.level, []).append(fact)
    return [levels[level] for level in sorted(levels)]


def overflowing(pages: list[int], arrays: list[Fact]) -> list[int] | None:
    """Which of the pages miss, again and again, when they are referenced in turn. None: no such law."""
    sets = {fact.entries // fact.ways for fact in arrays}
    if len(sets) > 1 or any(fact.policy not in ("lru", "fifo") for fact in arrays):
        return None
    (number,) = sets
    ways = sum(fact.ways for fact in arrays)
    load = Counter(page % number for page in pages)
    return [page for page in pages if load[page % number] > ways]


@pytest.mark.parametrize("user", "fls")
def test_each_new_page_walks_once(user: str) -> None:
    """A first touch misses every level that may hold the page, whatever the arrays."""
    pages = 3000
    cases = [(name, plain(name, user, range(pages))) for name in NAMES]
    for name, outcome in zip(NAMES, simulate(cases), strict=True):
        assert set(outcome) <= set("9abcdef"), name
        assert len(set(outcome)) == 1, name


@pytest.mark.parametrize("user", "fls")
def test_pages_in_turn_miss_as_the_sizes_say(user: str) -> None:
    """Pages in turn, on each level: those in sets that are too full miss in every round, no other.

    The first level is asked for all pages, each other level only for those that missed before it.
    """
    cases: list[tuple[str, list[Reference]]] = []
    expected: list[tuple[int, int]] = []  # misses of the first level and walks, in the last round
    checked = set()
    for name in NAMES:
        base = base_of(name)
        levels = facts_of(name, user, base)
        if levels is None or name in INCLUSION:  # there a level is asked for what those in front gave up
            continue
        sizes = {sum(fact.entries for fact in level) for level in levels}
        for count in sorted(size + more for size in sizes for more in (0, 1, 7)):
            asked = list(range(count))
            missing = []  # on each level, per round
            for arrays in levels:
                overflow = overflowing(asked, arrays)
                if overflow is None:
                    break
                asked = overflow
                missing.append(len(asked))
            if len(missing) < len(levels):
                continue
            checked.add(name)
            cases.append((name, plain(name, user, [*range(count)] * 3)))
            expected.append((missing[0], missing[-1]))
    for (name, stream), (misses, walks), outcome in zip(cases, expected, simulate(cases), strict=True):
        last = outcome[-len(stream) // 3 :]
        found = (sum(digit != "0" for digit in last), sum(digit in "89abcdef" for digit in last))
        assert found == (misses, walks), f"{name}, {user}, {len(stream) // 3} pages"
    assert len(checked) > 40


def test_large_pages_are_split_as_published() -> None:
    """One large page in steps of a base page: an entry for each piece that the first level holds."""
    known = [
        # machine, user, page, misses of level 1, of level 2, walks
        ("power7", "f", "16M", 256, 1, 1),  # 64K pieces
        ("power7", "l", "16M", 1, 1, 1),
        ("power7", "l", "16G", 1024, 1, 1),  # 16M pieces
        ("power8", "f", "16G", 1024, 0, 1),
        ("power8", "l", "16G", 1024, 1024, 1),
        ("knl", "s", "2M", 512, 1, 1),  # 4K pieces
        ("gracemont", "l", "2M", 512, 1, 1),
        ("cortex-a57", "l", "2M", 2, 1, 1),  # 1M pieces
        ("cortex-a72", "f", "2M", 2, 1, 1),
        ("cortex-a15", "s", "1M", 256, 1, 1),
        ("zen2", "l", "1G", 1, 1, 1),
        ("core2", "f", "4M", 2, 0, 2),  # no second level for instructions
        ("k8", "l", "4M", 2, 0, 2),
        ("k8", "l", "2M", 1, 0, 1),
        ("skylake", "l", "1G", 1, 1, 1),
        ("nehalem", "l", "2M", 1, 0, 1),  # passes the second level by
    ]
    cases = []
    for name, user, page, *_ in known:
        size, step = shift(page), max(base_of(name), shift(page) - 14)
        cases.append((name, [(user, at, size, size) for at in range(0, 1 << size, 1 << step)]))
    for (name, user, page, *counts), outcome in zip(known, simulate(cases), strict=True):
        digits = [int(digit, 16) for digit in outcome]
        found = [sum(digit & 1 for digit in digits), sum(digit >> 1 & 1 for digit in digits)]
        assert [*found, sum(digit >> 3 for digit in digits)] == counts, f"{name} {user} {page}"


def random_stream(machine: Machine, chance: random.Random, length: int) -> list[Reference]:
    """Pages of all sizes that any array holds, crowded into a few sets of this or that array."""
    base = machine.base
    sizes = sorted({size for array in machine.arrays for size in array.pages if size >= base} | {base})
    regions: list[list[Reference]] = []
    for number in range(12):
        page = base if chance.random() < 0.5 else chance.choice(sizes)
        block = chance.choice([page, max(page, 14), max(page, 16), min(page + 3, 34)])
        stride = chance.choice([1, *(array.entries // array.ways for array in machine.arrays)])
        count = chance.choice([3, 20, chance.choice(machine.arrays).ways + 2])
        places = [(number << 44) + (index * stride << page) for index in range(count)]
        regions.append(
            [
                (user, place + (chance.randrange(0, 1 << page, 1 << base) if chance.random() < 0.5 else 0), page, block)
                for user in chance.choice(["f", "l", "s", "ls", "fls"])
                for place in places
            ]
        )
    stream: list[Reference] = []
    while len(stream) < length:
        region = chance.choice(regions)
        start = chance.randrange(len(region))
        stream += region[start : start + chance.randrange(1, 40)] if chance.random() < 0.7 else [chance.choice(region)]
    return stream[:length]


def compare(texts: dict[str, str], folder: Path, seed: int, length: int) -> Counter[str]:
    """Each machine with a stream of its own; returns how often there was which outcome."""
    machines = {name: describe(text) for name, text in texts.items()}
    cases = [
        (name, random_stream(Machine.described(lines), random.Random(f"{name} {seed}"), length))
        for name, lines in machines.items()
    ]
    seen: Counter[str] = Counter()
    for (name, stream), outcome in zip(cases, simulate(cases, folder, walks=True), strict=True):
        model = Naive(Machine.described(machines[name]))
        seen.update(outcome)
        for index, (reference, digit) in enumerate(zip(stream, outcome, strict=True)):
            user, address, page, block = reference
            missed, walked = model.translate(user, address >> model.machine.base, 0, page, block)
            expected = f"{sum(1 << level for level in missed) + 8 * walked:x}"
            assert digit == expected, f"{name}, reference {index}: {reference}\n{texts[name]}"
    return seen


def test_random_streams_on_shipped_machines_are_as_in_a_naive_model() -> None:
    texts = {name: FOLDER.joinpath(f"{name}.machine").read_text(encoding="ascii") for name in NAMES}
    seen: Counter[str] = Counter()
    for seed in range(2):
        seen += compare(texts, FOLDER, seed, 2000)
    # Hits on each level, walks past one, two and three: the streams do reach them.
    assert {"0", "1", "3", "9", "a", "b", "d", "f"} <= set(seen)


def random_machine(chance: random.Random, name: str) -> str:
    """A machine file with any mixture of levels, users, sizes, splitting, coalescing and policies."""
    base = chance.choice([12, 13, 14, 16])
    lines = [
        "tlbgrind-machine 1",
        *(f"{key} {name}" for key in ("name", "title", "isa")),
        "year unknown",
        "confidence C",
        f"base-page {1 << base - 10}K",
    ]

    def array(level: int, users: str, least: list[str]) -> None:
        policy = chance.choice(["lru", "lru", "plru", "fifo", "nru", "random:7"])
        ways = 2 ** chance.randrange(5) if policy == "plru" else chance.randrange(1, 13)
        sets = 1 if chance.random() < 0.3 else chance.choice([2, 3, 4, 8, 12, 16, 32])
        pages = sorted({*least, *chance.sample(["64K", "1M", "2M", "4M", "16M", "1G"], chance.randrange(3))})
        blocks = [size for size in ("32K", "64K") if shift(size) > min(map(shift, pages))]
        by_size = ["+".join(f"{1 << shift(size) - 10}K:{1 << shift(size) - 10 + 2}K" for size in pages)]
        lines.extend(
            [
                f"array A{len(lines)}",
                f"level {level}",
                f"users {users}",
                f"entries {ways * sets}",
                f"ways {ways}",
                f"pages {'+'.join(pages)}",
                f"larger-pages {chance.choice(['split', 'bypass'])}",
                f"policy {policy}",
                "hit-cycles unknown",
                "threads unknown",
                f"coalesces {chance.choice(['no', 'no', *blocks, *by_size])}",
                f"paired {chance.choice(['no', 'no', 'yes'])}",
            ]
        )

    small = chance.choice([["4K"], []]) + [f"{1 << base - 10}K"]
    for level in range(1, chance.choice([1, 2, 2, 3]) + 1):
        for users in chance.choice([["all"], ["fetches", "loads+stores"], ["fetches", "loads", "stores"], ["fetches+loads", "stores"]]):
            array(level, users, small)
            if chance.random() < 0.4:  # two arrays that take the same sizes, or not
                array(level, users, chance.choice([small, ["2M"]]))
    return "\n".join([*lines, "end", ""])


@pytest.mark.parametrize("seed", range(4))
def test_streams_on_random_machines_are_as_in_a_naive_model(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    texts = {f"m{number}": random_machine(chance, f"m{number}") for number in range(60)}
    for name, text in texts.items():
        tmp_path.joinpath(f"{name}.machine").write_text(text, encoding="ascii")
    seen = compare(texts, tmp_path, seed, 1200)
    assert set(seen) == {"0", "1", "3", "9", "b", "d", "f"}
