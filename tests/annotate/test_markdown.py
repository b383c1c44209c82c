# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What --format=markdown writes, and the limit of a run's share of time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from annotate_support import run


def good(place: Path, *arguments: str) -> str:
    status, out, err = run(place, "--format=markdown", *arguments).text()
    assert (status, err) == (0, "")
    return out


def cells(line: str) -> list[str]:
    assert line.startswith("| ") and line.endswith(" |")
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables(text: str) -> list[list[list[str]]]:
    """Of each table the heading and the rows: all have as many cells as the heading."""
    found = []
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if len(lines) < 3 or not lines[0].startswith("|"):
            continue
        heading, rule, *rows = lines
        assert re.fullmatch(r"\|(---:?\|)+", rule)
        table = [cells(heading), *map(cells, rows)]
        assert {len(row) for row in table} == {rule.count("|") - 1}
        found.append(table)
    return found


def test_a_profile_is_its_counts_and_its_tables(place: Path) -> None:
    text = good(place, "--by=function", "--show=walks,Ir", "two-level.out")
    assert text.startswith("**./stride 4096**, custom\n\n")
    program, functions = tables(text)
    assert program[:2] == [
        ["event", "count", "per 1000 Ir", "per access", "per L1 miss"],
        ["walks", "5,207", "4.017", "0.003", "0.619"],
    ]
    assert functions == [
        ["walks", "Ir", "function"],
        ["2,562", "20,523", "`src/stride.c:main [stride]`"],
        ["2,562", "40,974", "`src/stride.c:walk [stride]`"],
        ["80", "1,234,567", "`???:calloc [libc.so.6]`"],
        ["3", "42", "*1 more*"],
    ]


def test_a_difference_has_both_counts_and_the_growth(place: Path) -> None:
    program, functions = tables(good(place, "--diff", "--by=function", "--show=walks", "two-level.out", "second.out"))
    assert program == [
        ["event", "first", "second", "difference", "growth"],
        ["walks", "5,207", "100", "-5,107", "-98.08%"],
    ]
    assert functions[1] == ["-2,554", "`src/stride.c:walk [stride]`"]


def test_limits_come_first(place: Path) -> None:
    limits = ("--fail-above=walks>1", "--fail-above=walks/1000>5", "--by=object")
    status, out, _ = run(place, "--format=markdown", *limits, "two-level.out").text()
    assert status == 3
    assert tables(out)[0] == [
        ["limit", "", "is", "file"],
        ["**above**", "`walks>1`", "5,207", "two-level.out"],
        ["kept", "`walks/1000>5`", "4.017", "two-level.out"],
    ]


def test_a_comparison_has_a_column_for_each_file(place: Path) -> None:
    program, objects = tables(good(place, "--compare", "--by=object", "two-level.out", "three-level.out"))
    assert program[0] == ["event", "custom", "three"]
    assert ["walks", "5,207", "1,002"] in program and ["Wcyc", "", "30,061"] in program
    assert objects[1] == ["5,124", "1,002", "`/usr/bin/stride`"]


@pytest.mark.parametrize(
    "arguments",
    [
        "names.out --threshold=0 --by=function,line,file:function",
        "calls.out --inclusive --tree --callers",
        "two-level.out --annotate",
        "no-misses.out",
        "empty.out",
    ],
)
def test_each_row_of_each_table_has_as_many_cells_as_the_heading(arguments: str, place: Path) -> None:
    status, out, _ = run(place, "--format=markdown", *arguments.split()).text()
    assert status == 0 and tables(out)


def test_a_name_with_signs_of_markdown_stays_a_name(place: Path) -> None:
    text = (place / "second.out").read_text()
    assert "fn=(1) main\n" in text
    (place / "odd.out").write_text(text.replace("fn=(1) main\n", "fn=(1) a|b`c*d\n"))
    (row,) = (line for line in good(place, "--threshold=0", "odd.out").splitlines() if "c*d" in line)
    assert "`` src/stride.c:a\\|b`c*d [stride] ``" in row


def with_share(place: Path, name: str, share: str) -> str:
    text = (place / "two-level.out").read_text()
    (place / name).write_text(text.replace("desc: Format: 1\n", f"desc: Format: 1\ndesc: Share of time: {share}\n"))
    return name


def tried(place: Path, *arguments: str) -> tuple[int, str]:
    result = run(place, *arguments).text()
    return result.status, result.err


def test_the_share_is_the_most_that_misses_can_have(place: Path) -> None:
    name = with_share(place, "a.out", "3.20%..7.45% assumed: 1..2 instructions a cycle")
    assert tried(place, "--fail-above=share>7.45", name) == (0, "")
    said = "tg_annotate: failed: share is 7.45%, above share>7.4: a.out\n"
    assert tried(place, "--fail-above=share>7.4", name) == (3, said)
    measured = with_share(place, "b.out", "7.45%..7.45% of 123456 cycles")
    assert tried(place, "--fail-above=share>7.4", measured)[0] == 3


def test_two_shares_are_compared(place: Path) -> None:
    files = (with_share(place, "a.out", "1.00%..4.00% x"), with_share(place, "b.out", "1.00%..5.00% x"))
    assert tried(place, "--diff", "--fail-above=share>1", *files) == (0, "")
    said = "tg_annotate: failed: share grew by 1.00%, from 4.00% to 5.00%, above share>0.9: b.out\n"
    assert tried(place, "--diff", "--fail-above=share>0.9", *files) == (3, said)
    said = "tg_annotate: failed: share grew by 25.000%, from 4.00% to 5.00%, above share>24%: b.out\n"
    assert tried(place, "--compare", "--fail-above=share>24%", *files) == (3, said)


def test_a_share_that_is_not_recorded_is_an_error(place: Path) -> None:
    error = "tg_annotate: error: argument --fail-above: 'share>5': no share of time in "
    status, said = tried(place, "--fail-above=share>5", "two-level.out")
    assert status == 1 and said.startswith(f"{error}two-level.out: ")
    files = (with_share(place, "a.out", "1.00%..4.00% x"), with_share(place, "b.out", "1.00%..5.00% x"))
    status, said = tried(place, "--fail-above=share>5", *files)
    assert status == 1 and said.startswith(error)
    status, said = tried(place, "--fail-above=share/Ir>5", "two-level.out")
    assert status == 1 and "share is a quotient already" in said


def test_estimated_cycles_are_an_event_as_others(place: Path) -> None:
    said = "tg_annotate: failed: Wcyc is 30,061, above Wcyc>30000: three-level.out\n"
    assert tried(place, "--fail-above=Wcyc>30000", "three-level.out") == (3, said)
