# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Lists the variables that were written first, and how many pages they need side by side."""

from __future__ import annotations

from ..base.errors import ReportError
from ..base.text import aligned, counted, title
from ..places.datafaults import PAGE, data_sections
from ..places.datapages import CLASSES, Data

_CLASS_TITLES = {
    "relro": "relro: read-only after relocation",
    "data": "data: with initial values",
    "bss": "bss: zero at first",
}


def report(data: Data, object_name: str, top: int) -> list[str]:
    if not data.pages:
        raise ReportError(
            f"no data of {object_name} was recorded: run the program with --entries=data"
        )
    text = _pages(data, object_name)
    text += _variables(data, top)
    return text + _packing(data)


def _pages(data: Data, object_name: str) -> list[str]:
    rows = [("page", "class", "variables", "relocated", "written", "first written")]
    for page in data.pages.values():
        rows.append(
            (
                f"{page.address:#x}",
                page.kind,
                f"{len(page.variables):,}",
                f"{page.relocated:,}",
                f"{page.written:,}",
                page.first.name,
            )
        )
    heading = f"Pages of data of {object_name}, in order of their first write"
    return [title(heading), *aligned(rows, left=2), ""]


def _variables(data: Data, top: int) -> list[str]:
    rows = [("when", "class", "size", "relocated", "written", "faults", "page", "variable")]
    variables = list(data.variables.values())
    for variable in variables[: top or None]:
        rows.append(
            (
                f"{variable.when:,}",
                variable.kind,
                f"{variable.size:,}",
                f"{variable.relocated:,}",
                f"{variable.written:,}",
                f"{variable.faults or ''}",
                f"{variable.first_page:#x}",
                variable.name,
            )
        )
    text = [title("Variables in order of their first write"), *aligned(rows, left=0)]
    if top and len(variables) > top:
        text.append(f"... and {len(variables) - top:,} more (--top=0 shows all)")
    legend = "faults: pages whose first write was to this variable"
    return [*text, "", legend, ""]


def _packing(data: Data) -> list[str]:
    """What is written takes as many pages as it has bytes, were nothing else between."""
    rows: list[tuple[str, ...]] = [
        ("class", "pages", "written", "variables", "bytes", "relocated", "bytes", "side by side")
    ]
    for kind in CLASSES:
        variables = [v for v in data.variables.values() if v.kind == kind]
        # One on which .data ends and .bss begins is a page of both, as in the column before.
        pages = len({page for variable in variables for page in variable.pages})
        written = [v for v in variables if v.written]
        relocated = [v for v in variables if not v.written]
        sizes = [sum(v.room if v.size else v.written + v.relocated for v in some) for some in (written, relocated)]
        numbers = (_class_pages(data, kind), pages, len(written), sizes[0], len(relocated), sizes[1])
        # No linker takes an order for what becomes read-only.
        best = "" if kind == "relro" else f"{-(-sum(sizes) // PAGE):,}"
        rows.append((_CLASS_TITLES[kind], *(f"{n:,}" for n in numbers), best))
    return [
        title("Packing"),
        *aligned(rows),
        "",
        "written: pages; variables: those that the program writes; relocated: those that only relocations",
        "write; bytes: of large ones, no more than their pages; side by side: pages that both would need",
        *_why(data),
        "",
    ]


def _why(data: Data) -> list[str]:
    count = sum(not v.written and v.kind == "data" for v in data.variables.values())
    if not (count and data.binary.is_pie and data.binary.is_program):
        return []
    return [
        f"The program is position-independent: the dynamic linker writes to {counted(count, 'variable')} that the",
        "program does not write. Without position independence (-no-pie) it would not.",
    ]


def _class_pages(data: Data, kind: str) -> int:
    """Pages that hold something of the class."""
    pages: set[int] = set()
    for section in data_sections(data.binary):
        if data.class_of(section.address) == kind:
            last = (section.address + section.size - 1) // PAGE
            pages.update(range(section.address // PAGE, last + 1))
    return len(pages)
