# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A measured region: client requests of tlbgrind.h, and what is counted between them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Callable

import pytest
from tg_environment import HAVE_X86, TLBGRIND, client
from tool_support import (
    GEOMETRY,
    PYTHON,
    TG_ANNOTATE,
    Costs,
    OutFile,
    Run,
    lines_of,
    read,
    run,
    total,
)

needs_x86 = pytest.mark.skipif(not HAVE_X86, reason="built without the 32-bit tool")
BITS = ["", pytest.param("32", marks=needs_x86)]
PATHS = ["yes", "no"]
SEVERAL = ("--machine=default,skylake,zen4",)

# The machines of a run: those of GEOMETRY, or several.
OFF = ("--instr-at-start=no",)


def part(folder: Path, mode: str, *options: str, bits: str = "", geometry: Sequence[str] | None = None) -> Run:
    """Runs one part of the client, each time in the same place: two runs are compared line by line."""
    more = {} if geometry is None else {"geometry": geometry}
    still = ["setarch", "-R"]
    return run(folder, client("run_region" + bits), mode, options=options, prefix=still, **more)  # type: ignore[arg-type]


def work_lines(out: str, word: str) -> list[tuple[str, str, Costs]]:
    """The client's lines "WORD KEY FUNCTION Ir Dr Dw"."""
    found = re.findall(rf"^{word} (.+) (\w+) (\d+) (\d+) (\d+)$", out, re.MULTILINE)
    assert found
    return [(key, function, (int(ir), int(dr), int(dw))) for key, function, ir, dr, dw in found]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("more", [(), ("--faults=yes",), ("--faults-used=yes",), ("--entries=data",)])
def test_what_runs_while_instrumentation_is_off_is_not_counted(
    tmp_path: Path, more: tuple[str, ...], path: str, bits: str
) -> None:
    part(tmp_path / "off", "region", *OFF, f"--fast-path={path}", *more, bits=bits).check()
    part(tmp_path / "on", "stop", f"--fast-path={path}", *more, bits=bits).check()


@pytest.mark.parametrize("path", PATHS)
def test_a_run_that_nothing_starts_measures_nothing_and_says_so(tmp_path: Path, path: str) -> None:
    done = part(tmp_path, "zero", *OFF, f"--fast-path={path}")
    assert done.only().lines == []
    assert "Nothing was measured: --instr-at-start=no" in done.err


@pytest.mark.parametrize("path", PATHS)
def test_the_tlbs_keep_their_entries_while_instrumentation_is_off(tmp_path: Path, path: str) -> None:
    done = part(tmp_path, "keeps", *OFF, f"--fast-path={path}")
    found = re.search(r"^misses (\w+) (\d+) (\d+)$", done.out, re.MULTILINE)
    assert found
    costs = total([line for line in done.only().lines if line.function == found[1]])
    assert costs[7:9] == (int(found[2]), int(found[3]))


def test_the_fast_path_counts_the_same_in_a_region(tmp_path: Path) -> None:
    for mode, options in (("region", OFF), ("keeps", OFF), ("stop", ()), ("zero", ())):
        for more in ((), ("--faults=yes",)):
            fast, slow = (
                part(tmp_path / f"{mode}-{path[0]}{len(more)}", mode, *options, *more, f"--fast-path={path}").only()
                for path in PATHS
            )
            assert fast.body() == slow.body(), mode


def without_pid(file: OutFile) -> str:
    return re.sub(r"(?<=out)\.\d+", "", file.path.name, count=1)


def test_each_machine_of_a_region_counts_as_it_does_alone(tmp_path: Path) -> None:
    names = SEVERAL[0].partition("=")[2].split(",")
    for mode, options in (("region", OFF), ("keeps", OFF), ("phases", ())):
        # The folder's name stands in the client's environment: all are as long.
        together = part(tmp_path / f"{mode}-0", mode, *options, geometry=SEVERAL)
        for number, name in enumerate(names, 1):
            folder = tmp_path / f"{mode}-{number}"
            alone = part(folder, mode, *options, geometry=[f"--machine={name}"])
            for file in alone.files:
                called = without_pid(file)
                (other,) = (f for f in together.files if without_pid(f) == f"{called}_{name}")
                assert (file.lines, file.summary) == (other.lines, other.summary), (mode, name, called)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("path", PATHS)
