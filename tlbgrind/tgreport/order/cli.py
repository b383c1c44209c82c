# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_order's options, and the life of one call."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Callable

from ..base import command
from ..base.command import Answer, Parser, file_name, name_of, whole_number
from ..base.errors import ReportError, printable
from ..base.text import aligned, title
from ..formats import entries, faultlog
from ..formats.elf import PF_X, Elf
from . import datapages, dialects, layout, trace
from .order import Order, Placed, order, stripped
from .trace import Function, Trace

HELP = """\
Usage: tg_order [options] ENTRIES...

Makes function orders for linkers from what a program executed while it ran under
tlbgrind --entries=yes (tlbgrind.entries.PID): functions in the order of their first entry, so
that a program touches few pages of code while it starts. Without an option it lists the order.

What is ordered:
  --object=NAME        the object whose functions are ordered: its name, the last parts of it or
                       the begin of its file name, as in libfoo.so [the program itself]
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
  --page-align         begin the block on a page of its own (GNU ld only)
  --ld=COMMAND         the GNU ld whose script --bfd-script takes [ld]
  --ld-script=FILE     that script, or what ld --verbose printed

Questions:
  --list               list the functions in order
  --check=BINARY       does this binary follow the order? Exit status 2: it does not
  --order=FILE         with --check: the names in this ordering file instead of ENTRIES
  --forecast           what the order would bring, before relinking
  --data               which data was written first (recorded with --entries=data), which of it is
                       on one page, and what packing it would save; no order and no other
                       question with it
  --top=N              with --data: how many variables are listed; 0: all [40]
  --faults=FILE        with --forecast, --data: the fault log of the same run, to compare with all
                       faults

  --help               print this text
  --version            print the version

Examples:
  tlbgrind --entries=yes ./program
  tg_order --lld=order.txt tlbgrind.entries.4711
  clang -ffunction-sections ... -fuse-ld=lld -Wl,--symbol-ordering-file=order.txt
  tg_order --check=./program tlbgrind.entries.4711
"""

_TOP = 40
_FILES = ("lld", "gold", "bfd", "bfd_script", "bolt", "names")


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
    page_align: bool
    ld: str | None
    ld_script: str = ""
    list: bool
    check: str = ""
    order: str = ""
    forecast: bool
    faults: str = ""
    data: bool
    top: int | None


def _weights(text: str) -> list[float]:
    words = text.split(",")
    for word in words:
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", word) is None or float(word) <= 0:
            raise argparse.ArgumentTypeError(f"'{word}' is not a number above 0")
    return [float(word) for word in words]


def _percent(text: str) -> float:
    if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", text) is None or float(text) > 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a percentage from 0 to 100")
    return float(text) / 100


def parse(arguments: Sequence[str]) -> Options:
    parser = Parser("tg_order")
    add: Callable[..., argparse.Action] = parser.add_argument
    add("inputs", metavar="ENTRIES", nargs="*")
    add("--object", type=name_of("object"))
    for name in ("binary", "check", "order", "faults", "ld-script"):
        add(f"--{name}", type=file_name)
    for name in _FILES:
        add(f"--{name.replace('_', '-')}", type=file_name)
    add("--weights", type=_weights, default=[])
    add("--least", type=_percent, default=0.0)
    add("--objects", type=file_name, action="append", default=[])
    add("--page-align", action="store_true")
    add("--ld")
    add("--list", action="store_true")
    add("--forecast", action="store_true")
    add("--data", action="store_true")
    add("--top", type=whole_number("a number of variables"))
    options = Options()
    parser.parse(arguments, options, "inputs")
    if options.order and not options.check:
        parser.error("--order=FILE goes with --check=BINARY")
    if options.order and options.inputs:
        parser.error("--order=FILE takes the place of ENTRIES; give one of the two")
    if not options.order and not options.inputs:
        parser.error("no ENTRIES given")
    if options.faults and not (options.forecast or options.data):
        parser.error("--faults=FILE goes with --forecast or --data")
    if options.top is not None and not options.data:
        parser.error("--top=N goes with --data")
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
    outputs = [getattr(options, name) for name in _FILES if getattr(options, name)]
    if outputs.count("-") > 1:
        parser.error("only one order can go to the standard output")
    _refuse_one_file(parser, options)
    return options


