# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make check-long: --fast-path=yes against no, on every program of the bench and on 1,000 random programs.

Each program runs twice, with one choice of machines, policies, page sizes and page faults, which the
seed decides; the out-file and the fault log of both runs must be the same to the byte (but for the
pid). And of several machines one must have counted what it counts alone. Some of the programs ask for
huge pages. What `make check` does with a few programs, this does with many; it takes up to half an hour.
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
from oracle_support import CLIENTS, SOURCE, TOLD_APART, VALGRIND, environment, prefix

sys.path[:0] = [str(SOURCE / "tests" / "bench"), str(SOURCE / "tests")]
import bench_programs
from oracle.any_machines import any_machines, write
from tg_names import labels_of

POLICIES = ("lru", "lru", "plru", "fifo", "nru", "random:7")
WAYS = {4: ("1", "4", "full"), 16: ("1", "2", "4", "full"), 32: ("1", "4", "8", "full"), 64: ("4", "full")}
SHIPPED = sorted(path.stem for path in (SOURCE / "tlbgrind" / "machines").glob("*.machine"))
RULES = ("thp", "contig", "all:2M", "heap:64K", "text:2M", "file:64K", "anon:1G")
# A run may have 8; each can be two: of machines that have arrays for huge pages, and of others.
MOST_SETS = 4
UNITS = {"K": 1, "M": 1 << 10, "G": 1 << 20}
HUGE = {"4K": 2 << 10, "8K": 4 << 10, "16K": 32 << 10, "64K": 512 << 10}  # a transparent huge page, by base page
KILOBYTES = {"contig": 64, "64K": 64, "2M": 2 << 10, "1G": 1 << 20}
POOLS = ("2M:3", "2M:8,16M:1,64K:200", "64K:40")


def made_up(dice: random.Random) -> list[str]:
    """A machine that is too small for the program, of any policy."""

    def level(sizes: Sequence[int]) -> str:
        entries = dice.choice(sizes)
        return f"{entries},{dice.choice(WAYS[entries])},4K,{dice.choice(POLICIES)}"

    return [f"--itlb={level((4, 16))}", f"--dtlb={level((4, 16, 32))}", f"--stlb={level((32, 64))}"]


def several(dice: random.Random, folder: Path) -> list[str]:
    """Machines that are shipped, and files of others, some under a page-size rule, if a run may have so many sets of base
    pages and rules."""
    names = [f"./{path.name}" for path in write(folder, any_machines(dice))] if dice.random() < 0.6 else []
    names += dice.sample(SHIPPED, dice.choice((1, 1, 2, 5, 12)))
    dice.shuffle(names)
    rule = dice.choice(RULES)
    ruled = [name + dice.choice(("", "", f"@{rule}" if has_pages_for(rule, name) else "")) for name in names]
    return ruled if len({set_of(name, folder) for name in ruled}) <= MOST_SETS else names


def text_of(name: str, folder: Path) -> str:
    path = folder / name if name.startswith("./") else SOURCE / "tlbgrind" / "machines" / f"{name}.machine"
    return path.read_text(encoding="ascii")


def set_of(machine: str, folder: Path) -> tuple[str, str, bool]:
    """What of the machine decides how memory is backed: its base page, its rule, and whether adjacent pages matter."""
    name, _, rule = machine.partition("@")
    text = text_of(name, folder)
    base = re.search(r"^base-page\s+(\d+K)$", text, re.MULTILINE)
    return (base[1] if base else "4K", rule, re.search(r"^ *coalesces +\d", text, re.MULTILINE) is not None)


def has_pages_for(rule: str, name: str) -> bool:
    """A processor that is shipped has to have pages as large as those that a rule of its own asks for."""
    if name.startswith("./"):
        return True
    text = text_of(name, SOURCE)
    size = rule.rpartition(":")[2]
    least = HUGE.get(set_of(name, SOURCE)[0], 0) if size == "thp" else KILOBYTES[size]
    sizes = [word for line in re.findall(r"^ *pages +(.*)$", text, re.MULTILINE) for word in re.findall(r"\d+[KMG]", line)]
    return max(int(word[:-1]) * UNITS[word[-1]] for word in sizes) >= least


def smallest_base_page(machines: Sequence[str], folder: Path) -> int:
    """In KiB."""
    return min(int(set_of(machine, folder)[0].removesuffix("K")) for machine in machines)


