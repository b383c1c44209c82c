# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""The distribution: the same bytes whenever and by whomever it is made, and no autotools needed."""

from __future__ import annotations

import os
import subprocess
import tarfile
from pathlib import Path

BUILD = Path(os.environ["TG_BUILDDIR"])
NAME = f"tlbgrind-{os.environ['TG_VERSION']}"
TARBALL = f"{NAME}.tar.xz"


def make_dist(build: Path, folder: Path, umask: int, **environment: str) -> bytes:
    folder.mkdir()
    subprocess.run(
        [os.environ.get("MAKE", "make"), "-s", "dist", f"distdir={folder}/{NAME}"],
        cwd=build,
        umask=umask,
        env={**os.environ, "XZ_OPT": "-0", **environment},
        stdin=subprocess.DEVNULL,
        check=True,
    )
    return (folder / TARBALL).read_bytes()


def test_it_is_the_same_each_time_and_made_of_itself_without_autotools(tmp_path: Path) -> None:
    epoch = "1000000000"
    first = make_dist(BUILD, tmp_path / "first", 0o022, TZ="UTC", LC_ALL="C", SOURCE_DATE_EPOCH=epoch)
    assert make_dist(BUILD, tmp_path / "second", 0o077, TZ="Asia/Tokyo", LC_ALL="C.UTF-8", SOURCE_DATE_EPOCH=epoch) == first

    with tarfile.open(tmp_path / "first" / TARBALL) as tar:
        members = tar.getmembers()
        assert {str(member.mtime) for member in members} == {epoch}
        assert {(member.uid, member.gid, member.uname, member.gname) for member in members} == {(0, 0, "", "")}
        assert [member.name for member in members if "/" not in member.name] == [NAME]
        tar.extractall(tmp_path)
    no_tools = tmp_path / "no-tools"
    no_tools.mkdir()
    for name in ("aclocal", "autoconf", "autoheader", "automake", "autoreconf", "libtoolize", "m4"):
        (no_tools / name).write_text(f"#!/bin/sh\necho {name} was called >&2\nexit 1\n")
        (no_tools / name).chmod(0o755)
    made = tmp_path / NAME / "made"
    made.mkdir()
    arguments = subprocess.run([BUILD / "config.status", "--config"], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    path = f"{no_tools}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["sh", "-c", f"../configure {arguments.stdout.strip()}"],
        cwd=made,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        check=True,
    )
    # Without SOURCE_DATE_EPOCH it has the time of what it is made from.
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    assert make_dist(made, tmp_path / "of-itself", 0o022, PATH=path) == first
