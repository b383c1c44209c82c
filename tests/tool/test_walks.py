# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Page walks and what misses cost: references to page tables, cycles, a share of the time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tg_environment import client
from tool_support import OutFile, messages, run

HEAD = """tlbgrind-machine 1
name            test
title           A machine for tests
isa             x86-64
year            unknown
confidence      C
base-page       4K
"""

ARRAY = """array           {name}
   level        {level}
   users        {users}
   entries      {entries}
   ways         full
   pages        4K+2M
   larger-pages split
   policy       lru
   hit-cycles   {hit}
   threads      unknown
"""

# The steps of x86-64; what stands behind the colon is the step's cache.
STEPS = {"512G": "none", "1G": "none", "2M": "none", "4K": "none"}


def array(name: str, level: int, users: str, entries: int, hit: object = 0) -> str:
    return ARRAY.format(name=name, level=level, users=users, entries=entries, hit=hit)


FIRST = array("I", 1, "fetches", 16) + array("D", 1, "loads+stores", 16)


def machine(folder: Path, arrays: str = FIRST, walk: str = "hardware", cycles: object = "unknown", **caches: str) -> str:
    """Writes a machine file; `caches`: what the steps have, as s2M="own 4"."""
    text = HEAD + arrays + f"walk {walk}\n   cycles {cycles}\n"
    for size, cache in STEPS.items() if walk == "hardware" else ():
        kind, _, entries = caches.get(f"s{size}", cache).partition(" ")
        text += f"step {size}\n   cache {kind}\n"
        if kind == "own":
            text += f"   entries {entries}\n   ways full\n   policy lru\n"
    path = folder / "test.machine"
    path.write_text(text + "end\n")
    return f"--machine={path}"


def count(folder: Path, option: str, *options: str) -> tuple[OutFile, list[str]]:
    """Each run in a new folder; its name is in the environment, and so must not grow."""
    number = len(list(folder.glob("[0-9]")))
    r = run(folder / f"{number}", client("oracle_refs"), geometry=(option,), options=options)
    assert r.status == 0, r.err
    return r.only(), messages(r.err)


def events(out: OutFile) -> dict[str, int]:
    return dict(zip(out.field("events").split(), out.summary))


def by_function(out: OutFile) -> list[dict[str, int]]:
    """The same of each function."""
    names = out.field("events").split()
    found: dict[tuple[str, str, str], dict[str, int]] = {}
    for line in out.lines:
        of = found.setdefault((line.object, line.function_file, line.function), dict.fromkeys(names, 0))
        for name, cost in zip(names, line.costs):
            of[name] += cost
    return list(found.values())


def walks(of: dict[str, int]) -> int:
    return of["ILtm"] + of["DLtmr"] + of["DLtmw"]


def said(lines: list[str], label: str) -> int:
    (line,) = [line for line in lines if line.startswith(f"{label}:")]
    return int(line.split(":")[1].split()[0].replace(",", ""))


# ---------------------------------------------------------------- references


@pytest.mark.parametrize(("nested", "references"), [("no", 4), ("yes", 24)])
def test_without_caches_each_walk_reads_all_steps(tmp_path: Path, nested: str, references: int) -> None:
    out, lines = count(tmp_path, machine(tmp_path), f"--nested={nested}")
    of = events(out)
    assert walks(of) > 100
    assert of["Wref"] == references * walks(of)
    assert said(lines, "walk refs") == of["Wref"]
    assert ("guest's and host's" in "\n".join(lines)) == (nested == "yes")
    # And line by line.
    names = out.field("events").split()
    for line in out.lines:
        assert dict(zip(names, line.costs))["Wref"] == references * walks(dict(zip(names, line.costs)))


@pytest.mark.parametrize(("nested", "references"), [("no", 3), ("yes", 19)])
def test_a_large_page_ends_the_walk_early(tmp_path: Path, nested: str, references: int) -> None:
    of = events(count(tmp_path, machine(tmp_path), f"--nested={nested}", "--page-size=2M")[0])
    assert walks(of) > 0
    assert of["Wref"] == references * walks(of)


