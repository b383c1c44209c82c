# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What tg_annotate prints for the recorded inputs, to the byte.

To record the outputs anew after an intended change, run this file as a program and read what it
changed before you commit it:

    PYTHONPATH=tests python3 tests/annotate/test_golden.py && git diff tests/annotate/expected
"""

from __future__ import annotations

import os
import shlex
import tempfile
from pathlib import Path

import pytest
from annotate_support import HERE, lay_out, run

CASES = {
    "default": "two-level.out",
    "verbose": "-v two-level.out",
    "merged": "--verbose two-level.out copy.out second.out",
    "diff": "--verbose --diff two-level.out second.out --annotate --context=1",
    "diff-same": "--diff two-level.out two-level.out",
    "diff-from-none": "--diff no-misses.out two-level.out",
    "odd-events": "--verbose odd-events.out",
    "diff-renamed": "--diff two-level.out second.out --by=function "
    "--mod-filename=s@^/usr/@/opt/@ --mod-funcname=s/(FRESH|walk)/either/i",
    "by": "--by=object,line --threshold=1 two-level.out",
    "file-function": "--by=file:function,function:file two-level.out",
    "wide": "--wide names.out",
    "brief-diff": "--diff two-level.out second.out",
    "brief-merged": "two-level.out second.out",
    "always-colour": "--color=always --annotate --context=1 two-level.out",
    "colour-of-a-difference": "--color=always --diff --by=function no-misses.out two-level.out",
    "no-percs": "--show-percs=no --by=function two-level.out",
    "show-all": "--show=all --sort=Dw,Ir --by=function two-level.out",
    "show-some": "--show=Ir,D1tm,Drw --sort=D1tm --by=file two-level.out",
    "threshold-0": "--threshold=0 two-level.out",
    "threshold-100": "--threshold=100 --by=function,object two-level.out",
    "annotate": "--annotate --context=2 two-level.out",
    "annotate-merged": "--annotate --context=0 two-level.out second.out",
    "source": "--source=inline.h two-level.out",
    "source-below": "--source=src/inline.h --threshold=60 two-level.out",
    "bogus-lines": "--source=src/stride.c --context=1 second.out",
    "include": "--verbose -I nowhere -I src --mod-filename=s@^src/@/moved/lib/src/@ --annotate --by=file "
    "--context=1 two-level.out",
    "not-found": "--mod-filename=s@^src/@/moved/@ --annotate --by=file two-level.out",
    "newer-source": "--annotate --by=file --context=1 older.out",
    "three-level": "--verbose three-level.out",
    "three-level-all": "--show=all --by=function --show-percs=no three-level.out",
    "names": "--verbose names.out --annotate",
    "no-misses": "no-misses.out",
    "empty": "--verbose empty.out --annotate",
    "callgrind": "--verbose callgrind.out --annotate --context=1",
    "compare": "--compare --show=walks,I2tm --by=function,file:function two-level.out second.out three-level.out",
    "inclusive": "--inclusive calls.out",
    "callers": "--callers --threshold=5 calls.out",
    "callers-of": "--callers=l*f --show=walks,Ir calls.out",
    "tree": "--tree calls.out",
    "tree-below": "--tree=even --by=function --show=walks calls.out",
    "calls-of-callgrind": "--tree --callers --inclusive callgrind.out",
    "to-folded": "--to=folded calls.out",
    "to-cachegrind": "--to=cachegrind two-level.out",
    "help": "--help",
}


def record(case: str, place: Path) -> bytes:
    # Older than its sources, unlike all others.
    older = place / "older.out"
    older.write_bytes((place / "two-level.out").read_bytes())
    os.utime(older, (0, 0))
    result = run(place, *shlex.split(CASES[case]))
    head = f"$ tg_annotate {CASES[case]}\nexit status {result.status}\n"
    return head.encode() + result.err + b"\n" + result.out


@pytest.mark.parametrize("case", CASES)
def test_output_is_as_recorded(case: str, place: Path) -> None:
    expected = (HERE / "expected" / f"{case}.txt").read_bytes()
    assert record(case, place) == expected


def test_every_recorded_output_belongs_to_a_case() -> None:
    assert {path.stem for path in (HERE / "expected").iterdir()} == set(CASES)


def main() -> None:
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            text = record(case, lay_out(Path(folder)))
        (HERE / "expected" / f"{case}.txt").write_bytes(text)


if __name__ == "__main__":
    main()
