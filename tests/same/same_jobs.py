# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What tests/run-same runs: programs, and the options that each of them runs with.

Every client of the build is here or in LEFT_OUT with a reason. Programs must do the same in each
run: without timers, threads that race and readers of /proc/self/maps.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import bench_programs
from bench import SIXTY, TWO_DOZEN
from fast_path_at_length import (
    choose,
    made_up,
    program_for,
    several,
    smallest_base_page,
)
from oracle_programs import PROGRAMS, Program, make_place
from oracle_random import build
from oracle_support import CLIENTS, SOURCE, X86, need
from same_runs import Command, Job, Missing, Worker

RANDOM_PROGRAMS = 300


def small(policy: str, *more: str) -> list[str]:
    """Arrays so small that they miss."""
    return [f"--itlb=16,4,4K,{policy}", f"--dtlb=16,4,4K,{policy}", f"--stlb=64,8,4K,{policy}", *more]


FAULTS = ("--faults=yes", "--faults-used=yes")

# Options by name. The first of them are those that a spread begins with.
WAYS: dict[str, list[str]] = {
    "lru": small("lru"),
    "24": [f"--machine={TWO_DOZEN}"],
    "faults": ["--machine=skylake", *FAULTS],
    "plru": small("plru"),
    "slow": ["--machine=skylake", "--fast-path=no"],
    "thp": ["--machine=zen3,icelake,cortex-a57@heap:64K,zen4@thp", "--thp=always", "--faults=yes"],
    "nru": small("nru"),
    "reach": ["--machine=goldencove,power8", "--reach=yes"],
    "fifo": small("fifo"),
    "as-cachegrind": ["--itlb=64,4", "--dtlb=64,4", "--stlb=512,8", "--as-cachegrind=yes"],
    "random": small("random:7"),
    "entries": ["--machine=zen2", "--entries=data"],
    "60": [f"--machine={SIXTY}", *FAULTS],
    "full": ["--itlb=16,full", "--dtlb=12,full", "--stlb=128,4", "--reach=yes"],
    "direct": ["--itlb=16,1", "--dtlb=16,1", "--stlb=32,1"],
    "plru-full": ["--itlb=16,full,4K,plru", "--dtlb=64,full,4K,plru", "--stlb=128,8,4K,plru"],
    "nru-full": ["--itlb=16,full,4K,nru", "--dtlb=64,full,4K,nru", "--stlb=128,4,4K,nru"],
    "policies": ["--machine=c910,power8,ultrasparc-t1,core2,knl", *FAULTS],
    "bases": ["--machine=apple-m1,zen4@thp,ultrasparc-t1@all:64K,power8@anon:16M", "--huge-pool=16M:3,64K:900"],
    "rules": ["--machine=skylake,zen2", "--pages=anon:64K,heap:2M,stack:16K", *FAULTS],
    "contig": ["--machine=neoverse-v2,zen5@all:2M", "--pages=contig"],
    "page-size": ["--machine=neoverse-n1", "--page-size=16K", "--faults=yes"],
    "nested": ["--machine=skylake,zen3,cortex-a76", "--nested=yes", "--miss-cost=19", "--cycles=1000000"],
    "24-slow": [f"--machine={TWO_DOZEN}", "--fast-path=no"],
    "thp-slow": ["--machine=zen3,skylake", "--thp=always", "--fast-path=no"],
    "cold": ["--machine=bonnell", "--faults=yes", "--fault-around=off", "--read-ahead=16K", "--mthp=64K", "--faults-hidden=yes"],
    "stock": ["--machine=core-duo-t2600,bulldozer,geode-lx", "--native-start=no", "--faults=yes", "--entries=yes"],
    "copies": ["--machine=skylake,zen4", "--copies=3"],
    "copies-behind": ["--machine=skylake,c910", "--copies=2:700"],
    "data": ["--machine=skylake,zen4@heap:64K", "--data=yes", "--mappings=yes"],
    "offsets": ["--machine=zen3", "--data-offsets=yes", "--timeline=yes"],
    "mappings": ["--machine=skylake,apple-m1", "--mappings=yes", "--calls=yes"],
    "calls": ["--machine=skylake", "--calls=yes", "--data=yes", "--dump-instr=yes"],
    "kernel": ["--machine=skylake,zen4", "--flush-policy=linux", "--syscall-tlb=kernel:4", "--switch-every=20000"],
    "cores": ["--machine=skylake", "--cores=2", "--prefetch=weak", "--separate-threads=yes"],
    "three-levels": ["--machine=lioncove,neoverse-v3,oryon", "--reach=yes", "--faults=yes", "--entries=yes"],
}
SPREAD = 6
NOT_OF_LAYOUT = ("data", "mappings")  # native_layout maps memory beside the tool's own
# A printed number of the process, or of its own page faults, touches as much of printf's table of
# digits as it has different digits.
NOT_OF_NUMBERS = ("data", "offsets", "calls")
NOT_WITH_32_BITS = ("copies", "copies-behind")  # an address has no room for their numbers


