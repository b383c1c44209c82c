# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Many machines in one run count what each counts alone, and what all count without short cuts.

What is compared are whole out-files: every count of every line. Machines are chosen to have
everything between them that is kept apart in a run: arrays for loads or stores, stores without a
first level, code and data in one array, three levels, all policies, walk caches in the last level,
base pages of other sizes, and views with large pages.
"""

from __future__ import annotations

import itertools
import random
import subprocess
from pathlib import Path

import pytest
from oracle_random import build
from oracle_support import BUILD, CLIENTS, TOLD_APART, environment
from tg_long import LONG, long_but
from tg_names import labels_of

MACHINES = [
    "skylake",
    "haswell",
    "sandybridge",
    "nehalem",
    "core2",
    "core-duo-t2600",
    "icelake",
    "lioncove",
    "gracemont",
    "knl",
    "zen1",
    "zen2",
    "zen3@thp",
    "zen4",
    "zen5@all:2M",
    "k8",
    "bulldozer@contig",
    "geode-lx",
    "power8",
    "ultrasparc-t1",
    "ultrasparc-ii",
    "cortex-a57",
    "neoverse-v2@heap:64K",
    "c910",
]
MADE_UP = """tlbgrind-machine 1
name {name}
title made up
isa any
year unknown
confidence C
base-page 4K
source made up
array I
   level 1
   users fetches
   entries 16
   ways 4
   pages 4K+64K+2M
   larger-pages split
   policy {policy}
   threads 1
   source made up
array D
   level 1
   users loads+stores
   entries 16
   ways {ways}
   pages 4K+64K+2M
   larger-pages split
   policy {policy}
   threads 1
   source made up
array L2
   level 2
   users all
   entries 128
   ways 4
   pages 4K+2M
   larger-pages split
   policy {policy}
   hit-cycles 7
   threads 1
   source made up
walk hardware
   cycles unknown
   source made up
