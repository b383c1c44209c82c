# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tlbgrind --list-machines and --show-machine=."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from cpuid_facts import (
    TLBGRIND,
    command,
    dump_lines,
    parse_machine,
    read_processors,
    show,
    without_18h,
)

PROCESSORS = read_processors()
FILES = sorted(Path(os.environ["TG_SRCDIR"], "tlbgrind/machines").glob("*.machine"), key=lambda file: file.stem)
NEITHER = (
    "neither a machine file, which begins with 'tlbgrind-machine 1', nor a CPUID dump of "
    "cpuid -r or AIDA64, nor /proc/cpuinfo"
)


def refused(argument: str, words: str) -> None:
    """One line that says all, and status 1."""
    done = command(argument)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"tlbgrind: error: {words}\n"


def test_the_list_has_every_machine_file() -> None:
    done = command("--list-machines")
    assert (done.returncode, done.stderr) == (0, "")
    table, explanation = done.stdout.split("\n\n")
    header, *rows = table.splitlines()
    columns = ["name", "isa", "year", "pages", "first level", "second level", "confidence", "title"]
    assert re.split("  +", header) == columns
    assert [row.split()[0] for row in rows] == [file.stem for file in FILES]
    for row, file in zip(rows, FILES):
        _, isa, year, pages, first, second, confidence, title = re.split("  +", row, maxsplit=7)
        machine = parse_machine(file.read_text())
        assert [year] == [word.replace("unknown", "?") for word in machine.head["year"]]
        assert ([isa], [pages]) == (machine.head["isa"], machine.head["base-page"])
        # Each array for base pages, in the order of the file.
        for cell, level in ((first, 1), (second.partition(", third ")[0], 2), (second.partition(", third ")[2], 3)):
            arrays = [a for a in machine.arrays if a.number("level") == level and pages in a["pages"].removeprefix("unknown, assume ").split("+")]
            shapes = [
                f"{a.number('entries')}/{'full' if a.number('ways') == a.number('entries') else a.number('ways')}"
                for a in arrays
            ]
            assert re.findall(r"\d+/\w+", cell) == shapes
            assert cell == "-" or shapes or (level == 3 and cell == "")
        assert ([confidence], [title]) == (machine.head["confidence"], machine.head["title"])
    assert "host" in explanation and "cpuid -r" in explanation


def test_the_list_with_a_pattern_has_the_machines_with_it() -> None:
    for pattern, names in {
        "neoverse-n1": ["neoverse-n1"],
        "GRAVITON 4": ["neoverse-v2"],
        "apple*efficiency": ["apple-m1-e", "apple-m2-e", "apple-m3-e", "apple-m4-e"],
        "milan": ["zen3"],
    }.items():
        done = command(f"--list-machines={pattern}")
        assert (done.returncode, done.stderr) == (0, "")
        header, *rows = done.stdout.splitlines()
        assert header.startswith("name ")
        assert [row.split()[0] for row in rows] == names
    refused(
        "--list-machines=vax",
        "--list-machines=vax: 'vax' is in no machine's name, title or instruction set; "
        "--list-machines alone lists them all",
    )


def test_a_changed_machine_is_shown_as_a_file_that_can_be_read(tmp_path: Path) -> None:
    """With the lines that were said, and no others, but its name and a note."""
    before = show("skylake").splitlines()
    for overrides, lines in {
        "stlb.entries=2048,stlb.ways=16": ["   entries      2048", "   ways         16"],
        "itlb-4k.coalesces=64K": ["   coalesces    64K"],
        "2M.cache=own,2M.entries=32,2M.ways=4,2M.policy=plru": [
            "   cache        own", "   entries      32", "   ways         4", "   policy       plru",
        ],
    }.items():  # fmt: skip
        text = show(f"skylake:{overrides}")
        after = text.splitlines()
        name = "name            skylake-" + overrides.lower().replace("=", "-").replace(",", "-")
        added = [name[: 16 + 63], f"note            changed by the user: {overrides}", *lines]
        assert sorted(added) == sorted(difference(after, before))
        copy = tmp_path / "copy"
        copy.write_text(text)
        assert show(copy) == text
        # A file can be changed in the same way.
        assert parse_machine(show(f"{copy}:stlb.policy=fifo")).arrays[5]["policy"] == "fifo"
    assert parse_machine(show("skylake:name=mine,walk.cycles=30")).head["name"] == ["mine"]
    assert parse_machine(show("default:dtlb.entries=32")).arrays[1]["entries"] == "32"


