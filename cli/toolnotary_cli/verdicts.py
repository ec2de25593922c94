# SPDX-License-Identifier: Apache-2.0
"""Judgements, drawn for people and for programs (docs/reference/verdicts.md)."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from toolnotary_cli import exits
from toolnotary_cli.output import Look, shown, styled
from toolnotary_cli.wording import called
from toolnotary_verifier.errors import InvalidInput, ToolnotaryError
from toolnotary_verifier.escape import visible
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.verdict import Action, Judgement, Outcome, Verdict

if TYPE_CHECKING:
    from toolnotary_cli.changes import Changes
    from toolnotary_verifier.canonical import JsonObject
    from toolnotary_verifier.review.cause import Causes

_LOOKS: Final[dict[Outcome, Look]] = {
    Outcome.VERIFIED: "good",
    Outcome.DRIFT: "bad",
    Outcome.UNPINNED: "warn",
    Outcome.NOT_INSPECTED: "warn",
}
_MARKS: Final[dict[Action, str]] = {
    Action.ALLOW: "passes",
    Action.NOTE: "passes",
    Action.PROMPT: "withheld",
    Action.BLOCK: "blocked",
}


class Row(NamedTuple):
    """One server of a result, in exactly one state.

    Attributes:
        server: its name.
        launch: how it is started or reached, escaped and masked; empty where nobody said.
        judgement: what was decided; None where it was not inspected.
        error: why it was not inspected.
        causes: what a difference comes from, as far as it shows; None where nothing differs.
        changes: what is not as pinned, where that was asked for.
    """

    server: str
    launch: str
    judgement: Judgement | None = None
    error: ToolnotaryError | None = None
    causes: "Causes | None" = None
    changes: "Changes | None" = None

    @property
    def outcome(self) -> Outcome:
        """The server's state."""
        return self.judgement.outcome if self.judgement else Outcome.NOT_INSPECTED

    @property
    def exit_code(self) -> int:
        """What this server alone would end the command with."""
        if self.judgement is None:
            code = exits.UNREACHED if self.error is None else self.error.exit_code
            # What a live server answers can be invalid in itself; a file that we keep must not be.
            return exits.UNREACHED if isinstance(self.error, InvalidInput) and not self.is_ours else code
        # A server that nobody pinned is never fine, also while it shows nothing: its name may be misspelled.
        objects = self.outcome is not Outcome.VERIFIED or bool(self.judgement.objections)
        return exits.OBJECTION if objects else exits.FINE

    @property
    def remedy(self) -> str:
        """What to do about the error; empty where there is none."""
        from toolnotary_cli.remedies import remedy_of

        return "" if self.error is None else remedy_of(self.error)

    @property
    def is_ours(self) -> bool:
        """Whether the error is about a file of ours rather than about what a server answered."""
        code = "" if self.error is None else self.error.code
        return code.startswith(("object-", "manifest-", "bundle-", "lockfile-", "policy-", "state-"))


def exit_code(rows: Iterable[Row]) -> int:
    """What a result ends the command with."""
    return worst(row.exit_code for row in rows)


def worst(codes: Iterable[int]) -> int:
    """The code of several: drift, then invalid files, then configuration, then what was not inspected."""
    found = set(codes)
    order = (exits.OBJECTION, exits.INVALID, exits.USAGE, exits.UNREACHED)
    return next((code for code in order if code in found), exits.FINE)


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many servers are in each state; they add up to all."""
    found = list(outcomes)
    return {outcome.value: found.count(outcome) for outcome in Outcome}


def error_document(error: ToolnotaryError) -> dict[str, object]:
    """Why a server or a file could not be inspected, for programs."""
    from toolnotary_cli.remedies import remedy_of

    return {"code": error.code, "message": error.message, "remedy": remedy_of(error) or None}


def row_document(row: Row) -> dict[str, object]:
    """One server for programs."""
    document: dict[str, object] = {
        "server": row.server,
        "launch": row.launch or None,
        "outcome": row.outcome.value,
        "error": None if row.error is None else error_document(row.error),
    }
    if row.judgement is not None:
        reviewed = None if row.changes is None else row.changes.review
        document |= {} if reviewed is None else {"risk": reviewed.risk.value}
        document |= {
            "changeSet": row.judgement.change_set,
            "counts": {reason.value: count for reason, count in row.judgement.counts.items()},
            "verdicts": [verdict_document(verdict) for verdict in row.judgement.verdicts],
            "causes": _cause_document(row),
        }
    return document


def _cause_document(row: Row) -> "JsonObject | None":
    if row.causes is None:
        return None
    from toolnotary_cli.caused import document

    return document(row.causes)


def verdict_document(verdict: Verdict) -> dict[str, object]:
    """One verdict for programs."""
    return {
        "kind": verdict.kind.value,
        "name": verdict.name,
        "reason": verdict.reason.value,
        "action": verdict.action.value,
        "live": verdict.live,
        "pinned": verdict.pinned,
        "detail": verdict.detail,
    }


def row_lines(row: Row) -> Iterator[str]:
    """One server for people: its state first, then what is not as pinned, then what to do."""
    state = styled(f"{row.outcome.value:<13}", _LOOKS[row.outcome])
    if row.judgement is None:
        why = "" if row.error is None else f"{row.error.code}: {visible(row.error.message, limit=400)}"
        yield f"{state} {shown(row.server)}  {why}"
        if row.remedy:
            yield f"  {visible(row.remedy, limit=400)}"
        return
    told = ", ".join(f"{count} {reason.value}" for reason, count in row.judgement.counts.items())
    yield f"{state} {shown(row.server)}  {told or 'nothing shown'}"
    for verdict in row.judgement.changes:
        yield f"  {verdict_line(verdict)}"
    if row.causes is not None:
        from toolnotary_cli.caused import lines

        yield from (f"  {line}" for line in lines(row.causes))
    if row.judgement.objections or row.outcome is Outcome.DRIFT:
        yield f"  change set {row.judgement.change_set}"


def next_lines(row: Row, *, is_pinned: bool, launch: str) -> Iterator[str]:
    """What leads on from a server that is not as pinned.

    Args:
        row: the server, not verified.
        is_pinned: whether the lockfile has it.
        launch: what `approve` needs besides its name (`looking.launch_needed`).
    """
    judgement = row.judgement
    if judgement is None:
        return
    approve = command("approve", row.server, behind=launch)
    if not judgement.is_approvable:
        from toolnotary_cli.remedies import REMEDIES

        yield "  no approval covers that: what is not as pinned is no valid definition, or of another origin"
        for code in sorted({verdict.code for verdict in judgement.objections} & REMEDIES.keys()):
            yield f"  {code}: {REMEDIES[code]}"
    elif row.outcome is Outcome.DRIFT:
        yield f"  to review it: {approve}"
    elif is_pinned:
        yield f"  to accept what the lockfile pins: {approve}"
        yield "  in CI, where its review is the acceptance, say --accept-project"
    else:
        yield f"  to pin it: {command('lock', None, '--server', row.server, behind='-- COMMAND')}"


def verdict_line(verdict: Verdict) -> str:
    """One verdict for people, in one escaped line."""
    digests = " -> ".join(digest.short for digest in (verdict.pinned, verdict.live) if digest)
    detail = f" ({shown(verdict.detail, limit=300)})" if verdict.detail else ""
    look: Look = "warn" if verdict.passes else "bad"
    mark = styled(f"{_MARKS[verdict.action]:<8}", look)
    return f"{mark} {verdict.reason.value}: {called(verdict.kind, verdict.name)}  {digests}{detail}"
