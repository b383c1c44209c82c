# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate's options: what they are called, what they may be, what goes with what."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Callable
from warnings import catch_warnings, simplefilter

from ..base.command import Parser, Value, name_of, one_of, some_of, yes_or_no
from ..base.errors import ReportError
from ..base.terminal import COLOURS
from ..formats.outfile import UNKNOWN
from . import convert, export
from .calltables import EVERY
from .events import USUAL
from .limits import SHARE, Limit, limit_value
from .members import Given
from .profile import Renamer
from .rows import LINE_INCLUSIVE, VIEWS
from .selection import ALL

HELP = """\
Usage: tg_annotate [options] OUTFILE...

Shows who misses the TLBs: prints the out-files of tlbgrind (tlbgrind.out.PID) as tables of
functions, source files and objects, those that cost most first, and, if asked, beside the lines of
the sources. Several out-files are added up. Files of callgrind are read as well.

Which events, in which order:
  --show=EVENT[,EVENT...]   the columns; "all" shows every event [Wcyc,walks,L2tm,L1tm,Ir, or,
                            without Wcyc, walks,ILtm,DLtm,L2tm,L1tm,Ir, those that there are, and
                            what is in no sum below; of these, what differs from 0]
  --sort=EVENT[,EVENT...]   sort by the first, where it is equal by the next, ...
                            [Wcyc,walks,L1tm,Ir: what misses cost, if the file tells it]
  --threshold=PERCENT       leave out what has less than this share of the first sort event
                            that happened at all; 0 leaves out nothing [0.1]
  --show-percs=yes|no       percentages beside the counts [yes]

Which phase:
  --phase=NAME              only this phase of the runs, which TLBGRIND_MARK(NAME) began; start:
                            what was before the first mark

Which tables:
  --by=WHAT[,WHAT...]       any of function, file, object, line, file:function (where the code of
                            a file was inlined), function:file (whose code a function has in it),
                            line:inclusive (see --inlined), data, data:offset (of data files),
                            in the order given
                            [function,file,object, or none beside the tables of calls]

FUNCTION is a whole name, or one without parameters, result and template arguments, or the last
parts of such a name: sort of "void std::sort<int*>(int*, int*)". * and ? stand for any characters.
All functions that are called so are shown.

Calls (of files of --calls=yes):
  --inclusive               functions, by what they cost with all that they call
  --callers[=FUNCTION]      each function between its callers and its callees; of FUNCTION, the
                            threshold is of its own inclusive costs
  --tree[=FUNCTION]         what is called, from the first function down, or from FUNCTION; what
                            a function with several callers costs is shared out among them

Inlined functions (of files of --dump-instr=yes; by eu-addr2line of elfutils):
  --inlined                 inlined functions are functions, called where they are inlined, with 0
                            calls: in the tables of functions and calls, and in sources
  --by=line:inclusive       lines, each with all that is inlined there and, if the run was with
                            calls, all that it calls

Data files (tlbgrind.data.PID, of --data=yes) in place of out-files:
  --by=data                 which data is referred to and misses
  --by=data:offset          and at which offsets within its records (of --data-offsets=yes)
  --of=WHAT                 only the references of the FUNCTION WHAT, or to the data WHAT: a
                            variable's name, #NUMBER, or a row's text, in which * and ? stand for
                            any characters. A name of both: with --by=data the function
  --data-type=DATA=TYPE     the records of DATA, a function that allocates them or what --of takes,
                            are of the type TYPE: --by=data:offset names its members, as it does
                            for variables (from the debug information of the program)
  --machine=NAME            of a run with several machines, this one

Annotated sources (-I and --context with --annotate or --source only):
  --annotate                annotate every source above the threshold
  --source=FILE             annotate this source, whatever its share; FILE is a recorded name or
                            the last parts of one, as in util/list.c. May be repeated
  -I DIR, --include=DIR     look for sources below DIR too. May be repeated
  --context=N               lines around each line that has a count [8]
  --asm=FUNCTION            the instructions of a function, of files of --dump-instr=yes

Two runs compared:
  --diff                    of two out-files: the second minus the first. Percentages refer to
                            the first, the threshold to that which has more
  --compare                 out-files beside each other, a column each, as of several machines or
                            runs; --show chooses for which events there are tables [the first sort
                            event], percentages are of each file's own totals
  --mod-filename=s/RE/NEW/  rewrite the names of sources and objects (a Python regular
                            expression; flags g: every match, i: ignore case; any separator)
  --mod-funcname=s/RE/NEW/  the same for functions

What to change:
  --advice[=pages]          of each machine's out-file of a run with --advice=SIZE, beside which the
                            others lie, or of all of them: for which memory larger pages pay, how to
                            get them, and the time, misses and faults that each memory saves
  --advice=libraries        of the out-file of a run with --calls=yes --dump-instr=yes: what the
                            dynamic linker spends, for which relocations, and what other ways to
                            link save; calls between objects, and how full their code pages are.
                            Behind it may stand the fault log of the run, if it is not beside it,
                            and out-files of runs with --merge-code: what merging saves in the TLBs
  --mappings                of an out-file of a run with --mappings=yes: what pmap lists, with
                            references and misses; what lies outside of aligned large pages, how
                            many misses fall there, and what to do about it

What is printed:
  -v, --verbose             also the machine, its assumptions and other metadata, and the totals
                            of all events
  --wide                    names as they were recorded: not shortened to the width of the
                            terminal (100 columns elsewhere), with template arguments, and with
                            the current folder
  --color=WHEN              auto (on a terminal, unless NO_COLOR is set), always, never [auto]

For other programs:
  --format=text|csv|json|markdown
                            json: one document with all that the text has; csv: the tables; both
                            with all events, unless --show chooses; markdown: the tables, for the
                            page of a merge request [text]
  --to=folded[=EVENT]       write stacks for flamegraph.pl, inferno and speedscope, from a file with
                            calls; the counts add up to the program's [the first sort event]
  --to=pprof[=EVENT]        write a profile for pprof, with all events, EVENT shown first: stacks,
                            of a file with calls, else lines
  --to=firefox[=EVENT]      write the same of one event for profiler.firefox.com
  --to=cachegrind           write an out-file of cachegrind, for cg_annotate
  --to=callgrind            with --inlined: write an out-file in which inlined functions are
                            functions, for KCachegrind
  --fail-above=LIMIT        exit status 3 if a count of the program is above LIMIT: EVENT>N,
                            EVENT/1000>N (per 1000 instructions), EVENT/EVENT>N, share>N (percent
                            of the time, at most); with --diff the difference; with --diff or
                            --compare also growth, EVENT>P% or P% (of the first sort event). May
                            be repeated

  --help                    print this text
  --version                 print the version

The column "time" is the share of the program's time that the misses of a row take at most: Wcyc,
their cycles, of all cycles. It is there where Wcyc is shown or sorted by.

Events are those that the file records (Ir, I1tm, ILtm, Dr, D1tmr, DLtmr, Dw, D1tmw, DLtmw, Wcyc;
"all" lists them) and, where their parts are recorded, these sums:
  walks  page walks         ILtm + DLtmr + DLtmw
  DLtm   data page walks    DLtmr + DLtmw
  L1tm   L1 TLB misses      I1tm + D1tmr + D1tmw
  D1tm   L1 data misses     D1tmr + D1tmw
  L2tm   L2 TLB misses      I2tm + D2tmr + D2tmw     (machines of three levels)
  D2tm   L2 data misses     D2tmr + D2tmw            (machines of three levels)
  Drw    data accesses      Dr + Dw

Examples:
  tg_annotate tlbgrind.out.4711
  tg_annotate --annotate -I ~/src/project tlbgrind.out.4711
  tg_annotate --sort=DLtmr --by=line --threshold=1 tlbgrind.out.4711
  tg_annotate --by=data tlbgrind.data.4711
  tg_annotate --by=line --of=table tlbgrind.data.4711
  tg_annotate --diff tlbgrind.out.before tlbgrind.out.after
  tg_annotate --advice tlbgrind.out.4711_zen4
  tg_annotate --mappings tlbgrind.out.4711
  tg_annotate --advice=libraries tlbgrind.out.before tlbgrind.out.merged
  tg_annotate --tree --threshold=1 tlbgrind.out.4711
  tg_annotate --inlined --by=function,line:inclusive tlbgrind.out.4711
  tg_annotate --to=folded tlbgrind.out.4711 | flamegraph.pl >walks.svg
  tg_annotate --compare --by=function,line tlbgrind.out.4711_skylake tlbgrind.out.4711_zen4
  tg_annotate --diff --fail-above=5% tlbgrind.out.before tlbgrind.out.after
"""

