# SPDX-License-Identifier: Apache-2.0
"""What a policy file makes of a policy: first what it loosens, then what it tightens."""

from typing import TYPE_CHECKING, Any

from toolnotary_verifier.policy import Policy, Value
from toolnotary_verifier.policy_limits import text
from toolnotary_verifier.verdict import Action, Inspection

if TYPE_CHECKING:
    from toolnotary_verifier.policy_file import PolicyFile


def granted(policy: Policy, file: "PolicyFile", accepted: frozenset[Value] | None) -> Policy:
    """`policy` with what a file loosens or grants, as far as accepted (None: all of it)."""
    ignored = []

    def counts(option: str, value: str) -> bool:
        wanted = Value(option, value)
        if accepted is None or wanted in accepted:
            return True
        ignored.append(wanted)
        return False

    signers = [rule for rule in file.signers if counts("signers", f"{rule.servers} {rule.key_id}")]
    actions = {
        reason: action
        for reason, action in file.actions.items()
        if action.strictness < policy.actions[reason].strictness
        and counts(f"verdicts.{reason}", action.value)
    }
    changed = policy._replace(signers=(*policy.signers, *signers), actions={**policy.actions, **actions})
    if file.registry_url not in (None, policy.registry_url) and counts(
        "registry.url", str(file.registry_url)
    ):
        changed = changed._replace(registry_url=file.registry_url)
    if file.equivalences == "equiv/1" and policy.equivalences == "none" and counts("equivalences", "equiv/1"):
        changed = changed._replace(equivalences="equiv/1")
    less = file.inspection == Inspection.PARSED and policy.inspection is Inspection.WIRE
    if less and counts("inspection", Inspection.PARSED):
        changed = changed._replace(inspection=Inspection.PARSED)
    looser = file.resources and Action(file.resources).strictness < policy.resources.strictness
    if looser and counts("resources", str(file.resources)):
        changed = changed._replace(resources=Action(str(file.resources)))
    larger: dict[str, Any] = {
        option.field: value
        for option, value in file.limits.items()
        if value > getattr(policy.limits, option.field) and counts(option.path, text(value))
    }
    return changed._replace(
        limits=policy.limits._replace(**larger), unaccepted=(*policy.unaccepted, *ignored)
    )


def restricted(policy: Policy, file: "PolicyFile") -> Policy:
    """`policy` with what a file makes stricter."""
    actions = {
        reason: action
        for reason, action in file.actions.items()
        if action.strictness > policy.actions[reason].strictness
    }
    resources = max(policy.resources, Action(file.resources or "allow"), key=lambda action: action.strictness)
    smaller: dict[str, Any] = {
        option.field: value
        for option, value in file.limits.items()
        if value < getattr(policy.limits, option.field)
    }
    return policy._replace(
        actions={**policy.actions, **actions},
        resources=resources,
        equivalences="none" if file.equivalences == "none" else policy.equivalences,
        inspection=Inspection.WIRE if file.inspection == Inspection.WIRE else policy.inspection,
        revoked=policy.revoked | file.revoked,
        limits=policy.limits._replace(**smaller),
    )
