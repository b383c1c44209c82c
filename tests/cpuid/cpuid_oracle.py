# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What Debian's cpuid reads out of a dump, and what we read, field by field.

By hand, for dumps that are not part of the project:

    TLBGRIND=build/tlbgrind/tlbgrind TG_SRCDIR=. python3 tests/cpuid/cpuid_oracle.py DUMP...
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from cpuid_facts import Array, parse_machine, show

# The version whose faults are listed below.
VERSION = "20230120"

# A field of an array. Ways may be a range. What one side does not have is None.
Value = object
Fields = dict[str, Value]
# What is described: "descriptor c3, 2nd", "sub-leaf 4", "level 2 data 2M".
Facts = dict[str, Fields]

SIZES = {"4KB": "4K", "2MB": "2M", "4MB": "4M", "1GB": "1G"}
SIDES = {"instruction": {"fetches"}, "data": {"loads", "stores"}, "L2": {"fetches", "loads", "stores"}}
TYPES = {
    "data TLB": {"loads", "stores"},
    "instruction TLB": {"fetches"},
    "unified TLB": {"fetches", "loads", "stores"},
    "load-only TLB": {"loads"},
    "store-only TLB": {"stores"},
}


def version() -> str:
    done = subprocess.run(["cpuid", "--version"], check=True, capture_output=True, text=True)
    return done.stdout.split()[-1]


def oracle_text(dump: Path) -> str:
    done = subprocess.run(["cpuid", "-1", "-f", str(dump)], check=True, capture_output=True, text=True, errors="replace")
    return done.stdout


# ---------------------------------------------------------------- cpuid's words


