# SPDX-License-Identifier: Apache-2.0
"""What a scan found, for people and for programs."""

from collections.abc import Iterator
from typing import Final

from toolnotary_cli import places, shadowed
from toolnotary_cli.output import Look, shown, styled
from toolnotary_cli.remedies import remedy_of
from toolnotary_cli.scan.state import Configured
from toolnotary_cli.scan.survey import Failed, Survey, called
from toolnotary_cli.verdicts import counts, error_document
from toolnotary_cli.wording import counted
from toolnotary_verifier.escape import visible
from toolnotary_verifier.shellwords import command
from toolnotary_verifier.verdict import Inspection, Outcome

SCHEMA: Final = "https://toolnotary.dev/output/scan/v1"
_LOOKS: Final[dict[Outcome, Look]] = {Outcome.VERIFIED: "good", Outcome.DRIFT: "bad"}


def document(survey: Survey) -> dict[str, object]:
    """The result for programs."""
    return {
        "schema": SCHEMA,
        "files": [
            *(
                {"file": str(one.path), "host": one.host or None, "scope": one.scope, "error": None}
                for one in survey.documents
            ),
            *(_failed(one) for one in survey.failed),
        ],
        "servers": [_server(one) for one in survey.servers],
        "counts": counts(one.outcome for one in survey.servers),
        "shadows": [
            {"host": host, **shadowed.document(one)} for host, some in survey.shadows.items() for one in some
        ],
    }


def _failed(one: Failed) -> dict[str, object]:
    return {
        "file": str(one.path),
        "host": one.host or None,
        "scope": None,
        "error": error_document(one.error),
    }


def _server(one: Configured) -> dict[str, object]:
    return {
        "name": one.entry.name,
        "folder": one.entry.where or None,
        "host": one.document.host or None,
        "file": str(one.document.path),
        "launch": None if one.launch is None else one.launch.display,
        "pinnedAs": one.name if one.is_pinned else None,
        "outcome": one.outcome.value,
        "at": None if one.look is None else one.look.at,
        "counts": _reasons(one),
        "inspection": _inspection(one),
        "guarded": not any(finding.kind == "unguarded" for finding in one.findings) and not one.entry.problem,
        "disabled": one.entry.is_disabled,
        "note": one.why or None,
        "error": None if one.error is None else error_document(one.error),
        "findings": [
            {"kind": finding.kind, "detail": finding.detail, "objection": finding.objects}
            for finding in one.findings
        ],
    }


def _inspection(one: Configured) -> str | None:
    """How much of what the server sent was looked at; a look of now sees the bytes."""
    if one.judgement is not None:
        return Inspection.WIRE.value
    return None if one.look is None else one.look.inspection.value


def _reasons(one: Configured) -> dict[str, int]:
    if one.judgement is not None:
        return {reason.value: count for reason, count in one.judgement.counts.items()}
    return {} if one.look is None else dict(one.look.counts)


def lines(survey: Survey) -> Iterator[str]:
    """The result for people: file by file, then what shows only where all are seen together."""
    for held in survey.documents:
        servers = [one for one in survey.servers if one.document is held]
        host = f" ({held.host})" if held.host else ""
        yield f"{held.shown}{host}" + ("" if servers else ": names no server")
        for one in servers:
            yield from _server_lines(one)
    for failed in survey.failed:
        yield visible(f"{failed.error.code}: {failed.error.message}", limit=600)
    for host, some in survey.shadows.items():
        yield f"tools that {shown(host)} gets from several servers and that stand in each other's way:"
        yield from (f"  {line}" for line in shadowed.lines(some))
    told = counts(one.outcome for one in survey.servers)
    states = ", ".join(f"{number} {state}" for state, number in told.items())
    files = counted(len(survey.documents), "file")
    unread = f", {counted(len(survey.failed), 'file')} not read" if survey.failed else ""
    yield f"{counted(len(survey.servers), 'server')} in {files}{unread}: {states}"


def _server_lines(one: Configured) -> Iterator[str]:
    state = styled(f"{one.outcome.value:<13}", _LOOKS.get(one.outcome, "warn"))
    since = f"  (since {shown(one.look.at, limit=40)})" if one.look is not None else ""
    disabled = "  disabled in its host" if one.entry.is_disabled else ""
    pinned = (
        f", pinned as {shown(one.name)}" if one.is_pinned and one.name not in (None, one.entry.name) else ""
    )
    yield f"  {state} {called(one)}{pinned}{since}{disabled}"
    if one.launch is not None:
        yield f"    {one.launch.display}"
    if one.why:
        yield f"    {visible(one.why, limit=600)}"
    told = ", ".join(f"{count} {reason}" for reason, count in _reasons(one).items())
    if told and one.outcome is not Outcome.VERIFIED:
        yield f"    {told}"
    for finding in one.findings:
        yield f"    {styled(finding.kind, 'bad' if finding.objects else 'warn')}: {finding.detail}"
    yield from _next(one)


def _next(one: Configured) -> Iterator[str]:
    """What leads on."""
    if one.outcome is Outcome.UNPINNED and one.launch is not None:
        if one.why:
            yield f"    to accept it: {command('approve', one.name or one.entry.name, *_where(one))}"
        else:
            behind = "URL" if one.url is not None else "-- COMMAND"
            server = ("--server", one.name or one.entry.name)
            yield f"    to pin it: {command('lock', None, *server, *_where(one), behind=behind)}"
    elif one.outcome is Outcome.DRIFT:
        yield f"    to see why: {command('explain', one.name or one.entry.name, *_where(one))}"
    elif one.error is not None and remedy_of(one.error):
        yield f"    {visible(remedy_of(one.error), limit=400)}"
    is_ready = one.argv and one.through is None and not one.entry.problem
    if is_ready and one.document.scope in ("user", None):
        yield f"    to guard it: {command('wrap', str(one.document.path))}"


def _where(one: Configured) -> tuple[str, ...]:
    """What leads to the lockfile that it is held to, where that is not the one in force here."""
    if one.through is not None:
        given = one.through.options.get("lockfile")
        return ("--lockfile", given or str(places.lockfile(None, project=False)))
    if one.lockfile is None or one.lockfile == places.lockfile(None):
        return ()
    return ("--lockfile", str(one.lockfile))
