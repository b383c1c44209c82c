# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Source positions that Valgrind leaves out: held against addr2line, address by address.

Code outside of .text has lines, as the same code in .text has; a function stands under the file that
it is written in, also where its first instruction is inlined from another.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tg_written import written
from tool_support import run

UTIL = """\
static inline int half(int x) { return x < 0 ? -(-x / 2) : x / 2; }
"""
WORK = """\
#include "util.h"
volatile int total;
__attribute__((noinline)) int twice(int n)
{
   int s = 0;
   for (int i = 0; i < n; i++)
      s += half(i) + 1;
   return s;
}
__attribute__((noinline)) void add(int n)
{
   total += twice(n);
   if (total > 1000)
      total = half(total);
}
"""
MAIN = """\
void add(int n);
int main(void)
{
   for (int i = 0; i < 50; i++)
      add(i);
   return 0;
}
"""
# Which compilers' debug information Valgrind 3.19 reads: clang's DWARF 5 of several files stops it.
COMPILERS = {
    "gcc, DWARF 2": ["gcc", "-gdwarf-2"],
    "gcc, DWARF 3": ["gcc", "-gdwarf-3"],
    "gcc, DWARF 4": ["gcc", "-gdwarf-4"],
    "gcc, DWARF 5": ["gcc", "-gdwarf-5"],
    "gcc, compressed": ["gcc", "-gdwarf-5", "-gz"],
    "gcc, DWARF 4 compressed": ["gcc", "-gdwarf-4", "-gz"],
    "clang, DWARF 4": ["clang", "-gdwarf-4"],
}


def build(folder: Path, compiler: list[str], renamed: bool, name: str) -> Path:
    """Of two folders, by relative paths; the code in .text, or in another section."""
    (folder / "sub").mkdir(exist_ok=True)
    (folder / "include").mkdir(exist_ok=True)
    (folder / "include" / "util.h").write_text(UTIL, encoding="ascii")
    (folder / "sub" / "work.c").write_text(WORK, encoding="ascii")
    (folder / "main.c").write_text(MAIN, encoding="ascii")
    for source, where in (("../sub/work.c", folder / "include"), ("main.c", folder)):
        made = folder / (Path(source).stem + ".o")
        command = [*compiler, "-O2", "-fno-pie", "-c", source, "-I", "." if where != folder else "include", "-o", str(made)]
        subprocess.run(command, cwd=where, check=True)
        if renamed:
            subprocess.run(["objcopy", "--rename-section", ".text=of_mine", made], check=True)
    flags = [flag for flag in compiler if flag == "-gz"]
    subprocess.run([compiler[0], *flags, "-no-pie", "main.o", "work.o", "-o", name], cwd=folder, check=True)
    return folder / name


def positions(out: Path, program: Path) -> Iterator[tuple[int, str, int]]:
    """Address, file and line of each instruction of the program."""
    names: dict[str, str] = {}
    inside, file = False, ""
    for row in written(out).splitlines():
        match = re.match(r"(ob|fl|fi|fe)=\((\d+)\)(?: (.+))?$", row)
        if match:
            kind, number, name = match.groups()
            key = ("o" if kind == "ob" else "f") + number
            names[key] = name or names[key]
            if kind == "ob":
                inside = names[key] == str(program)
            else:
                file = names[key]
        elif inside and row.startswith("0x"):
            yield int(row.split()[0], 16), file, int(row.split()[1])


def addr2line(program: Path, addresses: list[int]) -> list[tuple[str, int]]:
    asked = "".join(f"{a:#x}\n" for a in addresses)
    told = subprocess.run(["addr2line", "-e", program], input=asked, capture_output=True, text=True, check=True).stdout
    found = []
    for row in told.splitlines():
        file, _, line = re.sub(r" \(discriminator \d+\)", "", row).rpartition(":")
        found.append((os.path.normpath(file), 0 if line == "?" else int(line)))
    return found