def _refuse_what_would_be_left_out(parser: Parser, options: Options) -> None:
    """--data and --order answer alone, and an order on the standard output stands there alone, so that
    it can be piped: nobody shall wait for a file, or trust an exit status, that never comes."""
    orders = [name for name in _FILES if getattr(options, name)]
    questions = ("list", "check", "forecast", "data")
    if options.data:
        alone, without = "--data", [*questions[:3], *orders, "objects", "weights", "least"]
    elif options.order:
        alone, without = "--order", ["list", "forecast", *orders, "objects", "weights", "least", "object", "binary"]
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
    for name in _FILES:
        path = getattr(options, name)
        if not path or path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
            continue
        other = seen.setdefault(os.path.realpath(path), name)
        if other != name:
            options_named = f"--{other} and --{name}".replace("_", "-")
            parser.error(f"{options_named} would go to the same file; give each its own")


@dataclass
class Work:
    """What all the questions are about."""

    options: Options
    traces: list[Trace]
    order: Order
    sections: dialects.Sections | None
    warnings: list[str]

    @property
    def binary(self) -> Elf | None:
        return self.traces[0].binary


def report(arguments: Sequence[str], warnings: list[str]) -> list[str]:
    options = parse(arguments)
    if options.order:
        return _check_names(options)
    traces = [
        trace.load(entries.read(path), options.object, options.binary, warnings)
        for path in options.inputs
    ]
    _same_program(traces)
    if options.data:
        return _data(options, traces[0])
    result = order(traces, options.weights or [1.0] * len(traces), options.least)
    if not result.placed:
        raise ReportError(
            f"no function to order: {traces[0].object} has no symbols (it is stripped), "
            "or all functions are below --least",
            traces[0].entries.path,
        )
    sections = dialects.Sections(options.objects) if options.objects else None
    work = Work(options, traces, result, sections, warnings)
    _warn(work)
    printed, written = _write_orders(work)
    if printed is not None:
        return printed
    text = Answer()
    asked = options.check or options.forecast
    if options.list or not (written or asked):
        text += _listing(work)
    if options.check:
        checked = _check(work)
        text += checked
        text.status = checked.status
    if options.forecast:
        text += _forecast(work)
    text += _summary(work, written)
    del text[-1]
    return text


def _same_program(traces: list[Trace]) -> None:
    first = traces[0]
    for other in traces[1:]:
        if os.path.basename(other.object) != os.path.basename(first.object):
            raise ReportError(
                f"the order is of {other.object}, but of {first.object} in {first.entries.path}: "
                "one order can only be made for one object; choose it with --object",
                other.entries.path,
            )


def _warn(work: Work) -> None:
    placed = work.order.placed
    duplicates = [p for p in placed if p.duplicates]
    if duplicates:
        names = _some([_labelled(p.function) for p in duplicates])
        work.warnings.append(
            f"{len(duplicates)} of the functions share their name with others of the binary, "
            f"which linkers that go by name cannot tell apart: {names}"
        )
    # Start code and the stubs of the procedure linkage table have no names in many programs.
    unnamed = sum(f.touched_bytes for f in work.order.unnamed)
    total = unnamed + sum(p.function.touched_bytes for p in placed)
    if unnamed * 5 > total:
        work.warnings.append(
            f"{100 * unnamed // total}% of the executed code has no symbol and cannot be ordered: "
            "is the binary stripped?"
        )
    if work.sections is not None:
        crowded = [p for p in placed if p.function.name in work.sections.crowded]
        if len(crowded) * 2 > len(placed):
            raise ReportError(
                f"{len(crowded)} of {len(placed)} functions share their section with others, so "
                "that no linker can move them: compile with -ffunction-sections",
                ", ".join(work.options.objects),
            )


