# SPDX-License-Identifier: Apache-2.0
"""The secrets that a source holds, so that nothing which a server says of them is shown or published.

A server that fails likes to print what it was given, and one that is told to can put it into a description.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from toolnotary_verifier.arguments import Word, arguments
from toolnotary_verifier.canonical import CanonicalError, JsonValue, canonical_bytes
from toolnotary_verifier.capture.source import CommandSource, Source, UrlSource
from toolnotary_verifier.commandline import take_apart
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.escape import escape
from toolnotary_verifier.secrecy import MASK, credentials, mask, names_secret, url_credentials
from toolnotary_verifier.surface import Surface

_MIN_MASKED = 4  # a shorter value would mask half of every text
_MIN_REFUSED = 8


class Concealed:
    """Secret values, longest first."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = sorted({value for value in values if len(value) >= _MIN_MASKED}, key=len, reverse=True)
        self._spelled = [spelled for value in self._values if (spelled := _spelled(value))]
        self._unmistakable = [value for value in self._values if _is_unmistakable(value)]

    @classmethod
    def of(cls, source: Source) -> Self:
        """The secrets of a command or URL.

        Of a command, what its line masks, variables whose name or value says that they are secret, and what
        stands in either: the password of an address, the members of a configuration in JSON.
        Of a URL, its user, password, query and fragment, the segments of its path that look like secrets,
        and all header values.
        """
        return cls(_of_command(source) if isinstance(source, CommandSource) else _of_url(source))

    def mask(self, text: str) -> str:
        """`text` without the secrets."""
        for value in self._values:
            text = text.replace(value, MASK)
        return text

    def mask_unmistakable(self, text: str) -> str:
        """`text` without those secrets that are no word which it could hold by chance."""
        for value in self._unmistakable:
            text = text.replace(value, MASK)
        return text

    def refuse_in(self, surface: Surface) -> Surface:
        """The surface itself, which repeats no secret: it would be pinned, shown or published with it.

        Raises:
            Refused: `secret-in-surface`.
        """
        for definition in surface.definitions.values():
            if self._is_among(definition.canonical):
                # Masked before it is cut: half a secret is no secret that `mask` would know.
                name = escape(self.mask(definition.name), limit=80)
                raise _repeated(f"{definition.kind} {name}")
        for fault in surface.faults:
            if self._is_in([fault.name, fault.message]):
                raise _repeated(f"a {fault.kind} that cannot be read")
        if self._is_in(surface.server_info) or self._is_in(surface.capabilities):
            raise _repeated("serverInfo or the capabilities")
        return surface

    def _is_in(self, value: JsonValue) -> bool:
        return self._is_among(canonical_bytes([value], max_depth=1 << 10))

    def _is_among(self, text: bytes) -> bool:
        return any(one in text for one in self._spelled)


def _of_command(source: CommandSource) -> Iterator[str]:
    yield from _hidden(source.argv, take_apart(source.argv).words)
    for name, value in source.environment.items():
        if names_secret(name) or mask(value) == MASK:
            yield value
        yield from _inside(value)


def _of_url(source: UrlSource) -> Iterator[str]:
    yield from url_credentials(source.url)
    for value in source.headers.values():
        yield from (value, *value.split())


def _hidden(words: Sequence[str], told: Iterable[Word]) -> Iterator[str]:
    """The words that are recorded otherwise than they stand, and what they may hide."""
    for word in Counter(words) - Counter(one.recorded for one in told):
        yield from (word, word.partition("=")[2])
        header = word.partition(": ")[2]
        yield from (header, *header.split())
        yield from _inside(word)


def _inside(text: str) -> Iterator[str]:
    """The secrets in a text that is more than one: an address, a configuration, a piece of code."""
    yield from credentials(text)
    if text.startswith(("{", "[")):
        with contextlib.suppress(ValueError, RecursionError):
            yield from _members(json.loads(text))
    pieces = text.split()
    if len(pieces) > 1:  # a command line, or code with one in it
        yield from _hidden(pieces, arguments(pieces))


def _members(value: JsonValue, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, held in value.items():
            yield from _members(held, key)
    elif isinstance(value, list):
        for held in value:
            yield from _members(held, name)
    elif isinstance(value, str) and (names_secret(name) or mask(value) != value):
        yield value
        yield from _inside(value)


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
        remedy="start it with a value that is no secret, or mend the server",
    )
