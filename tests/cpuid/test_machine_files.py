# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What CPUID says of a processor and what its machine file says: the same but for what is listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cpuid_facts import Machine, dump_lines, parse_machine, read_processors, show
from cpuid_made_up import MADE_UP

PROCESSORS = read_processors() | MADE_UP

# Level, users, page sizes, entries/ways.
SAME: tuple[set[str], set[str]] = set(), set()
HALVED_4K = {"1 fetches 4K 64/4"}, {"1 fetches 4K 128/4"}

# What the file has stands in for what CPUID has: the second level with the ways that were measured, and all of the
# entries that two threads share.
SKYLAKE = (
    "skylake",
    set(),
    set(),
)
# The firmware decides which of two ways the same processor is described.
ZEN_1 = ("zen1", {"2 loads+stores 2M+4K 1536/12"}, {"2 loads+stores 2M+4K 1536/6"})

# Processor: its machine file, what only CPUID has, what only the file has.
EXPECTED: dict[str, tuple[str, set[str], set[str]]] = {
    "core-duo": ("core-duo-t2600", set(), set()),
    "core-2": ("core2", set(), set()),
    "bonnell": ("bonnell", set(), set()),
    "silvermont": ("silvermont", set(), set()),
    "goldmont": ("goldmont", set(), set()),
    "knights-landing": ("knl", set(), set()),
    # What a thread has while two run, and what the core has.
    "westmere": (
        "nehalem",
        HALVED_4K[0] | {"1 fetches 2M+4M 7/7"},
        HALVED_4K[1] | {"1 fetches 2M+4M 14/14"},
    ),
    "ivy-bridge": ("ivybridge", *HALVED_4K),
    "haswell": ("haswell", set(), set()),
    "skylake": SKYLAKE,
    # CPUID is wrong, and corrected.
    "sapphire-rapids": ("goldencove", set(), set()),
    "golden-cove": ("goldencove", set(), set()),
    "ice-lake": ("icelake", set(), set()),
    "gracemont": ("gracemont", set(), set()),
    "airmont": ("airmont", set(), set()),
    "isaiah": ("isaiah", set(), set()),
    "zx-e": ("zx-e", set(), set()),
    # The processor is made up: Haswell's descriptors under Zhaoxin's name.
    "zhaoxin": (
        "zx-e",
        {
            "1 fetches 4K 128/8",
            "1 fetches 2M+4M 8/8",
            "1 loads+stores 4K 64/4",
            "1 loads+stores 2M+4M 32/4",
            "2 fetches+loads+stores 2M+4K 1024/8",
        },
        {"1 fetches 4K 96/6", "1 fetches 2M 32/4", "1 loads+stores 4K 96/6", "1 loads+stores 2M 32/4"},
    ),
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
    "zen-1": ZEN_1,
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
    **{f"bonnell, {name}": ("bonnell", *SAME) for name in ("diamondville", "penwell", "cloverview")},
    # With the 64-bit mode, which has pages of 2M where the file's processor has those of 4M.
    "bonnell, cedarview": (
        "bonnell",
        {"2 loads+stores 2M+4K+4M 8/4"},
        {"2 loads+stores 4K+4M 8/4"},
    ),
    "cannon lake": SKYLAKE,
    **{f"{name} lake, big core": ("cougarcove", *SAME) for name in ("panther", "wildcat")},
    **{f"{name}, small core": ("skymont", *SAME) for name in ("panther lake", "wildcat lake", "arrow lake-h")},
    "clearwater forest": ("skymont", *SAME),
    "arrow lake-h, lp-e core": ("crestmont", *SAME),
    "bobcat": ("bobcat", *SAME),
    "airmont, braswell": ("airmont", *SAME),
    "kx-6640ma": ("zx-e", *SAME),
    "kx-6000": ("zx-e", *SAME),
    "subor z": ZEN_1,
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
