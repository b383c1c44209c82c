# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""A tool that was built for another version of Valgrind than the one at hand says so, and so does make."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tg_environment import HAVE_X86, TLBGRIND, client
from tool_support import GEOMETRY

BUILD = Path(os.environ["TG_BUILDDIR"])
SOURCES = Path(os.environ["TG_SRCDIR"]) / "tlbgrind"
TOOLS = Path(TLBGRIND).resolve().parents[1] / ".in_place"
MARK = rb"valgrind-(\d[\w.-]*)"


def built_for() -> str:
    found = re.search(MARK, (TOOLS / "none-amd64-linux").read_bytes())
    assert found is not None
    return found[1].decode()


def other() -> str:
    """Another version, of as many characters."""
    return re.sub(r"\d$", lambda last: str((int(last[0]) + 1) % 10), built_for())


def folder(at: Path, none: Mapping[str, bytes | None]) -> Path:
    """A folder of tools such as Valgrind's, in which "none" is as given, or missing."""
    at.mkdir()
    for tool in TOOLS.iterdir():
        if tool.name not in none:
            (at / tool.name).symlink_to(tool.resolve())
    for name, content in none.items():
        if content is not None:
            (at / name).write_bytes(content)
    return at


def run(tools: Path, program: Path | str = "true") -> tuple[int, str]:
    command = [os.environ["VALGRIND"], "--tool=tlbgrind", "-q", *GEOMETRY, "--tlbgrind-out-file=out", str(program)]
    done = subprocess.run(command, cwd=tools.parent, env={**os.environ, "VALGRIND_LIB": str(tools)}, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("bits", [64, pytest.param(32, marks=pytest.mark.skipif(not HAVE_X86, reason="no 32-bit tool"))])
def test_a_tool_for_another_version(tmp_path: Path, bits: int) -> None:
    name = "none-amd64-linux" if bits == 64 else "none-x86-linux"
    texts = (TOOLS / name).read_bytes().replace(f"valgrind-{built_for()}".encode(), f"valgrind-{other()}".encode())
    program = "true" if bits == 64 else client("fault_hello32")
    assert run(folder(tmp_path / "tools", {name: texts}), program) == (1, f"valgrind: tlbgrind was built for {built_for()}, this is {other()}: build again\n")
    assert [path.name for path in tmp_path.iterdir()] == ["tools"]


@pytest.mark.parametrize("content", [None, b"", b"no tool", "without version"], ids=str)
def test_an_unknown_version_stops_nothing(tmp_path: Path, content: bytes | str | None) -> None:
    if isinstance(content, str):
        content = (TOOLS / "none-amd64-linux").read_bytes().replace(b"valgrind-", b"valgrind_")
    status, said = run(folder(tmp_path / "tools", {"none-amd64-linux": content}))
    assert status == 0, said
    assert (tmp_path / "out").exists()


def make(*variables: str) -> tuple[int, str]:
    done = subprocess.run(["make", "-s", *variables, "all"], cwd=BUILD, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_make_after_an_upgrade(tmp_path: Path) -> None:
    """Valgrind's new files are older than the build: nothing else would tell make that they changed."""
    said = f"configured for Valgrind {built_for()}, this is {other()}: build again: ./config.status --recheck && make\n"
    (tmp_path / "config.h").write_text(f'#define VERSION "{other()}"\n', encoding="ascii")
    os.utime(tmp_path / "config.h", (0, 0))
    status, error = make(f"VALGRIND_INCLUDEDIR={tmp_path}")
    assert status == 2
    assert error.startswith(said)
    (tmp_path / "libcoregrind-amd64-linux.a").write_text(f"valgrind-{other()}", encoding="ascii")
    status, error = make(f"VALGRIND_LIBDIR={tmp_path}")
    assert status == 2
    assert error.startswith(said)


def test_one_file_asks_for_versions() -> None:
    asking = [path for path in SOURCES.rglob("*.[ch]") if re.search(r"__VALGRIND_M|\bTG_VALGRIND\(", path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(SOURCES)) for path in asking if path.name != "debug_info.c"] == ["base/valgrind_versions.h"]
