# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Parses tg_faults' options, and runs one call."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Callable

from ..base import command
from ..base.command import Answer, Parser, file_name, one_of, some_of, whole_number
from ..base.documents import Table
from ..base.errors import ReportError, printable
from ..base.progress import Progress, progress_shown
from ..base.terminal import COLOURS, Screen, screen
from ..base.text import wrapped
from ..base.whole_file import write_whole
from ..formats import entries, faultlog
from ..formats.fault import VIEWS
from ..formats.faultlog import FaultLog
from . import (
    export,
    faultlist,
    faultrows,
    faulttables,
    faultused,
    native,
    readahead,
    whatiftext,
)
from .faultrows import GROUPS

HELP = """\
Usage: tg_faults [options] LOG
       tg_faults --compare [options] LOG LOG

Shows the page faults that tlbgrind recorded (tlbgrind.faults.PID): tables, or a listing with one
row a fault.

  --view=VIEW          4k: the first touch of every page; warm: what Linux does when all files are
                       in the page cache; cold: with nothing in it [warm]
  --phase=NAME         only the faults of this phase, which TLBGRIND_MARK(NAME) began; start: those
                       before the first mark

Tables:
  --by=WHAT[,WHAT...]  any of kind; mapping, memory (touched); object, function (of the code that
                       touched); syscall; caller (the first that is not the C library), inclusive
                       (functions with all that they call), both with tlbgrind's --faults-stacks=N
                       [kind,memory,syscall]
  --top=N              rows of a table; what is below is added up in one; 0 shows all [30]
  --growth=N           how the faults grow over the instructions, in N steps
  --waste              pages that faults brought along, and whether they were used later
  --used               how many bytes of the pages were used (with tlbgrind's --faults-used=yes);
                       with --format=text, csv or json a listing, one row a page
  --phase-range        least, mean and most that address randomisation can make of them
  --compare            two LOGs beside each other
  --what-if            what remedies would save, such as LC_ALL=C, no PIE, MADV_POPULATE, before
                       anything is changed (with tlbgrind's --faults-touches=yes)
  --entries=FILE       with --what-if: what tlbgrind --entries=yes or --entries=data wrote of the same
                       run; functions in order, and static programs, for which an empty one is linked
  --tlbgrind=FILE      the tool that runs it [beside this command, else in PATH]
  --max-more=N         with --compare: exit status 3 if the second LOG has more than N faults more, in
                       all, or in a row of a table that --by names; -1: it must have fewer

Listings:
  --format=FORMAT      text; pagein: the columns of the program of that name; folded: one row a call
                       stack, for flame graphs (with tlbgrind's --faults-stacks=N); csv; json. The
                       last two are tables, not a listing, with --by, --growth, --waste,
                       --phase-range, with --compare or --what-if
  --readahead=FILE     write which parts of files the run reads from the disk, in order of need: file,
                       offset and length, with tabs between; -: the standard output
  --addresses=WHICH    run: as they were under Valgrind; native: as they are without it and without
                       address randomisation [run]

Against the kernel:
  --native=FILE        what perf script printed of the same program; what matches, what is missing,
                       what is too much
  --native-command=C   only faults under this name, where FILE names commands [LOG's program, with
                       threads of other names]
  --pid=N              only faults of this process, where FILE names several [the first of them]

What is printed:
  -v, --verbose        also the metadata: settings of Linux, assumptions
  --wide               names as they were recorded: not shortened to the width of the terminal (200
                       columns elsewhere), with template arguments, and with the current folder
  --color=WHEN         auto (on a terminal, unless NO_COLOR is set), always, never [auto]

  --help               print this text
  --version            print the version

Examples:
  tlbgrind --faults=yes ./program
  tg_faults tlbgrind.faults.4711
  tg_faults --view=4k --format=pagein tlbgrind.faults.4711
  setarch -R perf record -e page-faults -c 1 -d -o perf.data ./program
  perf script -i perf.data -F comm,pid,addr,ip,sym >faults.txt
  tg_faults --native=faults.txt tlbgrind.faults.4711
The man page says how both runs are made alike; else 1 to 5 % differ.
"""


class Options(argparse.Namespace):
    logs: list[str]
    view: str
    by: list[str] | None
    top: int | None
    growth: int
    waste: bool
    used: bool
    phase: str | None
    phase_range: bool
    compare: bool
    what_if: bool
    entries: str | None
    tlbgrind: str | None
    max_more: int | None
    format: str | None
    addresses: str | None
    readahead: str = ""
    native: str = ""  # here, for argparse would take a default of its own for one that is given
    native_command: str
    pid: int
    verbose: bool
    wide: bool
    color: str

    def rows(self) -> int:
        return _TOP if self.top is None else self.top

    def wants_tables(self) -> bool:
        """In the place of a listing, for other programs."""
        asked = self.by or self.growth or self.waste or self.phase_range or self.compare or self.what_if
        return self.format in ("csv", "json") and bool(asked)

    def groups(self) -> list[str]:
        return self.by or ["kind", "memory", "syscall"]

    def wants_native_addresses(self) -> bool:
        return self.addresses == "native"


