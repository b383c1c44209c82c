# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Puts the variables that runs use in the order in which a linker is to place them.

In .data first what the program writes, in the order of the first write; then what only relocations
write; then what is only read. In .bss what is written, then what is only read. All of the first
two are pages that are written, whatever is beside them; a page of what nobody writes takes a fault
only if it is read, and the rest none at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..base.errors import ReportError
from ..base.functions import stripped
from ..formats.elf import Elf, Places, Symbol, data_symbols
from ..formats.entries import choose_object
from .datafaults import PAGE, Layout, Piece, data_sections, ordered
from .datapages import Data
from .sections import Sections
from .trace import FIXED_FILES, Trace

SECTIONS = (".data", ".bss")  # the sections of a binary within which linkers order
USES = WRITTEN, RELOCATED, READ = ("written", "relocated", "only read")  # in this order
_FIXED_NAMES = ("__dso_handle", "__data_start")  # of the C start files


@dataclass
class Variable:
    """One in its place in the order."""

    name: str
    file: str  # the source of a static one, if the symbols say so
    names: tuple[str, ...]  # its own, those of other symbols at its address, those without suffix
    place: range  # where it is in the first run's binary
    section: str  # one of SECTIONS
    use: str
    weight: float  # the share of the runs that use it so
    inputs: list[str] = field(default_factory=list)  # its sections in the object files, as far as known
    alignment: int = 0  # of these; 0: not known
    shares: bool = False  # the object files have it in a section with others

    @property
    def label(self) -> str:
        return f"{self.name} ({self.file})" if self.file else self.name


@dataclass
class DataOrder:
    placed: list[Variable]
    stay: list[Variable]  # used, but of a section that no linker can move alone
    large: int  # of more than a page, of which some pages are not used: they stay, too
    duplicates: list[str]  # names of placed ones that others have, too

    def within(self, section: str) -> list[Variable]:
        return [v for v in self.placed if v.section == section]


class _Symbols:
    """The variables of a binary that a linker may order, by address."""

    def __init__(self, binary: Elf, relocated: Sequence[int]) -> None:
        at: dict[int, list[Symbol]] = defaultdict(list)
        for symbol in data_symbols(binary):
            section = binary.section_of(symbol)
            if section is None or section.name not in SECTIONS:
                continue
            # A library's variable that was copied, which the linker itself has given the room.
            copied = section.name == ".bss" and _any(relocated, symbol.address, symbol.address + 1)
            if symbol.file in FIXED_FILES or symbol.name in _FIXED_NAMES or copied:
                continue
            at[symbol.address].append(symbol)
        self.names = {a: tuple(sorted({s.name for s in symbols})) for a, symbols in at.items()}
        self.section = {}
        merged = []
        for symbols in at.values():
            best = min(symbols, key=lambda s: (-s.size, s.binding == 0, s.name.startswith("_"), s.name))
            merged.append(best)
            section = binary.section_of(best)
            self.section[best.address] = section.name if section else ""
        self.places = Places(merged)
        self.all = self.places.symbols


def _any(sorted_: Sequence[int], start: int, end: int) -> bool:
    index = bisect_left(sorted_, start)
    return index < len(sorted_) and sorted_[index] < end


class _Used(NamedTuple):
    written: dict[int, float]  # the variable's address: where in the run its first write stands, 0 to 1
    read: dict[int, float]
    pages: dict[int, set[int]]  # of large variables, those that are written


