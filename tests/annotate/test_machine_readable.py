# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate for other programs: JSON, CSV, several files beside each other, limits."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tg_companions import Result, call
from tg_tables import as_csv, csv_rows, document

SEE = " (tg_annotate --help lists what is allowed)"
ALL_VIEWS = "--by=function,file,object,line,file:function,function:file"


@pytest.fixture(autouse=True)
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def run(_place: Path, *arguments: str) -> Result:
    return call("tg_annotate", *arguments)


def good(place: Path, *arguments: str) -> str:
    status, out, err = run(place, *arguments).text()
    assert (status, err) == (0, "")
    return out


def table(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(table for table in found["tables"] if table["name"] == name)


def naive(path: Path) -> tuple[list[str], dict[tuple[str, str, str, str], list[int]]]:
    """Events, and counts by object, source file, function and line, read without the package."""
    events: list[str] = []
    names: dict[tuple[str, str], str] = {}
    at = {"ob": "???", "fl": "???", "fn": "???"}
    counts: dict[tuple[str, str, str, str], list[int]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        position = re.fullmatch(r"(ob|fl|fi|fe|fn)=\((\d+)\)(?: (.*))?", line)
        if position:
            kind = {"fi": "fl", "fe": "fl"}.get(position[1], position[1])
            if position[3] is not None:
                names[kind, position[2]] = position[3]
            at[kind] = names[kind, position[2]]
            if position[1] == "fn":
                home = at["fl"]
        elif re.match(r"\d", line):
            number, *values = map(int, line.split())
            key = (at["ob"], at["fl"], f"{home}:{at['fn']}", str(number))
            sums = counts.setdefault(key, [0] * len(events))
            counts[key] = [a + b for a, b in zip(sums, values)]
    return events, counts


# ---------------------------------------------------------------- one file


@pytest.mark.parametrize("name", ["two-level.out", "three-level.out", "names.out", "no-misses.out", "empty.out", "callgrind.out", "odd-events.out"])
@pytest.mark.parametrize("threshold", ["0", "0.1", "50"])
def test_json_keeps_to_the_schema_and_csv_has_the_same_cells(place: Path, name: str, threshold: str) -> None:
    arguments = (f"--threshold={threshold}", ALL_VIEWS, name)
    found = document(good(place, "--format=json", *arguments))
    assert found["about"] == "profile"
    assert [table["name"] for table in found["tables"]] == ["program", *ALL_VIEWS[5:].split(",")]
    rows = csv_rows(good(place, "--format=csv", *arguments))
    assert [{key: cell for key, cell in row.items() if cell} for row in rows] == as_csv(found)


@pytest.mark.parametrize("name", ["two-level.out", "three-level.out"])
@pytest.mark.parametrize("threshold", ["0", "10"])
def test_rows_and_the_rest_are_the_file_s_counts(place: Path, name: str, threshold: str) -> None:
    events, counts = naive(place / name)
    found = document(good(place, "--format=json", ALL_VIEWS, f"--threshold={threshold}", name))
    keys = {
        "function": lambda row: ("object", row["object"], "function", f"{row['file']}:{row['function']}"),
        "file": lambda row: ("file", row["file"]),
        "object": lambda row: ("object", row["object"]),
        "line": lambda row: ("file", row["file"], "line", str(row["line"])),
    }
    totals = {event: sum(values[at] for values in counts.values()) for at, event in enumerate(events)}
    assert found["files"][0]["totals"] == totals
    (count,) = (row for row in table(found, "program")["rows"] if row["measure"] == "count")
    assert {event: count[event] for event in events} == totals
    for view, key in keys.items():
        printed = table(found, view)
        for row in printed["rows"]:
            wanted = dict(zip(key(row)[::2], key(row)[1::2]))
            mine = [
                values
                for (ob, file, function, line), values in counts.items()
                if wanted.items() <= {"object": ob, "file": file, "function": function, "line": line}.items()
            ]
            assert {event: row[event] for event in events} == {
                event: sum(values[at] for values in mine) for at, event in enumerate(events)
            }
        rest = printed["rest"] or dict.fromkeys(events, 0)
        for event in events:
            assert sum(row[event] for row in printed["rows"]) + rest[event] == totals[event]
        assert (printed["rest"] is None) == (threshold == "0" or not any(rest.values()))


def test_a_row_s_parts_add_up_to_it(place: Path) -> None:
    found = document(good(place, "--format=json", ALL_VIEWS, "--threshold=10", "two-level.out"))
    rows = [row for name in ("file:function", "function:file") for row in table(found, name)["rows"]]
    assert len(rows) == 4
    for row in rows:
        parts = row["parts"]["rows"] + ([row["parts"]["rest"]] if row["parts"]["rest"] else [])
        for event in row["parts"]["columns"]:
            assert sum(part[event] for part in parts) == row[event]


def test_rates_are_quotients_of_counts(place: Path) -> None:
    found = document(good(place, "--format=json", "two-level.out"))
    rows = {row.pop("measure"): row for row in table(found, "program")["rows"]}
    count = rows["count"]
    assert count["walks"] == count["ILtm"] + count["DLtmr"] + count["DLtmw"]
    assert rows["per_1000_Ir"]["walks"] == 1000 * count["walks"] / count["Ir"]
    assert rows["per_access"]["DLtmr"] == count["DLtmr"] / count["Dr"]
    assert rows["per_L1_miss"]["DLtm"] == count["DLtm"] / count["D1tm"]
    assert rows["per_L1_miss"]["D1tm"] is None
    assert rows["per_1000_Ir"]["Dr"] is None


def test_columns_do_not_depend_on_what_was_counted(place: Path) -> None:
    found = document(good(place, "--format=json", "no-misses.out"))
    events, _ = naive(place / "no-misses.out")
    columns = table(found, "function")["columns"]
    assert columns[: len(events)] == events
    assert "walks" in columns
    chosen = document(good(place, "--format=json", "--show=walks,Ir", "no-misses.out"))
    assert table(chosen, "function")["columns"] == ["walks", "Ir"]
    assert [event["name"] for event in chosen["events"]] == ["walks", "Ir"]


def test_a_difference_has_the_first_file_the_second_and_what_changed(place: Path) -> None:
    found = document(good(place, "--diff", "--format=json", "--threshold=0", "two-level.out", "second.out"))
    assert found["about"] == "difference"
    rows = {row.pop("measure"): row for row in table(found, "program")["rows"]}
    for name, file in (("first", "two-level.out"), ("second", "second.out")):
        events, counts = naive(place / file)
        for at, event in enumerate(events):
            assert rows[name][event] == sum(values[at] for values in counts.values())
    for event, change in rows["difference"].items():
        assert change == rows["second"][event] - rows["first"][event]
        assert sum(row[event] for row in table(found, "function")["rows"]) == change


def test_names_that_are_no_text_come_through(place: Path) -> None:
    (place / "odd.out").write_bytes((place / "two-level.out").read_bytes().replace(b"calloc", b'ca"l,\xff\xc3\xa9oc'))
    found = document(good(place, "--format=json", "odd.out"))
    assert 'ca"l,\udcff\u00e9oc' in [row["function"] for row in table(found, "function")["rows"]]
    out = run(place, "--format=csv", "odd.out").out
    assert b'"ca""l,\xff\xc3\xa9oc"' in out


def test_an_event_with_a_column_s_name_is_refused(place: Path) -> None:
    (place / "odd.out").write_text((place / "callgrind.out").read_text().replace("sysTime", "function"))
    run(place, "odd.out").text()
    result = run(place, "--format=json", "odd.out").text()
    complaint = "an event is called 'function', as a column of --format=json is"
    assert result == (1, "", f"tg_annotate: error: {complaint}\n")


# ---------------------------------------------------------------- several files


def test_a_comparison_has_the_counts_of_each_file(place: Path) -> None:
    files = ["two-level.out", "second.out", "three-level.out"]
    arguments = ("--compare", "--show=all", "--threshold=0", ALL_VIEWS, *files)
    found = document(good(place, "--format=json", *arguments))
    rows = csv_rows(good(place, "--format=csv", *arguments))
    assert [{key: cell for key, cell in row.items() if cell} for row in rows] == as_csv(found)
    labels = [file["label"] for file in found["files"]]
    assert len(set(labels)) == 3
    for label, name in zip(labels, files):
        single = document(good(place, "--format=json", ALL_VIEWS, "--threshold=0", name))
        columns = table(single, "function")["columns"]
        for view in ("function", "file", "object", "line"):
            fields = table(single, view)["fields"]
            alone = {tuple(row[f] for f in fields): row for row in table(single, view)["rows"]}
            for row in table(found, view)["rows"]:
                own = alone.pop(tuple(row[f] for f in fields), dict.fromkeys(columns, 0))
                assert {c: row[f"{c}:{label}"] for c in columns} == {c: own[c] for c in columns}
            # Nothing is left out, also where the first sort event has no count.
            rest = table(found, view)["rest"] or {}
            for column in columns:
                assert rest.get(f"{column}:{label}", 0) == 0
            assert not any(row[column] for row in alone.values() for column in columns)
        assert any(row[f"{columns[0]}:{label}"] and not row[f"walks:{label}"] for row in table(found, "line")["rows"])
    assert "below the threshold" not in good(place, *arguments)


@pytest.mark.parametrize("threshold", ["0.1", "5", "60"])
def test_a_row_that_matters_in_any_file_is_there(place: Path, threshold: str) -> None:
    files = ["two-level.out", "second.out", "three-level.out"]
    found = document(good(place, "--compare", "--format=json", f"--threshold={threshold}", "--by=line,function", *files))
    for view in ("line", "function"):
        fields = table(found, view)["fields"]
        wanted: set[tuple[object, ...]] = set()
        everything: set[tuple[object, ...]] = set()
        for name in files:
            rows = table(document(good(place, "--format=json", f"--by={view}", "--threshold=0", name)), view)["rows"]
            total = sum(row["walks"] for row in rows)
            everything |= {tuple(row[f] for f in fields) for row in rows}
            least = Fraction(threshold) * total / 100
            wanted |= {tuple(row[f] for f in fields) for row in rows if row["walks"] and row["walks"] >= least}
        printed = table(found, view)
        assert {tuple(row[f] for f in fields) for row in printed["rows"]} == wanted
        most = [max(row[column] for column in printed["columns"]) for row in printed["rows"]]
        assert most == sorted(most, reverse=True)
        assert (printed["rest"] or {"rows": 0})["rows"] >= len(everything) - len(wanted)


def test_an_event_that_a_file_does_not_have_is_empty_in_its_column(place: Path) -> None:
    found = document(good(place, "--compare", "--format=json", "--show=I2tm,walks", "two-level.out", "three-level.out"))
    first, second = (file["label"] for file in found["files"])
    for row in table(found, "function")["rows"]:
        assert row[f"I2tm:{first}"] is None
        assert isinstance(row[f"I2tm:{second}"], int)
    text = good(place, "--compare", "--show=I2tm", "--by=object", "two-level.out", "three-level.out")
    assert re.search(r"^I2tm +- +[0-9]", text, re.MULTILINE)


def test_columns_are_called_by_their_machines_or_else_by_their_files(place: Path) -> None:
    def labels(*files: str) -> list[str]:
        return [file["label"] for file in document(good(place, "--compare", "--format=json", *files))["files"]]

    text = (place / "two-level.out").read_text()
    (place / "zen4.out").write_text(text.replace("Machine: custom", "Machine: zen4"))
    assert labels("two-level.out", "zen4.out") == ["custom", "zen4"]
    assert labels("two-level.out", "second.out") == ["two-level.out", "second.out"]
    (place / "more").mkdir()
    (place / "more" / "second.out").write_text((place / "second.out").read_text())
    assert labels("second.out", "more/second.out") == ["second.out", "more/second.out"]
    assert labels("second.out", "second.out") == ["second.out#1", "second.out#2"]


def test_a_comparison_as_text_has_each_count(place: Path) -> None:
    text = good(place, "--compare", "--by=object,line", "--threshold=0", "two-level.out", "second.out")
    found = document(good(place, "--compare", "--format=json", "--by=object,line", "--threshold=0", "two-level.out", "second.out"))
    lines = [re.sub(r"\([0-9.]+%\)", "", line).split() for line in text.splitlines()]
    for view in ("object", "line"):
        for row in table(found, view)["rows"]:
            name = ":".join(str(row[f] or "???") for f in table(found, view)["fields"])
            counts = [f"{row[c]:,}" for c in table(found, view)["columns"]]
            assert [*counts, name] in lines
    walks = [f"{row:,}" for row in (5207, sum(v[2] + v[5] + v[8] for v in naive(place / "second.out")[1].values()))]
    assert ["walks", *walks] in [line[:3] for line in lines]


# ---------------------------------------------------------------- limits


def tried(place: Path, *arguments: str) -> tuple[int, str]:
    status, out, err = run(place, *arguments).text()
    assert out
    return status, err


# two-level.out: 1,296,106 Ir, 5,207 walks, 553,605 Drw, 5,194 DLtm.
@pytest.mark.parametrize(
    ("limit", "what"),
    [
        ("walks>5206", "walks is 5,207"),
        ("walks>5207", ""),
        ("walks/1000>4.017", "walks/1000 is 4.017"),
        ("walks/1000>4.018", ""),
        ("walks / 1000 > 4", "walks/1000 is 4.017"),
        ("walks/1000000>4017", "walks/1000000 is 4,017.418"),
        ("DLtm/Drw>.0093", "DLtm/Drw is 0.009"),
        ("DLtm/Drw>0.0094", ""),
        ("I1tm>0", "I1tm is 30"),
    ],
)
def test_a_limit_of_one_file(place: Path, limit: str, what: str) -> None:
    status, err = tried(place, f"--fail-above={limit}", "two-level.out")
    line = f"tg_annotate: failed: {what}, above {limit}: two-level.out\n"
    assert (status, err) == ((3, line) if what else (0, ""))
    found = document(run(place, "--format=json", f"--fail-above={limit}", "two-level.out").out.decode())
    (told,) = found["limits"]
    assert (told["limit"], told["file"], told["above"]) == (limit, "two-level.out", bool(what))


def edited(place: Path, name: str, walks: int) -> str:
    """A file of one line, with 1,000 instructions and so many walks by reads."""
    line = f"1000 0 0 500 {walks} {walks} 100 0 0"
    head = "# callgrind format\nversion: 1\ncreator: tlbgrind-0.1.0\ncmd: x\ndesc: Format: 1\npositions: line\n"
    events = "events: Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw\n"
    (place / name).write_text(f"{head}{events}ob=(1) x\nfl=(1) x.c\nfn=(1) f\n7 {line}\nsummary: {line}\ntotals: {line}\n")
    return name


@pytest.mark.parametrize(
    ("before", "after", "limit", "what"),
    [
        (100, 105, "5%", ""),
        (100, 106, "5%", "walks grew by 6.000%, from 100 to 106"),
        (100, 94, "5%", ""),
        (1, 9 * 10**15, "5%", f"walks grew by {9 * 10**17 - 100:,}.000%, from 1 to {9 * 10**15:,}"),
        (300, 301, "0.3%", "walks grew by 0.333%, from 300 to 301"),
        (0, 0, "5%", ""),
        (0, 1, "500%", "walks grew from nothing, from 0 to 1"),
        (100, 106, "Ir>5%", ""),
        (100, 106, "DLtmr>5.99%", "DLtmr grew by 6.000%, from 100 to 106"),
        (100, 106, "walks>5", "walks grew by 6, from 100 to 106"),
        (100, 106, "walks>6", ""),
        (100, 106, "walks/1000>5", "walks/1000 grew by 6, from 100 to 106"),
        (100, 106, "walks/Dr>0.012", ""),
        (100, 106, "walks/Dr>0.0119", "walks/Dr grew by 0.012, from 0.200 to 0.212"),
        (100, 0, "Dr/walks>1000", "Dr/walks grew by unlimited, from 5 to unlimited"),
        (0, 100, "Dr/walks>0", ""),
    ],
)
def test_a_limit_of_a_difference(place: Path, before: int, after: int, limit: str, what: str) -> None:
    files = (edited(place, "before", before), edited(place, "after", after))
    status, err = tried(place, "--diff", f"--fail-above={limit}", *files)
    line = f"tg_annotate: failed: {what}, above {limit}: after\n"
    assert (status, err) == ((3, line) if what else (0, ""))


def test_a_limit_of_a_comparison_holds_for_each_file(place: Path) -> None:
    files = (edited(place, "one", 100), edited(place, "two", 120), edited(place, "three", 90))
    assert tried(place, "--compare", "--fail-above=walks>120", *files) == (0, "")
    assert tried(place, "--compare", "--fail-above=walks>95", *files) == (
        3,
        "tg_annotate: failed: walks is 100, above walks>95: one\ntg_annotate: failed: walks is 120, above walks>95: two\n",
    )
    assert tried(place, "--compare", "--fail-above=19%", *files) == (
        3,
        "tg_annotate: failed: walks grew by 20.000%, from 100 to 120, above 19%: two\n",
    )


def test_each_of_several_limits_is_held(place: Path) -> None:
    limits = ("--fail-above=walks>1", "--fail-above=Ir>1e", "--fail-above=Ir>1")
    assert run(place, *limits, "two-level.out").status == 1
    status, err = tried(place, limits[0], "--fail-above=Dr>1000000", limits[2], "two-level.out")
    assert (status, err.count("\n")) == (3, 2)


def test_the_report_is_printed_whole_when_a_limit_is_exceeded(place: Path) -> None:
    plain = run(place, "two-level.out")
    limited = run(place, "--fail-above=walks>1", "two-level.out")
    assert (plain.status, limited.status) == (0, 3)
    assert plain.out == limited.out


# ---------------------------------------------------------------- annotated sources


@pytest.mark.parametrize("options", [("--annotate",), ("--annotate", "--context=0"), ("--annotate", "--threshold=10")])
def test_annotated_sources_are_the_file_s_counts(place: Path, options: tuple[str, ...]) -> None:
    arguments = (*options, "--show=Ir,walks", "two-level.out")
    done = run(place, "--format=json", *arguments)
    found = document(done.out.decode())
    events, counts = naive(place / "two-level.out")
    by_line: dict[tuple[str, int], int] = {}
    for (_, file, _, line), values in counts.items():
        by_line[file, int(line)] = by_line.get((file, int(line)), 0) + values[events.index("Ir")]
    rows = table(found, "source")["rows"]
    assert {(row["file"], row["line"]): row["Ir"] for row in rows if row["Ir"]}.items() <= by_line.items()
    sources = {file: (place / file).read_text().splitlines() for file in {row["file"] for row in rows}}
    for row in rows:
        lines = sources[row["file"]]
        assert row["code"] == (lines[row["line"] - 1] if 0 < row["line"] <= len(lines) else None)
    parts = {row["part"]: row["Ir"] for row in table(found, "annotation")["rows"]}
    assert list(parts) == ["beside", "off", "not_found", "not_asked", "unknown"]
    assert sum(parts.values()) == found["files"][0]["totals"]["Ir"]
    for part, is_off in (("beside", False), ("off", True)):
        assert parts[part] == sum(row["Ir"] or 0 for row in rows if (row["code"] is None) == is_off)
    # The same warnings as with the text, and the same cells as CSV.
    assert done.err == run(place, *arguments).err
    text = run(place, "--format=csv", *arguments).out.decode()
    assert [{key: cell for key, cell in row.items() if cell} for row in csv_rows(text)] == as_csv(found)


# ---------------------------------------------------------------- what is refused

FORMS = "EVENT>N, EVENT/1000>N, EVENT/EVENT>N, share>N or, of a difference, P%, EVENT>P%"
REFUSED = {
    "--format=xml two-level.out": f"argument --format: 'xml' is not one of text, csv, json, markdown{SEE}",
    "--compare two-level.out": f"--compare takes two OUTFILEs or more, not 1{SEE}",
    "--compare --diff two-level.out second.out": f"--compare goes without --diff{SEE}",
    "--compare --annotate two-level.out second.out": f"--compare goes without --annotate{SEE}",
    "--format=csv --source=x two-level.out": "argument --source: no source 'x' among the 2 that two-level.out names;"
    " --by=file --threshold=0 lists them",
    "--compare --show=walk two-level.out callgrind.out": "argument --show: no event 'walk'; there are Ir, I1tm, ILtm,"
    " Dr, D1tmr, DLtmr, Dw, D1tmw, DLtmw, walks, DLtm, L1tm, D1tm, Drw, sysTime; did you mean walks?",
    "--fail-above=5 two-level.out": f"argument --fail-above: '5' is not {FORMS}{SEE}",
    "--fail-above=walks<5 two-level.out": f"argument --fail-above: 'walks<5' is not {FORMS}{SEE}",
    "--fail-above=walks/0>5 two-level.out": f"argument --fail-above: 'walks/0>5' is not {FORMS}{SEE}",
    "--fail-above=walks>-5 two-level.out": f"argument --fail-above: 'walks>-5' is not {FORMS}{SEE}",
    "--fail-above=5% two-level.out": "--fail-above=5%: growth goes with --diff or --compare; a share is"
    f" EVENT/EVENT>0.05, and of the time share>5{SEE}",
    "--fail-above=walk>5 callgrind.out": "argument --fail-above: 'walk>5': no event 'walk' in callgrind.out; there are"
    " Ir, Dr, sysTime",
    "--compare --fail-above=walks>5 two-level.out callgrind.out": "argument --fail-above: 'walks>5': no event 'walks'"
    " in callgrind.out; there are Ir, Dr, sysTime",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_wrong_arguments_are_refused_in_one_line(arguments: str, place: Path) -> None:
    result = run(place, *arguments.split()).text()
    assert result == (1, "", f"tg_annotate: error: {REFUSED[arguments]}\n")


def test_functions_of_d_have_the_names_of_the_source(place: Path) -> None:
    text = (place / "callgrind.out").read_text(encoding="utf-8")
    assert text.count("fn=(3) walk\n") == 1
    for definition, name in (
        ("_D1d7Derived3runMFZm", b",d.Derived.run(),"),
        ("d.Derived.run()", b",d.Derived.run(),"),
        ("_DTi16_D1d7Derived3runMFZm", b",thunk to d.Derived.run(),"),
        ("_DTi16_D1d", b",_DTi16_D1d,"),
        ("_DTi_D1d7Derived3runMFZm", b",_DTi_D1d7Derived3runMFZm,"),
    ):
        (place / "d.out").write_text(text.replace("fn=(3) walk", f"fn=(3) {definition}"), encoding="utf-8")
        done = run(place, "--format=csv", "--threshold=0", "--by=function", "d.out")
        assert (done.status, done.err) == (0, b"")
        assert name in done.out
        assert definition == name.decode().strip(",") or definition.encode() not in done.out


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("__solver_MOD_step", "solver::step"),
        ("__a_b2_MOD_c_d.constprop.0", "a_b2::c_d.constprop.0"),
        ("__solver_MOD_step._omp_fn.0", "solver::step._omp_fn.0"),
        ("__MOD_step", "__MOD_step"),
        ("x__solver_MOD_step", "x__solver_MOD_step"),
        ("__Solver_MOD_step", "__Solver_MOD_step"),
    ],
)
def test_functions_of_modules_of_fortran_have_the_names_of_the_source(symbol: str, name: str, place: Path) -> None:
    text = (place / "callgrind.out").read_text(encoding="utf-8")
    (place / "f.out").write_text(text.replace("fn=(3) walk", f"fn=(3) {symbol}"), encoding="utf-8")
    found = document(run(place, "--format=json", "--threshold=0", "--by=function", "f.out").out.decode())
    (table,) = (table for table in found["tables"] if table["name"] == "function")
    assert name in [row["function"] for row in table["rows"]]


def test_inlined_code_of_other_files_is_said_below_the_first_table(place: Path) -> None:
    said = "49% of walks is inlined code of other files (inline.h); the lines that use it,\n"
    out = run(place, "two-level.out").out.decode()
    assert said in out and out.index(said) < out.index("-- By file")
    assert said not in run(place, "--by=file", "two-level.out").out.decode()
    # Less than a tenth is not worth a line.
    assert "inlined code" not in run(place, "--sort=Ir", "two-level.out").out.decode()
