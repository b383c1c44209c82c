# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_faults: its output is what was recorded, and adds up."""

from __future__ import annotations

import csv
import io
import os
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from faults_support import DATA, HERE, figures, good, refused, run
from tg_companions import package
from tg_tables import document

MIXED = "mixed.faults"
USED = "used.faults"

# To be recorded anew with TG_RECORD=1, and looked at.
GOLDEN = {
    "tables": [MIXED],
    "tables-all": ["--verbose", "--by=kind,mapping,memory,object,function,syscall", MIXED],
    "tables-4k": ["--view=4k", MIXED],
    "tables-cold": ["--verbose", "--view=cold", MIXED],
    "tables-top": ["--top=3", "--by=memory,function", MIXED],
    "more": ["--verbose", "--by=kind", "--growth=5", "--waste", "--phase-range", MIXED],
    "colour": ["--color=always", "--by=kind", "--growth=2", MIXED],
    "wide": ["--wide", "--by=function", MIXED],
    "text": ["--format=text", MIXED],
    "text-native": ["--format=text", "--addresses=native", "--view=cold", MIXED],
    "pagein": ["--format=pagein", "--view=4k", MIXED],
    "csv": ["--format=csv", MIXED],
    "json": ["--format=json", MIXED],
    "compare": ["-v", "--compare", MIXED, "example.faults"],
    "compare-top": ["--compare", "--top=2", "--by=memory", "--view=4k", MIXED, "example.faults"],
    "native-software": ["--verbose", "--native=software.perf", MIXED],
    "native-tracepoints": ["--verbose", "--native=tracepoints.perf", MIXED],
    "used": ["--verbose", "--by=kind", "--used", USED],
    "used-top": ["--by=kind", "--used", "--top=3", "--view=4k", USED],
    "used-text": ["--used", "--format=text", "--addresses=native", USED],
    "used-csv": ["--used", "--format=csv", USED],
    "used-json": ["--used", "--format=json", "--view=4k", USED],
    "stacks": ["--by=caller,inclusive,function", "--top=4", "stacks.faults"],
    "stacks-folded": ["--format=folded", "--view=cold", "stacks.faults"],
    "stacks-csv": ["--format=csv", "--by=inclusive", "stacks.faults"],
    "help": ["--help"],
}


@pytest.mark.parametrize("title", GOLDEN)
def test_output_is_as_recorded(title: str) -> None:
    out = good(*GOLDEN[title])
    expected = HERE / "expected" / f"{title}.txt"
    if os.environ.get("TG_RECORD"):
        expected.write_text(out)
    assert out == expected.read_text()


# --- Listings ---


def rows(*arguments: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(good("--format=csv", *arguments))))


@pytest.mark.parametrize(("view", "total"), [("4k", 18), ("warm", 16), ("cold", 17)])
def test_a_listing_has_one_row_a_fault(view: str, total: int) -> None:
    assert len(rows(f"--view={view}", MIXED)) == total
    assert len(good("--format=pagein", f"--view={view}", MIXED).splitlines()) == total
    assert len(good("--format=text", f"--view={view}", MIXED).splitlines()) == total + 1
    objects = document(good("--format=json", f"--view={view}", MIXED))["tables"][0]["rows"]
    assert [{k: str(v) for k, v in o.items()} for o in objects] == rows(f"--view={view}", MIXED)


def test_repetitions_are_unfolded() -> None:
    pages = [(r["page"], r["instructions"]) for r in rows(MIXED) if r["by"] == "read"]
    assert pages == [
        ("0x4a01000", "90600"),
        ("0x4a02000", "90610"),
        ("0x4a03000", "90620"),
        ("0x4a04000", "90630"),
    ]
    assert [r["page"] for r in rows(MIXED) if r["what"] == "thread-stack"] == ["0x67ff000", "0x67fe000"]


PAGEIN = re.compile(r" *(\d+) 0x([ 0-9A-F]{10}) ([CD]) ([ \d]{12}) 0x([0-9A-F]+): (.+)$")


