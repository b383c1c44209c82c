# tg_tap.py -- a pytest plugin that prints each test's result as a line of TAP.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Each pytest test becomes one TAP result; a skipped one carries its reason.

The process ends with status 0 when the TAP lines tell everything, so that the harness does not
count a failed test once more as an error.
"""

from __future__ import annotations

import os

import pytest
from tg_long import LONG


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tap-fd", type=int, default=1, help="file descriptor for TAP")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Tap(config.getoption("--tap-fd")))
    config.addinivalue_line("markers", "long: see tg_long.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [] if LONG else [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if LONG or not item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)


class Tap:
    def __init__(self, fd: int) -> None:
        self.stream = os.fdopen(os.dup(fd), "w", encoding="utf-8", errors="backslashreplace")
        self.count = 0
        self.broken = False
        self.verdicts: dict[str, str] = {}

    def emit(self, line: str) -> None:
        print(line, file=self.stream, flush=True)

    def result(self, ok: bool, name: str, directive: str = "") -> None:
        self.count += 1
        # A hash sign would begin a directive.
        name = " ".join(name.replace("#", "_").split())
        self.emit(f"{'ok' if ok else 'not ok'} {self.count} - {name}{directive}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.result(False, f"{report.nodeid}: cannot be collected")
        elif report.skipped:
            self.result(True, report.nodeid, f" # SKIP {reason(report.longrepr)}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Setup, call and teardown are reported apart: the worst of them is the test's result."""
        xfail = getattr(report, "wasxfail", None)
        verdict = self.verdicts.get(report.nodeid, "ok")
        if report.failed:
            verdict = "not ok"
        elif xfail is not None and verdict == "ok":
            verdict = f"xpass {xfail}" if report.passed else f"xfail {xfail}"
        elif report.skipped and verdict == "ok":
            verdict = f"skip {reason(report.longrepr)}"
        self.verdicts[report.nodeid] = verdict
        if report.when != "teardown":
            return
        del self.verdicts[report.nodeid]
        kind, _, why = verdict.partition(" ")
        if kind == "skip":
            self.result(True, report.nodeid, f" # SKIP {why}")
        elif kind in ("xfail", "xpass"):
            self.result(kind == "xpass", report.nodeid, f" # TODO {why}")
        else:
            self.result(verdict == "ok", report.nodeid)

    def pytest_internalerror(self, excrepr: object) -> None:
        self.broken = True
        self.emit("Bail out! internal error of pytest")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        told = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self.broken:
            pass
        elif self.count == 0:
            self.emit("Bail out! no tests were found")
        elif exitstatus == pytest.ExitCode.INTERRUPTED and not session.shouldstop:
            # A file that cannot be collected: its "not ok" is out already.
            self.emit(f"1..{self.count}")
            session.exitstatus = pytest.ExitCode.OK
        elif exitstatus in told:
            self.emit(f"1..{self.count}")
            session.exitstatus = pytest.ExitCode.OK
        else:
            self.emit(f"Bail out! pytest ended with status {exitstatus}")
        self.stream.close()


def reason(longrepr: object) -> str:
    text = str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)
    return " ".join(text.removeprefix("Skipped: ").split())
