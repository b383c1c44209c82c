# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Counts are added up only where they belong together, and nothing is lost on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from annotate_support import run
from tg_companions import call, package


def test_events_that_differ_cannot_be_merged(place: Path) -> None:
    result = run(place, "two-level.out", "callgrind.out")
    assert result.err == (
        b"tg_annotate: error: callgrind.out:12: events 'Ir Dr sysTime', but 'Ir I1tm ILtm Dr D1tmr"
        b" DLtmr Dw D1tmw DLtmw' in two-level.out: files of different events cannot be taken"
        b" together\n"
    )
    assert (result.status, result.out) == (1, b"")


def test_a_file_is_not_added_to_itself(place: Path) -> None:
    (place / "link.out").symlink_to("two-level.out")
    (place / "hard.out").hardlink_to(place / "two-level.out")
    why = "its costs would be added twice"
    for other, what in (
        ("two-level.out", "named twice"),
        ("./two-level.out", "the same file as two-level.out"),
        ("link.out", "the same file as two-level.out"),
        ("hard.out", "the same file as two-level.out"),
    ):
        for options in ([], ["--by=line"], ["--to=cachegrind"]):
            told = run(place, *options, "two-level.out", "second.out", other)
            assert told == (1, b"", f"tg_annotate: error: {other}: {what}: {why}\n".encode())
        for option in ("--diff", "--compare"):
            assert run(place, option, "two-level.out", other).status == 0
    # Copies are files of their own: what is in them is not looked at.
    assert run(place, "two-level.out", "copy.out").status == 0


@pytest.mark.parametrize(
    ("lossy", "what"),
    [
        ("functions", "the table by function"),
        ("source_files", "the table by file"),
        ("objects", "the table by object"),
        ("lines", "the annotation summary"),
    ],
)
def test_nothing_is_printed_that_does_not_add_up(
    lossy: str,
    what: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = package("annotate.profile").Profile
    whole = getattr(profile, lossy)

    def without_the_first(*arguments: Any) -> Any:
        sums = whole(*arguments)
        if lossy == "lines":
            sums["src/stride.c"].popitem()
        else:
            del sums[next(iter(sums))]
        return sums

    monkeypatch.setattr(profile, lossy, without_the_first)
    monkeypatch.chdir(place)
    options = ["--annotate"] if lossy == "lines" else []
    status, out, err = call("tg_annotate", *options, "two-level.out")
    assert err.startswith(f"tg_annotate: error: internal error: {what} adds up to (".encode())
    assert (status, out) == (1, b"")


LONG = """# callgrind format
version: 1
creator: {creator}
cmd: made
events: Ir Dr Dw
fn=(1) main
{lines}
summary: {sums}
totals: {sums}
"""


def long_file(creator: str, wrong: str) -> str:
    """With one line, the hundredth of cost lines, that is as given."""
    lines = [f"{number} {number} 1 0" for number in range(1, 151)]
    lines[99] = wrong
    good = [*range(1, 100), *range(101, 151)]
    return LONG.format(creator=creator, lines="\n".join(lines), sums=f"{sum(good) + 100} 150 0")


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("100 100  1", "2 counts, where 'events:' names 3"),
        ("100 100 1", "2 counts, where 'events:' names 3"),
        ("100 100 1 0 0", "4 counts, where 'events:' names 3"),
        (" 100 100 1", "not a line of an out-file: ' 100 100 1'"),
        ("100 18446744073709551616 1 0", "'18446744073709551616' is not a number from 0 to 2^64-1"),
        ("100 999999999999999999999 1 0", "'999999999999999999999' is not a number from 0 to 2^64-1"),
        ("100 x 1 0", "'x' is not a number from 0 to 2^64-1"),
        ("fn=(2)", "(2) refers to a name that was not defined"),
    ],
)
def test_a_wrong_line_among_many_is_named(wrong: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text(long_file("tlbgrind", wrong), encoding="utf-8")
    result = run(tmp_path, "out")
    assert result.err.decode() == f"tg_annotate: error: out:106: {complaint}\n"
    assert (result.status, result.out) == (1, b"")


@pytest.mark.parametrize(
    ("creator", "same"),
    [
        *(("tlbgrind", text) for text in ("0100 100 01 0", "100  100 1  0", "100 0x64 1 0", "+1 100 1 0")),
        *(("callgrind", text) for text in ("100 100 1", "100 100  1", "+1 100 1 0", "# nothing\n* 100 1")),
    ],
)
def test_a_line_in_another_form_among_many_is_read(creator: str, same: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text(long_file(creator, same), encoding="utf-8")
    (run_of_main,) = package("formats.outfile").read(str(tmp_path / "out")).runs.values()
    rows = list(zip(*[iter(run_of_main.rows)] * 4))
    assert len(rows) == 150
    assert rows[98:101] == [(99, 99, 1, 0), (99 if "*" in same else 100, 100, 1, 0), (101, 101, 1, 0)]


def test_header_lines_may_stand_in_any_order(place: Path) -> None:
    """Callgrind's format names no order; a file of another program begins with any of them."""
    whole = (place / "callgrind.out").read_text(encoding="utf-8")
    head, body = whole.split("\nob=(1)", 1)
    lines = [line for line in head.split("\n") if line]
    for turn in range(len(lines)):
        turned = lines[turn:] + lines[:turn]
        for name, order in (("up.out", turned), ("down.out", turned[::-1])):
            (place / name).write_text("\n".join(order) + "\nob=(1)" + body, encoding="utf-8")
            done = run(place, name)
            assert done.err == b""
            assert done.out.replace(name.encode(), b"callgrind.out") == run(place, "callgrind.out").out


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("", "", ""),
        ("events: Ir Dr sysTime\n", "events: Ir Dw sysTime\n", ":60: a part with other events than the first"),
        ("totals: 196 29 10", "totals: 196 29 11", ":99: 'totals:' says 21 sysTime, but the cost lines hold 20"),
        ("positions: instr line\n", "positions: here\n", ":59: positions 'here', where 'line', 'instr' or"),
    ],
    ids=["whole", "events", "totals", "positions"],
)
def test_dumps_that_callgrind_has_combined_are_added_up(place: Path, old: str, new: str, what: str) -> None:
    """--combine-dumps=yes: a part begins behind the totals of the one before, without a format line."""
    first = (place / "callgrind.out").read_text(encoding="utf-8")
    second = first[first.index("part: 1") :].replace("part: 1", "part: 2").replace(old, new)
    (place / "both.out").write_text(f"{first}\n{second}", encoding="utf-8")
    both = run(place, "both.out")
    if what:
        assert both.err.decode().startswith(f"tg_annotate: error: both.out{what}")
        assert both.out == b""
        return
    options = ("--format=csv", "--show=all", "--threshold=0", "--by=function,file,object,line")
    assert both.err == b""
    (place / "again.out").write_text(first, encoding="utf-8")
    assert run(place, *options, "both.out").out == run(place, *options, "callgrind.out", "again.out").out
