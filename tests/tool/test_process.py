# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Whatever a program does with processes, threads, signals and code, no count is lost.

The clients know how much they work in which function and print it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tg_environment import CLIENTS, HAVE_X86, TLBGRIND, client
from tg_long import long
from tool_support import (
    GEOMETRY,
    UNKNOWN,
    OutFile,
    Run,
    add,
    by_line,
    compile_program,
    read,
    run,
    straight_line,
    times,
    total,
)

needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs to be root")
BITS = ["", pytest.param("32", marks=needs_x86)]
SOURCES = Path(os.environ["TG_SRCDIR"]) / "tests" / "clients"


def work(n: int, calls: int = 1) -> tuple[int, int, int]:
    """What run_work.h's WORK counts."""
    return 4 * n + calls, n + calls, n


# Hardly any reference hits, so walks are dense and segments are looked up later (engine/batch.h).
ONE_ENTRY = ("--itlb=1,1", "--dtlb=1,1", "--stlb=1,1")


def both_paths(
    folder: Path, *command: object, geometry: Sequence[str] = GEOMETRY, same_misses: bool = True
) -> list[Run]:
    """Runs with and without fast path: every count is the same."""
    runs = [
        # One layout of the address space, so that the misses can be compared.
        run(
            folder / path[:2],
            *command,
            options=[f"--fast-path={path}"],
            geometry=geometry,
            prefix=["setarch", "-R"],
        )
        for path in ("yes", "no")
    ]
    for r in runs:
        r.check()
    if same_misses:
        assert [f.body() for f in runs[0].files] == [f.body() for f in runs[1].files]
    return runs


# ---------------------------------------------------------------- threads and signals


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("machine", [GEOMETRY, ONE_ENTRY], ids=["usual", "one-entry"])
def test_eight_threads(tmp_path: Path, machine: Sequence[str], bits: str) -> None:
    # Which thread runs when is the kernel's choice, and with it who misses.
    command = client("run_threads" + bits)
    for r in both_paths(tmp_path, command, geometry=machine, same_misses=False):
        assert r.status == 0


SIGNALS = [
    "none",
    "read-only",
    "fetch",
    "segv-out",
    "fpe-out",
    "ill-out",
    "walk-out",
    "one-page",
    "two-page",
    "sent",
]
FAULTS = 1000


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("machine", [GEOMETRY, ONE_ENTRY], ids=["usual", "one-entry"])
@pytest.mark.parametrize("what", SIGNALS)
def test_signals(tmp_path: Path, what: str, machine: Sequence[str], bits: str) -> None:
    for r in both_paths(tmp_path, client("run_signals" + bits), what, geometry=machine):
        assert r.status == 0


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("path", ["yes", "no"])
def test_instructions_that_fault_straddle_pages(tmp_path: Path, path: str, bits: str) -> None:
    """The same program, whose instruction lies on one page or on two each time that it faults."""
    counted = []
    for what in ("one-page", "two-page"):
        r = run(
            tmp_path / what,
            client("run_signals" + bits),
            what,
            options=[f"--fast-path={path}"],
            prefix=["setarch", "-R"],
        ).check()
        (note,) = r.only().descriptions("Straddles")
        words = note.replace(",", "").split()
        counted.append(dict(zip(words[::2], map(int, words[1::2]))))
    one, two = counted
    assert two == {**one, "instructions": one["instructions"] + FAULTS}


@pytest.mark.parametrize("bits", BITS)
def test_storm_of_timer_signals(tmp_path: Path, bits: str) -> None:
    for r in both_paths(tmp_path, client("run_signals" + bits), "storm", same_misses=False):
        assert r.status == 0


# ---------------------------------------------------------------- fork and exec


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("how", ["fork", "fork-quick"])
def test_fork_splits_the_costs(tmp_path: Path, how: str, bits: str) -> None:
    r = run(tmp_path, client("run_process" + bits), how)
    r.check()
    assert r.status == 0
    assert len(r.files) == 3
    forked = {f.pid: f.descriptions("Forked") for f in r.files}
    for f in r.files:
        assert f.path.name == f"out.{f.pid}"
    origins = [d[0] for d in forked.values() if d]
    assert len(origins) == 2
    assert all(o.startswith("counts since the fork from pid ") for o in origins)
    # Parent and child each wrote how many wrote it all: nothing twice, nothing lost.
    assert add([f.function("both") for f in r.files]) == add([work(200), work(200)])
    (parent,) = [pid for pid, d in forked.items() if not d]
    assert f"counts since the fork from pid {parent}" in origins


@pytest.mark.parametrize("bits", BITS)
def test_spawned_programs_are_not_traced(tmp_path: Path, bits: str) -> None:
    r = run(tmp_path, client("run_process" + bits), "spawn", client("run_exec"), 7)
    r.check()
    assert r.status == 0
    # The parent, and each child up to its exec.
    assert len(r.files) == 3
    assert sorted(f.function("before") for f in r.files) == [(0, 0, 0), (0, 0, 0), work(100)]
    assert all(f.function("work") == (0, 0, 0) for f in r.files)


