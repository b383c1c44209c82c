# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Names as the program's text has them, if c++filt of binutils is installed.

Valgrind demangles functions of C++ and Rust, but no variables, and nothing of D.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence

# The beginnings of mangled names, and how c++filt is told of the language. Of Rust's names it leaves
# out the hash, which has no meaning to a reader.
_LANGUAGES = ((("_Z", "_R"), ("--no-verbose",)), (("_D",), ("--format=dlang",)))

# A function of D in an out-file or data file, where it is defined, or in a fault log's list of code.
_D_FUNCTION = re.compile(
    rb"^((?:[cj]?fn=(?:\([0-9]+\) )?|frame: |code\t[^\t\n]*\t[^\t\n]*\t[^\t\n]*\t))(_D[0-9][0-9A-Za-z_]+)",
    re.MULTILINE,
)


def demangled(names: Iterable[str]) -> dict[str, str]:
    """The names that have another form, each with that form."""
    found: dict[str, str] = {}
    known = {name for name in names if "\n" not in name}
    for beginnings, options in _LANGUAGES:
        mangled = sorted(name for name in known if name.startswith(beginnings))
        if mangled:
            found.update(zip(mangled, _filtered(mangled, options)))
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


def with_functions_of_d(text: bytes) -> bytes:
    """The text of a file of ours, or of callgrind's, with plain names of such functions."""
    plain = demangled({found[2].decode() for found in _D_FUNCTION.finditer(text)})
    if not plain:
        return text
    return _D_FUNCTION.sub(
        lambda found: found[1] + plain.get(found[2].decode(), found[2].decode()).encode(), text
    )
