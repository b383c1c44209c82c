# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Finds the tool, for companions that run programs under it."""

from __future__ import annotations

import os
import shutil
import sys

from .errors import ReportError


def tool() -> str:
    """The tlbgrind beside this command, or the one in PATH."""
    beside = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "tlbgrind")
    found = beside if os.path.isfile(beside) and os.access(beside, os.X_OK) else shutil.which("tlbgrind")
    if found is None:
        raise ReportError("there is no tlbgrind beside this command, nor in PATH; --tlbgrind=FILE names one")
    return found
