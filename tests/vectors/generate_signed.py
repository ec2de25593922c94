# SPDX-License-Identifier: Apache-2.0
"""Writes `manifest/vectors.json` and `bundle/vectors.json`; keys and signatures are the same in every run.

    .venv/bin/python tests/vectors/generate_signed.py

A test fails where the files are not what this writes, or where the verifier does not do what they say.
"""

import base64
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

import forge  # noqa: E402 - it lies in the folder that was just added

from toolnotary_verifier.canonical import Digest, canonical_bytes  # noqa: E402

MANIFEST = forge.weather()
Edit = Callable[[dict[str, Any]], Any]


def put(*path: Any, value: Any) -> Edit:
    """Set one member, however deep."""

    def edit(document: dict[str, Any]) -> None:
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = value

    return edit


def drop(*path: Any) -> Edit:
    """Leave one member out."""

    def edit(document: dict[str, Any]) -> None:
        for name in path[:-1]:
            document = document[name]
        del document[path[-1]]

    return edit


def manifest_cases() -> list[dict[str, Any]]:
    """Good manifests with what they say, bad ones with the code of the rule that they break."""
    good = MANIFEST.canonical
    cases: list[dict[str, Any]] = [
        {
            "name": "two profiles of one server",
            "input": good.decode(),
            "digest": MANIFEST.digest,
            "server": MANIFEST.server,
            "version": MANIFEST.version,
            "profiles": {
                profile: {
                    f"{kind.value} {name}": [definition.digest for definition in definitions]
                    for (kind, name), definitions in sorted(MANIFEST.profile(profile).items())
                }
                for profile in sorted(MANIFEST.profiles)
            },
        }
    ]

    def bad(name: str, content: bytes, error: str) -> None:
        cases.append({"name": name, "input": content.decode(), "error": error})

    def edited(name: str, edit: Edit, error: str) -> None:
        document = json.loads(good)
        edit(document)
        bad(name, canonical_bytes(document), error)

    variant = json.loads(good)["tools"]["get_alerts"][0]
    bad("a line feed at the end", good + b"\n", "manifest-inconsistent")
    bad("white space between members", json.dumps(json.loads(good)).encode(), "manifest-inconsistent")
    bad("a repeated key", good.replace(b'"prompts":{}', b'"prompts":{},"prompts":{}'), "duplicate-key")
    edited("a key that is not the name", put("tools", "other", value=[variant]), "manifest-inconsistent")
    edited(
        "a profile that is not there",
        put("tools", "get_alerts", 0, "profiles", value=["x"]),
        "manifest-inconsistent",
    )
    edited(
        "profiles out of order",
        put("tools", "get_alerts", 0, "profiles", value=["legacy", "default"]),
        "manifest-inconsistent",
    )
    edited("variants out of order", lambda d: d["tools"]["get_forecast"].reverse(), "manifest-inconsistent")
    edited(
        "one definition stored twice",
        put("tools", "get_alerts", value=[variant, variant]),
        "manifest-inconsistent",
    )
    edited("no variant", put("tools", "get_alerts", value=[]), "manifest-limit")
    edited("no profile", put("profiles", value={}), "manifest-limit")
    edited("an unknown member", put("extra", value=1), "manifest-shape")
    edited("no remotes", drop("remotes"), "manifest-shape")
    edited("no server", drop("server"), "manifest-shape")
    edited("another schema", put("schema", value="https://toolnotary.dev/manifest/v2"), "manifest-schema")
    edited("another canonical form", put("canonicalization", value="rfc8785"), "manifest-canonicalization")
    edited("a name without namespace", put("server", "name", value="weather"), "server-name")
    edited("a version that is none", put("server", "version", value="latest"), "server-version")
    edited(
        "a secret in a remote", put("remotes", value=["https://user:pass@mcp.acme.example/"]), "remote-url"
    )
    edited("an artifact that is no package URL", put("artifacts", 0, "purl", value="weather"), "artifact")
    return cases


class BundleCases:
    """Bundle vectors, gathered one by one."""

    def __init__(self) -> None:
        self.gathered: list[dict[str, Any]] = []

    def case(self, name: str, document: dict[str, Any], **members: Any) -> None:
        """This bundle."""
        self.gathered.append({"name": name, "bundle": document, **members})

    def good(self, name: str, key: forge.FixedKey, **predicate: Any) -> None:
        """A bundle that must be accepted."""
        said = forge.statement(MANIFEST, **predicate)
        sequence = said["predicate"]["sequence"]
        self.case(name, forge.document(said, key), signer=f"key:{key.public.key_id}", sequence=sequence)

    def signed(self, name: str, edit: Edit, error: str, **members: Any) -> None:
        """A good signature over a statement that was edited before."""
        said = forge.statement(MANIFEST)
        edit(said)
        self.case(name, forge.document(said), error=error, **members)

    def tampered(self, name: str, edit: Edit, error: str) -> None:
        """A bundle that was edited after it was signed."""
        document = forge.document(forge.statement(MANIFEST))
        edit(document)
        self.case(name, document, error=error)


def bundle_cases() -> list[dict[str, Any]]:
    """A good bundle of each algorithm, and one for each check that can fail."""
    cases = BundleCases()
    envelope_cases(cases)
    statement_cases(cases)
    return cases.gathered


