# SPDX-License-Identifier: Apache-2.0
"""Whether a text that lost words, or has them in another order, lost what bounds a model."""

import re
from collections import Counter
from typing import Final

# Words that turn what stands beside them around.
_GUARD: Final = re.compile(
    r"(?:not|no|none|nothing|never|always|only|must|cannot|without|except|unless|neither|nor|before|\w+n['\u2019]t)"
)
_ASKS: Final = re.compile(
    r"\b(?:ask\w*|confirm\w*|approv\w*|consent\w*|permission|prompts? the|check(?:s|ing)? with)\b"
    r"|\bthe user (?:must|has to|should|agrees|says)\b"
)
_END: Final = re.compile(r"(?<=[.!?;])\s+|\n\s*\n")
_WORD: Final = re.compile(r"[\w'\u2019]+")

Guard = tuple[str, str, str]


def lost_safeguard(old: str, new: str) -> bool:
    """Whether a word of negation or bound went from a sentence that stayed, or stands by other words now.

    A sentence that went as a whole counts where it asks for the user's yes.

    Args:
        old: the text of before.
        new: the text of now, which has no words that `old` has not.
    """
    before, after = _sentences(old), _sentences(new)
    gone, came = before - after, after - before
    if any(_ASKS.search(sentence) for sentence in gone) and _asking(gone) > _asking(came):
        return True
    return bool(came) and _guards(gone) != _guards(came)


def _sentences(text: str) -> Counter[str]:
    return Counter(filter(None, (" ".join(_WORD.findall(one)) for one in _END.split(text.lower()))))


def _asking(sentences: Counter[str]) -> int:
    return sum(len(_ASKS.findall(one)) * count for one, count in sentences.items())


def _guards(sentences: Counter[str]) -> Counter[Guard]:
    """Each such word with the words before and after it."""
    found: Counter[Guard] = Counter()
    for sentence, count in sentences.items():
        words = ["", *sentence.split(), ""]
        for place in range(1, len(words) - 1):
            if _GUARD.fullmatch(words[place]):
                found[words[place - 1], words[place], words[place + 1]] += count
    return found
