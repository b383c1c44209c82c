# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Damage of every kind: entries files and binaries are read whole or refused in one line."""

from __future__ import annotations

import random
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Callable

import pytest
from order_support import DATA, compiled, linked, package, recorded, refused, spread
from tg_damage import Text, damaged, edited

SAMPLE = (DATA / "first.entries").read_bytes()

EDITS = {
    "first line": (b"# tlbgrind entries", b"# tlbgrind", "1: not an entries file: the first line is not '# tlbgrind entries'"),
    "newer": (b"version: 1", b"version: 2", "2: version '2' of the entries file, where only 1 is known"),
    "no version": (b"version: 1", b"revision: 1", "1: there is no 'version:'"),
    "twice": (b"pid: 4711", b"version: 1", "4: a second 'version:'"),
    "header": (b"pid: 4711", b"4711", "4: not a line of an entries file: '4711'"),
    "object again": (b"ob=(2) -", b"ob=(1) -", "11: object (1) is defined again"),
    "function again": (b"fn=(3)", b"fn=(2)", "14: function (2) is defined again"),
    "no object": (b"fn=(3) (2)", b"fn=(3) (9)", "14: object (9) was not defined"),
    "no function": (b"\n3 60 12", b"\n9 60 12", "16: function (9) was not defined"),
    "far block": (b"\n3 60 12", b"\n3 100 12", "16: byte 100 of a function of 100 bytes"),
    "words": (b"\n3 60 12", b"\n3 60", "16: not 'FUNCTION OFFSET LENGTH': '3 60'"),
    "text": (b"\n3 60 12", b"\nhello", "16: not a line of an entries file: 'hello'"),
    "too big": (
        b"fn=(3) (2) 0x5000 100 41",
        b"fn=(3) (2) 0x5000 100 99999999999999999999",
        "14: '99999999999999999999' is not a number from 0 to 2^64-1",
    ),
    "too far": (
        b"fn=(3) (2) 0x5000 100 41",
        b"fn=(3) (2) 0xffffffffffffffff 100 41",
        "14: a function of 100 bytes at 0xffffffffffffffff ends beyond 2^64-1",
    ),
    "totals": (b"blocks 9", b"blocks 8", "27: 'totals:' says 8 blocks, but the file holds 9"),
    "odd totals": (
        b"blocks 9 writes 0",
        b"blocks 9",
        "27: not 'totals: objects N functions N blocks N writes N': 'totals: objects 2 functions 7 blocks 9'",
    ),
    "write of none": (b"\n3 60 12", b"\nwr=(2) 0x10 0 5", "16: a write of 0 bytes at 0x10"),
    "write of whom": (b"\n3 60 12", b"\nwr=(7) 0x10 8 5", "16: object (7) was not defined"),
    "write": (b"\n3 60 12", b"\nwr=(2) 10 8 5", "16: not 'wr=(OBJECT) OFFSET LENGTH WHEN': 'wr=(2) 10 8 5'"),
    "no totals": (b"totals:", b"# totals:", "27: not a line of an entries file: '# totals: objects 2 functions 7 blocks 9'"),
    "more": (b"writes 0\n", b"writes 0\n1 0 1\n", "28: text after 'totals:', the last line of an entries file"),
}


@pytest.mark.parametrize("title", EDITS)
def test_an_edited_file_is_refused(title: str, tmp_path: Path) -> None:
    old, new, complaint = EDITS[title]
    (tmp_path / "broken").write_bytes(edited(SAMPLE, old, new))
    refused(tmp_path, f"broken:{complaint}", "broken")


def test_empty_and_binary_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 9)
    refused(tmp_path, "empty: the file is empty", "empty")
    refused(tmp_path, "binary:1: not an entries file: the first line is not '# tlbgrind entries'", "binary")
    refused(tmp_path, f"{tmp_path}: Is a directory", tmp_path)


ERROR = re.compile(rb"(tg_order: warning: [^\n]+\n)*tg_order: error: [^\n]+\n\Z")


def call(*arguments: str) -> int:
    out, err = Text(), Text()
    with redirect_stdout(out), redirect_stderr(err):
        status = package("order.cli").main(list(arguments))
    if status in (0, 2):  # 2: a binary that does not follow its order
        assert out.bytes()
    else:
        assert status == 1
        assert out.bytes() == b""
        assert ERROR.match(err.bytes()), err.bytes()
    return int(status == 1)


def test_a_file_cut_anywhere_is_refused_or_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for size in range(len(SAMPLE) - 1):
        Path("cut").write_bytes(SAMPLE[:size])
        assert call("cut") == 1, f"cut after byte {size}"
    Path("cut").write_bytes(SAMPLE[:-1])  # only the last line feed is missing
    assert call("cut") == 0


def test_random_damage_of_entries_never_ends_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random("entries")
    statuses = set()
    for _ in range(1500):
        Path("damaged").write_bytes(damaged(SAMPLE, chance, b"0123456789 -()=x\n"))
        statuses.add(call("damaged"))
    assert statuses == {0, 1}


def test_random_damage_of_a_binary_never_ends_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its headers and tables above all, as damage to code changes nothing."""
    monkeypatch.chdir(tmp_path)
    program = linked(tmp_path, "prog", [compiled(tmp_path, "p", spread(3, [2, 0], 20, 20), "-g0")])
    entries = recorded(tmp_path, program)
    data = program.read_bytes()
    binary = package("formats.elf").read(str(program))
    tables = [
        (s.offset, s.size) for s in binary.sections if s.name in (".symtab", ".strtab", ".shstrtab", ".rela.dyn", ".dynamic")
    ]
    spots = [(0, 64 + 56 * len(binary.segments)), (len(data) - 64 * len(binary.sections), 64 * len(binary.sections)), *tables]
    chance = random.Random("binary")
    interesting: Callable[[], int] = lambda: chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    statuses = set()
    for turn in range(300):
        out = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            start, size = chance.choice(spots)
            out[start + chance.randrange(size)] = interesting()
        if turn % 10 == 0:
            del out[chance.randrange(len(out)) :]
        Path("damaged").write_bytes(out)
        statuses.add(call("--binary=damaged", "--forecast", "--lld=order", str(entries)))
        statuses.add(call("--check=damaged", str(entries)))
        statuses.add(call("--bfd-script=script", "--objects=damaged", str(entries)))
    assert statuses == {0, 1}
