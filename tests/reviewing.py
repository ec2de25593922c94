# SPDX-License-Identifier: Apache-2.0
"""`approve --page` in a process of its own, and whoever talks to its page: raw HTTP, as a browser or not."""

import http.client
import re
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlencode, urlsplit

_PATIENCE = 60.0
# What a browser sends when a person opens a page, and when they press a button of it.
OPENS = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
PRESSES = {
    "Origin": "null",
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
    "Content-Type": "application/x-www-form-urlencoded",
}


class Answer(NamedTuple):
    """What came back: status code, headers by lower-case names, text."""

    code: int
    headers: dict[str, str]
    text: str


class Reader(HTMLParser):
    """What a browser would take for elements, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= dict(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append(f"!--{data}")

    def handle_decl(self, decl: str) -> None:
        self.tags.append(f"!{decl}")


class Visitor:
    """Whoever sends requests to a page whose URL they know."""

    def __init__(self, url: str) -> None:
        self._known = url

    @property
    def url(self) -> str:
        """Where the page is."""
        return self._known

    @property
    def port(self) -> int:
        """On which port."""
        port = urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def token(self) -> str:
        """What nobody can guess."""
        return urlsplit(self.url).path.strip("/")

    def ask(
        self,
        method: str = "GET",
        path: str | None = None,
        *,
        headers: dict[str, str] | None = None,
        body: bytes | str | None = None,
    ) -> Answer:
        """One request, with exactly these headers beside Host and Content-Length."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        try:
            connection.request(method, path or f"/{self.token}/", body=body, headers=headers or {})
            answer = connection.getresponse()
            text = answer.read().decode("utf-8")
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
        finally:
            connection.close()

    def open(self, sheet: int | None = None) -> Answer:
        """Open a sheet as a person does."""
        return self.ask(path=f"/{self.token}/{sheet or ''}", headers=OPENS)

    def press(self, answer: str, subject: str | None = None) -> Answer:
        """Press a button; the subject is that of the page as it is now."""
        subject = self.subject() if subject is None else subject
        return self.post({"subject": subject, "answer": answer})

    def post(self, fields: dict[str, str], **headers: str) -> Answer:
        """Send a form as the page does, with other headers where they are given."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.ask("POST", f"/{self.token}/answer", headers={**PRESSES, **given}, body=urlencode(fields))

    def subject(self) -> str:
        """What an answer to the page is about."""
        found = re.search(r'name="subject" value="([^"]+)"', self.open().text)
        assert found is not None
        return found[1]

    def settle(self) -> Answer:
        """Reload as the page does by itself, until it asks or tells something."""
        while (answer := self.open()).text.count('http-equiv="refresh"'):
            time.sleep(0.05)
        return answer


class Page(Visitor):
    """A command that asks on a page, from its start to its end; used in a `with` block."""

    def __init__(self, *arguments: str, directory: Path) -> None:
        """Start `toolnotary ARGUMENTS` without a terminal, and wait until it told the URL.

        Args:
            arguments: the command line, `--page` and what goes with it included.
            directory: where it runs.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "toolnotary_cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=directory,
            start_new_session=True,
        )
        self._told: list[str] = []
        self._url: str | None = None
        self._has_url = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._told.append(line)
            found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", line)
            if found:
                self._url = found[0]
                self._has_url.set()
        self._has_url.set()

    @property
    def url(self) -> str:
        """Where the page is."""
        assert self._has_url.wait(_PATIENCE)
        assert self._url is not None, "".join(self._told)
        return self._url

    def end(self) -> tuple[int, str, str]:
        """Wait for the end of the command: exit code, standard output, standard error."""
        assert self._process.stdout is not None
        code = self._process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        return code, self._process.stdout.read(), "".join(self._told)

    def interrupt(self) -> None:
        """Press Ctrl-C, as it were."""
        import signal

        self._process.send_signal(signal.SIGINT)

    def __enter__(self) -> Self:
        """The running command."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it, however far it is."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(_PATIENCE)
        for stream in (self._process.stdout, self._process.stderr):
            self._reader.join(_PATIENCE)
            if stream is not None:
                stream.close()
