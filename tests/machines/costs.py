# costs.py -- what walks of the shipped processors cost by where page tables lie, a second time; see facts.py.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Caches that a walk's references go through, nearest first: name, size, bytes of a line, ways, and,
but for the first, what a reference that is found there costs beyond one found in the first. Then the
memory, how far walks, and hits of arrays for loads behind the first level, overlap, and how many
instructions are under way together, which is 1 where they execute in order. A figure behind ? is assumed. Of each cache page tables are assumed to get half.

From vendors' documents and from measurements that were published, as the machine files name them:
latencies of loads less that of the first level, times in nanoseconds at the clock they were taken at.
Machines without caches have no such lines: a trap handler walks, or the table is hashed.
"""

COSTS = {
    "a64fx": """
        L1D 64K 256 4
        L2 8M 256 16 32..42
        memory ?202..303
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "airmont": """
        L1D 24K 64 6
        L2 1M 64 16 ?11..16
        memory ?200..300
        window ?32
    """,
    "ampereone": """
        L2 2M 64 8
        SLC 64M 64 ?16 ?64..121
        memory 487
        walks ?8.0
        hits ?2.0
        window 208
    """,
    "apple-m1": """
        L1D 128K 64 8
        L2 12M 128 12 13..14
        SLC 8M 128 16 ?58..96
        memory ?300..351
        walks ?2.0
        hits ?2.0
        window ?630
    """,
    "apple-m1-e": """
        L1D 64K 64 8
        L2 4M 128 16 11
        SLC 8M 128 16 ?58..96
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window ?110
    """,
    "apple-m2": """
        L1D 128K 64 8
        L2 16M 128 16 ?13..14
        SLC 8M 128 16 ?58..96
        memory ?300..420
        walks ?2.0
        hits ?2.0
        window ?580
    """,
    "apple-m2-e": """
        L1D 64K 64 8
        L2 4M 128 16 ?11
        SLC 8M 128 16 ?58..96
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window ?150
    """,
    "apple-m3": """
        L1D 128K 64 8
        L2 16M 128 16 ?13..14
        SLC 8M 128 16 ?58..96
        memory ?300..420
        walks ?2.0
        hits ?2.0
        window ?580
    """,
    "apple-m3-e": """
        L1D 64K 64 8
        L2 4M 128 16 ?11
        SLC 8M 128 16 ?58..96
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window ?150
    """,
    "apple-m4": """
        L1D 128K 64 8
        L2 16M 128 16 ?13..14
        SLC 8M 128 16 ?58..96
        memory ?300..420
        walks ?2.0
        hits ?2.0
        window ?630
    """,
    "apple-m4-e": """
        L1D 64K 64 8
        L2 4M 128 16 11
        SLC 8M 128 16 ?58..96
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window ?240
    """,
    "bobcat": """
        L1D 32K 64 8
        L2 512K 64 16 ?14..23
        memory ?150..250
        hits ?2.0
        window ?56
    """,
    "bonnell": """
        L1D 24K 64 6
        L2 512K 64 8 12
        memory 196
        window 1
    """,
    "boom": """
        L1D 32K 64 8
        L2 512K 64 8 ?20..35
        memory ?120..245
        walks 1.0
        hits ?2.0
        window 128
    """,
    "broadwell": """
        L1D 32K 64 8
        L2 256K 64 8 8
        L3 20M 64 20 34..61
        memory 162..331
        walks ?2.0
        hits ?2.0
        window 192
    """,
    "bulldozer": """
        L1D 16K 64 4
        L2 2M 64 16 16
        L3 8M 64 64 66
        memory 249
        hits ?2.0
        window ?128
    """,
    "c1-ultra": """
        L1D ?64K 64 ?4
        L2 ?2M 64 ?8 ?7..8
        L3 ?16M 64 ?16 ?47..60
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window ?525
    """,
    "c906": """
        L1D 32K 64 4
        memory ?151..245
        window 1
    """,
    "c910": """
        L1D 64K 64 2
        L2 1M 64 16 57
        memory 245
        hits ?2.0
        window 192
    """,
    "champsim": """
        L1D 48K 64 12
        L2 512K 64 8 10
        LLC 2M 64 16 30
        memory 80..180
        walks ?5.0
        hits ?2.0
        window 352
    """,
    "core-duo-t2600": """
        L1D 32K 64 8
        L2 2M 64 8 11
        memory ?150..250
        window ?40
    """,
    "core2": """
        L1D 32K 64 8
        L2 4M 64 16 11..12
        memory 204..270
        hits ?2.0
        window 96
    """,
    "cortex-a15": """
        L1D 32K 64 2
        L2 1M 64 16 17
        memory 204
        walks ?1.0
        hits ?2.0
        window ?128
    """,
    "cortex-a17": """
        L1D 32K 64 4
        L2 1M 64 16 ?17
        memory ?204
        hits ?2.0
        window ?64
    """,
    "cortex-a35": """
        L1D 32K 64 4
        L2 512K 64 8 ?13..14
        memory ?151..204
        window 1
    """,
    "cortex-a5": """
        L1D 32K 32 4
        L2 ?512K 32 ?8 ?19
        memory ?151..204
        window 1
    """,
    "cortex-a510": """
        L1D 32K 64 4
        L2 128K 64 8 5..9
        L3 6M 64 12 ?32..46
        memory ?300..536
        window 1
    """,
    "cortex-a53": """
        L1D 32K 64 4
        L2 1M 64 16 13..14
        memory ?151..204
        window 1
    """,
    "cortex-a55": """
        L1D 32K 64 4
        L2 128K 64 4 ?5..14
        L3 1M 64 16 ?22..46
        memory ?151..250
        window 1
    """,
    "cortex-a57": """
        L1D 32K 64 2
        L2 2M 64 16 ?17
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "cortex-a7": """
        L1D 32K 64 4
        L2 512K 64 8 ?13..14
        memory ?151..204
        window 1
    """,
    "cortex-a710": """
        L1D 32K 64 4
        L2 512K 64 8 9..10
        L3 6M 64 12 46..48
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window 160
    """,
    "cortex-a72": """
        L1D 32K 64 2
        L2 4M 64 16 17
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "cortex-a725": """
        L1D 64K 64 4
        L2 512K 64 8 5..6
        L3 8M 64 ?16 ?46..60
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window ?224
    """,
    "cortex-a73": """
        L1D 32K 64 4
        L2 1M 64 16 21..22
        memory ?200..300
        walks ?2.0
        hits ?2.0
        window ?64
    """,
    "cortex-a76": """
        L1D 64K 64 4
        L2 512K 64 8 5
        L3 2M 64 16 22..27
        memory ?250..400
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "cortex-a8": """
        L1D 32K 64 4
        L2 256K 64 8 ?13..14
        memory ?151..204
        window 1
    """,
    "cortex-a9": """
        L1D 32K 32 4
        L2 1M 32 ?16 19
        memory 151
        walks ?2.0
        hits ?2.0
        window ?32
    """,
    "cortex-x1": """
        L1D ?64K 64 ?4
        L2 ?1M 64 ?8 ?7
        L3 ?4M 64 ?16 ?46..48
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window 224
    """,
    "cortex-x2": """
        L1D 64K 64 4
        L2 1M 64 8 7
        L3 6M 64 12 47
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window 288
    """,
    "cortex-x3": """
        L1D ?64K 64 ?4
        L2 ?1M 64 ?8 ?7
        L3 ?8M 64 ?16 ?47..60
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window 320
    """,
    "cortex-x925": """
        L1D 64K 64 4
        L2 2M 64 8 ?7..8
        L3 ?16M 64 ?16 ?47..60
        memory ?300..560
        walks ?2.0
        hits ?2.0
        window ?525
    """,
    "cougarcove": """
        L1D ?48K 64 ?12
        L1.5 ?192K 64 ?12 ?5
        L2 ?3M 64 ?12 ?13
        L3 ?12M 64 ?12 ?48..79
        memory ?400..700
        walks ?4.0
        hits ?2.0
        window ?576
    """,
    "crestmont": """
        L1D 32K 64 8
        L2 2M 64 16 17
        L3 24M 64 12 60
        memory 434..574
        walks ?4.0
        hits ?2.0
        window 256
    """,
    "cuzco": """
        L1D ?64K 64 ?4
        L2 ?2M 64 ?8 ?7..12
        L3 ?16M 64 ?16 ?35..64
        memory ?245..303
        walks ?2.0
        hits ?2.0
        window 256
    """,
    "cva6": """
        L1D 32K 16 8
        memory ?20..120
        walks 1.0
        window 1
    """,
    "emag": """
        L1D 32K 64 ?8
        L2 256K 64 ?8 8
        L3 32M 64 ?16 ?70..100
        memory ?246..313
        walks ?2.0
        hits ?2.0
        window 60
    """,
    "falkor": """
        L1D 32K 64 8
        L2 512K 128 8 12..14
        L3 60M 128 20 101
        memory 313
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "geode-lx": """
        L1D 64K 32 16
        L2 128K 32 4 8
        memory 43
        window 1
    """,
    "goldencove": """
        L1D 48K 64 12
        L2 1280K 64 10 9..11
        L3 30M 64 12 53..120
        memory 402
        walks 4.0
        hits ?2.0
        window 512
    """,
    "goldmont": """
        L1D 24K 64 6
        L2 2M 64 16 ?16
        memory ?300..483
        hits ?2.0
        window 78
    """,
    "goldmont-plus": """
        L1D 24K 64 6
        L2 4M 64 16 16
        memory 483
        hits ?2.0
        window 93
    """,
    "gracemont": """
        L1D 32K 64 8
        L2 2M 64 16 14..17
        L3 30M 64 12 60..69
        memory ?330..480
        walks ?4.0
        hits ?2.0
        window 256
    """,
    "haswell": """
        L1D 32K 64 8
        L2 256K 64 8 8
        L3 8M 64 16 32..58
        memory 226..418
        hits ?2.0
        window 192
    """,
    "icelake": """
        L1D 48K 64 12
        L2 512K 64 8 8..9
        L3 8M 64 16 ?37..70
        memory ?240..400
        walks ?2.0
        hits ?2.0
        window 352
    """,
    "isaiah": """
        L1D 64K 64 16
        L2 1M 64 16 ?12..20
        memory ?150..270
    """,
    "ivybridge": """
        L1D 32K 64 8
        L2 256K 64 8 8
        L3 8M 64 16 22..30
        memory ?200..250
        hits ?2.0
        window 168
    """,
    "jaguar": """
        L1D 32K 64 8
        L2 2M 64 16 ?22..23
        memory ?150..250
        hits ?2.0
        window 64
    """,
    "k10": """
        L1D 64K 64 2
        L2 512K 64 16 ?9..12
        L3 6M 64 48 46
        memory 188..211
        hits ?2.0
        window 72
    """,
    "k6-iii": """
        L1D 32K 32 2
        L2 256K 32 4 ?5..10
        memory ?43..120
    """,
    "k7": """
        L1D 64K 64 2
        L2 512K 64 16 ?8..17
        memory ?165..250
        hits ?2.0
        window ?72
    """,
    "k8": """
        L1D 64K 64 2
        L2 1M 64 16 8..10
        memory 165
        hits ?2.0
        window ?72
    """,
    "kabylake": """
        L1D 32K 64 8
        L2 256K 64 4 ?8
        L3 8M 64 16 ?38
        memory ?242
        walks ?2.0
        hits ?2.0
        window 224
    """,
    "knl": """
        L1D 32K 64 8
        L2 1M 64 16 ?13
        memory 202..260
        hits ?2.0
        window 72
    """,
    "kx-7000": """
        L1D 32K 64 8
        L2 ?256K 64 ?8 11
        L3 32M 64 ?16 76..82
        memory 636
        window 192
    """,
    "la664": """
        L1D 64K 64 4
        L2 256K 64 16 9
        L3 16M 64 16 35
        memory 257
        walks ?2.0
        hits ?2.0
        window 256
    """,
    "lioncove": """
        L1D 48K 64 12
        L1.5 192K 64 ?12 5
        L2 2560K 64 ?10 13
        L3 12M 64 12 48..79
        memory ?400..700
        walks ?4.0
        hits ?2.0
        window 576
    """,
    "llano": """
        L1D 64K 64 2
        L2 1M 64 16 ?9..12
        memory ?188..211
        hits ?2.0
        window ?72
    """,
    "nehalem": """
        L1D 32K 64 8
        L2 256K 64 8 6
        L3 12M 64 16 36..42
        memory 156..247
        walks 1.0
        hits ?2.0
        window 128
    """,
    "neoverse-n1": """
        L1D 64K 64 4
        L2 1M 64 8 9..10
        L3 32M 64 16 ?70..100
        memory ?246..303
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "neoverse-n2": """
        L1D 64K 64 4
        L2 1M 64 8 9..10
        L3 64M 64 16 ?64..121
        memory ?303..400
        walks ?2.0
        hits ?2.0
        window 160
    """,
    "neoverse-n3": """
        L1D 64K 64 4
        L2 2M 64 8 ?6..7
        L3 ?32M 64 ?16 ?64..121
        memory ?303..400
        walks ?2.0
        hits ?2.0
        window ?224
    """,
    "neoverse-v1": """
        L1D 64K 64 4
        L2 1M 64 8 7..8
        L3 32M 64 16 ?64..75
        memory 303
        walks ?2.0
        hits ?2.0
        window 256
    """,
    "neoverse-v2": """
        L1D 64K 64 4
        L2 2M 64 8 7
        L3 36M 64 ?12 64..121
        memory ?303..680
        walks ?2.0
        hits ?2.0
        window 320
    """,
    "neoverse-v3": """
        L1D 64K 64 4
        L2 2M 64 8 ?7
        L3 ?32M 64 ?16 ?64..121
        memory ?303..680
        walks ?2.0
        hits ?2.0
        window 384
    """,
    "oryon": """
        L1D 96K 64 6
        L2 12M 64 12 15..19
        SLC 6M 64 ?12 85..96
        memory 344..351
        walks ?2.0
        hits ?2.0
        window 650
    """,
    "oryon-gen3": """
        L1D 96K 64 6
        L2 16M 64 16 21
        SLC 8M 64 ?16 ?85..145
        memory ?344..520
        walks ?2.0
        hits ?2.0
        window 650
    """,
    "p6": """
        L1D 16K 32 4
        L2 256K 32 ?4 ?4..15
        memory ?150
        window 40
    """,
    "p870": """
        L1D ?64K 64 ?4
        L2 ?1M 64 ?8 ?7..12
        L3 ?16M 64 ?16 ?35..64
        memory ?245..303
        walks ?2.0
        hits ?2.0
        window ?1120
    """,
    "pentium4": """
        L1D 8K 64 4
        L2 512K 64 8 16..23
        memory 218..298
        window 126
    """,
    "piledriver": """
        L1D 16K 64 4
        L2 2M 64 16 ?16
        L3 8M 64 64 ?66
        memory 243..255
        hits ?2.0
        window 128
    """,
    "power10": """
        window ?256
    """,
    "power11": """
        window ?256
    """,
    "power4": """
        window ?100
    """,
    "power7": """
        window 120
    """,
    "power8": """
        walks ?4.0
        window 224
    """,
    "power9": """
        window 256
    """,
    "ppc970": """
        window ?100
    """,
    "redwoodcove": """
        L1D 48K 64 12
        L2 2M 64 16 11
        L3 24M 64 12 66..124
        memory ?400..720
        walks ?4.0
        hits ?2.0
        window 512
    """,
    "rocket": """
        L1D 16K 64 4
        memory ?30..120
        walks 1.0
        window 1
    """,
    "sandybridge": """
        L1D 32K 64 8
        L2 256K 64 8 8
        L3 8M 64 16 22..27
        memory ?200..250
        hits ?2.0
        window 168
    """,
    "silvermont": """
        L1D 24K 64 6
        L2 1M 64 16 ?11..16
        memory ?200..300
        window 32
    """,
    "skylake": """
        L1D 32K 64 8
        L2 256K 64 4 8..10
        L3 8M 64 16 38..71
        memory 242
        walks ?2.0
        hits ?2.0
        window 224
    """,
    "skymont": """
        L1D 32K 64 8
        L2 4M 64 16 15
        MSC 8M 64 ?16 210
        memory 475..608
        walks ?4.0
        hits ?2.0
        window 416
    """,
    "taishan-v110": """
        L1D 64K 64 4
        L2 512K 64 ?8 6
        L3 32M 64 ?16 32..86
        memory 246
        walks ?2.0
        hits ?2.0
        window 128
    """,
    "tigerlake": """
        L1D 48K 64 12
        L2 1280K 64 20 9
        L3 12M 64 12 ?37..50
        memory 409
        walks ?2.0
        hits ?2.0
        window 352
    """,
    "tremont": """
        L1D 32K 64 8
        L2 1536K 64 12 17
        L3 4M 64 16 ?50..60
        memory ?300..483
        walks ?2.0
        hits ?2.0
        window 208
    """,
    "u54": """
        L1D 32K 64 8
        L2 2M 64 16 ?13..38
        memory ?120..245
        window 1
    """,
    "u74": """
        L1D 32K 64 8
        L2 2M 64 16 ?13..38
        memory ?120..245
        window 1
    """,
    "ultrasparc-t2": """
        window 1
    """,
    "x280": """
        L1D 32K 64 ?8
        L2 ?256K 64 ?8 ?10
        L3 ?2M 64 ?16 ?35
        memory ?120..245
        window 1
    """,
    "xiangshan": """
        L2 1M 64 8
        L3 16M 64 16 ?25..50
        memory ?245..303
        walks ?6.0
        hits ?2.0
        window ?256
    """,
    "zen1": """
        L1D 32K 64 8
        L2 512K 64 8 8..13
        L3 8M 64 16 30..31
        memory ?250..400
        walks ?2.0
        hits ?2.0
        window 192
    """,
    "zen2": """
        L1D 32K 64 8
        L2 512K 64 8 8
        L3 16M 64 16 35..36
        memory 331
        walks ?2.0
        hits ?2.0
        window 224
    """,
    "zen3": """
        L1D 32K 64 8
        L2 512K 64 8 8
        L3 32M 64 16 42..46
        memory 308..389
        walks ?6.0
        hits ?2.0
        window 256
    """,
    "zen4": """
        L1D 32K 64 8
        L2 1M 64 8 10
        L3 32M 64 16 44..46
        memory 414
        walks ?6.0
        hits ?2.0
        window 320
    """,
    "zen5": """
        L1D 48K 64 12
        L2 1M 64 16 10
        L3 32M 64 16 41..43
        memory ?414
        walks ?6.0
        hits ?2.0
        window 448
    """,
    "zx-e": """
        L1D 32K 64 8
        L2 4M 64 16 ?12..20
        memory ?200..400
        window 48
    """,
}
