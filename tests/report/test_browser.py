# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A page in headless Chromium: nothing in the console, tables that sort, plots that tell the data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, in_browser, show
from report_support import (
    COSTS,
    ENTRIES,
    FAULTS,
    NAMES,
    NASTY,
    REPEATED,
    made,
    needs_library,
    out_file,
    reach_file,
)
from tg_companions import package

pytestmark = [needs_library, in_browser]


def all_kinds(folder: Path) -> Path:
    return made(folder, COSTS, FAULTS, REPEATED, ENTRIES, reach_file(folder))


def table(title: str) -> str:
    return f"Table.all.find((table) => table.title === {json.dumps(title)})"


def cells(browser: Browser, title: str, place: int) -> list[str]:
    """What stands in a column, of the rows in view."""
    rows = f"{table(title)}.body.querySelectorAll('tr:not(.spacer)')"
    return list(browser.run(f"[...{rows}].map((row) => row.cells[{place}].textContent)"))


def press(browser: Browser, title: str, heading: str) -> None:
    browser.run(f"{table(title)}.heads.find((h) => h.textContent === {json.dumps(heading)}).firstChild.click()")


def choose(browser: Browser, what: str, value: str) -> None:
    """In the head of the page."""
    browser.run(
        f"(() => {{ const select = document.getElementById('{what}'); select.value = '{value}';"
        "select.dispatchEvent(new Event('change')); })()"
    )


def test_a_page_of_each_kind_of_file_leaves_the_console_empty(browser: Browser, tmp_path: Path) -> None:
    page = all_kinds(tmp_path)
    show(browser, page)
    assert [url for url in browser.requested() if not url.startswith("data:")] == [page.resolve().as_uri()]
    sections = browser.run("[...document.querySelectorAll('h2')].map((heading) => heading.textContent)")
    assert sections == [
        *("Answer", "Functions and lines", "Objects", "Source files"),
        *("Page faults", "Reach", "Order of first use", "Machines", "Files"),
    ]


@pytest.mark.parametrize("name", ["costs", "names", "faults", "repeated", "reach", "entries"])
def test_a_page_of_one_file_leaves_the_console_empty(browser: Browser, tmp_path: Path, name: str) -> None:
    files = {"costs": COSTS, "names": NAMES, "faults": FAULTS, "repeated": REPEATED, "entries": ENTRIES}
    show(browser, made(tmp_path, files[name] if name in files else reach_file(tmp_path)))


def test_a_column_sorts_by_number_and_a_second_press_turns_it(browser: Browser, tmp_path: Path) -> None:
    functions = [("b", 9), ("a", 10), ("d", 2**60 + 1), ("c", 2**60), ("e", 0)]
    show(browser, made(tmp_path, out_file(tmp_path / "out", functions)))
    assert cells(browser, "Functions", 0) == ["d", "c", "a", "b", "e"]
    assert cells(browser, "Functions", 2)[0] == f"{2**60 + 1:,}"
    press(browser, "Functions", "Share")
    assert cells(browser, "Functions", 0) == ["e", "b", "a", "c", "d"]
    press(browser, "Functions", "Function")
    assert cells(browser, "Functions", 0) == ["a", "b", "c", "d", "e"]
    sorts = f"{table('Functions')}.heads.map((head) => head.getAttribute('aria-sort'))"
    assert browser.run(sorts)[:3] == ["ascending", "none", "none"]


def test_fifty_thousand_rows_are_sorted_and_searched_whole(browser: Browser, tmp_path: Path) -> None:
    functions = [(f"function_{number:05}", number * 7919 % 50_021) for number in range(50_000)]
    show(browser, made(tmp_path, out_file(tmp_path / "out", functions)))
    largest = sorted(functions, key=lambda function: -function[1])
    assert cells(browser, "Functions", 0)[:20] == [name for name, _ in largest[:20]]
    assert browser.run(f"{table('Functions')}.body.rows.length") < 100
    # The end of the table, which only scrolling puts into the document.
    browser.run(f"{table('Functions')}.window.scrollTop = 1e9")
    browser.wait(lambda: cells(browser, "Functions", 0)[-1] == largest[-1][0])
    search = f"{table('Functions')}.search"
    browser.run(f"{search}.value = 'FUNCTION_4 99'; {search}.dispatchEvent(new Event('input'))")
    found = [name for name, _ in largest if "function_4" in name and "99" in name]
    assert cells(browser, "Functions", 0)[:10] == found[:10]
    assert browser.run(f"{table('Functions')}.found.textContent") == f"{len(found)} of 50,000 rows"


