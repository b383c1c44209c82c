# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Names as the program's text has them; those of C++, Rust and D if c++filt is installed.

Valgrind demangles functions of C++ and Rust, but no variables, and nothing of D and Fortran.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence

# The beginnings of mangled names, and how c++filt is told of the language. Of Rust's names it leaves
# out the hash, which has no meaning to a reader.
_LANGUAGES = ((("_Z", "_R"), ("--no-verbose",)), (("_D",), ("--format=dlang",)))

# A function of D that moves `this` from an interface to the object, and goes on with the name's rest. c++filt
# does not know it.
_D_THUNK = re.compile(r"_DTi[0-9]+(?=_D[0-9])")

# Where an out-file or data file has the name of a function, or a fault log's list of code.
_PLACE = rb"^((?:[cj]?fn=(?:\([0-9]+\) )?|frame: |code\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t))"
_D_FUNCTION = re.compile(_PLACE + rb"((?:_DTi[0-9]+)?_D[0-9][0-9A-Za-z_]+)", re.MULTILINE)

# A module and what is in it, as gfortran has them. Names of Fortran have no upper case there.
_IN_MODULE = r"__([a-z][a-z0-9_.]*)_MOD_([a-z][a-z0-9_]*)"
_FORTRAN = re.compile(_IN_MODULE)
_FORTRAN_FUNCTION = re.compile(_PLACE + _IN_MODULE.encode(), re.MULTILINE)


def demangled(names: Iterable[str]) -> dict[str, str]:
    """The names that have another form, each with that form."""
    names = set(names)
    found = {name: _FORTRAN.sub(r"\1::\2", name, count=1) for name in names if _FORTRAN.match(name)}
    known = {name for name in names if "\n" not in name}
    for beginnings, options in _LANGUAGES:
        mangled = sorted(name for name in known if name.startswith(beginnings))
        if mangled:
            rest = [_D_THUNK.sub("", name) for name in mangled]
            for name, of, plain in zip(mangled, rest, _filtered(rest, options)):
                found[name] = plain if of == name else f"thunk to {plain}" if plain != of else name
    return found


def _filtered(mangled: Sequence[str], options: Sequence[str]) -> list[str]:
    """By c++filt; empty, if that did not succeed."""
    try:
        done = subprocess.run(
            ["c++filt", *options],
            input="".join(f"{name}\n" for name in mangled),
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except OSError:
        return []
    plain = done.stdout.splitlines()
    return plain if len(plain) == len(mangled) else []


def with_plain_functions(text: bytes) -> bytes:
    """The text of a file of ours, or of callgrind's, with plain names of functions of D and Fortran."""
    if b"_MOD_" in text:
        text = _FORTRAN_FUNCTION.sub(rb"\1\2::\3", text)
    if b"_D" not in text:  # as nearly always, and found out much faster
        return text
    plain = demangled({found[2].decode() for found in _D_FUNCTION.finditer(text)})
    if not plain:
        return text
    return _D_FUNCTION.sub(
        lambda found: found[1] + plain.get(found[2].decode(), found[2].decode()).encode(), text
    )
