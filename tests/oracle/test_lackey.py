# test_lackey.py -- the tool's counts against a naive simulation of lackey's trace.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lackey prints every instruction, load, store and modify of a program.  That trace, simulated by
naive_tlb.py, must give the tool's totals to the digit, whatever the arrays, and with and without
the tool's short cuts.

One thing lackey sees otherwise: memory that a helper touches only under a guard (parts of xsave and
xrstor) is in its trace whether the guard holds or not.  The tool says how often it did not.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from oracle.lackey_trace import totals_of, trace, valgrind
from oracle.naive_tlb import Array, Hierarchy
from tg_long import every_second

CC = shlex.split(os.environ.get("CC", "gcc"))

# Loads, stores and modifies all over 96 pages; many of them cross a page, some of them with both
# pages in one set of every array; instructions that cross pages and jump between many of them.
CLIENT = r"""
typedef unsigned long word;
enum { PAGE = 4096, PAGES = 96, CODE = 24 };
static char data[PAGE * (PAGES + 1)] __attribute__((aligned(65536)));
static word state = 88172645463325252ul;

static word draw(word below)
{
   state ^= state << 13;
   state ^= state >> 7;
   state ^= state << 17;
   return (state >> 20) % below;
}

/* Functions at the ends of pages: the nops of nine bytes straddle. */
#define FUNCTION(n) \
   ".p2align 12\n .skip 4070, 0x90\n code" #n ":\n" \
   ".rept 6\n .byte 0x66,0x0f,0x1f,0x84,0,0,0,0,0\n .endr\n inc %eax\n ret\n"
__asm__(".text\n"
   FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5)
   FUNCTION(6) FUNCTION(7) FUNCTION(8) FUNCTION(9) FUNCTION(10) FUNCTION(11)
   ".p2align 12\n");
extern const char code0[], code1[];

static void one(word kind, char *at)
{
   word t = 1;
   switch (kind) {
   case 0: case 1: case 2:
      __asm__ volatile("mov (%1), %0" : "=r"(t) : "r"(at) : "memory"); break;
   case 3: case 4:
      __asm__ volatile("mov %0, (%1)" : : "r"(t), "r"(at) : "memory"); break;
   case 5: __asm__ volatile("incq (%0)" : : "r"(at) : "memory"); break;
   case 6: __asm__ volatile("movups (%0), %%xmm0" : : "r"(at) : "xmm0", "memory"); break;
   case 7: __asm__ volatile("movups %%xmm0, (%0)" : : "r"(at) : "memory"); break;
   case 8:
      __asm__ volatile("lock; xaddq %0, (%1)" : "+r"(t)
                       : "r"((word)at & -8ul) : "memory"); break;
   case 9: {
      char *from = data + draw(PAGE * PAGES);
      word n = 20;
      __asm__ volatile("rep movsb" : "+S"(from), "+D"(at), "+c"(n) : : "memory");
      break;
   }
   case 10:
      __asm__ volatile("push (%0)\n pop 8(%0)" : : "r"(at) : "memory"); break;
   case 11: __asm__ volatile("fldt (%0)\n fstpt 16(%0)" : : "r"(at) : "memory"); break;
   }
}

void run(void)
{
   for (int i = 0; i < 4000; i++) {
      /* Mostly a few pages, sometimes any. */
      word page = draw(4) ? draw(14) : draw(PAGES);
      /* One in three so near to the end of its page that it may go over it. */
      word offset = draw(3) ? draw(PAGE - 40) : PAGE - 1 - draw(12);
      one(draw(12), data + page * PAGE + offset);
      if (draw(5) == 0) {
         const char *code = code0 + draw(12) * (code1 - code0);
         word t;
         __asm__ volatile("call *%1" : "=a"(t) : "r"(code) : "memory");
      }
   }
   /* Neighbours in turn, each access over the edge: both pages are as old. */
   for (int i = 0; i < 1500; i++)
      one(i & 1 ? 3 : 0, data + draw(PAGES) * PAGE + PAGE - 4);
   __asm__ volatile("syscall" : : "a"(231), "D"(0));
}

__asm__(".globl _start\n_start:\n and $-64, %rsp\n call run\n");
"""

# Three pages in order, a b c, and registers that stay in use, or Vex would drop the loads.
EDGE = r"""
static char a[3 * 4096] __attribute__((aligned(4096)));
void *keep = a;
__asm__(".globl _start\n_start:\n"
        "mov a+4096, %r8\n" "mov a, %r9\n"
        "mov a+4092, %r10\n" /* a, then b: now a is the older of the two */
        "mov a+8192, %r11\n" /* evicts a */
        "mov a+4096, %r12\n" /* b */
        "mov $231, %eax\n" "xor %edi, %edi\n" "syscall\n");
"""

