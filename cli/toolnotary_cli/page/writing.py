# SPDX-License-Identifier: Apache-2.0
"""Texts of a server and how they differ, as markup in pieces of bounded size; no change is left out.

What is new is marked up as `ins`, what is gone as `del`. Long stretches that did not change are folded, and
can be opened without a script.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_cli.drawing import laid_out, plain_text, spelled_text
from toolnotary_cli.page.markup import Markup, element, joined, marked
from toolnotary_verifier.words import Origin, Piece, word_changes

# Characters of a server's text in one piece; escaping makes at most twelve of one.
PIECE: Final = 20_000
# Characters of an unchanged stretch that stay visible beside a change.
_CONTEXT: Final = 120
_FOLDED: Final = 400
_SHORT: Final = 200


def difference(old: str, new: str, *, steps: int) -> Iterator[Markup]:
    """Two texts as one, word by word.

    Args:
        old: what stood there.
        new: what stands there now.
        steps: bound on the search for common words (`word_changes`).
    """
    pieces = word_changes(old, new, steps=steps)
    spans: list[Markup] = []
    size = 0
    for index, piece in enumerate(pieces):
        for span, length in _spans(piece, before=index > 0, after=index < len(pieces) - 1):
            if size and size + length > PIECE:
                yield _block(spans)
                spans, size = [], 0
            spans.append(span)
            size += length
    if spans:
        yield _block(spans)


def whole(value: object, origin: Origin) -> Iterator[Markup]:
    """A value that came, went, or stands there, a text as it is and everything else as JSON.

    Args:
        value: a JSON value.
        origin: which side has it; BOTH for one that is only shown.
    """
    for part in _slices(_text(value)):
        yield _block([_side(part, origin)], f"text {origin.value}")


def replaced(old: object, new: object) -> Iterator[Markup]:
    """Two values of which not both are texts, beside each other where they are short."""
    sides = _text(old), _text(new)
    if sum(map(len, sides)) <= _SHORT:
        yield _block([_side(sides[0], Origin.OLD), joined([" "]), _side(sides[1], Origin.NEW)])
        return
    yield from whole(old, Origin.OLD)
    yield from whole(new, Origin.NEW)


def _text(value: object) -> str:
    return value if isinstance(value, str) else laid_out(value)


def _block(spans: Iterable[Markup], kind: str = "text") -> Markup:
    return element("div", *spans, class_=kind)


def _spans(piece: Piece, *, before: bool, after: bool) -> Iterator[tuple[Markup, int]]:
    if piece.origin is not Origin.BOTH:
        for part in _slices(piece.text):
            yield _side(part, piece.origin), len(part)
        return
    text, head, tail = piece.text, _CONTEXT * before, _CONTEXT * after
    if len(text) - head - tail <= _FOLDED:
        yield _side(text, Origin.BOTH), len(text)
        return
    end = len(text) - tail
    yield _side(text[:head], Origin.BOTH), head
    for part in _slices(text[head:end]):
        told = f"{len(part)} unchanged characters"
        yield (
            element("details", element("summary", told), marked(plain_text(part)), class_="fold"),
            len(part),
        )
    yield _side(text[end:], Origin.BOTH), tail


def _side(text: str, origin: Origin) -> Markup:
    if origin is Origin.BOTH:
        return marked(plain_text(text))
    name, told = ("del", "removed: ") if origin is Origin.OLD else ("ins", "added: ")
    return element(name, element("span", told, class_="vh"), marked(spelled_text(text)))


def _slices(text: str) -> Iterator[str]:
    for at in range(0, len(text) or 1, PIECE):
        yield text[at : at + PIECE]
