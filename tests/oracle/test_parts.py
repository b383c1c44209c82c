# test_parts.py -- tg_simulate --from=, --to= and --thread=: what they count is what the run itself has.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A part of a recording has the counts of the live run's phases and threads, to the byte.

The texts of several phases are added up: what they have to be is the file of one phase, in a run of the same
program with one name, of the same length, for all of them.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from oracle_programs import WORK
from oracle_support import environment
from tg_environment import CC, TLBGRIND

TG_SIMULATE = Path(os.environ["TG_BUILDDIR"], "tlbgrind/tg_simulate")
MACHINES = "skylake,cortex-a53"

# Marks each of its arguments, and then works in another function than before; "0" sets counts to zero, and
# behind "threads" a thread works beside: then what comes when differs from run to run.
PROGRAM = WORK + """
static void *narrow(void *step)
{
   for (long i = 0; i < ALL / 8; i += (long)step)
      b[i]++;
   return NULL;
}
int main(int c, char **v)
{
   b = malloc(ALL);
   work((void *)8192);
   const int threads = c > 1 && strcmp(v[1], "threads") == 0;
   for (int i = 1 + threads; i < c; i++) {
      pthread_t t;
      if (strcmp(v[i], "0") == 0)
         TLBGRIND_ZERO;
      else
         TLBGRIND_MARK(v[i]);
      (i % 2 ? work : narrow)((void *)(256L << i % 4));
      if (threads && pthread_create(&t, NULL, work, (void *)4096) == 0)
         pthread_join(t, NULL);
   }
   return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "marks.c").write_text(PROGRAM)
    include = f"-I{os.environ['TG_SRCDIR']}/tlbgrind"
    subprocess.run([*CC, "-g", "-O1", "-pthread", include, "-o", "marks", "marks.c"], cwd=folder, check=True)
    return folder / "marks"


def run(folder: Path, program: Path, marks: str, *options: str) -> dict[str, bytes]:
    """Records it; the files that it writes itself."""
    folder.mkdir()
    given = ["--thp=never", f"--machine={MACHINES}", "--tlbgrind-out-file=live", "--record=recording", *options]
    subprocess.run(
        ["setarch", "-R", TLBGRIND, *given, str(program), *marks.split()],
        cwd=folder,
        env={"PWD": "/proc/self/cwd", **environment("marks")},
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in folder.glob("*live_*")}


def simulate(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    given = [TG_SIMULATE, f"--machine={MACHINES}", "-o", "part", *options, "recording"]
    return subprocess.run(given, cwd=folder, capture_output=True, check=False, encoding="utf-8")


def parts(folder: Path, *options: str) -> dict[str, bytes]:
    """The out-files of a part, by machine."""
    done = simulate(folder, *options)
    assert (done.returncode, done.stderr) == (0, "")
    rows = {row.split()[0]: row.split()[1] for row in done.stdout.splitlines()[1:]}
    found = {path.name.removeprefix("part_"): path.read_bytes() for path in folder.glob("part_*")}
    for name, text in found.items():
        path = folder / f"part_{name}"
        path.unlink()
        events = text.split(b"\nevents: ")[1].split(b"\n")[0].split()
        totals = text.split(b"\ntotals: ")[1].split(b"\n")[0].split()
        assert rows[name.replace("_", "-")] == f"{int(totals[events.index(b'I1tm')]):,}"  # the table's, too
    return found


def live(files: dict[str, bytes], kind: str, label: str) -> dict[str, bytes]:
    before = f"{kind}_{label}_of_live_"
    return {name.removeprefix(before): text for name, text in files.items() if name.startswith(before)}


def test_a_phase_and_a_thread_are_the_live_run_s_files(tmp_path: Path, program: Path) -> None:
    files = run(tmp_path / "r", program, "threads a/b c d", "--separate-threads=yes", "--dump-instr=yes", "--faults=yes")
    for options, label in (("--to=a/b", "start"), ("--from=a/b --to=c", "a_b"), ("--from=a_b --to=c", "a_b"), ("--from=d", "d")):
        found = parts(tmp_path / "r", *options.split(), "--jobs=2")
        assert found == live(files, "phase", label) and len(found) == 2
    for number in ("1", "2"):
        found = parts(tmp_path / "r", f"--thread={number}")
        assert found == live(files, "thread", number) and len(found) == 2


@pytest.mark.parametrize("options", [("narrow", "--faults=yes"), ("work", "--fast-path=no")])
def test_what_is_not_collected_is_counted_nowhere(tmp_path: Path, program: Path, options: tuple[str, ...]) -> None:
    collect = (f"--toggle-collect={options[0]}", *options[1:], "--separate-threads=yes")
    files = run(tmp_path / "r", program, "threads a b 0 c b", *collect)
    (tmp_path / "again").mkdir()
    given = [TG_SIMULATE, f"--machine={MACHINES}", "--jobs=2", "-o", "live", "../r/recording"]
    subprocess.run(given, cwd=tmp_path / "again", check=True, capture_output=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == files
    assert all(f"\ndesc: Collected: in {options[0]}\n".encode() in text for text in files.values())
    functions = {row.split(b") ")[1] for row in files["live_skylake"].split(b"\n") if row.startswith(b"fn=")}
    assert functions == {options[0].encode()}


def without(files: dict[str, bytes]) -> dict[str, list[bytes]]:
    """Without what is of the run, and how much code there is, which several phases do not have."""
    passed = (b"pid: ", b"cmd: ", b"desc: Of phase: ", b"desc: Code: ", b"# checksum: ")
    return {name: [row for row in text.split(b"\n") if not row.startswith(passed)] for name, text in files.items()}


@pytest.mark.parametrize("options", [("--faults=yes",), ("--dump-instr=yes",)])
def test_several_phases_are_one(tmp_path: Path, program: Path, options: tuple[str, ...]) -> None:
    run(tmp_path / "r", program, "a b c d", *options)
    for marks, given, label, names in (
        ("x x x d", "--from=a --to=d", "x", b"a + b + c"),
        ("a x x x", "--from=b", "x", b"b + c + d"),
        ("a x x d", "--from=b --to=d", "x", b"b + c"),
    ):
        as_one = run(tmp_path / marks, program, marks, *options)
        found = parts(tmp_path / "r", *given.split())
        assert len(found) == 2 and all(b"\ndesc: Of phase: " + names + b"\n" in text for text in found.values())
        assert without(found) == without(live(as_one, "phase", label)), given


def test_phases_that_go_on_are_counted_together_or_not_at_all(tmp_path: Path, program: Path) -> None:
    files = run(tmp_path / "r", program, "a b a c")
    found = parts(tmp_path / "r", "--from=c")
    assert found == live(files, "phase", "c")
    both = parts(tmp_path / "r", "--from=a", "--to=c")
    for machine, text in both.items():
        sums = [list(map(int, files[f"phase_{label}_of_live_{machine}"].split(b"totals: ")[1].split(b"\n")[0].split())) for label in "ab"]
        assert list(map(int, text.split(b"totals: ")[1].split(b"\n")[0].split())) == [x + y for x, y in zip(*sums)]
    refused = simulate(tmp_path / "r", "--from=a", "--to=b", "--jobs=2")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "tg_simulate: error: recording: the run is in phase 'a' before or behind this part, too, and the recording has "
        "the references of a phase together; give each part a mark of its own\n"
    )


def test_after_zero_the_phase_at_hand_is_the_first(tmp_path: Path, program: Path) -> None:
    files = run(tmp_path / "r", program, "a b 0 c")
    assert parts(tmp_path / "r", "--to=c") == live(files, "phase", "b")
    assert "it has 'b', 'c'" in simulate(tmp_path / "r", "--from=a").stderr


def test_of_a_recording_that_is_cut_the_misses_of_the_part_are_told(tmp_path: Path, program: Path) -> None:
    run(tmp_path / "r", program, "a b c d")
    whole = simulate(tmp_path / "r", "--from=a", "--to=b").stdout
    for path in tmp_path.glob("r/part*"):
        path.unlink()
    path = tmp_path / "r/recording"
    path.write_bytes(subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout[:-1000])
    done = simulate(tmp_path / "r", "--from=a", "--to=b")
    assert done.returncode == 1 and "the file is not complete; these are the misses up to there" in done.stderr
    assert done.stdout == whole
    assert not list(tmp_path.glob("r/part*"))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, program: Path) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "r"
    run(folder, program, "a")
    return folder


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--from=nowhere", "recording: --from=nowhere: the recording has no such phase; it has 'start', 'a'"),
        ("--from=a --to=start", "recording: --to=start: the run does not come to this phase behind that of --from="),
        ("--from=a --to=a", "recording: --from= and --to= are one phase; give --to= the phase behind"),
        ("--thread=1", "recording: --thread=1: the recording does not tell threads apart; record the program with --separate-threads=yes"),
        ("--thread=1 --from=a", "--thread= goes without --from= and --to=: a recording has the references of each thread, and of each phase, but not those of a thread in a phase"),
        ("--from=", "--from=: a value is missing behind --from="),
        ("--input=lackey --to=a", "--to: a trace has neither marks nor threads"),
    ],
)  # fmt: skip
def test_what_is_no_part_is_refused(recorded: Path, options: str, said: str) -> None:
    done = simulate(recorded, *options.split())
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"tg_simulate: error: {said}\n")
    assert not list(recorded.glob("part*"))


def test_a_recording_without_marks_has_no_phases(tmp_path: Path, program: Path) -> None:
    run(tmp_path / "r", program, "")
    assert simulate(tmp_path / "r", "--from=start").stderr == "tg_simulate: error: recording: --from=start: the recording has no marks\n"
