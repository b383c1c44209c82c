# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The command line: what it refuses, and how it meets pipes, full disks and other folders."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from annotate_support import SCRIPT, command, run
from tg_companions import ROOT, package

SEE = " (tg_annotate --help lists what is allowed)"

# Arguments and the complaint about them.
REFUSED = {
    "": f"no OUTFILE given{SEE}",
    "--by=lines two-level.out": "argument --by: 'lines' is not one of function, file, object, data,"
    " data:offset, line, line:inclusive, file:function, function:file; did you mean line?"
    + SEE,
    "--by= two-level.out": f"argument --by: '' is not NAME[,NAME...]{SEE}",
    "--annotated two-level.out": f"no option --annotated; did you mean --annotate?{SEE}",
    "--thresh=1 two-level.out": f"no option --thresh; did you mean --threshold=1?{SEE}",
    "--annotatd=1 two-level.out": f"no option --annotatd; did you mean --annotate?{SEE}",
    "--annotate=stride.c two-level.out": "argument --annotate: ignored explicit argument 'stride.c'"
    + SEE,
    "two-level.out --context": f"argument --context: expected one argument{SEE}",
    "--context=-1 two-level.out": f"argument --context: '-1' is not a number of lines{SEE}",
    "--context=1e3 two-level.out": f"argument --context: '1e3' is not a number of lines{SEE}",
    "--context=1 two-level.out": f"--context goes with --annotate or --source only{SEE}",
    "--by=line -I src two-level.out": f"-I goes with --annotate or --source only{SEE}",
    "--threshold=-1 two-level.out": "argument --threshold: '-1' is not a percentage from 0 to 100"
    + SEE,
    "--threshold=100.1 two-level.out": "argument --threshold: '100.1' is not a percentage from 0 to"
    f" 100{SEE}",
    "--threshold=nan two-level.out": "argument --threshold: 'nan' is not a percentage from 0 to 100"
    + SEE,
    "--show-percs=maybe two-level.out": f"argument --show-percs: 'maybe' is not yes or no{SEE}",
    "--show=Ir,,Dr two-level.out": f"argument --show: 'Ir,,Dr' is not NAME[,NAME...]{SEE}",
    "--show=walk two-level.out": "argument --show: no event 'walk'; there are Ir, I1tm, ILtm, Dr,"
    " D1tmr, DLtmr, Dw, D1tmw, DLtmw, walks, DLtm, L1tm, D1tm, Drw; did you mean walks?",
    "--show=I1tmm two-level.out": "argument --show: no event 'I1tmm'; there are Ir, I1tm, ILtm, Dr,"
    " D1tmr, DLtmr, Dw, D1tmw, DLtmw, walks, DLtm, L1tm, D1tm, Drw; did you mean I1tm?",
    "--sort=all two-level.out": "argument --sort: no event 'all'; there are Ir, I1tm, ILtm, Dr,"
    " D1tmr, DLtmr, Dw, D1tmw, DLtmw, walks, DLtm, L1tm, D1tm, Drw",
    "--sort=walks callgrind.out": "argument --sort: no event 'walks'; there are Ir, Dr, sysTime",
    "--diff two-level.out": f"--diff takes two OUTFILEs, not 1{SEE}",
    "--diff two-level.out second.out second.out": f"--diff takes two OUTFILEs, not 3{SEE}",
    "--source=ride.c two-level.out": "argument --source: no source 'ride.c' among the 2 that"
    " two-level.out names; --by=file --threshold=0 lists them",
    "--advice --by=line two-level.out": f"--advice goes without --by{SEE}",
    "--advice --show=Ir two-level.out": f"--advice goes without --show{SEE}",
    "--advice=libraries --sort=Ir two-level.out": f"--advice goes without --sort{SEE}",
    "--advice --of=main two-level.out": f"--advice goes without --of{SEE}",
    "--advice --machine=custom two-level.out": f"--advice goes without --machine{SEE}",
    "--advice=libraries --phase=start two-level.out": f"--advice goes without --phase{SEE}",
    "--to=pprof --show=Ir two-level.out": "--to goes without --show: the event is --to=FORMAT=EVENT"
    + SEE,
    "--machine=zen4 two-level.out": "two-level.out: argument --machine: 'zen4' is chosen in data"
    " files; this out-file is of custom",
    "--machine=zen4 callgrind.out": "callgrind.out: argument --machine: 'zen4' is chosen in data"
    " files; this out-file is of no machine",
    "--mod-filename=src two-level.out": "argument --mod-filename: 'src' is not s/RE/NEW/, with g or"
    f" i behind it or not{SEE}",
    "--mod-filename=s/a/b two-level.out": "argument --mod-filename: 's/a/b' is not s/RE/NEW/, with"
    f" g or i behind it or not{SEE}",
    "--mod-funcname=s/a/b/x two-level.out": "argument --mod-funcname: 's/a/b/x' is not s/RE/NEW/,"
    f" with g or i behind it or not{SEE}",
    "--mod-funcname=s/(/b/ two-level.out": "argument --mod-funcname: 's/(/b/': '(' is not a regular"
    f" expression: missing ), unterminated subpattern at position 0{SEE}",
    r"--mod-funcname=s/a/\9/ two-level.out": r"'s/a/\9/': '\9' is not a replacement: invalid group"
    " reference 9 at position 1",
}


