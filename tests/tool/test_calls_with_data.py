# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Calls, data and mappings in one run: each file is that of a run with its option alone.

The inclusive costs of a run without --data=yes are what a function and all that it calls cost there,
so nothing that attributes references stands between the two.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from call_graph import Costs, Function, Graph, read_graph
from tg_environment import CLIENTS, TLBGRIND
from tg_long import long_but
from tg_written import written
from tool_support import ENVIRONMENT, TG_ANNOTATE, compile_program

# The more machines, the more ways through the simulator; the first walks often.
ONE = ("--machine=default",)
MANY = ("--machine=skylake,zen4,power8",)
SLOW = ("--machine=default", "--fast-path=no")
FAULTS = ("--faults=yes", "--faults-out-file=faults", "--thp=never")

PARTS = {"calls": ("--calls=yes",), "data": ("--data=yes", "--data-out-file=data.%p")}

PROGRAMS = {
    "calls": [str(CLIENTS / "run_calls")],
    "throws": [str(CLIENTS / "run_throws")],
    "data": [str(CLIENTS / "run_data")],
    "strides": [str(CLIENTS / "run_strides")],
    "ls": ["ls", "-l", "/usr/bin"],
    "perl": ["perl", "-e", "my %h; $h{$_ % 777} .= $_ for 1..5000; print join ',', sort keys %h"],
    "python": [os.path.realpath(sys.executable), "-S", "-c", "print(sum(hash(str(i)) & 7 for i in range(5000)))"],
}

# Each call changes which data its callee's only load refers to, and the callee calls on, in the middle
# of a loop that goes from one object to another.
ALTERNATES = """
#include <sys/mman.h>
enum { PAGES = 300, PAGE = 4096, TURNS = 40 };
static char in_bss[PAGES * PAGE];
static volatile long sum;
__attribute__((noinline)) static void leaf(volatile char *p) { sum += *p; }
__attribute__((noinline)) static void loop(volatile char *a, volatile char *b)
{
   for (int i = 0; i < PAGES; i++) {
      volatile char *p = i % 2 ? a : b;
      sum += p[i * PAGE];
      if (i % 7 == 0)
         leaf(p + i * PAGE);
   }
}
int main(void)
{
   char *mapped = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_SHARED, -1, 0);
   for (int i = 0; i < TURNS; i++)
      loop(mapped, in_bss);
   return 0;
}
"""


# A segment that a fault cuts short, in the middle of references to other data each time. Stores that
# the compiler may not part from one another.
FAULTING = """
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
enum { PAGES = 64, PAGE = 4096, TURNS = 200 };
static char in_bss[PAGES * PAGE];
static sigjmp_buf back;
static void handle(int signal) { siglongjmp(back, signal); }
__attribute__((noinline)) static void store(char *a, char *b, char *c)
{
   __asm__ volatile("movb $1, (%0); movb $2, (%1); movb $3, (%2)" : : "r"(a), "r"(b), "r"(c) : "memory");
}
int main(void)
{
   struct sigaction action = { .sa_handler = handle };
   sigaction(SIGSEGV, &action, 0);
   char *mapped = mmap(0, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_SHARED, -1, 0);
   char *none = mmap(0, PAGE, PROT_NONE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
   for (volatile int i = 0; i < TURNS; i++) {
      char *a = (i % 2 ? mapped : in_bss) + i % PAGES * PAGE;
      if (sigsetjmp(back, 1) == 0)
         store(a, i % 3 ? none : a, i % 3 == 2 ? a : none);
   }
   return 0;
}
"""


def bodies(folder: Path, program: list[str], *options: str) -> dict[str, str]:
    """What a run writes, without what names the run itself; the folder has the same name each time."""
    folder.mkdir()
    command = ["setarch", "-R", TLBGRIND, "-q", "--tlbgrind-out-file=out.%p", *options, *program]
    done = subprocess.run(command, cwd=folder, env={**ENVIRONMENT, "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0"}, capture_output=True, check=False, timeout=600)
    assert b"Bad option" not in done.stderr, done.stderr
    files: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        text = written(path)
        # Number the processes in the order of their pids.
        name = re.sub(r"\d+", "P", path.name.partition(".")[2]) + path.name.partition(".")[0]
        files[f"{name} {len(files)}"] = re.sub(r"^(pid|cmd): .*\n", "", text, flags=re.MULTILINE)
    shutil.rmtree(folder)
    return files


