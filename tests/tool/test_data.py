# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--data=yes: each object of data has its own references, misses, faults, pages and bytes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from data_support import DATA, FAULTS, MACHINE, Data, observe, only
from tg_environment import HAVE_X86, client
from tg_written import written
from tool_support import CLIENT_FLAGS, PYTHON, TG_ANNOTATE, run


@pytest.mark.parametrize("program", ["run_data", *(["run_data32"] if HAVE_X86 else [])])
def test_each_object_has_what_the_program_did_with_it(tmp_path: Path, program: str) -> None:
    done = observe(tmp_path, options=FAULTS, program=program)
    only(tmp_path).check(done.out.splitlines())


def test_blocks_and_bytes_of_a_group_are_counted(tmp_path: Path) -> None:
    observe(tmp_path, options=FAULTS)
    data = only(tmp_path)
    odd, zeroed = data.of("heap", "odd_node"), data.of("heap", "zeroed")
    assert (odd["blocks"], odd["bytes"]) == (1000, 16000)
    assert (zeroed["blocks"], zeroed["bytes"]) == (1, 1000)
    assert data.of("mapping", "upper_mapping")["bytes"] == 64 * 4096
    assert data.of("variable", "table")["bytes"] == 64 * 4096


def test_blocks_of_threads_are_found(tmp_path: Path) -> None:
    done = observe(tmp_path, "threads")
    data = only(tmp_path)
    data.check(done.out.splitlines())
    # Each thread writes and reads its own array, a thousand times.
    stacks = [n for n, (kind, name) in data.names.items() if kind == "stack" and name != "thread_1"]
    counts = sum((data.sections[0].get(n, Counter()) for n in stacks), Counter())
    assert counts["Dr"] >= 4000 and counts["Dw"] >= 4000


OWN_STACK_PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { AREA = 4 << 20, STACK = 256 << 10 };
__attribute__((noinline)) char *map_area(void)
{
   char *area = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   __asm__ volatile("" ::: "memory");
   return area;
}
void *work(void *place)
{
   for (int i = 0; i < 1000; i++)
      ((volatile long *)place)[i] = i;
   return NULL;
}
int main(int argc, char **argv)
{
   pthread_attr_t attr;
   pthread_t thread;
   char *area = map_area();
   pthread_attr_init(&attr);
   pthread_attr_setstack(&attr, area + atoi(argv[argc - 1]) * 1024, STACK);
   pthread_create(&thread, &attr, work, area);
   return pthread_join(thread, NULL);
}
"""


@pytest.mark.parametrize(("begin", "kind"), [((4096 - 256), "stack"), (1024, "mapping"), (0, "mapping")])
def test_memory_with_a_stack_in_the_middle_is_no_stack(tmp_path: Path, begin: int, kind: str) -> None:
    """As Go has it, whose heap is that of its threads' first stacks."""
    (tmp_path / "p.c").write_text(OWN_STACK_PROGRAM)
    program = tmp_path / "program"
    subprocess.run(["gcc", *CLIENT_FLAGS, "-pthread", "-o", program, tmp_path / "p.c"], check=True)
    run(tmp_path, program, str(begin), options=DATA)
    data = only(tmp_path)
    objects = [n for n, (its_kind, name) in data.names.items() if its_kind == kind and name != "thread_1"]
    assert any(data.sections[0].get(n, Counter())["Dw"] >= 1000 for n in objects)
    others = [n for n, (its_kind, name) in data.names.items() if its_kind != kind and name != "thread_1"]
    assert all(data.sections[0].get(n, Counter())["Dw"] < 1000 for n in others)


def test_a_child_has_its_own_counts_pages_and_bytes(tmp_path: Path) -> None:
    done = observe(tmp_path, "fork")
    lines = done.out.splitlines()
    of_child = [line[6:] for line in lines if line.startswith("child ")]
    files = [Data(path) for path in tmp_path.glob("data.*")]
    children = [data for data in files if "\nforked: " in data.path.read_text(encoding="utf-8")]
    (child,) = children
    (parent,) = [data for data in files if data is not child]
    child.check(of_child)
    parent.check([line for line in lines if not line.startswith("child ")])
    # The parent's objects that it does not use are not listed.
    used = {n for n, facts in child.facts.items() if facts["pages"] or facts["blocks"]} | child.sections[0].keys()
    assert child.facts.keys() == used - {0} and 5 <= len(used) < len(parent.facts) / 2


def test_a_hundred_thousand_live_blocks_are_told_apart(tmp_path: Path) -> None:
    done = observe(tmp_path, "live", 100000)
    only(tmp_path).check(done.out.splitlines())


