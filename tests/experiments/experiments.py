# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""make experiments: published results, computed again.

docs/internals/validation.md tells what they are and what came out. Exit status 1: a number is off, or an experiment could not be
made.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import e1_stream
import e2_libraries
import e3_copies
import e4_order
import e5_follow
import e6_boundaries
import e7_flushes
import e8_prefetch
import e9_pages
import e10_erat
import e11_mechanisms
import e12_machines
import e13_order
import e14_huge
import e15_time
import e16_verdicts
import e17_what_if
from exp_frame import Experiment, Missing, as_json, draw, report
from exp_lab import Broken, Lab, named
from tgreport.base.errors import ReportError

# In this order they are run and listed.
EXPERIMENTS: list[Experiment] = [
    e1_stream.SMALL,
    e1_stream.FULL,
    e2_libraries.EXPERIMENT,
    e3_copies.EXPERIMENT,
    e4_order.EXPERIMENT,
    e5_follow.EXPERIMENT,
    e6_boundaries.EXPERIMENT,
    e7_flushes.EXPERIMENT,
    e8_prefetch.EXPERIMENT,
    e9_pages.HINT,
    e9_pages.PROGRAMS,
    e10_erat.EXPERIMENT,
    e11_mechanisms.EXPERIMENT,
    e12_machines.SMALL,
    e12_machines.FULL,
    e13_order.SPREAD,
    e13_order.LUA,
    e13_order.CPYTHON,
    e14_huge.EXPERIMENT,
    e15_time.EXPERIMENT,
    e16_verdicts.EXPERIMENT,
    e17_what_if.EXPERIMENT,
]


class Options(argparse.Namespace):
    only: list[str]
    machines: list[str]
    programs: list[str]
    long: bool
    list: bool
    output: Path
    rounds: int
    times: Path | None


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def parse(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="experiments.py", description="Computes published results again.")
    add = parser.add_argument
    add("--only", metavar="NAME,...", type=words, default=[])
    add("--long", action="store_true", help="also those that take minutes")
    add("--list", action="store_true", help="list them and do nothing")
    add("--output", type=Path, metavar="FOLDER", help="where results go (default tests/experiments in the build folder)")
    add("--machine", metavar="NAME|FILE,...", dest="machines", type=words, default=["host"], help="what E15 predicts for (default host)")
    add("--rounds", metavar="N", type=int, default=9, help="how often E15 runs each program natively (default 9)")
    add("--times", type=Path, metavar="FILE", help="E15 keeps what it measured natively in FILE, and reads it from there again")
    add("--programs", metavar="NAME,...", type=words, default=[], help="only these programs of E15 and E17")
    options = parser.parse_args(arguments, namespace=Options())
    known = {experiment.name for experiment in EXPERIMENTS}
    for name in options.only:
        if name not in known:
            parser.error(f"there is no experiment {name!r}; there are: {', '.join(e.name for e in EXPERIMENTS)}")
    if options.output is None:
        options.output = Path(os.environ.get("TG_BUILDDIR", ".")) / "tests" / "experiments"
    return options


def make(experiment: Experiment, options: Options) -> str:
    """Makes one experiment; returns what is wrong with it, or nothing."""
    start = time.monotonic()
    # Always the same name: it is on the programs' stacks and in their heaps.
    output = options.output
    folder = output.absolute() / f"{experiment.name}.work"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        result = experiment.run(Lab(folder, [named(word) for word in options.machines], options.rounds, options.programs, options.times))
    except (Broken, Missing, ReportError) as error:
        print(f"# {experiment.name}: {experiment.title}\n\n{experiment.name}: not made: {error}\n", flush=True)
        return "not made"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = report(experiment, result, time.monotonic() - start)
    about = {
        "tlbgrind": os.environ.get("TG_VERSION", "unknown"),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }
    path = output / f"{experiment.name}.md"
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".json").write_text(as_json(experiment, result, about) + "\n", encoding="utf-8")
    print(text)
    print(draw(result, path.with_suffix(".png")))
    print(f"table: {path}\nnumbers: {path.with_suffix('.json')}\n", flush=True)
    return "" if all(check.ok for check in result.checks) else "off"


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    if options.list:
        for experiment in EXPERIMENTS:
            print(f"{experiment.name:9} {experiment.title}{' (takes minutes: only when asked for)' * experiment.long}")
        return 0
    chosen = [e for e in EXPERIMENTS if (e.name in options.only if options.only else options.long or not e.long)]
    verdicts = {experiment.name: make(experiment, options) for experiment in chosen}
    for name, verdict in verdicts.items():
        print(f"{name:9} {verdict or 'ok'}")
    return 1 if any(verdicts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
