# SPDX-License-Identifier: Apache-2.0
"""Accepting what a project's policy grants or loosens: it counts once the user said yes to exactly that."""

from typing import Final

from toolnotary_cli import exits
from toolnotary_cli.output import Output, shown, styled
from toolnotary_cli.wording import counted
from toolnotary_verifier import history
from toolnotary_verifier.errors import Refused
from toolnotary_verifier.project import Project

SCHEMA: Final = "https://toolnotary.dev/output/lock/v1"


def accept_policy(project: Project, output: Output) -> int:
    """Accept what the project's policy grants or loosens, after a yes; returns the exit code.

    Raises:
        Refused: `no-terminal`, `nothing-to-approve`.
    """
    from toolnotary_cli.prompt import confirm

    values = project.policy.unaccepted
    if not values:
        raise Refused(
            "nothing-to-approve",
            "the project's policy holds nothing that waits for a yes",
            remedy="only what grants or loosens waits: what restricts counts at once",
        )
    lines = tuple(f"{value.option} = {shown(value.value, limit=400)}" for value in values)
    otherwise = "in CI, toolnotary check --accept-project counts it for that run"
    agreed = confirm("let the project's policy say this?", lines=lines, otherwise=otherwise)
    if agreed:
        events = [history.accepted_value(value.option, value.value) for value in values]
        project.state.append(*events)
    document = {
        "schema": SCHEMA,
        "accepted": agreed,
        "values": [{"option": value.option, "value": value.value} for value in values],
    }
    told = styled("accepted", "good") if agreed else styled("declined", "warn")
    output.result(document, f"{told}: {counted(len(values), 'value')} of the project's policy")
    return exits.FINE if agreed else exits.OBJECTION
