# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Processors whose CPUID is wrong, incomplete or not as the manuals have it: what is simulated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cpuid_facts import (
    Answer,
    Machine,
    dump_lines,
    parse_machine,
    read_processors,
    show,
)
from cpuid_made_up import (
    ALL,
    AMD,
    CODE,
    DATA,
    HYGON,
    INTEL,
    LOADS,
    MADE_UP,
    STORES,
    leaf_18,
    processor,
    zhaoxin,
)

PROCESSORS = read_processors()


def machine_of(folder: Path, answers: list[Answer]) -> Machine:
    dump = folder / "dump"
    dump.write_text(dump_lines(answers))
    return parse_machine(show(dump))


def arrays(machine: Machine) -> list[str]:
    return sorted(
        f"{a['level']} {a['users']} {a['pages']} {a.number('entries')}/{a.number('ways')}" for a in machine.arrays
    )


def notes(machine: Machine) -> str:
    return " | ".join(machine.head.get("note", []))


def file_of(machine: Machine) -> str | None:
    found = re.search(r"the machine file (\S+) (?:describes|is used)", notes(machine))
    return found[1] if found else None


COVE = [(LOADS, 1, 1, 4, 16), (LOADS, 1, 6, 4, 8), (STORES, 1, 15, 16, 1), (ALL, 2, 7, 8, 128)]


@pytest.mark.parametrize("model", [0x6A, 0x6C, 0x7D, 0x7E, 0xA7, 0x8A], ids=hex)
def test_sunny_cove_has_more_than_8_entries_for_code(tmp_path: Path, model: int) -> None:
    machine = machine_of(tmp_path, processor(INTEL, 6, model, *leaf_18((CODE, 1, 7, 8, 1), *COVE)))
    assert [row for row in arrays(machine) if "fetches" in row] == ["1 fetches 2M+4M 16/8", "1 fetches 4K 128/8"]
    assert "CPUID of this processor gives 8 entries to instructions" in notes(machine)
    assert file_of(machine) == "icelake"


@pytest.mark.parametrize("model", [0x8F, 0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xCF, 0xD7], ids=hex)
def test_golden_cove_has_96_entries_for_loads(tmp_path: Path, model: int) -> None:
    code = [(CODE, 1, 1, 8, 32), (CODE, 1, 6, 8, 4)]
    machine = machine_of(tmp_path, processor(INTEL, 6, model, *leaf_18(*code, *COVE)))
    assert "1 loads 4K 96/6" in arrays(machine) and "1 loads 4K 64/4" not in arrays(machine)
    assert "gives 64 entries, 4-way" in notes(machine) and file_of(machine) == "goldencove"


def test_another_model_with_such_values_is_believed(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, processor(INTEL, 6, 0x8C, *leaf_18((CODE, 1, 7, 8, 1), *COVE)))
    assert "1 fetches 4K+2M+4M 8/8" in arrays(machine) and "1 loads 4K 64/4" in arrays(machine)


@pytest.mark.parametrize(
    "name, model, leaf, first, second",
    [
        ("silvermont", 0x37, (0x61B3A001, 0x0000FFC2), 32, "2 loads+stores 4K+2M 16/4"),
        ("airmont", 0x4C, (0x61B4A001, 0x0000FFC2), 32, "2 loads+stores 4K+2M 16/4"),
        ("bonnell", 0x1C, (0x4FBA5901, 0x0E3080C0), 16, "2 loads+stores 4K+2M+4M 8/4"),
    ],
)
def test_descriptors_c0_and_c2_are_behind_the_first_level(
    tmp_path: Path, name: str, model: int, leaf: tuple[int, int], first: int, second: str
) -> None:
    """So the first level for data holds as many pages as measured: the first knee."""
    machine = machine_of(tmp_path, processor(INTEL, 6, model, (2, 0, *leaf, 0, 0)))
    level_1 = [a for a in machine.arrays if a["level"] == "1" and "loads" in a.users and "4K" in a.pages]
    assert sum(a.number("entries") for a in level_1) == first
    assert second in arrays(machine)
    assert file_of(machine) == name


ZHAOXIN = {
    "1 fetches 2M 32/4", "1 fetches 4K 96/6", "1 loads+stores 2M 32/4", "1 loads+stores 4K 96/6", "1 loads+stores 1G 4/4",
}  # fmt: skip


@pytest.mark.parametrize("name", ["kx-6640ma", "zx-e", "kx-6000", "kh-40000", "cns"])
def test_zhaoxin_has_its_first_levels_in_amds_leaf_and_the_rest_in_intels(tmp_path: Path, name: str) -> None:
    machine = machine_of(tmp_path, MADE_UP[name])
    assert set(arrays(machine)) == ZHAOXIN
    assert "default machine" not in notes(machine) and "in place of" not in machine.head["title"][0]