def of(files: dict[str, str], kind: str) -> list[str]:
    return [text for name, text in files.items() if kind in name]


def without_mappings(text: str) -> str:
    return re.sub(r"^desc: (Mapping|Large pages).*\n", "", text, flags=re.MULTILINE)


def mappings(text: str) -> list[str]:
    return re.findall(r"^desc: (?:Mapping|Large pages).*$", text, re.MULTILINE)


def compare(folder: Path, program: list[str], *options: str) -> None:
    together = bodies(folder, program, *options, *itertools.chain(*PARTS.values()))
    calls = bodies(folder, program, *options, *PARTS["calls"])
    data = bodies(folder, program, *options, *PARTS["data"])
    assert of(together, "out") == of(calls, "out") != []
    assert of(together, "data") == of(data, "data") != []


FIRST = long_but(lambda name: name not in ("perl", "python"), PROGRAMS)


@pytest.mark.parametrize("name", FIRST)
def test_calls_and_data_are_those_of_two_runs(tmp_path: Path, name: str) -> None:
    compare(tmp_path / "run", PROGRAMS[name], *ONE, *FAULTS)


@pytest.mark.parametrize("options", [MANY, SLOW, (*ONE, "--data-offsets=yes"), (*ONE, "--dump-instr=yes")], ids=" ".join)
def test_so_it_is_with_other_options(tmp_path: Path, options: tuple[str, ...]) -> None:
    if "--data-offsets=yes" not in options:
        compare(tmp_path / "run", PROGRAMS["calls"], *options)
        return
    folder = tmp_path / "run"
    together = bodies(folder, PROGRAMS["calls"], *options, "--calls=yes", "--data-out-file=data.%p")
    assert of(together, "out") == of(bodies(folder, PROGRAMS["calls"], *ONE, "--calls=yes"), "out")
    assert of(together, "data") == of(bodies(folder, PROGRAMS["calls"], *options, "--data-out-file=data.%p"), "data")


def compiled(folder: Path, text: str) -> list[str]:
    source = folder / "program.c"
    source.write_text(text, encoding="utf-8")
    return [str(compile_program(folder, "program", str(source)))]


def test_calls_have_the_references_of_segments_that_a_fault_cuts_short(tmp_path: Path) -> None:
    for options in ((*ONE, *FAULTS), SLOW):
        compare(tmp_path / "run", compiled(tmp_path, FAULTING), *options)


def test_an_instruction_that_changes_its_object_leaves_no_miss_behind(tmp_path: Path) -> None:
    compare(tmp_path / "run", compiled(tmp_path, ALTERNATES), *ONE)
    folder = tmp_path / "graph"
    folder.mkdir()
    command = [TLBGRIND, "-q", *ONE, "--calls=yes", "--data=yes", "--tlbgrind-out-file=out", *compiled(tmp_path, ALTERNATES)]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
    graph = read_graph(folder / "out")
    rest = [costs for costs in graph.out_of_balance().values()]
    assert rest == [graph.totals]
    # Each loop reads each page, far more than the first level holds, and leaf() 43 of them once more.
    misses, reads = graph.events.index("D1tmr"), graph.events.index("Dr")
    arc = graph.arc("main", "loop")
    assert arc.calls == 40 and arc.costs[reads] > 40 * 343
    assert 40 * 299 <= arc.costs[misses] <= 40 * 300 + 100