def test_zero_forgets_what_was_counted_before(tmp_path: Path, path: str, bits: str) -> None:
    part(tmp_path, "zero", f"--fast-path={path}", bits=bits).check()


@pytest.mark.parametrize("bits", BITS)
def test_a_dump_writes_a_part_and_begins_another(tmp_path: Path, bits: str) -> None:
    done = part(tmp_path, "dump", bits=bits)
    files = {int(file.field("part")): file for file in done.files}
    assert sorted(files) == [1, 2, 3]
    assert files[1].path.name.endswith(".1")
    assert files[2].path.name == f"out.{files[2].pid}.2"
    assert files[3].path.name == f"out.{files[3].pid}"
    assert files[1].descriptions("Trigger") == ["client request"]
    assert files[3].descriptions("Trigger") == ["end of the program"]
    for number, function, expected in work_lines(done.out, "part"):
        assert files[int(number)].function(function) == expected
    (last,) = re.findall(r"^expect \d+ (all) (\d+) (\d+) (\d+)$", done.out, re.MULTILINE)
    assert files[3].function(last[0]) == tuple(map(int, last[1:]))


@pytest.mark.parametrize("geometry", [None, SEVERAL])
@pytest.mark.parametrize("path", PATHS)
def test_the_parts_of_a_run_add_up_to_it_in_every_event(
    tmp_path: Path, path: str, geometry: Sequence[str] | None
) -> None:
    options = ("--faults=yes", f"--fast-path={path}")
    parts = part(tmp_path / "parts", "parts", *options, geometry=geometry).files
    whole = part(tmp_path / "whole", "whole", *options, geometry=geometry).files
    assert len(parts) == 6 * len(whole)

    def of(files: Sequence[OutFile], machine: str) -> Counter[tuple[object, ...]]:
        # Their arguments differ, and with them what the program's start costs.
        sums = lines_of([file for file in files if file.field("desc: Machine") == machine])
        return Counter({key: n for key, n in sums.items() if key[2] in ("touch", "all", "parts_of_all", "pages")})

    for machine in (file.field("desc: Machine") for file in whole):
        assert of(parts, machine) == of(whole, machine) != {}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("path", PATHS)
def test_phases_of_one_name_add_up_in_a_file_of_their_own(tmp_path: Path, path: str, bits: str) -> None:
    done = part(tmp_path, "phases", f"--fast-path={path}", "--faults=yes", bits=bits)
    (whole,) = (file for file in done.files if not file.descriptions("Of phase"))
    phases = dict(zip(whole.descriptions("Phase"), whole.descriptions("Phase file")))
    assert list(phases) == ["start", "read/it", "read_it", "the end"]
    files = {name: read(tmp_path / file) for name, file in phases.items()}
    assert {name: file.descriptions("Of phase") for name, file in files.items()} == {name: [name] for name in phases}
    for phase, function, expected in work_lines(done.out, "phase"):
        assert files[phase].function(function) == expected
    assert lines_of(list(files.values())) == lines_of([whole])
    # Those of one kind add up, too.
    for name in ("Straddles", "Second misses"):
        numbers = [list(map(int, re.findall(r" (\d+)", file.descriptions(name)[0]))) for file in files.values()]
        assert [sum(column) for column in zip(*numbers)] == list(
            map(int, re.findall(r" (\d+)", whole.descriptions(name)[0]))
        )


def test_phases_of_each_machine_add_up(tmp_path: Path) -> None:
    done = part(tmp_path, "phases", geometry=SEVERAL)
    for whole in (file for file in done.files if not file.descriptions("Of phase")):
        parts = [read(tmp_path / name) for name in whole.descriptions("Phase file")]
        assert len(parts) == 4
        assert lines_of(parts) == lines_of([whole])