@pytest.mark.parametrize("arguments", REFUSED)
def test_wrong_arguments_are_refused_in_one_line(arguments: str, place: Path) -> None:
    result = run(place, *arguments.split())
    assert result.err.decode() == f"tg_annotate: error: {REFUSED[arguments]}\n"
    assert (result.status, result.out) == (1, b"")


def test_options_may_stand_behind_files_and_files_behind_two_dashes(place: Path) -> None:
    (place / "--by=odd").write_bytes((place / "two-level.out").read_bytes())
    (place / "odd").write_bytes((place / "two-level.out").read_bytes())
    plain = run(place, "-v", "--by=file", "two-level.out", "odd")
    mixed = run(place, "two-level.out", "-v", "--by=file", "--", "--by=odd")
    assert plain.status == mixed.status == 0
    assert mixed.out.count(b"--by=odd") == 1
    assert mixed.out.replace(b"--by=odd", b"odd") == plain.out


def test_version_is_the_package_s(place: Path) -> None:
    text = (ROOT / "tlbgrind" / "tgreport" / "_version.py").read_text()
    version = re.fullmatch(r'VERSION = "([0-9]+\.[0-9]+\.[0-9]+[^"]*)"\n', text)
    assert version is not None
    assert run(place, "--version") == (0, f"tg_annotate {version[1]}\n".encode(), b"")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_needs_no_file(option: str, place: Path) -> None:
    result = run(place, option, "--by=file")
    assert result.status == 0
    assert result.out.startswith(b"Usage: tg_annotate [options] OUTFILE...\n")
    assert max(map(len, result.out.splitlines())) <= 100


def test_help_and_man_page_list_the_same_options(place: Path) -> None:
    help_text = run(place, "--help").out.decode()
    in_help = set(re.findall(r"^  (?:-.(?: DIR)?, )?(--[a-z-]+)", help_text, re.MULTILINE))
    man = (ROOT / "docs" / "tg_annotate.1").read_text()
    in_man = set(re.findall(r"^\.It (?:Fl . (?:Ar DIR )?, )?Fl (-[a-z-]+)", man, re.MULTILINE))
    assert in_help == {"-" + option for option in in_man}
    assert len(in_help) == 32


def test_a_reader_that_stops_reading_is_no_failure(place: Path) -> None:
    # More than a pipe holds, so that the writer meets the closed end.
    files = [f"{number}.out" for number in range(2000)]
    for name in files:
        (place / name).write_bytes((place / "two-level.out").read_bytes())
    process = subprocess.Popen(
        command("--annotate", *files),
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    assert process.stdout.readline().startswith(b"2,000 out-files: ./stride 4096 on custom; ")
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, b"")


@pytest.mark.parametrize(
    ("redirection", "complaint"),
    [
        (">/dev/full", "standard output: No space left on device"),
        (">&-", "standard output is closed"),
    ],
)
def test_output_that_cannot_be_written_is_a_failure(
    redirection: str, complaint: str, place: Path
) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *command("two-level.out")],
        cwd=place,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.stderr.decode() == f"tg_annotate: error: {complaint}\n"
    assert done.returncode == 1


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&1 | true", "2>&-"])
def test_a_warning_that_cannot_be_written_costs_no_report(redirection: str, place: Path) -> None:
    os.utime(place / "src" / "stride.c")  # newer than the out-file, which is warned of
    arguments = ("--source=stride.c", "two-level.out")
    told = run(place, *arguments)
    assert told.status == 0
    assert told.err.startswith(b"tg_annotate: warning: ")
    # The pipe is closed before anything is written.
    script = f'{{ sleep 1; "$@" >report; echo $? >status; }} {redirection}'
    subprocess.run(
        ["sh", "-c", script, "sh", *command(*arguments)], cwd=place, check=False
    )
    assert (place / "report").read_bytes() == told.out
    assert (place / "status").read_text() == "0\n"


