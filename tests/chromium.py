# SPDX-License-Identifier: Apache-2.0
"""A real browser without a screen: Debian's chromium, through its chromedriver (W3C WebDriver)."""

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

Json = Any
_PATIENCE = 90.0
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C WebDriver, section 12: web element identifier
NEEDED = ("chromium", "chromedriver")


class Browser:
    """One session; a window of it shows one page."""

    def __init__(self, port: int, options: list[str]) -> None:
        self._port = port
        self._session = ""
        chrome = {"args": options, "binary": shutil.which("chromium")}
        wanted = {"goog:chromeOptions": chrome, "goog:loggingPrefs": {"browser": "ALL"}}
        made = self._call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/{made['sessionId']}"

    def _call(self, method: str, path: str, body: Json = None) -> Json:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        try:
            sent = None if method == "GET" else json.dumps(body or {})
            connection.request(method, f"/session{self._session}{path}", body=sent)
            value = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise AssertionError(f"{value['error']}: {value['message'][:500]}")
        return value

    def open(self, url: str) -> None:
        """Go there, and wait until it is loaded."""
        self._call("POST", "/url", {"url": url})

    def click(self, text: str) -> None:
        """Press the one button or link that says this."""
        path = f"//*[self::button or self::a][normalize-space()='{text}']"
        found = self._call("POST", "/elements", {"using": "xpath", "value": path})
        assert found, f"nothing says {text!r}: {self.text()[:400]}"
        self._call("POST", f"/element/{found[0][_ELEMENT]}/click")

    def text(self) -> str:
        """What a person reads."""
        return str(self.ask("return document.body.innerText"))

    def wait(self, text: str) -> str:
        """What a person reads, once this stands there; the page goes on by itself."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            with contextlib.suppress(AssertionError):  # between two pages
                if text in (read := self.text()):
                    return read
            time.sleep(0.1)
        raise AssertionError(f"{text!r} never came: {self.text()[:400]}")

    def ask(self, script: str) -> Json:
        """What a script of the test sees; the page's own policy does not hold for it."""
        return self._call("POST", "/execute/sync", {"script": script, "args": []})

    def devtools(self, command: str, **parameters: Json) -> None:
        """A command of the developer tools."""
        self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self) -> list[str]:
        """What the browser wrote to its console since the last time."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def tab(self) -> str:
        """The window that is looked at."""
        return str(self._call("GET", "/window"))

    def new_tab(self) -> str:
        """A new one, which is looked at from now on."""
        handle = str(self._call("POST", "/window/new", {"type": "tab"})["handle"])
        self.look_at(handle)
        return handle

    def look_at(self, handle: str) -> None:
        """Another one."""
        self._call("POST", "/window", {"handle": handle})

    def end(self) -> None:
        """Close it."""
        self._call("DELETE", "")


@contextlib.contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own.

    Args:
        folder: where the profile lies.
    """
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)} here: apt-get install chromium chromium-driver")
    options = ["--headless=new", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder / 'profile'}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--no-sandbox")  # which has no superuser in it
    driver = subprocess.Popen(
        ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert driver.stdout is not None
    try:
        said = ""
        for line in driver.stdout:
            said += line
            if found := re.search(r"started successfully on port (\d+)", line):
                break
        else:
            pytest.skip(f"chromedriver does not start here: {said[:300]}")
        browser = Browser(int(found[1]), options)
        try:
            yield browser
        finally:
            browser.end()
    finally:
        driver.terminate()
        driver.wait(_PATIENCE)
        driver.stdout.close()
