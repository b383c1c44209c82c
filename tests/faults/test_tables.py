# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_faults for other programs: its tables and listings as JSON and CSV."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from faults_support import DATA, refused
from tg_companions import call
from tg_tables import as_csv, csv_rows, document

MIXED, USED, EXAMPLE, RECORDED = "mixed.faults", "used.faults", "example.faults", "recorded.faults"
GROUPS = ("kind", "mapping", "memory", "object", "function", "syscall")
ALL = f"--by={','.join(GROUPS)}"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)


def good(*arguments: str) -> str:
    status, out, err = call("tg_faults", *arguments).text()
    assert (status, err) == (0, "")
    return out


def table(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(table for table in found["tables"] if table["name"] == name)


@pytest.mark.parametrize("view", ["4k", "warm", "cold"])
@pytest.mark.parametrize("top", ["0", "1", "2", "4"])
@pytest.mark.parametrize(
    "arguments",
    [
        (ALL, MIXED),
        ("--growth=7", "--phase-range", MIXED),
        ("--used", "--by=kind", USED),
        ("--compare", ALL, MIXED, EXAMPLE),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_json_keeps_to_the_schema_and_csv_has_the_same_cells(arguments: tuple[str, ...], top: str, view: str) -> None:
    options = (f"--view={view}", f"--top={top}", *arguments)
    found = document(good("--format=json", *options))
    assert found["view"] == view
    rows = csv_rows(good("--format=csv", *options))
    assert [{key: cell for key, cell in row.items() if cell} for row in rows] == as_csv(found)
    for one in found["tables"]:
        if one["rest"] is not None:
            assert len(one["rows"]) == int(top) - 1


@pytest.mark.parametrize("view", ["4k", "warm", "cold"])
@pytest.mark.parametrize("log", [MIXED, EXAMPLE, RECORDED])
def test_tables_count_the_rows_of_the_listing(log: str, view: str) -> None:
    faults = csv_rows(good("--format=csv", f"--view={view}", log))
    found = document(good("--format=json", f"--view={view}", "--top=0", ALL, log))
    (summary,) = (row for row in table(found, "view")["rows"] if row["view"] == view)
    assert summary["faults"] == summary["minor"] + summary["major"] == len(faults)
    kinds = Counter(fault["kind"] for fault in faults)
    assert {row["kind"]: row["faults"] for row in table(found, "kind")["rows"]} == kinds
    for kind, count in kinds.items():
        assert summary[kind] == count
    callers = Counter(fault["by"] or "<the program itself>" for fault in faults)
    assert {row["syscall"]: row["faults"] for row in table(found, "syscall")["rows"]} == callers
    for group in GROUPS:
        rows = table(found, group)["rows"]
        assert sum(row["faults"] for row in rows) == len(faults)
        assert sum(row["major"] for row in rows) == sum(int(fault["major"]) for fault in faults)
        assert sum(row["brought"] for row in rows) == sum(int(fault["brought"]) for fault in faults)
        if group != "kind":
            assert all(row["faults"] == sum(row[kind] for kind in table(found, group)["columns"][1:7]) for row in rows)


@pytest.mark.parametrize("group", GROUPS)
def test_what_has_no_room_is_in_the_rest(group: str) -> None:
    whole = table(document(good("--format=json", "--top=0", f"--by={group}", MIXED)), group)
    for top in range(1, len(whole["rows"]) + 2):
        some = table(document(good("--format=json", f"--top={top}", f"--by={group}", MIXED)), group)
        shown = len(some["rows"])
        assert some["rows"] == whole["rows"][:shown]
        left = whole["rows"][shown:]
        if left:
            sums = {column: sum(row[column] for row in left) for column in whole["columns"]}
            assert some["rest"] == {"rows": len(left), **sums}
        else:
            assert some["rest"] is None


@pytest.mark.parametrize("view", ["4k", "warm", "cold"])
def test_growth_ends_with_all_faults(view: str) -> None:
    faults = csv_rows(good("--format=csv", f"--view={view}", MIXED))
    rows = table(document(good("--format=json", f"--view={view}", "--growth=5", MIXED)), "growth")["rows"]
    assert len(rows) == 5
    for row in rows:
        before = [fault for fault in faults if int(fault["instructions"]) <= row["instructions"]]
        assert row["faults"] == len(before)
        assert row["write"] == sum(fault["kind"] == "write" for fault in before)
    assert rows[-1]["faults"] == len(faults)


@pytest.mark.parametrize("view", ["warm", "cold"])
def test_brought_pages_are_used_later_or_never(view: str) -> None:
    found = document(good("--format=json", f"--view={view}", "--waste", "--by=kind", "--top=0", MIXED))
    rows = table(found, "waste")["rows"]
    assert sum(row["faults"] for row in rows) == sum(row["faults"] for row in table(found, "kind")["rows"])
    assert sum(row["brought"] for row in rows) == sum(row["brought"] for row in table(found, "kind")["rows"])
    for row in rows:
        assert row["brought"] == row["used_later"] + row["never_used"]
        assert row["wasted_KiB"] == 4 * row["never_used"]


def test_used_bytes_are_those_of_the_listing() -> None:
    pages = csv_rows(good("--format=csv", "--used", USED))
    found = document(good("--format=json", "--used", "--by=kind", "--top=0", USED))
    for name, key in (("used_by_arrival", ("kind",)), ("used_by_mapping", ("what", "name", "protection", "kind"))):
        rows = table(found, name)["rows"]
        groups = Counter(tuple(page[k] for k in key) for page in pages)
        assert len(rows) == len(groups)
        assert sorted(row["pages"] for row in rows) == sorted(groups.values())
        assert sum(row["bytes_used"] for row in rows) == sum(int(page["bytes_used"]) for page in pages)
        assert all(row["bytes_used"] + row["bytes_unused"] == 4096 * row["pages"] for row in rows)
    least = [row["bytes_used"] for row in table(found, "least_used")["rows"]]
    assert least == sorted(least)
    assert min(least) > 0


@pytest.mark.parametrize("group", GROUPS)
def test_a_comparison_has_the_faults_of_each_log(group: str) -> None:
    found = document(good("--compare", "--format=json", "--top=0", f"--by={group}", MIXED, EXAMPLE))
    assert [file["path"] for file in found["files"]] == [MIXED, EXAMPLE]
    single = [
        {row[group]: row["faults"] for row in table(document(good("--format=json", "--top=0", f"--by={group}", log)), group)["rows"]}
        for log in (MIXED, EXAMPLE)
    ]
    rows = table(found, group)["rows"]
    assert {row[group] for row in rows} == {*single[0], *single[1]}
    for row in rows:
        assert (row["first"], row["second"]) == tuple(faults.get(row[group], 0) for faults in single)
        assert row["difference"] == row["second"] - row["first"]


@pytest.mark.parametrize(("options", "about"), [((MIXED,), "fault list"), (("--used", USED), "used pages")])
def test_a_listing_has_the_same_values_as_json_and_csv(options: tuple[str, ...], about: str) -> None:
    found = document(good("--format=json", *options))
    assert found["about"] == about
    (one,) = found["tables"]
    assert [{k: str(v) for k, v in row.items()} for row in one["rows"]] == csv_rows(good("--format=csv", *options))


def test_descriptions_are_the_log_s_header() -> None:
    (file,) = document(good("--format=json", MIXED))["files"]
    assert (file["path"], file["command"], file["pid"]) == (MIXED, "/usr/bin/mixed --twice", "4712")
    facts = [(fact["name"], fact["value"]) for fact in file["descriptions"]]
    assert ("page size", "4096") in facts
    assert ("assumption", "the file system is not known; large folios as ext4 has them") in facts


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--compare", "--format=pagein", "a", "b"], "--compare goes without --format"),
        (["--format=text", "--waste", "a"], "--format goes without --waste"),
        (["--format=json", "--top=3", "a"], "--format goes without --top"),
        (["--format=json", "--by=kind", "--addresses=run", "a"], "--addresses is of listings, not of tables"),
        (["--format=csv", "--by=kind", "--native=x", "a"], "--format goes without --native"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], complaint: str) -> None:
    refused(f"{complaint} (tg_faults --help lists what is allowed)", *arguments)
