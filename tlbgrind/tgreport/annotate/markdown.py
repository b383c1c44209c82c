# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes tables as Markdown, for the page of a merge request: limits first, then the program."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..base.documents import Head, Record, Table, Value
from ..base.errors import printable
from ..formats.outfile import UNKNOWN
from .limits import SHARE

_SHARE_OF_TIME = "share_of_time"
_FUNCTION = ("file", "function", "object")


def markdown_lines(head: Head, tables: Sequence[Table]) -> Iterator[str]:
    facts: dict[str, Any] = dict(head)
    is_difference = facts["about"] == "difference"
    files = facts["files"]
    commands = " / ".join(dict.fromkeys(file["command"] or "unknown command" for file in files))
    machines = ", ".join(dict.fromkeys(_machine(file) for file in files))
    yield f"**{_text(commands)}**{', ' if machines else ''}{_text(machines)}"
    yield ""
    if facts.get("verdict"):
        yield _text(facts["verdict"])
        yield ""
    if facts.get("limits"):
        yield from _limits(facts["limits"])
    for table in tables:
        if table.name == "program" and len(files) > 1 and facts["about"] == "comparison":
            yield from _compared_program(table, [file["label"] for file in files])
        elif table.name == "program":
            yield from _program(table, is_difference)
        else:
            yield from _table(table, is_difference)


def _machine(file: dict[str, Any]) -> str:
    names = (fact["value"] for fact in file["descriptions"] if fact["name"] == "Machine")
    return str(next(names, ""))


def _limits(limits: Iterable[dict[str, Any]]) -> Iterator[str]:
    rows = [
        (
            "**above**" if limit["above"] else "kept",
            f"`{limit['limit']}`",
            "unlimited" if limit["value"] is None else _value(limit["limit"], limit["value"]),
            _text(limit["file"]),
        )
        for limit in limits
    ]
    yield from _written(("limit", "", "is", "file"), "llrl", rows)


def _value(limit: str, value: float) -> str:
    text = _cell(int(value) if value == int(value) else value)
    return f"{text}%" if limit.endswith("%") or limit.startswith(SHARE) else text


def _program(table: Table, is_difference: bool) -> Iterator[str]:
    """A row for each event."""
    records = list(table.rows)
    measures = [str(record.names[0]) for record in records]
    rows = []
    for event, values in zip(table.columns, zip(*(record.values for record in records))):
        cells = [_cell_of(event, value, False) for value in values]
        if is_difference:
            cells = [*cells[:2], _cell(values[2], True), _growth(values[0], values[2])]
        rows.append((event, *cells))
    heading = ["event", *(name.replace("_", " ") for name in measures)]
    if is_difference:
        heading.append("growth")
    yield from _written(heading, "l" + "r" * (len(heading) - 1), rows)


def _growth(first: Value, change: Value) -> str:
    if not isinstance(first, int) or not isinstance(change, int) or not first:
        return ""
    return f"{100 * change / first:+.2f}%"


def _compared_program(table: Table, labels: Sequence[str]) -> Iterator[str]:
    """The counts, a row for each event and a column for each file."""
    count = next(iter(table.rows)).values
    width = len(labels)
    rows = []
    for place in range(0, len(count), width):
        event = table.columns[place][: -len(labels[0]) - 1]
        rows.append((event, *(_cell(value) for value in count[place : place + width])))
    yield from _written(("event", *map(_text, labels)), "l" + "r" * width, rows)


def _table(table: Table, is_difference: bool) -> Iterator[str]:
    """Columns before the names, as in the text, and without those that are 0 or empty
    everywhere. Without a row above the threshold there is no table."""
    rows_of_all = list(table.rows)
    records = list(_flat(rows_of_all, ()))
    if not records:
        return
    rest = table.rest if table.omitted else ()
    used = [
        place
        for place in range(len(table.columns))
        if any(record.values[place] for record in records) or (rest and rest[place])
    ]
    parts = next((record.parts.fields for record in rows_of_all if record.parts is not None), ())
    fields, names = _names((*table.fields, *parts), records)
    rows = [
        (*(_cell_of(table.columns[place], record.values[place], is_difference) for place in used), *cells)
        for record, cells in zip(records, names)
    ]
    if table.omitted:
        others = (f"*{table.omitted:,} more*", *("" for _ in fields[1:]))
        rows.append((*(_cell_of(table.columns[place], rest[place], is_difference) for place in used), *others))
    kinds = ["r" if _is_numeric(records, place) else "l" for place in used]
    heading = (*(_text(table.columns[place]) for place in used), *map(_text, fields))
    yield from _written(heading, "".join(kinds) + "l" * len(fields), rows)


def _flat(rows: Iterable[Record], outer: tuple[Value, ...]) -> Iterator[Record]:
    """The parts of a row follow it, with its names before theirs."""
    for record in rows:
        names = (*outer, *record.names)
        yield Record(names, record.values)
        if record.parts is not None:
            yield from _flat(record.parts.rows, names)


def _names(
    fields: tuple[str, ...], records: Sequence[Record]
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Fields, and the cells of each row; file, function and object are one."""
    at = next((at for at in range(len(fields)) if fields[at : at + 3] == _FUNCTION), None)
    cells = []
    for record in records:
        names = [*record.names, *("" for _ in fields[len(record.names) :])]
        row = [_code(name) for name in names]
        if at is not None:
            row[at : at + 3] = [_function(*map(str, names[at : at + 3])) if names[at] else ""]
        cells.append(row)
    return fields if at is None else (*fields[:at], "function", *fields[at + 3 :]), cells


def _function(file: str, name: str, whole: str) -> str:
    place = "" if whole == UNKNOWN else f" [{os.path.basename(whole)}]"
    return _code(f"{file}:{name}{place}")


def _is_numeric(records: Sequence[Record], place: int) -> bool:
    return all(not isinstance(record.values[place], str) for record in records)


def _cell(value: Value, signed: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:+,}" if signed and value else f"{value:,}"
    return f"{value:,.3f}" if isinstance(value, float) else _text(value)


def _cell_of(column: str, value: Value, signed: bool) -> str:
    if isinstance(value, float) and column.startswith(_SHARE_OF_TIME):
        return f"{100 * value:.1f}%"
    return _cell(value, signed)


def _code(value: Value) -> str:
    """As it is: what Markdown has a meaning for means nothing between backquotes."""
    if value is None or value == "" or isinstance(value, int):
        return "" if value is None else str(value)
    text = printable(str(value)).replace("|", "\\|")
    quote = "``" if "`" in text else "`"
    return f"{quote}{text}{quote}" if quote == "`" else f"{quote} {text} {quote}"


def _text(value: str) -> str:
    text = printable(value)
    for sign in "\\`*_|<[":
        text = text.replace(sign, "\\" + sign)
    return text


def _written(heading: Sequence[str], kinds: str, rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heading)} |"
    yield f"|{'|'.join('---:' if kind == 'r' else '---' for kind in kinds)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