def prepared(options: Sequence[str]) -> list[str]:
    """Whatever the host does with huge pages, the runs are alike."""
    return [*([] if any(o.startswith("--thp=") for o in options) else ["--thp=madvise"]), *options]


def spread(number: int, quick: bool, all_of_them: bool = False) -> list[str]:
    """The names of some ways, others for each number."""
    names = list(WAYS)
    if quick:
        return [names[number % len(names)]]
    if all_of_them:
        return names
    step = len(names) // SPREAD
    return [names[(number + step * i) % len(names)] for i in range(SPREAD)]


# ---------------------------------------------------------------- clients

BITS = ("", "32")
SIGNALS = ("none", "read-only", "fetch", "segv-out", "fpe-out", "--sigill-diagnostics=no -- ill-out", "walk-out", "one-page", "two-page", "sent")
ENDS = ("exit 3", "_exit 4", "kill 9", "abort 0", "segv 0", "fork", "fork-quick", "close-all", "umask")
MECHANISMS = ("write", "read-write", "populate-read", "populate-write", "free", "thp", "thp-off")
SPACE = ("moves", "breaks", "segments", "advice", "deep", "many=2000")  # those without files of random names
PAGES = ("anon 8", "anon 8 advise", "anon 8 late", "anon 4 protect", "anon 8 empty", "anon 4 free", "anon 4 probe", "anon 4 mix")

LEFT_OUT = {
    "fault_cold": "it waits, and reads a disk of its own",
    "fault_threads": "its threads race",
    "fault_used": "its threads race",
    "fault_used32": "its threads race",
    "run_forbidden": "it becomes another program",
    "run_threads": "its threads race",
    "run_threads32": "its threads race",
    "oracle_pins.so": "the programs of the oracle have it preloaded",
    "run_plugin_a.so": "run_code loads it",
    "run_plugin_b.so": "run_code loads it",
}