end
"""


FIRST = long_but(lambda seed: seed == 0, range(3))


def counts(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return [line for line in text.split("\n") if not line.startswith(TOLD_APART)]


def run(folder: Path, machines: list[str], options: list[str], command: list[str]) -> dict[str, list[str]]:
    """The counts of each machine."""
    out = folder / "out"
    subprocess.run(
        ["setarch", "-R", str(BUILD / "tlbgrind" / "tlbgrind"), "-q", "--machine=" + ",".join(machines), f"--tlbgrind-out-file={out}", *options, *command],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=folder,
        env=environment(command[0]),
    )
    if len(machines) == 1:
        return {machines[0]: counts(out)}
    labels = labels_of([name.removeprefix("./") for name in machines])
    return {name: counts(folder / f"out_{label}") for name, label in zip(machines, labels)}


def compare(folder: Path, machines: list[str], command: list[str], options: tuple[str, ...] = ()) -> None:
    """Without short cuts, all; of many, one in a few alone."""
    together = run(folder, machines, list(options), command)
    assert run(folder, machines, [*options, "--fast-path=no"], command) == together
    for name in machines if LONG else machines[:: 1 + len(machines) // 4]:
        assert run(folder, [name], list(options), command)[name] == together[name], name


@pytest.mark.parametrize("command", (["/bin/true"], ["oracle_walk"]), ids=lambda c: Path(c[0]).name)
def test_many_machines_count_as_each_alone(tmp_path: Path, command: list[str]) -> None:
    program = command if command[0].startswith("/") else [str(CLIENTS / command[0])]
    compare(tmp_path, MACHINES, program)


def test_nested_walks_and_costs_count_as_alone(tmp_path: Path) -> None:
    compare(tmp_path, MACHINES[:12], ["/bin/true"], ("--nested=yes", "--miss-cost=19"))


RULES = (
    "--pages=thp",
    "--pages=contig",
    "--pages=anon:64K,heap:2M,stack:16K",
    "--page-size=16K",
    "--pages=anon:2M,heap:4K",
)


@pytest.mark.parametrize(("seed", "rules"), long_but(lambda case: case[0] == RULES.index(case[1]) % 2, itertools.product(range(2), RULES)))
def test_rules_on_mappings_that_change_count_as_alone(tmp_path: Path, seed: int, rules: str) -> None:
    """Pages that come, go, move and change, of sizes that follow from what is mapped at the moment."""
    machines = (["zen2", "icelake", "c910", "zen2@thp"], ["skylake", "cortex-a57", "bonnell", "skylake@anon:64K"])[seed]
    compare(tmp_path, machines, [str(CLIENTS / "pages_change"), str(seed), "60"], (rules,))


@pytest.mark.parametrize("seed", FIRST)
def test_page_faults_are_those_of_one_machine(tmp_path: Path, seed: int) -> None:
    """Also when they were taken, in instructions."""
    command = [str(build(tmp_path, seed, 60, 64))]
    log = tmp_path / "faults"

    def faults(machines: list[str], *more: str) -> list[str]:
        run(tmp_path, machines, ["--faults=yes", f"--faults-out-file={log}", *more], command)
        return [line for line in log.read_text(encoding="ascii").split("\n") if "pid" not in line and "# checksum: " not in line]

    alone = faults(["skylake"])
    for machines in (["skylake", "zen4"], ["skylake", "icelake", "c910"], ["skylake", "power8", "core2"]):
        assert faults(machines) == faults(machines, "--fast-path=no") == alone


@pytest.mark.parametrize("how", ["late", "advise"])
def test_machines_that_share_a_first_level_part_when_page_sizes_change(tmp_path: Path, how: str) -> None:
    """Machines that share a first level as long as all pages are base pages, until the program wants others."""
    machines = [name for name in MACHINES if "@" not in name]
    compare(tmp_path, [*machines, "zen5", "cortex-a76", "u74", "k10"], [str(CLIENTS / "pages_use"), "anon", "8", how])


@pytest.mark.parametrize("seed", FIRST)
def test_random_programs_count_as_alone(tmp_path: Path, seed: int) -> None:
    """Also with machines of every policy, which no processor need have."""
    dice = random.Random(seed)
    machines = dice.sample(MACHINES, 8)
    for policy in ("lru", "plru", "fifo", "nru", "random"):
        for ways in ("1", "4", "full"):
            name = f"{policy}-{ways}"
            (tmp_path / name).write_text(MADE_UP.format(name=name, policy=policy, ways=ways), encoding="ascii")
            machines.append("./" + name)
    compare(tmp_path, dice.sample(machines, 14), [str(build(tmp_path, seed, 60, 64))])


@pytest.mark.parametrize(("machine", "seed"), (("goldencove", 24), ("core2", 70)))
def test_reach_beside_arrays_for_loads_or_stores_counts_as_alone(tmp_path: Path, machine: str, seed: int) -> None:
    program = [str(build(tmp_path, seed, 30, 64))]
    compare(tmp_path, [machine, "power8"], program, ("--reach=yes", f"--reach-out-file={tmp_path / 'reach'}"))


@pytest.mark.parametrize("seed", FIRST)
@pytest.mark.parametrize("users", ("loads+stores", "all"))
@pytest.mark.parametrize("policy", ("lru", "nru"))
def test_stores_that_begin_in_the_second_level_count_as_alone(tmp_path: Path, policy: str, users: str, seed: int) -> None:
    """As on a Core 2, with so few entries that the order of loads and stores of one segment, and its code's, matters."""
    text = MADE_UP.format(name="later", policy=policy, ways="4").replace(
        "level 1\n   users loads+stores\n   entries 16", "level 1\n   users loads\n   entries 4"
    )
    text = text.replace("level 2\n   users all\n   entries 128", f"level 2\n   users {users}\n   entries 16")
    text = text.replace("fetches\n   entries 16", "fetches\n   entries 4")
    (tmp_path / "later").write_text(text, encoding="ascii")
    compare(tmp_path, ["./later", "power8"], [str(build(tmp_path, seed, 60, 64))])


def test_equal_machines_are_counted_apart(tmp_path: Path) -> None:
    """Machines with equal first levels share the work, not the counts."""
    for name in ("first", "second"):
        text = MADE_UP.format(name=name, policy="lru", ways="4")
        (tmp_path / name).write_text(text.replace("entries 128", "entries 128" if name == "first" else "entries 32"), encoding="ascii")
    compare(tmp_path, ["./first", "./second", "./first@2M"], [str(CLIENTS / "oracle_walk")])