def block(text: str, title: str) -> list[str]:
    """The indented lines below a title."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.strip().startswith(title):
            indent = len(line) - len(line.lstrip())
            end = i + 1
            while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
                end += 1
            return lines[i + 1 : end]
    return []


def values(lines: list[str]) -> dict[str, str]:
    return {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}


def number(value: str) -> int:
    return int(value.split()[0], 16)


def oracle_leaf_2(text: str) -> Facts:
    facts: Facts = {}
    descriptor = ""
    for line in block(text, "cache and TLB information (2):"):
        nth = ", 2nd"
        if found := re.match(r" *0x(..): ", line):
            descriptor, nth = found[1], ""
        tlb = re.search(r"(L1 )?(\w+) TLB: ([^,]*?)(?: pages)?,(?: (?:(\d+)-way|(fully)),)? ([\d/]+) entries", line)
        if tlb is None:
            assert "TLB" not in line or "leaf 0x18" in line, line
            continue
        first, side, pages, ways, fully, entries = tlb.groups()
        count = int(entries.split("/")[-1])
        facts[f"descriptor {descriptor}{nth}"] = {
            "users": SIDES[side],
            "pages": set(re.split("[ &/]+", pages)),
            "entries": count,
            # Mostly it does not say the level, and of some arrays not the ways.
            **({"level": 1 if first else 2} if first or side == "L2" else {}),
            **({"ways": count if fully else int(ways)} if fully or ways else {}),
        }
    return facts


def oracle_leaf_18(text: str) -> Facts:
    facts: Facts = {}
    for i in range(64):
        told = values(block(text, f"Deterministic Address Translation Parameters (0x18/{i}):"))
        if not told or told["translation cache type"].startswith("invalid"):
            continue
        entries = number(told["ways of associativity"]) * int(told["number of sets"].split()[0], 16)
        facts[f"sub-leaf {i}"] = {
            "level": number(told["translation cache level"]),
            "users": TYPES[told["translation cache type"]],
            "pages": {size for word, size in SIZES.items() if told[f"{word} page size entries supported"] == "true"},
            "entries": entries,
            "ways": entries if told["fully associative"] == "true" else number(told["ways of associativity"]),
            "threads": number(told["maximum number of addressible IDs"]),
        }
    return facts


AMD_BLOCKS = (
    ("L1 TLB/cache information: 4K pages & L1 TLB (0x80000005/ebx):", 1, "4K"),
    ("L1 TLB/cache information: 2M/4M pages & L1 TLB (0x80000005/eax):", 1, "2M"),
    ("L1 TLB information: 1G pages (0x80000019/eax):", 1, "1G"),
    ("L2 TLB/cache information: 4K pages & L2 TLB (0x80000006/ebx):", 2, "4K"),
    ("L2 TLB/cache information: 2M/4M pages & L2 TLB (0x80000006/eax):", 2, "2M"),
    ("L2 TLB information: 1G pages (0x80000019/ebx):", 2, "1G"),
)


def amd_ways(words: str, entries: int) -> tuple[int, int]:
    """The fewest and the most ways."""
    if found := re.match(r"(\d+) to (\d+)-way", words):
        return int(found[1]), int(found[2])
    if found := re.match(r"(\d+)-way", words):
        return int(found[1]), int(found[1])
    if words.startswith(("full", "0xff")):
        return entries, entries
    if words.startswith("direct"):
        return 1, 1
    return int(words.split()[0], 16), int(words.split()[0], 16)


def oracle_amd(text: str) -> Facts:
    facts: Facts = {}
    for title, level, size in AMD_BLOCKS:
        told = values(block(text, title))
        for side in ("instruction", "data"):
            off = "0x0 (0)", "L2 off (0)"
            if not told or told[f"{side} # entries"] in off or told[f"{side} associativity"] in off:
                continue
            entries = number(told[f"{side} # entries"])
            ways = amd_ways(told[f"{side} associativity"], entries)
            facts[f"level {level} {side} {size}"] = {"entries": entries, "ways": ways}
    return facts


# ---------------------------------------------------------------- our words


def is_amds(array: Array) -> bool:
    return re.match(r"CPUID leaf 800000(05|06|19)H", array["source"]) is not None


def our_arrays(arrays: Iterable[Array]) -> Facts:
    """Arrays that are told one by one: leaf 2 and leaf 18H."""
    facts: Facts = {}
    for array in arrays:
        found = re.match(r"CPUID leaf (?:2|18H), (descriptor ..|sub-leaf \d+)(?:, corrected)?$", array["source"])
        assert found is not None, array
        key = found[1] if found[1] not in facts else f"{found[1]}, 2nd"
        facts[key] = {
            "level": array.number("level"),
            "users": array.users,
            "pages": array.pages,
            "entries": array.number("entries"),
            "ways": array.number("ways"),
            "threads": 0 if array["threads"] == "unknown" else int(array["threads"].split()[0]),
        }
    return facts


def our_amd(arrays: Iterable[Array]) -> Facts:
    facts: Facts = {}
    for array in arrays:
        for side, user in (("instruction", "fetches"), ("data", "loads")):
            if user not in array.users:
                continue
            for size in array.pages:
                key = f"level {array['level']} {side} {size}"
                assert key not in facts
                facts[key] = {"entries": array.number("entries"), "ways": array.number("ways")}
    return facts


# ---------------------------------------------------------------- both


@dataclass(frozen=True)
class Difference:
    key: str
    field: str  # "" if one of both does not have it at all
    theirs: Value
    ours: Value
    our_facts: Facts

    def __str__(self) -> str:
        return f"{self.key} {self.field}: cpuid {self.theirs}, tlbgrind {self.ours}"


def compare(dump: Path) -> tuple[int, list[Difference]]:
    """How many fields were compared, and those that differ."""
    text = oracle_text(dump)
    machine = parse_machine(show(dump))
    if any(note.startswith("unknown: ") for note in machine.head.get("note", [])):
        machine.arrays.clear()
    amd = [array for array in machine.arrays if is_amds(array)]
    ours = our_arrays(array for array in machine.arrays if not is_amds(array))
    theirs = oracle_leaf_2(text) | oracle_leaf_18(text)
    if amd:
        # Zhaoxin's: what AMD's leaf has not, page size by page size.
        ours = {f"{key[:13]} {fields['pages']}": fields for key, fields in ours.items()}
        theirs = {f"{key[:13]} {fields['pages']}": fields for key, fields in theirs.items()}
        theirs = oracle_amd(text) | {key: fields for key, fields in theirs.items() if key in ours}
        ours |= our_amd(amd)
    differences = []
    fields = 0
    for key in sorted(theirs.keys() | ours.keys()):
        if key not in theirs or key not in ours:
            differences.append(Difference(key, "", theirs.get(key), ours.get(key), ours))
            fields += 1
            continue
        for field, value in theirs[key].items():
            fields += 1
            mine = ours[key][field]
            same = value[0] <= mine <= value[1] if isinstance(value, tuple) else value == mine
            if not same:
                differences.append(Difference(key, field, value, mine, ours))
    return fields, differences


def is_entries_times_32(d: Difference) -> bool:
    return (
        d.key.startswith("level 2") and d.field == "entries" and isinstance(d.theirs, int) and d.ours == d.theirs * 32
    )


def is_level_one_too_high(d: Difference) -> bool:
    return d.key.startswith("sub-leaf") and d.field == "level" and isinstance(d.ours, int) and d.theirs == d.ours + 1


def is_one_array(d: Difference) -> bool:
    """The ways of larger pages in an array that we take to be that of smaller ones."""
    place, size = d.key[:-2], d.key[-2:]
    smaller = {"2M": ["4K"], "1G": ["4K", "2M"]}.get(size, [])
    return (
        place.startswith("level 2")
        and d.field == "ways"
        and any(d.our_facts.get(place + other) == d.our_facts[d.key] for other in smaller)
    )


# What may differ, and why: first faults of cpuid, then what a processor's CPUID itself has wrong,
# then what we take for granted and cpuid has no place for.
KNOWN: dict[str, Callable[[Difference], bool]] = {
    "cpuid prints levels of leaf 18H one too high": is_level_one_too_high,
    "cpuid forgets the 1G half of descriptor C3": lambda d: (
        d.key == "descriptor c3, 2nd"
        and d.theirs is None
        and isinstance(d.ours, dict)
        and (d.ours["pages"], d.ours["entries"], d.ours["ways"]) == ({"1G"}, 16, 4)
    ),
    "cpuid calls descriptor 02 4-way": lambda d: (d.key, d.field, d.theirs, d.ours) == ("descriptor 02", "ways", 4, 2),
    "cpuid does not count by 32 on Zen 5": is_entries_times_32,
    "cpuid does not know AMD's unified form": lambda d: (
        d.key in ("level 2 data 4K", "level 2 data 2M")
        and d.theirs is None
        and d.ours is not None
        and d.ours == d.our_facts[d.key.replace("data", "instruction")]
    ),
    "family 15H denies its second level for instructions": lambda d: (
        d.key == "level 2 instruction 2M" and d.theirs is None and d.ours == {"entries": 1024, "ways": 8}
    ),
    "AMD's page sizes share one array": is_one_array,
    "arrays for 4M pages hold 2M in 64-bit programs": lambda d: (
        d.field == "pages" and isinstance(d.theirs, set) and "2M" not in d.theirs and d.ours == d.theirs | {"2M"}
    ),
    "a 4M page takes two entries of descriptor B1": lambda d: (
        (d.key, d.field, d.theirs, d.ours) == ("descriptor b1", "pages", {"2M", "4M"}, {"2M"})
    ),
    "leaf 18H of Golden Cove gives loads 64 entries, 4-way": lambda d: (
        (d.field, d.theirs, d.ours) in (("entries", 64, 96), ("ways", 4, 6))
        and isinstance(facts := d.our_facts[d.key], dict)
        and facts["users"] == {"loads"}
    ),
    "leaf 18H of Ice Lake gives instructions 8 entries": lambda d: (
        (d.key == "sub-leaf 1" and (d.field, d.theirs, d.ours) == ("entries", 8, 128))
        or (d.key == "sub-leaf 1" and d.field == "pages" and d.ours == {"4K"})
        or (d.key == "sub-leaf 1, 2nd" and isinstance(d.ours, dict) and d.ours["entries"] == 16)
    ),
    "Skylake's second level has 12 ways": lambda d: (d.key, d.field, d.theirs, d.ours) == ("descriptor c3", "ways", 6, 12),
    "Zen 1's second level for data has 6 ways": lambda d: (
        (d.key, d.field, d.theirs, d.ours) == ("level 2 data 4K", "ways", (8, 15), 6)
    ),
    "Zen's second levels have twice the ways that CPUID tells": lambda d: (
        d.field == "ways"
        and (d.key, d.theirs, d.ours)
        in (("level 2 data 4K", (8, 15), 16), ("level 2 data 4K", (8, 15), 24), ("level 2 instruction 4K", (4, 5), 8))
    ),
    "two threads share twice the entries for code": lambda d: (
        d.key in ("descriptor b5", "descriptor b2", "descriptor 55")
        and d.field in ("entries", "ways")
        and isinstance(d.theirs, int)
        and d.ours == 2 * d.theirs
    ),
    "descriptors 56 and 57 are for loads only": lambda d: (
        d.key in ("descriptor 56", "descriptor 57") and d.field == "users" and d.ours == {"loads"}
    ),
}


def reason(d: Difference) -> str | None:
    for words, holds in KNOWN.items():
        if holds(d):
            return words
    return None


def main() -> int:
    unexpected = 0
    for name in sys.argv[1:]:
        fields, differences = compare(Path(name))
        print(f"{name}: {fields} fields, {len(differences)} differ")
        for d in differences:
            words = reason(d)
            unexpected += words is None
            print(f"   {d}: {words or 'UNEXPECTED'}")
    print(f"unexpected: {unexpected}")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
