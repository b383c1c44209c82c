# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate --advice: which out-files belong together, and when larger pages pay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from annotate_support import run
from tg_tables import as_csv, csv_rows, document

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
    more += "".join(f"desc: Rule: {rule}\n" for rule in machine.partition("@")[2].split("+") if rule)
    text = OUT.format(pid=pid, machine=machine, counts=counts, more=more)
    (place / name).write_text(text, encoding="utf-8")
    return name


MEMORY = "desc: Backed: 2M {n} {backed} {touched}\n"
TOUCHES = "desc: Touched: {pages} {faults}\n"


def test_the_largest_saving_comes_first(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "m", 1000),
        write(tmp_path, "m@heap:2M", 900, MEMORY.format(n=1, backed=2048, touched=48)),
        write(tmp_path, "m@anon:2M", 100, MEMORY.format(n=2, backed=4096, touched=4096) + TOUCHES.format(pages=2000, faults=978)),
        write(tmp_path, "m@anon:64K", 500, TOUCHES.format(pages=2000, faults=1040)),
        write(tmp_path, "m@text:2M", 1010),
        write(tmp_path, "m@all:2M", 10),
    ]
    done = run(tmp_path, "--advice", *files)
    assert (done.status, done.err) == (0, b"")
    text = done.out.decode()
    assert text.splitlines()[:10] == [
        "m: 1,000 page walks with its own pages, 1.000 per 1000 instructions",
        "2,000 page faults at first touches",
        "",
        "memory     pages  walks  saved         L1 saved  faults saved  backed  unused",
        "anon          2M    100    900  90.0%       900         1,022  4,096K      0K",
        "anon         64K    500    500  50.0%       500           960      0K      0K",
        "heap          2M    900    100  10.0%       100             0  2,048K  2,000K",
        "text          2M  1,010    -10  -1.0%       -10             0      0K      0K",
        "all of it     2M     10    990  99.0%       990             0      0K      0K",
        "",
    ]
    assert text.index("Pages of 2M pay for anon, heap:") < text.index("Pages of 64K pay for anon:")


def test_other_programs_get_what_the_text_has(tmp_path: Path) -> None:
    held = "desc: Unheld: 64K\n"
    files = [
        write(tmp_path, "m", 1000),
        write(tmp_path, "m@heap:2M", 900, MEMORY.format(n=1, backed=2048, touched=48) + TOUCHES.format(pages=2000, faults=1990)),
        write(tmp_path, "m@stack:2M", 1000, MEMORY.format(n=1, backed=2048, touched=8) + TOUCHES.format(pages=2000, faults=1500)),
        write(tmp_path, "m@heap:64K", 5000, held),
        write(tmp_path, "m@text:2M", 1000),
        write(tmp_path, "m@all:2M", 999, MEMORY.format(n=1, backed=4096, touched=56)),
    ]
    found = document(run(tmp_path, "--advice", "--format=json", *files).out.decode())
    assert found["about"] == "advice"
    assert [file["path"] for file in found["files"]] == files
    own, rows = (table["rows"] for table in found["tables"])
    assert own == [{"machine": "m", "Ir": 1_000_000, "walks": 1000, "L1tm": 1010, "faults": 2000}]
    hows = [row.pop("how") for row in rows]
    assert [how.partition(" ")[0] for how in hows] == [
        "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
        "transparent",
        "-Wl,-z,max-page-size=0x200000",
        "on",
        "",
    ]
    columns = ["memory", "pages", "walks", "walks_saved", "cycles_saved_least", "cycles_saved_most"]
    columns += ["L1tm_saved", "faults_saved"]
    columns += ["backed_KiB", "touched_KiB", "unused_KiB", "pays", "held", "mapping"]
    assert [list(row) for row in rows] == [columns] * 5
    assert [list(row.values()) for row in rows] == [
        ["heap", "2M", 900, 100, None, None, 100, 10, 2048, 48, 2000, "walks", "yes", None],
        ["stack", "2M", 1000, 0, None, None, 0, 500, 2048, 8, 2040, "faults", "yes", None],
        ["text", "2M", 1000, 0, None, None, 0, 0, 0, 0, 0, "absent", "yes", None],
        ["heap", "64K", 5000, -4000, None, None, -4000, 0, 0, 0, 0, "no", "no", None],
        ["all", "2M", 999, 1, None, None, 1, 0, 4096, 56, 4040, "no", "yes", None],
    ]
    for row, how in zip(rows, hows):
        row["how"] = how
    cells = csv_rows(run(tmp_path, "--advice", "--format=csv", *files).out.decode())
    assert [{key: cell for key, cell in row.items() if cell} for row in cells] == as_csv(found)


COST = """desc: Walk cycles: 20..30 assumed
desc: Hit cycles: D 1 RW 0..0
desc: Hit cycles: L2 2 IRW 7..7
desc: Window: 200
desc: Overlap: walks 4.0 assumed
"""


