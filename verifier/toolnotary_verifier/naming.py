# SPDX-License-Identifier: Apache-2.0
"""What servers, versions, artifacts and remotes may be called (DESIGN: manifest; docs/spec/manifest.md).

Server names and versions follow the official MCP registry (server.json schema, 2025-12-11), minus what cannot
be shown or looked up without doubt: a part `.` or `..`, the version `latest`, invisible characters.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape, is_invisible
from toolnotary_verifier.shape import members, text

_SERVER = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_PROFILE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}")
_PURL = re.compile(r"pkg:[a-z][a-z0-9.+-]*/[!-~]+")
# No user, query or fragment: those hold secrets, and a launch is matched without them.
_REMOTE = re.compile(
    r"https?://(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?(?:/[!-\"$->@-~]*)?"
)
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_SHA512 = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")  # W3C Subresource Integrity, as npm lock files write it
_PUBLISHED = "use the name under which the server is published, such as io.github.acme/weather"
_ONE_VERSION = "name the one version that this is, such as 1.4.0"
# As the official registry does: what reads as a range is no version (`^1.2`, `>=1`, `1.x`, `1 || 2`).
_RANGE = re.compile(r"[\^~<>=].*|.*\|\|.*|(?:v?[0-9]+\.)*[xX*](?:\.[xX*])*")
_MAX_NAME, _MAX_VERSION, _MAX_REFERENCE = 200, 255, 2048


def server_name(name: object) -> str:
    """`name`, which is a publishable server name such as `io.github.acme/weather`.

    Raises:
        InvalidInput: `server-name`.
    """
    if not isinstance(name, str) or not 3 <= len(name) <= _MAX_NAME or not _SERVER.fullmatch(name):
        shown = escape(name, limit=80) if isinstance(name, str) else type(name).__name__
        raise InvalidInput(
            "server-name",
            f"got {shown}, expected namespace/name of letters, digits, dots and hyphens (and _ in the name)",
            remedy=_PUBLISHED,
        )
    if any(part in (".", "..") for part in name.split("/")):
        raise InvalidInput(
            "server-name", f"got {name}: a part that is only dots is a path, not a name", remedy=_PUBLISHED
        )
    return name


def server_version(version: object) -> str:
    """`version`, which is a publishable version: 1 to 255 visible characters, not `latest` and no range.

    Raises:
        InvalidInput: `server-version`.
    """
    if not isinstance(version, str) or not 1 <= len(version) <= _MAX_VERSION:
        message = f"a version is a string of 1 to {_MAX_VERSION} characters"
        raise InvalidInput("server-version", message, remedy=_ONE_VERSION)
    if version == "latest":
        raise InvalidInput(
            "server-version", "latest names whatever is newest, not a version", remedy=_ONE_VERSION
        )
    if any(character == " " or is_invisible(character) for character in version):
        raise InvalidInput(
            "server-version",
            f"the version {escape(version, limit=80)} holds spaces or invisible characters",
            remedy=_ONE_VERSION,
        )
    if _RANGE.fullmatch(version):
        message = f"{escape(version, limit=80)} is a range of versions, not a version"
        raise InvalidInput("server-version", message, remedy=_ONE_VERSION)
    return version


class Release(NamedTuple):
    """Which release of which server something is.

    Attributes:
        server: the name under which it is published.
        version: its version.
        sequence: its number in the server's history; None where that is not at hand.
        signer: who signed it; empty where that is not at hand.
    """

    server: str
    version: str
    sequence: int | None = None
    signer: str = ""


def subject_name(server: str, version: str) -> str:
    """The name of a statement's subject; it is built and compared, never taken apart (DESIGN: statement)."""
    return f"pkg:mcp/{server}@{version}"


def profile_name(name: object) -> str:
    """`name`, which is the name of a profile: 1 to 64 letters, digits, `.`, `_`, `+`, `-`.

    Raises:
        InvalidInput: `manifest-shape`.
    """
    if not isinstance(name, str) or not _PROFILE.fullmatch(name):
        shown = escape(name, limit=80) if isinstance(name, str) else type(name).__name__
        raise InvalidInput("manifest-shape", f"got {shown} as the name of a profile")
    return name


def remote_url(url: object) -> str:
    """`url`, which is an http(s) URL with a lower-case host and without user, query or fragment.

    Raises:
        InvalidInput: `remote-url`; the message does not repeat the URL, which can hold a secret.
    """
    if not isinstance(url, str) or len(url) > _MAX_REFERENCE or not _REMOTE.fullmatch(url):
        raise InvalidInput(
            "remote-url",
            "a remote is not an http or https URL with a lower-case host",
            remedy="leave user, password, query and fragment out: a manifest is public",
        )
    return url


@dataclass(frozen=True, slots=True, order=True)
class Artifact:
    """Something that a server is distributed as.

    Attributes:
        purl: package URL (https://github.com/package-url/purl-spec), such as `pkg:npm/%40acme/weather@1.4.0`.
        digest: `sha256:` and 64 hex digits, or `sha512-` and base64 as npm writes it; None where unknown.
    """

    purl: str
    digest: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no reader could match.

        Raises:
            InvalidInput: `artifact`.
        """
        if len(self.purl) > _MAX_REFERENCE or not _PURL.fullmatch(self.purl):
            shown = escape(self.purl, limit=80)
            raise InvalidInput(
                "artifact",
                f"got {shown}, expected a package URL such as pkg:npm/weather@1.4.0",
                remedy="write pkg:npm/NAME@VERSION, pkg:pypi/NAME@VERSION, or pkg:generic/FILE=PATH",
            )
        if self.digest is not None and not (_SHA512.fullmatch(self.digest) or _SHA256.fullmatch(self.digest)):
            raise InvalidInput(
                "artifact",
                f"the digest of {self.purl} is neither sha256:HEX nor sha512-BASE64",
                remedy="write PURL=sha256: and 64 hex digits, PURL=PATH for a file, or the PURL alone",
            )

    @classmethod
    def parse(cls, value: JsonValue) -> "Artifact":
        """The artifact that a member of a manifest's `artifacts` describes.

        Raises:
            InvalidInput: `manifest-shape`, `artifact`.
        """
        entry = members(value, "an artifact", code="manifest-shape", required=("purl",), optional=("digest",))
        for name in entry:
            text(entry[name], f"{name} of an artifact", code="manifest-shape")
        return cls(entry["purl"], entry.get("digest"))

    def to_json(self) -> JsonObject:
        """The member of `artifacts`."""
        return {"purl": self.purl} if self.digest is None else {"purl": self.purl, "digest": self.digest}
