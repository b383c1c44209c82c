# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Damage of every kind: a fault log is either read whole or refused in one line."""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from faults_support import COMPANIONS, DATA, package, refused
from tg_damage import Text, damaged, edited

SAMPLE = (DATA / "mixed.faults").read_bytes()
USED = (DATA / "used.faults").read_bytes()
SAMPLES = pytest.mark.parametrize("sample", [SAMPLE, USED], ids=["faults", "used"])

EDITS = {
    "first line": (b"# tlbgrind fault log", b"# tlbgrind", "1: not a fault log: the first line is not '# tlbgrind fault log'"),
    "newer": (b"version: 1", b"version: 2", "2: version '2' of the fault log, where only 1 is known"),
    "no version": (b"version: 1", b"revision: 1", "15: there is no 'version:' in the header"),
    "twice": (b"pid: 4712", b"version: 1", "4: a second 'version:'"),
    "page size": (b"size: 4096", b"size: 8192", "6: page size '8192', where 4096, 16384 or 65536 is allowed"),
    "views": (b"views: 4k warm cold", b"views: 4k warm", "12: views '4k warm', where '4k warm cold' is expected"),
    "columns": (
        b"columns: number kinds",
        b"columns: kinds",
        (
            "13: columns 'kinds page map instructions thread by code warm-brought cold-brought cold-read', where "
            "'number kinds page map instructions thread by code warm-brought cold-brought cold-read' is expected"
        ),
    ),
    "header": (b"pid: 4712", b"4712", "4: there is no 'page size:' in the header"),
    "odd header": (b"pid: 4712", b"PID 4712", "4: not a line of a fault log: 'PID 4712'"),
    "map again": (b"map\t2", b"map\t1", "16: map 1 is defined again"),
    "map fields": (b"\t0x18000\t/usr/bin/mixed", b"\t0x18000", "18: 8 fields, where a line 'map' has 9"),
    "map protection": (b"rw-s", b"rwxx", "21: 'rwxx' is not a protection, as in rw-"),
    "map what": (b"\theap\t", b"\theapo\t", "20: 'heapo' is not one of file, bss, heap, stack, thread-stack, tls, vdso, shm, anon"),
    "map ends": (b"0x108000\t0x10a000", b"0x108000\t0x108000", "16: a map that ends at 0x108000, where it begins"),
    "code again": (b"code\t2", b"code\t1", "25: code 1 is defined again"),
    "empty field": (b"\t1\tbrk\t4", b"\t1\t\t4", "37: an empty field; '-' stands for nothing"),
    "gap": (b"\n5\tcCc", b"\n6\tcCc", "30: fault 6 behind fault 4"),
    "kinds": (b"cCc", b"cQc", "30: 'cQc' are not the kinds of a fault in 3 views"),
    "no kinds": (b"cCc", b"---", "30: '---' are not the kinds of a fault in 3 views"),
    "no map": (b"0x121000\t4\t400", b"0x121000\t44\t400", "30: map 44 was not defined"),
    "no code": (b"\t400\t1\t-\t2\t", b"\t400\t1\t-\t7\t", "30: code 7 was not defined"),
    "page": (b"0x121000\t4\t400", b"0x121004\t4\t400", "30: 0x121004 is not the address of a page of 4096 bytes"),
    "address": (b"0x121000\t4\t400", b"121000\t4\t400", "30: '121000' is not an address in hexadecimal digits"),
    "number": (b"0x121000\t4\t400", b"0x121000\t4\t-400", "30: '-400' is not a number from 0 to 2^64-1"),
    "large": (
        b"0x121000\t4\t400",
        b"0x121000\t4\t18446744073709551616",
        "30: '18446744073709551616' is not a number from 0 to 2^64-1",
    ),
    "ranges": (b"-9..-1,+1..+6", b"-9..-1,1..6", "26: '-9..-1,1..6' is not a list of ranges of pages, as in -4..-1,+1..+11"),
    "range order": (b"-9..-1,+1..+6", b"+1..+6,-9..-1", "26: '+1..+6,-9..-1' is not an ascending list of ranges of pages"),
    "repeat fields": (b"*\t3\t0x1000\t10", b"*\t3\t0x1000", "40: 3 fields, where a line '*' has 4"),
    "repeat step": (b"*\t3\t0x1000\t10", b"*\t3\t4096\t10", "40: '4096' is not a step in hexadecimal digits"),
    "repeat out": (b"*\t1\t-0x1000\t0", b"*\t1\t-0x7000000\t0", "44: 1 repetitions by -0x7000000 lead out of the address space"),
    "repeat none": (b"*\t3\t0x1000\t10", b"*\t0\t0x1000\t10", "40: 0 repetitions by 0x1000 lead out of the address space"),
    "repeat twice": (b"*\t3\t0x1000\t10\n", b"*\t1\t0x1000\t10\n*\t2\t0x1000\t10\n", "41: a repetition before the first fault"),
    "lost fault": (b"18\t0\t3\t3\t1\t8\t2\t1", b"19\t0\t3\t3\t1\t9\t2\t1", "45: 'summary 4k' says 19 faults, but the log holds 18"),
    "lost kind": (b"16\t1\t2\t2\t1\t8\t2\t1", b"16\t1\t2\t2\t2\t8\t1\t1", "46: 'summary warm' says 2 zero page, but the log holds 1"),
    "major": (b"cold\t17\t4", b"cold\t17\t5", "47: 'summary cold' says 5 major, but the log holds 4"),
    "summary twice": (b"summary\twarm\t16\t1\t2\t2\t1\t8\t2\t1", b"summary\t4k\t18\t0\t3\t3\t1\t8\t2\t1", "46: a second 'summary 4k'"),
    "no summary": (b"summary\tcold", b"# summary", "54: there is no 'summary cold'"),
    "view": (b"hidden\tcold", b"hidden\thot", "50: 'hot' is not one of 4k, warm, cold"),
    "phases": (b"phase\tother\t10", b"phase\tother", "53: 17 fields, where a line 'phase' has 18"),
    "phase group": (b"phase\tother", b"phase\tothers", "53: 'others' is not one of program, libraries, other"),
    "no phase": (b"phase\tprogram", b"# phase", "54: there is no 'phase program'"),
    "lost phase": (b"phase\tother\t10", b"phase\tother\t9", "54: the lines 'phase' have 15 faults as it is, but the view warm 16"),
    "no hidden": (b"hidden\twarm", b"# hidden", "54: there is no 'hidden warm'"),
    "outside": (b"0x121000\t4\t400", b"0x921000\t4\t400", "30: 0x921000 is not a page of map 4"),
    "repeat outside": (b"*\t1\t-0x1000\t0", b"*\t1\t0x1000000\t0", "44: 0x77ff000 is not a page of map 9"),
    "end": (b"end\t18", b"end\t17", "54: 'end' says 17 faults, but the log holds 18"),
    "no end": (b"end\t18", b"# end", "54: the file ends without 'end', so it is not whole"),
    "late fault": (b"hidden\t4k", b"19\twww\t0x67fd000\t9\t91005\t2\t-\t5\t-\t-\t-\nhidden\t4k", "48: fault 19 behind 'summary'"),
    "late repetition": (b"summary\twarm", b"*\t1\t-0x1000\t0\nsummary\twarm", "46: a repetition behind 'summary'"),
    "more": (b"end\t18\n", b"end\t18\nend\t18\n", "55: text after 'end', the last line of a fault log"),
    "text": (b"hidden\tcold", b"hello", "50: not a line of a fault log: 'hello\t11\t2'"),
}


