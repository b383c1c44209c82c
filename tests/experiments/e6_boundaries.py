# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E6: where large pages begin: what of a heap lies below the first boundary of 4M."""

from __future__ import annotations

import json

from exp_frame import Chart, Experiment, Number, Result, Series, Table, exact
from exp_lab import Lab

PUBLISHED = "D. Gove, Solaris Application Programming (2008): a heap from 0x22000 of 3960K and 290,816K, in 8K and 4M"
SMALL, LARGE = 8 << 10, 4 << 20
BELOW, ABOVE = 3960 << 10, 290816 << 10
PAGES = {"0x22000": (495, 71), "0x400000": (0, 72)}
# Low addresses are the kernel's and Valgrind's: these are the same modulo 4M.
AT = {"0x22000": 0x300022000, "0x400000": 0x300400000}
ROUNDS = 10
ENTRIES = 64
OPTIONS = ("--page-size=8K", f"--itlb={ENTRIES},full,8K", f"--dtlb={ENTRIES},full,8K+4M", "--pages=anon:4M", "--mappings=yes")


def run(lab: Lab) -> Result:
    program = lab.client("boundary")
    rows, checks = [], []
    misses: dict[str, list[Number]] = {"in small pages below the boundary": [], "in large pages": []}
    for start, (small, large) in PAGES.items():
        below = BELOW if small > 0 else 0
        size = below + large * LARGE
        out = lab.out_file()
        command = [f"{AT[start]:x}", size, below, SMALL, LARGE, ROUNDS]
        lab.tlbgrind("-q", "--thp=madvise", *OPTIONS, f"--tlbgrind-out-file={out}", program, *command)
        document = json.loads(lab.annotate("--mappings", "--format=json", out))
        (row,) = (row for row in document["tables"][0]["rows"] if int(row["address"], 16) == AT[start])
        warning = f"3,960K of it lie below the 4M boundary {AT['0x400000']:#x}; {small * ROUNDS:,} L1 misses"
        text = lab.annotate("--mappings", out)
        pages = ", ".join(f"{size} x {count}" for size, count in (("8K", small), ("4M", large)) if count > 0)
        rows.append([start, pages, row["page_sizes"], f"{row['begin_KiB']:,}", f"{row['begin_L1tm']:,}", f"{row['inside_L1tm']:,}"])
        for counted, where in zip(misses.values(), ("begin_L1tm", "inside_L1tm")):
            counted.append(row[where])
        checks += [
            exact(f"{start}: pages of 8K", small, counts(row["page_sizes"]).get("8K", 0)),
            exact(f"{start}: pages of 4M", large, counts(row["page_sizes"]).get("4M", 0)),
            exact(f"{start}: kilobytes below the boundary", below >> 10, row["begin_KiB"]),
            exact(f"{start}: misses below the boundary", small * ROUNDS, row["begin_L1tm"]),
            exact(f"{start}: misses in large pages", large * ROUNDS, row["inside_L1tm"]),
            exact(f"{start}: the report warns", int(small > 0), int(warning in text)),
        ]
    head = ["heap from", "published", "counted", "K below the boundary", "misses there", "misses in large pages"]
    series = [Series(name, counts) for name, counts in misses.items()]
    chart = Chart(f"E6: misses of {ROUNDS} rounds", list(PAGES), series, "heap from", "DTLB misses", bars=True)
    return Result([Table(f"A heap in pages of 8K and 4M, each touched {ROUNDS} times", head, rows)], checks, charts=[chart])


def counts(page_sizes: str) -> dict[str, int]:
    pairs = (pair.split(" x ") for pair in page_sizes.split(", "))
    return {size: int(count.replace(",", "")) for size, count in pairs}


EXPERIMENT = Experiment("E6", "Where large pages begin", PUBLISHED, run)
