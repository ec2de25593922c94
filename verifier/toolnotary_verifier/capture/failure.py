# SPDX-License-Identifier: Apache-2.0
"""What went wrong with an HTTP connection, told as a typed error."""

import ssl
from http.client import HTTPException
from typing import Final

from toolnotary_verifier.errors import CannotTell, InvalidInput
from toolnotary_verifier.escape import escape

# What `http.client` and its socket raise at a peer; ValueError is its answer to a chunk of negative size.
BROKEN: Final = (OSError, HTTPException, ValueError)


def broken_off(server: str, error: OSError | HTTPException | ValueError) -> CannotTell | InvalidInput:
    """The error that a broken connection is: `no-answer`, `tls`, `unreachable`, or `not-http` for garbage.

    Args:
        server: who was asked, escaped and without secrets.
        error: one of `BROKEN`.
    """
    if isinstance(error, TimeoutError):
        message = f"{server}: no answer in time"
        return CannotTell("no-answer", message, remedy="give it more time, or see whether it is up")
    if isinstance(error, ssl.SSLCertVerificationError):
        why = escape(error.verify_message, limit=200)
        return CannotTell(
            "tls",
            f"{server}: its certificate is not accepted: {why}",
            remedy="--ca-file adds an authority",
        )
    if isinstance(error, ssl.SSLError):
        message = f"{server}: no TLS connection: {error.reason or 'broken off'}"
        return CannotTell("tls", message, remedy="see that its port speaks TLS; http:// is for loopback")
    if isinstance(error, OSError):
        why = (error.strerror or "the connection broke off").lower()
        message = f"{server}: {escape(why, limit=200)}"
        return CannotTell("unreachable", message, remedy="check the URL and the network")
    return InvalidInput("not-http", f"{server}: its answer is not HTTP/1.1: {type(error).__name__}")
