# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--toggle-collect: costs are kept only while a function is active, and are those of --calls=yes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from call_graph import Costs, Graph, read_graph
from tg_environment import HAVE_X86, TLBGRIND, client
from tool_support import compile_program, messages, read, run

ONE = ("--itlb=16,4", "--dtlb=16,4", "--stlb=64,8", "--faults=yes", "--faults-out-file=faults")
SEVERAL = ("--machine=skylake,zen4,power8",)
needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")


def profile(folder: Path, *options: str, bits: str = "", mode: str = "") -> tuple[list[Path], str]:
    """Always in the same folder, whose name is on the program's stack, and with the same layout."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    run = folder / "run"
    run.mkdir()
    command = ["setarch", "-R", TLBGRIND, f"--tlbgrind-out-file={run}/out.%p", *options, client("run_calls" + bits)]
    done = subprocess.run(
        [*command, mode] if mode else command,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        cwd=run,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return sorted(run.glob("out.*")), done.stderr


def graphs(folder: Path, *options: str, bits: str = "", mode: str = "") -> dict[str, Graph]:
    """By machine."""
    found = {}
    for path in profile(folder, *options, bits=bits, mode=mode)[0]:
        head = path.read_text(encoding="utf-8").partition("positions:")[0]
        machine = re.findall("^desc: Machine: (.+)$", head, re.MULTILINE)
        if "desc: Forked" not in head:
            found[machine[0]] = read_graph(path)
    return found


def inclusive(g: Graph, function: str) -> Costs:
    """Of all calls from other functions."""
    costs = [arc.costs for (caller, to), arc in g.arcs.items() if to[1] == function != caller[1]]
    return tuple(map(sum, zip(*costs)))


@pytest.mark.parametrize("path", ["yes", "no"])
@pytest.mark.parametrize("machines", [ONE, SEVERAL])
@pytest.mark.parametrize("bits", ["", pytest.param("32", marks=needs_x86)])
def test_the_costs_are_the_functions_inclusive_ones(
    tmp_path: Path, machines: tuple[str, ...], path: str, bits: str
) -> None:
    options = (*machines, f"--fast-path={path}")
    whole = graphs(tmp_path, "--calls=yes", *options, bits=bits)
    assert len(whole) == (1 if machines == ONE else 3)
    # One that is called often, one that calls itself, one that longjmp leaves, and all.
    for function in ("middle", "recursive", "jumps", "leaf", "main"):
        some = graphs(tmp_path, f"--toggle-collect={function}", *options, bits=bits)
        for machine, g in whole.items():
            assert some[machine].totals == inclusive(g, function), (function, machine)
            assert some[machine].totals[0] > 0


def test_lines_that_only_the_function_reaches_cost_the_same(tmp_path: Path) -> None:
    (whole,) = graphs(tmp_path, *ONE).values()
    (some,) = graphs(tmp_path, "--toggle-collect=caught", *ONE).values()
    for name in ("caught", "jumps"):
        (function,) = (f for f in whole.own if f[1] == name)
        assert some.own[function] == whole.own[function]
    assert not [f for f in some.own if f[1] in ("main", "middle", "even")]


def test_with_calls_the_graph_is_that_of_the_function(tmp_path: Path) -> None:
    (whole,) = graphs(tmp_path, "--calls=yes", *ONE).values()
    (some,) = graphs(tmp_path, "--calls=yes", "--toggle-collect=middle", *ONE).values()
    assert some.totals == inclusive(whole, "middle")
    for caller, callee in (("main", "middle"), ("middle", "leaf")):
        assert some.arc(caller, callee) == whole.arc(caller, callee)
    assert some.calls("recursive") == some.calls("caught") == 0
    assert not [f for f in some.own if f[1] == "main"]


def test_several_functions_and_patterns(tmp_path: Path) -> None:
    (whole,) = graphs(tmp_path, "--calls=yes", *ONE).values()
    sums = tuple(map(sum, zip(inclusive(whole, "caught"), inclusive(whole, "middle"))))
    (two,) = graphs(tmp_path, "--toggle-collect=caug?t", "--toggle-collect=midd*", *ONE).values()
    assert two.totals == sums


def test_a_thread_is_counted_while_it_is_in_the_function(tmp_path: Path) -> None:
    (whole,) = graphs(tmp_path, "--calls=yes", *ONE, mode="all").values()
    (some,) = graphs(tmp_path, "--toggle-collect=thread", *ONE, mode="all").values()
    # What the second thread does depends on when the first is interrupted, but for references.
    events = [whole.events.index(event) for event in ("Ir", "Dr", "Dw")]
    expected = inclusive(whole, "thread")
    assert [some.totals[e] for e in events] == [expected[e] for e in events]


def test_the_out_file_names_the_functions(tmp_path: Path) -> None:
    (path,), _ = profile(tmp_path, "--toggle-collect=middle", "--toggle-collect=x*", *ONE)
    assert read(path).descriptions("Collected") == ["in middle", "in x*"]


def test_a_function_that_is_not_called_is_said(tmp_path: Path) -> None:
    (path,), said = profile(tmp_path, "--toggle-collect=nothing", *ONE)
    assert read(path).lines == []
    assert "Nothing was collected: no function that was called has the name" in said
    assert "Nothing was collected" not in profile(tmp_path, "--toggle-collect=leaf", *ONE)[1]


def test_a_function_that_is_not_there_is_said_at_the_start(tmp_path: Path) -> None:
    """Before the program does anything: it is ended by a signal. A name of the C library is there."""
    source = tmp_path / "ends.c"
    source.write_text(
        "#include <signal.h>\n"
        'int twice(int n) __asm__("_Z5twicei"); /* as a compiler of C++ calls it */\n'
        "__attribute__((noinline)) int twice(int n) { raise(SIGKILL); return 2 * n; }\n"
        "int main(int argc, char** argv) { (void)argv; return twice(argc); }\n",
        encoding="utf-8",
    )
    program = compile_program(tmp_path, "ends", "-O1", str(source))
    options = [f"--toggle-collect={name}" for name in ("twise", "twice", "twice(*", "mai?", "raise")]
    options += [f"--merge-code={name}" for name in ("libc.so*,libx*",)]
    done = run(tmp_path, program, options=options, geometry=ONE[:3], collect=False)
    told = [line for line in messages(done.err) if line.startswith(("--toggle-collect=", "--merge-code="))]
    assert [line.split(": ")[0] for line in told] == ["--merge-code=libx*", "--toggle-collect=twise", "--toggle-collect=twice"]
    assert "no function has that name, but there is twice(int): write it so, or with *" in told[2]
    quiet = run(tmp_path, program, options=[*options, "-q"], geometry=ONE[:3], collect=False)
    assert "twise" not in quiet.err


@pytest.mark.parametrize("fast", ["yes", "no"])
@pytest.mark.parametrize("name", ["thread", "main", "nothing"])
def test_threads_have_what_is_collected_of_them(tmp_path: Path, name: str, fast: str) -> None:
    """The rows of threads add up to the totals, which are those of the function."""
    paths, _ = profile(tmp_path, f"--toggle-collect={name}", f"--fast-path={fast}", *ONE, mode="all")
    (out,) = (file for file in map(read, paths) if not file.descriptions("Forked"))
    rows = [list(map(int, text.split()[2::2])) for text in out.descriptions("Thread")]
    assert len(rows) == 2
    totals = dict(zip(out.field("events").split(), out.summary))
    expected = [
        totals["Ir"],
        totals["I1tm"],
        totals["ILtm"],
        totals["D1tmr"] + totals["D1tmw"],
        totals["DLtmr"] + totals["DLtmw"],
    ]
    assert [sum(column) for column in zip(*rows)] == expected
    assert (expected[0] > 0) == (name != "nothing")


HANDLER_PROGRAM = """
#include <signal.h>
#include <stdlib.h>
static volatile long v;
__attribute__((noinline)) void work(void) { for (int i = 0; i < 1000; i++) v++; }
__attribute__((noinline)) void rest(void) { for (int i = 0; i < 100000; i++) v++; }
static void handler(int number) { (void)number; work(); rest(); }
int main(int argc, char **argv)
{
   stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
   struct sigaction action = { .sa_handler = handler, .sa_flags = argc > 1 ? SA_ONSTACK : 0 };
   (void)argv;
   sigaltstack(&stack, 0);
   sigaction(SIGUSR1, &action, 0);
   raise(SIGUSR1);
   rest();
   return 0;
}
"""


@pytest.mark.parametrize("arguments", [(), ("on an alternate stack",)])
def test_a_function_that_a_handler_calls_ends_with_its_return(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "p.c").write_text(HANDLER_PROGRAM)
    subprocess.run(["cc", "-O1", "-g", "-o", tmp_path / "program", tmp_path / "p.c"], check=True)
    options = ["--toggle-collect=work", *ONE, "--tlbgrind-out-file=out"]
    done = subprocess.run([TLBGRIND, *options, "./program", *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    functions = {line.function for line in read(tmp_path / "out").lines}
    assert functions == {"work"}
