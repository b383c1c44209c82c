# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A broken out-file ends in one line that says what is wrong and where, and in nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from annotate_support import HERE, run
from tg_damage import edited

SAMPLE = (HERE / "data" / "two-level.out").read_bytes()
CALLGRIND = (HERE / "data" / "callgrind.out").read_bytes()

MAX = 2**64 - 1

# What is replaced in the sample by what, and the complaint.
EDITS = {
    "first line": (
        b"# callgrind format\n",
        b"# some other format\n",
        "1: not an out-file: the first line is not '# callgrind format'",
    ),
    "version of callgrind's format": (
        b"version: 1",
        b"version: 2",
        "2: version '2' of callgrind's format, where only 1 is known",
    ),
    "newer format": (
        b"desc: Format: 1",
        b"desc: Format: 2",
        "7: format '2', where this tg_annotate knows only 1",
    ),
    "no events line": (b"\nevents: ", b"\n# events: ", "30: a cost line before 'events:'"),
    "second events line": (b"\nob=(1)", b"\nevents: Ir\nob=(1)", "27: a second 'events:'"),
    "no event": (
        b"events: Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw",
        b"events:",
        "25: 'events:' names none",
    ),
    "event twice": (b" Dr D1tmr DLtmr", b" Dr Dr DLtmr", "25: 'events:' names an event twice"),
    "odd event": (
        b"events: Ir I1tm",
        b"events: Ir I1-tm",
        "25: event 'I1-tm' is not a letter followed by letters and digits",
    ),
    "positions after events": (
        b"\nob=(1)",
        b"\npositions: line\nob=(1)",
        "27: a second 'positions:'",
    ),
    "unknown positions": (
        b"positions: line",
        b"positions: page",
        "15: positions 'page', where 'line', 'instr' or 'instr line' is allowed",
    ),
    "too few counts": (
        b"\n35 2 0 0 1 0 0 0 0 0\n",
        b"\n35 2 0 0 1 0 0 0 0\n",
        "32: 8 counts, where 'events:' names 9",
    ),
    "too many counts": (
        b"\n35 2 0 0 1 0 0 0 0 0\n",
        b"\n35 2 0 0 1 0 0 0 0 0 0\n",
        "32: 10 counts, where 'events:' names 9",
    ),
    "no counts": (b"\n35 2 0 0 1 0 0 0 0 0\n", b"\n35\n", "32: 0 counts, where 'events:' names 9"),
    "not a number": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 x 0",
        "32: 'x' is not a number from 0 to 2^64-1",
    ),
    "number with an underscore, which Python would read": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 1_0 0",
        "32: '1_0' is not a number from 0 to 2^64-1",
    ),
    "digit of another script, which Python would read": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 \xd9\xa1 0",
        "32: '\u0661' is not a number from 0 to 2^64-1",
    ),
    "fraction": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 1.5 0",
        "32: '1.5' is not a number from 0 to 2^64-1",
    ),
    "negative count": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 -1 0",
        "32: '-1' is not a number from 0 to 2^64-1",
    ),
    "negative line": (
        b"\n35 2 0 0 1 0",
        b"\n-35 2 0 0 1 0",
        "32: position '-35' leads to -1, which is out of range",
    ),
    "too big": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 18446744073709551616 0",
        "32: '18446744073709551616' is not a number from 0 to 2^64-1",
    ),
    "much too big": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 " + b"9" * 5000 + b" 0",
        f"32: '{'9' * 40}' is not a number from 0 to 2^64-1",
    ),
    "too big by its sum": (
        b"\n35 2 0 0 1 0",
        b"\n35 2 0 0 %d 0" % MAX,
        f"57: 'summary:' says 337093 Dr, but the cost lines hold {337092 + MAX}",
    ),
    "undefined function": (
        b"fn=(2) walk",
        b"fn=(2)",
        "40: (2) refers to a name that was not defined",
    ),
    "undefined file": (b"fe=(1)", b"fe=(9)", "36: (9) refers to a name that was not defined"),
    "undefined object": (
        b"ob=(1) /usr/bin/stride",
        b"ob=(1)",
        "27: (1) refers to a name that was not defined",
    ),
    "name defined twice": (
        b"fn=(2) walk",
        b"fn=(1) walk",
        "40: (1) is defined again, as another name",
    ),
    "cost line without a function": (b"fn=(1) main\n", b"", "29: a cost line before any 'fn='"),
    "text": (b"fe=(1)", b"hello", "36: not a line of an out-file: 'hello'"),
    "unknown keyword": (b"fe=(1)", b"fx=(1)", "36: not a line of an out-file: 'fx=(1)'"),
    "control character": (b"fe=(1)", b"\x1b[2J", "36: not a line of an out-file: '?[2J'"),
    "call without a cost line": (
        b"fe=(1)",
        b"calls=1 2\nfe=(1)",
        "37: a cost line must follow 'calls=' or 'jump='",
    ),
    "wrong totals": (
        b"totals: 1296106 30",
        b"totals: 1296106 31",
        "58: 'totals:' says 31 I1tm, but the cost lines hold 30",
    ),
    "wrong summary": (
        b"summary: 1296106 30",
        b"summary: 1296107 30",
        "57: 'summary:' says 1296107 Ir, but the cost lines hold 1296106",
    ),
    "short totals": (
        b"totals: 1296106 30",
        b"totals: 1296106",
        "58: 8 counts, where 'events:' names 9",
    ),
    "lost cost line": (
        b"\n35 2 0 0 1 0 0 0 0 0\n",
        b"\n",
        "56: 'summary:' says 1296106 Ir, but the cost lines hold 1296104",
    ),
    "no totals": (b"\ntotals:", b"\n# ", "58: the file ends without 'totals:', so it is not whole"),
    "no summary": (b"\nsummary:", b"\n#", "58: 'totals:' without 'summary:' before it"),
    "second part": (
        b"\ntotals: 1296106",
        b"\ntotals: 0 0 0 0 0 0 0 0 0\npart: 2\ntotals: 1296106",
        "59: text after 'totals:', the last line of an out-file",
    ),
}


