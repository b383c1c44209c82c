# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A page's flame graph, tables of calls, data, phases and advice, and curves over time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, in_browser, show
from report_support import (
    calls_file,
    data_of,
    made,
    needs_library,
    out_file,
    timeline_file,
)
from tg_companions import call, refused

pytestmark = needs_library

DATA = """# tlbgrind data
version: 1
creator: tlbgrind-0.1.0 (Valgrind 3.19.0)
pid: 7
cmd: ./store
page-size: 4096
word-size: 8
machines: 1

object: 1 variable pages 16 touched 128 blocks 0 bytes 65536
name: table
file: /home/u/store

object: 2 heap pages 4 touched 4096 blocks 3 bytes 9000
frame: malloc
at: 0 ???
in: /usr/lib/libc.so.6
frame: insert
at: 12 /home/u/store.c
in: /home/u/store

machine: made
events: Ir ILtm Dr DLtmr Dw DLtmw

ob=(1) /home/u/store
fl=(1) /home/u/store.c
fn=(1) main
14 0 50 2 0 0 0 0
14 1 0 0 20 9 0 0
14 2 0 0 4 1 5 2
fn=(2) insert
12 2 0 0 0 0 8 7

totals: 50 2 24 10 13 9

end
"""


def data_file(folder: Path) -> Path:
    path = folder / "store.data"
    path.write_text(DATA)
    return path


def rows(data: Any, title: str, event: str) -> dict[tuple[object, ...], int]:
    """A table's rows: the fields, and what the first machine counts."""
    tables = [*data["tables"], *data["calls"]["tables"], *data["data"]]
    plan = next(table for table in tables if table["title"] == title)
    machine = (plan.get("machines") or data["machines"])[0]
    parts = next(each["parts"] for each in machine["events"] if each["name"] == event)
    columns = [
        field["values"].get("numbers") or [data["strings"][at] for at in field["values"]["texts"]]
        for field in plan["fields"]
    ]
    counts = [data["columns"][plan["counts"][0][part]] for part in parts]
    return {key: sum(count) for key, *count in zip(zip(*columns), *counts)}


def test_a_flame_graph_shares_out_what_two_callers_have_of_one_function(tmp_path: Path) -> None:
    data = data_of(made(tmp_path, calls_file(tmp_path / "out")))
    tree = next(tree for tree in data["calls"]["flames"][0]["trees"] if tree["event"] == "walks")
    names = [data["strings"][place] for place in tree["names"]]
    assert list(zip(tree["depths"], names, tree["counts"])) == [
        (0, "main", 100),
        (1, "sort", 60),
        (2, "copy", 60),
        (1, "print", 40),
        (2, "copy", 20),
    ]
    assert tree["whole"] == 100
    assert [name for name, given in zip(names, tree["shared"]) if given] == ["copy", "copy"] or not any(tree["shared"])


def test_tables_of_calls_have_counts_and_inclusive_costs(tmp_path: Path) -> None:
    data = data_of(made(tmp_path, calls_file(tmp_path / "out")))
    assert rows(data, "Calls", "Ir") == {
        ("main", "sort", 2): 500,
        ("main", "print", 1): 190,
        ("sort", "copy", 9): 300,
        ("print", "copy", 3): 100,
    }
    inclusive = {str(key[0]): count for key, count in rows(data, "Inclusive", "walks").items()}
    assert inclusive == {"main": 100, "sort": 60, "print": 40, "copy": 80}


def test_tables_of_data_have_what_the_data_file_has(tmp_path: Path) -> None:
    data = data_of(made(tmp_path, data_file(tmp_path)))
    heap = "heap insert (store.c:12)"
    stack = "malloc (libc.so.6) < insert (store.c:12)"
    assert rows(data, "Data", "DLtm") == {
        ("(instructions)", 0, 0, 0, 0, 0, ""): 0,
        ("variable table [store]", 0, 65536, 16, 128, 8, ""): 9,
        (heap, 3, 9000, 4, 4096, 1024, stack): 10,
    }
    assert rows(data, "Data by line", "DLtm") == {
        ("(instructions)", "main", "/home/u/store.c:14"): 0,
        ("variable table [store]", "main", "/home/u/store.c:14"): 9,
        (heap, "main", "/home/u/store.c:14"): 3,
        (heap, "insert", "/home/u/store.c:12"): 7,
    }