def page_faults(folder: Path, out: str) -> list[tuple[int, str]]:
    """The client's own pages that fault, from 0, each with its phase."""
    (log,) = folder.glob("tlbgrind.faults.*")
    start = int(re.findall(r"^address 0x([0-9a-f]+)$", out, re.MULTILINE)[0], 16)
    found: list[tuple[int, str]] = []
    phase = "start"
    page = 0
    for line in log.read_text().splitlines():
        words = line.split("\t")
        if words[0] == "mark":
            phase = words[2]
        elif words[0] == "*":
            found += [(page + i * int(words[2], 16), phase) for i in range(1, int(words[1]) + 1)]
        elif line[:1].isdigit() and words[1][1] != "-":
            page = int(words[2], 16)
            found.append((page, phase))
    pages = [((page - start) // 4096, phase) for page, phase in found]
    return [(page, phase) for page, phase in pages if 0 <= page < 64]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("more", [(), ("--faults-used=yes",)])
def test_a_page_touched_while_instrumentation_is_off_is_no_fault_later(
    tmp_path: Path, more: tuple[str, ...], path: str
) -> None:
    done = part(tmp_path, "faults", "--faults=yes", f"--fast-path={path}", *more)
    assert [page for page, _ in page_faults(tmp_path, done.out)] == [*range(16), *range(32, 48)]


@pytest.mark.parametrize("path", PATHS)
def test_the_fault_log_has_the_phases(tmp_path: Path, path: str) -> None:
    done = part(tmp_path, "fault_phases", "--faults=yes", f"--fast-path={path}")
    expected = [(page, "start" if page < 8 else "one" if page < 20 else "two") for page in range(50)]
    assert page_faults(tmp_path, done.out) == expected


def test_a_forked_child_begins_as_its_parent_is(tmp_path: Path) -> None:
    part(tmp_path, "forks").check()


def annotate(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, TG_ANNOTATE, *map(str, arguments)], capture_output=True, encoding="utf-8", check=False
    )


def test_tg_annotate_shows_one_phase(tmp_path: Path) -> None:
    done = part(tmp_path, "phases")
    (whole,) = (file for file in done.files if not file.descriptions("Of phase"))
    of_it = tmp_path / f"phase_read_it_2_of_{whole.path.name}"
    options = ("--show=Ir", "--sort=Ir", "--by=function", "--show-percs=no")
    by_name, itself = annotate("--phase=read_it", *options, whole.path), annotate(*options, of_it)
    assert (by_name.returncode, by_name.stdout) == (0, itself.stdout)
    assert "second_phase" in by_name.stdout and "first_phase" not in by_name.stdout
    twice = annotate(whole.path, of_it)
    assert twice.returncode == 1
    assert twice.stderr == f"tg_annotate: error: {of_it} is a part of {whole.path}: its costs would be added twice\n"
    assert annotate("--diff", whole.path, of_it).returncode == 0
    unknown = annotate("--phase=x", whole.path)
    assert unknown.returncode == 1
    assert f"{whole.path}: has no phase 'x'; there are start, read/it, read_it, the end" in unknown.stderr


def test_tg_faults_shows_one_phase(tmp_path: Path) -> None:
    part(tmp_path, "fault_phases", "--faults=yes")
    (log,) = tmp_path.glob("tlbgrind.faults.*")
    command = [PYTHON, TG_ANNOTATE.replace("tg_annotate", "tg_faults"), str(log), "--format=csv"]
    rows = {
        phase: subprocess.run(
            [*command, *([f"--phase={phase}"] if phase else [])], capture_output=True, encoding="utf-8", check=True
        ).stdout.splitlines()
        for phase in ("", "start", "one", "two")
    }
    # But for their numbers, which a listing counts.
    faults = {phase: [row.partition(",")[2] for row in rows[phase][1:]] for phase in rows}
    assert faults["start"] + faults["one"] + faults["two"] == faults[""]
    assert len(rows["one"]) == 1 + 12
    wrong = subprocess.run([*command, "--phase=x"], capture_output=True, encoding="utf-8", check=False)
    assert wrong.returncode == 1
    assert "has no phase 'x'; there are start, one, two" in wrong.stderr


@contextmanager
def waiting(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Callable[[str], str]]]:
    """The program, which waits for a line of input in the middle, and what sends it a command."""
    vgdb = shutil.which(str(Path(os.environ.get("VALGRIND", "valgrind")).parent / "vgdb")) or shutil.which("vgdb")
    assert vgdb is not None
    prefix = f"--vgdb-prefix={folder}/vgdb"
    tool = subprocess.Popen(
        [TLBGRIND, *GEOMETRY, *options, "--vgdb-poll=100", prefix, "--tlbgrind-out-file=out", client("run_region"), "waits"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )

    def send(command: str) -> str:
        return subprocess.run(
            [vgdb, prefix, f"--pid={tool.pid}", command], capture_output=True, encoding="utf-8", check=True
        ).stdout

    assert tool.stdout is not None
    try:
        assert tool.stdout.readline() == "waits\n"
        yield tool, send
    finally:
        tool.kill()
        tool.wait()


def finish(tool: subprocess.Popen[str]) -> None:
    assert tool.stdin is not None
    tool.stdin.write("\n")
    tool.stdin.close()
    assert tool.wait() == 0


def test_status_tells_that_the_counts_of_jobs_are_lost(tmp_path: Path) -> None:
    with waiting(tmp_path, "--jobs=1") as (tool, send):
        assert "first-level misses" in send("status")
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if b"tg_simulate" in (process / "cmdline").read_bytes() and os.readlink(process / "cwd") == str(tmp_path):
                    os.kill(int(process.name), signal.SIGKILL)
        said = send("status")
        assert "no counts of TLBs: a process of --jobs= has ended\n" in said and "first-level misses" not in said
        assert "instructions: " in said
        finish(tool)


@pytest.mark.parametrize("options", [(), OFF])
def test_monitor_commands_do_what_the_requests_do(tmp_path: Path, options: tuple[str, ...]) -> None:
    with waiting(tmp_path, *options) as (tool, send):
        on = "off" if options else "on"
        assert f"instrumentation: {on}\n" in send("status")
        assert "custom: base page 4K" in send("machines")
        send("stop")
        assert "instrumentation: off\n" in send("status")
        assert "written: " in send("dump")
        send("start")
        send("zero")
        assert "instructions: 0\n" in send("status")
        assert "only dump and mark take a word more, not 'all of it'\n" in send("zero  all of it")
        assert "tlbgrind has no command 'zeros'; it has help status machines " in send("zeros")
        assert "sta can match status start\n" in send("sta")
        assert "tlbgrind monitor commands:\n" in send("help") and "v.info" in send("help")
        assert len(send("help debug")) > len(send("help"))
        assert "written: " in send("dump  the second request")
        finish(tool)
    before, named, after = (read(tmp_path / name) for name in ("out.1", "out.2", "out"))
    assert before.function("before") == ((0, 0, 0) if options else (4001, 1001, 1000))
    assert before.descriptions("Trigger") == ["monitor command"]
    assert named.descriptions("Trigger") == ["monitor command: the second request"]
    assert after.function("before") == (0, 0, 0)
    assert after.function("after") == (4001, 1001, 1000)


def test_mark_of_the_monitor_begins_a_phase_as_the_request_does(tmp_path: Path) -> None:
    with waiting(tmp_path) as (tool, send):
        assert "mark takes the name of a phase: mark NAME\n" in send("mark")
        assert "phase: all before\n" in send("mark  all before ")
        assert "phase: all before\n" in send("status")
        assert "phase: the rest\n" in send("mar the rest")
        cut = send(f"mark {'x' * 205}")
        assert "the name is cut off behind 200 bytes\n" in cut and f"phase: {'x' * 200}\n" in cut
        assert "phase: the rest\n" in send("mark the rest")
        finish(tool)
    whole = read(tmp_path / "out")
    phases = dict(zip(whole.descriptions("Phase"), whole.descriptions("Phase file")))
    assert list(phases) == ["start", "all before", "the rest", "x" * 200]
    assert read(tmp_path / phases["start"]).function("before") == (4001, 1001, 1000)
    assert read(tmp_path / phases["the rest"]).function("after") == (4001, 1001, 1000)


def test_with_calls_the_monitor_says_that_nothing_happens(tmp_path: Path) -> None:
    with waiting(tmp_path, "--calls=yes") as (tool, send):
        for command in ("mark a phase", "dump", "stop"):
            assert "--calls=yes counts the whole run: no effect\n" in send(command)
        finish(tool)
    assert "desc: Phase" not in (tmp_path / "out").read_text(encoding="utf-8")


def test_progress_is_printed(tmp_path: Path) -> None:
    done = part(tmp_path, "long", "--progress=1")
    assert re.search(r"Progress: \d+ s, [\d,]+ instructions \([\d,]+ a second\)", done.err)
    assert re.search(r"Progress: custom: [\d,]+ L1 misses \([\d,]+ a second\) [\d,]+ walks", done.err)