PAGES, LIBRARIES = "pages", "libraries"  # what --advice is about
CONTEXT = 8


class Options(argparse.Namespace):
    outfiles: list[str]
    show: list[str]
    sort: list[str]
    threshold: Fraction
    show_percs: bool
    by: list[str]
    inlined: bool
    inclusive: bool
    callers: str | None
    tree: str | None
    to: str | None
    phase: str | None
    annotate: bool
    source: list[str]
    include: list[str]
    context: int | None
    asm: str | None
    of: str | None
    data_type: list[Given]
    machine: str | None
    diff: bool
    advice: str | None
    mappings: bool
    compare: bool
    format: str
    fail_above: list[Limit]
    mod_filename: Renamer
    mod_funcname: Renamer
    verbose: bool
    wide: bool
    color: str


def _words(text: str) -> list[str]:
    words = text.split(",")
    if not all(words):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME[,NAME...]")
    return words


class _Views(some_of):
    def __call__(self, text: str) -> list[str]:
        _words(text)
        return super().__call__(text)


class _Names(Value):
    """Any events that the file has; completed are those that out-files of tlbgrind can have."""

    def __init__(self, *more: str) -> None:
        super().__init__("some", *dict.fromkeys((*USUAL, *more)))

    def __call__(self, text: str) -> list[str]:
        return _words(text)