def test_out_files_of_phases_are_rows_and_no_machines(tmp_path: Path) -> None:
    whole = out_file(tmp_path / "out", [("a", 5), ("b", 7)])
    parts = []
    for phase, walks in (("load", 5), ("work", 7)):
        part = out_file(tmp_path / f"out_phase_{phase}", [("a", walks)])
        part.write_text(part.read_text().replace("desc: Machine", f"desc: Of phase: {phase}\ndesc: Machine"))
        parts.append(part)
    data = data_of(made(tmp_path, whole, *parts))
    assert [machine["name"] for machine in data["machines"]] == ["made"]
    assert rows(data, "Phases", "ILtm") == {("load",): 5, ("work",): 7}
    assert [machine["name"] for machine in data_of(made(tmp_path, parts[0]))["machines"]] == ["made"]


def test_mappings_are_those_of_tg_annotate(tmp_path: Path) -> None:
    out = out_file(tmp_path / "out", [("a", 500), ("b", 400)])
    rows = [
        "desc: Large pages: 2097152",
        "desc: Mapping: 0x10d000 0x110d000 rw-p 0x200000 0x1000000 4096x4096 bss /bin/many",
        "desc: Mapping begin: 0 700 0 0",
        "desc: Mapping end: 0 20 0 0",
        "desc: Mapping: 0x2000000 0x2001000 r-xp 0x2000000 0x2000000 4096x1 image /bin/many",
        "desc: Mapping begin: 200 180 0 0",
    ]
    text = out.read_text(encoding="utf-8")
    out.write_text(text.replace("desc: Assumption", "\n".join([*rows, "desc: Assumption"]), 1), encoding="utf-8")
    (table,) = data_of(made(tmp_path, out))["mappings"]
    assert (table["machine"], table["large"], table["totals"]) == ("made", "2M", {"references": 200, "misses": 0, "walks": 900, "cycles": None})
    status, printed, err = call("tg_annotate", "--mappings", "--format=json", str(out))
    assert (status, err) == (0, b"")
    told = json.loads(printed)["tables"][0]["rows"]
    same = {"kib": "KiB", "pages": "page_sizes", "references": "references", "walks": "walks", "cycles": "Wcyc", "time": "time"}
    for part in ("begin", "inside", "end"):
        same |= {f"kib_{part}": f"{part}_KiB", f"walks_{part}": f"{part}_walks"}
    assert len(table["rows"]) == len(told)
    for row, other in zip(table["rows"], told):
        assert int(row["address"], 16) == int(other["address"], 16)
        assert {key: row[key] for key in same} == {key: other[name] for key, name in same.items()}
    assert table["rows"][0]["win"].startswith("begin it on a boundary of 2M, such as 0x200000")
    assert table["rows"][1]["win"] == ""  # no page of 2M fits
    assert data_of(made(tmp_path, out_file(tmp_path / "other", [("a", 1)])))["mappings"] == []


def test_advice_is_that_of_tg_annotate(tmp_path: Path) -> None:
    base = out_file(tmp_path / "out", [("a", 900)], "made")
    heap = out_file(tmp_path / "out_heap", [("a", 100)], "made@heap:2M")
    data = data_of(made(tmp_path, base, heap))
    (advice,) = data["advice"]
    assert (advice["machine"], advice["walks"]) == ("made", 900)
    status, out, err = call("tg_annotate", "--advice", "--format=json", str(base), str(heap))
    assert (status, err) == (0, b"")
    (table,) = (found for found in json.loads(out)["tables"] if found["name"] == "advice")
    assert len(advice["rows"]) == len(table["rows"])
    for row, other in zip(advice["rows"], table["rows"]):
        assert {key: row[key] for key in SAME} == {key: other[name] for key, name in SAME.items()}
        assert row["which"] == (other["mapping"] or "")
    assert [row["pays"] for row in advice["rows"]] == ["yes"]
    assert advice["verdicts"][0].startswith("Pages of 2M pay for heap")
    other = out_file(tmp_path / "other", [("a", 1)], "another")
    assert data_of(made(tmp_path, base, other))["advice"] == []


SAME = {
    "memory": "memory",
    "pages": "pages",
    "walks_saved": "walks_saved",
    "misses_saved": "L1tm_saved",
    "faults_saved": "faults_saved",
    "backed": "backed_KiB",
    "unused": "unused_KiB",
    "how": "how",
}


def test_what_is_simulated_for_advice_is_no_machine(tmp_path: Path) -> None:
    base = out_file(tmp_path / "out", [("a", 900)], "made")
    heap = out_file(tmp_path / "out_heap", [("a", 100)], "made@heap:2M")
    text = out_file(tmp_path / "out_text", [("a", 800)], "made@text:2M")
    assert [m["name"] for m in data_of(made(tmp_path, heap, base, text))["machines"]] == ["made"]
    # Without the run itself there is no advice, and they are machines as others are.
    names = [m["name"] for m in data_of(made(tmp_path, heap, text))["machines"]]
    assert names == ["made@heap:2M", "made@text:2M"]