def test_large_caches_spare_all_but_the_first(tmp_path: Path) -> None:
    """With room for everything, a table is read once for each entry that leads on, and for each walk once more."""
    option = machine(tmp_path, s512G="own 64", s1G="own 64", s2M="own 4096")
    of = events(count(tmp_path, option)[0])
    uncached = 4 * walks(of)
    assert walks(of) < of["Wref"] < walks(of) + 100 < uncached
    # A cache of one step spares those above it, too.
    option = machine(tmp_path, s2M="own 4096")
    only_pdes = events(count(tmp_path, option)[0])
    assert walks(only_pdes) == walks(of)
    tables = (only_pdes["Wref"] - walks(of)) // 3
    assert only_pdes["Wref"] == walks(of) + 3 * tables
    assert tables > 2
    # With the others cached as well, each of those tables costs at least one reference, at most three.
    assert walks(of) + tables + 2 <= of["Wref"] < only_pdes["Wref"]


def test_entries_among_translations_drive_some_out(tmp_path: Path) -> None:
    arrays = FIRST + array("L2", 2, "all", 24, 7)
    alone = events(count(tmp_path, machine(tmp_path, arrays))[0])
    option = machine(tmp_path, arrays, s2M="in-last-level")
    shared = events(count(tmp_path, option)[0])
    for name in ("Ir", "Dr", "Dw", "I1tm", "D1tmr", "D1tmw"):
        assert shared[name] == alone[name]
    assert walks(shared) > walks(alone)
    assert shared["Wref"] < 4 * walks(shared)
    # The short cuts change nothing.
    slow = events(count(tmp_path, option, "--fast-path=no")[0])
    assert slow == shared


def test_software_walks_are_one_reference(tmp_path: Path) -> None:
    for nested in ("no", "yes"):
        of = events(count(tmp_path, machine(tmp_path, walk="software"), f"--nested={nested}")[0])
        assert of["Wref"] == walks(of) > 100


def test_what_is_not_known_is_not_told(tmp_path: Path) -> None:
    out, lines = count(tmp_path, "--machine=default")
    assert "Wref" not in out.field("events").split()
    assert "Wcyc" not in out.field("events").split()
    assert not out.descriptions("Miss cycles") and not out.descriptions("Share of time")
    (line,) = [line for line in lines if line.startswith(("walk refs", "miss cycles", "share"))]
    assert line.split(maxsplit=4)[3:] == ["unknown", "the machine does not tell what a walk costs; --miss-cost does"]
    _, lines = count(tmp_path, "--machine=default", "--nested=yes")
    (line, _) = [line for line in lines if line.startswith(("walk refs", "miss cycles", "share"))]
    assert line.split(maxsplit=3)[2:] == ["unknown", "the machine does not tell how it walks"]


# ---------------------------------------------------------------- cycles


def test_walks_cost_what_the_machine_or_the_user_says(tmp_path: Path) -> None:
    own = events(count(tmp_path, machine(tmp_path, cycles=563))[0])
    assert own["Wcyc"] == 563 * walks(own)
    for text in ("19", "TLB_MISS_COST=19"):
        out, lines = count(tmp_path, machine(tmp_path, cycles=563), f"--miss-cost={text}")
        of = events(out)
        assert of["Wcyc"] == 19 * walks(of) == 19 * walks(own)
        assert said(lines, "miss cycles") == of["Wcyc"]
        assert any("estimated" in line for line in lines if line.startswith("miss cycles:"))


def test_hits_behind_the_first_level_cost_as_well(tmp_path: Path) -> None:
    arrays = FIRST + array("L2", 2, "all", 24, 7)
    of = events(count(tmp_path, machine(tmp_path, arrays, cycles=30))[0])
    hits = of["I1tm"] + of["D1tmr"] + of["D1tmw"] - walks(of)
    assert hits > 0
    assert of["Wcyc"] == 7 * hits + 30 * walks(of)
    arrays = FIRST + array("L2", 2, "all", 24, "unknown")
    of = events(count(tmp_path, machine(tmp_path, arrays, cycles=30))[0])
    assert of["Wcyc"] == 30 * walks(of)


def test_a_cost_of_nothing_is_a_cost(tmp_path: Path) -> None:
    of = events(count(tmp_path, machine(tmp_path), "--miss-cost=0")[0])
    assert walks(of) > 0
    assert of["Wcyc"] == 0