def test_kx_7000_has_ways_that_cannot_be(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, MADE_UP["kx-7000"])
    code = {"1 fetches 2M 8/4", "1 fetches 4K 16/16"}
    assert set(arrays(machine)) == {row for row in ZHAOXIN if "fetches" not in row} | code
    assert "CPUID gives 16 entries in 6 ways, which is no whole number of sets; full is assumed" in notes(machine)
    assert [a["ways"] for a in machine.arrays if a.number("entries") == 16] == ["unknown, assume full"]
    # Fetches depend on that array, so the machine is no better; the others are what CPUID says.
    assert machine.head["confidence"] == ["C"]
    of_arrays = {a.number("entries"): a.values.get("confidence") for a in machine.arrays}
    assert of_arrays == {16: None, 8: ["A"], 96: ["A"], 32: ["A"], 4: ["A"]}


def test_a_machine_whose_ways_can_be_is_of_confidence_a(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, MADE_UP["zx-e"])
    assert machine.head["confidence"] == ["A"]
    assert all("confidence" not in a.values for a in machine.arrays)


@pytest.mark.parametrize("vendor", ["  Shanghai  ", "CentaurHauls"])
def test_zhaoxin_with_a_second_level_in_leaf_2(tmp_path: Path, vendor: str) -> None:
    answers = [(2, 0, 0x00C10001, 0, 0, 0) if a[0] == 2 else a for a in zhaoxin(vendor, 7, 0x3B)]
    small = {row for row in ZHAOXIN if "1G" not in row}
    assert set(arrays(machine_of(tmp_path, answers))) == small | {"2 all 4K+2M 1024/8"}


@pytest.mark.parametrize("name", ["k6-2+", "k6-iii+"])
def test_k6_is_no_geode(tmp_path: Path, name: str) -> None:
    machine = machine_of(tmp_path, MADE_UP[name])
    assert arrays(machine) == ["1 fetches 4K 64/1", "1 loads+stores 4K 128/2"]
    assert file_of(machine) is None


@pytest.mark.parametrize("name", ["hygon 18h/10h", "phoenix 2"])
def test_a_second_level_of_2048_is_simulated_under_no_other_processors_name(tmp_path: Path, name: str) -> None:
    machine = machine_of(tmp_path, MADE_UP[name])
    second = [a for a in machine.arrays if a["level"] == "2" and "4K" in a.pages and "loads" in a.users]
    assert [(a.number("entries"), a.number("ways")) for a in second] == [(2048, 8)]
    assert file_of(machine) is None


def test_fetches_of_bobcat_ask_what_stands_on_the_second_level(tmp_path: Path) -> None:
    leaves = [(0x80000005, 0, 0xFF08FF08, 0xFF280000, 0, 0), (0x80000006, 0, 0, 0x42004200, 0, 0)]
    machine = machine_of(tmp_path, processor(AMD, 0x14, 1, *leaves))
    assert arrays(machine) == [
        "1 fetches 2M 8/8", "1 fetches 4K 512/4", "1 loads+stores 2M 8/8", "1 loads+stores 4K 40/40",
        "2 loads+stores 4K 512/4",
    ]  # fmt: skip
    assert file_of(machine) == "bobcat" and arrays(machine) == arrays(parse_machine(show("bobcat")))


# The arrays of the processors that some of the files are of.
OWN = {"zen1": "zen-1", "zen4": "zen-4", "zen5": "zen-5"}
ZEN = [(0x80000005, 0, 0xFF40FF40, 0xFF40FF40, 0, 0), (0x80000006, 0, 0x48002200, 0x68004200, 0, 0)]


@pytest.mark.parametrize(
    "vendor, family, model, file",
    [
        (AMD, 5, 0x0A, "geode-lx"), (AMD, 5, 0x0D, None), (AMD, 5, 0x08, None), (AMD, 5, 0x09, "k6-iii"),
        (AMD, 6, 0x08, None), (AMD, 6, 0x0A, "k7"), (AMD, 0x11, 0x03, "k8"), (AMD, 0x12, 0x01, "llano"),
        (AMD, 0x17, 0x50, "zen1"), (AMD, 0x17, 0x31, "zen2"), (AMD, 0x17, 0x60, "zen2"), (AMD, 0x17, 0x71, "zen2"),
        (HYGON, 0x18, 0x01, "zen1"), (HYGON, 0x18, 0x10, None),
        (AMD, 0x19, 0x74, "zen4"), (AMD, 0x19, 0x78, None), (AMD, 0x19, 0x7C, "zen4"),
        (AMD, 0x1A, 0x44, "zen5"), (AMD, 0x1A, 0x50, None), (AMD, 0x1A, 0x5F, None), (AMD, 0x1A, 0x70, "zen5"),
        (AMD, 0x17, 0x5F, "zen1"), (AMD, 0x17, 0x80, None), (AMD, 0x17, 0xA0, "zen2"), (HYGON, 0x18, 0x0F, "zen1"),
        (AMD, 0x19, 0x80, None), (AMD, 0x19, 0xA0, "zen4"), (AMD, 0x19, 0xB0, None),
        (AMD, 0x1A, 0x30, None), (AMD, 0x1A, 0x80, None), (AMD, 0x1A, 0xB0, None), (AMD, 0x1A, 0xD8, None),
        (AMD, 0x1A, 0x90, None), (AMD, 0x1A, 0xAF, None), (AMD, 0x1A, 0xC0, None), (AMD, 0x1A, 0xCF, None),
    ],
)  # fmt: skip
def test_only_a_file_of_this_very_processor_is_named(
    tmp_path: Path, vendor: str, family: int, model: int, file: str | None
) -> None:
    leaves = [a for a in PROCESSORS[OWN[file]] if a[0] > 0x80000004] if file in OWN else ZEN
    assert file_of(machine_of(tmp_path, processor(vendor, family, model, *leaves))) == file


