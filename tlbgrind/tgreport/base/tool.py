# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the tool, for companions that run programs under it."""

from __future__ import annotations

import os
import shutil
import sys

from .errors import ReportError


def tool() -> str:
    """The tlbgrind beside this command, or that of the build in these sources, or the one in PATH."""
    folder = os.path.dirname(os.path.realpath(sys.argv[0]))
    for place in (folder, os.path.join(os.path.dirname(folder), "build", "tlbgrind")):
        found = shutil.which("tlbgrind", path=place)
        if found is not None:
            return found
    found = shutil.which("tlbgrind")
    if found is None:
        raise ReportError("there is no tlbgrind beside this command, nor in PATH; --tlbgrind=FILE names one")
    return found