def test_spawned_programs_are_traced(tmp_path: Path) -> None:
    r = run(
        tmp_path, client("run_process"), "spawn", client("run_exec"), 7, options=["--trace-children=yes"]
    )
    assert r.status == 0
    names = [f.path.name for f in r.files]
    assert len(names) == 5
    assert sorted(n.count("_exec1") for n in names) == [0, 0, 0, 1, 1]
    assert sorted(f.function("work") for f in r.files) == [(0, 0, 0)] * 3 + [work(7)] * 2


def chain(folder: Path, *programs: str, options: tuple[str, ...] = ()) -> Run:
    arguments: list[object] = []
    for i, program in enumerate(programs):
        arguments += [client(program), 10 ** (i + 1)]
    return run(folder, *arguments, options=options)


def check_chain(r: Run, n: int) -> None:
    """Each program of the chain in a file of its own, in order."""
    assert r.status == 6
    last = [f for f in r.files if "_exec" not in f.path.name]
    assert len(last) == 1
    pid = last[0].pid
    names = [f"out.{pid}_exec{i}" for i in range(1, n)] + [f"out.{pid}"]
    files = {f.path.name: f for f in r.files}
    assert sorted(files) == sorted(names)
    for i, name in enumerate(names):
        assert files[name].pid == pid
        assert files[name].function("work") == work(10 ** (i + 1))


def test_exec_chain(tmp_path: Path) -> None:
    check_chain(chain(tmp_path, *["run_exec"] * 4, options=("--trace-children=yes",)), 4)


@needs_x86
def test_exec_chain_between_64_and_32_bits(tmp_path: Path) -> None:
    programs = ["run_exec", "run_exec32", "run_exec", "run_exec32"]
    check_chain(chain(tmp_path, *programs, options=("--trace-children=yes",)), 4)
    check_chain(chain(tmp_path / "b", *programs[1:], options=("--trace-children=yes",)), 3)


@pytest.mark.parametrize("bits", BITS)
def test_exec_without_tracing_leaves_what_was_before(tmp_path: Path, bits: str) -> None:
    r = chain(tmp_path, "run_exec" + bits, "run_exec", "run_exec", options=("--trace-children=no",))
    assert r.status == 6
    assert r.only().path.name == f"out.{r.only().pid}"
    assert r.only().function("work") == work(10)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("trace", ["--trace-children=yes", "--trace-children=no", "-v"])
def test_exec_that_fails_changes_nothing(tmp_path: Path, trace: str, bits: str) -> None:
    r = run(tmp_path, client("run_process" + bits), "exec-fails", options=[trace])
    r.check()
    assert r.status == 4
    assert r.only().path.name == f"out.{r.only().pid}"


@needs_root
@pytest.mark.parametrize("trace", ["yes", "no"])
def test_exec_never_removes_a_device(tmp_path: Path, trace: str) -> None:
    device = tmp_path / "device"
    try:
        os.mknod(device, 0o666 | 0o020000, os.makedev(1, 3))
    except OSError as e:
        pytest.skip(f"mknod: {e}")
    for command in ([client("run_process"), "exec-fails"], [client("run_exec"), 5, client("run_exec"), 6]):
        run(
            tmp_path,
            *command,
            options=[f"--trace-children={trace}"],
            out_file=str(device),
            collect=False,
        )
        assert device.is_char_device()
        assert os.listdir(tmp_path) == ["device"]


# ---------------------------------------------------------------- code that comes and goes


@pytest.mark.parametrize("bits", BITS)
def test_code_that_is_jumped_over(tmp_path: Path, bits: str) -> None:
    for r in both_paths(tmp_path, client("run_conditions" + bits)):
        assert r.status == 0


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("what", ["jit", "stack", "map", "under"])
def test_code_without_symbols(tmp_path: Path, what: str, bits: str) -> None:
    for path in ("yes", "no"):
        options = ["--smc-check=all", f"--fast-path={path}"]
        r = run(tmp_path / path, client("run_code" + bits), what, options=options)
        r.check()
        assert r.status == 0


def plugin_costs(out: OutFile, name: str, calls: int) -> None:
    """Every line of the plugin, exactly."""
    library = CLIENTS / f"run_plugin_{name}.so"
    for function in ("plugin", f"deeper_{name}"):
        counted = by_line(out, function, str(library))
        assert counted == times(calls, straight_line(library, function))


