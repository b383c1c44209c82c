# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What tg_order forecasts for variables in order, against the kernel's own faults of the program linked so."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import tg_companions
from native_support import (
    as_passed_on,
    read_in_small_pieces,
    record,
    run,
    why_no_native,
)
from tg_environment import CC

MODULES = 20
KINDS = {"pie": ("-fpie", "-pie"), "static": ("-fno-pie", "-static", "-no-pie")}


def source() -> str:
    """Each written variable on another page; some pages have a table of pointers, and a variable that is only read."""
    lines, body = [], []
    for n in range(MODULES):
        lines.append(f"char pad{n}[3000] = {{ 1 }}, zeros{n}[3500]; int warm{n} = 1, hot{n}, cold{n};")
        lines.append(f"void *table{n}[30] = {{ pad{n}, zeros{n} }};" if n % 2 else "")
        body.append(f"warm{n} += hot{n}++; sum += cold{n};" if n % 3 else f"sum += cold{n};")
    return "\n".join([*lines, "int main(void) {", "volatile long sum = 0;", *body, "return 0; }", ""])


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of the native runs; without the kernel's word there is nothing to test."""
    folder = tmp_path_factory.mktemp("perf")
    reason = why_no_native(folder)
    if reason is not None:
        pytest.skip(reason)
    return as_passed_on(folder)


def data_faults(folder: Path, program: Path, environment: dict[str, str], expected: int) -> int:
    """The kernel's faults of the program's data. A run that something disturbs has more: then others decide."""
    (log,), _ = run(folder, [program])
    ranges = [
        range(m.native, m.native + m.end - m.start)
        for m in log.maps.values()
        if m.name == str(program) and "w" in m.prot
    ]
    read_in_small_pieces(program)
    counts: list[int] = []
    while not counts or (counts[-1] > expected and len(counts) < 4):
        faults = record(folder, [program], environment)
        counts.append(sum(any(f.page in r for r in ranges) for f in faults))
    return min(counts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_takes_the_faults_that_are_forecast(kind: str, environment: dict[str, str], tmp_path: Path) -> None:
    compiling, *linking = KINDS[kind]
    made, old, new = tmp_path / "d.o", tmp_path / "old", tmp_path / "new"
    (tmp_path / "d.c").write_text(source(), encoding="ascii")
    compiler = [*CC, "-O0", "-fdata-sections", "-ffunction-sections", compiling]
    subprocess.run([*compiler, "-c", "d.c", "-o", made], cwd=tmp_path, check=True)
    subprocess.run([*CC, made, "-o", old, *linking], check=True)
    entries = tmp_path / "entries"
    run(tmp_path, [old], ["--entries=data", f"--entries-out-file={entries}"])
    options = ["--with-data", "--bfd-script=order.ld", "--forecast", f"--objects={made}"]
    answer = tg_companions.run("tg_order", tmp_path, *options, entries).text()
    assert answer.status == 0, answer.err
    subprocess.run([*CC, made, "-o", new, *linking, "-Wl,-T,order.ld"], cwd=tmp_path, check=True)
    forecast = re.search(r"^all +(\d+) +(\d+) +\d+$", answer.out, re.MULTILINE)
    assert forecast
    now, then = int(forecast[1]), int(forecast[2])
    before = data_faults(tmp_path, old, environment, now)
    after = data_faults(tmp_path, new, environment, then)
    assert abs(now - before) <= 1  # windows of reads lie where the program does
    assert abs(then - after) <= 3
    assert before - after >= 15
