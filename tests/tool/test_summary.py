# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The words on stderr: their form, and that every number in them follows from the out-file."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from tg_environment import client
from tg_names import labels_of
from tool_support import EVENTS, OutFile, messages, read, run

PROCESS = (client("run_process"), "exit", 3)


def ratio(part: int, whole: int, scale: int) -> str:
    exact = Decimal(0) if whole == 0 else Decimal(part * scale) / Decimal(whole)
    return str(exact.quantize(Decimal("0.001"), ROUND_HALF_UP))


def quoted(path: Path) -> str:
    """As a shell wants it."""
    if re.fullmatch(r"[A-Za-z0-9_./+@:-]+", str(path)):
        return str(path)
    return "'" + str(path).replace("'", r"'\''") + "'"


UNKNOWN_SHARE = f"{'share of time:':18} {'unknown':>18}  the machine does not tell what a walk costs; --miss-cost does"


# How many system calls a program makes differs from one C library to another.
SYSTEM_CALLS = "system calls: N  drive out nothing: a lower bound (both: --syscall-tlb=none,flush)"


def told(err: str) -> list[str]:
    """What was said, with N for the number of system calls."""
    return [re.sub(r"^system calls: +[1-9][\d,]*", "system calls: N", m) for m in messages(err)]


def summary_of(out: OutFile) -> list[str]:
    """The summary, computed from the out-file alone."""
    n = dict(zip(EVENTS, out.summary))

    def one(label: str, value: int) -> str:
        return f"{label:18} {value:18,}"

    def three(label: str, r: int, w: int) -> str:
        return f"{label:18} {r + w:18,}  ({r:18,} rd + {w:18,} wr)"

    def rate(label: str, part: int, whole: int) -> str:
        return f"{label:18} {ratio(part, whole, 100) + '%':>18}"

    def rates(label: str, r: int, w: int) -> str:
        all_refs = ratio(r + w, n["Dr"] + n["Dw"], 100) + "%"
        reads, writes = ratio(r, n["Dr"], 100) + "%", ratio(w, n["Dw"], 100) + "%"
        return f"{label:18} {all_refs:>18}  ({reads:>18}    + {writes:>18}   )"

    walks = n["ILtm"] + n["DLtmr"] + n["DLtmw"]
    first = n["I1tm"] + n["D1tmr"] + n["D1tmw"]
    return [
        one("I   refs:", n["Ir"]),
        one("I1  TLB misses:", n["I1tm"]),
        one("IL  TLB misses:", n["ILtm"]),
        rate("I1  TLB miss rate:", n["I1tm"], n["Ir"]),
        rate("IL  TLB miss rate:", n["ILtm"], n["Ir"]),
        "",
        three("D   refs:", n["Dr"], n["Dw"]),
        three("D1  TLB misses:", n["D1tmr"], n["D1tmw"]),
        three("DL  TLB misses:", n["DLtmr"], n["DLtmw"]),
        rates("D1  TLB miss rate:", n["D1tmr"], n["D1tmw"]),
        rates("DL  TLB miss rate:", n["DLtmr"], n["DLtmw"]),
        "",
        one("page walks:", walks),
        f"{'L1  TLB misses:':18} {ratio(first, n['Ir'], 1000):>18}  per 1000 instructions",
        f"{'page walks:':18} {ratio(walks, n['Ir'], 1000):>18}  per 1000 instructions",
        SYSTEM_CALLS,
        "",
        UNKNOWN_SHARE,
        f"To see which code misses:  tg_annotate {quoted(out.path)}",
    ]


START = [
    "Machine: custom, base page 4K; entries: L1 16+16, L2 64",
    "Transparent huge pages: madvise (--thp=madvise)",
    "All arrays and assumptions: with -v, and in the out-file",
    "",
]

LONG_START = [
    "Machine: custom, base page 4096 bytes",
    "  level 1, instruction, 16 entries, 4-way, 4 sets, pages 4K, lru",
    "  level 1, data, 16 entries, 4-way, 4 sets, pages 4K, lru",
    "  level 2, unified, 64 entries, 8-way, 8 sets, pages 4K, lru",
    "Transparent huge pages: madvise (--thp=madvise)",
    "",
]


