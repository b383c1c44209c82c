# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

from pathlib import Path

import pytest
from annotate_support import lay_out


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return lay_out(tmp_path)