def test_plugins_keep_their_names(tmp_path: Path) -> None:
    a, b = (CLIENTS / f"run_plugin_{name}.so" for name in "ab")
    r = run(tmp_path, client("run_code"), "load", a, b, 20)
    assert r.status == 0
    rows = [row.split() for row in r.out.splitlines() if row.startswith("plugin ")]
    places = {path: {at for _, p, at in rows if p == path} for path in (str(a), str(b))}
    # Otherwise this test proves nothing.
    assert places[str(a)] & places[str(b)], "the two plugins were never at the same address"
    plugin_costs(r.only(), "a", 20 * 3)
    plugin_costs(r.only(), "b", 20 * 5)


# ---------------------------------------------------------------- kinds of programs


def test_stripped_program_has_the_same_costs(tmp_path: Path) -> None:
    # Of the same name, for it is one of the program's arguments.
    sums = []
    for kind in ("plain", "strip"):
        folder = tmp_path / kind
        folder.mkdir()
        program = folder / "program"
        shutil.copy(client("run_process"), program)
        if kind == "strip":
            subprocess.run(["strip", str(program)], check=True)
        out = run(folder, program, "exit", 3, prefix=["setarch", "-R"]).only()
        assert out.path.exists()
        lines = [line for line in out.lines if line.object == str(program)]
        sums.append((total(lines), out.summary))
        if kind == "strip":
            assert {line.function for line in lines if line.function != "(below main)"} >= {UNKNOWN}
            assert {line.file for line in lines} == {UNKNOWN}
        else:
            assert out.function("work") == work(1000)
    assert sums[0] == sums[1]


def test_static_program(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "static", "-static", str(SOURCES / "run_process.c"))
    r = run(tmp_path / "run", program, "exit", 3)
    r.check()
    assert r.status == 3
    assert {line.object for line in r.only().lines} == {str(program)}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("how", ["exit", "_exit", "thread-exit", "main-ends"])
@pytest.mark.parametrize("status", [0, long(1), 77, long(255)])
def test_exit_status_is_kept(tmp_path: Path, how: str, status: int, bits: str) -> None:
    r = run(tmp_path, client("run_process" + bits), how, status)
    assert r.status == status
    r.check()
    assert len(r.files) == 1


KILLED = [
    ("kill", signal.SIGTERM, signal.SIGTERM),
    ("kill", signal.SIGHUP, signal.SIGHUP),
    ("kill", signal.SIGUSR2, signal.SIGUSR2),
    ("abort", 0, signal.SIGABRT),
    ("segv", 8, signal.SIGSEGV),
]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("how, arg, by", KILLED)
def test_killed_program(tmp_path: Path, how: str, arg: int, by: signal.Signals, bits: str) -> None:
    # Whoever runs the tests may ignore SIGHUP, as nohup does, and programs inherit that.
    r = run(tmp_path, client("run_process" + bits), how, int(arg), prefix=["env", "--default-signal"])
    r.check()
    assert r.status == -by
    assert len(r.files) == 1


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("what", ["close-all", "no-more-files", "umask", "plain"])
def test_surroundings(tmp_path: Path, what: str, bits: str) -> None:
    r = run(tmp_path, client("run_process" + bits), what)
    r.check()
    assert r.status == 5
    assert r.only().path.stat().st_mode & 0o777 == (0 if what == "umask" else 0o600)