def test_form_and_numbers(tmp_path: Path) -> None:
    r = run(tmp_path, *PROCESS)
    said = told(r.err)
    assert said[0].startswith("tlbgrind-")
    assert said[3] == f"Command: {client('run_process')} exit 3"
    assert said[5:9] == START
    assert said[9] == ""
    assert said[10:] == summary_of(r.only())


def test_verbose_names_all_arrays(tmp_path: Path) -> None:
    said = messages(run(tmp_path, *PROCESS, options=["-v"]).err)
    start = said.index(LONG_START[0])
    assert said[start : start + len(LONG_START)] == LONG_START


def test_one_line_for_each_machine(tmp_path: Path) -> None:
    """And at most three more before the program runs."""
    (tmp_path / "x").write_text(MACHINE.format(name="mine", entries=16), encoding="ascii")
    r = run(tmp_path / "run", "/bin/true", options=["--machine=skylake,icelake,bonnell,k8@thp,../x"], geometry=())
    said = messages(r.err)
    assert said[5:14] == [
        "Machine: skylake, base page 4K; entries: L1 128+64, L2 1536; assumptions: 7",
        "Machine: icelake, base page 4K; entries: L1 128+64+16, L2 2048; assumptions: 8",
        "Machine: bonnell, base page 4K; entries: L1 32+16, L2 72; assumptions: 5",
        "Machine: k8@thp, base page 4K; entries: L1 32+32, L2 512+512; assumptions: 5",
        "Machine: mine (../x), base page 4K; entries: L1 16",
        START[1],
        "Fast path: none, for code and data share a first level; every reference is simulated",
        *START[2:],
    ]


@pytest.mark.parametrize("geometry", [("--itlb=1,1", "--dtlb=1,1"), ("--itlb=4096,full", "--dtlb=4096,full")])
def test_rates_of_extremes(tmp_path: Path, geometry: tuple[str, ...]) -> None:
    """With one entry most references miss; with thousands almost none do."""
    r = run(tmp_path, *PROCESS, geometry=geometry)
    said = told(r.err)
    start = next(i for i, m in enumerate(said) if m.startswith("I   refs:"))
    assert said[start:] == summary_of(r.only())


