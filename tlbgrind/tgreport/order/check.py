# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Implements --check: does a binary follow an order?"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.command import Answer
from ..base.errors import ReportError, printable
from ..base.functions import stripped
from ..base.text import aligned, title
from ..formats import faultlog
from ..formats.elf import Elf
from ..places import layout, trace
from ..places.archived import archived_from
from ..places.dataorder import READ, Variable
from ..places.trace import Function
from . import cold, dialects
from .datacheck import Wanted, check_data, variables_of
from .options import Options
from .work import COLUMNS, LEGEND, LIMIT_EXCEEDED, Work, labelled, row, some

# What --check exits with if the binary does not follow the order.
_DOES_NOT_FOLLOW = 2
_FOLLOWS = 0.9  # the share of neighbours that ascend, from which on it does


def check(work: Work) -> Answer:
    binary = _binary(work.options.check)
    ordered = [p.function for p in work.order.placed]
    names = {id(p.function): p.others for p in work.order.placed}
    match = layout.places_in(ordered, names, binary)
    _refuse_another_binary(match, len(ordered), binary, work.options)
    chosen = work.traces[0]
    touches = [t for t in chosen.touches if id(t[0]) in match.places]
    rows = [COLUMNS]
    if work.binary is not None:
        own = {id(f): layout.Place(f.address, f.size) for f in ordered if id(f) in match.places}
        rows.append(row("as it ran", layout.measure(touches, own, layout.Text(work.binary))))
    found = layout.measure(touches, match.places, layout.Text(binary))
    rows.append(row("checked", found))
    in_order = _movable([match.places[id(f)].address for f in ordered if id(f) in match.places], binary)
    text = [title(f"Check of {binary.path}"), *aligned(rows), "", *LEGEND, ""]
    if work.options.faults:
        text += _cold(work, names, binary)
    verdict = _verdict(in_order, match, len(ordered), found, work.options)
    if work.data is not None:
        _add_data(verdict, [_wanted(v) for v in work.data.placed], binary)
    verdict[:] = [*text, *verdict, ""]
    return verdict


def _wanted(variable: Variable) -> Wanted:
    return Wanted(variable.names, variable.file, variable.place, variable.use != READ)


def _add_data(verdict: Answer, wanted: Sequence[Wanted], binary: Elf) -> None:
    found = check_data(wanted, binary)
    verdict += found.lines
    if not found.follows:
        verdict.status = verdict.status or _DOES_NOT_FOLLOW


def _cold(work: Work, names: dict[int, list[str]], binary: Elf) -> list[str]:
    chosen = work.traces[0]
    if work.binary is None:
        raise ReportError(f"--faults needs the binary that was run: {chosen.object}", chosen.entries.path)
    log = faultlog.read(work.options.faults)
    code = (chosen.object, work.binary, chosen.touches)
    own = layout.own_places(chosen)
    # What no order moves has another place as well: the C start files' functions lie behind the block.
    match = layout.places_in(chosen.functions, names, binary)
    return cold.table(log, work.options.read_ahead, code, own, ("checked", match.places, binary))


def check_names(options: Options) -> Answer:
    binary = _binary(options.check)
    known = variables_of(binary)
    code = {symbol.name for symbol in trace.code_symbols(binary)}
    names = dialects.read(options.order)
    variables = [name for name, _ in names if name in known and name not in code]
    written = [_function_of_order(name, file) for name, file in names if name in code or name not in known]
    if not written:
        raise ReportError("it names no function", options.order)
    functions, match = _match_names(written, binary)
    _refuse_another_binary(match, len(functions), binary, options)
    touches = [(f, (0, 1)) for f in functions if id(f) in match.places]
    found = layout.measure(touches, match.places, layout.Text(binary))
    rows = [COLUMNS, row("checked", found)]
    in_order = _movable([match.places[id(f)].address for f in functions if id(f) in match.places], binary)
    text = [title(f"Check of {binary.path}"), *aligned(rows), "", *LEGEND, ""]
    verdict = _verdict(in_order, match, len(functions), found, options)
    if variables:
        _add_data(verdict, [Wanted((name,), "", range(0), False) for name in variables], binary)
    verdict[:] = [*text, *verdict]
    return verdict


