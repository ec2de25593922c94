# SPDX-License-Identifier: Apache-2.0
"""Where the passphrase of a key file comes from: a file that the environment names, or a person."""

import os
from collections.abc import Callable
from pathlib import Path

from toolnotary_verifier.errors import ConfigurationError, Refused
from toolnotary_verifier.escape import escape

VARIABLE = "TOOLNOTARY_KEY_PASSPHRASE_FILE"
MIN_LENGTH = 8  # characters; no key derivation saves a shorter one
_MAX_BYTES = 1024  # OpenSSL's own bound on PEM passphrases
_FILE = f"let {VARIABLE} name a file whose one line is the passphrase"


def existing(ask: Callable[[str], str]) -> bytes:
    """The passphrase of a key that exists.

    Args:
        ask: shows a question to a person and returns what was typed.

    Raises:
        ConfigurationError: `passphrase-file`, `passphrase-shape`, `passphrase-needed`.
    """
    given = _from_file()
    return given if given is not None else _shaped(_asked(ask, "passphrase of the key: "), least=1)


def chosen(ask: Callable[[str], str]) -> bytes:
    """The passphrase of a key that is being made; a person types it twice.

    Raises:
        ConfigurationError: `passphrase-file`, `passphrase-shape`, `passphrase-needed`.
        Refused: `passphrase-mismatch`.
    """
    given = _from_file()
    if given is not None:
        return _shaped(given.decode("utf-8"), least=MIN_LENGTH)
    first = _shaped(_asked(ask, f"new passphrase, at least {MIN_LENGTH} characters: "), least=MIN_LENGTH)
    if _shaped(_asked(ask, "the same passphrase again: "), least=0) != first:
        raise Refused("passphrase-mismatch", "the two passphrases differ", remedy="run the command again")
    return first


def _asked(ask: Callable[[str], str], question: str) -> str:
    try:
        return ask(question)
    except Refused as error:
        if error.code != "no-terminal":
            raise
        raise ConfigurationError(
            "passphrase-needed",
            "no terminal controls this process, so nobody can be asked for the passphrase",
            remedy=f"name a file that holds it in {VARIABLE}, or run the command in a terminal",
        ) from None


def _from_file() -> bytes | None:
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    shown = escape(name, limit=300)
    try:
        with Path(name).open("rb") as file:
            content = file.read(_MAX_BYTES + 3)
    except OSError as error:
        why = (error.strerror or "cannot be read").lower()
        raise ConfigurationError(
            "passphrase-file", f"{VARIABLE} names {shown}: {why}", remedy=_FILE
        ) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        message = f"{VARIABLE} names {shown}, which is not UTF-8"
        raise ConfigurationError("passphrase-file", message, remedy=_FILE) from None
    # Editors end a file with one line feed, which nobody means as a part of the passphrase.
    return _shaped(text.removesuffix("\n").removesuffix("\r"), least=1)


def _shaped(text: str, *, least: int) -> bytes:
    encoded = text.encode("utf-8", "surrogateescape")
    if len(text) < least or len(encoded) > _MAX_BYTES:
        got = f"{len(text)} characters" if text else "an empty one"
        raise ConfigurationError(
            "passphrase-shape",
            f"the passphrase: got {got}, expected at least {least} and at most {_MAX_BYTES} bytes",
            remedy=f"choose another; where nobody types it, {VARIABLE} names the file that holds it",
        )
    return encoded