@pytest.mark.parametrize("name", ["a b", "a;b", "$HOME", "(a)", "naïve", "it's", "~", "plain_1.2+3-4"])
def test_last_line_can_be_given_to_a_shell(tmp_path: Path, name: str) -> None:
    r = run(tmp_path / name, *PROCESS)
    out = r.only()
    last = messages(r.err)[-1]
    assert last == f"To see which code misses:  tg_annotate {quoted(out.path)}"
    command = last.partition("  ")[2]
    # The shell that reads the line finds the file.
    done = subprocess.run(
        ["sh", "-c", command.replace("tg_annotate", "ls --", 1)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"{out.path}\n", "")


# ---------------------------------------------------------------- several machines

MACHINE = """tlbgrind-machine 1
name {name}
title made up
isa any
year unknown
confidence C
base-page 4K
array I
   level 1
   users all
   entries {entries}
   ways full
   pages 4K
   larger-pages split
   policy lru
   threads 1
end
"""
# It tells what a walk costs, wherever the tables are.
KNOWN = MACHINE.replace(
    "end\n", "walk hardware\n   cycles 24\n" + "".join(f"step {s}\n   cache none\n" for s in ("512G", "1G", "2M", "4K")) + "end\n"
)


def machines(folder: Path, *names: str, out_file: str = "out.%p") -> tuple[list[str], list[str], list[OutFile]]:
    """What the run calls its machines; the commands that it prints at its end; and the files."""
    r = run(folder, "/bin/true", options=[f"--machine={','.join(names)}"], geometry=(), out_file=out_file)
    assert r.status == 0, r.err
    said = messages(r.err)
    at = next(i for i, m in enumerate(said) if m.startswith("machine  "))
    table = said[at + 1 : said.index(NOTE, at)]
    last = next(i for i, m in enumerate(said) if m.startswith("To see which code misses"))
    answer = next((i for i in range(at, last) if said[i].startswith("share of time:  ")), last)
    assert said[answer - 1] == ""
    called = [name[1] for m in said if (name := re.fullmatch(r"Machine: (.*?)(?: \(.*\))?, base page .*", m))]
    assert [row.split("  ")[0] for row in table] == called
    return called, said[last:], r.files


def test_the_files_of_several_machines_are_named(tmp_path: Path) -> None:
    names = ["zen4", "zen4@thp", "zen4@heap:2M+/a b/*:64K"]
    called, said, files = machines(tmp_path, *names)
    assert called == names
    assert said[0] == "To see which code misses:"
    commands = [m.removeprefix("  tg_annotate ") for m in said[1:]]
    assert sorted(commands) == sorted(quoted(f.path) for f in files)
    # In the order of the table, and as the shell needs them.
    start = f"{tmp_path}/out.{files[0].pid}_"
    assert commands == [start + "zen4_1", start + "zen4@thp", f"'{start}zen4@heap:2M+_a b_*:64K'"]
    done = subprocess.run(["sh", "-c", f"ls -- {' '.join(commands)}"], capture_output=True, check=False)
    assert done.returncode == 0


NOTE = "/1000: per 1000 instructions; ratio: walks, to those of the first row"


def share_of(cycles: int, instructions: int) -> str:
    """At 1 to 2 instructions a cycle without the misses, with one decimal below 10."""
    shown = []
    for a_cycle in (1, 2):
        slots = cycles * a_cycle
        hundredths = (20000 * slots + instructions + slots) // (2 * (instructions + slots))
        shown.append(f"{(hundredths + 5) // 10 / 10:.1f}" if hundredths < 995 else f"{(hundredths + 50) // 100}")
    return f"{shown[0]} to {shown[1]}%" if shown[0] != shown[1] else f"{shown[0]}%"


def test_table_of_machines(tmp_path: Path) -> None:
    """Its cells are the sums of the out-files; and what nothing but assumptions tells apart is marked."""
    bare = MACHINE.format(name="{name}", entries=4).replace("ways full", "{ways}")
    for name, ways in (("a", "ways unknown, assume full"), ("b", "ways unknown, assume 1"), ("c", "ways 1")):
        (tmp_path / name).write_text(bare.format(name=name, ways=ways), encoding="ascii")
    (tmp_path / "known").write_text(KNOWN.format(name="known", entries=16), encoding="ascii")
    r = run(tmp_path / "run", "/bin/true", options=["--machine=../a,../b,../c,../known"], geometry=())
    said = messages(r.err)
    at = next(i for i, m in enumerate(said) if m.startswith("machine  "))
    heads, *rows = [re.split(r" {2,}", row) for row in said[at : said.index(NOTE, at)]]
    assert heads == ["machine", "page", "I1 misses", "I walks", "D1 misses", "D walks", "L1 misses/1000", "walks/1000", "ratio", "miss cycles", "share of time"]
    by_name = {f.descriptions("Machine")[0]: dict(zip(f.field("events").split(), f.summary)) for f in r.files}
    walks = {name: n["ILtm"] + n["DLtmr"] + n["DLtmw"] for name, n in by_name.items()}
    for name, *cells in rows:
        n = by_name[name]
        misses = n["I1tm"] + n["D1tmr"] + n["D1tmw"]
        # Rounded half up, as integers are.
        mark = "*" if name in "bc" else ""
        of_first = (walks[name] * 2000 + walks["a"]) // (walks["a"] * 2)
        assert cells[0] == "4K"
        assert cells[1:5] == [f"{v:,}" for v in (n["I1tm"], n["ILtm"], n["D1tmr"] + n["D1tmw"], n["DLtmr"] + n["DLtmw"])]
        assert cells[5:7] == [ratio(misses, n["Ir"], 1000), ratio(walks[name], n["Ir"], 1000)]
        assert cells[7] == f"{of_first // 1000}.{of_first % 1000:03}{mark}"
        assert cells[8] == (f"{n['Wcyc']:,}" if name == "known" else "unknown")
        assert cells[9] == (share_of(n["Wcyc"], n["Ir"]) if name == "known" else "unknown")
    assert walks["a"] < walks["b"] == walks["c"]
    assert said[said.index(NOTE) + 1] == "*: nothing but assumptions tells the two machines apart (-v prints them)"


def test_costs_in_columns(tmp_path: Path) -> None:
    """Cycles where a machine tells what a walk takes or an option does; the rest if an option asks for it."""
    (tmp_path / "bare").write_text(MACHINE.format(name="bare", entries=16), encoding="ascii")
    (tmp_path / "known").write_text(KNOWN.format(name="known", entries=16), encoding="ascii")
    names = "../known,../known@thp,../bare"

    def table(*options: str) -> tuple[list[list[str]], list[str], dict[str, OutFile]]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        r = run(folder, "/bin/true", options=[f"--machine={names}", *options], geometry=())
        said = messages(r.err)
        at = next(i for i, m in enumerate(said) if m.startswith("machine  "))
        rest = said[at : said.index("", at)]
        rows = [re.split(r" {2,}", row) for row in rest[:4]]
        assert rest[4] == NOTE
        return [row[9:] for row in rows], rest[5:], {f.descriptions("Machine")[0]: f for f in r.files}

    def of(file: OutFile, event: str) -> int:
        return dict(zip(file.field("events").split(), file.summary))[event]

    cells, notes, files = table()
    assert cells[0] == ["miss cycles", "share of time"]
    cycles = of(files["known"], "Wcyc")
    assert cells[1] == [f"{cycles:,}", share_of(cycles, of(files["known"], "Ir"))]
    assert cells[3] == ["unknown", "unknown"]
    by_instructions = "share of time: estimated (assumed: 1 to 2 instructions a cycle)"
    assert notes == ["miss cycles: estimated", by_instructions]
    cells, notes, files = table("--cycles=1000000", "--nested=yes")
    assert cells[0] == ["walk refs", "miss cycles", "share of time"]
    for name, row in zip(("known", "known@thp"), cells[1:]):
        refs, cycles = of(files[name], "Wref"), of(files[name], "Wcyc")
        assert cycles > 0
        assert row[:2] == [f"{refs:,}", f"{cycles:,}"]
        # From none of the host's walks to all of them.
        assert re.fullmatch(rf"[\d.]+ to {cycles / 10000:.{1 if cycles < 99500 else 0}f}%", row[2])
    assert cells[3] == ["unknown"] * 3
    assert notes == [
        "walk refs: to page tables, guest's and host's",
        "miss cycles: estimated",
        "share of time: of the cycles of --cycles, estimated",
    ]
    cells, notes, files = table("--miss-cost=19")
    walks = sum(of(files["bare"], event) for event in ("ILtm", "DLtmr", "DLtmw"))
    assert cells[0] == ["miss cycles", "share of time"]
    assert cells[3] == [f"{19 * walks:,}", share_of(19 * walks, of(files["bare"], "Ir"))]
    assert notes == ["miss cycles: estimated", by_instructions]


def test_the_files_of_many_machines_are_told_by_a_pattern(tmp_path: Path) -> None:
    names = [f"zen4@heap:{2**n}K" for n in range(2, 9)]
    called, said, _ = machines(tmp_path / "8", "k8", *names)
    assert len(called) == len(said) - 1 == 8
    called, said, files = machines(tmp_path / "9", "cortex-a53", "k10@/x:64K", *names[1:], "zen5")
    assert len(called) == 9
    (start,) = {f"{tmp_path}/9/out.{f.pid}_" for f in files}
    # What is not called as in the table is said in full.
    assert said == [
        "To see which code misses, for each MACHINE of the table (with _ for - and .):",
        f"  tg_annotate {start}MACHINE",
        f"  tg_annotate {start}k10@_x:64K",
    ]
    assert {start + label for label in labels_of(called)} == {str(f.path) for f in files}


def test_machines_of_files_are_called_as_the_files_say(tmp_path: Path) -> None:
    """Not by their paths, which would make the names of out-files too long to be; and told apart where they say the same."""
    deep = tmp_path / ("deep" * 40) / ("er" * 60)
    deep.mkdir(parents=True)
    texts = {deep / "a": ("mine", 16), deep / "b": ("mine", 32), tmp_path / "c": ("zen4", 8), tmp_path / "d": ("mine.2", 4)}
    for path, (name, entries) in texts.items():
        path.write_text(MACHINE.format(name=name, entries=entries), encoding="ascii")
    given = [str(deep / "a"), f"{deep}/a@thp", str(deep / "b"), f"{deep}/b@thp", "../c", "../d", "zen4"]
    expected = ["mine", "mine@thp", "mine.2", "mine.2@thp", "zen4.2", "mine.2.2", "zen4"]
    called, said, files = machines(tmp_path / "run", *given)
    assert called == expected
    labels = labels_of(expected)
    assert [m.partition(f"out.{files[0].pid}_")[2] for m in said[1:]] == labels
    by_name = {f.descriptions("Machine")[0]: f for f in files}
    for name, label, path in zip(expected, labels, given):
        file = by_name[name]
        assert file.path.name == f"out.{file.pid}_{label}"
        assert file.descriptions("Machine file") == ([] if path == "zen4" else [path.removesuffix("@thp")])
    entries = [by_name[name].descriptions("Array")[0].split(", ")[2] for name in expected[:6]]
    assert entries == [f"{n} entries" for n in (16, 16, 32, 32, 8, 4)]


def test_a_single_machine_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text(MACHINE.format(name="mine", entries=16), encoding="ascii")
    r = run(tmp_path / "run", *PROCESS, geometry=("--machine=../x@thp",))
    said = messages(r.err)
    assert said[5].startswith("Machine: mine@thp (../x), base page 4K; ")
    assert r.only().descriptions("Machine") == ["mine@thp"]
    assert r.only().descriptions("Machine file") == ["../x"]


def test_long_rules_do_not_make_a_name_too_long(tmp_path: Path) -> None:
    rules = "+".join(f"/some/folder/library-{n:02}.so:64K" for n in range(16))
    names = [f"zen4@{rules}", f"zen4@{rules}+thp", "zen4"]
    called, said, files = machines(tmp_path, *names)
    assert called == names
    labels = [m.partition(f"out.{files[0].pid}_")[2] for m in said[1:]]
    assert {f.path.name.partition(f".{f.pid}_")[2] for f in files} == set(labels)
    assert [len(label) for label in labels] == [100, 100, 6]
    assert labels[1] == labels[0][:98] + "_2"


# ---------------------------------------------------------------- where no file is to be read


def no_file_to_read(said: list[str]) -> None:
    """The summary is there to its end, but for the line about the out-file."""
    assert any(m.startswith("I   refs:") for m in said)
    assert said[-3:] == [SYSTEM_CALLS, "", UNKNOWN_SHARE]
    assert said[-4].startswith("page walks:")
    assert said[-4].endswith("per 1000 instructions")
    assert not any("tg_annotate" in m for m in said)


def test_pipe_is_not_named_as_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = tmp_path / "got"
    with got.open("wb") as to, subprocess.Popen(["cat", str(pipe)], stdout=to) as reader:
        try:
            r = run(tmp_path, *PROCESS, out_file=str(pipe), collect=False)
            reader.wait()
        finally:
            reader.kill()
    assert r.status == 3
    assert pipe.is_fifo()
    assert read(got).function("work") == (4001, 1001, 1000)
    no_file_to_read(told(r.err))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to be root")
def test_device_is_not_named_as_a_file(tmp_path: Path) -> None:
    device = tmp_path / "device"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.open("wb").close()
    except OSError as e:
        pytest.skip(f"mknod: {e}")
    r = run(tmp_path, *PROCESS, out_file=str(device), collect=False)
    assert r.status == 3
    assert device.is_char_device()
    no_file_to_read(told(r.err))


def test_forked_processes_each_say_theirs(tmp_path: Path) -> None:
    r = run(tmp_path, client("run_process"), "fork")
    for f in r.files:
        own = [m for m in r.err.splitlines() if m.startswith(f"=={f.pid}==")]
        said = told("\n".join(own))
        start = next(i for i, m in enumerate(said) if m.startswith("I   refs:"))
        assert said[start:] == summary_of(f)


@pytest.mark.parametrize("quiet", ["-q", "--quiet", "--verbose -q"])
def test_quiet(tmp_path: Path, quiet: str) -> None:
    r = run(tmp_path, *PROCESS, options=quiet.split())
    if quiet == "--verbose -q":
        # -q takes back one step of -v.
        assert any(m.startswith("I   refs:") for m in messages(r.err))
    else:
        # The result alone: rates, for the machine has no costs, and the command that shows the details.
        rates = [m for m in summary_of(r.only()) if "per 1000 instructions" in m]
        assert len(rates) == 2
        see = f"To see which code misses:  tg_annotate {r.only().path}"
        assert messages(r.err) == [*rates, UNKNOWN_SHARE, see]
    assert r.only().function("work") == (4001, 1001, 1000)


# ---------------------------------------------------------------- the answer


def costliest(out: OutFile) -> str:
    """As the summary has it."""
    at = out.field("events").split().index("Wcyc")
    cycles: dict[tuple[str, str, str], int] = {}
    for line in out.lines:
        key = line.function, line.object, line.function_file
        cycles[key] = cycles.get(key, 0) + line.costs[at]
    (function, whole, _), most = max(cycles.items(), key=lambda item: item[1])
    percent = (Decimal(100 * most) / Decimal(out.summary[at])).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{percent}% of N: {function} [{os.path.basename(whole)}]"


def answered(said: list[str]) -> str:
    line = next(m for m in said if m.startswith("most costly:"))
    return re.sub(r" +", " ", re.sub(r"of the miss cycles.*?: ", "of N: ", line)).removeprefix("most costly: ")


@pytest.mark.parametrize("option", ["-q", "", "--faults=yes", "--reach=yes"])
def test_the_last_three_lines_are_the_answer(tmp_path: Path, option: str) -> None:
    """Whatever else is printed. With -q there is nothing else."""
    (tmp_path / "known").write_text(KNOWN.format(name="known", entries=16), encoding="ascii")
    options = [option] if option else []
    r = run(tmp_path / "run", client("oracle_refs"), options=options, geometry=("--machine=../known",))
    said = messages(r.err)
    out = r.only()
    n = dict(zip(out.field("events").split(), out.summary))
    share, place, see = said[-3:]
    assert share.split()[:-8] == ["share", "of", "time:", *share_of(n["Wcyc"], n["Ir"]).split()]
    assert place.startswith("most costly:") and answered(said) == costliest(out)
    assert see == f"To see which code misses:  tg_annotate {out.path}"
    assert (len(said) == 3) == (option == "-q")


NAMED = """
volatile char memory[4096 * 5000];
int touch(int) __asm__("\\"{name}\\"");
int touch(int n) {{ int sum = 0; for (long i = 0; i < 5000; i++) sum += memory[i * 4096 + n]; return sum; }}
int main(void) {{ int sum = 0; for (int n = 0; n < 20; n++) sum += touch(n); return sum; }}
"""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sync.(*Map[go.shape.[]int,go.shape.interface {}]).Load", "sync.(*Map[...]).Load"),
        ("slices.sort[go.shape.int].func1", "slices.sort[...].func1"),
        ("slices.sort[int].func1", "slices.sort[int].func1"),
        ("slices.sort[go.shape.int", "slices.sort[go.shape.int"),
        ("a" * 60, "a" * 60),
        ("a" * 61, "a" * 57 + "..."),
        ("a" * 56 + "\u00e9aaa", "a" * 56 + "..."),
    ],
)
def test_long_names_are_cut_and_type_arguments_left_out(tmp_path: Path, name: str, shown: str) -> None:
    (tmp_path / "named.c").write_text(NAMED.format(name=name), encoding="utf-8")
    subprocess.run(["gcc", "-O1", "-fno-inline", "named.c", "-o", "named"], cwd=tmp_path, check=True)
    r = run(tmp_path / "run", "../named", options=["-q", "--machine=skylake"], geometry=())
    line = next(m for m in messages(r.err) if m.startswith("most costly:"))
    assert line.endswith(f": {shown} [named]")


