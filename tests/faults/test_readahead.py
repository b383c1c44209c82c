# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_faults --readahead: the parts of files that a cold start reads, and docs/readahead.c, which asks
the kernel for them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cold_support import Disk, disk_with
from faults_support import good, refused
from native_support import PAGE, Log, run
from tg_environment import CC, client

SOURCE = Path(os.environ["TG_SRCDIR"]) / "docs" / "readahead.c"
FILE_PAGES = 400


def listed(log: Log, out: Path) -> list[tuple[str, int, int]]:
    assert "parts of files" in good(f"--readahead={out}", log.path)
    lines = out.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    assert good("--readahead=-", log.path).splitlines() == lines
    cells = [line.split("\t") for line in lines]
    return [(file, int(offset), int(length)) for file, offset, length in cells]


def pages_of(parts: list[tuple[str, int, int]]) -> list[tuple[str, int]]:
    assert all(offset % PAGE == 0 and length % PAGE == 0 and length for _, offset, length in parts)
    return [(f, page) for f, start, size in parts for page in range(start // PAGE, (start + size) // PAGE)]


@pytest.mark.parametrize("command", [("/bin/sh", "-c", ":"), ("/bin/ls", "/")])
def test_the_list_has_all_that_is_read(command: tuple[str, ...], tmp_path: Path) -> None:
    """each page that a major fault of the view cold reads is in one part, and parts come in order of need"""
    (log,), _ = run(tmp_path, list(command), ["--faults-touches=yes"])
    parts = listed(log, tmp_path / "list")
    pages = pages_of(parts)
    assert len(set(pages)) == len(pages)
    where = {page: number for number, part in enumerate(parts) for page in pages_of([part])}
    sizes = {file: -(-os.stat(file).st_size // PAGE) for file, _, _ in parts}
    assert all(page < sizes[file] for file, page in pages)
    # Side by side is one part.
    ends = {(file, offset + length) for file, offset, length in parts}
    assert not ends & {(file, offset) for file, offset, _ in parts}
    needed = []
    for fault in log.view("cold"):
        if fault.map.what != "file":
            continue
        page = (fault.page - fault.map.start + fault.map.offset) // PAGE
        if fault.kind("cold").isupper():
            needed.append(where[fault.map.name, page])
        assert (fault.map.name, page) in where
    # In the order of the first need; but a file's begin is read by the loader before it is mapped.
    firsts = [number for number in dict.fromkeys(needed) if parts[number][1] > 0]
    assert firsts == sorted(firsts)
    assert len(firsts) > 1


def test_what_goes_with_it() -> None:
    """it is an answer of its own"""
    for other in ("--what-if", "--used", "--by=kind", "--format=text"):
        name = other.partition("=")[0]
        refused(f"--readahead goes without {name} (tg_faults --help lists what is allowed)", "--readahead=x", other, "x")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with disk_with(tmp_path, read_ahead_kb=128) as made:
        yield made


def test_the_program_of_the_docs_reads_them(disk: Disk, tmp_path: Path) -> None:
    """after docs/readahead.c has asked for the list, no touch is a major fault"""
    file, list_ = disk.folder / "file", tmp_path / "list"
    file.write_bytes(bytes(range(256)) * (FILE_PAGES * PAGE // 256))
    program = tmp_path / "readahead"
    subprocess.run([*CC, "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    command: list[str | Path] = [client("fault_cold"), file, "far", "r"]
    (log,), _ = run(tmp_path, command, ["--read-ahead=128K", "--faults-touches=yes"])
    parts = [part for part in listed(log, list_) if part[0] == str(file)]
    assert sum(length for _, _, length in parts) > 128 * 1024  # more than the kernel reads of one call
    disk.forget(file)
    without = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(without) > 8
    disk.forget(file)
    subprocess.run([program, list_], check=True)
    asked = [program, list_, *command]
    left = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    assert left == []
    missing = subprocess.run([program, tmp_path / "none"], capture_output=True, text=True, check=False)
    assert (missing.returncode, "No such file" in missing.stderr) == (1, True)
    assert shutil.which("true")
    assert subprocess.run([program, list_, "true"], check=False).returncode == 0
