# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A damaged file is read whole or refused in one line, by each companion."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Callable, NamedTuple

import pytest
from damage_edits import (
    CALLGRIND,
    CALLS,
    ENTRIES,
    FAULT_LOG,
    OUT_FILE,
    TOUCHES,
    USED_BYTES,
    Edits,
)
from tg_companions import READERS, Result, call, command, refused
from tg_long import LONG

TESTS = Path(__file__).resolve().parents[1]


class Sample(NamedTuple):
    """A recorded file, and what the damage to it is."""

    companion: str
    file: str
    edits: Edits
    turns: int  # how often it is damaged by chance
    letters: bytes  # of which the format is made
    options: list[str]
    more_options: tuple[list[str], ...] = ([],)  # in turn, where the damage is by chance
    spare: tuple[bytes, ...] = ()  # lines that no total tells of begin so
    source_folder: str = ""

    @property
    def data(self) -> bytes:
        return (TESTS / self.file).read_bytes()


def out_file(name: str, edits: Edits) -> Sample:
    options, letters = ["--annotate", "--by=line,function"], b"0123456789 -+*()=:\n"
    return Sample("tg_annotate", f"annotate/data/{name}", edits, 500, letters, options, source_folder="annotate/data/src")


FAULT_LETTERS = b"0123456789abcdef-+.x\t\n*"
FAULT_VIEWS = (
    ["--format=text"],
    ["--format=json"],
    ["--waste", "--growth=3", "--phase-range"],
    ["--view=4k"],
)
USED_VIEWS = (
    ["--format=text"],
    ["--format=json", "--used"],
    ["--waste", "--growth=3", "--phase-range"],
    ["--view=4k", "--used"],
)
TOUCH_VIEWS = (["--format=text"], ["--what-if"])
FAULT_SPARE = (b"#", b"creator", b"pid", b"cmd", b"fault-around", b"read-ahead", b"kernel", b"thp", b"mthp", b"assumption")

# A damaged file needs no plots.
NO_CHART = [f"--chart-js={TESTS}/report/data/no_chart.js"]

SAMPLES = {
    "costs": out_file("two-level.out", OUT_FILE),
    "costs of three levels": out_file("three-level.out", {}),
    "odd names": out_file("names.out", {}),
    "calls": Sample(
        "tg_annotate", "annotate/data/calls.out", CALLS, 500, b"0123456789 -+*()=:\n", ["--tree", "--callers", "--inclusive"]
    ),
    "callgrind's costs": out_file("callgrind.out", CALLGRIND),
    "faults": Sample(
        "tg_faults", "faults/data/mixed.faults", FAULT_LOG, 2000, FAULT_LETTERS, [], FAULT_VIEWS, FAULT_SPARE
    ),
    "used bytes": Sample(
        "tg_faults", "faults/data/used.faults", USED_BYTES, 2000, FAULT_LETTERS, [], USED_VIEWS, FAULT_SPARE
    ),
    "touches": Sample(
        "tg_faults", "faults/data/touches.faults", TOUCHES, 1000, FAULT_LETTERS + b"rwx", [], TOUCH_VIEWS, (*FAULT_SPARE, b"touch")
    ),
    "a page of costs": Sample("tg_report", "annotate/data/two-level.out", {}, 200, b"0123456789 -+*()=:\n", NO_CHART),
    "a page of faults": Sample("tg_report", "faults/data/used.faults", {}, 200, FAULT_LETTERS, NO_CHART),
    "a page of entries": Sample("tg_report", "order/data/first.entries", {}, 200, b"0123456789 -()=x\n", NO_CHART),
    "entries": Sample("tg_order", "order/data/first.entries", ENTRIES, 1500, b"0123456789 -()=x\n", []),
}


class Reader:
    """Hands damaged files to a companion in this process."""

    def __init__(self, sample: Sample, folder: Path) -> None:
        self.sample = sample
        self.file = folder / "damaged"

    def ask(self, data: bytes, *more: str) -> Result:
        self.file.write_bytes(data)
        return call(self.sample.companion, *self.sample.options, *more, self.file.name)

    def is_whole(self, data: bytes, *more: str) -> bool:
        """Whether the file is read. If not, it is refused in one line, and nothing is printed."""
        status, out, err = self.ask(data, *more)
        name = self.sample.companion
        if status == 0:
            annotated = self.sample.source_folder
            last_line = b"not annotated: no source file is known\n" if annotated else b"\n"
            assert out.endswith(last_line)
            return True
        assert (status, out) == (1, b"")
        warnings = rb"(tg_order: warning: [^\n]+\n)*"
        assert re.fullmatch(warnings + name.encode() + rb": error: damaged(:[0-9]+)?: [^\n]+\n", err), err
        return False