def choose(dice: random.Random, base_page: int = 4) -> list[str]:
    """What else is asked for. Page faults are only recorded with these base pages."""
    options = []
    faults = ["--faults=yes", f"--faults-used={dice.choice(('yes', 'no', 'no'))}"]
    if dice.random() < 0.4 and base_page in (4, 16, 64):
        options += faults
    if dice.random() < 0.2:
        options.append("--reach=yes")
    if dice.random() < 0.2:
        options.append("--nested=yes")
    if dice.random() < 0.2:
        options.append("--hugetlb=fake")
    if dice.random() < 0.3:
        options.append(f"--huge-pool={dice.choice(POOLS)}")
    return options


def program_for(dice: random.Random, folder: Path, seed: int) -> list[str]:
    kind = dice.random()
    if kind < 0.8:
        return [str(build(folder, seed, 30, 64))]
    if kind < 0.9:
        return [str(CLIENTS / "oracle_part"), str(seed)]
    how = dice.choice(("advise", "late", "protect"))
    return [str(CLIENTS / "pages_use"), "anon", dice.choice(("4", "16", "48")), how]


def lines(path: Path) -> list[str]:
    told_apart = re.compile(r"# ?pid|pid[:\t ]|# checksum: ")
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return [line for line in text.split("\n") if not told_apart.match(line)]


def run(folder: Path, options: Sequence[str], command: Sequence[str], stdin: Path | None) -> dict[str, list[str]]:
    """All that the tool wrote, by file name."""
    work = folder / "run"
    work.mkdir()
    files = [f"--tlbgrind-out-file={work / 'out'}"]
    # A file's name asks for what stands in it.
    files += [f"--{what}-out-file={work / what}" for what in ("faults", "reach") if f"--{what}=yes" in options]
    with open(stdin or "/dev/null", "rb") as source, tempfile.TemporaryFile() as stdout:
        done = subprocess.run(
            [*prefix(), VALGRIND, "--tool=tlbgrind", "-q", *files, *options, *command],
            stdin=source,
            stdout=stdout,
            stderr=subprocess.PIPE,
            env=environment(command[0]) | {"PATH": bench_programs.PATH},
            cwd=folder,
            check=False,
        )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    written = {path.name: lines(path) for path in work.iterdir()}
    shutil.rmtree(work)
    return written


def differ(what: str, pairs: Sequence[tuple[str, list[str], list[str]]]) -> bool:
    """Whether they do; says where. A pair is the file's name and its lines."""
    if all(a == b for _, a, b in pairs):
        return False
    print(what)
    for file, a, b in pairs:
        for one, other in [both for both in zip(a, b) if both[0] != both[1]][:3]:
            print(f"   {file}: {one}\n   {file}: {other}")
    return True


def compare(
    name: str,
    folder: Path,
    options: Sequence[str],
    command: Sequence[str],
    stdin: Path | None = None,
    together: Sequence[str] = (),
    alone: str = "",
) -> bool:
    """`together`: the machines, if there are several, and `alone` one of them."""
    told = [*([f"--machine={','.join(together)}"] if together else []), *options]
    fast, slow = (run(folder, [f"--fast-path={path}", *told], command, stdin) for path in ("yes", "no"))
    pairs = [(file, fast.get(file, []), slow.get(file, [])) for file in sorted(fast.keys() | slow.keys())]
    if fast != slow and run(folder, ["--fast-path=yes", *told], command, stdin) != fast:
        print(f"{name}: not compared, for two runs of the same kind differ: what it does depends on the time")
        return True
    bad = not fast or differ(f"{name}: with and without fast path the counts differ with {' '.join(told)}", pairs)
    # Page faults, too, are told for the smallest base page of the run.
    if len(together) > 1 and "--faults=yes" not in options:
        by_itself = run(folder, [f"--machine={alone}", *options], command, stdin)["out"]
        labels = labels_of([machine.removeprefix("./") for machine in together])
        among = fast[f"out_{labels[together.index(alone)]}"]
        a, b = ([line for line in file if not line.startswith(TOLD_APART)] for file in (by_itself, among))
        bad |= differ(f"{name}: {alone} by itself and among {','.join(together)} counts otherwise", [("out", a, b)])
    return not bad


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
            command = program_for(dice, program, seed)
            if dice.random() < 0.3:
                failed += not compare(f"program {seed}", folder, made_up(dice) + choose(dice), command)
            else:
                together = several(dice, folder)
                options = choose(dice, smallest_base_page(together, folder))
                alone = dice.choice(together)
                failed += not compare(f"program {seed}", folder, options, command, together=together, alone=alone)
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