def test_pagein_has_the_columns_of_its_ancestor() -> None:
    """A number of four places, a page of ten, C or D, twelve places, the address, the name."""
    lines = good("--format=pagein", "--view=4k", MIXED).splitlines()
    assert lines[0] == "   0 0x   401A000 C            0 0x401A0D0: _start (in /lib/ld.so)"
    assert lines[1] == "   1 0x1FFF000000 D            1 0x401A0D0: _start (in /lib/ld.so)"
    assert lines[5] == "   5 0x    10A000 C        90000 0x10A140: main (a,b.c:12)"
    assert lines[14].endswith(" 0x10D300: (within /usr/bin/mixed)")
    matches = [PAGEIN.match(line) for line in lines]
    assert [int(m[1]) for m in matches if m] == list(range(18))
    assert [m[3] for m in matches if m] == ["C" if r["kind"] == "code" else "D" for r in rows("--view=4k", MIXED)]


@pytest.mark.parametrize("form", ["text", "pagein"])
def test_no_code_is_named_for_what_exec_touches(form: str) -> None:
    """No code stands behind it, so none is named."""
    lines = good(f"--format={form}", "recorded.faults").splitlines()
    assert sum(line.endswith(" (by the kernel: exec)") for line in lines) > 0
    assert not any("(within ???)" in line for line in lines)


def test_odd_names_survive_csv_and_json() -> None:
    functions = {r["function"] for r in rows(MIXED)}
    assert 'read_"all"' in functions
    assert {o["function"] for o in document(good("--format=json", MIXED))["tables"][0]["rows"]} == functions
    assert {r["file"] for r in rows(MIXED)} >= {"/src/a,b.c"}


def test_what_the_disk_delivers_is_counted_once(tmp_path: Path) -> None:
    """Windows of 32 pages overlap, also those of two mappings of a file; other files are others."""
    assert "Read from the disk by 4 major faults: 384 KiB of 3 files, each page once.\n" in good("--view=cold", MIXED)
    assert "Read from the disk" not in good(MIXED)
    maps = [FILE_HERE, FILE_BEHIND, OTHER_FILE.replace("0x110000\t0x118000", "0x210000\t0x218000")]
    faults = [("rrr", page, number, "-") for page, number in ((0x10A000, 1), (0x10B000, 1), (0x111000, 2), (0x211000, 3))]
    log = log_of(maps, faults).replace("\trrr\t", "\trrR\t").replace("\t-\t-\t-\n", "\t-\t-\t-4..+3\n")
    log = log.replace("summary\tcold\t4\t0", "summary\tcold\t4\t4")
    (tmp_path / "log").write_text(log)
    # Pages 0 to 5, 0 to 6 and 5 to 12 of one file, 5 to 12 of the other.
    wanted = f"Read from the disk by 4 major faults: {(13 + 8) * 4} KiB of 2 files, each page once.\n"
    assert wanted in good("--view=cold", "log", folder=tmp_path)


def took(instructions: int, folder: Path, *options: str) -> str:
    """What the 16 faults of the log take of a run of so many instructions, as one line."""
    log = (DATA / MIXED).read_text()
    (folder / "log").write_text(log.replace("views:", f"instructions: {instructions}\nviews:"))
    lines = good(*options, "log", folder=folder).splitlines()
    begin = next((n for n, line in enumerate(lines) if line.startswith("Page faults take")), None)
    return "" if begin is None else " ".join(lines[begin : lines.index("", begin)])


def test_the_first_answer_is_what_faults_take_of_the_time(tmp_path: Path) -> None:
    """1,000 to 5,000 cycles each, of so many cycles as instructions and of half of them."""
    each = "(estimate: 1,000 to 5,000 cycles each)"
    # 16,000 of 64,000 cycles, and 80,000 of 104,000.
    assert took(48_000, tmp_path) == (
        f"Page faults take 25 to 77% of the time {each}; worth a look (5% or more); "
        "nothing to win in a run of more than 8,000,000 cycles."
    )
    # 16,000 of 1,600,000, and 80,000 of 872,000.
    assert took(1_584_000, tmp_path) == (
        f"Page faults take 1.0 to 9.2% of the time {each}; may be worth a look (5% or more); "
        "nothing to win in a run of more than 8,000,000 cycles."
    )
    # 80,000 of 8,000,000 cycles is 1%; two instructions more are less.
    assert "transparent huge pages" in took(15_840_000, tmp_path)
    assert took(15_840_002, tmp_path) == (
        f"Page faults take 0.1 to 1.0% of the time {each}; nothing to win (below 1%); "
        "it could be 1% in a run of 8,000,000 cycles or fewer."
    )


