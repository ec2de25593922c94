# SPDX-License-Identifier: Apache-2.0
"""The audit trail of this user: the file that policy names, and what is said where it cannot be written."""

from pathlib import Path

from toolnotary_verifier import places
from toolnotary_verifier.audit.file import AuditFile
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.escape import escape
from toolnotary_verifier.policy_rules import AuditRules


def path_of(rules: AuditRules) -> Path:
    """Where lines are written."""
    return rules.file or places.home() / places.AUDIT


def file_of(rules: AuditRules) -> AuditFile:
    """The file; nothing is opened yet."""
    return AuditFile(path_of(rules), max_bytes=rules.max_bytes, keep=rules.keep)


def expect(rules: AuditRules) -> None:
    """Try whether a line could be written, where policy requires that.

    Raises:
        ConfigurationError: `audit-not-writable`.
    """
    if rules.enabled and rules.required:
        try:
            file_of(rules).append(b"")
        except OSError as error:
            raise failure(rules, error, "the policy requires the audit trail, and nothing was done") from None


def failure(rules: AuditRules, error: OSError, state: str) -> ConfigurationError:
    """The error that says why a line could not be written, and what was done nevertheless."""
    why = (error.strerror or "cannot be written").lower()
    return ConfigurationError(
        "audit-not-writable",
        f"{escape(str(path_of(rules)), limit=300)}: {why}; {state}",
        remedy="make room or make it writable; [audit] in your toolnotary.toml says where it lies",
    )
