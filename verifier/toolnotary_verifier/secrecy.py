# SPDX-License-Identifier: Apache-2.0
"""Finding what could be a secret in a command line or URL, and masking it (docs/spec/launch.md).

Masks are generous: a value that is masked without need loses nothing but its part in the identity, a secret
that is not masked ends in a file that is committed. Placeholders such as `${TOKEN}` are kept: they hold none.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

MASK: Final = "***"

# Words in the name of a flag, variable, header or query member whose value is nobody's business.
_NAMES = re.compile(
    r"token|secret|passw|pwd|passphrase|passcode|passkey|mnemonic|auth|bearer|credential|cookie|session|signature"
    r"|dsn|connection[-_]?string|(?:api|app|access|private|master|account|licen[cs]e|shared|storage)[-_]?key"
    r"|(?:^|[-_])(?:pat|key|pass|sig|jwt)(?:$|[-_=])|(?:^|[-_])(?:pin|licen[cs]e|psk|t?otp|creds?)$"
    r"|pw$|(?<!by)(?<!com)(?<!tres)pass$",
    re.IGNORECASE,
)
# `--access` is followed by a credential, or by how much is allowed, which tells two launches apart.
_ACCESS = re.compile(r"(?:^|[-_])access$", re.IGNORECASE)
_LEVEL = re.compile(r"[A-Za-z_,:+-]*|[0-9]+")
# Short flags that stand for a password, key, secret, token or user where a program has such: there a word of
# letters and digits is none that names something, and `user:password` is what it looks like.
_SHORT = re.compile(r"-[akpstuw]", re.IGNORECASE)
_USER = re.compile(r"-u|--(?:.*[-_])?user", re.IGNORECASE)
_LOGIN = re.compile(r"([^:/\\\s]+):(?!\d+$)([^/\\:]\S*)")
_CHOSEN = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])[^\s/\\.:=,]{8,}")
_NAMED = re.compile(r"[A-Za-z]+[0-9]{0,2}|[0-9]+[A-Za-z]?")  # web01, v2, 70b: a part of a name
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# What issuers put in front of their tokens, so that scanners find them; `flask-...` begins with none of it.
_ISSUED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}"
    r"|glpat-[A-Za-z0-9_-]{16,}|xox[abeoprs]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|A[KS]IA[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{16,}|npm_[A-Za-z0-9]{16,}|pypi-[A-Za-z0-9_-]{16,}"
    r"|hf_[A-Za-z0-9]{16,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\.?[A-Za-z0-9_-]*|SG\.[A-Za-z0-9_-]{16,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY)"
)
_BEARER = re.compile(r"\b(?:bearer|basic|token)\s+\S+", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"\$\{[^{}]*\}|\$[A-Za-z_][A-Za-z0-9_]*|%[A-Za-z_][A-Za-z0-9_]*%|\{[A-Za-z_][A-Za-z0-9_]*\}"
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>|;,]+", re.IGNORECASE)
_PATH = re.compile(r"\.{1,2}[/\\]|~[/\\]|[A-Za-z]:\\")
_HEADER = re.compile(r"([A-Za-z0-9_-]+)(:\s*)(\S.*)", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(=)(.*)", re.DOTALL)
_LONG: Final = 20  # characters from which on a word is rarely a name
_OPAQUE = re.compile(r"[A-Za-z0-9_+=-]{20,}|[A-Za-z0-9]{16,}")


def names_secret(name: str) -> bool:
    """Whether a flag, variable, header or member of this name holds a secret."""
    return any(_NAMES.search(one) for one in (name, _BOUNDARY.sub("-", name)))


def is_placeholder(text: str) -> bool:
    """Whether `text` only refers to values that stand elsewhere (with `Bearer ` or the like in front)."""
    rest = re.sub(r"^(?:bearer|basic|token)\s+", "", text, flags=re.IGNORECASE)
    return bool(rest) and _PLACEHOLDER.sub("", rest).strip(" :,;@/-_") == ""


def mask_value(text: str) -> str:
    """The mask, or `text` itself where it only refers to a value, or names a file by a relative path."""
    return text if not text or is_placeholder(text) or _PATH.match(text) else MASK


def mask_behind(flag: str, value: str) -> str | None:
    """What is recorded of the value of `flag`; None where nothing about the flag makes it a secret."""
    if names_secret(flag):
        return mask_value(value)
    if is_placeholder(value) or _PATH.match(value):
        return None
    if _ACCESS.search(flag) and not _LEVEL.fullmatch(value):
        return MASK
    login = _LOGIN.fullmatch(value) if _USER.fullmatch(flag) else None
    if login is not None:
        return f"{login[1]}:{mask_value(login[2])}"
    return MASK if _SHORT.fullmatch(flag) and _looks_chosen(value) else None


def mask_short(word: str) -> str:
    """A short flag, or several in one, with what may be the value of the first masked (`-pSECRET`)."""
    name, value = word[:2], word[2:]
    masked = mask_behind(name, value) if value else None
    told = name + (mask(value) if masked is None else masked)
    return mask(word) if told == word else told


def mask_header(text: str) -> str:
    """`Name: value` with the value masked."""
    found = _HEADER.fullmatch(text)
    return f"{found[1]}{found[2]}{mask_value(found[3])}" if found else mask_value(text)


def mask_assignment(text: str) -> str:
    """`NAME=value` with the value masked; `NAME` alone as it is, for it takes its value from elsewhere."""
    name, equals, value = text.partition("=")
    return f"{name}{equals}{mask_value(value)}"


def mask(text: str) -> str:
    """`text` with everything in it masked that looks like a secret by itself.

    URLs keep scheme, host and path; tokens are known by their issuer's prefix, or by their looks.
    """
    if not text or is_placeholder(text):
        return text
    if text[0] in "{[":  # a configuration given as JSON: anything can stand in it
        return MASK
    assigned = _ASSIGNMENT.fullmatch(text)
    if assigned and _looks_random(assigned[1]):  # base64 ends like an assignment of nothing
        return MASK
    if assigned and (names_secret(assigned[1]) or assigned[1].isupper() or _looks_random(assigned[3])):
        return mask_assignment(text)
    if _looks_random(text):
        return MASK
    header = _HEADER.fullmatch(text)
    if header and names_secret(header[1]) and not header[3].startswith("//"):
        return mask_header(text)
    masked = _URL.sub(lambda url: mask_url(url[0]), text)
    return _ISSUED.sub(MASK, _BEARER.sub(MASK, masked))


def mask_url(url: str) -> str:
    """A URL without user, query and fragment, and with path segments masked that look like secrets."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return MASK
    segments = [MASK if _looks_random(one) or _ISSUED.search(one) else one for one in parts.path.split("/")]
    user = f"{MASK}@" if "@" in parts.netloc else ""
    query = f"?{MASK}" if parts.query else ""
    return f"{parts.scheme}://{user}{host}{'/'.join(segments)}{query}"


