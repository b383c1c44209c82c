# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Parses tg_native's options, and runs one call."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Callable

from ..base import command
from ..base.command import (
    Answer,
    Parser,
    Value,
    file_name,
    one_of,
    read_text,
    whole_number,
    yes_or_no,
)
from ..base.errors import ReportError
from ..base.progress import Progress, progress_shown
from ..base.terminal import COLOURS, Screen, screen
from ..base.text import counted
from ..base.tool import tool
from ..faults import native
from ..formats import faultlog
from . import tables
from .measure import Lab, Measured, Process, Wishes
from .recording import EVENTS, draws_addresses, hides_the_kernel
from .surroundings import in_words, variables
from .tables import percent

HELP = """\
Usage: tg_native [options] PROGRAM [ARGUMENT...]
       tg_native [options] --programs=FILE

Runs PROGRAM under tlbgrind and without it, and compares the page faults that tlbgrind says with
those that the kernel takes, one by one. perf(1) records the kernel's: this needs Linux, perf, and
the right to record. Both runs get the same variables, no random addresses, and nothing to read.

  --log=FILE              a fault log that is there already, of the same program, arguments and
                          variables (see --variables); tlbgrind is not run
  --programs=FILE         many programs, one a line, as a shell would have them; one table, with
                          the programs that are not there, or do not run, left out
  --tlbgrind-option=TEXT  an option for tlbgrind, such as --trace-children=yes, with which the
                          programs that PROGRAM starts are compared, too; may be repeated
  --tlbgrind=FILE         the tool [beside this command, else in PATH]
  --events=WHICH          tracepoints: exceptions:page_fault_user and page_fault_kernel, which tell
                          kinds; software: page-faults, pages alone; auto: those that perf may
                          record here [auto]
  --pair=HOW              address: pages at the same addresses; mapping: of the same mapping, at the
                          same offset; auto: mapping where two native runs map other addresses,
                          as those of programs do that draw them at random [auto]
  --tries=N               native runs, of which the one counts that agrees best [3]
  --read-anew=yes|no      first read all files anew, in single pages: what was just linked or
                          installed lies in large ones, which the kernel maps as a whole [yes]
  --least=PERCENT         exit status 3 if less agrees, by page
  --variables             print the variables that are added to those of the call, and end

What is printed:
  --format=FORMAT         a table: text, markdown, csv [text, and what differs, of one PROGRAM]
  --keep=FOLDER           keep tlbgrind's fault logs there
  --wide                  names as they were recorded: not shortened
  --color=WHEN            auto (on a terminal, unless NO_COLOR is set), always, never [auto]

  --help                  print this text
  --version               print the version

Examples:
  tg_native ls /
  tg_native --tlbgrind-option=--trace-children=yes bash -c 'ls / | cat'
  tg_native --least=99.8 ./program
"""


class Options(argparse.Namespace):
    program: list[str]
    log: str | None
    programs: str | None
    tlbgrind_option: list[str]
    tlbgrind: str | None
    events: str
    pair: str
    tries: int
    read_anew: bool
    least: float | None
    variables: bool
    format: str | None
    keep: str | None
    wide: bool
    color: str


class _Share(Value):
    def __init__(self) -> None:
        super().__init__("any")

    def __call__(self, text: str) -> float:
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) or float(text) > 100:
            raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 100 per cent")
        return float(text) / 100


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_native")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("program", metavar="PROGRAM", nargs="*")
    add("--log", type=file_name)
    add("--programs", type=file_name)
    add("--tlbgrind-option", action="append", default=[])
    add("--tlbgrind", type=file_name)
    add("--events", type=one_of("auto", *EVENTS), default="auto")
    add("--pair", type=one_of("auto", "address", "mapping"), default="auto")
    add("--tries", type=whole_number("a number of runs", 1, 1000), default=3)
    add("--read-anew", type=yes_or_no(), default=True)
    add("--least", type=_Share())
    add("--variables", action="store_true")
    add("--format", type=one_of(*tables.FORMATS))
    add("--keep", type=command.name_of("folder"))
    add("--wide", action="store_true")
    add("--color", type=one_of(*COLOURS), default="auto")
    options = Options()
    parser.parse(arguments, options, "program")
    if options.variables:
        return options
    if not options.program and not options.programs:
        parser.error("no PROGRAM given")
    if options.program and options.programs:
        parser.error("--programs goes without a PROGRAM")
    for other in ("log", "keep"):
        if options.programs and getattr(options, other):
            parser.error(f"--programs goes without --{other}")
    if options.log and (options.tlbgrind or options.tlbgrind_option):
        parser.error("--log goes without --tlbgrind and --tlbgrind-option: it is not run")
    return options


