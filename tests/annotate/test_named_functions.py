# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A function is found by its name without parameters, and by the last parts of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from annotate_support import DATA_HEAD
from call_traces import Trace
from tg_companions import call
from tg_tables import document

EVEN = "even(long, char*)"
SORT = "void std::sort<int*, bool (*)(int)>(int*, int*, bool (*)(int))"
LAMBDA = "run(int) const::{lambda(int)#1}::operator()(int) const"
PUSH = "alloc::vec::Vec<T,A>::push"
EXTEND = "<alloc::vec::Vec<T> as core::iter::Extend>::extend"
PRINT = "std::ostream& operator<< <int>(std::ostream&, int)"
TEXT = "text[abi:cxx11](int)"
HIDDEN = "(anonymous namespace)::hidden() [clone .cold]"
INDEX = "std::map<int, std::pair<A, B> >::operator[](int&&)"
SCALE = "Vec operator*<double>(Vec)"
NAMES = [EVEN, "a::even(int)", "B<int>::even() const", SORT, LAMBDA, PUSH, EXTEND, PRINT, TEXT, HIDDEN, INDEX]
NAMES += ["static_one.isra.0.cold", "main", "a::main", "A::operator bool() const", "A::~A()", SCALE]

FOUND = {
    EVEN: [EVEN],
    "even": [EVEN],  # by its whole name but for the parameters; others by their last part
    "a::even": ["a::even(int)"],
    "a::even(int)": ["a::even(int)"],
    "even(int)": ["a::even(int)"],
    "B::even": ["B<int>::even() const"],
    "B<int>::even": ["B<int>::even() const"],
    "*::even": ["B<int>::even() const", "a::even(int)"],
    "*even": [EVEN, "B<int>::even() const", "a::even(int)"],
    "?ven": [EVEN],
    "sort": [SORT],
    "std::sort": [SORT],
    "std::sort<int*, bool (*)(int)>": [SORT],
    "run::{lambda(int)#1}::operator()": [LAMBDA],
    "operator()": [LAMBDA],
    "push": [PUSH],
    "Vec::push": [PUSH],
    "vec::Vec<T,A>::push": [PUSH],
    "extend": [EXTEND],
    "<alloc*::extend": [EXTEND],
    "operator<<": [PRINT],
    "operator*": [SCALE],
    "operator bool": ["A::operator bool() const"],
    "A::~A": ["A::~A()"],
    "text": [TEXT],
    "text[abi:cxx11]": [TEXT],
    "text[*": [TEXT],  # a bracket is no pattern
    "hidden": [HIDDEN],
    "(anonymous namespace)::hidden": [HIDDEN],
    "map::operator[]": [INDEX],
    "static_one": ["static_one.isra.0.cold"],
    "main": ["main"],
    "a::main": ["a::main"],
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def calls(tmp_path: Path) -> str:
    trace = Trace()
    trace.call("top")
    for name in NAMES:
        trace.call(name)
        trace.cost(1)
        trace.leave()
    return str(trace.write(tmp_path / "out"))


@pytest.mark.parametrize("wanted", FOUND)
def test_a_function_is_found(calls: str, wanted: str) -> None:
    for option, table in (("tree", "tree"), ("callers", "calls")):
        status, out, err = call("tg_annotate", f"--{option}={wanted}", "--threshold=0", "--format=json", calls).text()
        assert (status, err) == (0, "")
        rows = next(t for t in document(out)["tables"] if t["name"] == table)["rows"]
        if option == "tree":
            found = {row["function"] for row in rows if row["depth"] == 0}
        else:
            found = {row["callee_function"] for row in rows if row["caller_function"] == "top"}
        assert sorted(found) == sorted(FOUND[wanted])


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [("evne", "even"), ("std::srot", "std::sort"), ("Vec::puhs", "Vec::push"), ("even(long, char)", EVEN), ("nothing like it", "")],
)
def test_a_near_name_is_named(calls: str, wanted: str, meant: str) -> None:
    for option in ("tree", "callers"):
        status, out, err = call("tg_annotate", f"--{option}={wanted}", calls).text()
        closest = f"; did you mean {meant}?" if meant else ""
        lists = "--inclusive --threshold=0 lists them"
        assert (status, out) == (1, "")
        assert err == f"tg_annotate: error: {calls}: argument --{option}: no function '{wanted}'; {lists}{closest}\n"


