# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_annotate --advice=libraries: calls between objects, code pages, and what merging saves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from annotate_support import run
from tg_tables import as_csv, csv_rows, document

HEAD = """# callgrind format
version: 1
creator: tlbgrind-0.1.0
pid: 1
cmd: {command}
desc: Format: 1
desc: Machine: {machine}
desc: Page size: 4096
{more}positions: line
events: Ir I1tm ILtm
"""
# main calls one 30 times; one calls two 20 times, itself 5 times, main back twice; a jump is no call.
BODY = """
ob=(1) /bin/main
fl=(1) main.c
fn=(1) main
1 {rest} 100 10
cob=(2) /lib/libone.so
cfi=(2) one.c
cfn=(2) one
calls=30 1
1 1000 10 1

ob=(2)
fl=(2)
fn=(2)
1 1000 300 30
cob=(3) /lib/libtwo.so
cfi=(3) two.c
cfn=(3) two
calls=20 1
1 500 5 1
cfn=(4) more
calls=5 1
1 10 1 1
cob=(1)
cfi=(1)
cfn=(1)
calls=2 1
1 10 1 1
cob=(4) /lib/libthree.so
cfi=(4) three.c
cfn=(5) three
calls=0 1
1 10 1 1

ob=(3)
fl=(3)
fn=(3)
1 500 200 2

ob=(4)
fl=(4)
fn=(5)
1 10 1 0
"""
CODE = """desc: Code: 1 100 /bin/main
desc: Code: 2 4096 /lib/libone.so
desc: Code: 3 1024 /lib/libtwo.so
"""
MERGED = """desc: Merged code: 0x1000 265 0x600000000000 /lib/libone.so
desc: Merged code: 0x1000 293 0x600000000110 /lib/libtwo.so
"""
SEE = " (tg_annotate --help lists what is allowed)"


def out_file(
    place: Path, name: str, body: str, instructions: int = 1_000_000, more: str = "", machine: str = "m",
    command: str = "./a", counts: list[int] | None = None,
) -> str:  # fmt: skip
    head = HEAD.format(command=command, machine=machine, more=more)
    totals = [instructions, 601, 42] if counts is None else counts
    end = "\n".join(f"{word}: {' '.join(map(str, totals))}" for word in ("summary", "totals"))
    (place / name).write_text(f"{head}{body.format(rest=instructions - 1510)}\n{end}\n", encoding="utf-8")
    return name


def base(place: Path, more: str = CODE, instructions: int = 1_000_000, command: str = "./a") -> str:
    return out_file(place, "base", BODY, instructions, more, command=command)


def merged(place: Path, name: str, misses: int, walks: int, pages: int | None = None, instructions: int = 1_000_000, machine: str = "m") -> str:
    more = MERGED if pages is None else f"{CODE}{MERGED}desc: Merged code pages: {pages} 4097\n"
    body = f"\nob=a\nfl=a\nfn=a\n1 {instructions} {misses} {walks}\n"
    return out_file(place, name, body, more=more, machine=machine, counts=[instructions, misses, walks])


def good(place: Path, *arguments: str) -> str:
    status, out, err = run(place, "--advice=libraries", *arguments).text()
    assert (status, err) == (0, "")
    return out


def test_calls_between_objects_and_how_full_pages_are(tmp_path: Path) -> None:
    text = good(tmp_path, base(tmp_path)).splitlines()
    assert text[:17] == [
        "base: ./a on m; per 1000 Ir 0.052 calls between objects (52), 0.601 I1tm (601)",
        "No dynamic linker is among the objects: the program is static, or the linker is a part of the C",
        "library (musl), so its work cannot be told from others'.",
        "",
        "-- Objects ---------------------------------------------------------------------",
        "I1tm  ILtm  calls in  calls out  pages  bytes   full  object",
        " 300    30        30         22      2  4,096  50.0%  /lib/libone.so",
        " 200     2        20          0      3  1,024   8.3%  /lib/libtwo.so",
        " 100    10         2         30      1    100   2.4%  /bin/main",
        "   1     0         0          0      -      -         /lib/libthree.so",
        "",
        "-- Calls between objects -------------------------------------------------------",
        "calls         back  from -> to",
        "   30  61.5%     2  main -> libone.so",
        "   20  38.5%     0  libone.so -> libtwo.so",
        "",
        "Next: what merging saves, is in the out-file of another run with --dump-instr=yes and --merge-code=",
    ]
    assert "--merge-code='main,libone.so,libtwo.so'" in "\n".join(text)


