# SPDX-License-Identifier: Apache-2.0
"""The Streamable HTTP transport, client side (MCP, basic: transports), in both eras.

Every message is a POST of its own. An answer counts only on the response to the request that it answers:
no server can slip a listing into another stream. Redirects stay within the origin; a body is bounded while it
is read, and one deadline holds for all of it.
"""

import time
from collections import deque
from collections.abc import Callable
from http.client import HTTPResponse
from urllib.parse import urljoin

from toolnotary_verifier.canonical import CanonicalError, JsonObject, parse_message, plain, serialize
from toolnotary_verifier.capture.concealed import Concealed
from toolnotary_verifier.capture.endpoint import Connection, Endpoint, Proxy, trust
from toolnotary_verifier.capture.event_stream import EventStream
from toolnotary_verifier.capture.failure import BROKEN, broken_off
from toolnotary_verifier.capture.headers import credentials, session_id
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.capture.transport import StatusError
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.jsonrpc import META_VERSION
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.secrecy import mask_url

_REDIRECTS = 3
_ERROR_BYTES = 64 << 10
_MAX_READ = 4096
_GOODBYE_SECONDS = 2.0


class StreamableHttp:
    """One client of one endpoint; see `Transport` for the methods."""

    kind = "streamable-http"
    is_duplex = False

    def __init__(
        self,
        source: UrlSource,
        *,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint = Endpoint.parse(source.url)
        self._headers = credentials(source, self._endpoint)
        self._proxy = Proxy.for_endpoint(self._endpoint, source.environment)
        self._tls = trust(source.ca_file) if self._endpoint.scheme == "https" else None
        self._concealed = Concealed.of(source)
        self._limits = limits
        self._clock = clock
        self._session: str | None = None
        self._frames: deque[bytes] = deque()
        self._stream: EventStream | None = None
        self.server = escape(mask_url(source.url), limit=200)
        self.protocol_version: str | None = None

    def send(self, message: JsonObject, *, deadline: float) -> None:
        """POST one message; a request's answer is then there to be received."""
        awaited = message.get("id") if "method" in message else None
        if awaited is not None:
            self._drop()
        connection, response = self._post(serialize(message), self._facts(message), deadline)
        try:
            self._accept(message, connection, response)
        except BaseException:
            connection.close()
            raise
        if self._stream is None or self._stream.connection is not connection:
            connection.close()

    def receive(self, *, deadline: float) -> bytes | None:
        """The next frame of the response to the last request."""
        while not self._frames:
            if self._stream is None:
                return None  # the response has ended
            try:
                chunk = self._stream.read(deadline)
            except TimeoutError:
                self._drop()
                return None
            except InvalidInput as error:
                raise InvalidInput(error.code, f"{self.server}: {error.message}") from None
            except BROKEN as error:
                raise broken_off(self.server, error) from None
            if chunk is None:
                self._drop()
                return None
            self._frames.extend(chunk)
        return self._frames.popleft()

    def explain(self) -> str:
        """Nothing is said beside the protocol."""
        return ""

    def mask(self, text: str) -> str:
        """`text` without the secrets of URL and headers."""
        return self._concealed.mask(text)

    def close(self) -> None:
        """End the session, as far as the server still listens."""
        self._drop()
        if self._session is None:
            return
        deadline = self._clock() + _GOODBYE_SECONDS
        try:
            connection, _ = self._request("DELETE", self._endpoint, b"", self._facts({}), deadline)
            connection.close()
        except (CannotTell, InvalidInput):
            pass  # the session then ends when the server forgets it
        self._session = None

    # Requests

    def _facts(self, message: JsonObject) -> dict[str, str]:
        """The headers that repeat what the body says, per era."""
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        stateless = meta.get(META_VERSION) if isinstance(meta, dict) else None
        facts = {}
        if stateless is not None:
            facts = {"MCP-Protocol-Version": stateless, "Mcp-Method": message["method"]}
        elif self.protocol_version is not None:
            facts = {"MCP-Protocol-Version": self.protocol_version}
        if self._session is not None:
            facts["Mcp-Session-Id"] = self._session
        return facts

    def _post(self, body: bytes, facts: dict[str, str], deadline: float) -> tuple[Connection, HTTPResponse]:
        endpoint = self._endpoint
        for _ in range(_REDIRECTS + 1):
            connection, response = self._request("POST", endpoint, body, facts, deadline)
            if not 300 <= response.status < 400:
                return connection, response
            connection.close()
            endpoint = self._elsewhere(endpoint, response)
        message = f"{self.server}: more than {_REDIRECTS} redirects"
        raise CannotTell("redirect", message, remedy="give the URL that is meant")

    def _elsewhere(self, endpoint: Endpoint, response: HTTPResponse) -> Endpoint:
        """Where a redirect leads, if it keeps method, body and origin (RFC 9110, 15.4.8 and 15.4.9)."""
        location = response.getheader("Location")
        target = None
        if location is not None and response.status in (307, 308):
            try:
                target = Endpoint.parse(urljoin(f"{endpoint.shown}", location))
            except (ConfigurationError, ValueError):
                target = None
        if target is not None and target.origin == endpoint.origin:
            return target
        where = escape(mask_url(target.shown), limit=200) if target else "somewhere that cannot be followed"
        raise CannotTell(
            "redirect",
            f"{self.server}: status {response.status} points to {where}; redirects are followed within the "
            "origin only, by 307 and 308",
            remedy="give the URL that is meant",
        )

    def _request(
        self, method: str, endpoint: Endpoint, body: bytes, facts: dict[str, str], deadline: float
    ) -> tuple[Connection, HTTPResponse]:
        headers = {
            **self._headers,
            **facts,
            "Accept": "application/json, text/event-stream",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "Content-Type": "application/json",
        }
        connection = None
        try:
            connection = Connection.open(endpoint, proxy=self._proxy, tls=self._tls, deadline=deadline)
            connection.http.request(method, endpoint.target, body=body, headers=headers)
            return connection, connection.http.getresponse()
        except BROKEN as error:
            if connection is not None:
                connection.close()
            raise broken_off(self.server, error) from None

    # Responses

    def _accept(self, message: JsonObject, connection: Connection, response: HTTPResponse) -> None:
        is_request = "method" in message and "id" in message
        if not 200 <= response.status < 300:
            frame = self._answer_in_error(message.get("id") if is_request else None, response)
            self._frames.append(frame)
            return
        if not is_request or response.status == 202:  # accepted: an answer can no longer come
            return
        if message["method"] == "initialize":
            self._session = session_id(response, self.server)
        kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
        encoding = (response.getheader("Content-Encoding") or "identity").strip().lower()
        if encoding != "identity":
            raise InvalidInput(
                "content-encoding",
                f"{self.server}: compressed, though identity was asked for",
                remedy="let the server, or the proxy before it, honour Accept-Encoding",
            )
        if kind == "application/json":
            self._frames.append(self._body(response))
        elif kind == "text/event-stream":
            self._stream = EventStream(connection, response, self._limits)
        else:
            shown = escape(kind, limit=80) or "no type"
            raise InvalidInput(
                "content-type",
                f"{self.server}: status {response.status} with {shown}, expected JSON or an event stream",
                remedy="is this the URL of an MCP endpoint?",
            )

    def _body(self, response: HTTPResponse) -> bytes:
        most = self._limits.frame_bytes
        try:
            body = response.read(most + 1)
        except BROKEN as error:
            raise broken_off(self.server, error) from None
        if len(body) > most:
            raise InvalidInput("too-large", f"{self.server}: an answer has more than {most} bytes")
        return body

    def _answer_in_error(self, awaited: object, response: HTTPResponse) -> bytes:
        """The JSON-RPC error that an error status carries for our id; any other error status is an error."""
        said, body = "", b""
        try:
            body = response.read(_ERROR_BYTES)
            parsed = parse_message(body)
        except (*BROKEN, CanonicalError):
            parsed = None
        error = parsed.get("error") if isinstance(parsed, dict) else None
        if isinstance(error, dict):
            if awaited is not None and plain(parsed.get("id")) == awaited:
                return body
            text = error.get("message")
            said = f": {escape(self.mask(text[:_MAX_READ]), limit=300)}" if isinstance(text, str) else ""
        status = response.status
        if status in (401, 403):
            raise StatusError(
                "unauthorized",
                f"{self.server}: status {status}, it wants credentials{said}",
                status=status,
                remedy="toolnotary capture --header NAME=VARIABLE sends them, from an environment variable",
            )
        code = "session-ended" if status == 404 and self._session else "http-status"
        raise StatusError(code, f"{self.server}: status {status}{said}", status=status)

    def _drop(self) -> None:
        self._frames.clear()
        if self._stream is not None:
            self._stream.connection.close()
            self._stream = None
