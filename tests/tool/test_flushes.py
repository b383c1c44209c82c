# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--flush-policy=: what the kernel flushes when page tables change, and what that costs."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from tg_environment import client
from tool_support import PIDS_FROM, OutFile, Run, compile_program, messages, run

FLUSHES = ("FLall", "FLone", "FLin", "FLout", "FLhot")
ROOM = ("--itlb=256,full", "--dtlb=1024,full")  # for all pages of the client


def observe(
    folder: Path, *arguments: str, options: Sequence[str] = (), machines: Sequence[str] = ROOM, collect: bool = True
) -> Run:
    done = run(folder, client("run_flushes"), *arguments, options=options, geometry=machines, collect=collect)
    assert done.status == 0, done.err
    return done


def column(out: OutFile, event: str) -> int:
    return out.field("events").split().index(event)


def costs(out: OutFile, function: str | None = None, events: Sequence[str] = FLUSHES) -> tuple[int, ...]:
    """Of all lines, or of a function's."""
    lines = [line for line in out.lines if function in (None, line.function)]
    return tuple(sum(line.costs[column(out, event)] for line in lines) for event in events)


def walks(out: OutFile) -> int:
    return sum(costs(out, None, ("ILtm", "DLtmr", "DLtmw")))


def named(done: Run, suffix: str) -> OutFile:
    (found,) = (out for out in done.files if out.path.name.endswith(suffix))
    return found


def said(done: Run) -> dict[tuple[int, str], tuple[int, int, int]]:
    """By process and function: flushes, pages, and translations of these pages."""
    rows = [line.split() for line in done.out.splitlines()]
    assert all(row[0] == "flushes" for row in rows)
    return {(int(row[1]) - PIDS_FROM, row[2]): (int(row[3]), int(row[4]), int(row[5])) for row in rows}


