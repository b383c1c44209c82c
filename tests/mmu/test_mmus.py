# test_mmus.py -- many machines at once against naive ones, reference by reference.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random machines, streams and mappings that change, from fixed seeds, through tests/mmu/mmudrive: the
sanitized simulator must count what a naive model in C counts, and that what the one in Python does.
`make check-long' has more seeds.

A case that goes wrong is printed, made smaller: as a file of tests/mmu/cases it is played from then on.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from machines.naive_reader import describe
from model.naive_machine import Machine, Naive

MMUDRIVE = Path(os.environ["TG_BUILDDIR"], "tests", "mmu", "mmudrive")
CASES = sorted((Path(os.environ["TG_SRCDIR"]) / "tests" / "mmu" / "cases").iterdir())

USERS = {"fetch": "f", "load": "l", "store": "s"}


# `make check-long' has ten times as many cases of each kind.
def drive(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([MMUDRIVE, *arguments], capture_output=True, text=True, check=False)


def test_machines_together_count_what_naive_ones_count_alone() -> None:
    run = drive("--seed=0", "--cases=800")
    assert run.returncode == 0, run.stdout + run.stderr


def test_flushes_throw_away_what_a_naive_machine_does() -> None:
    run = drive("--flushes", "--seed=0", "--cases=500")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("flushes", [(), ("--flushes",)])
def test_others_on_the_core_drive_out_what_they_do_of_a_naive_machine(flushes: tuple[str, ...]) -> None:
    run = drive("--others", *flushes, "--seed=0", "--cases=300")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("more", [(), ("--flushes",), ("--flushes", "--others")])
def test_cores_of_their_own_count_what_naive_ones_do(more: tuple[str, ...]) -> None:
    run = drive("--cores", *more, "--seed=0", "--cases=300")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("more", [(), ("--prefetches",)])
def test_hardware_threads_share_and_divide_as_naive_ones_do(more: tuple[str, ...]) -> None:
    run = drive("--siblings", *more, "--seed=0", "--cases=500")
    assert run.returncode == 0, run.stdout + run.stderr


def test_what_a_flush_throws_out_of_hardware_threads_does_not_depend_on_their_order() -> None:
    for more in ((), ("--others",)):
        run = drive("--siblings", "--flushes", *more, "--seed=0", "--cases=250")
        assert run.returncode == 0, run.stdout + run.stderr


def test_prefetches_fill_and_are_dropped_as_in_a_naive_machine() -> None:
    run = drive("--prefetches", "--seed=0", "--cases=500")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("others", [(), ("--others", "--cores")])
def test_prefetches_between_flushes_are_those_of_a_naive_machine(others: tuple[str, ...]) -> None:
    run = drive("--flushes", *others, "--prefetches", "--seed=50000", "--cases=300")
    assert run.returncode == 0, run.stdout + run.stderr


def test_address_spaces_on_a_core_miss_what_they_do_of_a_naive_machine() -> None:
    run = drive("--spaces", "--seed=0", "--cases=500")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_that_was_wrong_is_right(case: Path) -> None:
    run = drive(str(case))
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_case_that_goes_wrong_is_made_small_and_can_be_played(tmp_path: Path) -> None:
    run = drive("--spoil")
    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert lines[0].startswith("# seed ")
    references = [line for line in lines if line.split(" ")[0] in USERS]
    assert lines.count("tlbgrind-machine 1") == 1
    assert 0 < len(references) < 80
    case = tmp_path / "case"
    case.write_text(run.stdout, encoding="ascii")
    assert drive(str(case)).returncode == 0
    again = drive("--spoil", str(case))
    assert again.returncode == 1
    assert again.stdout.splitlines()[2:] == lines[2:]


# --- the naive model in Python ---


@dataclass
class Mmu:
    machine: Machine
    asks: bool
    view: int
    naive: Naive
    counts: dict[str, list[int]] = field(default_factory=lambda: {user: [0] * 6 for user in USERS})

    def refer(self, user: str, address: int, page_shift: int, block_shift: int) -> None:
        before = (self.naive.references, self.naive.cycles)
        page = address >> self.machine.base
        missed, walked = self.naive.translate(USERS[user], page, 0, max(page_shift, self.machine.base), block_shift)
        of_user = self.counts[user]
        for level in missed:
            of_user[level] += 1
        of_user[3] += walked
        of_user[4] += self.naive.references - before[0]
        of_user[5] += self.naive.cycles - before[1]


class Player:
    """Plays a case of which pages are told with `back`, and has its counts as mmudrive prints them."""

    def __init__(self, text: str) -> None:
        head, *machines = text.split("\nmachine ")
        shift, nested, _, mapped, _ = map(int, head.split()[1:])
        self.shift, self.nested, self.mapped = shift, bool(nested), bool(mapped)
        events = ""
        self.mmus = []
        for described in machines:
            options, _, rest = described.partition("\n")
            machine, _, events = rest.partition("\nend\n")
            asks, view = options.split()[:2]
            self.mmus.append(self.mmu(machine + "\nend\n", bool(int(asks)), int(view)))
        self.events = events.splitlines()
        self.backed: list[tuple[int, ...]] = []

    def mmu(self, text: str, asks: bool, view: int) -> Mmu:
        machine = Machine.described(describe(text))
        return Mmu(machine, asks, view, Naive(machine, self.nested))

    def backing(self, mmu: Mmu, address: int) -> tuple[int, int]:
        for view, start, end, page_shift, block_shift in reversed(self.backed):
            if mmu.asks and view == mmu.view and start <= address < end:
                return page_shift, block_shift
        return self.shift, self.shift

    def play(self) -> None:
        for event in self.events:
            what, *words = event.split()
            numbers = tuple(int(word, 0) for word in words)
            if what == "back":
                self.backed.append(numbers)
            elif what == "ask":
                for mmu in self.mmus:
                    mmu.asks = True
            else:
                address, size = numbers
                for mmu in self.mmus:
                    base = mmu.machine.base
                    for page in range(address >> base, (address + size - 1 >> base) + 1):
                        at = max(address, page << base)
                        mmu.refer(what, at, *self.backing(mmu, at))

    def lines(self) -> Iterator[str]:
        for number, mmu in enumerate(self.mmus):
            for user, counts in mmu.counts.items():
                yield " ".join(["counts", str(number), user, *map(str, counts)])


def test_the_naive_models_in_c_and_in_python_count_the_same() -> None:
    run = drive("--seed=100000", "--cases=400", "--print")
    assert run.returncode == 0, run.stderr
    played = 0
    for printed in run.stdout.split("case ")[1:]:
        case, _, counts = ("case " + printed).rpartition("\nend\n")
        player = Player(case)
        if player.mapped:  # Python has no page map.
            continue
        player.play()
        assert list(player.lines()) == counts.splitlines(), case
        played += 1
    assert played > 100