def test_a_document_has_the_first_answer(tmp_path: Path) -> None:
    said = took(48_000, tmp_path)
    for view, verdict in (("warm", said), ("cold", None)):
        for more in (), ("--by=kind",):
            found = document(good("--format=json", f"--view={view}", *more, "log", folder=tmp_path))
            assert found["verdict"] == verdict
    assert "verdict" not in document(good("--compare", "--format=json", "log", "log", folder=tmp_path))


def test_nothing_is_said_of_the_time_where_it_is_not_known(tmp_path: Path) -> None:
    assert "of the time" not in good(MIXED)
    assert took(48_000, tmp_path, "--view=cold") == took(48_000, tmp_path, "--view=4k") == ""
    (tmp_path / "log").write_text((DATA / MIXED).read_text().replace("views:", "instructions: many\nviews:"))
    refused("log:12: 'many' is not a number from 0 to 2^64-1", "log", folder=tmp_path)


def test_native_addresses_are_those_of_the_maps(tmp_path: Path) -> None:
    native = {(r["what"], r["page"]): r["native_page"] for r in rows(MIXED)}
    assert native["bss", "0x123000"] == "0x55555556f000"
    assert native["heap", "0x4a03000"] == "0x555555592000"


# --- Tables ---


@pytest.mark.parametrize("by", ["kind", "mapping", "memory", "object", "function", "syscall"])
@pytest.mark.parametrize("top", ["0", "1", "2"])
def test_every_table_adds_up(by: str, top: str) -> None:
    for view, total in (("4k", 18), ("warm", 16), ("cold", 17)):
        text = good(f"--by={by}", f"--top={top}", f"--view={view}", MIXED)
        block = text.split("-- By ")[1].split("\n", 1)[1].split("\n\n")[0].splitlines()
        heading, *body = [re.split(r"  +", line.strip()) for line in block]
        assert sum(int(row[0]) for row in body) == total
        kinds = [i for i, name in enumerate(heading) if name in ("code", "read", "zero page", "write", "copy on write", "dirty")]
        for row in body:
            assert not kinds or sum(int(row[i]) for i in kinds) == int(row[0])
        if top != "0":
            assert len(body) <= int(top)


def test_growth_ends_with_all_faults() -> None:
    for steps in (1, 2, 7, 100):
        text = good("--by=kind", f"--growth={steps}", MIXED)
        last = text.split("-- Growth")[1].split("\n\n")[0].splitlines()[-1].split()
        assert (last[0], last[1], last[-1]) == ("91,004", "16", "100.0%")


def test_waste_counts_pages_once(tmp_path: Path) -> None:
    text = good("--by=kind", "--waste", MIXED)
    block = text.split("-- Pages brought")[1]
    ld = next(line for line in block.splitlines() if "/lib/ld.so r-x" in line).split()
    # Of the 15 pages that came with the first, one was touched later: it is fault 3 in view 4k.
    assert ld[:5] == ["1", "15", "1", "14", "56"]
    text_of = next(line for line in block.splitlines() if "/usr/bin/mixed r-x" in line).split()
    assert text_of[:5] == ["1", "15", "1", "14", "56"]


FILE_HERE = "0x108000\t0x110000\t0x7ffff7d00000\tr--\tfile\t0x0\t/a"
FILE_BEHIND = "0x110000\t0x118000\t0x7ffff7d08000\tr--\tfile\t0x8000\t/a"
OTHER_OFFSET = "0x108000\t0x110000\t0x7ffff7d00000\tr--\tfile\t0x1000\t/a"
OTHER_FILE = "0x110000\t0x118000\t0x7ffff7d08000\tr--\tfile\t0x8000\t/b"
MEMORY_HERE = "0x108000\t0x110000\t0x7ffff7d00000\trw-\tanon\t-\t-"
MEMORY_BEHIND = "0x110000\t0x118000\t0x7ffff7d08000\trw-\theap\t-\t-"


def log_of(maps: list[str], faults: list[tuple[str, int, int, str]]) -> str:
    """A whole log of faults that are kinds, page, map and pages brought."""
    head = (DATA / MIXED).read_text().split("# A hand-made")[0]
    lines = [f"map\t{n}\t{text}" for n, text in enumerate(maps, 1)]
    for n, (kinds, page, place, brought) in enumerate(faults, 1):
        lines.append(f"{n}\t{kinds}\t{page:#x}\t{place}\t{n}\t1\t-\t0\t{brought}\t{brought}\t-")
    kinds_of = [Counter(kinds[view] for kinds, *_ in faults) for view in range(3)]
    for name, counts in zip(("4k", "warm", "cold"), kinds_of):
        each = [counts[kind] for kind in "xrzwcd"]
        lines.append("\t".join(map(str, ["summary", name, sum(each), 0, *each])))
        lines.append(f"hidden\t{name}\t0\t0")
    warm = len(faults) - kinds_of[1]["-"]
    for group, count in (("program", warm), ("libraries", 0), ("other", 0)):
        lines.append("\t".join(["phase", group, *[str(count)] * 16]))
    return "\n".join([head + lines[0], *lines[1:], f"end\t{len(faults)}", ""])