def report(arguments: Sequence[str], warnings: list[str]) -> list[str]:
    options = parse(arguments)
    start = variables(os.environ)
    if options.variables:
        return list(map(shlex.quote, in_words(start, os.environ)))
    with tempfile.TemporaryDirectory(prefix="tg_native.") as scratch, progress_shown() as progress:
        wishes = Wishes(
            options.tlbgrind or tool(),
            options.tlbgrind_option,
            start,
            options.pair,
            options.tries,
            options.read_anew,
            [options.log] if options.log else [],
        )
        folder = Path(scratch)
        # One log is taken from a folder that stays.
        progress.say("looking at what perf may record")
        lab = Lab(wishes, options.events, folder)
        if hides_the_kernel():
            warnings.append(
                "perf may not show what the kernel touches by itself, which is then too much here; it may "
                "for root, or with 1 in /proc/sys/kernel/perf_event_paranoid"
            )
        if draws_addresses():
            warnings.append(
                "addresses are drawn at random in native runs, which makes pages differ: personality(2) "
                "is forbidden here, in a container by its filter of system calls (seccomp)"
            )
        show = screen(options.wide, options.color)
        if options.programs:
            return _many(options, lab, show, progress, warnings)
        progress.say(f"running {options.program[0]}")
        measured = lab.measure(options.program)
        if options.keep:
            _keep(measured, options.keep)
    _warn(measured, options.program[0], warnings)
    rows = [(options.program, measured)]
    text = tables.table(rows, options.format, show) if options.format else _one(measured, lab, show)
    return _answer(text, rows, options)


def _one(measured: Measured, lab: Lab, show: Screen) -> list[str]:
    text = []
    for process in measured.processes:
        text += _process(process, lab.perf.events, show)
    agree = f"{measured.pages:,} of {max(measured.natives, measured.simulated):,} pages agree"
    tried = f"the best of {measured.tries} native runs" if measured.tries > 1 else "the first native run"
    text.append(f"{agree}, {percent(measured.share)}, with {tried};")
    text.append(f"two native runs agree in {percent(measured.again)}.")
    return text


def _process(process: Process, events: str, show: Screen) -> list[str]:
    paired = process.paired
    text = native.compare(process.log, faultlog.view_number("warm"), process.native, process.log.command, show)
    if events == "software":
        text += ["Kinds are not known: perf may not record tracepoints here.", ""]
    if paired.regions:
        lie = "region lies" if paired.regions == 1 else "regions lie"
        text += [f"{paired.regions} {lie} at other addresses in each run: {counted(paired.faults, 'fault')} paired by mapping.", ""]
    return text


def _warn(measured: Measured, name: str, warnings: list[str]) -> None:
    if measured.left_out:
        warnings.append(f"{name}: {measured.left_out} other programs or logs have no partner, and are left out")


def _many(
    options: Options, lab: Lab, show: Screen, progress: Progress, warnings: list[str]
) -> list[str]:
    assert options.programs
    rows: list[tables.Row] = []
    for number, line in enumerate(read_text(options.programs).split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise ReportError(f"{error}: '{line[:60]}'", options.programs, number) from None
        progress.say(f"running {words[0]}")
        try:
            measured = lab.measure(words)
        except ReportError as error:
            warnings.append(f"left out: {error}")
            continue
        _warn(measured, words[0], warnings)
        rows.append((words, measured))
    if not rows:
        raise ReportError("none of its programs is there", options.programs)
    return _answer(tables.table(rows, options.format or "text", show), rows, options)


def _answer(text: list[str], rows: Sequence[tables.Row], options: Options) -> Answer:
    reasons = [
        f"{shlex.join(words)}: {percent(m.share)} agree, less than --least={options.least * 100:g}"
        for words, m in rows
        if options.least is not None and m.share < options.least
    ]
    answer = Answer(text, reasons)
    answer.status = 3 if reasons else 0
    return answer


def _keep(measured: Measured, folder: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
        for process in measured.processes:
            shutil.copy(process.log.path, folder)
    except OSError as error:
        raise ReportError(error.strerror or str(error), folder) from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Options come before the program; what is behind it is the program's."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    first = next((n for n, word in enumerate(given) if not word.startswith("-") or word == "--"), len(given))
    if first < len(given) and given[first] != "--":
        given.insert(first, "--")
    return command.run("tg_native", HELP, given, report, runs_programs=True)
