# SPDX-License-Identifier: Apache-2.0
"""in-toto Statement v1 with the publish predicate v1."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import forge
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolnotary_verifier.canonical import Digest, canonical_bytes
from toolnotary_verifier.errors import InvalidInput, Refused, ToolnotaryError
from toolnotary_verifier.statement import (
    MAX_SEQUENCE,
    PublishPredicate,
    Source,
    Statement,
    time_of,
    time_text,
)

MANIFEST = forge.weather()


def statement(**predicate: Any) -> dict[str, Any]:
    return forge.statement(MANIFEST, **predicate)


def code_of(document: object) -> str:
    with pytest.raises(ToolnotaryError) as caught:
        Statement.parse(document if isinstance(document, bytes) else canonical_bytes(document))
    return caught.value.code


def test_a_statement_keeps_the_bytes_that_were_signed() -> None:
    payload = b" " + canonical_bytes(statement()) + b"\n"
    assert Statement.parse(payload).payload == payload


def test_a_statement_reads_back_as_it_was_built() -> None:
    predicate = PublishPredicate(
        server=forge.SERVER,
        version=forge.VERSION,
        sequence=7,
        issued_at=forge.NOW,
        supersedes=Digest.of(b"before"),
        expires_at=forge.NOW + timedelta(days=90),
        source=Source(
            repository="https://git.acme.example/weather",
            commit="0" * 40,
            workflow=".ci/release.yml",
            run="https://ci.acme.example/7",
        ),
    )
    built = Statement.build(predicate, manifest=MANIFEST.digest)
    parsed = Statement.parse(built.payload)
    assert parsed == built
    assert parsed.predicate == predicate
    assert parsed.manifest_digest == MANIFEST.digest
    assert parsed.subject == f"pkg:mcp/{forge.SERVER}@{forge.VERSION}"


def test_what_is_absent_is_left_out_and_never_null() -> None:
    predicate = PublishPredicate(server=forge.SERVER, version=forge.VERSION, sequence=1, issued_at=forge.NOW)
    assert set(predicate.to_json()) == {"server", "version", "sequence", "issuedAt"}
    assert PublishPredicate.parse(predicate.to_json()) == predicate


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], Any]:
    def edit(document: dict[str, Any]) -> None:
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = value

    return edit


SUBJECT = {"name": "x", "digest": {"sha256": "0" * 64}}


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (put("_type", value="https://in-toto.io/Statement/v0.1"), "statement-type"),
        (put("_type", value=None), "statement-type"),
        (lambda d: d.pop("_type"), "statement-type"),
        (put("predicateType", value="https://toolnotary.dev/attestation/approval/v1"), "predicate-type"),
        (put("predicateType", value="https://slsa.dev/provenance/v1"), "predicate-type"),
        (lambda d: d.pop("predicateType"), "predicate-type"),
        (lambda d: d.pop("subject"), "statement-shape"),
        (lambda d: d.pop("predicate"), "statement-shape"),
        (put("extra", value=1), "statement-shape"),
        (put("subject", value={}), "statement-subject"),
        (put("subject", value=[]), "statement-subject"),
        (put("subject", value=[SUBJECT, SUBJECT]), "statement-subject"),
        (put("subject", value=[None]), "statement-subject"),
        (put("subject", 0, "uri", value="https://x.example"), "statement-subject"),
        (put("subject", 0, "name", value=""), "statement-subject"),
        (put("subject", 0, "name", value=1), "statement-subject"),
        (put("subject", 0, "digest", value={}), "statement-subject"),
        (put("subject", 0, "digest", value={"sha512": "0" * 128}), "statement-subject"),
        (put("subject", 0, "digest", "sha512", value="0" * 128), "statement-subject"),
        (put("subject", 0, "digest", "sha256", value=1), "statement-subject"),
        (put("subject", 0, "digest", "sha256", value="A" * 64), "bad-digest"),
        (put("subject", 0, "digest", "sha256", value="sha256:" + "0" * 64), "bad-digest"),
        (put("predicate", value=[]), "statement-predicate"),
        (put("predicate", value=None), "statement-predicate"),
        (lambda d: d["predicate"].pop("server"), "statement-predicate"),
        (lambda d: d["predicate"].pop("sequence"), "statement-predicate"),
        (lambda d: d["predicate"].pop("issuedAt"), "statement-predicate"),
        (put("predicate", "server", value="weather"), "server-name"),
        (put("predicate", "version", value=""), "server-version"),
        (put("predicate", "supersedes", value=None), "bad-digest"),
        (put("predicate", "supersedes", value="0" * 64), "bad-digest"),
        (put("predicate", "expiresAt", value=None), "statement-predicate"),
        (put("predicate", "expiresAt", value="2026-11-30T11:00:00Z"), "statement-predicate"),
        (put("predicate", "source", value=[]), "statement-predicate"),
        (put("predicate", "source", value={"commit": 1}), "statement-predicate"),
        (put("predicate", "source", value={"commit": ""}), "statement-predicate"),
    ],
)
def test_a_statement_that_breaks_a_rule_is_refused_with_the_rules_code(
    edit: Callable[[dict[str, Any]], Any], code: str
) -> None:
    document = statement()
    edit(document)
    assert code_of(document) == code


@pytest.mark.parametrize("sequence", [0, -1, 1.5, "1", True, None, [], MAX_SEQUENCE + 1, 1e300])
def test_a_sequence_is_a_positive_integer_that_every_reader_holds_exactly(sequence: object) -> None:
    document = statement()
    document["predicate"]["sequence"] = sequence
    assert code_of(document) == "sequence"


def test_the_largest_sequence_is_accepted() -> None:
    payload = canonical_bytes(statement(sequence=MAX_SEQUENCE))
    assert Statement.parse(payload).predicate.sequence == MAX_SEQUENCE


def test_a_sequence_written_as_a_fraction_is_refused() -> None:
    payload = canonical_bytes(statement()).replace(b'"sequence":1', b'"sequence":1.0')
    assert code_of(payload) == "sequence"


def test_unknown_members_of_predicate_and_source_are_ignored() -> None:
    """in-toto asks it of consumers: a later release may say more, and grants nothing by it."""
    document = statement(source={"commit": "1", "builder": {"any": 1}}, later={"any": "thing"})
    assert Statement.parse(canonical_bytes(document)).predicate.source == Source(commit="1")


@pytest.mark.parametrize(
    "payload", [b"", b"[]", b"null", b'{"_type":1,"_type":2}', b"\xef\xbb\xbf{}", b"{}garbage"]
)
def test_a_payload_that_is_not_strict_json_is_refused(payload: bytes) -> None:
    with pytest.raises((InvalidInput, Refused)) as caught:
        Statement.parse(payload)
    assert caught.value.code in ("not-json", "not-utf8", "duplicate-key", "statement-shape")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30",
        "2026-11-30T12:00:00",
        "2026-11-30T12:00:00+00:00",
        "2026-11-30T12:00:00z",
        "2026-11-30t12:00:00Z",
        "2026-11-30 12:00:00Z",
        "2026-11-30T12:00:00.5Z",
        "2026-11-30T12:00Z",
        "2026-02-30T12:00:00Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T23:59:60Z",
        "0000-01-01T00:00:00Z",
        "\u0662026-11-30T12:00:00Z",
        " 2026-11-30T12:00:00Z",
        "2026-11-30T12:00:00Z\n",
        "",
        None,
        20261130,
    ],
)
def test_a_time_has_one_spelling(text: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        time_of(text, "issuedAt")
    assert caught.value.code == "statement-predicate"


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])))
def test_a_time_survives_its_text_to_the_second(moment: datetime) -> None:
    try:
        expected = moment.replace(microsecond=0).astimezone(UTC)
    except OverflowError:
        return  # the first and last hours of the calendar, in another zone
    assert time_of(time_text(moment), "x") == expected


def test_a_time_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        time_text(datetime(2026, 11, 30, 12))  # noqa: DTZ001 - the point of the test