def holding_each_other(folder: Path) -> list[str]:
    """Fully associative first levels of several sizes, each before a second level so small that it matters when it was
    asked."""
    machines = []
    for entries in (4, 6, 8, 12, 16):
        text = MADE_UP.format(name=f"of-{entries}", policy="lru", ways="full")
        text = text.replace("entries 16\n   ways full", f"entries {entries}\n   ways full").replace("entries 128", "entries 32")
        (folder / f"of-{entries}").write_text(text, encoding="ascii")
        machines.append(f"./of-{entries}")
    return machines


@pytest.mark.parametrize("seed", FIRST)
def test_first_levels_that_include_each_other_count_as_alone(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, holding_each_other(tmp_path), [str(build(tmp_path, seed, 60, 64))])


@pytest.mark.parametrize("seed", range(3))
def test_first_levels_part_when_the_order_of_their_pages_differs(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, holding_each_other(tmp_path), [str(CLIENTS / "oracle_part"), str(seed)])


def with_base(folder: Path, base: str, entries: int, ways: str, beside: str = "") -> str:
    """A machine with base pages of that size and first levels so small that a short program fills them; `beside`: the
    entries of another array for data that takes the same pages."""
    name = f"{base}-{entries}-{ways}-{beside}"
    text = MADE_UP.format(name=name, policy="lru", ways=ways).replace("base-page 4K", f"base-page {base}")
    text = text.replace("pages 4K+64K+2M", f"pages {base}+2M").replace("pages 4K+2M", f"pages {base}+2M")
    text = text.replace("entries 16", f"entries {entries}").replace(f"entries {entries}\n   ways 4", f"entries {entries}\n   ways {ways}")
    text = text.replace("entries 128", "entries 16")
    if beside:
        data = text[text.index("array D") : text.index("array L2")]
        another = data.replace("array D", "array D-beside").replace(f"entries {entries}\n   ways {ways}", f"entries {beside}\n   ways 2")
        text = text.replace(data, data + another)
    (folder / name).write_text(text, encoding="ascii")
    return f"./{name}"


LATE = [str(CLIENTS / "pages_use"), "anon", "16", "late"]


@pytest.mark.parametrize("seed", (0, None))
@pytest.mark.parametrize("more", (None, "icelake", "c910"))
def test_larger_base_pages_count_as_alone(tmp_path: Path, more: str | None, seed: int | None) -> None:
    """Of those all or nothing is known, beside smaller ones, and machines that share them part when they have to."""
    sizes = ((2, "full"), (3, "full"), (4, "full"), (4, "2"), (2, "1"))
    machines = [with_base(tmp_path, base, entries, ways) for base in ("16K", "64K") for entries, ways in sizes]
    small = [with_base(tmp_path, "4K", 6, "full"), with_base(tmp_path, "8K", 4, "full")]
    machines = [*small, *machines] if more is None else [more, *machines]
    compare(tmp_path, machines, LATE if seed is None else [str(build(tmp_path, seed, 60, 64))])


@pytest.mark.parametrize("seed", (0, None))
@pytest.mark.parametrize("more", ("bonnell", "icelake", "c910"))
def test_arrays_side_by_side_count_as_alone(tmp_path: Path, more: str, seed: int | None) -> None:
    """A page goes to that of two arrays which has the older page."""
    machines = [with_base(tmp_path, "4K", entries, ways, "8") for entries, ways in ((4, "full"), (8, "4"), (20, "full"))]
    compare(tmp_path, [*machines, more], LATE if seed is None else [str(build(tmp_path, seed, 60, 64))])


def told_apart(folder: Path, loads: str, stores: str, base: str = "4K") -> str:
    """A machine with arrays for loads and for stores: "entries-ways" of each."""
    name = f"{base}-{loads}-{stores}"
    path = folder / with_base(folder, base, 4, "full")
    text = path.read_text(encoding="ascii").replace(f"name {base}-4-full-", f"name {name}")
    data = text[text.index("array D") : text.index("array L2")]
    both = ""
    for users, size in (("loads", loads), ("stores", stores)):
        entries, ways = size.split("-")
        array = data.replace("array D", f"array D-{users}").replace("users loads+stores", f"users {users}")
        both += array.replace("entries 4\n   ways full", f"entries {entries}\n   ways {ways}")
    (folder / name).write_text(text.replace(data, both), encoding="ascii")
    return f"./{name}"