# The mask leaves out the x87 part, which a helper would write and read. It comes out of memory, for
# Vex knows what a constant mask leaves out.
XSAVE = r"""
static char area[4096] __attribute__((aligned(64)));
static volatile int mask = 6;
void *keep = area;
void *keep_too = (void *)&mask;
__asm__(".globl _start\n_start:\n"
        "mov mask, %eax\n" "xor %edx, %edx\n"
        "xsave area\n" "xrstor area\n" "xsave area\n"
        "mov $231, %eax\n" "xor %edi, %edi\n" "syscall\n");
"""

# The events of an out-file, in its order.
EVENTS = ("Ir", "I1tm", "ILtm", "Dr", "D1tmr", "DLtmr", "Dw", "D1tmw", "DLtmw")
OF_KIND = {"I": EVENTS[0:3], "L": EVENTS[3:6], "M": EVENTS[3:6], "S": EVENTS[6:9]}


@dataclass(frozen=True)
class Machine:
    itlb: str
    dtlb: str
    stlb: str | None = None
    page: str = "4K"

    def options(self) -> list[str]:
        stlb = [] if self.stlb is None else [f"--stlb={self.stlb}"]
        return [f"--page-size={self.page}", f"--itlb={self.itlb}", f"--dtlb={self.dtlb}", *stlb]

    def hierarchy(self) -> Hierarchy:
        second = None if self.stlb is None else Array.parse(self.stlb)
        return Hierarchy([{"I": Array.parse(self.itlb), "D": Array.parse(self.dtlb)}, {"I": second, "D": second}])


class Trace:
    """What lackey saw of a program."""

    def __init__(self, program: list[str], folder: Path) -> None:
        self.program = program
        self.accesses = trace(program, folder)

    def simulate(self, machine: Machine) -> tuple[Counter[str], Counter[str]]:
        """The totals, and the accesses that cross a page by kind."""
        page_bytes = int(machine.page[:-1]) * 1024
        hierarchy = machine.hierarchy()
        levels = 1 if machine.stlb is None else 2
        totals: Counter[str] = Counter()
        straddles: Counter[str] = Counter()
        for kind, address, size in self.accesses:
            references, first_misses, walks = OF_KIND[kind]
            side = "I" if kind == "I" else "D"
            totals[references] += 1
            first = address // page_bytes
            last = (address + size - 1) // page_bytes
            straddles[references] += first != last
            for page in range(first, last + 1):
                missed, walked = hierarchy.translate(side, page)
                totals[first_misses] += 0 in missed
                totals[walks] += len(missed) == levels
                assert walked == (len(missed) == levels)
        return totals, straddles