def test_what_is_below_the_threshold_is_added_up(tmp_path: Path) -> None:
    text = good(tmp_path, "--threshold=50", base(tmp_path))
    assert " 300    30        30         22      2  4,096  50.0%  /lib/libone.so\n" in text
    assert " 101    10         2         30      1    100   2.4%  2 more\n" not in text
    assert " 201     2        20          0      3  1,024   8.3%  2 more\n" in text
    assert "   20  38.5%     0  1 more\n" in text


def test_paths_stand_where_names_are_not_enough(tmp_path: Path) -> None:
    assert "/bin/main -> /lib/libone.so\n" in good(tmp_path, "--wide", base(tmp_path))
    renamed = good(tmp_path, "--mod-filename=s|/bin/main|/usr/libtwo.so|", base(tmp_path))
    assert "/usr/libtwo.so -> libone.so\n" in renamed
    assert "libone.so -> /lib/libtwo.so\n" in renamed


def test_objects_that_are_given_one_name_are_one(tmp_path: Path) -> None:
    text = good(tmp_path, "--mod-filename=s,lib(one|two),libboth,", base(tmp_path))
    assert " 500    32        30          2      5  5,120  25.0%  /lib/libboth.so\n" in text
    assert "   30  100.0%     2  main -> libboth.so\n" in text


def test_what_merging_saves(tmp_path: Path) -> None:
    files = [base(tmp_path), merged(tmp_path, "some", 500, 42, 5), merged(tmp_path, "worse", 650, 45), merged(tmp_path, "most", 101, 20, 2)]
    text = good(tmp_path, *files)
    table = text[text.index("-- Merged") :].splitlines()[1:6]
    assert table == [
        "merged  I1tm  saved         ILtm  saved         pages  saved  least  file",
        "     0   601                  42                    6                base",
        "     2   101    500  83.2%    20     22  52.4%      3      3      2  most",
        "     2   500    101  16.8%    42      0             6      0      2  some",
        "     2   650    -49  -8.2%    45     -3  -7.1%      -      -      -  worse",
    ]
    said = " ".join(text.split())
    saves = "most: merging may pay: it saves 500 L1 instruction-TLB misses and 22 instruction page walks"
    assert f"{saves}; 0.1 to 1.1% of the time, 1,176 to 5,660 cycles; worth it from 5,073 on. most: " in said
    assert "some: merging" not in text
    assert "worse: merging" not in text


# Pages of merged code, 4097 bytes of which were executed, and instructions, and whether their order is worth it: two of
# the program's five pages are at most 10,000 cycles, a hundredth of 967,730 and of the 7,270 and 25,000 of its misses
# and pages.
ORDER = [(4, 1_000_000, True), (3, 1_000_000, False), (4, 1_935_460, True), (4, 1_935_461, False)]


@pytest.mark.parametrize(("pages", "instructions", "said"), ORDER)
def test_where_pages_could_be_halved_the_order_is_named(tmp_path: Path, pages: int, instructions: int, said: bool) -> None:
    files = [base(tmp_path, instructions=instructions), merged(tmp_path, "other", 601, 42, pages, instructions)]
    assert (f"lies in {pages} pages and would fill 2" in good(tmp_path, *files).replace("\n         ", " ")) == said


# Misses, walks and pages with merged code, and instructions, and what is said. It was 601, 42 and 6: 1,538 to 7,270
# cycles, of 2 to 10 for a miss that is no walk, and 10 to 40 for one that is.
WORTH = [
    (93, 42, 6, 1_000_000, "may pay: it saves 508 L1 instruction-TLB misses and 0 "),
    (94, 42, 6, 1_000_000, "Nothing to win in the instruction TLBs: "),
    (513, 42, 6, 16_000, "pays: it saves 88 L1 instruction-TLB misses and 0 "),
    (514, 42, 6, 16_000, "may pay: it saves 87 L1 instruction-TLB misses and 0 "),
    (601, 20, 6, 16_000, "pays: it saves 0 L1 instruction-TLB misses and 22 instruction page walks; "),
    (601, 21, 6, 16_000, "may pay: it saves 0 L1 instruction-TLB misses and 21 instruction page walks; "),
    (601, 42, 2, 3_925_460, "may pay at the start: it saves 4 pages of code, each a page fault at most; "),
    (601, 42, 2, 3_925_461, "Nothing to win in the instruction TLBs: "),
]


