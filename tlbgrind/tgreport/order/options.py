# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Parses tg_order's options, and refuses those that do not go together."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import Callable

from ..base.command import Parser, file_name, name_of, whole_number

HELP = """\
Usage: tg_order [options] ENTRIES...

Makes function orders for linkers from what a program executed while it ran under
tlbgrind --entries=yes (tlbgrind.entries.PID): functions in the order of their first entry, so
that a program touches few pages of code while it starts. Without an option it lists the order.

What is ordered:
  --object=NAME        the object whose functions are ordered: its name, the last parts of it or
                       the begin of its file name, as in libfoo.so [the program itself]; all: each
                       object of the process, its orders in FILE.OBJECT
  --binary=FILE        where the binary is that was run [where it was]
  --weights=W[,W...]   how much each ENTRIES counts, one number each [1,1,...]
  --least=PERCENT      leave out functions that less of the weight enters [0]

Orders, any number of them at once, each in a file of its own; - is the standard output, for one of
them and nothing else:
  --lld=FILE           for lld --symbol-ordering-file
  --gold=FILE          for gold --section-ordering-file
  --bfd=FILE           for GNU ld 2.43 or newer, --section-ordering-file
  --bfd-script=FILE    for any GNU ld, -T: its own script with lines added
  --bolt=FILE          for llvm-bolt --reorder-functions=user --function-order
  --names=FILE         the plain names
  --objects=FILE       an object file, an archive or a folder of them: the names of their sections
                       are used, where they are guessed otherwise. May be repeated
  --with-data          variables, too, in --lld, --gold, --bfd, --bfd-script, --list, --check and
                       --forecast (recorded with --entries=data; compile with -fdata-sections)
  --page-align         begin the block on a page of its own (GNU ld only)
  --ld=COMMAND         the GNU ld whose script --bfd-script takes [ld]
  --ld-script=FILE     that script, or what ld --verbose printed

Questions:
  --list               list the functions in order
  --check=BINARY       does this binary follow the order? Exit status 2: it does not
  --order=FILE         with --check: the names in this ordering file instead of ENTRIES
  --max-faults=N       with --check: exit status 3 if the functions take more than N code faults,
                       wherever the binary is put
  --least-ascending=P  with --check: exit status 3 if less than P percent of neighbours ascend
  --max-missing=P      with --check: exit status 3 if the binary lacks more than P percent of the
                       order's functions
  --stale=FILE         how much of what ENTRIES executed this ordering file does not place, and what
                       a new order would bring
  --max-stale=P        with --stale: exit status 3 if that is more than P percent
  --forecast           what the order would bring, before relinking
  --gains              the same for each of several ENTRIES, and what is lost without it
  --held-out=FILE      the same for the ENTRIES of a run that is not in the order. May be repeated
  --data               which data was written first (recorded with --entries=data), which of it is
                       on one page, and what data in order would save; no order and no other
                       question with it
  --top=N              with --data: how many variables are listed; 0: all [40]
  --faults=FILE        with --forecast, --check, --data: the fault log of the same run, to compare with
                       all faults; and, but for --data, what is read from the disk
  --read-ahead=KIB     with it: as if the disk read so many KiB ahead [as in the log]

  --help               print this text
  --version            print the version

Examples:
  tlbgrind --entries=yes ./program
  tg_order --lld=order.txt tlbgrind.entries.4711
  clang -ffunction-sections ... -fuse-ld=lld -Wl,--symbol-ordering-file=order.txt
  tg_order --check=./program tlbgrind.entries.4711
"""

_MOST_READ_AHEAD = 65536
TOP = 40  # variables that --data lists
FILES = ("lld", "gold", "bfd", "bfd_script", "bolt", "names")
# Above them the exit status is 3; and what each goes with.
LIMITS = {
    "max_faults": "check",
    "least_ascending": "check",
    "max_missing": "check",
    "max_stale": "stale",
}


class Options(argparse.Namespace):
    # Names have their default here, where argparse does not take it for one that is given.
    inputs: list[str]
    object: str = ""
    binary: str = ""
    weights: list[float]
    least: float
    lld: str = ""
    gold: str = ""
    bfd: str = ""
    bfd_script: str = ""
    bolt: str = ""
    names: str = ""
    objects: list[str]
    held_out: list[str]
    with_data: bool
    page_align: bool
    ld: str | None
    ld_script: str = ""
    list: bool
    check: str = ""
    max_faults: int | None
    least_ascending: float | None
    max_missing: float | None
    stale: str = ""
    max_stale: float | None
    order: str = ""
    forecast: bool
    gains: bool
    faults: str = ""
    read_ahead: int | None
    data: bool
    top: int | None


def _weights(text: str) -> list[float]:
    words = text.split(",")
    for word in words:
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", word) is None or float(word) <= 0:
            raise argparse.ArgumentTypeError(f"'{word}' is not a number above 0")
    return [float(word) for word in words]


def _read_ahead(text: str) -> int:
    if re.fullmatch("[0-9]{1,5}", text) is None or int(text) > _MOST_READ_AHEAD:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of KiB up to {_MOST_READ_AHEAD}")
    return int(text)