def difference(lines: list[str], without: list[str]) -> list[str]:
    """Lines that are there more often than in the other."""
    return list((Counter(lines) - Counter(without)).elements())


@pytest.mark.parametrize(
    "machine, words",
    [
        (
            "skylake:stlb.entries=500",
            "stlb.entries=500: the 12 ways of STLB do not divide 500 entries; give the ways, too, such as STLB.ways=20",
        ),
        ("skylake:stlb.entries=512..1024", "a range is several machines; show one of them"),
        ("skylake:stlb.entries=9..8", "'9..8' goes down; the smaller number comes first"),
        ("skylake:stlb.entries", "'stlb.entries' is no override; it is PART.LINE=VALUE, such as stlb.entries=2048"),
        ("graviton4:l2.ways=4", "'graviton4' is no machine; did you mean neoverse-v2?"),
    ],
)
def test_a_change_that_cannot_be_is_refused(machine: str, words: str) -> None:
    shown = machine.partition(":")[0] if machine.startswith("graviton4") else machine
    refused(f"--show-machine={machine}", f"--show-machine={shown}: {words}")


def test_every_machine_is_shown_as_a_machine_file(tmp_path: Path) -> None:
    for file in FILES:
        text = show(file.stem)
        shown, written = parse_machine(text).arrays, parse_machine(file.read_text()).arrays
        assert [a.name for a in shown] == [a.name for a in written]
        for mine, theirs in zip(shown, written):
            for key in ("level", "entries", "ways"):
                assert mine.number(key) == theirs.number(key)
            assert (mine.users, mine.pages, mine["policy"]) == (theirs.users, theirs.pages, theirs["policy"])
        copy = tmp_path / "copy"
        copy.write_text(text)
        assert show(copy) == text


def test_host_is_this_processor_and_default_the_documented_machine() -> None:
    host = parse_machine(show("host"))
    assert host.head["name"] == ["host"]
    with open("/proc/cpuinfo") as cpuinfo:
        vendor = next(line.split()[2] for line in cpuinfo if line.startswith("vendor_id"))
    assert vendor in host.head["title"][0]
    assert host.arrays
    default = parse_machine(show("default"))
    assert [(a.name, a["entries"], a["ways"], a["pages"]) for a in default.arrays] == [
        ("ITLB", "128", "8", "4K"),
        ("DTLB", "64", "4", "4K"),
        ("STLB", "1536", "6", "4K"),
    ]


def test_the_host_is_what_cpuid_dumps_of_it(tmp_path: Path) -> None:
    """On one processor, for the sake of hybrid ones."""
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        raw = subprocess.run(["cpuid", "-r", "-1"], check=True, capture_output=True, text=True).stdout
        dump = tmp_path / "host.txt"
        dump.write_text(raw)
        assert show(dump) == show("host")
    finally:
        os.sched_setaffinity(0, everywhere)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_dump_is_shown_and_read_again(processor: str, tmp_path: Path) -> None:
    dump = tmp_path / "my dump.txt"
    dump.write_text(dump_lines(PROCESSORS[processor]))
    text = show(dump)
    machine = parse_machine(text)
    assert machine.head["name"] == ["my-dump"]
    assert machine.arrays
    edited = tmp_path / "edited.machine"
    edited.write_text(text)
    assert show(edited) == text


def test_a_hybrid_dump_has_two_machines(tmp_path: Path) -> None:
    dump = tmp_path / "adl.txt"
    dump.write_text(dump_lines(PROCESSORS["golden-cove"], 0) + dump_lines(PROCESSORS["gracemont"], 8))
    big, small = parse_machine(show(f"{dump}:0")), parse_machine(show(f"{dump}:1"))
    assert parse_machine(show(dump)) == big
    assert big.head["note"][0] == (
        "the dump has 2 different processors; this is number 0, as CPU 0 and 0 more are; FILE:0 to FILE:1 name them"
    )
    assert (big.head["name"], small.head["name"]) == (["adl"], ["adl-1"])
    assert (big.arrays[0]["entries"], small.arrays[0]["entries"]) == ("256", "64")
    refused(f"--show-machine={dump}:2", f"{dump}:1: the dump has no machine number 2; allowed are 0 to 1")
    # A file that is really called so is meant first.
    shutil.copy(dump, f"{dump}:2")
    assert parse_machine(show(f"{dump}:2")).arrays[0] == big.arrays[0]