@pytest.mark.parametrize("seed", (0, None))
@pytest.mark.parametrize("more", ("core2", "skylake"))
def test_arrays_for_loads_or_stores_count_as_alone(tmp_path: Path, more: str, seed: int | None) -> None:
    """They hold each other's pages on one side or on both, or on none."""
    pairs = (("4-2", "2-full"), ("6-3", "3-full"), ("8-4", "2-full"), ("4-2", "4-full"), ("3-full", "4-2"), ("5-full", "6-3"))
    machines = [told_apart(tmp_path, *pair) for pair in pairs] + [told_apart(tmp_path, *pair, "16K") for pair in pairs[1:4]]
    both = [with_base(tmp_path, "4K", entries, ways) for entries, ways in ((4, "2"), (8, "4"), (2, "full"))]
    compare(tmp_path, [more, *machines, *both], LATE if seed is None else [str(build(tmp_path, seed, 60, 64))])


SECOND_LEVEL = MADE_UP[MADE_UP.index("array L2") : MADE_UP.index("walk hardware")]
BEHIND = {
    "nothing": "",
    "small": SECOND_LEVEL.replace("entries 128", "entries 32"),
    "loads": SECOND_LEVEL.replace("users all", "users loads"),
    "stores": SECOND_LEVEL.replace("users all", "users stores"),
    "code": SECOND_LEVEL.replace("users all", "users fetches"),
    "three": SECOND_LEVEL + SECOND_LEVEL.replace("array L2", "array L3").replace("level 2", "level 3"),
    "three-for-stores": SECOND_LEVEL.replace("entries 128", "entries 32")
    + SECOND_LEVEL.replace("array L2", "array L3").replace("level 2", "level 3").replace("users all", "users stores"),
}


@pytest.mark.parametrize("cycles", ("unknown", "3", "40"))
def test_first_level_misses_in_common_go_on_behind_as_alone(tmp_path: Path, cycles: str) -> None:
    """Machines that miss together, but behind their first levels have different things, or nothing, or not for all."""
    for name, behind in BEHIND.items():
        text = MADE_UP.format(name=name, policy="lru", ways="4").replace("cycles unknown", f"cycles {cycles}")
        behind = behind.format(policy="lru")
        (tmp_path / name).write_text(text.replace(SECOND_LEVEL.format(policy="lru"), behind), encoding="ascii")
    compare(tmp_path, [f"./{name}" for name in BEHIND], [str(build(tmp_path, 5, 60, 64))])


WALKS = {
    "one-step": (("512G", "none"), ("1G", "none"), ("64K", "in-last-level"), ("4K", "none")),
    "two-steps": (("512G", "none"), ("64K", "in-last-level"), ("16K", "in-last-level"), ("4K", "none")),
    "own-steps": (("1G", "own"), ("64K", "joined"), ("16K", "in-last-level"), ("4K", "none")),
}


@pytest.mark.parametrize("seed", FIRST)
def test_walk_entries_in_the_last_level_count_as_alone(tmp_path: Path, seed: int) -> None:
    """In the set of the page that was walked for it is the older one. Steps are so small that this happens all the time."""
    machines = []
    for name, steps in WALKS.items():
        for entries, ways in ((16, "4"), (32, "16"), (12, "3"), (64, "8")):
            text = MADE_UP.format(name=f"{name}-{entries}", policy="lru", ways="4")
            text = text.replace("entries 128\n   ways 4", f"entries {entries}\n   ways {ways}")
            walk = "".join(
                f"step {size}\n   cache {cache}\n" + ("   entries 4\n   ways full\n   policy lru\n" if cache == "own" else "")
                for size, cache in steps
            )
            (tmp_path / f"{name}-{entries}").write_text(text.replace("\nend\n", f"\n{walk}end\n"), encoding="ascii")
            machines.append(f"./{name}-{entries}")
    compare(tmp_path, machines, [str(build(tmp_path, seed, 60, 64))])


