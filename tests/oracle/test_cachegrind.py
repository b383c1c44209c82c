# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Cachegrind as an oracle: its caches are TLBs when a line is a page.

The comparison is of integers, without tolerance. `--as-cachegrind=yes' makes the tool count by
cachegrind's definitions, and then everything must be equal: the totals, and the counts of every
line of every function. What the tool counts by default differs by its own definitions, and it
counts the differences:

- A reference that straddles two pages is looked up as two translations. Both may miss, where
  cachegrind counts a miss of the reference: `Second misses'.
- A helper that Vex guards (the x87 part of an xsave that leaves it out) makes no reference if it is
  not performed. Cachegrind counts one: `Unperformed helper accesses'.

oracle_support.py says how both see the same program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from oracle_programs import CLIENT_NAMES, PROGRAMS, Program, client, make_place
from oracle_random import build
from oracle_support import (
    BUILD,
    EVENTS,
    STARTED_ALIKE,
    TRANSLATED_AS_OURS,
    X86,
    Counts,
    Place,
    Profile,
    add,
    cachegrind,
    named,
    tlbgrind,
)
from tg_long import every_second, long_but

KIB = 1 << 10
MIB = 1 << 20


@dataclass(frozen=True)
class Geometry:
    """The same TLBs in both languages."""

    name: str
    first: tuple[int, int]  # entries, ways of each side
    last: tuple[int, int]
    page: int = 4 * KIB

    def cachegrind(self) -> list[str]:
        def cache(entries: int, ways: int) -> str:
            return f"{entries * self.page},{ways},{self.page}"

        first = cache(*self.first)
        return [f"--I1={first}", f"--D1={first}", f"--LL={cache(*self.last)}"]

    def tlbgrind(self) -> list[str]:
        first = "{},{}".format(*self.first)
        last = "{},{}".format(*self.last)
        return [
            f"--itlb={first}",
            f"--dtlb={first}",
            f"--stlb={last}",
            f"--page-size={self.size()}",
        ]

    def size(self) -> str:
        return f"{self.page // MIB}M" if self.page >= MIB else f"{self.page // KIB}K"


USUAL = Geometry("64 4-way, 2048 8-way", (64, 4), (2048, 8))

# A second level out of which nothing is ever evicted, as the tests make sure: then every page
# misses it once, on its first touch, and the order of the touches does not matter.
ROOMY = Geometry("64 4-way, 8192 full", (64, 4), (8192, 8192))

# Cachegrind wants a power of two of sets, of any number of ways.
OTHERS = (
    Geometry("64 direct, 1024 4-way", (64, 1), (1024, 4)),
    Geometry("16 full, 512 4-way", (16, 16), (512, 4)),
    Geometry("8 2-way, 16 4-way", (8, 2), (16, 4)),
    Geometry("64 4-way, 1536 12-way", (64, 4), (1536, 12)),
    Geometry("2 full, 3 full", (2, 2), (3, 3)),
    Geometry("32 full, 512 4-way, 2M", (32, 32), (512, 4), 2 * MIB),
    Geometry("4 2-way, 16 4-way, 64K", (4, 2), (16, 4), 64 * KIB),
)

SUBJECTS = [*PROGRAMS, *map(client, CLIENT_NAMES)]


def has_other_geometry(program: Program, geometry: Geometry) -> bool:
    """Cachegrind's entries begin with the tag 0 and not empty, so it never misses page 0, to which
    a position-independent program belongs under Valgrind if a page is 2 MiB. python3 is none."""
    real = ("python3",) if geometry.page == 2 * MIB else ("ls", "dash")
    return program.name in (*real, *CLIENT_NAMES)


OTHER_SUBJECTS = [(p, g) for p in SUBJECTS for g in OTHERS if has_other_geometry(p, g)]
OFTEN = {("ls", OTHERS[0]), ("dash", OTHERS[1]), ("python3", OTHERS[5])}  # of real programs

RANDOM_FUNCTIONS = 60
RANDOM_SEEDS = long_but(lambda seed: seed < 1, range(5))


@dataclass
class Table:
    """Both tools' numbers, for people."""

    rows: list[tuple[str, str, Counts]] = field(default_factory=list)

    def text(self) -> str:
        head = f"{'program':14} {'counted by':28}" + "".join(f"{e:>12}" for e in EVENTS)
        lines = [f"Geometry: {USUAL.name}; {ROOMY.name} where it says so", "", head]
        for name, tool, counts in self.rows:
            lines.append(f"{name:14} {tool:28}" + "".join(f"{n:12}" for n in counts))
        return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_place(tmp_path_factory.mktemp("place"))


@pytest.fixture(scope="module")
def table() -> Iterator[Table]:
    table = Table()
    yield table
    path = BUILD / "tests" / "oracle" / "cachegrind-table.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table.text())
    print(table.text())


def unperformed(profile: Profile) -> dict[str, int]:
    reads, writes = profile.note("Unperformed helper accesses", "reads", "writes")
    return {"Dr": reads, "Dw": writes}


def second_misses(profile: Profile) -> dict[str, int]:
    events = [e for e in EVENTS if e not in ("Ir", "Dr", "Dw")]
    return dict(zip(events, profile.note("Second misses", *events)))


def as_cachegrind_defines(ours: Profile) -> dict[str, int]:
    """What the tool counted by its own definitions, in cachegrind's."""
    counts = named(ours.totals)
    for event, n in unperformed(ours).items():
        counts[event] += n
    for event, n in second_misses(ours).items():
        counts[event] -= n
    return counts


def only(counts: dict[str, int], *left_out: str) -> dict[str, int]:
    return {event: n for event, n in counts.items() if event not in left_out}


def as_far_as_valgrind_knows(ours: Profile, theirs: Profile) -> dict[Place, Counts]:
    """Code outside of .text, as .init, has lines here, where cachegrind has none."""
    places: dict[Place, Counts] = {}
    for place, counts in ours.places.items():
        is_known = place in theirs.places or place[1] != "???"
        add(places, place if is_known else ("???", "???", 0), counts)
    return places


def assert_same_places(theirs: Profile, ours: Profile) -> None:
    """Every line of every function, in the units that both name."""
    mine = as_far_as_valgrind_knows(ours, theirs)
    different = {
        place: (theirs.places.get(place), mine.get(place))
        for place in theirs.places.keys() | mine.keys()
        if theirs.places.get(place) != mine.get(place)
    }
    assert not different


def names(programs: Sequence[Program]) -> list[str]:
    return [p.name for p in programs]


@pytest.mark.parametrize("program", SUBJECTS, ids=names(SUBJECTS))
def test_with_cachegrinds_definitions_all_counts_are_cachegrinds(
    program: Program, place: Path, table: Table
) -> None:
    theirs = cachegrind(USUAL.cachegrind(), program.line(), place)
    ours = tlbgrind([*USUAL.tlbgrind(), "--as-cachegrind=yes"], program.line(), place)
    table.rows.append((program.name, "cachegrind", theirs.totals))
    table.rows.append((program.name, "tlbgrind --as-cachegrind", ours.totals))
    assert ours.printed == theirs.printed
    assert named(ours.totals) == named(theirs.totals)
    assert_same_places(theirs, ours)
    # The second misses and the rest are there to explain the default, which is not this.
    assert set(second_misses(ours).values()) == {0}


@pytest.mark.parametrize("program", [*every_second(PROGRAMS), *map(client, CLIENT_NAMES)], ids=names(SUBJECTS))
def test_with_its_own_definitions_the_tool_counts_what_it_counts_otherwise(
    program: Program, place: Path, table: Table
) -> None:
    theirs = cachegrind([*ROOMY.cachegrind(), *TRANSLATED_AS_OURS], program.line(), place)
    ours = tlbgrind([*ROOMY.tlbgrind(), *STARTED_ALIKE], program.line(), place)
    table.rows.append((program.name, "cachegrind, roomy", theirs.totals))
    table.rows.append((program.name, "tlbgrind, roomy", ours.totals))
    pages = sum(named(ours.totals)[e] for e in ("ILtm", "DLtmr", "DLtmw"))
    assert pages <= ROOMY.last[0], "the second level evicts; make it larger"
    assert ours.printed == theirs.printed
    # Where cachegrind counts an access that was not made, it looks its page up, too. That changes
    # no miss in oracle_refs, which saves registers to the page that it has just read.
    assert program.name == "oracle_refs" or set(unperformed(ours).values()) == {0}
    assert as_cachegrind_defines(ours) == named(theirs.totals)


def test_the_clients_do_what_the_definitions_count_differently(place: Path) -> None:
    """Or the test above would prove less than it says."""
    walk = tlbgrind([*ROOMY.tlbgrind(), *STARTED_ALIKE], client("oracle_walk").line(), place)
    assert min(second_misses(walk)[e] for e in ("I1tm", "ILtm", "D1tmr", "DLtmr", "D1tmw")) > 0
    refs = tlbgrind([*ROOMY.tlbgrind(), *STARTED_ALIKE], client("oracle_refs").line(), place)
    assert unperformed(refs)["Dw"] > 0


@pytest.mark.parametrize(
    ("program", "geometry"),
    long_but(lambda case: case[0].name in CLIENT_NAMES or (case[0].name, case[1]) in OFTEN, OTHER_SUBJECTS),
    ids=[f"{p.name}, {g.name}" for p, g in OTHER_SUBJECTS],
)
def test_other_geometries_count_as_cachegrinds(program: Program, geometry: Geometry, place: Path) -> None:
    theirs = cachegrind(geometry.cachegrind(), program.line(), place)
    ours = tlbgrind([*geometry.tlbgrind(), "--as-cachegrind=yes"], program.line(), place)
    assert named(ours.totals) == named(theirs.totals)
    assert_same_places(theirs, ours)
    # By its own definitions the tool references the second level otherwise, but not the first.
    theirs = cachegrind([*geometry.cachegrind(), *TRANSLATED_AS_OURS], program.line(), place)
    ours = tlbgrind([*geometry.tlbgrind(), *STARTED_ALIKE], program.line(), place)
    last = ("ILtm", "DLtmr", "DLtmw")
    assert only(as_cachegrind_defines(ours), *last) == only(named(theirs.totals), *last)


@pytest.mark.parametrize("bits", [64, 32] if X86 else [64])
@pytest.mark.parametrize("seed", RANDOM_SEEDS)
def test_random_programs_count_as_in_cachegrind(seed: int, bits: int, place: Path, tmp_path: Path) -> None:
    program = [str(build(tmp_path, seed, RANDOM_FUNCTIONS, bits))]
    for geometry in (USUAL, OTHERS[1], OTHERS[2]):
        theirs = cachegrind(geometry.cachegrind(), program, place)
        ours = tlbgrind([*geometry.tlbgrind(), "--as-cachegrind=yes"], program, place)
        assert named(ours.totals) == named(theirs.totals)
        assert_same_places(theirs, ours)
    theirs = cachegrind([*ROOMY.cachegrind(), *TRANSLATED_AS_OURS], program, place)
    ours = tlbgrind([*ROOMY.tlbgrind(), *STARTED_ALIKE], program, place)
    assert as_cachegrind_defines(ours) == named(theirs.totals)
