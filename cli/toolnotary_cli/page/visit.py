# SPDX-License-Identifier: Apache-2.0
"""One request for the review page: who sends it is judged before anything is answered.

Another user of the machine, a web site in the same browser, and a name that an attacker's name server points
here can all send requests; none of them knows the token, and none is answered with anything but a refusal.

Host must be exactly what the URL says (DNS rebinding); the token is compared in constant time; the fetch
metadata of browsers (W3C Fetch Metadata, `Sec-Fetch-*`) must say that a page is opened, and for an answer
that this very page sent it (cross-site request forgery). On Linux the other end must be a process of the
same user, so that a token which others can read in a browser's command line is of no use to them.
"""

import contextlib
import hashlib
import hmac
import socket
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qs

from toolnotary_cli.page.board import Taken
from toolnotary_cli.page.peers import is_own
from toolnotary_cli.page.screens import question_page, told_page
from toolnotary_cli.page.style import STYLE

if TYPE_CHECKING:
    from toolnotary_cli.page.door import Door

_BODY_BYTES: Final = 1024
_STYLE: Final = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE}'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS: Final = (
    ("Content-Security-Policy", _POLICY),
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Connection", "close"),
)


class Refusal(NamedTuple):
    """Why a request is not answered: a status code of HTTP, and a line."""

    code: int
    line: str


_UNKNOWN: Final = Refusal(404, "There is no such page here.")
_STALE: Final = (
    "This was answered already, or what is shown has changed since. Your answer did not count; reload the "
    "first page to see what is open."
)


class Visit(BaseHTTPRequestHandler):
    """One request."""

    server: "Door"
    protocol_version = "HTTP/1.1"

    def version_string(self) -> str:
        """Who answers; which Python it is, is nobody's business."""
        return "toolnotary"

    def setup(self) -> None:
        """Begin, and end it after a while whatever the other side does: no single byte extends that."""
        super().setup()
        self.connection.settimeout(self.server.seconds)
        self._expiry = threading.Timer(self.server.seconds, self._cut)
        self._expiry.daemon = True
        self._expiry.start()

    def finish(self) -> None:
        """Stop the clock."""
        self._expiry.cancel()
        super().finish()

    def do_GET(self) -> None:
        """Show a sheet, or what is told instead."""
        refusal = self._fault() or self._navigation_fault()
        rest = self.path[len(self.server.token) + 2 :] or "1"
        if refusal is not None:
            self._refuse(refusal)
        elif rest == "answer":
            self._refuse(Refusal(405, "An answer is given with the buttons of the page."), ("Allow", "POST"))
        elif _is_number(rest):
            self._show(int(rest))
        else:
            self._refuse(_UNKNOWN)

    def _show(self, number: int) -> None:
        shown, unread, end = self.server.board.open(number)
        if shown is not None and not 0 < number <= len(shown.sheets):
            self._refuse(_UNKNOWN)
        elif shown is not None:
            self._send(200, question_page(shown, number, unread))
        elif end is not None:
            self._send(200, told_page(*end, "You can close this page."))
            self.server.board.is_delivered()
        else:
            self._send(200, told_page("One moment", "This page goes on by itself.", refresh=1))

    def do_POST(self) -> None:
        """Take the answer."""
        is_elsewhere = self.path != f"/{self.server.token}/answer"
        refusal = self._fault() or self._origin_fault() or (_UNKNOWN if is_elsewhere else self._body_fault())
        if refusal is not None:
            self._refuse(refusal)
            return
        fields = self._fields()
        if fields is None:
            self._refuse(Refusal(400, "This is no answer of the page's form."))
            return
        taken, unread = self.server.board.take(fields["subject"], agrees=fields["answer"] == "yes")
        if taken is Taken.ACCEPTED:
            self._send(303, "", ("Location", "./"))
        elif taken is Taken.UNREAD:
            pages = ", ".join(map(str, sorted(unread)[:20])) + (", ..." if len(unread) > 20 else "")
            self._refuse(
                Refusal(409, f"Nothing was accepted: open every page first; not opened yet: {pages}.")
            )
        else:
            self._refuse(Refusal(409, _STALE))

    def _body_fault(self) -> Refusal | None:
        """Why what is sent is not read at all."""
        lengths = self.headers.get_all("Content-Length", [])
        if self.headers.get_all("Transfer-Encoding") or len(lengths) != 1 or not _is_number(lengths[0]):
            return Refusal(411, "The length of an answer must be told.")
        if int(lengths[0]) > _BODY_BYTES:
            return Refusal(413, "An answer is not that long.")
        if self.headers.get_content_type() != "application/x-www-form-urlencoded":
            return Refusal(415, "An answer comes from the page's form.")
        return None

    def _fields(self) -> dict[str, str] | None:
        """The form, None if it is none."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            found = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=2)
        except ValueError:
            return None
        fields = {name: values[0] for name, values in found.items()}
        is_form = set(fields) == {"subject", "answer"} and fields["answer"] in ("yes", "no")
        return fields if is_form else None

    # Who asks

    def _fault(self) -> Refusal | None:
        """Why nobody who sent this request is answered; the same for every method."""
        if not is_own(self.client_address[1], self.server.server_port):
            return Refusal(403, "This page is another user's.")
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0] != self.server.authority:
            return Refusal(421, "This page is known by another address.")
        given = self.path.split("/", 2)
        token = given[1] if len(given) == 3 and not given[0] else ""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            return _UNKNOWN
        return None

    def _navigation_fault(self) -> Refusal | None:
        """Why this does not open a page in a window of its own: framed, fetched, or opened ahead of time."""
        said = {name: self.headers.get(f"Sec-Fetch-{name}") for name in ("Mode", "Dest")}
        if said["Mode"] not in (None, "navigate") or said["Dest"] not in (None, "document"):
            return Refusal(403, "This page is opened in a window of its own.")
        if self.headers.get("Sec-Purpose") or self.headers.get("Purpose"):
            return Refusal(403, "This page is not opened ahead of time.")
        return None

    def _origin_fault(self) -> Refusal | None:
        """Why this answer was not sent by the page itself.

        With `Referrer-Policy: no-referrer` browsers send `Origin: null` with a form (Fetch standard, "append
        a request Origin header"); then the fetch metadata must say that it is the same origin.
        """
        site, origins = self.headers.get("Sec-Fetch-Site"), self.headers.get_all("Origin", [])
        is_ours = origins == [f"http://{self.server.authority}"]
        is_same = site == "same-origin"
        proved = (is_ours and site in (None, "same-origin")) or (is_same and origins in ([], ["null"]))
        return None if proved else Refusal(403, "An answer counts only from the page itself.")

    # What is answered

    def _send(self, code: int, page: str, *more: tuple[str, str]) -> None:
        body = page.encode("utf-8")
        self.close_connection = True
        self.send_response(code)
        for name, value in (*HEADERS, *more):
            self.send_header(name, value)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, refusal: Refusal, *more: tuple[str, str]) -> None:
        title = "Not here" if refusal.code == _UNKNOWN.code else "Not possible"
        self._send(refusal.code, told_page(title, refusal.line), *more)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What cannot be read as a request of ours (`BaseHTTPRequestHandler` calls this)."""
        del message, explain  # they repeat the request
        self._refuse(Refusal(int(code), "This is no request that a browser sends to this page."))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Nothing is logged: a path holds the token."""

    def _cut(self) -> None:
        with contextlib.suppress(OSError):  # gone already
            self.connection.shutdown(socket.SHUT_RDWR)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9
