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
        write(tmp_path, "m", 5000),
        write(tmp_path, "m@heap:2M", 4500, MEMORY.format(n=1, backed=2048, touched=48)),
        write(tmp_path, "m@anon:2M", 500, MEMORY.format(n=2, backed=4096, touched=4096) + TOUCHES.format(pages=20, faults=9)),
        write(tmp_path, "m@anon:64K", 2500, TOUCHES.format(pages=20, faults=10)),
        write(tmp_path, "m@text:2M", 5010),
        write(tmp_path, "m@all:2M", 50),
    ]
    done = run(tmp_path, "--advice", *files)
    assert (done.status, done.err) == (0, b"")
    text = done.out.decode()
    assert text.splitlines()[:2] == [
        "m: misses take 4.8 to 29% of the time; 5,000 page walks, 5.000 per 1000 instructions",
        "20 page faults at first touches",
    ]
    table = text.splitlines()
    first = table.index(next(line for line in table if line.startswith("memory ")))
    assert table[first : first + 7] == [
        "memory     pages    time saved       cycles saved  walks     L1  faults  backed  unused",
        "anon          2M    4.3 to 26%  45,000 to 180,000  4,500  4,500      11  4,096K      0K",
        "anon         64K    2.4 to 14%  25,000 to 100,000  2,500  2,500      10      0K      0K",
        "heap          2M   0.5 to 2.9%    5,000 to 20,000    500    500       0  2,048K  2,000K",
        "text          2M  -0.1 to 0.0%       -400 to -100    -10    -10       0      0K      0K",
        "all of it     2M    4.7 to 28%  49,500 to 198,000  4,950  4,950       0      0K      0K",
        "",
    ]
    said = [line for line in table if line.startswith("Pages of")]
    assert said == ["Pages of 2M pay for anon:", "Pages of 2M may pay for heap:", "Pages of 64K pay for anon:"]
    # What a verdict rests on, and what would turn it.
    assert "  anon saves 4.3 to 26% of the time, 45,000 to 180,000 cycles; worth it from 10,501 on." in table
    assert "  heap saves 0.5 to 2.9% of the time, 5,000 to 20,000 cycles; worth it from 7,001 on." in table


