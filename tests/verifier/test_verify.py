# SPDX-License-Identifier: Apache-2.0
"""docs/spec/statement-and-bundle.md: each check has its own code, and nothing else opens the door."""

import base64
import copy
import dataclasses
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import forge
import pytest
from effort import scaled
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.errors import ConfigurationError, InvalidInput, Refused, ToolnotaryError
from toolnotary_verifier.manifest import Manifest
from toolnotary_verifier.verify import Signer, VerifiedManifest, verify_publish

MANIFEST = forge.weather()
GOOD = forge.bundle(forge.statement(MANIFEST))
BOTH = pytest.mark.parametrize("key", [forge.PUBLISHER, forge.SECOND], ids=["ed25519", "p256"])


def accept(bundle: bytes, manifest: bytes = MANIFEST.canonical, **options: Any) -> VerifiedManifest:
    given = {"trusted": forge.KEYS, "at": forge.NOW, **options}
    return verify_publish(manifest, bundle, **given)


def code_of(bundle: bytes, manifest: bytes = MANIFEST.canonical, **options: Any) -> str:
    with pytest.raises(ToolnotaryError) as caught:
        accept(bundle, manifest, **options)
    return caught.value.code


@BOTH
def test_a_good_bundle_proves_who_published_which_manifest(key: forge.FixedKey) -> None:
    bundle = forge.bundle(forge.statement(MANIFEST, sequence=9), key)
    verified = accept(bundle, server=forge.SERVER, version=forge.VERSION)
    assert verified.manifest == MANIFEST
    assert verified.signer == Signer(f"key:{key.public.key_id}")
    assert verified.sequence == 9
    assert verified.statement.manifest_digest == MANIFEST.digest


def test_a_statement_laid_out_by_another_tool_is_accepted() -> None:
    payload = json.dumps(forge.statement(MANIFEST), indent=2).encode()
    assert accept(forge.bundle(payload)).statement.payload == payload


def test_another_payload_type_is_refused() -> None:
    payload = forge.statement(MANIFEST)
    assert code_of(forge.bundle(payload, payload_type="application/json")) == "payload-type"


def test_a_payload_type_that_was_not_signed_is_refused() -> None:
    """A signature over the same bytes as another type is no signature over a statement."""
    payload = forge.statement(MANIFEST)
    assert code_of(forge.bundle(payload, signed_type="application/json")) == "signature-invalid"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"_type": "https://in-toto.io/Statement/v0.1"}, "statement-type"),
        ({"predicateType": "https://toolnotary.dev/attestation/approval/v1"}, "predicate-type"),
        ({"predicateType": "https://toolnotary.dev/attestation/status/v1"}, "predicate-type"),
        ({"subject": []}, "statement-subject"),
    ],
)
def test_something_else_that_the_same_key_signed_is_no_publication(change: dict[str, Any], code: str) -> None:
    assert code_of(forge.bundle({**forge.statement(MANIFEST), **change})) == code


def test_a_statement_about_other_bytes_is_refused() -> None:
    other = forge.weather(version="1.4.1")
    assert code_of(GOOD, other.canonical) == "subject-digest"
    assert code_of(GOOD, MANIFEST.canonical + b"\n") == "subject-digest"
    assert code_of(GOOD, b"") == "subject-digest"


@pytest.mark.parametrize(
    "name",
    [
        "pkg:mcp/io.github.acme/weather@1.4.1",
        "pkg:mcp/io.github.acrne/weather@1.4.0",
        "pkg:mcp/io.github.acme/weather@1.4.0 ",
        "pkg:npm/io.github.acme/weather@1.4.0",
    ],
)
def test_another_subject_name_is_refused(name: str) -> None:
    statement = forge.statement(MANIFEST)
    statement["subject"][0]["name"] = name
    assert code_of(forge.bundle(statement)) == "subject-name"


def test_a_predicate_about_another_server_or_version_is_refused() -> None:
    assert (
        code_of(forge.bundle(forge.statement(MANIFEST, server="io.github.acme/other"))) == "predicate-server"
    )
    assert code_of(forge.bundle(forge.statement(MANIFEST, version="1.4.1"))) == "predicate-version"


def test_another_server_or_version_than_the_one_asked_for_is_refused() -> None:
    assert code_of(GOOD, server="io.github.acme/other") == "other-server"
    assert code_of(GOOD, version="1.5.0") == "other-version"


