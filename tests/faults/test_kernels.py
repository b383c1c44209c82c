# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""--kernel: the log has the version, its read-ahead is in the cold view, and what is computed once more
from the log (tgreport/faults/replay.py) follows the same rules. Which these are: unit/test_kernel_rules.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from native_support import PAGE, run
from tg_companions import package
from tg_environment import client

FILE_PAGES = 400
KERNELS = ("6.1", "6.12", "6.16", "6.17", "6.18", "7.2")


def walked(folder: Path, kernel: str, order: str, mapping: str) -> tuple[list[int], tuple[int, int], Path]:
    """The major faults, by page of the file; all faults of the cold view, and its major ones; the log."""
    file = folder / "file"
    file.write_bytes(bytes(FILE_PAGES * PAGE))
    command: list[str | Path] = [client("fault_cold"), file, order, mapping]
    options = [f"--kernel={kernel}", "--read-ahead=128K", "--fault-around=64K", "--faults-touches=yes"]
    (log,), _ = run(folder, command, options)
    assert log.header["kernel"] == kernel
    faults = [f for f in log.view("cold") if f.map.name == str(file)]
    start = next(m.native for m in log.maps.values() if m.name == str(file))
    major = [(f.native - start) // PAGE for f in faults if f.kind("cold").isupper()]
    return major, (log.summary["cold"][0], log.summary["cold"][1]), log.path


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("order", "mapping"), [("streams", "r"), ("random", "x"), ("again", "w")])
def test_replay_has_the_rules_of_the_version(kernel: str, order: str, mapping: str, tmp_path: Path) -> None:
    """as many faults and major ones as the tool itself counts"""
    _, totals, path = walked(tmp_path, kernel, order, mapping)
    replay = package("faults.replay")
    again = replay.replay(replay.Run(package("formats.faultlog").read(str(path))), is_cold=True)
    assert (again.faults, again.major) == totals


def test_versions_differ(tmp_path: Path) -> None:
    """code is read around the page up to 6.16, and 6.1 calls reading on a major fault"""
    majors = {kernel: walked(tmp_path, kernel, "up", "x")[0] for kernel in KERNELS}
    assert majors["6.12"] == majors["6.16"] == [0]
    assert majors["6.1"][:3] == [0, 24, 32]
    assert majors["6.17"] == majors["6.18"] == majors["7.2"] == list(range(0, FILE_PAGES, 32))