def test_relative_name_belongs_to_the_first_folder(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    r = run(tmp_path, client("run_process"), "chdir", tmp_path / "elsewhere")
    assert r.status == 5
    assert len(r.files) == 1
    assert os.listdir(tmp_path / "elsewhere") == []


@needs_root
def test_chroot(tmp_path: Path) -> None:
    """The name is looked up in the program's root: the file goes there if the folder exists. That it
    exists outside is checked at the start."""
    outside = tmp_path / "there"
    outside.mkdir()
    root = tmp_path / "root"
    inside = root / str(outside)[1:]
    inside.mkdir(parents=True)
    r = run(tmp_path, client("run_process"), "chroot", root, out_file=f"{outside}/out.%p", collect=False)
    assert r.status == 5
    (found,) = inside.iterdir()
    assert read(found).function("work") == work(1000)
    found.unlink()
    inside.rmdir()
    r = run(tmp_path, client("run_process"), "chroot", root, out_file=f"{outside}/out.%p", collect=False)
    assert r.status == 5
    assert f"error: can't write output data file '{outside}/out." in r.err
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("name", ["with spaces", "naïve-ΩΨ-名前", "weird\nline\tname=(1)", "%p%q{HOME}"])
def test_program_names(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    shutil.copy(client("run_process"), program)
    r = run(tmp_path / "run", program, "exit", 3)
    r.check()
    assert r.status == 3
    shown = "".join(c if c >= " " and c != "\x7f" else "?" for c in str(program))
    assert r.only().field("cmd") == f"{shown} exit 3"
    assert shown in {line.object for line in r.only().lines}


def test_arguments_of_all_kinds(tmp_path: Path) -> None:
    arguments = ["exit", "3", "a\nb", "c\rd\te\x1bf\x7f", "", "é", "x" * 100_000, "(1) y", "z=1"]
    r = run(tmp_path, client("run_process"), *arguments)
    r.check()
    assert r.status == 3
    shown = ["exit", "3", "a?b", "c?d?e?f?", "", "é", "x" * 100_000, "(1) y", "z=1"]
    assert r.only().field("cmd") == " ".join([str(client("run_process")), *shown])


def test_arguments_that_are_not_text(tmp_path: Path) -> None:
    argument = b"\xff\xfe\x80"
    subprocess.run(
        [TLBGRIND, "-q", "--tlbgrind-out-file=out.x", str(client("run_process")), "exit", "0", argument],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    out = read(tmp_path / "out.x")
    assert os.fsencode(out.field("cmd")).endswith(argument)


# ---------------------------------------------------------------- programs of others

PYTHON = """
import subprocess, sys, threading
threads = [threading.Thread(target=lambda: sum(range(1000))) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(subprocess.check_output("echo hello; exit 0", shell=True).decode().strip())
sys.exit(3)
"""
PERL = """
my $p = fork; if (!$p) { exit 5 } waitpid $p, 0; print $? >> 8, "\\n";
$SIG{ALRM} = sub { die "alarm\\n" }; eval { alarm 1; 1 while 1 }; print $@; exit 3;
"""
BASH = "set -m; cat </dev/null & for i in 1 2; do echo $i | cat | tr 1 3; done; wait; (exit 2); echo $?; exit 3"
MAKEFILE = "all: a b\n\t@exit 3\na b:\n\t@echo $@\n"
OTHERS = [
    (["bash", "-c", BASH], "3\n2\n2\n", 3),
    (["/usr/bin/python3", "-Sc", PYTHON], "hello\n", 3),
    (["perl", "-e", PERL], "5\nalarm\n", 3),
    (["make", "-sf", "Makefile"], "a\nb\n", 2),
]


@pytest.mark.parametrize("command, printed, status", OTHERS, ids=lambda v: Path(v[0]).name if isinstance(v, list) else "")
def test_unfriendly_programs(tmp_path: Path, command: list[str], printed: str, status: int) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    (tmp_path / "Makefile").write_text(MAKEFILE)
    r = run(tmp_path, *command, options=["--trace-children=yes"])
    assert (r.out, r.status) == (printed, status)
    # Every one of them is well-formed and adds up, or read() would have said so.
    assert len(r.files) > 1 or command[0] == "perl"


def test_git_with_hooks(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    tree = tmp_path / "tree"
    subprocess.run(["git", "init", "-q", str(tree)], check=True, env={"PATH": os.environ["PATH"], "HOME": "/"})
    hook = tree / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho hook >&2\nexit 1\n")
    hook.chmod(0o755)
    commit = ["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty"]
    env = {"HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}
    # git changes its folder, and a relative name belongs to the first folder of each program.
    out_file = str(tmp_path / "out.%p")
    r = run(
        tmp_path, *commit, "-m", "x", options=["--trace-children=yes"], env=env, out_file=out_file
    )
    assert r.status == 1
    assert "hook\n" in r.err
    assert any("pre-commit" in f.field("cmd") for f in r.files)


@pytest.mark.parametrize("bits", BITS)
def test_a_program_that_asks_for_valgrind(bits: str, tmp_path: Path) -> None:
    """is told that there is none, where it is to start as it does natively; that costs nothing"""
    program = client(f"fault_request{bits}")
    options = ["--faults=yes", "--faults-out-file=faults"]
    native = run(tmp_path / "native", program, options=options)
    slow = run(tmp_path / "slow", program, options=[*options, "--fast-path=no"])
    foreign = run(tmp_path / "foreign", program, options=[*options, "--native-start=no"])
    assert (native.out, slow.out, foreign.out) == ("0 0\n", "0 0\n", "1000 0\n")
    costs = native.only().function("main")
    assert costs == foreign.only().function("main") == slow.only().function("main")
    for done in (native, slow, foreign):
        assert "a message" in done.err


def test_a_filter_for_system_calls_is_said(tmp_path: Path) -> None:
    """Valgrind needs calls that the program has no use for: it can be killed before it writes any file."""
    r = run(tmp_path, client("run_process"), "filters")
    assert r.status == 5
    assert r.err.count("The program restricts its system calls (seccomp)") == 1


@pytest.mark.parametrize("bits", BITS)
def test_a_limit_of_addresses_does_not_count_the_tool(tmp_path: Path, bits: str) -> None:
    command = [str(client(f"run_process{bits}")), "limits-addresses"]
    r = run(tmp_path, *command)
    assert r.status == 0, r.err
    r.check()
    natively = subprocess.run(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, check=True)
    assert natively.stderr in r.err