@pytest.mark.parametrize(("options", "host_walks"), [((), 5), (("--page-size=2M",), 4)])
def test_a_nested_walk_costs_up_to_the_hosts_walks_more(tmp_path: Path, options: tuple[str, ...], host_walks: int) -> None:
    """One walk of the host for each of the guest's references, and one for the page."""
    alone, alone_said = count(tmp_path, machine(tmp_path, cycles=30), "--cycles=1000000", *options)
    nested, nested_said = count(tmp_path, machine(tmp_path, cycles=30), "--nested=yes", "--cycles=1000000", *options)
    n = walks(events(alone))
    assert n > 0
    assert events(alone)["Wcyc"] == 30 * n
    assert events(nested)["Wcyc"] == 30 * n * (1 + host_walks)
    range_of = [line.split(":")[1].split("  estimated")[0].strip() for line in nested_said if line.startswith("miss cycles:")]
    assert range_of == [f"{30 * n:,} to {30 * n * (1 + host_walks):,}"]
    shares = [[line for line in lines if line.startswith("share of time:")] for lines in (alone_said, nested_said)]
    assert shares[0] != shares[1]


def test_a_cached_entry_spares_the_hosts_walks_too(tmp_path: Path) -> None:
    out, _ = count(tmp_path, "--machine=zen4", "--nested=yes", "--miss-cost=20")
    of = events(out)
    own = (of["Wref"] - 4 * walks(of)) // 5
    assert of["Wref"] == 5 * own + 4 * walks(of)
    assert walks(of) < own < 4 * walks(of)
    hits = events(count(tmp_path, "--machine=zen4", "--miss-cost=0")[0])["Wcyc"]
    assert of["Wcyc"] == hits + 20 * (own + 2 * walks(of))


def test_the_share_of_the_time(tmp_path: Path) -> None:
    out, lines = count(tmp_path, machine(tmp_path), "--miss-cost=563", "--cycles=12345678")
    cost = events(out)["Wcyc"]
    hundredths = (cost * 20000 + 12345678) // (2 * 12345678)
    (line,) = [line for line in lines if line.startswith("share of time:")]
    assert line.split()[3] == f"{hundredths // 100}.{hundredths % 100:02}%"
    assert "estimated" in line
    out, lines = count(tmp_path, machine(tmp_path), "--cycles=12345678")
    assert "Wcyc" not in events(out)
    (line,) = [line for line in lines if line.startswith(("miss cycles", "share"))]
    assert line.split(maxsplit=4)[3:] == ["unknown", "the machine does not tell what a walk costs; --miss-cost does"]


# ---------------------------------------------------------------- where the tables are

PAGES = 4096  # 512 lines of page tables, one line of the tables above, and one of the program's for each page
L1 = "cache L1D\n   size 32K\n   ways 8\n   share 50%\n"  # 256 lines
L2 = "cache L2\n   size {size}\n   ways 16\n   share 50%\n   cycles 10..12\n"
MEMORY = "memory\n   cycles 200..300\n"


def cached(folder: Path, caches: str, cycles: object = 30, arrays: str = FIRST, more: str = "", **steps: str) -> str:
    """The machine, with caches behind the steps and other lines behind the cycles of a walk."""
    option = machine(folder, arrays, cycles=cycles, **steps)
    path = folder / "test.machine"
    text = path.read_text().replace(f"   cycles {cycles}\n", f"   cycles {cycles}\n{more}")
    path.write_text(text.replace("end\n", f"{caches}end\n"))
    return option


def in_turn(folder: Path, option: str, rounds: int, *options: str) -> dict[str, int]:
    place = folder / f"in-turn-{len(list(folder.glob('in-turn-*')))}"
    r = run(place, client("run_in_turn"), str(PAGES), str(rounds), geometry=(option,), options=options)
    assert r.status == 0, r.err
    return events(r.only())