def _labelled(function: Function) -> str:
    return f"{function.name} ({function.file})" if function.file else function.name


def _some(names: Sequence[str], count: int = 5) -> str:
    return ", ".join(names[:count]) + (", ..." if len(names) > count else "")


def _write_orders(work: Work) -> tuple[list[str] | None, list[tuple[str, str, int]]]:
    """Writes the files. Returns the one for the standard output, if there is, and (language, file,
    lines)."""
    options = work.options
    of_sections = options.gold or options.bfd or options.bfd_script
    if of_sections and len(_unmatched(work)) == len(work.order.placed):
        raise ReportError(
            "no section there holds a function of the order: are these the object files of "
            f"{work.traces[0].object}, compiled with -ffunction-sections?",
            ", ".join(options.objects),
        )
    writer = dialects.Writer(work.order, work.sections, options.page_align)
    texts: list[tuple[str, str, list[str]]] = []
    for name in _FILES:
        path = getattr(options, name)
        if not path:
            continue
        if name == "bfd_script":
            if options.ld_script:
                raw = command.read_bytes(options.ld_script).decode("utf-8", "surrogateescape")
                complaint = f"argument --ld-script: {options.ld_script} has no linker script"
                default = dialects.cut_script(raw, complaint)
            else:
                default = dialects.default_script(options.ld or "ld", work.binary)
            lines = writer.bfd_script(default)
        else:
            lines = getattr(writer, name)()
        texts.append((name.replace("_", "-"), path, lines))
    printed: list[str] | None = None
    written = []
    for name, path, lines in texts:
        if path == "-":
            printed = lines
            continue
        try:
            with open(path, "wb") as stream:
                text = "".join(f"{line}\n" for line in lines)
                stream.write(text.encode("utf-8", "surrogateescape"))
        except (OSError, ValueError) as error:
            raise ReportError(getattr(error, "strerror", None) or str(error), path) from None
        written.append((name, path, len(lines)))
    return printed, written


def _listing(work: Work) -> list[str]:
    several = len(work.traces) > 1
    shares = ["runs"] if several else []
    rows = [("rank", "when", "size", "touched", *shares, "function")]
    for rank, placed in enumerate(work.order.placed, 1):
        function = placed.function
        shares = [f"{100 * placed.weight:.0f}%"] if several else []
        rows.append(
            (
                f"{rank:,}",
                f"{function.when:,}",
                f"{function.size:,}",
                f"{function.touched_bytes:,}",
                *shares,
                _labelled(function),
            )
        )
    heading = f"Functions of {work.traces[0].object} in order of first entry"
    return [*title(heading), *aligned(rows, left=0), ""]


def _summary(work: Work, written: Sequence[tuple[str, str, int]]) -> list[str]:
    placed = work.order.placed
    size = sum(p.function.size for p in placed)
    used = sum(p.function.touched_bytes for p in placed)
    facts = [("Object", work.traces[0].object)]
    facts += [("Entries", t.entries.path) for t in work.traces]
    facts += [
        ("Functions entered", f"{len(placed):,}, of {size:,} bytes, {used:,} of them executed"),
    ]
    if work.binary is not None:
        total = len(trace.Symbols(work.binary).all)
        facts.append(("Functions in the binary", f"{total:,}"))
    if work.order.unnamed:
        touched = sum(f.touched_bytes for f in work.order.unnamed)
        facts.append(("Without a symbol", f"{touched:,} bytes executed, not ordered"))
    if work.order.fixed:
        facts.append(("C start code", _some([f.name for f in work.order.fixed]) + ", not ordered"))
    if work.order.left_out:
        facts.append(("Left out by --least", f"{work.order.left_out:,} functions"))
    unmatched = _unmatched(work)
    if unmatched:
        names = _some([p.function.name for p in unmatched], 20)
        facts.append(("Without a section", f"{len(unmatched):,} functions: {names}"))
    for name, path, lines in written:
        facts.append((f"Order for {name}", f"{path}, {lines:,} lines"))
    width = 2 + max(len(name) for name, _ in facts)
    return [*title("Order"), *(printable(f"{n + ':':<{width}}{v}") for n, v in facts), ""]


