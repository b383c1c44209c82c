# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A wrong option is refused before the program starts: what it is, what is wrong, what is allowed.

The core frames our line: "Bad option: OPTION", the line, and where to look. What is wrong in itself
is refused while the options are read, by "valgrind:", what contradicts another option thereafter.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from tg_environment import TLBGRIND, client
from tool_support import GEOMETRY, check_sound

PAGES = "is no page size; allowed are powers of two from 4K to 16G, such as 4K, 64K, 2M or 1G"
BASE_PAGE = "is no base page; allowed are powers of two from 4K to 1G, such as 4K, 64K or 2M"
POLICY = "is no replacement policy; allowed are lru, plru, fifo, nru, (mru+1)%3-plru4, random and random:SEED"
ENTRIES = "is no number of entries; allowed are 1 to 1048576"
WAYS = "is no number of ways; allowed are 1 to the entries, or full"
FORM = "is no array; expected ENTRIES,WAYS[,SIZES[,POLICY]]"
DIVIDE = "entries; ways must divide the entries, or be full"
BOOL = "(should be 'yes' or 'no')"

# The value of an array option, and what is said of it.
ARRAYS = [
    ("", f"'' {FORM}"),
    ("64", f"'64' {FORM}"),
    ("nonsense", f"'nonsense' {FORM}"),
    ("0,1", f"'0' {ENTRIES}"),
    ("-1,1", f"'-1' {ENTRIES}"),
    ("64k,4", f"'64k' {ENTRIES}"),
    ("0x40,4", f"'0x40' {ENTRIES}"),
    (" 64,4", f"' 64' {ENTRIES}"),
    ("1048577,1", f"'1048577' {ENTRIES}"),
    ("18446744073709551617,1", f"'18446744073709551617' {ENTRIES}"),
    (",4", f"'' {ENTRIES}"),
    ("64,", f"'' {WAYS}"),
    ("64,0", f"'0' {WAYS}"),
    ("64,FULL", f"'FULL' {WAYS}"),
    ("64,1048577", f"'1048577' {WAYS}"),
    ("64,5", f"5 ways do not divide 64 {DIVIDE}"),
    ("64,128", f"128 ways do not divide 64 {DIVIDE}"),
    ("64,4,", f"'' {PAGES}"),
    ("64,4,3K", f"'3K' {PAGES}"),
    ("64,4,5000", f"'5000' {PAGES}"),
    ("64,4,2K", f"'2K' {PAGES}"),
    ("64,4,4k", f"'4k' {PAGES}"),
    ("64,4,4KB", f"'4KB' {PAGES}"),
    ("64,4,32G", f"'32G' {PAGES}"),
    ("64,4,4K+", f"'' {PAGES}"),
    ("64,4,+4K", f"'' {PAGES}"),
    ("64,4,4K+x", f"'x' {PAGES}"),
    ("64,4,4K+2M+4096", "'4096' is there already; allowed is each page size once"),
    ("64,4,4K,", f"'' {POLICY}"),
    ("64,4,4K,LRU", f"'LRU' {POLICY}"),
    ("64,4,4K,mru", f"'mru' {POLICY}"),
    ("64,4,4K,lru:1", f"'lru:1' {POLICY}"),
    ("64,4,4K,random:", f"'random:' {POLICY}"),
    ("64,4,4K,random:x", f"'random:x' {POLICY}"),
    ("64,4,4K,lru,1", f"'lru,1' {POLICY}"),
    ("60,5,4K,plru", "plru needs a power of two of ways, not 5"),
]

