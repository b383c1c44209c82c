# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A build can stop at a bad order: limits of --check and --stale, and the build in two passes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from order_support import (
    CALLED,
    Spread,
    compiled,
    good,
    linked,
    recorded,
    row,
    run,
    spread,
)
from tg_companions import ROOT, SCRIPTS
from tg_environment import TLBGRIND


@pytest.fixture(scope="module")
def ordered(program: Spread) -> Path:
    """The program linked in its order."""
    script = program.folder / "order.ld"
    good(program.folder, f"--bfd-script={script}", f"--names={program.folder / 'names'}", program.entries)
    return linked(program.folder, "ordered", [program.object], f"-Wl,-T,{script}")


def test_a_binary_within_the_limits_passes(program: Spread, ordered: Path) -> None:
    limits = ("--max-faults=2", "--least-ascending=100", "--max-missing=0")
    for arguments in ([program.entries], ["--order=names"]):
        result = run(program.folder, f"--check={ordered}", *limits, *arguments)
        assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize(
    ("limit", "complaint"),
    [
        ("--max-faults=1", r"code faults are [2-9], above --max-faults=1"),
        ("--least-ascending=95", r"[\d.]+% of neighbours are ascending, below --least-ascending=95"),
    ],
)
def test_a_limit_that_is_exceeded_gives_three(limit: str, complaint: str, program: Spread) -> None:
    """of the plain program, which does not follow the order either; the report is printed all the same"""
    result = run(program.folder, f"--check={program.program}", limit, program.entries)
    assert result.status == 3
    assert "The binary does NOT follow the order" in result.out
    assert re.fullmatch(f"tg_order: failed: {complaint}: {re.escape(str(program.program))}\n", result.err)


def test_limits_that_are_kept_leave_the_answer_of_the_check(program: Spread) -> None:
    result = run(program.folder, f"--check={program.program}", "--max-faults=99", program.entries)
    assert (result.status, result.err) == (2, "")


def test_functions_that_are_missing_are_held_against_a_limit(tmp_path: Path, program: Spread) -> None:
    """instead of being refused as an order for another binary"""
    other = linked(tmp_path, "other", [compiled(tmp_path, "o", "int main(void) { return 0; }\n")])
    result = run(tmp_path, f"--check={other}", "--max-missing=50", program.entries)
    assert result.status == 3
    assert result.err == f"tg_order: failed: 88.89% of the order's functions are missing, above --max-missing=50: {other}\n"
    assert "Not in this binary: 8 of 9 functions (88.9%): f33, f7" in result.out


# --- How stale an order is ---


def test_an_order_of_the_same_run_is_not_stale(program: Spread, ordered: Path) -> None:
    text = good(program.folder, "--stale=names", "--max-stale=0", program.entries)
    assert "Stale: 0.0% of the code that was executed" in text
    assert row(text, "this order") == row(text, "a new order")


def test_an_order_that_lacks_functions_is_stale(program: Spread, tmp_path: Path) -> None:
    """half of the functions are new: the bytes of these, and the pages that they lie on"""
    known = [f"f{n}" for n in CALLED[:4]]
    (tmp_path / "old").write_text("\n".join(["main", *known, "gone"]) + "\n")
    result = run(tmp_path, f"--stale={tmp_path / 'old'}", "--max-stale=30", program.entries)
    assert result.status == 3
    found = re.search(r"^Stale: ([\d.]+)% of the code", result.out, re.MULTILINE)
    assert found and 35 < float(found[1]) < 50
    assert re.fullmatch(r"tg_order: failed: the order is stale by [\d.]+%, above --max-stale=30: .*/old\n", result.err)
    assert "New: 4 of 9 functions: f2, f15, f29, f11" in result.out
    now, then = (int(row(result.out, name)["4K pages"]) for name in ("this order", "a new order"))
    assert now >= then + 3


