# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The fault log as a whole: its form, its sums, its processes, its options."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from native_support import (
    ENVIRONMENT,
    PAGE,
    VIEWS,
    Fault,
    read,
    run,
)
from tg_environment import CLIENTS, HAVE_X86, TLBGRIND, client
from tg_written import written

HELLO = client("fault_hello")


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    """two runs give the same bytes but for the pid"""
    texts = []
    for _ in range(2):
        (log,), _ = run(tmp_path, [HELLO])
        lines = written(log.path).split("\n")
        texts.append([line for line in lines if not line.startswith("pid: ")])
    assert texts[0] == texts[1]


@pytest.mark.parametrize("option", ["--fast-path=no", "--machine=default", "--dtlb=1,1"])
def test_a_log_does_not_depend_on_the_machine(option: str, tmp_path: Path) -> None:
    """the log does not depend on the simulated TLBs nor on the fast path"""
    (usual,), _ = run(tmp_path, [HELLO])
    (other,), _ = run(tmp_path, [HELLO], [option])
    assert usual.faults == other.faults


def test_views_are_of_each_other(tmp_path: Path) -> None:
    """what faults in the kernel's views faults in that of single pages; with everything switched
    off, all three are alike"""
    (log,), _ = run(tmp_path, [HELLO])
    assert all(f.kind("4k") != "-" for f in log.faults)
    counts = {view: len(log.view(view)) for view in VIEWS}
    assert counts["4k"] > counts["cold"] >= counts["warm"]
    off = ["--fault-around=off", "--thp=never", "--mthp=none", "--read-ahead=off"]
    (plain,), _ = run(tmp_path, [HELLO], off)
    assert all(len(set(f.kinds.lower())) == 1 for f in plain.faults)
    assert all(f.brought == "-" for f in plain.faults)
    assert [f.kind("4k") for f in plain.faults] == [f.kind("4k") for f in log.faults]


def pages(runs: str) -> list[int]:
    found: list[int] = []
    for part in [] if runs == "-" else runs.split(","):
        low, _, high = part.partition("..")
        found.extend(range(int(low), int(high or low) + 1))
    return found


def test_brought_pages_never_fault_again(tmp_path: Path) -> None:
    """what came along is there: reads and fetches of it are no faults"""
    (log,), _ = run(tmp_path, [HELLO])
    for view in ("warm", "cold"):
        present: set[int] = set()
        for fault in log.view(view):
            kind = fault.kind(view).lower()
            if kind in "xrz":
                assert fault.page not in present, fault
            present.add(fault.page)
            brought = fault.brought if view == "warm" else fault.cold_brought
            along = [fault.page + n * PAGE for n in pages(brought)]
            assert not present & set(along), fault
            present.update(along)


def test_a_phase_has_the_faults_of_the_warm_view(tmp_path: Path) -> None:
    """the phase as it is, over all groups, is the warm view"""
    (log,), _ = run(tmp_path, [HELLO])
    assert set(log.phases) == {"program", "libraries", "other"}
    assert all(len(counts) == 16 for counts in log.phases.values())
    assert sum(counts[0] for counts in log.phases.values()) == len(log.view("warm"))
    assert len(set(log.phases["libraries"])) > 1
    assert len(set(log.phases["other"])) == 1


def test_events_are_the_faults_of_the_warm_view(tmp_path: Path) -> None:
    """PFi, PFr and PFw of the out-file, and the summary, are the warm view's faults"""
    (log,), words = run(tmp_path, [HELLO])
    warm = log.view("warm")
    out = next(tmp_path.glob("out.*")).read_text(encoding="utf-8")
    names = re.search(r"^events: (.*)$", out, re.MULTILINE)
    totals = re.search(r"^totals: (.*)$", out, re.MULTILINE)
    assert names and totals
    costs = dict(zip(names[1].split(), map(int, totals[1].split())))
    kinds = Counter("i" if f.kind("warm") == "x" else f.kind("warm") for f in warm)
    assert costs["PFi"] == kinds["i"]
    assert costs["PFr"] == kinds["r"] + kinds["z"]
    assert costs["PFw"] == kinds["w"] + kinds["c"] + kinds["d"]
    minor = re.search(r"Minor page faults: +([\d,]+)", words)
    assert minor and int(minor[1].replace(",", "")) == len(warm)


def length(log: str) -> int | None:
    """The instructions of the run that the log tells."""
    found = re.search(r"^instructions: (\d+)$", log, re.MULTILINE)
    return int(found[1]) if found else None