def complains(place: Path, text: bytes, complaint: str) -> None:
    (place / "broken.out").write_bytes(text)
    result = run(place, "broken.out", "--annotate")
    assert result.err.decode() == f"tg_annotate: error: broken.out:{complaint}\n"
    assert (result.status, result.out) == (1, b"")


@pytest.mark.parametrize("title", EDITS)
def test_an_edited_file_is_refused(title: str, place: Path) -> None:
    old, new, complaint = EDITS[title]
    complains(place, edited(SAMPLE, old, new), complaint)


def test_a_short_line_of_callgrind_is_read_but_a_long_one_is_not(place: Path) -> None:
    broken = CALLGRIND.replace(b"\n+3 * 4\n", b"\n+3 * 4 0 0 0\n")
    complains(place, broken, "26: 4 counts, where 'events:' names 3")


def test_a_position_of_callgrind_cannot_be_missing(place: Path) -> None:
    broken = CALLGRIND.replace(b"\n+3 * 4\n", b"\n+3\n")
    complains(place, broken, "26: 1 columns, where 2 positions must come first")


def test_totals_of_callgrind_are_checked(place: Path) -> None:
    broken = CALLGRIND.replace(b"totals: 196", b"totals: 197")
    complains(place, broken, "51: 'totals:' says 197 Ir, but the cost lines hold 196")


def test_events_that_differ_cannot_be_merged(place: Path) -> None:
    result = run(place, "two-level.out", "callgrind.out")
    assert result.err == (
        b"tg_annotate: error: callgrind.out:12: events 'Ir Dr sysTime', but 'Ir I1tm ILtm Dr D1tmr"
        b" DLtmr Dw D1tmw DLtmw' in two-level.out: files of different events cannot be taken"
        b" together\n"
    )
    assert (result.status, result.out) == (1, b"")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nothing.out", "nothing.out: No such file or directory"),
        ("src", "src: Is a directory"),
        ("", "'': No such file or directory"),
        ("a\nb", "a?b: No such file or directory"),
        ("zero.out", "zero.out: the file is empty"),
        (
            "binary.out",
            "binary.out:1: not an out-file: the first line is not '# callgrind format'",
        ),
        (
            "src/stride.c",
            "src/stride.c:1: not an out-file: the first line is not '# callgrind format'",
        ),
    ],
)
def test_what_is_no_out_file_is_refused(name: str, complaint: str, place: Path) -> None:
    (place / "zero.out").write_bytes(b"")
    (place / "binary.out").write_bytes(bytes(range(256)) * 64)
    result = run(place, "two-level.out", name)
    assert result.err.decode() == f"tg_annotate: error: {complaint}\n"
    assert (result.status, result.out) == (1, b"")


def test_a_file_that_opens_but_cannot_be_read_is_refused(place: Path) -> None:
    result = run(place, "/proc/self/mem")  # for root, too
    assert result.err == b"tg_annotate: error: /proc/self/mem: Input/output error\n"
    assert (result.status, result.out) == (1, b"")
