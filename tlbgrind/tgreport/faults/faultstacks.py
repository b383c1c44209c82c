# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Names the functions on the way to a fault: who called, all that are active, folded stacks.

A log has them with tlbgrind's --faults-stacks=N.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ..base.errors import ReportError, printable
from ..base.text import in_brackets
from ..formats.fault import UNKNOWN, Code, Fault
from ..formats.faultlog import FaultLog

# Tables of tg_faults that need them.
GROUPS = ("caller", "inclusive")

# The C library's own objects: those of glibc, and musl's one.
_C_LIBRARY = re.compile(
    r"(?:.*/)?(?:(?:libc|libm|libmvec|libpthread|libdl|librt|libresolv|libutil)(?:-[0-9.]+)?\.so(?:\.[0-9.]+)?"
    r"|libc\.musl-.+|ld(?:-[^/]*)?\.so(?:\.[0-9]+)?|ld-[^/]*\.so)\Z"
)
_NO_OTHER = "<the C library itself>"


def need(log: FaultLog) -> None:
    if not log.knows_stacks:
        raise ReportError("has no call stacks; tlbgrind records them with --faults-stacks=16", log.path)


def name(code: Code) -> str:
    return f"{code.function} {in_brackets(code.object)}"


def _by_kernel(fault: Fault) -> bool:
    """Whether the kernel touched the page before the program had any code."""
    return fault.code.object == UNKNOWN and bool(fault.by)


def caller(fault: Fault) -> str:
    """The first function on the way out that is not the C library's."""
    if _by_kernel(fault):
        return f"<{fault.by}>"
    for code in (fault.code, *fault.callers):
        if not _C_LIBRARY.match(code.object):
            return name(code)
    return _NO_OTHER


def active(fault: Fault) -> list[str]:
    """Each function that was active, once."""
    if _by_kernel(fault):
        return [f"<{fault.by}>"]
    return list(dict.fromkeys(name(code) for code in (fault.code, *fault.callers)))


def folded(log: FaultLog, view: int) -> Iterator[str]:
    """One line for each stack: its functions from the first on, joined by semicolons, and its
    faults. What the kernel touched ends with the system call."""
    need(log)
    most = int(log.header.get("faults-stacks", 0))
    stacks: Counter[str] = Counter()
    for fault, times in log.counts(view):
        frames = [] if _by_kernel(fault) else [_frame(code) for code in (*fault.callers[::-1], fault.code)]
        if len(fault.callers) == most:
            frames.insert(0, "...")
        if fault.by:
            frames.append(f"<{fault.by}>")
        stacks[";".join(frames)] += times
    return (printable(f"{stack} {count}") for stack, count in stacks.items())


def _frame(code: Code) -> str:
    """A semicolon is between frames."""
    known = code.function if code.function != UNKNOWN else f"({code.object.rpartition('/')[2]})"
    return known.replace(";", ":")
