# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A process that becomes another program: the profile is that of the program that was meant."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from tg_environment import HAVE_X86, TLBGRIND, client
from tool_support import GEOMETRY, Run, add, messages, run

needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")


def work(n: int) -> tuple[int, int, int]:
    """What run_work.h's WORK counts."""
    return 4 * n + 1, n + 1, n


def chain(*programs: str) -> list[object]:
    arguments: list[object] = []
    for i, program in enumerate(programs):
        arguments += [client(program), 10 ** (i + 1)]
    return arguments


def becomes(r: Run) -> list[str]:
    return [m for m in messages(r.err) if m.startswith("The program becomes ")]


# ---------------------------------------------------------------- followed


@pytest.mark.parametrize(
    "programs",
    [
        ["run_exec"] * 2,
        ["run_exec"] * 4,
        pytest.param(["run_exec", "run_exec32", "run_exec"], marks=needs_x86),
        pytest.param(["run_exec32", "run_exec", "run_exec32"], marks=needs_x86),
    ],
    ids=" ".join,
)
def test_the_first_process_is_followed(tmp_path: Path, programs: list[str]) -> None:
    """One file, the last program's, which says how much is missing; all is there on request."""
    prefix = ["setarch", "-R"]
    all_of_it = run(tmp_path / "yes", *chain(*programs), options=["--trace-children=yes"], prefix=prefix)
    assert all_of_it.status == 6
    assert len(all_of_it.files) == len(programs)
    assert not any(f.descriptions("Exec") for f in all_of_it.files)
    assert "not counted" not in all_of_it.err
    r = run(tmp_path / "default", *chain(*programs), prefix=prefix)
    assert r.status == 6
    out = r.only()
    assert out.path.name == f"out.{out.pid}"
    assert out.function("work") == work(10 ** len(programs))
    assert out.field("cmd").split()[0] == str(client(programs[-1]))
    n = len(programs) - 1
    (said,) = out.descriptions("Exec")
    start, before, end = re.split(r"(\d+)(?= instructions)", said)
    assert start == f"counts since the process became this program; {n} before it, of "
    assert end == " instructions, are not counted"
    # The kernel's random bytes may let ld.so take other ways.
    assert abs(int(before) - sum(f.summary[0] for f in all_of_it.files if "_exec" in f.path.name)) < 1000 * n
    said = f"This process was {n} other program{'s' if n > 1 else ''} before, of {before} instructions that are not counted"
    assert messages(r.err).count(said) == 1
    assert becomes(r) == []


def test_a_script_of_env(tmp_path: Path) -> None:
    """As so many programs begin: an interpreter that env finds, and a shell that makes way."""
    script = tmp_path / "script"
    script.write_text(f"#!/usr/bin/env sh\nexec {client('run_exec')} 70\n", encoding="utf-8")
    script.chmod(0o755)
    r = run(tmp_path / "run", "env", script)
    assert r.status == 6
    assert r.only().function("work") == work(70)
    assert r.only().field("cmd") == f"{client('run_exec')} 70"


def test_plain_valgrind_does_the_same(tmp_path: Path) -> None:
    command = [os.environ["VALGRIND"], "--log-file=/dev/null", "--tool=tlbgrind", *GEOMETRY, "--tlbgrind-out-file=out", *map(str, chain("run_exec", "run_exec"))]
    lib = Path(TLBGRIND).resolve().parents[1] / ".in_place"
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, "VALGRIND_LIB": str(lib)}, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (6, b"")
    assert os.listdir(tmp_path) == ["out"]
    assert f"cmd: {client('run_exec')} 100\n" in (tmp_path / "out").read_text(encoding="utf-8")


def test_children_are_not_followed(tmp_path: Path) -> None:
    """Neither those of the first program nor those of what it becomes."""
    child = f"{client('run_exec')} 5"
    r = run(tmp_path, "sh", "-c", f'{child}; exec sh -c "{child}; exec {client("run_exec")} 70"')
    assert r.status == 6
    assert add(f.function("work") for f in r.files) == work(70)
    assert sorted(bool(f.descriptions("Forked")) for f in r.files) == [False, True, True]
    (forked, other) = (f for f in r.files if f.descriptions("Forked"))
    assert not forked.descriptions("Exec") and not other.descriptions("Exec")
    assert becomes(r) == []


