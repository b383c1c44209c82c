# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Page sizes: which page backs the memory decides what misses."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tg_environment import HAVE_X86, client
from tg_huge import hugetlbfs
from tg_written import written
from tool_support import OutFile, messages, run

MACHINES = Path(os.environ["TG_SRCDIR"], "tlbgrind/machines")
needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
BITS = ["", pytest.param("32", marks=needs_x86)]
REFERENCES = 200000
ENTRIES = 64
K, M = 1 << 10, 1 << 20
# A first level that holds every size, so that the page decides.
GEOMETRY = ("--itlb=64,full", f"--dtlb={ENTRIES},full,4K+16K+64K+2M+4M")


def use(folder: Path, kind: str, mib: int, *how: str, options: tuple[str, ...] = (), bits: str = "") -> tuple[OutFile, str]:
    r = run(
        folder,
        client("pages_use" + bits),
        kind,
        mib,
        *how,
        options=list(options),
        geometry=GEOMETRY,
        prefix=["setarch", "-R"],
    )
    assert r.status == 0, r.err
    return r.only(), "\n".join(messages(r.err))


def misses(out: OutFile) -> int:
    """Of the references at random, by reads."""
    return sum(line.costs[4] for line in out.lines if line.function == "use")


_XORSHIFT = (1 << 64) - 1


def missed_by(page_of: Callable[[int], int], size: int) -> int:
    """What an LRU array of 64 misses; one entry is taken by the stack now and then."""
    seed = 88172645463325252
    last: dict[int, None] = {}
    missed = 0
    for _ in range(REFERENCES):
        seed ^= seed << 13 & _XORSHIFT
        seed ^= seed >> 7
        seed ^= seed << 17 & _XORSHIFT
        number = page_of((seed >> 20) % size)
        if number in last:
            del last[number]
        else:
            missed += 1
            if len(last) == ENTRIES:
                del last[next(iter(last))]
        last[number] = None
    return missed


