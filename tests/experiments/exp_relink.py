# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""For experiments that link real programs in several ways: bash (whole and in pieces), git, ninja and CPython, from
Debian's source packages.

Each is compiled once, position-independent, every function and variable in a section of its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from e13_order import _extra_libraries, fetch
from exp_lab import HERE, Broken, Lab, setting
from exp_order import in_small_folios

FLAGS = "-O2 -g0 -ffunction-sections -fdata-sections -fPIE"


@dataclass
class Source:
    """A program, compiled, and how it is linked."""

    name: str
    arguments: Sequence[str]
    folder: Path
    link: Callable[[Sequence[str]], None]  # with these flags more, to `linked`
    linked: Path
    env: Mapping[str, str] = field(default_factory=dict)
    has_archives: bool = False  # ARCHIVES is known: its libraries as parts of it
    is_apart: bool = False  # IN_ONE and INSIDE are known, with the names of libraries behind them

    def to(self, path: Path, flags: Sequence[object]) -> Path:
        self.link([str(flag) for flag in flags])
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(str(self.linked), path)
        return path


def _shell(lab: Lab, folder: Path, text: str, *arguments: object) -> None:
    lab.call(["sh", "-c", f"cd {folder} && {{ {text}; }} >>build.log 2>&1", "sh", *arguments])


ARCHIVES = "{archives}"  # among the flags: in the place of a library, all of its archive


def _whole(name: str) -> str:
    return f"-Wl,-Bstatic,--whole-archive -l{name} -Wl,--no-whole-archive,-Bdynamic"


def _plain(flags: Sequence[str]) -> list[str]:
    return [flag for flag in flags if flag != ARCHIVES]


def bash(lab: Lab, source: Path | None = None) -> Source:
    folder = source or fetch(lab, "bash", "bookworm")
    if not (folder / "shell.o").exists():
        _shell(lab, folder, f'CC=gcc CFLAGS="{FLAGS}" ./configure --without-bash-malloc --disable-nls -q && make -s -j2')

    def link(flags: Sequence[str]) -> None:
        (folder / "bash").unlink(missing_ok=True)
        libraries = f'TERMCAP_LIB="{_whole("tinfo")}"' if ARCHIVES in flags else ""
        _shell(lab, folder, f'make bash LOCAL_LDFLAGS="-rdynamic $*" {libraries}', *_plain(flags))

    return Source("bash", ["-c", ":"], folder, link, folder / "bash", has_archives=True)


# Of bash: archives that are libraries of their own.
APART = {
    "libbuiltins.so": "builtins/libbuiltins.a",
    "libglob.so": "lib/glob/libglob.a",
    "libsh.so": "lib/sh/libsh.a",
    "libreadline.so": "lib/readline/libreadline.a",
}
IN_ONE, INSIDE = "{one}", "{inside}"
_TINFO = "libtinfo.so"


def apart(lab: Lab, source: Path | None = None) -> Source:
    """bash in pieces: a program with five libraries, of which any can be one or parts of it."""
    folder = source or fetch(lab, "bash", "bookworm")
    if not (folder / "shell.o").exists():
        flags = FLAGS.replace("-fPIE", "-fPIC")
        _shell(lab, folder, f'CC=gcc CFLAGS="{flags}" ./configure --without-bash-malloc --disable-nls -q && make -s -j2')
    home = lab.folder / "so"
    home.mkdir(exist_ok=True)

    def library(name: str, archives: Sequence[Path]) -> Path:
        path = home / name
        whole = ["-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive,-z,muldefs"]
        lab.call([*setting("CC"), "-shared", "-o", path, f"-Wl,-soname,{name},-z,separate-code,-z,lazy", *whole])
        in_small_folios(path)
        return path

    for name, archive in APART.items():
        library(name, [folder / archive])

    def link(flags: Sequence[str]) -> None:
        def named(mark: str) -> list[str]:
            """An empty list of names is of all."""
            given = [flag[len(mark) :] for flag in flags if flag.startswith(mark)]
            return [name for one in given for name in (one.split(",") if one else [*APART, _TINFO])]

        in_one, inside = named(IN_ONE), named(INSIDE)
        if any(name.startswith(_TINFO) for name in in_one):
            raise Broken(f"the archive of {_TINFO} has no position-independent code")
        words = [str(folder / APART[name]) for name in APART if name in inside]
        if any(name.startswith(_TINFO) for name in inside):
            words.append("-l:libtinfo.a")
        words = ["-Wl,--no-as-needed,--whole-archive", *words, f"-Wl,--no-whole-archive,-z,muldefs,-rpath,{home}"]
        if in_one:
            words.append(str(library("libone.so", [folder / APART[name] for name in APART if name in in_one])))
        words += [str(home / name) for name in APART if name not in (*in_one, *inside)]
        words += [] if "-l:libtinfo.a" in words else ["-ltinfo"]
        (folder / "bash").unlink(missing_ok=True)
        others = [flag for flag in flags if not flag.startswith((IN_ONE, INSIDE))]
        _shell(lab, folder, f'make bash LOCAL_LDFLAGS="-rdynamic $*" LIBS="{" ".join(words)} -ldl"', *_plain(others))

    return Source("apart", ["-c", ":"], folder, link, folder / "bash", is_apart=True)