@pytest.mark.parametrize("options", [(), ("--fast-path=no",), ("--faults=yes",), ("--data=yes",)])
def test_pages_that_were_there_are_flushed_one_by_one(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = observe(tmp_path, options=["--flush-policy=ceiling:1000", *options])
    expected = said(done)
    assert len(expected) == 9 and len({pid for pid, _ in expected}) == 2
    counted = {key: costs(done.of(key[0]), key[1])[:3] for key in expected}
    assert counted == {key: (0, pages, within) for key, (_, pages, within) in expected.items()}


def test_a_policy_of_everything_flushes_as_often(tmp_path: Path) -> None:
    done = observe(tmp_path, options=["--flush-policy=all"])
    expected = said(done)
    counted = {key: costs(done.of(key[0]), key[1])[:2] for key in expected}
    assert counted == {key: (times, 0) for key, (times, _, _) in expected.items()}


def test_a_fork_flushes_everything_at_once(tmp_path: Path) -> None:
    done = observe(tmp_path, options=["--flush-policy=ceiling:1000"])
    (parent,) = {pid for pid, function in said(done) if function == "unmaps"}
    assert costs(done.of(parent), "forks")[:2] == (1, 0)


@pytest.mark.parametrize("shift, pages, everything", [
    (1, 128, False), (2, 128, False), (5, 128, True), (6, 128, True), (2, 129, True), (1, 129, False),
])  # fmt: skip
def test_entries_shifted_are_the_most_pages_flushed_one_by_one(
    tmp_path: Path, shift: int, pages: int, everything: bool
) -> None:
    rounds = 20
    done = observe(
        tmp_path, "loop", str(rounds), str(pages),
        options=[f"--flush-policy=shift:{shift}"], machines=("--itlb=64,full", "--dtlb=512,full"),
    )  # fmt: skip
    out = done.only()
    flushed, single, within, outside, again = costs(out, "loop")
    assert (flushed, single, within) == ((rounds, 0) if everything else (0, rounds * pages)) + (rounds * pages,)
    # There is room for all pages, so hot ones are lost by flushes alone.
    hot = rounds * 256 if everything else 0
    assert costs(out, "writes", ["DLtmw"]) == (256 + rounds * pages + hot,)
    assert hot <= again <= outside
    assert everything or outside == 0


def test_hot_loss_is_the_walks_that_a_flush_of_everything_adds(tmp_path: Path) -> None:
    policies = ("ceiling:1000", "ceiling:33", "ceiling:127", "ceiling:128", "shift:3", "all")
    done = observe(tmp_path, "loop", "30", "128", options=[f"--flush-policy={','.join(policies)}"])
    assert len(done.files) == len(policies)
    least = walks(named(done, "ceiling:1000"))
    added = {policy: walks(named(done, policy)) - least for policy in policies}
    assert added == {policy: costs(named(done, policy))[4] for policy in policies}
    assert added["ceiling:33"] == added["ceiling:127"] > added["ceiling:128"] == 0
    assert added["all"] > added["ceiling:33"] >= 30 * 256


def test_policies_of_one_run_count_as_each_alone(tmp_path: Path) -> None:
    machines = ("skylake@flush:linux", "skylake", "cortex-a76@flush:linux", "zen4@anon:2M+flush:all")
    together = observe(tmp_path / "all", options=["--fast-path=yes"], machines=[f"--machine={','.join(machines)}"])
    slowly = observe(tmp_path / "run", options=["--fast-path=no"], machines=[f"--machine={','.join(machines)}"])
    assert len(together.files) == len(slowly.files) == 2 * len(machines)
    for i, machine in enumerate(machines):
        alone = observe(tmp_path / f"{i:03}", options=["--fast-path=yes"], machines=[f"--machine={machine}"])
        # Of two processes, whose numbers can begin again between them.
        runs = [[out for out in done.files if out.descriptions("Machine") == [machine]] for done in (together, slowly, alone)]
        counted = [sorted((out.summary, out.lines) for out in files) for files in runs]
        assert len(counted[0]) == 2 and counted[0] == counted[1] == counted[2], machine


def test_what_a_huge_page_counts(tmp_path: Path) -> None:
    for name, policy, flushed in (("one", "ceiling:1", (0, 1, 1)), ("all", "ceiling:0", (1, 0, 1))):
        done = observe(
            tmp_path / name, "huge",
            options=["--thp=always", "--pages=anon:thp"], machines=[f"--machine=skylake@flush:{policy}"],
        )  # fmt: skip
        assert costs(done.only(), "unmaps_huge")[:3] == flushed
    done = observe(tmp_path / "small", "huge", options=["--thp=never"], machines=["--machine=skylake@flush:ceiling:512"])
    assert costs(done.only(), "unmaps_huge")[:2] == (0, 512)


@pytest.mark.parametrize("machine, ceiling", [("skylake", 33), ("cortex-a76", 511), ("u74", 64), ("power9", 33)])
def test_the_ceiling_of_linux_is_the_processors(tmp_path: Path, machine: str, ceiling: int) -> None:
    for pages, flushes in ((ceiling, 0), (ceiling + 1, 1)):
        done = observe(
            tmp_path / str(pages), "loop", "1", str(pages),
            options=["--flush-policy=linux", "--page-size=4K"], machines=[f"--machine={machine}"],
        )  # fmt: skip
        assert costs(done.only(), "loop")[:2] == (flushes, 0 if flushes else pages)


def test_without_a_policy_nothing_is_told_of_flushes(tmp_path: Path) -> None:
    plain = observe(tmp_path / "plain", "loop", "2", "10")
    none = observe(tmp_path / "other", "loop", "2", "10", options=["--flush-policy=none"])
    assert plain.only().lines == none.only().lines
    assert not any(event.startswith("FL") for event in plain.only().field("events").split())
    assert "TLB flushes" not in plain.err and "TLB flushes" not in none.err


def test_the_summary_has_the_flushes_of_each_machine(tmp_path: Path) -> None:
    done = observe(tmp_path, "loop", "10", "100", machines=["--machine=zen4@flush:all,zen4,zen4@flush:ceiling:100"])
    text = messages(done.err)
    table = text[next(i for i, line in enumerate(text) if line.startswith("TLB flushes by")) :][1:5]
    assert table[0].split("  ")[0] == "machine"
    rows = {row.split()[0]: tuple(row.replace(",", "").split()[1:]) for row in table[1:]}
    for out in done.files:
        counts = costs(out) if out.descriptions("Flushes") else ("-",) * 5
        assert rows[out.descriptions("Machine")[0]] == tuple(map(str, counts))
    assert named(done, "zen4@flush:all").descriptions("Flushes") == ["always everything"]


@pytest.mark.parametrize("options, complaint", [
    (("--flush-policy=some",), "policy for flushes; allowed are none, linux, ceiling:PAGES, shift:0 to shift:31, and all"),
    (("--flush-policy=shift:32",), "'shift:32' is no policy for flushes"),
    (("--flush-policy=ceiling:",), "'ceiling:' is no policy for flushes"),
    (("--flush-policy=ceiling:99999999999",), "is no policy for flushes"),
    (("--flush-policy=",), "'' is no policy for flushes"),
    (("--flush-policy=linux,,all",), "'' is no policy for flushes"),
    (("--flush-policy=linux", "--calls=yes"), "--calls=yes goes without --flush-policy=linux"),
    (("--flush-policy=linux", "--as-cachegrind=yes"), "--as-cachegrind=yes goes without --flush-policy=linux"),
    (("--flush-policy=linux", "--page-size=2M"), "flushes can be simulated with base pages of 4K, 16K and 64K, not 2M"),
    (("--flush-polcy=linux",), "--flush-policy"),
])  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, options: tuple[str, ...], complaint: str) -> None:
    done = run(tmp_path, client("run_flushes"), options=options, geometry=ROOM, collect=False)
    assert done.status == 1
    assert complaint in done.err, done.err