# By client: what stands behind it. CLIENTS is the build's folder; the tool's options stand before a --.
# What races or has files of random names is not here: other words of aspace_walk, pages_use file,
# run_process main-ends, run_signals storm.
CLIENT_RUNS: dict[str, Sequence[str]] = {
    "oracle_refs": ("",),
    "oracle_walk": ("",),
    "oracle_part": ("0", "1", "2"),
    "pages_change": ("0 60", "1 60", "2 200"),
    "pages_use": (*PAGES, "anon 4 write", "bss 4", "heap 8", "stack 4", "anon 4 never", "anon 4 advised-only"),
    "run_signals": SIGNALS,
    "run_code": (*(f"--smc-check=all -- {what}" for what in ("jit", "stack", "map", "under")), "load CLIENTS/run_plugin_a.so CLIENTS/run_plugin_b.so 3"),
    "run_conditions": ("",),
    "run_process": (*ENDS, "spawn CLIENTS/run_exec 7", "--trace-children=yes -- spawn CLIENTS/run_exec 7", "exec-fails"),
    "run_exec": ("70", "--trace-children=yes -- 10 CLIENTS/run_exec 20", "--trace-children=no -- 10 CLIENTS/run_exec 20"),
    "run_debugged": ("",),
    "aspace_walk": (*(f"--trace-aspace=yes -- {what}" for what in SPACE), "--hugetlb=fake --trace-aspace=yes -- huge"),
    "fault_bss": ("",),
    "fault_cpuid": ("",),
    "fault_entry": ("",),
    "fault_fixed": ("",),
    "fault_forks": ("",),
    "fault_heap": ("",),
    "fault_hello": ("",),
    "fault_hints": ("",),
    "fault_mechanisms": MECHANISMS,
    "fault_padding": ("",),
    "fault_places": ("",),
    "fault_request": ("",),
    "fault_static": ("",),
    "fault_vdso": ("",),
    "native_layout": ("", "30"),
}
# These run in all ways.
THOROUGH = {"oracle_refs", "oracle_walk", "pages_change", "oracle_part", "pages_use anon 8 late"}


def client_command(name: str, words: str, way: list[str], worker: Worker) -> Command:
    before, _, after = words.rpartition("-- ")
    if not (CLIENTS / name).exists():
        raise Missing(f"{CLIENTS / name} is missing; make check builds it")
    arguments = after.replace("CLIENTS", str(CLIENTS)).split()
    if name.startswith("run_"):
        # It prints its pid, and each digit of it is a byte used of the table that printf has of them.
        way = [option for option in way if option != "--faults-used=yes"]
    return Command([*prepared(way), *before.split()], [str(CLIENTS / name), *arguments], worker.place)


def clients(quick: bool) -> Iterator[Job]:
    number = 0
    for client, runs in CLIENT_RUNS.items():
        for bits in BITS if X86 else BITS[:1]:
            if bits and not (CLIENTS / (client + bits)).exists():
                continue  # only some are there with 32 bits, too
            for words in runs:
                number += 1
                title = f"{client}{bits} {words}".strip()
                thorough = bool({client, title} & THOROUGH)
                ways = spread(number, quick, thorough and not bits)
                never = (NOT_WITH_32_BITS if bits else ()) + (NOT_OF_LAYOUT if client == "native_layout" else ())
                if client.startswith("run_") or client == "fault_mechanisms":
                    never += NOT_OF_NUMBERS
                for way in (way for way in ways if way not in never):
                    yield Job(
                        f"clients/{title.replace(str(CLIENTS), '')}/{way}",
                        partial(client_command, client + bits, words, WAYS[way]),
                        # It reads /proc/self/maps, in which the tool itself is, and counts what that takes.
                        traces=b"aspace:" if client == "aspace_walk" else b"",
                    )


def left_out() -> Iterator[tuple[str, str]]:
    """Clients of the build that are not run, with the reason."""
    for path in sorted(CLIENTS.iterdir()):
        if path.name in LEFT_OUT:
            yield path.name, LEFT_OUT[path.name]
        elif path.name.removesuffix("32") not in CLIENT_RUNS:
            yield path.name, "same_jobs.py does not say how it is run"


# ---------------------------------------------------------------- programs


def installed(program: Program) -> list[str]:
    try:
        return program.line()
    except AssertionError as error:
        raise Missing(str(error)) from None


def prepare_place(folder: Path) -> None:
    for command, package in (("gcc", "gcc"), ("as", "binutils"), ("git", "git")):
        try:
            need(command, package)
        except AssertionError as error:
            raise Missing(f"inputs cannot be made: {error}") from None
    folder.mkdir()
    make_place(folder)


def oracle_command(program: Program, way: list[str], worker: Worker) -> Command:
    line = installed(program)
    folder = worker.folder / "oracle"
    worker.once("oracle", partial(prepare_place, folder))
    return Command(prepared(way), line, folder)


