# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Makes the page: one HTML file that holds its data, its style, its scripts and Chart.js."""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from string import Template

from .._version import VERSION
from ..base.errors import ReportError
from .advised import Advised
from .calls import calls
from .costs import costs, machines_of
from .data import tables
from .faults import faults
from .inputs import Inputs
from .mapped import mapped
from .others import entries, reach, timeline
from .rows import Shared
from .verdicts import verdicts

# Where Debian's package libjs-chart.js puts it.
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"
_SCRIPTS = (
    *("tables.js", "plots.js", "parts.js", "choice.js", "costs.js", "answer.js", "faults.js"),
    *("flame.js", "timeline.js", "others.js", "machines.js", "report.js"),
)
_MOST_PLAIN = 4 << 20  # bytes
_LEVEL = 1  # of compression; higher ones take two and more times as long


def _library(path: str | None) -> str:
    """Chart.js, which is copied into the page."""
    named = path or CHART_JS
    advice = "" if path else "; install the package libjs-chart.js, or name it with --chart-js=FILE"
    try:
        with open(named, encoding="utf-8") as stream:
            text = stream.read()
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise ReportError(f"Chart.js: {what}{advice}", named) from None
    if "Chart" not in text:
        raise ReportError("not Chart.js: the word Chart is not in it", named)
    return text


def _asset(name: str) -> str:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except OSError as error:
        raise ReportError(f"{error.strerror}; is tlbgrind installed wholly?", path) from None


def _script(text: str) -> str:
    """A script that ends where it is to end: "</script" in a string is the same as "<\\/script"."""
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def data_of(inputs: Inputs, with_source: bool) -> tuple[dict[str, object], Shared]:
    shared = Shared()
    ordered = inputs.in_order_of_machines()
    advised = Advised(ordered)
    files = [out for out in ordered if out.path not in advised.variants]
    machines, names = machines_of(files, inputs.columns)
    logs = [faults(log, shared) for log in inputs.faults]
    data: dict[str, object] = {
        "version": VERSION,
        "advice": advised.page,
        "mappings": mapped(machines, names),
        **costs(machines, names, files, with_source, shared),
        "calls": calls(machines, names, shared),
        "data": tables(inputs.data, shared),
        "timelines": [timeline(read) for read in inputs.timelines],
        "faults": logs,
        "reaches": [reach(read) for read in inputs.reaches],
        "entries": [entries(read, shared) for read in inputs.entries],
        "verdicts": verdicts(machines, advised, bool(inputs.data)),
    }
    data["strings"] = list(shared.strings)
    return data, shared


def _json(data: dict[str, object], shared: Shared) -> Iterator[str]:
    """In pieces, since all of it is as large again as what it is made of."""
    yield json.dumps(data, ensure_ascii=True, separators=(",", ":"), check_circular=False)[:-1]
    between = ',"columns":['
    for column in shared.columns():
        yield between + column
        between = ","
    yield ']}' if between == "," else ',"columns":[]}'


def _embedded(pieces: Iterator[str]) -> str:
    """The element that holds the data. No name in it can end the element, or begin a comment there:
    JSON has "<" in strings only, and what is compressed is text without such characters. Small data
    is left as it is, since the browser unpacks the other only after the page is loaded."""
    packer = zlib.compressobj(_LEVEL)
    plain: list[str] = []
    packed: list[bytes] = []
    size = 0
    for piece in pieces:
        size += len(piece)
        if size <= _MOST_PLAIN:
            plain.append(piece)
        packed.append(packer.compress(piece.encode()))
    if size <= _MOST_PLAIN:
        return _element("application/json", "".join(plain).replace("<", "\\u003c"))
    return _element("text/plain", b64encode(b"".join([*packed, packer.flush()])).decode())


def _element(kind: str, text: str) -> str:
    return f'<script id="data" type="{kind}">{text}</script>'


def _commands(inputs: Inputs) -> Sequence[str]:
    commands = [
        *(out.command for out in inputs.costs),
        *(log.command for log in inputs.faults),
        *(read.command for read in inputs.reaches),
        *(read.command for read in inputs.entries),
        *(read.command for read in inputs.timelines),
        *(data.header.get("cmd", "") for data in inputs.data),
    ]
    return list(dict.fromkeys(filter(None, commands)))


def page(inputs: Inputs, chart_js: str | None, with_source: bool = True) -> str:
    # A byte that is not UTF-8 is shown as the character that stands for such bytes.
    title = escape(", ".join(_commands(inputs)) or "tlbgrind")[:200]
    return Template(_asset("report.html")).substitute(
        title=title.encode("utf-8", "replace").decode("utf-8"),
        version=escape(VERSION),
        style=_asset("report.css"),
        data=_embedded(_json(*data_of(inputs, with_source))),
        library=_script(_library(chart_js)),
        scripts="\n".join(f"<script>\n{_script(_asset(name))}</script>" for name in _SCRIPTS),
    )