def test_a_second_level_coalesces_beside_one_that_does_not(tmp_path: Path) -> None:
    """Then only one of two machines with equal first levels needs to know what lies around a page."""
    for name, more in (("without", ""), ("with", "   coalesces 64K\n")):
        text = MADE_UP.format(name=name, policy="lru", ways="4")
        (tmp_path / name).write_text(text.replace("   hit-cycles 7\n", "   hit-cycles 7\n" + more), encoding="ascii")
    compare(tmp_path, ["./without", "./with"], [str(CLIENTS / "oracle_walk")])


BASES = [
    "zen4",
    "zen4@thp",
    "apple-m1",
    "apple-m1@thp",
    "ultrasparc-t1@thp",
    "ultrasparc-t1@all:64K",
    "power8@anon:16M",
    "apple-m4@contig",
]


@pytest.mark.parametrize("how", ["", "advise", "late", "protect"])
def test_base_pages_of_several_sizes_in_one_run_count_as_alone(tmp_path: Path, how: str) -> None:
    """What backs the memory of a machine follows from its own base pages, not from the smallest of the run."""
    program = [str(CLIENTS / "pages_use"), "anon", "96", *([how] if how else [])]
    compare(tmp_path, BASES, program, ("--huge-pool=16M:3,64K:900",))


def test_pieces_and_blocks_are_no_smaller_than_the_machines_base_pages(tmp_path: Path) -> None:
    """Pieces of a larger page are no smaller than the machine's own base pages, and those are what it coalesces."""
    plain = (tmp_path / with_base(tmp_path, "16K", 8, "4")).read_text(encoding="ascii")
    data = plain[plain.index("array D") : plain.index("array L2")]
    small = data.replace("array D", "array D-small").replace("pages 16K+2M", "pages 4K+2M")
    bypass = data.replace("larger-pages split", "larger-pages bypass")
    for name, arrays in (("pieces", bypass + small), ("blocks", data + "   coalesces 64K\n")):
        text = plain.replace(data, arrays).replace("name 16K-8-4-", f"name {name}")
        (tmp_path / name).write_text(text, encoding="ascii")
    machines = ["./pieces@all:64K", "./blocks", "./blocks@all:64K", "skylake"]
    compare(tmp_path, machines, [str(CLIENTS / "pages_use"), "anon", "4"])


def coalescing(folder: Path) -> str:
    """A machine with blocks of 64K in its first level."""
    text = MADE_UP.format(name="blocks", policy="lru", ways="4").replace("users loads+stores\n", "users loads+stores\n   coalesces 64K\n")
    (folder / "blocks").write_text(text, encoding="ascii")
    return "./blocks"


def test_a_coalesced_block_ends_when_one_of_its_pages_is_given_back(tmp_path: Path) -> None:
    """Its other pages are not known any more, either, for they are in an entry of another size from now on."""
    compare(tmp_path, [coalescing(tmp_path), "skylake"], [str(CLIENTS / "pages_use"), "anon", "8", "empty"])


def test_late_advice_counts_as_alone_beside_a_machine_that_coalesces(tmp_path: Path) -> None:
    """A machine that coalesces knows what has been touched, and others without rules know as little as alone."""
    compare(tmp_path, ["skylake", coalescing(tmp_path), "zen4"], LATE)


def test_a_page_that_has_left_its_block_stays_when_the_block_goes(tmp_path: Path) -> None:
    """It is in an entry of its own when the one of its block goes."""
    machines = [f"{coalescing(tmp_path)}@anon:16K", "ultrasparc-t1@anon:16K"]
    compare(tmp_path, machines, [str(CLIENTS / "pages_use"), "anon", "8", "mix"])


def test_stores_split_large_pages_that_loads_keep_whole(tmp_path: Path) -> None:
    """Stores keep a piece of a large page where loads keep small pages: what is known for loads is not for stores."""
    text = MADE_UP.format(name="apart", policy="lru", ways="4")
    data = text[text.index("array D") : text.index("array L2")]
    small = data.replace("pages 4K+64K+2M", "pages 4K")
    large = data.replace("array D", "array D-large").replace("loads+stores", "loads").replace("pages 4K+64K+2M", "pages 2M")
    (tmp_path / "apart").write_text(text.replace(data, small + large), encoding="ascii")
    compare(tmp_path, ["./apart@anon:2M", "./apart", "skylake"], [str(CLIENTS / "pages_use"), "anon", "8", "write"])