def git(lab: Lab, source: Path | None = None) -> Source:
    folder = source or fetch(lab, "git", "bookworm")
    without = " ".join(f"NO_{what}=1" for what in ("OPENSSL", "CURL", "EXPAT", "PERL", "PYTHON", "TCLTK"))
    make = f'make -j2 V=1 CFLAGS="{FLAGS}" {without} git'
    if not (folder / "git.o").exists():
        _shell(lab, folder, make)

    def link(flags: Sequence[str]) -> None:
        (folder / "git").unlink(missing_ok=True)
        libraries = f'EXTLIBS="{_whole("z")} -lpthread -lrt"' if ARCHIVES in flags else ""
        _shell(lab, folder, f'{make} LDFLAGS="$*" {libraries}', *_plain(flags))

    return Source("git", ["--version"], folder, link, folder / "git", has_archives=True)


def ninja(lab: Lab, source: Path | None = None) -> Source:
    folder = source or fetch(lab, "ninja-build", "bookworm")
    gxx = lab.need("g++", "g++")
    left_out = ("test", "win32", "bench", "browse", ".in")
    # Its browser is a Python program that a build makes C++ of.
    browse = '#include "browse.h"\nvoid RunBrowsePython(State*, const char*, const char*, int, char*[]) {}\n'
    (folder / "src" / "no_browser.cc").write_text(browse, encoding="ascii")
    files = [path for path in sorted((folder / "src").glob("*.cc")) if not path.stem.endswith(left_out)]
    objects = []
    for path in files:
        objects.append(path.with_suffix(".o"))
        if not objects[-1].exists():
            lab.call([gxx, *FLAGS.split(), "-c", "-o", objects[-1], path])

    def link(flags: Sequence[str]) -> None:
        lab.call([gxx, "-o", folder / "ninja", *objects, *flags])

    (folder / "build.ninja").write_text("rule touch\n  command = touch $out\n\nbuild x: touch\n", encoding="ascii")
    return Source("ninja", ["-f", str(folder / "build.ninja"), "-n"], folder, link, folder / "ninja")


def python(lab: Lab, source: Path | None = None) -> Source:
    folder = source or fetch(lab, "python3.11", "bookworm")
    if not (folder / "libpython3.11.a").exists():
        _shell(lab, folder, f'./configure -q "CFLAGS={FLAGS}" LDFLAGS=-pie --without-ensurepip && make -s -j2 python')
    objects = [folder / "Programs" / "python.o", folder / "libpython3.11.a"]
    libraries = ["-ldl", "-lm", "-lutil", *_extra_libraries(folder)]
    home = lab.folder / "lib"
    home.mkdir(exist_ok=True)
    if not (home / "python3.11").exists():
        (home / "python3.11").symlink_to(folder / "Lib")
    env = {"PYTHONHOME": str(lab.folder)}

    def link(flags: Sequence[str]) -> None:
        lab.call([*setting("CC"), "-o", folder / "python.new", *objects, "-Wl,-E", *libraries, *flags])

    made = Source("python", ["-c", "pass"], folder, link, folder / "python.new", env)
    # What it imports is compiled once.
    try:
        lab.call([made.to(lab.folder / "first" / "python", []), "-c", "pass"], env=env)
    except Broken as error:
        raise Broken(f"CPython does not start: {error}") from None
    return made


def start(lab: Lab) -> Source:
    """The example of docs/start-up.md."""
    compiled = lab.cc("start.o", *FLAGS.split(), "-c", HERE.parents[1] / "docs" / "start.c")

    def link(flags: Sequence[str]) -> None:
        lab.call([*setting("CC"), "-o", lab.folder / "start.new", compiled, *flags])

    return Source("start", [], lab.folder, link, lab.folder / "start.new")


ALL: Mapping[str, Callable[[Lab], Source]] = {"start": start, "bash": bash, "apart": apart, "git": git, "ninja": ninja, "python": python}
