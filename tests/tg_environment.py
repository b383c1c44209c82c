# tg_environment.py -- the build under test, as `make check' passes it on.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The build and the source tree under test, from the variables in tests/local.mk."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

TLBGRIND = os.environ["TLBGRIND"]
CLIENTS = Path(os.environ["TG_CLIENTS"])
HAVE_X86 = os.environ.get("TG_HAVE_X86", "no") == "yes"
CC = shlex.split(os.environ.get("CC", "gcc"))


def client(name: str) -> Path:
    """A program of tests/clients, compiled."""
    return CLIENTS / name
