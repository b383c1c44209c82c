# docs_not_run.py -- commands of the documents that no test can run, and why.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

BUILD = "installs or builds what the test runs"
INSTALLED = "needs the installed library: run-install does it"
PERF = "perf_event_open needs a right that test machines seldom give"
MINUTES = "takes minutes"
GRAPHVIZ = "needs what graphviz.sh builds in minutes, from a source in the network"
NO_PACKAGE = "Debian has no package of it"
SYNOPSIS = "is a synopsis"

# Of each document the beginnings of such commands.
NOT_RUN = {
    "README.md": {"./quickstart": BUILD, "autoreconf": BUILD, "../configure": BUILD, "make": BUILD},
    "docs/libraries.md": {
        "sh docs/graphviz.sh": MINUTES,
        "export LD_LIBRARY_PATH=": GRAPHVIZ,
        "run=": GRAPHVIZ,
        "work=": GRAPHVIZ,
        "$run": GRAPHVIZ,
        "tg_annotate --advice=libraries apart.out_": GRAPHVIZ,
    },
    "docs/libtlbsim.3": {"cc -o three_machines": INSTALLED, "valgrind --tool=lackey": INSTALLED},
    "docs/manual-annotate.md": {
        "tg_annotate --to=folded=walks calls.out | flamegraph.pl": NO_PACKAGE,
    },
    "docs/tg_annotate.1": {"tg_annotate --to=folded=walks tlbgrind.out.4711 |": NO_PACKAGE},
    "docs/tg_faults.1": {
        "cpu=": PERF,
        "same=": PERF,
        "dd if=./program": PERF,
        "env -i $same": PERF,
        "record=": PERF,
        "setarch -R $record": PERF,
        "perf script": PERF,
        "tg_faults --native": PERF,
    },
}