def test_an_order_of_another_program_is_wholly_stale(program: Spread, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("nothing_of_it\n")
    text = good(tmp_path, f"--stale={tmp_path / 'other'}", program.entries)
    assert "Stale: 100.0% of the code that was executed" in text


# --- The build in two passes ---

MAKEFILE = "prog: prog.c\n\t$(CC) -O1 $(CFLAGS) -o $@ prog.c $(LDFLAGS)\n"
BUILD = 'make CFLAGS="{}" LDFLAGS="$ORDER_FLAGS"'


def two_passes(folder: Path, source: str, build: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "prog.c").write_text(source)
    (folder / "Makefile").write_text(MAKEFILE)
    path = f"{Path(TLBGRIND).parent}:{SCRIPTS}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", str(ROOT / "docs" / "order.sh"), build, "prog"],
        cwd=folder,
        env={**os.environ, "PATH": path, "MAKEFLAGS": "", **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


needs_lld = pytest.mark.skipif(shutil.which("ld.lld") is None, reason="no ld.lld (Debian: lld)")


@needs_lld
def test_a_build_in_two_passes_keeps_what_is_better(tmp_path: Path) -> None:
    done = two_passes(tmp_path, spread(120, [n * 37 % 120 for n in range(30)], 200, 3830), BUILD.format("-ffunction-sections"))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.endswith("order.sh: kept the ordered program\n")
    assert (tmp_path / "prog").read_bytes() != (tmp_path / "order.plain").read_bytes()
    entries = recorded(tmp_path, tmp_path / "prog")
    assert "The binary follows the order" in good(tmp_path, f"--check={tmp_path / 'prog'}", entries)


@needs_lld
def test_a_build_in_two_passes_can_order_variables(tmp_path: Path) -> None:
    """of which each that is written lies on another page, as all functions lie on one"""
    lines = [f"char pad{n}[4000] = {{ 1 }}; int warm{n} = 1;" for n in range(20)]
    source = "\n".join([*lines, "int main(void) {", *(f"warm{n}++;" for n in range(20)), "return 0; }", ""])
    build = BUILD.format("-fdata-sections -ffunction-sections -fno-toplevel-reorder")
    done = two_passes(tmp_path, source, build, ORDER_DATA="yes")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "Data in order would save" in done.stderr and "Its data follows the order" in done.stderr
    assert done.stderr.endswith("order.sh: kept the ordered program\n")


@needs_lld
def test_a_build_that_lets_no_function_move_keeps_the_plain_program(tmp_path: Path) -> None:
    """without -ffunction-sections the linker takes the order, and does nothing"""
    done = two_passes(tmp_path, spread(40, CALLED, 200, 3830), BUILD.format(""))
    assert done.returncode == 3, done.stderr
    assert done.stderr.endswith("order.sh: kept the plain program: the linker did not follow the order\n")
    assert (tmp_path / "prog").read_bytes() == (tmp_path / "order.plain").read_bytes()


@needs_lld
def test_a_program_that_gains_nothing_stays_as_it_is(tmp_path: Path) -> None:
    """all of its code lies in one window"""
    done = two_passes(tmp_path, spread(8, [5, 2, 7, 0, 3], 40, 40), BUILD.format("-ffunction-sections"))
    assert done.returncode == 3, done.stderr
    assert "order.sh: kept the plain program: " in done.stderr


def test_a_linker_that_cannot_order_is_refused(tmp_path: Path) -> None:
    done = two_passes(tmp_path, "int main(void) { return 0; }\n", BUILD.format(""), ORDER_LINKER="mold")
    assert (done.returncode, done.stderr) == (1, "order.sh: no linker mold; lld, gold and bfd can order functions\n")


@needs_lld
def test_a_build_that_fails_is_an_error(tmp_path: Path) -> None:
    done = two_passes(tmp_path, "int main(void) { return 0; }\n", "false")
    assert done.returncode == 1
    assert done.stderr.endswith("order.sh: the command does not build ./prog\n")
