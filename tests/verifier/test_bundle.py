# SPDX-License-Identifier: Apache-2.0
"""Sigstore bundle v0.3 in key mode; what this release cannot verify is refused."""

import json
from collections.abc import Callable
from typing import Any

import forge
import pytest

from toolnotary_verifier.bundle import Bundle
from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.limits import DEFAULT_LIMITS


def code_of(raw: bytes) -> str:
    with pytest.raises(ToolnotaryError) as caught:
        Bundle.parse(raw)
    return caught.value.code


def test_a_bundle_reads_back_as_it_was_written() -> None:
    bundle = Bundle.parse(forge.bundle(b"{}"))
    assert Bundle.parse(bundle.to_json()) == bundle
    assert bundle.key_hint == bundle.envelope.key_id == forge.PUBLISHER.public.key_id


def test_a_bundle_is_written_in_one_form() -> None:
    bundle = Bundle.parse(json.dumps(forge.document(b"{}"), indent=4).encode())
    assert bundle.to_json() == Bundle.parse(bundle.to_json()).to_json()
    assert json.loads(bundle.to_json()) == forge.document(b"{}")


def material(**members: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda document: document["verificationMaterial"].update(members)


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (
            lambda d: d.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.2"),
            "bundle-media-type",
        ),
        (
            lambda d: d.update(mediaType="application/vnd.dev.sigstore.bundle+json;version=0.3"),
            "bundle-media-type",
        ),
        (lambda d: d.update(mediaType=None), "bundle-media-type"),
        (lambda d: d.pop("mediaType"), "bundle-media-type"),
        (lambda d: d.update(messageSignature={}), "bundle-shape"),
        (lambda d: d.pop("dsseEnvelope"), "bundle-shape"),
        (lambda d: d.pop("verificationMaterial"), "bundle-shape"),
        (lambda d: d.update(verificationMaterial=None), "bundle-shape"),
        (lambda d: d["verificationMaterial"].pop("publicKey"), "bundle-shape"),
        (material(publicKey={}), "bundle-shape"),
        (material(publicKey={"hint": ""}), "bundle-shape"),
        (material(publicKey={"hint": 1}), "bundle-shape"),
        (material(publicKey={"hint": "x", "rawBytes": "AA=="}), "bundle-shape"),
        (material(unknown=[]), "bundle-shape"),
        (material(tlogEntries={}), "bundle-shape"),
        (material(timestampVerificationData=[]), "bundle-shape"),
        (material(timestampVerificationData={"more": 1}), "bundle-shape"),
        (material(certificate={"rawBytes": "AA=="}), "certificate-bundle-unsupported"),
        (material(x509CertificateChain={"certificates": []}), "certificate-bundle-unsupported"),
        (material(tlogEntries=[{}]), "bundle-evidence-unsupported"),
        (material(timestampVerificationData={"rfc3161Timestamps": [{}]}), "bundle-evidence-unsupported"),
    ],
)
def test_a_bundle_of_another_kind_is_refused(edit: Callable[[dict[str, Any]], Any], code: str) -> None:
    document = forge.document(b"{}")
    edit(document)
    assert code_of(json.dumps(document).encode()) == code


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d["verificationMaterial"].pop("tlogEntries"),
        material(timestampVerificationData={}),
        material(timestampVerificationData={"rfc3161Timestamps": []}),
    ],
)
def test_evidence_that_is_empty_may_be_spelled_or_left_out(edit: Callable[[dict[str, Any]], Any]) -> None:
    """Writers of protobuf JSON differ in what they do with an empty list."""
    document = forge.document(b"{}")
    edit(document)
    assert Bundle.parse(json.dumps(document).encode()).key_hint == forge.PUBLISHER.public.key_id


@pytest.mark.parametrize(
    "member",
    [b'"mediaType"', b'"payload"', b'"payloadType"', b'"sig"', b'"keyid"', b'"hint"', b'"signatures"'],
)
def test_a_repeated_key_is_refused_because_readers_disagree_which_one_counts(member: bytes) -> None:
    raw = forge.bundle(b"{}")
    assert code_of(raw.replace(member, member + b":1," + member, 1)) == "duplicate-key"


@pytest.mark.parametrize("raw", [b"", b"null", b"[]", b'"x"', b"{}", b"\xff\xfe", b"{", b"NaN"])
def test_what_is_no_bundle_at_all_is_refused(raw: bytes) -> None:
    assert code_of(raw) in ("not-json", "not-utf8", "bundle-shape", "bundle-media-type")


def test_a_bundle_that_is_too_large_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ToolnotaryError) as caught:
        Bundle.parse(forge.bundle(b"{}"), limits=DEFAULT_LIMITS._replace(bundle_bytes=10))
    assert caught.value.code == "too-large"
