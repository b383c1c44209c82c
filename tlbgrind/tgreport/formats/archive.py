# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Reads the object files in an `ar` archive, thin or not."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..base.command import read_bytes
from ..base.errors import ReportError
from .elf import MAGIC, Elf

ARCHIVE, THIN_ARCHIVE = b"!<arch>\n", b"!<thin>\n"


def read_archive(path: str, data: bytes) -> Iterator[Elf]:
    """The ELF members of an `ar` archive. A thin one has their names, from its own folder on."""
    is_thin = data.startswith(THIN_ARCHIVE)
    long_names = b""
    archives: set[str] = set()
    at = 8
    while at + 60 <= len(data):
        header = data[at : at + 60]
        size_text = header[48:58].strip()
        if header[58:60] != b"`\n" or not size_text.isdigit():
            raise ReportError(f"a broken archive: no member at byte {at}", path)
        size = int(size_text)
        member = data[at + 60 : at + 60 + size]
        short_name = header[:16].rstrip()
        if is_thin and short_name not in (b"/", b"//", b"/SYM64/"):
            yield from _thin_member(path, short_name, long_names, archives)
            at += 60
            continue
        if short_name == b"//":
            long_names = member
        if member[:4] == MAGIC:
            name = short_name.decode("utf-8", "replace").rstrip("/")
            yield Elf(f"{path}({name})", member)
        at += 60 + size + size % 2


# Where a long name begins, and GNU ar's: if it is that of an archive, where in it the member is.
_LONG_NAME = re.compile(rb"/([0-9]+)(:[0-9]+)?")


def _thin_member(
    path: str, short_name: bytes, long_names: bytes, archives: set[str]
) -> Iterator[Elf]:
    """An archive in a thin archive may have a header there for each of its members; it is read whole,
    and once: `archives` are those that were."""
    name = short_name[:-1] if short_name.endswith(b"/") else short_name
    long = _LONG_NAME.fullmatch(short_name)
    if long is not None:
        name = long_names[int(long[1]) :].split(b"\n")[0]
        name = name[:-1] if name.endswith(b"/") else name
    if not name:
        raise ReportError("a broken archive: a member without a name", path)
    apart = os.path.join(os.path.dirname(path), name.decode("utf-8", "surrogateescape"))
    if apart in archives:
        return
    data = read_bytes(apart)
    if data.startswith(ARCHIVE):
        archives.add(apart)
        yield from read_archive(apart, data)
    elif data.startswith(MAGIC):
        yield Elf(apart, data)


def names_of(path: str, data: bytes) -> set[str]:
    """The symbols that its members define, by its index, which stands first."""
    if not data.startswith(ARCHIVE):
        raise ReportError("not an archive", path)
    kind, size_text = data[8:24].rstrip(), data[56:66].strip()
    word = {b"/": 4, b"/SYM64/": 8}.get(kind, 0)
    if not word or not size_text.isdigit():
        return set()
    index = data[68 : 68 + int(size_text)]
    count = int.from_bytes(index[:word], "big")
    return {name.decode("utf-8", "surrogateescape") for name in index[word * (count + 1) :].split(b"\0") if name}