def _unmatched(work: Work) -> list[Placed]:
    """Functions that no section of the object files given holds alone."""
    sections = work.sections
    if sections is None:
        return []
    return [p for p in work.order.placed if not dialects.section_names(p, sections)]


# --- Check and forecast ---


def _row(name: str, m: layout.Measure) -> tuple[str, ...]:
    low, high = min(m.faults), max(m.faults)
    faults = f"{low}" if low == high else f"{low}-{high}"
    return (
        name,
        f"{m.functions:,}",
        f"{100 * m.share_ascending:.1f}%",
        f"{m.span:,}",
        f"{m.pages:,}",
        f"{m.windows:,}",
        faults,
        f"{m.mean_curve:,.1f}",
    )


_COLUMNS: tuple[str, ...] = ("", "functions", "ascending", "span", "4K pages", "64K windows", "faults", "mean pages")
_LEGEND = [
    "ascending: of the functions, how many lie behind the one that is entered before them",
    "span: bytes from the first of the functions to the end of the last",
    "faults: code faults with the file in the page cache, over all places that randomisation gives",
    "mean pages: area under the curve of pages touched against functions entered, per function",
]


def _check(work: Work) -> Answer:
    binary = _binary(work.options.check)
    ordered = [p.function for p in work.order.placed]
    match = _match(ordered, {id(p.function): p.others for p in work.order.placed}, binary)
    chosen = work.traces[0]
    touches = [t for t in chosen.touches if id(t[0]) in match.places]
    rows = [_COLUMNS]
    if work.binary is not None:
        own = {id(f): layout.Place(f.address, f.size) for f in ordered if id(f) in match.places}
        rows.append(_row("as it ran", layout.measure(touches, own, layout.Text(work.binary))))
    found = layout.measure(touches, match.places, layout.Text(binary))
    rows.append(_row("checked", found))
    in_order = [match.places[id(f)].address for f in ordered if id(f) in match.places]
    text = [*title(f"Check of {binary.path}"), *aligned(rows), "", *_LEGEND, ""]
    verdict = _verdict(in_order, match, len(ordered))
    verdict[:] = [*text, *verdict, ""]
    return verdict


def _check_names(options: Options) -> Answer:
    binary = _binary(options.check)
    names = _read_order(options.order)
    functions, match = _match_names([_function_of_order(name) for name in names], binary)
    touches = [(f, (0, 1)) for f in functions if id(f) in match.places]
    found = layout.measure(touches, match.places, layout.Text(binary))
    rows = [_COLUMNS, _row("checked", found)]
    in_order = [match.places[id(f)].address for f in functions if id(f) in match.places]
    text = [*title(f"Check of {binary.path}"), *aligned(rows), "", *_LEGEND, ""]
    verdict = _verdict(in_order, match, len(functions))
    verdict[:] = [*text, *verdict]
    return verdict


# How BOLT is told one of several static functions of a name: the source file, and a number.
_OF_A_FILE = re.compile(r"(?P<name>[^/]+)/(?P<file>.+)/[0-9]+")


def _function_of_order(line: str) -> Function:
    found = _OF_A_FILE.fullmatch(line)
    name, file = (found["name"], found["file"]) if found else (line, "")
    return Function(name, file, 0, 0, 0, (name, *stripped(name)), [(0, 1)])


def _binary(path: str) -> Elf:
    binary = trace.load_binary(path, "", "")
    if not trace.code_symbols(binary):
        raise ReportError("it has no symbols of functions, so nothing can be checked", path)
    return binary


def _match(
    functions: Sequence[Function], names: dict[int, list[str]], binary: Elf
) -> layout.Match:
    match = layout.places_in(functions, names, binary)
    _refuse_another_binary(match, len(functions), binary)
    return match


