# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints source files with the counts of each line.

A summary below them accounts for every count that is beside no line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ..base.errors import ReportError, printable
from ..formats.outfile import UNKNOWN, Arc, Counts, Function
from .profile import Profile, plus
from .rows import check_sum
from .selection import Selection
from .sources import Source, find
from .table import Row, Style, Table

_PARTS = {
    "beside": "annotated: beside a line of a source above",
    "off": "annotated: in such a source, but the line is unknown or beyond its end",
    "not_found": "not annotated: the source was not found or is not readable",
    "not_asked": "not annotated: the source was not asked for or is below the threshold",
    "unknown": "not annotated: no source file is known",
}


@dataclass
class Annotation:
    sheets: list[Sheet]  # the costliest first
    missing: list[Row]  # sources that were not found
    parts: dict[str, Counts]  # all counts, by where they are: the keys of _PARTS
    warnings: list[str]

    def text(self, table: Table, style: Style) -> list[str]:
        title = style.screen.title
        text: list[str] = []
        for sheet in self.sheets:
            text += title(sheet.title)
            text += sheet.text(table)
        if self.missing:
            text += title(f"Sources not found or not readable ({_HINT})")
            text += [*table.lines(self.missing, "source file"), ""]
        rows = [Row(self.parts[part], label) for part, label in _PARTS.items()]
        return [*text, *title("Annotation summary"), *table.lines(rows, ""), ""]


_HINT = "give the folder that holds them with -I DIR"


def annotate(
    profile: Profile,
    selection: Selection,
    all_sources: bool,
    named: Sequence[str],
    include: Sequence[str],
    context: int,
) -> Annotation:
    sums = profile.source_files()
    wanted = _matching(sums, named, profile)
    if all_sources:
        wanted |= {
            file for file, counts in sums.items() if file != UNKNOWN and selection.matters(counts)
        }
    lines = profile.lines(wanted)
    callees = {} if profile.diff else profile.callees_by_line()
    found = Annotation([], [], dict.fromkeys(_PARTS, profile.zero), [])

    def add(part: str, counts: Counts) -> None:
        found.parts[part] = plus(found.parts[part], counts)

    for file in sorted(sums, key=lambda name: (selection.rank(sums[name]), name)):
        if file == UNKNOWN:
            add("unknown", sums[file])
            continue
        if file not in wanted:
            add("not_asked", sums[file])
            continue
        source = find(file, include)
        if source is None:
            add("not_found", sums[file])
            found.missing.append(Row(sums[file], file, is_name=True))
            continue
        here = {line: arcs for (name, line), arcs in callees.items() if name == file}
        sheet = Sheet(file, source, lines[file], here, profile, selection, context)
        add("beside", sheet.beside)
        add("off", sheet.off)
        found.warnings += sheet.warnings
        found.sheets.append(sheet)
    missing = found.missing
    if missing:
        names = ", ".join(row.label for row in missing[:3]) + (", ..." if missing[3:] else "")
        plural = "source" if len(missing) == 1 else "sources"
        found.warnings.append(f"{len(missing)} {plural} not found or not readable ({_HINT}): {names}")
    check_sum(profile, found.parts.values(), "the annotation summary")
    return found


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


