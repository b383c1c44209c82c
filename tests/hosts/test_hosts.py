# test_hosts.py -- the tool on each architecture with each Valgrind, against known counts and other tools.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""On each architecture, with each version of Valgrind: programs that know their counts, a naive
simulation of a trace, cachegrind, and the tool with and without its short cuts, to the
digit.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from host_list import Host, Program
from hosts_support import (
    ALL_LOADS,
    EVENTS,
    FALLBACK,
    SOURCE,
    accesses,
    build_tool,
    build_tracer,
    command_line,
    compile_client,
    hosts_here,
    need,
    profile,
    root_of,
    run,
)
from oracle.naive_tlb import Array, Hierarchy
from tg_companions import package
from tg_long import LONG

CLIENTS = SOURCE / "tests" / "clients"
TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")  # of this architecture

# The start as in Valgrind's own tools.
STARTED_ALIKE = ("--native-start=no", "--thp=madvise")


HERE = hosts_here()
WITH_ORACLES = [h for h in HERE if h.oracles]


# Of a host's four programs two are simulated naively, of the others one is compared with cachegrind,
# and one has the files of both paths.
def simulated(host: Host) -> Sequence[Program]:
    return host.programs if LONG else host.programs[:2]


def both_ways(host: Host) -> Sequence[Program]:
    return host.programs if LONG else host.programs[-1:]


def with_cachegrind(host: Host) -> Sequence[Program]:
    some = host.programs if LONG else host.programs[2:-1] or host.programs
    return (*some, *(host.more_programs if LONG or not host.qemu else ()))


def each(hosts: list[Host], programs: Callable[[Host], Sequence[Program]]) -> pytest.MarkDecorator:
    """Hosts with their programs."""
    pairs = [(h, p) for h in hosts for p in programs(h)]
    names = [f"{h.name}-{p.name}" for h, p in pairs]
    return pytest.mark.parametrize(("host", "program"), pairs, ids=names, indirect=["host"])


@pytest.fixture(scope="module", params=HERE, ids=[h.name for h in HERE])
def host(request: pytest.FixtureRequest) -> Host:
    chosen = request.param
    assert isinstance(chosen, Host)
    need(chosen)
    build_tool(chosen)
    if chosen.own_tracer:
        build_tracer(chosen)
    return chosen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hosts")


def tlbgrind(
    host: Host, options: Sequence[str], program: Sequence[str | Path], folder: Path
) -> tuple[Counter[str], dict[str, Counter[str]], str]:
    """Totals and functions of a run, and what the program printed."""
    out = folder / "out"
    printed, _ = run(host, "tlbgrind", ["-q", f"--tlbgrind-out-file={out}", *options], program)
    return *profile(out), printed


@pytest.mark.parametrize("fast_path", ["yes", "no"])
def test_each_function_makes_the_references_that_its_source_states(
    host: Host, folder: Path, fast_path: str
) -> None:
    program = compile_client(host, host.known_references, folder)
    options = [f"--fast-path={fast_path}", "--itlb=64,4", "--dtlb=64,4", *ALL_LOADS]
    _, functions, printed = tlbgrind(host, options, [program], folder)
    lines = [line.split()[1:] for line in printed.splitlines() if line.startswith("expect ")]
    expected = [[word for word in line if word != "-"] for line in lines]
    assert len(expected) > 10
    counted = [
        [name, *(str(functions[name][event]) for event in ("Ir", "Dr", "Dw"))] for name, *_ in expected
    ]
    assert counted == expected


def test_every_write_of_a_transposition_by_rows_walks(host: Host, folder: Path) -> None:
    """Each write is to another page than the last thousand, and the processor has fewer entries."""
    program = compile_client(host, SOURCE / "docs" / "transpose.c", folder, "-O2")
    for start in ("yes", "no"):
        options = ["--itlb=64,4", "--dtlb=64,4", f"--native-start={start}"]
        _, functions, _ = tlbgrind(host, options, [program], folder)
        walks = sum(functions["by_rows"][event] for event in ("ILtm", "DLtmr", "DLtmw"))
        assert 1 << 20 <= walks < 1_060_000


