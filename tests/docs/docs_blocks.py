# docs_blocks.py -- the commands that a document shows, and what it says that they print.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Fenced blocks with lines "$ command", each followed by its output; not those with a language.

A comment before a block says how the two are compared; without one they agree to a few percent.
In the output a line "..." stands for any lines, also for none.
Man pages have displays in the place of blocks, and no outputs.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import NamedTuple

# Numbers of every kind, with their sign or unit: 1,048,576 93.8% 0.728 64K. 4a2c000 is a word.
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?[%KMG]?(?![\w.]*[A-Za-z_])")
FENCE = re.compile(
    r"^(?:<!-- compare: (?P<how>[a-z]+) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
# "compiled": instructions and inlining are those of one compiler, with which they are near.
WAYS = ("near", "exact", "words", "compiled")
DISPLAY = re.compile(r"^\.Bd -literal.*\n(?P<body>(?:.*\n)*?)\.Ed$|^\.Dl (?P<line>\$ .*)$", re.MULTILINE)
# What a reader could type, although no "$" says so.
TYPED = re.compile(
    r"\s*(?:[\w.]+/)*(?:tlbgrind|tg_(?:annotate|faults|native|order|report)|valgrind|vgdb|callgrind_annotate"
    r"|kcachegrind|g?cc|g\+\+|clang|quickstart|autoreconf|configure|make|perf|env|export|setarch|sudo"
    r"|sh|bash|python3|perl|awk|cpuid|taskset|dd|echo|cd|mkdir|git|apt-get|llvm-bolt"
    r"|tar|dpkg-buildpackage|rpmbuild|nix-build|podman|packages|rpm|get-packages)(?:\s|$)"
)


class Command(NamedTuple):
    """One command, at a line of its document."""

    line: int
    how: str
    text: str
    output: str


def commands_of(path: Path) -> list[Command]:
    """All commands of a document. A command goes on behind a backslash."""
    text = path.read_text(encoding="utf-8")
    if not path.name.endswith(".md"):
        return displayed(text)
    found: list[Command] = []
    for fence in FENCE.finditer(text):
        if fence["language"]:
            continue
        how = fence["how"] or "near"
        assert how in WAYS, f"{path}: {how}"
        first = text.count("\n", 0, fence.start("body")) + 1
        lines = fence["body"].splitlines()
        at = 0
        while at < len(lines):
            if not lines[at].startswith("$ "):
                assert not found or at or not lines[at].startswith("$"), f"{path}:{first + at}"
                at += 1
                continue
            begin = at
            while lines[at].endswith("\\"):
                at += 1
            at += 1
            command = "\n".join(lines[begin:at])[2:]
            output = list(itertools.takewhile(lambda line: not line.startswith("$ "), lines[at:]))
            at += len(output)
            found.append(Command(first + begin, how, command, "\n".join(output)))
    return found


def displayed(page: str) -> list[Command]:
    """The commands of a man page, which go on until the next "$": they print anything."""
    found = []
    for display in DISPLAY.finditer(page):
        text = display["line"] or display["body"]
        first = page.count("\n", 0, display.start()) + (1 if display["line"] else 2)
        for command in re.finditer(r"^\$ (.*(?:\n(?!\$ ).*)*)", text.replace("\\e", "\\").rstrip(), re.MULTILINE):
            line = first + text.count("\n", 0, command.start())
            found.append(Command(line, "near", command[1], "..."))
    return found


def unmarked_of(path: Path) -> list[Command]:
    """What stands in blocks without a "$" and looks like a command all the same."""
    text = path.read_text(encoding="utf-8")
    found: list[Command] = []
    for block in re.finditer(r"^```.*\n((?:.*\n)*?)^```$", text, re.MULTILINE):
        if not re.search(r"^\$ ", block[1], re.MULTILINE):
            first = text.count("\n", 0, block.start(1)) + 1
            lines = enumerate(block[1].splitlines(), first)
            found += [Command(at, "near", line.strip(), "") for at, line in lines if TYPED.match(line)]
    return found


def value(number: str) -> float:
    return float(number.rstrip("%KMG").replace(",", ""))


def near(told: str, seen: str) -> bool:
    """Numbers that depend on the start of the C library: 5 %, or what a start-up is worth.

    A start takes some hundred page walks. Its instructions, in a row of their own, are not near.
    """
    if re.sub("[^%KMG]", "", told) != re.sub("[^%KMG]", "", seen):
        return False
    slack = 1.0 if told.endswith("%") else 0.05 if "." in told else 200.0
    return abs(value(told) - value(seen)) <= max(slack, 0.05 * abs(value(told)))


def line_agrees(told: str, seen: str, how: str) -> bool:
    if how == "exact":
        return told == seen
    words = [NUMBER.sub("0", line).split() for line in (told, seen)]
    # Rules are as long as the columns are wide, a share of nothing has no brackets.
    words = [[re.sub(r"^-{2,}$", "--", word) for word in line if word != "(0)"] for line in words]
    if words[0] != words[1]:
        return False
    # Both ends of a range are of its unit: "17 to 34%".
    numbers = [NUMBER.findall(re.sub(r"([\d.,]+) to ([\d.,]+%)", r"\1% to \2", line)) for line in (told, seen)]
    return how == "words" or all(map(near, *numbers))


def difference(told: str, seen: str, how: str) -> str | None:
    """The first line that a command should have printed and has not; None if there is none."""
    want = [line.rstrip() for line in told.splitlines()]
    have = [line.rstrip() for line in seen.splitlines()]
    at = 0
    while want:
        if want[0] == "...":
            rest = list(itertools.dropwhile(lambda line: line == "...", want))
            part = list(itertools.takewhile(lambda line: line != "...", rest))
            if not part:
                return None
            last = len(have) - len(part)
            starts = range(at, last + 1) if len(part) < len(rest) else range(max(at, last), last + 1)
            for start in starts:
                if all(line_agrees(a, b, how) for a, b in zip(part, have[start:])):
                    break
            else:
                return f"behind line {at}: {part[0]}"
            at, want = start + len(part), rest[len(part):]
            continue
        if at == len(have) or not line_agrees(want[0], have[at], how):
            return f"line {at + 1}: {want[0]}"
        at, want = at + 1, want[1:]
    return None if at == len(have) else f"nothing behind line {at}"
