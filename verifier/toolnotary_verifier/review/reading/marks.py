# SPDX-License-Identifier: Apache-2.0
"""What a text refers to: marks of a prompt, addresses, places of files, credentials, other tools."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.reading.sign import Cue, joined
from toolnotary_verifier.review.reading.things import THINGS
from toolnotary_verifier.review.rules import wording

_MARKUP: Final = re.compile(
    r"</?\s{0,4}(?:important|system|sys|instructions?|secret|hidden|admin|prompt|assistant|user|human"
    r"|critical|mandatory|override|thinking|tool_(?:call|result)|function_calls?)\b[^<>]{0,80}>"
    r"|\[/?(?:INST|SYSTEM|SYS|ADMIN|ASSISTANT|OVERRIDE)\]|<</?SYS>>|<\|[\w-]{2,30}\|>|<!--"
    r"|^[ \t]{0,20}#{1,4} *(?:system|instructions?|assistant|human|new instructions?) *:"
    r"|^[ \t]{0,20}(?:system|assistant|human) *: *\S",
    re.IGNORECASE | re.MULTILINE,
)
_PATH: Final = re.compile(r"(?<![\w./:<-])(?:~?/(?:[\w.-]+/)+[\w.-]*|[A-Za-z]:\\[\w\\.-]+)")
_IDENTIFIER: Final = re.compile(r"(?<![\w./-])[A-Za-z][\w-]{2,}(?![\w/-])")
_CALLED: Final = re.compile(
    joined(
        r"""
        \b(?i:when(?:ever)?|if|before|after|once|each time|every time)\b[^.;]{0,30}
        (?<![\w./-])([a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)(?:\(\))?(?:[`\"'*~_)\]]|</\w{1,9}>){0,4}
        \s{1,20}(?:tool\s{1,20})?(?:is|are|was|gets|has\s{1,20}been)
        \s{1,20}(?:called|used|invoked|available|run|running|requested|present)\b[^.;]{3,300}
        """
    )
)

_ORIGIN: Final = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,15}:)?//[^\s<>\"')\]/?#\\]+")


def addresses(text: str) -> frozenset[str]:
    """Every address that a text holds, and what `read_origins` finds, in lower case."""
    lower = text.lower()
    return frozenset(
        met[0] for pattern in (THINGS[Cue.ADDRESS].pattern, _ORIGIN) for met in pattern.finditer(lower)
    )


def read_origins(address: str) -> Iterator[Hit]:
    """Scheme and host of an address that is fetched: another path at the same host is no other address."""
    lower = address.lower() if address.isascii() else address
    for met in _ORIGIN.finditer(lower):
        yield Hit(wording.ADDRESS, *met.span())


def read_marks(text: str, tools: AbstractSet[str], words: AbstractSet[str]) -> Iterator[Hit]:
    """Everything that the text refers to.

    Args:
        text: the text.
        tools: the names of other tools of the server.
        words: names that the server uses for anything else, such as its parameters.
    """
    lower = text.lower() if text.isascii() else text  # other letters can change their number
    for met in _MARKUP.finditer(text):
        yield Hit(wording.MARKUP, *met.span())
    for met in _CALLED.finditer(text):
        if met[1] not in tools and met[1] not in words:
            yield Hit(wording.STEERS, *met.span())
    for met in THINGS[Cue.ADDRESS].pattern.finditer(lower):
        yield Hit(wording.ADDRESS, *met.span())
    for met in THINGS[Cue.SECRET_WORD].pattern.finditer(lower):
        yield Hit(wording.CREDENTIAL, *met.span())
    for met in _PATH.finditer(text):
        yield Hit(wording.PATH, *met.span())
    for met in _IDENTIFIER.finditer(text) if tools else ():
        if met[0] in tools:
            yield Hit(wording.MENTIONS_TOOL, *met.span())