def _movable(addresses: Sequence[int], binary: Elf) -> Sequence[int]:
    """Without the C library's in a static program, which no order moves."""
    until = archived_from(binary)
    return addresses if until is None else [address for address in addresses if address < until]


def _function_of_order(name: str, file: str) -> Function:
    return Function(name, file, 0, 0, 0, (name, *stripped(name)), [(0, 1)])


def _binary(path: str) -> Elf:
    binary = trace.load_binary(path, "", "")
    if not trace.code_symbols(binary):
        raise ReportError("it has no symbols of functions, so nothing can be checked", path)
    return binary


def _match_names(
    written: Sequence[Function], binary: Elf
) -> tuple[list[Function], layout.Match]:
    """An ordering file has all names of a function, and those without a compiler's suffix: what lies
    at one address is one function, and so is a name that is not there and one that it is short for."""
    match = layout.places_in(written, {}, binary)
    shorter = {name for function in written for name in stripped(function.name)}
    functions: list[Function] = []
    addresses: set[int] = set()
    for function in written:
        place = match.places.get(id(function))
        if place is None and function.name in shorter:
            continue
        if place is not None:
            if place.address in addresses:
                continue
            addresses.add(place.address)
        functions.append(function)
    kept = {id(function) for function in functions}
    match.missing = [f for f in match.missing if id(f) in kept]
    match.ambiguous = [f for f in match.ambiguous if id(f) in kept]
    return functions, match


def _refuse_another_binary(match: layout.Match, total: int, binary: Elf, options: Options) -> None:
    if len(match.missing) * 2 > total and options.max_missing is None:
        raise ReportError(
            f"{len(match.missing)} of the {total} functions of the order are not in it: "
            "the order is for another binary",
            binary.path,
        )


def _verdict(
    addresses: Sequence[int], match: layout.Match, total: int, found: layout.Measure, options: Options
) -> Answer:
    """A linker that follows puts nearly every function behind the one before it; by chance it is
    every other one. Functions of one address, which a linker has folded, count once."""
    addresses = list(dict.fromkeys(addresses))
    pairs = len(addresses) - 1
    share = sum(a < b for a, b in zip(addresses, addresses[1:])) / pairs if pairs > 0 else 1.0
    follows = share >= _FOLLOWS
    verdict = "follows" if follows else "does NOT follow"
    share_text = f"{100 * share:.1f}% of neighbours in the order are ascending"
    text = [f"The binary {verdict} the order: {share_text}."]
    if not follows:
        text.append(
            "Was it compiled with -ffunction-sections, and did the linker get the file? "
            "No linker complains about an order that has no effect."
        )
    missing = len(match.missing) / total if total else 0.0
    if match.missing:
        text.append(
            f"Not in this binary: {len(match.missing):,} of {total:,} functions ({100 * missing:.1f}%): "
            + some([f.name for f in match.missing], 20)
        )
    if match.ambiguous:
        text.append(
            f"Several functions of one name, taken in turn: {len(match.ambiguous):,}: "
            + some([labelled(f) for f in match.ambiguous], 20)
        )
    reasons = _exceeded(share, missing, max(found.faults), options)
    answer = Answer((printable(line) for line in text), reasons)
    answer.status = LIMIT_EXCEEDED if reasons else 0 if follows else _DOES_NOT_FOLLOW
    return answer


def _exceeded(ascending: float, missing: float, faults: int, options: Options) -> list[str]:
    """What is beyond the limits of the command line."""
    found = []
    if options.max_faults is not None and faults > options.max_faults:
        found.append(f"code faults are {faults:,}, above --max-faults={options.max_faults}")
    if options.least_ascending is not None and ascending < options.least_ascending:
        least = f"--least-ascending={100 * options.least_ascending:g}"
        found.append(f"{100 * ascending:.2f}% of neighbours are ascending, below {least}")
    if options.max_missing is not None and missing > options.max_missing:
        most = f"--max-missing={100 * options.max_missing:g}"
        found.append(f"{100 * missing:.2f}% of the order's functions are missing, above {most}")
    return [f"{what}: {options.check}" for what in found]
