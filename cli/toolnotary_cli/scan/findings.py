# SPDX-License-Identifier: Apache-2.0
"""What an entry of a host's file tells by itself: no guard, versions that move, secrets in plain text."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from toolnotary_cli.hosts.entries import Entry
from toolnotary_cli.hosts.guarded import Guarded, why_not_ours
from toolnotary_cli.hosts.placeholders import unfilled
from toolnotary_verifier.arguments import VARIABLE_FLAGS
from toolnotary_verifier.commandline import take_apart
from toolnotary_verifier.escape import escape
from toolnotary_verifier.secrecy import MASK, is_placeholder, mask, names_secret, url_credentials

# One version, by the rules of npm, and of Python packages (`==`, or `@` as uvx takes it).
_ONE_NPM: Final = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?")
_ONE_PYPI: Final = re.compile(
    r"[A-Za-z0-9._-]+(?:\[[^\]]*\])?\s*(?:===?|@)\s*v?[0-9]+(?:\.[0-9]+)*[0-9A-Za-z.+!-]*"
)
_IMAGE_DIGEST: Final = re.compile(r"@sha256:[0-9a-f]{64}")
_REPOSITORY: Final = re.compile(r"(?:git\+|github:|gitlab:|bitbucket:|git@)", re.IGNORECASE)
_COMMIT: Final = re.compile(r"[@#][0-9a-f]{40}\b")
_MOVES: Final = {
    "npm": "not one version of the package",
    "pypi": "not one version of the package",
    "oci": "the tag of an image can be moved; name its digest",
}
# Runners that fetch what is newest where nobody says which.
_FETCHES: Final = frozenset({"npx", "bunx", "pnpx", "uvx", "pnpm", "yarn", "npm", "bun", "pipx", "uv"})


class Finding(NamedTuple):
    """Something about one server that a person should know.

    Attributes:
        kind: a stable word (docs/reference/hosts.md).
        detail: one escaped line without any value.
        objects: whether it alone ends the command with 1.
    """

    kind: str
    detail: str
    objects: bool = False


def of_entry(entry: Entry, through: Guarded | None, argv: Sequence[str]) -> Iterator[Finding]:
    """The findings about an entry.

    Args:
        entry: one server of a host's file.
        through: what its command line is seen through as; None where it is none of ours.
        argv: what starts the server itself; empty where nothing does.
    """
    yield from _unguarded(entry, through)
    for moving in floating(argv):
        yield Finding("floating-version", escape(moving, limit=300))
    for key in plain_secrets(entry, argv):
        yield Finding("plain-secret", f"{escape(key, limit=120)} holds a value that reads like a secret")


def _unguarded(entry: Entry, through: Guarded | None) -> Iterator[Finding]:
    if entry.problem:
        return
    if through is None:
        what = "reaches" if entry.url is not None else "starts"
        yield Finding("unguarded", f"the host {what} it without toolnotary in between", objects=True)
        return
    why = why_not_ours(through, entry)
    if why:
        yield Finding("unguarded", escape(why, limit=300), objects=True)


def floating(argv: Sequence[str]) -> Iterator[str]:
    """The parts of a command line that mean another version tomorrow."""
    if not argv:
        return
    line = take_apart(argv)
    if line.interpreter:
        return
    words = [word.recorded for word in line.words] if line.program in _FETCHES else []
    sources = [word for word in words if _REPOSITORY.match(word)]
    for word in sources:
        if not _COMMIT.search(word):
            yield f"{_shown(word)}: not one commit of the repository"
    specs = {word.identity: word.recorded for word in line.words if word.identity is not None}
    for ecosystem, name in line.packages if not sources else ():
        spec = next((text for one, text in specs.items() if _extras(one) == name), name)
        if not _is_one(ecosystem, spec):
            yield f"{_shown(spec)}: {_MOVES[ecosystem]}"


def _is_one(ecosystem: str, spec: str) -> bool:
    """Whether what a package is called names one version of it."""
    if ecosystem == "oci":
        return _IMAGE_DIGEST.search(spec) is not None
    if ecosystem == "npm":
        return _ONE_NPM.fullmatch(spec[1:].partition("@")[2]) is not None
    return _ONE_PYPI.fullmatch(spec) is not None


def _extras(identity: str) -> str:
    return identity.partition("[")[0]


def _shown(text: str) -> str:
    return escape(text, limit=120)


def plain_secrets(entry: Entry, argv: Sequence[str]) -> Iterator[str]:
    """Where an entry holds a secret in plain text: the names of keys, flags and places, and never a value."""
    for where, mapping in (("env", entry.environment), ("headers", entry.headers)):
        for name, value in mapping.items():
            if isinstance(value, str) and _is_plain(name, value):
                yield f"{where} {name}"
    if entry.url is not None and any(
        one for one in url_credentials(entry.url) if not is_placeholder(one) and not unfilled(one)
    ):
        yield "url"
    yield from _in_arguments(argv)


def _is_plain(name: str, value: str) -> bool:
    if not value or is_placeholder(value) or unfilled(value):
        return False
    return names_secret(name) or MASK in mask(value)


def _in_arguments(argv: Sequence[str]) -> Iterator[str]:
    """The flags whose value would be masked, else the place of the word that would."""
    if not argv:
        return
    told = [word.recorded for word in take_apart(argv).words]
    for place, word in enumerate(told):
        if MASK not in word:
            continue
        name, equals, _ = word.partition("=")
        before = told[place - 1] if place else ""
        if word.startswith("-"):
            yield f"argument {name if equals else word[:2]}"
        elif equals and before in VARIABLE_FLAGS:
            # Every value is masked there, since a container's variables are nobody's business.
            given = next((one for one in argv if one.removeprefix(before).startswith(f"{name}=")), "")
            if _is_plain(name, given.partition("=")[2]):
                yield f"argument {before} {name}"
        elif before.startswith("-") and "=" not in before:
            yield f"argument {before}"
        else:
            yield f"argument {place}"
