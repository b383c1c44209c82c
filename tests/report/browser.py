# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
"""Opens a page in headless Chromium, and asks it through the DevTools protocol, on two pipes."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome") or ""
in_browser = pytest.mark.skipif(not PROGRAM, reason="chromium is not there")


class Browser:
    """One page in one process."""

    def __init__(self, profile: Path, width: int = 1280, height: int = 900) -> None:
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        # The browser expects them as 3 and 4, which may be others here.
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (to_browser, from_browser)]

        def as_expected() -> None:
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--remote-debugging-pipe"]
            + ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
            + [f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=as_expected,  # noqa: PLW1509 (there are no threads)
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_browser, from_browser, *high):
            os.close(end)
        self._number = 0
        self._read = b""
        self.events: list[dict[str, Any]] = []
        self._session = ""
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.ask(f"{domain}.enable")

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            more = os.read(self._in, 1 << 20)
            assert more, "the browser ended"
            self._read += more
        message, _, self._read = self._read.partition(b"\0")
        return dict(json.loads(message))

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        request: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            message = self._message()
            if message.get("id") == self._number:
                assert "error" not in message, message
                return dict(message["result"])
            self.events.append(message)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait(self, what: Callable[[], Any]) -> None:
        """Until it is so: the harness ends what never is."""
        while not what():
            time.sleep(0.02)

    def open(self, page: Path) -> None:
        self.events.clear()
        self.ask("Page.navigate", url=page.resolve().as_uri())
        self.wait(lambda: self.run("document.readyState") == "complete" or None)

    def complaints(self) -> list[str]:
        """What the console has: errors, warnings, uncaught exceptions."""
        found = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(str(what["exceptionDetails"]))
            elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(str(what["args"]))
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(str(what["entry"]))
        return found

    def requested(self) -> list[str]:
        """The addresses that the page asked for."""
        sent = [e["params"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent]

    def close(self) -> None:
        self.ask("Browser.close")
        self._process.wait()
        os.close(self._in)
        os.close(self._out)


def show(browser: Browser, page: Path) -> None:
    """Opens it, and waits until its scripts have run."""
    browser.open(page)
    browser.wait(lambda: browser.run("document.documentElement.dataset.ready") or browser.complaints())
    assert browser.complaints() == []
