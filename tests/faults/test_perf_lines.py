# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_faults --native reads what perf script prints, with whatever fields were asked for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from faults_support import DATA, figures, good, refused, run
from tg_companions import package

MIXED = DATA / "mixed.faults"
EVENT = "exceptions:page_fault_user: address=0x555555556140 ip=0x555555556144 error_code=0x14"
ADDRESSES = "555555556140 [unknown] 555555556144 main"


def read(folder: Path, text: str, *arguments: object) -> list[tuple[int, int, str]]:
    (folder / "x").write_text(text)
    faults = package("faults.native").read(str(folder / "x"), 4096, *arguments)
    return [(fault.page, fault.process, fault.kind) for fault in faults]


@pytest.mark.parametrize(
    ("head", "process"),
    [
        ("           mixed  4700 [001]   869.032456:   ", 4700),
        ("           mixed  4700   869.032456:   ", 4700),
        ("           mixed  4700   ", 4700),
        ("           mixed  4700 [001]   ", 4700),
        ("           mixed  4700/4701   ", 4700),
        ("           mixed  4700/4701 [001]   869.032456:          1   ", 4700),
        ("           mixed   869.032456: ", 0),
        ("mixed 4700 ", 4700),
        ("   mixed  ", 0),
    ],
)
def test_a_tracepoint_is_of_the_command_before_it(head: str, process: int, tmp_path: Path) -> None:
    """A command is known with or without a time, and another command's faults are not taken."""
    other = head.replace("mixed", "other")
    assert read(tmp_path, f"{head}{EVENT}\n{other}{EVENT}\n", "mixed") == [(0x555555556000, process, "x")]


@pytest.mark.parametrize("head", ["4700 ", " 4700/4701   869.032456:  ", "  ", ""])
def test_a_tracepoint_without_a_command_is_taken(head: str, tmp_path: Path) -> None:
    """All are taken."""
    process = 4700 if "4700" in head else 0
    assert read(tmp_path, f"{head}{EVENT}\n", "mixed") == [(0x555555556000, process, "x")]


@pytest.mark.parametrize("head", ["a mixed bag 4700 of fields ", "mixed 4700 [001] 869.0: what ", "mixed-4700 4 5 6 7 8 "])
def test_other_fields_are_refused(head: str, tmp_path: Path) -> None:
    """What is not understood is not guessed at."""
    line = f"{head}{EVENT}"
    (tmp_path / "x").write_text(f"\n{line}\n")
    complaint = f"x:2: not a line of perf script -F comm,pid,addr,ip,sym: '{line[:60]}'"
    refused(complaint, "--native=x", MIXED, folder=tmp_path)


@pytest.mark.parametrize(
    "head",
    [
        "           mixed  4700 ",
        "           mixed  4700   867.454768: ",
        "           mixed  4700   867.454768: page-faults:     ",
        "           mixed  4700 [001]   867.454768:          1 page-faults:u:     ",
        "mixed 4700/4702 ",
        "4700 ",
    ],
)
def test_an_address_is_found_behind_other_fields(head: str, tmp_path: Path) -> None:
    assert read(tmp_path, f"{head}{ADDRESSES}\n", "mixed") == [(0x555555556000, 4700, "")]


@pytest.mark.parametrize("rest", [EVENT, ADDRESSES])
@pytest.mark.parametrize("command", ["Worker 3", "GC Thread#0", "1", "a 1 2 3", "123456789012345"])
def test_a_command_may_have_numbers(command: str, rest: str, tmp_path: Path) -> None:
    """perf sets them in columns, so that it is plain where they end."""
    ((page, process, _),) = read(tmp_path, f"{command:>16}  4700 {rest}\n", command)
    assert (page, process) == (0x555555556000, 4700)


