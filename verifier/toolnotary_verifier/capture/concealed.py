# SPDX-License-Identifier: Apache-2.0
"""The secrets that a source holds, so that nothing which a server says of them is shown or published.

A server that fails likes to print what it was given, and one that is told to can put it into a description.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

from toolnotary_verifier.canonical import CanonicalError, JsonValue, canonical_bytes
from toolnotary_verifier.capture.source import CommandSource, Source, UrlSource
from toolnotary_verifier.commandline import take_apart
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.secrecy import MASK, mask, names_secret
from toolnotary_verifier.surface import Surface

_MIN_MASKED = 4  # a shorter value would mask half of every text
_MIN_REFUSED = 8


class Concealed:
    """Secret values, longest first."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = sorted({value for value in values if len(value) >= _MIN_MASKED}, key=len, reverse=True)
        self._spelled = [spelled for value in self._values if (spelled := _spelled(value))]

    @classmethod
    def of(cls, source: Source) -> Self:
        """Of a command, what its line masks and variables whose name or value says that they are secret.

        Of a URL, its user, password and query, and all header values.
        """
        return cls(_of_command(source) if isinstance(source, CommandSource) else _of_url(source))

    def mask(self, text: str) -> str:
        """`text` without the secrets."""
        for value in self._values:
            text = text.replace(value, MASK)
        return text

    def refuse_in(self, surface: Surface) -> None:
        """Refuse a surface that repeats a secret: it would be published with it.

        Raises:
            Refused: `secret-in-surface`.
        """
        for definition in surface.definitions.values():
            if self._is_in(definition.value):
                raise _repeated(f"{definition.kind} {escape(definition.name, limit=80)}")
        for fault in surface.faults:
            if self._is_in([fault.name, fault.message]):
                raise _repeated(f"a {fault.kind} that cannot be read")
        if self._is_in(surface.server_info) or self._is_in(surface.capabilities):
            raise _repeated("serverInfo or the capabilities")

    def _is_in(self, value: JsonValue) -> bool:
        text = canonical_bytes([value], max_depth=1 << 10)
        return any(one in text for one in self._spelled)


def _of_command(source: CommandSource) -> list[str]:
    hidden = Counter(source.argv) - Counter(word.recorded for word in take_apart(source.argv).words)
    return [part for word in hidden for part in _parts(word)] + _variables(source.environment)


def _of_url(source: UrlSource) -> list[str]:
    headers = [part for value in source.headers.values() for part in (value, *value.split())]
    try:
        parts = urlsplit(source.url)
    except ValueError:
        return headers
    user = [unquote(one) for one in (parts.username, parts.password) if one]
    return [*headers, *user, *(value for _, value in parse_qsl(parts.query))]


def _parts(word: str) -> list[str]:
    """A masked word, and what it may hide behind its `=` or `: `."""
    return [word, word.partition("=")[2], word.partition(": ")[2], *word.split()]


def _variables(environment: Mapping[str, str]) -> list[str]:
    return [value for name, value in environment.items() if names_secret(name) or mask(value) == MASK]


def _spelled(value: str) -> bytes:
    """How a canonical form holds the value; nothing where it holds it by chance, or cannot hold it."""
    try:
        return canonical_bytes(value)[1:-1] if _is_unmistakable(value) else b""
    except CanonicalError:
        return b""  # a variable whose bytes are not UTF-8: no surface repeats those


def _is_unmistakable(value: str) -> bool:
    """Whether a value is no word that a definition could hold by chance."""
    return len(value) >= _MIN_REFUSED and (any(c.isdigit() for c in value) or mask(value) != value)


def _repeated(where: str) -> Refused:
    return Refused(
        "secret-in-surface",
        f"{where} repeats a secret that the server was given",
        remedy="capture it with a value that is no secret, or mend the server",
    )