def test_other_programs_get_what_the_text_has(tmp_path: Path) -> None:
    held = "desc: Unheld: 64K\n"
    files = [
        write(tmp_path, "m", 5000),
        write(tmp_path, "m@heap:2M", 2500, MEMORY.format(n=1, backed=2048, touched=48) + TOUCHES.format(pages=2000, faults=1990)),
        write(tmp_path, "m@stack:2M", 5000, MEMORY.format(n=1, backed=2048, touched=8) + TOUCHES.format(pages=2000, faults=1500)),
        write(tmp_path, "m@heap:64K", 9000, held),
        write(tmp_path, "m@text:2M", 5000),
        write(tmp_path, "m@all:2M", 4999, MEMORY.format(n=1, backed=4096, touched=56)),
    ]
    found = document(run(tmp_path, "--advice", "--format=json", *files).out.decode())
    assert found["about"] == "advice"
    assert [file["path"] for file in found["files"]] == files
    own, rows = (table["rows"] for table in found["tables"])
    assert own == [
        {
            "machine": "m",
            "Ir": 1_000_000,
            "walks": 5000,
            "L1tm": 5010,
            "faults": 2000,
            "miss_cycles_least": 50_020,
            "miss_cycles_most": 200_100,
            "cycles_with_least": 1_050_020,
            "cycles_with_most": 700_100,
            "costs": "assumed",
        }
    ]
    hows = [row.pop("how") for row in rows]
    assert [how.partition(" ")[0] for how in hows] == [
        "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
        "transparent",
        "-Wl,-z,max-page-size=0x200000,",
        "on",
        "",
    ]
    columns = ["machine", "memory", "pages", "walks", "walks_saved", "cycles_saved_least", "cycles_saved_most"]
    columns += ["time_saved_least", "time_saved_most", "worth_from", "L1tm_saved", "faults_saved"]
    columns += ["backed_KiB", "touched_KiB", "unused_KiB", "pays", "held", "mapping"]
    assert [list(row) for row in rows] == [columns] * 5
    shares = [(row.pop("time_saved_least"), row.pop("time_saved_most")) for row in rows]
    cycles = [(25_000, 100_000), (0, 0), (0, 0), (-40_000, -160_000), (10, 40)]
    assert shares == [tuple(sorted((least / 1_050_020, most / 700_100))) for least, most in cycles]
    assert [list(row.values()) for row in rows] == [
        ["m", "heap", "2M", 2500, 2500, 25_000, 100_000, 10_501, 2500, 10, 2048, 48, 2000, "yes", "yes", None],
        ["m", "stack", "2M", 5000, 0, 0, 0, 7_001, 0, 500, 2048, 8, 2040, "faults", "yes", None],
        ["m", "text", "2M", 5000, 0, 0, 0, 7_001, 0, 0, 0, 0, 0, "absent", "yes", None],
        ["m", "heap", "64K", 9000, -4000, -160_000, -40_000, 10_501, -4000, 0, 0, 0, 0, "no", "no", None],
        ["m", "all", "2M", 4999, 1, 10, 40, 7_001, 1, 0, 4096, 56, 4040, "no", "yes", None],
    ]
    cells = csv_rows(run(tmp_path, "--advice", "--format=csv", *files).out.decode())
    for row, how, (least, most) in zip(rows, hows, shares):
        row.update(how=how, time_saved_least=least, time_saved_most=most)
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
    rows = {row[0]: row for row in shown if len(row) > 5}
    assert rows["memory"] == ["memory", "pages", "time saved", "cycles saved", "walks", "L1", "faults", "backed", "unused"]
    # Of 100,000 cycles and the least that misses cost, and of half as many and the most.
    assert rows["anon"][2:4] == ["9.1 to 38%", "10,000 to 30,000"]
    assert rows["heap"][2:4] == ["0.0 to 19%", "0 to 15,000"]
    assert "text" not in rows
    assert "is assumed: 20 to 40 cycles a walk" not in text
    found = document(run(tmp_path, "--advice", "--format=json", *files).out.decode())
    saved = {row["memory"]: (row["cycles_saved_least"], row["cycles_saved_most"]) for row in found["tables"][1]["rows"]}
    assert saved == {"anon": (10_000, 30_000), "heap": (0, 15_000), "text": (0, 0)}


def test_a_run_ten_times_as_long_has_the_same_verdicts(tmp_path: Path) -> None:
    for times in (1, 10):
        place = tmp_path / f"{times}"
        place.mkdir()
        files = [
            with_cycles(place, "m", 1000 * times, 100_000 * times),
            with_cycles(place, "m@heap:2M", 500 * times, 100_000 * times),
            with_cycles(place, "m@anon:2M", 0, 100_000 * times),
        ]
        text = run(place, "--advice", *files).out.decode()
        assert [line for line in text.splitlines() if line.startswith("Pages of")] == ["Pages of 2M pay for anon:", "Pages of 2M may pay for heap:"]


def test_the_cycles_of_the_program_narrow_it(tmp_path: Path) -> None:
    """Those of a native run: 20,000 to 30,000 cycles are 1% of one million, and not of four."""
    for cycles, said in ((4_000_000, "Nothing to win: with pages of 2M"), (1_000_000, "Pages of 2M pay for anon:")):
        place = tmp_path / f"{cycles}"
        place.mkdir()
        files = [with_cycles(place, "m", 1000, 100_000), with_cycles(place, "m@anon:2M", 0, 100_000)]
        for name in files:
            path = place / name
            path.write_text(path.read_text().replace("desc: Window: 200\n", f"desc: Share of time: 1.00%..3.00% of {cycles} cycles\n").replace("walks 4.0", "walks 1.5"))
        assert said in run(place, "--advice", *files).out.decode()


