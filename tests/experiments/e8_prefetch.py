# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""E8: strong prefetches walk and fill, weak ones are dropped where the TLB misses."""

from __future__ import annotations

from exp_frame import Chart, Experiment, Result, Series, Table, exact
from exp_lab import Lab, two_sides

PUBLISHED = "D. Gove, strong and weak prefetches (2009): a strong one fills the TLB, a weak one is dropped on a miss"
NULLS = 1_000_000
PAGES = 1000
STEPS = 64  # to a page
AHEAD = (1, 8, 32, 64)
RETURN = 1  # the stack's page, which the array has driven out when the function returns
EVENTS = {"strong": ("Pref", "P1tm", "PLtm", "Pvain"), "weak": ("Pref", "P1tm", "Pdrop")}


def run(lab: Lab) -> Result:
    program = lab.example("ahead")
    machine = two_sides("gove", 64, 64)
    rows, checks, dropped = [], [], []
    cases = [("address 0", "walk", 0, ["list", NULLS])]
    cases += [(f"{ahead} ahead", "sum", ahead, ["array", PAGES, ahead]) for ahead in AHEAD]
    for name, function, ahead, arguments in cases:
        counted = dict[str, int]()
        for how, events in EVENTS.items():
            profile = lab.simulate([machine], [program, *arguments], [f"--prefetch={how}"])[machine.name]
            counted |= {f"{how} {event}": profile.function(function, event) for event in events}
            counted[f"{how} loads' walks"] = profile.function(function, "DLtmr")
        if ahead == 0:
            n, walks, in_vain, drops = NULLS, NULLS, NULLS, NULLS
        else:
            n, walks, in_vain, drops = PAGES * STEPS, PAGES - 1 + ahead, ahead, PAGES * ahead
            checks += [
                exact(f"{name}: loads' walks beside weak prefetches", PAGES + RETURN, counted["weak loads' walks"]),
                exact(f"{name}: loads' walks beside strong prefetches", 1 + RETURN, counted["strong loads' walks"]),
            ]
            dropped.append(counted["weak Pdrop"] / PAGES)
        checks += [
            exact(f"{name}: prefetches", n, counted["strong Pref"]),
            exact(f"{name}: walks of strong prefetches", walks, counted["strong PLtm"]),
            exact(f"{name}: strong prefetches that fill nothing", in_vain, counted["strong Pvain"]),
            exact(f"{name}: weak prefetches dropped", drops, counted["weak Pdrop"]),
        ]
        columns = ("strong Pref", "strong PLtm", "strong Pvain", "weak Pdrop", "weak loads' walks", "strong loads' walks")
        rows.append([name, *(f"{counted[column]:,}" for column in columns)])
    head = ["prefetches of", "prefetches", "strong: walks", "in vain", "weak: dropped", "loads' walks, weak", "strong"]
    table = Table(f"Address 0, and an array of {PAGES} pages in {STEPS} steps each; TLB of 64 entries", head, rows)
    series = [Series("dropped, of 64", dropped)]
    chart = Chart("Weak prefetches dropped per page", list(map(str, AHEAD)), series, "steps ahead", "of 64", bars=True)
    return Result([table], checks, charts=[chart])


EXPERIMENT = Experiment("E8", "Prefetches, strong and weak", PUBLISHED, run)