def test_an_error_that_cannot_be_written_is_still_one(place: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" 2>/dev/full', "sh", *command("nowhere.out")],
        cwd=place,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")


def test_it_runs_by_itself_and_through_a_link_from_anywhere(place: Path) -> None:
    link = place / "link"
    link.symlink_to(SCRIPT)
    done = subprocess.run(
        [str(link), "--version"], cwd="/", capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_it_finds_its_package_where_it_is_installed(place: Path) -> None:
    for source, target in [
        (SCRIPT, "prefix/bin/tg_annotate"),
        *(
            (module, f"prefix/share/tlbgrind/python/{module.relative_to(ROOT / 'tlbgrind')}")
            for module in (ROOT / "tlbgrind" / "tgreport").rglob("*.py")
        ),
    ]:
        copy = place / target
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
        copy.chmod(0o755)
    done = subprocess.run(
        [str(place / "prefix/bin/tg_annotate"), "two-level.out"],
        cwd=place,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == run(place, "two-level.out").out


def test_adding_up_different_machines_is_warned_of(place: Path) -> None:
    second = (place / "second.out").read_bytes()
    other = second.replace(b"desc: Machine: custom\n", b"desc: Machine: zen4\n")
    (place / "other.out").write_bytes(other)
    result = run(place, "two-level.out", "other.out")
    assert result.status == 0
    assert result.err == (
        b"tg_annotate: warning: the out-files of different machines (custom, zen4) are added up, which counts"
        b" each reference once per machine; --diff compares two of them\n"
    )
    assert run(place, "--diff", "two-level.out", "other.out").err == b""
    # Options make machines of one name, by their arrays and by their pages.
    first = (place / "two-level.out").read_bytes()
    for old, new in ((b"1536 entries", b"3072 entries"), (b"Page size: 4096", b"Page size: 65536")):
        assert first.count(old) == 1
        (place / "other.out").write_bytes(first.replace(old, new))
        for name in ("two-level", "other"):
            (place / f"{name}.more").write_bytes((place / f"{name}.out").read_bytes())
        result = run(place, "-v", "two-level.out", "other.out", "two-level.more", "other.more")
        assert result.err.startswith(
            b"tg_annotate: warning: the out-files of different machines (custom of two-level.out, custom of"
            b" other.out) are added up"
        )
        assert result.out.count(b"Machine of:") == 2


def test_a_parent_and_its_children_are_of_one_machine(place: Path) -> None:
    """What belongs to a run does not make another machine."""
    of_the_parent = (
        b"desc: Memory: 4K pages: 12 touched\n"
        b"desc: Straddles: instructions 3, reads 1, writes 0\n"
        b"desc: Second misses: I1tm 0\n"
        b"desc: Unperformed helper accesses: reads 0, writes 0\n"
    )
    of_the_child = (
        b"desc: Memory: 4K pages: 7 touched\n"
        b"desc: Forked: counts since the fork from pid 4711\n"
        b"desc: Straddles: instructions 2, reads 1, writes 0\n"
        b"desc: Second misses: I1tm 1\n"
        b"desc: Unperformed helper accesses: reads 3, writes 0\n"
    )
    whole = (place / "two-level.out").read_bytes()
    old = b"desc: Straddles: instructions 3, reads 1, writes 0\n"
    assert whole.count(old) == 1
    (place / "parent.out").write_bytes(whole.replace(old, of_the_parent))
    (place / "child.out").write_bytes(whole.replace(old, of_the_child))
    result = run(place, "--verbose", "parent.out", "child.out")
    assert (result.status, result.err) == (0, b"")
    head = [line.split(b":", 1) for line in result.out.splitlines() if b":" in line]
    names = [name for name, _ in head]
    assert b"Machine of" not in names
    assert (names.count(b"Machine"), names.count(b"Array")) == (1, 3)
    facts = [(name, value.strip()) for name, value in head]
    for line in (of_the_parent + of_the_child).splitlines():
        _, name, value = line.split(b": ", 2)
        assert (name, value) in facts


def test_what_has_no_name_is_not_renamed(place: Path) -> None:
    options = ["--annotate", "--by=function,file,object,line", "--threshold=0", "two-level.out"]
    result = run(place, "--mod-filename=s|^|/new/|", *options)
    assert result.status == 0
    assert b"/new/src/stride.c" in result.out
    assert b"/new/???" not in result.out

    def unknown(text: bytes) -> list[bytes]:
        return [line for line in text.splitlines() if b"no source file is known" in line]

    assert len(unknown(result.out)) == 1
    assert unknown(result.out)[0].split() == unknown(run(place, *options).out)[0].split()


@pytest.mark.parametrize("meaning", ["Cycles of misses, an estimate", "Cycles of misses, an estimate, assumed"])
def test_cycles_are_the_first_column_measured_or_assumed(place: Path, meaning: str) -> None:
    """What is assumed is said once, below the table."""
    text = (place / "three-level.out").read_text(encoding="utf-8")
    text = text.replace("Wcyc : Estimated walk cycles", f"Wcyc : {meaning}")
    (place / "costs.out").write_text(text, encoding="utf-8")
    out = run(place, "costs.out").out.decode()
    heading = next(line for line in out.splitlines() if "cum." in line)
    assert heading.split()[0] == "Wcyc"
    assert out.count("assumed") == meaning.count("assumed")


def test_expressions_are_not_warned_of_by_python(place: Path) -> None:
    for expression in ("s/[[s]/b/", "s/[s&&t]/b/", "s/[s||t]/b/"):
        result = run(place, f"--mod-filename={expression}", "two-level.out")
        assert (result.status, result.err) == (0, b"")


def test_a_difference_is_of_what_both_files_have(place: Path) -> None:
    """Machines and options make different events; what one file has not is left out of all tables."""
    alone = ["I2tm", "D2tmr", "D2tmw", "PFi", "PFr", "PFw", "Wcyc"]
    three = (place / "three-level.out").read_text(encoding="utf-8")
    columns = next(line for line in three.splitlines() if line.startswith("events: ")).split()[1:]
    second = [columns.index(event) for event in alone]

    def without(match: re.Match[str]) -> str:
        numbers = match[2].split()
        return match[1] + " ".join(number for n, number in enumerate(numbers) if n not in second)

    less = re.sub(r"^(events: |summary: |totals: |[0-9]+ )(.*)", without, three, flags=re.MULTILINE)
    less = re.sub(rf"^event: ({'|'.join(alone)}) .*\n", "", less, flags=re.MULTILINE)
    (place / "less.out").write_text(less, encoding="utf-8")
    options = ["--diff", "--by=function,file,object,line", "--annotate", "--threshold=0"]
    for names in (["two-level.out", "three-level.out"], ["three-level.out", "two-level.out"]):
        result = run(place, *options, *names)
        oracle = run(place, *options, *(name.replace("three-level", "less") for name in names))
        warning, _, rest = result.err.partition(b"\n")
        left_out = f"three-level.out: {', '.join(alone)}: not in the other file, so left out"
        assert warning.decode() == f"tg_annotate: warning: {left_out}"
        assert rest == oracle.err.replace(b"less", b"three-level")
        assert (result.status, oracle.status) == (0, 0)
        assert result.out.replace(b"three-level", b"less") == oracle.out


@pytest.mark.parametrize("view", ["--by=function", "--by=object", "--inclusive"])
def test_what_rows_are_sorted_by_has_a_column(view: str, place: Path) -> None:
    """The first one, if it is none of the usual columns."""

    def columns(*arguments: str) -> list[str]:
        text = run(place, view, "--threshold=0", *arguments, "calls.out").out.decode()
        return text.split("\n-- ")[1].splitlines()[1].split()

    usual = columns()
    assert "Dw" not in usual
    assert columns("--sort=Dw,Ir") == ["Dw", *usual]
    assert columns("--sort=Ir") == usual
    assert columns("--sort=Dw", "--show=Ir")[:1] == ["Ir"]
    assert "Dw" not in columns("--sort=Dw", "--show=Ir")


@pytest.mark.parametrize(
    ("recorded", "found"),
    [
        ("./string/../sysdeps/x/multiarch/../multiarch/strcmp.S", "sysdeps/x/multiarch/strcmp.S"),
        ("../../lib/./list.c", "lib/list.c"),
        ("/build/a/b/../../lib/list.c", "lib/list.c"),
        ("/build/../lib/list.c", "list.c"),
    ],
)
def test_a_source_beside_the_folder_of_its_compilation_is_found(tmp_path: Path, recorded: str, found: str) -> None:
    """Where a name goes up, as glibc's do, the folders in front of that are none of its own."""
    there = tmp_path / "moved" / found
    there.parent.mkdir(parents=True)
    there.write_text("the line\n")
    source = package("annotate.sources").find(recorded, [str(tmp_path / "nowhere"), str(tmp_path / "moved")])
    assert source is not None
    assert (source.path, source.lines) == (str(there), ["the line"])
