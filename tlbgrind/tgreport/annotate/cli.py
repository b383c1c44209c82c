# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Runs one call of tg_annotate: read, add up, lay out, write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ..base import command
from ..base.command import Answer, refuse_twice
from ..base.documents import Table
from ..base.errors import ReportError
from ..base.progress import Progress, progress_shown
from ..base.terminal import screen
from ..formats.outfile import OutFile, parts_of, phase_file, read, with_events
from . import (
    advice,
    advicetext,
    beside,
    by_data,
    calltext,
    convert,
    export,
    facts,
    libraries,
    library_files,
    librarytext,
    mappings,
    verdict,
)
from .annotate import annotate
from .assembly import assembly
from .calltables import Calls
from .compare import Comparison
from .events import Events
from .facts import Fact
from .firefox import firefox
from .inlined import with_inlined
from .limits import Finding, Run, difference, each_run, share_of
from .listing import listing
from .members import Naming
from .options import CONTEXT, HELP, LIBRARIES, Options, parse
from .pprof import pprof
from .profile import Profile
from .report import cumulated, headline, legend, metadata, said, where_inlined
from .rows import LINE_INCLUSIVE, compute
from .selection import ALL, Selection, select
from .stacks import Stacks
from .table import Style
from .table import Table as CountTable

_ABOVE = 3  # the exit status when a limit of --fail-above is exceeded

# What tells machines apart: two that options describe have one name.
_OF_A_MACHINE = ("Machine", "Page size", "Array")


def _mixed(profile: Profile) -> list[str]:
    """A warning if counts of several machines, such as those of one run, are added up."""
    machines: dict[tuple[Fact, ...], tuple[str, OutFile]] = {}
    for out in profile.files:
        machine = tuple(fact for fact in out.descriptions if fact[0] in _OF_A_MACHINE)
        name = dict(machine).get("Machine")
        if name is not None:  # else callgrind's
            machines.setdefault(machine, (name, out))
    if profile.diff or len(machines) < 2:
        return []
    found = [name for name, _ in machines.values()]
    names = ", ".join(
        f"{name} of {out.path}" if found.count(name) > 1 else name for name, out in machines.values()
    )
    return [
        (
            f"the out-files of different machines ({names}) are added up, which counts each "
            "reference once per machine; --diff compares two of them"
        )
    ]


def _refuse_mixture(files: Sequence[OutFile]) -> None:
    """A data file has the counts of its run's out-file once more."""
    of_data = [out for out in files if isinstance(out, by_data.OutFileOfData)]
    others = [out for out in files if not isinstance(out, by_data.OutFileOfData)]
    if of_data and others:
        raise ReportError(
            f"{of_data[0].path} is a data file, {others[0].path} an out-file: both have all counts "
            "of a run, so they are not added up; tg_annotate reads one kind at a time, "
            "--by=data data files"
        )


def _refuse_parts_of_each_other(files: Sequence[OutFile]) -> None:
    """A file of a phase or thread has counts of its run once more, and phases those of threads."""
    names = {os.path.realpath(out.path): out.path for out in files}
    for out in files:
        for part in parts_of(out):
            if os.path.realpath(part) in names:
                raise ReportError(
                    f"{names[os.path.realpath(part)]} is a part of {out.path}: its costs would be added twice"
                )
    of_threads = {_run_of(out): out.path for out in files if "Of thread" in dict(out.descriptions)}
    for out in files:
        if "Of phase" in dict(out.descriptions) and _run_of(out) in of_threads:
            raise ReportError(
                f"{out.path} is of a phase, {of_threads[_run_of(out)]} of a thread of the same run: "
                "what they have in common would be added twice"
            )


def _refuse_other_machines(files: Sequence[OutFile], machine: str | None) -> None:
    """A data file has the counts of all machines, of which one is chosen; an out-file those of one."""
    for out in files:
        own = advice.machine_of(out)
        if machine is not None and own != machine:
            raise ReportError(
                f"argument --machine: '{machine}' is chosen in data files; this out-file is of "
                f"{own or 'no machine'}",
                out.path,
            )


def _run_of(out: OutFile) -> tuple[str, str, str]:
    return out.command, out.pid, out.part


def _of_same_events(files: list[OutFile], warnings: list[str]) -> list[OutFile]:
    """What two files have in common can be compared: machines have different events, and so have
    runs with and without page faults."""
    first, second = files
    common = tuple(event for event in first.events if event in second.events)
    for out in files:
        alone = [event for event in out.events if event not in common]
        if alone and common:
            warnings.append(f"{out.path}: {', '.join(alone)}: not in the other file, so left out")
    return [with_events(out, common) for out in files] if common else files


