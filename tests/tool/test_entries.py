# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The entries file: which code was executed, in the order of its first execution."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from tg_environment import CC, CLIENTS, HAVE_X86, client
from tg_written import written
from tool_support import messages, run

OPTIONS = ("--entries=yes", "--entries-out-file=entries.%p")


class Function(NamedTuple):
    object: str
    offset: int
    size: int
    when: int
    name: str


class Block(NamedTuple):
    function: Function
    offset: int
    length: int


class Use(NamedTuple):
    kind: str  # wr, ww or rd
    object: str
    offset: int
    length: int
    when: int


class Entries(NamedTuple):
    header: dict[str, str]
    objects: dict[str, str]  # build ID by name
    functions: list[Function]
    blocks: list[Block]
    uses: list[Use]

    def of(self, obj: Path) -> list[Function]:
        return [f for f in self.functions if f.object == str(obj)]

    def names(self, obj: Path) -> list[str]:
        return [f.name for f in self.of(obj) if f.name != "???"]


def read(path: Path) -> Entries:
    """Strict: what is not exactly of the form in docs/internals/formats.md is an error."""
    text = written(path)
    head, body, end = text.split("\n\n")
    first, *lines = head.split("\n")
    assert first == "# tlbgrind entries"
    header = dict(line.split(": ", 1) for line in lines)
    assert header["version"] == "1"
    objects: dict[int, tuple[str, str]] = {}
    functions: dict[int, Function] = {}
    blocks: list[Block] = []
    uses: list[Use] = []
    for row in body.split("\n"):
        match = re.fullmatch(r"ob=\((\d+)\) ([0-9a-f]+|-) (.+)", row)
        if match:
            assert int(match[1]) not in objects
            objects[int(match[1])] = (match[3], match[2])
            continue
        match = re.fullmatch(r"fn=\((\d+)\) \((\d+)\) 0x([0-9a-f]+) (\d+) (\d+) (.+)", row)
        if match:
            assert int(match[1]) not in functions
            function = Function(
                objects[int(match[2])][0],
                int(match[3], 16),
                int(match[4]),
                int(match[5]),
                match[6],
            )
            functions[int(match[1])] = function
            continue
        match = re.fullmatch(r"(wr|ww|rd)=\((\d+)\) 0x([0-9a-f]+) (\d+) (\d+)", row)
        if match:
            owner = objects[int(match[2])][0]
            uses.append(Use(match[1], owner, int(match[3], 16), int(match[4]), int(match[5])))
            continue
        number, offset, length = map(int, row.split(" "))
        blocks.append(Block(functions[number], offset, length))
    n = Counter(use.kind for use in uses)
    counts = f"functions {len(functions)} blocks {len(blocks)} writes {n['wr'] + n['ww']} reads {n['rd']}"
    assert end == f"totals: objects {len(objects)} {counts}\n"
    whens = [f.when for f in functions.values()]
    assert whens == sorted(whens)
    return Entries(header, dict(objects.values()), list(functions.values()), blocks, uses)


def entries(folder: Path) -> Entries:
    (path,) = folder.glob("entries.*")
    return read(path)


def compiled(folder: Path, source: str, name: str = "prog", *flags: str) -> Path:
    program = folder / name
    (folder / f"{name}.c").write_text(source)
    language = ["-x", "c++"] if "extern \"C\"" in source else []
    command = [*CC, *language, "-g", "-O1", "-fno-inline", "-no-pie", "-fno-pie", *flags, "-o", str(program)]
    subprocess.run([*command, f"{program}.c"], check=True)
    return program


def symbols(program: Path) -> dict[str, tuple[int, int]]:
    """File offset and size of each function."""
    text = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    loads = [
        tuple(int(word, 16) for word in row.split()[1:5])
        for row in text.splitlines()
        if row.split()[:1] == ["LOAD"]
    ]
    found = {}
    text = subprocess.run(["nm", "-S", program], check=True, capture_output=True, text=True).stdout
    for row in text.splitlines():
        words = row.split()
        if len(words) == 4 and words[2] in "tT":
            at = int(words[0], 16)
            (offset,) = (o + at - v for o, v, _, size in loads if v <= at < v + size)
            found[words[3]] = (offset, int(words[1], 16))
    return found


