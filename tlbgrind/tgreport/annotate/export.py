# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns what tg_annotate computes into the tables of base/documents.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Union

from ..base.documents import Head, Record, Table, Value, csv_lines, json_lines
from ..base.errors import ReportError
from ..formats.dynamic import KINDS
from ..formats.mappings import PARTS
from ..formats.outfile import Counts, Function, OutFile
from ..formats.share import CYCLES, Share, share_of
from . import linktext
from .advice import Advice
from .annotate import Annotation
from .assembly import Disassembly
from .calltables import Call, Calls
from .compare import Across, Compared, Comparison
from .events import Event, Events, TimeShare
from .facts import changes, rates
from .libraries import Libraries, Library, library_sum
from .limits import Finding
from .linkage import Todo
from .linker import Linker, Saving, Spent
from .mappings import Found, Sums
from .markdown import markdown_lines
from .profile import Profile
from .rows import Rows
from .selection import Selection
from .verdict import Verdict

Column = Union[Event, TimeShare]

SHARE_OF_TIME = "share_of_time"  # of a row's misses, at most; 1 is all of it

FORMATS = ("text", "csv", "json", "markdown")
FOR_PEOPLE = ("text", "markdown")


def written(form: str, head: Head, tables: Sequence[Table]) -> list[str]:
    for table in tables:
        names = [*table.fields, *table.columns, "table", "rows", "omitted", "parts"]
        for name in names:
            if names.count(name) > 1:
                raise ReportError(f"an event is called '{name}', as a column of --format={form} is")
    if form == "csv":
        return list(csv_lines(tables))
    if form == "markdown":
        return list(markdown_lines(head, tables))
    return list(json_lines("tg_annotate", head, tables))


# ---------------------------------------------------------------- one profile, or a difference


def profile_tables(profile: Profile, selection: Selection, tables: Iterable[tuple[str, Rows]]) -> list[Table]:
    program = Table("program", ("measure",), _names(_shown(selection)), _program(profile, selection))
    return [program, *(_rows(selection, by, rows) for by, rows in tables)]


def _shown(selection: Selection) -> list[Column]:
    """The events, and behind them their share of the time."""
    return [*selection.shown, *([] if selection.time is None else [selection.time])]


def profile_head(
    profile: Profile, selection: Selection, findings: Sequence[Finding], verdict: Verdict | None
) -> Head:
    return [
        ("about", "difference" if profile.diff else "profile"),
        ("files", [_file(out, out.path) for out in profile.files]),
        ("events", _events(profile, selection.shown)),
        ("sort", [event.name for event in selection.sort]),
        ("threshold", _threshold(selection.threshold, selection.primary.name if selection.primary else None)),
        ("limits", _limits(findings)),
        ("verdict", _said(verdict)),
    ]


def _said(verdict: Verdict | None) -> str | None:
    return None if verdict is None else verdict.text()


def _program(profile: Profile, selection: Selection) -> list[Record]:
    shown = _names(selection.shown)
    if profile.diff:
        both = {change.event.name: change for change in changes(profile, selection.shown)}
        return [
            Record(("first",), tuple(both[name].first for name in shown)),
            Record(("second",), tuple(both[name].second for name in shown)),
            Record(("difference",), tuple(both[name].second - both[name].first for name in shown)),
        ]
    found = {rate.event.name: rate for rate in rates(profile, selection.shown)}
    none: tuple[Value, ...] = () if selection.time is None else (None,)
    return [
        Record(("count",), _values(_shown(selection), profile.totals)),
        Record(("per_1000_Ir",), (*(_number(found[name].per_instruction, 1000) for name in shown), *none)),
        Record(("per_access",), (*(_number(found[name].per_access) for name in shown), *none)),
        Record(("per_L1_miss",), (*(_number(found[name].per_l1_miss) for name in shown), *none)),
    ]


def _rows(selection: Selection, name: str, rows: Rows) -> Table:
    records = [
        Record(
            row.names,
            _values(_shown(selection), row.counts),
            None if row.parts is None else _rows(selection, "parts", row.parts),
        )
        for row in rows.rows
    ]
    shown = _shown(selection)
    rest = _values(shown, rows.rest) if rows.rest else (None,) * len(shown)
    return Table(name, rows.fields, _names(shown), records, rows.omitted, rest)


