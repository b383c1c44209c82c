# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E9: what larger pages bring: 64K by the contiguous hint, fixed 64K, and 2M."""

from __future__ import annotations

from exp_frame import (
    Chart,
    Check,
    Experiment,
    Number,
    Result,
    Series,
    Table,
    at_least,
    at_most,
    exact,
    near,
    number,
)
from exp_lab import Lab, two_sides
from exp_programs import programs

PUBLISHED = "a study of page sizes on ARM64 with SPEC CPU 2006 (2016)"
ENTRIES = 64
BOUND = 0.002
ELEMENT = 64
STEPS = 1 << 21
PAGES = {"": 4 << 10, "anon:contig": 64 << 10, "anon:2M": 2 << 20}
WORKING_SETS = (4 << 20, 16 << 20)
ROUNDS = (10, 20)


def title(pages: str) -> str:
    return pages.partition(":")[2] or "4K"


def hint(lab: Lab) -> Result:
    checks: list[Check] = []
    rows: list[list[str]] = []
    machines = [two_sides("arm", 64, ENTRIES, pages=pages) for pages in PAGES]
    follow = lab.client("follow")
    found: dict[str, list[Number]] = {pages: [] for pages in PAGES}
    for size in WORKING_SETS:
        command = [follow, size, ELEMENT, STEPS * ELEMENT // size, "random"]
        for machine, profile in zip(machines, lab.simulate(machines, command).values()):
            wanted = max(0.0, 1 - ENTRIES * PAGES[machine.pages] / size)
            got = profile.function("walk", "D1tmr") / profile.function("walk", "Dr")
            what = f"random over {size >> 20}M, {title(machine.pages)}"
            checks.append(near(f"{what}: misses per element", wanted, BOUND, got))
            rows.append([what, f"{wanted:.4f}", f"{got:.4f}"])
            found[machine.pages].append(got)

    # Each page of 64 blocks in turn: all blocks fit 64 entries. A block with a page of another
    # protection is 16 entries, which makes 79, and an LRU of fewer misses all of them.
    steps = lab.client("steps")
    broken: list[list[str]] = []
    entries = (ENTRIES, ENTRIES + 14, ENTRIES + 15)
    sizes = [two_sides(f"arm{n}", 64, n, pages="anon:contig") for n in entries]
    for protect, wanted_misses in (([], (0, 0, 0)), ([5 * 65536 + 3 * 4096], (79, 79, 0))):
        runs = [lab.simulate(sizes, [steps, ENTRIES << 16, 4096, rounds, *protect]) for rounds in ROUNDS]
        for machine, n, wanted_count in zip(sizes, entries, wanted_misses):
            counts = [run[machine.name].function("steps", "D1tmr", "D1tmw") for run in runs]
            per_round = (counts[1] - counts[0]) / (ROUNDS[1] - ROUNDS[0])
            what = f"{n} entries, {'one page of 1024 read-only' if protect else 'all pages alike'}"
            checks.append(exact(f"{what}: misses per round", wanted_count, per_round))
            broken.append([what, number(wanted_count), f"{per_round:g}"])
    return Result(
        [
            Table(f"Misses per element, {ENTRIES} entries, fully associative, LRU", ["", "1 - 64 x page / set", "counted"], rows),
            Table("4M by the contiguous hint, page after page: misses per round", ["", "derived", "counted"], broken),
        ],
        checks,
        charts=[
            Chart(
                "E9: random, 64 entries",
                [f"{size >> 20}M" for size in WORKING_SETS],
                [Series(title(pages), values) for pages, values in found.items()],
                "working set",
                "DTLB misses per element",
                bars=True,
            )
        ],
    )


def programs_run(lab: Lab) -> Result:
    pages = ("", "anon:contig+heap:contig", "64K", "2M")
    names = ("4K", "contig", "64K", "2M")
    machines = [two_sides("arm", 48, 32, 1024, pages=each) for each in pages]
    checks: list[Check] = []
    rows: list[list[str]] = []
    memory: list[list[str]] = []
    shares: list[float] = []
    chosen = programs(lab)
    for program in chosen:
        profiles = lab.simulate(machines, program.command, (), program.stdin).values()
        counts = [profile.total("D1tmr", "D1tmw") for profile in profiles]
        shares.append(100 * counts[2] / counts[0])
        for name, count in zip(names[1:], counts[1:]):
            checks.append(at_most(f"{program.name}: DTLB misses, {name} against 4K", counts[0], count))
        rows.append([program.name, *(f"{n:,}" for n in counts), f"{shares[-1]:.1f} %", program.published, program.kin])
        used = [profile.memory() for profile in list(profiles)[1:]]
        for name, (backed, touched) in zip(names[1:], used):
            checks.append(at_least(f"{program.name}: kilobytes backed with {name}, against those touched", touched, backed))
        memory.append([program.name, f"{used[0][1]:,}K", *(f"{backed:,}K" for backed, _ in used)])
    return Result(
        [
            Table("DTLB misses by page size", ["program", *names, "64K / 4K", "published", "kin of"], rows),
            Table("Memory at the peak", ["program", "touched", *(f"backed with {name}" for name in names[1:])], memory),
        ],
        checks,
        charts=[
            Chart(
                "E9: DTLB misses with 64K pages",
                [program.name for program in chosen],
                [
                    Series("tlbgrind", shares),
                    Series("published", [float(p.published[:-2]) if p.published else None for p in chosen], True),
                ],
                "",
                "% of those with 4K pages",
                bars=True,
            )
        ],
    )


HINT = Experiment("E9", "the contiguous hint", PUBLISHED, hint)
PROGRAMS = Experiment("E9-programs", "page sizes and programs", PUBLISHED, programs_run)
