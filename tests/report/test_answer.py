# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The first screen of a page, the choice that all of it follows, and the text of lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, in_browser, show
from report_support import (
    FAULTS,
    calls_file,
    costly_file,
    data_of,
    made,
    needs_library,
    out_file,
    run,
)
from tg_companions import call, package

pytestmark = needs_library

KNOWN = {"Miss_cycles": "100..300 assumed", "Share_of_time": "9.57%..34.00% assumed: 1..2 instructions a cycle"}
# "walked" has most walks, "hit" costs most, as hits behind the first level do.
COSTS = [("walked", 9, 90), ("hit", 1, 200), ("little", 0, 10), ("least", 0, 1)]


def texts(browser: Browser, selector: str) -> list[str]:
    return list(browser.run(f"[...document.querySelectorAll('{selector}')].map((each) => each.textContent.trim())"))


SHARES = {
    "9.57%..34.00% assumed: 1..2 instructions a cycle": "9.6 to 34%",
    "0.30%..0.30% of 1000 cycles": "0.3%",
    "9.94%..9.95% assumed: 1..2 instructions a cycle": "9.9 to 10%",
    "0.04%..0.05% assumed: 1..2 instructions a cycle": "0.0 to 0.1%",
    "99.49%..99.50% assumed: 1..2 instructions a cycle": "99 to 100%",
    "something else": "unknown",
}


@pytest.mark.parametrize("share", SHARES)
def test_the_share_of_time_has_the_words_of_the_terminal(tmp_path: Path, share: str) -> None:
    for assumed in ("", " assumed"):
        path = costly_file(tmp_path / "out", COSTS, "made", Miss_cycles=f"1..2{assumed}", Share_of_time=share)
        (machine,) = data_of(made(tmp_path, path))["machines"]
        mark = "~" if assumed and SHARES[share] != "unknown" else ""
        assert machine["share"]["words"] == mark + SHARES[share]


def test_a_machine_without_costs_has_an_unknown_share(tmp_path: Path) -> None:
    data = data_of(made(tmp_path, out_file(tmp_path / "out", [("one", 3)])))
    assert data["machines"][0]["share"] == {"low": None, "high": None, "words": "unknown", "basis": ""}
    assert "unknown" in data["verdicts"][0][0]["what"]


VERDICTS = {
    "0.01%..0.99%": "Nothing to win (below 1%)",
    "0.01%..1.00%": "Worth what is free, such as transparent huge pages (below 5%)",
    "4.99%..5.00%": "May be worth a look (5% or more)",
    "5.00%..20.00%": "Worth a look (5% or more)",
}


@pytest.mark.parametrize("share", VERDICTS)
def test_the_verdict_is_by_the_share(tmp_path: Path, share: str) -> None:
    path = costly_file(tmp_path / "out", COSTS, "made", Miss_cycles="1..2", Share_of_time=f"{share} of 9 cycles")
    first, *rest = data_of(made(tmp_path, path))["verdicts"][0]
    assert first["what"] == VERDICTS[share]
    asked = [command for verdict in rest for command in verdict["commands"]]
    if share == "0.01%..0.99%":
        assert asked == []
    else:
        assert asked == [f"tlbgrind --machine=made {option} ./costly" for option in ("--advice=2M", "--data=yes")]


def test_faults_before_the_first_code_of_the_program_are_those_of_the_start(tmp_path: Path) -> None:
    log = package("formats.faultlog").read(str(FAULTS))
    program = next(map_.name for map_ in log.maps.values() if map_.what == "file")
    start = data_of(made(tmp_path, FAULTS))["faults"][0]["start"]
    faults = list(log.faults)
    own = next((place for place, f in enumerate(faults) if f.code.object == program and not f.by), None)
    if own is None:
        assert start is None
    else:
        assert start["faults"] == [sum(f.kinds[view] != "-" for f in faults[:own]) for view in range(3)]


def test_what_page_faults_take_is_in_the_words_of_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "long.faults"
    assert data_of(made(tmp_path, FAULTS))["faults"][0]["verdict"] == ""
    log.write_text(FAULTS.read_text().replace("views:", "instructions: 400000\nviews:", 1))
    said = data_of(made(tmp_path, log))["faults"][0]["verdict"]
    _, out, _ = call("tg_faults", str(log)).text()
    assert said.startswith("Page faults take ") and said in " ".join(out.splitlines())


def lines_of(page: Path) -> dict[tuple[str, int], tuple[str, str]]:
    """Function and text of each line."""
    data: Any = data_of(page)
    plan = next(table for table in data["tables"] if table["title"] == "Lines")
    file, line, function, text = (field["values"] for field in plan["fields"])
    words = data["strings"]
    return {
        (words[f], n): (words[name], words[said])
        for f, n, name, said in zip(file["texts"], line["numbers"], function["texts"], text["texts"])
    }