@pytest.mark.parametrize("more", [(), ("--fast-path=no",), FAULTS, ("--as-cachegrind=yes",)])
@pytest.mark.parametrize("what", ["", "live", "fork"])
def test_the_out_file_is_the_same_without_it(tmp_path: Path, what: str, more: tuple[str, ...]) -> None:
    bodies = []
    for name, options in (("on", DATA), ("no", ())):
        done = run(tmp_path / name, client("run_data"), what, 5000, options=[*options, *more], geometry=MACHINE)
        bodies.append(sorted("\n".join(row for row in f.body() if "pid" not in row) for f in done.files))
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("program", ["run_signals", "run_process", "run_code", "run_conditions", "run_threads"])
def test_sums_over_data_are_the_totals(tmp_path: Path, program: str) -> None:
    done = run(tmp_path, client(program), options=DATA)
    totals = {Data(path).totals for path in tmp_path.glob("data.*")}
    assert totals == {f.summary for f in done.files}


def test_each_machine_of_a_run_has_its_section(tmp_path: Path) -> None:
    # The folder's name stands in the client's environment: both are as long.
    many, alone = tmp_path / "many0", tmp_path / "alone"
    done = run(many, client("run_data"), options=(*DATA, "--machine=skylake,zen4,cortex-a72"), geometry=())
    data = only(many)
    assert len(data.sections) == len(done.files) == 3
    objects = [{n: (c["Dr"], c["Dw"]) for n, c in section.items()} for section in data.sections]
    assert objects[0] == objects[1] == objects[2]
    one = run(alone, client("run_data"), options=(*DATA, "--machine=zen4"), geometry=())
    assert one.files[0].summary == Data(next(alone.glob("data.*"))).totals
    assert only(alone).sections[0] == data.sections[1]