@pytest.mark.parametrize(("misses", "walks", "pages", "instructions", "said"), WORTH)
def test_what_is_worth_the_trouble(tmp_path: Path, misses: int, walks: int, pages: int, instructions: int, said: str) -> None:
    """One hundredth of the time. The objects that are merged have five of the pages."""
    files = [base(tmp_path, instructions=instructions), merged(tmp_path, "other", misses, walks, pages - 1, instructions)]
    text = " ".join(good(tmp_path, *files).split())
    assert said in text
    assert "--merge-code" not in text
    assert ("Keep the libraries." in text) == said.startswith("Nothing")


def test_nothing_is_to_be_merged_where_little_misses(tmp_path: Path) -> None:
    assert "Nothing to win in the instruction TLBs: " in good(tmp_path, base(tmp_path, instructions=1_439_461))
    assert "Next: " in good(tmp_path, base(tmp_path, instructions=1_439_460))


def test_one_object_has_nothing_to_be_merged_with(tmp_path: Path) -> None:
    text = good(tmp_path, "--mod-filename=s|.+|one|", base(tmp_path))
    assert "No object calls another.\n" in text
    assert "Nothing to merge: no two files call each other often.\n" in text


def test_without_addresses_pages_are_not_known(tmp_path: Path) -> None:
    text = good(tmp_path, base(tmp_path, more=""), merged(tmp_path, "other", 101, 42, 3))
    assert " 300    30        30         22      -      -        /lib/libone.so\n" in text
    assert re.search(r"^ +0 +601 +42 +- +base$", text, re.MULTILINE)
    assert re.search(r"^ +2 +101 +500 +83.2% +42 +0 +4 +- +2 +other$", text, re.MULTILINE)


@pytest.mark.parametrize("threshold", ["0", "50"])
def test_json_keeps_to_the_schema_and_csv_has_the_same_cells(tmp_path: Path, threshold: str) -> None:
    files = (f"--threshold={threshold}", base(tmp_path), merged(tmp_path, "worse", 700, 42), merged(tmp_path, "most", 101, 20, 3))
    found = document(good(tmp_path, "--format=json", *files))
    assert (found["about"], [file["path"] for file in found["files"]]) == ("libraries", ["base", "most", "worse"])
    objects, pairs, merges = found["tables"]
    assert [table["name"] for table in found["tables"]] == ["object", "pair", "merge"]
    assert objects["rows"][0] == {
        "object": "/lib/libone.so", "I1tm": 300, "ILtm": 30, "calls_in": 30, "calls_out": 22, "code_pages": 2, "code_bytes": 4096,
    }  # fmt: skip
    assert pairs["rows"][0] == {"object": "/bin/main", "other": "/lib/libone.so", "calls": 30, "back": 2}
    for table, totals in ((objects, {"I1tm": 601, "ILtm": 42, "calls_in": 52, "calls_out": 52, "code_pages": 6, "code_bytes": 5220}), (pairs, {"calls": 50, "back": 2})):
        rest = table["rest"] or {}
        assert {key: sum(row[key] or 0 for row in table["rows"]) + rest.get(key, 0) for key in totals} == totals
        assert (rest == {}) == (threshold == "0")
    assert merges["rows"][1] == {
        "file": "most", "pays": "perhaps", "objects": 2, "Ir": 1_000_000, "I1tm": 101, "I1tm_saved": 500, "ILtm": 20,
        "ILtm_saved": 22, "code_pages": 4, "code_pages_saved": 2, "least_pages": 2,
        "cycles_saved_least": 1176, "cycles_saved_most": 5660, "time_saved_least": 1176 / 1_001_538, "time_saved_most": 5660 / 507_270,
        "worth_from": 5073,
    }  # fmt: skip
    assert [(row["file"], row["pays"], row["code_pages_saved"]) for row in merges["rows"]] == [("base", "no", 0), ("most", "perhaps", 2), ("worse", "no", None)]
    rows = csv_rows(good(tmp_path, "--format=csv", *files))
    assert [{key: cell for key, cell in row.items() if cell} for row in rows] == as_csv(found)


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    first = base(tmp_path)
    other = merged(tmp_path, "other", 1, 1)
    without = out_file(tmp_path, "without", "\nob=a\nfl=a\nfn=a\n1 10 10 10\n", counts=[10, 10, 10])
    foreign = merged(tmp_path, "foreign", 1, 1, machine="zen4")
    broken = out_file(tmp_path, "broken", BODY, more="desc: Code: many 1 /lib/libone.so\n")
    bad_piece = out_file(tmp_path, "bad-piece", BODY, more="desc: Merged code: 12 /lib/libone.so\n")
    same = "not of the same command and machine as base; --advice=libraries compares a run with the same run with --merge-code="
    for files, complaint in (
        ([without], "without: without calls; tlbgrind records them with --calls=yes"),
        ([other, first], "other: of a run with --merge-code=; the first file of --advice=libraries is that of the program as it is"),
        ([first, without], "without: without merged code; behind the first out-file --advice=libraries takes those of runs with --merge-code="),
        ([first, foreign], f"foreign: {same}"),
        ([broken], "broken: 'desc: Code: many 1 /lib/libone.so' is not of the form that tlbgrind writes"),
        ([first, bad_piece], "bad-piece: 'desc: Merged code: 12 /lib/libone.so' is not of the form that tlbgrind writes"),
    ):
        done = run(tmp_path, "--advice=libraries", *files)
        assert (done.status, done.out, done.err) == (1, b"", f"tg_annotate: error: {complaint}\n".encode())


