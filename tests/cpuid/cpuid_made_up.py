# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Dumps of processors whose CPUID is wrong, incomplete or not as the manuals have it.

They are made up of the register values that are known of each: Intel's and AMD's manuals, and what
InstLatx64's collection has of them.
"""

from __future__ import annotations

from cpuid_facts import Answer, read_processors

INTEL, AMD, HYGON = "GenuineIntel", "AuthenticAMD", "HygonGenuine"
LONG_MODE = 1 << 29


def version(family: int, model: int) -> int:
    """EAX of leaf 1."""
    extended = (family - 15) << 20 if family > 15 else 0
    return extended | (model >> 4) << 16 | min(family, 15) << 8 | (model & 15) << 4


def processor(vendor: str, family: int, model: int, *leaves: Answer, highest: int = 0x1A) -> list[Answer]:
    b, d, c = (int.from_bytes(vendor[i : i + 4].encode(), "little") for i in (0, 4, 8))
    said = {(leaf, subleaf) for leaf, subleaf, *_ in leaves}
    rest: list[Answer] = [
        (0, 0, highest, b, c, d),
        (1, 0, version(family, model), 0, 0, 0),
        (7, 0, 0, 0, 0, 0),
        (0x80000000, 0, 0x80000021, 0, 0, 0),
        (0x80000001, 0, 0, 0, 0, LONG_MODE),
        *((0x80000000 + i, 0, 0, 0, 0, 0) for i in (2, 3, 4, 5, 6, 0x19, 0x21)),
        (0x1A, 0, 0, 0, 0, 0),
    ]
    return sorted([*leaves, *(a for a in rest if a[:2] not in said)])


def leaf_18(*arrays: tuple[int, int, int, int, int]) -> list[Answer]:
    """Sub-leaves: type, level, page sizes as bits, ways, sets; two threads."""
    rows: list[Answer] = [(2, 0, 0x00FEFF01, 0, 0, 0), (0x18, 0, len(arrays), 0, 0, 0)]
    for i, (kind, level, pages, ways, sets) in enumerate(arrays, 1):
        full = 1 << 8 if sets == 1 else 0
        rows.append((0x18, i, 0, ways << 16 | pages, sets, kind | level << 5 | full | 1 << 14))
    return rows


DATA, CODE, ALL, LOADS, STORES = 1, 2, 3, 4, 5
COVE = [(LOADS, 1, 1, 4, 16), (LOADS, 1, 6, 4, 8), (STORES, 1, 15, 16, 1), (ALL, 2, 7, 8, 128)]


def as_model(answers: list[Answer], family: int, model: int, *more: Answer) -> list[Answer]:
    """The answers of its sister, under its own model; `more` replace those of the same leaf."""
    own = [(*a[:2], version(family, model), *a[3:]) if a[0] == 1 else a for a in answers]
    said = {a[:2] for a in more}
    return sorted([*more, *(a for a in own if a[:2] not in said)])


def hybrid(kind: int, native: int, *arrays: tuple[int, int, int, int, int]) -> list[Answer]:
    """Leaf 18H of one kind of core, 40H or 20H, and its native model."""
    return [*leaf_18(*arrays), (7, 0, 0, 0, 0, 1 << 15), (0x1A, 0, kind << 24 | native, 0, 0, 0)]


def zhaoxin(vendor: str, family: int, model: int, large: int = 0x04200420, small: int = 0x06600660) -> list[Answer]:
    """Leaf 2 has 5A and 63: 32 entries for 2M, which AMD's leaf has, too, and 4 for 1G."""
    leaves = [(2, 0, 0x635AF001, 0, 0, 0xFF), (0x80000005, 0, large, small, 0, 0)]
    return processor(vendor, family, model, *leaves, highest=0xD)


SILVERMONT = (2, 0, 0x61B3A001, 0x0000FFC2, 0, 0)
AIRMONT = (2, 0, 0x61B4A001, 0x0000FFC2, 0, 0)
BONNELL = (2, 0, 0x4FBA5901, 0x0E3080C0, 0, 0)
SHORT_MODE = (0x80000001, 0, 0, 0, 0, 0)
CRESTMONT = [(DATA, 1, 1, 48, 1), (CODE, 1, 1, 64, 1), (ALL, 2, 8, 8, 1), (ALL, 2, 3, 6, 512)]
SKYMONT = [(DATA, 1, 3, 48, 1), (CODE, 1, 1, 128, 1), (ALL, 2, 8, 8, 1), (ALL, 2, 3, 4, 1024)]
TREMONT = [(DATA, 1, 1, 48, 1), (CODE, 1, 1, 48, 1), (ALL, 2, 1, 4, 256), (ALL, 2, 6, 4, 16)]
COUGAR_COVE = [
    (CODE, 1, 1, 8, 32), (CODE, 1, 6, 8, 4), (LOADS, 1, 1, 8, 16), (LOADS, 1, 6, 4, 8), (LOADS, 1, 8, 8, 1),
    (STORES, 1, 15, 16, 1), (ALL, 2, 7, 8, 256), (ALL, 2, 9, 4, 256),
]  # fmt: skip
# Second levels of 2048 entries: 8 ways for 4K pages, 4 for 2M.
L2_OF_2048 = (0x80000006, 0, 0x48002200, 0x68004200, 0, 0)


