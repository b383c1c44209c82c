# test_recorded_processes.py -- recordings of forked children, and of programs that exec.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Each process has a recording, if its name has %p, with the counts of the live run; an exec that fails costs none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from oracle_programs import WORK
from oracle_support import environment
from tg_environment import CC, TLBGRIND

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")
MACHINES = "skylake,cortex-a53"

# What it does is in its first argument. It says so if it gets a SIGCHLD, or a child, that is none of its own.
PROGRAM = """
#include <errno.h>
#include <signal.h>
#include <stdio.h>
""" + WORK + """
static volatile int ended;
static void more(long step)
{
   for (long i = 0; i < ALL; i += step)
      b[i] += b[i * 7907 & (ALL - 1)];
}
static void note(int signal)
{
   (void)signal;
   ended++;
}
static int end(int n)
{
   if (waitpid(-1, NULL, __WALL) != -1 || errno != ECHILD || ended != n)
      puts("there is another child");
   return 0;
}
static int forks(void)
{
   int ends[2];
   char c;
   if (pipe(ends) != 0)
      return 1;
   if (fork() == 0) {
      /* Ends when the parent closes its end: nothing else has one. */
      close(ends[1]);
      if (read(ends[0], &c, 1) != 0)
         puts("there is something in the pipe");
      work((void *)1024);
      TLBGRIND_MARK("child");
      if (fork() == 0) {
         more(2048);
         exit(end(0));
      }
      wait(NULL);
      more(512);
      exit(end(1));
   }
   close(ends[1]);
   wait(NULL);
   more(4096);
   if (fork() == 0) {
      more(512);
      execl("/bin/true", "true", NULL);
   }
   wait(NULL);
   work((void *)2048);
   return end(2);
}
static int execs(const char *program)
{
   char *const argv[] = { "privileged", NULL };
   TLBGRIND_MARK("a");
   work((void *)1024);
   execv(program, argv);
   execv("/etc/passwd", argv);
   execv("/bin/true", (char **)8);
   TLBGRIND_MARK("b");
   more(1024);
   return end(0);
}
int main(int c, char **v)
{
   b = malloc(ALL);
   signal(SIGCHLD, note);
   work((void *)4096);
   return c > 2 ? execs(v[2]) : forks();
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "children.c").write_text(PROGRAM)
    include = f"-I{os.environ['TG_SRCDIR']}/tlbgrind"
    subprocess.run([*CC, "-g", "-O1", include, "-D_GNU_SOURCE", "-pthread", "-o", "children", "children.c"], cwd=folder, check=True)
    return folder / "children"


def run(folder: Path, program: Path, *arguments: str, options: tuple[str, ...]) -> str:
    """What the tool says."""
    given = ["--thp=madvise", f"--machine={MACHINES}", *options]
    done = subprocess.run(
        ["setarch", "-R", TLBGRIND, *given, str(program), *arguments],
        cwd=folder,
        env={"PWD": "/proc/self/cwd", **environment("children")},
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout == ""
    return done.stderr


def simulate(folder: Path, recording: str, *options: str) -> subprocess.CompletedProcess[str]:
    given = [TG_SIMULATE, f"--machine={MACHINES}", *options, recording]
    return subprocess.run(given, cwd=folder, capture_output=True, check=False, encoding="utf-8")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*live*")}


def replayed(folder: Path, *recordings: str) -> dict[str, bytes]:
    """What tg_simulate writes of them, under the names that the run has given its files."""
    again = folder / "again"
    again.mkdir()
    for recording in recordings:
        name = "live" + recording.removeprefix("recording")
        done = simulate(again, f"../{recording}", "-o", name, "--jobs=2")
        assert (done.returncode, done.stderr) == (0, ""), recording
    return files(again)


def test_each_process_has_the_counts_of_the_live_run(tmp_path: Path, program: Path) -> None:
    run(tmp_path, program, options=("--record=recording.%p", "--tlbgrind-out-file=live.%p", "--faults=yes"))
    recordings = sorted(path.name for path in tmp_path.glob("recording.*"))
    assert len(recordings) == 4
    found = replayed(tmp_path, *recordings)
    assert found == files(tmp_path)
    assert len(found) == (4 + 3) * 2  # a child has two phases, and its child one
    assert sum(b"\ndesc: Forked: counts since the fork from pid " in text for text in found.values()) == (3 + 3) * 2


EXECS = """
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
enum { ALL = 1 << 18 };
static char table[ALL];
static void work(int step)
{
   for (int i = 0; i < ALL; i += step)
      table[i]++;
}
/* Each of its two programs has a child before it becomes the next. */
int main(int c, char **v)
{
   work(4096);
   if (fork() == 0) {
      work(8192);
      _exit(0);
   }
   wait(NULL);
   if (c == 1)
      execl(v[0], v[0], "again", NULL);
   if (strcmp(v[1], "again") == 0)
      execl("/bin/true", "true", NULL);
   return 1;
}
"""


def test_a_parent_execs_behind_its_child(tmp_path: Path) -> None:
    (tmp_path / "execs.c").write_text(EXECS)
    subprocess.run([*CC, "-g", "-O1", "-o", "execs", "execs.c"], cwd=tmp_path, check=True)
    run(tmp_path, tmp_path / "execs", options=("--record=recording.%p", "--tlbgrind-out-file=live.%p", "--trace-children=yes"))
    recordings = sorted(path.name for path in tmp_path.glob("recording.*"))
    assert sorted(name.partition("_")[2] for name in recordings) == ["", "", "", "exec1", "exec2"]
    # "_exec1" stands behind the machine's name in the run.
    assert sorted(replayed(tmp_path, *recordings).values()) == sorted(files(tmp_path).values())


def test_a_child_needs_its_parent_s_recording(tmp_path: Path, program: Path) -> None:
    run(tmp_path, program, options=("--record=recording.%p", "--tlbgrind-out-file=live.%p"))
    parent, child = sorted(tmp_path.glob("recording.*"), key=lambda path: int(path.suffix[1:]))[:2]
    whole = simulate(tmp_path, child.name, "-o", "whole").stdout
    (tmp_path / "elsewhere").mkdir()
    for path in (parent, child):
        path.rename(tmp_path / "elsewhere" / path.name)
    assert simulate(tmp_path, f"elsewhere/{child.name}", "-o", "moved").stdout == whole
    text = parent.name
    data = (tmp_path / "elsewhere" / text).read_bytes()
    (tmp_path / "elsewhere" / text).unlink()
    done = simulate(tmp_path, f"elsewhere/{child.name}", "-o", "none")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"tg_simulate: error: elsewhere/{child.name}: it is a forked child's, which goes on from its parent's recording "
        f"{text}: that is not there; keep both in one folder\n"
    )
    plain = subprocess.run(["zstd", "-dcq"], input=data, check=True, capture_output=True).stdout
    head = plain.index(b"\n\n") + 2
    wrong = plain[: head + 40] + bytes([plain[head + 40] ^ 1]) + plain[head + 41 :]
    for other in (plain[: head + 100], wrong, plain.replace(b"thp: madvise", b"thp: always")):
        (tmp_path / "elsewhere" / text).write_bytes(other)
        done = simulate(tmp_path, f"elsewhere/{child.name}", "-o", "none")
        assert (done.returncode, done.stdout) == (1, "")
        assert "is another, or ends before the fork" in done.stderr or "which is of another run" in done.stderr or "damaged" in done.stderr
    assert not list(tmp_path.glob("none*"))


def test_a_recording_that_goes_on_from_itself_ends(tmp_path: Path, program: Path) -> None:
    run(tmp_path, program, options=("--record=recording", "--tlbgrind-out-file=live.%p"))
    plain = subprocess.run(["zstd", "-dcq", tmp_path / "recording"], check=True, capture_output=True).stdout
    (tmp_path / "recording").write_bytes(plain.replace(b"\n\n", b"\nafter: 5 0123456789abcdef recording\n\n", 1))
    done = simulate(tmp_path, "recording")
    assert done.returncode == 1 and "recording: it does not go on from recording, which is of another run" in done.stderr


def test_without_p_in_the_name_there_is_the_parent_s_alone(tmp_path: Path, program: Path) -> None:
    said = run(tmp_path, program, options=("--record=recording", "--tlbgrind-out-file=live.%p"))
    assert said.count("warning: forked children are not recorded; a %p in the name of --record= gives each a recording of its own") == 1
    assert "warning" not in run(tmp_path, program, options=("--record=quiet", "--tlbgrind-out-file=quiet.%p", "-q"))
    (parent,) = (path.name for path in tmp_path.glob("live.*_skylake") if b"desc: Forked" not in path.read_bytes())
    (tmp_path / "again").mkdir()
    assert simulate(tmp_path / "again", "../recording", "-o", parent.removesuffix("_skylake")).returncode == 0
    assert {name: text for name, text in files(tmp_path).items() if name.startswith(parent[:-8])} == files(tmp_path / "again")


@pytest.mark.parametrize("trace", ["yes", "no"])
def test_after_an_exec_that_fails_all_goes_on(tmp_path: Path, program: Path, trace: str) -> None:
    """The core lets no program that it follows become one with privileges; and no file that is no program is one."""
    privileged = tmp_path / "no program" if trace == "no" else tmp_path / "privileged"
    if trace == "yes":
        shutil.copyfile(shutil.which("true") or "true", privileged)
        privileged.chmod(0o4755)
    options = ("--record=recording", "--tlbgrind-out-file=live", f"--trace-children={trace}")
    said = run(tmp_path, program, "exec", str(privileged), options=options)
    assert "warning" not in said
    found = files(tmp_path)
    assert sorted(found) == sorted(f"{part}live_{m}" for part in ("", "phase_start_of_", "phase_a_of_", "phase_b_of_") for m in ("skylake", "cortex_a53"))
    assert replayed(tmp_path, "recording") == found