@pytest.mark.parametrize(
    ("maps", "touch", "used"),
    [
        ([FILE_HERE, FILE_BEHIND], ("r--", 0x110000, 2), 1),
        ([MEMORY_HERE, MEMORY_BEHIND], ("w--", 0x110000, 2), 1),
        ([FILE_HERE, FILE_BEHIND], ("wcc", 0x110000, 2), 1),
        # Unmapped in between: what was brought is gone, and its place has something else.
        ([FILE_HERE], ("rrr", 0x109000, 1), 0),
        ([FILE_HERE, OTHER_OFFSET], ("r--", 0x109000, 2), 0),
        ([FILE_HERE, OTHER_FILE], ("r--", 0x110000, 2), 0),
        ([FILE_HERE, MEMORY_HERE], ("w--", 0x109000, 2), 0),
        ([FILE_HERE, FILE_BEHIND], ("r--", 0x118000 - 0x1000, 2), 0),
    ],
)
def test_waste_goes_on_in_the_next_map(maps: list[str], touch: tuple[str, int, int], used: int, tmp_path: Path) -> None:
    """What the kernel brings does not stop where one call's mapping ended."""
    (tmp_path / "log").write_text(log_of(maps, [("rrr", 0x108000, 1, "+1..+8"), (*touch, "-")]))
    for view in ("warm", "cold"):
        text = good("--by=kind", "--waste", f"--view={view}", "log", folder=tmp_path)
        table = table_of(text, "Pages brought")
        assert [sum(int(row[column]) for row in table) for column in (1, 2, 3)] == [8, used, 8 - used]


def test_a_large_page_of_two_maps_is_still_to_be_touched(tmp_path: Path) -> None:
    """A page of 64K that another map's memory shares is still to be touched by its own."""
    maps = [FILE_HERE.replace("0x110000", "0x128000"), "0x128000\t0x130000\t0x7ffff7d20000\trw-\tanon\t-\t-"]
    faults = [("rrr", 0x100000, 1, "+1..+2"), ("w--", 0x120000, 2, "-"), ("r--", 0x120000, 1, "-")]
    log = log_of(maps, faults).replace("page size: 4096\n", "page size: 65536\n")
    (tmp_path / "log").write_text(log)
    table = table_of(good("--by=kind", "--waste", "log", folder=tmp_path), "Pages brought")
    assert ["1", "2", "1", "1", "64", "/a r--"] in table


def table_of(text: str, heading: str) -> list[list[str]]:
    block = text.split(f"-- {heading}")[1].split("\n", 1)[1].split("\n\n")[0]
    return [re.split(r"  +", line.strip()) for line in block.strip().splitlines()[1:]]


@pytest.mark.parametrize("top", [1, 2, 9, 30])
def test_the_last_row_of_waste_is_the_sum_of_the_rest(top: int) -> None:
    """--top is for this table, too: the last row is the sum of the others."""

    def table(top: int) -> list[list[str]]:
        return table_of(good("--by=kind", "--waste", f"--top={top}", MIXED), "Pages brought")

    whole, short = table(0), table(top)
    assert len(short) == min(top, len(whole))
    assert short[:-1] == whole[: len(short) - 1]
    for column in range(5):
        assert sum(int(row[column]) for row in short) == sum(int(row[column]) for row in whole)
    assert (short[-1][5] == f"<{len(whole) - top + 1} more>") == (top < len(whole))