def _answer(lines: Iterable[str], findings: Sequence[Finding]) -> Answer:
    answer = Answer(lines, (finding.what for finding in findings if finding.is_above))
    answer.status = _ABOVE if answer.reasons else 0
    return answer


def _compare(options: Options, files: list[OutFile]) -> Answer:
    comparison = Comparison(
        files,
        options.mod_filename,
        options.mod_funcname,
        options.show,
        options.sort,
        options.threshold,
    )
    runs = [
        Run(c.out.path, c.events, c.profile.totals, share_of([c.out])) for c in comparison.columns
    ]
    findings = each_run(options.fail_above, runs, comparison.primary)
    if options.format == "text":
        style = Style(screen(options.wide, options.color), options.show_percs)
        text = beside.text_of(comparison, options.by, style, options.verbose)
        return _answer(text[:-1], findings)
    tables = export.comparison_tables(comparison, map(comparison.table, options.by))
    head = export.comparison_head(comparison, findings, verdict.of_comparison(comparison))
    return _answer(export.written(options.format, head, tables), findings)


def _libraries(options: Options, warnings: list[str], progress: Progress) -> list[str]:
    files, log = library_files.read(options.outfiles, progress)
    progress.say("adding up")
    found = libraries.find(files, log, options.mod_filename, options.threshold)
    warnings += libraries.different_work(found)
    if options.format == "text":
        return librarytext.text_of(found, screen(options.wide, options.color))
    tables = export.libraries_tables(found)
    return export.written(options.format, export.libraries_head(found), tables)


def _findings(options: Options, profile: Profile, selection: Selection) -> list[Finding]:
    events = Events(profile).by_name
    primary = (selection.primary or selection.sort[0]).name
    name = ", ".join(out.path for out in profile.files[:2]) + (", ..." if len(profile.files) > 2 else "")
    if not profile.diff:
        run = Run(name, events, profile.totals, share_of(profile.files))
        return each_run(options.fail_above, [run], primary)
    first, second = (Run(out.path, events, out.totals, share_of([out])) for out in profile.files)
    return difference(options.fail_above, first, second, primary)


def _stacks(form: str, profile: Profile, selection: Selection, warnings: list[str]) -> list[str]:
    if form == convert.PPROF:
        answer = Answer()
        answer.data = pprof(profile, Stacks(profile, selection.threshold), selection.primary)
        return answer
    if selection.primary is None:
        names = " ".join(event.name for event in selection.sort)
        warnings.append(f"no stacks, for nothing was counted: {names}")
        return []
    if form == convert.FIREFOX:
        return firefox(profile, Stacks(profile, selection.threshold), selection.primary)
    return list(convert.folded(profile, selection, selection.primary))


def _call_tables(options: Options, calls: Calls) -> list[Table]:
    tables = []
    if options.inclusive:
        tables.append(export.inclusive_table(calls))
    if options.callers:
        tables.append(export.calls_table(calls, options.callers))
    if options.tree:
        tables.append(export.tree_table(calls, options.tree))
    return tables


def _call_text(options: Options, calls: Calls, style: Style) -> list[str]:
    text: list[str] = []
    if options.inclusive:
        text += calltext.inclusive(calls, style)
    if options.callers:
        text += calltext.callers(calls, options.callers, style)
    if options.tree:
        text += calltext.tree(calls, options.tree, style)
    return text


def report(options: Options, warnings: list[str]) -> list[str]:
    with progress_shown() as progress:
        return _report(options, warnings, progress)


def _with_companions(files: list[OutFile], progress: Progress) -> list[OutFile]:
    """Behind each machine's file those of its run that lie beside it and are not named themselves."""
    seen = {os.path.realpath(out.path) for out in files}
    found: list[OutFile] = []
    for out in files:
        found.append(out)
        if len(files) > 1 and not advice.has_variants(out):
            continue
        others = [path for path in advice.companions(out.path) if os.path.realpath(path) not in seen]
        seen.update(map(os.path.realpath, others))
        found += advice.of_the_run(out, [read(path, progress) for path in others])
    return found


