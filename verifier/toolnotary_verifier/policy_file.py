# SPDX-License-Identifier: Apache-2.0
"""One policy file: read, and checked as a whole before any of it counts."""

import base64
import binascii
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.errors import ConfigurationError, InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.links import opened
from toolnotary_verifier.policy import DEFAULT_ACTIONS, LOOSENABLE, SignerRule
from toolnotary_verifier.policy_limits import OPTIONS, LimitOption
from toolnotary_verifier.policy_options import AUDIT_OPTIONS, ELICITATION_OPTIONS, RuleOption
from toolnotary_verifier.policy_rules import AuditRules, ElicitationRules
from toolnotary_verifier.verdict import Action, Inspection, Reason

_PATTERN = re.compile(r"[A-Za-z0-9._/*-]{1,200}")
_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*")
_MAX_POLICY_BYTES = 1 << 20
_MAX_KEY_BYTES = 64 << 10
# What a project's policy may say of the audit trail.
_SHARED = {"calls": "all", "required": True, "enabled": True}


class PolicyFile:
    """One policy file, read and checked as a whole before any of it counts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        document = _read(path)
        self._where = escape(str(path), limit=300)
        limits = {option.table for option in OPTIONS}
        self._known(
            document,
            "",
            {
                "audit",
                "break-glass",
                "elicitation",
                "registry",
                "signers",
                "verdicts",
                "equivalences",
                "inspection",
                "resources",
                "revoked",
                *limits,
            },
        )
        self._audit_table = self._table(document, "audit", AUDIT_OPTIONS)
        self.audit = AuditRules(**self._rules("audit", self._audit_table, AUDIT_OPTIONS))
        self._elicitation_table = self._table(document, "elicitation", ELICITATION_OPTIONS)
        self.elicitation = ElicitationRules(
            **self._rules("elicitation", self._elicitation_table, ELICITATION_OPTIONS)
        )
        registry = self._table(document, "registry", ("url",))
        self.registry_url = self._url(registry.get("url"))
        self.signers = self._signers(document.get("signers", []))
        self.actions = {**self._break_glass(document), **self._verdicts(document)}
        self.equivalences = self._choice(document, "equivalences", ("equiv/1", "none"))
        self.resources = self._choice(document, "resources", ("note", "prompt", "block"))
        self.inspection = self._choice(document, "inspection", tuple(Inspection))
        self.revoked = self._revoked(document.get("revoked", []))
        self.limits = {
            option: value for table in sorted(limits) for option, value in self._limits(document, table)
        }

    def shared_audit(self) -> AuditRules:
        """What a project's policy asks of the audit trail: more of it, and nothing else.

        Raises:
            ConfigurationError: `policy-personal`, if it says more.
        """
        for name, value in self._audit_table.items():
            if _SHARED.get(name) != value:
                raise self._fail(
                    "policy-personal",
                    f"audit.{name} = {_shown(value)} stands in a project's policy, which cannot say that",
                )
        return self.audit

    def shared_elicitation(self) -> ElicitationRules:
        """What a project's policy says of questions in the host: that no answer there grants, at most.

        Raises:
            ConfigurationError: `policy-personal`, if it says more.
        """
        for name, value in self._elicitation_table.items():
            if name != "grant" or value is not False:
                raise self._fail(
                    "policy-personal",
                    f"elicitation.{name} = {_shown(value)} stands in a project's policy, "
                    "which cannot say that",
                )
        return self.elicitation._replace(grant="grant" not in self._elicitation_table)

    def _rules(
        self, name: str, table: Mapping[str, object], options: Mapping[str, RuleOption]
    ) -> dict[str, Any]:
        """The members of rules that the options of one table set."""
        rules = {}
        for key, given in table.items():
            value = options[key].value(given, folder=self._path.parent)
            if value is None:
                expected = options[key].expected
                raise self._fail("policy-value", f"{name}.{key} is {_shown(given)}, expected {expected}")
            rules[options[key].field] = value
        return rules

    def _fail(self, code: str, message: str, remedy: str = "") -> ConfigurationError:
        return ConfigurationError(code, f"{self._where}: {message}", remedy=remedy)

    def _known(self, table: object, where: str, names: Collection[str]) -> dict[str, object]:
        if not isinstance(table, dict):
            raise self._fail("policy-value", f"{where} is not a table")
        for name in table:
            if name not in names:
                shown = escape(f"{where}.{name}" if where else str(name), limit=120)
                raise self._fail(
                    "policy-unknown-key",
                    f"no option is called {shown}",
                    f"known are {', '.join(sorted(names))}",
                )
        return table

    def _table(self, document: Mapping[str, object], name: str, names: Collection[str]) -> dict[str, object]:
        return self._known(document.get(name, {}), name, names)

    def _choice(self, document: Mapping[str, object], name: str, choices: tuple[str, ...]) -> str | None:
        value = document.get(name)
        if value is None or value in choices:
            return None if value is None else str(value)
        raise self._fail("policy-value", f"{name} is {_shown(value)}, expected {' or '.join(choices)}")

    def _url(self, value: object) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str) or not re.fullmatch(r"https?://[!-~]{1,2000}", value):
            raise self._fail(
                "policy-value", f"registry.url is {_shown(value)}, expected an http or https URL"
            )
        return value

    def _verdicts(self, document: Mapping[str, object]) -> dict[Reason, Action]:
        actions = {}
        for name, value in self._table(document, "verdicts", [reason.value for reason in Reason]).items():
            reason = Reason(name)
            try:
                action = Action(str(value))
            except ValueError:
                raise self._fail(
                    "policy-value", f"verdicts.{name} is {_shown(value)}, expected {', '.join(Action)}"
                ) from None
            looser = action.strictness < DEFAULT_ACTIONS[reason].strictness
            if looser and not (reason in LOOSENABLE and action is Action.NOTE):
                raise self._fail(
                    "policy-too-lax",
                    f"verdicts.{name} cannot be {action}: {DEFAULT_ACTIONS[reason]} is the least",
                    f"only {' and '.join(sorted(LOOSENABLE))} can be loosened, to note",
                )
            actions[reason] = action
        return actions

    def _break_glass(self, document: Mapping[str, object]) -> dict[Reason, Action]:
        """`break-glass`, which says the same as `verdicts.override` in a word."""
        value = document.get("break-glass")
        if value is None:
            return {}
        if not isinstance(value, bool):
            raise self._fail("policy-value", f"break-glass is {_shown(value)}, expected true or false")
        if "override" in self._table(document, "verdicts", [reason.value for reason in Reason]):
            raise self._fail("policy-value", "break-glass and verdicts.override say the same: keep one")
        return {Reason.OVERRIDE: DEFAULT_ACTIONS[Reason.OVERRIDE] if value else Action.BLOCK}

    def _signers(self, entries: object) -> tuple[SignerRule, ...]:
        if not isinstance(entries, list):
            raise self._fail("policy-value", "signers is not an array of tables", "write [[signers]]")
        rules = []
        for entry in entries:
            rule = self._known(entry, "signers", ("servers", "key"))
            servers, key = rule.get("servers"), rule.get("key")
            if not isinstance(servers, str) or not _PATTERN.fullmatch(servers):
                raise self._fail(
                    "policy-value", f"signers.servers is {_shown(servers)}, expected a name or pattern"
                )
            if not isinstance(key, str) or not key:
                raise self._fail("policy-value", f"signers.key of {servers} is not a PEM text or file")
            rules.append(self._signer(servers, key))
        return tuple(rules)

    def _signer(self, servers: str, key: str) -> SignerRule:
        pem = key
        if "-----BEGIN" not in key:
            path = self._path.parent / key
            try:
                with opened(path) as file:
                    pem = file.read(_MAX_KEY_BYTES).decode("ascii", "replace")
            except (OSError, ValueError):
                raise self._fail(
                    "policy-key", f"the key of {servers} cannot be read from {escape(str(path), limit=300)}"
                ) from None
        found = _PEM.fullmatch(pem.strip() + "\n")
        try:
            spki = base64.b64decode("".join(found[1].split()), validate=True) if found else b""
        except binascii.Error:
            spki = b""
        if not spki:
            raise self._fail("policy-key", f"the key of {servers} is not one public key in PEM form")
        return SignerRule(servers, pem.strip() + "\n", "sha256:" + hashlib.sha256(spki).hexdigest())

    def _revoked(self, entries: object) -> frozenset[Digest]:
        if not isinstance(entries, list):
            raise self._fail("policy-value", "revoked is not an array of digests")
        try:
            return frozenset(Digest.from_text(entry) for entry in entries)
        except InvalidInput as error:
            raise self._fail("policy-value", f"revoked: {error.message}") from None

    def _limits(
        self, document: Mapping[str, object], table: str
    ) -> Iterator[tuple[LimitOption, int | float]]:
        options = {option.name: option for option in OPTIONS if option.table == table}
        for name, given in self._table(document, table, options).items():
            value = options[name].value(given)
            if value is None:
                raise self._fail(
                    "policy-value",
                    f"{options[name].path} is {_shown(given)}, expected {options[name].expected}",
                )
            yield options[name], value


def _read(path: Path) -> dict[str, object]:
    import tomllib

    where = escape(str(path), limit=300)
    try:
        with opened(path) as file:
            raw = file.read(_MAX_POLICY_BYTES + 1)
    except OSError as error:
        raise ConfigurationError(
            "policy-unreadable", f"{where}: {(error.strerror or 'cannot be read').lower()}"
        ) from None
    if len(raw) > _MAX_POLICY_BYTES:
        raise ConfigurationError("policy-syntax", f"{where}: more than {_MAX_POLICY_BYTES} bytes")
    try:
        return tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # TOML, UTF-8, or an integer too long to be read
        raise ConfigurationError("policy-syntax", f"{where}: {escape(str(error), limit=200)}") from None


def _shown(value: object) -> str:
    return escape(repr(value), limit=80)
