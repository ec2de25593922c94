# SPDX-License-Identifier: Apache-2.0
"""The circumstances of a capture, as a manifest records them (docs/spec/manifest.md)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.shape import array, ascending, members, text
from toolnotary_verifier.surface import Surface

TRANSPORTS = ("stdio", "streamable-http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The circumstances under which a surface was captured.

    Attributes:
        protocol_version: the negotiated revision, None where a listing was taken from a file.
        transport: `stdio` or `streamable-http`, None likewise.
        server_info: what the server called itself; recorded, never an identity.
        capabilities: what the server advertised; recorded.
        client_capabilities: names of the capabilities that the capturing client declared, sorted.
    """

    protocol_version: str | None = None
    transport: str | None = None
    server_info: JsonObject = field(default_factory=dict)
    capabilities: JsonObject = field(default_factory=dict)
    client_capabilities: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, surface: Surface, *, transport: str | None = None, client_capabilities: Iterable[str] = ()
    ) -> "Profile":
        """The profile of a surface, with what the surface itself does not know."""
        return cls(
            protocol_version=surface.protocol_version,
            transport=transport,
            server_info=surface.server_info,
            capabilities=surface.capabilities,
            client_capabilities=tuple(sorted(set(client_capabilities))),
        )

    @classmethod
    def parse(cls, value: JsonValue, where: str) -> "Profile":
        """The profile that a member of `profiles` describes.

        Raises:
            InvalidInput: `manifest-shape`.
        """
        optional = ("protocolVersion", "transport", "serverInfo", "capabilities", "clientCapabilities")
        entry = members(value, where, code="manifest-shape", optional=optional)
        if "protocolVersion" in entry:
            text(entry["protocolVersion"], f"protocolVersion of {where}", code="manifest-shape", most=64)
        if "transport" in entry and entry["transport"] not in TRANSPORTS:
            raise InvalidInput("manifest-shape", f"transport of {where} is none of {', '.join(TRANSPORTS)}")
        for name in ("serverInfo", "capabilities"):
            members(entry.get(name, {}), f"{name} of {where}", code="manifest-shape", optional=None)
        declared = array(
            entry.get("clientCapabilities", []), f"clientCapabilities of {where}", code="manifest-shape"
        )
        for name in declared:
            text(name, f"a client capability of {where}", code="manifest-shape", most=200)
        ascending(declared, f"clientCapabilities of {where}", code="manifest-inconsistent")
        return cls(
            protocol_version=entry.get("protocolVersion"),
            transport=entry.get("transport"),
            server_info=entry.get("serverInfo", {}),
            capabilities=entry.get("capabilities", {}),
            client_capabilities=tuple(declared),
        )

    def to_json(self) -> JsonObject:
        """The member of `profiles`; what is unknown or empty is left out."""
        pairs: tuple[tuple[str, JsonValue], ...] = (
            ("protocolVersion", self.protocol_version),
            ("transport", self.transport),
            ("serverInfo", self.server_info),
            ("capabilities", self.capabilities),
            ("clientCapabilities", list(self.client_capabilities)),
        )
        return {name: value for name, value in pairs if value}
