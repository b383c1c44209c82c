"""What is known of the processors that are shipped, written down a second time.

Not made from the machine files, but for checking them: from vendors' documents, CPUID, RTL and
measurements, as docs/machines.md lists them. One line for each array: level, users, entries, ways,
page sizes, replacement policy, cycles of a hit, a figure or a range (- where they are unknown).
A figure behind ? is assumed, and a ? alone is an assumption that is as good as any other.

Where CPUID tells the same number of entries for several page sizes of AMD's second levels, they are
one array, with the ways of the smallest pages.
"""

FACTS = {
    "a64fx": """
        1 fetches 16 full ? fifo 0
        1 loads+stores 16 full ? fifo 0
        2 fetches 1024 4 ? lru -
        2 loads+stores 1024 4 ? lru -
    """,
    "airmont": """
        1 fetches 48 full 4K ? 0
        1 loads+stores 32 full 4K ? 0
        2 loads+stores 256 4 4K ? 7
        2 loads+stores 16 4 4K+2M ? 7
    """,
    "ampereone": """
        1 fetches 64 4 4K+16K+64K+2M+32M+512M+1G ? 0
        1 loads+stores 64 full 4K+16K+64K+2M+32M+512M+1G ? 0
        2 fetches 768 6 4K+16K+64K+2M+32M+512M+1G ? ?5..6
        2 loads+stores 1536 6 4K+16K+64K+2M+32M+512M+1G ? ?5..6
    """,
    "apple-m1": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 160 5 16K ? 0
        2 all 3072 12 16K ? 6
    """,
    "apple-m1-e": """
        1 fetches 128 ? 16K ? 0
        1 loads+stores 128 4 16K ? 0
        2 all 1024 4 16K ? 7
    """,
    "apple-m2": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 256 ? 16K ? 0
        2 all 3072 ? 16K ? ?6..7
    """,
    "apple-m2-e": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 192 ? 16K ? 0
        2 all 2048 ? 16K ? ?6..7
    """,
    "apple-m3": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 160 ? 16K ? 0
        2 all 3072 ? 16K ? ?6..7
    """,
    "apple-m3-e": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 192 ? 16K ? 0
        2 all 2048 ? 16K ? ?6..7
    """,
    "apple-m4": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 160 ? 16K ? 0
        2 all 3072 ? 16K ? 6
    """,
    "apple-m4-e": """
        1 fetches 192 ? 16K ? 0
        1 loads+stores 192 ? 16K ? 0
        2 all 2048 ? 16K ? ?6..7
    """,
    "bobcat": """
        1 fetches 512 4 4K ? 0
        1 fetches 8 full 2M ? 0
        1 loads+stores 40 full 4K ? 0
        1 loads+stores 8 full 2M ? 0
        2 loads+stores 512 4 4K ? ?6
    """,
    "bonnell": """
        1 loads+stores 16 full 4K ? 0
        2 loads+stores 64 4 4K ? 6
        1 fetches 32 ? 4K ? 0
        2 loads+stores 8 4 4K+2M+4M ? 6
    """,
    "boom": """
        1 fetches 32 full 4K plru 0
        1 fetches 4 full 2M+1G plru 0
        1 loads+stores 32 full 4K plru 0
        1 loads+stores 4 full 2M+1G plru 0
        2 all 512 1 4K lru -
    """,
    "broadwell": """
        1 fetches 128 8 4K ? 0
        1 fetches 8 full 2M+4M ? 0
        1 loads+stores 64 4 4K ? 0
        1 loads+stores 32 4 2M+4M ? 0
        1 loads+stores 4 4 1G ? 0
        2 all 1536 6 4K+2M ? 8
        2 all 16 4 1G ? 8
    """,
    "bulldozer": """
        1 fetches 48 full 4K ? 0
        1 fetches 24 full 2M+1G ? 0
        1 loads+stores 32 full 4K+2M+1G ? 0
        2 fetches 512 4 4K ? -
        2 fetches 1024 8 2M ? -
        2 loads+stores 1024 8 4K+2M+1G ? 21
    """,
    "c1-ultra": """
        1 fetches 128 full 4K+16K+64K+2M ? 0
        1 loads+stores 96 full 4K+16K+64K+2M+512M ? 0
        2 all 2048 8 ? ? ?6
    """,
    "c906": """
        1 fetches 10 full 4K+2M+1G ? 0
        1 loads+stores 10 full 4K+2M+1G ? 0
        2 all 128 2 4K+2M+1G fifo ?3
    """,
    "c910": """
        1 fetches 32 full 4K+2M+1G plru 0
        1 loads+stores 16 full 4K+2M+1G plru 0
        1 loads+stores 1 full 2M+1G lru 0
        2 all 1024 4 4K+2M+1G ? 3
    """,
    "champsim": """
        1 fetches 64 4 4K lru 0
        1 loads+stores 64 4 4K lru 0
        2 all 1536 12 4K lru -
    """,
    "core-duo-t2600": """
        1 fetches 128 4 4K ? 0
        1 fetches 2 full 4M ? 0
        1 loads+stores 128 4 4K ? 0
        1 loads+stores 8 4 4M ? 0
    """,
    "core2": """
        1 fetches 128 4 4K ? 0
        1 fetches 8 4 2M ? 0
        1 loads 16 4 4K ? 0
        1 loads 16 4 2M+4M ? 0
        2 loads+stores 256 4 4K ? 2
        2 loads+stores 32 4 2M+4M ? 2
    """,
    "cortex-a15": """
        1 fetches 32 full 4K ? 0
        1 loads 32 full 4K ? 0
        1 stores 32 full 4K ? 0
        2 all 512 4 4K+64K+1M+2M+16M+1G ? 12
    """,
    "cortex-a17": """
        1 fetches ?32 full 4K+1M ? 0
        1 loads+stores 32 full 4K+1M ? 0
        2 all 1024 4 4K+64K+1M+2M+16M+1G ? ?12
    """,
    "cortex-a35": """
        1 fetches 10 ? ? ? 0
        1 loads+stores 10 ? ? ? 0
        2 all 512 2 4K+64K+1M+2M+16M+512M ? ?2
    """,
    "cortex-a5": """
        1 fetches 10 ? ? ? 0
        1 loads+stores 10 ? ? ? 0
        2 all 128 2 ? ? -
    """,
    "cortex-a510": """
        1 fetches 16 full ? ? 0
        1 loads+stores 16 full ? ? 0
        2 all 2048 8 ? ? 3..5
    """,
    "cortex-a53": """
        1 fetches 10 full ? ? 0
        1 loads+stores 10 full 4K ? 0
        2 all 512 4 4K+64K+1M+2M+16M+512M ? 2
    """,
    "cortex-a55": """
        1 fetches 15 full ? ? 0
        1 loads+stores 16 full ? ? 0
        2 all 1024 4 ? ? ?2
    """,
    "cortex-a57": """
        1 fetches 48 full 4K+64K+1M ? 0
        1 loads+stores 32 full 4K+64K+1M ? 0
        2 all 1024 4 4K+64K+1M+2M+16M+512M+1G ? ?20
    """,
    "cortex-a7": """
        1 fetches 10 ? ? ? 0
        1 loads+stores 10 ? ? ? 0
        2 all 256 2 4K+64K+1M+2M+16M+1G ? ?2
    """,
    "cortex-a710": """
        1 fetches ?32 ?full ? ? 0
        1 loads+stores 32 full ? ? 0
        2 all 1024 4 ? ? 5
    """,
    "cortex-a72": """
        1 fetches 48 full 4K+64K+1M ? 0
        1 loads+stores 32 full 4K+64K+1M ? 0
        2 all 1024 4 4K+64K+1M+2M+16M+512M+1G ? 7
    """,
    "cortex-a725": """
        1 fetches 32 full ? ? 0
        1 loads+stores 48 full ? ? 0
        2 all 1536 6 ? ? 5
    """,
    "cortex-a73": """
        1 fetches ?32 ?full ? ? 0
        1 loads+stores 48 full ? ? 0
        2 all 1024 4 ? ? ?7
    """,
    "cortex-a76": """
        1 fetches 48 full 4K+16K+64K+2M+32M ? 0
        1 loads+stores 48 full 4K+16K+64K+2M+512M ? 0
        2 all 1280 5 4K+16K+64K+2M+32M+512M+1G ? 3
    """,
    "cortex-a8": """
        1 fetches 32 full 4K+64K+1M+16M ? 0
        1 loads+stores 32 full 4K+64K+1M+16M ? 0
    """,
    "cortex-a9": """
        1 fetches ?32 ? ? ? 0
        1 loads+stores 32 ? ? ? 0
        2 all ?128 2 ? ? 7
    """,
    "cortex-x1": """
        1 fetches ?48 ?full ? ? 0
        1 loads+stores ?40 ?full ? ? 0
        2 all 2048 ?8 ? ? ?5..6
    """,
    "cortex-x2": """
        1 fetches ?48 ?full ? ? 0
        1 loads+stores 48 full ? ? 0
        2 all 2048 8 ? ? 5
    """,
    "cortex-x3": """
        1 fetches ?48 ?full ? ? 0
        1 loads+stores 48 ?full ? ? 0
        2 all ?2048 ?8 ? ? ?5..6
    """,
    "cortex-x925": """
        1 fetches 128 full 4K+16K+64K+2M ? 0
        1 loads+stores 96 full 4K+16K+64K+2M+512M ? 0
        2 all 2048 8 4K+16K+64K+2M+32M+512M+1G ? 6
    """,
    "cougarcove": """
        1 fetches 256 8 4K ? 0
        1 fetches 32 8 2M+4M ? 0
        1 loads 128 8 4K ? 0
        1 loads 32 4 2M+4M ? 0
        1 loads 8 full 1G ? 0
        1 stores 16 full 4K+2M+4M+1G ? 0
        2 all 2048 8 4K+2M+4M ? 7
        2 all 1024 4 4K+1G ? 7
    """,
    "crestmont": """
        1 loads+stores 48 full 4K ? 0
        1 fetches 64 full 4K ? 0
        2 all 3072 6 4K+2M ? 9
        2 all 8 full 1G ? 9
    """,
    "cuzco": """
        1 fetches 64 full ? ? 0
        1 loads+stores 64 ? ? ? 0
        2 all ?1024 4 ? ? -
    """,
    "cva6": """
        1 fetches 16 full 4K+2M+1G plru 0
        1 loads+stores 16 full 4K+2M+1G plru 0
    """,
    "emag": """
        1 fetches 48 ? ? ? 0
        1 loads+stores 48 ? ? ? 0
        2 all 512 ? ? ? 6
    """,
    "falkor": """
        1 fetches ?64 ?full ? ? 0
        1 loads+stores 64 full ? ? 0
        2 all 512 ? ? ? 2
    """,
    "geode-lx": """
        1 fetches 16 full 4K ? 0
        1 loads+stores 16 full 4K ? 0
        2 all 64 2 4K ? 3
        2 all 4 full 4M ? 3
    """,
    "goldencove": """
        1 fetches 256 8 4K ? 0
        1 fetches 32 8 2M+4M ? 0
        1 loads 96 6 4K ? 0
        1 loads 32 4 2M+4M ? 0
        1 loads 8 full 1G ? 0
        1 stores 16 full 4K+2M+4M+1G ? 0
        2 all 1024 8 4K+2M+4M ? 7
        2 all 1024 8 4K+1G ? 7
    """,
    "goldmont": """
        1 fetches 48 full 4K ? 0
        1 loads+stores 32 full 4K ? 0
        2 loads+stores 512 4 4K ? 7
        2 loads+stores 32 4 2M+4M ? ?7
    """,
    "goldmont-plus": """
        1 loads+stores 32 full 4K ? 0
        1 fetches 48 full 4K ? 0
        2 all 512 4 4K ? 8
        2 all 32 4 2M+4M ? 8
    """,
    "gracemont": """
        1 loads+stores 48 full 4K ? 0
        1 fetches 64 full 4K ? 0
        2 all 2048 4 4K+2M ? 9
        2 all 8 full 1G ? 9
    """,
    "gs464e": """
        1 fetches 64 ? ? ? 0
        1 loads+stores ?32 ?full ? ? 0
        2 all 1024 8 ? ? -
        2 all 64 full ? ? -
    """,
    "haswell": """
        1 fetches 128 8 4K plru 0
        1 fetches 8 full 2M+4M ? 0
        1 loads+stores 64 4 4K plru 0
        1 loads+stores 32 4 2M+4M ? 0
        1 loads+stores 4 4 1G ? 0
        2 all 1024 8 4K+2M plru 8
    """,
    "icelake": """
        1 fetches 128 8 4K ? 0
        1 fetches 16 8 2M+4M ? 0
        1 loads 64 4 4K ? 0
        1 loads 32 4 2M+4M ? 0
        1 loads 8 full 1G ? 0
        1 stores 16 full 4K+2M+4M+1G ? 0
        2 all 1024 8 4K+2M+4M ? 7
        2 all 1024 8 4K+1G ? 7
    """,
    "isaiah": """
        1 fetches 96 6 4K ? 0
        1 fetches 32 4 2M ? 0
        1 loads+stores 96 6 4K ? 0
        1 loads+stores 32 4 2M ? 0
    """,
    "ivybridge": """
        1 fetches 128 4 4K plru 0
        1 fetches 8 full 2M+4M ? 0
        1 loads+stores 64 4 4K plru 0
        1 loads+stores 32 4 2M+4M ? 0
        1 loads+stores 4 4 1G ? 0
        2 all 512 4 4K plru 7
    """,
    "jaguar": """
        1 fetches 32 full 4K ? 0
        1 fetches 8 full 2M ? 0
        1 loads+stores 40 full 4K ? 0
        1 loads+stores 8 full 2M ? 0
        2 fetches 512 4 4K ? -
        2 loads+stores 512 4 4K ? 6
        2 loads+stores 256 2 2M ? 6
    """,
    "k10": """
        1 fetches 32 full 4K ? 0
        1 fetches 16 full 2M ? 0
        1 loads+stores 48 full 4K+2M+1G ? 0
        2 fetches 512 4 4K ? -
        2 loads+stores 512 4 4K ? 1..3
        2 loads+stores 128 2 2M ? ?1..3
        2 loads+stores 16 8 1G ? ?1..3
    """,
    "k6-iii": """
        1 fetches 64 1 4K lru 0
        1 loads+stores 128 2 4K ? 0
    """,
    "k7": """
        1 fetches 16 full 4K ? 0
        1 fetches 8 full 2M ? 0
        1 loads+stores 32 full 4K ? 0
        1 loads+stores 8 4 2M ? 0
        2 fetches 256 4 4K ? -
        2 loads+stores 256 4 4K ? ?1..3
    """,
    "k8": """
        1 fetches 32 full 4K ? 0
        1 fetches 8 full 2M ? 0
        1 loads+stores 32 full 4K ? 0
        1 loads+stores 8 full 2M ? 0
        2 fetches 512 4 4K ? 1..3
        2 loads+stores 512 4 4K ? 1..3
    """,
    "kabylake": """
        1 fetches 128 8 4K plru 0
        1 fetches 8 full 2M+4M ? 0
        1 loads+stores 64 4 4K plru 0
        1 loads+stores 32 4 2M+4M ? 0
        1 loads+stores 4 4 1G ? 0
        2 all 1536 12 4K+2M (mru+1)%3-plru4 9
        2 all 16 4 1G ? 9
    """,
    "knl": """
        1 loads+stores 64 8 4K ? 0
        2 loads+stores 256 8 4K ? 6
        2 loads+stores 128 8 2M+4M ? 6
        2 loads+stores 16 full 1G ? -
        1 fetches 48 full 4K ? 0
    """,
    "kx-7000": """
        1 fetches ?16 ?full 4K ? 0
        1 fetches 8 4 2M ? 0
        1 loads+stores 96 6 4K ? 0
        1 loads+stores 32 4 2M ? 0
        1 loads+stores 4 4 1G ? 0
    """,
    "la464": """
        1 fetches ?64 ?full ? ? 0
        1 loads+stores ?32 ?full ? ? 0
        2 all 2048 8 16K ? -
        2 all 64 full ? ? -
    """,
    "la664": """
        1 fetches ?64 ?full ? ? 0
        1 loads+stores ?32 ?full ? ? 0
        2 all 2048 8 16K ? -
        2 all 64 full ? ? -
    """,
    "lioncove": """
        1 fetches 256 8 4K ? 0
        1 fetches 32 8 2M+4M ? 0
        1 loads 128 8 4K ? 0
        1 loads 32 4 2M+4M ? 0
        1 loads 8 full 1G ? 0
        1 stores 16 full 4K+2M+4M+1G ? 0
        2 all 1024 8 4K+2M+4M ? 7
        2 all 1024 8 4K+1G ? 7
    """,
    "llano": """
        1 fetches 32 full 4K ? 0
        1 fetches 16 full 2M ? 0
        1 loads+stores 48 full 4K+2M+1G ? 0
        2 fetches 512 4 4K ? -
        2 loads+stores 1024 4 4K ? ?1..3
        2 loads+stores 128 2 2M ? ?1..3
        2 loads+stores 16 8 1G ? ?1..3
    """,
    "nehalem": """
        1 fetches 128 4 4K ? 0
        1 fetches 14 full 2M+4M ? 0
        1 loads+stores 64 4 4K ? 0
        1 loads+stores 32 4 2M+4M ? 0
        2 all 512 4 4K ? ?7
    """,
    "neoverse-n1": """
        1 fetches 48 full 4K+16K+64K+2M+32M ? 0
        1 loads+stores 48 full 4K+16K+64K+2M+512M ? 0
        2 all 1280 5 4K+16K+64K+2M+32M+512M+1G ? 5
    """,
    "neoverse-n2": """
        1 fetches ?48 ?full ? ? 0
        1 loads+stores 44 full ? ? 0
        2 all 1280 5 ? ? ?5
    """,
    "neoverse-n3": """
        1 fetches 32 full 4K+16K+64K+2M ? 0
        1 loads+stores 48 full 4K+16K+64K+2M ? 0
        2 all 1536 6 ? ? ?5
        2 all 256 4 ? ? ?5
    """,
    "neoverse-v1": """
        1 fetches ?48 ?full ? ? 0
        1 loads+stores 40 full ? ? 0
        2 all 2048 ? ? ? ?5..6
    """,
    "neoverse-v2": """
        1 fetches 48 full 4K+16K+64K+2M ? 0
        1 loads+stores 48 full 4K+16K+64K+2M+512M ? 0
        2 all 2048 8 4K+16K+64K+2M+32M+512M+1G ? 6
    """,
    "neoverse-v3": """
        1 fetches 48 full 4K+16K+64K+2M ? 0
        1 loads+stores 96 full 4K+16K+64K+2M+512M ? 0
        2 all 2048 8 ? ? 6
    """,
    "oryon": """
        1 fetches 256 8 4K+64K ? 0
        1 loads+stores 224 7 4K+64K ? 0
        2 all 8192 8 ? ? 8
    """,
    "oryon-gen3": """
        1 fetches 256 8 ? ? 0
        1 loads+stores ?224 ?7 ? ? 0
        2 all 8192 8 ? ? ?7..8
    """,
    "p550": """
        1 fetches 32 full ? ? 0
        1 loads+stores 32 full ? ? 0
        2 all 512 ? ? ? 9
    """,
    "p6": """
        1 fetches 32 4 4K ? 0
        1 fetches 2 full 4M ? 0
        1 loads+stores 64 4 4K ? 0
        1 loads+stores 8 4 4M ? 0
    """,
    "p870": """
        1 fetches 32 ? ? ? 0
        1 loads+stores 64 ? ? ? 0
        2 all 1024 ? ? ? -
    """,
    "pentium4": """
        1 fetches 64 ? 4K+2M+4M ? 0
        1 loads+stores 64 ? 4K+4M ? 0
    """,
    "piledriver": """
        1 fetches 48 full 4K ? 0
        1 fetches 24 full 2M+1G ? 0
        1 loads+stores 64 full 4K+2M+1G ? 0
        2 fetches 512 4 4K ? -
        2 fetches 1024 8 2M+1G ? -
        2 loads+stores 1024 8 4K+2M+1G ? 17..20
    """,
    "power10": """
        1 fetches ?64 ? ? ? 0
        1 loads+stores ?64 ? ? ? 0
        2 all 4096 ? ? ? 9
    """,
    "power11": """
        1 fetches ?64 ? ? ? 0
        1 loads+stores ?64 ? ? ? 0
        2 all 4096 ? ? ? 9
    """,
    "power4": """
        1 fetches 128 2 ?4K ? 0
        1 loads+stores 128 2 ?4K ? 0
        2 all 1024 4 4K+16M ? -
    """,
    "power7": """
        1 fetches 64 ? 4K+64K ? 0
        1 loads+stores 64 full 4K+64K+16M lru 0
        2 all 512 4 4K+64K+16M+16G lru -
    """,
    "power8": """
        1 fetches 64 full 4K+64K+16M ? 0
        1 loads+stores 48 full 4K+64K+16M ? 0
        2 loads+stores 256 full ?4K+64K+16M fifo 16
        3 all 2048 4 4K+64K+16M+16G lru -
    """,
    "power9": """
        1 fetches 256 ? ?4K+64K ? 0
        1 loads+stores 256 ? ?4K+64K ? 0
        2 all 1024 4 4K+64K+2M+16M+1G+16G ? 25
    """,
    "ppc970": """
        1 fetches 128 2 4K ? 0
        1 loads+stores 128 ?2 4K ? 0
        2 all 1024 4 4K+16M ? -
    """,
    "redwoodcove": """
        1 fetches 256 8 4K ? 0
        1 fetches 32 8 2M+4M ? 0
        1 loads 96 6 4K ? 0
        1 loads 32 4 2M+4M ? 0
        1 loads 8 full 1G ? 0
        1 stores 16 full 4K+2M+4M+1G ? 0
        2 all 1024 8 4K+2M+4M ? 7
        2 all 1024 8 4K+1G ? 7
    """,
    "rocket": """
        1 fetches 32 full 4K plru 0
        1 fetches 4 full 2M+1G plru 0
        1 loads+stores 32 full 4K plru 0
        1 loads+stores 4 full 2M+1G plru 0
    """,
    "sandybridge": """
        1 fetches 128 4 4K ? 0
        1 fetches 8 full 2M+4M ? 0
        1 loads+stores 64 4 4K ? 0
        1 loads+stores 32 4 2M+4M ? 0
        1 loads+stores 4 4 1G ? 0
        2 all 512 4 4K ? 7
    """,
    "silvermont": """
        1 fetches 48 full 4K ? 0
        1 loads+stores 32 full 4K ? 0
        2 loads+stores 128 4 4K ? 7
        2 loads+stores 16 4 4K+2M ? 7
    """,
    "skylake": """
        1 fetches 128 8 4K plru 0
        1 fetches 8 full 2M+4M ? 0
        1 loads+stores 64 4 4K plru 0
        1 loads+stores 32 4 2M+4M ? 0
        1 loads+stores 4 4 1G ? 0
        2 all 1536 12 4K+2M ? 9
        2 all 16 4 1G ? 9
    """,
    "skymont": """
        1 loads+stores 48 full 4K+2M ? 0
        1 fetches 128 full 4K ? 0
        2 all 4096 4 4K+2M ? 9
        2 all 8 full 1G ? 9
    """,
    "taishan-v110": """
        1 fetches ?32 ?full ? ? 0
        1 loads+stores 32 full ? ? 0
        2 all 1024 ? ? ? 11
    """,
    "tigerlake": """
        1 fetches 128 8 4K ? 0
        1 fetches 16 8 2M+4M ? 0
        1 loads 64 4 4K ? 0
        1 loads 32 4 2M+4M ? 0
        1 loads 8 full 1G ? 0
        1 stores 16 full 4K+2M+4M+1G ? 0
        2 all 1024 8 4K+2M+4M ? 7
        2 all 1024 8 4K+1G ? 7
    """,
    "tremont": """
        1 loads+stores 48 full 4K ? 0
        1 fetches 48 full 4K ? 0
        2 all 1024 4 4K ? 9
        2 all 64 4 2M+4M ? 9
    """,
    "u54": """
        1 fetches 32 full 4K+2M+1G ? 0
        1 loads+stores 32 full 4K+2M+1G ? 0
    """,
    "u74": """
        1 fetches 40 full 4K+2M+1G ? 0
        1 loads+stores 40 full 4K+2M+1G ? 0
        2 all ?512 ?1 ? ? -
    """,
    "ultrasparc-ii": """
        1 fetches ?64 ?full 8K+64K+512K+4M ? 0
        1 loads+stores ?64 ?full 8K+64K+512K+4M ? 0
    """,
    "ultrasparc-iii": """
        1 fetches 16 full 8K+64K+512K+4M ? 0
        1 fetches 128 2 8K ? 0
        1 loads+stores 16 full 8K+64K+512K+4M ? 0
        1 loads+stores 512 2 ?8K ? 0
        1 loads+stores 512 2 ?4M ? 0
    """,
    "ultrasparc-iv-plus": """
        1 fetches 512 2 ?8K ? 0
        1 loads+stores 512 2 ?8K ? 0
        1 loads+stores 512 2 ?4M ? 0
        1 fetches 16 full ? ? 0
        1 loads+stores 16 full ? ? 0
    """,
    "ultrasparc-t1": """
        1 fetches 64 full 8K+64K+4M+256M nru 0
        1 loads+stores 64 full 8K+64K+4M+256M nru 0
    """,
    "ultrasparc-t2": """
        1 fetches 64 full 8K+64K+4M+256M ? 0
        1 loads+stores 128 full 8K+64K+4M+256M ? 0
    """,
    "x280": """
        1 fetches 64 full ? ? 0
        1 loads+stores 64 full ? ? 0
        2 all 1024 1 ? lru -
    """,
    "xiangshan": """
        1 fetches 48 full 4K+2M+1G ? 0
        1 loads 48 full 4K+2M+1G ? 0
        1 stores 48 full 4K+2M+1G ? 0
        2 all 256 8 4K plru -
        2 all 16 full 2M+1G plru -
    """,
    "zen1": """
        1 fetches 64 full 4K+2M+1G ? 0
        1 loads+stores 64 full 4K+2M+1G ? 0
        2 fetches 1024 8 4K+2M ? -
        2 loads+stores 1536 6 4K+2M ? 6..8
    """,
    "zen2": """
        1 fetches 64 full 4K+2M+1G ? 0
        1 loads+stores 64 full 4K+2M+1G ? 0
        2 fetches 1024 8 4K+2M ? 7
        2 loads+stores 2048 16 4K+2M ? 6..7
    """,
    "zen3": """
        1 fetches 64 full 4K+2M+1G ? 0
        1 loads+stores 64 full 4K+2M+1G ? 0
        2 fetches 512 4 4K+2M ? 7
        2 loads+stores 2048 16 4K+2M ? 5..7
        2 loads+stores 64 full 1G ? 7
    """,
    "zen4": """
        1 fetches 64 full 4K+2M+1G ? 0
        1 loads+stores 72 full 4K+2M+1G ? 0
        2 fetches 512 4 4K+2M ? 7
        2 loads+stores 3072 24 4K+2M ? 5..7
        2 loads+stores 64 full 1G ? 7
    """,
    "zen5": """
        1 fetches 64 full 4K+2M+1G ? 0
        1 loads+stores 96 full 4K+2M+1G ? 0
        2 fetches 2048 8 4K+2M ? 7
        2 loads+stores 4096 16 4K+2M ? 7
        2 loads+stores 1024 4 1G ? 7
    """,
    "zx-e": """
        1 fetches 96 6 4K ? 0
        1 fetches 32 4 2M ? 0
        1 loads+stores 96 6 4K ? 0
        1 loads+stores 32 4 2M ? 0
        1 loads+stores 4 4 1G ? 0
    """,
}

