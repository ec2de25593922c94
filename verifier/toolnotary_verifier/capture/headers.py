# SPDX-License-Identifier: Apache-2.0
"""Headers of Streamable HTTP that are not the protocol's own: credentials to send, a session id to keep."""

from http.client import HTTPResponse

from toolnotary_verifier.capture.endpoint import Endpoint
from toolnotary_verifier.capture.source import UrlSource
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape

_MAX_SESSION = 1024
# Headers that the transport writes itself (all of Mcp-* besides).
_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "transfer-encoding"}
)


def credentials(source: UrlSource, endpoint: Endpoint) -> dict[str, str]:
    """The headers of the person who asks, checked before anything is sent.

    Raises:
        ConfigurationError: `header`; `insecure-url` if they would cross a network in the clear.
    """
    headers = dict(source.headers)
    if endpoint.authorization is not None:
        headers["Authorization"] = endpoint.authorization
    for name, value in headers.items():
        if (
            name.lower() in _OURS
            or name.lower().startswith("mcp-")
            or not name.replace("-", "").replace("_", "").isalnum()
        ):
            message = f"a header {escape(name, limit=80)} cannot be set"
            raise ConfigurationError("header", message, remedy="leave out what the protocol sets itself")
        if not value or not all(" " <= character <= "~" for character in value):
            message = f"the value of header {name} is empty, or not visible ASCII"
            raise ConfigurationError("header", message, remedy="check the variable that holds it")
    if headers and not endpoint.is_protected:
        raise ConfigurationError(
            "insecure-url",
            f"{endpoint.shown} is plain http beyond this machine: the network could read credentials",
            remedy="use https, or a tunnel to a port on this machine",
        )
    return headers


def session_id(response: HTTPResponse, server: str) -> str | None:
    """The session that a server opened, if it did (MCP, basic: transports, session management).

    Raises:
        InvalidInput: `session-id`.
    """
    session = response.getheader("Mcp-Session-Id")
    if session is None:
        return None
    if not 0 < len(session) <= _MAX_SESSION or not all("!" <= character <= "~" for character in session):
        raise InvalidInput("session-id", f"{server}: its session id is too long, or not visible ASCII")
    return session
