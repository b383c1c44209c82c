# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs one call of tg_order."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from ..base import command
from ..base.command import Answer, refuse_twice
from ..base.errors import ReportError, printable
from ..base.text import aligned, counted, title
from ..base.whole_file import write_whole
from ..formats import entries, faultlog
from ..formats.entries import Entries
from ..places import trace
from ..places.dataorder import USES, DataOrder, data_order
from ..places.datapages import Data
from ..places.order import Placed, order
from ..places.sections import Sections
from ..places.trace import Trace
from . import dataforecast, datatables, dialects, ld_script
from .check import check, check_names
from .forecast import forecast
from .gains import gains
from .objects import ALL, Written, all_objects
from .options import FILES, HELP, TOP, Options, parse
from .stale import stale
from .work import Work, labelled, some


def report(arguments: Sequence[str], warnings: list[str]) -> list[str]:
    options = parse(arguments)
    if options.order:
        return check_names(options)
    refuse_twice([*options.inputs, *options.held_out], "its run would count twice")
    runs = [entries.read(path) for path in options.inputs]
    if options.object == ALL:
        return all_objects(options, runs, lambda own: _of_one(own, runs, warnings))[:-1]
    traces = [trace.load(run, options.object, options.binary, warnings) for run in runs]
    _same_program(traces)
    if options.data:
        return _data(options, traces[0])
    work = _work(options, traces, warnings)
    held_out = [
        trace.load(entries.read(path), options.object, options.binary, warnings)
        for path in options.held_out
    ]
    _same_program([*traces, *held_out])
    printed, written = _write_orders(work)
    if printed is not None:
        return printed
    text = Answer()
    asked = options.check or options.forecast or options.stale or options.gains or held_out
    if options.list or not (written or asked):
        text += _listing(work)
    if options.check:
        checked = check(work)
        text += checked
        text.status, text.reasons = checked.status, checked.reasons
    if options.forecast:
        text += forecast(work)
    if options.gains or held_out:
        text += gains(work, held_out)
    if options.stale:
        answer = stale(work)
        text += answer
        text.status = max(text.status, answer.status)
        text.reasons += answer.reasons
    text += _summary(work, written)
    del text[-1]
    return text


def _work(options: Options, traces: list[Trace], warnings: list[str]) -> Work:
    result = order(traces, options.weights or [1.0] * len(traces), options.least)
    if not result.placed:
        raise ReportError(
            f"no function to order: {traces[0].object} has no symbols (it is stripped), "
            "or all functions are below --least",
            traces[0].entries.path,
        )
    sections = Sections(options.objects) if options.objects else None
    work = Work(options, traces, result, sections, warnings)
    if options.with_data:
        weights = options.weights or [1.0] * len(traces)
        work.data = data_order(traces, options.object, weights, options.least, sections)
    _warn(work)
    return work


def _of_one(options: Options, runs: Sequence[Entries], warnings: list[str]) -> tuple[Work, Written]:
    """The orders of one object, of those runs that have it, written."""
    weights = options.weights or [1.0] * len(runs)
    having = [
        (run, weight)
        for run, weight in zip(runs, weights)
        if any(known.name == options.object for known in run.objects.values())
    ]
    options.weights = [weight for _, weight in having]
    said: list[str] = []
    traces = [trace.load(run, options.object, "", said) for run, _ in having]
    work = _work(options, traces, said)
    written = _write_orders(work)[1]
    warnings += [f"{os.path.basename(options.object)}: {what}" for what in said]
    return work, written


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
        names = some([labelled(p.function) for p in duplicates])
        work.warnings.append(
            f"{len(duplicates)} of the functions share their name with others of the binary, "
            f"which linkers that go by name cannot tell apart: {names}"
        )
    if work.data is not None:
        _warn_of_data(work, work.data)
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


def _warn_of_data(work: Work, data: DataOrder) -> None:
    if data.duplicates:
        work.warnings.append(
            f"{len(data.duplicates)} names of variables are those of others, too, which linkers "
            f"cannot tell apart: {some(data.duplicates)}"
        )
    sharing = sum(v.shares for v in data.stay)  # not those of a C library that is linked statically
    if sharing > len(data.placed):
        work.warnings.append(
            f"{sharing} of {sharing + len(data.placed)} variables have no section of "
            "their own, so that no linker can move them: compile with -fdata-sections"
        )