def test_compressed_data_is_unpacked(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = out_file(tmp_path / "out", [(NASTY, 3), ("other", 2**60)], NASTY)
    monkeypatch.setattr(package("report.page"), "_MOST_PLAIN", 0)
    page = tmp_path / "page.html"
    assert package("report.cli").main(["--only", str(path), "-o", str(page)]) == 0
    show(browser, page)
    assert [cells(browser, "Functions", place) for place in (0, 2)] == [["other", NASTY], [f"{2**60:,}", "3"]]


def test_names_with_html_are_text(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, out_file(tmp_path / "out", [(NASTY, 3)], NASTY)))
    assert cells(browser, "Functions", 0) == [NASTY]
    assert cells(browser, "Machines", 0) == [f"{NASTY} *"]
    assert browser.run("document.title") == "./many: tlbgrind"
    assert browser.run("document.images.length") == 0


def test_machines_stand_side_by_side(browser: Browser, tmp_path: Path) -> None:
    first = out_file(tmp_path / "1", [("x", 3), ("y", 1)], "one")
    second = out_file(tmp_path / "2", [("x", 1), ("y", 7)], "two")
    show(browser, made(tmp_path, first, second))
    assert cells(browser, "Machines", 0) == ["one *", "two *"]
    headings = browser.run(f"{table('Machines')}.heads.map((head) => head.textContent)")
    assert cells(browser, "Machines", headings.index("walks/1000")) == ["20.000", "40.000"]
    assert cells(browser, "Machines", headings.index("ratio")) == ["1.000", "2.000"]
    choose(browser, "machine", "-1")
    assert [cells(browser, "Functions", place) for place in (0, 1, 2)] == [["x", "y"], ["3", "1"], ["1", "7"]]
    choose(browser, "machine", "1")
    assert [cells(browser, "Functions", place) for place in (0, 1, 2)] == [["y", "x"], ["88%", "13%"], ["7", "1"]]


def hover(browser: Browser, plot: str, curve: int, point: int) -> list[str]:
    """Moves the mouse to a point that is drawn; returns the words that appear."""
    place = browser.run(
        f"(() => {{ const {{ canvas, chart }} = Plot.all.find((each) => each.plan?.title === '{plot}');"
        "canvas.scrollIntoView({ block: 'center' });"
        f"const {{ x, y }} = chart.getDatasetMeta({curve}).data[{point}];"
        "const box = canvas.getBoundingClientRect(); return { x: box.left + x, y: box.top + y }; })()"
    )
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=0, y=0)
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", **place)
    tooltip = f"Plot.all.find((each) => each.plan?.title === '{plot}').chart.tooltip"
    browser.wait(lambda: browser.run(f"{tooltip}.opacity") and browser.run(f"{tooltip}.body?.length"))
    return list(browser.run(f"{tooltip}.body.flatMap((part) => part.lines)"))


def test_hovering_over_a_fault_says_what_the_log_says(browser: Browser, tmp_path: Path) -> None:
    log = package("formats.faultlog").read(str(FAULTS))
    show(browser, made(tmp_path, FAULTS))
    curves = browser.run(
        "Plot.all.find((each) => each.plan?.title === 'Where the faults are')"
        ".chart.data.datasets.map((curve) => curve.data.map((point) => point.place))"
    )
    faults = list(log.faults)
    warm = [fault for fault in faults if fault.kinds[1] != "-"]
    drawn = [place for curve in curves for place in curve]
    assert drawn and {faults[place].number for place in drawn} <= {fault.number for fault in warm}
    for curve, places in enumerate(curves):
        said = hover(browser, "Where the faults are", curve, 0)
        # Where two are at one spot, either may be told.
        told = faults[int(said[0].split()[1].replace(",", "")) - 1]
        assert places
        assert said[0] == f"fault {told.number:,} after {told.instructions:,} instructions"
        assert f"page {told.native:#x}: " in said[2]
        assert f"by {told.code.function} (" in said[3]