class _Form(one_of):
    """What another program reads, and the event, where that has one only."""

    def __call__(self, text: str) -> str:
        form, equals, event = text.partition("=")
        super().__call__(form)
        if equals and not (form in convert.OF_ONE_EVENT and event):
            forms = " or ".join(f"{form}=EVENT" for form in convert.OF_ONE_EVENT)
            raise argparse.ArgumentTypeError(f"'{text}' is not {forms}")
        return text


class _Folder(Value):
    """A search path may have an empty part."""

    def __init__(self) -> None:
        super().__init__("folder")

    def __call__(self, text: str) -> str:
        return text


def _percent(text: str) -> Fraction:
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}", text) is None or float(text) > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0 to 100")
    return Fraction(text)


def _line_count(text: str) -> int:
    if re.fullmatch(r"[0-9]{1,9}", text) is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of lines")
    return int(text)


def _type_of_data(text: str) -> Given:
    data, _, name = text.rpartition("=")
    if not data or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not DATA=TYPE")
    return Given(data, name)


def _renamer(text: str) -> Renamer:
    """Turns s/RE/NEW/FLAGS into a function, in which any character may stand for the slash."""
    parts = text[1:].split(text[1]) if text[:1] == "s" and len(text) > 1 else []
    if len(parts) != 4 or not parts[1] or set(parts[3]) - set("gi"):
        raise argparse.ArgumentTypeError(f"'{text}' is not s/RE/NEW/, with g or i behind it or not")
    _, pattern, new, flags = parts
    try:
        with catch_warnings():
            # Of what may mean something else one day, in lines of this source.
            simplefilter("ignore")
            compiled = re.compile(pattern, re.IGNORECASE if "i" in flags else 0)
    except (re.error, RecursionError, OverflowError) as error:
        raise argparse.ArgumentTypeError(
            f"'{text}': '{pattern}' is not a regular expression: {error}"
        ) from None

    def rename(name: str) -> str:
        try:
            return compiled.sub(new, name, count=0 if "g" in flags else 1) or UNKNOWN
        except (re.error, IndexError) as error:
            raise ReportError(f"'{text}': '{new}' is not a replacement: {error}") from None

    return rename


