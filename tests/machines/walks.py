"""How the shipped processors walk page tables, written down a second time; see facts.py.

Who walks, the cycles of a walk, then each step as the logarithm of what an entry covers, and its
cache: its entries, ways and policy. A figure behind ? is assumed; - is unknown.
"""

X86_64 = """
    39 ?none
    30 ?none
    21 ?none
    12 none
"""
X86_32 = """
    22 ?none
    12 none
"""
ARM_16K = """
    36 ?none
    25 ?none
    14 none
"""
ARM_32 = """
    20 ?none
    12 none
"""
ARM_32_SECTIONS = """
    20 own 16 ?full ?lru
    12 none
"""
SV39 = """
    30 ?none
    21 ?none
    12 none
"""
ARM_64 = X86_64
PDPTE_4 = """
    39 ?none
    30 own 4 ?full ?lru
    21 ?none
    12 none
"""
PDC_64 = """
    39 own 64 ?full ?lru
    30 joined
    21 in-last-level
    12 none
"""
PDC_ALONE = """
    39 own 64 ?full ?lru
    30 joined
    21 ?none
    12 none
"""
TABLE_POINTERS = """
    39 ?none
    30 ?none
    21 own {}
    12 none
"""
A64FX = """
    42 own 16 full lru
    29 joined
    16 none
"""
ROCKET = """
    30 own 8 full plru
    21 joined
    12 none
"""
XIANGSHAN = """
    39 own 16 full plru
    30 own 16 full plru
    21 own 256 4 plru
    12 none
"""
CHAMPSIM = """
    48 own 2 full lru
    39 own 4 full lru
    30 own 8 4 lru
    21 own 32 8 lru
    12 none
"""