def test_an_expired_statement_is_not_accepted_and_a_pin_of_it_stays() -> None:
    bundle = forge.bundle(forge.statement(MANIFEST, expiresAt="2026-11-30T12:00:00Z"))
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert accept(bundle, at=moment - timedelta(seconds=1)).manifest == MANIFEST
    assert code_of(bundle, at=moment) == "expired"
    assert code_of(bundle, at=moment + timedelta(days=1)) == "expired"
    assert accept(bundle, at=moment + timedelta(days=1), already_pinned=True).manifest == MANIFEST


def test_the_time_of_issue_decides_nothing() -> None:
    """DESIGN, statement: whoever signs writes it, so it orders nothing and cuts nothing off."""
    future = forge.bundle(forge.statement(MANIFEST, issuedAt="2099-01-01T00:00:00Z"))
    assert accept(future).manifest == MANIFEST


def test_a_time_without_zone_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="zone"):
        accept(GOOD, at=datetime(2026, 11, 30))  # noqa: DTZ001 - the point of the test


@BOTH
def test_a_tampered_signature_is_refused(key: forge.FixedKey) -> None:
    document = forge.document(forge.statement(MANIFEST), key)
    signature = document["dsseEnvelope"]["signatures"][0]
    raw = base64.b64decode(signature["sig"])
    for mutated in forge.mutations(raw, range(len(raw))):
        signature["sig"] = base64.b64encode(mutated).decode()
        assert code_of(json.dumps(document).encode()) == "signature-invalid"


def test_a_tampered_payload_is_refused() -> None:
    document = forge.document(forge.statement(MANIFEST))
    payload = canonical_bytes(forge.statement(MANIFEST, sequence=2))
    document["dsseEnvelope"]["payload"] = base64.b64encode(payload).decode()
    assert code_of(json.dumps(document).encode()) == "signature-invalid"


def test_a_payload_that_nobody_verified_is_not_even_parsed() -> None:
    forged = forge.document(b"[" * 100_000, key_id=forge.PUBLISHER.public.key_id)
    forged["dsseEnvelope"]["signatures"][0]["sig"] = base64.b64encode(bytes(64)).decode()
    assert code_of(json.dumps(forged).encode()) == "signature-invalid"
    signed = forge.bundle(b"[" * 100_000)
    assert code_of(signed) == "too-deep"


def test_an_unknown_key_is_refused() -> None:
    stranger = forge.bundle(forge.statement(MANIFEST), forge.STRANGER)
    assert code_of(stranger) == "unknown-key"
    assert code_of(GOOD, trusted={}) == "unknown-key"


def test_the_id_of_a_trusted_key_on_a_strangers_signature_is_refused() -> None:
    spoofed = forge.bundle(forge.statement(MANIFEST), forge.STRANGER, key_id=forge.PUBLISHER.public.key_id)
    assert code_of(spoofed) == "signature-invalid"
    crossed = forge.bundle(forge.statement(MANIFEST), forge.SECOND, key_id=forge.PUBLISHER.public.key_id)
    assert code_of(crossed) == "signature-invalid"


def test_a_hint_that_differs_from_the_key_id_is_refused() -> None:
    trusted, stranger = forge.PUBLISHER.public.key_id, forge.STRANGER.public.key_id
    assert code_of(forge.bundle(forge.statement(MANIFEST), hint=stranger)) == "key-hint-mismatch"
    assert (
        code_of(forge.bundle(forge.statement(MANIFEST), forge.STRANGER, hint=trusted)) == "key-hint-mismatch"
    )


@pytest.mark.parametrize("name", ["publisher", "sha256:00", "SHA256:" + "0" * 64])
def test_a_key_id_of_another_form_is_refused_even_where_policy_files_a_key_under_it(name: str) -> None:
    bundle = forge.bundle(forge.statement(MANIFEST), key_id=name)
    assert code_of(bundle, trusted={name: forge.PUBLISHER.public}) == "key-hint-mismatch"


def test_a_key_that_policy_files_under_another_keys_id_is_an_error_of_the_policy() -> None:
    with pytest.raises(ConfigurationError) as caught:
        accept(GOOD, trusted={forge.PUBLISHER.public.key_id: forge.STRANGER.public})
    assert caught.value.code == "trusted-key-id"


