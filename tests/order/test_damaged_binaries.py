# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A damaged binary is ordered, checked and forecast, or refused in one line."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Callable

import pytest
from order_support import compiled, linked, recorded, spread
from tg_companions import call, package

ERROR = re.compile(rb"(tg_order: warning: [^\n]+\n)*tg_order: error: [^\n]+\n\Z")


def is_refused(*arguments: str) -> bool:
    status, out, err = call("tg_order", *arguments)
    if status in (0, 2):  # 2: a binary that does not follow its order
        assert out
        return False
    assert (status, out) == (1, b"")
    assert ERROR.match(err), err
    return True


VARIABLES = "int warm = 1, hot, cold; char large[9000]; int *pointer = &warm;"
ASKED = {
    "yes": (
        ("--binary=damaged", "--forecast", "--lld=order"),
        ("--check=damaged",),
        ("--bfd-script=script", "--objects=damaged"),
    ),
    "data": (
        ("--binary=damaged", "--with-data", "--forecast", "--lld=order"),
        ("--binary=prog", "--with-data", "--check=damaged"),
        ("--data", "--binary=damaged"),
    ),
}


@pytest.mark.parametrize("what", ASKED)
def test_random_damage_of_a_binary_never_ends_in_a_traceback(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its headers and tables above all, as damage to code changes nothing."""
    monkeypatch.chdir(tmp_path)
    source = spread(3, [2, 0], 20, 20)
    if what == "data":
        source = f"{VARIABLES} {source}".replace("f2();", "f2(); hot += warm++; large[3] = (char)cold;")
    program = linked(tmp_path, "prog", [compiled(tmp_path, "p", source, "-g0")])
    entries = recorded(tmp_path, program, what=what)
    data = program.read_bytes()
    binary = package("formats.elf").read(str(program))
    tables = [
        (s.offset, s.size) for s in binary.sections if s.name in (".symtab", ".strtab", ".shstrtab", ".rela.dyn", ".dynamic")
    ]
    spots = [(0, 64 + 56 * len(binary.segments)), (len(data) - 64 * len(binary.sections), 64 * len(binary.sections)), *tables]
    chance = random.Random("binary")
    interesting: Callable[[], int] = lambda: chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    refusals = set()
    for turn in range(300 if what == "yes" else 60):
        out = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            start, size = chance.choice(spots)
            out[start + chance.randrange(size)] = interesting()
        if turn % 10 == 0:
            del out[chance.randrange(len(out)) :]
        Path("damaged").write_bytes(out)
        for arguments in ASKED[what]:
            refusals.add(is_refused(*arguments, str(entries)))
    assert refusals == {False, True}
