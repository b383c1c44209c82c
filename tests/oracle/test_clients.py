# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Programs that print what they expect, and the same programs with and without the fast path.

A client prints lines "expect FUNCTION" and the events' counts in the out-file's order, a dash for
what it does not state.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from oracle_programs import CLIENT_NAMES, PROGRAMS, Program, client, make_place
from oracle_random import build
from oracle_support import CLIENTS, EVENTS, X86, Profile, bytes_but_pid, named, tlbgrind
from tg_long import LONG, long, long_but

WALKERS = ("oracle_walk", "oracle_walk32") if X86 else ("oracle_walk",)
COUNTERS = ("oracle_refs", "oracle_refs32") if X86 else ("oracle_refs",)

POLICIES = ("lru", "plru", "fifo", "nru", "random:1", "random:20240229")

# First and last level: entries, ways.
GEOMETRIES = (
    (16, 16, 64, 64),
    (64, 4, 512, 8),
    (64, 1, 128, 1),
    (16, 4, 64, 2),
    (32, 32, 128, 16),
    (1, 1, 4, 4),
)

# Where sets and ways are no powers of two; PLRU's tree needs ways that are.
ODD_GEOMETRIES = (
    (18, 6, 35, 5),
    (17, 17, 63, 7),
    (12, 4, 24, 2),
)


# For what must not change a count: every policy, from one way to all, in TLBs that are too small.
SHAPES = ((16, 16, 32, 32), (16, 4, 64, 4), (16, 1, 32, 1))
ALL_KINDS = ("lru", "plru", "fifo", "nru", "random:7")
REAL = [p for p in PROGRAMS if p.name in ("ls", "dash", "sed", "sort", "as")]
SUBJECTS = [*REAL, *map(client, CLIENT_NAMES)]

# 300 functions of each word length.
RANDOM_FUNCTIONS = 60
RANDOM_SEEDS = long_but(lambda seed: seed < 101, range(100, 105))

# Keeps Vex from dropping loads whose result is overwritten before it is needed.
ALL_LOADS = ("--px-default=allregs-at-each-insn", "--px-file-backed=allregs-at-each-insn")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_place(tmp_path_factory.mktemp("place"))


def options(policy: str, geometry: tuple[int, int, int, int], *more: str) -> list[str]:
    entries, ways, last_entries, last_ways = geometry
    first = f"{entries},{ways},4K,{policy}"
    last = f"{last_entries},{last_ways},4K,{policy}"
    return [f"--itlb={first}", f"--dtlb={first}", f"--stlb={last}", *more]


def differences(profile: Profile) -> list[str]:
    """Where the profile differs from what the client printed that it expects."""
    functions = profile.functions()
    found = []
    expectations = [
        line.split()[1:] for line in profile.printed.decode().splitlines() if line[:7] == "expect "
    ]
    assert expectations
    for name, *expected in expectations:
        for event, count, want in zip(EVENTS, functions.get(name, (0,) * len(EVENTS)), expected):
            if want != "-" and int(want) != count:
                found.append(f"{name}: {event} is {count}, expected {want}")
    return found


def walk(name: str, policy: str, geometry: tuple[int, int, int, int], place: Path) -> Profile:
    arguments = [policy, *map(str, geometry)]
    return tlbgrind(options(policy, geometry), [str(CLIENTS / name), *arguments], place)


def name_of(geometry: object) -> str:
    return "-".join(map(str, geometry)) if isinstance(geometry, tuple) else str(geometry)


MODELLED = [
    (p, g)
    for p in POLICIES
    for g in (*GEOMETRIES, *ODD_GEOMETRIES)
    if p != "plru" or g not in ODD_GEOMETRIES
]


@pytest.mark.parametrize(("policy", "geometry"), MODELLED, ids=name_of)
@pytest.mark.parametrize("name", WALKERS)
def test_walks_cost_what_their_own_model_says(
    name: str, policy: str, geometry: tuple[int, int, int, int], place: Path
) -> None:
    assert differences(walk(name, policy, geometry, place)) == []


@pytest.mark.parametrize("policy", ["lru", "fifo"])
@pytest.mark.parametrize("name", WALKERS)
def test_one_page_more_than_entries_makes_every_reference_miss(
    name: str, policy: str, place: Path
) -> None:
    """The knee, in plain numbers: 16 entries, and walks over 16 and over 17 pages."""
    functions = walk(name, policy, (16, 16, 4096, 4096), place).functions()
    fits, does_not = named(functions["read16"]), named(functions["read17"])
    assert (fits["Dr"], fits["D1tmr"], fits["DLtmr"]) == (50 * 16, 16, 16)
    assert (does_not["Dr"], does_not["D1tmr"], does_not["DLtmr"]) == (50 * 17, 50 * 17, 17)
    fits, does_not = named(functions["write16"]), named(functions["write17"])
    assert (fits["Dw"], fits["D1tmw"], fits["DLtmw"]) == (20 * 16, 16, 16)
    assert (does_not["Dw"], does_not["D1tmw"], does_not["DLtmw"]) == (20 * 17, 20 * 17, 17)
    fits, does_not = named(functions["code16"]), named(functions["code17"])
    assert (fits["I1tm"], does_not["I1tm"]) == (16, 30 * 17)


@pytest.mark.parametrize("name", WALKERS)
def test_pages_of_one_set_conflict(name: str, place: Path) -> None:
    """64 entries: two pages 64 apart share a set of one way, five pages 16 apart a set of four."""
    direct = walk(name, "lru", (64, 1, 4096, 4096), place).functions()
    four = walk(name, "lru", (64, 4, 4096, 4096), place).functions()
    assert named(direct["conflict2"])["D1tmr"] == 40 * 2
    assert named(four["conflict2"])["D1tmr"] == 2
    assert named(four["conflict4"])["D1tmr"] == 4
    assert named(four["conflict5"])["D1tmr"] == 40 * 5


