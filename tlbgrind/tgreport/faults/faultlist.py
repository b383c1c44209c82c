# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lists faults, one a row: text, pagein's columns or CSV. export.py makes JSON of the same values.
Folded, they are one row a call stack."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator

from ..base.errors import printable
from ..formats.fault import KINDS, VIEWS, Fault, count_pages
from ..formats.faultlog import FaultLog
from . import faultstacks

Rows = Iterator[str]


def listing(log: FaultLog, view: int, form: str, native: bool) -> Rows:
    makers: dict[str, Callable[[FaultLog, int, bool], Rows]] = {
        "text": _text,
        "pagein": _pagein,
        "csv": _csv,
        "folded": lambda log, view, _: faultstacks.folded(log, view),
    }
    return makers[form](log, view, native)


def _address(fault: Fault, native: bool) -> int:
    return fault.native if native else fault.page


def kind_name(fault: Fault, view: int) -> str:
    """The kind of a fault in words, as in "code" or "major read"."""
    name = KINDS[fault.kind(view)]
    return f"major {name}" if fault.is_major(view) else name


def _numbered(log: FaultLog, view: int) -> Iterator[tuple[int, Fault]]:
    """Faults are numbered anew in each view."""
    return enumerate(log.of(view))


def _who(fault: Fault) -> str:
    """The code, or the kernel where there is none yet."""
    return fault.code.place if fault.code.address else f"(by the kernel: {fault.by or '???'})"


def _text(log: FaultLog, view: int, native: bool) -> Rows:
    width = len(f"{log.totals[VIEWS[view]].faults:,}")
    yield (
        f"{'#':>{width}}  {'instructions':>15}  {'kind':<19}  {'page':<14}  {'brought':>7}  "
        f"{'by':<12}  where; who"
    )
    for number, fault in _numbered(log, view):
        brought = count_pages(fault.brought(view))
        thread = f" thread {fault.thread}" if fault.thread > 1 else ""
        yield printable(
            f"{number + 1:>{width},}  {fault.instructions:>15,}  {kind_name(fault, view):<19}  "
            f"{_address(fault, native):#014x}  {brought or '':>7}  {fault.by or '-':<12}  "
            f"{fault.map.place(fault.page)}; {_who(fault)}{thread}"
        )


def _pagein(log: FaultLog, view: int, native: bool) -> Rows:
    """As the program called pagein printed them in 2007, with instructions where it had cycles."""
    for number, fault in _numbered(log, view):
        letter = "C" if fault.kind(view) == "x" else "D"
        yield printable(
            f"{number:4d} 0x{_address(fault, native):10X} {letter} {fault.instructions:12d} "
            f"0x{fault.code.address:X}: {_who(fault)}"
        )


FIELDS = (
    "number",
    "kind",
    "major",
    "page",
    "native_page",
    "what",
    "name",
    "protection",
    "file_offset",
    "instructions",
    "thread",
    "by",
    "address",
    "object",
    "function",
    "file",
    "line",
    "brought",
)


def values(log: FaultLog, view: int) -> Iterator[tuple[int | str, ...]]:
    """What FIELDS names, of each fault."""
    for number, fault in _numbered(log, view):
        is_file = fault.map.what == "file"
        yield (
            number + 1,
            KINDS[fault.kind(view)],
            int(fault.is_major(view)),
            f"{fault.page:#x}",
            f"{fault.native:#x}",
            fault.map.what,
            fault.map.name,
            fault.map.protection,
            f"{fault.map.offset_of(fault.page):#x}" if is_file else "",
            fault.instructions,
            fault.thread,
            fault.by,
            f"{fault.code.address:#x}",
            fault.code.object,
            fault.code.function,
            fault.code.file,
            fault.code.line,
            count_pages(fault.brought(view)),
        )


def _csv(log: FaultLog, view: int, _native: bool) -> Rows:
    yield ",".join(FIELDS)
    for fault in values(log, view):
        out = io.StringIO()
        csv.writer(out, lineterminator="").writerow(fault)
        yield out.getvalue()