OTHERS = [
    ("--page-size=", f"'' {BASE_PAGE}"),
    ("--page-size=0", f"'0' {BASE_PAGE}"),
    ("--page-size=4097", f"'4097' {BASE_PAGE}"),
    ("--page-size=1K", f"'1K' {BASE_PAGE}"),
    ("--page-size=4K+2M", f"'4K+2M' {BASE_PAGE}"),
    ("--page-size=2G", f"'2G' {BASE_PAGE}"),
    ("--machine=", "the name of a machine is missing"),
    ("--machine=zen4,,zen5", "the name of a machine is missing"),
    ("--machine=pdp11", "'pdp11' is no machine; --list-machines tells their names"),
    ("--machine=HOST", "'HOST' is no machine; --list-machines tells their names"),
    ("--machine=zen4,skylakes", "'skylakes' is no machine; did you mean skylake?"),
    ("--machine=zen4,zen4", "machine 'zen4' is given twice"),
    ("--machine=./nowhere", "./nowhere: there is no such file"),
    ("--machine=graviton4", "'graviton4' is no machine; did you mean neoverse-v2?"),
    ("--machine=zen4@2X", None),
    ("--machine=skylake:stlb", "'stlb' is no override; it is PART.LINE=VALUE, such as stlb.entries=2048"),
    ("--machine=skylake:stlb.entries", "'stlb.entries' is no override; it is PART.LINE=VALUE, such as stlb.entries=2048"),
    ("--machine=skylake:stlb.entries=", "stlb.entries=: the value is missing"),
    (
        "--machine=zen4,skylake:stlb.entries=500..2000",
        "stlb.entries=500: the 12 ways of STLB do not divide 500 entries; give the ways, too, such as STLB.ways=20",
    ),
    ("--machine=skylake:stlb.ways=5,zen4", "stlb.ways=5: 5 ways do not divide 1536 entries; ways must divide the entries, or be full"),
    ("--machine=skylake:stlb.policy=best,zen4", "stlb.policy=best: 'best' is no replacement policy; allowed are lru, plru, fifo, nru, (mru+1)%3-plru4, random and random:SEED"),
    ("--machine=skylake:dtlb.ways=8", "dtlb.ways=8: 'dtlb' is no part of skylake; did you mean DTLB-4K, DTLB-2M, DTLB-1G, STLB?"),
    ("--machine=skylake:stlb.way=8", "stlb.way=8: 'way' is no line of the array; did you mean ways?"),
    (
        "--machine=skylake:stlb.ways=6@thp,stlb.entries=768",
        "'stlb.entries=768' is an override and no machine; overrides stand behind a machine's name and ':', before its '@'",
    ),
    (
        "--machine=skylake:stlb.entries=1000..3000",
        "'1000..3000' does not come to its end by doubling; the last is 2000, or give a step, FROM..TO/STEP",
    ),
    ("--machine=skylake:stlb.entries=6..600/6", "the ranges make 100 machines; a run has at most 62"),
    ("--machine=skylake:stlb.entries=1..9999/1", "the ranges make at least 1000 machines; a run has at most 62"),
    ("--machine=skylake:stlb.ways=6,skylake:stlb.ways=6", "machine 'skylake:stlb.ways=6' is given twice"),
    ("--machine=zen4@thp,zen4@thp", "machine 'zen4@thp' is given twice"),
    ("--nested=2", f"Invalid boolean value '2' {BOOL}"),
    ("--miss-cost=", None),
    ("--miss-cost=many", None),
    ("--cycles=0", None),
    ("--pages=", "'' is no rule for pages; expected WHAT:SIZE, such as heap:2M"),
    ("--pages=heap:3M", "'3M' is no page size; allowed are powers of two from 4K to 16G, thp and contig"),
    ("--pages=heap:2M,stack:2K", "'2K' is no page size; allowed are powers of two from 4K to 16G, thp and contig"),
    (
        "--pages=haep:2M",
        "'haep' is no memory; allowed are all, anon, heap, stack, text, data, file and patterns such as *.so",
    ),
    ("--huge-pool=16M", "'16M' is no pool of pages; expected SIZE:PAGES, such as 16M:65"),
    ("--huge-pool=2M:1,2M:2", "'2M:2' is a second pool of that size; allowed is one"),
    ("--hugetlb=maybe", "'maybe' is no way to handle huge pages; allowed are real and fake"),
    # What is allowed is told of a long value, too.
    (f"--hugetlb={'x' * 300}", f"'{'x' * 40}...' is no way to handle huge pages; allowed are real and fake"),
    (f"--thp={'x' * 300}", f"'{'x' * 40}...' is no mode of transparent huge pages; allowed are never, madvise and always"),
    (f"--machine=skylake:{'x' * 300}", f"'{'x' * 40}...' is no override; it is PART.LINE=VALUE, such as stlb.entries=2048"),
    ("--fault-around=0", "'0' is not allowed; it is off, or a power of two from 4K to 2M"),
    ("--fault-around=4M", "'4M' is not allowed; it is off, or a power of two from 4K to 2M"),
    ("--read-ahead=none", "'none' is not allowed; it is off, or a power of two from 4K to 16G"),
    ("--trace-aspace=1", f"Invalid boolean value '1' {BOOL}"),
    ("--debug-check=1", f"Invalid boolean value '1' {BOOL}"),
    ("--fast-path=", f"Invalid boolean value '' {BOOL}"),
    ("--fast-path=maybe", f"Invalid boolean value 'maybe' {BOOL}"),
    ("--as-cachegrind=1", f"Invalid boolean value '1' {BOOL}"),
    ("--tlbgrind-out-file=", "the name of the file is missing"),
    ("--tlbgrind-out-file=%q{NOT_SET}", "Environment variable 'NOT_SET' is not set"),
    ("--tlbgrind-out-file=%z", "Expected 'p' or 'q' or '%' after '%'"),
    ("--tlbgrind-out-file=%q", None),
    ("--tlbgrind-out-file=%q{PATH", None),
    ("--tlbgrind-out-file=x%", None),
]