def test_a_large_page_may_begin_before_its_map(tmp_path: Path) -> None:
    """What is named is the first byte of the map, for nothing lies before it."""
    maps = [
        "0x119000\t0x131000\t0x7ffff7d09000\tr--\tfile\t0x0\t/a",
        "0x149000\t0x161000\t0x7ffff7d39000\trw-\tanon\t-\t-",
    ]
    pages = [(0x110000, 1), (0x120000, 1), (0x140000, 2), (0x150000, 2)]
    log = log_of(maps, [("rrr", page, number, "-") for page, number in pages])
    assert log.count("page size: 4096\n") == 1
    (tmp_path / "log").write_text(log.replace("page size: 4096\n", "page size: 65536\n"))
    text = good("--format=text", "log", folder=tmp_path)
    assert re.findall(r"(\S+\+\S*);", text) == ["/a+0x0", "/a+0x7000", "[anon]+0x0", "[anon]+0x7000"]
    listed = csv.DictReader(io.StringIO(good("--format=csv", "log", folder=tmp_path)))
    assert [row["file_offset"] for row in listed] == ["0x0", "0x7000", "", ""]
    objects = document(good("--format=json", "log", folder=tmp_path))["tables"][0]["rows"]
    assert [row["file_offset"] for row in objects] == ["0x0", "0x7000", "", ""]


def test_what_has_its_own_name_is_called_once() -> None:
    vdso = package("formats.fault").Map(1, 0, 4096, 0, "r-x", "vdso", 0, "[vdso]")
    assert vdso.label == "[vdso]"
    assert vdso._replace(what="bss", name="/lib/libc.so").label == "[bss] /lib/libc.so"
    assert vdso._replace(what="heap", name="").label == "[heap]"


@pytest.mark.parametrize("view", ["4k", "warm", "cold"])
@pytest.mark.parametrize("top", ["0", "1", "2", "30"])
def test_bytes_used_add_up(view: str, top: str) -> None:
    """Tables and listings all come to the totals of the log."""
    match = re.search(rf"^used-total\t{view}\t(\d+)\t(\d+)", (DATA / USED).read_text(), re.MULTILINE)
    assert match
    pages, used = int(match[1]), int(match[2])
    text = good("--by=kind", "--used", f"--top={top}", f"--view={view}", USED)
    kinds = table_of(text, "Bytes used, by how")
    assert [cell.replace(",", "") for cell in kinds[-1][:3:2]] == [str(pages), str(used)]
    for table in (kinds[:-1], table_of(text, "Bytes used, by mapping")):
        for column, total in ((0, pages), (2, used), (4, pages * 4096 - used)):
            assert sum(int(row[column].replace(",", "")) for row in table) == total
    listed = rows("--used", f"--view={view}", USED)
    assert (len(listed), sum(int(row["bytes_used"]) for row in listed)) == (pages, used)
    objects = document(good("--used", "--format=json", f"--view={view}", USED))["tables"][0]["rows"]
    assert [{k: str(v) for k, v in o.items()} for o in objects] == listed
    assert len(good("--used", "--format=text", f"--view={view}", USED).splitlines()) == pages + 1


def test_the_least_used_pages_come_first() -> None:
    least = table_of(good("--by=kind", "--used", USED), "The pages that were used least")
    assert [int(row[0].replace(",", "")) for row in least] == sorted(
        int(row[0].replace(",", "")) for row in least
    )
    assert least[0] == ["8", "0.2%", "1", "copy on write", "/usr/bin/mixed+0x18000"]


def test_the_rest_is_as_without_bytes() -> None:
    """What a log says of bytes changes nothing else."""
    for arguments in (["--waste", "--growth=3"], ["--format=csv"], ["--view=4k", "--by=mapping"]):
        assert good(*arguments, USED) == good(*arguments, MIXED).replace(MIXED, USED)


def test_a_log_without_bytes_is_told_so() -> None:
    refused(
        f"{MIXED}: does not say how many bytes were used; tlbgrind records that with --faults-used=yes",
        "--used",
        MIXED,
    )


@pytest.mark.parametrize("view", ["4k", "warm", "cold"])
def test_a_recorded_log_is_the_same_in_every_form(view: str) -> None:
    """A log of `ls /`, as tlbgrind wrote it: as many rows as its own summary says, whatever the form."""
    log = "recorded.faults"
    text = (DATA / log).read_text()
    match = re.search(rf"^summary\t{view}\t(\d+)\t(\d+)", text, re.MULTILINE)
    assert match
    total, major = int(match[1]), int(match[2])
    listed = rows(f"--view={view}", log)
    assert (len(listed), sum(int(r["major"]) for r in listed)) == (total, major)
    whens = [int(r["instructions"]) for r in listed]
    assert whens == sorted(whens)
    assert len(good("--format=pagein", f"--view={view}", log).splitlines()) == total
    assert len(document(good("--format=json", f"--view={view}", log))["tables"][0]["rows"]) == total
    for by in ("kind", "mapping", "memory", "object", "function", "syscall"):
        block = good(f"--by={by}", "--top=5", f"--view={view}", log).split("-- By ")[1]
        lines = block.split("\n\n")[0].splitlines()[2:]
        assert sum(int(line.split()[0].replace(",", "")) for line in lines) == total