def tlbgrind(
    machine: Machine, program: list[str], folder: Path, fast_path: str = "yes"
) -> tuple[Counter[str], dict[str, str]]:
    """The totals of the out-file, and its descriptions by name."""
    out = folder / "out"
    valgrind(
        "tlbgrind", [*machine.options(), f"--fast-path={fast_path}", f"--tlbgrind-out-file={out}", "-q"], program
    )
    return totals_of(out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lackey")


def build(folder: Path, name: str, source: str) -> list[str]:
    """A program without libc, start files and environment of its own, at fixed addresses."""
    program = folder / name
    (folder / f"{name}.c").write_text(source)
    subprocess.run(
        [*CC, "-O1", "-fno-pie", "-no-pie", "-static", "-nostdlib", "-fno-stack-protector", "-fcf-protection=none"]
        + ["-fno-asynchronous-unwind-tables", "-o", program, f"{program}.c"],
        check=True,
    )
    return [str(program)]


@pytest.fixture(scope="module")
def client(folder: Path) -> Trace:
    return Trace(build(folder, "client", CLIENT), folder)


@pytest.fixture(scope="module")
def true(folder: Path) -> Trace:
    return Trace(["/bin/true"], folder)


@pytest.fixture(scope="module")
def ls(folder: Path) -> Trace:
    return Trace(["/bin/ls", "-l", "/usr"], folder)


MACHINES = {
    "lru": Machine("64,4", "64,4", "1536,12"),
    "lru full": Machine("16,full", "20,full"),
    "lru of many ways, sets off powers of two": Machine("60,20", "57,19", "120,40"),
    "lru direct": Machine("16,1", "64,1", "256,1"),
    "lru sets off powers of two": Machine("18,6", "21,7", "60,5"),
    "lru of two entries": Machine("2,full", "2,full", "3,full"),
    "lru 64K": Machine("4,full", "8,2", "12,4", "64K"),
    "plru": Machine("16,4,4K,plru", "32,8,4K,plru", "128,16,4K,plru"),
    "plru full": Machine("8,full,4K,plru", "32,full,4K,plru"),
    "plru sets off powers of two": Machine("12,4,4K,plru", "24,8,4K,plru", "80,16,4K,plru"),
    "fifo": Machine("16,4,4K,fifo", "32,full,4K,fifo", "96,6,4K,fifo"),
    "fifo sets off powers of two": Machine("10,2,4K,fifo", "21,7,4K,fifo"),
    "nru": Machine("16,4,4K,nru", "24,full,4K,nru", "72,6,4K,nru"),
    "nru of two ways": Machine("2,full,4K,nru", "8,2,4K,nru", "64,2,4K,nru"),
    "nru of many ways": Machine("64,16,4K,nru", "8,full,4K,nru"),
    "nru sets off powers of two": Machine("12,4,4K,nru", "6,2,4K,nru", "15,5,4K,nru"),
    "nru 64K": Machine("3,full,64K,nru", "6,2,64K,nru", None, "64K"),
    "random": Machine("16,4,4K,random:1", "24,full,4K,random:7", "72,6,4K,random:18446744073709551615"),
    "random sets off powers of two": Machine("7,1,4K,random", "20,4,4K,random:2"),
    "every policy": Machine("12,3,4K,fifo", "16,full,4K,plru", "96,12,4K,nru"),
}


def compare(trace: Trace, machine: Machine, folder: Path) -> None:
    expected, straddles = trace.simulate(machine)
    for fast_path in ("yes", "no"):
        totals, descriptions = tlbgrind(machine, trace.program, folder, fast_path)
        assert set(totals) == set(EVENTS)
        assert {event: totals[event] for event in EVENTS} == {event: expected[event] for event in EVENTS}, fast_path
        assert descriptions["Straddles"] == (
            f"instructions {straddles['Ir']}, reads {straddles['Dr']}, writes {straddles['Dw']}"
        )


@pytest.mark.parametrize("name", MACHINES)
def test_a_client_of_many_straddles_counts_as_its_lackey_trace(name: str, client: Trace, folder: Path) -> None:
    compare(client, MACHINES[name], folder)


# Each machine has the client, and one of two whole programs.
WITH_LS = ("lru", "lru full", "plru sets off powers of two", "fifo", "nru", "nru of many ways", "random", "lru 64K")


@pytest.mark.parametrize("name", every_second(name for name in MACHINES if name not in WITH_LS))
def test_true_counts_as_its_lackey_trace(name: str, true: Trace, folder: Path) -> None:
    compare(true, MACHINES[name], folder)


@pytest.mark.parametrize("name", every_second(WITH_LS))
def test_ls_counts_as_its_lackey_trace(name: str, ls: Trace, folder: Path) -> None:
    compare(ls, MACHINES[name], folder)


def test_the_client_has_enough_accesses_and_straddles_of_each_kind(client: Trace) -> None:
    """Enough of every kind of access, and of straddles, to tell."""
    totals, straddles = client.simulate(MACHINES["lru"])
    kinds = Counter(kind for kind, _, _ in client.accesses)
    assert min(kinds[kind] for kind in "ILSM") > 500
    assert min(straddles[event] for event in ("Ir", "Dr", "Dw")) > 500
    assert min(totals[event] for event in ("I1tm", "D1tmr", "D1tmw")) > 15


@pytest.mark.parametrize("fast_path", ["yes", "no"])
def test_of_the_two_pages_of_a_straddle_the_second_is_the_newer(folder: Path, fast_path: str) -> None:
    program = build(folder, "edge", EDGE)
    totals, _ = tlbgrind(Machine("4,4", "2,full"), program, folder, fast_path)
    assert (totals["Dr"], totals["D1tmr"]) == (5, 3)
    totals, _ = tlbgrind(Machine("4,4", "2,full,4K,plru"), program, folder, fast_path)
    assert (totals["Dr"], totals["D1tmr"]) == (5, 3)


@pytest.mark.skipif(" xsave " not in Path("/proc/cpuinfo").read_text(), reason="this processor has no xsave")
def test_an_access_of_a_helper_counts_only_if_it_is_made(folder: Path) -> None:
    trace = Trace(build(folder, "xsave", XSAVE), folder)
    expected, _ = trace.simulate(MACHINES["lru"])
    totals, descriptions = tlbgrind(MACHINES["lru"], trace.program, folder)
    assert descriptions["Unperformed helper accesses"] == "reads 1, writes 2"
    assert totals["Ir"] == expected["Ir"]
    assert totals["Dr"] == expected["Dr"] - 1
    assert totals["Dw"] == expected["Dw"] - 2