def test_lines_have_their_function_and_their_text(tmp_path: Path) -> None:
    path = costly_file(tmp_path / "out", COSTS, "made")
    source = tmp_path / "costly.c"
    name = str(source)
    assert lines_of(made(tmp_path, path))[name, 1] == ("walked", "")
    source.write_text("\tint walked;  \n" + "x" * 200 + "\n")
    os.utime(source, (1, 1))
    page = made(tmp_path, path)
    assert lines_of(page)[name, 1] == ("walked", "int walked;")
    assert lines_of(page)[name, 2] == ("hit", "x" * 159 + "…")
    assert lines_of(page)[name, 3] == ("little", "")  # behind the end of the file
    assert data_of(page)["tables"][1]["newer"] == []
    os.utime(source, (2**31, 2**31))
    assert data_of(made(tmp_path, path))["tables"][1]["newer"] == [name]
    assert run(tmp_path, "--only", "--no-source", path, "-o", page) == (0, b"", b"")
    assert lines_of(page)[name, 1] == ("walked", "")
    assert b"int walked" not in page.read_bytes()


def test_a_line_in_several_functions_has_the_one_that_costs_most(tmp_path: Path) -> None:
    path = costly_file(tmp_path / "out", COSTS, "made")
    path.write_text(path.read_text().replace("\n1 100", "\n2 100").replace("\n3 100", "\n2 100"))
    found = lines_of(made(tmp_path, path))
    assert found[str(tmp_path / "costly.c"), 2] == ("hit and 2 more", "")


def test_the_lines_that_cost_most_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package("report.costs"), "MOST_LINES", 2)
    path = costly_file(tmp_path / "out", COSTS, "made")
    page = tmp_path / "page.html"
    assert package("report.cli").main(["--only", str(path), "-o", str(page)]) == 0
    assert [function for function, _ in lines_of(page).values()] == ["hit", "walked"]
    assert data_of(page)["tables"][1]["omitted"] == 2


# ---------------------------------------------------------------- in the browser


@in_browser
def test_the_first_screen_has_the_share_and_what_costs_most(browser: Browser, tmp_path: Path) -> None:
    first = costly_file(tmp_path / "1", COSTS, "one", **KNOWN)
    second = costly_file(tmp_path / "2", [(name, cycles, walks) for name, walks, cycles in COSTS], "two")
    browser.ask("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
    show(browser, made(tmp_path, first, second, FAULTS))
    assert texts(browser, ".headline") == ["TLB misses take ~9.6 to 34% of the time on one (estimate)."]
    assert texts(browser, ".machine .words") == ["~9.6 to 34%", "unknown"]
    assert texts(browser, ".machine:not(.axis) .ratio") == ["1.000", "30.100"]
    functions = ".cards.three .card:first-child "
    assert texts(browser, f"{functions}.name") == ["hit", "walked", "little"]
    assert texts(browser, f"{functions}.amount")[0] == "66%, at most 23% of the time"
    assert texts(browser, ".cards.three .card:nth-child(2) code") == ["--data=yes"]
    assert texts(browser, ".cards.three .card:nth-child(3) .name") == ["costly"]
    # All of it is on the screen.
    assert browser.run("document.querySelector('.figures').getBoundingClientRect().bottom") < 900
    browser.run("document.querySelectorAll('button.machine')[1].click()")
    assert texts(browser, ".headline")[0].startswith("On two there are 752.500 page walks per 1000 instructions")
    assert texts(browser, f"{functions}.name") == ["walked", "hit"]
    browser.run("choice.choose(1, 'walks')")
    assert texts(browser, f"{functions}.name") == ["hit", "walked", "little"]
    assert browser.complaints() == []


@in_browser
def test_of_functions_of_one_name_each_has_a_line_of_its_own_source(browser: Browser, tmp_path: Path) -> None:
    path = costly_file(tmp_path / "out", COSTS, "made")
    other = f"fl=(2) {tmp_path / 'other.c'}\nfn=(3) hit"
    path.write_text(path.read_text().replace("fn=(3) little", other))
    show(browser, made(tmp_path, path))
    first = ".cards.three .card:first-child "
    assert texts(browser, f"{first}.name") == ["hit", "walked", "hit"]
    assert texts(browser, f"{first}.detail") == ["costly.c:2", "costly.c:1", "other.c:3"]


@in_browser
def test_one_choice_holds_for_tables_and_flame_graph(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, calls_file(tmp_path / "out")))
    heads = "Table.all.filter((t) => t.by).map((t) => [t.title, t.all.at(2).title])"
    tables = ["Functions", "Lines", "Objects", "Source files", "Inclusive", "Calls"]
    for measure, words in (("walks", "page walks"), ("Ir", "instructions")):
        browser.run(f"choice.choose(0, '{measure}')")
        shown = dict(browser.run(heads))
        assert {title: words for title in tables if title != "Calls"}.items() <= shown.items()
        assert f"as wide as its {words}" in browser.run("document.querySelector('#flame-graph + p').textContent")
    assert texts(browser, ".legend li") == ["calls 100%"]


@in_browser
def test_a_function_that_is_pressed_has_its_lines_beside_it(browser: Browser, tmp_path: Path) -> None:
    show(browser, made(tmp_path, costly_file(tmp_path / "out", COSTS, "made", **KNOWN)))
    table = "Table.all.find((table) => table.title === '{}')"
    row = table.format("Functions") + ".body.querySelector('tr:not(.spacer)')"
    lines = f"[...{table.format('Lines')}.body.querySelectorAll('tr:not(.spacer)')].map((row) => row.cells[0].textContent)"
    assert browser.run(lines) == ["costly.c:2", "costly.c:1", "costly.c:3", "costly.c:4"]
    browser.run(f"{row}.click()")
    assert browser.run(lines) == ["costly.c:2"]
    browser.run(f"{row}.click()")
    assert len(browser.run(lines)) == 4
