# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if no locale were loaded, LC_ALL=C, or of one only what it says of characters: LC_CTYPE."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from ..base.text import counted
from ..formats.fault import Map
from ..formats.faultlog import LOCALE
from .replay import Change, Event, Run, faults_of, replay
from .whatif import Remedy, Way

# Where glibc has its locales, translations, and what it converts characters with.
_FOLDERS = ("/usr/lib/locale/", "/usr/share/locale/", "/usr/share/locale-langpack/")
_CONVERTERS = "gconv-modules.cache"
NAME = "LC_ALL=C"
CHARACTERS = "LC_CTYPE only"
_CATEGORY = re.compile(r"(SYS_)?LC_[A-Z]+\Z")


def is_of_locale(map_: Map) -> bool:
    if map_.what != "file":
        return False
    return map_.name.startswith(_FOLDERS) or os.path.basename(map_.name) == _CONVERTERS


def remedy(run: Run) -> Remedy | None:
    """None: no locale is loaded, so there is nothing to win."""
    if not any(event.work == LOCALE or is_of_locale(event.map) for event in run.events):
        return None
    left_out = "what the program itself does otherwise with texts of single bytes"
    if _is_python(run):
        why = "CPython starts otherwise in the locale C: it turns its UTF-8 mode on, and begins anew"
        return Remedy(NAME, "LC_ALL=C in the environment", (), why, left_out)
    if not any(event.work == LOCALE for event in run.events):
        why = "the C library's symbols were missing in the run (Debian: libc6-dbg)"
        return Remedy(NAME, "LC_ALL=C in the environment", (), why, left_out)
    heap = _heap_pages(run)
    gone = set(_last_heap_pages(run, len(heap)))

    def keep(_place: int, event: Event) -> bool:
        if event.map.what == "heap":
            return event.page not in gone
        return not (event.work == LOCALE or is_of_locale(event.map))

    return Remedy(
        NAME,
        "LC_ALL=C in the environment",
        (Way((Change(keep=keep),)),),
        "the program sets its locale from the environment; without what loading allocated, its heap ends "
        + (f"{counted(len(heap), 'page')} earlier" if heap else "on the same page"),
        left_out,
    )


def characters_only(run: Run) -> Remedy | None:
    """None: there are no other categories in files of their own."""
    numbers = {event.map.number for event in run.events if _is_other_category(event.map)}
    if not numbers:
        return None
    heap = _heap_pages(run)
    ways = []
    for gone in (set(), set(_last_heap_pages(run, len(heap)))):
        ways.append(Way((Change(keep=_without(numbers, gone)),)))
    return Remedy(
        CHARACTERS,
        "LC_CTYPE=C.UTF-8 in the environment, or another locale; LC_ALL and LANG unset",
        ways,
        "the program sets its locale from the environment, and each other category has a file of its own; its heap "
        f"ends up to {counted(len(heap), 'page')} earlier",
        "what the program itself does otherwise with dates, messages, numbers and the order of words",
        joins=False,
    )


def _is_other_category(map_: Map) -> bool:
    name = os.path.basename(map_.name)
    return is_of_locale(map_) and bool(_CATEGORY.match(name)) and name != "LC_CTYPE"


def _without(numbers: set[int], pages: set[int]) -> Callable[[int, Event], bool]:
    def keep(_place: int, event: Event) -> bool:
        return event.map.number not in numbers and not (event.map.what == "heap" and event.page in pages)

    return keep


def _is_python(run: Run) -> bool:
    return any(symbol.name == "Py_BytesMain" for elf in run.files.elves.values() for symbol in elf.symbols)


def _heap_pages(run: Run) -> list[int]:
    """Pages of the heap that loading was the first to touch."""
    return [
        event.page
        for event in faults_of(run, replay(run))
        if event.work == LOCALE and event.map.what == "heap" and event.writes
    ]


def _last_heap_pages(run: Run, count: int) -> list[int]:
    pages = sorted({event.page for event in run.events if event.map.what == "heap"})
    return pages[len(pages) - count :] if count else []
