# SPDX-License-Identifier: Apache-2.0
"""One look at a source: connect, read everything, end what was started."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.capture.concealed import Concealed
from toolnotary_verifier.capture.conversation import Conversation
from toolnotary_verifier.capture.look import REVISIONS, Look
from toolnotary_verifier.capture.source import CommandSource, Source
from toolnotary_verifier.capture.transport import Transport
from toolnotary_verifier.errors import CannotTell, ToolnotaryError
from toolnotary_verifier.interrupts import uninterrupted
from toolnotary_verifier.jsonrpc import HANDSHAKE, STATELESS
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.surface import Surface


def inspect(
    source: Source,
    *,
    revisions: tuple[str, ...] = REVISIONS,
    capabilities: tuple[str, ...] = (),
    limits: Limits = DEFAULT_LIMITS,
    variables: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Surface:
    """What the server says of itself, seen once, over a connection (and a process) of its own.

    No surface comes from here that repeats a secret of its source: whoever looks pins it, shows it, or
    publishes it.

    Args:
        source: what to start or to connect to.
        revisions: protocol revisions to ask for, newest first; the first that the server speaks is used.
        capabilities: names of the client capabilities to declare.
        limits: bounds on sizes and times.
        variables: variables to set for a started process, over those of the source.
        directory: where to start a process instead of the source's own directory.

    Raises:
        CannotTell: the server was not inspected: `server-start`, `server-ended`, `no-answer`, `unreachable`,
            `tls`, `unauthorized`, `http-status`, `redirect`, `protocol-version`, `handshake-refused`,
            `listing-refused`.
        InvalidInput: an answer that cannot be used: not JSON, too large, too deep, `listing-shape`,
            `listing-limit`, `cursor-loop`, `content-type`, `not-http`.
        Refused: `secret-in-surface`.
        ConfigurationError: `url`, `header`, `insecure-url`, `ca-file`, `proxy`.
    """
    concealed = Concealed.of(source)
    declared: dict[str, JsonValue] = {name: {} for name in capabilities}
    older = tuple(revision for revision in revisions if revision in HANDSHAKE)
    asked = [revisions, older] if STATELESS in revisions and older else [revisions]
    while True:
        with contextlib.ExitStack() as closing:
            with uninterrupted():
                transport = _connect(source, limits, variables or {}, directory)
                closing.callback(_close, transport)
            talk = Conversation(transport, capabilities=declared, limits=limits)
            look = Look(talk, declared=declared, limits=limits)
            try:
                return concealed.refuse_in(look.read(asked.pop(0)))
            except CannotTell as error:
                # Some servers of the handshake era end when something else than `initialize` comes first.
                if error.code != "server-ended" or look.opening or not asked:
                    _mask(error, transport)
                    raise
            except ToolnotaryError as error:
                _mask(error, transport)
                raise


def _close(transport: Transport) -> None:
    with uninterrupted():
        transport.close()


def _mask(error: ToolnotaryError, transport: Transport) -> None:
    """Take the source's secrets out of an error: whatever it quotes of an answer may repeat them."""
    error.message = transport.mask(error.message)
    error.args = (f"{error.code}: {error.message}",)


def _connect(
    source: Source, limits: Limits, variables: Mapping[str, str], directory: Path | None
) -> Transport:
    if isinstance(source, CommandSource):
        from toolnotary_verifier.capture.start import start

        return start(source, limits=limits, variables=variables, directory=directory)
    from toolnotary_verifier.capture.streamable import StreamableHttp

    return StreamableHttp(source, limits=limits)
