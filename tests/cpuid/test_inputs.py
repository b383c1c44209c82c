# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Files of other formats than cpuid -r's that are taken for a machine: AIDA64's dumps, /proc/cpuinfo."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cpuid_facts import (
    TLBGRIND,
    Answer,
    command,
    dump_lines,
    parse_machine,
    read_processors,
    show,
)
from cpuid_made_up import MADE_UP

PROCESSORS = read_processors() | MADE_UP

GIVE = "give a name of --list-machines, or a dump of cpuid -r"
HYBRID = "has two kinds of cores, which look the same here; give the name of a machine"

PREAMBLE = """------[ Versions ]------

Program Version : AIDA64 Extreme v6.70.6037 Beta/mod
CPUID Revision     : 00090672h

"""


def aida_lines(answers: list[Answer], cpu: int = 0) -> str:
    """A processor as AIDA64 writes it: what has sub-leaves has them in brackets."""
    rows = [
        f"CPUID {leaf:08X}: {eax:08X}-{ebx:08X}-{ecx:08X}-{edx:08X}"
        + (f" [SL {subleaf:02X}]" if leaf in (7, 0x18) else "")
        for leaf, subleaf, eax, ebx, ecx, edx in answers
    ]
    head = f"------[ CPUID Registers / Logical CPU #{cpu} ]------\n\nallcpu: Package 0 / Core {cpu} / Thread 0: Valid\n\n"
    return head + "\n".join([*rows, "", "L1    Data Cache:    48 KB, 12-way Associative, 64-byte Line", "", ""])


def cpuinfo(vendor: str, family: int, model: int) -> str:
    return "".join(
        f"processor\t: {cpu}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: x\nstepping\t: 1\n\n"
        for cpu in (0, 1)
    )


def arm_cpuinfo(*parts: str) -> str:
    return "".join(
        f"processor\t: {cpu}\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n"
        f"CPU part\t: {part}\nCPU revision\t: 0\n\n"
        for cpu, part in enumerate(parts)
    )


def refusal(file: Path) -> str:
    """The same from --show-machine and from the tool."""
    shown = command(f"--show-machine={file}")
    assert (shown.returncode, shown.stdout) == (1, "")
    (line,) = shown.stderr.splitlines()
    done = subprocess.run([TLBGRIND, f"--machine={file}", "true"], check=False, capture_output=True, text=True)
    words = line.removeprefix("tlbgrind: error: ")
    assert done.returncode == 1 and words in done.stderr
    return words.removeprefix(f"{file}:")


@pytest.mark.parametrize("name", PROCESSORS)
def test_a_processor_is_the_same_in_both_formats(name: str, tmp_path: Path) -> None:
    file = tmp_path / "dump.txt"
    file.write_text(dump_lines(PROCESSORS[name]))
    raw = show(file)
    file.write_bytes((PREAMBLE + aida_lines(PROCESSORS[name])).replace("\n", "\r\n").encode())
    assert show(file) == raw