def test_fewer_faults_alone_pay_in_anonymous_memory(tmp_path: Path) -> None:
    """With the faults of the machine's own pages, some of which are large already; not in files, whose small pages come
    several at once. 26 faults of 1,000 cycles are more than a hundredth of the time with 1,500 of them, 25 are less."""
    files = [
        write(tmp_path, "m", 1000, TOUCHES.format(pages=2000, faults=1500)),
        write(tmp_path, "m@heap:2M", 1000, TOUCHES.format(pages=2000, faults=1474) + MEMORY.format(n=1, backed=2048, touched=48)),
        write(tmp_path, "m@anon:2M", 1000, TOUCHES.format(pages=2000, faults=1475) + MEMORY.format(n=1, backed=2048, touched=48)),
        write(tmp_path, "m@text:2M", 1000, TOUCHES.format(pages=2000, faults=1000) + MEMORY.format(n=1, backed=2048, touched=48)),
    ]
    text = run(tmp_path, "--advice", *files).out.decode()
    assert "1,500 page faults at first touches" in text
    assert "Pages of 2M pay by fewer page faults alone for heap:\n  heap saves 26 page faults: 1.0 to 1.6% of the time" in text
    assert "Pages of 2M pay for" not in text
    assert "A page fault is taken to cost 1,000 to 5,000 cycles." in " ".join(text.split())


@pytest.mark.parametrize("part", ["Collected: in f", "Of phase: start", "Of thread: 2", "Trigger: client request"])
def test_faults_of_the_whole_run_are_no_reason_in_a_part_of_it(tmp_path: Path, part: str) -> None:
    """Its instructions are others than those that the faults belong to."""
    saves = [
        write(tmp_path, "m", 100, f"desc: {part}\n"),
        write(tmp_path, "m@heap:2M", 90, f"desc: {part}\n" + TOUCHES.format(pages=900, faults=400)),
    ]
    text = run(tmp_path, "--advice", *saves).out.decode()
    assert "\n900 page faults at first touches of the whole run\n" in text
    assert "by fewer page faults" not in text
    (table,) = (t for t in document(run(tmp_path, "--advice", "--format=json", *saves).out)["tables"] if t["name"] == "advice")
    assert [(row["pays"], row["faults_saved"]) for row in table["rows"]] == [("no", 500)]


def test_pages_that_no_array_holds_are_named(tmp_path: Path) -> None:
    held = "desc: Unheld: 64K\n"
    files = [write(tmp_path, "m", 5000), write(tmp_path, "m@heap:64K", 9000, held), write(tmp_path, "m@heap:2M", 100)]
    text = run(tmp_path, "--advice", *files).out.decode().splitlines()
    said = [line for line in text if line.startswith(("Pages", "Nothing", "No array"))]
    assert [line.partition(":")[0] for line in said] == [
        "Pages of 2M pay for heap",
        "Nothing to win",
        "No array of m holds pages of 64K",
    ]


# Walks of the machine with heap in larger pages, of 5,000 in so many instructions, and what is said: a walk costs 10 to
# 40 cycles.
WORTH = [
    (3949, 1_000_000, "Pages of 64K pay for heap:"),
    (3950, 1_000_000, "Pages of 64K may pay for heap:"),
    (4824, 1_000_000, "Pages of 64K may pay for heap:"),
    (4825, 1_000_000, "Nothing to win: with pages of 64K"),
]


@pytest.mark.parametrize(("left", "instructions", "said"), WORTH)
def test_what_is_worth_the_trouble(tmp_path: Path, left: int, instructions: int, said: str) -> None:
    """One hundredth of the time, if misses cost least; or most."""
    files = [
        write(tmp_path, "m", 5000, instructions=instructions),
        write(tmp_path, "m@heap:64K", left, instructions=instructions),
    ]
    assert said in run(tmp_path, "--advice", *files).out.decode()


# Base pages touched, switches that were simulated, and whether nothing to win holds for a core of its own alone.
SHARED = [(249, "", False), (250, "", True), (250, "desc: Context switches: every 1000 instructions, flush everything\n", False)]


@pytest.mark.parametrize(("pages", "switches", "said"), SHARED)
def test_nothing_to_win_names_what_else_has_the_core(tmp_path: Path, pages: int, switches: str, said: bool) -> None:
    there = MEMORY.format(n=1, backed=2048, touched=1000) + TOUCHES.format(pages=pages, faults=pages)
    files = [write(tmp_path, "m", 5000, switches), write(tmp_path, "m@heap:2M", 4999, switches + there)]
    text = " ".join(run(tmp_path, "--advice", *files).out.decode().split())
    assert "Nothing to win: " in text
    assert ("What else runs on its core is not counted; --switch-every=5000000 does." in text) == said


def test_only_all_memory_together_wins(tmp_path: Path) -> None:
    files = [write(tmp_path, "m", 5000), write(tmp_path, "m@heap:2M", 5000), write(tmp_path, "m@all:2M", 10)]
    assert b"No kind of memory wins by pages of 2M alone" in run(tmp_path, "--advice", *files).out


