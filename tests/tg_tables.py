# tg_tables.py -- reads what the companions write with --format=json and csv, and checks it.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Holds a document against docs/tables.schema.json, which is JSON Schema.

Only the words of JSON Schema that stand there are understood. A key that the schema does not name is
an offence here, though not for readers: the schema is to describe all that is written.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from tg_companions import ROOT

SCHEMA = json.loads((ROOT / "docs" / "tables.schema.json").read_text(encoding="utf-8"))

_TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
_WORDS = {
    *("$schema", "$defs", "$ref", "title", "description", "type", "required", "properties"),
    *("additionalProperties", "items", "minItems", "minimum", "const", "enum"),
}


def document(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    offences = list(against(found, SCHEMA, "document"))
    assert not offences, offences
    for table in found["tables"]:
        check_table(table)
    return found


def check_table(table: dict[str, Any]) -> None:
    """What the schema cannot say: the keys of rows are those that the table lists."""
    keys = [*table["fields"], *table["columns"]]
    assert len(set(keys)) == len(keys)
    for row in table["rows"]:
        assert [key for key in row if key != "parts"] == keys
        if "parts" in row:
            check_table(row["parts"])
    if table["rest"] is not None:
        assert list(table["rest"]) == ["rows", *table["columns"]]


def against(value: Any, schema: dict[str, Any], place: str) -> list[str]:
    """Where a value is not what the schema says."""
    assert set(schema) <= _WORDS, set(schema) - _WORDS
    if "$ref" in schema:
        return against(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], place)
    if "const" in schema and value != schema["const"]:
        return [f"{place}: {value!r} is not {schema['const']!r}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is not one of {schema['enum']}"]
    types = schema.get("type", list(_TYPES))
    types = [types] if isinstance(types, str) else types
    if not any(_is(value, kind) for kind in types):
        return [f"{place}: {value!r} is not of type {types}"]
    if "minimum" in schema and value < schema["minimum"]:
        return [f"{place}: {value} is below {schema['minimum']}"]
    found = []
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{place}: {len(value)} items")
        for number, item in enumerate(value):
            found += against(item, schema.get("items", {}), f"{place}[{number}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}: there is no '{key}'" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            if key in known:
                found += against(item, known[key], f"{place}.{key}")
            elif "additionalProperties" in schema:
                found += against(item, schema["additionalProperties"], f"{place}.{key}")
            else:
                found.append(f"{place}: '{key}' is not in the schema")
    return found


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def csv_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def as_csv(found: dict[str, Any]) -> list[dict[str, str]]:
    """The rows that the CSV of a document has, without cells that are empty."""
    rows = []
    for table in found["tables"]:
        rows += _flat(table, {"table": table["name"]}, "")
    return rows


def _flat(table: dict[str, Any], outer: dict[str, str], prefix: str) -> list[dict[str, str]]:
    rows = []
    for row in table["rows"]:
        names = {prefix + field: row[field] for field in table["fields"]}
        values = {column: row[column] for column in table["columns"]}
        rows.append(_cells({**outer, **names, "omitted": 0, **values}))
        if "parts" in row:
            rows += _flat(row["parts"], {**outer, **names}, "part_")
    if table["rest"] is not None:
        rest = dict(table["rest"])
        rows.append(_cells({**outer, "omitted": rest.pop("rows"), **rest}))
    return rows


def _cells(row: dict[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in row.items() if value not in (None, "")}