ORDERED = """
#include <stdlib.h>
volatile int sink;
void never(void) { sink++; }
void c(void) { sink++; }
void a(void) { sink++; c(); }
static void hidden(int n) { if (n > 100) never(); sink += n; }
void b(void) { hidden(1); a(); hidden(2); }
__attribute__((constructor)) static void early(void) { sink = 7; }
static void late(void) { sink--; }
int main(void) { atexit(late); for (int i = 0; i < 50; i++) { b(); a(); c(); } return 0; }
"""


def test_functions_come_in_the_order_of_their_first_execution(tmp_path: Path) -> None:
    program = compiled(tmp_path, ORDERED)
    run(tmp_path, program, options=OPTIONS)
    e = entries(tmp_path)
    ours = [n for n in e.names(program) if n in symbols(program) and not n.startswith("_")]
    own = ["early", "main", "b", "hidden", "a", "c", "late"]
    assert [n for n in ours if n in own or n == "never"] == own


def test_a_random_order_is_found_again_also_when_code_is_translated_anew(tmp_path: Path) -> None:
    """The program takes the right to execute its functions away and gives it back, which makes Valgrind throw all of
    their translations away, and prints the order of their first calls."""
    functions = 120
    lines = [f"void f{n}(void) {{ sink += {n}; }}" for n in range(functions)]
    names = ", ".join(f"f{n}" for n in range(functions))
    source = f"""
#include <stdio.h>
#include <stdint.h>
#include <sys/mman.h>
volatile int sink;
__attribute__((aligned(4096))) void begin(void) {{ sink--; }}
{chr(10).join(lines)}
void end(void) {{ sink++; }}
__attribute__((aligned(4096))) void elsewhere(void) {{ sink--; }}
void (*const all[])(void) = {{ {names} }};
__attribute__((aligned(4096))) int main(void)
{{
   static char seen[{functions}];
   uint32_t random = 12345;
   char *const page = (char *)((uintptr_t)begin & ~(uintptr_t)4095);
   const size_t size = (((uintptr_t)end - (uintptr_t)page) | 4095) + 1;
   for (int round = 0; round < 300; round++) {{
      random = random * 1664525 + 1013904223;
      const int n = (random >> 16) % {functions};
      all[n]();
      if (!seen[n])
         printf("f%d\\n", n);
      seen[n] = 1;
      if (round % 30 == 29) {{
         mprotect(page, size, PROT_READ);
         mprotect(page, size, PROT_READ | PROT_EXEC);
      }}
   }}
   return 0;
}}
"""
    program = compiled(tmp_path, source, "prog", "-fno-toplevel-reorder")
    r = run(tmp_path, program, options=OPTIONS)
    called = r.out.split()
    assert 60 < len(called) < functions
    e = entries(tmp_path)
    found = [n for n in e.names(program) if re.fullmatch(r"f\d+", n)]
    assert found == called
    places = [(b.function.offset + b.offset, b.length) for b in e.blocks if b.function.object == str(program)]
    assert len(places) == len(set(places))


def test_offsets_and_sizes_are_those_of_the_symbol_table(tmp_path: Path) -> None:
    program = compiled(tmp_path, ORDERED)
    run(tmp_path, program, options=OPTIONS)
    known = symbols(program)
    checked = 0
    for f in entries(tmp_path).of(program):
        if f.name in ("early", "main", "b", "hidden", "a", "c", "late"):
            assert (f.offset, f.size) == known[f.name], f
            checked += 1
    assert checked == 7


def test_blocks_cover_what_was_executed_and_no_more(tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        "volatile int sink; int one(int n) { if (n) { sink = 1; sink = 2; sink = 3; sink = 4; } else sink = 9; return 0; }\n"
        "int main(int argc, char **argv) { return one(argc - 1); }\n",
    )
    run(tmp_path / "none", program, options=OPTIONS)
    run(tmp_path / "some", program, "x", options=OPTIONS)
    lengths = {}
    for name in ("none", "some"):
        blocks = [b for b in entries(tmp_path / name).blocks if b.function.name == "one"]
        assert blocks[0].offset == 0
        assert all(0 < b.length and b.offset + b.length <= b.function.size for b in blocks)
        lengths[name] = sum(b.length for b in blocks)
        assert lengths[name] < blocks[0].function.size
    assert lengths["some"] > lengths["none"]


