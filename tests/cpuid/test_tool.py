# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--machine=DUMP: the tool simulates what --show-machine shows, and refuses what that refuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from cpuid_facts import (
    TLBGRIND,
    Machine,
    command,
    dump_lines,
    parse_machine,
    read_processors,
    show,
    without_18h,
)

PROCESSORS = read_processors()


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """With -v, which names all arrays and assumptions."""
    verbosity = () if "-q" in options else ("-v",)
    command = [TLBGRIND, *verbosity, *options, "true"]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)


def words(stderr: str) -> list[str]:
    """The summary's lines without the process number."""
    return [line.partition("== ")[2].strip() for line in stderr.splitlines()]


def sizes_of(machine: Machine) -> list[str]:
    return sorted(f"level {a['level']} {a.number('entries')} entries {a['pages']}" for a in machine.arrays)


def sizes_told(lines: list[str]) -> list[str]:
    """The same from lines such as "level 1, data, 64 entries, 4-way, 16 sets, pages 4K, lru"."""
    told = [line.split(", ") for line in lines if line.startswith("level ")]
    return sorted(f"{t[0]} {t[2]} {next(w for w in t if w.startswith('pages '))[6:]}" for t in told)


def assumed(lines: list[str]) -> list[str]:
    return [line.removeprefix("assumed: ") for line in lines if line.startswith("assumed: ")]


@pytest.mark.parametrize("processor", ["core-2", "skylake", "sapphire-rapids", "geode-lx", "k10", "zen-5"])
def test_a_dump_is_simulated(processor: str, tmp_path: Path) -> None:
    dump = tmp_path / "my.txt"
    dump.write_text(dump_lines(PROCESSORS[processor]))
    done = run(tmp_path, "--machine=my.txt")
    assert done.returncode == 0
    shown = parse_machine(show(dump))
    lines = words(done.stderr)
    assert sizes_told(lines) == sizes_of(shown)
    notes = assumed(lines)
    assert notes[: len(shown.head.get("note", []))] == shown.head.get("note", [])
    # Where a machine file stands in for CPUID, some are known.
    of = "ITLB-2M-4M, DTLB-2M-4M, DTLB-1G, L2-TLB-4K-2M, L2-TLB-1G" if processor == "skylake" else "all arrays"
    assert f"replacement policy unknown, lru assumed ({of})" in notes


def test_host_simulates_what_show_machine_shows(tmp_path: Path) -> None:
    shown = parse_machine(show("host"))
    lines = words(run(tmp_path, "--machine=host").stderr)
    assert sizes_told(lines) == sizes_of(shown)


def test_a_hybrid_dump_has_two_machines(tmp_path: Path) -> None:
    dump = tmp_path / "adl.txt"
    dump.write_text(dump_lines(PROCESSORS["golden-cove"], 0) + dump_lines(PROCESSORS["gracemont"], 8))
    for option, show_as in (("adl.txt", f"{dump}:0"), ("adl.txt:0", f"{dump}:0"), ("adl.txt:1", f"{dump}:1")):
        done = run(tmp_path, f"--machine={option}")
        assert done.returncode == 0, done.stderr
        shown = parse_machine(show(show_as))
        assert sizes_told(words(done.stderr)) == sizes_of(shown)
        assert assumed(words(done.stderr))[0] == shown.head["note"][0]
    both = run(tmp_path, "--machine=adl.txt,adl.txt:1")
    assert sizes_told(words(both.stderr)) == sorted(
        sizes_of(parse_machine(show(f"{dump}:0"))) + sizes_of(parse_machine(show(f"{dump}:1")))
    )


def test_the_summary_says_what_a_hypervisor_hides_and_what_stands_in(tmp_path: Path) -> None:
    (tmp_path / "vm").write_text(dump_lines(without_18h(PROCESSORS["sapphire-rapids"])))
    lines = words(run(tmp_path, "--machine=vm").stderr)
    assert assumed(lines)[:3] == [
        "leaf 2 refers to leaf 18H, which the hypervisor (unnamed) hides",
        "unknown: CPUID does not describe the first level for instructions and data",
        "the machine file goldencove is used instead",
    ]
    assert sizes_told(lines) == sizes_of(parse_machine(show("goldencove")))


def test_a_dump_of_more_than_a_megabyte_is_read(tmp_path: Path) -> None:
    """512 processors, more than a megabyte."""
    zen = PROCESSORS["zen-5"] + [(0x8000001E, i, i, 0, 0, 0) for i in range(20)]
    dump = tmp_path / "large"
    dump.write_text("".join(dump_lines(zen, cpu) for cpu in range(512)))
    assert dump.stat().st_size > 1 << 20
    done = run(tmp_path, "--machine=large")
    assert done.returncode == 0
    assert sizes_told(words(done.stderr)) == sizes_of(parse_machine(show(dump)))


def refused(folder: Path, machine: str, reason: str) -> None:
    done = run(folder, "-q", f"--machine={machine}")
    assert (done.returncode, done.stdout) == (1, "")
    assert words(done.stderr)[:2] == [f"Bad option: --machine={machine}", reason]


def test_a_long_path_does_not_hide_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 50)
    folder.mkdir()
    (folder / "x").write_text("tlbgrind-machine 1\nname x\n")
    refused(tmp_path, f"{folder}/x", f"{folder}/x:2: the file ends without the line 'end'; is it cut short?")


def test_list_machines_works_without_the_command() -> None:
    """Plain Valgrind wants a program, which is not run."""
    lib = Path(os.environ["TG_BUILDDIR"], ".in_place")
    done = subprocess.run(
        [os.environ["VALGRIND"], "--tool=tlbgrind", "--list-machines", "false"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "VALGRIND_LIB": str(lib)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == command("--list-machines").stdout.partition("\n\n")[0] + "\n"


def test_broken_and_unknown_machines_are_refused_before_the_program_runs(tmp_path: Path) -> None:
    cut = dump_lines(PROCESSORS["skylake"])[:-30]
    (tmp_path / "cut").write_text(cut)
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "good").write_text(dump_lines(PROCESSORS["skylake"]))
    refused(
        tmp_path,
        "cut",
        f"cut:{len(cut.splitlines())}: '0x80000004 0x00: eax=0x332e3220 ' ends too early; the dump is cut off",
    )
    refused(
        tmp_path,
        "text",
        "text:1: neither a machine file, which begins with 'tlbgrind-machine 1', nor a CPUID dump of "
        "cpuid -r or AIDA64, nor /proc/cpuinfo",
    )
    refused(tmp_path, "good:1", "good:1: the dump has no machine number 1; allowed are 0 to 0")
    refused(tmp_path, "skylaek", "'skylaek' is no machine; did you mean skylake?")
    assert list(tmp_path.glob("tlbgrind.out.*")) == []