@pytest.mark.parametrize("name", ["software.perf", "tracepoints.perf"])
def test_threads_with_names_of_their_own_count(name: str, tmp_path: Path) -> None:
    """Every second line of the process is a thread's that has renamed itself, as Java's do."""
    lines = (DATA / name).read_text().splitlines(keepends=True)
    mine = [number for number, line in enumerate(lines) if " mixed " in line]
    for number in mine[1::2]:
        lines[number] = lines[number].replace("           mixed  4700", "     GC Thread#0  4700")
    other = lines[mine[1]].replace("4700", "4999")
    (tmp_path / name).write_text(other + "".join(lines) + other)
    alone = good(f"--native={name}", MIXED).split("-- Against")[1]
    result = run(tmp_path, f"--native={name}", MIXED)
    assert (result.status, result.err) == (0, b"")
    assert result.out.decode().split("-- Against")[1] == alone
    named = run(tmp_path, f"--native={name}", "--native-command=mixed", MIXED)
    assert 0 < figures(named.out.decode())["native"] < figures(alone)["native"]


@pytest.mark.parametrize(
    "line",
    [
        " " * 30_000,
        "x" + " " * 30_000 + "y",
        " " * 15_000 + "mixed 4700" + " " * 30_000 + "z",
        "mixed 4700 555555556140" + " " * 30_000 + "z",
        "1 " * 30_000,
        "1 " * 30_000 + "z",
        "555555556140 " + "a b " * 10_000 + "zz",
        "mixed 4700 869.03:" + " " * 30_000 + EVENT + "x" * 30_000,
        "exceptions:page_fault_user: address=0 ip=" * 1_000,
        "faults" * 10_000,
        "1" * 60_000,
    ],
)
def test_long_lines_take_no_time(line: str, tmp_path: Path) -> None:
    began = time.process_time()
    (tmp_path / "x").write_text(f"{line}\n{EVENT}\n")
    run(tmp_path, "--native=x", MIXED)
    try:
        package("faults.native").read(str(tmp_path / "x"), 4096, "")
    except package("base.errors").ReportError:
        pass
    assert time.process_time() - began < 5


def test_a_page_is_named_by_the_mapping_of_its_moment(tmp_path: Path) -> None:
    """Memory that was mapped where a file had been is not called by the file's name."""
    head = MIXED.read_text().split("\nmap\t")[0].replace("faults-used: yes\n", "")
    lines = [
        head,
        "map\t1\t0x4000000\t0x4002000\t0x7ffff7fca000\tr--\tfile\t0x0\t/old",
        "map\t2\t0x5000000\t0x5002000\t0x7ffff7fca000\trw-\tanon\t-\t-",
        "1\trrr\t0x4000000\t1\t0\t1\texec\t0\t-\t-\t-",
        "2\twww\t0x5000000\t2\t9\t1\texec\t0\t-\t-\t-",
        "summary\t4k\t2\t0\t0\t1\t0\t1\t0\t0",
        "summary\twarm\t2\t0\t0\t1\t0\t1\t0\t0",
        "summary\tcold\t2\t0\t0\t1\t0\t1\t0\t0",
        *(f"hidden\t{view}\t0\t0" for view in ("4k", "warm", "cold")),
        "phase\tprogram" + "\t0" * 16,
        "phase\tlibraries" + "\t2" * 16,
        "phase\tother" + "\t0" * 16,
        "end\t2\n",
    ]
    (tmp_path / "log").write_text("\n".join(lines))
    event = "exceptions:page_fault_user: address=0x7ffff7fc{} ip=0x1234 error_code=0x{}\n"
    taken = event.format("a000", 4) + event.format("b000", 4)
    (tmp_path / "x").write_text(taken)
    early = good("--native=x", "log", folder=tmp_path)
    assert "/old+0x1000" in early.split("-- Missing")[1].split("-- Too much")[0]
    assert "/old" not in early.split("-- Too much")[1]
    (tmp_path / "x").write_text(event.format("a000", 4) + event.format("a000", 6) + event.format("b000", 4))
    assert "/old" not in good("--native=x", "log", folder=tmp_path).split("-- Missing")[1]