def _match_names(
    written: Sequence[Function], binary: Elf
) -> tuple[list[Function], layout.Match]:
    """An ordering file has all names of a function, and those without a compiler's suffix: what lies
    at one address is one function, and so is a name that is not there and one that it is short for."""
    match = layout.places_in(written, {}, binary)
    shorter = {name for function in written for name in stripped(function.name)}
    functions: list[Function] = []
    addresses: set[int] = set()
    for function in written:
        place = match.places.get(id(function))
        if place is None and function.name in shorter:
            continue
        if place is not None:
            if place.address in addresses:
                continue
            addresses.add(place.address)
        functions.append(function)
    kept = {id(function) for function in functions}
    match.missing = [f for f in match.missing if id(f) in kept]
    match.ambiguous = [f for f in match.ambiguous if id(f) in kept]
    _refuse_another_binary(match, len(functions), binary)
    return functions, match


def _refuse_another_binary(match: layout.Match, total: int, binary: Elf) -> None:
    if len(match.missing) * 2 > total:
        raise ReportError(
            f"{len(match.missing)} of the {total} functions of the order are not in it: "
            "the order is for another binary",
            binary.path,
        )


# What --check exits with if the binary does not follow the order.
_DOES_NOT_FOLLOW = 2


def _verdict(addresses: Sequence[int], match: layout.Match, total: int) -> Answer:
    """A linker that follows puts nearly every function behind the one before it; by chance it is
    every other one. Functions of one address, which a linker has folded, count once."""
    addresses = list(dict.fromkeys(addresses))
    pairs = len(addresses) - 1
    share = sum(a < b for a, b in zip(addresses, addresses[1:])) / pairs if pairs > 0 else 1.0
    follows = share >= 0.9
    verdict = "follows" if follows else "does NOT follow"
    share_text = f"{100 * share:.1f}% of neighbours in the order are ascending"
    text = [f"The binary {verdict} the order: {share_text}."]
    if not follows:
        text.append(
            "Was it compiled with -ffunction-sections, and did the linker get the file? "
            "No linker complains about an order that has no effect."
        )
    if match.missing:
        text.append(
            f"Not in this binary: {len(match.missing):,} of {total:,} functions: "
            + _some([f.name for f in match.missing], 20)
        )
    if match.ambiguous:
        text.append(
            f"Several functions of one name, taken in turn: {len(match.ambiguous):,}: "
            + _some([_labelled(f) for f in match.ambiguous], 20)
        )
    answer = Answer(printable(line) for line in text)
    answer.status = 0 if follows else _DOES_NOT_FOLLOW
    return answer


_SECTION = re.compile(r"\.text\.(?:startup\.|hot\.|unlikely\.|exit\.)?(?=.)")

_OF_THE_SCRIPT = (".text.unlikely", ".text.exit", ".text.startup", ".text.hot")


def _read_order(path: str) -> list[str]:
    """The functions that an ordering file names, in any of the languages."""
    text = command.read_bytes(path).decode("utf-8", "surrogateescape")
    if "\0" in text:
        raise ReportError("not an ordering file: it holds bytes of 0", path)
    names: dict[str, None] = {}
    is_script = re.search(r"^\s*\.text\s*:", text, re.MULTILINE) is not None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if is_script:
            match = re.fullmatch(r"\*\((.*)\)", line)
            words = match[1].replace('"', "").split() if match else []
            # A function's lines have all of its sections; what the default script has are patterns.
            words = [word for word in words if "*" not in word and word not in _OF_THE_SCRIPT]
            words = [word for word in words if _SECTION.match(word)]
        else:
            words = [] if line.startswith("#") else line.split()
            if len(words) > 1:
                raise ReportError(f"more than one name: '{line[:40]}'", path, number)
        for word in words:
            names[_SECTION.sub("", word, count=1) if word.startswith(".text.") else word] = None
    if not names:
        raise ReportError("it names no function", path)
    return list(names)