DATA = DATA_HEAD + """
object: 1 variable pages 1 touched 8 blocks 1 bytes 8
name: ns::even
file: /a

object: 2 heap pages 1 touched 8 blocks 1 bytes 8
frame: a::make(int)
at: 3 a.c
in: /a

machine: m
events: Ir Dr

ob=(1) /a
fl=(1) a.c
fn=(1) a::even(int)
9 2 0 1
fn=(2) a::even(long)
9 2 0 10
fn=(3) even_not
9 1 0 100

totals: 0 111

end
"""


@pytest.mark.parametrize(
    ("by", "of", "reads", "functions"),
    [
        ("data", "even", 11, ["a::even(int)", "a::even(long)"]),  # the function, as of equal names
        ("function", "even", 100, []),
        ("data", "ns::even", 100, []),  # the exact name, though of data
        ("data", "even(int)", 1, []),
        ("data", "even_not", 100, []),
        ("function", "a::even", 11, ["a::even(int)", "a::even(long)"]),
        ("data", "heap a::make*", 11, []),
    ],
)
def test_references_of_code_and_data(tmp_path: Path, by: str, of: str, reads: int, functions: list[str]) -> None:
    (tmp_path / "data").write_text(DATA, encoding="utf-8")
    status, out, err = call("tg_annotate", f"--by={by}", f"--of={of}", "--format=json", "data").text()
    said = f"tg_annotate: warning: data: --of={of} is of all of {', '.join(functions)}\n" if functions else ""
    assert (status, err) == (0, said)
    (table,) = document(out)["tables"][-1:]
    assert sum(row["Dr"] for row in table["rows"]) == reads


def test_no_code_and_no_data(tmp_path: Path) -> None:
    (tmp_path / "data").write_text(DATA, encoding="utf-8")
    status, out, err = call("tg_annotate", "--by=data", "--of=ns::evn", "data").text()
    assert (status, out) == (1, "")
    said = "no function and no data 'ns::evn'; --by=function and --by=data list them; did you mean ns::even?"
    assert err == f"tg_annotate: error: data: argument --of: {said}\n"


def test_instructions(tmp_path: Path) -> None:
    """Of a function of C++, by its name and not by that of another."""
    source = "namespace n { __attribute__((noinline)) int even(long a, char *b) { return a % 2 == *b; } }\n"
    (tmp_path / "a.cc").write_text(source + 'int main() { char b[2] = "a"; return n::even(3, b); }\n')
    subprocess.run(["g++", "-O1", "-g", "-o", "a", "a.cc"], check=True)
    listing = subprocess.run(["nm", "a"], check=True, capture_output=True, encoding="ascii").stdout
    (address,) = (line.split()[0] for line in listing.splitlines() if "even" in line)
    head = "version: 1\ncreator: tlbgrind-0.1.0\ncmd: ./a\npositions: instr line\nevents: Ir\n"
    body = f"ob={tmp_path / 'a'}\nfl=a.cc\nfn=n::even(long, char*)\n0x{int(address, 16):x} 1 7\n"
    (tmp_path / "out").write_text(f"# callgrind format\n{head}\n{body}\nsummary: 7\n\ntotals: 7\n")
    for wanted in ("even", "n::even"):
        status, out, err = call("tg_annotate", f"--asm={wanted}", "out").text()
        assert (status, err) == (0, "")
        assert "Instructions of a.cc:n::even(long, char*)" in out
    status, _, err = call("tg_annotate", "--asm=evne", "out").text()
    assert status == 1 and err.endswith("lists them; did you mean even?\n")
