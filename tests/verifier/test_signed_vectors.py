# SPDX-License-Identifier: Apache-2.0
"""The golden vectors of manifest, statement and bundle, which other languages can use too."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolnotary_verifier.errors import ToolnotaryError
from toolnotary_verifier.keys import PublicKey
from toolnotary_verifier.manifest import Manifest
from toolnotary_verifier.statement import time_of
from toolnotary_verifier.verify import verify_publish

VECTORS = Path(__file__).resolve().parent.parent / "vectors"
MANIFESTS = json.loads((VECTORS / "manifest" / "vectors.json").read_text(encoding="ascii"))
BUNDLES = json.loads((VECTORS / "bundle" / "vectors.json").read_text(encoding="ascii"))


def name_of(case: dict[str, Any]) -> str:
    return str(case["name"])


@pytest.mark.parametrize("case", MANIFESTS["cases"], ids=name_of)
def test_a_manifest_vector_gives_what_it_says(case: dict[str, Any]) -> None:
    raw = case["input"].encode()
    if "error" in case:
        with pytest.raises(ToolnotaryError) as caught:
            Manifest.parse(raw)
        assert caught.value.code == case["error"]
        return
    manifest = Manifest.parse(raw)
    assert (manifest.digest, manifest.server, manifest.version) == (
        case["digest"],
        case["server"],
        case["version"],
    )
    assert {
        profile: {
            f"{kind.value} {name}": [definition.digest for definition in definitions]
            for (kind, name), definitions in manifest.profile(profile).items()
        }
        for profile in manifest.profiles
    } == case["profiles"]


@pytest.mark.parametrize("case", BUNDLES["cases"], ids=name_of)
def test_a_bundle_vector_gives_what_it_says(case: dict[str, Any]) -> None:
    trusted = {key_id: PublicKey.from_pem(pem.encode()) for key_id, pem in BUNDLES["trusted"].items()}
    given: dict[str, Any] = {
        "trusted": trusted,
        "at": time_of(BUNDLES["at"], "at"),
        "server": case.get("server"),
        "version": case.get("version"),
    }
    manifest, bundle = BUNDLES["manifest"].encode(), json.dumps(case["bundle"]).encode()
    if "error" in case:
        with pytest.raises(ToolnotaryError) as caught:
            verify_publish(manifest, bundle, **given)
        assert caught.value.code == case["error"]
        return
    verified = verify_publish(manifest, bundle, **given)
    assert (verified.signer.identity, verified.sequence) == (case["signer"], case["sequence"])


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_signed", VECTORS / "generate_signed.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_vector_files_are_what_their_generator_writes() -> None:
    for path, text in generator().files().items():
        assert path.read_text(encoding="ascii") == text, f"{path.name} is stale: run generate_signed.py"


def test_every_code_of_verifying_has_a_vector() -> None:
    """The steps of docs/spec/statement-and-bundle.md that a bundle can fail."""
    spec = (VECTORS.parent.parent / "docs" / "spec" / "statement-and-bundle.md").read_text(encoding="utf-8")
    steps = spec.split("## Steps", 1)[1].split("\n## ", 1)[0]
    codes = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", steps))
    played = {case["error"] for case in BUNDLES["cases"] if "error" in case}
    # A signed manifest that is none has vectors of its own; the last is about policy, not about a bundle.
    assert codes - played == {"manifest-inconsistent", "trusted-key-id"}
    assert len(codes) >= 15