def _write_orders(work: Work) -> tuple[list[str] | None, list[tuple[str, str, int]]]:
    """Writes the files. Returns the one for the standard output, if there is, and (format, file,
    lines)."""
    options = work.options
    of_sections = options.gold or options.bfd or options.bfd_script
    has_data = work.data is not None and work.data.placed
    if of_sections and len(_unmatched(work)) == len(work.order.placed) and not has_data:
        raise ReportError(
            "no section there holds a function of the order: are these the object files of "
            f"{work.traces[0].object}, compiled with -ffunction-sections?",
            ", ".join(options.objects),
        )
    writer = dialects.Writer(work.order, work.sections, options.page_align, work.data)
    texts: list[tuple[str, str, list[str]]] = []
    for name in FILES:
        path = getattr(options, name)
        if not path:
            continue
        if name == "bfd_script":
            if options.ld_script:
                raw = command.read_bytes(options.ld_script).decode("utf-8", "surrogateescape")
                complaint = f"argument --ld-script: {options.ld_script} has no linker script"
                default = ld_script.cut_script(raw, complaint)
            else:
                default = ld_script.default_script(options.ld or "ld", work.binary)
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
        text = "".join(f"{line}\n" for line in lines)
        write_whole(path, text.encode("utf-8", "surrogateescape"))
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
                labelled(function),
            )
        )
    heading = f"Functions of {work.traces[0].object} in order of first entry"
    text = [title(heading), *aligned(rows, left=0), ""]
    return text + (_data_listing(work, work.data) if work.data is not None else [])


def _data_listing(work: Work, data: DataOrder) -> list[str]:
    shares = ["runs"] if len(work.traces) > 1 else []
    rows = [("rank", "section", "size", *shares, "use", "variable")]
    for rank, v in enumerate(data.placed, 1):
        shares = [f"{100 * v.weight:.0f}%"] if shares else []
        rows.append((f"{rank:,}", v.section, f"{len(v.place):,}", *shares, v.use, v.label))
    return [title(f"Variables of {work.traces[0].object} in order"), *aligned(rows, left=0), ""]


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
        total = len(trace.symbols_of(work.binary).all)
        facts.append(("Functions in the binary", f"{total:,}"))
    if work.order.unnamed:
        touched = sum(f.touched_bytes for f in work.order.unnamed)
        facts.append(("Without a symbol", f"{touched:,} bytes executed, not ordered"))
    if work.order.fixed:
        facts.append(("C start code", some([f.name for f in work.order.fixed]) + ", not ordered"))
    if work.order.left_out:
        facts.append(("Left out by --least", counted(work.order.left_out, "function")))
    unmatched = _unmatched(work)
    if unmatched:
        names = some([p.function.name for p in unmatched], 20)
        facts.append(("Without a section", f"{counted(len(unmatched), 'function')}: {names}"))
    if work.data is not None:
        facts += _data_facts(work.data)
    elif written and any(t.entries.uses for t in work.traces):
        facts.append(("Variables", "recorded, but not in order without --with-data"))
    for name, path, lines in written:
        facts.append((f"Order for {name}", f"{path}, {lines:,} lines"))
    width = 2 + max(len(name) for name, _ in facts)
    return [title("Order"), *(printable(f"{n + ':':<{width}}{v}") for n, v in facts), ""]


def _data_facts(data: DataOrder) -> list[tuple[str, str]]:
    uses = Counter(v.use for v in data.placed)
    kinds = ", ".join(f"{uses[use]:,} {use}" for use in USES if uses[use])
    size = sum(len(v.place) for v in data.placed)
    facts = [("Variables in order", f"{len(data.placed):,}, of {size:,} bytes: {kinds or 'none'}")]
    if data.large:
        facts.append(("Large, not in order", f"{data.large:,} variables with pages that nothing writes"))
    if data.stay:
        names = some([v.name for v in data.stay], 20)
        facts.append(("No own section", f"{len(data.stay):,} variables: {names}"))
    return facts


def _unmatched(work: Work) -> list[Placed]:
    """Functions that no section of the object files given holds alone."""
    sections = work.sections
    if sections is None:
        return []
    return [p for p in work.order.placed if not dialects.section_names(p, sections)]


def _data(options: Options, chosen: Trace) -> list[str]:
    if chosen.binary is None:
        raise ReportError(f"--data needs the binary that was run: {chosen.object}")
    number = entries.choose_object(chosen.entries, options.object)
    data = Data(chosen.entries, number, chosen.binary)
    log = faultlog.read(options.faults) if options.faults else None
    text = datatables.report(data, chosen.object, TOP if options.top is None else options.top)
    sections = Sections(options.objects) if options.objects else None
    order_of_data = data_order([chosen], options.object, [1.0], 0.0, sections)
    return [*text, *dataforecast.report(order_of_data, data, log, chosen.object)][:-1]


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run("tg_order", HELP, arguments, report)
