# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Random programs: functions of assembly as no compiler writes them.

They mix what the fast path has to keep apart: accesses off several bases that come to lie on one
page or not, straddles, strides of whole pages, side exits in the middle of a block, loops, calls,
repeated and locked instructions, and code that itself lies across the ends of pages. Everything is
static, so a program is the same in every run.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from oracle_support import need

AREA_PAGES = 64
PAGE = 4096
# Copies of the area, so far apart that their pages share sets and whatever else is chosen by some of
# a page's lower bits.
COPIES = 3
FAR = 1 << 26
ROUNDS = 6  # of all functions, each with other random numbers
BASES = ("bx", "si", "di")


class Function:
    """The body of one function. ax is a random number, cx counts loops, dx is free."""

    def __init__(self, dice: random.Random, number: int, bits: int, prefetches: bool = False) -> None:
        self.dice = dice
        self.prefetches = prefetches
        self.number = number
        self.wide = bits == 64
        self.lines: list[str] = []
        self.labels = 0

    def r(self, name: str) -> str:
        return ("%r" if self.wide else "%e") + name

    def emit(self, *lines: str) -> None:
        self.lines.extend("        " + line for line in lines)

    def label(self) -> str:
        self.labels += 1
        return f".L{self.number}_{self.labels}"

    def offset(self) -> int:
        """Often near the end of a page, where it may straddle."""
        near = self.dice.choice((0, 8, 64, PAGE - 1, PAGE - 2, PAGE - 8, 2 * PAGE - 3))
        return self.dice.choice((near, self.dice.randrange(PAGE)))

    def copy(self) -> int:
        copy: int = self.dice.choice((0, 0, *range(COPIES)))
        return copy * FAR

    def place(self) -> str:
        return f"{self.offset()}({self.r(self.dice.choice(BASES))})"

    def point(self, base: str) -> None:
        where = self.copy() + self.dice.randrange(AREA_PAGES) * PAGE + self.offset()
        self.emit(f"mov $area + {where}, {self.r(base)}")

    def make_number(self) -> None:
        self.emit("imul $1103515245, %eax, %eax", "add $12345, %eax")

    def access(self) -> None:
        place = self.place()
        if self.prefetches and self.dice.randrange(3) == 0:
            self.emit(f"{self.dice.choice(('prefetcht0', 'prefetchnta', 'prefetchw'))} {place}")
            return
        forms = [
            f"movb {place}, %dl",
            f"movw {place}, %dx",
            f"movl {place}, %edx",
            f"movups {place}, %xmm0",
            f"movsd {place}, %xmm1",
            f"movb %al, {place}",
            f"movw %ax, {place}",
            f"movl %eax, {place}",
            f"movups %xmm0, {place}",
            f"movsd %xmm1, {place}",
            f"addl $3, {place}",
            f"incb {place}",
            f"cmpw $7, {place}",
            f"lock xadd %edx, {place}",
        ]
        if self.wide:
            forms += [f"movq {place}, %rdx", f"movq %rax, {place}", f"addq $1, {place}"]
        self.emit(self.dice.choice(forms))

    def anywhere(self) -> None:
        """An access whose address the random number decides."""
        self.make_number()
        mask = AREA_PAGES * PAGE - 1
        address = f"area+{self.copy()}({self.r('dx')})"
        self.emit("mov %eax, %edx", "shr $7, %edx", f"and ${mask}, %edx")
        if self.prefetches and self.dice.randrange(2) == 0:
            self.emit(f"prefetcht1 {address}")
            return
        self.emit(
            self.dice.choice(
                (
                    f"movl {address}, %edx",
                    f"movl %eax, {address}",
                    f"movups {address}, %xmm0",
                    f"addl %eax, {address}",
                )
            )
        )

    def advance(self) -> None:
        """Goes on by some pages. Beyond the area, and in its copies, back as many as it has; there
        is memory between them."""
        base = self.r(self.dice.choice(BASES))
        step = self.dice.randrange(1, 4) * PAGE + self.dice.choice((0, 0, 1, -1, 4))
        inside = self.label()
        self.emit(f"add ${step}, {base}", f"cmp $area + {AREA_PAGES * PAGE}, {base}")
        self.emit(f"jb {inside}", f"sub ${AREA_PAGES * PAGE}, {base}")
        self.lines.append(f"{inside}:")

    def branch(self, depth: int) -> None:
        over = self.label()
        self.make_number()
        self.emit(f"test ${1 << self.dice.randrange(8, 20)}, %eax", f"jz {over}")
        self.statements(self.dice.randrange(1, 5), depth)
        self.lines.append(f"{over}:")

    def loop(self, depth: int) -> None:
        again = self.label()
        self.emit(f"push {self.r('cx')}", f"mov ${self.dice.randrange(2, 7)}, %ecx")
        self.lines.append(f"{again}:")
        self.statements(self.dice.randrange(1, 6), depth + 1)
        self.emit("dec %ecx", f"jnz {again}", f"pop {self.r('cx')}")

    def repeat(self) -> None:
        self.emit(f"push {self.r('cx')}", f"mov ${self.dice.randrange(0, 9)}, %ecx")
        self.emit(self.dice.choice(("rep movsb", "rep stosb", "rep movsl", "repe cmpsb")))
        self.emit(f"pop {self.r('cx')}")
        for base in ("si", "di"):
            self.point(base)

    def skip(self) -> None:
        """Code that begins at an odd place, and maybe on another page."""
        over = self.label()
        self.emit(f"jmp {over}", f".skip {self.dice.choice((1, 13, 700, PAGE - 5, PAGE))}, 0xcc")
        self.lines.append(f"{over}:")

    def call(self) -> None:
        # Only functions that call nothing, so nothing grows.
        if self.number % 3 != 0 and self.number > 3:
            self.emit(f"call f{self.dice.randrange(self.number // 3) * 3}")

    def statement(self, depth: int) -> None:
        kind = self.dice.randrange(100)
        if kind < 50:
            self.access()
        elif kind < 60:
            self.anywhere()
        elif kind < 68:
            self.point(self.dice.choice(BASES))
        elif kind < 76:
            self.advance()
        elif kind < 85:
            self.branch(depth)
        elif kind < 91 and depth < 2:
            self.loop(depth)
        elif kind < 94:
            self.repeat()
        elif kind < 97:
            self.skip()
        elif depth < 1:
            self.call()

    def statements(self, n: int, depth: int) -> None:
        for _ in range(n):
            self.statement(depth)

    def text(self) -> str:
        name = f"f{self.number}"
        for base in BASES:
            self.point(base)
        self.statements(self.dice.randrange(5, 22), 0)
        self.emit("ret")
        head = [
            f"        .skip {self.dice.choice((1, 3, 50, 1000, 3500))}, 0xcc",
            f"        .type {name}, @function",
            f"{name}:",
        ]
        return "\n".join([*head, *self.lines, f"        .size {name}, . - {name}", ""])