def test_a_hybrid_dump_of_aida64_has_two_machines_for_the_tool(tmp_path: Path) -> None:
    dump = tmp_path / "adl.txt"
    dump.write_text(PREAMBLE + aida_lines(PROCESSORS["golden-cove"], 0) + aida_lines(PROCESSORS["gracemont"], 8))
    assert [parse_machine(show(f"{dump}:{i}")).head["note"][0] for i in (0, 1)] == [
        f"the dump has 2 different processors; this is number {i}, as CPU {cpu} and 0 more are; FILE:0 to FILE:1 name them"
        for i, cpu in ((0, 0), (1, 8))
    ]
    done = subprocess.run(
        [TLBGRIND, "--machine=adl.txt,adl.txt:1", "true"], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0 and "adl-1" in done.stderr


@pytest.mark.parametrize(
    "vendor, family, model, file",
    [
        ("GenuineIntel", 6, 0x55, "skylake"), ("GenuineIntel", 6, 0x8F, "goldencove"), ("GenuineIntel", 6, 0x1C, "bonnell"),
        ("AuthenticAMD", 0x19, 0x11, "zen4"), ("AuthenticAMD", 0x1A, 2, "zen5"), ("HygonGenuine", 0x18, 1, "zen1"),
    ],
)  # fmt: skip
def test_cpuinfo_names_the_machine_file(tmp_path: Path, vendor: str, family: int, model: int, file: str) -> None:
    info = tmp_path / "server.txt"
    info.write_text(cpuinfo(vendor, family, model))
    lines = show(info).splitlines()
    notes = [i for i, line in enumerate(lines) if line.startswith("note")]
    assert lines[notes[0]].endswith(
        f"/proc/cpuinfo has {vendor} family {family} model {model}, which the machine file {file} describes"
    )
    del lines[notes[0]]
    assert lines[1].split() == ["name", "server"]
    theirs = show(file).splitlines()
    assert lines[:1] + lines[2:] == theirs[:1] + theirs[2:]


def test_cpuinfo_of_this_computer_is_no_empty_file() -> None:
    """Its size is 0, as that of all files in /proc."""
    shown = command("--show-machine=/proc/cpuinfo")
    done = subprocess.run(
        [TLBGRIND, "--tlbgrind-out-file=/dev/null", "--machine=/proc/cpuinfo", "true"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    for said in (shown, done):
        assert "nor /proc/cpuinfo" not in said.stderr
        assert said.returncode == 0 or "machine" in said.stderr
    assert shown.returncode == done.returncode


def test_big_and_little_cores_of_arm_are_two_machines(tmp_path: Path) -> None:
    info = tmp_path / "board"
    info.write_text(arm_cpuinfo("0xd05", "0xd05", "0xd0b"))
    little, big = (parse_machine(show(f"{info}:{i}")) for i in (0, 1))
    assert little.head["title"] == parse_machine(show("cortex-a55")).head["title"]
    assert big.head["title"] == parse_machine(show("cortex-a76")).head["title"]
    assert big.head["note"][0] == (
        "the file has 2 different processors; this is number 1, as CPU 2 and 0 more are; FILE:0 to FILE:1 name them"
    )
    done = command(f"--show-machine={info}:2")
    assert done.stderr == f"tlbgrind: error: {info}:1: the file has no machine number 2; allowed are 0 to 1\n"


@pytest.mark.parametrize(
    "text, expected",
    [
        (cpuinfo("AuthenticAMD", 0x1A, 0x50), f"4: no machine file describes AuthenticAMD family 26 model 80; {GIVE}"),
        (cpuinfo("GenuineIntel", 6, 0x97), f"4: GenuineIntel family 6 model 151 {HYBRID}: goldencove or gracemont"),
        (
            arm_cpuinfo("0xd21"),
            f"6: no machine file describes CPU implementer 0x41 part 0xd21 variant 0x1; {GIVE.replace('dump of cpuid -r', 'machine file')}",
        ),
        ("CPU 0:\n   vendor_id = \"GenuineIntel\"\n",
         "2: 'vendor_id = \"GenuineIntel\"' is what cpuid prints without -r; make the dump with cpuid -r"),
        ("CPU:\n   version information (1/eax):\n",
         "2: 'version information (1/eax):' is what cpuid prints without -r; make the dump with cpuid -r"),
        ("   vendor_id = \"GenuineIntel\"\n",
         "1: 'vendor_id = \"GenuineIntel\"' is what cpuid prints without -r; make the dump with cpuid -r"),
        (PREAMBLE + "CPUID 00000000: 00000016-756E6547-6C65746E\n",
         "6: 'CPUID 00000000: 00000016-756E654' ends too early; the dump is cut off"),
    ],
)  # fmt: skip
def test_what_names_no_machine_is_refused_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    assert refusal(file) == expected