def expected(size: int, page: int) -> int:
    return missed_by(lambda at: at // page, size)


def close(counted: int, wanted: int) -> bool:
    return abs(counted - wanted) <= 0.002 * REFERENCES


@pytest.mark.parametrize(
    ("rule", "page"),
    [
        ("anon:4K", 4 * K),
        ("anon:16K", 16 * K),
        ("contig", 64 * K),
        ("all:64K", 64 * K),
        ("thp", 2 * M),
        ("2M", 2 * M),
        ("heap:2M,stack:2M,data:2M,text:2M,file:2M", 4 * K),
        ("2M,anon:4K", 4 * K),
        ("4K,anon:64K", 64 * K),
    ],
)
def test_random_references(tmp_path: Path, rule: str, page: int) -> None:
    out, _ = use(tmp_path, "anon", 4, options=(f"--pages={rule}",))
    assert close(misses(out), expected(4 * M, page))


@needs_x86
@pytest.mark.parametrize(("rule", "page"), [("4K", 4 * K), ("thp", 2 * M), ("anon:2M", 2 * M)])
def test_random_references_of_32_bits(tmp_path: Path, rule: str, page: int) -> None:
    """With other sizes the stack, which is used all the time, wants an entry that is not there."""
    out, _ = use(tmp_path, "anon", 4, options=(f"--pages={rule}",), bits="32")
    assert close(misses(out), expected(4 * M, page))


def test_published_shares(tmp_path: Path) -> None:
    """Random over 4M and 16M with 64 entries: the shares that theory gives for each page size."""
    shares = {(4, "4K"): 0.9375, (4, "contig"): 0, (4, "2M"): 0}
    shares |= {(16, "4K"): 0.984375, (16, "contig"): 0.75, (16, "2M"): 0}
    for (mib, size), share in shares.items():
        out, _ = use(tmp_path / f"{mib}-{size}", "anon", mib, options=(f"--pages=anon:{size}",))
        assert abs(misses(out) / REFERENCES - share) <= 0.002, (mib, size)


@pytest.mark.parametrize("kind", ["anon", "heap", "bss", "file"])
def test_each_memory_has_its_word(tmp_path: Path, kind: str) -> None:
    word = "data" if kind == "bss" else kind
    others = [w for w in ("anon", "heap", "data", "file") if w != word]
    small = ",".join(f"{w}:4K" for w in others)
    large = ",".join(f"{w}:2M" for w in others)
    out, _ = use(tmp_path / "large", kind, 4, options=(f"--pages={word}:2M,{small}",))
    assert misses(out) < 100
    out, _ = use(tmp_path / "small", kind, 4, options=(f"--pages={word}:4K,{large}",))
    assert close(misses(out), expected(4 * M, 4 * K))


def test_pattern(tmp_path: Path) -> None:
    out, _ = use(tmp_path / "this", "file", 4, options=("--pages=pages_file_*:2M",))
    assert misses(out) < 100
    out, _ = use(tmp_path / "other", "file", 4, options=("--pages=*.db:2M",))
    assert close(misses(out), expected(4 * M, 4 * K))


def test_memory_that_thp_does_not_back(tmp_path: Path) -> None:
    out, _ = use(tmp_path / "file", "file", 4, options=("--pages=thp",))
    assert close(misses(out), expected(4 * M, 4 * K))
    # All is there before it is touched; touched as it grows, it would be small.
    out, _ = use(tmp_path / "heap", "heap", 4, options=("--pages=thp",))
    assert misses(out) < 100


def test_thp_does_not_back_stacks_of_threads(tmp_path: Path) -> None:
    out, _ = use(tmp_path / "thp", "stack", 4, options=("--pages=thp",))
    assert close(misses(out), expected(4 * M, 4 * K))
    out, _ = use(tmp_path / "fixed", "stack", 4, options=("--pages=stack:2M",))
    assert misses(out) < 100


def test_protected_page_breaks_its_block(tmp_path: Path) -> None:
    out, err = use(tmp_path / "contig", "anon", 4, "protect", options=("--pages=anon:contig",))
    backed = re.search(r"backed at the peak: (\d+) pages of 64K, (\d+)K, of which (\d+)K touched", err)
    assert backed
    pages, kbytes, touched = map(int, backed.groups())
    assert kbytes == 64 * pages
    assert 63 <= pages < 80
    assert 63 * 64 <= touched <= kbytes
    assert "large pages broken: 1" in err
    # 63 blocks and 16 pages are more than 64 entries.
    assert 1000 < misses(out) < 0.1 * REFERENCES
    out, err = use(tmp_path / "thp", "anon", 4, "protect", options=("--pages=anon:thp",))
    assert "large pages broken: 1" in err
    # One of two pages, and 512.
    assert close(misses(out), expected_broken())


@pytest.mark.parametrize("how", ["free", "undumped"])
def test_advice_for_a_part_breaks_its_page(tmp_path: Path, how: str) -> None:
    """The kernel breaks it, too: tests/model/test_thp_native.py."""
    out, err = use(tmp_path, "anon", 4, how, options=("--pages=anon:thp",))
    assert "large pages broken: 1" in err
    assert close(misses(out), expected_broken())


@pytest.mark.parametrize("bits", BITS)
def test_program_that_wants_no_huge_pages(tmp_path: Path, bits: str) -> None:
    """prctl(PR_SET_THP_DISABLE): in the page map and among the faults."""
    wish = ("--pages=anon:thp", "--faults=yes", "--thp=always")
    out, err = use(tmp_path / "never", "anon", 4, "never", options=wish, bits=bits)
    assert close(misses(out), expected(4 * M, 4 * K))
    assert " of 2M" not in err
    assert faults(out) >= 1024
    out, err = use(tmp_path / "else", "anon", 4, options=wish, bits=bits)
    assert misses(out) < 100
    # The program has aligned its memory; a 32-bit one natively lies where nothing is aligned,
    # and so is this, by as much: a huge page less.
    assert faults(out) < (100 if not bits else 512)
    # A size that is no transparent one is not its business.
    out, _ = use(tmp_path / "fixed", "anon", 4, "never", options=("--pages=anon:2M",), bits=bits)
    assert misses(out) < 100


def faults(out: OutFile) -> int:
    """In the program's own code."""
    events = out.field("events").split()
    at = [events.index(event) for event in ("PFr", "PFw")]
    return sum(line.costs[n] for line in out.lines if line.function == "main" for n in at)


def test_huge_pages_for_advised_memory_only(tmp_path: Path) -> None:
    r = run(
        tmp_path,
        client("pages_use"),
        "anon",
        4,
        "advised-only",
        options=["--pages=anon:thp"],
        geometry=GEOMETRY,
        prefix=["setarch", "-R"],
    )
    if r.status == 77:
        pytest.skip("the kernel does not know PR_THP_DISABLE_EXCEPT_ADVISED")
    assert r.status == 0, r.err
    assert "backed at the peak: 1 pages of 2M, 2048K, of which 2048K touched" in r.err


def expected_broken() -> int:
    """With one large page, the upper half."""
    return missed_by(lambda at: at // (4 * K) if at < 2 * M else -1, 4 * M)


def test_pool_runs_dry(tmp_path: Path) -> None:
    out, err = use(tmp_path, "anon", 4, options=("--pages=anon:2M", "--huge-pool=2M:1"))
    assert "the pool of 2M pages was empty 1 times; base pages were taken" in err
    assert out.descriptions("Memory")[-1] == "the pool of 2M pages was empty 1 times; base pages were taken"
    assert 0.4 * REFERENCES < misses(out) < 0.5 * REFERENCES


def test_pool_that_nothing_takes_from(tmp_path: Path) -> None:
    """Without a rule, and in a program that does not ask for such pages, a pool has no effect."""
    out, err = use(tmp_path, "anon", 4, options=("--huge-pool=2M:1,16M:7",))
    for size in ("2M", "16M"):
        assert f"no page was taken from the pool of {size} pages" in err
    assert len([line for line in out.descriptions("Memory") if line.startswith("no page was taken")]) == 2


def test_program_asks_for_huge_pages(tmp_path: Path) -> None:
    out, err = use(tmp_path / "advised", "anon", 4, "advise")
    assert misses(out) < 100
    assert re.search(r"backed at the peak: 2 pages of 2M, 4096K, of which 4096K touched", err)
    out, _ = use(tmp_path / "overridden", "anon", 4, "advise", options=("--pages=4K",))
    assert close(misses(out), expected(4 * M, 4 * K))
    _, err = use(tmp_path / "no-advice", "anon", 4)
    assert "Pages of" not in err


def test_rules_that_meet_no_memory_are_named(tmp_path: Path) -> None:
    """A pattern that is misspelt does nothing; that is said."""
    rules = "anon:64K,libd.so*:64K,libc.so*:64K,/nowhere/*:thp,all:4K,stack:64K"
    out, err = use(tmp_path, "anon", 4, options=(f"--pages={rules}",))
    start = "no such memory was touched: "
    unmet = [start + rule for rule in ("libd.so*:64K", "/nowhere/*:thp")]
    assert [line for line in out.descriptions("Memory") if line.startswith(start)] == unmet
    assert [line.strip() for line in err.splitlines() if start in line] == unmet


def test_advice_that_comes_late(tmp_path: Path) -> None:
    """Pages that are there stay small, if first touches were watched; a rule for no memory at all makes that so."""
    out, err = use(tmp_path / "watched", "anon", 4, "late", options=("--pages=/no-such-file:64K",))
    assert close(misses(out), expected(4 * M, 4 * K))
    assert " of 2M" not in err
    # The rule takes nothing from advice that comes in time.
    out, err = use(tmp_path / "in-time", "anon", 4, "advise", options=("--pages=/no-such-file:64K",))
    assert misses(out) < 100
    assert re.search(r"backed at the peak: 2 pages of 2M, 4096K, of which 4096K touched", err)


@pytest.mark.parametrize("rule", ["thp", "contig", "2M", "anon:64K,stack:16K", "text:64K,data:16K"])
@pytest.mark.parametrize("how", [[], ["protect"], ["advise"], ["probe"]])
def test_fast_path_counts_the_same(tmp_path: Path, rule: str, how: list[str]) -> None:
    bodies = [
        use(tmp_path / path[:2], "anon", 4, *how, options=(f"--pages={rule}", f"--fast-path={path}"))[0].body()
        for path in ("yes", "no")
    ]
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize(("rule", "page"), [("4K", 4 * K), ("anon:64K", 64 * K), ("thp", 2 * M)])
def test_memory_that_was_asked_for_in_vain(tmp_path: Path, rule: str, page: int) -> None:
    """A reference to what is not mapped decides nothing: the program handles the signal, and maps it."""
    out, _ = use(tmp_path, "anon", 4, "probe", options=(f"--pages={rule}",))
    assert close(misses(out), expected(4 * M, page))


def test_fast_path_with_faults_after_references_in_vain(tmp_path: Path) -> None:
    """When a page may fault again it is asked anew what backs it: at once without short cuts, with them when it misses."""
    options = ("--pages=thp", "--faults=yes")
    bodies = [
        use(tmp_path / path[:2], "anon", 4, "probe", options=(*options, f"--fast-path={path}"))[0].body()
        for path in ("yes", "no")
    ]
    assert bodies[0] == bodies[1]


def test_machines_with_rules_of_their_own(tmp_path: Path) -> None:
    """Side by side in one run, and each alone with --pages: the same counts."""
    rules = ["", "@thp", "@contig", "@all:2M+stack:4K", "@anon:64K+text:16K"]
    machines = [f"zen4{rule}" for rule in rules]
    together = run(
        tmp_path / "0",
        client("pages_use"),
        "anon",
        4,
        options=[f"--machine={','.join(machines)}"],
        geometry=(),
        prefix=["setarch", "-R"],
    )
    assert together.status == 0, together.err
    by_name = {f.descriptions("Machine")[0]: f for f in together.files}
    for folder, (machine, rule) in enumerate(zip(machines, rules), 1):
        pages = rule.removeprefix("@").replace("+", ",")
        alone = run(
            tmp_path / str(folder),
            client("pages_use"),
            "anon",
            4,
            options=["--machine=zen4", *([f"--pages={pages}"] if pages else [])],
            geometry=(),
            prefix=["setarch", "-R"],
        )
        assert alone.only().summary == by_name[machine].summary, machine
    assert by_name["zen4@thp"].summary != by_name["zen4"].summary


@pytest.mark.parametrize("bits", BITS)
def test_stack_grows(tmp_path: Path, bits: str) -> None:
    r = run(
        tmp_path,
        client("aspace_walk" + bits),
        "deep",
        options=["--pages=stack:64K", "--trace-aspace=yes"],
        geometry=GEOMETRY,
    )
    assert r.status == 0, r.err
    deepest = int(re.findall(r"^at deepest ([0-9a-f]+)$", r.out, re.MULTILINE)[0], 16)
    (row,) = [row for row in r.err.splitlines() if "aspace: end" in row and row.endswith(" stack")]
    start, end = (int(a, 16) for a in re.findall(r"[0-9a-f]{5,}", row.split("end ")[1])[:2])
    assert start <= deepest < end
    assert end - start > 600 * 4 * K


def test_fake_huge_pages_are_huge(tmp_path: Path) -> None:
    r = run(
        tmp_path, client("aspace_walk"), "huge", options=["--hugetlb=fake"], geometry=GEOMETRY
    )
    assert r.status == 0, r.err
    assert re.search(r"backed at the peak: 2 pages of 2M, 4096K, of which 8K touched", r.err)


@pytest.mark.parametrize("bits", BITS)
def test_files_on_a_hugetlbfs(tmp_path: Path, bits: str) -> None:
    """They are in huge pages without any rule, and come in huge pages."""
    run_folder = tmp_path / "run"
    with hugetlbfs(run_folder / "huge", 3):
        out, err = use(run_folder, "huge/", 4, options=("--faults=yes",), bits=bits)
    assert misses(out) < 100
    assert re.search(r"backed at the peak: 2 pages of 2M, 4096K, of which 4096K touched", err)
    # One for each huge page, and a few of the stack and of code.
    assert 2 <= faults(out) < 10


@pytest.mark.parametrize(("mode", "huge"), [("never", False), ("madvise", False), ("always", True)])
def test_one_option_for_tlbs_and_faults(tmp_path: Path, mode: str, huge: bool) -> None:
    """What the kernel does is the same for both, with and without a log of the faults."""
    out, err = use(tmp_path / "both", "anon", 4, options=(f"--thp={mode}", "--faults=yes"))
    assert (misses(out) < 100) == huge
    assert (faults(out) < 100) == huge
    assert f"Transparent huge pages: {mode} (--thp={mode})" in err
    alone, _ = use(tmp_path / "tlbs", "anon", 4, options=(f"--thp={mode}",))
    assert misses(alone) == misses(out)


def test_advice_counts_unless_the_kernel_says_never(tmp_path: Path) -> None:
    for mode, huge in (("madvise", True), ("never", False)):
        out, _ = use(tmp_path / mode, "anon", 4, "advise", options=(f"--thp={mode}", "--faults=yes"))
        assert (misses(out) < 100) == huge
        assert (faults(out) < 100) == huge


def test_a_rule_for_all_memory_is_the_mode(tmp_path: Path) -> None:
    out, err = use(tmp_path, "anon", 4, options=("--pages=thp", "--faults=yes"))
    assert "Transparent huge pages: always (--pages=thp)" in err
    assert misses(out) < 100
    assert faults(out) < 100
    assert "rules for pages are for TLBs alone" not in err


def test_rules_that_faults_do_not_follow_are_named(tmp_path: Path) -> None:
    _, err = use(tmp_path, "anon", 4, options=("--pages=anon:thp", "--thp=madvise", "--faults=yes"))
    assert "Page faults are those of --thp=madvise: rules for pages are for TLBs alone." in err


def test_rules_without_effect_are_named(tmp_path: Path) -> None:
    rules = "all:1G,data:16M,/no/such:2M,anon:4K,stack:2M,stack:4K"
    _, err = use(tmp_path, "anon", 4, options=(f"--pages={rules}",))
    said = [line.strip() for line in err.splitlines()]
    assert "no mapping had room for a page of that size: all:1G" in said
    assert "no mapping had room for a page of that size: data:16M" in said
    assert "no such memory was touched: /no/such:2M" in said
    assert "later rules speak of all such memory that was touched: stack:2M" in said
    assert not any(line.endswith((": anon:4K", ": stack:4K")) for line in said)


def test_arrays_without_room_for_the_pages_are_named(tmp_path: Path) -> None:
    r = run(
        tmp_path,
        client("pages_use"),
        "anon",
        4,
        options=("--pages=anon:2M",),
        geometry=("--dtlb=64,4", "--stlb=1536,12"),
    )
    said = "no array holds pages of 2M, which anon:2M asks for: they are entered in pieces, or passed by"
    assert f"{said}; --dtlb=64,4,4K --dtlb=32,4,2M describes one that does" in r.err
    # What the kernel does by itself gives such a machine nothing.
    r = run(tmp_path / "thp", client("pages_use"), "anon", 4, options=("--thp=always",), geometry=("--dtlb=64,4",))
    assert "no array holds pages of 2M: there are no transparent huge pages" in r.err
    assert "Pages of custom" not in r.err


def test_what_khugepaged_would_do_is_named(tmp_path: Path) -> None:
    """A heap that grows in small steps gets no huge page at its faults."""
    r = run(tmp_path, client("fault_heap"), options=("--thp=always",), geometry=GEOMETRY)
    assert r.status == 0
    (line,) = [line for line in r.err.splitlines() if "grew later" in line]
    assert int(line.partition("grew later: ")[2].split()[0]) >= 13


# By way: huge pages that are left of four, and the reason of the others that could be huge.
SMALL = {
    "grown": (0, "their mapping grew later: 4 blocks of 2M; map the whole at once, aligned"),
    "late": (2, "they were touched before the advice: 2 blocks of 2M; advise before the first touch"),
    "cut": (3, "mprotect or advice of a part cut them: 1 blocks of 2M; change whole blocks"),
    "purged": (3, "a part of each was given back: 1 blocks of 2M; give back whole blocks"),
    "free": (3, "MADV_FREE, COLD or PAGEOUT broke them: 1 blocks of 2M; whole blocks for FREE and COLD, no PAGEOUT"),
    "pageout": (3, "MADV_FREE, COLD or PAGEOUT broke them: 1 blocks of 2M; whole blocks for FREE and COLD, no PAGEOUT"),
    "moved": (2, "mremap moved them: 1 blocks of 2M; move whole blocks by multiples of their size"),
    "mergeable": (3, None),
}


@pytest.mark.parametrize("way", SMALL)
def test_small_pages_have_a_reason_and_a_remedy(tmp_path: Path, way: str) -> None:
    # With a rule, also one that matches nothing, what is touched before the first advice is known.
    options = ("--thp=madvise", "--pages=/no-such-file:64K")
    r = run(tmp_path, client("run_small"), way, options=options, geometry=GEOMETRY)
    assert r.status == 0
    if "no KSM" in r.out:
        pytest.skip("this kernel has no MADV_MERGEABLE")
    left, reason = SMALL[way]
    lines = re.findall(r"in small pages, as (.*)", r.err)
    assert lines == ([] if reason is None else [reason])
    huge = re.search(r"backed at the peak: (\d+) pages of 2M", r.err)
    broken = re.search(r"large pages broken: (\d+)", r.err)
    ever = 2 if way == "late" else 0 if way == "grown" else 4
    assert ever - (int(broken[1]) if broken else 0) == left or way == "moved"
    assert (int(huge[1]) if huge else 0) <= ever


@pytest.mark.parametrize("way", SMALL)
def test_this_kernel_has_as_many_huge_pages_left(way: str) -> None:
    thp = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not thp.exists() or "[never]" in thp.read_text(encoding="ascii"):
        pytest.skip("this host has no transparent huge pages")
    done = subprocess.run([client("run_small"), way], capture_output=True, text=True, check=True)
    if "no KSM" in done.stdout:
        pytest.skip("this kernel has no MADV_MERGEABLE")
    if "few huge pages" in done.stdout:
        pytest.skip("this host has not enough memory in huge pages at the moment")
    assert done.stdout == f"left {SMALL[way][0]}\n"


# By array of zen4's first level for data: small, and of entries that are more than one page or fewer than it has.
ENTRIES_OF_MANY = {
    "paired": "paired yes",
    "wired": "wired 8",
    "coalesces": "coalesces 4K:64K+2M:32M",
    "all": "paired yes\n   wired 3\n   coalesces 4K:64K+2M:32M",
}


@pytest.mark.parametrize("pages", ["anon:4K", "anon:2M"])
def test_pairs_wired_entries_and_blocks_count_alike_on_both_paths(tmp_path: Path, pages: str) -> None:
    shipped = (MACHINES / "zen4.machine").read_text(encoding="ascii")
    counted = {}
    for name, lines in ENTRIES_OF_MANY.items():
        machine = tmp_path / f"{name}.machine"
        machine.write_text(shipped.replace("entries      72\n", f"entries      12\n   {lines}\n"), encoding="ascii")
        assert machine.read_text(encoding="ascii") != shipped
        for path in ("yes", "no"):
            options = [f"--machine={machine}", f"--pages={pages}", f"--fast-path={path}"]
            client_run = (client("pages_use"), "anon", 96)
            r = run(tmp_path / "run", *client_run, options=options, geometry=(), out_file="out", collect=False)
            assert r.status == 0, r.err
            out = written(tmp_path / "run" / "out")
            counted[name, path] = re.sub(r"^pid: .*\n", "", out, flags=re.MULTILINE)
        assert counted[name, "yes"] == counted[name, "no"]
    # Each of them makes a difference to what is counted.
    totals = {out.rpartition("summary: ")[2] for out in counted.values()}
    assert len(totals) == len(ENTRIES_OF_MANY)


def test_pieces_of_a_larger_page_coalesce_as_base_pages_do(tmp_path: Path) -> None:
    """An aligned mapping of 4M in an array for 4K that has blocks of 64K: whatever the page is, blocks miss."""
    machine = tmp_path / "pieces.machine"
    first_level = f"level 1\nentries {ENTRIES}\nways full\npages 4K\npolicy lru\n"
    machine.write_text(
        "tlbgrind-machine 1\nname pieces\ntitle Pieces\nisa any\nbase-page 4K\n"
        f"array I\nusers fetches\n{first_level}"
        f"array D\nusers loads+stores\nlarger-pages split\ncoalesces 64K\n{first_level}end\n",
        encoding="ascii",
    )
    for pages in ("all:4K", "anon:64K", "anon:2M"):
        options = [f"--machine={machine}", f"--pages={pages}"]
        r = run(tmp_path / pages, client("pages_use"), "anon", 4, options=options, geometry=(), prefix=["setarch", "-R"])
        assert r.status == 0, r.err
        assert close(misses(r.only()), expected(4 * M, 64 * K)), pages