@pytest.mark.parametrize("title", EDITS)
def test_an_edited_log_is_refused(title: str, tmp_path: Path) -> None:
    old, new, complaint = EDITS[title]
    (tmp_path / "broken").write_bytes(edited(SAMPLE, old, new))
    refused(f"broken:{complaint.replace(chr(9), '?')}", "broken", folder=tmp_path)


# Of bytes that were used.
EDITS_OF_USE = {
    "not yes": (b"faults-used: yes", b"faults-used: no", "11: faults-used 'no', where only yes is known"),
    "not told": (b"faults-used: yes", b"faults-lost: yes", "46: a line 'used' without 'faults-used: yes' in the header"),
    "fields": (b"13\t-++\t0", b"13\t-++", "55: 5 fields, where a line 'used' has 6"),
    "empty field": (b"13\t-++\t0", b"\t-++\t0", "55: an empty field; '-' stands for nothing"),
    "map": (b"used\t9", b"used\t10", "65: map 10 was not defined"),
    "no map": (b"used\t9", b"used\tx", "65: 'x' is not a number from 0 to 2^64-1"),
    "kinds": (b"ppp", b"pqp", "61: 'pqp' is not how a page came in 3 views"),
    "capitals": (b"ppp", b"Xpp", "61: 'Xpp' is not how a page came in 3 views"),
    "no kinds": (b"ppp", b"---", "61: '---' is not how a page came in 3 views"),
    "page": (b"0x4a08000", b"0x4a08100", "61: 0x4a08100 is not the address of a page of 4096 bytes"),
    "no address": (b"0x4a08000", b"4a08000", "61: '4a08000' is not an address in hexadecimal digits"),
    "no pages": (b"\t13\t-++", b"\t0\t-++", "55: 0 pages from 0x10d000 on are not pages of map 3"),
    "many pages": (
        b"\t13\t-++",
        b"\t4503599627370496\t-++",
        "55: 4503599627370496 pages from 0x10d000 on are not pages of map 3",
    ),
    "behind": (b"\t13\t-++", b"\t20\t-++", "55: 20 pages from 0x10d000 on are not pages of map 3"),
    "before": (b"0x4a08000", b"0x49ff000", "61: 1 pages from 0x49ff000 on are not pages of map 6"),
    "late": (b"end\t18", b"used\t9\t0x67fe000\t2\twww\t100\nend\t18", "78: a line 'used' behind 'used-total'"),
    "bytes": (b"zzz\t4096", b"zzz\t4097", "57: 4097 bytes used of a page of 4096 bytes"),
    "minus": (b"zzz\t4096", b"zzz\t-1", "57: '-1' is not a number from 0 to 2^64-1"),
    "not there": (b"13\t-++\t0", b"13\t-++\t1", "55: 1 bytes used of a page that is not there in each view: '-++'"),
    "lost pages": (b"\t13\t-++", b"\t12\t-++", "76: 'used-total warm' says 61 pages, but the log holds 60"),
    "lost bytes": (b"zzz\t4096", b"zzz\t4095", "75: 'used-total 4k' says 29447 bytes, but the log holds 29446"),
    "lost line": (b"used\t9\t0x67fe000\t2\twww\t100\n", b"", "74: 'used-total 4k' says 18 pages, but the log holds 16"),
    "total twice": (b"used-total\twarm\t61", b"used-total\t4k\t18", "76: a second 'used-total 4k'"),
    "no total": (b"used-total\tcold", b"# used-total", "78: there is no 'used-total cold'"),
    "view": (b"used-total\tcold", b"used-total\thot", "77: 'hot' is not one of 4k, warm, cold"),
}