def with_cycles(place: Path, machine: str, walks: int, instructions: int) -> str:
    """All walks are loads', and so are their cycles."""
    name = write(place, machine, walks, COST, instructions=instructions)
    text = (place / name).read_text(encoding="utf-8").replace(" DLtmw\n", " DLtmw Wcyc\n")
    (place / name).write_text(re.sub(r"( 0 0 0)$", rf"\1 {30 * walks}", text, flags=re.MULTILINE), encoding="utf-8")
    return name


def test_cycles_are_saved_between_two_ends(tmp_path: Path) -> None:
    """With 1000 walks two are within 200 instructions, with 500 one, so these cost more each."""
    files = [
        with_cycles(tmp_path, "m", 1000, 100_000),
        with_cycles(tmp_path, "m@heap:2M", 500, 100_000),
        with_cycles(tmp_path, "m@anon:2M", 0, 100_000),
        with_cycles(tmp_path, "m@text:2M", 1000, 100_000),
    ]
    text = run(tmp_path, "--advice", *files).out.decode()
    shown = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert ["memory", "pages", "walks", "saved", "cycles saved", "L1 saved", "faults saved", "backed", "unused"] in shown
    rows = {row[0]: row for row in shown if len(row) > 5}
    assert rows["anon"][5] == "10,000 to 30,000"
    assert rows["heap"][5] == "0 to 15,000"
    assert "text" not in rows
    assert "cycles saved: what misses cost less" in text
    found = document(run(tmp_path, "--advice", "--format=json", *files).out.decode())
    saved = {row["memory"]: (row["cycles_saved_least"], row["cycles_saved_most"]) for row in found["tables"][1]["rows"]}
    assert saved == {"anon": (10_000, 30_000), "heap": (0, 15_000), "text": (0, 0)}


def test_a_loss_above_all_walks_has_no_percentage(tmp_path: Path) -> None:
    files = [write(tmp_path, "m", 1000), write(tmp_path, "m@anon:64K", 3000, TOUCHES.format(pages=2000, faults=1040))]
    text = run(tmp_path, "--advice", *files).out.decode()
    assert re.search(r"^anon +64K  3,000  -2,000 +-2,000 +960 ", text, re.MULTILINE)


def test_fewer_faults_alone_pay_in_anonymous_memory(tmp_path: Path) -> None:
    """With the faults of the machine's own pages, some of which are large already; not in files, whose small pages come
    several at once."""
    files = [
        write(tmp_path, "m", 1000, TOUCHES.format(pages=2000, faults=1500)),
        write(tmp_path, "m@heap:2M", 1000, TOUCHES.format(pages=2000, faults=1485)),
        write(tmp_path, "m@anon:2M", 1000, TOUCHES.format(pages=2000, faults=1486)),
        write(tmp_path, "m@text:2M", 1000, TOUCHES.format(pages=2000, faults=1000)),
    ]
    text = run(tmp_path, "--advice", *files).out.decode()
    assert "1,500 page faults at first touches" in text
    assert "Pages of 2M pay by fewer page faults alone for heap:\n  heap: GLIBC_TUNABLES" in text
    assert "Pages of 2M pay for" not in text


def test_pages_that_no_array_holds_are_named(tmp_path: Path) -> None:
    held = "desc: Unheld: 64K\n"
    files = [write(tmp_path, "m", 1000), write(tmp_path, "m@heap:64K", 5000, held), write(tmp_path, "m@heap:2M", 100)]
    text = run(tmp_path, "--advice", *files).out.decode().splitlines()
    said = [line for line in text if line.startswith(("Pages", "Nothing", "No array"))]
    assert [line.partition(":")[0] for line in said] == [
        "Pages of 2M pay for heap",
        "Nothing to win",
        "No array of m holds pages of 64K",
    ]


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
    whole = "--advice takes the first out-file of a run with --advice=SIZE, beside which the others lie, or all of them"
    alone = run(tmp_path, "--advice", base)
    assert (alone.status, alone.out, alone.err) == (1, b"", f"tg_annotate: error: {base}: {whole}\n".encode())
    heap = write(tmp_path, "m@heap:2M", 10)
    part = "--advice takes the out-files of one run with --advice=SIZE"
    for others, complaint in (
        ((heap, write(tmp_path, "m@anon:2M", 10, pid=2)), f"m@anon-2M: not of the run of {base}"),
        ((heap, heap), "m@heap-2M: a second file of heap in pages of 2M"),
        ((write(tmp_path, "zen4", 10),), f"zen4: 'zen4' is not m with one kind of memory in larger pages; {part}"),
        ((write(tmp_path, "m@heap:2M+anon:2M", 10),), f"m@heap-2M+anon-2M: 'm@heap:2M+anon:2M' is not m with one kind of memory in larger pages; {part}"),
    ):
        done = run(tmp_path, "--advice", base, *others)
        assert (done.status, done.out, done.err) == (1, b"", f"tg_annotate: error: {complaint}\n".encode())
