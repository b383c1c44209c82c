# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Costs stand under the right object, file, function and line, with the exact number.

What is expected comes from the disassembly and the line table (objdump -dl), for functions without
jumps that are called a known number of times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tg_environment import CC
from tool_support import (
    OutFile,
    add,
    by_line,
    compile_program,
    run,
    straight_line,
    times,
)

CXX = [os.environ.get("CXX", "g++")]
ROUNDS = 37


def profile(folder: Path, program: Path) -> OutFile:
    r = run(folder / "run", program)
    assert r.status == 0, r.err
    return r.only()


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


def exact(out: OutFile, program: Path, function: str, calls: int = ROUNDS) -> None:
    counted = by_line(out, function, str(program))
    assert counted == times(calls, straight_line(program, function))


LINES = """\
#define TWICE(x) ((x) + \\
                  (x))
static volatile int a[8], b;

__attribute__((noinline)) int straight(int n)
{
   a[0] = n;
   b = a[0] + a[1]; a[2] = b;
   a[3] = TWICE(b);
   a[4] += n;

   return a[4];
}

int main(void)
{
   for (int i = 0; i < 37; i++)
      straight(i);
   return 0;
}
"""


def test_lines_and_macros(tmp_path: Path) -> None:
    write(tmp_path, lines__c=LINES)
    program = compile_program(tmp_path, "lines", str(tmp_path / "lines.c"))
    out = profile(tmp_path, program)
    exact(out, program, "straight")
    numbers = {line.number for line in out.lines if line.function == "straight"}
    # The macro counts where it is used.
    assert numbers <= set(range(5, 14))
    assert numbers >= {7, 8, 9, 10, 12}
    assert {line.file for line in out.lines if line.function == "straight"} == {str(tmp_path / "lines.c")}


INLINE_H = """\
static volatile int in_header[4];

static inline __attribute__((always_inline)) int inlined(int n)
{
   in_header[0] = n;
   in_header[1] += n;
   return in_header[2];
}
"""
INLINE_C = """\
#include "inline.h"

static volatile int here;

__attribute__((noinline)) int caller(int n)
{
   here = n;
   int r = inlined(n);
   here = r;
   r += inlined(r + 1);
   return r;
}

int main(void)
{
   for (int i = 0; i < 37; i++)
      caller(i);
   return 0;
}
"""


def test_inlined_code_stands_under_its_header(tmp_path: Path) -> None:
    write(tmp_path, inline__h=INLINE_H, inline__c=INLINE_C)
    program = compile_program(tmp_path, "inline", str(tmp_path / "inline.c"))
    out = profile(tmp_path, program)
    exact(out, program, "caller")
    lines = [line for line in out.lines if line.function == "caller"]
    assert {line.function_file for line in lines} == {str(tmp_path / "inline.c")}
    header = {line.number for line in lines if line.file == str(tmp_path / "inline.h")}
    assert header == {5, 6, 7}
    # In the file: fl= of the source, fi= to the header; the next function begins with an fl= or fn=.
    text = out.path.read_text(encoding="utf-8")
    block = text[text.index(") caller\n") :]
    assert "\nfi=(" in block[: block.index("fn=")]


def test_return_from_a_header(tmp_path: Path) -> None:
    """A reader that follows fi= and fe= finds every line in its file: the sums by file agree."""
    write(tmp_path, inline__h=INLINE_H, inline__c=INLINE_C)
    program = compile_program(tmp_path, "inline", str(tmp_path / "inline.c"))
    out = profile(tmp_path, program)
    by_file = {
        name: add(line.refs for line in out.lines if line.file == str(tmp_path / name) and line.function == "caller")
        for name in ("inline.c", "inline.h")
    }
    expected = times(ROUNDS, straight_line(program, "caller"))
    for name, counted in by_file.items():
        assert counted == add(row for (file, _), row in expected.items() if file.endswith(name))


def test_equal_names_in_two_files(tmp_path: Path) -> None:
    part = """
static volatile int state;
static __attribute__((noinline)) int same(int n)
{
   state = n; %s
   return state;
}
int use_%s(int n) { return same(n) + 1; }
"""
    write(
        tmp_path,
        one__c=part % ("", "one"),
        two__c=part % ("state = n + 2; state = n + 3;", "two"),
        main__c="int use_one(int), use_two(int);\n"
        "int main(void) { for (int i = 0; i < 37; i++) { use_one(i); use_two(i); use_two(i); } return 0; }\n",
    )
    sources = [str(tmp_path / f"{name}.c") for name in ("main", "one", "two")]
    program = compile_program(tmp_path, "same", *sources)
    out = profile(tmp_path, program)
    for name, calls in (("one", ROUNDS), ("two", 2 * ROUNDS)):
        exact(out, program, f"use_{name}", calls)
        source = str(tmp_path / f"{name}.c")
        lines = [line for line in out.lines if line.function == "same" and line.function_file == source]
        assert {line.file for line in lines} == {source}
        assert sum(line.costs[6] for line in lines) == calls * (1 if name == "one" else 3)
    assert len({line.function_file for line in out.lines if line.function == "same"}) == 2