def test_a_log_says_how_long_the_run_was(tmp_path: Path) -> None:
    """each process's log has the instructions of its out-file; none where some were not counted"""
    run(tmp_path, [client("fault_forks")])
    outs = {path.name.rpartition(".")[2]: path.read_text(encoding="utf-8") for path in tmp_path.glob("out.*")}
    logs = {path.name.rpartition(".")[2]: path.read_text(encoding="utf-8") for path in tmp_path.glob("faults.*")}
    assert len(logs) == 4 and set(logs) == set(outs)
    for pid, log in logs.items():
        totals = re.search(r"^totals: (\d+) ", outs[pid], re.MULTILINE)
        assert totals and length(log) == int(totals[1])
    off = tmp_path / "off"
    off.mkdir()
    run(off, [HELLO], ["--instr-at-start=no"])
    (log,) = (path.read_text(encoding="utf-8") for path in off.glob("faults.*"))
    assert length(log) is None


def test_without_faults_no_events(tmp_path: Path) -> None:
    """--faults=no leaves no log, no events and no words"""
    done = subprocess.run(
        [TLBGRIND, f"--tlbgrind-out-file={tmp_path}/out", HELLO],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "page faults" not in done.stderr
    assert "PFi" not in (tmp_path / "out").read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_what_valgrind_preloads_is_hidden_or_listed(tmp_path: Path) -> None:
    """what Valgrind preloads is hidden and counted apart, or listed, or not there at all"""
    (native,), _ = run(tmp_path, [HELLO])
    (hidden,), _ = run(tmp_path, [HELLO], ["--native-start=no"])
    (listed,), _ = run(tmp_path, [HELLO], ["--native-start=no", "--faults-hidden=yes"])

    def preloaded(faults: list[Fault]) -> list[Fault]:
        return [f for f in faults if "vgpreload" in f.map.name]

    assert native.hidden == {view: [0, 0] for view in VIEWS}
    assert not preloaded(native.faults) and not preloaded(hidden.faults)
    for view in VIEWS:
        count = len([f for f in preloaded(listed.faults) if f.kind(view) != "-"])
        assert count == hidden.hidden[view][0] > 0
    assert listed.hidden == native.hidden


def test_a_child_has_a_log_of_its_own(tmp_path: Path) -> None:
    """each child has a log of its own, which says whose child it is and begins anew"""
    logs, _ = run(tmp_path, [client("fault_forks")])
    parents = [log for log in logs if "forked from" not in log.header]
    children = [log for log in logs if "forked from" in log.header]
    assert len(parents) == 1 and len(children) == 3
    for child in children:
        assert child.header["forked from"] == parents[0].header["pid"]
        copies = [f for f in child.view("warm") if f.kind("warm") == "c"]
        assert len(copies) >= 300000 // PAGE
        # Text is not copied: the child faults it again.
        assert any(f.kind("warm") == "x" for f in child.faults)


def test_stacks_of_threads_are_told_apart(tmp_path: Path) -> None:
    """the stacks of threads are told from other memory, and whose fault it is"""
    (log,), _ = run(tmp_path, [client("fault_threads")])
    stacks = [f for f in log.view("warm") if f.map.what == "thread-stack"]
    assert {f.thread for f in stacks} >= {2}
    assert any(f.map.what == "tls" for f in log.faults)
    assert any(f.map.what == "heap" for f in log.faults)


def test_memory_lies_where_it_lies_natively(tmp_path: Path) -> None:
    """memory asked for at the place where it was lies natively where it was, too; so does what is moved into other memory"""
    program = client("fault_hints")
    (log,), _ = run(tmp_path, [program])
    touched = [f.native for f in log.view("warm") if f.code and f.code.function == "touch"]
    assert len(touched) == 64
    assert set(touched[:32]) == {touched[0] + n * PAGE for n in range(32)}
    assert touched[0] >> 40 == 0x7F
    room = subprocess.run(["setarch", "-R", program], capture_output=True, text=True, check=True).stdout
    assert touched[32:] == [int(room, 16) + (33 + n) * PAGE for n in range(32)]


def test_mappings_go_where_the_kernel_puts_them(tmp_path: Path) -> None:
    """what is asked for where something lies goes where the kernel puts it; the rest where it is asked for"""
    program = client("fault_places")
    native = subprocess.run(["setarch", "-R", program], capture_output=True, text=True, check=True).stdout
    tool = [TLBGRIND, "-q", "--faults=yes", f"--tlbgrind-out-file={tmp_path}/out"]
    simulated = subprocess.run(
        [*tool, f"--faults-out-file={tmp_path}/faults", program], capture_output=True, text=True, check=True
    )
    assert simulated.stdout == native
    moved = [f.native for f in read(tmp_path / "faults").view("warm") if f.code and f.code.function == "touch"]
    places = [int(line) for line in native.splitlines()]
    assert [page - moved[0] for page in moved] == [place - places[0] for place in places]


def places_and_touches(folder: Path, program: Path) -> tuple[list[int], list[int]]:
    """Where the program says natively that its memory lies, and where it touches it in the log."""
    native = subprocess.run(["setarch", "-R", program], capture_output=True, text=True, check=True).stdout
    (log,), _ = run(folder, [program])
    touched = [f.native for f in log.view("warm") if f.code and f.code.function == "touch"]
    return [int(line) for line in native.splitlines()], touched


def test_addresses_of_the_program_s_choice_are_native_ones(tmp_path: Path) -> None:
    """memory lies where the program asks for it, near to where the break lies here, too"""
    places, touched = places_and_touches(tmp_path, client("fault_asked_places"))
    assert len(places) == 12
    assert [at for at in touched if at in places] == places


def test_the_break_of_a_static_pie_is_the_kernel_s(tmp_path: Path) -> None:
    """it begins two thirds up the address space, on the page above"""
    (place,), touched = places_and_touches(tmp_path, client("fault_static_break"))
    if place >> 40 == 0x7F:
        pytest.skip("this kernel leaves the break of a static PIE behind the program (Linux before 6.15)")
    assert touched[-1:] == [place]


def answers(*command: str | Path) -> dict[tuple[int, int], list[int]]:
    """What CPUID says, by leaf and sub-leaf."""
    done = subprocess.run([*command, client("fault_cpuid")], capture_output=True, text=True, check=True)
    rows = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    return {(leaf, sub): rest for leaf, sub, *rest in rows}


def test_registers_are_as_large_as_natively(tmp_path: Path) -> None:
    """the dynamic linker takes as much of the stack for them; nothing else of CPUID is changed"""
    tool = [TLBGRIND, "-q", f"--tlbgrind-out-file={tmp_path}/out"]
    native, plain, changed = answers(), answers(*tool, "--native-start=no"), answers(*tool)
    if native[0, 0][0] < 13:
        pytest.skip("this processor does not say how large its registers are")
    size = 576
    for component in (2, 3, 5, 6, 7):  # AVX, bounds, AVX-512
        more, _, flags, _ = native[13, component]
        size = (-(-size // 64) * 64 if flags & 2 else size) + more
    if not native[13, 1][0] & 2:  # without XSAVEC, with all gaps
        size = native[13, 0][1]
    assert changed.pop((13, 0))[1] == size
    plain.pop((13, 0))
    assert changed == plain


def test_exec_leaves_a_log_of_each_program(tmp_path: Path) -> None:
    """a process that becomes another program leaves a log of each"""
    command = ["/bin/sh", "-c", f"exec {HELLO}"]
    logs, _ = run(tmp_path, command, ["--trace-children=yes"])
    names = [log.header["cmd"].split()[0] for log in logs]
    assert names == ["/bin/sh", str(HELLO)]
    assert logs[0].header["pid"] == logs[1].header["pid"]


def test_each_segment_is_cleared_behind_its_data(tmp_path: Path) -> None:
    """by the kernel, when it loads the program; the last page of the stack is its third write"""
    (log,), _ = run(tmp_path, [client("fault_padding")])
    loading = [f for f in log.view("warm") if f.by == "exec" and f.map.what != "stack"]
    assert [(f.kinds, f.page) for f in loading] == [("www", 0x402000), ("www", 0x403000)]


def test_what_the_kernel_touches_belongs_to_the_call(tmp_path: Path) -> None:
    """what the kernel touches is put to the system call"""
    log = run(tmp_path, [client("fault_used")])[0][0]  # and its child's
    calls = {f.by for f in log.faults}
    assert "exec" in calls and "-" in calls
    assert all(f.code is None for f in log.faults if f.by == "exec")
    assert calls >= {"read", "write", "access"}


@pytest.mark.parametrize("size,shift", [("16K", 14), ("64K", 16)])
def test_larger_base_pages_make_fewer_faults(size: str, shift: int, tmp_path: Path) -> None:
    """base pages of 16K and 64K: fewer faults, for the same touches"""
    command = [str(client("fault_mechanisms")), "write"]
    options = ["--thp=never", "--mthp=none"]
    (small,), _ = run(tmp_path, command, options)
    (large,), _ = run(tmp_path, command, [f"--page-size={size}", *options])
    assert large.header["page size"] == str(1 << shift)
    region = [f for f in large.view("warm") if f.map.end - f.map.start == 64 << 20]
    assert len(region) in ((64 << 20 >> shift), (64 << 20 >> shift) + 1)
    # The views of one run add up: every large page has a small one that is touched.
    touched = [f.page for f in small.view("warm") if f.map.end - f.map.start == 64 << 20]
    assert len(touched) == 64 << 20 >> 12


@pytest.mark.parametrize("machines,size", [("power8", "64K"), ("power8,apple-m1", "16K"), ("power8,zen4", "4K")])
def test_base_pages_are_the_machine_s(machines: str, size: str, tmp_path: Path) -> None:
    """without --page-size the base pages are the machine's own, or the smallest of several"""
    (given,), _ = run(tmp_path, [HELLO], [f"--page-size={size}"])
    (own,), _ = run(tmp_path, [HELLO], [f"--machine={machines}"])
    assert own.header["page size"] == given.header["page size"]
    assert own.faults == given.faults


def test_repeated_faults_are_small(tmp_path: Path) -> None:
    """64M that are written to page by page take up a line or two"""
    (log,), _ = run(tmp_path, [client("fault_mechanisms"), "write"], ["--thp=never"])
    assert len(log.faults) > 16384
    assert log.path.stat().st_size < 60000


@pytest.mark.skipif(not HAVE_X86, reason="no 32-bit programs here")
def test_a_32_bit_program_has_a_log(tmp_path: Path) -> None:
    """a 32-bit program"""
    (log,), _ = run(tmp_path, [CLIENTS / "fault_hello32"])
    assert all(f.page < 1 << 32 for f in log.faults)
    assert len(log.view("warm")) > 20


@pytest.mark.parametrize(
    "option,reason",
    [
        ("--fault-around=3K", "3K"),
        ("--fault-around=4M", "from 4K to 2M"),
        ("--read-ahead=much", "much"),
        ("--thp=sometimes", "never, madvise and always"),
        ("--mthp=2M", "2M"),
        ("--mthp=64K@always", "@madvise"),
        ("--faults-out-file=", "missing"),
    ],
)
def test_wrong_options_are_refused(option: str, reason: str, tmp_path: Path) -> None:
    """a wrong option is named with the value and what is allowed, and nothing is run"""
    done = subprocess.run(
        [TLBGRIND, "--faults=yes", option, "touch", tmp_path / "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert option in done.stderr and reason in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "program",
    [
        "run_code none",
        "run_process fork",
        "run_process spawn",
        "run_process main-ends",
        "run_signals none",
        "run_threads",
        "run_conditions",
        "oracle_refs",
        "oracle_walk",
    ],
)
@pytest.mark.parametrize("bits", ["", "32"])
def test_programs_are_not_disturbed(program: str, bits: str, tmp_path: Path) -> None:
    """programs do under --faults=yes what they do without Valgrind: code that is made and mapped,
    signals, threads, forks"""
    if bits and not HAVE_X86:
        pytest.skip("no 32-bit programs here")
    name, *arguments = program.split()
    command: list[str | Path] = [client(name + bits), *arguments]

    def outcome(tool: list[str]) -> tuple[int, str]:
        done = subprocess.run(
            [*tool, *command],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=ENVIRONMENT,
        )
        return done.returncode, re.sub(r"\b\d{3,}\b", "N", done.stdout)

    tool = [TLBGRIND, "-q", "--faults=yes", f"--faults-out-file={tmp_path}/faults.%p"]
    assert outcome([*tool, f"--tlbgrind-out-file={tmp_path}/out.%p"]) == outcome([])
    logs = [read(path) for path in tmp_path.glob("faults.*")]
    assert any(log.faults for log in logs)


def test_a_log_that_cannot_be_written_costs_no_exit_code(tmp_path: Path) -> None:
    """a log that can not be written is told of, and the program's exit code kept"""
    folder = tmp_path / "folder"
    folder.mkdir()
    done = subprocess.run(
        [
            TLBGRIND,
            "--faults=yes",
            f"--tlbgrind-out-file={tmp_path}/out",
            f"--faults-out-file={folder}/log",
            "/bin/sh",
            "-c",
            f"rm -r {folder}; exit 7",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert "can't write fault log" in done.stderr


def test_the_example_of_the_docs_is_a_log() -> None:
    """the example in docs/internals/formats.md is a log"""
    folder = Path(os.environ["TG_SRCDIR"])
    example = folder / "tests/faults/data/example.faults"
    log = read(example)
    assert len(log.faults) == 65539
    text = example.read_text(encoding="utf-8")
    assert text in (folder / "docs/internals/formats.md").read_text(encoding="utf-8")