def test_threads_have_all_costs_in_the_graph_and_by_data(tmp_path: Path) -> None:
    """Their order differs from run to run."""
    command = [TLBGRIND, "-q", *ONE, "--calls=yes", "--data=yes", "--data-out-file=data", "--tlbgrind-out-file=out"]
    subprocess.run([*command, str(CLIENTS / "run_threads")], cwd=tmp_path, capture_output=True, check=True)
    graph = read_graph(tmp_path / "out")
    rest = graph.out_of_balance()
    assert tuple(map(sum, zip(*rest.values()))) == graph.totals
    assert all(number >= 0 for costs in rest.values() for number in costs)
    totals = re.findall(r"^totals: (.+)$", (tmp_path / "data").read_text(encoding="utf-8"), re.MULTILINE)
    assert totals == [" ".join(map(str, graph.totals))]


@pytest.mark.parametrize(
    "program",
    [["run_cores", "in-turn", "5", "60", "7"], ["run_cores", "one-after-another", "3", "100"], ["run_threads"], ["run_signals", "storm"]],
    ids=" ".join,
)
@pytest.mark.parametrize("more", [(), ("--data=yes", "--data-out-file=data", "--mappings=yes")], ids=["calls", "all"])
def test_each_thread_has_the_calls_that_it_makes(tmp_path: Path, program: list[str], more: tuple[str, ...]) -> None:
    """The threads' arcs are those of the run, and each thread's calls cost what its own lines do."""
    options = (*FAULTS, "--calls=yes", "--separate-threads=yes", *more)
    command = [TLBGRIND, "-q", *ONE, *options, "--tlbgrind-out-file=out", str(CLIENTS / program[0]), *program[1:]]
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=False, timeout=600)
    whole = read_graph(tmp_path / "out")
    threads = [read_graph(path) for path in tmp_path.glob("thread_*_of_out")]
    # A number is taken again when its thread has ended.
    assert len(threads) == 1 if program[0] == "run_signals" else len(threads) > 1
    sums: dict[object, list[int]] = {}
    for graph in threads:
        for key, arc in graph.arcs.items():
            numbers = (arc.calls, *arc.costs)
            sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(numbers)), numbers)]
        rest = graph.out_of_balance()
        assert tuple(map(sum, zip(*rest.values()))) == graph.totals
        assert all(number >= 0 for costs in rest.values() for number in costs)
    assert sums == {key: [arc.calls, *arc.costs] for key, arc in whole.arcs.items()}


def with_and_without_threads(folder: Path, *program: str) -> list[dict[str, Graph]]:
    """The graphs of a run with calls and threads, of one with calls, and of one with threads, by file."""
    graphs = []
    for options in (("--calls=yes", "--separate-threads=yes"), ("--calls=yes",), ("--separate-threads=yes",)):
        folder.mkdir()
        command = ["setarch", "-R", TLBGRIND, "-q", *ONE, *options, "--tlbgrind-out-file=out"]
        subprocess.run([*command, *program], cwd=folder, env=ENVIRONMENT, capture_output=True, check=True)
        graphs.append({path.name: read_graph(path) for path in folder.glob("*out")})
        shutil.rmtree(folder)
    return graphs


def test_calls_and_threads_are_those_of_two_runs(tmp_path: Path) -> None:
    both, calls, threads = with_and_without_threads(tmp_path / "run", str(CLIENTS / "run_calls"))
    assert both["out"] == calls["out"]
    assert both.keys() == threads.keys()
    for name, graph in both.items():
        assert (graph.own, graph.totals) == (threads[name].own, threads[name].totals)
        assert graph.arcs and not threads[name].arcs


def references(graph: Graph) -> tuple[dict[Function, Costs], dict[tuple[Function, Function], Costs]]:
    """Of the client's own functions: how often a thread waits in the C library depends on when the others run."""
    own = {f: costs[::3] for f, costs in graph.own.items() if f[0].endswith("/run_cores") and f[1] != "???"}
    arcs = {a: (arc.calls, *arc.costs[::3]) for a, arc in graph.arcs.items() if a[0] in own and a[1] in own}
    return own, arcs