def _values(columns: Sequence[Column], counts: Counts) -> tuple[Value, ...]:
    return tuple(
        column.of(counts) if isinstance(column, Event) else _number(column.of(counts))
        for column in columns
    )


# ---------------------------------------------------------------- calls


def inclusive_table(calls: Calls) -> Table:
    shown = _shown(calls.selection)
    table = calls.inclusive()
    columns = (*_names(shown), *_own(shown), "calls")
    records = [
        Record(
            (*_function(row.function), row.cycle or None),
            (*_values(shown, row.costs), *_values(shown, row.own), row.calls),
        )
        for row in table.rows
    ]
    rest = (*(None for _ in shown), *_values(shown, table.rest), None)
    return Table("inclusive", (*_FUNCTION, "cycle"), columns, records, table.omitted, rest)


def calls_table(calls: Calls, pattern: str) -> Table:
    """Each call once, of those that matter to one of the functions."""
    shown = _shown(calls.selection)
    found: dict[tuple[Function, Function], Call] = {}
    for one in calls.neighbours(pattern):
        function = one.function.function
        found.update(((call.other, function), call) for call in one.callers)
        found.update(((function, call.other), call) for call in one.callees)
    fields = (*(f"caller_{field}" for field in _FUNCTION), *(f"callee_{field}" for field in _FUNCTION))
    records = [
        Record(
            (*_function(caller), *_function(callee), "yes" if call.is_recursive else "no"),
            (*_values(shown, call.arc.costs), call.arc.calls),
        )
        for (caller, callee), call in found.items()
    ]
    return Table("calls", (*fields, "recursive"), (*_names(shown), "calls"), records)


def tree_table(calls: Calls, pattern: str) -> Table:
    shown = _shown(calls.selection)
    columns = (*_names(shown), *_own(shown), *(f"{name}:below" for name in _names(shown)))
    records = [
        Record(
            (
                branch.node.depth,
                *_function(branch.node.function),
                "exact" if branch.node.is_exact else "shared",
            ),
            (
                *_values(shown, branch.node.counts),
                *_values(shown, branch.node.own),
                *_values(shown, branch.rest),
            ),
        )
        for branch in calls.tree(pattern)
        if branch.node.depth >= 0
    ]
    return Table("tree", ("depth", *_FUNCTION, "costs"), columns, records)


_FUNCTION = ("file", "function", "object")


def _function(function: Function) -> tuple[str, str, str]:
    return function.file, function.name, function.object


