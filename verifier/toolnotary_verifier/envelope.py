# SPDX-License-Identifier: Apache-2.0
"""DSSE v1.0: an envelope with exactly one signature (https://github.com/secure-systems-lab/dsse).

It knows no payload. What was signed is the pre-authentication encoding of payload type and payload, so that
neither can be exchanged alone. `keyid` only says which key to try: key and algorithm come from whoever
verifies.
"""

import base64
import binascii
from dataclasses import dataclass, field
from typing import Self

from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.shape import array, members, text


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """The bytes that a DSSE signature covers (DSSE v1.0, protocol: `PAE`)."""
    kind = payload_type.encode("utf-8")
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A payload and its one signature; nothing about it is verified yet.

    Attributes:
        payload_type: media type of the payload.
        payload: the bytes as signed.
        key_id: which key claims to have signed.
        signature: the signature over `pre_authentication_encoding`.
    """

    payload_type: str
    payload: bytes = field(repr=False)
    key_id: str
    signature: bytes = field(repr=False)

    @classmethod
    def parse(cls, value: JsonValue) -> Self:
        """The envelope that a parsed JSON value is.

        Raises:
            InvalidInput: `envelope-shape`.
            Refused: `signature-count` unless there is exactly one signature (Sigstore bundle v0.3).
        """
        code = "envelope-shape"
        entry = members(value, "the envelope", code=code, required=("payload", "payloadType", "signatures"))
        signatures = array(entry["signatures"], "signatures of the envelope", code=code)
        if len(signatures) != 1:
            raise Refused(
                "signature-count",
                f"the envelope has {len(signatures)} signatures, exactly one is accepted",
                remedy="give every signer a bundle of its own",
            )
        signature = members(signatures[0], "the signature", code=code, required=("sig", "keyid"))
        return cls(
            payload_type=text(entry["payloadType"], "payloadType", code=code, most=255),
            payload=decode(entry["payload"], "payload"),
            key_id=text(signature["keyid"], "keyid", code=code, most=255),
            signature=decode(signature["sig"], "sig"),
        )

    def to_json(self) -> JsonObject:
        """The envelope as a JSON value."""
        return {
            "payload": base64.b64encode(self.payload).decode("ascii"),
            "payloadType": self.payload_type,
            "signatures": [{"keyid": self.key_id, "sig": base64.b64encode(self.signature).decode("ascii")}],
        }

    def is_signed_by(self, key: PublicKey) -> bool:
        """Whether the signature is this key's over payload type and payload."""
        return key.verify(self.signature, pre_authentication_encoding(self.payload_type, self.payload))


def decode(value: JsonValue, where: str) -> bytes:
    """The bytes that `value` spells in base64 (RFC 4648 section 4), in the only spelling they have.

    Raises:
        InvalidInput: `envelope-shape` for other alphabets, white space, missing padding or stray bits.
    """
    spelled = text(value, where, code="envelope-shape")
    try:
        decoded = base64.b64decode(spelled, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("envelope-shape", f"{where} is not base64") from None
    if base64.b64encode(decoded).decode("ascii") != spelled:
        raise InvalidInput("envelope-shape", f"{where} is not the one base64 spelling of its bytes")
    return decoded
