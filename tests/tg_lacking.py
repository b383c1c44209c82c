# tg_lacking.py -- what a test does where something is missing that can be installed.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Skips a test where the machine lacks a package; in CI, which installs all of them, it fails."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip_what_lacks(reason: str) -> NoReturn:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