TWICE = "{0} has an array for pages of that size already; give each array other sizes, such as {0}=64,4,4K {0}=32,4,2M"
FAULT_PAGES = "page faults can be recorded with base pages of 4K, 16K and 64K, not {}; --page-size gives all machines the same"
# There is no room for the array for data that is not given.
EACH_SIZE = [f"--itlb=4,4,{4 << n}K" for n in range(16)]
SAME = "{} would go to the same file; give each its own"
THP = "contradicts --thp={}, which is what the kernel does with transparent huge pages; leave out one of the two"
# Options that contradict each other: which one is named, and what is said.
TOGETHER = [
    (["--itlb=16,4", "--itlb=32,4"], "--itlb=32,4", TWICE.format("--itlb")),
    (["--dtlb=16,4", "--dtlb=32,4"], "--dtlb=32,4", TWICE.format("--dtlb")),
    (["--stlb=16,4", "--stlb=32,4"], "--stlb=32,4", TWICE.format("--stlb")),
    (EACH_SIZE, EACH_SIZE[-1], "a machine has at most 16 arrays"),
    (
        ["--machine=skylake", "--itlb=16,5"],
        "--machine=skylake",
        "--itlb=16,5: 5 ways do not divide 16 entries; ways must divide the entries, or be full",
    ),
    (
        ["--machine=skylake", "--dtlb=16,4,4K+2M"],
        "--machine=skylake",
        "--dtlb=16,4,4K+2M: skylake has 2 such arrays, DTLB-4K, DTLB-2M; give one option for the pages of each",
    ),
    (
        ["--stlb=16,4", "--machine=skylake,zen4"],
        "--machine=skylake,zen4",
        "--stlb=16,4: zen4 has no such array on level 2, for these references and pages; --show-machine=zen4 prints those that it has",
    ),
    (
        ["--machine=skylake:stlb.entries=768", "--stlb=1536,12"],
        "--machine=skylake:stlb.entries=768",
        "STLB.entries=1536: the line is given twice",
    ),
    (["--stlb=16,4", "--machine=nonsense"], "--machine=nonsense", "'nonsense' is no machine; --list-machines tells their names"),
    (
        ["--calls=yes", "--instr-at-start=no"],
        "--calls=yes",
        "--calls=yes goes without --instr-at-start=no: inclusive costs are those of the whole run",
    ),
    (["--merge-code="], "--merge-code=", "a pattern for the names of objects is missing, such as libfoo*.so*"),
    (["--advice=3M"], "--advice=3M", "'3M' is no page size; allowed are powers of two such as 64K, 2M or 1G"),
    (["--advice="], "--advice=", "'' is no page size; allowed are powers of two such as 64K, 2M or 1G"),
    (["--advice=2M,2M"], "--advice=2M,2M", "'2M' is given twice"),
    (
        ["--machine=zen4,zen4@heap:2M", "--advice=2M"],
        "--machine=zen4,zen4@heap:2M",
        "machine 'zen4@heap:2M' is given twice, or --advice makes it of another",
    ),
    (["--advice=yes,text=libc"], "--advice=yes,text=libc", "'text=libc' is no memory; allowed are all, anon, heap, stack, text, data, file and patterns such as *.so"),
    (
        ["--advice=4K,8K,16K,32K,64K,128K,256K,512K,1M"],
        "--advice=4K,8K,16K,32K,64K,128K,256K,512K,1M",
        "it makes 64 machines, one for each memory in pages of each size; a run has at most 62",
    ),
    (
        ["--advice=yes", "--machine=zen2,zen3,zen4,zen5,k8"],
        "--advice=yes",
        "it makes 75 machines, one for each memory in pages of each size; a run has at most 62",
    ),
    (["--advice=2M", "--dtlb=16,4"], "--advice=2M", "it is for a machine of --machine=; leave out --itlb, --dtlb and --stlb"),
    (["--itlb=16,4,2M"], "--itlb=16,4,2M", "no first-level array for instructions holds pages of 4K, the base page of this run"),
    (["--dtlb=16,4,2M", "--dtlb=4,4,1G"], "--dtlb=16,4,2M", "no first-level array for loads holds pages of 4K, the base page of this run"),
    (["--page-size=64K", "--dtlb=16,4,4K+2M"], "--dtlb=16,4,4K+2M", "no first-level array for loads holds pages of 64K, the base page of this run"),
    (["--faults=yes", "--page-size=2M"], "--faults=yes", FAULT_PAGES.format("2M")),
    (["--faults=yes", "--machine=ultrasparc-t1"], "--faults=yes", FAULT_PAGES.format("8K")),
    (["--tlbgrind-out-file=a", "--faults=yes", "--faults-out-file=a"], "--faults-out-file=a", SAME.format("--tlbgrind-out-file")),
    (["--reach=yes", "--tlbgrind-out-file=tlbgrind.reach.%p"], "--tlbgrind-out-file=tlbgrind.reach.%p", SAME.format("--reach-out-file")),
    (
        ["--machine=zen4,zen5", "--tlbgrind-out-file=a", "--entries=yes", "--entries-out-file=a_zen5"],
        "--entries-out-file=a_zen5",
        SAME.format("--tlbgrind-out-file"),
    ),
    (["--tlbgrind-out-file=./same", "--reach=yes", "--reach-out-file=same"], "--reach-out-file=same", SAME.format("--tlbgrind-out-file")),
    (["--tlbgrind-out-file=/tmp/../same", "--reach=yes", "--reach-out-file=/same"], "--reach-out-file=/same", SAME.format("--tlbgrind-out-file")),
    (["--tlbgrind-out-file=/tmp//same", "--faults=yes", "--faults-out-file=/tmp/same"], "--faults-out-file=/tmp/same", SAME.format("--tlbgrind-out-file")),
    (
        ["--machine=zen4,zen5", "--tlbgrind-out-file=a", "--entries=yes", "--entries-out-file=././a_zen5"],
        "--entries-out-file=././a_zen5",
        SAME.format("--tlbgrind-out-file"),
    ),
    (
        ["--machine=skylake,core2@1G"],
        "--machine=skylake,core2@1G",
        "core2@1G: the processor has no pages of 1G; leave out the rule, or describe other arrays in a machine file (--show-machine=core2 prints one to begin with)",
    ),
    (["--thp=madvise", "--pages=thp"], "--pages=thp", THP.format("madvise")),
    (["--pages=heap:thp", "--thp=never"], "--pages=heap:thp", THP.format("never")),
    (
        ["--thp=never", "--machine=skylake,zen4@thp"],
        "--machine=skylake,zen4@thp",
        "zen4@thp has a rule for transparent huge pages, which --thp=never leaves none for; leave out one of the two",
    ),
    (["--reach-out-file=out", "--faults-out-file=./out"], "--faults-out-file=./out", SAME.format("--reach-out-file")),
    (["--fault-around=64K", "--page-size=2M"], "--fault-around=64K", FAULT_PAGES.format("2M")),
]