def per_round(folder: Path, option: str, *options: str) -> dict[str, int]:
    """What four rounds more through all pages add, each of which begins as the one before, for each of them."""
    few, many = (in_turn(folder, option, rounds, *options) for rounds in (3, 7))
    assert (many["Wcyc"] - few["Wcyc"]) % 4 == (walks(many) - walks(few)) % 4 == 0
    return {"walks": (walks(many) - walks(few)) // 4, "Wcyc": (many["Wcyc"] - few["Wcyc"]) // 4}


@pytest.mark.parametrize(
    ("caches", "more"),
    [
        pytest.param("", 0, id="no caches: each walk costs the same"),
        pytest.param(L1.replace("32K", "1M") + MEMORY, 0, id="the cache has them all, and the program's"),
        # Each of 512 sets gets 9 lines, and has 8 ways. In 7 of them, one for each of a table line's eight pages but the
        # last, one of the program's comes while the table's is in use: then the next 7 leave the table's there.
        pytest.param(L1.replace("32K", "512K") + MEMORY, 300 * (PAGES // 8 - 7), id="the program's leave no room"),
        pytest.param(L1 + MEMORY, 300 * PAGES // 8, id="the cache has half of them"),
        pytest.param(L1 + L2.format(size="1M") + MEMORY, 12 * PAGES // 8, id="the second has them, and the program's"),
        pytest.param(L1 + L2.format(size="512K") + MEMORY, 300 * PAGES // 8, id="the second has no room for both"),
    ],
)
def test_pages_in_turn_cost_a_line_of_the_tables_for_every_eight(tmp_path: Path, caches: str, more: int) -> None:
    """LRU has none of the lines of a set that come in turn if it has not all of them: of each page one of the program's
    is among them."""
    of = per_round(tmp_path, cached(tmp_path, caches))
    assert of == {"walks": PAGES, "Wcyc": 30 * PAGES + more}


def test_entries_of_other_sizes_make_other_lines(tmp_path: Path) -> None:
    of = per_round(tmp_path, cached(tmp_path, L1 + MEMORY, more="   entry-bytes 16\n"))
    # The eight entries of the tables above, of 2M each, are two lines, too.
    assert of["Wcyc"] == 30 * PAGES + 300 * (PAGES // 4 + 2)
    large = L1.replace("32K", "2M\n   line 128")
    of = per_round(tmp_path, cached(tmp_path, large + MEMORY, more="   entry-bytes 4\n"))
    assert of["Wcyc"] == 30 * PAGES


@pytest.mark.parametrize("nested", ["no", "yes"])
@pytest.mark.parametrize("caches", [{}, {"s2M": "own 4"}, {"s2M": "in-last-level"}], ids=str)
def test_walks_cost_the_same_on_every_way_through_the_tool(tmp_path: Path, nested: str, caches: dict[str, str]) -> None:
    arrays = FIRST + array("L2", 2, "all", 24, 7)
    option = cached(tmp_path, L1.replace("32K", "1K") + L2.format(size="2K") + MEMORY, arrays=arrays, **caches)
    given = ("--nested=" + nested,)
    out, _ = count(tmp_path, option, *given)
    of = events(out)
    assert of["Wcyc"] > 31 * walks(of)
    assert events(count(tmp_path, option, *given, "--fast-path=no")[0]) == of
    for others in ("zen4", "zen4,skylake,haswell"):
        number = len(list(tmp_path.glob("[0-9]")))
        r = run(tmp_path / f"{number}", client("oracle_refs"), geometry=(f"{option},{others}",), options=given)
        assert r.status == 0, r.err
        (mine,) = [file for file in r.files if file.path.name.endswith("_test")]
        assert events(mine) == of


# Of a walk of 47 cycles 20 are those of the last step, which pages of 2M do not come to.
IN_PIECES = array("I", 1, "fetches", 16).replace("4K+2M", "4K") + array("D", 1, "loads+stores", 16).replace("4K+2M", "4K")


def guest(folder: Path, caches: str = L1.replace("32K", "1K") + MEMORY, more: str = "") -> str:
    option = cached(folder, caches, 47, IN_PIECES, f"   nested 4K\n{more}")
    path = folder / "test.machine"
    path.write_text(path.read_text().replace("step 4K\n   cache none\n", "step 4K\n   cache none\n   cycles 20\n"))
    return option


def test_pieces_of_a_larger_page_have_shorter_walks(tmp_path: Path) -> None:
    """The references of a guest's walks are counted, and its cycles have the host's walks: they are all near here."""
    option = guest(tmp_path, "")
    small, large = (events(count(tmp_path, option, *pages)[0]) for pages in ((), ("--pages=all:2M",)))
    assert walks(small) == walks(large) > 100
    assert small["Wref"] == 24 * walks(small)
    assert small["Wcyc"] == 47 * walks(small)
    pieces = (small["Wref"] - large["Wref"]) // 5
    assert 0 < pieces <= walks(large)
    assert large["Wcyc"] == 47 * walks(large) - 20 * pieces
    assert events(count(tmp_path, option, "--pages=all:2M", "--fast-path=no")[0]) == large


def test_shorter_walks_cost_no_more_at_least_than_at_most(tmp_path: Path) -> None:
    option = guest(tmp_path, "", "   overlap 1.2\n")
    out, _ = count(tmp_path, option, "--pages=all:2M")
    least = sum(min(47 * walks(mine), mine["Wcyc"]) * 10 // 12 for mine in by_function(out))
    assert out.descriptions("Miss cycles") == [f"{least}..{events(out)['Wcyc']}"]


def test_a_guest_is_not_nested_again(tmp_path: Path) -> None:
    r = run(tmp_path / "run", client("oracle_refs"), geometry=(guest(tmp_path),), options=("--nested=yes",))
    assert r.status == 1
    assert "the walks of test are those of a guest already" in r.err


def test_the_lower_end_overlaps(tmp_path: Path) -> None:
    arrays = FIRST + array("L2", 2, "all", 24, 7).replace("hit-cycles   7\n", "hit-cycles   7\n   overlap 4.0\n")
    option = cached(tmp_path, L1.replace("32K", "1K") + MEMORY, arrays=arrays, more="   overlap 2.4\n")
    out, lines = count(tmp_path, option)
    of = events(out)
    least = 0
    for mine in by_function(out):
        hits = [mine["I1tm"] - mine["ILtm"], mine["D1tmr"] - mine["DLtmr"], mine["D1tmw"] - mine["DLtmw"]]
        tables = mine["Wcyc"] - 7 * sum(hits) - 30 * walks(mine)
        assert tables % 300 == 0
        least += sum(7 * n * 10 // 40 for n in hits) + (30 * walks(mine) + tables * 200 // 300) * 10 // 24
    (line,) = [line for line in lines if line.startswith("miss cycles:")]
    assert line.split(maxsplit=2)[2] == (
        f"{least:,} to {of['Wcyc']:,}  estimated (30 cycles a walk and its tables, 2.4 at a time)"
    )
    assert out.descriptions("Overlap") == ["walks 2.4", "L2 4.0"]
    assert out.descriptions("Table entry cycles") == ["L1D 0..0", "memory 200..300"]


def test_a_cost_that_is_given_is_all_that_a_walk_costs(tmp_path: Path) -> None:
    option = cached(tmp_path, L1.replace("share 50%", "share unknown, assume 50%") + MEMORY, more="   overlap unknown, assume 2.4\n")
    for text in ("19", "TLB_MISS_LATENCY_CYCLES=19"):
        out, lines = count(tmp_path, option, f"--miss-cost={text}")
        assert events(out)["Wcyc"] == 19 * walks(events(out))
        assert f"miss cycles: {19 * walks(events(out)):,} estimated (19 cycles a walk)" in [" ".join(line.split()) for line in lines]
        assert not out.descriptions("Assumption")


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("option", "allowed"),
    [
        ("--miss-cost=", "0 to 1000000 cycles"),
        ("--miss-cost=-1", "0 to 1000000 cycles"),
        ("--miss-cost=19.5", "0 to 1000000 cycles"),
        ("--miss-cost=1000001", "0 to 1000000 cycles"),
        ("--miss-cost=99999999999999999999999", "0 to 1000000 cycles"),
        ("--miss-cost=MISS=19", "0 to 1000000 cycles"),
        ("--cycles=0", "1 to 18446744073709551615"),
        ("--cycles=1e9", "1 to 18446744073709551615"),
        ("--cycles=18446744073709551616", "1 to 18446744073709551615"),
        ("--nested=twice", "nested"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, option: str, allowed: str) -> None:
    r = run(tmp_path, client("oracle_refs"), options=(option,))
    assert r.status == 1
    assert option.split("=")[0] in r.err
    assert allowed in r.err
    assert r.out == ""
