# test_pairs.py -- the README's table of architectures claims what the tests run, and nothing else.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
from __future__ import annotations

import re

import pytest
from host_list import HOSTS, RELEASES, SOURCE, Host
from pairs import CHECKS, collected, not_run, table, written

NAMES = collected()


def log(names: list[str]) -> str:
    return "".join(f"PASS: tests/hosts/test_hosts.py {n} - {name}\n" for n, name in enumerate(names, 1))


def test_the_table_is_made_of_the_tests() -> None:
    assert written() == table(NAMES), "tests/hosts/pairs.py --write writes it again"


def test_each_host_and_each_check_has_tests() -> None:
    assert {name.partition("[")[2].split("-")[0] for name in NAMES} == {host.valgrind for host in HOSTS}
    assert {re.findall(r"::(\w+)", name)[0] for name in NAMES} == set(CHECKS)
    for host in HOSTS:
        assert any(f"[{host.name}" in name for name in NAMES), host.name


def test_ci_runs_each_release() -> None:
    script = (SOURCE / ".ci/releases").read_text(encoding="utf-8")
    releases = re.findall(r"for release in (.*); do", script)
    assert [line.split() for line in releases] == [list(RELEASES)]


def test_what_has_passed_is_all_or_is_told() -> None:
    """Logs of several machines together; a test that failed, was skipped or did not run is named."""
    half = len(NAMES) // 2
    assert not_run([log(NAMES[:half]), log(NAMES[half:])]) == []
    # pytest tells how far it is on the same line.
    assert not_run([log(NAMES[:half]), log(NAMES[half:]).replace("PASS: ", " " * 40 + "[100%]PASS: ", 1)]) == []
    for lost in (0, half, len(NAMES) - 1):
        others = NAMES[:lost] + NAMES[lost + 1 :]
        for line in ("", f"FAIL: x 1 - {NAMES[lost]}\n", f"SKIP: x 1 - {NAMES[lost]} # SKIP no qemu\n"):
            assert f"{NAMES[lost]} did not pass" in not_run([log(others), line])


@pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])
def test_a_pair_that_no_test_covers_is_not_in_the_table(host: Host) -> None:
    without = [name for name in NAMES if f"[{host.name}" not in name]
    assert table(without) != table(NAMES)
    assert not_run([log(without)])[-1] == "the README's table is not that of the tests that passed"
