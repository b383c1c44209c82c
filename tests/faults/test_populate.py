# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""tg_faults --what-if: ranges that are mapped at once as the program begins, of the program, a library, the
heap and the stack; held against programs with docs/populate.c."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from faults_support import good
from native_support import ENVIRONMENT, read
from tg_environment import CC, TLBGRIND
from tg_lacking import skip_what_lacks
from tg_tables import document

SOURCE = Path(os.environ["TG_SRCDIR"]) / "docs" / "populate.c"
MINOR, MAJOR = 3, 2  # what a changed program may differ by from what was said
FRAMES = 6  # of 9000 bytes
NAME = "MADV_POPULATE: "
BEST = NAME + "all that pays"

PARTS = """
static volatile int sink;
#define F(n) __attribute__((noinline)) static int f##n(int x) { asm volatile("jmp 1f; .skip 3900; 1:"); return sink += x + n; }
#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(F) TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4) TEN(F, 5) TEN(F, 6) TEN(F, 7) TEN(F, 8)
HUNDRED(F)
#define NAME(n) f##n,
static int (*const all[])(int) = { HUNDRED(NAME) };
static int counts[40 << 10] = { 1 };
static char zero[100000];
static int run(int x)
{
   for (int i = 0; i < 80; i += 9)
      x = all[i](x);
   for (int i = 0; i < 40 << 10; i += 5000)
      counts[i]++;
   for (int i = 0; i < 100000; i += 20000)
      zero[i]++;
   return x;
}
"""
LIBRARY = PARTS + "int ranges_run(int x) { return run(x); }\n"
PROGRAM = """
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
int ranges_run(int x);
static int deep(int n)
{
   char room[9000];
   memset(room, n, sizeof room);
   return n > 1 ? deep(n - 1) + room[7] : room[8];
}
static long faults(void)
{
   struct rusage used;
   getrusage(RUSAGE_SELF, &used);
   return used.ru_minflt;
}
static long copied(void)
{
   char* text = calloc(1, 1 << 18);
   const int fd = open("/proc/self/smaps", O_RDONLY);
   size_t size = 0;
   for (ssize_t got; (got = read(fd, text + size, (1 << 18) - 1 - size)) > 0;)
      size += (size_t)got;
   long sum = 0;
   for (const char* at = text; (at = strstr(at, "Anonymous:")) != NULL; at++)
      sum += atol(at + 10);
   const char* of_stack = strstr(text, "[stack]");
   return sum - atol(strstr(of_stack, "Anonymous:") + 10);
}
""" + PARTS + """
int main(int argc, char** argv)
{
   int x = run(argc) + ranges_run(2);
   for (int i = 1; i < 200; i++)
      x += *(char*)memset(malloc(400), i, 400);
   const long before = faults();
   x += deep(FRAMES);
   const long stack = faults() - before;
   if (argc > 1)
      printf("%ld %ld %d\\n", stack, copied(), x);
   return x == 3;
}
"""

Row = dict[str, Any]


class Built(NamedTuple):
    folder: Path

    def program(self, name: str, ranges: str) -> Path:
        """Its name is as long as that of each other, so that stacks are alike."""
        assert len(name) == 6
        path = self.folder / name
        part = self.folder / f"{name}.o"
        self.call("-O2", "-fPIE", "-Wall", "-Wextra", "-Werror", f'-DRANGES="{ranges}"', "-c", "-o", part, SOURCE)
        self.call("-pie", "-o", path, "main.o", part, "-L.", "-lranges", f"-Wl,-rpath,{self.folder},-z,separate-code,-z,lazy")
        return path

    def call(self, *words: object) -> None:
        subprocess.run([*CC, *map(str, words)], check=True, cwd=self.folder)

    def record(self, program: Path, *options: str) -> Path:
        log = program.with_suffix(".log")
        outputs = [f"--faults-out-file={log}", "--tlbgrind-out-file=/dev/null"]
        kernel = ["--thp=madvise", "--mthp=none"]
        subprocess.run([TLBGRIND, "-q", "--faults=yes", *kernel, *outputs, *options, program], env=variables(), check=True)
        return log