def _own(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(f"{name}:own" for name in _names(columns))


# ---------------------------------------------------------------- sources, instructions


def source_tables(selection: Selection, annotation: Annotation) -> list[Table]:
    shown = _shown(selection)
    lines = [
        Record((sheet.name, line, code), _values_or_none(shown, counts))
        for sheet in annotation.sheets
        for line, code, counts in sheet.lines()
    ]
    called = [
        Record((sheet.name, line, *_function(callee)), (*_values(shown, arc.costs), arc.calls))
        for sheet in annotation.sheets
        for line, callee, arc in sheet.calls()
    ]
    parts = [Record((part,), _values(shown, counts)) for part, counts in annotation.parts.items()]
    tables = [
        Table("source", ("file", "line", "code"), _names(shown), lines),
        Table("annotation", ("part",), _names(shown), parts),
    ]
    if called:
        fields = ("file", "line", *(f"callee_{field}" for field in _FUNCTION))
        tables.append(Table("source_calls", fields, (*_names(shown), "calls"), called))
    return tables


def instruction_table(selection: Selection, assemblies: Sequence[Disassembly]) -> Table:
    rows = [
        Record((*_function(one.function), f"{at:x}", text), _values_or_none(_shown(selection), counts))
        for one in assemblies
        for at, text, counts in one.rows
    ]
    fields = (*_FUNCTION, "address", "instruction")
    return Table("instruction", fields, _names(_shown(selection)), rows)


def _values_or_none(columns: Sequence[Column], counts: Counts | None) -> tuple[Value, ...]:
    return (None,) * len(columns) if counts is None else _values(columns, counts)


# ---------------------------------------------------------------- advice


def advice_head(files: Sequence[OutFile]) -> Head:
    return [("about", "advice"), ("files", [_file(out, out.path) for out in files])]


def own_pages_table(found: Sequence[Advice]) -> Table:
    """The machines with their own pages: what there is to save."""
    rows = []
    for one in found:
        misses, whole = one.spends
        costs = "assumed" if one.assumed else "file"
        counts = (one.instructions, one.walks, one.misses, one.faults)
        rows.append(Record((one.machine,), (*counts, *misses, *map(int, whole), costs)))
    cycles = ("miss_cycles_least", "miss_cycles_most", "cycles_with_least", "cycles_with_most")
    return Table("own_pages", ("machine",), ("Ir", "walks", "L1tm", "faults", *cycles, "costs"), rows)


def advice_table(found: Sequence[Advice]) -> Table:
    columns = ["walks", "walks_saved", "cycles_saved_least", "cycles_saved_most"]
    columns += ["time_saved_least", "time_saved_most", "worth_from", "L1tm_saved", "faults_saved"]
    columns += ["backed_KiB", "touched_KiB", "unused_KiB", "pays", "held", "mapping", "how"]
    rows = [
        Record(
            (one.machine, gain.kind, gain.size),
            (
                *(gain.walks, gain.saved, *gain.verdict.cycles),
                *(*map(float, gain.verdict.share), gain.verdict.turns_at),
                *(gain.misses_saved, gain.faults_saved),
                *(gain.backed, gain.touched, gain.backed - gain.touched),
                gain.pays(),
                "yes" if gain.held else "no",
                gain.mapping or None,
                gain.how(),
            ),
        )
        for one in found
        for gain in one.gains
    ]
    return Table("advice", ("machine", "memory", "pages"), tuple(columns), rows)


# ---------------------------------------------------------------- mappings


def mappings_head(found: Found) -> Head:
    return [("about", "mappings"), ("files", [_file(found.out, found.out.path)]), ("large_page", found.large)]


def mappings_table(found: Found) -> Table:
    sums = ("references", "L1tm", "walks", CYCLES)
    columns = ["KiB", *sums, "time"]
    for part in PARTS:
        columns += [f"{part}_{name}" for name in ("KiB", *sums)]
    rows = []
    for row in found.rows:
        m = row.mapping
        time = float(found.time(row.all)) if found.has_costs else None
        values: list[Value] = [(m.end - m.start) >> 10, *_known(found, row.all), time]
        for part in PARTS:
            values += [m.bytes_of(part) >> 10, *_known(found, row.parts[part])]
        how = "; ".join(found.advice(row)) if found.has_room(row) else None
        names = (f"{m.start:x}", f"{m.end:x}", row.mode, m.kind, m.name or None, row.page_sizes)
        rows.append(Record(names, (*values, how or None)))
    fields = ("address", "end", "mode", "kind", "file", "page_sizes")
    return Table("mappings", fields, (*columns, "how"), rows)


def _known(found: Found, sums: Sums) -> tuple[Value, ...]:
    return sums if found.has_costs else (*sums[:3], None)


# ---------------------------------------------------------------- a comparison


def comparison_tables(comparison: Comparison, tables: Iterable[Compared]) -> list[Table]:
    events = list(comparison.events)
    per_instruction = [comparison.per_instruction(name) for name in events]
    program = [
        Record(("count",), _flat([comparison.totals(name) for name in events])),
        Record(("per_1000_Ir",), tuple(_number(rate, 1000) for row in per_instruction for rate in row)),
    ]
    return [
        Table("program", ("measure",), _columns(comparison, events), program),
        *(_compared(comparison, table) for table in tables),
    ]


def comparison_head(
    comparison: Comparison, findings: Sequence[Finding], verdict: Verdict | None
) -> Head:
    events = []
    for name, event in comparison.events.items():
        owner = next(column for column in comparison.columns if name in column.events)
        events += _events(owner.profile, [event])
    return [
        ("about", "comparison"),
        ("files", [_file(column.out, column.label) for column in comparison.columns]),
        ("events", events),
        ("sort", [comparison.primary]),
        ("threshold", _threshold(comparison.threshold, comparison.primary)),
        ("limits", _limits(findings)),
        ("verdict", _said(verdict)),
    ]


def _compared(comparison: Comparison, table: Compared) -> Table:
    timed = next((place for place, name in enumerate(comparison.shown) if comparison.has_time(name)), None)
    columns = _columns(comparison, comparison.shown)
    if timed is not None:
        columns += _columns(comparison, [SHARE_OF_TIME])

    def values(counts: Sequence[Across]) -> tuple[Value, ...]:
        return (*_flat(counts), *(() if timed is None else _times(comparison, counts[timed])))

    records = [Record(row.names, values(row.counts)) for row in table.rows]
    return Table(table.by, table.fields, columns, records, table.omitted, values(table.rest))


def _times(comparison: Comparison, cycles: Across) -> Iterable[Value]:
    for column, count in zip(comparison.columns, cycles):
        assert column.share is not None
        yield _number((count or 0) / column.share.cycles)


def _columns(comparison: Comparison, events: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{event}:{column.label}" for event in events for column in comparison.columns)


def _flat(counts: Sequence[Across]) -> tuple[Value, ...]:
    return tuple(count for across in counts for count in across)


# ---------------------------------------------------------------- libraries


def libraries_tables(found: Libraries) -> list[Table]:
    uses = ("I1tm", "ILtm", "calls_in", "calls_out", "code_pages", "code_bytes")
    rest = library_sum(found.omitted_objects, "")
    objects = [Record((one.object,), _of_library(one)) for one in found.objects]
    pairs = [Record((pair.object, pair.other), (pair.calls, pair.back)) for pair in found.pairs]
    calls = sum(pair.calls for pair in found.omitted_pairs)
    back = sum(pair.back for pair in found.omitted_pairs)
    tables = [
        Table("object", ("object",), uses, objects, len(found.omitted_objects), _of_library(rest)),
        Table("pair", ("object", "other"), ("calls", "back"), pairs, len(found.omitted_pairs), (calls, back)),
    ]
    runs = [
        Record(
            (merge.out.path, merge.pays()),
            (
                merge.objects,
                merge.instructions,
                merge.misses,
                merge.saved_misses,
                merge.walks,
                merge.saved_walks,
                merge.pages,
                merge.saved_pages,
                merge.least_pages,
                *merge.verdict.cycles,
                *map(_number, merge.verdict.share),
                merge.verdict.turns_at,
            ),
        )
        for merge in (found.base, *found.merges)
    ]
    columns = ("objects", "Ir", "I1tm", "I1tm_saved", "ILtm", "ILtm_saved", "code_pages", "code_pages_saved")
    saved = ("cycles_saved_least", "cycles_saved_most", "time_saved_least", "time_saved_most", "worth_from")
    tables.append(Table("merge", ("file", "pays"), (*columns, "least_pages", *saved), runs))
    return tables if found.linker is None else [*tables, *_linker_tables(found.linker)]


_SPENT = ("Ir", "L1tm", "walks", "miss_cycles_least", "miss_cycles_most", "faults")
_TODO = ("relocations", "look_ups", "tested", "kept", "lazy")


def _linker_tables(found: Linker) -> list[Table]:
    """What the dynamic linker does, for which objects, and other ways to link."""
    parts: list[tuple[str, int | None, Spent]] = [(part.what, part.times, part.spent) for part in found.parts]
    parts.append(("the dynamic linker", None, found.spent))
    if found.out.instructions:
        parts.append(("linkage tables", found.calls_through_tables(), found.spent_in_tables()))
    parts.append(("the program", None, found.whole))
    rows = [
        Record((what,), (times, *_spent(found, spent), *_share_of_program(found, spent, spent)))
        for what, times, spent in parts
    ]
    tables = [Table("linker", ("work",), ("times", *_SPENT, *_ENDS), rows)]
    rows = []
    for member in found.linkage.members:
        kinds, table = member.kinds, found.tables[member.number]
        calls = sum(table.calls.values()) if found.out.instructions else None
        counts = (*(kinds[kind] for kind in KINDS), *_todo(found.todo[member.number]), calls)
        rows.append(Record((member.name, "dlopen" if member.is_late else "start"), counts))
    columns = [kind.replace("-", "_") for kind in KINDS]
    tables.append(Table("relocations", ("object", "loaded"), (*columns, *_TODO, "linkage_calls"), rows))
    rows = []
    for one in found.savings:
        todo = (None,) * len(_TODO) if one.todo is None else _todo(one.todo)
        share: tuple[Value, ...] = (None, None)
        saved: tuple[Value, ...] = (None, None)
        if one.least is not None and one.most is not None:
            saved = int(one.least.instructions), int(one.most.instructions)
            share = _share_of_program(found, one.least, one.most)
        words = (one.how or None, one.faults or None, one.assumption)
        rows.append(Record((one.name, _pays(found, one)), (*todo, *saved, *share, *words)))
    columns = [*_TODO, "Ir_saved_least", "Ir_saved_most", *_ENDS, "how", "pages", "assumption"]
    tables.append(Table("ways", ("way", "pays"), tuple(columns), rows))
    return tables


def _pays(found: Linker, one: Saving) -> str:
    return linktext.pays(found, one) if one.least is not None else "unknown"


_ENDS = ("share_least", "share_most")


def _todo(todo: Todo) -> tuple[Value, ...]:
    return (todo.relocations, todo.look_ups, todo.tested, todo.kept, todo.lazy)


def _spent(found: Linker, spent: Spent) -> tuple[Value, ...]:
    *counts, faults = map(int, spent)
    return (*counts, faults if found.has_faults else None)


def _share_of_program(found: Linker, least: Spent, most: Spent) -> tuple[Value, ...]:
    share = found.share(least, most)
    return (_number(share.least, 100), _number(share.most, 100))


def libraries_head(found: Libraries) -> Head:
    files = [merge.out for merge in (found.base, *found.merges)]
    return [("about", "libraries"), ("files", [_file(out, out.path) for out in files])]


def _of_library(one: Library) -> tuple[Value, ...]:
    code = (None, None) if one.code is None else (one.code.pages, one.code.bytes)
    return (one.misses, one.walks, one.calls_in, one.calls_out, *code)


# ---------------------------------------------------------------- what all begin with


def _names(columns: Sequence[Column]) -> tuple[str, ...]:
    return tuple(column.name if isinstance(column, Event) else SHARE_OF_TIME for column in columns)


def _number(rate: Fraction | None, factor: int = 1) -> float | None:
    return None if rate is None else factor * rate.numerator / rate.denominator


def _file(out: OutFile, label: str) -> dict[str, object]:
    return {
        "label": label,
        "path": out.path,
        "creator": out.creator,
        "command": out.command,
        "pid": out.pid,
        "totals": dict(zip(out.events, out.totals)),
        "share_of_time": _share(share_of([out])),
        "descriptions": [{"name": name, "value": value} for name, value in out.descriptions],
    }


def _share(share: Share | None) -> dict[str, float | None] | None:
    if share is None:
        return None
    return {"least": _number(share.least), "most": _number(share.most)}


def _events(profile: Profile, events: Sequence[Event]) -> list[dict[str, object]]:
    recorded = [event.name for event in Events(profile).recorded]
    return [
        {"name": event.name, "meaning": event.meaning, "parts": [recorded[part] for part in event.parts]}
        for event in events
    ]


def _threshold(percent: Fraction, event: str | None) -> dict[str, object]:
    return {"percent": float(percent), "event": event}


def _limits(findings: Sequence[Finding]) -> list[dict[str, object]]:
    return [
        {
            "limit": finding.limit.text,
            "file": finding.run,
            "value": None if finding.value is None else float(finding.value),
            "above": finding.is_above,
        }
        for finding in findings
    ]
