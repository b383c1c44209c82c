# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What CPUID says of a processor and what its machine file says: the same but for what is listed."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from cpuid_facts import Array, Machine, dump_lines, parse_machine, read_processors, show
from cpuid_made_up import (
    ALL,
    CODE,
    DATA,
    INTEL,
    LOADS,
    MADE_UP,
    STORES,
    leaf_18,
    processor,
)

PROCESSORS = read_processors() | MADE_UP

# Level, users, page sizes, entries/ways.
SAME: tuple[set[str], set[str]] = set(), set()
# Without the 64-bit mode, so with no pages of 2M.
SHORT_BONNELL = ("bonnell", {"2 loads+stores 4K+4M 8/4"}, {"2 loads+stores 2M+4K+4M 8/4"})

# Processor: its machine file, what only CPUID has, what only the file has. The file stands in for CPUID where that is
# wrong, so there is hardly a difference.
EXPECTED: dict[str, tuple[str, set[str], set[str]]] = {
    "core-duo": ("core-duo-t2600", set(), set()),
    "core-2": ("core2", set(), set()),
    "bonnell": SHORT_BONNELL,
    "silvermont": ("silvermont", set(), set()),
    "goldmont": ("goldmont", set(), set()),
    "knights-landing": ("knl", set(), set()),
    "westmere": ("nehalem", set(), set()),
    "ivy-bridge": ("ivybridge", set(), set()),
    "haswell": ("haswell", set(), set()),
    "skylake": ("skylake", set(), set()),
    "sapphire-rapids": ("goldencove", set(), set()),
    "golden-cove": ("goldencove", set(), set()),
    "ice-lake": ("icelake", set(), set()),
    "gracemont": ("gracemont", set(), set()),
    "airmont": ("airmont", set(), set()),
    "isaiah": ("isaiah", set(), set()),
    "zx-e": ("zx-e", set(), set()),
    # Without PAE large pages are of 4M.
    "geode-lx": ("geode-lx", {"2 fetches+loads+stores 2M 4/4"}, {"2 fetches+loads+stores 4M 4/4"}),
    "k6-iii": ("k6-iii", set(), set()),
    "k7": ("k7", set(), set()),
    "k8": ("k8", set(), set()),
    "griffin": ("k8", set(), set()),
    "k10": ("k10", set(), set()),
    "llano": ("llano", set(), set()),
    "bulldozer": ("bulldozer", set(), set()),
    "piledriver": ("piledriver", set(), set()),
    "jaguar": ("jaguar", set(), set()),
    "zen-1": ("zen1", set(), set()),
    "dhyana": ("zen1", set(), set()),
    "zen-3": ("zen3", set(), set()),
    "zen-4": ("zen4", set(), set()),
    "zen-5": ("zen5", set(), set()),
    # Made up: the values that are known, under the model of each.
    **{f"sunny cove, model {model}": ("icelake", *SAME) for model in ("6a", "6c", "7d", "7e", "a7")},
    **{f"golden cove, model {model}": ("goldencove", *SAME) for model in ["8f", "97", "9a", "b7", "ba", "bf", "cf", "d7"]},
    "lakefield, big core": ("icelake", *SAME),
    "lakefield, small core": ("tremont", *SAME),
    "silvermont, j1900": ("silvermont", *SAME),
    **{f"bonnell, {name}": SHORT_BONNELL for name in ("diamondville", "penwell", "cloverview")},
    "bonnell, cedarview": ("bonnell", *SAME),
    "cannon lake": ("skylake", *SAME),
    **{f"{name} lake, big core": ("cougarcove", *SAME) for name in ("panther", "wildcat")},
    **{f"{name}, small core": ("skymont", *SAME) for name in ("panther lake", "wildcat lake", "arrow lake-h")},
    "clearwater forest": ("skymont", *SAME),
    "arrow lake-h, lp-e core": ("crestmont", *SAME),
    "bobcat": ("bobcat", *SAME),
    "airmont, braswell": ("airmont", *SAME),
    "kx-6640ma": ("zx-e", *SAME),
    "kx-6000": ("zx-e", *SAME),
    "kx-7000": ("kx-7000", *SAME),
    "subor z": ("zen1", *SAME),
}


def arrays(machine: Machine) -> set[str]:
    return {
        f"{a['level']} {'+'.join(sorted(a.users))} {'+'.join(sorted(a.pages))} {a.number('entries')}/{a.number('ways')}"
        for a in machine.arrays
    }


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_file_says_what_cpuid_says(processor: str, tmp_path: Path) -> None:
    dump = tmp_path / "dump"
    dump.write_text(dump_lines(PROCESSORS[processor]))
    machine = parse_machine(show(dump))
    found = re.search(r"the machine file (\S+) describes", " ".join(machine.head.get("note", [])))
    if found is None:
        assert processor not in EXPECTED
        return
    file, only_cpuid, only_file = EXPECTED[processor]
    assert found[1] == file
    mine, theirs = arrays(machine), arrays(parse_machine(show(file)))
    assert (mine - theirs, theirs - mine) == (only_cpuid, only_file)


def models_with_files() -> list[tuple[int, str, str]]:
    """Intel's model, kind of core and machine file, as the reader's own table has them."""
    text = (Path(os.environ["TG_SRCDIR"]) / "tlbgrind/sim/machine/cpuid_models.c").read_text(encoding="ascii")
    rows = re.findall(r'\{ 0x([0-9a-f]+), (ANY|BIG|SMALL), "([a-z0-9-]+)" \}', text)
    assert len(rows) > 80
    return [(int(model, 16), core, file) for model, core, file in rows]


KINDS = {
    frozenset({"loads", "stores"}): DATA,
    frozenset({"fetches"}): CODE,
    frozenset({"fetches", "loads", "stores"}): ALL,
    frozenset({"loads"}): LOADS,
    frozenset({"stores"}): STORES,
}
PAGES = {"4K": 1, "2M": 2, "4M": 4, "1G": 8}
Place = tuple[str, frozenset[str], frozenset[str]]
Geometry = tuple[int, int, str, str]


def place(a: Array) -> Place:
    return a["level"], frozenset(a.users), frozenset(a.pages)


def geometries(machine: Machine) -> dict[Place, Geometry]:
    return {
        place(a): (a.number("entries"), a.number("ways"), "".join(a.values.get("index", [])), a["policy"])
        for a in machine.arrays
    }


@pytest.mark.parametrize("model, core, file", models_with_files())
def test_no_processor_is_simulated_worse_than_by_its_file(model: int, core: str, file: str, tmp_path: Path) -> None:
    """CPUID that has half of the ways of each array that the file has them of, and no index and policy, as it never has."""
    of_file = parse_machine(show(file))
    expected = geometries(of_file)
    known = {place(a) for a in of_file.arrays if not a["ways"].startswith("unknown")}
    arrays = []
    for key, (entries, ways, _, _) in expected.items():
        level, users, pages = key
        worse = ways // 2 if ways % 2 == 0 and key in known else ways
        arrays.append((KINDS[users], int(level), sum(PAGES[page] for page in pages), worse, entries // worse))
    leaves = leaf_18(*arrays)
    if core != "ANY":
        kind = 0x20 if core == "SMALL" else 0x40
        leaves = [*leaves, (7, 0, 0, 0, 0, 1 << 15), (0x1A, 0, kind << 24 | 3, 0, 0, 0)]
    dump = tmp_path / "dump"
    dump.write_text(dump_lines(processor(INTEL, 6, model, *leaves)))
    machine = parse_machine(show(dump))
    assert f"the machine file {file} describes" in " ".join(machine.head["note"])
    assert geometries(machine) == expected
