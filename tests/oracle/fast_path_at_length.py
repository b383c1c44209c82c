# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make check-long: --fast-path=yes against no, on every program of the bench and on 1,000 random programs.

Each program runs twice, with one choice of machine, policy, page size and page faults, which the seed
decides; the out-file and the fault log of both runs must be the same to the byte (but for the pid).
What `make check` does with a few programs, this does with many; it takes about half an hour.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from oracle_random import build
from oracle_support import SOURCE, VALGRIND, environment, prefix

sys.path[:0] = [str(SOURCE / "tests" / "bench"), str(SOURCE / "tests")]
import bench_programs
from oracle.any_machines import machines, write

POLICIES = ("lru", "lru", "plru", "fifo", "nru", "random:7")
WAYS = {4: ("1", "4", "full"), 16: ("1", "2", "4", "full"), 32: ("1", "4", "8", "full"), 64: ("4", "full")}
MACHINES = [
    *("default", "skylake", "zen5", "goldencove", "power8", "cortex-a76", "k8"),
    *("geode-lx", "ultrasparc-t1", "c910", "apple-m1", "core2", "lioncove"),
]
TIMEOUT = 900


def made_up(dice: random.Random) -> list[str]:
    """A machine that is too small for the program, of any policy."""

    def level(sizes: Sequence[int]) -> str:
        entries = dice.choice(sizes)
        return f"{entries},{dice.choice(WAYS[entries])},4K,{dice.choice(POLICIES)}"

    return [f"--itlb={level((4, 16))}", f"--dtlb={level((4, 16, 32))}", f"--stlb={level((32, 64))}"]


def choose(dice: random.Random, folder: Path) -> list[str]:
    kind = dice.random()
    if kind < 0.3:
        options = made_up(dice)
    elif kind < 0.6:
        options = ["--machine=" + ",".join(map(str, write(folder, machines(dice))))]
    else:
        options = ["--machine=" + ",".join(dice.sample(MACHINES, dice.choice((1, 1, 1, 3))))]
    if dice.random() < 0.4:
        options.append("--faults=yes")
    if dice.random() < 0.2:
        options.append("--reach=yes")
    if dice.random() < 0.2:
        options.append("--pages=" + dice.choice(("all:2M", "heap:64K", "thp", "contig")))
    return options


def lines(path: Path) -> list[str]:
    told_apart = re.compile(r"# ?pid|pid[:\t ]")
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return [line for line in text.split("\n") if not told_apart.match(line)]


def run(folder: Path, options: Sequence[str], command: Sequence[str], stdin: Path | None) -> dict[str, list[str]]:
    """All that the tool wrote, by file name."""
    work = folder / "run"
    work.mkdir()
    files = [f"--tlbgrind-out-file={work / 'out'}", f"--faults-out-file={work / 'faults'}", f"--reach-out-file={work / 'reach'}"]
    with open(stdin or "/dev/null", "rb") as source, tempfile.TemporaryFile() as stdout:
        done = subprocess.run(
            [*prefix(), VALGRIND, "--tool=tlbgrind", "-q", *files, *options, *command],
            stdin=source,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment() | {"PATH": bench_programs.PATH},
            cwd=folder,
            check=False,
            timeout=TIMEOUT,
        )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    written = {path.name: lines(path) for path in work.iterdir()}
    shutil.rmtree(work)
    return written


def compare(name: str, folder: Path, options: Sequence[str], command: Sequence[str], stdin: Path | None = None) -> bool:
    fast, slow = (run(folder, [f"--fast-path={path}", *options], command, stdin) for path in ("yes", "no"))
    if fast == slow and fast:
        return True
    print(f"{name}: the counts differ with {' '.join(options)}")
    for file in sorted(fast.keys() | slow.keys()):
        pairs = zip(fast.get(file, []), slow.get(file, []))
        for a, b in [pair for pair in pairs if pair[0] != pair[1]][:3]:
            print(f"   {file}: yes: {a}\n   {file}: no:  {b}")
    return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="fast_path_at_length.py", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many random programs (default 1000)")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first (default 1)")
    parser.add_argument("--no-bench", action="store_true", help="not the programs of the bench")
    given = parser.parse_args()
    compared = failed = 0
    with tempfile.TemporaryDirectory(prefix="tlbgrind-long-") as name:
        folder = Path(name)
        for seed in range(given.first, given.first + given.programs):
            dice = random.Random(seed)
            program = folder / f"program-{seed % 2}"
            program.mkdir()
            command = [str(build(program, seed, 30, 64))]
            failed += not compare(f"random program {seed}", folder, choose(dice, program), command)
            compared += 1
            shutil.rmtree(program)
            if seed % 50 == 0:
                print(f"{compared} programs, {failed} differ", flush=True)
        place = bench_programs.Place(folder, quick=True)
        for program_of_bench in [] if given.no_bench else bench_programs.ALL.values():
            made = program_of_bench.make(place)
            # What it writes is there from now on, as in all runs but the first.
            with open(made.stdin or "/dev/null", "rb") as source:
                subprocess.run(made.arguments, stdin=source, capture_output=True, cwd=folder, check=True)
            for options in (["--machine=default", "--faults=yes"], ["--machine=skylake,zen5,goldencove,power8"]):
                failed += not compare(program_of_bench.name, folder, options, made.arguments, made.stdin)
            compared += 1
    print(f"{compared} programs, {failed} comparisons differ")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