def test_advice_is_for_one_policy(tmp_path: Path) -> None:
    options = ("--advice=yes", "--flush-policy=linux,all")
    done = run(tmp_path, client("run_flushes"), options=options, geometry=["--machine=zen4"], collect=False)
    assert done.status == 1 and "--advice=... is about one policy; give one" in done.err, done.err
    options = ("--advice=yes", "--flush-policy=linux")
    done = run(tmp_path, client("run_flushes"), "loop", "1", "1", options=options, geometry=["--machine=zen4"])
    assert done.status == 0 and all(out.descriptions("Flushes") for out in done.files), done.err


def test_a_flush_is_booked_on_the_call_instruction(tmp_path: Path) -> None:
    observe(tmp_path, "loop", "3", "50", options=["--flush-policy=all", "--dump-instr=yes"], collect=False)
    (path,) = tmp_path.glob("out.*")
    rows = path.read_text(encoding="utf-8").splitlines()
    events = next(row.split()[1:] for row in rows if row.startswith("events: "))
    begin = next(i for i, row in enumerate(rows) if re.match(r"fn=\(\d+\) loop$", row))
    own = itertools.takewhile(lambda row: row.startswith("0x"), rows[begin + 1 :])
    counts = [dict(zip(events, map(int, row.split()[2:]))) for row in own]
    assert [(count["FLall"], count["Ir"]) for count in counts if count["FLall"] > 0] == [(3, 3)]


def test_in_a_static_program_a_flush_is_booked_on_the_call_with_a_line(tmp_path: Path) -> None:
    """The C library there has none, and is no file of its own, outside of which the call could be."""
    source = Path(os.environ["TG_SRCDIR"], "tests", "clients", "run_flushes.c")
    program = compile_program(tmp_path, "static", str(source), "-static")
    done = run(tmp_path / "run", program, "loop", "3", "50", options=["--flush-policy=all"], geometry=ROOM)
    assert done.status == 0, done.err
    assert costs(done.only(), "loop", ["FLall"]) == (3,)


# By way of run_tables.c: flushes of everything, and pages flushed one by one, that 50 rounds add. Counted with
# the tracepoint tlb:tlb_flush on Linux 6.18.
TABLES = {
    "alone": (50, 0),
    "near_beginning": (0, 1000),
    "beside": (0, 249),
    "before": (0, 200),
    "across": (50, 0),
    "across_kept": (99, 0),
    "untouched": (0, 0),
    "replaced": (50, 0),
    "part": (0, 200),
    "alone_in_region": (50, 0),
    "discarded": (50, 0),
    "discarded_part": (0, 200),
}
ROUNDS = 50


def added(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """What the rounds add, of (without rounds, with rounds)."""
    return tuple(b - a for a, b in zip(*counts))


@pytest.mark.parametrize("way", TABLES)
def test_a_page_table_that_is_freed_widens_the_flush_to_its_beginning(tmp_path: Path, way: str) -> None:
    counts = []
    for rounds in (0, ROUNDS):
        folder = tmp_path / f"{rounds:02}"
        done = run(folder, client("run_tables"), way, str(rounds), options=["--flush-policy=linux"], geometry=["--machine=zen4"])
        counts.append(costs(done.only(), None, ("FLall", "FLone")))
    assert added(counts) == TABLES[way]


def traced(folder: Path, commands: Sequence[Sequence[object]]) -> list[tuple[int, int]]:
    """The kernel's own counts of each. All in one recording, for each takes perf a second."""
    # On one processor: where the process has been before is flushed, too.
    alone = f"setarch -R taskset -c {min(os.sched_getaffinity(0))}"
    script = "\n".join(f"sh -c 'echo $$; exec \"$@\"' sh {alone} {shlex.join(map(str, command))}" for command in commands)
    data = folder / "perf.data"
    record = ["perf", "record", "-q", "-e", "tlb:tlb_flush", "-o", data, "sh", "-e", "-c", script]
    printed = subprocess.run(record, capture_output=True, check=True, encoding="utf-8").stdout
    pids = [int(line) for line in printed.splitlines() if line.isdigit()]
    assert len(pids) == len(commands)
    text = subprocess.run(["perf", "script", "-i", data], capture_output=True, check=True, encoding="utf-8").stdout
    # What setarch and taskset did, before they became the client, has their names.
    found = re.findall(r"^\s*(\S+) +(\d+) .*pages:(-?\d+) reason:local MM", text, re.MULTILINE)
    counts = []
    for pid, command in zip(pids, commands):
        name = Path(str(command[0])).name[:15]
        rows = [int(pages) for who, number, pages in found if (who, int(number)) == (name, pid)]
        counts.append((rows.count(-1), sum(row for row in rows if row != -1)))
    return counts


def traced_ways(folder: Path, name: str, ways: Iterable[str], *rounds: int, more: Sequence[object] = ()) -> dict[str, tuple[int, ...]]:
    """What the rounds add, by way."""
    probe = ["perf", "record", "-q", "-e", "tlb:tlb_flush", "-o", str(folder / "probe"), "true"]
    if shutil.which("perf") is None or subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("the tracepoint tlb:tlb_flush can not be read here")
    ways = list(ways)
    counts = traced(folder, [(client(name), way, *more, n) for way in ways for n in rounds])
    return {way: added(counts[2 * i : 2 * i + 2]) for i, way in enumerate(ways)}


@pytest.fixture(scope="module")
def of_tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, ...]]:
    return traced_ways(tmp_path_factory.mktemp("tables"), "run_tables", TABLES, 0, ROUNDS)