EDITS = {
    "no end": ("end\n", "", ":14: the file ends without 'end', so it is not whole"),
    "a lost count": ("2\t6\t0\t8\t0", "2\t6\t0\t8", ":12: not 6 numbers with tabs between them: '1000?2?6?0?8'"),
    "other columns": ("L1tm 1", "L1tm 2", ":9: columns 'Ir?code pages?data pages?PF?L1tm 2?walks 1', which are not those of 1 machines"),
    "a newer version": ("version: 1", "version: 2", ":2: version '2' of the timeline, where only 1 is known"),
    "text behind the end": ("end\n", "end\n1\n", ":16: text after 'end', the last line of a timeline"),
    "a row behind a mark": ("end\n", "1\t1\t1\t1\t1\t1\nend\n", ":15: a row behind the marks"),
}


@pytest.mark.parametrize("title", EDITS)
def test_an_edited_timeline_is_refused(tmp_path: Path, title: str) -> None:
    old, new, complaint = EDITS[title]
    text = timeline_file(tmp_path).read_text()
    assert text.count(old) == 1
    (tmp_path / "damaged").write_text(text.replace(old, new))
    refused("tg_report", tmp_path, f"damaged{complaint}", "damaged")


# ---------------------------------------------------------------- in the browser


def frames(browser: Browser) -> dict[str, float]:
    """What is drawn of the flame graph, with its width in percent."""
    found = browser.run("[...document.querySelectorAll('.flame div')].map((f) => [f.textContent, parseFloat(f.style.width)])")
    return {f"{name} {width:.1f}": width for name, width in found}


def key(browser: Browser, name: str) -> str:
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key=name)
    return str(browser.run("document.querySelector('.flame + .said').textContent"))


@in_browser
def test_the_flame_graph_is_zoomed_by_mouse_and_keyboard_and_says_its_counts(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, calls_file(tmp_path / "out")))
    whole = ["main 100.0", "sort 60.0", "copy 60.0", "print 40.0", "copy 20.0"]
    assert list(frames(browser)) == whole
    titles = browser.run("[...document.querySelectorAll('.flame div')].map((f) => f.title)")
    assert titles[1] == "sort: 60 page walks, 60.00% of 100; in /bin/calls"
    browser.run("document.querySelectorAll('.flame div')[1].click()")
    assert list(frames(browser)) == ["main 100.0", "sort 100.0", "copy 100.0"]
    browser.run("document.querySelector('.flame').focus()")
    assert key(browser, "0") == ""
    assert list(frames(browser)) == whole
    assert key(browser, "ArrowDown").startswith("main: 100 page walks, 100.00% of 100")
    assert key(browser, "ArrowDown").startswith("sort: 60 page walks")
    assert key(browser, "ArrowRight").startswith("print: 40 page walks")
    assert key(browser, "Enter").startswith("print: 40 page walks, 40.00% of 100")
    assert list(frames(browser)) == ["main 100.0", "print 100.0", "copy 50.0"]
    browser.run("choice.choose(0, 'Ir')")
    assert list(frames(browser))[:2] == ["main 100.0", "sort 71.4"]
    assert browser.complaints() == []


@in_browser
def test_curves_over_time_say_what_the_timeline_says(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, timeline_file(tmp_path)))
    said = "Plot.all.filter((p) => p.plan).map((p) => [p.plan.title, p.plan.say(p.chart.data.datasets[0].data[1])])"
    assert browser.run(said) == [
        ["Page walks over time", ["30 walks, 30.000 per 1000 instructions", "instructions 1,000 to 2,000"]],
        ["First-level misses over time", ["50 L1tm, 50.000 per 1000 instructions", "instructions 1,000 to 2,000"]],
        ["Working set", ["40 data pages in use", "instructions 1,000 to 2,000"]],
        ["Page faults over time", ["35 page faults", "instructions 1,000 to 2,000"]],
    ]
    assert browser.run("Plot.all[0].plan.marks") == [[1200, "second"]]


@in_browser
def test_tables_of_data_and_calls_sort(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, calls_file(tmp_path / "out"), data_file(tmp_path)))
    first = "Table.all.find((t) => t.title === '{}').body.querySelector('tr:not([hidden])').cells[0].textContent"
    assert browser.run(first.format("Data")) == "heap insert (store.c:12)"
    assert browser.run(first.format("Inclusive")) == "main"
    browser.run("Table.all.find((t) => t.title === 'Data').heads.find((h) => h.textContent === 'Bytes').firstChild.click()")
    assert browser.run(first.format("Data")) == "variable table [store]"
