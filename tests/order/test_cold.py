# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The cold half of --forecast and --check: what is read from the disk before and after an order, held
against the view cold of the program that is really linked so."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from order_support import compiled, good, has, linked, refused, spread
from tg_companions import package
from tg_environment import TLBGRIND
from tg_lacking import skip_what_lacks

FUNCTIONS = 400
NEAR = 1  # requests, major faults
SETTINGS = ("--read-ahead=128K", "--fault-around=64K")


class Cold(NamedTuple):
    major: int
    requests: int
    kib: int


def recorded(folder: Path, program: Path, *options: str) -> tuple[Path, Path]:
    """The entries file and the fault log of one run."""
    entries, log = folder / f"{program.name}.entries", folder / f"{program.name}.faults"
    command = [TLBGRIND, "-q", "--machine=default", "--entries=yes", f"--entries-out-file={entries}"]
    command += [f"--faults-out-file={log}", "--faults-touches=yes", f"--tlbgrind-out-file={folder / 'costs'}"]
    subprocess.run([*command, *SETTINGS, *options, str(program)], cwd=folder, check=True)
    return entries, log


def cold_of(log: Path, read_ahead: int | None = None) -> Cold:
    """What the tool's view cold has, and what it reads."""
    faultlog, replay = package("formats.faultlog"), package("faults.replay")
    read = faultlog.read(str(log))
    run = replay.Run(read)
    if read_ahead is not None:
        run.ahead = read_ahead // 4
    again = replay.replay(run, is_cold=True)
    if read_ahead is None:
        assert again.major == read.totals["cold"].major
    return Cold(again.major, again.requests, again.read * 4)


def told(text: str, label: str) -> Cold:
    """A row of the table."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if "no file cached" in line)
    row = next(line for line in lines[start:] if line.startswith(label))
    return Cold(*(int(word.replace(",", "")) for word in row[len(label) :].split()))


def near(said: Cold, came: Cold) -> None:
    assert abs(said.major - came.major) <= NEAR, (said, came)
    assert abs(said.requests - came.requests) <= NEAR, (said, came)


class Program(NamedTuple):
    folder: Path
    object: Path
    program: Path
    entries: Path
    log: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Half of a megabyte of functions, an eighth of them called, at random."""
    folder = tmp_path_factory.mktemp("cold")
    called = random.Random(1).sample(range(FUNCTIONS), FUNCTIONS // 8)
    source = compiled(folder, "big", spread(FUNCTIONS, called, 300, 1000), "-ffunction-sections")
    program = linked(folder, "plain", [source])
    return Program(folder, source, program, *recorded(folder, program))


@pytest.mark.parametrize("linker", ["bfd-script", "gold", "lld"])
@pytest.mark.parametrize("kernel", ["6.12", "6.18"])
def test_the_cold_half_is_what_comes(built: Program, linker: str, kernel: str) -> None:
    """within a request and a major fault of the relinked program's own, before and after linking it"""
    if not has(linker):
        pytest.skip(f"there is no ld.{linker} here")
    folder = built.folder / f"{linker}-{kernel}"
    folder.mkdir()
    order = folder / "order"
    flags = {
        "bfd-script": [f"-Wl,-T,{order}"],
        "gold": ["-fuse-ld=gold", f"-Wl,--section-ordering-file,{order}"],
        "lld": ["-fuse-ld=lld", f"-Wl,--symbol-ordering-file={order}"],
    }[linker]
    plain = linked(folder, "plain", [built.object], *flags[:-1])
    entries, log = recorded(folder, plain, f"--kernel={kernel}")
    good(folder, f"--{linker}={order}", entries)
    again = linked(folder, "again", [built.object], *flags)
    came = cold_of(recorded(folder, again, f"--kernel={kernel}")[1])
    was = cold_of(log)
    text = good(folder, "--forecast", f"--faults={log}", entries)
    assert f"read-ahead of 128K, Linux {kernel}" in text
    assert told(text, "as it ran") == was
    checked = good(folder, f"--check={again}", f"--faults={log}", entries)
    assert told(checked, "as it ran") == was
    near(told(checked, "checked"), came)
    assert came.major < was.major
    if linker != "gold":  # its block is at the end
        near(told(text, "with the order"), came)


def test_a_static_program(built: Program) -> None:
    """the C library's functions have no sections of their own: they stay, are not checked, and the rest comes as said"""
    folder, needed = built.folder / "static", "the C library's archives (Debian: libc6-dev)"
    folder.mkdir()
    try:
        plain = linked(folder, "plain", [built.object], "-static")
    except subprocess.CalledProcessError:
        skip_what_lacks(needed)
    entries, log = recorded(folder, plain)
    script = folder / "static.txt"
    script.write_text(subprocess.run(["ld", "-static", "--verbose"], capture_output=True, text=True, check=True).stdout)
    good(folder, f"--ld-script={script}", f"--bfd-script={folder / 'order'}", entries)
    again = linked(folder, "again", [built.object], "-static", f"-Wl,-T,{folder / 'order'}")
    came = cold_of(recorded(folder, again)[1])
    text = good(folder, "--forecast", f"--faults={log}", entries)
    near(told(text, "with the order"), came)
    assert came.major < cold_of(log).major
    assert "The binary follows the order: 100.0%" in good(folder, f"--check={again}", entries)


def test_another_read_ahead(built: Program) -> None:
    """--read-ahead says what another disk would do"""
    log = f"--faults={built.log}"
    few = told(good(built.folder, "--forecast", log, "--read-ahead=16", built.entries), "as it ran")
    assert few == cold_of(built.log, 16)
    none = told(good(built.folder, "--forecast", log, "--read-ahead=0", built.entries), "as it ran")
    assert none.major > few.major > cold_of(built.log).major


def test_what_goes_with_it(built: Program) -> None:
    """the options refuse what they cannot answer"""
    log, help_ = f"--faults={built.log}", " (tg_order --help lists what is allowed)"
    goes = f"--read-ahead=KIB goes with --faults=FILE of --forecast or --check{help_}"
    refused(built.folder, goes, "--forecast", "--read-ahead=128", built.entries)
    for value in ("-1", "128K", "65537"):
        allowed = f"argument --read-ahead: '{value}' is not a number of KiB up to 65536{help_}"
        refused(built.folder, allowed, "--forecast", log, f"--read-ahead={value}", built.entries)
    names = built.folder / "names"
    good(built.folder, f"--names={names}", built.entries)
    alone = f"--order goes without --faults{help_}"
    refused(built.folder, alone, f"--check={built.program}", log, f"--order={names}")