def same(number: int, why: str, rule: str, more: str = "") -> str:
    """What a machine's file says of a variant without one."""
    return f"desc: Same: {number} {why} {rule}\ndesc: Same touched: {number} 2000 2000\n{more}"


def test_variants_in_which_nothing_changes_need_no_file(tmp_path: Path) -> None:
    more = (
        "desc: Variants: 6\n"
        + same(1, "room", "text:2M")
        + same(3, "untouched", "my file*:2M")
        + same(4, "none", "stack:2M", "desc: Same backed: 4 2M 1 2048 8\n")
        + same(5, "room", "anon#1:2M", "desc: Same numbered: 5 anon#1 1 2344 0x7f000 /a file\n")
        + same(6, "untouched", "anon#2:2M")
    )
    base = write(tmp_path, "m", 5000, more)
    heap = write(tmp_path, "m@heap:2M", 500, MEMORY.format(n=1, backed=2048, touched=48))
    text = run(tmp_path, "--advice", base, heap).out.decode().splitlines()
    assert "2,000 page faults at first touches" in text
    assert "Pages of 2M pay for heap:" in text
    assert [line for line in text if line.startswith(("No ", "The same"))] == [
        "No room for a page of 2M: anon#1, text.",
        "No such memory: my file*.",
        "The same misses in pages of 2M: stack.",
    ]
    found = document(run(tmp_path, "--advice", "--format=json", base, heap).out.decode())
    rows = {row["memory"]: row for row in found["tables"][1]["rows"]}
    assert {name: row["pays"] for name, row in rows.items()} == {
        "heap": "yes",
        "text": "absent",
        "my file*": "absent",
        "stack": "no",
        "anon#1": "absent",
        "anon#2": "absent",
    }
    assert rows["stack"]["backed_KiB"] == 2048
    assert rows["anon#1"]["mapping"] == "a mapping of 2344K at 0x7f000, /a file"
    # One that has a file cannot be left out.
    done = run(tmp_path, "--advice", base)
    (tmp_path / heap).rename(tmp_path / "elsewhere")
    done = run(tmp_path, "--advice", base)
    complaint = "6 variants were simulated, but 5 are here; --advice takes the first out-file, beside which the others lie, or all of them"
    assert (done.status, done.err.decode()) == (1, f"tg_annotate: error: {base}: {complaint}\n")


def test_several_machines_are_one_table(tmp_path: Path) -> None:
    """Of which one is another with a rule; the verdicts say on which machine they are so."""
    ones = "desc: Variants: 1\n"
    files = [
        write(tmp_path, "m", 5000, ones),
        write(tmp_path, "m@heap:2M", 500),
        write(tmp_path, "m@thp", 100, ones),
        write(tmp_path, "m@thp+heap:2M", 90),
        write(tmp_path, "n", 9000, ones),
        write(tmp_path, "n@heap:2M", 9000, MEMORY.format(n=1, backed=2048, touched=8)),
    ]
    text = run(tmp_path, "--advice", *files).out.decode().splitlines()
    assert text[0] == "Pages of 2M pay for heap: m 4.3 to 26%."
    said = " ".join(" ".join(text).split())
    nothing = "Nothing to win: with pages of 2M no kind of memory saves 1% of the time"
    assert f"m@thp: {nothing}. heap saves most, 0.0 to 0.1% of the time, 100 to 400 cycles; worth it from 5,041 on." in said
    assert f"n: {nothing}, or any; worth it would be 8,601 cycles." in said
    table = text.index("memory  pages           m        m@thp     n")
    assert text[table + 1] == "heap    2M     4.3 to 26%  0.0 to 0.1%  0.0%"
    assert "1% of the time: 7,001 to 10,501 cycles" in text
    assert [line.partition(":")[0] for line in text if ": misses take " in line] == ["m", "m@thp", "n"]
    found = document(run(tmp_path, "--advice", "--format=json", *files).out.decode())
    own, rows = (table["rows"] for table in found["tables"])
    assert [row["machine"] for row in own] == ["m", "m@thp", "n"]
    assert [(row["machine"], row["walks_saved"]) for row in rows] == [("m", 4500), ("m@thp", 10), ("n", 0)]


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