@pytest.mark.parametrize("title", EDITS_OF_USE)
def test_edited_bytes_are_refused(title: str, tmp_path: Path) -> None:
    old, new, complaint = EDITS_OF_USE[title]
    (tmp_path / "broken").write_bytes(edited(USED, old, new))
    refused(f"broken:{complaint}", "--used", "broken", folder=tmp_path)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 9)
    refused("empty: the file is empty", "empty", folder=tmp_path)
    refused("binary:1: not a fault log: the first line is not '# tlbgrind fault log'", "binary", folder=tmp_path)
    refused("nowhere: No such file or directory", "nowhere", folder=tmp_path)
    refused(f"{tmp_path}: Is a directory", tmp_path, folder=tmp_path)
    refused(
        "example.faults:2: not a line of perf script -F comm,pid,addr,ip,sym: 'version: 1'",
        "--native=example.faults",
        "mixed.faults",
    )


def small_space() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@pytest.mark.parametrize("companion", ["tg_annotate", "tg_faults", "tg_order"])
def test_a_file_larger_than_memory(companion: str, tmp_path: Path) -> None:
    """One line, as of all that is wrong with a file."""
    with open(tmp_path / "large", "wb") as out:
        out.truncate(1 << 34)
    done = subprocess.run(
        [sys.executable, "-B", str(COMPANIONS / companion), "large"],
        cwd=tmp_path,
        preexec_fn=small_space,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    complaint = f"{companion}: error: large: not enough memory to read so much\n"
    assert (done.stderr.decode(), done.returncode, done.stdout) == (complaint, 1, b"")


ERROR = re.compile(rb"tg_faults: error: damaged(:[0-9]+)?: [^\n]+\n\Z")


def call(*arguments: str) -> int:
    out, err = Text(), Text()
    with redirect_stdout(out), redirect_stderr(err):
        status = package("faults.cli").main([*arguments, "damaged"])
    if status == 0:
        assert out.bytes()
    else:
        assert status == 1
        assert out.bytes() == b""
        assert ERROR.match(err.bytes()), err.bytes()
    return int(status)


@SAMPLES
def test_a_log_cut_anywhere_is_refused_or_whole(
    sample: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for size in range(len(sample) - 2):
        Path("damaged").write_bytes(sample[:size])
        assert call() == 1, f"cut after byte {size}"
    Path("damaged").write_bytes(sample[:-1])  # only the last line feed is missing
    assert call() == 0


@SAMPLES
def test_a_log_without_any_of_its_lines_is_refused_or_still_adds_up(
    sample: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Totals, gaps and definitions tell of every line but descriptions and counts of their own."""
    monkeypatch.chdir(tmp_path)
    lines = sample.splitlines(keepends=True)
    spare = (b"#", b"creator", b"pid", b"cmd", b"fault-around", b"read-ahead", b"thp", b"mthp")
    spare += (b"assumption",)
    for number, line in enumerate(lines):
        Path("damaged").write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        assert call() == (0 if line.startswith(spare) and number else 1), line


@SAMPLES
def test_random_damage_never_ends_in_a_traceback(
    sample: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random("faults")
    statuses = set()
    for turn in range(2000):
        Path("damaged").write_bytes(damaged(sample, chance, b"0123456789abcdef-+.x\t\n*"))
        extra = (["--format=text"], ["--format=json"], ["--waste", "--growth=3", "--phase-range"], ["--view=4k"])
        more = ["--used"] if sample == USED and turn % 2 else []
        statuses.add(call(*extra[turn % 4], *more))
    assert statuses == {0, 1}