WALKS = {
    "a64fx": "hardware ?20..50" + A64FX,
    "airmont": "hardware 21" + X86_64,
    "ampereone": "hardware ?20..50" + ARM_64,
    "apple-m1": "hardware 33" + ARM_16K,
    "apple-m1-e": "hardware 29..30" + ARM_16K,
    "apple-m2": "hardware ?29..33" + ARM_16K,
    "apple-m2-e": "hardware ?29..33" + ARM_16K,
    "apple-m3": "hardware ?29..33" + ARM_16K,
    "apple-m3-e": "hardware ?29..33" + ARM_16K,
    "apple-m4": "hardware ?29..33" + ARM_16K,
    "apple-m4-e": "hardware ?29..33" + ARM_16K,
    "bobcat": "hardware ?26..32" + X86_64,
    "bonnell": "hardware 23" + X86_64,
    "boom": "hardware ?20..50" + ROCKET,
    "broadwell": "hardware ?16..30" + X86_64,
    "bulldozer": "hardware ?34..37" + X86_64,
    "c1-ultra": "hardware ?20..50" + ARM_64,
    "c906": "hardware ?20" + SV39.replace("?none", "none"),
    "c910": "hardware ?20..50" + SV39,
    "champsim": "hardware ?13..33" + CHAMPSIM,
    "core-duo-t2600": "hardware 19" + X86_32,
    "core2": "hardware 7..9" + X86_64,
    "cortex-a15": "hardware 22" + ARM_32_SECTIONS,
    "cortex-a17": "hardware ?22" + ARM_32,
    "cortex-a35": "hardware ?20" + ARM_64,
    "cortex-a5": "hardware ?20" + ARM_32,
    "cortex-a510": "hardware ?20" + ARM_64,
    "cortex-a53": "hardware 20" + TABLE_POINTERS.format("64 4 ?lru"),
    "cortex-a55": "hardware ?20" + TABLE_POINTERS.format("64 4 ?lru"),
    "cortex-a57": "hardware ?33..50" + ARM_64,
    "cortex-a7": "hardware ?20" + ARM_32,
    "cortex-a710": "hardware ?20..50" + ARM_64,
    "cortex-a72": "hardware ?20..50" + ARM_64,
    "cortex-a725": "hardware ?20..50" + ARM_64,
    "cortex-a73": "hardware ?20..50" + ARM_64,
    "cortex-a76": "hardware ?20..50" + ARM_64,
    "cortex-a8": "hardware ?20" + ARM_32,
    "cortex-a9": "hardware 14" + ARM_32,
    "cortex-x1": "hardware ?20..50" + ARM_64,
    "cortex-x2": "hardware ?20..50" + ARM_64,
    "cortex-x3": "hardware ?20..50" + ARM_64,
    "cortex-x925": "hardware ?20..50" + ARM_64,
    "cougarcove": "hardware ?16..30" + X86_64,
    "crestmont": "hardware ?23..24" + X86_64,
    "cuzco": "hardware ?20..50" + SV39,
    "cva6": "hardware ?20" + SV39.replace("?none", "none"),
    "emag": "hardware ?20..50" + ARM_64,
    "falkor": "hardware ?20..50" + TABLE_POINTERS.format("64 ?full ?lru"),
    "geode-lx": "hardware 8" + X86_32.replace("?none", "own 12 ?full ?lru"),
    "goldencove": "hardware ?16..30" + X86_64,
    "goldmont": "hardware ?23..24" + X86_64,
    "goldmont-plus": "hardware ?23..24" + X86_64,
    "gracemont": "hardware ?23..24" + X86_64,
    "gs464e": "software -",
    "haswell": "hardware 16..20" + X86_64,
    "icelake": "hardware ?16..30" + X86_64,
    "isaiah": "hardware 12" + X86_64,
    "ivybridge": "hardware ?16..30" + PDPTE_4,
    "jaguar": "hardware 26..32" + TABLE_POINTERS.format("16 ?full ?lru"),
    "k10": "hardware 18..20" + X86_64,
    "k6-iii": "hardware ?19..36" + X86_32,
    "k7": "hardware ?34..37" + X86_32,
    "k8": "hardware 36" + X86_64,
    "kabylake": "hardware ?16..30" + X86_64,
    "knl": "hardware 20" + X86_64,
    "kx-7000": "hardware 20" + X86_64,
    "la464": "software -",
    "la664": "hardware ?20..50" + ARM_16K,
    "lioncove": "hardware ?16..30" + X86_64,
    "llano": "hardware ?18..20" + X86_64,
    "nehalem": "hardware ?16..30" + PDPTE_4,
    "neoverse-n1": "hardware ?20..50" + ARM_64,
    "neoverse-n2": "hardware ?20..50" + ARM_64,
    "neoverse-n3": "hardware ?20..50" + ARM_64,
    "neoverse-v1": "hardware ?20..50" + ARM_64,
    "neoverse-v2": "hardware ?20..50" + ARM_64,
    "neoverse-v3": "hardware ?20..50" + ARM_64,
    "oryon": "hardware 50..68" + ARM_64,
    "oryon-gen3": "hardware ?50..68" + ARM_64,
    "p550": "hardware -",
    "p6": "hardware ?19" + X86_32,
    "p870": "hardware ?20..50" + SV39,
    "pentium4": "hardware 36" + X86_32,
    "piledriver": "hardware ?34..37" + X86_64,
    "power10": "hardware -",
    "power11": "hardware -",
    "power4": "hardware -",
    "power7": "hardware -",
    "power8": "hardware -",
    "power9": "hardware -",
    "ppc970": "hardware 563",
    "redwoodcove": "hardware ?16..30" + X86_64,
    "rocket": "hardware ?20" + ROCKET,
    "sandybridge": "hardware ?16..30" + PDPTE_4,
    "silvermont": "hardware 24" + X86_64,
    "skylake": "hardware ?16..30" + X86_64,
    "skymont": "hardware ?23..24" + X86_64,
    "taishan-v110": "hardware ?20..50" + ARM_64,
    "tigerlake": "hardware ?16..30" + X86_64,
    "tremont": "hardware ?23..24" + X86_64,
    "u54": "hardware ?20" + SV39,
    "u74": "hardware ?20" + SV39,
    "ultrasparc-ii": "software -",
    "ultrasparc-iii": "software -",
    "ultrasparc-iv-plus": "software -",
    "ultrasparc-t1": "software -",
    "ultrasparc-t2": "hardware -",
    "x280": "hardware ?20" + SV39,
    "xiangshan": "hardware ?20..50" + XIANGSHAN,
    "zen1": "hardware ?16..50" + PDC_ALONE,
    "zen2": "hardware ?16..50" + PDC_64,
    "zen3": "hardware ?16..50" + PDC_64,
    "zen4": "hardware ?16..50" + PDC_64,
    "zen5": "hardware ?16..50" + PDC_64,
    "zx-e": "hardware 12" + X86_64,
}