def variables() -> dict[str, str]:
    return {**ENVIRONMENT, "LC_ALL": "C"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    made = Built(tmp_path_factory.mktemp("populate"))
    (made.folder / "lib.c").write_text(LIBRARY, encoding="ascii")
    (made.folder / "main.c").write_text(PROGRAM, encoding="ascii")
    made.call("-O1", "-fPIC", "-shared", "-o", "libranges.so", "lib.c", "-Wl,-soname,libranges.so,-z,separate-code")
    made.call("-O1", "-fPIE", f"-DFRAMES={FRAMES}", "-c", "main.c")
    made.record(made.program("plain_", ""), "--faults-touches=yes")
    return made


@cache
def rows(log: Path) -> dict[str, Row]:
    (table,) = document(good("--what-if", "--format=json", log))["tables"]
    return {row["remedy"]: row for row in table["rows"]}


def words(row: Row) -> str:
    """What docs/populate.c is to be given."""
    found = re.search(r"docs/populate\.c with the ranges? (.*);", row["how"])
    assert found, row["how"]
    return found[1]


def native(program: Path) -> tuple[int, int]:
    """Faults of the stack, and KiB that the process has of its own but for the stack, which begins at a random place."""
    done = subprocess.run([program, "x"], env=variables(), capture_output=True, text=True, check=True)
    stack, copied, _ = map(int, done.stdout.split())
    return stack, copied


def unused(row: Row) -> int:
    found = re.search(r"of which ([\d,]+) KiB are copied or zeroed", row["assumption"])
    return int(found[1].replace(",", "")) if found else 0


RANGES = {"codes_": "code", "datas_": "data", "libco_": "libranges.so code", "libda_": "libranges.so data", "heaps_": "heap"}


@pytest.mark.parametrize("name", [*RANGES, "bests_"])
def test_ranges(name: str, built: Built) -> None:
    """each saves what its row says, and they together"""
    before = built.folder / "plain_.log"
    row = rows(before)[NAME + RANGES[name] if name in RANGES else BEST]
    program = built.program(name, re.sub(r" ?stack:\d+", "", words(row)))
    logs = [read(before), read(built.record(program))]
    # Valgrind's stack has no room below it, so there the call is refused.
    stack = rows(before)[NAME + "stack"]["minor_least"] if name == "bests_" else 0
    for what, view, column, allowed in (("minor", "warm", 0, MINOR), ("major", "cold", 1, MAJOR)):
        saved = logs[0].summary[view][column] - logs[1].summary[view][column]
        said = row[f"{what}_least"] - (stack if what == "minor" else 0)
        print(f"{row['remedy']}: {what} {said} said, {saved} found")
        assert abs(said - saved) <= allowed
    assert row["minor_least"] >= 2


def test_the_best_have_all_that_save(built: Built) -> None:
    """what saves two faults or more, each once"""
    found = rows(built.folder / "plain_.log")
    row = found[BEST]
    parts = {name: one for name, one in found.items() if name.startswith(NAME) and name != BEST and " + " not in name}
    pays = {words(one) for one in parts.values() if one["minor_least"] >= 2}
    assert set(words(row).split()) == pays and len(pays) > 5
    assert row["minor_least"] == sum(one["minor_least"] for one in parts.values() if one["minor_least"] >= 2)


def test_a_combination_names_its_ranges_at_once(built: Built) -> None:
    """in the text; as tables it has the names of its rows"""
    log = built.folder / "plain_.log"
    several = [name for name in rows(log) if name.count(NAME) > 1]
    text = good("--what-if", log)
    assert several and all(line.count(NAME) <= 1 for line in text.splitlines())
    assert re.search(rf"{NAME}(code|data|constants)(, (code|data|constants))+", text)


@pytest.mark.parametrize("name", ["datas_", "libda_"])
def test_memory_that_it_takes(name: str, built: Built) -> None:
    """the KiB that are copied or zeroed for nothing are what the process has more of its own by the kernel's count"""
    row = rows(built.folder / "plain_.log")[NAME + RANGES[name]]
    without, having = native(built.program("plain_", "")), native(built.program(name, words(row)))
    if having == without:
        skip_what_lacks("the kernel has no MADV_POPULATE_WRITE (Linux 5.14)")
    assert having[1] - without[1] == unused(row) > 100


def test_stack(built: Built) -> None:
    """natively, the pages of its frames are there"""
    row = rows(built.folder / "plain_.log")[NAME + "stack"]
    without, having = native(built.program("plain_", "")), native(built.program("stacks", words(row)))
    if having[0] == without[0]:
        skip_what_lacks("the kernel has no MADV_POPULATE_WRITE (Linux 5.14)")
    assert abs(row["minor_least"] - FRAMES * 9000 // 4096) <= 2
    assert having[0] <= 1 < without[0]


def test_without_ranges_it_does_not_compile() -> None:
    """populate.c says what it needs"""
    done = subprocess.run([*CC, "-fPIE", "-fsyntax-only", SOURCE], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "-DRANGES=" in done.stderr
