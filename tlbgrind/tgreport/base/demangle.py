# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Names of C++ variables as the program's text has them, if c++filt of binutils is installed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable


def demangled(names: Iterable[str]) -> dict[str, str]:
    """The names that have another form, each with that form."""
    mangled = sorted({name for name in names if name.startswith("_Z") and "\n" not in name})
    if not mangled:
        return {}
    text = "".join(f"{name}\n" for name in mangled)
    try:
        done = subprocess.run(
            ["c++filt"],
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
    except OSError:
        return {}
    plain = done.stdout.splitlines()
    return dict(zip(mangled, plain)) if len(plain) == len(mangled) else {}