_TOP = 30
_ABOVE = 3  # the exit status when --max-more is exceeded
FORMATS = ("text", "pagein", "csv", "json", "folded")

# What is shown in the place of the tables, and the options that would say nothing then.
_TABLES = ("by", "top", "growth", "waste", "phase-range")
_WITHOUT = {
    "readahead": ("phase", "compare", "native", "used", "what-if", "format", *_TABLES),
    "what-if": ("phase", "compare", "native", "used", *_TABLES),
    "phase": ("native", "used", "waste", "phase-range"),
    "compare": ("format", "native", "used", "growth", "waste", "phase-range"),
    "format": ("native", "verbose", "wide", *_TABLES),
    "native": ("used", *_TABLES),
}
# Options that say nothing without another.
_NEEDS = {"addresses": "format", "entries": "what-if", "tlbgrind": "entries", "native-command": "native", "pid": "native", "max-more": "compare"}


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_faults")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("logs", metavar="LOG", nargs="*")
    add("--view", type=one_of(*VIEWS), default="warm")
    add("--phase")
    add("--by", type=some_of(*GROUPS))
    add("--top", type=whole_number("a number of rows"))
    add("--growth", type=whole_number("a number of steps", 1, 100_000), default=0)
    for flag in ("waste", "used", "phase-range", "compare", "what-if"):
        add(f"--{flag}", action="store_true")
    add("--entries", type=file_name)
    add("--tlbgrind", type=file_name)
    add("--max-more", type=whole_number("a number of faults", -(10**9)))
    add("--format", type=one_of(*FORMATS))
    add("--addresses", type=one_of("run", "native"))
    add("--readahead", type=file_name)
    add("--native", type=file_name)
    add("--native-command", default="")
    add("--pid", type=whole_number("a process", 1), default=0)
    add("-v", "--verbose", action="store_true")
    add("--wide", action="store_true")
    add("--color", type=one_of(*COLOURS), default="auto")
    options = Options()
    parser.parse(arguments, options, "logs")
    wanted = 2 if options.compare else 1
    if not options.logs:
        parser.error("no LOG given")
    if len(options.logs) != wanted:
        takes = (
            "--compare takes two LOGs, not {}"
            if options.compare
            else "one LOG at a time, not {}; --compare sets two beside each other"
        )
        parser.error(takes.format(len(options.logs)))

    def given(option: str) -> bool:
        value = getattr(options, option.replace("-", "_"))
        return value is not None if option in ("top", "max-more") else bool(value)

    tables = ("compare", "what-if", *_TABLES) if options.wants_tables() else ()
    for one, others in _WITHOUT.items():
        for other in others:
            if "format" in (one, other) and {one, other} & {*tables}:
                continue
            if given(one) and given(other):
                parser.error(f"--{one} goes without --{other}")
    for one, needed in _NEEDS.items():
        if given(one) and not given(needed):
            parser.error(f"--{one} goes with --{needed} only")
    if options.addresses and options.wants_tables():
        parser.error("--addresses is of listings, not of tables")
    if options.used and options.format not in (None, *faultused.FORMATS):
        parser.error("--used goes with --format=text, csv or json")
    if options.view == "4k" and options.waste:
        parser.error("--waste needs --view=warm or --view=cold: in 4k a fault brings one page")
    return options


def report(arguments: Sequence[str], warnings: list[str]) -> list[str]:
    options = parse(arguments)
    with progress_shown() as progress:
        return _report(options, warnings, progress)


