# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_native: what perf prints is understood, moved memory is paired, and real programs agree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tg_companions
from native_support import in_small_pieces, why_no_native
from tg_companions import package
from tg_environment import TLBGRIND, client
from tg_lacking import skip_what_lacks

# --- Which tlbgrind ---


@pytest.mark.parametrize("place", ["sources/tlbgrind/tlbgrind", "sources/build/tlbgrind/tlbgrind", "elsewhere/tlbgrind"])
def test_the_tool_is_that_of_the_same_installation_or_sources(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("sources/tlbgrind", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "sources/tlbgrind/tg_native")])
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    find = package("base.tool").tool
    with pytest.raises(Exception, match="there is no tlbgrind beside this command, nor in PATH"):
        find()
    for tool in ("elsewhere/tlbgrind", place):
        (tmp_path / tool).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / tool).touch(0o755)
    assert find() == str(tmp_path / place)


# --- What perf script prints ---

SCRIPT = """\
 0/0 0.000000: PERF_RECORD_COMM: perf-exec:47/47
 47/47 10.000001: PERF_RECORD_COMM exec: env:47/47
 47/47 10.000002: exceptions:page_fault_user: address=0x7000 ip=0x7000 error_code=0x14
 47/47 10.000003: PERF_RECORD_COMM exec: a program:47/47
 47/47 10.000004: PERF_RECORD_MMAP2 47/47: [0x400000(0x3000) @ 0x1000 fe:00 24 0]: r-xp /bin/a program
 47/47 10.000005: exceptions:page_fault_kernel: address=0x601010 ip=elf_load error_code=0x2
 47/47 10.000006: exceptions:page_fault_user: address=0x401abc ip=0x401abc error_code=0x14
 47/47 10.000007: PERF_RECORD_MMAP2 47/47: [0x800000(0x10000) @ 0x800000 00:00 0 0]: ---p //anon
 47/47 10.000008: PERF_RECORD_MMAP2 47/47: [0x802000(0x2000) @ 0x802000 00:00 0 0]: rw-p //anon
 47/47 10.000009: exceptions:page_fault_user: address=0x803008 ip=0x402004 error_code=0x6
 47/47 10.000010: PERF_RECORD_FORK(48:48):(47:47)
 48/48 10.000011: exceptions:page_fault_user: address=0x803010 ip=0x402004 error_code=0x7
 47/49 10.000012: PERF_RECORD_COMM: a thread:47/49
 47/49 10.000013: exceptions:page_fault_user: address=0xffffffffff600000 ip=0x1 error_code=0x5
 47/49 10.000014: exceptions:page_fault_user: address=0x804000 ip=0x402008 error_code=0x4
 48/48 10.000015: PERF_RECORD_COMM exec: other:48/48
 48/48 10.000016: exceptions:page_fault_user: address=0x803020 ip=0x9000 error_code=0x14
"""


def images(text: str, skip: int = 1) -> Any:
    return package("native.perfevents").images(text.split("\n"), skip)


def test_faults_are_of_a_process_and_its_program() -> None:
    """threads are with their process, a child with its own, and an exec begins another program"""
    found = images(SCRIPT)
    assert [(image.process, image.command) for image in found] == [
        (47, "a program"),
        (48, "a program"),
        (48, "other"),
    ]
    taken = [[(fault.address, fault.kind) for fault in image.faults] for image in found]
    assert taken == [
        [(0x601010, "w"), (0x401ABC, "x"), (0x803008, "w"), (0x804000, "r")],
        [(0x803010, "c")],
        [(0x803020, "x")],
    ]


def test_a_fault_has_its_mapping_and_the_place_of_its_instruction() -> None:
    """a piece of a reservation that gets another protection is a region of its own"""
    kernel, code, write, read = images(SCRIPT)[0].faults
    assert (kernel.region.name, kernel.who) == ("", "elf_load")
    assert code.region.place(code.address) == "/bin/a program+0x2abc"
    assert (write.region.start, write.who) == (0x802000, "/bin/a program+0x3004")
    assert read.region.start == 0x800000


def test_a_child_has_the_mappings_of_its_parent() -> None:
    _, forked, executed = images(SCRIPT)
    assert forked.faults[0].region.start == 0x802000
    assert executed.faults[0].region.start == 0