@pytest.fixture(params=SAMPLES)
def reader(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    sample = SAMPLES[request.param]
    if sample.source_folder:
        shutil.copytree(TESTS / sample.source_folder, tmp_path / "src")
    monkeypatch.chdir(tmp_path)
    return Reader(sample, tmp_path)


def test_a_file_cut_anywhere_is_refused_or_whole(reader: Reader) -> None:
    data = reader.sample.data
    assert reader.is_whole(data)
    assert reader.is_whole(data[:-1])  # only the last line feed is missing
    for size in range(len(data) - 1):
        # Inside of lines, some: all take as many seconds as the file has kilobytes.
        if not LONG and size % 11 != 0 and b"\n" not in data[max(size - 1, 0) : size + 1]:
            continue
        assert not reader.is_whole(data[:size]), f"cut after byte {size}"


def test_a_file_with_the_line_ends_of_another_system_is_read_the_same(reader: Reader) -> None:
    data = reader.sample.data
    status, out, err = reader.ask(data)
    assert status == 0
    assert reader.ask(data.replace(b"\n", b"\r\n")) == (status, out, err)


@pytest.mark.parametrize(("pack", "unpack"), [(gzip.compress, "gunzip"), (lzma.compress, "unxz"), (bz2.compress, "bunzip2")])
def test_a_compressed_file_is_refused_with_how_to_unpack_it(
    reader: Reader, pack: Callable[[bytes], bytes], unpack: str
) -> None:
    status, out, err = reader.ask(pack(reader.sample.data))
    assert (status, out) == (1, b"")
    assert b"error: damaged: is compressed by " in err
    assert f"; unpack it first: {unpack} damaged\n".encode() in err


def test_random_damage_never_ends_in_a_traceback(reader: Reader) -> None:
    sample = reader.sample
    chance = random.Random(sample.file)
    wholes = set()
    for turn in range(sample.turns if LONG else sample.turns // 4):
        more = sample.more_options[turn % len(sample.more_options)]
        wholes.add(reader.is_whole(damaged(sample.data, chance, sample.letters), *more))
    assert wholes == {False, True}  # else the damage is too small or too large to prove anything


def damaged(data: bytes, chance: random.Random, letters: bytes) -> bytes:
    """One to four bytes or pieces replaced, by one of the letters too, taken out or put in twice."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(out))
        kind = chance.randrange(4)
        if kind == 0:
            out[place] = chance.randrange(256)
        elif kind == 1:
            out[place] = chance.choice(letters)
        elif kind == 2:
            del out[place : place + chance.randint(1, 20)]
        else:
            other = chance.randrange(len(data))
            out[place:place] = data[other : other + chance.randint(1, 40)]
    return bytes(out)


@pytest.mark.parametrize("reader", [name for name, sample in SAMPLES.items() if sample.spare], indirect=True)
def test_a_file_without_any_of_its_lines_is_refused_or_still_adds_up(reader: Reader) -> None:
    """Totals, gaps and definitions tell of every line but descriptions and counts of their own."""
    lines = reader.sample.data.splitlines(keepends=True)
    for number, line in enumerate(lines):
        is_spare = number > 0 and line.startswith(reader.sample.spare)
        assert reader.is_whole(b"".join(lines[:number] + lines[number + 1 :])) == is_spare, line


EDITED = [(name, title) for name, sample in SAMPLES.items() for title in sample.edits]


@pytest.mark.parametrize(("reader", "title"), EDITED, indirect=["reader"])
def test_an_edited_file_is_refused(reader: Reader, title: str) -> None:
    sample = reader.sample
    old, new, complaint = sample.edits[title]
    assert old in sample.data
    told = reader.ask(sample.data.replace(old, new, 1))
    assert told.text() == (1, "", f"{sample.companion}: error: damaged:{complaint}\n")


# What is no file of the format: its name, and what is said of it. {} is the format's first line.
NO_FILE = {
    "nothing": "nothing: No such file or directory",
    "folder": "folder: Is a directory",
    "": "'': No such file or directory",
    "a\nb": "a?b: No such file or directory",
    "empty": "empty: the file is empty",
    "binary": "binary:1: not {}",
    "text": "text:1: not {}",
    "/proc/self/mem": "/proc/self/mem: Input/output error",  # it opens but cannot be read, by root either
}
FIRST_LINES = {
    "tg_annotate": "an out-file: the first line is not '# callgrind format'",
    "tg_faults": "a fault log: the first line is not '# tlbgrind fault log'",
    "tg_order": "an entries file: the first line is not '# tlbgrind entries'",
    "tg_report": "a file of tlbgrind: the first line is that of no out-file, fault log, reach file, entries file, data file or timeline",
}


@pytest.mark.parametrize("name", NO_FILE)
@pytest.mark.parametrize("companion", READERS)
def test_what_is_no_such_file_is_refused(companion: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 64)
    (tmp_path / "text").write_text("int main(void) { return 0; }\n")
    before = []
    if companion == "tg_annotate":  # a good file before it changes nothing
        before.append(TESTS / "annotate/data/two-level.out")
    complaint = NO_FILE[name].format(FIRST_LINES[companion])
    if (companion, name) == ("tg_report", "folder"):  # it looks for a run in it
        complaint = "folder: no file of tlbgrind is in this folder"
    refused(companion, tmp_path, complaint, *before, name)


GOOD = {
    "an out-file": (TESTS / "annotate/data/two-level.out", "tg_annotate", "tg_annotate"),
    "a fault log": (TESTS / "faults/data/example.faults", "tg_faults", "tg_faults"),
    "an entries file": (TESTS / "order/data/first.entries", "tg_order", "tg_order"),
}


@pytest.mark.parametrize("companion", [name for name in READERS if name != "tg_report"])
def test_a_file_of_another_kind_is_refused_with_the_command_that_reads_it(companion: str, tmp_path: Path) -> None:
    (own,) = [what for what, (_, name, _) in GOOD.items() if name == companion]
    others = {what: (path.read_text(), reader) for what, (path, _, reader) in GOOD.items() if what != own}
    others["a data file"] = ("# tlbgrind data\n", "tg_annotate --by=data")
    others["a reach file"] = ("# tlbgrind reach\n", "tg_report")
    others["a timeline"] = ("# tlbgrind timeline\n", "tg_report")
    if companion == "tg_annotate":
        del others["a data file"]
    for what, (text, reader) in others.items():
        (tmp_path / "other").write_text(text)
        refused(companion, tmp_path, f"other:1: this is {what}, not {own}; {reader} reads it", "other")


@pytest.mark.parametrize(
    ("companion", "mistyped", "meant"),
    [
        ("tg_annotate", "--by=functon", "function"),
        ("tg_annotate", "--by=LINE", "line"),
        ("tg_annotate", "--tresh=1", "--threshold=1"),
        ("tg_annotate", "--versoin", "--version"),
        ("tg_faults", "--veiw=cold", "--view=cold"),
        ("tg_faults", "--by=functions", "function"),
        ("tg_native", "--tlbgrnd=x", "--tlbgrind=x"),
        ("tg_order", "--forcast", "--forecast"),
        ("tg_report", "--chartjs=x", "--chart-js=x"),
    ],
)
def test_what_is_mistyped_is_refused_with_what_was_meant(
    companion: str, mistyped: str, meant: str
) -> None:
    result = call(companion, mistyped, "x")
    assert (result.status, result.out) == (1, b"")
    error = result.err.decode()
    assert f"; did you mean {meant}? ({companion} --help lists what is allowed)" in error
    assert error.count("\n") == 1


def small_space() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


@pytest.mark.parametrize("companion", READERS)
def test_a_file_larger_than_memory_is_refused(companion: str, tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as out:
        out.write(b"# tlbgrind entries\n")  # so that tg_report, too, begins to read
        out.truncate(1 << 34)
    done = subprocess.run(
        command(companion, "large"),
        cwd=tmp_path,
        preexec_fn=small_space,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    complaint = f"{companion}: error: large: not enough memory to read so much\n"
    assert (done.stderr.decode(), done.returncode, done.stdout) == (complaint, 1, b"")
