#!/usr/bin/env python3
# pairs.py -- the README's table of architectures and versions of Valgrind, made of the tests that run.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""pairs.py --packages    the architectures and releases whose packages the tests need, as ARCH:RELEASE
pairs.py --write       writes the table into the README
pairs.py --ran LOG...  do the logs of test_hosts.py have a pass of each test that the table stands for?

Nothing in the table is written by hand: what is in it are the tests that pytest collects.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from host_list import HOSTS, RELEASE_NAMES, RELEASES, SOURCE

README = SOURCE / "README.md"
BEGIN = "<!-- made by tests/hosts/pairs.py --write -->"
END = "<!-- end of what pairs.py made -->"

# What the table calls each test of test_hosts.py.
CHECKS = {
    "test_each_function_makes_the_references_that_its_source_states": "known counts",
    "test_every_write_of_a_transposition_by_rows_walks": "known counts",
    "test_prefetches_fill_what_the_client_expects": "known counts",
    "test_costs_are_kept_while_the_function_is_active": "known counts",
    "test_calls_are_those_of_the_source": "known counts",
    "test_the_fast_path_changes_nothing": "fast path",
    "test_programs_count_as_a_naive_simulation": "naive simulation",
    "test_code_in_the_kernels_blocks_counts_as_a_naive_simulation": "naive simulation",
    "test_with_cachegrinds_definitions_all_counts_are_cachegrinds": "cachegrind",
    "test_a_recording_is_replayed_as_the_run_was": "recordings",
}
ORDER = list(dict.fromkeys(CHECKS.values()))

TEST = re.compile(r"hosts/test_hosts\.py::(\w+)\[(\w+)-(\d+\.\d+)")


def checks_of(names: Iterable[str]) -> dict[tuple[str, str], set[str]]:
    """The checks of each architecture and version, by the names of tests."""
    found: dict[tuple[str, str], set[str]] = {}
    for name in names:
        match = TEST.search(name)
        if match:
            function, architecture, version = match.groups()
            found.setdefault((architecture, version), set()).add(CHECKS[function])
    return found


def collected() -> list[str]:
    """The names of all tests of all hosts, whichever run on this machine."""
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "--color=no"]
        + [f"--rootdir={SOURCE / 'tests'}", str(SOURCE / "tests" / "hosts" / "test_hosts.py")],
        env={**os.environ, "TG_BUILDDIR": ".", "TG_SRCDIR": str(SOURCE), "TG_EVERY_HOST": "yes"}
        | {"PYTHONPATH": str(SOURCE / "tests"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def table(names: Iterable[str]) -> str:
    checks = checks_of(names)
    versions = [(RELEASES[r], RELEASE_NAMES[r]) for r in RELEASES]
    head = " | ".join(f"{version} ({name})" for version, name in versions)
    lines = [f"| | {head} |", "|---" * (1 + len(versions)) + "|"]
    # Emulated or not, in the order of the hosts.
    emulated = {h.valgrind: bool(h.qemu) for h in HOSTS if (h.valgrind, h.version) in checks}
    for architecture, by_qemu in emulated.items():
        cells = []
        for version, _ in versions:
            here = checks.get((architecture, version), set())
            cells.append("all" if here == set(ORDER) else ", ".join(c for c in ORDER if c in here) or "–")
        title = f"{architecture}, emulated" if by_qemu else architecture
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def written() -> str:
    """The table that the README has."""
    text = README.read_text(encoding="utf-8")
    assert text.count(BEGIN) == 1 and text.count(END) == 1
    return text.partition(BEGIN)[2].partition(END)[0].strip("\n")


def write() -> None:
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    README.write_text(f"{before}{BEGIN}\n\n{table(collected())}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def not_run(logs: Iterable[str]) -> list[str]:
    """What is wrong: tests of the table that no log has as passed, and table rows of other tests."""
    passed = set()
    for log in logs:
        for line in log.splitlines():
            # pytest's progress may stand before it.
            match = re.search(r"(?:^|[\s\].])PASS: \S+ \d+ - (\S+)$", line)
            if match:
                passed.add(match[1])
    wrong = [f"{name} did not pass" for name in collected() if name not in passed]
    if written() != table(passed):
        wrong.append("the README's table is not that of the tests that passed")
    return wrong


def main(arguments: list[str]) -> int:
    if arguments == ["--packages"]:
        print(*(f"{host.debian}:{host.release}" for host in HOSTS if host.qemu))
    elif arguments == ["--write"]:
        write()
    elif arguments[:1] == ["--ran"]:
        wrong = not_run(Path(name).read_text(errors="replace") for name in arguments[1:] if Path(name).exists())
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return bool(wrong)
    else:
        print(__doc__, end="", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
