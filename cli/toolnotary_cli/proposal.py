# SPDX-License-Identifier: Apache-2.0
"""What a person is shown before pins come into being or move: every change, word by word."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from toolnotary_cli.output import shown, styled
from toolnotary_cli.verdicts import verdict_line
from toolnotary_cli.wording import called, counted
from toolnotary_verifier.canonical import JsonValue, plain
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Aspect, Judgement, Verdict

if TYPE_CHECKING:
    from toolnotary_verifier.moves import Signed
    from toolnotary_verifier.pins import Pins

# What some of each kind is called; a server has its instructions once.
_NOUNS: Final = {
    Kind.TOOL: ("tool",),
    Kind.PROMPT: ("prompt",),
    Kind.RESOURCE: ("resource",),
    Kind.TEMPLATE: ("resource template",),
    Kind.INSTRUCTIONS: ("text of instructions", "texts of instructions"),
}


def change_lines(surface: Surface, judgement: Judgement, pins: "Pins") -> Iterator[str]:
    """Every verdict that is not "as pinned", and what changed in the definitions it is about.

    Without the extra `review` (deepdiff), the whole new definitions are shown in place of their differences.
    """
    for verdict in judgement.changes:
        yield verdict_line(verdict)
        yield from _about_lines(verdict, surface)
    new = _of_verdicts(judgement, surface)
    old = {key: text for key, text in _pinned(judgement, pins) if key in new}
    lost = [v for v in judgement.changes if v.pinned and v.live and (v.kind, v.name) not in old]
    try:
        from toolnotary_cli.drawing import review_lines
        from toolnotary_verifier.review import review

        changed = review(surface._replace(definitions=old, faults=()), surface._replace(definitions=new))
        yield from review_lines(changed)
    except ConfigurationError as error:
        if error.code != "missing-extra":
            raise
        yield from definition_lines(new.values())
    for verdict in lost:
        what = called(verdict.kind, verdict.name)
        yield f"the pinned text of {what} is not at hand: what changed is unknown"


def _about_lines(verdict: Verdict, surface: Surface) -> Iterator[str]:
    """What a server says of itself now; what it said before is kept as a digest alone."""
    if verdict.kind is Aspect.SERVER_INFO:
        yield from _json_lines(surface.server_info)
    if verdict.kind is Aspect.CAPABILITIES:
        yield from _json_lines(surface.capabilities)


def definition_lines(definitions: Iterable[Definition]) -> Iterator[str]:
    """Whole definitions, as they would be pinned."""
    for definition in definitions:
        what = called(definition.kind, definition.name)
        yield f"{styled('+', 'good')} {what}  {definition.digest.short}"
        yield from _json_lines(json.loads(definition.canonical))


def _json_lines(value: JsonValue) -> Iterator[str]:
    text = json.dumps(plain(value), indent=2, ensure_ascii=True)
    for line in text.split("\n"):
        yield f"  | {shown(line, limit=2000)}"


def summary_lines(surface: Surface) -> Iterator[str]:
    """How much of each kind a surface has, and what of it cannot be pinned."""
    counts = {kind: len(surface.of_kind(kind)) for kind in Kind}
    told = (counted(count, *_NOUNS[kind]) for kind, count in counts.items() if count)
    yield ", ".join(told) or "nothing"
    for fault in surface.faults:
        where = called(fault.kind, fault.name)
        yield f"{styled('!', 'bad')} {where} cannot be pinned: {fault.code}: {shown(fault.message)}"


def signed_lines(signed: "Signed") -> Iterator[str]:
    """What a signature proves: version, signer, profiles."""
    from toolnotary_verifier.statement import time_text

    manifest, predicate = signed.verified.manifest, signed.verified.statement.predicate
    yield f"version   {shown(manifest.version)}, sequence {predicate.sequence}"
    yield f"signer    {signed.verified.signer.identity}"
    yield f"issued    {time_text(predicate.issued_at)} (by the signer's clock)"
    for name in sorted(manifest.profiles):
        yield f"profile   {name}: {counted(len(manifest.profile(name)), 'definition')}"


def _of_verdicts(judgement: Judgement, surface: Surface) -> dict[tuple[Kind, str], Definition]:
    found = {}
    for verdict in judgement.changes:
        if isinstance(verdict.kind, Kind) and (verdict.kind, verdict.name) in surface.definitions:
            key = (verdict.kind, verdict.name)
            found[key] = surface.definitions[key]
    return found


def _pinned(judgement: Judgement, pins: "Pins") -> Iterator[tuple[tuple[Kind, str], Definition]]:
    for verdict in judgement.changes:
        text = _text(verdict, pins)
        if text is not None:
            yield text.key, text


def _text(verdict: Verdict, pins: "Pins") -> Definition | None:
    if verdict.pinned is None or not isinstance(verdict.kind, Kind):
        return None
    for profile in pins.profiles:
        for one in profile.definitions.get((verdict.kind, verdict.name), ()):
            if one.exact == verdict.pinned:
                return one.text()
    return None