def credentials(text: str) -> Iterator[str]:
    """What `mask` takes for a secret inside of `text`, each without what stands around it."""
    for bearer in _BEARER.finditer(text):
        yield bearer[0].split()[1]
    for issued in _ISSUED.finditer(text):
        yield issued[0]
    for url in _URL.finditer(text):
        yield from url_credentials(url[0])


def url_credentials(url: str) -> Iterator[str]:
    """What `mask_url` leaves out of a URL, part by part, as it is written and decoded."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    query = [one.partition("=")[2] for one in re.split("[&;]", parts.query)]
    path = [one for one in parts.path.split("/") if _looks_random(one) or _ISSUED.search(one)]
    for written in (user, password, parts.query, *query, *path, parts.fragment):
        yield from {written, unquote(written)}
    yield from (value for _, value in parse_qsl(parts.query))


def _looks_chosen(text: str) -> bool:
    """Whether `text` could be a password: letters and digits in one word that is built like no name."""
    return _CHOSEN.fullmatch(text) is not None and not all(
        _NAMED.fullmatch(part) for part in re.split("[-_@]", text)
    )


def _looks_random(text: str) -> bool:
    """Whether `text` is one long word that no person would have chosen: letters and digits run together."""
    if not _OPAQUE.fullmatch(text):
        return False
    kinds = [_kind(character) for character in text if character.isalnum()]
    turns = sum(before != after for before, after in pairwise(kinds))
    digits, variety = kinds.count("digit"), len(set(kinds))
    if len(text) >= _LONG:
        return digits >= 3 and variety > 1 and turns * 6 >= len(text)
    # Names of this length exist: three kinds of characters, or many digits, tell that it is none.
    if variety == 3 and digits >= 1 and turns * 2 >= len(text):
        return True
    mixed = digits >= 3 if variety == 3 else variety == 2 and digits * 4 >= len(text)
    return mixed and turns * 5 >= len(text)


def _kind(character: str) -> str:
    return "digit" if character.isdigit() else "upper" if character.isupper() else "lower"
