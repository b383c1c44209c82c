#!/usr/bin/env python3
# large_run.py -- writes out-files as of a large program on four machines, for bench of tg_report.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""large_run.py FOLDER [FUNCTIONS [LINES]]: out-files of so many functions with so many lines each, 3 of 10 of which miss."""

from __future__ import annotations

import random
import sys
from pathlib import Path

EVENTS = "Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw Wref Wcyc PFi PFr PFw"
HIT, WALK = 9, 30  # cycles
OBJECTS, FUNCTIONS_OF_A_FILE = 40, 12

HEAD = """# callgrind format
version: 1
creator: tlbgrind-0.1.0 (Valgrind 3.19.0)
pid: 77
cmd: ./large
desc: Machine: {machine}
desc: Walk cycles: 16..30 assumed
desc: Hit cycles: L1 1 IRW 0..0
desc: Hit cycles: L2 2 IRW 9..9
desc: Miss cycles: 1..2 assumed
desc: Share of time: 9.57%..34.00% assumed: 1..2 instructions a cycle
event: walks = ILtm + DLtmr + DLtmw : Page walks
events: {events}
"""


def counts(shared: random.Random, own: random.Random) -> list[int]:
    """Of one line: references are those of every machine, misses the machine's own."""
    instructions = shared.randrange(1, 10 ** shared.randrange(1, 7))
    reads, writes = instructions // 3, instructions // 7
    misses = [0, 0, 0]
    if shared.random() < 0.3:
        misses = [own.randrange(n + 1) for n in (instructions // 50, reads // 20, writes // 20)]
    walks = [misses[0] // 9, misses[1] // 7, misses[2] // 7]
    cycles = HIT * (sum(misses) - sum(walks)) + WALK * sum(walks)
    kinds = zip((instructions, reads, writes), misses, walks)
    return [*(count for kind in kinds for count in kind), sum(walks), cycles, 0, 0, 0]


def out_file(machine: str, seed: int, functions: int, lines: int) -> str:
    shared, own = random.Random(1), random.Random(seed)
    totals = [0] * len(EVENTS.split())
    text = [HEAD.format(machine=machine, events=EVENTS)]
    for number in range(functions):
        known = number % OBJECTS + 1
        text.append(f"ob=({known})" + (f" /usr/lib/x86_64-linux-gnu/libobject_{number}.so.1.2.3" if number < OBJECTS else ""))
        file = number // FUNCTIONS_OF_A_FILE + 1
        is_new = number % FUNCTIONS_OF_A_FILE == 0
        text.append(f"fl=({file})" + (f" /build/project-1.2/src/component_{file % 77}/file_{file}.cc" if is_new else ""))
        name = f"some::space::Class_{number % 999}::method_{number}(std::vector<int> const&, unsigned long)"
        text.append(f"fn=({number + 1}) {name}")
        for line in range(lines):
            costs = counts(shared, own)
            totals = [one + other for one, other in zip(totals, costs)]
            text.append(" ".join(map(str, [number % FUNCTIONS_OF_A_FILE * 100 + line + 1, *costs])))
    sums = " ".join(map(str, totals))
    return "\n".join([*text, "", f"summary: {sums}", f"totals: {sums}", ""])


def main() -> None:
    folder = Path(sys.argv[1])
    functions, lines = (int(text) for text in [*sys.argv[2:4], *("50000", "8")[len(sys.argv) - 2 :]])
    folder.mkdir(exist_ok=True)
    for seed, machine in enumerate(("one", "two", "three", "four")):
        (folder / f"tlbgrind.out.77_{machine}").write_text(out_file(machine, seed, functions, lines))


if __name__ == "__main__":
    main()