def made_up() -> dict[str, list[Answer]]:
    known = read_processors()
    ice_lake, golden_cove, zen_1, zen_4 = (known[name] for name in ("ice-lake", "sapphire-rapids", "zen-1", "zen-4"))
    found = {
        "lakefield, small core": processor(INTEL, 6, 0x8A, *hybrid(0x20, 0, *TREMONT)),
        "lakefield, big core": as_model(ice_lake, 6, 0x8A, (7, 0, 0, 0, 0, 1 << 15), (0x1A, 0, 0x40 << 24, 0, 0, 0)),
        "silvermont, j1900": processor(INTEL, 6, 0x37, SILVERMONT),
        "airmont, braswell": processor(INTEL, 6, 0x4C, AIRMONT),
        "bonnell, diamondville": processor(INTEL, 6, 0x1C, BONNELL, SHORT_MODE),
        "bonnell, penwell": processor(INTEL, 6, 0x27, BONNELL, SHORT_MODE),
        "bonnell, cloverview": processor(INTEL, 6, 0x35, BONNELL, SHORT_MODE),
        "bonnell, cedarview": processor(INTEL, 6, 0x36, BONNELL),
        "cannon lake": as_model(known["skylake"], 6, 0x66),
        "panther lake, big core": processor(INTEL, 6, 0xCC, *hybrid(0x40, 3, *COUGAR_COVE)),
        "wildcat lake, big core": processor(INTEL, 6, 0xD5, *hybrid(0x40, 3, *COUGAR_COVE)),
        "panther lake, small core": processor(INTEL, 6, 0xCC, *hybrid(0x20, 3, *SKYMONT)),
        "wildcat lake, small core": processor(INTEL, 6, 0xD5, *hybrid(0x20, 3, *SKYMONT)),
        "clearwater forest": processor(INTEL, 6, 0xDD, *leaf_18(*SKYMONT)),
        "arrow lake-h, small core": processor(INTEL, 6, 0xC5, *hybrid(0x20, 3, *SKYMONT)),
        "arrow lake-h, lp-e core": processor(INTEL, 6, 0xC5, *hybrid(0x20, 2, *CRESTMONT)),
        "kx-6640ma": zhaoxin("CentaurHauls", 7, 0x3B),
        "zx-e": zhaoxin("CentaurHauls", 7, 0x3B),
        "kx-6000": zhaoxin("  Shanghai  ", 7, 0x3B),
        "kh-40000": zhaoxin("CentaurHauls", 7, 0x5B),
        "kx-7000": zhaoxin("CentaurHauls", 7, 0x6B, 0x04200408, 0x06600610),
        "cns": zhaoxin("CentaurHauls", 6, 0x47),
        "bobcat": processor(
            AMD, 0x14, 1, (0x80000005, 0, 0xFF08FF08, 0xFF280000, 0, 0), (0x80000006, 0, 0, 0x42004200, 0, 0)
        ),
        "k6-2+": processor(AMD, 5, 0x0D, (0x80000005, 0, 0, 0x02800140, 0, 0), highest=1),
        "k6-iii+": as_model(processor(AMD, 5, 0x0D, (0x80000005, 0, 0, 0x02800140, 0, 0), highest=1), 5, 0x0D),
        "subor z": as_model(zen_1, 0x17, 0x50),
        "hygon 18h/10h": as_model(known["dhyana"], 0x18, 0x10, L2_OF_2048),
        "phoenix 2": as_model(zen_4, 0x19, 0x78, L2_OF_2048),
    }  # fmt: skip
    for model in (0x6A, 0x6C, 0x7D, 0x7E, 0xA7):
        found[f"sunny cove, model {model:x}"] = as_model(ice_lake, 6, model)
    for model in (0x8F, 0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xCF, 0xD7):
        found[f"golden cove, model {model:x}"] = as_model(golden_cove, 6, model)
    for model in (0x50, 0x5F, 0x90, 0xAF, 0xC0, 0xCF):
        found[f"zen 6, model {model:x}"] = as_model(known["zen-5"], 0x1A, model)
    return found


MADE_UP = made_up()