def test_two_signatures_are_refused_whoever_made_them() -> None:
    statement = forge.statement(MANIFEST)
    assert code_of(forge.bundle(statement, forge.PUBLISHER, forge.SECOND)) == "signature-count"
    assert code_of(forge.bundle(statement, forge.PUBLISHER, forge.STRANGER)) == "signature-count"


def test_two_signatures_under_one_key_are_refused() -> None:
    assert (
        code_of(forge.bundle(forge.statement(MANIFEST), forge.PUBLISHER, forge.PUBLISHER))
        == "signature-count"
    )


def test_no_signature_is_refused() -> None:
    document = forge.document(forge.statement(MANIFEST))
    document["dsseEnvelope"]["signatures"] = []
    assert code_of(json.dumps(document).encode()) == "signature-count"


@pytest.mark.parametrize("sequence", [0, -3, 1.5, "2", True])
def test_a_sequence_that_is_no_positive_integer_is_refused(sequence: object) -> None:
    assert code_of(forge.bundle(forge.statement(MANIFEST, sequence=sequence))) == "sequence"


def test_a_signed_statement_about_bytes_that_are_no_manifest_is_refused() -> None:
    """A key can sign anything; only a manifest in its one form becomes a VerifiedManifest."""
    document = json.loads(MANIFEST.canonical)
    lying = json.dumps(document, indent=1).encode()
    statement = forge.statement(MANIFEST)
    statement["subject"][0]["digest"]["sha256"] = Digest.of(lying).hex
    assert code_of(forge.bundle(statement), lying) == "manifest-inconsistent"


def test_a_certificate_bundle_is_refused_and_not_judged_by_its_key() -> None:
    document = forge.document(forge.statement(MANIFEST))
    document["verificationMaterial"]["certificate"] = {"rawBytes": "AA=="}
    assert code_of(json.dumps(document).encode()) == "certificate-bundle-unsupported"


def test_no_answer_is_mistaken_for_the_other() -> None:
    """A wrong signature is a no (exit 1); a file that is no bundle is not valid input (exit 4)."""
    with pytest.raises(Refused):
        accept(GOOD, trusted={})
    with pytest.raises(InvalidInput):
        accept(b"{}")


@BOTH
@given(st.data())
def test_any_changed_byte_of_bundle_or_manifest_is_refused(key: forge.FixedKey, data: st.DataObject) -> None:
    bundle = accept_once(key)
    for raw, is_bundle in ((bundle, True), (MANIFEST.canonical, False)):
        position = data.draw(st.integers(0, len(raw) - 1))
        step = data.draw(st.integers(1, 255))
        (changed,) = forge.mutations(raw, [position], step)
        with pytest.raises(ToolnotaryError):
            accept(changed if is_bundle else bundle, MANIFEST.canonical if is_bundle else changed)


def accept_once(key: forge.FixedKey) -> bytes:
    bundle = canonical_bytes(forge.document(forge.statement(MANIFEST), key))
    accept(bundle)
    return bundle


@BOTH
def test_every_byte_of_a_bundle_matters(key: forge.FixedKey) -> None:
    bundle = accept_once(key)
    for step in (1, 32, 128)[: scaled(1, 3)]:
        for changed in forge.mutations(bundle, range(len(bundle)), step):
            with pytest.raises(ToolnotaryError):
                accept(changed)


@given(st.binary(max_size=64))
def test_no_bytes_at_all_raise_anything_but_a_typed_error(noise: bytes) -> None:
    for bundle, manifest in ((noise, MANIFEST.canonical), (GOOD, noise), (GOOD + noise[:1], noise)):
        with pytest.raises(ToolnotaryError):
            accept(bundle, manifest)


def test_nothing_but_verifying_makes_a_verified_manifest() -> None:
    verified = accept(GOOD)
    other = forge.weather(version="6.6.6")
    assert isinstance(verified.manifest, Manifest)
    with pytest.raises(TypeError):
        VerifiedManifest(manifest=other, statement=verified.statement, signer=verified.signer, seal=object())
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(verified, manifest=other)  # type: ignore[call-arg]  # what the test is about
    with pytest.raises(dataclasses.FrozenInstanceError):
        verified.manifest = other  # type: ignore[misc]  # what the test is about
    assert copy.deepcopy(verified.signer) == verified.signer