def test_the_views_of_a_recorded_log_nest() -> None:
    """What faults with the kernel's help faults without it, and what is major in none is minor in all."""
    log = package("formats.faultlog").read(str(DATA / "recorded.faults"))
    for fault in log.faults:
        assert fault.kinds[0] != "-"
        assert not fault.is_major(0) and not fault.is_major(1)
    assert {f.number for f in log.of(1)} <= {f.number for f in log.of(0)}


def apart(text: str) -> str:
    """The same log with a comment before each fault, so that faults are read one by one."""
    return re.sub(r"^(?=\d)", "# apart\n", text, flags=re.MULTILINE)


def test_faults_that_are_read_at_once_are_those_read_one_by_one(tmp_path: Path) -> None:
    text = (DATA / "recorded.faults").read_text(encoding="utf-8").partition("# checksum")[0]
    (tmp_path / "together").write_text(text, encoding="utf-8")
    (tmp_path / "apart").write_text(apart(text), encoding="utf-8")
    together, one_by_one = (package("formats.faultlog").read(str(tmp_path / name)) for name in ("together", "apart"))
    assert list(together.faults) == list(one_by_one.faults)
    assert together.totals == one_by_one.totals
    assert list(together.of(2)) == [fault for fault in one_by_one.faults if fault.kinds[2] != "-"]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *((0, text) for text in ("1", "x", "9999999", "0_1", "")),
        *((1, text) for text in ("---", "xxz!", "xx")),
        *((2, text) for text in ("0x1", "0x1_000", "x1000", "4096", "0x0", "0xfffffffffffff000", "0x11111111111111111", "")),
        *((3, text) for text in ("999", "-1", "")),
        *((4, text) for text in ("1_0", "+1", " 1", "99999999999999999999", "18446744073709551616", "")),
        *((5, text) for text in ("x", "")),
        *((7, text) for text in ("999", "x")),
        *((8, text) for text in ("+2..+1", "1", "+1\t-")),
    ],
)
def test_a_wrong_fault_among_many_is_named_with_its_line(field: int, wrong: str, tmp_path: Path) -> None:
    lines = (DATA / "recorded.faults").read_text(encoding="utf-8").splitlines()
    many = next(at for at in range(len(lines)) if all(line[:1].isdigit() for line in lines[at : at + 12])) + 9
    words = lines[many].split("\t")
    words[field] = wrong
    lines[many] = "\t".join(words)
    text = "\n".join(lines).partition("# checksum")[0]
    complaints = []
    for name, written in (("together", text), ("apart", apart(text))):
        (tmp_path / name).write_text(written, encoding="utf-8")
        result = run(tmp_path, name).text()
        assert result.status == 1
        number = written.split("\n").index(lines[many]) + 1
        before, here, complaint = result.err.partition(f"tg_faults: error: {name}:{number}: ")
        assert (before, bool(here)) == ("", True), result.err
        complaints.append(complaint)
    assert complaints[0] == complaints[1]


# --- Against the kernel ---


def test_pages_are_compared_with_the_software_event() -> None:
    got = figures(good("--native=software.perf", MIXED))
    assert got["native"] == 13  # setarch's own is another command's
    assert got["match: page"] == 12
    assert got["match and in the same order"] == 11  # two pages of the heap are exchanged
    assert got["missing: native only"] == 1
    assert got["too much: predicted only"] == 4


def test_kinds_are_compared_with_the_tracepoints() -> None:
    text = good("--native=tracepoints.perf", MIXED)
    got = figures(text)
    assert got["native"] == 6  # neither setarch's nor the kernel's own memory
    assert got["match: page and kind"] == 5
    assert got["match: page"] == 6  # the page of bss was written, not read, at first
    assert "0x55555556f000  write" in text


def test_other_commands_can_be_named(tmp_path: Path) -> None:
    assert figures(good("--native=software.perf", "--native-command=setarch", MIXED))["native"] == 1
    refused(
        "software.perf: there are no page faults of 'nobody'; there are some of mixed, setarch",
        "--native=software.perf",
        "--native-command=nobody",
        MIXED,
    )