def _report(options: Options, warnings: list[str], progress: Progress) -> list[str]:
    if options.advice == LIBRARIES:
        return _libraries(options, warnings, progress)
    if not (options.diff or options.compare or options.advice):
        refuse_twice(options.outfiles, "its costs would be added twice")
    files = []
    for number, path in enumerate(options.outfiles):
        progress.say(f"{number:,} of {len(options.outfiles):,} out-files read")
        if options.asm or options.inlined:
            files.append(read(path, progress, by_address=True))
        else:
            naming = Naming(options.data_type, options.threshold)
            files.append(
                by_data.read(path, options.machine, options.of, options.by, naming, warnings, progress)
            )
    _refuse_other_machines(files, options.machine)
    files = by_data.with_common_labels(files)
    if options.phase is not None:
        by_address = options.inlined
        files = [read(phase_file(out, options.phase), progress, by_address) for out in files]
    if options.inlined:
        files = with_inlined(files, warnings, progress)
    progress.say("adding up")
    if options.advice:
        files = _with_companions(files, progress)
        advised = advice.advise(files)
        if options.format == "text":
            return advicetext.listing(advised, screen(options.wide, options.color))
        tables = [export.own_pages_table(advised), export.advice_table(advised)]
        return export.written(options.format, export.advice_head(files), tables)
    if options.mappings:
        found = mappings.find(files[0])
        if options.format == "text":
            return mappings.listing(found, screen(options.wide, options.color))
        return export.written(options.format, export.mappings_head(found), [export.mappings_table(found)])
    if options.compare:
        return _compare(options, files)
    if options.diff:
        files = _of_same_events(files, warnings)
    else:
        _refuse_mixture(files)
        _refuse_parts_of_each_other(files)
    profile = Profile(files, options.diff, options.mod_filename, options.mod_funcname)
    warnings += _mixed(profile)
    # For programs, columns must not depend on what was counted.
    show = options.show or ([] if options.format in export.FOR_PEOPLE else [ALL])
    if options.to:
        form, _, event = options.to.partition("=")
        if form == convert.CACHEGRIND:
            return list(convert.cachegrind(profile))
        if form == convert.CALLGRIND:
            return list(convert.callgrind(profile))
        keys, option = ([event], "--to") if event else (options.sort, "--sort")
        selection = select(profile, [], keys, options.threshold, sort_option=option)
        return _stacks(form, profile, selection, warnings)
    by_line = "line" in options.by or options.annotate or bool(options.source)
    selection = select(profile, show, options.sort, options.threshold, by_line)
    findings = _findings(options, profile, selection)
    calls = None
    if options.inclusive or options.callers or options.tree:
        calls = Calls(profile, selection)
    annotation = None
    if options.annotate or options.source:
        progress.say("annotating sources")
        annotation = annotate(
            profile,
            selection,
            options.annotate,
            options.source,
            options.include,
            CONTEXT if options.context is None else options.context,
        )
    assemblies = assembly(profile, selection, options.asm, warnings) if options.asm else []
    if annotation is not None:
        warnings += annotation.warnings
    if options.format != "text":
        computed = ((by, compute(profile, selection, by)) for by in options.by)
        tables = export.profile_tables(profile, selection, computed)
        if calls is not None:
            tables += _call_tables(options, calls)
        if options.asm:
            tables.append(export.instruction_table(selection, assemblies))
        if annotation is not None:
            tables += export.source_tables(selection, annotation)
        said_of_all = verdict.of_profile(profile, options.by)
        head = export.profile_head(profile, selection, findings, said_of_all)
        return _answer(export.written(options.format, head, tables), findings)
    style = Style(screen(options.wide, options.color), options.show_percs)
    signs = calltext.legend_of(calls, options.tree is not None) if calls is not None else []
    text = said(verdict.of_profile(profile, options.by), style)
    text += headline(facts.headline(profile, selection), style)
    for number, by in enumerate(options.by):
        progress.say(f"table by {by}")
        text += listing(profile, selection, by, compute(profile, selection, by), style)
        if number == 0:
            column = [] if by == LINE_INCLUSIVE else cumulated(profile, selection, style)
            others = [*column, *signs]
            text += legend(profile, selection, style, options.verbose, others)
            if by == "function" and not options.inlined:
                text += where_inlined(profile, selection)
    if calls is not None:
        progress.say("tables of calls")
        text += _call_text(options, calls, style)
        if not options.by:
            text += legend(profile, selection, style, options.verbose, signs)
    for one in assemblies:
        text += one.text(profile, selection, style)
    if assemblies and not options.by and calls is None:
        text += legend(profile, selection, style, options.verbose, signs)
    if "data" in options.by or "data:offset" in options.by:
        text += by_data.details(profile, selection, style.screen)
    if annotation is not None:
        text += annotation.text(CountTable(profile, selection, style), style)
    if options.verbose:
        named = ["all above the threshold"] if options.annotate else []
        more: list[Fact] = [
            ("Searched", ", ".join(options.include)),
            ("Annotated", ", ".join([*named, *options.source]) or "none (--annotate, --source=FILE)"),
        ]
        text += metadata(facts.metadata(profile, selection, more), style)
    return _answer(text[:-1], findings)


def _read_and_report(arguments: Sequence[str], warnings: list[str]) -> list[str]:
    return report(parse(arguments), warnings)


def main(arguments: Sequence[str] | None = None) -> int:
    return command.run("tg_annotate", HELP, arguments, _read_and_report)