def test_a_note_says_what_a_hypervisor_hides_and_what_stands_in(tmp_path: Path) -> None:
    dump = tmp_path / "vm"
    dump.write_text(dump_lines(without_18h(PROCESSORS["sapphire-rapids"])))
    machine = parse_machine(show(dump))
    assert machine.head["note"][:3] == [
        "leaf 2 refers to leaf 18H, which the hypervisor (unnamed) hides",
        "unknown: CPUID does not describe the first level for instructions and data",
        "the machine file goldencove is used instead",
    ]
    assert [a.name for a in machine.arrays] == [a.name for a in parse_machine(show("goldencove")).arrays]


def test_unknown_names_are_refused_with_what_is_allowed() -> None:
    refused("--show-machine=skylaek", "--show-machine=skylaek: 'skylaek' is no machine; did you mean skylake?")
    refused(
        "--show-machine=vax", "--show-machine=vax: 'vax' is no machine; --list-machines tells their names"
    )
    for name in ("./skylake", "skylake.txt", "no/such/file"):
        refused(
            f"--show-machine={name}",
            f"--show-machine={name}: the file cannot be read: No such file or directory",
        )
    refused(
        "--show-machine=",
        "--show-machine= names no machine; expected a name of --list-machines, host, default, a machine file "
        "or a CPUID dump",
    )


def test_broken_files_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "file"
    refused(f"--show-machine={tmp_path}", f"--show-machine={tmp_path}: the file cannot be read: Is a directory")
    for content in (b"", b"\0" * 1000, b"hello\n", b"\x7fELF", b"x" * (10 << 20)):
        file.write_bytes(content)
        refused(f"--show-machine={file}", f"{file}:1: {NEITHER}")
    file.write_text(dump_lines(PROCESSORS["zen-5"])[:-30])
    last = len(PROCESSORS["zen-5"]) + 1
    refused(
        f"--show-machine={file}",
        f"{file}:{last}: '0x80000021 0x00: eax=0x593fffcf ' ends too early; the dump is cut off",
    )
    file.write_bytes(b"CPU 0:\n" + b"y" * (10 << 20))
    done = command(f"--show-machine={file}")
    assert done.returncode == 1 and done.stderr.startswith(f"tlbgrind: error: {file}:2: 'yyyyyyyy")
    assert len(done.stderr.splitlines()) == 1 and len(done.stderr) < 400
    with file.open("wb") as large:
        large.truncate((64 << 20) + 1)
    refused(f"--show-machine={file}", f"--show-machine={file}: the file is larger than 64M")
    file.write_text("tlbgrind-machine 1\nname x\n")
    refused(f"--show-machine={file}", f"{file}:2: the file ends without the line 'end'; is it cut short?")
    refused(
        f"--show-machine={file}:1",
        f"{file}:1: a machine file has one machine; a number behind a file is for CPUID dumps",
    )


def test_a_file_name_cannot_break_the_line(tmp_path: Path) -> None:
    refused(
        "--show-machine=a\n\x1b/b", "--show-machine=a??/b: the file cannot be read: No such file or directory"
    )


def test_bytes_of_a_dump_are_no_commands_to_the_terminal(tmp_path: Path) -> None:
    """0x9b begins a command in terminals of 8 bits. What is UTF-8 stays."""
    file = tmp_path / "ä"
    file.write_bytes(b"CPU 0:\n\x9b31m\xff\xc3\xa4\n")
    done = subprocess.run([TLBGRIND, f"--show-machine={file}"], check=False, capture_output=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"tlbgrind: error: {file}:2: '?31m?ä'".encode())
    done = subprocess.run([TLBGRIND, f"--machine={file}", "true"], check=False, capture_output=True)
    assert done.returncode == 1
    assert f"{file}:2: '?31m?ä'".encode() in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--list-machines", "--itlb=64,4"],
        ["--list-machines", "ls"],
        ["--show-machine"],
        ["--show-machine=host", "--show-machine=host"],
        ["-q", "--list-machines"],
    ],
)
def test_list_machines_and_show_machine_take_no_other_arguments(arguments: list[str]) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "tlbgrind: error: expected --list-machines, --list-machines=PATTERN or --show-machine=NAME|FILE, alone\n"


def test_options_behind_the_program_are_the_programs_own(tmp_path: Path) -> None:
    done = command("-q", f"--tlbgrind-out-file={tmp_path}/out", "echo", "--list-machines")
    assert done.stdout == "--list-machines\n"


def test_output_that_cannot_be_written_is_an_error() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [TLBGRIND, "--list-machines"], check=False, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "tlbgrind: error: the standard output cannot be written: No space left on device\n"