@pytest.mark.parametrize("name", ["software.perf", "tracepoints.perf"])
def test_one_process_of_several_is_compared(name: str, tmp_path: Path) -> None:
    """Each fault is there once more as a child's, and every other one as that of a second child."""
    text = (DATA / name).read_text()
    children = text.replace(" 4700 ", " 4701 ") + "".join(text.replace(" 4700 ", " 4702 ").splitlines(keepends=True)[::2])
    (tmp_path / name).write_text(text + children)
    alone = good(f"--native={name}", MIXED).split("-- Against")[1].split("\n", 1)[1]
    result = run(tmp_path, f"--native={name}", DATA / MIXED)
    assert result.status == 0
    assert result.out.decode().split("-- Against")[1].split("\n", 1)[1] == alone
    assert result.err.decode() == (
        f"tg_faults: warning: {name}: process 4700 is compared, 2 other processes of 'mixed' left out; --pid=N takes another\n"
    )
    child = run(tmp_path, f"--native={name}", "--pid=4701", DATA / MIXED)
    assert child.out == result.out
    assert b"process 4701 is compared" in child.err
    second = run(tmp_path, f"--native={name}", "--pid=4702", DATA / MIXED).out.decode()
    assert 0 < figures(second)["native"] < figures(alone)["native"]
    refused(
        f"{name}: there are no page faults of process 7; there are some of 4700, 4701, 4702",
        f"--native={name}",
        "--pid=7",
        DATA / MIXED,
        folder=tmp_path,
    )


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("mixed 4700 555555556140 main 555555556144 main", (0x555555556000, "main")),
        ("mixed 4700/4701 555555556140 555555556144", (0x555555556000, "555555556144")),
        (" 555555556140 main 555555556144 f(int, long)", (0x555555556000, "f(int, long)")),
        ("555555556140 555555556144", (0x555555556000, "555555556144")),
        ("cafe 4700 555555556140 [unknown] 555555556144 main", (0x555555556000, "main")),
        ("tmux: server 4700 555555556140 [unknown] 555555556144 main", (0x555555556000, "main")),
        # Through null pointers, and calls of them.
        ("mixed 4700 0 [unknown] 555555556144 main", (0, "main")),
        ("mixed 4700 1f8 [unknown] 555555556144 main", (0, "main")),
        ("mixed 4700/4701 f 555555556144", (0, "555555556144")),
        (" 0 [unknown] 0 [unknown]", (0, "[unknown]")),
        ("mixed 4700 0 0", (0, "0")),
        ("mixed 4700 c8 [unknown] c8 [unknown]", (0, "[unknown]")),
        ("c8 c8", (0, "c8")),
        ("mixed 4700 555555556140 add 555555556144 add", (0x555555556000, "add")),
    ],
)
def test_a_line_of_perf_has_an_address_and_code(line: str, wanted: tuple[int, str], tmp_path: Path) -> None:
    (tmp_path / "x").write_text(f"{line}\n")
    (fault,) = package("faults.native").read(str(tmp_path / "x"), 4096, "")
    assert (fault.page, fault.who) == wanted


def test_other_files_than_perfs_are_refused(tmp_path: Path) -> None:
    for line in ("hello world", "a bed of roses", "0", "mixed 4700 0"):
        (tmp_path / "x").write_text(f"{line}\n")
        refused(
            f"{tmp_path / 'x'}:1: not a line of perf script -F comm,pid,addr,ip,sym: '{line}'",
            f"--native={tmp_path / 'x'}",
            MIXED,
        )
    refused(
        "example.faults:2: not a line of perf script -F comm,pid,addr,ip,sym: 'version: 1'",
        "--native=example.faults",
        MIXED,
    )
    (tmp_path / "x").write_text("")
    refused(f"{tmp_path / 'x'}: there are no page faults in it", f"--native={tmp_path / 'x'}", MIXED)


# --- Large logs ---


def test_a_million_faults_are_a_matter_of_seconds(tmp_path: Path) -> None:
    head, tail = (DATA / "example.faults").read_text().split("*\t65535\t0x1000\t1536\n")
    count = 1_000_000
    head = head.replace("\t0x14a01000\t", "\t0x100000000\t")
    tail = tail.replace("65539", str(count + 4)).replace("65538", str(count + 3)).replace("65537", str(count + 2))
    (tmp_path / "folded").write_text(f"{head}*\t{count}\t0x1000\t1536\n{tail}")
    began = time.process_time()
    out = good("--by=mapping", tmp_path / "folded")
    assert f"{count + 1:,}" in out
    assert time.process_time() - began < 60
    log = package("formats.faultlog").read(str(tmp_path / "folded"))
    assert len(log.lines) == 5
    assert Counter(f.map.what for f in log.of(1)) == {"anon": count + 1, "file": 1, "stack": 1}