def _unchanged(name: str) -> str:
    return name


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_annotate")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("outfiles", metavar="OUTFILE", nargs="*")
    add("--show", type=_Names(ALL), default=[])
    add("--sort", type=_Names(), default=[])
    add("--threshold", type=_percent, default=Fraction("0.1"))
    add("--show-percs", type=yes_or_no(), default=True)
    add("--by", type=_Views(*VIEWS), default=[])
    add("--inlined", action="store_true")
    add("--inclusive", action="store_true")
    add("--callers", type=name_of("function"), nargs="?", const=EVERY)
    add("--tree", type=name_of("function"), nargs="?", const=EVERY)
    add("--to", type=_Form(*convert.FORMS))
    add("--of")
    add("--data-type", type=_type_of_data, action="append", default=[])
    add("--machine")
    add("--phase")
    add("--annotate", action="store_true")
    add("--source", action="append", default=[])
    add("-I", "--include", type=_Folder(), action="append", default=[])
    add("--context", type=_line_count)
    add("--asm", type=name_of("function"))
    add("--diff", action="store_true")
    add("--advice", type=one_of(PAGES, LIBRARIES), nargs="?", const=PAGES)
    add("--mappings", action="store_true")
    add("--compare", action="store_true")
    add("--format", type=one_of(*export.FORMATS), default="text")
    add("--fail-above", type=limit_value(), action="append", default=[])
    add("--mod-filename", type=_renamer, default=_unchanged)
    add("--mod-funcname", type=_renamer, default=_unchanged)
    add("-v", "--verbose", action="store_true")
    add("--wide", action="store_true")
    add("--color", type=one_of(*COLOURS), default="auto")
    options = Options()
    parser.parse(arguments, options, "outfiles")
    if not options.outfiles:
        parser.error("no OUTFILE given")
    if options.diff and len(options.outfiles) != 2:
        parser.error(f"--diff takes two OUTFILEs, not {len(options.outfiles)}")
    for given, name in (
        (options.diff, "diff"),
        (options.compare, "compare"),
        (options.annotate, "annotate"),
        (options.source, "source"),
        (options.fail_above, "fail-above"),
        (options.by, "by"),
        (options.show, "show"),
        (options.sort, "sort"),
        (options.of, "of"),
        (options.machine, "machine"),
        (options.advice == LIBRARIES and options.phase, "phase"),
    ):
        if options.advice and given:
            parser.error(f"--advice goes without --{name}")
    if options.of and len(options.outfiles) > 1 and re.search(r"(?:^| )#[0-9]+$", options.of):
        parser.error(f"--of={options.of}: a number is of one data file only, not of {len(options.outfiles)}")
    if options.data_type and "data:offset" not in options.by:
        parser.error("--data-type goes with --by=data:offset only")
    _check_mappings(parser, options)
    _check_calls(parser, options)
    _check_inlined(parser, options)
    if not (options.by or options.tree or options.callers or options.inclusive or options.asm):
        options.by = ["function", "file", "object"]
    if options.compare and options.diff:
        parser.error("--compare goes without --diff")
    if options.compare and len(options.outfiles) < 2:
        parser.error("--compare takes two OUTFILEs or more, not 1")
    for limit in options.fail_above:
        if limit.is_growth and not (options.diff or options.compare):
            parser.error(
                f"--fail-above={limit.text}: growth goes with --diff or --compare; a share is "
                f"EVENT/EVENT>0.05, and of the time {SHARE}>5"
            )
    for given, name in ((options.annotate, "annotate"), (options.source, "source")):
        if given and options.compare:
            parser.error(f"--compare goes without --{name}")
    for other in ("advice", "compare", "diff", "of", "phase", "to"):
        if options.asm and getattr(options, other):
            parser.error(f"--asm goes without --{other}")
    if not (options.annotate or options.source):
        if options.context is not None:
            parser.error("--context goes with --annotate or --source only")
        if options.include:
            parser.error("-I goes with --annotate or --source only")
    return options


def _check_mappings(parser: Parser, options: Options) -> None:
    """One table of one file: what chooses other tables, or other counts, does not go with it."""
    if not options.mappings:
        return
    others = ("advice", "compare", "diff", "annotate", "source", "by", "inlined", "inclusive", "callers")
    for other in (*others, "tree", "to", "asm", "of", "show", "sort", "fail_above"):
        if getattr(options, other):
            parser.error(f"--mappings goes without --{other.replace('_', '-')}")
    if len(options.outfiles) > 1:
        parser.error(f"--mappings takes one OUTFILE, not {len(options.outfiles)}")


def _check_calls(parser: Parser, options: Options) -> None:
    names = [name for name in ("inclusive", "callers", "tree", "to") if getattr(options, name)]
    alone = ["annotate", "source", "by", "inclusive", "callers", "tree", "fail_above"]
    for name in names:
        for other in ("advice", "compare", "diff", *(alone if name == "to" else ())):
            if getattr(options, other):
                parser.error(f"--{name} goes without --{other.replace('_', '-')}")
    if options.to and options.format != "text":
        parser.error("--to goes without --format")
    if options.to and options.show:
        parser.error("--to goes without --show: the event is --to=FORMAT=EVENT")


def _check_inlined(parser: Parser, options: Options) -> None:
    if LINE_INCLUSIVE in options.by:
        options.inlined = True
        if options.compare:
            parser.error(f"--by={LINE_INCLUSIVE} goes without --compare")
    for other in ("advice", "asm", "of"):
        if options.inlined and getattr(options, other):
            parser.error(f"--inlined goes without --{other}")
    if options.to == convert.CALLGRIND and not options.inlined:
        parser.error(f"--to={convert.CALLGRIND} goes with --inlined: without, the OUTFILE is the same")
