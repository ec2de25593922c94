# SPDX-License-Identifier: Apache-2.0
"""The entries of a lockfile, and the lines that they are written in (docs/spec/lockfile.md)."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from toolnotary_verifier import local_name
from toolnotary_verifier.canonical import Digest, JsonObject, canonical_bytes
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.shape import array, members, text

CORRUPT: Final = "lockfile-corrupt"


class Pin(NamedTuple):
    """One definition that an unsigned entry accepts.

    Attributes:
        kind: what it defines.
        name: its name.
        exact: its digest.
        normal: the digest of its normal form.
    """

    kind: Kind
    name: str
    exact: Digest
    normal: Digest

    @property
    def key(self) -> tuple[Kind, str]:
        """What identifies it within one surface."""
        return (self.kind, self.name)


class SignedEntry(NamedTuple):
    """A server pinned to a signed manifest.

    Attributes:
        server: the name under which it was published.
        launch: the identity of the launch line or URL (`launch.Launch.identity`).
        recorded: how it was started when it was pinned, secrets masked; not part of the identity.
        version: the version that was published.
        sequence: its position in the server's history.
        signer: who signed it.
        manifest: the digest of the manifest.
        bundle: the digest of the bundle that proves the signature.
        profiles: the profiles of the manifest that are accepted, sorted.
    """

    server: str
    launch: JsonObject
    recorded: JsonObject
    version: str
    sequence: int
    signer: str
    manifest: Digest
    bundle: Digest
    profiles: tuple[str, ...]

    @property
    def place(self) -> tuple[str, Digest]:
        """What identifies the entry: the server's name and the digest of its launch."""
        return (self.server, launch_digest(self.launch))


class UnsignedEntry(NamedTuple):
    """A server pinned to the definitions that somebody saw and accepted.

    Attributes:
        server: the name that the user gave it.
        launch: the identity of the launch line or URL (`launch.Launch.identity`).
        recorded: how it was started when it was pinned, secrets masked; not part of the identity.
        pins: what is accepted, sorted by kind and name.
        server_info: digest of what the server called itself, without its version; None where unknown.
        capabilities: digest of what the server advertised; None where unknown.
    """

    server: str
    launch: JsonObject
    recorded: JsonObject
    pins: tuple[Pin, ...]
    server_info: Digest | None = None
    capabilities: Digest | None = None

    @property
    def place(self) -> tuple[str, Digest]:
        """What identifies the entry: the server's name and the digest of its launch."""
        return (self.server, launch_digest(self.launch))


Entry = SignedEntry | UnsignedEntry


def launch_digest(identity: JsonObject) -> Digest:
    """The digest of a launch identity."""
    return Digest.of(canonical_bytes(identity))


def lines_of(entry: Entry) -> Iterator[JsonObject]:
    """The entry as the objects of its lines, an unsigned one with its pins."""
    common = {"server": entry.server, "launch": entry.launch, "recorded": entry.recorded}
    if isinstance(entry, SignedEntry):
        yield {
            **common,
            "entry": "signed",
            "version": entry.version,
            "sequence": entry.sequence,
            "signer": entry.signer,
            "manifest": entry.manifest,
            "bundle": entry.bundle,
            "profiles": sorted(entry.profiles),
        }
        return
    about = {"serverInfo": entry.server_info, "capabilities": entry.capabilities}
    yield {**common, "entry": "unsigned", **{name: digest for name, digest in about.items() if digest}}
    for pin in sorted(entry.pins, key=lambda one: one.key):
        yield {
            "pin": pin.kind.value,
            "name": pin.name,
            "exact": pin.exact,
            "normal": pin.normal,
            "server": entry.server,
            "launch": entry.place[1],
        }


def _common(value: JsonObject, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> JsonObject:
    members(
        value,
        "an entry",
        code=CORRUPT,
        required=("entry", "server", "launch", "recorded", *required),
        optional=optional,
    )
    name_fault = local_name.fault(text(value["server"], "server", code=CORRUPT))
    if name_fault:
        shown = escape(value["server"], limit=120)
        raise InvalidInput(CORRUPT, f"a server cannot be called {shown}: the name {name_fault}")
    for name in ("launch", "recorded"):
        members(value[name], name, code=CORRUPT, optional=None)
    return value


def signed_entry(value: JsonObject) -> SignedEntry:
    """The signed entry that a line describes.

    Raises:
        InvalidInput: `lockfile-corrupt`, `bad-digest`.
    """
    _common(value, ("version", "sequence", "signer", "manifest", "bundle", "profiles"))
    if type(value["sequence"]) is not int or value["sequence"] < 0:
        raise InvalidInput(CORRUPT, "sequence is not a whole number")
    profiles = array(value["profiles"], "profiles", code=CORRUPT)
    if not profiles:
        raise InvalidInput(CORRUPT, "a signed entry without a profile")
    return SignedEntry(
        server=value["server"],
        launch=value["launch"],
        recorded=value["recorded"],
        version=text(value["version"], "version", code=CORRUPT),
        sequence=value["sequence"],
        signer=text(value["signer"], "signer", code=CORRUPT),
        manifest=Digest.from_text(value["manifest"]),
        bundle=Digest.from_text(value["bundle"]),
        profiles=tuple(text(name, "a profile", code=CORRUPT) for name in profiles),
    )


def unsigned_entry(value: JsonObject) -> UnsignedEntry:
    """The unsigned entry that a line describes, without its pins; errors as `signed_entry`."""
    _common(value, (), ("serverInfo", "capabilities"))
    found: Mapping[str, Digest] = {
        name: Digest.from_text(value[name]) for name in ("serverInfo", "capabilities") if name in value
    }
    return UnsignedEntry(
        server=value["server"],
        launch=value["launch"],
        recorded=value["recorded"],
        pins=(),
        server_info=found.get("serverInfo"),
        capabilities=found.get("capabilities"),
    )
