# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Processors' answers to CPUID as dumps, and machines as the command prints them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

TLBGRIND = os.environ["TLBGRIND"]
FACTS = Path(os.environ["TG_SRCDIR"], "tests/unit/cpuid")

Answer = tuple[int, int, int, int, int, int]


def read_processors() -> dict[str, list[Answer]]:
    """The answers of each processor in tests/unit/cpuid: leaf, sub-leaf, EAX, EBX, ECX, EDX."""
    processors: dict[str, list[Answer]] = {}
    for file in sorted(FACTS.glob("*.cpuid")):
        _, *lines = file.read_text().splitlines()
        answers = processors[file.stem] = []
        for line in lines:
            numbers = re.findall(r"0x([0-9a-f]+)", line)
            leaf, subleaf, eax, ebx, ecx, edx = (int(number, 16) for number in numbers)
            answers.append((leaf, subleaf, eax, ebx, ecx, edx))
    assert len(processors) >= 30
    return processors


def dump_lines(answers: list[Answer], cpu: int = 0) -> str:
    """A processor as `cpuid -r` prints it."""
    return f"CPU {cpu}:\n" + "".join(
        f"   0x{leaf:08x} 0x{subleaf:02x}: eax=0x{eax:08x} ebx=0x{ebx:08x} ecx=0x{ecx:08x} edx=0x{edx:08x}\n"
        for leaf, subleaf, eax, ebx, ecx, edx in answers
    )


def without_18h(answers: list[Answer]) -> list[Answer]:
    """As a virtual machine has it whose hypervisor hides that leaf."""
    seen = [(*a[:4], a[4] | 1 << 31, a[5]) if a[0] == 1 else a for a in answers]
    return [a for a in seen if a[0] != 0x18]


@dataclass
class Array:
    name: str
    values: dict[str, list[str]] = field(default_factory=dict)

    def __getitem__(self, key: str) -> str:
        (value,) = self.values[key]
        return value

    def number(self, key: str) -> int:
        """A number, also where it is assumed; `ways full` are as many as entries."""
        word = self[key].removeprefix("unknown, assume ")
        return self.number("entries") if word == "full" else int(word)

    @property
    def users(self) -> set[str]:
        users = set(self["users"].split("+"))
        return {"fetches", "loads", "stores"} if users == {"all"} else users

    @property
    def pages(self) -> set[str]:
        return set(self["pages"].split("+"))


@dataclass
class Machine:
    head: dict[str, list[str]] = field(default_factory=dict)
    arrays: list[Array] = field(default_factory=list)


def parse_machine(text: str) -> Machine:
    machine = Machine()
    values = machine.head
    for line in text.splitlines():
        if not line.strip():
            continue
        key, _, value = line.strip().partition(" ")
        value = value.strip()
        if key == "array":
            machine.arrays.append(Array(value))
            values = machine.arrays[-1].values
        elif key in ("walk", "step"):
            values = {}
        else:
            values.setdefault(key, []).append(value)
    return machine


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TLBGRIND, *arguments], check=False, capture_output=True, text=True)


def show(name: str | Path) -> str:
    done = command(f"--show-machine={name}")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
