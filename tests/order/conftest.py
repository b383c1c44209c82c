# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import pytest
from order_support import Spread


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Spread:
    return Spread(tmp_path_factory.mktemp("spread"))