LOG = """# tlbgrind fault log
version: 1
pid: {pid}
cmd: ./a
page size: 4096
views: 4k warm cold
columns: number kinds page map instructions thread by code warm-brought cold-brought cold-read
summary\t4k\t0\t0\t0\t0\t0\t0\t0\t0
summary\twarm\t0\t0\t0\t0\t0\t0\t0\t0
summary\tcold\t0\t0\t0\t0\t0\t0\t0\t0
hidden\t4k\t0\t0
hidden\twarm\t0\t0
hidden\tcold\t0\t0
{phases}end\t0
"""
PHASES = "".join(f"phase\t{group}" + 16 * "\t0" + "\n" for group in ("program", "libraries", "other"))


def test_fault_logs_that_do_not_belong_to_the_run(tmp_path: Path) -> None:
    first = base(tmp_path)
    for name, pid in (("log", 1), ("again", 1), ("foreign", 2)):
        (tmp_path / name).write_text(LOG.format(pid=pid, phases=PHASES))
    assert good(tmp_path, first, "log") == good(tmp_path, first)
    for files, complaint in (
        (["log"], "log: a fault log; --advice=libraries takes the out-file of its run before it"),
        ([first, "log", "again"], "again: a second fault log; --advice=libraries takes that of the first out-file"),
        ([first, "foreign"], "foreign: not of the run of base"),
    ):
        done = run(tmp_path, "--advice=libraries", *files)
        assert (done.status, done.out, done.err) == (1, b"", f"tg_annotate: error: {complaint}\n".encode())


def test_files_without_instruction_tlb_misses(tmp_path: Path) -> None:
    (tmp_path / "callgrind.out").write_text("# callgrind format\nevents: Ir\nfn=a\n1 1\ncfn=b\ncalls=1 1\n1 1\ntotals: 1\n", encoding="utf-8")
    done = run(tmp_path, "--advice=libraries", "callgrind.out")
    complaint = "callgrind.out: without the event I1tm; --advice=libraries takes out-files of tlbgrind"
    assert (done.status, done.out, done.err) == (1, b"", f"tg_annotate: error: {complaint}\n".encode())


def test_runs_of_different_work_are_reported(tmp_path: Path) -> None:
    done = run(tmp_path, "--advice=libraries", base(tmp_path), merged(tmp_path, "short", 1, 1, instructions=989_999))
    assert done.status == 0
    assert done.err == (
        b"tg_annotate: warning: short: 989,999 instructions, but 1,000,000 in base: misses of different work "
        b"cannot be compared\n"
    )


def test_options_that_do_not_go_with_it(tmp_path: Path) -> None:
    for option in ("--diff", "--compare", "--annotate", "--tree", "--fail-above=Ir>1"):
        done = run(tmp_path, "--advice=libraries", option, "a", "b")
        name = option.partition("=")[0]
        sides = ("--advice", name) if option != "--tree" else (name, "--advice")
        assert done.err == f"tg_annotate: error: {sides[0]} goes without {sides[1]}{SEE}\n".encode()
    done = run(tmp_path, "--advice=stacks", "a")
    assert done.err == f"tg_annotate: error: argument --advice: 'stacks' is not one of pages, libraries{SEE}\n".encode()