class Sheet:
    """One source beside its counts."""

    def __init__(
        self,
        name: str,
        source: Source,
        counts: dict[int, Counts],
        callees: dict[int, dict[Function, Arc]],
        profile: Profile,
        selection: Selection,
        context: int,
    ) -> None:
        found = "" if source.path == name else f", found as {source.path}"
        self.name = name
        self.title = f"Annotated source: {name}{found}"
        self._source = source
        self._zero = profile.zero
        self.beside = profile.zero
        self._unknown = counts.get(0)
        self._beyond = {line: more for line, more in counts.items() if line > len(source.lines)}
        for line, line_counts in counts.items():
            if 0 < line <= len(source.lines):
                self.beside = plus(self.beside, line_counts)
        self.off = plus(self._unknown or profile.zero, self._sum_beyond())
        self._costly = self._with_counts(counts, selection)
        self._called = self._with_calls(callees, selection)
        self._shown = self._around({**self._costly, **self._called}, context)
        self.warnings: list[str] = []
        older = [out.path for out in profile.files if out.mtime < source.mtime]
        if older:
            self.warnings.append(
                f"{source.path}: newer than {older[0]}, so counts may stand beside the wrong lines"
            )
        if self._beyond:
            self.warnings.append(
                f"{source.path}: has {len(source.lines):,} lines, but counts were recorded up to "
                f"line {max(self._beyond):,}, so it is not what was compiled"
            )

    def lines(self) -> Iterator[tuple[int, str | None, Counts | None]]:
        """The lines that are shown, with their code and counts. Line 0 is unknown; a line beyond
        the end has no code."""
        if self._unknown is not None:
            yield 0, None, self._unknown
        for line in self._shown:
            yield line, self._code(line), self._costly.get(line)
        for line, counts in sorted(self._beyond.items()):
            yield line, None, counts

    def calls(self) -> Iterator[tuple[int, Function, Arc]]:
        """What is inlined, with 0 calls, and called at the lines that are shown."""
        for line in self._shown:
            for callee, arc in self._called.get(line, ()):
                yield line, callee, arc

    def text(self, table: Table) -> list[str]:
        head = [printable(f"Warning: {warning}") for warning in self.warnings]
        rows: list[Row] = []
        if self._unknown is not None and any(self._unknown):
            rows.append(Row(self._unknown, "<line unknown>"))
        if self._beyond:
            rows.append(Row(self._sum_beyond(), "<lines beyond the end of this source>"))
        collected = len(rows)
        shown = self._shown
        number_width = len(str(shown[-1])) if shown else 0
        for line in shown:
            code = self._code(line).expandtabs(8)
            rows.append(Row(self._costly.get(line), f"{line:>{number_width}}  {code}"))
            for callee, arc in self._called.get(line, []):
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
            body += islice(following, 1 + len(self._called.get(line, ())))
            before = line
        if before and before < len(self._source.lines):
            body.append(_gap(before))
        return [*head, *body, ""]

    def _code(self, line: int) -> str:
        return self._source.lines[line - 1].rstrip("\r")

    def _sum_beyond(self) -> Counts:
        total = self._zero
        for counts in self._beyond.values():
            total = plus(total, counts)
        return total

    def _with_counts(
        self, counts: dict[int, Counts], selection: Selection
    ) -> dict[int, Counts]:
        """The lines of the source that have a count to show."""
        return {
            line: line_counts
            for line, line_counts in counts.items()
            if 0 < line <= len(self._source.lines) and _has(line_counts, selection)
        }

    def _with_calls(
        self, callees: dict[int, dict[Function, Arc]], selection: Selection
    ) -> dict[int, list[tuple[Function, Arc]]]:
        """What is inlined or called at a line and has a count to show, the largest first."""
        found = {}
        for line, arcs in callees.items():
            shown = [(callee, arc) for callee, arc in arcs.items() if _has(arc.costs, selection)]
            shown.sort(key=lambda item: (selection.rank(item[1].costs), item[0]))
            if shown and 0 < line <= len(self._source.lines):
                found[line] = shown
        return found

    def _around(self, lines: Iterable[int], context: int) -> list[int]:
        visible: list[int] = []
        last = 0
        for line in sorted(lines):
            first = max(last + 1, line - context)
            last = max(last, min(len(self._source.lines), line + context))
            visible.extend(range(first, last + 1))
        return visible


def _how(arc: Arc) -> str:
    if arc.calls == 1:
        return "called once"
    return f"called {arc.calls:,} times" if arc.calls else "inlined"


def _has(counts: Counts, selection: Selection) -> bool:
    return any(counts[part] for event in selection.shown for part in event.parts)


def _gap(line: int) -> str:
    return f"-- line {line} ".ljust(42, "-")