def test_times_are_instructions(tmp_path: Path) -> None:
    """A loop of a million rounds between two calls has at least three million of them."""
    source = "volatile int sink; void a(void) { sink++; } void b(void) { sink--; }\n"
    source += "int main(void) { a(); for (int i = 0; i < 1000000; i++) sink++; b(); return 0; }\n"
    program = compiled(tmp_path, source)
    counts = {}
    for options in (OPTIONS, (*OPTIONS, "--fast-path=no"), (*OPTIONS, "--faults=yes")):
        folder = tmp_path / options[-1].strip("-")
        out = run(folder, program, options=options).only()
        e = entries(folder)
        assert e.header["clock"] == "instructions"
        when = {f.name: f.when for f in e.of(program)}
        loop = sum(line.refs[0] for line in out.lines if line.function == "main")
        # All of main but what stands before the call of a and behind that of b, and the function a.
        assert loop - 20 < when["b"] - when["a"] < loop + 20
        counts[options[-1]] = when["b"] - when["a"]
    assert len(set(counts.values())) == 1


def test_two_runs_give_the_same_file(tmp_path: Path) -> None:
    bodies = []
    program = compiled(tmp_path, ORDERED)
    for name in ("first", "other"):
        run(tmp_path / name, program, options=OPTIONS)
        (path,) = (tmp_path / name).glob("entries.*")
        bodies.append([row for row in written(path).split("\n") if not row.startswith("pid: ")])
    assert bodies[0] == bodies[1]


def test_build_ids_are_those_of_the_files(tmp_path: Path) -> None:
    with_id = compiled(tmp_path, ORDERED, "with", "-Wl,--build-id=sha1")
    without = compiled(tmp_path, ORDERED, "without", "-Wl,--build-id=none")
    for program in (with_id, without):
        folder = tmp_path / f"run-{program.name}"
        run(folder, program, options=OPTIONS)
        e = entries(folder)
        for obj, build_id in e.objects.items():
            if obj == "???":
                continue
            text = subprocess.run(["readelf", "-n", obj], check=True, capture_output=True, text=True).stdout
            match = re.search(r"Build ID: ([0-9a-f]+)", text)
            assert build_id == (match[1] if match else "-"), obj
    assert e.objects[str(without)] == "-"


def test_names_are_mangled_as_the_linker_has_them(tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        'extern "C" int main(void); volatile int sink; namespace space { void inside(int) { sink = sink + 1; } }\n'
        "int main(void) { space::inside(1); return 0; }\n",
    )
    run(tmp_path, program, options=OPTIONS)
    assert "_ZN5space6insideEi" in entries(tmp_path).names(program)


def test_static_functions_of_one_name_are_two(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / f"{name}.c").write_text(
            "extern volatile int sink; static void same(void) { sink++; } "
            f"__attribute__((noinline)) void {name}(void) {{ same(); }}\n"
        )
    program = compiled(
        tmp_path,
        "volatile int sink; void x(void), y(void); int main(void) { y(); x(); return 0; }\n",
        "prog",
        str(tmp_path / "x.c"),
        str(tmp_path / "y.c"),
    )
    run(tmp_path, program, options=OPTIONS)
    same = [f for f in entries(tmp_path).of(program) if f.name == "same"]
    assert len(same) == 2
    assert same[0].offset > same[1].offset  # y.c's, which lies behind x.c's, ran first


def test_a_library_that_was_unloaded_keeps_its_names(tmp_path: Path) -> None:
    a, b = (CLIENTS / f"run_plugin_{name}.so" for name in "ab")
    run(tmp_path, client("run_code"), "load", a, b, 3, options=OPTIONS)
    e = entries(tmp_path)
    for name, library in (("a", a), ("b", b)):
        own = ("plugin", f"deeper_{name}")
        assert tuple(n for n in e.names(library) if n in own) == own  # and once, though loaded thrice
        places = symbols(library)
        for f in e.of(library):
            if f.name == "plugin":
                assert (f.offset, f.size) == places["plugin"]