@dataclass(frozen=True)
class Machine:
    itlb: str
    dtlb: str
    stlb: str

    def options(self) -> list[str]:
        return [f"--itlb={self.itlb}", f"--dtlb={self.dtlb}", f"--stlb={self.stlb}"]

    def hierarchy(self) -> Hierarchy:
        second = Array.parse(self.stlb)
        return Hierarchy([{"I": Array.parse(self.itlb), "D": Array.parse(self.dtlb)}, {"I": second, "D": second}])


MACHINES = (
    Machine("64,4", "48,full", "128,8"),
    Machine("16,4,4K,plru", "20,full,4K,fifo", "72,6,4K,nru"),
)
OF_KIND = {"I": EVENTS[0:3], "L": EVENTS[3:6], "M": EVENTS[3:6], "S": EVENTS[6:9]}


def simulate(
    trace: list[tuple[str, int, int]], machine: Machine, entry: Callable[[int], int] = lambda page: page
) -> Counter[str]:
    """`entry`: what the page is looked up as."""
    hierarchy = machine.hierarchy()
    totals: Counter[str] = Counter()
    for kind, address, size in trace:
        references, first_misses, walks = OF_KIND[kind]
        totals[references] += 1
        for page in range(address // 4096, (address + size - 1) // 4096 + 1):
            missed, walked = hierarchy.translate("I" if kind == "I" else "D", entry(page))
            totals[first_misses] += 0 in missed
            totals[walks] += walked
    return totals


def assert_all_give_the_same(host: Host, ways: Sequence[Callable[[int], object]]) -> None:
    """At once; or, of what each has given so far, in one of as many rounds as the host needs."""
    given: list[list[object]] = [[] for _ in ways]
    for turn in range(host.tries):
        for results, way in zip(given, ways):
            results.append(way(turn))
        if any(all(result in results for results in given) for result in given[0]):
            return
    raise AssertionError("\n".join(str(results)[:2000] for results in given))


@each(WITH_ORACLES, simulated)
def test_programs_count_as_a_naive_simulation(host: Host, program: Program, folder: Path) -> None:
    command = command_line(host, program, folder)
    # A program has one of the machines, and the next program another.
    at = host.programs.index(program) % len(MACHINES)
    traces: list[list[tuple[str, int, int]]] = []
    for machine in MACHINES if LONG or len(host.programs) == 1 else MACHINES[at : at + 1]:

        def naive(turn: int, machine: Machine = machine) -> Counter[str]:
            if turn == len(traces):
                traces.append(accesses(host, command, folder))
            expected = simulate(traces[turn], machine)
            assert min(expected[event] for event in EVENTS) > 0
            return expected

        def ours(fast_path: str, machine: Machine = machine) -> Counter[str]:
            options = [*STARTED_ALIKE, FALLBACK, *machine.options(), f"--fast-path={fast_path}"]
            return tlbgrind(host, options, command, folder)[0]

        assert_all_give_the_same(host, [naive, lambda _: ours("yes"), lambda _: ours("no")])


BLOCK = 1 << 16  # of code, for arm64's kernels since 6.17
FIRST_CODE = 128 << 10  # of a file comes in base pages
CODE_MACHINE = Machine("16,full,4K+64K,lru", "24,full,4K+64K,lru", "48,full,4K+64K,lru")


def blocks_of_code(host: Host, faults: Path, program: Path) -> set[int]:
    """The numbers of the blocks that lie in one segment of code, by what was mapped where and by the
    files' headers. The program itself has blocks wherever Valgrind has put it."""
    blocks: set[int] = set()
    for line in faults.read_text(errors="replace").splitlines():
        words = line.split("\t")
        if words[0] != "map" or words[5:7] != ["r-x", "file"]:
            continue
        start, offset, path = int(words[2], 16), int(words[7], 16), Path(words[8])
        file = path if path.exists() and path.is_relative_to(root_of(host)) else root_of(host) / words[8].lstrip("/")
        end = start + ends_of_code(host, file)[offset] - offset
        if path.name != program.name and (start - offset) % BLOCK != 0:
            continue
        for block in range(-(-start // BLOCK), end // BLOCK):
            if block * BLOCK - start + offset >= FIRST_CODE:
                blocks.add(block)
    return blocks


def ends_of_code(host: Host, file: Path) -> dict[int, int]:
    """Of each segment of code, by its first page: where it ends in the file, in whole pages."""
    done = subprocess.run([f"{host.triplet}-readelf", "-lW", file], capture_output=True, encoding="utf-8", check=True)
    ends = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:-1]:
            offset, size = int(words[1], 16), int(words[4], 16)
            ends[offset & -4096] = (offset + size + 4095) & -4096
    assert ends, file
    return ends


def check_replay(host: Host, faults: Path) -> None:
    """What tg_faults computes once more has the folios that a cold start leaves, too."""
    lines = faults.read_text(errors="surrogateescape").splitlines()[:-1]  # without the checksum
    for number, line in enumerate(lines):
        words = line.split("\t")
        if words[0] == "map" and words[6] == "file" and not Path(words[8]).is_relative_to(root_of(host)):
            lines[number] = "\t".join([*words[:8], f"{root_of(host)}{words[8]}"])
    faults.write_text("".join(f"{line}\n" for line in lines), errors="surrogateescape")
    faultlog, replay = package("formats.faultlog"), package("faults.replay")
    log = faultlog.read(str(faults))
    run = replay.Run(log)
    assert run.leaves_folios
    for view in ("warm", "cold"):
        again = replay.replay(run, is_cold=view == "cold")
        assert again.faults == sum(1 for _ in log.of(faultlog.view_number(view)))


@each([h for h in WITH_ORACLES if h.valgrind == "arm64"], lambda h: h.programs[1:2])
def test_code_in_the_kernels_blocks_counts_as_a_naive_simulation(host: Host, program: Program, folder: Path) -> None:
    """The machine holds pages of 64K; the kernel is one that maps code in blocks of that size, or not."""
    command = command_line(host, program, folder)
    trace = accesses(host, command, folder)
    common = [*STARTED_ALIKE, FALLBACK, *CODE_MACHINE.options(), f"--faults-out-file={folder / 'code.faults'}"]

    def ours(*options: str) -> dict[str, int]:
        totals, _, _ = tlbgrind(host, [*common, *options], command, folder)
        return {event: totals[event] for event in EVENTS}

    def naive(entry: Callable[[int], int]) -> dict[str, int]:
        totals = simulate(trace, CODE_MACHINE, entry)
        return {event: totals[event] for event in EVENTS}

    newer = ours("--kernel=6.18")
    check_replay(host, folder / "code.faults")
    blocks = blocks_of_code(host, folder / "code.faults", Path(command[0]))
    assert len(blocks) > 20
    # Each array is one set, so an entry's number need only be its own.
    assert newer == naive(lambda page: -1 - page // 16 if page // 16 in blocks else page)
    assert newer == ours("--kernel=6.17", "--fast-path=no")
    assert naive(lambda page: page) == ours("--kernel=6.12")


@each(WITH_ORACLES, lambda h: h.programs[:2][-1:])
def test_a_recording_is_replayed_as_the_run_was(host: Host, program: Program, folder: Path) -> None:
    """On arm64 the kernel's blocks of code are those of the run, too. POWER's machines have base pages of 64K, which
    are 4K in a run under qemu."""
    machine = f"--machine={host.machine}"
    command = command_line(host, program, folder)
    live, recording, replayed = folder / "live", folder / "recording", folder / "replayed"
    options = ["-q", "--kernel=6.17", f"--record={recording}", f"--tlbgrind-out-file={live}", machine, *STARTED_ALIKE]
    run(host, "tlbgrind", options, command)

    def replay(*rules: str) -> list[bytes]:
        subprocess.run([TG_SIMULATE, machine, *rules, "-o", replayed, recording], stdout=subprocess.DEVNULL, check=True)
        return without_the_run(replayed)

    assert replay() == without_the_run(live)
    has_blocks = b"code of files from 128K on in blocks of 64K, as Linux 6.17 maps it" in live.read_bytes()
    assert has_blocks == (host.valgrind == "arm64")
    if has_blocks:
        assert replay("--pages=text:4K") != without_the_run(live)


def cachegrind(host: Host, program: Sequence[str | Path], folder: Path) -> list[int]:
    out = folder / "cachegrind"
    caches = ["--I1=262144,4,4096", "--D1=262144,4,4096", "--LL=8388608,8,4096"]
    run(host, "cachegrind", ["-q", "--cache-sim=yes", f"--cachegrind-out-file={out}", *caches], program)
    for line in out.read_text(errors="replace").splitlines():
        if line.startswith("summary: "):
            return list(map(int, line.split()[1:]))
    raise AssertionError("no summary")


@each(WITH_ORACLES, with_cachegrind)
def test_with_cachegrinds_definitions_all_counts_are_cachegrinds(host: Host, program: Program, folder: Path) -> None:
    options = ["--as-cachegrind=yes", "--itlb=64,4", "--dtlb=64,4", "--stlb=2048,8"]
    command = command_line(host, program, folder)

    def ours(_: int) -> list[int]:
        totals, _, _ = tlbgrind(host, options, command, folder)
        return [totals[event] for event in EVENTS]

    assert_all_give_the_same(host, [ours, lambda _: cachegrind(host, command, folder)])


# What must not change a count, with everything that a run can write.
EVERYTHING = ("--faults=yes", "--data=yes", "--calls=yes", "--reach=yes")


@each(HERE, both_ways)
def test_the_fast_path_changes_nothing(host: Host, program: Program, folder: Path) -> None:
    """With the start as natively, a machine of the architecture, and pages of several sizes."""
    command = command_line(host, program, folder)

    def written(fast_path: str) -> dict[str, list[bytes]]:
        place = Path(tempfile.mkdtemp(dir=folder))
        options = ["-q", f"--out-prefix={place / 'run'}", f"--machine={host.machine}", f"--pages={host.large_pages}"]
        run(host, "tlbgrind", [*options, *EVERYTHING, f"--fast-path={fast_path}"], command)
        files = {path.name: without_the_run(path) for path in place.iterdir()}
        assert len(files) >= 4
        return files

    assert_all_give_the_same(host, [lambda _: written("yes"), lambda _: written("no")])


def without_the_run(path: Path) -> list[bytes]:
    own = (b"pid: ", b"# pid: ", b"# checksum: ", b"cmd: ")
    return [line for line in path.read_bytes().split(b"\n") if not line.startswith(own) and b"--fast-path" not in line]


@pytest.mark.parametrize("fast_path", ["yes", "no"])
def test_prefetches_fill_what_the_client_expects(host: Host, folder: Path, fast_path: str) -> None:
    program = compile_client(host, CLIENTS / "run_prefetch.c", folder)
    options = ["--itlb=16,4", "--dtlb=16,full", "--stlb=64,full", "--prefetch=strong", f"--fast-path={fast_path}"]
    _, functions, printed = tlbgrind(host, options, [program], folder)
    expected = [line.split()[1:] for line in printed.splitlines() if line.startswith("strong ")]
    assert len(expected) > 5
    counted = [
        [name, *(str(functions[name][event]) for event in ("Pref", "P1tm", "PLtm", "Pvain"))] for name, *_ in expected
    ]
    assert counted == expected


def test_costs_are_kept_while_the_function_is_active(host: Host, folder: Path) -> None:
    """fib() calls only itself, so that its own costs are all."""
    program = compile_client(host, SOURCE / "tests" / "hosts" / "recursion.c", folder)
    _, functions, _ = tlbgrind(host, [], [program], folder)
    for fast_path in ("yes", "no"):
        options = ["--toggle-collect=fib", f"--fast-path={fast_path}"]
        totals, kept, _ = tlbgrind(host, options, [program], folder)
        assert {name: counts["Ir"] for name, counts in kept.items() if counts["Ir"]} == {"fib": functions["fib"]["Ir"]}
        assert totals["Ir"] == functions["fib"]["Ir"] > 464


def test_calls_are_those_of_the_source(host: Host, folder: Path) -> None:
    """fib(12) calls 464 times itself: two calls for each value above 1."""
    program = compile_client(host, SOURCE / "tests" / "hosts" / "recursion.c", folder)
    out = folder / "calls"
    run(host, "tlbgrind", ["-q", "--calls=yes", f"--tlbgrind-out-file={out}"], [program])
    lines = out.read_text().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("fn=") and line.endswith(" fib"))
    assert next(line for line in lines[start:] if line.startswith("calls=")).split()[0] == "calls=464"