def test_anonymous_memory_stays_its_own_when_it_is_merged_with_a_neighbour() -> None:
    map_ = " 1/1 1.0: PERF_RECORD_MMAP2 1/1: [{}({}) @ 0 00:00 0 0]: rw-p //anon\n"
    text = " 1/1 1.0: PERF_RECORD_COMM exec: x:1/1\n" + map_.format("0x110000", "0x2000")
    text += map_.format("0x10e000", "0x4000")
    for page in ("0x10e000", "0x111000"):
        text += f" 1/1 1.0: exceptions:page_fault_user: address={page} ip=0x1 error_code=0x6\n"
    (image,) = images(text, 0)
    assert [fault.region.start for fault in image.faults] == [0x10E000, 0x110000]


def test_software_events_have_no_kinds() -> None:
    text = (
        " 1/1 1.0: PERF_RECORD_COMM exec: x:1/1\n"
        " 1/1 1.0:          1 page-faults:     7f87531d6ee0     7f87531d6ee0\n"
        " 1/1 1.0: page-faults:     7f8753226fc0 ffffffff81c3d0f3\n"
    )
    (image,) = images(text, 0)
    found = [(fault.address, fault.kind, fault.who) for fault in image.faults]
    assert found == [(0x7F87531D6EE0, "", "7f87531d6ee0"), (0x7F8753226FC0, "", "the kernel")]


@pytest.mark.parametrize("address", ["0x0", "0xfff8", "0xffffffffff600000"])
def test_an_access_that_is_refused_is_left_out(address: str) -> None:
    """as Java's of a null pointer is, which no log has"""
    text = " 1/1 1.0: PERF_RECORD_COMM exec: x:1/1\n"
    text += f" 1/1 1.0: exceptions:page_fault_user: address={address} ip=0x1 error_code=0x4\n"
    (image,) = images(text, 0)
    assert image.faults == []


def test_lost_faults_are_an_error() -> None:
    with pytest.raises(package("base.errors").ReportError, match="lost faults"):
        images(SCRIPT + " 47/47 11.0: PERF_RECORD_LOST lost 5\n")


# --- Which pages are the same ---


def test_the_first_run_is_no_choice_of_several() -> None:
    cli, measured = package("native.cli"), package("native.measure").Measured
    for tries, said in ((1, "with the first native run;"), (2, "with the best of 2 native runs;")):
        first, _ = cli._one(measured([], 0, tries, 1.0), None, None)
        assert first == f"0 of 0 pages agree, 0.00%, {said}"


def touches(*places: tuple[int, str, int, str]) -> Any:
    """Of page, kind, the region's begin, file."""
    touch = package("native.pairing").Touch
    return [
        touch(page * 4096, kind, (start, file), file, (page - start) * 4096)
        for page, kind, start, file in places
    ]


def paired(run: Any, other: Any) -> tuple[list[int], int, int]:
    found = package("native.pairing").by_mapping(run, other)
    return [page // 4096 for page in found.pages], found.regions, found.faults


def test_memory_at_the_same_addresses_is_not_moved() -> None:
    one = touches((100, "w", 100, ""), (101, "w", 100, ""))
    assert paired(one, one) == ([100, 101], 0, 0)


def test_a_region_is_moved_as_a_whole() -> None:
    """the distance at which most agree, although the begin that perf knows is another"""
    one = touches((100, "w", 90, ""), (103, "r", 90, ""), (109, "w", 90, ""))
    other = touches((500, "w", 500, ""), (503, "r", 500, ""), (508, "w", 500, ""))
    assert paired(one, other) == ([500, 503, 509], 1, 3)


def test_regions_are_paired_by_what_agrees_most() -> None:
    one = touches((100, "w", 100, ""), (102, "w", 100, ""), (200, "w", 200, ""), (207, "w", 200, ""))
    other = touches((500, "w", 500, ""), (507, "w", 500, ""), (600, "w", 600, ""), (602, "w", 600, ""))
    assert paired(one, other) == ([600, 602, 500, 507], 2, 4)


def test_of_regions_that_agree_alike_the_first_is_taken_first() -> None:
    one = touches((100, "w", 100, ""), (200, "w", 200, ""))
    other = touches((500, "w", 500, ""), (600, "w", 600, ""))
    assert paired(one, other) == ([500, 600], 2, 2)


def test_a_kind_that_differs_does_not_agree() -> None:
    one = touches((100, "w", 100, ""))
    other = touches((500, "r", 500, ""), (600, "w", 600, ""))
    assert paired(one, other) == ([600], 1, 1)


def test_a_page_of_a_file_is_found_wherever_the_file_lies() -> None:
    one = touches((100, "r", 100, "/lib"), (107, "x", 100, "/lib"))
    other = touches((507, "x", 500, "/lib"), (100, "w", 90, ""))
    assert paired(one, other) == ([100, 507], 0, 0)


def test_memory_that_has_no_partner_keeps_its_address() -> None:
    one = touches((100, "w", 100, ""))
    assert paired(one, []) == ([100], 0, 0)


# --- What is said of wrong calls ---

HINT = "(tg_native --help lists what is allowed)"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], f"no PROGRAM given {HINT}"),
        (["--programs=x", "ls"], f"--programs goes without a PROGRAM {HINT}"),
        (["--programs=x", "--log=y"], f"--programs goes without --log {HINT}"),
        (["--least=101", "ls"], f"argument --least: '101' is not a share from 0 to 100 per cent {HINT}"),
        (["--log=x", "--tlbgrind=y", "ls"], f"--log goes without --tlbgrind and --tlbgrind-option: it is not run {HINT}"),
    ],
)
def test_a_wrong_call_is_refused(arguments: list[str], complaint: str, tmp_path: Path) -> None:
    tg_companions.refused("tg_native", tmp_path, complaint, *arguments)