@pytest.mark.parametrize("way", TABLES)
def test_the_kernel_flushes_page_tables_as_often(of_tables: dict[str, tuple[int, ...]], way: str) -> None:
    release = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
    if way == "discarded" and release < (6, 14):
        pytest.skip("Linux before 6.14 does not free page tables in MADV_DONTNEED")
    assert of_tables[way] == TABLES[way]


def test_large_allocations_that_are_freed_flush_everything(tmp_path: Path) -> None:
    """The table that is hot beside them is walked for again each time, as under the policy of everything."""
    policies = "--flush-policy=linux,all,ceiling:100000"
    done = run(tmp_path, client("run_tables"), "large", "30", options=[policies], geometry=["--machine=zen4"])
    linux, everything, one_by_one = (named(done, policy) for policy in ("linux", "all", "ceiling:100000"))
    assert costs(linux, "frees", ("FLall", "FLone")) == costs(everything, "frees", ("FLall", "FLone")) == (30, 0)
    again = costs(linux, "refers", ("DLtmr",))[0]
    assert again == costs(everything, "refers", ("DLtmr",))[0] >= 29 * 400
    assert costs(one_by_one, "refers", ("DLtmr",))[0] < 400


# By way of run_cleaned.c, pages flushed one by one that 10 rounds add, as the tracepoint counts them on ext4; on tmpfs
# nothing is written back.
CLEANED = {
    "nothing": 0,
    "msync": 80,
    "msync_part": 30,
    "msync_async": 0,
    "fsync": 80,
    "fdatasync": 80,
    "ftruncate": 60,
    "punch": 30,
    "cold": 200,
    "cold_twice": 200,
    "free": 200,
    "free_twice": 200,
    "free_read_free": 400,
    "cold_free_cold": 400,
    "page_out": 0,
}


def file_system(folder: Path) -> str:
    return subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, check=True, encoding="utf-8").stdout.strip()


def cleaned(way: str, folder: Path) -> tuple[int, int]:
    return (0, 0 if file_system(folder) == "tmpfs" and "sync" in way else CLEANED[way])


@pytest.mark.parametrize("way", CLEANED)
def test_pages_that_are_cleaned_aged_or_taken_away_are_flushed(tmp_path: Path, way: str) -> None:
    counts = []
    for rounds in (0, 10):
        done = run(
            tmp_path / f"{rounds:02}", client("run_cleaned"), way, str(tmp_path), str(rounds),
            options=["--flush-policy=linux"], geometry=["--machine=zen4"],
        )  # fmt: skip
        counts.append(costs(done.only(), None, ("FLall", "FLone")))
    assert added(counts) == cleaned(way, tmp_path)


@pytest.fixture(scope="module")
def of_cleaned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, tuple[int, ...]]]:
    """And the folder of its file."""
    folder = tmp_path_factory.mktemp("cleaned")
    if file_system(folder) not in ("ext2/ext3", "tmpfs"):
        pytest.skip("how a file system writes pages back is its own matter: this was counted on ext4 and tmpfs")
    return folder, traced_ways(folder, "run_cleaned", CLEANED, 0, 10, more=[folder])


@pytest.mark.parametrize("way", CLEANED)
def test_the_kernel_flushes_pages_that_are_cleaned_as_often(of_cleaned: tuple[Path, dict[str, tuple[int, ...]]], way: str) -> None:
    folder, counts = of_cleaned
    if way == "page_out" and len(Path("/proc/swaps").read_text(encoding="ascii").splitlines()) > 1:
        pytest.skip("there is swap")
    assert counts[way] == cleaned(way, folder)
