# SPDX-License-Identifier: Apache-2.0
"""`toolnotary.toml`: who may sign for which server, what to do on each verdict (docs/reference/policy.md).

The personal file grants. A project's file only restricts: it lies in a repository that somebody else may have
written, so a value in it that grants or loosens anything counts only after the user's own state accepted
exactly that value (DESIGN: project files only restrict).
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.policy_rules import AuditRules, ElicitationRules
from toolnotary_verifier.verdict import Action, Inspection, Reason

if TYPE_CHECKING:
    from toolnotary_verifier.keys import PublicKey

Equivalences = Literal["equiv/1", "none"]

DEFAULT_ACTIONS: Final[Mapping[Reason, Action]] = {
    **dict.fromkeys(Reason, Action.BLOCK),
    Reason.VERIFIED: Action.ALLOW,
    Reason.EQUIVALENT: Action.ALLOW,
    Reason.OVERRIDE: Action.NOTE,
    Reason.PROFILE_CHANGED: Action.PROMPT,
    Reason.UPGRADE: Action.PROMPT,
    Reason.FIRST_SIGNED: Action.ALLOW,
    Reason.FIRST_UNSIGNED: Action.PROMPT,
    Reason.SIGNER_UNKNOWN: Action.PROMPT,
    Reason.MISSING: Action.NOTE,
    Reason.SERVER_INFO_CHANGED: Action.NOTE,
    Reason.CAPABILITIES_CHANGED: Action.NOTE,
}
# Only what the pinned publisher signed may be let through without a person, and never silently.
LOOSENABLE: Final = frozenset((Reason.UPGRADE, Reason.PROFILE_CHANGED))
# Verdicts that say "this is not what it claims to be": no setting about resources softens them.
_HARD: Final = frozenset(
    (
        Reason.INVALID,
        Reason.AMBIGUOUS,
        Reason.IDENTITY,
        Reason.REVOKED,
        Reason.SIGNER_CHANGED,
        Reason.ROLLBACK,
        Reason.MIXED,
        Reason.VERIFIED,
        Reason.EQUIVALENT,
        Reason.OVERRIDE,
        Reason.MISSING,
    )
)


class SignerRule(NamedTuple):
    """One `[[signers]]` entry: a key that may sign for the servers that a pattern names.

    Attributes:
        servers: a server name in which `*` stands for any characters but `/`; `*` alone for every name.
        pem: the public key.
        key_id: `sha256:` and the hex digest of its SubjectPublicKeyInfo.
    """

    servers: str
    pem: str
    key_id: str

    def covers(self, server: str) -> bool:
        """Whether the pattern names this server."""
        if self.servers == "*":
            return True
        expression = "[^/]*".join(re.escape(part) for part in self.servers.split("*"))
        return re.fullmatch(expression, server) is not None


class Value(NamedTuple):
    """A value of a project's policy that would grant or loosen something.

    Attributes:
        option: which, such as `verdicts.upgrade`.
        value: the value, in one line.
    """

    option: str
    value: str


class Policy(NamedTuple):
    """What is in force after both files had their say.

    Attributes:
        signers: who may sign for which server.
        actions: what follows from each verdict.
        resources: what follows where a resource or resource template is not as pinned.
        equivalences: the normal form under which a definition still counts as the pinned one, or `none`.
        inspection: the least that must be looked at of a server's messages.
        registry_url: where to look up manifests.
        revoked: digests of definitions and manifests that must not pass.
        limits: bounds on sizes, counts and times.
        audit: where decisions are taken down, and which.
        elicitation: whether a host is asked about what is withheld, and what an answer there may do.
        unaccepted: values of the project's file that do not count, because the user accepted none of them.
    """

    signers: tuple[SignerRule, ...] = ()
    actions: Mapping[Reason, Action] = DEFAULT_ACTIONS
    resources: Action = Action.NOTE
    equivalences: Equivalences = "equiv/1"
    inspection: Inspection = Inspection.PARSED
    registry_url: str | None = None
    revoked: frozenset[Digest] = frozenset()
    limits: Limits = DEFAULT_LIMITS
    audit: AuditRules = AuditRules()
    elicitation: ElicitationRules = ElicitationRules()
    unaccepted: tuple[Value, ...] = ()

    @staticmethod
    def load(
        *,
        personal: Path | None,
        project: Path | None,
        accepted: Collection[tuple[str, str]] = (),
        accept_project: bool = False,
    ) -> "Policy":
        """The policy that these files make; None stands for a file that is not there.

        Args:
            personal: the user's own file, or one that the user named.
            project: a file found in the working directory's repository.
            accepted: option and value of what the user's state accepted from a project's file.
            accept_project: count everything that the project's file says, for this run.

        Raises:
            ConfigurationError: `policy-unreadable`, `policy-syntax`, `policy-unknown-key`, `policy-value`,
                `policy-too-lax`, `policy-key`, `policy-personal`.
        """
        policy = Policy()
        if personal is None and project is None:
            return policy
        from toolnotary_verifier.policy_applied import granted, restricted
        from toolnotary_verifier.policy_file import PolicyFile

        if personal is not None:
            own = PolicyFile(personal)
            policy = restricted(granted(policy, own, None), own)
            policy = policy._replace(audit=own.audit, elicitation=own.elicitation)
        if project is None:
            return policy
        shared = PolicyFile(project)
        policy = policy._replace(audit=policy.audit.with_stricter(shared.shared_audit()))
        policy = policy._replace(elicitation=policy.elicitation.tightened(shared.shared_elicitation()))
        values = frozenset(Value(option, value) for option, value in accepted)
        return restricted(granted(policy, shared, None if accept_project else values), shared)

    def tightened(self, other: "Policy", *, server: str | None) -> "Policy":
        """This policy, stricter for one server wherever `other` is; what `other` loosens does not count.

        Limits, registry and audit trail stay those of this policy.

        Args:
            other: what the files say by now.
            server: whose signers are compared; None for nobody's.
        """

        def counts(rule: SignerRule) -> bool:
            return server is not None and rule.covers(server)

        named = {rule.key_id for rule in other.signers if counts(rule)}
        stricter = {
            reason: max(action, other.actions[reason], key=lambda one: one.strictness)
            for reason, action in self.actions.items()
        }
        return self._replace(
            signers=tuple(rule for rule in self.signers if not counts(rule) or rule.key_id in named),
            actions=stricter,
            resources=max(self.resources, other.resources, key=lambda one: one.strictness),
            equivalences="none" if other.equivalences == "none" else self.equivalences,
            inspection=max(self.inspection, other.inspection, key=list(Inspection).index),
            revoked=self.revoked | other.revoked,
            elicitation=self.elicitation.tightened(other.elicitation),
        )

    @property
    def forbids_overrides(self) -> bool:
        """Whether nothing passes by break-glass."""
        return not self.actions[Reason.OVERRIDE].passes

    def signers_for(self, server: str) -> "Mapping[str, PublicKey]":
        """The keys that may sign for `server`, by key id.

        Raises:
            ConfigurationError: `policy-key`, if a key is neither Ed25519 nor ECDSA P-256.
        """
        from toolnotary_verifier.errors import InvalidInput
        from toolnotary_verifier.keys import PublicKey

        keys = {}
        for rule in self.signers:
            if rule.covers(server):
                try:
                    key = PublicKey.from_pem(rule.pem.encode("ascii"))
                except InvalidInput as error:
                    raise ConfigurationError(
                        "policy-key", f"signers {rule.servers}: {error.message}"
                    ) from None
                keys[key.key_id] = key
        return keys

    def action_for(self, reason: Reason, kind: Kind | None = None) -> Action:
        """What follows from a verdict about a definition of this kind."""
        if kind in (Kind.RESOURCE, Kind.TEMPLATE) and reason not in _HARD:
            return self.resources
        return self.actions[reason]