def oracle(quick: bool) -> Iterator[Job]:
    for number, program in enumerate(PROGRAMS):
        for way in spread(number, quick, program.name == "ls"):
            yield Job(f"oracle/{program.name}/{way}", partial(oracle_command, program, WAYS[way]))


def bench_command(program: bench_programs.Program, way: list[str], worker: Worker) -> Command:
    folder = worker.folder / "bench"
    folder.mkdir(exist_ok=True)
    try:
        made = program.make(bench_programs.Place(folder, quick=True))
    except bench_programs.Missing as error:
        raise Missing(str(error)) from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing(f"{program.name} cannot be built: {error}") from None
    return Command(prepared(way), made.arguments, worker.place, made.stdin)


BENCH_QUICKLY = ("ls", "git", "bash", "matrix", "stream")


def bench(quick: bool) -> Iterator[Job]:
    for number, program in enumerate(bench_programs.ALL.values()):
        if quick and program.name not in BENCH_QUICKLY:
            continue
        for way in spread(number, True) if quick else ("faults", "24", "reach"):
            yield Job(f"bench/{program.name}/{way}", partial(bench_command, program, WAYS[way]))


# ---------------------------------------------------------------- random programs


def random_command(seed: int, worker: Worker) -> Command:
    """A random program, as check-long has them, or one of 32 bits, with random machines and options."""
    dice = random.Random(seed)
    for path in worker.inputs.iterdir():
        path.unlink()
    try:
        if X86 and dice.random() < 0.1:
            program = [str(build(worker.inputs, seed, 30, 32))]
        else:
            program = program_for(dice, worker.inputs, seed)
    except (AssertionError, OSError, subprocess.CalledProcessError) as error:
        raise Missing(f"random program {seed} cannot be built: {error}") from None
    how = dice.choice(([], [], [], [], ["--fast-path=no"], ["--entries=yes"], ["--entries=data"]))
    if dice.random() < 0.3:
        return Command(prepared([*made_up(dice), *choose(dice), *how]), program, worker.place)
    # The files of the machines lie where the program runs. Not each has pages for each rule.
    machines = several(dice, worker.place)
    how += choose(dice, smallest_base_page(machines, worker.place))
    ruled, plain = (prepared([f"--machine={','.join(names)}", *how]) for names in (machines, map(without_rules, machines)))
    return Command(ruled, program, worker.place, if_refused=plain)


def without_rules(machine: str) -> str:
    return machine.partition("@")[0]


def random_programs(quick: bool) -> Iterator[Job]:
    for seed in range(1, 1 + RANDOM_PROGRAMS // (10 if quick else 1)):
        yield Job(f"random/{seed}", partial(random_command, seed))


# ---------------------------------------------------------------- machines


def shown(options: list[str], worker: Worker) -> Command:
    return Command(options, [], worker.place)


def machines(quick: bool) -> Iterator[Job]:
    """Machine files and messages that no program has to run for."""
    for option in ("--list-machines", "--version", "--help", "--show-machine=default", "--show-machine=host"):
        yield Job(f"machines/{option}", partial(shown, [option]), writes_files=False)
    files = sorted((SOURCE / "tlbgrind" / "machines").glob("*.machine"))
    damaged = [path for kind in ("cpuid_dump", "machine_file") for path in sorted((SOURCE / "tests" / "fuzz" / "corpus" / kind).iterdir())]
    for path in [*files, *damaged][:: 10 if quick else 1]:
        named = path.stem if path.suffix == ".machine" else path
        yield Job(f"machines/{path.stem}", partial(shown, [f"--show-machine={named}"]), writes_files=False)


def jobs(parts: Sequence[str], quick: bool) -> list[Job]:
    made = {"machines": machines, "clients": clients, "oracle": oracle, "bench": bench, "random": random_programs}
    return [job for part, of_part in made.items() if part in parts for job in of_part(quick)]
