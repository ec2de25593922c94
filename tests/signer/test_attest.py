# SPDX-License-Identifier: Apache-2.0
"""Signing: what leaves the signer was accepted by our own verifier, and is by somebody else's."""

import base64
import copy
import json
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import forge
import pytest

from toolnotary_signer.attest import sign_manifest
from toolnotary_signer.keyfile import PrivateKey
from toolnotary_verifier.bundle import Bundle
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.keys import Algorithm, PublicKey
from toolnotary_verifier.statement import Source
from toolnotary_verifier.verify import verify_publish

NODE = Path(__file__).resolve().parent.parent / "node"
MANIFEST = forge.weather()
ALGORITHMS: tuple[Algorithm, ...] = ("ed25519", "ecdsa-p256-sha256")
BOTH = pytest.mark.parametrize("algorithm", ALGORITHMS)


@BOTH
def test_a_signed_manifest_verifies_with_everything_that_was_said(algorithm: Algorithm) -> None:
    key = PrivateKey.generate(algorithm)
    bundle = sign_manifest(
        MANIFEST,
        key,
        sequence=3,
        issued_at=forge.NOW,
        supersedes=Digest.of(b"before"),
        expires_at=forge.NOW + timedelta(days=30),
        source=Source(repository="https://git.acme.example/weather"),
    )
    verified = verify_publish(
        MANIFEST.canonical,
        bundle.to_json(),
        trusted={key.public.key_id: key.public},
        at=forge.NOW,
        server=forge.SERVER,
        version=forge.VERSION,
    )
    predicate = verified.statement.predicate
    assert predicate.sequence == 3
    assert predicate.supersedes == Digest.of(b"before")
    assert predicate.expires_at == forge.NOW + timedelta(days=30)
    assert predicate.source == Source(repository="https://git.acme.example/weather")


def test_a_fraction_of_a_second_does_not_reach_the_statement() -> None:
    bundle = sign_manifest(
        MANIFEST, forge.PUBLISHER, sequence=1, issued_at=forge.NOW + timedelta(microseconds=999_999)
    )
    assert b'"issuedAt":"2026-11-30T12:00:00Z"' in bundle.envelope.payload


class OtherKey:
    """A token that answers with somebody else's signature."""

    public: PublicKey = forge.PUBLISHER.public

    def sign(self, message: bytes) -> bytes:
        return forge.STRANGER.sign(message)


def test_a_token_that_signs_with_another_key_yields_no_bundle() -> None:
    with pytest.raises(Refused) as caught:
        sign_manifest(MANIFEST, OtherKey(), sequence=1, issued_at=forge.NOW)
    assert caught.value.code == "signature-invalid"


@pytest.mark.parametrize("sequence", [0, -1, 2**53])
def test_a_sequence_that_no_verifier_accepts_is_not_signed(sequence: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        sign_manifest(MANIFEST, forge.PUBLISHER, sequence=sequence, issued_at=forge.NOW)
    assert caught.value.code == "sequence"


def test_a_statement_that_expires_before_it_is_issued_is_not_signed() -> None:
    with pytest.raises(InvalidInput) as caught:
        sign_manifest(
            MANIFEST,
            forge.PUBLISHER,
            sequence=1,
            issued_at=forge.NOW,
            expires_at=forge.NOW - timedelta(days=1),
        )
    assert caught.value.code == "statement-predicate"


def elsewhere(keys: dict[str, str], bundles: list[dict[str, Any]]) -> list[bool]:
    """What @sigstore/verify says of these bundles."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here, and with it the verifier that others wrote")
    if not (NODE / "node_modules" / "@sigstore" / "verify").is_dir():
        pytest.skip("tests/node has no node_modules: run tests/prepare.py")
    ended = subprocess.run(
        [node, NODE / "verify_bundle.mjs"],
        input=json.dumps({"keys": keys, "bundles": bundles}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [answer["accepted"] for answer in json.loads(ended.stdout)]


@BOTH
def test_sigstores_own_verifier_accepts_our_bundle_and_rejects_each_tampered_one(
    algorithm: Algorithm,
) -> None:
    key = PrivateKey.generate(algorithm)
    good = json.loads(sign_manifest(MANIFEST, key, sequence=1, issued_at=forge.NOW).to_json())
    other_payload, other_type, other_signature, other_hint, no_signature = (
        copy.deepcopy(good) for _ in range(5)
    )
    other_payload["dsseEnvelope"]["payload"] = base64.b64encode(b"{}").decode()
    other_type["dsseEnvelope"]["payloadType"] = "application/json"
    stranger = sign_manifest(MANIFEST, forge.STRANGER, sequence=1, issued_at=forge.NOW)
    other_signature["dsseEnvelope"]["signatures"][0]["sig"] = base64.b64encode(
        stranger.envelope.signature
    ).decode()
    other_hint["verificationMaterial"]["publicKey"]["hint"] = forge.STRANGER.public.key_id
    no_signature["dsseEnvelope"]["signatures"] = []
    keys = {key.public.key_id: key.public.to_pem().decode()}
    tampered = [other_payload, other_type, other_signature, other_hint, no_signature]
    assert elsewhere(keys, [good, *tampered]) == [True] + [False] * len(tampered)


def test_the_lock_of_the_node_packages_names_no_url_and_hashes_everything() -> None:
    lock = (NODE / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in lock
    packages = json.loads(lock)["packages"]
    assert {"node_modules/@sigstore/verify", "node_modules/canonicalize"} <= set(packages)
    assert all(package["integrity"].startswith("sha512-") for path, package in packages.items() if path)


def test_a_bundle_is_what_its_bytes_say() -> None:
    bundle = sign_manifest(MANIFEST, forge.PUBLISHER, sequence=1, issued_at=forge.NOW)
    assert Bundle.parse(bundle.to_json()) == bundle
