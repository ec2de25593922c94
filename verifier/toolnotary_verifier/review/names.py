# SPDX-License-Identifier: Apache-2.0
"""Names that came and pass for others: what a model or a person would pick in place of the one it means."""

from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_verifier.canonical import canonical_bytes
from toolnotary_verifier.definition import NAME_MEMBER, Definition, Kind
from toolnotary_verifier.lookalikes import skeleton
from toolnotary_verifier.review.finding import EXCERPT, Change, Finding, Span
from toolnotary_verifier.review.rules.surface import NAME_CONFUSABLE

# What parts the words of a name, and says nothing where a tool was renamed.
_PARTING: Final = str.maketrans("", "", "_-. ")
# Names that fold into one and are looked at: thousands of them must not cost their square.
_LOOKED_AT: Final = 50
_CALLED: Final = frozenset((Kind.TOOL, Kind.PROMPT))


def confusable(before: Iterable[Definition], after: Iterable[Definition]) -> Iterator[tuple[Finding, str]]:
    """What came under a name that passes for another name, and that name.

    The other one stands there now, or stood there before and differs in more than case and what parts its
    words: then this one is no plain renaming, and takes its place unnoticed.

    Args:
        before: every definition of before.
        after: every definition of now.
    """
    old = {one.key for one in before if one.kind in _CALLED}
    held = [one for one in after if one.kind in _CALLED]
    new = {one.key for one in held}
    groups: dict[tuple[Kind, str], list[str]] = {}
    for kind, name in sorted(old | new):
        groups.setdefault((kind, skeleton(name)), []).append(name)
    for one in held:
        if one.key not in old:
            others = groups[one.kind, skeleton(one.name)][:_LOOKED_AT]
            rivals = (other for other in others if other != one.name)
            rival = next((other for other in rivals if _passes(one.kind, one.name, other, new)), None)
            if rival is not None:
                yield _finding(one), rival


def _passes(kind: Kind, name: str, other: str, new: set[tuple[Kind, str]]) -> bool:
    return (kind, other) in new or _plain(name) != _plain(other)


def _plain(name: str) -> str:
    return name.translate(_PARTING).lower()


def _finding(one: Definition) -> Finding:
    written = canonical_bytes(one.name).decode("utf-8")
    span = Span(0, len(one.name), one.name[:EXCERPT])
    path = f"/{NAME_MEMBER[one.kind]}"
    return Finding(NAME_CONFUSABLE, one.kind, one.name, Change.ADDED, path, None, written, (span,))
