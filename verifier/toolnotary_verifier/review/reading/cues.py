# SPDX-License-Identifier: Apache-2.0
"""Which cues stand in a sentence, and under which rules it falls by those that stand together."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from toolnotary_verifier.review.reading.deeds import DEEDS
from toolnotary_verifier.review.reading.orders import ORDERS
from toolnotary_verifier.review.reading.sign import Cue, Sign
from toolnotary_verifier.review.reading.things import THINGS
from toolnotary_verifier.review.reading.topics import TOPICS
from toolnotary_verifier.review.risk import Rule
from toolnotary_verifier.review.rules import wording

SIGNS: Final[dict[Cue, Sign]] = {**ORDERS, **DEEDS, **TOPICS, **THINGS}

# Two topics besides the tool, and a push: each seldom stands in a description.
_ASIDE: Final = (
    *(
        (Cue.DECEIVE, cue)
        for cue in (Cue.PERSON, Cue.IMPERATIVE, Cue.OBLIGE, Cue.ANSWERS, Cue.SENSITIVE, Cue.AROUND)
    ),
    *((Cue.ONWARD, cue) for cue in (Cue.DIRECTIVES, Cue.OTHERS, Cue.RIGHTS, Cue.SENSITIVE, Cue.MODELS)),
    (Cue.ADDRESS, Cue.OTHERS),
    (Cue.AROUND, Cue.IMPERATIVE, Cue.OUTWARD),
    (Cue.AROUND, Cue.IMPERATIVE, Cue.OBLIGE),
    (Cue.AROUND, Cue.OBLIGE, Cue.OUTWARD),
    (Cue.MODELS, Cue.RIGHTS),
    (Cue.MODELS, Cue.OTHERS, Cue.OUTWARD),
    (Cue.SENSITIVE, Cue.IMPERATIVE, Cue.OUTWARD),
    (Cue.SENSITIVE, Cue.IMPERATIVE, Cue.SEQUENCE),
    (Cue.SENSITIVE, Cue.AROUND, Cue.READ),
    (Cue.DIRECTIVES, Cue.PERSON, Cue.OUTWARD),
    (Cue.DIRECTIVES, Cue.OBLIGE, Cue.READ),
    (Cue.ADDRESS, Cue.IMPERATIVE, Cue.OUTWARD),
    (Cue.ADDRESS, Cue.IMPERATIVE, Cue.SENSITIVE),
    (Cue.ADDRESS, Cue.OUTWARD, Cue.PERSON),
    (Cue.RIGHTS, Cue.IMPERATIVE, Cue.OBLIGE),
    (Cue.PERSON, Cue.IMPERATIVE, Cue.OUTWARD),
    (Cue.PERSON, Cue.IMPERATIVE, Cue.ANSWERS),
    (Cue.SECRET_WORD, Cue.IMPERATIVE, Cue.OUTWARD),
    (Cue.SECRET_WORD, Cue.IMPERATIVE, Cue.SEQUENCE),
    (Cue.ADDRESS, Cue.IMPERATIVE),
    (Cue.AROUND, Cue.DESTROY),
    (Cue.MODELS, Cue.DIRECTIVES, Cue.PERSON),
)
# By rule, what stands together in a sentence that falls under it.
SETS: Final[tuple[tuple[Rule, tuple[tuple[Cue, ...], ...]], ...]] = (
    (wording.CONCEALS, ((Cue.CONCEAL,),)),
    (
        wording.SENDS_OUT,
        (
            (Cue.SECRET_PLACE, Cue.OUTWARD),
            (Cue.SECRET_PLACE, Cue.READ, Cue.SEQUENCE),
            (Cue.SECRET_PLACE, Cue.READ, Cue.OBLIGE),
            (Cue.SECRET_WORD, Cue.OUTWARD, Cue.ADDRESS),
            (Cue.PRIVATE, Cue.OUTWARD, Cue.ADDRESS),
        ),
    ),
    (wording.OVERRIDES, ((Cue.OVERRIDE,),)),
    (wording.EXECUTES, ((Cue.COMMAND,),)),
    (
        wording.STEERS,
        (
            (Cue.TAMPER, Cue.SEQUENCE),
            (Cue.TAMPER, Cue.SCOPE),
            (Cue.TAMPER, Cue.OBLIGE),
            (Cue.TAMPER, Cue.PRIVATE),
            (Cue.PREFER,),
            (Cue.PAY,),
        ),
    ),
    (
        wording.CONTEXT,
        (
            (Cue.PRIVATE, Cue.OUTWARD),
            (Cue.PRIVATE, Cue.READ),
            (Cue.PRIVATE, Cue.OBLIGE),
            (Cue.PRIVATE, Cue.SEQUENCE),
        ),
    ),
    (
        wording.INSTRUCTS,
        (
            (Cue.UNASKED,),
            (Cue.WEAKEN,),
            (Cue.INJECT,),
            (Cue.PHISH,),
            (Cue.ROLE,),
            (Cue.DOINGS,),
            (Cue.INSTALL,),
            (Cue.DESTROY, Cue.SEQUENCE),
            (Cue.DESTROY, Cue.OBLIGE),
            (Cue.FORCE,),
            (Cue.PERSIST,),
            (Cue.PRETEXT, Cue.OUTWARD),
            (Cue.PRETEXT, Cue.READ),
            (Cue.FOLLOW,),
            *_ASIDE,
            (Cue.SCOPE, Cue.OUTWARD, Cue.OBLIGE),
            (Cue.SCOPE, Cue.OUTWARD, Cue.ADDRESS),
            (Cue.SCOPE, Cue.SEQUENCE, Cue.OBLIGE),
            (Cue.ADDRESS, Cue.OUTWARD, Cue.OBLIGE),
            (Cue.ADDRESS, Cue.OUTWARD, Cue.SEQUENCE),
            (Cue.ADDRESS, Cue.READ, Cue.OBLIGE),
            (Cue.SECRET_WORD, Cue.OUTWARD, Cue.OBLIGE),
            (Cue.SECRET_WORD, Cue.OUTWARD, Cue.SEQUENCE),
            (Cue.SECRET_WORD, Cue.OUTWARD, Cue.SCOPE),
            (Cue.SECRET_WORD, Cue.READ, Cue.OBLIGE),
            (Cue.SECRET_WORD, Cue.READ, Cue.SEQUENCE),
        ),
    ),
    (wording.SECRET, ((Cue.SECRET_PLACE,),)),
)
# Every set above has a rare one; the common ones are only looked for where a rare one was met.
_COMMON: Final = {Cue.OBLIGE, Cue.SEQUENCE, Cue.READ, Cue.OUTWARD, Cue.GUARD, Cue.IMPERATIVE}
_RARE: Final = {cue: sign for cue, sign in SIGNS.items() if cue not in _COMMON}
# What a sentence that warns against handing something over is not about.
_GUARDED: Final = frozenset((Cue.SECRET_WORD, Cue.SENSITIVE, Cue.PRIVATE, Cue.UNASKED))
_WORD: Final = re.compile(r"\w+")
# A path that begins with a dot below a home directory is a secret place whatever it is called.
_DOTTED: Final = "/."


def rules_of(forms: Iterable[str]) -> Iterator[Rule]:
    """The rules that a sentence falls under.

    Args:
        forms: the sentence in lower case, in each form that it can be read in.
    """
    held = set(chain.from_iterable(map(_cues, forms)))
    for rule, sets in SETS if held else ():
        if any(held.issuperset(needed) for needed in sets):
            yield rule


def _cues(lower: str) -> set[Cue]:
    said = None if not lower.isascii() or _DOTTED in lower else frozenset(_WORD.findall(lower))
    held = {cue for cue, sign in _RARE.items() if sign.is_met(lower, said)}
    if held:
        held |= {cue for cue in _COMMON if SIGNS[cue].pattern.search(lower)}
    return held - _GUARDED if Cue.GUARD in held else held
