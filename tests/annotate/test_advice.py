# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate --advice: which out-files belong together, and when larger pages pay."""

from __future__ import annotations

from pathlib import Path

import pytest
from annotate_support import run

OUT = """# callgrind format
version: 1
creator: tlbgrind-0.1.0
pid: {pid}
cmd: ./a
desc: Format: 1
desc: Machine: {machine}
{more}positions: line
events: Ir I1tm ILtm Dr D1tmr DLtmr Dw D1tmw DLtmw
summary: {counts}
ob=a
fl=a.c
fn=f
1 {counts}
totals: {counts}
"""


def write(place: Path, machine: str, walks: int, more: str = "", pid: int = 1, instructions: int = 1_000_000) -> str:
    counts = f"{instructions} 10 0 500 {walks} {walks} 0 0 0"
    name = machine.replace(":", "-")
    text = OUT.format(pid=pid, machine=machine, counts=counts, more=more)
    (place / name).write_text(text, encoding="utf-8")
    return name


MEMORY = "desc: Memory: backed at the peak: {n} pages of 2M, {backed}K, of which {touched}K touched\n"


def test_the_largest_saving_comes_first(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "m", 1000),
        write(tmp_path, "m@heap:2M", 900, MEMORY.format(n=1, backed=2048, touched=48)),
        write(tmp_path, "m@anon:2M", 100, MEMORY.format(n=2, backed=4096, touched=4096)),
        write(tmp_path, "m@text:2M", 1010),
        write(tmp_path, "m@all:2M", 10),
    ]
    done = run(tmp_path, "--advice", *files)
    assert (done.status, done.err) == (0, b"")
    assert done.out.decode().splitlines()[:8] == [
        "m: 1,000 page walks with its own pages, 1.000 per 1000 instructions",
        "",
        "memory     walks  saved         L1 misses saved         backed  unused",
        "anon         100    900  90.0%              900  89.1%  4,096K      0K",
        "heap         900    100  10.0%              100   9.9%  2,048K  2,000K",
        "text       1,010    -10  -1.0%              -10  -1.0%      0K      0K",
        "all of it     10    990  99.0%              990  98.0%      0K      0K",
        "",
    ]
    assert b"Pages of 2M pay for anon, heap:" in done.out


# Walks of the machine with heap in larger pages, of 1,000 in so many instructions, and what is said.
WORTH = [
    (990, 1_000_000, "Pages of 64K pay for heap:"),
    (991, 1_000_000, "Nothing to win: with pages of 64K"),
    (900, 10_000_000, "Pages of 64K pay for heap:"),
    (901, 10_000_000, "Nothing to win: with pages of 64K"),
]


@pytest.mark.parametrize(("left", "instructions", "said"), WORTH)
def test_what_is_worth_the_trouble(tmp_path: Path, left: int, instructions: int, said: str) -> None:
    """One walk in 100,000 instructions, and one in a hundred."""
    files = [
        write(tmp_path, "m", 1000, instructions=instructions),
        write(tmp_path, "m@heap:64K", left, instructions=instructions),
    ]
    assert said in run(tmp_path, "--advice", *files).out.decode()


def test_only_all_memory_together_wins(tmp_path: Path) -> None:
    files = [write(tmp_path, "m", 1000), write(tmp_path, "m@heap:2M", 1000), write(tmp_path, "m@all:2M", 10)]
    assert b"No kind of memory wins by pages of 2M alone" in run(tmp_path, "--advice", *files).out


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    base = write(tmp_path, "m", 1000)
    heap = write(tmp_path, "m@heap:2M", 10)
    whole = "--advice takes all out-files of one run with --advice=SIZE"
    part = "--advice takes the out-files of one run with --advice=SIZE"
    for others, complaint in (
        ((), f"{base}: {whole}"),
        ((heap, write(tmp_path, "m@anon:2M", 10, pid=2)), f"m@anon-2M: not of the run of {base}"),
        ((heap, write(tmp_path, "m@anon:64K", 10)), "m@anon-64K: a second file of anon, or of another page size"),
        ((write(tmp_path, "zen4", 10),), f"zen4: 'zen4' is not m with one kind of memory in larger pages; {part}"),
        ((write(tmp_path, "m@heap:2M+anon:2M", 10),), f"m@heap-2M+anon-2M: 'm@heap:2M+anon:2M' is not m with one kind of memory in larger pages; {part}"),
    ):
        done = run(tmp_path, "--advice", base, *others)
        assert (done.status, done.out, done.err) == (1, b"", f"tg_annotate: error: {complaint}\n".encode())
