# object_calls.py -- which file of the tool uses what of which, by the symbols of the objects.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads with nm what each object defines and what it needs: calls, and variables, that an #include
does not show, because the file that uses them has declared them itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple


class Call(NamedTuple):
    user: PurePosixPath  # sources relative to the tree, without suffix
    used: PurePosixPath
    symbol: str


class Object(NamedTuple):
    program: str  # what it is linked into, as automake names it: PROGRAM-SOURCE.o
    source: PurePosixPath
    path: Path


def objects_of(build: Path, programs: str, sources: Iterable[PurePosixPath]) -> list[Object]:
    """The objects of programs whose names begin so; those of sources that are gone are left out."""
    known = set(sources)
    found = []
    for path in sorted(build.rglob(f"{programs}*-*.o")):
        program, _, stem = path.stem.partition("-")
        source = PurePosixPath(path.relative_to(build)).parent / stem
        if source in known:
            found.append(Object(program, source, path))
    return found


def symbols_of(objects: list[Object]) -> Iterator[tuple[Object, str, bool]]:
    """Each symbol, and whether the object defines it for others."""
    by_path = {str(o.path): o for o in objects}
    said = subprocess.run(["nm", "-A", *by_path], capture_output=True, text=True, check=True)
    for line in said.stdout.splitlines():
        path, _, rest = line.partition(".o:")
        kind, symbol = rest.split()[-2:]
        if kind == "U" or kind.isupper():
            yield by_path[path + ".o"], symbol, kind != "U"


def calls_of(objects: list[Object]) -> tuple[list[Call], set[PurePosixPath]]:
    """What is needed of another file of the same program; and the sources that define something,
    as all do whose objects nm can read."""
    symbols = list(symbols_of(objects))
    defined = {(o.program, symbol): o.source for o, symbol, defines in symbols if defines}
    calls = set()
    for o, symbol, defines in symbols:
        used = defined.get((o.program, symbol))
        if not defines and used is not None and used != o.source:
            calls.add(Call(o.source, used, symbol))
    return sorted(calls), set(defined.values())
