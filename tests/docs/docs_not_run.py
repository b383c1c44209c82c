# docs_not_run.py -- commands of the documents that no test can run, and why.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

BUILD = "installs or builds what the test runs"
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
    "docs/manual-annotate.md": {
        "tg_annotate --to=folded=walks calls.out | flamegraph.pl": NO_PACKAGE,
    },
}