def _forecast(work: Work) -> list[str]:
    chosen, binary = work.traces[0], work.binary
    if binary is None:
        raise ReportError(
            f"--forecast needs the binary that was run: {chosen.object}", chosen.entries.path
        )
    if binary.stripped:
        raise ReportError("--forecast needs all symbols, but this is stripped", binary.path)
    text = layout.Text(binary)
    ordered = [p.function for p in work.order.placed]
    now = layout.measure(chosen.touches, layout.own_places(chosen), text)
    rows = [_COLUMNS, _row("as it ran", now)]
    forecasts = []
    for name, at_end in (("block at the begin", False), ("block at the end (gold)", True)):
        places = layout.forecast_places(chosen, ordered, binary, at_end, work.options.page_align)
        forecasts.append(layout.measure(chosen.touches, places, text))
        rows.append(_row(name, forecasts[-1]))
    lines = [*title(f"Forecast for {binary.path}"), *aligned(rows), "", *_LEGEND, ""]
    lines += _gain(now, forecasts[0], layout.phase_without_randomisation(binary))
    if work.options.faults:
        places = layout.forecast_places(chosen, ordered, binary, False, work.options.page_align)
        lines += _share(work, binary, text, places)
    return [*lines, ""]


def _share(
    work: Work, binary: Elf, text: layout.Text, places: dict[int, layout.Place]
) -> list[str]:
    """What the order changes of all faults of the run, the way that the fault log lays it out."""
    log = faultlog.read(work.options.faults)
    chosen = work.traces[0]
    warm = faultlog.view_number("warm")
    # The mapping's pages as the kernel numbers them, from those of the symbols.
    base = 0
    found = False
    for map_ in log.maps.values():
        address = binary.address_of(map_.offset, PF_X)
        is_code = map_.name == chosen.object and "x" in map_.protection
        if is_code and address is not None:
            base, found = (map_.native - address) // layout.PAGE, True
    if not found:
        raise ReportError(
            f"no code of {chosen.object} is mapped in it: this is the log of another program",
            log.path,
        )
    if log.page_size != layout.PAGE:
        raise ReportError(f"pages of {log.page_size} bytes; the forecast knows 4096 only", log.path)
    total = log.totals["warm"].faults
    recorded = sum(
        fault.kind(warm) == "x" and fault.map.name == chosen.object for fault in log.of(warm)
    )
    now = layout.faults_at(chosen.touches, layout.own_places(chosen), text, base)
    then = layout.faults_at(chosen.touches, places, text, base)
    # A log of a part of a run may have no faults.
    share, gain = (100 * n / total if total else 0.0 for n in (recorded, now - then))
    return [
        f"All faults of the run: {total:,}, of which code of this object: {recorded:,} ({share:.1f}%).",
        f"Code faults in the place that it had: {now:,} by this count, {then:,} with the order:",
        f"{gain:.1f}% fewer faults in all.",
    ]


def _gain(now: layout.Measure, then: layout.Measure, phase: int) -> list[str]:
    before, after = sum(now.faults) / len(now.faults), sum(then.faults) / len(then.faults)
    text = [
        f"Code faults of this object: {before:.1f} now, {after:.1f} with the order (mean).",
    ]
    if len(now.faults) > 1:
        text.append(
            f"Without randomisation (setarch -R): {now.faults[phase]} now, "
            f"{then.faults[phase]} with the order."
        )
    return text


def _data(options: Options, chosen: Trace) -> list[str]:
    if chosen.binary is None:
        raise ReportError(f"--data needs the binary that was run: {chosen.object}")
    number = entries.choose_object(chosen.entries, options.object)
    data = datapages.Data(chosen.entries, number, chosen.binary)
    log = faultlog.read(options.faults) if options.faults else None
    return datapages.report(data, log, chosen.object, _TOP if options.top is None else options.top)[:-1]


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run("tg_order", HELP, arguments, report)