@pytest.mark.parametrize(
    "model, kind, native, file",
    [
        (0x27, 0, 0, "bonnell"), (0x35, 0, 0, "bonnell"), (0x36, 0, 0, "bonnell"), (0x66, 0, 0, "skylake"),
        (0x55, 0, 0, "skylake"), (0x5E, 0, 0, "skylake"), (0x8E, 0, 0, "kabylake"), (0x9E, 0, 0, "kabylake"),
        (0xA5, 0, 0, "kabylake"), (0xA6, 0, 0, "kabylake"), (0x4C, 0, 0, "airmont"),
        (0x8A, 0x40, 0, "icelake"), (0x8A, 0x20, 0, "tremont"), (0xD5, 0x40, 0, "cougarcove"),
        (0xCC, 0x40, 0, "cougarcove"), (0xCC, 0x20, 3, "skymont"), (0xD5, 0x20, 3, "skymont"),
        (0xDD, 0x20, 3, "skymont"), (0xC5, 0x20, 3, "skymont"), (0xC5, 0x20, 2, "crestmont"),
    ],
)  # fmt: skip
def test_models_that_a_file_fits(tmp_path: Path, model: int, kind: int, native: int, file: str) -> None:
    hybrid: list[Answer] = [(7, 0, 0, 0, 0, 1 << 15), (0x1A, 0, kind << 24 | native, 0, 0, 0)] if kind else []
    both = leaf_18((CODE, 1, 7, 64, 1), (DATA, 1, 7, 32, 1), (ALL, 2, 7, 4, 512))
    if file == "icelake":
        both = leaf_18((CODE, 1, 7, 8, 1), *COVE)
    assert file_of(machine_of(tmp_path, processor(INTEL, 6, model, *both, *hybrid))) == file


@pytest.mark.parametrize("ways, file", [(6, "isaiah"), (8, None)])
def test_a_file_with_other_entries_is_not_named(tmp_path: Path, ways: int, file: str | None) -> None:
    """Isaiah has 96 entries in its file; some are told to have 128."""
    size = ways << 8 | 16 * ways
    leaf = (0x80000005, 0, 0x04200420, size << 16 | size, 0, 0)
    machine = machine_of(tmp_path, processor("CentaurHauls", 6, 0x0F, leaf))
    assert f"1 loads+stores 4K {16 * ways}/{ways}" in arrays(machine)
    assert file_of(machine) == file


@pytest.mark.parametrize("code, data", [(0x50, 0x5B), (0x51, 0x5C), (0x52, 0x5D)])
def test_ways_that_the_manual_does_not_give_are_assumed(tmp_path: Path, code: int, data: int) -> None:
    leaf = (2, 0, code << 24 | data << 16 | 1, 0, 0, 0)
    machine = machine_of(tmp_path, processor(INTEL, 15, 2, leaf))
    assert [a["ways"] for a in machine.arrays] == ["unknown, assume full", "unknown, assume full"]


def test_what_is_replaced_says_so_in_its_title(tmp_path: Path) -> None:
    machine = machine_of(tmp_path, processor(INTEL, 6, 0x01, (2, 0, 0x00FF0001, 0, 0, 0)))
    (title,) = machine.head["title"]
    assert title == "the default machine, the same on every computer, in place of GenuineIntel family 6 model 1 stepping 0"


def test_without_a_line_of_extended_leaves_there_are_none(tmp_path: Path) -> None:
    whole = processor(INTEL, 6, 0x0F, (2, 0, 0x05B0B101, 0x005657F0, 0, 0x2CB43049))
    machine = machine_of(tmp_path, [a for a in whole if a[0] < 0x80000000])
    assert len(machine.arrays) >= 6 and "cut off" not in notes(machine) and machine.head["isa"] == ["x86-32"]


def test_a_dump_that_somebody_cut_is_read_with_a_warning(tmp_path: Path) -> None:
    whole = processor(INTEL, 6, 0x8C, *leaf_18((CODE, 1, 7, 8, 16), *COVE))
    machine = machine_of(tmp_path, [a for a in whole if a[0] != 0x80000004])
    assert "the dump has no line for leaf 0x80000004, sub-leaf 0; it is cut off" in notes(machine)
    assert len(machine.arrays) == 5