def calls(*numbers: tuple[str, ...]) -> str:
    """System calls: number and arguments of each."""
    text = ""
    for call in numbers:
        for value, register in zip(call, ("%eax", "%edi", "%esi", "%edx")):
            text += f"        mov {value}, {register}\n"
        text += "        syscall\n"
    return text


def begin_sharing(dice: random.Random) -> str:
    """A child shares the program's pages for a round, so what is written first is copied, in the middle
    of some segment. And calls after which pages are flushed. For 64 bits."""
    start, n = dice.randrange(AREA_PAGES // 2), dice.randrange(1, AREA_PAGES // 2)
    area = (f"$area + {start * PAGE}", f"${n * PAGE}")
    return (
        "        push %rax\n        sub $16, %rsp\n        mov %rsp, %rdi\n"
        + calls(("$22",), ("$57",))  # pipe, fork
        + "        test %eax, %eax\n        jnz parent\n        lea 8(%rsp), %rsi\n"
        + calls(("$3", "4(%rsp)"))  # close
        + "        mov (%rsp), %edi\n        mov $1, %edx\n"
        + calls(("$0",), ("$231", "$0"))  # read, which ends when the parent closes its end; exit_group
        + "parent:\n"
        + calls(("$10", *area, "$1"), ("$10", *area, "$3"), ("$28", area[0], "$4096", "$4"))  # mprotect, madvise
        + "        mov 16(%rsp), %rax\n        xor %ecx, %ecx\n"
    )


def end_sharing() -> str:
    return (
        "        push %rax\n"
        + calls(("$3", "8(%rsp)"), ("$3", "12(%rsp)"))  # close
        + "        xor %r10d, %r10d\n"
        + calls(("$61", "$-1", "$0", "$0"))  # wait4
        + "        pop %rax\n        add $24, %rsp\n"
    )


def program(seed: int, functions: int, bits: int, forks: bool = False, prefetches: bool = False) -> str:
    dice = random.Random(seed)
    texts = [Function(dice, number, bits, prefetches).text() for number in range(functions)]
    if bits == 64:
        leave = "        mov $231, %eax\n        xor %edi, %edi\n        syscall"
    else:
        leave = "        mov $252, %eax\n        xor %ebx, %ebx\n        int $0x80"
    return (
        "        .text\n        .globl begin\nbegin:  mov $1, %eax\n        xor %ecx, %ecx\n"
        + f"        mov ${ROUNDS}, %ebp\nround:\n"
        + (begin_sharing(dice) if forks else "")
        + "".join(f"        call f{number}\n" for number in range(functions))
        + (end_sharing() if forks else "")
        + "        dec %ebp\n        jnz round\n"
        + leave
        + "\n"
        + "".join(texts)
        # Valgrind reads the symbols of a file that has a writable part.
        + "        .data\n        .long 1\n        .bss\n        .balign 4096\n"
        + f"area:   .skip {COPIES * FAR}\n"
        + '        .section .note.GNU-stack, "", @progbits\n'
    )


def build(
    folder: Path, seed: int, functions: int, bits: int, forks: bool = False, prefetches: bool = False
) -> Path:
    name = f"random{seed}_{bits}"
    path = folder / name
    source = folder / f"{name}.s"
    source.write_text(program(seed, functions, bits, forks, prefetches))
    subprocess.run(
        [need("gcc", "gcc"), f"-m{bits}", "-nostdlib", "-static", "-no-pie", "-Wl,-e,begin"]
        + ["-o", str(path), str(source)],
        check=True,
    )
    return path