# --- Options ---


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "no LOG given"),
        (["a", "b"], "one LOG at a time, not 2; --compare sets two beside each other"),
        (["--compare", "a"], "--compare takes two LOGs, not 1"),
        (["--view=hot", "a"], "argument --view: 'hot' is not one of 4k, warm, cold"),
        (["--by=page", "a"], "argument --by: 'page' is not one of kind, mapping, memory, object, function, syscall, caller, inclusive"),
        (["--format=xml", "a"], "argument --format: 'xml' is not one of text, pagein, csv, json, folded"),
        (["--growth=0", "a"], "argument --growth: '0' is not a number of steps from 1 to 100000"),
        (["--top=x", "a"], "argument --top: 'x' is not a number of rows from 0 to 1000000000"),
        (["--compare", "--format=text", "a", "b"], "--compare goes without --format"),
        (["--compare", "--native=x", "a", "b"], "--compare goes without --native"),
        (["--compare", "--used", "a", "b"], "--compare goes without --used"),
        (["--compare", "--phase-range", "a", "b"], "--compare goes without --phase-range"),
        (["--format=text", "--waste", "a"], "--format goes without --waste"),
        (["--format=pagein", "--by=kind", "a"], "--format goes without --by"),
        (["--format=json", "--top=0", "a"], "--format goes without --top"),
        (["--native=x", "--growth=3", "a"], "--native goes without --growth"),
        (["--native-command=x", "a"], "--native-command goes with --native only"),
        (["--pid=4", "a"], "--pid goes with --native only"),
        (["--native=x", "--pid=x", "a"], "argument --pid: 'x' is not a process from 1 to 1000000000"),
        (["--addresses=run", "a"], "--addresses goes with --format only"),
        (["--used", "--format=pagein", "a"], "--used goes with --format=text, csv or json"),
        (["--used", "--native=x", "a"], "--native goes without --used"),
        (["--format=csv", "--native=x", "a"], "--format goes without --native"),
        (["--waste", "--view=4k", "a"], "--waste needs --view=warm or --view=cold: in 4k a fault brings one page"),
    ],
)
def test_wrong_options_are_refused(arguments: list[str], complaint: str) -> None:
    refused(f"{complaint} (tg_faults --help lists what is allowed)", *arguments)


def test_the_version_is_printed() -> None:
    assert re.fullmatch(r"tg_faults [0-9.]+\n", good("--version"))


# --- A gate ---


@pytest.mark.parametrize(
    ("arguments", "reasons"),
    [
        (["--max-more=0", MIXED, MIXED], []),
        (["--max-more=100000", "--by=object", MIXED, "example.faults"], []),
        (["--max-more=-1", MIXED, MIXED], ["page faults grew by 0, from 16 to 16, above --max-more=-1: mixed.faults"]),
        (
            ["--max-more=5", MIXED, "example.faults"],
            ["page faults grew by 65,522, from 16 to 65,538, above --max-more=5: example.faults"],
        ),
        (
            ["--max-more=5", "--by=object", "--top=1", "example.faults", MIXED],
            ["page faults of /usr/bin/mixed grew by 12, from 0 to 12, above --max-more=5: mixed.faults"],
        ),
        (["--max-more=12", "--by=object", "--top=1", "example.faults", MIXED], []),
    ],
)
@pytest.mark.parametrize("form", ["", "--format=csv"])
def test_more_faults_than_allowed_give_three(arguments: list[str], reasons: list[str], form: str) -> None:
    """in all, and in each row of a table that is asked for, whatever is printed of it"""
    options = [form] if form else []
    result = run(DATA, "--compare", *options, *arguments).text()
    assert result.status == (3 if reasons else 0)
    assert result.err.splitlines() == [f"tg_faults: failed: {reason}" for reason in reasons]
    assert result.out == good("--compare", *options, *[a for a in arguments if not a.startswith("--max")])


def test_a_limit_needs_a_comparison() -> None:
    refused("--max-more goes with --compare only (tg_faults --help lists what is allowed)", "--max-more=3", MIXED)
