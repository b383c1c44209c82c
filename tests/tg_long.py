# tg_long.py -- which cases of a test run in `make check', and which in `make check-long' alone.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A test that runs the same code many times in other sizes keeps a few of its cases for `make
check'; the others are marked `long' and run if TG_LONG is set, as `make check-long' does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

LONG = "TG_LONG" in os.environ

Case = TypeVar("Case")


def long_but(keep: Callable[[Case], bool], cases: Iterable[Case]) -> list[object]:
    """What pytest.mark.parametrize takes: the cases, those that are not kept marked as long."""
    return [case if keep(case) else long(case) for case in cases]


def every_second(cases: Iterable[Case]) -> list[object]:
    return [long(case) if number % 2 else case for number, case in enumerate(cases)]


def long(case: object) -> object:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.long)