USAGE = "Use --help for more information or consult the user manual."


def refused(folder: Path, options: list[str]) -> list[str]:
    """The error without its prefix and the words on Valgrind itself; the program did not run."""
    done = subprocess.run(
        [TLBGRIND, *options, str(client("run_exec")), "1", "/bin/touch", "it-ran"],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    check_sound(done.stderr)
    assert done.returncode == 1
    assert done.stdout == ""
    assert os.listdir(folder) == []
    lines = [re.sub(r"^(==\d+== |valgrind: )", "", line) for line in done.stderr.splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("Bad option: "))
    if start > 0:
        # What the core says of itself when a tool has started.
        assert lines[0].startswith("tlbgrind-")
        assert lines[3].startswith("Command: ")
        assert start == 5
    return lines[start:]


@pytest.mark.parametrize("option", ["--itlb", "--dtlb", "--stlb"])
def test_array(tmp_path: Path, option: str) -> None:
    for value, said in ARRAYS:
        argument = f"{option}={value}"
        assert refused(tmp_path, [argument]) == [f"Bad option: {argument}", said, USAGE]


def test_long_value_is_quoted_in_part(tmp_path: Path) -> None:
    argument = "--itlb=" + "9" * 1000 + ",1"
    said = f"'{'9' * 40}' {ENTRIES}"
    assert refused(tmp_path, [argument]) == [f"Bad option: {argument}", said, USAGE]


@pytest.mark.parametrize("argument, said", OTHERS)
def test_option(tmp_path: Path, argument: str, said: str | None) -> None:
    error = refused(tmp_path, [argument])
    assert error[0] == f"Bad option: {argument}"
    assert error[-1] == USAGE
    if said is not None:  # else the core's own words, which differ between its versions
        assert error[1:-1] == [said]


def test_a_fifo_is_no_machine_file(tmp_path: Path) -> None:
    """And nobody waits for what might be written to it."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "run").mkdir()
    argument = f"--machine={tmp_path}/fifo"
    assert refused(tmp_path / "run", [argument]) == [f"Bad option: {argument}", f"{tmp_path}/fifo: is not a regular file", USAGE]


@pytest.mark.parametrize("options, named, said", TOGETHER, ids=lambda v: " ".join(v) if isinstance(v, list) else "")
def test_contradiction(tmp_path: Path, options: list[str], named: str, said: str) -> None:
    assert refused(tmp_path, options) == [f"Bad option: {named}", said, USAGE]


# What resembles an option of the tool is refused with its name.
MISTYPED = [
    ("--machin=zen4", "there is no such option; did you mean --machine=zen4?"),
    ("--Machine=zen4", "there is no such option; did you mean --machine=zen4?"),
    ("--date=yes", "there is no such option; did you mean --data=yes?"),
    ("--fault=yes", "there is no such option; did you mean --faults=yes?"),
    ("--tlbgrind-outfile=%p%s", "there is no such option; did you mean --tlbgrind-out-file=%p%s?"),
    ("--itbl=1,1", "there is no such option; did you mean --itlb=1,1?"),
    ("--time-line", "there is no such option; did you mean --timeline=...?"),
    ("--list-machine", "there is no such option; did you mean --list-machines?"),
    (
        "--phases=yes",
        'there is no such option; the program begins a phase by TLBGRIND_MARK("NAME") of tlbgrind.h, and '
        + "tg_annotate --phase=NAME shows it",
    ),
    ("--itlb", "the value is missing: --itlb=..."),
    ("--machine", "the value is missing: --machine=..."),
]


@pytest.mark.parametrize("argument, said", MISTYPED)
def test_an_option_that_is_mistyped_is_refused_with_the_closest(tmp_path: Path, argument: str, said: str) -> None:
    assert refused(tmp_path, [argument]) == [f"Bad option: {argument}", said, USAGE]


def test_each_option_of_the_help_is_found_when_it_is_mistyped(tmp_path: Path) -> None:
    done = subprocess.run([TLBGRIND, "--help-all"], capture_output=True, check=True, encoding="utf-8")
    own = done.stdout.partition("Options of tlbgrind:\n")[2].partition("Options of Valgrind's core:\n")[0]
    names = re.findall(r"^    (--[a-z-]+)", own, re.MULTILINE)
    assert len(names) > 35
    for name in names:
        other = "y" if name[-2] == "x" else "x"
        argument = f"{name[:-2]}{other}{name[-1:]}=1"
        value = "" if name in ("--help-all", "--list-machines") else "=1"
        said = f"there is no such option; did you mean {name}{value}?"
        assert refused(tmp_path, [argument]) == [f"Bad option: {argument}", said, USAGE]


@pytest.mark.parametrize("option", ["--nonsense", "--trace-childern=yes", "--leak-check=full", "--I1=32768,8,64"])
def test_unknown(tmp_path: Path, option: str) -> None:
    done = subprocess.run(
        [TLBGRIND, option, str(client("run_exec")), "1", "/bin/touch", "it-ran"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 1
    assert done.stderr == f"valgrind: Unknown option: {option}\nvalgrind: {USAGE}\n"
    assert os.listdir(tmp_path) == []


GOOD = [
    ["--itlb=1,1", "--dtlb=1,full", "--stlb=1048576,full"],
    ["--itlb=1536,4,4K+2M+1G,plru", "--dtlb=1280,5", "--stlb=72,full,4K,nru"],
    ["--dtlb=64,4,4096+2097152,random:18446744073709551615"],
    ["--page-size=1G", "--itlb=4,4", "--dtlb=4,4,1G"],
    ["--dtlb=64,4,4K", "--dtlb=32,4,2M", "--dtlb=4,4,1G", "--stlb=1536,12,4K+2M", "--stlb=16,4,1G"],
    ["--machine=default", "--machine=host", "--fast-path=no", "--fast-path=yes"],
    [*GEOMETRY, *GEOMETRY],
    ["--as-cachegrind=yes", "--fast-path=yes"],
    ["--faults=no", "--faults-used=no", "--faults-hidden=no", "--reach=no", "--entries=no"],
    ["--reach=yes", "--entries=yes", "--reach-out-file=/dev/null", "--entries-out-file=/dev/null"],
]


@pytest.mark.parametrize("options", GOOD, ids=" ".join)
def test_good_options(tmp_path: Path, options: list[str]) -> None:
    done = subprocess.run(
        [TLBGRIND, "--tlbgrind-out-file=out", *options, str(client("run_exec")), "1"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    check_sound(done.stderr)
    assert done.returncode == 6
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "options, named, other",
    [
        (["--log-file=a", "--tlbgrind-out-file=./a"], "--tlbgrind-out-file=./a", "--log-file"),
        (["--log-file=tlbgrind.out.%p"], "--log-file=tlbgrind.out.%p", "--tlbgrind-out-file"),
        (["--log-file=a_zen5", "--machine=zen4,zen5", "--tlbgrind-out-file=a"], "--tlbgrind-out-file=a", "--log-file"),
        (["--log-file=a", "--faults-out-file=a"], "--faults-out-file=a", "--log-file"),
        (["--log-file=b", "--log-file=a", "--faults=yes", "--faults-out-file=a"], "--faults-out-file=a", "--log-file"),
    ],
)
def test_an_output_over_the_log(tmp_path: Path, options: list[str], named: str, other: str) -> None:
    """The core has opened its log by then, so that is where the complaint stands."""
    done = subprocess.run([TLBGRIND, *options, "/bin/true"], cwd=tmp_path, check=False)
    assert done.returncode == 1
    (log,) = tmp_path.iterdir()
    lines = [re.sub(r"^==\d+== ", "", line) for line in log.read_text().splitlines()]
    start = lines.index(f"Bad option: {named}")
    assert lines[start:] == [f"Bad option: {named}", SAME.format(other), USAGE]


@pytest.mark.parametrize(
    "options",
    [
        ["--log-file=a", "--log-fd=2", "--tlbgrind-out-file=a"],
        ["--log-file=/dev/null", "--tlbgrind-out-file=/dev/null"],
    ],
)
def test_no_output_over_the_log(tmp_path: Path, options: list[str]) -> None:
    """A log that goes elsewhere after all, a device."""
    subprocess.run([TLBGRIND, "-q", *options, "/bin/true"], cwd=tmp_path, check=True)


def test_a_name_is_no_command_to_the_terminal(tmp_path: Path) -> None:
    """Control characters and what is not UTF-8 are shown as question marks."""
    option = os.fsencode(f"--machine={tmp_path}/") + b"a\x1b[31m\x9b\xff\xc3\xa4.machine"
    done = subprocess.run([TLBGRIND, option, "true"], check=False, capture_output=True)
    assert done.returncode == 1
    assert done.stderr.count(f"{tmp_path}/a?[31m??ä.machine".encode()) >= 2
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", done.stderr)
    done.stderr.decode()
