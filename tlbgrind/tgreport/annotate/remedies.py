# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Tells how memory of each kind gets larger pages on Linux."""

from __future__ import annotations

import re

HUGE = 1 << 21  # pages of this size and larger are huge pages; smaller ones are folios

_MALLOC = (
    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 (glibc 2.35 or newer), MALLOC_CONF=thp:always of "
    "jemalloc, or TCMALLOC_MEMFS_MALLOC_PATH of gperftools' tcmalloc with a hugetlbfs"
)
_ADVISE = "madvise(start, length, MADV_HUGEPAGE) on memory that is aligned to the page"
_MTHP = "on Linux 6.8 or newer /sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled"
_KERNEL = "a kernel whose base pages are larger (arm64, POWER)"
_FOLIOS = "a file system with large folios (xfs; ext4 from Linux 6.16 on)"

# By kind of memory: huge ones, and those below.
_HOW = {
    "heap": (f"{_MALLOC}; or {_ADVISE}", f"{_MTHP}; or {_KERNEL}"),
    "anon": (f"{_ADVISE}; for what malloc maps: {_MALLOC}", f"{_MTHP}; or {_KERNEL}"),
    "data": (
        (
            "large arrays from malloc instead of static ones; or -Wl,-z,max-page-size=SIZE and "
            "MADV_HUGEPAGE on the bss; or hugectl --data --bss of libhugetlbfs"
        ),
        f"-Wl,-z,max-page-size=SIZE and {_MTHP} for the bss; or {_KERNEL}",
    ),
    "text": (
        (
            "-Wl,-z,max-page-size=SIZE, and then hugectl --text of libhugetlbfs, or MADV_HUGEPAGE on "
            "the text with a kernel that has CONFIG_READ_ONLY_THP_FOR_FS (MADV_COLLAPSE does not wait "
            "for khugepaged), or a copy of the text in anonymous memory with MADV_HUGEPAGE"
        ),
        f"-Wl,-z,max-page-size=SIZE on {_FOLIOS}; or {_KERNEL}",
    ),
    "stack": (
        (
            "transparent huge pages at always for the first thread; pthread_attr_setstack() with "
            "memory of huge pages for others"
        ),
        f"{_MTHP}; or {_KERNEL}",
    ),
    "file": (
        (
            "read the file into anonymous memory with MADV_HUGEPAGE; or keep it on a tmpfs mounted with "
            "huge=always, or on hugetlbfs. On an ordinary disk a mapping has huge pages only on "
            f"{_FOLIOS}, by MADV_HUGEPAGE before any of it is in the page cache, with address and "
            "offset at multiples of the page; else none"
        ),
        f"{_FOLIOS}; or {_KERNEL}",
    ),
}


def remedy(kind: str, size: int) -> str:
    """`kind` as rules name it: heap, text=libm.so*, anon#1; a pattern alone is of files."""
    huge, below = _HOW.get(re.split("[=#]", kind)[0], _HOW["file"])
    return (huge if size >= HUGE else below).replace("=SIZE", f"={size:#x}")
