# SPDX-License-Identifier: Apache-2.0
"""Who may speak to the gateway: no page of a foreign site in a browser on this machine (MCP, transports).

A browser tells where a page came from (`Origin`), and a name that was led to this machine stands in `Host`.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from toolnotary_verifier.shells.http.message import METHOD, NAME, SESSION, VERSION, Header

# The answer to a browser that asks before it sends (CORS preflight).
PREFLIGHT: Final[Sequence[Header]] = (
    (b"access-control-allow-methods", b"DELETE, GET, POST"),
    (
        b"access-control-allow-headers",
        b", ".join((b"authorization", b"content-type", b"last-event-id", METHOD, NAME, VERSION, SESSION)),
    ),
    (b"access-control-max-age", b"600"),
)
_ALONE: Final = (b"none", b"same-origin")  # W3C Fetch Metadata, section 2.3
_HOST: Final = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\[\]:/@?#\s]+)(?::([0-9]{1,5}))?")


class Access:
    """Hosts and origins that are let in: those of this machine, and those that were named."""

    def __init__(self, hosts: Iterable[str] = (), *, origins: Iterable[str] = ()) -> None:
        """The ones named.

        Args:
            hosts: names, with or without a port, under which the gateway is reached.
            origins: of pages that may use it, such as `https://app.acme.example`.
        """
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower() for origin in origins)

    def refuses(self, headers: Sequence[Header]) -> str:
        """Why a request is not let in; empty if it is."""
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or not self._is_host(hosts[0]):
            return "host"
        has_origin = False
        for name, value in headers:
            if name == b"origin":
                has_origin = True
                if not self._is_origin(value.decode("latin-1").lower()):
                    return "origin"
        return "" if has_origin or not _is_embedded(headers) else "origin"

    def shared_with(self, headers: Sequence[Header]) -> list[Header]:
        """What lets a page of an origin that was let in read the answer (Fetch standard, CORS protocol)."""
        origin = next((value for name, value in headers if name == b"origin"), None)
        if origin is None:
            return []
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", SESSION + b", www-authenticate"),
            (b"vary", b"origin"),
        ]

    def _is_host(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        return host in self._hosts or found[1] in self._hosts or _is_this_machine(found[1].strip("[]"))

    def _is_origin(self, origin: str) -> bool:
        if origin in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            return parts.scheme in ("http", "https") and _is_this_machine(parts.hostname or "")
        except ValueError:
            return False


@lru_cache(maxsize=64)  # taking an address apart costs more than the rest of letting a request in
def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761, section 6.3
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_embedded(headers: Iterable[Header]) -> bool:
    """Whether a page of another site had a browser send this, by an image say, which names no origin."""
    return any(name == b"sec-fetch-site" and value not in _ALONE for name, value in headers)
