# SPDX-License-Identifier: Apache-2.0
"""Where a registry is: which URLs are taken, and which are refused before a socket is opened."""

import re
from dataclasses import dataclass
from typing import Self

from toolnotary_verifier.errors import ConfigurationError

_VISIBLE = re.compile(r"[!-~]+")
_PORTS = {"http": 80, "https": 443}
_REMEDY = "write https://HOST or https://HOST/PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The base URL of a registry, in parts.

    Attributes:
        scheme: `http` or `https`.
        host: name or address in lower case, an IPv6 address without its brackets.
        port: TCP port.
        path: what stands before `/v1`, without a slash at its end.
    """

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: str, *, insecure_http: bool = False) -> Self:
        """The address that `url` names.

        Args:
            url: an https URL; http is taken for this machine alone, since a network between could withhold
                and delay, and would read what is asked for.
            insecure_http: take http for any host.

        Raises:
            ConfigurationError: `registry-url`; the message never repeats the URL, which can hold a password.
        """
        from urllib.parse import urlsplit

        if not _VISIBLE.fullmatch(url):
            raise _bad("the registry's URL holds spaces or characters outside ASCII")
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise _bad("the registry is not given as a URL") from None
        if parts.scheme not in _PORTS or not host:
            raise _bad("the registry is not given as an http or https URL")
        if "@" in parts.netloc:
            raise _bad("the registry's URL holds a user or password, which would end up in logs")
        if parts.query or parts.fragment:
            raise _bad("the registry's URL holds a query or fragment")
        if parts.scheme == "http" and not insecure_http and not _is_loopback(host):
            remedy = "use https, or a tunnel; toolnotary sign and toolnotary publish take --insecure-http"
            raise ConfigurationError("registry-url", f"plain http to {host}", remedy=remedy)
        port = _PORTS[parts.scheme] if port is None else port
        return cls(scheme=parts.scheme, host=host, port=port, path=parts.path.rstrip("/"))

    @property
    def origin(self) -> str:
        """Scheme, host and port, without a port that the scheme implies; fit for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")

    def __str__(self) -> str:
        """The base URL."""
        return self.origin + self.path


def _bad(message: str) -> ConfigurationError:
    return ConfigurationError("registry-url", message, remedy=_REMEDY)


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address

    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
