# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Small files that say large numbers, files without an end, and names that lead to such: no companion takes
minutes or all memory for them. (Files that are damaged: test_damage.py.)"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tg_companions import MAIN, call, command, package

TESTS = Path(__file__).resolve().parents[1]
FAULTS = (TESTS / "faults/data/mixed.faults").read_bytes()


def changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert data.count(old) >= 1, old
    return data.replace(old, new, 1)


@pytest.mark.parametrize("step", ["0x0", "0x1000"])
def test_a_line_that_stands_for_all_faults_there_can_be_is_refused(tmp_path: Path, step: str) -> None:
    log = tmp_path / "log"
    # Of the same page again and again, and of a mapping of 2^60 bytes.
    data = changed(FAULTS, b"*\t3\t0x1000\t10", f"*\t{10**14}\t{step}\t10".encode())
    data = re.sub(rb"(?m)^(map\t6\t0x[0-9a-f]+\t)0x[0-9a-f]+", rb"\g<1>0x1000000000000000", data)
    log.write_bytes(data)
    for options in ([], ["--format=csv"], ["--growth=3"]):
        result = call("tg_faults", *options, str(log))
        assert (result.status, result.out) == (1, b"")
        assert re.fullmatch(rb"tg_faults: error: [^\n]*log:\d+: more than 268,435,456 faults\n", result.err), result.err


def test_pages_that_were_not_used_are_not_more_than_a_run_can_have(tmp_path: Path) -> None:
    log = tmp_path / "log"
    data = (TESTS / "faults/data/used.faults").read_bytes()
    data = re.sub(rb"(?m)^(map\t3\t0x[0-9a-f]+\t)0x[0-9a-f]+", rb"\g<1>0x1000000000000000", data)
    log.write_bytes(changed(data, b"\t13\t-++", b"\t100000000000000\t-++"))
    result = call("tg_faults", "--used", "--format=csv", str(log))
    assert (result.status, result.out) == (1, b"")
    assert result.err.endswith(b"log:55: more than 268,435,456 pages\n"), result.err


def test_what_is_read_of_a_file_again_and_again_is_counted_once(tmp_path: Path) -> None:
    """By windows of 4 GiB each, of which a set of pages would take gigabytes."""
    counts = {}
    for many in (1, 200):
        ranges = ",".join(f"+{(1 << 21) * i}..+{(1 << 21) * i + (1 << 20) - 1}" for i in range(many))
        (tmp_path / "log").write_bytes(changed(FAULTS, b"+0..+31", ranges.encode()))
        out = call("tg_faults", "--view=cold", str(tmp_path / "log")).out.decode()
        found = re.search(r"Read from the disk by 4 major faults: ([\d,]+) KiB", out)
        assert found, out
        counts[many] = int(found[1].replace(",", ""))
    assert counts[200] - counts[1] == 199 * (4 << 20)


def test_lines_around_each_line_of_a_long_source_are_taken_once(tmp_path: Path) -> None:
    lines = 20_000
    (tmp_path / "long.c").write_text("x\n" * lines, encoding="ascii")
    costs = "".join(f"{line} 1\n" for line in range(1, lines + 1))
    (tmp_path / "out").write_text(f"# callgrind format\nversion: 1\ncreator: x\nevents: Ir\n\nfl={tmp_path}/long.c\nfn=f\n{costs}totals: {lines}\n", encoding="ascii")
    result = call("tg_annotate", "--annotate", "--context=10000", str(tmp_path / "out"))
    assert result.status == 0
    assert len(re.findall(rb"(?m)^ *1 .*\bx$", result.out)) == lines


def test_a_name_of_a_source_that_no_kernel_takes_is_not_looked_for() -> None:
    assert package("annotate.sources").find("a/" * 500_000, ["/nowhere"] * 100) is None


def test_a_pipe_in_the_place_of_a_library_or_of_a_log_is_left_alone(tmp_path: Path) -> None:
    """To open one waits until somebody writes to it."""
    os.mkfifo(tmp_path / "pipe")
    assert package("annotate.linker")._files([str(tmp_path / "pipe")])[0] == {}
    assert not package("annotate.library_files")._is_log(str(tmp_path / "pipe"))


@pytest.mark.parametrize("companion", MAIN)
def test_a_device_without_an_end_is_refused(companion: str) -> None:
    done = subprocess.run(command(companion, "/dev/zero"), stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(f"{companion}: error: /dev/zero:1: ".encode()), done.stderr


@pytest.mark.parametrize("companion", MAIN)
def test_no_companion_may_take_more_memory_than_is_free(companion: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen(command(companion, "pipe"), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open(tmp_path / "pipe", "wb"):  # it is waited for that it reads
            limits = Path(f"/proc/{process.pid}/limits").read_text(encoding="ascii")
        found = re.search(r"Max address space +(\d+) ", limits)
        facts = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        assert found and int(found[1]) <= 1024 * sum(int(facts[name].split()[0]) for name in ("MemTotal", "SwapTotal"))
    finally:
        process.kill()
        process.wait()
