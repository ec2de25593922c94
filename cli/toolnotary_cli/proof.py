# SPDX-License-Identifier: Apache-2.0
"""What a verified manifest says of a surface, and how `verify` tells it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolnotary_cli.output import shown, styled
from toolnotary_cli.wording import called, counted

if TYPE_CHECKING:
    from toolnotary_cli.source import Source
    from toolnotary_cli.subject import Key
    from toolnotary_verifier.definition import Definition
    from toolnotary_verifier.policy import Policy
    from toolnotary_verifier.surface import Surface
    from toolnotary_verifier.verdict import Judgement
    from toolnotary_verifier.verify import VerifiedManifest


def contained(
    verified: "VerifiedManifest", source: "Source", policy: "Policy", *, url: str | None, offline: bool
) -> "list[tuple[str, Judgement]]":
    """The judgement of each surface of a source, with its profile's name there."""
    from toolnotary_cli.loading import load
    from toolnotary_verifier.decide import decide
    from toolnotary_verifier.pins import KnownProfile, Pins

    manifest = verified.manifest
    pins = Pins(
        profiles=tuple(KnownProfile.of(manifest, name) for name in manifest.profiles),
        signer=verified.signer.identity,
        sequence=verified.sequence,
    )
    subject = load(source, registry=url, offline=offline, limits=policy.limits)
    return [
        (name, decide(manifest.server, variant, pins, policy=policy))
        for name, surface in subject.surfaces.items()
        for variant in _each_variant(surface, subject.variants.get(name, {}))
    ]


def _each_variant(surface: "Surface", variants: "Mapping[Key, Sequence[Definition]]") -> "Iterator[Surface]":
    """Surfaces that together show every definition which a name may have in a profile of a source."""
    for number in range(max((len(found) for found in variants.values()), default=1)):
        chosen = {key: found[min(number, len(found) - 1)] for key, found in variants.items()}
        yield surface._replace(definitions={**surface.definitions, **chosen})


def passes(judgement: "Judgement") -> bool:
    """Whether a surface shows nothing but what was signed, and not nothing at all."""
    from toolnotary_verifier.verdict import Outcome

    return judgement.outcome is Outcome.VERIFIED


def document(
    verified: "VerifiedManifest", judgements: "Sequence[tuple[str, Judgement]]"
) -> dict[str, object]:
    """The result for programs (docs/schemas/verify.json)."""
    from toolnotary_verifier.statement import time_text

    predicate = verified.statement.predicate
    return {
        "schema": "https://toolnotary.dev/output/verify/v1",
        "server": predicate.server,
        "version": predicate.version,
        "sequence": predicate.sequence,
        "digest": verified.manifest.digest,
        "signer": verified.signer.identity,
        "issuedAt": time_text(predicate.issued_at),
        "expiresAt": time_text(predicate.expires_at) if predicate.expires_at else None,
        "supersedes": predicate.supersedes,
        "source": predicate.source.to_json() if predicate.source else None,
        "surfaces": [
            {
                "profile": profile or None,
                "outcome": judgement.outcome.value,
                "verdicts": [
                    {
                        "kind": verdict.kind.value,
                        "name": verdict.name,
                        "reason": verdict.reason.value,
                        "live": verdict.live,
                        "signed": verdict.pinned,
                        "detail": verdict.detail,
                    }
                    for verdict in judgement.verdicts
                ],
            }
            for profile, judgement in judgements
        ],
    }


def lines(verified: "VerifiedManifest", judgements: "Sequence[tuple[str, Judgement]]") -> Iterator[str]:
    """The result for people, the verdict first."""
    from toolnotary_verifier.statement import time_text

    predicate = verified.statement.predicate
    name = f"{predicate.server}@{shown(predicate.version)}"
    if all(passes(judgement) for _, judgement in judgements):
        yield f"{styled('verified', 'good')}  {name}, sequence {predicate.sequence}"
    else:
        yield f"{styled('drift', 'bad')}     {name}, sequence {predicate.sequence}, does not hold all of this"
    yield f"signer    {verified.signer.identity}"
    yield f"manifest  {verified.manifest.digest}"
    if predicate.expires_at:
        yield f"expires   {time_text(predicate.expires_at)}"
    for profiles, judgement in _alike(judgements):
        where = f" {', '.join(map(shown, profiles))}" if any(profiles) else ""
        if passes(judgement):
            yield f"surface{where}: {counted(len(judgement.forward), 'definition')}, all as signed"
            continue
        yield f"surface{where}: not what was signed"
        yield from _differences(judgement)
    yield styled("this tells who signed the definitions, and nothing of what the server does", "dim")


def _differences(judgement: "Judgement") -> Iterator[str]:
    from toolnotary_verifier.verdict import Reason

    for verdict in judgement.verdicts:
        if verdict.reason is not Reason.VERIFIED:
            detail = f": {verdict.detail}" if verdict.detail else ""
            yield f"  {verdict.reason.value}  {called(verdict.kind, verdict.name)}{detail}"


def _alike(judgements: "Sequence[tuple[str, Judgement]]") -> "Iterator[tuple[list[str], Judgement]]":
    """Each judgement once, with the profiles that it is of: most servers say the same in all of them."""
    told: list[tuple[list[str], Judgement]] = []
    for profile, judgement in judgements:
        known = next((profiles for profiles, other in told if other == judgement), None)
        if known is None:
            told.append(([profile], judgement))
        else:
            known.append(profile)
    yield from told
