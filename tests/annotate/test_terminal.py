# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What a terminal gets and a pipe does not: its width, colours, progress."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest
from annotate_support import command, run
from tg_companions import package

ESCAPE = re.compile(rb"\033\[[0-9;]*[mK]")


def on_terminal(
    place: Path, columns: int, *arguments: str, **environment: str
) -> bytes:
    """What is printed on a terminal of so many columns, with Unix's ends of lines."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "COLUMNS")}
    with subprocess.Popen(
        command(*arguments),
        cwd=place,
        env={**inherited, "TERM": "xterm", **environment},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    ) as process:
        os.close(follower)
        text = b""
        while True:
            try:
                more = os.read(leader, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            text += more
        os.close(leader)
        assert process.wait() == 0
    return text.replace(b"\r\n", b"\n")


def template_file(place: Path) -> Path:
    """Functions with names that are too long for a terminal."""
    long = "std::vector<std::pair<int, std::string>, std::allocator<std::pair<int, std::string> > >"
    functions = {
        f"{long}::push_back(std::pair<int, std::string> const&)": 500,
        f"{long}::operator[](unsigned long)": 400,
        "std::map<int, long, std::less<int> >::at(int)": 300,
        "std::map<int, char, std::less<int> >::at(int)": 200,
        "operator<< <char, std::char_traits<char> >(std::ostream&)": 100,
    }
    parts = ["# callgrind format", "version: 1", "creator: tlbgrind-0", "pid: 1", "cmd: t", "part: 1"]
    parts += ["desc: Format: 1", "desc: Machine: custom", "positions: line", "events: Ir", ""]
    parts += [f"ob={place}/build/program", f"fl={place}/source/container/implementation.hpp"]
    for name, count in functions.items():
        parts += [f"fn={name}", f"7 {count}"]
    total = sum(functions.values())
    path = place / "long.out"
    path.write_text("\n".join([*parts, f"summary: {total}", f"totals: {total}", ""]))
    return path


def test_a_terminal_gets_what_a_pipe_gets_where_it_is_wide_enough(place: Path) -> None:
    plain = run(place, "--annotate", "two-level.out").out
    shown = on_terminal(place, 100, "--annotate", "two-level.out")
    assert ESCAPE.sub(b"", shown) == plain
    assert b"\033[1m" in shown and b"\033" not in plain


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_rows_fit_the_terminal(columns: int, place: Path) -> None:
    template_file(place)
    for file in ("long.out", "two-level.out"):
        options = ["--by=function,file,object,line,file:function,function:file", "--threshold=1"]
        shown = ESCAPE.sub(b"", on_terminal(place, columns, *options, file))
        # Two maps would look alike, so they are shortened less.
        too_long = [
            line for line in shown.splitlines() if len(line) > columns and b"std::map" not in line
        ]
        assert too_long == []
        assert shown.count(b"%") >= 10


def test_only_wide_names_are_whole(place: Path) -> None:
    path = template_file(place)
    names = re.findall(r"fn=(.*)", path.read_text())
    whole = run(place, "--wide", "--by=function", "long.out").out.decode()
    for name in names:
        label = f"{place}/source/container/implementation.hpp:{name} [{place}/build/program]\n"
        assert whole.count(label) == 1
    short = run(place, "--by=function", "long.out").out.decode()
    assert "  .../implementation.hpp:std::vector<...>::operator[](...) [.../program]\n" in short
    assert on_terminal(place, 80, "--wide", "--color=never", "long.out") == run(place, "--wide", "long.out").out


def test_rows_that_differ_never_look_alike(place: Path) -> None:
    """Two maps would be one if both were folded."""
    template_file(place)
    for columns in (60, 80, 200):
        text = ESCAPE.sub(b"", on_terminal(place, columns, "--by=function", "long.out"))
        table = text.split(b"-- By function")[1].split(b"\n\n")[0].splitlines()[2:]
        labels = [row.split(b"%  ")[-1] for row in table]
        assert len(labels) == 5
        assert len(set(labels)) == 5


@pytest.mark.parametrize(
    ("option", "environment", "on_a_terminal", "in_a_pipe"),
    [
        (None, {}, True, False),
        ("--color=auto", {}, True, False),
        ("--color=auto", {"NO_COLOR": "1"}, False, False),
        ("--color=auto", {"NO_COLOR": ""}, True, False),
        ("--color=auto", {"TERM": "dumb"}, False, False),
        ("--color=always", {"NO_COLOR": "1", "TERM": "dumb"}, True, True),
        ("--color=never", {}, False, False),
    ],
)
def test_colours(
    option: str | None,
    environment: dict[str, str],
    on_a_terminal: bool,
    in_a_pipe: bool,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = [*([option] if option else []), "two-level.out"]
    shown = on_terminal(place, 100, *arguments, **environment)
    assert (b"\033" in shown) == on_a_terminal
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (b"\033" in run(place, *arguments).out) == in_a_pipe


def test_colours_change_nothing_else(place: Path) -> None:
    for arguments in (["-v", "--annotate", "names.out"], ["--diff", "two-level.out", "second.out"]):
        coloured = run(place, "--color=always", *arguments).out
        assert ESCAPE.sub(b"", coloured) == run(place, *arguments).out


NAMES: Any = package("base.names")


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("f", "f"),
        ("f<int>", "f<int>"),
        ("f<unsigned>(std::vector<unsigned long>)", "f<...>(std::vector<...>)"),
        ("A<B<C>, D<E> >::f", "A<...>::f"),
        ("A<(X)->Y, Z>::f", "A<...>::f"),
        ("operator<", "operator<"),
        ("operator<<(std::ostream&, X)", "operator<<(std::ostream&, X)"),
        ("A::operator->() const", "A::operator->() const"),
        ("bool operator< <char, int>(X)", "bool operator< <char, int>(X)"),
        ("operator<=><long, long>(X)", "operator<=><...>(X)"),
        ("operator<< <long>(S<long long>)", "operator<< <long>(S<...>)"),
        ("<T as core::ops::Drop>::drop", "<T as core::ops::Drop>::drop"),
        ("f<unclosed", "f<unclosed"),
        ("f<a->b, c>::g", "f<...>::g"),
        # of Rust, as newer compilers have them, and as older ones do
        ("inv::count::<u64, core::iter::Map<I>>", "inv::count::<...>"),
        ("<alloc::vec::Vec<u64>>::push::<usize>", "<alloc::vec::Vec<u64>>::push::<...>"),
        ("core::slice::<impl core::ops::Index<I> for [T]>::index", "core::slice::<impl core::ops::Index<I> for [T]>::index"),
        # of Go
        ("slices.sort[go.shape.[]int,go.shape.struct { a []b }].func1", "slices.sort[...].func1"),
        ("sync.(*Map[go.shape.int,go.shape.int]).Load", "sync.(*Map[...]).Load"),
        ("main.f[int]", "main.f[int]"),
        ("main.f[go.shape.int", "main.f[go.shape.int"),
    ],
)
def test_template_arguments_are_folded(name: str, folded: str) -> None:
    assert NAMES.fold(name) == folded


LABEL = "/a/b/c/file.cc:ns::function(int, long) [/usr/lib/x86_64-linux-gnu/libx.so.1]"


@pytest.mark.parametrize(
    ("label", "fitted"),
    [
        ("a.cc:(anonymous namespace)::f(int, long, char) [a]", "a.cc:(anonymous namespace)::f(...) [a]"),
        ("a.cc:X<...>::operator()(int, long, char) const [a]", "a.cc:X<...>::operator()(...) const [a]"),
        ("libc_start_call_main.h:(below main) [/lib64/libc.so]", "libc_start_call_main.h:(below main) [.../libc.so]"),
        ("a.cc:f(void (*)(int, long, char), int, long) [a]", "a.cc:f(...) [a]"),
        ("/src/json/decode.go:json.(*decodeState).object [a]", ".../decode.go:json.(*decodeState).object [a]"),
        ("/src/json/decode.go:encoding/json.(*decodeState).object [a]", ".../decode.go:.../json.(*decodeState).object [a]"),
    ],
)
def test_only_parameters_become_dots(label: str, fitted: str) -> None:
    assert NAMES.fit(label, len(label) - 1) == fitted


@pytest.mark.parametrize(
    ("room", "fitted"),
    [
        (len(LABEL), LABEL),
        (len(LABEL) - 1, "/a/b/c/file.cc:ns::function(int, long) [.../libx.so.1]"),
        (53, ".../file.cc:ns::function(int, long) [.../libx.so.1]"),
        (50, ".../file.cc:ns::function(...) [.../libx.so.1]"),
        (44, "file.cc:ns::function(...) [libx.so.1]"),
        (36, "...:ns::function(...) [libx.so.1]"),
        (33, "...:ns::function(...) [libx.so.1]"),
        (32, "ns::function(...) [libx.so.1]"),
        (28, "file.cc:ns::function(...)"),
        (24, "...:ns::function(...)"),
        (20, "ns::function(...)"),
        (16, "...::function"),
        (12, "function"),
        (7, "fu...on"),
    ],
)
def test_folders_go_first_and_the_middle_last(room: int, fitted: str) -> None:
    assert NAMES.fit(LABEL, room) == fitted
    assert len(fitted) <= room


@pytest.mark.parametrize(
    ("label", "room", "fitted"),
    [
        ("???:llvm::Map<...>::find(...) [/lib/libLLVM-14.so.1]", 42, "...::Map<...>::find(...) [libLLVM-14.so.1]"),
        ("???:llvm::Map<...>::find(...) [/lib/libLLVM-14.so.1]", 23, "...::find(...)"),
        ("a.cc:void ns::A::f<...>(...)", 20, "void ...::f<...>"),
        ("heap ns::A::add (join.c:76)", 25, "heap ...::add (join.c:76)"),
        ("a.rs:<impl core::ops::Index<I> for [T]>::index", 20, "...::index"),
        ("a.cc:ns::A::operator->(...)", 20, "...::operator->(...)"),
        ("a.cc:ns::A::operator<(...)", 19, "...::operator<(...)"),
        ("a.cc:ns::A::get() const", 14, "...::get"),
        ("a.cc:(anonymous namespace)::function(...)", 20, "...::function(...)"),
        ("a.c:a_function_of_c_code", 16, "a_func..._c_code"),
        ("???:??? [/lib/libLLVM-14.so.1]", 23, "??? [libLLVM-14.so.1]"),
        ("/a/b/implementation.c:1234", 16, "implem....c:1234"),
    ],
)
def test_the_end_of_a_function_stays(label: str, room: int, fitted: str) -> None:
    assert NAMES.fit(label, room) == fitted


def test_names_that_would_look_alike_get_no_more_room_than_they_need() -> None:
    parameters = ", ".join(f"parameter_{i}" for i in range(40))
    labels = [f"a.cc:space::{name}::run({parameters}) [a.out]" for name in ("First", "Second")]
    short = NAMES.shortened([*labels, "a.cc:space::Third::walk() [a.out]"], 24, "/")
    assert short == ["space::First::run(...)", "space::Second::run(...)", "...:space::Third::walk()"]


def test_only_what_is_below_the_folder_is_relative() -> None:
    labels = ["/w/p/x.c:f [/w/p/b/a.out]", "/w/px/x.c:g [/usr/w/p/y]", "/w/p/é z.c"]
    assert NAMES.shortened(labels, 200, "/w/p") == ["x.c:f [b/a.out]", "/w/px/x.c:g [/usr/w/p/y]", "é z.c"]
    assert NAMES.shortened(["/w/p/x.c", "x.c"], 200, "/w/p/") == ["/w/p/x.c", "x.c"]
    assert NAMES.shortened(["/w/x.c"], 200, "/") == ["w/x.c"]