def test_names_are_meant_from_where_the_first_program_began(tmp_path: Path) -> None:
    """Those of files to be written and of machine files, though the new program begins elsewhere."""
    (tmp_path / "below").mkdir()
    shipped = Path(os.environ["TG_SRCDIR"], "tlbgrind/machines/zen4.machine")
    shutil.copy(shipped, tmp_path / "mine.machine")
    script = f"cd below && exec {client('run_exec')} 7 {client('run_exec')} 8"
    files = [f"--{kind}-out-file={kind}.%q{{SOME}}" for kind in ("faults", "reach", "entries")]
    options = ["--machine=mine.machine", *files]
    r = run(tmp_path, "sh", "-c", script, options=options, geometry=(), out_file="out.%p", env={"SOME": "thing"})
    assert r.status == 6
    assert r.only().function("work") == work(8)
    assert os.listdir(tmp_path / "below") == []
    made = {"entries.thing", "faults.thing", "reach.thing", r.only().path.name}
    assert set(os.listdir(tmp_path)) == {"below", "mine.machine", *made}
    absolute = [f"--tlbgrind-out-file={tmp_path}/out.%q{{SOME}}"]
    r = run(tmp_path, "sh", "-c", script, options=absolute, out_file=None, env={"SOME": "absolute"}, collect=False)
    assert (tmp_path / "out.absolute").exists()


# ---------------------------------------------------------------- not followed


def left(tmp_path: Path, r: Run, why: str, program: Path, status: int) -> None:
    """The program ran by itself, its name and the reason are said, and the file is of what was before."""
    assert r.status == status
    assert becomes(r) == [f"The program becomes {program}, which is not followed: {why}."]
    out = r.only()
    assert out.function("work") == work(10)
    assert not out.descriptions("Exec")
    said = messages(r.err)
    assert said[said.index(becomes(r)[0]) + 1] == f"To see which code misses:  tg_annotate {tmp_path}/{out.path.name}"


def test_trace_children_no(tmp_path: Path) -> None:
    programs = chain("run_exec", "run_exec")
    why = "--trace-children=no says so, and --trace-children=yes follows it"
    for folder, options, env in (
        ("option", ["--trace-children=yes", "--trace-children=no"], {}),
        ("environment", [], {"VALGRIND_OPTS": "--trace-children=no"}),
    ):
        r = run(tmp_path / folder, *programs, options=options, env=env)
        left(tmp_path / folder, r, why, client("run_exec"), 6)
    r = run(tmp_path / "quiet", *programs, options=["-q", "--trace-children=no"])
    assert (r.err, r.status) == ("", 6)


def test_trace_children_skip(tmp_path: Path) -> None:
    for i, options in enumerate(([], ["--trace-children=yes"])):
        r = run(tmp_path / str(i), *chain("run_exec", "run_exec"), options=[*options, "--trace-children-skip=*run_exec"])
        left(tmp_path / str(i), r, "--trace-children-skip says so", client("run_exec"), 6)


def test_a_program_with_privileges_keeps_them(tmp_path: Path) -> None:
    """Valgrind would refuse to run it."""
    program = tmp_path / "privileged"
    shutil.copy(client("run_exec"), program)
    program.chmod(0o755 | stat.S_ISUID)
    r = run(tmp_path / "run", client("run_exec"), 10, program, 20)
    left(tmp_path / "run", r, "it has privileges (set-user-ID) that it would lose", program, 6)


def test_a_program_that_is_called_otherwise_keeps_its_name(tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("only bash calls programs by other names")
    name = 'exec -a other "$1" -c \'echo "$0"\''
    r = run(tmp_path, "bash", "-c", name, "bash", "/bin/sh", collect=False)
    assert r.out == "other\n"
    assert len(becomes(r)) == 1 and "--trace-children=yes follows it all the same" in becomes(r)[0]


# ---------------------------------------------------------------- itself


@pytest.mark.parametrize("options", [(), ("--trace-children=yes",), ("--native-start=no",)])
@pytest.mark.parametrize("link", ["/proc/self/exe", "/proc/thread-self/exe", "pid"])
def test_a_program_executes_itself(tmp_path: Path, link: str, options: tuple[str, ...]) -> None:
    """The kernel's link leads to Valgrind's tool, of which two can not run in one process."""
    r = run(tmp_path, client("run_self"), link, options=options, out_file="out.x")
    assert (r.status, r.out) == (0, "once more\n")
    assert len(r.files) == (2 if options == ("--trace-children=yes",) else 1)


# ---------------------------------------------------------------- files


def test_the_number_is_the_run_s_own(tmp_path: Path) -> None:
    """Not what an earlier run has left free: the files of one run can be added up by a pattern."""
    for programs in (["run_exec"] * 3, ["run_exec"] * 3):
        r = run(tmp_path, *chain(*programs), options=["--trace-children=yes"], out_file="out.x")
        assert r.status == 6
        assert [f.path.name for f in r.files] == ["out.x", "out.x_exec1", "out.x_exec2"]
        assert [f.function("work") for f in r.files] == [work(1000), work(10), work(100)]
        assert len({f.pid for f in r.files}) == 1


@pytest.mark.parametrize("value", ["", "1", "1,2", "1,2,3", "1,2,3,here", "a,b,c,/", "1,,2,/"])
def test_what_the_tool_tells_itself_is_not_for_others(tmp_path: Path, value: str) -> None:
    r = run(tmp_path, "touch", "it-ran", options=[f"--was={value}"])
    assert r.status == 1
    assert "it is the tool's own" in r.err
    assert os.listdir(tmp_path) == []
