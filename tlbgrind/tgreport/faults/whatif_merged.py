# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""What if the program's own libraries were one, or parts of the program?

Which they are, and what that changes for the dynamic linker, a trial link of stand-ins tells. The C
library stays, and so does the compiler's: nobody has their object files at hand.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..base.errors import ReportError
from ..base.tool import tool
from ..formats.dynamic import Dynamic
from ..formats.elf import Elf
from ..places.datafaults import AS_IT_IS
from .replay import CODE, DATA, Change, Run, faults_of, replay
from .whatif import Remedy, Way
from .whatif_code import Used
from .whatif_data import layout_in_order
from .whatif_link import Program, needed
from .whatif_relinked import Relinked
from .whatif_standin import Impossible
from .whatif_static import settings_of
from .whatif_trial import Lab, Merge, merged

_STAYS = re.compile(
    r"(ld-linux.*|lib(c|m|dl|pthread|rt|util|resolv|anl|mvec|BrokenLocale|thread_db|nsl|gcc_s|stdc\+\+))\.so"
)


class Kind(NamedTuple):
    name: str
    how: str
    in_program: bool
    leads: bool = False


_IN_ONE = Kind("libraries in one", "-shared, one link of the object files of all", False)
_IN_PROGRAM = Kind(
    "libraries in the program", "their object files, or --whole-archive of their .a files, when linking", True
)
_MOST_ALONE = 5  # that are tried
_NEARLY = 0.8  # of what all libraries bring
_LEFT_OUT = "that calls between them may be direct then (-Wl,-Bsymbolic-functions, hidden symbols); libraries of dlopen()"


def remedies(run: Run, program: Program | None, used: Used | None, tlbgrind: str) -> Iterator[Remedy]:
    if program is None:
        return
    there = {elf.path: (elf, dynamic) for elf, dynamic in needed(run, program)}
    own = [path for path in there if not _STAYS.match(os.path.basename(path))]
    kinds = [kind for kind, least in ((_IN_ONE, 2), (_IN_PROGRAM, 1)) if len(own) >= least]
    if used is None:
        why = "of a run with tlbgrind --entries=data, --entries=FILE tells; tg_annotate --advice=libraries, of a run with "
        why += "--dump-instr=yes, tells which symbols and pages a merge saves"
        yield from (Remedy(kind.name, kind.how, (), why, _LEFT_OUT, joins=False) for kind in kinds)
        return
    with tempfile.TemporaryDirectory(prefix="tg_faults-") as folder:
        trials = _Trials(run, program, used, Lab(tlbgrind or tool(), settings_of(run), folder, run.log.command), there)
        for kind in kinds:
            all_of_them = trials.of(kind._replace(leads=True), own)
            yield all_of_them
        if len(own) > 1 and all_of_them.ways:
            yield from _some(trials, own, trials.saved(all_of_them))


def _some(trials: _Trials, own: Sequence[str], most: int) -> Iterator[Remedy]:
    """Single libraries in the program, with those that need them, which would load them. Then the best of these
    together, one more at a time, until they bring nearly what all do: `most`."""
    faults = Counter(event.map.name for event in faults_of(trials.run, trials.now))
    ranked = sorted(own, key=lambda one: -faults[one])
    sets = dict.fromkeys(tuple(path for path in own if path in trials.with_users(one)) for one in ranked)
    saved: dict[tuple[str, ...], int] = {}
    for alone in [one for one in sets if len(one) < len(own)][:_MOST_ALONE]:
        remedy = trials.of(_named(_IN_PROGRAM, alone), alone)
        yield remedy
        if remedy.ways:
            saved[alone] = trials.saved(remedy)
    best = sorted(saved, key=lambda one: -saved[one])
    together = best[0] if best else ()
    for more in best[1:]:
        if saved.get(together, most) >= _NEARLY * most or saved[more] <= 0:
            return
        together = tuple(path for path in own if path in together or path in more)
        if together in saved or len(together) == len(own):
            continue
        remedy = trials.of(_named(_IN_PROGRAM, together), together)
        yield remedy
        if not remedy.ways:
            return
        saved[together] = trials.saved(remedy)
        yield trials.of(_named(_IN_ONE, together), together)


def _named(kind: Kind, paths: Sequence[str]) -> Kind:
    names = ", ".join(os.path.basename(path) for path in paths)
    return kind._replace(name=kind.name.replace("libraries", names))


class _Trials:
    """Merges that are tried, each once."""

    def __init__(self, run: Run, program: Program, used: Used, lab: Lab, there: Mapping[str, tuple[Elf, Dynamic]]) -> None:
        self.run, self.program, self.used, self.lab, self.there = run, program, used, lab, there
        self.now = replay(run)
        self.number = 0

    def saved(self, remedy: Remedy) -> int:
        return self.now.faults - remedy.ways[0].replay(self.run, False).faults

    def with_users(self, path: str) -> set[str]:
        found: set[str] = set()
        waiting = [path]
        for one in waiting:
            if one not in found:
                found.add(one)
                elf, dynamic = self.there[one]
                names = {dynamic.soname, os.path.basename(elf.path)}
                waiting += [user for user, (_, needs) in self.there.items() if names & set(map(os.path.basename, needs.needed))]
        return found

    def of(self, kind: Kind, paths: Sequence[str]) -> Remedy:
        stays = [path for path in self.there if path not in paths and not os.path.basename(path).startswith("ld-linux")]
        self.number += 1
        merge = Merge([self.there[path] for path in paths], stays, kind.in_program, self.number)
        try:
            return _tried(self.run, self.program, self.used, kind, self.lab, merge)
        except (Impossible, OSError, subprocess.SubprocessError, ReportError) as error:
            return Remedy(kind.name, kind.how, (), f"tried, but {error}", _LEFT_OUT, joins=False)


def _tried(run: Run, program: Program, used: Used, kind: Kind, lab: Lab, merge: Merge) -> Remedy:
    relinked = Relinked(run, used, program, merged(lab, program.elf, program.dynamic, merge))
    data = layout_in_order(program, used) or AS_IT_IS

    def relink(changes: Sequence[Change]) -> Run:
        keeps = [change.keep for change in changes if change.keep is not None and not change.orders]
        ordered = {change.orders for change in changes}
        return relinked.touches(keeps, CODE in ordered, data if DATA in ordered else AS_IT_IS)

    libraries = ", ".join(os.path.basename(elf.path) for elf, _ in merge.libraries)
    return Remedy(
        kind.name,
        kind.how,
        (Way((), 0, relink),),
        f"of {libraries} all is where it is in an empty program of these sizes, with the same symbols and "
        "relocations, which was linked so for this forecast",
        _LEFT_OUT,
        joins=False,
        leads=kind.leads,
    )