def test_calls_of_several_threads_are_those_of_two_runs(tmp_path: Path) -> None:
    program = (str(CLIENTS / "run_cores"), "one-after-another", "3", "100")
    both, calls, threads = with_and_without_threads(tmp_path / "run", *program)
    assert references(both["out"]) == references(calls["out"])
    assert len(references(both["out"])[1]) > 0
    assert both.keys() == threads.keys() == {"out", "thread_1_of_out", "thread_2_of_out"}
    for name, graph in both.items():
        assert references(graph)[0] == references(threads[name])[0]
        assert graph.arcs and not threads[name].arcs


def test_calls_and_mappings_are_those_of_two_runs(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for program in (compiled(tmp_path, ALTERNATES), compiled(tmp_path, FAULTING), PROGRAMS["calls"]):
        options = (*ONE, *FAULTS)
        together = of(bodies(folder, program, *options, "--calls=yes", "--mappings=yes"), "out")
        calls = of(bodies(folder, program, *options, "--calls=yes"), "out")
        alone = of(bodies(folder, program, *options, "--mappings=yes"), "out")
        assert [without_mappings(text) for text in together] == calls != []
        assert [mappings(text) for text in together] == [mappings(text) for text in alone]
        assert all(len(mappings(text)) > 10 for text in together)


@pytest.mark.parametrize("name", [*FIRST, "alternates", "faulting"])
def test_data_and_mappings_and_calls_are_those_of_three_runs(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "run"
    texts = {"alternates": ALTERNATES, "faulting": FAULTING}
    program = compiled(tmp_path, texts[name]) if name in texts else PROGRAMS[name]
    options = (*ONE, *FAULTS, "--data-offsets=yes")
    all_three = bodies(folder, program, *options, *PARTS["data"], "--mappings=yes", "--calls=yes")
    two = bodies(folder, program, *options, *PARTS["data"], "--mappings=yes")
    calls = of(bodies(folder, program, *ONE, *FAULTS, "--calls=yes"), "out")
    data = bodies(folder, program, *options, *PARTS["data"])
    alone = of(bodies(folder, program, *ONE, *FAULTS, "--mappings=yes"), "out")
    assert of(all_three, "data") == of(two, "data") == of(data, "data") != []
    assert of(two, "out") == alone != []
    assert [without_mappings(text) for text in of(all_three, "out")] == calls != []
    assert [mappings(text) for text in of(all_three, "out")] == [mappings(text) for text in alone]
    assert all(len(mappings(text)) > 10 for text in alone)


@pytest.mark.parametrize("options", [MANY, SLOW], ids=" ".join)
def test_data_and_mappings_are_those_of_two_runs_with_other_options(tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = tmp_path / "run"
    program = compiled(tmp_path, ALTERNATES)
    both = bodies(folder, program, *options, *PARTS["data"], "--mappings=yes")
    assert of(both, "data") == of(bodies(folder, program, *options, *PARTS["data"]), "data") != []
    assert of(both, "out") == of(bodies(folder, program, *options, "--mappings=yes"), "out") != []


def test_the_readers_show_calls_data_and_mappings_of_one_run(tmp_path: Path) -> None:
    options = ("--calls=yes", "--data=yes", "--mappings=yes", "--data-out-file=data", "--tlbgrind-out-file=out")
    command = [TLBGRIND, "-q", *ONE, *options, *compiled(tmp_path, ALTERNATES)]
    subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=True)

    def shown(*arguments: str) -> str:
        done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
        assert (done.returncode, done.stderr) == (0, ""), arguments
        return done.stdout

    assert re.search(r"loop", shown(TG_ANNOTATE, "--inclusive", "out"))
    assert re.search(r"in_bss", shown(TG_ANNOTATE, "--by=data", "data"))
    assert re.search(r"zero|anon|shm", shown(TG_ANNOTATE, "--mappings", "out"))
    callgrind_annotate = shutil.which("callgrind_annotate")
    assert callgrind_annotate is not None
    assert re.search(r":loop", shown(callgrind_annotate, "--inclusive=yes", "--threshold=100", "out"))
