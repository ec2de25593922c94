# SPDX-License-Identifier: Apache-2.0
"""Both implementations give what the published vectors say (docs/spec/canonical-form.md)."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolnotary_verifier.canonical import (
    RECIPE,
    CanonicalError,
    Digest,
    Flaw,
    canonical_bytes,
    parse,
    parse_message,
    prefer,
)

FOLDER = Path(__file__).resolve().parent.parent / "vectors" / "canonical"
FILES = {path.stem: json.loads(path.read_text(encoding="ascii")) for path in sorted(FOLDER.glob("*.json"))}
SINGLE = ("numbers", "objects", "strings", "structure")


def vectors(*names: str) -> list[Any]:
    found = [(name, vector) for name in names for vector in FILES[name]["vectors"]]
    return [pytest.param(vector, id=f"{name}: {vector['name']}") for name, vector in found]


@pytest.fixture(params=["reference", "accelerated"], autouse=True)
def _implementation(request: pytest.FixtureRequest) -> Iterator[None]:
    assert prefer(request.param) is (request.param == "accelerated")
    yield
    prefer("auto")


def outcome(raw: bytes) -> bytes | str:
    try:
        return canonical_bytes(parse_message(raw), parsed=True)
    except CanonicalError as error:
        return error.code


@pytest.mark.parametrize("vector", vectors(*SINGLE))
def test_a_definition_has_the_canonical_form_or_the_error_of_its_vector(vector: dict[str, Any]) -> None:
    expected = bytes.fromhex(vector["canonical"]) if "canonical" in vector else vector["error"]
    found = outcome(bytes.fromhex(vector["input"]))
    assert found == expected
    if isinstance(found, bytes):
        assert Digest.of(found) == vector["digest"]
        assert outcome(found) == found


@pytest.mark.parametrize("vector", [each for each in vectors(*SINGLE) if "error" in each.values[0]])
def test_a_whole_document_is_refused_with_the_same_error(vector: dict[str, Any]) -> None:
    with pytest.raises(CanonicalError) as caught:
        parse(bytes.fromhex(vector["input"]), max_depth=64)
    assert caught.value.code == vector["error"]


@pytest.mark.parametrize("vector", vectors("pairs"))
def test_two_values_are_equal_exactly_if_their_vector_says_so(vector: dict[str, Any]) -> None:
    one, other = (outcome(bytes.fromhex(vector[side])) for side in ("one", "other"))
    assert isinstance(one, bytes)
    assert isinstance(other, bytes)
    assert (one == other) is vector["equal"]


@pytest.mark.parametrize("vector", vectors("messages"))
def test_a_bad_entry_of_a_message_spoils_itself_alone(vector: dict[str, Any]) -> None:
    raw = bytes.fromhex(vector["input"])
    if "error" in vector:
        with pytest.raises(CanonicalError) as caught:
            parse_message(raw)
        assert caught.value.code == vector["error"]
        return
    entries = parse_message(raw)["result"]["tools"]
    for entry, expected in zip(entries, vector["entries"], strict=True):
        if "canonical" in expected:
            assert canonical_bytes(entry, parsed=True).hex() == expected["canonical"]
            continue
        with pytest.raises(CanonicalError) as caught:
            canonical_bytes(entry, parsed=True)
        assert caught.value.code == expected["error"]
        assert claimed(entry) == expected["names"]


def claimed(entry: Any) -> list[str]:
    if isinstance(entry, Flaw):
        return list(entry.claims("name"))
    return [entry["name"]] if isinstance(entry["name"], str) else []


def test_the_files_are_what_their_tables_say() -> None:
    path = FOLDER.parent / "generate_canonical.py"
    specification = importlib.util.spec_from_file_location("generate_canonical", path)
    assert specification is not None
    assert specification.loader is not None
    generator = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(generator)
    assert set(generator.FILES) == set(FILES)
    for name in FILES:
        assert (FOLDER / f"{name}.json").read_text(encoding="ascii") == generator.rendered(name)
        assert FILES[name]["recipe"] == RECIPE


def test_no_two_vectors_of_a_file_share_a_name() -> None:
    for name, file in FILES.items():
        names = [vector["name"] for vector in file["vectors"]]
        assert len(names) == len(set(names)), name