def envelope_cases(cases: BundleCases) -> None:
    """Good ones, and what is wrong with bundle, envelope or key."""
    cases.good("Ed25519", forge.PUBLISHER)
    cases.good("ECDSA P-256", forge.SECOND)
    cases.good(
        "everything that a publisher may say",
        forge.PUBLISHER,
        sequence=42,
        supersedes=Digest.of(b"before"),
        expiresAt="2027-11-30T12:00:00Z",
        source={"repository": "https://git.acme.example/weather", "commit": "0" * 40},
    )
    cases.good("an unknown member of the predicate", forge.PUBLISHER, later={"any": "thing"})
    said = forge.statement(MANIFEST)
    cases.case(
        "another payload type", forge.document(said, payload_type="application/json"), error="payload-type"
    )
    signature, key_id = ("dsseEnvelope", "signatures", 0, "sig"), ("dsseEnvelope", "signatures", 0, "keyid")
    cases.tampered(
        "hint and key id differ",
        put("verificationMaterial", "publicKey", "hint", value=forge.STRANGER.public.key_id),
        "key-hint-mismatch",
    )
    cases.tampered(
        "a key id of another form",
        lambda d: (
            put(*key_id, value="me")(d),
            put("verificationMaterial", "publicKey", "hint", value="me")(d),
        ),
        "key-hint-mismatch",
    )
    cases.case("a key that nobody named", forge.document(said, forge.STRANGER), error="unknown-key")
    cases.case(
        "a stranger's signature under the publisher's key id",
        forge.document(said, forge.STRANGER, key_id=forge.PUBLISHER.public.key_id),
        error="signature-invalid",
    )
    cases.case(
        "a signature over another payload type",
        forge.document(said, signed_type="text/plain"),
        error="signature-invalid",
    )
    cases.tampered(
        "another payload",
        put("dsseEnvelope", "payload", value=base64.b64encode(b"{}").decode()),
        "signature-invalid",
    )
    cases.tampered(
        "a signature of zeros",
        put(*signature, value=base64.b64encode(bytes(64)).decode()),
        "signature-invalid",
    )
    cases.case("two signatures", forge.document(said, forge.PUBLISHER, forge.SECOND), error="signature-count")
    cases.case(
        "two signatures under one key",
        forge.document(said, forge.PUBLISHER, forge.PUBLISHER),
        error="signature-count",
    )
    cases.tampered("no signature", put("dsseEnvelope", "signatures", value=[]), "signature-count")
    cases.tampered(
        "base64 without padding",
        lambda d: put(*signature, value=d["dsseEnvelope"]["signatures"][0]["sig"].rstrip("="))(d),
        "envelope-shape",
    )
    cases.tampered(
        "base64 with a line feed",
        lambda d: put(*signature, value=d["dsseEnvelope"]["signatures"][0]["sig"] + "\n")(d),
        "envelope-shape",
    )
    cases.tampered(
        "another media type",
        put("mediaType", value="application/vnd.dev.sigstore.bundle+json;version=0.2"),
        "bundle-media-type",
    )
    cases.tampered("an unknown member", put("extra", value=1), "bundle-shape")
    cases.tampered(
        "a certificate",
        put("verificationMaterial", "certificate", value={"rawBytes": "AA=="}),
        "certificate-bundle-unsupported",
    )
    cases.tampered(
        "a log entry", put("verificationMaterial", "tlogEntries", value=[{}]), "bundle-evidence-unsupported"
    )


def statement_cases(cases: BundleCases) -> None:
    """What a publisher's key can sign and is no publication of this manifest."""
    cases.signed(
        "another statement type", put("_type", value="https://in-toto.io/Statement/v0.1"), "statement-type"
    )
    cases.signed(
        "an approval",
        put("predicateType", value="https://toolnotary.dev/attestation/approval/v1"),
        "predicate-type",
    )
    cases.signed("two subjects", lambda d: d["subject"].append(d["subject"][0]), "statement-subject")
    cases.signed(
        "a second digest", put("subject", 0, "digest", "sha512", value="0" * 128), "statement-subject"
    )
    cases.signed("another manifest", put("subject", 0, "digest", "sha256", value="0" * 64), "subject-digest")
    cases.signed(
        "another subject name",
        put("subject", 0, "name", value="pkg:mcp/io.github.acme/weather@1.4.1"),
        "subject-name",
    )
    cases.signed(
        "another server in the predicate",
        put("predicate", "server", value="io.github.acme/other"),
        "predicate-server",
    )
    cases.signed(
        "another version in the predicate", put("predicate", "version", value="1.4.1"), "predicate-version"
    )
    cases.signed("sequence 0", put("predicate", "sequence", value=0), "sequence")
    cases.signed("a sequence in quotes", put("predicate", "sequence", value="1"), "sequence")
    cases.signed("expired", put("predicate", "expiresAt", value="2026-11-30T12:00:00Z"), "expired")
    cases.signed(
        "a time with an offset",
        put("predicate", "issuedAt", value="2026-11-30T11:00:00+00:00"),
        "statement-predicate",
    )
    cases.signed("asked for another server", lambda _: None, "other-server", server="io.github.acme/other")
    cases.signed("asked for another version", lambda _: None, "other-version", version="1.5.0")


def files() -> dict[Path, str]:
    """What each file holds."""
    bundles = {
        "at": "2026-11-30T12:00:00Z",
        "manifest": MANIFEST.canonical.decode(),
        "trusted": {
            key.public.key_id: key.public.to_pem().decode() for key in (forge.PUBLISHER, forge.SECOND)
        },
        "cases": bundle_cases(),
    }
    contents = {"manifest": {"cases": manifest_cases()}, "bundle": bundles}
    return {
        FOLDER / name / "vectors.json": json.dumps(content, indent=1, ensure_ascii=True) + "\n"
        for name, content in contents.items()
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="ascii")