def test_cold_part_of_a_function(tmp_path: Path) -> None:
    write(
        tmp_path,
        cold__c="""
volatile int a, b;
__attribute__((noinline, cold)) void rare(int n) { b = n; }
__attribute__((noinline)) int hot(int n)
{
   a = n;
   if (__builtin_expect(n % 9 == 0, 0)) {
      rare(n);
      a = b + 1;
      rare(a);
   }
   return a;
}
int main(void) { for (int i = 0; i < 37; i++) hot(i); return 0; }
""",
    )
    program = compile_program(
        tmp_path, "cold", "-O2", "-freorder-blocks-and-partition", str(tmp_path / "cold.c")
    )
    out = profile(tmp_path, program)
    names = {line.function for line in out.lines if line.object == str(program)}
    assert "hot" in names and "rare" in names
    exact(out, program, "rare", 10)
    cold = [line for line in out.lines if line.function in ("hot", "hot.cold")]
    assert sum(line.costs[6] for line in cold if line.number == 9) == 5


CPP = """\
#include <functional>
volatile int state;
namespace outer { namespace inner {
template <typename T, int N> struct Box {
   T value;
   __attribute__((noinline)) T get(T n) { state = (int)n; return value + N; }
   __attribute__((noinline)) Box &operator+=(T n) { value += n; return *this; }
};
} }
__attribute__((noinline)) int overloaded(int n) { state = n; return n; }
__attribute__((noinline)) int overloaded(const char *s) { state = *s; return 1; }
int main()
{
   outer::inner::Box<long, 7> box = { 1 };
   auto lambda = [&](int n) __attribute__((noinline)) { state = n; return state + 1; };
   for (int i = 0; i < 37; i++) {
      box.get(i); box += i; overloaded(i); overloaded("x"); lambda(i);
   }
   return 0;
}
"""


def test_cxx_names(tmp_path: Path) -> None:
    if shutil.which(CXX[0]) is None:
        pytest.skip("no C++ compiler")
    write(tmp_path, names__cc=CPP)
    program = compile_program(tmp_path, "names", str(tmp_path / "names.cc"), compiler=CXX)
    out = profile(tmp_path, program)
    names = {line.function for line in out.lines if line.object == str(program)}
    assert "outer::inner::Box<long, 7>::get(long)" in names
    assert "outer::inner::Box<long, 7>::operator+=(long)" in names
    assert "overloaded(int)" in names
    assert "overloaded(char const*)" in names
    assert any("lambda" in name and "operator()" in name for name in names)
    assert not any(name.startswith("_Z") for name in names)
    assert out.function("overloaded(int)")[2] == ROUNDS


RUST = """\
// That of the standard library is newer than Debian 12's compiler.
fn black_box(n: u64) -> u64 { unsafe { std::ptr::read_volatile(&n) } }
mod deep {
    use super::black_box;
    pub struct Thing<T>(pub T);
    impl<T: Copy + Into<u64>> Thing<T> {
        #[inline(never)]
        pub fn doubled(&self, n: u64) -> u64 { let r = self.0.into() + n; black_box(r) }
    }
    #[inline(never)]
    pub fn plain(n: u64) -> u64 { black_box(n) + 1 }
}
fn main() {
    let t = deep::Thing(3u32);
    for i in 0..37 { black_box(t.doubled(i)); black_box(deep::plain(i)); }
}
"""


def test_rust_names(tmp_path: Path) -> None:
    if shutil.which("rustc") is None:
        pytest.skip("rustc is not installed")
    (tmp_path / "names.rs").write_text(RUST, encoding="utf-8")
    program = tmp_path / "names"
    # The compiler's default, whichever it is, and the newer form.
    for mangling in ("", "v0"):
        options = [f"-Csymbol-mangling-version={mangling}"] if mangling else []
        done = subprocess.run(
            ["rustc", "-g", "-O", *options, "-o", str(program), "names.rs"],
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if mangling and "symbol-mangling-version" in done.stderr:
            continue  # a compiler that does not know it
        assert done.returncode == 0, done.stderr
        out = run(tmp_path / f"run-{mangling}", program).only()
        names = {line.function for line in out.lines if line.object == str(program)}
        assert not any(name.startswith(("_ZN", "_R")) for name in names), mangling
        assert any("deep" in n and "plain" in n for n in names), mangling
        assert any("doubled" in n for n in names), mangling


def test_three_libraries(tmp_path: Path) -> None:
    flags: list[str] = []
    for i in (1, 2, 3):
        write(
            tmp_path,
            **{
                f"lib{i}__c": f"static volatile int state;\n"
                f"int use{i}(int n) {{ state = n; {'state += n; ' * i}return state; }}\n"
            },
        )
        library = tmp_path / f"lib{i}.so"
        command = [*CC, "-g", "-O1", "-fPIC", "-shared", "-fcf-protection=none", "-o", str(library), f"lib{i}.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        flags.append(str(library))
    calls = "".join(f"for (int j = 0; j < {i}; j++) use{i}(i);" for i in (1, 2, 3))
    write(
        tmp_path,
        main__c="int use1(int), use2(int), use3(int);\n"
        f"int main(void) {{ for (int i = 0; i < 37; i++) {{ {calls} }} return 0; }}\n",
    )
    program = compile_program(tmp_path, "libraries", str(tmp_path / "main.c"), *flags)
    out = profile(tmp_path, program)
    for i in (1, 2, 3):
        library = tmp_path / f"lib{i}.so"
        exact(out, library, f"use{i}", ROUNDS * i)
        sums = add(line.refs for line in out.lines if line.object == str(library))
        # Beside the function: what the library's start and end run, which touches no `state`.
        own = add(times(ROUNDS * i, straight_line(library, f"use{i}")).values())
        assert all(a >= b for a, b in zip(sums, own))
        others = {line.function for line in out.lines if line.object == str(library)} - {f"use{i}"}
        assert not any(name.startswith("use") for name in others)
