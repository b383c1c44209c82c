# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes tables as CSV or as one JSON document, both of which docs/internals/formats.md describes."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Union

from .._version import VERSION

FORMAT = "tlbgrind-tables"
# Raised when a reader of the old form would misread the new one.
FORMAT_VERSION = 1

Value = Union[int, float, str, None]


class Record(NamedTuple):
    names: tuple[Value, ...]
    values: tuple[Value, ...]
    parts: Table | None = None  # in a table of two levels: what the row consists of


@dataclass
class Table:
    name: str
    fields: tuple[str, ...]  # what a row is called by
    columns: tuple[str, ...]  # what is told of it
    rows: Iterable[Record]
    omitted: int = 0  # how many rows are in `rest` instead
    rest: tuple[Value, ...] = ()


Head = Sequence[tuple[str, object]]


def json_lines(command: str, head: Head, tables: Iterable[Table]) -> Iterator[str]:
    """One row a line, so that a document of many rows can be looked through and compared."""
    yield "{"
    facts = [("format", FORMAT), ("version", FORMAT_VERSION), ("creator", f"{command} {VERSION}"), *head]
    for key, value in facts:
        yield f" {json.dumps(key)}: {json.dumps(value)},"
    yield ' "tables": ['
    last = ""
    for table in tables:
        if last:
            yield f"{last},"
        last = yield from _json_table(table, "  ")
    if last:
        yield last
    yield " ]"
    yield "}"


def _json_table(table: Table, indent: str) -> Generator[str, None, str]:
    """Yields all lines but the last, which is returned: it may need a comma."""
    yield (
        f'{indent}{{"name": {json.dumps(table.name)}, "fields": {json.dumps(table.fields)}, '
        f'"columns": {json.dumps(table.columns)}, "rows": ['
    )
    keys = (*table.fields, *table.columns)
    last = ""
    for names, values, parts in table.rows:
        if last:
            yield f"{last},"
        last = indent + " " + json.dumps(dict(zip(keys, (*names, *values))))
        if parts is not None:
            yield f'{last[:-1]}, "parts":'
            last = (yield from _json_table(parts, indent + "  ")) + "}"
    if last:
        yield last
    rest = {"rows": table.omitted, **dict(zip(table.columns, table.rest))} if table.omitted else None
    return f'{indent}], "rest": {json.dumps(rest)}}}'


def csv_lines(tables: Sequence[Table]) -> Iterator[str]:
    """All tables below one heading: what a table does not have is empty there.

    The parts of a row follow it, with its names, and their own in columns that begin with "part_".
    """
    fields: dict[str, None] = {}
    part_fields: dict[str, None] = {}
    columns: dict[str, None] = {}
    tables = [Table(t.name, t.fields, t.columns, list(t.rows), t.omitted, t.rest) for t in tables]
    for table in tables:
        fields.update(dict.fromkeys(table.fields))
        columns.update(dict.fromkeys(table.columns))
        for record in table.rows:
            if record.parts is not None:
                part_fields.update(dict.fromkeys(f"part_{field}" for field in record.parts.fields))
    heading = ("table", *fields, *part_fields, "omitted", *columns)
    yield _csv_row(heading)
    for table in tables:
        for cells in _csv_cells(table, {"table": table.name}, ""):
            yield _csv_row([cells.get(name) for name in heading])


def _csv_cells(table: Table, outer: dict[str, Value], prefix: str) -> Iterator[dict[str, Value]]:
    fields = [prefix + field for field in table.fields]
    for names, values, parts in table.rows:
        named = {**outer, **dict(zip(fields, names))}
        yield {**named, "omitted": 0, **dict(zip(table.columns, values))}
        if parts is not None:
            yield from _csv_cells(parts, named, "part_")
    if table.omitted:
        yield {**outer, "omitted": table.omitted, **dict(zip(table.columns, table.rest))}


def _csv_row(cells: Iterable[Value]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()
