# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints source files with the counts of each line.

A summary below them accounts for every count that is beside no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from ..base.errors import ReportError, printable
from ..formats.outfile import UNKNOWN, Arc, Counts, Function
from .profile import Profile, plus
from .rows import check_sum
from .selection import Selection
from .sources import Source, find
from .table import Row, Style, Table


@dataclass
class Annotation:
    text: list[str]
    warnings: list[str]


def annotate(
    profile: Profile,
    selection: Selection,
    all_sources: bool,
    named: Sequence[str],
    include: Sequence[str],
    context: int,
    style: Style,
) -> Annotation:
    sums = profile.source_files()
    wanted = _matching(sums, named, profile)
    if all_sources:
        wanted |= {
            file for file, counts in sums.items() if file != UNKNOWN and selection.matters(counts)
        }
    lines = profile.lines(wanted)
    callees = {} if profile.diff else profile.callees_by_line()
    table = Table(profile, selection, style)
    title = style.screen.title
    text: list[str] = []
    warnings: list[str] = []
    beside = off = lost = left_out = unknown = profile.zero
    missing: list[Row] = []
    for file in sorted(sums, key=lambda name: (selection.rank(sums[name]), name)):
        if file == UNKNOWN:
            unknown = plus(unknown, sums[file])
            continue
        if file not in wanted:
            left_out = plus(left_out, sums[file])
            continue
        source = find(file, include)
        if source is None:
            lost = plus(lost, sums[file])
            missing.append(Row(sums[file], file, is_name=True))
            continue
        here = {line: arcs for (name, line), arcs in callees.items() if name == file}
        sheet = _Sheet(file, source, lines[file], here, profile)
        beside = plus(beside, sheet.beside)
        off = plus(off, sheet.off)
        warnings += sheet.warnings
        text += title(sheet.title)
        text += sheet.text(selection, table, context)
    if missing:
        hint = "give the folder that holds them with -I DIR"
        text += title(f"Sources not found or not readable ({hint})")
        text += [*table.lines(missing, "source file"), ""]
        names = ", ".join(row.label for row in missing[:3]) + (", ..." if missing[3:] else "")
        plural = "source" if len(missing) == 1 else "sources"
        warnings.append(f"{len(missing)} {plural} not found or not readable ({hint}): {names}")
    rows: list[Row] = [
        Row(beside, "annotated: beside a line of a source above"),
        Row(off, "annotated: in such a source, but the line is unknown or beyond its end"),
        Row(lost, "not annotated: the source was not found or is not readable"),
        Row(left_out, "not annotated: the source was not asked for or is below the threshold"),
        Row(unknown, "not annotated: no source file is known"),
    ]
    check_sum(profile, (row.counts or profile.zero for row in rows), "the annotation summary")
    text += [*title("Annotation summary"), *table.lines(rows, ""), ""]
    return Annotation(text, warnings)


def _matching(sums: dict[str, Counts], named: Sequence[str], profile: Profile) -> set[str]:
    """The recorded files that --source means: by their whole name or by the last parts of it."""
    wanted: set[str] = set()
    for name in named:
        found = {file for file in sums if file == name or file.endswith("/" + name)} - {UNKNOWN}
        if not found:
            known = len(set(sums) - {UNKNOWN})
            raise ReportError(
                f"argument --source: no source '{name}' among the {known} that "
                f"{profile.files[0].path} names; --by=file --threshold=0 lists them"
            )
        wanted |= found
    return wanted


class _Sheet:
    """One source beside its counts."""

    def __init__(
        self,
        name: str,
        source: Source,
        counts: dict[int, Counts],
        callees: dict[int, dict[Function, Arc]],
        profile: Profile,
    ) -> None:
        found = "" if source.path == name else f", found as {source.path}"
        self.title = f"Annotated source: {name}{found}"
        self._source = source
        self._counts = counts
        self._callees = callees
        self.beside = self.off = profile.zero
        self._unknown = self._beyond = profile.zero
        self._bogus: list[int] = []
        for line, line_counts in counts.items():
            if line == 0:
                self._unknown = line_counts
            elif line > len(source.lines):
                self._beyond = plus(self._beyond, line_counts)
                self._bogus.append(line)
            else:
                self.beside = plus(self.beside, line_counts)
        self.off = plus(self._unknown, self._beyond)
        self.warnings: list[str] = []
        older = [out.path for out in profile.files if out.mtime < source.mtime]
        if older:
            self.warnings.append(
                f"{source.path}: newer than {older[0]}, so counts may stand beside the wrong lines"
            )
        if self._bogus:
            self.warnings.append(
                f"{source.path}: has {len(source.lines):,} lines, but counts were recorded up to "
                f"line {max(self._bogus):,}, so it is not what was compiled"
            )

    def text(self, selection: Selection, table: Table, context: int) -> list[str]:
        head = [printable(f"Warning: {warning}") for warning in self.warnings]
        rows: list[Row] = []
        if any(self._unknown):
            rows.append(Row(self._unknown, "<line unknown>"))
        if self._bogus:
            rows.append(Row(self._beyond, "<lines beyond the end of this source>"))
        collected = len(rows)
        costly = self._costly(selection)
        calling = [line for line in self._callees if self._called_at(line, selection)]
        last = len(self._source.lines)
        shown = self._around([*costly, *(line for line in calling if 0 < line <= last)], context)
        number_width = len(str(shown[-1])) if shown else 0
        for line in shown:
            code = self._source.lines[line - 1].rstrip("\r").expandtabs(8)
            rows.append(Row(costly.get(line), f"{line:>{number_width}}  {code}"))
            for callee, arc in self._called_at(line, selection):
                how = f"{'=>':>{number_width}}  {_how(arc)}: "
                rows.append(Row(arc.costs, printable(callee.name), how, is_name=True))
        heading, *printed = table.lines(rows, "")
        body = [heading, *printed[:collected]]
        before = 0
        following = iter(printed[collected:])
        for line in shown:
            if line != before + 1:
                body += [_gap(before)] if before else []
                body += [_gap(line)]
            body += islice(following, 1 + len(self._called_at(line, selection)))
            before = line
        if before and before < len(self._source.lines):
            body.append(_gap(before))
        return [*head, *body, ""]

    def _costly(self, selection: Selection) -> dict[int, Counts]:
        """The lines of the source that have a count to show."""
        return {
            line: counts
            for line, counts in self._counts.items()
            if 0 < line <= len(self._source.lines) and _has(counts, selection)
        }

    def _called_at(self, line: int, selection: Selection) -> list[tuple[Function, Arc]]:
        """What is inlined or called there and has a count to show, the largest first."""
        found = self._callees.get(line, {})
        shown = [(callee, arc) for callee, arc in found.items() if _has(arc.costs, selection)]
        return sorted(shown, key=lambda item: (selection.rank(item[1].costs), item[0]))

    def _around(self, lines: Iterable[int], context: int) -> list[int]:
        visible: set[int] = set()
        for line in lines:
            last = min(len(self._source.lines), line + context)
            visible.update(range(max(1, line - context), last + 1))
        return sorted(visible)


def _how(arc: Arc) -> str:
    if arc.calls == 1:
        return "called once"
    return f"called {arc.calls:,} times" if arc.calls else "inlined"


def _has(counts: Counts, selection: Selection) -> bool:
    return any(counts[part] for event in selection.shown for part in event.parts)


def _gap(line: int) -> str:
    return f"-- line {line} ".ljust(42, "-")
