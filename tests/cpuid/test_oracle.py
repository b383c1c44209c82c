# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""CPUID read by us and by Debian's cpuid: the same but for what is listed, and all of that occurs."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from cpuid_facts import Answer, dump_lines, read_processors
from cpuid_oracle import KNOWN, VERSION, compare, reason, version

PROCESSORS = read_processors()


@pytest.mark.parametrize("processor", PROCESSORS)
def test_debians_cpuid_reads_the_same_arrays(processor: str, tmp_path: Path) -> None:
    dump = tmp_path / processor
    dump.write_text(dump_lines(PROCESSORS[processor]))
    fields, differences = compare(dump)
    assert fields >= 4
    assert [str(d) for d in differences if reason(d) is None] == []


def answers_of(vendor: str, family: int, *leaves: Answer) -> list[Answer]:
    b, d, c = (int.from_bytes(vendor[i : i + 4].encode(), "little") for i in (0, 4, 8))
    return [
        (0x00000000, 0, 0x18, b, c, d),
        (0x00000001, 0, family, 0, 0, 0),
        (0x00000007, 0, 0, 0, 0, 0),
        (0x80000000, 0, 0x80000019, b, c, d),
        *((0x80000001 + i, 0, 0, 0, 0, 0) for i in range(4)),
        *leaves,
    ]


def unexpected(dump: Path, answers: list[Answer]) -> list[str]:
    dump.write_text(dump_lines(answers))
    return [str(d) for d in compare(dump)[1] if reason(d) is None]


def test_each_descriptor_is_read_as_by_debians_cpuid(tmp_path: Path) -> None:
    """Each byte of leaf 2 beside three arrays that any other can stand with."""
    itanium = []
    for byte in range(255):
        if byte == 0xFE:
            continue
        answers = answers_of("GenuineIntel", 0x6F0, (2, 0, 0x03570101, byte, 0, 0))
        found = unexpected(tmp_path / f"{byte:02x}", answers)
        if "4K-256M" in str(found):
            itanium.append(byte)
        else:
            assert found == []
    # Pages of Itanium, which is no x86.
    assert itanium == [0x90, 0x96, 0x9B]


def test_sub_leaves_of_leaf_18h_are_read_as_by_debians_cpuid(tmp_path: Path) -> None:
    """Any array that leaf 18H can tell, beside one for each side."""
    dice = random.Random(18)
    for i in range(150):
        ways, sets = dice.randint(1, 64), dice.choice([1, 2, 5, 64, 384, 1024])
        level = dice.choice([1, 2])
        full = sets == 1 and dice.random() < 0.5
        answers = answers_of(
            "GenuineIntel",
            0x610,
            (2, 0, 0x00FEFF01, 0, 0, 0),
            (0x18, 0, 3, 0, 0, 0),
            (0x18, 1, 0, 0x00040001, 16, 0x22),
            (0x18, 2, 0, 0x00040001, 16, 0x21),
            (
                0x18,
                3,
                0,
                ways << 16 | dice.randint(1, 15),
                sets,
                dice.randint(1, 5) | level << 5 | full << 8 | dice.randint(0, 100) << 14,
            ),
        )
        assert unexpected(tmp_path / str(i), answers) == []


def test_amds_leaves_are_read_as_by_debians_cpuid(tmp_path: Path) -> None:
    """Any size and associativity that AMD's leaves can tell."""
    dice = random.Random(6)
    codes = {0: 4, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 16, 10: 32, 11: 48, 12: 64, 13: 96, 15: 1}

    def plain() -> int:
        ways = dice.choice([1, 2, 4, 8, 255])
        return ways << 8 | dice.randint(1, 30) * 8

    def coded() -> int:
        code = dice.choice(list(codes))
        return code << 12 | (codes[code] << dice.randint(0, 5)) & 0xFFF

    def both(half: Callable[[], int]) -> int:
        return half() << 16 | half()

    for i in range(150):
        answers = answers_of(
            "AuthenticAMD",
            0x800F00,
            (0x80000005, 0, both(plain), both(plain), 0, 0),
            (0x80000006, 0, both(coded), both(coded), 0, 0),
            (0x80000019, 0, both(coded), both(coded), 0, 0),
        )
        assert unexpected(tmp_path / str(i), answers) == []


def test_each_known_difference_occurs(tmp_path: Path) -> None:
    """In the version that they were found in; later ones may have mended their faults."""
    seen: dict[str | None, list[str]] = {}
    for name, answers in PROCESSORS.items():
        dump = tmp_path / name
        dump.write_text(dump_lines(answers))
        for d in compare(dump)[1]:
            seen.setdefault(reason(d), []).append(f"{name}: {d}")
    assert None not in seen
    missing = [words for words in KNOWN if words not in seen]
    if version() != VERSION:
        missing = [words for words in missing if not words.startswith("cpuid ")]
    assert missing == []


def test_a_wrong_machine_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: a byte that is changed behind cpuid's back makes a difference."""
    import cpuid_oracle

    for name, leaf, old, new in (
        ("skylake", 2, 0xB5, 0xB0),
        ("gracemont", 0x18, 0x00400001, 0x00300001),
        ("zen-3", 0x80000006, 0x68004200, 0x68004400),
    ):
        dump, other = tmp_path / name, tmp_path / f"{name}-other"
        text = dump_lines(PROCESSORS[name])
        dump.write_text(text)
        good = f"{old:02x}" if old < 256 else f"{old:08x}"
        bad = f"{new:02x}" if new < 256 else f"{new:08x}"
        lines = [
            line.replace(good, bad) if line.startswith(f"   0x{leaf:08x}") else line for line in text.splitlines()
        ]
        assert lines != text.splitlines()
        other.write_text("\n".join(lines) + "\n")
        with monkeypatch.context() as patch:
            theirs = cpuid_oracle.oracle_text(dump)
            patch.setattr(cpuid_oracle, "oracle_text", lambda _, theirs=theirs: theirs)
            assert [d for d in compare(other)[1] if reason(d) is None] != []