def test_options_behind_the_program_are_the_program_s(tmp_path: Path) -> None:
    """--help behind a program is not for tg_native"""
    no_perf = {"PATH": str(tmp_path), "LC_ALL": "C"}
    done = subprocess.run(
        tg_companions.command("tg_native", "--tlbgrind=x", "ls", "--help"),
        env=no_perf,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tg_native: error: there is no perf here (Debian package: linux-perf)\n"


def test_the_variables_are_printed(tmp_path: Path) -> None:
    done = subprocess.run(
        tg_companions.command("tg_native", "--variables"),
        env={"PERL_HASH_SEED": "0", "GLIBC_TUNABLES": "glibc.malloc.check=1"},
        capture_output=True,
        text=True,
        check=True,
    )
    printed = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert printed["PYTHONHASHSEED"] == "0"
    assert "PERL_HASH_SEED" not in printed
    assert printed["GLIBC_TUNABLES"].startswith("glibc.malloc.check=1:glibc.cpu.hwcaps=-AVX512F,")


# --- Real programs ---


@pytest.fixture(scope="module")
def perf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    reason = why_no_native(tmp_path_factory.mktemp("perf"))
    if reason is not None:
        pytest.skip(reason)
    yield


def tg_native(folder: Path, *arguments: object) -> tg_companions.Answer:
    return tg_companions.run("tg_native", folder, f"--tlbgrind={TLBGRIND}", *arguments).text()


def agree(text: str) -> tuple[int, int]:
    found = re.search(r"^([\d,]+) of ([\d,]+) pages agree", text, re.MULTILINE)
    assert found, text
    same, all_ = (int(number.replace(",", "")) for number in found.groups())
    return same, all_


TRIES = "--tries=8"  # of which one is not disturbed


@pytest.mark.parametrize("events", ["tracepoints", "software"])
def test_a_small_program_agrees_in_everything(events: str, perf: None, tmp_path: Path) -> None:
    program = in_small_pieces(client("fault_hello"), tmp_path)
    told = tg_native(tmp_path, f"--events={events}", TRIES, "--least=100", program)
    assert (told.status, told.err) == (0, "")
    same, all_ = agree(told.out)
    assert same == all_ > 40
    assert ("match: page and kind" in told.out) == (events == "tracepoints")


def test_drawn_addresses_are_paired_by_mapping(perf: None, tmp_path: Path) -> None:
    """three regions at random addresses: by mapping all agree, by address 22 + 4 + 1 faults do not"""
    program = in_small_pieces(client("fault_drawn"), tmp_path)
    told = tg_native(tmp_path, TRIES, "--least=100", program)
    assert (told.status, told.err) == (0, "")
    assert "3 regions lie at other addresses in each run: 27 faults paired by mapping." in told.out
    strict = tg_native(tmp_path, "--tries=1", "--pair=address", "--least=100", program)
    assert strict.status == 3
    same, all_ = agree(strict.out)
    assert all_ - same == 27
    assert re.fullmatch(r"tg_native: failed: .*/fault_drawn: [\d.]+% agree, less than --least=100\n", strict.err)


@pytest.mark.parametrize("linked", ["-no-pie", "-static"])
def test_a_program_of_musl_agrees_in_everything(linked: str, perf: None, tmp_path: Path) -> None:
    if shutil.which("musl-gcc") is None:
        skip_what_lacks("no musl-gcc (Debian package: musl-tools)")
    source = Path(os.environ["TG_SRCDIR"]) / "tests" / "clients" / "fault_hello.c"
    subprocess.run(["musl-gcc", "-g", linked, source, "-o", tmp_path / "hello"], check=True)
    told = tg_native(tmp_path, TRIES, "--least=100", in_small_pieces(tmp_path / "hello", tmp_path))
    assert (told.status, told.err) == (0, "")
    same, all_ = agree(told.out)
    assert same == all_ > (1 if linked == "-static" else 10)


def test_addresses_that_stay_random_are_told(perf: None, tmp_path: Path) -> None:
    """as in containers, whose filter of system calls forbids personality(2)"""
    options = [f"--tlbgrind={TLBGRIND}", "--tries=1"]
    command = tg_companions.command("tg_native", *options, in_small_pieces(client("fault_hello"), tmp_path))
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        [client("run_forbidden"), shutil.which(command[0]) or command[0], *command[1:]],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0
    assert done.stderr == (
        "tg_native: warning: addresses are drawn at random in native runs, which makes pages differ: "
        "personality(2) is forbidden here, in a container by its filter of system calls (seccomp)\n"
    )
    assert agree(done.stdout)[0] > 0


def test_children_are_compared_with_their_own_logs(perf: None, tmp_path: Path) -> None:
    """a process for each log, and nobody left out"""
    program = in_small_pieces(client("fault_forks"), tmp_path)
    told = tg_native(tmp_path, TRIES, "--tlbgrind-option=--trace-children=yes", program)
    assert (told.status, told.err) == (0, "")
    assert told.out.count("-- Against the kernel: ") > 1
    same, all_ = agree(told.out)
    assert same >= 0.99 * all_


def test_the_program_that_another_becomes_is_compared(perf: None, tmp_path: Path) -> None:
    """tlbgrind follows an exec, and its log is of the last program"""
    program = in_small_pieces(client("fault_hello"), tmp_path)
    told = tg_native(tmp_path, TRIES, "--least=100", "/bin/sh", "-c", f"exec {program}")
    assert (told.status, told.err) == (0, "")
    assert "-- Against the kernel: " in told.out and "fault_hello" in told.out.partition("-- Against the kernel: ")[2].split("\n")[0]
    same, all_ = agree(told.out)
    assert same == all_ > 40


def test_a_log_that_is_there_is_compared(perf: None, tmp_path: Path) -> None:
    """the man page's lines: the variables, the log, the comparison"""
    program = in_small_pieces(client("fault_hello"), tmp_path)
    kept = tmp_path / "kept"
    assert tg_native(tmp_path, f"--keep={kept}", "--tries=1", program).status == 0
    (log,) = kept.iterdir()
    told = tg_companions.run("tg_native", tmp_path, f"--log={log}", f"--tlbgrind={TLBGRIND}", program).text()
    assert told.status == 1
    path = f"{Path(TLBGRIND).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        tg_companions.command("tg_native", f"--log={log}", TRIES, "--least=100", program),
        cwd=tmp_path,
        env={**os.environ, "LC_ALL": "C", "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_many_programs_make_a_table(perf: None, tmp_path: Path) -> None:
    """one row for each that is installed, and their sum"""
    program = shutil.copy(in_small_pieces(client("fault_hello"), tmp_path), tmp_path / "p q")
    (tmp_path / "list").write_text(f"# two\n\n'{program}' 1\nno-such-program-here\n'{program}'\n")
    told = tg_native(tmp_path, "--programs=list", "--format=markdown", TRIES)
    assert told.status == 0
    assert told.err == "tg_native: warning: left out: no-such-program-here: there is no such program\n"
    lines = told.out.splitlines()
    assert lines[1] == "|---|---|---|---|---|---|---|---|"
    names = [line.split(" | ")[0] for line in lines[2:]]
    assert names == [f"| `'{program}' 1`", f"| `'{program}'`", "| all"]
    assert all(line.split(" | ")[6] == "100.00%" for line in lines[2:])
