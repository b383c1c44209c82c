# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Turns tables and listings of faults into the documents of base/documents.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..base.documents import Record, Table, csv_lines, json_lines
from ..formats.fault import VIEWS
from ..formats.faultlog import FaultLog
from . import faultlist, faulttables, faultused


def written(form: str, about: str, logs: Sequence[FaultLog], view: int, tables: Iterable[Table]) -> Iterator[str]:
    if form == "csv":
        return csv_lines(list(tables))
    head: list[tuple[str, object]] = [("about", about), ("files", [_file(log) for log in logs]), ("view", VIEWS[view])]
    if len(logs) == 1:
        said = faulttables.verdict(logs[0]) if VIEWS[view] == "warm" else ""
        head.append(("verdict", said or None))
    return json_lines("tg_faults", head, tables)


def _file(log: FaultLog) -> dict[str, object]:
    facts = [(name, value) for name, value in log.header.items() if name not in ("creator", "cmd", "pid")]
    facts += [("assumption", assumption) for assumption in log.assumptions]
    return {
        "label": log.path,
        "path": log.path,
        "creator": log.header.get("creator", ""),
        "command": log.header.get("cmd", ""),
        "pid": log.header.get("pid", ""),
        "descriptions": [{"name": name, "value": value} for name, value in facts],
    }


def fault_list(log: FaultLog, view: int) -> Iterator[str]:
    first, *others = faultlist.FIELDS
    rows = (Record(values[:1], values[1:]) for values in faultlist.values(log, view))
    return written("json", "fault list", [log], view, [Table("fault", (first,), tuple(others), rows)])


def used_pages(log: FaultLog, view: int) -> Iterator[str]:
    first, *others = faultused.FIELDS
    rows = (Record(values[:1], values[1:]) for values in faultused.values(log, view))
    return written("json", "used pages", [log], view, [Table("page", (first,), tuple(others), rows)])