@pytest.mark.parametrize("name", WALKERS)
def test_a_straddle_is_one_reference_and_two_translations(name: str, place: Path) -> None:
    """straddle_far: 6 reads 16 pages apart, each of two pages; one entry holds neither.
    cross20: 20 instructions in a row, each across the end of a page."""
    profile = walk(name, "lru", (1, 1, 4096, 4096), place)
    far, cross = (named(profile.functions()[f]) for f in ("straddle_far", "cross20"))
    assert (far["Dr"], far["D1tmr"]) == (20 * 6, 20 * 6 * 2)
    # The second page of one is the first page of the next.
    assert cross["I1tm"] == 10 * 21
    straddles = profile.note("Straddles", "instructions", "reads", "writes")
    assert straddles == [30 * 5 + 10 * 20, 20 * (12 + 9 + 6), 20 * 16]


@pytest.mark.parametrize("name", COUNTERS)
def test_each_function_makes_the_references_that_its_source_states(name: str, place: Path) -> None:
    profile = tlbgrind(options("lru", GEOMETRIES[1], *ALL_LOADS), [str(CLIENTS / name)], place)
    assert differences(profile) == []


@pytest.mark.parametrize("name", COUNTERS)
def test_by_default_only_loads_without_a_use_are_lost(name: str, place: Path) -> None:
    """What Vex drops before the tool sees it: the result of a load is overwritten in its block. The
    same holds for all tools, cachegrind among them."""
    profile = tlbgrind(options("lru", GEOMETRIES[1]), [str(CLIENTS / name)], place)
    assert differences(profile) == [
        "compare: Dr is 6, expected 9",
        "unused: Dr is 3, expected 6",
    ]


def assert_fast_path_changes_nothing(
    program: list[str], policy: str, place: Path, shapes: Sequence[tuple[int, int, int, int]] = SHAPES
) -> None:
    for geometry in shapes:
        fast = bytes_but_pid(options(policy, geometry, "--fast-path=yes"), program, place)
        slow = bytes_but_pid(options(policy, geometry, "--fast-path=no"), program, place)
        assert fast == slow, geometry


def one_shape(program: int, policy: str) -> Sequence[tuple[int, int, int, int]]:
    """Of what takes long, in turn: each policy has each shape with some program."""
    return SHAPES if LONG else SHAPES[(program + ALL_KINDS.index(policy)) % len(SHAPES) :][:1]


# Of real programs, `make check' has each policy with one, each shape with one or two.
FAST = [(program, policy) for program in SUBJECTS for policy in ALL_KINDS]
FAST_IDS = [f"{program.name}-{policy}" for program, policy in FAST]


def is_quick(case: tuple[Program, str]) -> bool:
    program, policy = case
    return program not in REAL or REAL.index(program) == ALL_KINDS.index(policy)


@pytest.mark.parametrize(("program", "policy"), long_but(is_quick, FAST), ids=FAST_IDS)
def test_the_fast_path_changes_nothing(program: Program, policy: str, place: Path) -> None:
    shapes = one_shape(REAL.index(program), policy) if program in REAL else SHAPES
    assert_fast_path_changes_nothing(program.line(), policy, place, shapes)


@pytest.mark.skipif(not X86, reason="built without the 32-bit tool")
@pytest.mark.parametrize("moved", [1, 300, 900, 2700])
def test_the_fast_path_changes_nothing_with_the_x87_in_use(moved: int, place: Path) -> None:
    """Its registers may be the program's when the tool compares times. What is evicted in error shows
    in the counts only if the stack lies as it happens to; an argument of that length moves it."""
    program = [*client("oracle_refs32").line(), "x" * moved]
    assert_fast_path_changes_nothing(program, "lru", place)


# With 32 bits the stack is on the last page of these sizes, and few pages are all that there are.
LARGE = (
    ("--itlb=4,full", "--dtlb=1,1"),
    ("--itlb=1,1", "--dtlb=2,full"),
    ("--itlb=2,full", "--dtlb=2,1", "--stlb=4,2"),
    ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8"),
)


@pytest.mark.skipif(not X86, reason="built without the 32-bit tool")
@pytest.mark.parametrize("size", ["64M", long("256M"), long("1G")])
@pytest.mark.parametrize("name", ["oracle_refs32", "oracle_walk32", "run_conditions32"])
def test_the_fast_path_changes_nothing_on_the_last_page(name: str, size: str, place: Path) -> None:
    program = client(name).line()
    for geometry in LARGE:
        chosen = [f"--page-size={size}", *geometry]
        fast, slow = (
            bytes_but_pid([*chosen, f"--fast-path={path}"], program, place) for path in ("yes", "no")
        )
        assert fast == slow, geometry


@pytest.mark.parametrize("bits", [64, 32] if X86 else [64])
@pytest.mark.parametrize("seed", RANDOM_SEEDS)
def test_the_fast_path_changes_nothing_in_random_programs(
    seed: int, bits: int, place: Path, tmp_path: Path
) -> None:
    program = [str(build(tmp_path, seed, RANDOM_FUNCTIONS, bits))]
    for policy in ALL_KINDS:
        assert_fast_path_changes_nothing(program, policy, place, one_shape(seed, policy))


@pytest.mark.parametrize("program", SUBJECTS, ids=[p.name for p in SUBJECTS])
def test_two_runs_write_the_same(program: Program, place: Path) -> None:
    chosen = options("lru", SHAPES[1])
    first, second = (bytes_but_pid(chosen, program.line(), place) for _ in range(2))
    assert first == second