def files_of(out: Path) -> set[str]:
    return {match[1] for match in re.finditer(r"^f[lie]=\(\d+\) (.*/(?:main|work|util)\.[ch])$", written(out), re.MULTILINE)}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_code_outside_of_text_has_lines(compiler: str, tmp_path: Path) -> None:
    command = COMPILERS[compiler]
    usual = build(tmp_path, command, False, "usual")
    program = build(tmp_path, command, True, "renamed")
    r = run(tmp_path, program, options=["--dump-instr=yes"], collect=False)
    assert r.status == 0 and "warning" not in r.err, r.err
    (out,) = tmp_path.glob("out.*")
    found = [p for p in positions(out, program) if p[1] != "???"]
    assert {Path(file).name for _, file, _ in found} == {"main.c", "work.c", "util.h"}
    assert [(os.path.normpath(file), line) for _, file, line in found] == addr2line(program, [a for a, _, _ in found])
    # All of the section was found, and under the names that Valgrind has for code in .text.
    listing = subprocess.run(["objdump", "-d", "-j", "of_mine", program], capture_output=True, text=True, check=True).stdout
    code = {int(address, 16) for address in re.findall(r"^ +([0-9a-f]+):\t", listing, re.MULTILINE)}
    executed = {a for a, _, _ in positions(out, program)} & code
    assert executed and executed <= {a for a, _, _ in found}
    names = files_of(out)
    out.unlink()
    run(tmp_path, usual, collect=False)
    (out,) = tmp_path.glob("out.*")
    assert names == files_of(out)


SORT = """\
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main()
{
   std::vector<int> v;
   std::map<std::string, int> m;
   for (int i = 0; i < 5000; i++) {
      v.push_back(i * 7919 % 5003);
      m[std::to_string(i % 100)] += i;
   }
   std::sort(v.begin(), v.end());
   std::stable_sort(v.begin(), v.end(), [](int a, int b) { return a % 10 < b % 10; });
   std::printf("%d %zu\\n", v[17], m.size());
}
"""


# Prints the file that each function is declared in, by its first address.
GDB = """\
import gdb
for entry in ADDRESSES:
    block, function = gdb.block_for_pc(entry), None
    while block is not None and not block.is_static:
        function, block = block.function or function, block.superblock
    print("declared", entry, function.symtab.fullname() if function else "-")
"""


def declared(program: Path, entries: set[int]) -> dict[int, str]:
    script = program.parent / "declared.py"
    script.write_text(GDB.replace("ADDRESSES", repr(sorted(entries))), encoding="ascii")
    command = ["gdb", "-batch", "-nx", "-x", script, program]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {int(entry): os.path.normpath(file) for entry, file in re.findall(r"^declared (\d+) (/.+)$", told, re.MULTILINE)}


@pytest.mark.parametrize("flags", [["-O2"], ["-O2", "-gdwarf-4"], ["-O3"], ["-Os"]], ids=" ".join)
def test_a_function_has_the_file_that_it_is_written_in(flags: list[str], tmp_path: Path) -> None:
    (tmp_path / "sort.cc").write_text(SORT, encoding="ascii")
    program = tmp_path / "sort"
    command = ["g++", "-std=c++17", "-g", "-no-pie", *flags, "sort.cc", "-o", str(program)]
    subprocess.run(command, cwd=tmp_path, check=True)
    r = run(tmp_path, program)
    assert r.status == 0, r.err
    listed = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    symbols = re.findall(r"^([0-9a-f]+) [tTwW] (.+)$", listed, re.MULTILINE)
    entry = {name: int(address, 16) for address, name in symbols}
    told = declared(program, set(entry.values()))
    functions = {
        line.function: os.path.normpath(line.function_file)
        for line in r.only().lines
        if line.object == str(program) and entry.get(line.function) in told
    }
    assert len(functions) > 8
    assert functions == {function: told[entry[function]] for function in functions}
    (sorting,) = [file for name, file in functions.items() if "std::__introsort_loop<" in name]
    assert sorting.endswith("/stl_algo.h")