def test_a_forked_child_has_the_past_of_its_parent(tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        "#include <unistd.h>\n#include <sys/wait.h>\nvolatile int sink; void before(void) { sink++; } void child(void) { sink++; }\n"
        "void parent(void) { sink++; }\n"
        "int main(void) { before(); if (fork() == 0) { child(); _exit(0); } wait(0); parent(); return 0; }\n",
    )
    run(tmp_path, program, options=OPTIONS)
    files = sorted((read(p) for p in tmp_path.glob("entries.*")), key=lambda e: "forked" in e.header)
    assert len(files) == 2
    own = ("main", "before", "child", "parent")
    assert [[n for n in e.names(program) if n in own] for e in files] == [
        ["main", "before", "parent"],
        ["main", "before", "child"],
    ]
    assert files[1].header["forked"] == f"from pid {files[0].header['pid']}, whose past is included"


def test_a_program_that_becomes_another_is_written_before(tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        "#include <unistd.h>\n#include <string.h>\nvolatile int sink; void first(void) { sink++; } void failed(void) { sink++; }\n"
        "int main(int argc, char **argv) { first(); if (argc > 1) execl(argv[1], argv[1], (char *)0); failed(); return 0; }\n",
    )
    run(tmp_path / "works", program, "/bin/true", options=OPTIONS)
    assert "failed" not in entries(tmp_path / "works").names(program)
    run(tmp_path / "fails", program, "/nowhere", options=OPTIONS)
    assert "failed" in entries(tmp_path / "fails").names(program)
    run(tmp_path / "both", program, "/bin/true", options=(*OPTIONS, "--trace-children=yes"))
    names = sorted(p.name for p in (tmp_path / "both").glob("entries.*"))
    assert len(names) == 2
    assert names[1] == f"{names[0]}_exec1"
    assert "first" in read(tmp_path / "both" / names[1]).names(program)


def test_nothing_is_written_unless_asked_for(tmp_path: Path) -> None:
    run(tmp_path, "/bin/true")
    assert not list(tmp_path.glob("*entries*"))
    run(tmp_path, "/bin/true", options=("--entries=yes",))
    (path,) = tmp_path.glob("*entries*")
    assert re.fullmatch(r"tlbgrind\.entries\.\d+", path.name)


def test_a_file_that_cannot_be_written_is_said_and_the_program_keeps_its_status(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    name = f"{tmp_path}/gone/entries"
    command = ["rmdir", "gone", "not-there"]
    r = run(tmp_path, *command, options=("--entries=yes", f"--entries-out-file={name}"), collect=False)
    assert r.status == 1
    said = messages(r.err)
    at = said.index(f"error: can't write entries file '{name}': there is no such folder")
    assert said[at + 1] == "       ... so the order of execution will be missing."


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("--entries=maybe", "'maybe' is none of no, yes, data"),
        ("--entries-out-file=", "the name of the file is missing"),
    ],
)
def test_bad_options(option: str, complaint: str, tmp_path: Path) -> None:
    r = run(tmp_path, "/bin/true", options=(option,), collect=False)
    assert r.status == 1
    assert complaint in r.err


WRITER = """
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
char quiet[4096] = { 1 };
char first[64] __attribute__((aligned(64))) = { 1 };
char second[64] __attribute__((aligned(64))) = { 1 };
char zero[8192] __attribute__((aligned(4096)));
long number __attribute__((aligned(8))) = 5;
const char fixed[64] = { 1 };
int added = 1;
int main(int argc, char **argv)
{
   volatile const char *f = fixed;
   volatile char *z = zero, *s = second, *q = quiet;
   int sum = f[argc];
   s[8] = 1;
   s[9] = 1;
   memset(first + 16, 2, 24);
   sum += read(open("/dev/zero", O_RDONLY), zero + 200, 7);
   sum += z[4096 + 2] + z[201];
   z[4096 + 3] = 1;
   __sync_bool_compare_and_swap(&number, 77, 78);
   __asm__ volatile("addl $1, %0" : "+m"(added));
   s[8] = 2;
   sum += s[9] + s[10];
   s[10] = sum;
   return q[0] + z[5] - 1;
}
"""


