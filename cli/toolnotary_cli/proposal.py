# SPDX-License-Identifier: Apache-2.0
"""What a person is shown before pins come into being or move: every change, word by word."""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from toolnotary_cli.caused import dispatcher_lines
from toolnotary_cli.caused import lines as cause_lines
from toolnotary_cli.changes import Changes, Question
from toolnotary_cli.output import shown, styled
from toolnotary_cli.shadowed import lines as shadow_lines
from toolnotary_cli.verdicts import verdict_line
from toolnotary_cli.wording import called, counted
from toolnotary_verifier.canonical import JsonValue, plain
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Aspect, Verdict

if TYPE_CHECKING:
    from toolnotary_verifier.moves import Signed

# What some of each kind is called; a server has its instructions once.
_NOUNS: Final = {
    Kind.TOOL: ("tool",),
    Kind.PROMPT: ("prompt",),
    Kind.RESOURCE: ("resource",),
    Kind.TEMPLATE: ("resource template",),
    Kind.INSTRUCTIONS: ("text of instructions", "texts of instructions"),
}


def change_lines(changes: Changes) -> Iterator[str]:
    """Every verdict that is not "as pinned", and what changed in the definitions it is about.

    Without the extra `review` (deepdiff), the whole new definitions are shown in place of their differences.
    """
    for verdict in changes.verdicts:
        yield verdict_line(verdict)
        yield from _about_lines(verdict, changes.surface)
    if changes.review is None:
        yield from definition_lines(changes.new.values())
    else:
        from toolnotary_cli.drawing import review_lines

        yield from review_lines(changes.review)
    for verdict in changes.lost:
        what = called(verdict.kind, verdict.name)
        yield f"the pinned text of {what} is not at hand: what changed is unknown"


def question_lines(question: Question) -> Iterator[str]:
    """All that a person is asked to accept, at a terminal."""
    yield f"{shown(question.server)}: {question.launch}"
    if question.seen is not None:
        yield question.seen_on
    yield from question.signed
    changes = list(change_lines(question.changes))
    yield from changes or ["no definition changes"]
    yield from cause_lines(question.changes.causes)
    yield from (styled(line, "warn") for line in dispatcher_lines(question.changes.new.values()))
    yield from shadow_lines(question.shadows)
    yield from question.notes
    yield from (styled(line, "warn") for line in question.warnings)
    yield f"change set {question.change_set}"


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
    yield from (f"{styled('!', 'warn')} {line}" for line in dispatcher_lines(surface.definitions.values()))
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
