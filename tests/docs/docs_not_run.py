# docs_not_run.py -- commands of the documents that no test can run, and why; what pages need.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

BUILD = "installs or builds what the test runs"
INSTALLED = "needs the installed library: run-install does it"
ORACLE = "needs the installed tool; tests/oracle compares the two"
PERF = "perf_event_open needs a right that test machines seldom give"
MINUTES = "takes minutes"
MEASURED = "measures the machine for a minute, or needs what that wrote"
GRAPHVIZ = "needs what graphviz.sh builds in minutes, from a source in the network"
GO = "needs Go, which builds pprof first"
NO_PACKAGE = "Debian has no package of it"
SERVER = "is for a program that runs; tests/tool/test_region.py sends such commands"
SYNOPSIS = "is a synopsis"
SOURCE_TREE = "is for the source tree, which a reader's folder is not"
OTHER_MACHINE = "is about another machine"
EDITOR = "starts an editor"
THREADS = "depends on the order of threads, which is Valgrind's choice"
RUNTIME = "needs a runtime that no other test needs"
BROWSER = "draws a picture with a browser; tests/report looks into such pages"
FLAMES = "draws the names of the C library's functions, which its version and the processor choose"
PYTHON = "needs a python that is built from source, in minutes"
PARALLEL = "needs GNU parallel, or other computers"
BASH = "needs a bash that is built from source, in minutes"

# Of each document the beginnings of such commands.
NOT_RUN = {
    "CONTRIBUTING.md": {
        "autoreconf": BUILD,
        "cd valgrind-3.19.0": BUILD,
        "../configure": BUILD,
        "mkdir": BUILD,
        "make": BUILD,
        "tlbgrind/tlbgrind ls": SOURCE_TREE,
        "perf": PERF,
    },
    "README.md": {"./quickstart": BUILD},
    "docs/annotate.md": {
        "tg_annotate --to=folded=walks calls.out | flamegraph.pl": NO_PACKAGE,
        "go tool pprof": GO,
    },
    "docs/install.md": {"./quickstart": BUILD, "autoreconf": BUILD, "../configure": BUILD, "mkdir": BUILD, "make": BUILD, "tests/hosts/get-packages": BUILD},
    "docs/internals/measurements.md": {"make bench": MINUTES, "tg_report large/": SOURCE_TREE},
    "docs/internals/validation.md": {
        "TLBGRIND=build/tlbgrind/tlbgrind TG_SRCDIR=. python3": SOURCE_TREE,
        "make experiments": MINUTES,
        "env -i PATH=": PERF,
        "sh docs/graphviz.sh": MINUTES,
        "export LD_LIBRARY_PATH=": GRAPHVIZ,
        "run=": GRAPHVIZ,
        "work=": GRAPHVIZ,
        "$run": GRAPHVIZ,
        "tg_annotate --advice=libraries apart.out_": GRAPHVIZ,
    },
    "docs/interruptions.md": {"tlbgrind --machine=skylake xz -T4": THREADS},
    "docs/jit.md": {
        "tlbgrind --machine=skylake node": RUNTIME,
        "tlbgrind --machine=skylake java": RUNTIME,
        "jcmd": RUNTIME,
        "tlbgrind --machine=skylake python3.12": RUNTIME,
        "tlbgrind --machine=skylake --calls=yes python3.12": RUNTIME,
        "DOTNET_PerfMapEnabled=1": RUNTIME,
    },
    "docs/libtlbsim.3": {"cc -o three_machines": INSTALLED, "valgrind --tool=lackey": INSTALLED},
    "docs/machines.md": {
        "tlbgrind --show-machine=alderlake.txt": OTHER_MACHINE,
        "tlbgrind --show-machine=cloud.txt": OTHER_MACHINE,
        "vi mine.machine": EDITOR,
    },
    "docs/packaging.md": {
        "make dist": BUILD,
        ".ci/packages": BUILD,
        ".ci/rpm": BUILD,
        "tar -xf tlbgrind": BUILD,
        "apt-get build-dep": BUILD,
        "dpkg-buildpackage": BUILD,
        "rpmbuild": BUILD,
        "nix-build": BUILD,
        "podman": BUILD,
    },
    "docs/part-of-a-run.md": {"vgdb --pid=4711 mark": SERVER},
    "docs/processor.md": {"parallel": PARALLEL, "for n in": PARALLEL},
    "docs/reference.md": {"tlbgrind [options]": SYNOPSIS, "valgrind --tool=tlbgrind [options]": SYNOPSIS},
    "docs/start-up.md": {
        "tg_faults --format=folded stacks.faults |": FLAMES,
        "tlbgrind --faults=yes ./python": PYTHON,
        "tg_faults tlbgrind.faults.4711": PYTHON,
        "tlbgrind --entries=yes ./python": PYTHON,
        "tg_order tlbgrind.entries.4711": PYTHON,
        "tg_order --forecast": PYTHON,
        "tg_order --check=./python.new": PYTHON,
        "tg_order --stale": PYTHON,
        "tg_faults --compare --max-more": PYTHON,
        "sh order.sh": PYTHON,
        "setarch -R perf": PERF,
        "tg_native": PERF,
        "perf script": PERF,
        "awk '$(NF-1) == $NF' native.txt": PERF,
        "tg_order --weights": PYTHON,
        "tg_order --gains": PYTHON,
        "tlbgrind --entries=data --faults=yes ./bash": BASH,
        "tg_order --data": BASH,
        "tg_order --with-data": BASH,
        "gcc ... -o bash.new": BASH,
    },
    "docs/measure.md": {"tlbgrind": MEASURED},
    "docs/tg_measure.1": {"tg_measure": MEASURED, "tlbgrind": MEASURED},
    "docs/tg_annotate.1": {
        "tg_annotate --to=folded=walks tlbgrind.out.4711 |": NO_PACKAGE,
        "pprof -http=:": GO,
    },
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
    "docs/tg_native.1": {"tg_native": PERF, "eval export": PERF, "tlbgrind": PERF},
    "docs/page-faults.md": {"tg_native": PERF},
    "docs/report.md": {"alias shot=": BROWSER, "shot": BROWSER},
    "docs/trust.md": {"export VALGRIND_LIB=PREFIX": ORACLE, "env -i VALGRIND_LIB=": ORACLE},
}

CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"

# Programs and files of Debian packages that a page's commands need; quickstart has the packages.
NEEDED = {
    "docs/annotate.md": ["eu-addr2line", "g++", "jq", "objdump"],
    "docs/huge-pages.md": ["sqlite3"],
    "docs/internals/formats.md": ["jq"],
    "docs/is-it-a-lot.md": ["sqlite3"],
    "docs/machines.md": ["cpuid"],
    "docs/part-of-a-run.md": [CHART_JS],
    "docs/report.md": [CHART_JS],
    "docs/start-up.md": ["sqlite3"],
    "docs/tg_annotate.1": ["jq"],
    "docs/tg_order.1": ["ld.lld"],
    "docs/tg_report.1": [CHART_JS],
}