def test_two_runs_write_the_same(tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        observe(tmp_path / name)
        text = written(only(tmp_path / name).path)
        texts.append(re.sub(r"^pid: .*\n", "", text, flags=re.MULTILINE))
    assert texts[0] == texts[1]


CXX_PROGRAM = """
#include <cstdlib>
#include <new>
struct Record { volatile long a, b; };
__attribute__((noinline)) Record* record() { Record* r = new Record; __asm__ volatile("" ::: "memory"); return r; }
__attribute__((noinline)) volatile long* array() { volatile long* a = new long[100]; __asm__ volatile("" ::: "memory"); return a; }
__attribute__((noinline)) void too_much() { volatile std::size_t n = (std::size_t)-1 / 2; try { ::operator delete(::operator new(n)); } catch (const std::bad_alloc&) {} }
int main() {
   for (int i = 0; i < 50; i++) {
      too_much();
      Record* r = record(); r->a = 1; r->b = 2; r->b = 3;
      volatile long* a = array(); for (int j = 0; j < 100; j++) a[j] = j;
      delete r; delete[] a;
   }
}
"""


def test_operator_new_is_one_allocation_and_bad_alloc_ends_it(tmp_path: Path) -> None:
    (tmp_path / "p.cc").write_text(CXX_PROGRAM)
    program = tmp_path / "program"
    built = subprocess.run(
        ["c++", *CLIENT_FLAGS, "-o", program, tmp_path / "p.cc"], check=False, capture_output=True
    )
    if built.returncode != 0:
        pytest.skip("no C++ compiler that makes a program")
    run(tmp_path, program, options=DATA)
    data = only(tmp_path)
    found = {}
    for part in data.path.read_text(encoding="utf-8").split("\n\nobject: "):
        for name in ("record()", "array()"):
            if f"\nframe: {name}\n" in part and "\nframe: too_much()\n" not in part:
                found[name] = int(part.split(" ")[0])
    record, array = (data.sections[0][found[name]] for name in ("record()", "array()"))
    assert (record["Dr"], record["Dw"]) == (0, 150)
    assert (array["Dr"], array["Dw"]) == (0, 5000)
    assert [data.facts[found[name]]["blocks"] for name in ("record()", "array()")] == [50, 50]


PLACEMENT_PROGRAM = """
#include <cstdlib>
#include <new>
struct Part { long a[64]; Part() {} };
struct alignas(64) Wide { long a[64]; };
static Part* places(char* at, int i) { return new (at + i * sizeof(Part)) Part; }
int main()
{
   char* memory = static_cast<char*>(malloc(100 * sizeof(Part)));
   long sum = 0;
   for (int i = 0; i < 100; i++) {
      Part* p = places(memory, i);
      for (int j = 0; j < 64; j++)
         sum += p->a[j] = j;
   }
   new (memory) Part[3];
   free(memory);
   long* quiet = new (std::nothrow) long[4];
   Wide* wide = new Wide;
   __asm__ volatile("" : : "r"(wide), "r"(quiet) : "memory");
   sum += wide->a[0] = quiet[1] = 1;
   delete[] quiet;
   delete wide;
   return sum == 1;
}
"""


@pytest.mark.parametrize("demangle", ["yes", "no"])
@pytest.mark.parametrize("optimize", ["-O0", "-O2"])
def test_placement_new_allocates_nothing(tmp_path: Path, optimize: str, demangle: str) -> None:
    """-O0 keeps it as a function, operator new(unsigned long, void*). The other forms do allocate."""
    (tmp_path / "p.cc").write_text(PLACEMENT_PROGRAM)
    program = tmp_path / "program"
    flags = [*CLIENT_FLAGS, "-std=c++17", optimize, "-fno-builtin-malloc"]
    built = subprocess.run(["c++", *flags, "-o", program, tmp_path / "p.cc"], check=False, capture_output=True)
    if built.returncode != 0:
        pytest.skip("no C++ compiler that makes a program")
    run(tmp_path, program, options=[*DATA, f"--demangle={demangle}"])
    data = only(tmp_path)
    made = {}
    for part in data.path.read_text(encoding="utf-8").split("\n\nobject: ")[1:]:
        # The group of a call in main() itself: behind it, and behind nothing else of the program, is its caller.
        if re.search(r"^frame: main$", part, re.MULTILINE):
            number = int(part.split(" ")[0])
            made[number] = (data.facts[number]["blocks"], data.facts[number]["bytes"])
    assert sorted(made.values()) == [(1, 32), (1, 512), (1, 51200)]


STALE_PROGRAM = """
#include <stddef.h>
static char arena[1 << 16] __attribute__((aligned(4096)));
static size_t used;
__attribute__((noinline)) void *pvalloc(size_t n)
{
   volatile int *p = (void *)(arena + used);
   used += (n + 4095) & ~(size_t)4095;
   for (size_t i = 0; i < n / sizeof *p; i++)
      p[i] = 0;
   return (void *)p;
}
int main(void)
{
   volatile int *p = pvalloc(2 * 4096);
   long s = 0;
   for (int round = 0; round < 100; round++)
      for (int i = 1024; i < 2048; i++)
         s += p[i];
   return s != 0;
}
"""


def test_memory_that_an_allocator_cleared_belongs_to_the_block_that_it_becomes(tmp_path: Path) -> None:
    """The references before it was a block are the arena's, those behind it the block's."""
    (tmp_path / "p.c").write_text(STALE_PROGRAM)
    program = tmp_path / "program"
    subprocess.run(["cc", *CLIENT_FLAGS, "-O1", "-o", program, tmp_path / "p.c"], check=True)
    run(tmp_path, program, options=[*DATA, "--data-offsets=yes", "--data-stride=arena:12,main:12"])
    data = only(tmp_path)
    reads = [costs["Dr"] for costs in data.sections[0].values()]
    assert max(reads) == 100 * 1024
    text = data.path.read_text(encoding="utf-8")
    arena = int(re.findall(r"^object: (\d+) variable [^\n]*\n(?:[^\n]+\n)*?name: arena$", text, re.MULTILINE)[0])
    assert (data.sections[0][arena]["Dr"], data.sections[0][arena]["Dw"]) == (0, 2048)


def annotated(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, TG_ANNOTATE, *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, encoding="utf-8")


def cells(text: str, label: str) -> list[str]:
    """The counts before a row's text, without percentages."""
    row = next(line for line in text.splitlines() if line.endswith(label))
    return re.sub(r"\(.*?%\)|\d+\.\d%", "", row[: -len(label)]).replace(",", "").split()


def test_tg_annotate_crosses_data_with_code(tmp_path: Path) -> None:
    observe(tmp_path, options=FAULTS)
    data = only(tmp_path)
    common = ("--show=Dr,Dw,D1tm,DLtm", "--sort=Dr", "--threshold=0", data.path)
    by_data = annotated("--by=data", *common)
    assert by_data.returncode == 0, by_data.stderr
    assert cells(by_data.stdout, "variable table [run_data]")[:4] == ["320", "64", "384", "64"]
    of_sweep = annotated("--by=data", "--of=sweep", *common).stdout
    assert cells(of_sweep, "variable small [run_data]")[:4] == ["0", "8", "8", "8"]
    of_table = annotated("--by=function", "--of=table", *common).stdout
    assert ":sweep [" in of_table and ":walk [" not in of_table
    lines = annotated("--by=line", "--of=heap odd_node*", *common).stdout
    rows = [row for row in lines.splitlines() if re.search(r"run_data\.c:\d+$", row)]
    counts = [re.sub(r"\(.*?%\)", "", row).replace(",", "").split()[:2] for row in rows]
    assert [sum(map(int, column)) for column in zip(*counts)] == [14000, 2000]


def test_tg_annotate_refuses_what_there_is_not(tmp_path: Path) -> None:
    observe(tmp_path)
    data = only(tmp_path).path
    (costs,) = tmp_path.glob("out.*")
    for arguments, complaint in (
        (("--by=data", costs), "--by=data takes data files"),
        ((costs, data), "is a data file, "),
        (("--by=function", data, costs), "is a data file, "),
        (("--of=main", costs), "--of takes data files"),
        (("--of=nothing", data), "no function and no data 'nothing'"),
        (("--machine=zen4", data), "--machine: no 'zen4'"),
    ):
        done = annotated(*arguments)
        assert (done.returncode, done.stdout) == (1, "") and complaint in done.stderr, done


def test_tg_annotate_refuses_a_damaged_file(tmp_path: Path) -> None:
    observe(tmp_path)
    path = only(tmp_path).path
    whole = written(path)
    rows = whole.split("\n")
    costs = next(i for i, row in enumerate(rows) if re.match(r"\d+ \d+ ", row))
    for number, new in ((1, "version: 2"), (costs, "x"), (costs, rows[costs] + " 1"), (costs, "1 99999 1")):
        path.write_text("\n".join([*rows[:number], new, *rows[number + 1 :]]), encoding="utf-8")
        done = annotated("--by=data", path)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{path}:{number + 1}: " in done.stderr and "Traceback" not in done.stderr
    for end in range(0, len(whole) - 1, max(1, len(whole) // 12)):
        path.write_text(whole[:end], encoding="utf-8")
        done = annotated("--by=data", path)
        assert (done.returncode, done.stdout) == (1, "") and "Traceback" not in done.stderr


@pytest.mark.parametrize("mode", ["phases", "dump"])
def test_parts_and_phases_have_the_same_out_files(tmp_path: Path, mode: str) -> None:
    """Each part has a data file of its own, whose totals are those of its out-file."""
    bodies = []
    for folder, data in (("a", ("--data=yes", "--data-out-file=data")), ("b", ())):
        place = tmp_path / folder
        options = ["--faults=yes", "--faults-out-file=faults", *data]
        r = run(place, client("run_region"), mode, options=options, out_file="out", prefix=["setarch", "-R"], collect=False)
        assert r.status == 0, r.err
        texts = {path.name: written(path).split("\n") for path in place.glob("*out*")}
        bodies.append({name: [line for line in text if not line.startswith("pid: ")] for name, text in texts.items()})
    assert len(bodies[0]) > 2
    assert bodies[0] == bodies[1]
    for path in (tmp_path / "a").glob("data*"):
        data_file = Data(path)
        (totals,) = [line for line in bodies[0][path.name.replace("data", "out")] if line.startswith("totals: ")]
        assert data_file.totals == tuple(map(int, totals.split()[1:]))


def test_a_data_file_that_is_not_there(tmp_path: Path) -> None:
    done = subprocess.run([PYTHON, TG_ANNOTATE, "--by=data", "none"], cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "tg_annotate: error: none: No such file or directory\n")


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_ZN5store5tableE", "store::table"),
        ("_ZN5store5table17hce4e722b2ce49648E", "store::table"),
        ("_RNvCs3CUbr4axdjZ_5store5table", "store::table"),
        ("_D5store5tableG8m", "store.table"),
    ],
    ids=["C++", "Rust", "Rust, v0", "D"],
)
def test_names_of_variables_are_those_of_the_source(tmp_path: Path, symbol: str, name: str) -> None:
    observe(tmp_path)
    (path,) = tmp_path.glob("data.*")
    text = written(path)
    assert text.count("name: table\n") == 1
    mangled = tmp_path / "mangled"
    mangled.write_text(text.replace("name: table\n", f"name: {symbol}\n"), encoding="utf-8")

    def shown(**environment: str) -> str:
        command = [sys.executable, TG_ANNOTATE, "--by=data", f"--of={name}", str(mangled)]
        if environment:
            command[3] = f"--of={symbol}"
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, env=environment or None)
        return done.stdout

    assert f"variable {name} [run_data]" in shown()
    # Without c++filt they are as the linker has them.
    assert f"variable {symbol} [run_data]" in shown(PATH=str(tmp_path))