def _percent(text: str) -> float:
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", text) is None or float(text) > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0 to 100")
    return float(text) / 100


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_order")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("inputs", metavar="ENTRIES", nargs="*")
    add("--object", type=name_of("object"))
    for name in ("binary", "check", "order", "faults", "ld-script", "stale"):
        add(f"--{name}", type=file_name)
    for name in FILES:
        add(f"--{name.replace('_', '-')}", type=file_name)
    add("--weights", type=_weights, default=[])
    add("--least", type=_percent, default=0.0)
    add("--objects", type=file_name, action="append", default=[])
    add("--with-data", action="store_true")
    add("--page-align", action="store_true")
    add("--ld")
    add("--max-faults", type=whole_number("a number of faults"))
    for name in ("least-ascending", "max-missing", "max-stale"):
        add(f"--{name}", type=_percent)
    add("--list", action="store_true")
    add("--gains", action="store_true")
    add("--held-out", type=file_name, action="append", default=[])
    add("--forecast", action="store_true")
    add("--data", action="store_true")
    add("--top", type=whole_number("a number of variables"))
    add("--read-ahead", type=_read_ahead)
    options = Options()
    parser.parse(arguments, options, "inputs")
    if options.order and not options.check:
        parser.error("--order=FILE goes with --check=BINARY")
    if options.order and options.inputs:
        parser.error("--order=FILE takes the place of ENTRIES; give one of the two")
    if not options.order and not options.inputs:
        parser.error("no ENTRIES given")
    if options.faults and not (options.forecast or options.check or options.data):
        parser.error("--faults=FILE goes with --forecast, --check or --data")
    if options.read_ahead is not None and (not options.faults or options.data):
        parser.error("--read-ahead=KIB goes with --faults=FILE of --forecast or --check")
    for name, needed in LIMITS.items():
        if getattr(options, name) is not None and not getattr(options, needed):
            needs = "--stale=FILE" if needed == "stale" else "--check=BINARY"
            parser.error(f"--{name.replace('_', '-')} goes with {needs}")
    if options.top is not None and not options.data:
        parser.error("--top=N goes with --data")
    takes_data = ("lld", "gold", "bfd", "bfd_script", "list", "check", "forecast")
    if options.with_data and not any(getattr(options, name) for name in takes_data):
        parser.error("--with-data goes with --lld, --gold, --bfd, --bfd-script, --list, --check or --forecast")
    if options.page_align and not (options.bfd or options.bfd_script):
        parser.error("--page-align goes with --bfd or --bfd-script")
    for name in ("ld", "ld_script"):
        if getattr(options, name) and not options.bfd_script:
            parser.error(f"--{name.replace('_', '-')} goes with --bfd-script")
    _refuse_what_would_be_left_out(parser, options)
    if options.data and len(options.inputs) > 1:
        parser.error(f"--data is about one run, not {len(options.inputs)}")
    if options.weights and len(options.weights) != len(options.inputs):
        parser.error(
            f"--weights has {len(options.weights)} numbers for {len(options.inputs)} ENTRIES"
        )
    outputs = [getattr(options, name) for name in FILES if getattr(options, name)]
    if outputs.count("-") > 1:
        parser.error("only one order can go to the standard output")
    _refuse_one_file(parser, options)
    return options


def _refuse_what_would_be_left_out(parser: Parser, options: Options) -> None:
    """--data and --order answer alone. An order on the standard output stands there alone, so that it
    can be piped. Without this, an order that was asked for would silently not be written."""
    orders = [name for name in FILES if getattr(options, name)]
    questions = ("list", "check", "forecast", "stale", "gains", "held_out", "data")
    if options.data:
        alone, without = "--data", [*questions[:6], *orders, "weights", "least", "with_data"]
    elif options.order:
        alone, without = "--order", ["list", "forecast", "stale", "gains", "held_out", "faults", *orders, "objects", "weights", "least", "object", "binary", "with_data"]
    elif options.object == "all":
        to_stdout = [name for name in orders if getattr(options, name) == "-"]
        alone = "--object=all"
        without = [*questions, "binary", "faults", *to_stdout]
    else:
        to_stdout = [name for name in orders if getattr(options, name) == "-"]
        alone = f"--{to_stdout[0]}=-".replace("_", "-") if to_stdout else ""
        without = list(questions) if to_stdout else []
    for name in without:
        if getattr(options, name):
            parser.error(f"{alone} goes without --{name.replace('_', '-')}")


def _refuse_one_file(parser: Parser, options: Options) -> None:
    """The later order would take the place of the earlier. Devices, such as /dev/null, keep nothing."""
    seen: dict[str, str] = {}
    for name in FILES:
        path = getattr(options, name)
        if not path or path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        other = seen.setdefault(os.path.realpath(path), name)
        if other != name:
            options_named = f"--{other} and --{name}".replace("_", "-")
            parser.error(f"{options_named} would go to the same file; give each its own")
