# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Writes a profile in formats of text of other programs: folded stacks, cachegrind's."""

from __future__ import annotations

from collections.abc import Iterator

from .._version import VERSION
from ..base.errors import printable
from ..formats.outfile import Counts, Function
from .callgraph import Graph
from .calltree import Tree
from .events import Event
from .profile import Profile
from .selection import Selection
from .stacks import frame_name

FORMS = ("folded", "pprof", "firefox", "cachegrind", "callgrind")
FOLDED, PPROF, FIREFOX, CACHEGRIND, CALLGRIND = FORMS
OF_ONE_EVENT = (FOLDED, PPROF, FIREFOX)  # or shown first of all


def folded(profile: Profile, selection: Selection, event: Event) -> Iterator[str]:
    """One line for each way to a function: its frames from the first on, and the function's own
    count. The counts add up to the program's."""
    tree = Tree(Graph(profile), lambda counts: (event.of(counts),))
    least = selection.least

    def opens(counts: Counts) -> bool:
        return counts[0] >= least

    def rank(counts: Counts) -> tuple[int, ...]:
        return (-counts[0],)

    stacks: dict[tuple[str, ...], int] = {}
    way: list[str] = []
    for node in tree.nodes(opens, rank):
        del way[node.depth :]
        way.append(_frame(node.function))
        if node.own[0]:
            stack = tuple(way)
            stacks[stack] = stacks.get(stack, 0) + node.own[0]
    for stack, count in stacks.items():
        yield f"{';'.join(stack)} {count}"


def _frame(function: Function) -> str:
    """A semicolon is between frames."""
    return frame_name(function).replace(";", ":")


def callgrind(profile: Profile) -> Iterator[str]:
    """An out-file with its calls by line, those of inlined functions among them."""
    first = profile.files[0]
    yield "# callgrind format"
    yield "version: 1"
    yield f"creator: tg_annotate-{VERSION}"
    commands = dict.fromkeys(out.command for out in profile.files)
    yield printable(f"cmd: {' / '.join(commands) or '?'}")
    for name, value in first.descriptions:
        yield printable(f"desc: {name}: {value}")
    yield "positions: line"
    for event in profile.events:
        yield printable(f"event: {event} : {profile.long_names.get(event, event)}")
    yield f"events: {' '.join(profile.events)}"
    yield from _with_calls(profile)
    yield f"summary: {' '.join(map(str, profile.totals))}"
    yield f"totals: {' '.join(map(str, profile.totals))}"


def _with_calls(profile: Profile) -> Iterator[str]:
    costs = profile.lines_of_functions()
    calls = profile.calls_by_line()
    first = {function: min(places) for function, places in costs.items()}
    for function in sorted(costs.keys() | calls.keys()):
        own = costs.get(function, {})
        calling = calls.get(function, {})
        yield ""
        yield from _place("", function)
        at = function.file
        for file, line in sorted(own.keys() | calling.keys()):
            if file != at:
                yield printable(f"{'fe' if file == function.file else 'fi'}={file}")
                at = file
            if (file, line) in own:
                yield f"{line} {' '.join(map(str, own[file, line]))}"
            for callee, arc in sorted(calling.get((file, line), {}).items()):
                yield from _place("c", callee)
                _, target = first.get(callee, ("", 0))
                yield f"calls={arc.calls} {target}"
                yield f"{line} {' '.join(map(str, arc.costs))}"


def _place(kind: str, function: Function) -> Iterator[str]:
    for key, name in zip(("ob", "fi" if kind else "fl", "fn"), function):
        yield printable(f"{kind}{key}={name}")


def cachegrind(profile: Profile) -> Iterator[str]:
    """An out-file of cachegrind, for cg_annotate: it has no objects, and no calls."""
    first = profile.files[0]
    for name, value in first.descriptions:
        yield printable(f"desc: {name}: {value}")
    commands = dict.fromkeys(out.command for out in profile.files)
    yield printable(f"cmd: {' / '.join(commands) or '?'}")
    yield f"events: {' '.join(profile.events)}"
    width = 1 + len(profile.events)
    for function, file, run in profile.runs():
        yield printable(f"fl={file}")
        yield printable(f"fn={function.name}")
        for row in zip(*[iter(run.rows)] * width):
            yield " ".join(map(str, row))
    yield f"summary: {' '.join(map(str, profile.totals))}"