# What becomes of pages larger than those that an array holds, where that is published.
SPLITS = {
    "power7": {"I-ERAT": "split", "D-ERAT": "split"},
    "power8": {"I-ERAT": "split", "D-ERAT1": "split"},
    "knl": {"uTLB": "split"},
    "gracemont": {"ITLB": "split", "DTLB": "split"},
    "jaguar": {"ITLB-2M": "split", "DTLB-2M": "split", "L2-DTLB-2M": "split"},
    "k8": {"ITLB-2M": "split", "DTLB-2M": "split", "L2-ITLB": "bypass", "L2-DTLB": "bypass"},
    "zen1": {"L2-ITLB": "bypass", "L2-DTLB": "bypass"},
    "zen2": {"L2-ITLB": "split", "L2-DTLB": "split"},
    "core2": {"ITLB-2M": "split"},
    "nehalem": {"STLB": "bypass", "DTLB-2M": "split"},
    "cortex-a15": {"ITLB": "split"},
    "cortex-a35": {"L2-TLB": "split"},
    "cortex-a53": {"ITLB": "split", "DTLB": "split", "L2-TLB": "split"},
    "cortex-a57": {"ITLB": "split", "DTLB": "split"},
    "cortex-a72": {"ITLB": "split", "DTLB": "split"},
}

# Levels that a source calls inclusive or exclusive, by array.
INCLUSION = {
    "k7": {"L2-ITLB": "exclusive", "L2-DTLB": "exclusive"},
}

# Arrays of which an entry is of an even page and the odd one behind it. Of huge pages, which Linux
# puts into both halves of an entry, each has one.
PAIRED = {
    "gs464e": ["FTLB"],
    "la464": ["STLB"],
    "la664": ["STLB"],
}