def places_of_data(program: Path) -> tuple[dict[str, int], int]:
    """Addresses by name, and how far they are above the places in the file."""
    text = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    at = {row.split()[2]: int(row.split()[0], 16) for row in text.splitlines() if len(row.split()) == 3}
    text = subprocess.run(["readelf", "-lW", program], check=True, capture_output=True, text=True).stdout
    (load,) = (row.split() for row in text.splitlines() if row.split()[:1] == ["LOAD"] and " RW " in row)
    return at, int(load[2], 16) - int(load[1], 16)


BITS = ["-m64", pytest.param("-m32", marks=pytest.mark.skipif(not HAVE_X86, reason="no 32-bit tool was built"))]


@pytest.mark.parametrize("bits", BITS)
def test_data_that_is_used(bits: str, tmp_path: Path) -> None:
    """In order, each byte once; also by a compare-and-swap that fails, by the kernel, and in .bss. What is read behind its write, or by
    an instruction that writes it, is no read; what can only be read is none, either."""
    program = compiled(tmp_path, WRITER, "prog", bits)
    run(tmp_path, program, options=("--entries=data", "--entries-out-file=entries.%p"))
    at, bias = places_of_data(program)
    uses = entries(tmp_path).uses
    whens = [u.when for u in uses]
    assert whens == sorted(whens)
    seen = []
    sizes = {"quiet": 4096, "first": 64, "second": 64, "zero": 8192, "number": 8, "fixed": 64, "added": 4}
    for use in uses:
        if use.object != str(program):
            continue
        for name, size in sizes.items():
            if at[name] <= use.offset + bias < at[name] + size:
                seen.append((use.kind, name, use.offset + bias - at[name], use.length))
    long = 4 if bits == "-m32" else 8
    assert seen == [
        ("wr", "second", 8, 2),
        ("wr", "first", 16, 24),
        ("wr", "zero", 200, 7),
        ("rd", "zero", 4098, 1),
        ("wr", "zero", 4099, 1),
        ("wr", "number", 0, long),
        ("wr", "added", 0, 4),
        ("rd", "second", 10, 1),
        ("wr", "second", 10, 1),
        ("rd", "quiet", 0, 1),
        ("rd", "zero", 5, 1),
    ]


RELOCATED = """
int quiet;
void *volatile moved = &quiet, *volatile stays = &quiet;
int main(void)
{
   moved = 0;
   moved = &quiet;
   return stays == 0;
}
"""


@pytest.mark.parametrize("bits", BITS)
def test_what_is_relocated_is_written_again_once(bits: str, tmp_path: Path) -> None:
    """The dynamic linker writes both variables, the program one of them, twice."""
    program = compiled(tmp_path, RELOCATED, "prog", bits, "-fpie", "-pie")
    run(tmp_path, program, options=("--entries=data", "--entries-out-file=entries.%p"))
    at, bias = places_of_data(program)
    found = {
        name: [use.kind for use in entries(tmp_path).uses if use.object == str(program) and 0 <= at[name] - use.offset - bias < use.length]
        for name in ("moved", "stays")
    }
    assert found == {"moved": ["wr", "ww"], "stays": ["wr"]}


def test_data_is_recorded_only_if_asked_for(tmp_path: Path) -> None:
    run(tmp_path, compiled(tmp_path, WRITER), options=OPTIONS)
    assert entries(tmp_path).uses == []


def test_counts_are_the_same_with_and_without(tmp_path: Path) -> None:
    # Folders of equally long names: the launcher's shell tells the program where it is (PWD).
    bodies = [
        run(tmp_path / name, client("run_code"), "plain", 3, options=options).only().body()
        for name, options in (("bare", ()), ("with", OPTIONS), ("data", ("--entries=data",)))
    ]
    assert bodies[0] == bodies[1] == bodies[2]
