# SPDX-License-Identifier: Apache-2.0
"""How cues are found: by patterns over a sentence in lower case, slow ones only where a word calls for it."""

import re
from enum import IntEnum, auto
from typing import NamedTuple


class Cue(IntEnum):
    """One thing that a sentence can hold.

    A cue alone says little: real descriptions say `must`, `ignore` and `before using`. `sentences` decides by
    what stands together; docs/reference/review.md has what that finds, and where it is wrong.
    """

    OBLIGE = auto()  # must, always, please
    SEQUENCE = auto()  # before, whenever, first
    READ = auto()  # read, fetch, collect
    OUTWARD = auto()  # send, append, pass
    GUARD = auto()  # do not send
    SCOPE = auto()  # every answer, any other tool
    ADDRESS = auto()  # a URL, a mail address, a host
    SECRET_PLACE = auto()  # ~/.ssh
    SECRET_WORD = auto()  # the API key
    PRIVATE = auto()  # the whole conversation
    CONCEAL = auto()  # do not tell the user
    OVERRIDE = auto()  # ignore previous instructions
    UNASKED = auto()  # without confirmation
    PRETEXT = auto()  # for compliance reasons
    COMMAND = auto()  # curl ... | sh
    TAMPER = auto()  # change the recipient
    DESTROY = auto()  # delete all files
    WEAKEN = auto()  # disable the firewall, grant full access
    INJECT = auto()  # a hidden iframe
    PHISH = auto()  # ask the user for the password
    PAY = auto()  # transfer funds
    INSTALL = auto()  # download and run
    ROLE = auto()  # you are an administrator
    PERSON = auto()  # the user
    MODELS = auto()  # the assistant
    RIGHTS = auto()  # permission, consent
    DIRECTIVES = auto()  # rules, steps
    OTHERS = auto()  # other tools
    ANSWERS = auto()  # the reply
    AROUND = auto()  # the browser, the workspace
    SENSITIVE = auto()  # private, confidential
    DECEIVE = auto()  # claim that
    ONWARD = auto()  # retry, carry out exactly
    IMPERATIVE = auto()  # begins with a verb that asks for something
    DOINGS = auto()  # every file you open, whatever the user asks
    PREFER = auto()  # never use other tools
    FORCE = auto()  # answer every question with
    PERSIST = auto()  # remember for all future sessions
    FOLLOW = auto()  # do what it says


class Sign(NamedTuple):
    """How one cue is found.

    Attributes:
        pattern: matches somewhere in the lower-case sentence.
        triggers: words of which the sentence has one where the pattern can match; empty for a pattern that is
            always tried. A sentence with characters beyond ASCII is always tried.
    """

    pattern: re.Pattern[str]
    triggers: frozenset[str] = frozenset()

    def is_met(self, lower: str, said: frozenset[str] | None) -> bool:
        """Whether it is found.

        Args:
            lower: the sentence in lower case.
            said: the words of it; None where all signs are tried.
        """
        is_possible = said is None or not self.triggers or not self.triggers.isdisjoint(said)
        return is_possible and self.pattern.search(lower) is not None


def words(text: str) -> Sign:
    """Any of these alternatives, as whole words."""
    return Sign(re.compile(rf"(?<![\w-])(?:{joined(text)})(?![\w-])"))


def any_of(text: str, *, triggers: str = "") -> Sign:
    """Any of these alternatives."""
    return Sign(re.compile(joined(text)), frozenset(triggers.split()))


def joined(text: str) -> str:
    """A pattern that is laid out over several lines; blanks at their ends are none of it."""
    return "".join(line.strip() for line in text.splitlines())