def test_the_curves_of_a_timeline_end_at_the_totals(browser: Browser, tmp_path: Path) -> None:
    log = package("formats.faultlog").read(str(REPEATED))
    show(browser, made(tmp_path, REPEATED))
    ends = browser.run(
        "Plot.all.find((each) => each.plan?.title === 'Faults over time')"
        ".chart.data.datasets.map((curve) => [curve.label, curve.data.at(-1).y])"
    )
    assert ends == [[view, log.totals[view].faults] for view in ("4k", "warm", "cold")]


def test_the_keyboard_goes_from_point_to_point(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, reach_file(tmp_path)))
    browser.run("document.querySelector('.plot').focus()")

    def key(name: str) -> str:
        browser.ask("Input.dispatchKeyEvent", type="keyDown", key=name)
        return str(browser.run("document.querySelector('.said').textContent"))

    assert key("ArrowRight") == f"I-4K: 8 entries, pages of 4K: {6 * 2**17:,} misses"
    assert key("ArrowRight") == f"I-4K: 9 entries, pages of 4K: {6 * 2**20 // 9:,} misses"
    assert key("ArrowDown") == f"I-64K: 9 entries, pages of 64K: {5 * 2**20 // 9:,} misses"


def test_keys_search_and_change_the_theme(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, out_file(tmp_path / "out", [(f"f{n}", n) for n in range(30)])))
    theme = "document.documentElement.dataset.theme"
    before = browser.run(theme)
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key="d")
    assert {before, browser.run(theme)} == {"light", "dark"}
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key="/")
    assert browser.run("document.activeElement.type") == "search"
    assert browser.complaints() == []


def test_the_printed_page_says_how_many_rows_it_leaves_out(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, out_file(tmp_path / "out", [(f"f{n}", n) for n in range(1000)])))
    browser.run("window.addEventListener('beforeprint', () => { window.printed = document.body.textContent })")
    data: dict[str, Any] = browser.ask("Page.printToPDF", printBackground=True)
    assert data["data"].startswith("JVBER")  # %PDF
    assert "and 960 more rows" in browser.run("window.printed")
    assert "more rows" not in browser.run("document.getElementById('main').textContent")
    assert browser.complaints() == []


BEYOND = "[...document.querySelectorAll('.window')].filter((w) => w.scrollWidth > w.clientWidth + 1).length"


def narrow(browser: Browser, width: int) -> None:
    browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
    browser.run("window.dispatchEvent(new Event('resize'))")


def long_names(folder: Path) -> Path:
    names = [f"some_function_of_a_library_with_a_name_as_long_as_this_{n}" for n in range(30)]
    return made(folder, out_file(folder / "out", [(name, 1_000_000 + n) for n, name in enumerate(names)]))


def test_columns_fit_and_the_others_come_on_request(browser: Browser, tmp_path: Path) -> None:
    show(browser, long_names(tmp_path))
    headings = f"{table('Functions')}.heads.map((head) => head.textContent)"
    shown = {}
    for width in (500, 1000, 1400):
        narrow(browser, width)
        assert browser.run(BEYOND) == 0
        assert browser.run("document.documentElement.scrollWidth") <= width
        shown[width] = browser.run(headings)
    assert shown[500][:2] == ["Function", "Share"]
    browser.run(f"{table('Functions')}.every.click()")
    assert set(browser.run(headings)) > {*shown[1400], "Source file", "ILtm", "DLtmw"}
    assert browser.run(BEYOND) == 1
    assert browser.complaints() == []


def test_the_printed_tables_have_all_columns_on_the_page(browser: Browser, tmp_path: Path) -> None:
    show(browser, long_names(tmp_path))
    narrow(browser, 560)
    browser.run(f"{table('Functions')}.every.click()")
    assert browser.run(BEYOND) > 0  # on a screen such a table is scrolled
    browser.ask("Emulation.setEmulatedMedia", media="print")
    assert browser.run("document.querySelectorAll('.window table').length") > 0
    assert browser.run(BEYOND) == 0
    browser.ask("Emulation.setEmulatedMedia", media="")
    assert browser.complaints() == []
