# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Links a program in another way that has the sizes of a given one, and what that needs of libraries, but
does nothing; and records its page faults.

What the archives of the installed libraries bring, in which order, and what such a program does before
main() and behind it, is then not computed but seen. The same of a program with its own libraries in one
file, or in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..formats import elf as elf_files
from ..formats import entries, faultlog
from ..formats.dynamic import RELR, Dynamic
from ..formats.elf import EM_386, PF_X, Elf
from .replay import Run
from .whatif_standin import LABEL, Impossible, StandIn, source

_BUILT_IN = ("c", "gcc_s", "ld-linux-x86-64", "ld-linux")  # libraries that the compiler names itself
_LIBRARY = re.compile(r"lib(.+?)\.so\b")
_SECONDS = 120
_MOST_NAME = 200  # letters


class Home(NamedTuple):
    """Where the stand-in for a file is."""

    elf: Elf
    starts: dict[str, int]  # of its parts, by their names


@dataclass
class Trial:
    elf: Elf
    run: Run
    homes: dict[str, Home]  # by the path of the file that it stands for
    main_at: int  # how many instructions are executed before main()


class Lab(NamedTuple):
    """With what trials are made."""

    tlbgrind: str
    settings: Sequence[str]  # its options for the kernel
    folder: str
    command: str  # the recorded run's: as long as it is, so much higher or lower is the stack


def trial(lab: Lab, elf: Elf, dynamic: Dynamic, flag: str) -> Trial:
    """`flag` is -static or -static-pie."""
    compiler = _compiler(elf)
    path = os.path.join(lab.folder, "trial" + flag)
    assembler = _written(path, StandIn(elf, dynamic))
    libraries = list(_libraries(compiler, dynamic))
    _link([compiler, flag, "-Wl,--unresolved-symbols=ignore-all", "-o", path, assembler, *libraries])
    return _recorded(lab, path, {elf.path: (path, LABEL)})


class Merge(NamedTuple):
    """Libraries of a program that become one, or parts of it."""

    libraries: Sequence[tuple[Elf, Dynamic]]
    others: Sequence[str]  # paths of those that stay
    in_program: bool
    number: int = 0  # of the trial


def merged(lab: Lab, elf: Elf, dynamic: Dynamic, merge: Merge) -> Trial:
    compiler = _compiler(elf)
    name = f"in-{'program' if merge.in_program else 'one'}-{merge.number}"
    path = os.path.join(lab.folder, f"trial-{name}")
    labels = {other.path: f"{LABEL}_{number}" for number, (other, _) in enumerate(merge.libraries)}
    sources = [
        _written(f"{path}-{number}", StandIn(other, needs, labels[other.path], has_libraries=True))
        for number, (other, needs) in enumerate(merge.libraries)
    ]
    found_in = [f"-Wl,-rpath,{folder}" for folder in dict.fromkeys(map(os.path.dirname, merge.others)) if not folder.startswith(_USUAL)]
    common = [compiler, "-Wl,--unresolved-symbols=ignore-all,-z,muldefs", *_as_it_is(elf, dynamic), *found_in]
    where = path
    files = [_written(path, StandIn(elf, dynamic, has_libraries=True))]
    if merge.in_program:
        files += sources
    else:
        where = os.path.join(lab.folder, f"lib-{name}.so")
        _link([*common, "-shared", "-o", where, *sources, "-Wl,--no-as-needed", *merge.others])
        files.append(where)
    exports = sum(symbol.is_defined for symbol in dynamic.symbols) > _FEW
    kind = ["-pie" if elf.is_pie else "-no-pie", *(["-rdynamic"] if exports else [])]
    _link([*common, *kind, "-o", path, "-Wl,--no-as-needed", *files, *merge.others])
    homes = {other.path: (where, labels[other.path]) for other, _ in merge.libraries}
    return _recorded(lab, path, {elf.path: (path, LABEL), **homes})


_USUAL = ("/lib/", "/usr/lib/", "/lib64/", "/usr/lib64/")  # where the dynamic linker looks by itself
_FEW = 50  # symbols that a program exports because libraries have the same


def _as_it_is(elf: Elf, dynamic: Dynamic) -> Iterator[str]:
    yield "-Wl,-z,now" if dynamic.binds_now else "-Wl,-z,lazy"
    packed = any(one.kind == RELR for one in dynamic.relocations)
    yield "-Wl,-z,pack-relative-relocs" if packed else "-Wl,-z,nopack-relative-relocs"
    yield "-Wl,-z,noseparate-code" if elf.loads and elf.loads[0].flags & PF_X else "-Wl,-z,separate-code"


def _compiler(elf: Elf) -> str:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if elf.machine == EM_386 or compiler is None:
        raise Impossible("gcc is not installed" if compiler is None else "not for 32-bit programs")
    return compiler


def _written(path: str, one: StandIn) -> str:
    path += ".s"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.writelines(f"{line}\n" for line in source(one))
    return path


def _recorded(lab: Lab, path: str, places: dict[str, tuple[str, str]]) -> Trial:
    """`places`: for which file something stands in, in which one that is, and its label."""
    log, order = path + ".faults", path + ".entries"
    outputs = [f"--faults-out-file={log}", f"--entries-out-file={order}", "--tlbgrind-out-file=/dev/null"]
    done = subprocess.run(
        [lab.tlbgrind, "-q", "--faults=yes", "--entries=yes", *outputs, *lab.settings, *_called(lab, path)],
        cwd=lab.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=_SECONDS,
    )  # fmt: skip
    if done.returncode != 0 or not os.path.isfile(log):
        raise Impossible("an empty program that is linked so does not run")
    files = {where: elf_files.read(where) for where, _ in places.values()}
    homes = {
        name: Home(
            files[where],
            {
                symbol.name[len(label) :]: symbol.address
                for symbol in files[where].symbols
                if symbol.name.startswith(label)
            },
        )
        for name, (where, label) in places.items()
    }
    functions = entries.read(order).functions.values()
    main_at = next((function.when for function in functions if function.name == "main"), 0)
    return Trial(files[path], Run(faultlog.read(log)), homes, main_at)


def _called(lab: Lab, path: str) -> list[str]:
    """By a name and with arguments that are as long as the recorded run's."""
    name, *arguments = lab.command.replace("\0", " ").split(" ")
    short = "t" * min(max(1, len(name) - len("./")), _MOST_NAME)
    called = os.path.join(lab.folder, short)
    if os.path.lexists(called):
        os.unlink(called)
    os.symlink(path, called)
    return [f"./{short}", *arguments]


def _link(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, errors="replace", check=False, timeout=_SECONDS)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "warning:" not in line and line.strip()]
        reason = lines[0][:160] if lines else "gcc fails"
        raise Impossible(f"an empty program with the same references cannot be linked so: {reason}")


def _libraries(compiler: str, dynamic: Dynamic) -> Iterator[str]:
    for library in (*dynamic.needed, "libc.so.6"):
        match = _LIBRARY.match(os.path.basename(library))
        name = match[1] if match else ""
        if not name or (name in _BUILT_IN and name != "c"):
            continue
        archive = f"lib{name}.a"
        found = subprocess.run(
            [compiler, f"-print-file-name={archive}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if not os.path.isfile(found):
            package = "libc6-dev" if name == "c" else "the library's package with -dev"
            raise Impossible(f"{archive} is not installed (Debian: {package})")
        if name != "c":
            yield f"-l{name}"
