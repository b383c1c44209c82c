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
from collections.abc import Iterator, Sequence

from ..base.errors import ReportError
from ..base.tool import tool
from ..formats.dynamic import Dynamic
from ..formats.elf import Elf
from ..places.datafaults import AS_IT_IS
from .replay import CODE, DATA, Change, Run
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
_IN_ONE = ("libraries in one", "-shared, one link of the object files of all", False)
_IN_PROGRAM = ("libraries in the program", "their object files, or --whole-archive of their .a files, when linking", True)
_LEFT_OUT = "that calls between them may be direct then (-Wl,-Bsymbolic-functions, hidden symbols); libraries of dlopen()"


def remedies(run: Run, program: Program | None, used: Used | None, tlbgrind: str) -> Iterator[Remedy]:
    if program is None:
        return
    own, others = _libraries(run, program)
    kinds = [kind for kind, least in ((_IN_ONE, 2), (_IN_PROGRAM, 1)) if len(own) >= least]
    if used is None:
        why = "of a run with tlbgrind --entries=data, --entries=FILE tells; tg_annotate --advice=libraries, of a run with "
        why += "--dump-instr=yes, tells which symbols and pages a merge saves"
        yield from (Remedy(name, how, (), why, _LEFT_OUT, joins=False) for name, how, _ in kinds)
        return
    with tempfile.TemporaryDirectory(prefix="tg_faults-") as folder:
        lab = Lab(tlbgrind or tool(), settings_of(run), folder, run.log.command)
        for name, how, in_program in kinds:
            try:
                yield _tried(run, program, used, (name, how), lab, Merge(own, others, in_program))
            except (Impossible, OSError, subprocess.SubprocessError, ReportError) as error:
                yield Remedy(name, how, (), f"tried, but {error}", _LEFT_OUT, joins=False)


def _libraries(run: Run, program: Program) -> tuple[list[tuple[Elf, Dynamic]], list[str]]:
    """Those that are loaded with the program, as they are needed: its own, and paths of others."""
    found = {one[0].path: one for one in needed(run, program)}
    stays = [path for path in found if _STAYS.match(os.path.basename(path))]
    own = [one for path, one in found.items() if path not in stays]
    return own, [path for path in stays if not os.path.basename(path).startswith("ld-linux")]


def _tried(run: Run, program: Program, used: Used, names: tuple[str, str], lab: Lab, merge: Merge) -> Remedy:
    relinked = Relinked(run, used, program, merged(lab, program.elf, program.dynamic, merge))
    data = layout_in_order(program, used) or AS_IT_IS

    def relink(changes: Sequence[Change]) -> Run:
        keeps = [change.keep for change in changes if change.keep is not None and not change.orders]
        ordered = {change.orders for change in changes}
        return relinked.touches(keeps, CODE in ordered, data if DATA in ordered else AS_IT_IS)

    libraries = ", ".join(os.path.basename(elf.path) for elf, _ in merge.libraries)
    return Remedy(
        *names,
        (Way((), 0, relink),),
        f"of {libraries} all is where it is in an empty program of these sizes, with the same symbols and "
        "relocations, which was linked so for this forecast",
        _LEFT_OUT,
        joins=False,
        leads=True,
    )
