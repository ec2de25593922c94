# SPDX-License-Identifier: Apache-2.0
"""DSSE v1.0 with exactly one signature."""

import base64
from collections.abc import Callable
from typing import Any

import forge
import pytest

from toolnotary_verifier.envelope import Envelope, pre_authentication_encoding
from toolnotary_verifier.errors import InvalidInput, ToolnotaryError


def envelope() -> dict[str, Any]:
    value: dict[str, Any] = forge.document(b"{}")["dsseEnvelope"]
    return value


def test_the_pre_authentication_encoding_is_that_of_the_dsse_specification() -> None:
    """The example in DSSE v1.0, protocol.md."""
    encoded = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_lengths_count_bytes_not_characters() -> None:
    assert pre_authentication_encoding("\u00e9", "\u20ac".encode()) == b"DSSEv1 2 \xc3\xa9 3 \xe2\x82\xac"


def test_moving_bytes_between_type_and_payload_changes_what_is_signed() -> None:
    assert pre_authentication_encoding("a", b"b c") != pre_authentication_encoding("a b", b"c")


def test_an_envelope_reads_back_as_it_was_written() -> None:
    parsed = Envelope.parse(envelope())
    assert Envelope.parse(parsed.to_json()) == parsed
    assert parsed.payload == b"{}"
    assert parsed.is_signed_by(forge.PUBLISHER.public)
    assert not parsed.is_signed_by(forge.STRANGER.public)


def junk(text: str) -> list[str]:
    """Other spellings that a lenient decoder takes for the same bytes."""
    return [
        text + "\n",
        text.replace("=", ""),
        text[:4] + " " + text[4:],
        text + "====",
        text[:4] + "*" + text[4:],
    ]


@pytest.mark.parametrize("spelling", [*junk("e30="), "e31=", "e3_=", "", "\u0435e30="])
def test_any_but_the_one_base64_spelling_is_refused(spelling: str) -> None:
    assert base64.b64encode(b"{}") == b"e30="
    with pytest.raises(InvalidInput) as caught:
        Envelope.parse({**envelope(), "payload": spelling})
    assert caught.value.code == "envelope-shape"


@pytest.mark.parametrize("count", [0, 2, 3])
def test_any_number_of_signatures_but_one_is_refused(count: int) -> None:
    value = envelope()
    with pytest.raises(ToolnotaryError) as caught:
        Envelope.parse({**value, "signatures": value["signatures"] * count})
    assert caught.value.code == "signature-count"


@pytest.mark.parametrize(
    "edit",
    [
        lambda value: value.pop("payloadType"),
        lambda value: value.update(payloadType=1),
        lambda value: value.update(payloadType=""),
        lambda value: value.update(payload=None),
        lambda value: value.update(extra=1),
        lambda value: value.update(signatures={}),
        lambda value: value.update(signatures=[None]),
        lambda value: value["signatures"][0].pop("keyid"),
        lambda value: value["signatures"][0].update(keyid=""),
        lambda value: value["signatures"][0].update(sig=""),
        lambda value: value["signatures"][0].update(cert="x"),
    ],
)
def test_an_envelope_of_another_shape_is_refused(edit: Callable[[dict[str, Any]], Any]) -> None:
    value = envelope()
    edit(value)
    with pytest.raises(InvalidInput) as caught:
        Envelope.parse(value)
    assert caught.value.code == "envelope-shape"


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        Envelope.parse(value)
    assert caught.value.code == "envelope-shape"