def _used(data: Data, symbols: _Symbols) -> _Used:
    """What the program itself writes and reads; relocations are the binary's."""
    written: dict[int, float] = {}
    read: dict[int, float] = {}
    pages: dict[int, set[int]] = defaultdict(set)
    for number, use in enumerate(data.uses):
        at, end = use.address, use.address + use.length
        while at < end:
            symbol = symbols.places.at(at)
            if symbol is None:
                at = min(end, symbols.places.behind(at) or end)
                continue
            stop = min(end, symbol.address + symbol.size)
            rank = number / len(data.uses)
            if use.is_write:
                pages[symbol.address].update(range(at // PAGE, (stop - 1) // PAGE + 1))
                if use.again or not data.is_relocated(at, stop):
                    written.setdefault(symbol.address, rank)
            else:
                read.setdefault(symbol.address, rank)
            at = stop
    return _Used(written, read, pages)


def _is_sparse(symbol: Symbol, pages: set[int], relocated: Sequence[int]) -> bool:
    """A large variable with whole pages that nothing writes: beside smaller ones it would only be in
    their way."""
    end = symbol.address + symbol.size
    if symbol.size <= PAGE:
        return False
    whole = range(-(-symbol.address // PAGE), end // PAGE)
    return any(
        page not in pages and not _any(relocated, page * PAGE, (page + 1) * PAGE) for page in whole
    )


@dataclass
class _Candidate:
    symbol: Symbol
    names: tuple[str, ...]
    section: str
    # Of each use, where in the run it stands first, by the number of the run.
    ranks: dict[str, dict[int, float]] = field(default_factory=lambda: {use: {} for use in USES})


class _Chosen(NamedTuple):
    one: _Candidate
    use: str
    ranks: dict[int, float]
    weight: float


def data_order(
    traces: Sequence[Trace], wanted: str, weights: Sequence[float], least: float, sections: Sections | None
) -> DataOrder:
    """Of the first trace's binary; a run of another build counts by names."""
    found: dict[tuple[str, str, int], _Candidate] = {}
    large = 0
    same = len({trace.build_id or trace.object for trace in traces}) == 1
    exists: dict[str, set[int]] = defaultdict(set)
    for number, trace in enumerate(traces):
        if trace.binary is None:
            raise ReportError(f"data in order needs the binary that was run: {trace.object}", trace.entries.path)
        if not trace.entries.uses:
            raise ReportError("no data was recorded: run the program with --entries=data", trace.entries.path)
        data = Data(trace.entries, choose_object(trace.entries, wanted), trace.binary)
        relocated = sorted(data.relocated)
        symbols = _Symbols(trace.binary, relocated)
        used = _used(data, symbols)
        for symbol in symbols.all:
            if number == 0:
                exists[symbol.name].add(symbol.address)
            use, rank = _use(symbol, used, relocated)
            if not use:
                continue
            if _is_sparse(symbol, used.pages.get(symbol.address, set()), relocated):
                large += number == 0
                continue
            key = (symbol.name, symbol.file, symbol.address if same else 0)
            names = symbols.names[symbol.address]
            new = _Candidate(symbol, names, symbols.section[symbol.address])
            found.setdefault(key, new).ranks[use][number] = rank
    order = DataOrder([], [], large, [])
    for chosen in _sorted(found.values(), weights, least):
        variable = _variable(chosen, exists)
        (order.placed if _can_move(variable, sections) else order.stay).append(variable)
    order.duplicates = sorted({v.name for v in order.placed if len(exists[v.name]) > 1})
    return order


def _use(symbol: Symbol, used: _Used, relocated: Sequence[int]) -> tuple[str, float]:
    """How a run uses it first of all, and when; "": not at all."""
    at = symbol.address
    if at in used.written:
        return WRITTEN, used.written[at]
    if _any(relocated, at, at + symbol.size):
        return RELOCATED, 0.0
    if at in used.read:
        return READ, used.read[at]
    return "", 0.0


def _sorted(found: Iterable[_Candidate], weights: Sequence[float], least: float) -> list[_Chosen]:
    """As functions: those that the same runs use stand together, those of most of the weight first."""
    chosen = [one for one in (_chosen(candidate, weights, least) for candidate in found) if one is not None]

    def key(this: _Chosen) -> tuple[int, int, float, tuple[int, ...], float, int]:
        total = sum(weights[n] for n in this.ranks)
        mean = sum(weights[n] * rank for n, rank in this.ranks.items()) / total
        section, turn = SECTIONS.index(this.one.section), USES.index(this.use)
        return section, turn, -this.weight, tuple(sorted(this.ranks)), mean, this.one.symbol.address

    return sorted(chosen, key=key)


def _chosen(one: _Candidate, weights: Sequence[float], least: float) -> _Chosen | None:
    """The first use that enough of the runs have. What others write, one that only reads finds there, too."""
    ranks: dict[int, float] = {}
    for use in USES:
        ranks = {**one.ranks[use], **ranks}
        weight = sum(weights[n] for n in ranks) / sum(weights)
        # Relocations are written in every run.
        if one.ranks[use] and (weight >= least or use == RELOCATED):
            return _Chosen(one, use, ranks, weight)
    return None


def _variable(chosen: _Chosen, exists: dict[str, set[int]]) -> Variable:
    symbol = chosen.one.symbol
    others = [name for name in chosen.one.names if name != symbol.name]
    others += [s for name in (symbol.name, *others) for s in _shorter(name) if s not in exists]
    place = range(symbol.address, symbol.address + symbol.size)
    names = tuple(dict.fromkeys((symbol.name, *others)))
    return Variable(symbol.name, symbol.file, names, place, chosen.one.section, chosen.use, chosen.weight)


def _shorter(name: str) -> Iterator[str]:
    """Without a compiler's suffix. The number of a function's static variable is none: it never goes without."""
    for shorter in stripped(name):
        if not name[len(shorter) + 1 :].isdigit():
            yield shorter
        name = shorter


def _can_move(variable: Variable, sections: Sections | None) -> bool:
    """Whether it has a section of its own; without object files it is taken to have one."""
    if sections is None:
        return True
    known = [s for n in variable.names for s in sections.data.get(n, ())]
    alone = [s for s in known if s.variables == 1 and s.name not in SECTIONS]
    variable.inputs = list(dict.fromkeys(s.name for s in alone))
    variable.alignment = max((s.alignment for s in alone), default=0)
    variable.shares = bool(known) and not alone
    return bool(alone)


def layout_of(order: DataOrder, binary: Elf, at_end: bool) -> Layout:
    """How the data of the binary moves when a linker follows the order; `at_end`: gold."""
    symbols = sorted({(s.address, s.address + s.size) for s in data_symbols(binary)})
    sections = []
    begun = False
    for section in sorted(data_sections(binary), key=lambda s: s.address):
        begun |= section.name in SECTIONS
        if not begun:
            continue
        end = section.address + section.size
        pieces = [Piece(v.place, v.alignment) for v in order.within(section.name)]
        within = [range(a, b) for a, b in symbols if section.address <= a and b <= end]
        sections.append((section, pieces, within))
    return ordered(sections, at_end)
