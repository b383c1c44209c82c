# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Prints the tables of calls as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..formats.outfile import Counts, Function
from .calltables import EVERY, Branch, Call, Calls, Inclusive, of_all
from .events import Event
from .facts import Fact
from .listing import label_of
from .table import Row, Style, Table

OWN = "own"
CALLS = "calls"

_INDENT = "  "
_DEEP = 30  # places whose depth is shown by indentation, and as a number below
_SHARED = "~ "


def legend_of(calls: Calls, with_tree: bool) -> list[Fact]:
    """What the columns and signs mean that are no events."""
    facts = [
        (OWN, f"{_sorted_by(calls).name} of the function itself, where the others are inclusive costs"),
        (CALLS, "How often it was called"),
    ]
    if any(cycle.number for cycle in calls.graph.cycles):
        facts.append(("{n}", "Functions of cycle n call each other; inclusive, they cost at most this"))
    if with_tree:
        facts.append((_SHARED.strip(), "Costs of a function with several callers, shared out among them"))
    return facts


def _sorted_by(calls: Calls) -> Event:
    return calls.selection.primary or calls.selection.sort[0]


class _Layout:
    """Tables whose counts are inclusive ones, then calls, then, where there are any, the function's
    own."""

    def __init__(self, calls: Calls, style: Style, with_calls: bool) -> None:
        selection = calls.selection
        width = len(calls.profile.zero)
        sort = selection.primary or selection.sort[0]
        own = Event(OWN, "", tuple(part + width + 1 for part in sort.parts))
        columns = [*selection.shown, own, *([Event(CALLS, "", (width,))] if with_calls else [])]
        base = (*calls.profile.base, 0, *calls.profile.base)
        self.screen = style.screen
        self.table = Table(calls.profile, replace(selection, shown=columns), style, base)

    def text(self, title: str, heading: str, blocks: Iterable[Sequence[Row]]) -> list[str]:
        """Rows of one width, with an empty line between blocks."""
        blocks = list(blocks)
        head, *lines = self.table.lines([row for block in blocks for row in block], heading)
        text = [*self.screen.title(title), head]
        for block in blocks:
            text += [*lines[: len(block)], ""]
            del lines[: len(block)]
        return text


def _label(function: Function) -> str:
    return label_of(("file", "function", "object"), (function.file, function.name, function.object))


def _counts(row: Inclusive) -> Counts:
    return (*row.costs, row.calls, *row.own)


def _cycle(row: Inclusive) -> str:
    return f"{{{row.cycle}}} " if row.cycle else ""


def inclusive(calls: Calls, style: Style) -> list[str]:
    layout = _Layout(calls, style, True)
    table = calls.inclusive()
    rows = [Row(_counts(row), _label(row.function), _cycle(row), True) for row in table.rows]
    if table.omitted:
        # Inclusive costs cannot be added up.
        text = f"{_functions(table.omitted)} {_below(calls)}"
        rows.append(Row(None, text))
    title = f"By function with all that it calls, sorted by {_sorted_by(calls).said()}"
    return layout.text(title, "file:function [object]", [rows])


def _functions(count: int) -> str:
    return f"{count:,} function{'s' * (count > 1)}"


def _below(calls: Calls) -> str:
    percent = float(calls.selection.threshold)
    return f"below {percent:g}%" if calls.selection.least else "without counts"


def callers(calls: Calls, pattern: str, style: Style) -> list[str]:
    """A block for each function: what calls it, the function, and what it calls."""
    layout = _Layout(calls, style, True)

    def row(call: Call, sign: str) -> Row:
        recursive = "(recursive) " if call.is_recursive else ""
        return Row((*call.arc.costs, call.arc.calls), _label(call.other), sign + recursive, True)

    def rest(those: list[Call], sign: str, what: str) -> list[Row]:
        if not those:
            return []
        arc = of_all(those, calls.profile.zero)
        plural = what + "s" * (len(those) > 1)
        return [Row((*arc.costs, arc.calls), f"{len(those):,} smaller {plural}", sign)]

    blocks = []
    for found in calls.neighbours(pattern):
        block = [row(call, "  < ") for call in found.callers]
        block += rest(found.more_callers, "  < ", "caller")
        block.append(Row(_counts(found.function), _label(found.function.function), _cycle(found.function), True))
        block += [row(call, "  > ") for call in found.callees]
        block += rest(found.more_callees, "  > ", "callee")
        blocks.append(block)
    of = "" if pattern == EVERY else f" of {pattern}"
    title = f"Callers and callees{of}, sorted by {_sorted_by(calls).said()}"
    return layout.text(title, "< caller, function, > callee", blocks)


def tree(calls: Calls, pattern: str, style: Style) -> list[str]:
    layout = _Layout(calls, style, False)
    rows: list[Row] = []
    waiting: list[Branch] = []

    def the_rest(depth: int) -> None:
        """What is left out of the places that end here, if it matters together."""
        while waiting and waiting[-1].node.depth >= depth:
            ended = waiting.pop()
            if ended.small and calls.selection.matters(ended.rest):
                rows.append(_rest(calls, ended))

    for branch in calls.tree(pattern):
        node = branch.node
        if node.depth < 0:  # roots that do not matter
            the_rest(0)
            rows.append(_rest(calls, branch))
            continue
        the_rest(node.depth)
        waiting.append(branch)
        before = _indent(node.depth) + ("" if node.is_exact else _SHARED)
        rows.append(Row((*node.counts, 0, *node.own), _label(node.function), before, True))
    the_rest(0)
    of = "" if pattern == EVERY else f" below {pattern}"
    title = f"Tree of calls{of}, sorted by {_sorted_by(calls).said()}"
    return layout.text(title, "file:function [object]", [rows])


def _indent(depth: int) -> str:
    return _INDENT * depth if depth <= _DEEP else f"{_INDENT * _DEEP}({depth}) "


def _rest(calls: Calls, branch: Branch) -> Row:
    text = f"{_functions(branch.small)} {_below(calls)}"
    return Row(branch.rest, text, _indent(branch.node.depth + 1))
