# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes a file whole or not at all, and through no link that another user has put there."""

from __future__ import annotations

import os
import stat
import tempfile

from .errors import ReportError


def _is_of_others(path: str) -> bool:
    """Whether it is no file but another user's link or pipe, in a folder where several may make files:
    as in the tool's base/file.c."""
    there, folder = os.lstat(path), os.stat(os.path.dirname(path) or ".")
    return (
        not stat.S_ISREG(there.st_mode)
        and there.st_uid not in (0, os.geteuid(), folder.st_uid)
        and folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH) != 0
    )


def write_whole(path: str, data: bytes) -> None:
    """Under another name first, so that what has the final name is whole. What is no regular file,
    such as a device or a pipe, is written as it is."""
    try:
        _write(path, data)
    except (OSError, ValueError) as error:
        raise ReportError(getattr(error, "strerror", None) or str(error), path) from None


def _write(path: str, data: bytes) -> None:
    if os.path.lexists(path):
        if _is_of_others(path):
            raise ReportError("it is no file but another user's link or pipe, in a folder of several users", path)
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                stream.write(data)
            return
    target = os.path.realpath(path)
    number, name = tempfile.mkstemp(prefix=".tlbgrind.", dir=os.path.dirname(target))
    try:
        with open(number, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