def _report(options: Options, warnings: list[str], progress: Progress) -> list[str]:
    logs = [faultlog.read(path, progress) for path in options.logs]
    progress.say("making the tables")
    if options.phase is not None:
        logs = [faultlog.of_phase(log, options.phase) for log in logs]
    view = faultlog.view_number(options.view)
    if options.readahead:
        return _readahead(options, logs[0])
    if options.what_if:
        return _what_if(options, logs[0], view)
    if options.compare and options.format:
        compared = [faultrows.compare(logs, view, by, options.rows()) for by in options.groups()]
        lines = list(export.written(options.format, "fault comparison", logs, view, compared))
        return _gate(lines, options, logs, view)
    if options.compare:
        return _gate(_compare(options, logs, view)[:-1], options, logs, view)
    (log,) = logs
    if options.used and not log.knows_use:
        raise ReportError(
            "does not say how many bytes were used; tlbgrind records that with --faults-used=yes",
            log.path,
        )
    if options.format and options.wants_tables():
        return list(export.written(options.format, "faults", logs, view, _tables(options, log, view)))
    if options.format == "json":
        return list(export.used_pages(log, view) if options.used else export.fault_list(log, view))
    if options.used and options.format:
        return list(faultused.listing(log, view, options.format, options.wants_native_addresses()))
    if options.format:
        return list(faultlist.listing(log, view, options.format, options.wants_native_addresses()))
    show = screen(options.wide, options.color)
    text = faulttables.headline(log, view, show)
    verdict = faulttables.verdict(log) if options.view == "warm" else ""
    if verdict:
        text += [*wrapped("", verdict, show.width), ""]
    text += faulttables.summary(log, show)
    if options.native:
        name = options.native_command or log.command.split(" ")[0].rpartition("/")[2]
        everyone = native.read(
            options.native, log.page_size, name, every_name=not options.native_command
        )
        faults, others = native.of_one_process(everyone, options.pid, options.native)
        if others:
            left_out = f"{others} other process{'es' * (others > 1)} of '{name}' left out"
            warnings.append(
                f"{options.native}: process {faults[0].process} is compared, {left_out}; --pid=N takes another"
            )
        text += native.compare(log, view, faults, options.native, show)
        return (text + _end(options, log, show))[:-1]
    if options.view == "cold":
        text += faulttables.disk(log)
    for by in options.groups():
        text += faulttables.table(log, view, by, options.rows(), show)
    if options.growth:
        text += faulttables.growth(log, view, options.growth, show)
    if options.waste:
        text += faulttables.waste(log, view, options.rows(), show)
    if options.used:
        text += faultused.tables(log, view, options.rows(), show)
    if options.phase_range:
        text += faulttables.phase_range(log, show)
    return (text + _end(options, log, show))[:-1]


def _readahead(options: Options, log: FaultLog) -> list[str]:
    lines = readahead.lines(log)
    if options.readahead == "-":
        return lines
    text = "".join(f"{line}\n" for line in lines)
    write_whole(options.readahead, text.encode("utf-8", "surrogateescape"))
    kib = sum(int(line.rpartition("\t")[2]) for line in lines) // 1024
    return [f"{printable(options.readahead)}: {len(lines):,} parts of files, {kib:,} KiB"]


def _what_if(options: Options, log: FaultLog, view: int) -> list[str]:
    used = whatiftext.Given(entries.read(options.entries) if options.entries else None, options.tlbgrind or "")
    if options.format:
        found = whatiftext.table(log, used)
        return list(export.written(options.format, "what if", [log], view, [found]))
    show = screen(options.wide, options.color)
    text = [*faulttables.headline(log, view, show)[:1], ""]
    text += whatiftext.text(log, used, show)
    return (text + _verbose(options, log, show))[:-1]


def _end(options: Options, log: FaultLog, show: Screen) -> list[str]:
    text = faulttables.legend(log, show)
    return text + (_verbose(options, log, show) or faulttables.more(log))


def _verbose(options: Options, log: FaultLog, show: Screen, role: str = "Log") -> list[str]:
    return faulttables.metadata(log, show, role) if options.verbose else []


def _tables(options: Options, log: FaultLog, view: int) -> Iterator[Table]:
    yield faultrows.summary(log)
    for by in options.groups():
        yield faultrows.table(log, view, by, options.rows())
    if options.growth:
        yield faultrows.growth(log, view, options.growth)
    if options.waste:
        yield faultrows.waste(log, view, options.rows())
    if options.used:
        yield faultrows.used_by_arrival(log, view)
        yield faultrows.used_by_mapping(log, view, options.rows())
        yield faultrows.least_used(log, view, options.rows())
    if options.phase_range:
        yield faultrows.phase_range(log)


def _compare(options: Options, logs: list[FaultLog], view: int) -> list[str]:
    show = screen(options.wide, options.color)
    text = []
    for log in logs:
        text += faulttables.headline(log, view, show)[:1]
    text.append("")
    for by in options.groups():
        text += faulttables.compare(logs, view, by, options.rows(), show)
    for role, log in zip(("First log", "Second log"), logs):
        text += _verbose(options, log, show, role)
    return text


def _gate(lines: list[str], options: Options, logs: list[FaultLog], view: int) -> list[str]:
    """Holds what the second log has more against --max-more."""
    most = options.max_more
    if most is None:
        return lines
    reasons = [
        f"page faults{of} grew by {second - first:,}, from {first:,} to {second:,}, "
        f"above --max-more={most}: {logs[1].path}"
        for of, first, second in faultrows.before_and_after(logs, view, options.by or [])
        if second - first > most
    ]
    answer = Answer(lines, reasons)
    answer.status = _ABOVE if reasons else 0
    return answer


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run("tg_faults", HELP, arguments, report)
