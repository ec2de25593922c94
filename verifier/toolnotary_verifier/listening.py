# SPDX-License-Identifier: Apache-2.0
"""A port of this machine to serve on, reached from other machines only where somebody said so."""

import ipaddress
import socket

from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape

_BACKLOG = 512


def listen(host: str, port: int, *, allow_remote: bool) -> socket.socket:
    """A socket that accepts connections.

    Args:
        host: name or address to listen on.
        port: TCP port; 0 takes a free one.
        allow_remote: whether an address other than loopback is accepted.

    Raises:
        ConfigurationError: `not-loopback`, `cannot-listen`.
    """
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        message = f"{escape(host, limit=200)}: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError(
            "cannot-listen", message, remedy="give --host an address of this machine, such as 127.0.0.1"
        ) from error
    if not allow_remote and not ipaddress.ip_address(str(target[0]).partition("%")[0]).is_loopback:
        message = f"{host} can be reached from other machines, over plain HTTP"
        remedy = "listen on 127.0.0.1 behind a proxy that does TLS, or say --allow-remote"
        raise ConfigurationError("not-loopback", message, remedy=remedy)
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(target)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        message = f"{host} port {port}: {(error.strerror or str(error)).lower()}"
        raise ConfigurationError(
            "cannot-listen", message, remedy="choose another --port, or 0 for a free one"
        ) from error
    return listener


def url_of(listener: socket.socket) -> str:
    """Where it is reached, without a path."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
