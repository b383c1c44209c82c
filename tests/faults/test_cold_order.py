# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The cold half of tg_order --forecast and --check against the kernel: a program and its libraries on a disk of their
own, out of the page cache, before it is linked in order and after it."""

from __future__ import annotations

import re
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import tg_companions
from cold_support import Disk, disk_with
from native_support import ENVIRONMENT, run
from tg_environment import CC

FLAGS = ("-O1", "-ffunction-sections", "-fno-pie", "-no-pie")
NEAR = 1  # major faults, requests
FUNCTIONS = 600


class Cold(NamedTuple):
    major: int
    requests: int
    kib: int


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    with disk_with(tmp_path_factory.mktemp("order"), read_ahead_kb=128) as made:
        yield made


def jumps() -> str:
    """A program whose functions, far apart, call each other back and forth."""
    lines = ["volatile int sink;"]
    for n in range(FUNCTIONS):
        lines.append(f'void f{n}(void) {{ asm volatile("jmp 1f; .skip {900 + n % 13 * 70}; 1:"); sink++; }}')
    calls = "".join(f"f{n * 241 % FUNCTIONS}();" for n in range(0, FUNCTIONS, 7))
    return "\n".join([*lines, f"int main(void) {{ {calls} return 0; }}", ""])


PROGRAMS = {"start": (Path(__file__).resolve().parents[2] / "docs" / "start.c").read_text, "jumps": jumps}


def copied(made: Path, program: Path) -> None:
    """From begin to end, so that its blocks are side by side: a linker jumps to and fro."""
    program.write_bytes(made.read_bytes())
    program.chmod(0o755)


def libraries(program: Path, folder: Path) -> list[str]:
    """Copies them, and says how a program is linked that takes these."""
    text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [Path(word) for word in text.split() if word.startswith("/")]
    for path in paths:
        copied(path, folder / path.name)
    loader = next(path.name for path in paths if path.name.startswith("ld"))
    return [f"-Wl,--dynamic-linker={folder / loader}", f"-Wl,-rpath,{folder}", "-Wl,--disable-new-dtags"]


def kernel(disk: Disk, program: Path) -> Cold:
    for file in (program, *(disk.folder / "lib").iterdir()):
        disk.forget(file)
    reads, major = disk.reads(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt
    subprocess.run([program], env={**ENVIRONMENT, "LC_ALL": "C"}, stdout=subprocess.DEVNULL, check=True)
    more = [after - before for before, after in zip(reads, disk.reads())]
    return Cold(resource.getrusage(resource.RUSAGE_CHILDREN).ru_majflt - major, *more)


def told(text: str, label: str) -> Cold:
    found = re.search(rf"no file cached.*?^{label} +([\d,]+) +([\d,]+) +([\d,]+)$", text, re.MULTILINE | re.DOTALL)
    assert found, text
    return Cold(*(int(number.replace(",", "")) for number in found.groups()))


def near(said: Cold, came: Cold) -> None:
    print(f"{said} said, {came} came")
    assert abs(said.major - came.major) <= NEAR and abs(said.requests - came.requests) <= NEAR, (said, came)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_kernel_reads_what_is_forecast(name: str, disk: Disk, tmp_path: Path) -> None:
    """major faults and requests within 1, as it was, forecast, and as it has become"""
    source, script, entries = tmp_path / f"{name}.c", tmp_path / "script", tmp_path / "entries"
    source.write_text(PROGRAMS[name](), encoding="ascii")
    old, new = disk.folder / f"{name}.old", disk.folder / f"{name}.new"
    made = tmp_path / "made"
    folder = disk.folder / "lib"
    folder.mkdir(exist_ok=True)
    subprocess.run([*CC, *FLAGS, "-o", made, source], check=True)
    flags = [*FLAGS, *libraries(made, folder)]
    subprocess.run([*CC, *flags, "-o", made, source], check=True)
    copied(made, old)
    options = ["--read-ahead=128K", "--faults-touches=yes", "--entries=yes", f"--entries-out-file={entries}"]
    (log,), _ = run(tmp_path, [old], options, environment_more={"LC_ALL": "C"})
    answer = tg_companions.run("tg_order", tmp_path, f"--bfd-script={script}", entries).text()
    assert answer.status == 0, answer.err
    subprocess.run([*CC, *flags, "-fuse-ld=bfd", f"-Wl,-T,{script}", "-o", made, source], check=True)
    copied(made, new)
    said = [
        tg_companions.run("tg_order", tmp_path, option, f"--faults={log.path}", entries).text().out
        for option in ("--forecast", f"--check={new}")
    ]
    near(told(said[0], "as it ran"), kernel(disk, old))
    came = kernel(disk, new)
    near(told(said[0], "with the order"), came)
    near(told(said[1], "checked"), came)
