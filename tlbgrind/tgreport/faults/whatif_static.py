# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program were linked statically: the dynamic linker does nothing, and what it needs of its
libraries is a part of it.

Where a linker would place that, a trial link tells, if an entries file says which functions are used.
Without it the numbers are a range: the pages that are used of the libraries lie as far apart as they do
now, or side by side.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence

from ..base.errors import ReportError
from ..base.tool import tool
from ..formats.faultlog import LINKER
from ..places.datafaults import AS_IT_IS
from .replay import CODE, DATA, Change, Event, Piece, Run
from .whatif import Remedy, Way
from .whatif_code import Used
from .whatif_data import layout_in_order
from .whatif_link import Program, no_pie
from .whatif_relinked import Relinked
from .whatif_standin import Impossible
from .whatif_trial import Lab, trial

# Faults of a static program's own start: the table of IRELATIVE relocations is read, what they
# write to is copied, and code is used that the dynamic linker has otherwise.
_OWN_LEAST, _OWN_MOST = 0, 4


_FLAGS = (("static PIE", "-static-pie", True), ("static", "-static", False))
_LEFT_OUT = "static programs load no converters (iconv) and users' databases"
# A trial is linked for the same kernel.
_SETTINGS = ("fault-around", "read-ahead", "thp", "mthp")


def remedies(run: Run, program: Program | None, used: Used | None, tlbgrind: str) -> Iterator[Remedy]:
    if program is None:
        return
    if used is None:
        yield from _ranges(run, program)
        return
    with tempfile.TemporaryDirectory(prefix="tg_faults-") as folder:
        lab = Lab(tlbgrind or tool(), settings_of(run), folder, run.log.command)
        for name, flag, _ in _FLAGS:
            try:
                yield _tried(run, program, used, name, flag, lab)
            except (Impossible, OSError, subprocess.SubprocessError, ReportError) as error:
                how = f"{flag} when linking, with the libraries' .a files"
                yield Remedy(name, how, (), f"tried, but {error}", _LEFT_OUT, joins=False)


def settings_of(run: Run) -> list[str]:
    """Options for the kernel of the recorded run."""
    return [f"--{key}={run.log.header[key].replace('+', ',')}" for key in _SETTINGS if key in run.log.header]


def _tried(run: Run, program: Program, used: Used, name: str, flag: str, lab: Lab) -> Remedy:
    relinked = Relinked(run, used, program, trial(lab, program.elf, program.dynamic, flag))
    libraries = set(relinked.bases) - {program.path, relinked.linker}
    data = layout_in_order(program, used) or AS_IT_IS

    def relink(changes: Sequence[Change]) -> Run:
        """Of the changes, an order has events of its own, which are those of the program as it is."""
        keeps = [change.keep for change in changes if change.keep is not None and not change.orders]
        ordered = {change.orders for change in changes}
        return relinked.touches(keeps, CODE in ordered, data if DATA in ordered else AS_IT_IS)

    return Remedy(
        name,
        f"{flag} when linking, with the libraries' .a files",
        (Way((), 0, relink),),
        f"the start and what is used of {_many(len(libraries))} are where they are in an empty program of "
        f"this size, which was linked so for this forecast{_late(run, libraries)}",
        _LEFT_OUT,
        joins=name == "static",
    )


def _many(libraries: int) -> str:
    return "one library" if libraries == 1 else f"{libraries} libraries"


def _late(run: Run, libraries: set[str]) -> str:
    late = _loads_late(run, libraries)
    return "; it calls dlopen(), and what it loads would have to be built in" if late else ""


def _ranges(run: Run, program: Program) -> Iterator[Remedy]:
    libraries = {
        name
        for name, elf in run.files.elves.items()
        if name != program.path and not elf.is_program
    }
    linker = next((name for name in libraries if _is_linker(run, name)), "")
    late = _late(run, libraries)
    for name, how, is_pie in _FLAGS:
        moved = [] if is_pie else list(_fixed(run, program))
        ways = []
        for is_dense, own in ((False, _OWN_MOST), (True, _OWN_LEAST)):
            relocated = {program.path} if is_pie else set()
            if is_pie and not is_dense:
                relocated |= libraries - {linker}
            change = Change(keep=_keeper(linker, relocated, libraries if is_dense else set()))
            if is_dense:
                _pack(run, change, libraries - {linker})
            ways.append(Way((change, *moved), -own))
        yield Remedy(
            name,
            f"{how} when linking, with the libraries' .a files",
            ways,
            f"what is used of {_many(len(libraries) - 1)} becomes a part of the program: as far apart as now, "
            f"or side by side{late}; --entries=FILE, of the same run with tlbgrind --entries=data, has a number",
            f"which pages of the file are read; {_LEFT_OUT}",
            joins=False,
            knows_disk=False,
        )


def _is_linker(run: Run, name: str) -> bool:
    """What the dynamic linker executes is its own: the tool tells its work by the instruction's address."""
    return any(event.work == LINKER and event.fetches and event.map.name == name for event in run.events)


def _loads_late(run: Run, libraries: set[str]) -> bool:
    """Whether a library is used first when the program's own code has run."""
    begun = False
    seen: set[str] = set()
    for event in run.events:
        begun |= event.fetches and event.work != LINKER and event.map.name not in libraries
        if event.map.name in libraries and event.map.name not in seen:
            seen.add(event.map.name)
            if begun and event.work == LINKER:
                return True
    return False


def _keeper(linker: str, relocated: set[str], joined: set[str]) -> Callable[[int, Event], bool]:
    """A program that can be anywhere relocates itself. What is `joined` has its data that is only read
    on pages that are there."""

    def keep(_place: int, event: Event) -> bool:
        if event.map.what == "vdso":
            return True
        if event.work == LINKER:
            return event.writes and event.map.name in relocated
        is_data = "w" in event.map.protection and event.map.what == "file"
        if event.map.name in joined and is_data and not event.writes:
            return False
        return event.map.name != linker

    return keep


def _fixed(run: Run, program: Program) -> Iterator[Change]:
    remedy = no_pie(run, program)
    if remedy is not None:
        yield from remedy.ways[0].changes


def _pack(run: Run, change: Change, libraries: set[str]) -> None:
    """All used pages of code, and of constants, one behind the other."""
    size = run.page_size
    for mode in ("r-x", "r--"):
        maps = {
            map_.number: map_
            for map_ in run.log.maps.values()
            if map_.what == "file" and map_.name in libraries and map_.protection == mode
        }
        used = sorted(
            {
                (event.map.number, event.page)
                for event in run.events
                if event.map.number in maps and event.work != LINKER
            }
        )
        if not used:
            continue
        first = maps[used[0][0]].native // size
        places = {key: first + place for place, key in enumerate(used)}
        for map_ in maps.values():
            change.by[map_.number] = first + (map_.offset - map_.native) // size
            change.page[map_.number] = _placed(places, map_.number)
            change.piece[map_.number] = _whole(first, len(used))


def _placed(places: dict[tuple[int, int], int], number: int) -> Callable[[int], int | None]:
    return lambda page: places.get((number, page))


def _whole(first: int, count: int) -> Callable[[Piece], Piece]:
    return lambda _piece: Piece(first, first + count)
