# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What tg_report puts into a page, and when it makes none."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
from report_support import (
    COSTS,
    ENTRIES,
    FAULTS,
    NASTY,
    REPEATED,
    data_of,
    made,
    needs_library,
    out_file,
    reach_file,
    run,
)
from tg_companions import package, refused

pytestmark = needs_library


def column(data: dict, table: int, event: str) -> dict[str, int]:  # type: ignore[type-arg]
    """The counts of an event by the first field of a table."""
    plan, machine = data["tables"][table], data["machines"][0]
    parts = next(e["parts"] for e in machine["events"] if e["name"] == event)
    columns = [data["columns"][plan["counts"][0][part]] for part in parts]
    names = [data["strings"][place] for place in plan["fields"][0]["values"]["texts"]]
    sums: dict[str, int] = {}
    for name, *counts in zip(names, *columns):
        sums[name] = sums.get(name, 0) + sum(counts)
    return sums


def test_tables_of_a_page_add_up_to_the_program(tmp_path: Path) -> None:
    data = data_of(made(tmp_path, COSTS))
    machine = data["machines"][0]
    for table in range(4):
        for event in machine["events"]:
            total = sum(machine["totals"][part] for part in event["parts"])
            assert sum(column(data, table, event["name"]).values()) == total


def test_counts_are_those_of_the_file(tmp_path: Path) -> None:
    page = made(tmp_path, out_file(tmp_path / "out", [("one", 3), ("two", 2**60 + 1), ("three", 0)]))
    data = data_of(page)
    walks = data["columns"][data["tables"][0]["counts"][0][1]]
    # What JavaScript would round is text.
    assert walks == [3, str(2**60 + 1), 0]


def test_faults_of_a_page_are_those_of_the_log(tmp_path: Path) -> None:
    log = package("formats.faultlog").read(str(REPEATED))
    data = data_of(made(tmp_path, REPEATED))["faults"][0]
    for place, view in enumerate(("4k", "warm", "cold")):
        assert sum(m["faults"][place] for m in data["maps"]) == log.totals[view].faults
        assert sum(c["faults"][place] for c in data["codes"]) == log.totals[view].faults
        assert sum(m["major"][place] for m in data["maps"]) == log.totals[view].major
    times = sum(repeat[1] for repeat in data["timeline"]["repeats"])
    assert len(data["timeline"]["kinds"]) + times == sum(1 for _ in log.faults)


def test_curves_keep_what_the_reach_file_says(tmp_path: Path) -> None:
    curves = data_of(made(tmp_path, reach_file(tmp_path)))["reaches"][0]["curves"]
    for weight, curve in zip((6, 5, 4, 3, 2, 1), curves):
        at = dict(curve)
        last = 0
        for entries in range(8, 8193):
            last = at.get(entries, last)
            assert last == (1 << 20) * weight // entries


class Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [f"{tag} {key}" for key, value in attrs if key in ("src", "href") and value]


def test_a_page_loads_nothing_and_no_name_becomes_html(tmp_path: Path) -> None:
    def parsed(name: str) -> Scripts:
        scripts = Scripts()
        scripts.feed(made(tmp_path, out_file(tmp_path / "out", [(name, 3)], name)).read_text())
        return scripts

    plain, nasty = parsed("plain"), parsed(NASTY)
    assert nasty.tags == plain.tags
    assert nasty.loaded == []


def test_much_data_is_compressed_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = made(tmp_path, COSTS, FAULTS, ENTRIES)
    plain, size = data_of(page), page.stat().st_size
    monkeypatch.setattr(package("report.page"), "_MOST_PLAIN", 100)
    assert package("report.cli").main([str(path) for path in (COSTS, FAULTS, ENTRIES)] + ["-o", str(page)]) == 0
    assert page.stat().st_size < size and data_of(page) == plain


def test_names_come_out_as_they_are(tmp_path: Path) -> None:
    data = data_of(made(tmp_path, out_file(tmp_path / "out", [(NASTY, 3)], NASTY)))
    assert column(data, 0, "ILtm") == {NASTY: 3}
    assert data["machines"][0]["name"] == NASTY


