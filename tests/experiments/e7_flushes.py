# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E7: to flush a range page by page, or everything: what the second costs."""

from __future__ import annotations

from exp_frame import Chart, Experiment, Result, Series, Table, exact
from exp_lab import Array, Lab, Machine

PUBLISHED = "M. Gorman, patches for flushes of ranges (2013): munmap of 128 pages, 256 others in use, DTLB 512x4"
HOT = 256
ENTRIES = 512
ROUNDS = 100
WALKS = ("ILtm", "DLtmr", "DLtmw")
COUNTED = (("serve", "FLall"), ("serve", "FLone"), ("serve", "FLin"), ("use_table", "DLtmw"), ("serve", "FLhot"))
POLICIES = ("shift:1", "shift:2", "shift:5", "shift:6", "ceiling:33")


def most(policy: str) -> int:
    """Pages flushed one by one at most."""
    how, _, number = policy.partition(":")
    return ENTRIES >> int(number) if how == "shift" else int(number)


def run(lab: Lab) -> Result:
    program = lab.example("buffers")
    arrays = (Array(1, "fetches", 64), Array(1, "loads+stores", ENTRIES, 4))
    machines = [Machine("gorman", arrays, f"flush:{policy}") for policy in POLICIES]
    rows, checks, lost = [], [], dict[int, list[float]]()
    for pages in (128, 129):
        # What more rounds add, so that the program's start, which uses other pages, is not in it.
        fewer, more = (lab.simulate(machines, [program, rounds, pages]) for rounds in (ROUNDS, 2 * ROUNDS))
        walks = [more[m.name].total(*WALKS) - fewer[m.name].total(*WALKS) for m in machines]
        for i, (policy, machine) in enumerate(zip(POLICIES, machines)):
            single = pages <= most(policy)
            added = [more[machine.name].function(*of) - fewer[machine.name].function(*of) for of in COUNTED]
            *counts, hot, again = added
            case = f"{pages} pages, {policy}"
            checks += [
                exact(f"{case}: flushes of everything", 0 if single else ROUNDS, counts[0]),
                exact(f"{case}: pages flushed one by one", ROUNDS * pages if single else 0, counts[1]),
                exact(f"{case}: entries in the range", ROUNDS * pages, counts[2]),
                exact(f"{case}: hot pages missed again", 0 if single else ROUNDS * HOT, hot),
                exact(f"{case}: hot loss is the walks that are more", walks[i] - min(walks), again),
            ]
            rows.append([str(pages), policy, *(f"{count / ROUNDS:g}" for count in added)])
            lost.setdefault(pages, []).append(hot / ROUNDS)
    head = ["pages", "policy", "flushes of everything", "pages one by one", "entries in the range", "hot pages again"]
    table = Table(f"Per munmap, of {ROUNDS}", [*head, "all pages again"], rows)
    series = [Series(f"munmap of {pages} pages", values) for pages, values in lost.items()]
    chart = Chart("Hot pages that a munmap loses", POLICIES, series, "policy", "of 256 hot pages", bars=True)
    return Result([table], checks, charts=[chart])


EXPERIMENT = Experiment("E7", "A range, or everything", PUBLISHED, run)
