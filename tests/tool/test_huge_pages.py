# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Transparent huge pages: a program has as many under the tool as this machine's kernel gives it.

In the mode that the host is in; experiment E14 tries both, with programs and allocators that are
not ours.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from tg_thp import (
    CLIENTS,
    Native,
    Unavailable,
    compile_watch,
    host_mode,
    options,
    read_watch,
    undisturbed,
)
from tool_support import run

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
ADVISING_MALLOC = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("programs")
    compile_watch(folder)
    for name, flag in (("hugeregions", ""), ("hugethreads", "-pthread")):
        compiler = shlex.split(os.environ.get("CC", "gcc"))
        command = [*compiler, "-O2", "-g", *shlex.split(flag), "-o", folder / name, CLIENTS / f"{name}.c"]
        subprocess.run(command, check=True)
    if shutil.which("g++") is not None:
        subprocess.run(["g++", "-O2", "-g", "-o", folder / "store", CLIENTS / "store.cc"], check=True)
    return folder


def native(programs: Path, folder: Path, command: list[object], env: dict[str, str]) -> Native:
    out = folder / "watched"
    done = subprocess.run(
        [programs / "hugewatch", out, *map(str, command)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 125:
        raise Unavailable(f"programs cannot be watched here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return read_watch(out)


def simulated(folder: Path, mode: str, command: list[object], env: dict[str, str]) -> int:
    r = run(folder, *command, options=options(mode), geometry=("--machine=skylake",), env=env)
    assert r.status == 0, r.err
    found = re.search(r"backed at the peak: (\d+) pages of 2M", r.err)
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    ("program", "env"),
    [
        ("hugeregions", {}),
        ("hugethreads 4 16", {}),
        ("hugethreads 4 16", ADVISING_MALLOC),
        ("store 16", {}),
        ("store 16", ADVISING_MALLOC),
    ],
)
def test_as_many_as_natively(programs: Path, tmp_path: Path, program: str, env: dict[str, str]) -> None:
    name, *arguments = program.split()
    command: list[object] = [programs / name, *arguments]
    if not (programs / name).exists():
        pytest.skip("g++ is not installed")
    try:
        mode = host_mode()
        if mode == "never":
            pytest.skip("this kernel gives no transparent huge pages")
        theirs = undisturbed(lambda: native(programs, tmp_path, command, {**ENVIRONMENT, **env}))
    except Unavailable as error:
        pytest.skip(str(error))
    ours = simulated(tmp_path, mode, command, {**ENVIRONMENT, **env})
    # What the kernel itself needs small pages for may take one.
    assert abs(ours - theirs.huge) <= 1, theirs.maps
    if name == "hugeregions" or env:
        assert theirs.huge > 0