def test_a_command_with_html_in_it_is_a_title(tmp_path: Path) -> None:
    path = out_file(tmp_path / "out", [("one", 1)])
    path.write_text(path.read_text().replace("./many", "./a</title><b>"))
    assert "<title>./a&lt;/title&gt;&lt;b&gt;: tlbgrind</title>" in made(tmp_path, path).read_text()


def test_bytes_that_are_no_characters_leave_a_page_of_utf_8(tmp_path: Path) -> None:
    path = out_file(tmp_path / "out", [("one", 1)])
    path.write_bytes(path.read_bytes().replace(b"one", b"o\xffe").replace(b"./many", b"./m\xff"))
    made(tmp_path, path).read_text(encoding="utf-8")


def test_two_machines_of_one_name_are_told_apart(tmp_path: Path) -> None:
    first, second = (out_file(tmp_path / name, [("one", 1)]) for name in ("a.out", "b.out"))
    names = [machine["name"] for machine in data_of(made(tmp_path, first, second))["machines"]]
    assert names == [f"made ({first})", f"made ({second})"]


def test_the_smallest_rows_beyond_a_hundred_thousand_are_left_out_and_counted(tmp_path: Path) -> None:
    path = out_file(tmp_path / "out", [(f"f{number}", number) for number in range(100_005)])
    table = data_of(made(tmp_path, path))["tables"][0]
    assert (table["rows"], table["omitted"]) == (100_000, 5)


# ---------------------------------------------------------------- no page


def test_a_broken_file_leaves_the_page_of_before(tmp_path: Path) -> None:
    page = made(tmp_path, COSTS)
    before = page.read_bytes()
    (tmp_path / "broken").write_bytes(FAULTS.read_bytes()[:900])
    done = run(tmp_path, COSTS, "broken", "-o", page)
    assert (done.status, done.out) == (1, b"")
    assert done.err.startswith(b"tg_report: error: broken:") and done.err.count(b"\n") == 1
    assert page.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["broken", "page.html"]


REFUSED = {
    "no file": ([], "no FILE given (tg_report --help lists what is allowed)"),
    "a folder that is not there": ([COSTS, "-o", "no/page"], "no/page: No such file or directory"),
    "a folder": ([COSTS, "-o", "."], ".: Is a directory"),
    "a full disk": ([COSTS, "-o", "/dev/full"], "/dev/full: No space left on device"),
    "no Chart.js": ([COSTS, "--chart-js=none"], "none: Chart.js: No such file or directory"),
    "another library": ([COSTS, f"--chart-js={COSTS}"], f"{COSTS}: not Chart.js: the word Chart is not in it"),
}


@pytest.mark.parametrize("title", REFUSED)
def test_what_can_not_be_done_is_said_in_one_line(tmp_path: Path, title: str) -> None:
    arguments, complaint = REFUSED[title]
    refused("tg_report", tmp_path, complaint, *arguments)
    assert os.listdir(tmp_path) == []


def test_a_page_is_not_written_over_its_input(tmp_path: Path) -> None:
    path = out_file(tmp_path / "out", [("one", 1)])
    before = path.read_bytes()
    complaint = "./out: the page would be written over a file that it is made from"
    refused("tg_report", tmp_path, complaint, path, "-o", "./out")
    assert path.read_bytes() == before


def test_without_a_name_the_page_goes_to_the_standard_output(tmp_path: Path) -> None:
    page = made(tmp_path, COSTS, FAULTS, ENTRIES)
    assert run(tmp_path, COSTS, FAULTS, ENTRIES).out == page.read_bytes()


def test_a_page_says_where_chart_js_comes_from_if_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(package("report.page"), "CHART_JS", "/no/chart.js")
    assert package("report.cli").main([str(COSTS), "-o", str(tmp_path / "page")]) == 1
    assert capsys.readouterr().err == (
        "tg_report: error: /no/chart.js: Chart.js: No such file or directory; "
        "install the package libjs-chart.js, or name it with --chart-js=FILE\n"
    )
