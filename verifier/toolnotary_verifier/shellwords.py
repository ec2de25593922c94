# SPDX-License-Identifier: Apache-2.0
"""A command that somebody is told to run, so that a shell reads the words that are meant and nothing else.

Names come from lockfiles that others wrote, and whoever reads the command may have a shell: people, and
models. The words are quoted for a POSIX shell. A name that nobody could type as it is told (characters that
cannot be seen, or too many of them) is in no command: a word in capitals stands in its place.
"""

from typing import Final

from toolnotary_verifier.escape import escape

_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/@:+-")
_MOST: Final = 2000  # characters of a word that somebody may be asked to copy
# What stands behind the first `--` of these is the server's own command: no name of ours can follow it.
_TAKES_COMMAND: Final = frozenset(("approve", "check", "lock"))


def is_typeable(word: str) -> bool:
    """Whether a person who reads the word can type it."""
    return len(word) <= _MOST and bool(word) and escape(word) == word


def quoted(word: str) -> str:
    """A word as a shell reads it.

    Args:
        word: what `is_typeable`.
    """
    if word and _PLAIN.issuperset(word):
        return word
    import shlex  # only where a name is unusual: `run` starts without it

    return shlex.quote(word)


def told_url(url: str) -> str:
    """A URL as a shell reads it; the word URL where it holds what is not to be shown, or cannot be typed."""
    from toolnotary_verifier.secrecy import mask_url

    return quoted(url) if is_typeable(url) and mask_url(url) == url else "URL"


def command(verb: str, name: str | None = None, *options: str, behind: str = "") -> str:
    """The command `toolnotary VERB NAME OPTIONS BEHIND`, as a shell reads it.

    Args:
        verb: a command of ours.
        name: what it is about; None where its options say it.
        options: options and their values, or more words; one that cannot be typed is told in capitals.
        behind: what ends the line, as it is: words of ours such as `-- COMMAND`.
    """
    words = [verb]
    words += [_value(word, options[place - 1] if place else "") for place, word in enumerate(options)]
    if name is None:
        pass
    elif not is_typeable(name) or (name.startswith("-") and verb in _TAKES_COMMAND):
        words.insert(1, "NAME")
    elif name.startswith("-"):
        words += ["--", quoted(name)]
    else:
        words.insert(1, quoted(name))
    return " ".join(filter(None, ("toolnotary", *words, behind)))


def _value(word: str, before: str) -> str:
    if is_typeable(word):
        return quoted(word)
    return before[2:].upper() if before.startswith("--") else "NAME"