def test_of_several_machines_the_answer_is_of_the_dearest(tmp_path: Path) -> None:
    for name, entries in (("large", 64), ("small", 4)):
        (tmp_path / name).write_text(KNOWN.format(name=name, entries=entries), encoding="ascii")
    r = run(tmp_path / "run", client("oracle_refs"), geometry=("--machine=../large,../small",))
    said = messages(r.err)
    small = next(f for f in r.files if f.descriptions("Machine") == ["small"])
    n = dict(zip(small.field("events").split(), small.summary))
    at = next(i for i, m in enumerate(said) if m.startswith("share of time:  "))
    assert said[at].split()[3:] == [*share_of(n["Wcyc"], n["Ir"]).split(), "on", "small,", "estimated"]
    assert answered(said) == costliest(small) and "of the miss cycles of small:" in said[at + 1]
    assert said[at + 2] == "To see which code misses:"


def test_quiet_still_says_errors(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    r = run(tmp_path, "rmdir", "gone", options=["-q"], out_file="gone/out")
    assert [m for m in messages(r.err) if m][:2] == [
        f"error: can't write output data file '{tmp_path}/gone/out': there is no such folder",
        "       ... so detailed results will be missing.",
    ]


@pytest.mark.parametrize("option", ["-v", "-v -v", "--stats=yes", "--trace-syscalls=yes"])
def test_verbose(tmp_path: Path, option: str) -> None:
    r = run(tmp_path, *PROCESS, options=option.split())
    assert r.status == 3
    assert r.only().function("work") == (4001, 1001, 1000)


def test_log_file(tmp_path: Path) -> None:
    r = run(tmp_path, *PROCESS, options=["--log-file=log.%p"])
    assert r.err == ""
    log = (tmp_path / f"log.{r.only().pid}").read_text(encoding="utf-8")
    said = told(log)
    start = next(i for i, m in enumerate(said) if m.startswith("I   refs:"))
    assert said[start:] == summary_of(r.only())


def test_log_fd(tmp_path: Path) -> None:
    r = run(tmp_path, *PROCESS, options=["--log-fd=1"])
    assert r.err == ""
    assert any(m.startswith("I   refs:") for m in messages(r.out))


def test_xml_is_refused_by_the_core(tmp_path: Path) -> None:
    """It says so and goes on without; what matters is that nothing is lost."""
    r = run(tmp_path, *PROCESS, options=["--xml=yes"])
    assert "tlbgrind does not support XML output." in messages(r.err)
    assert r.status in (1, 3)
    if r.status == 3:
        assert r.only().function("work") == (4001, 1001, 1000)
    else:
        assert os.listdir(tmp_path) == []


def test_no_number_is_cut(tmp_path: Path) -> None:
    r = run(tmp_path, *PROCESS)
    for number in re.findall(r"\d{1,3}(?:,\d{3})+", r.err):
        assert int(number.replace(",", "")) >= 1000


# What becomes of goldencove's arrays for 4K: ITLB-4K, DTLB-loads-4K, and in the last place both halves of the second
# level. Of 1G there is an array for loads, and one beside the first half.
REBASED = {
    "16K": ["16K", "2M+4M", "16K", "2M+4M", "1G", "16K+2M+4M+1G", "16K+2M+4M", "16K+1G"],
    "1G": ["1G", "2M+4M", "4K", "2M+4M", "1G", "4K+2M+4M+1G", "4K+2M+4M", "4K+1G"],
    "2M": ["4K", "2M+4M", "4K", "2M+4M", "1G", "4K+2M+4M+1G", "4K+2M+4M", "4K+1G"],
}


@pytest.mark.parametrize("size", REBASED)
def test_base_page_that_arrays_do_not_hold(tmp_path: Path, size: str) -> None:
    """Those for the machine's own base pages hold it, where nothing else on their level does."""
    r = run(tmp_path, client("run_exec"), "1", options=("--machine=goldencove", f"--page-size={size}"), geometry=())
    out = r.only()
    assert [re.sub(r".* pages ([^,]*), lru", r"\1", line) for line in out.descriptions("Array")] == REBASED[size]
    assumed = any(line.startswith("the arrays for 4K pages are taken to hold") for line in out.descriptions("Assumption"))
    assert assumed == (size != "2M")
