# SPDX-License-Identifier: Apache-2.0
"""docs/reference/policy.md: options do what they say, misspelt ones are errors, a project only restricts."""

from pathlib import Path
from typing import Any

import forge
import pytest
from conftest import ROOT

from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import ConfigurationError
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.policy import DEFAULT_ACTIONS, LOOSENABLE, Policy
from toolnotary_verifier.policy_limits import OPTIONS, LimitOption
from toolnotary_verifier.policy_rules import AuditRules, ElicitationRules
from toolnotary_verifier.verdict import Action, Reason

PEM = forge.PUBLISHER.public.to_pem().decode("ascii")
KEY_ID = forge.PUBLISHER.public.key_id
SIGNERS = f'[[signers]]\nservers = "io.github.acme/*"\nkey = """\n{PEM}"""\n'


@pytest.fixture
def files(tmp_path: Path) -> "Files":
    return Files(tmp_path)


class Files:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    def personal(self, text: str | bytes) -> Policy:
        return Policy.load(personal=self.write("personal.toml", text), project=None)

    def project(self, text: str, *, personal: str = "", **options: Any) -> Policy:
        return Policy.load(
            personal=self.write("personal.toml", personal),
            project=self.write("project.toml", text),
            **options,
        )


def code_of(files: Files, text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        files.personal(text)
    assert "personal.toml" in caught.value.message
    return caught.value.code


def test_without_any_file_the_defaults_hold() -> None:
    policy = Policy.load(personal=None, project=None)
    assert policy == Policy()
    assert policy.signers_for(forge.SERVER) == {}
    assert policy.limits == DEFAULT_LIMITS


@pytest.mark.parametrize(
    ("reason", "action"),
    [
        (Reason.INVALID, Action.BLOCK),
        (Reason.AMBIGUOUS, Action.BLOCK),
        (Reason.IDENTITY, Action.BLOCK),
        (Reason.REVOKED, Action.BLOCK),
        (Reason.SIGNER_CHANGED, Action.BLOCK),
        (Reason.ROLLBACK, Action.BLOCK),
        (Reason.MIXED, Action.BLOCK),
        (Reason.VERIFIED, Action.ALLOW),
        (Reason.EQUIVALENT, Action.ALLOW),
        (Reason.PROFILE_CHANGED, Action.PROMPT),
        (Reason.UPGRADE, Action.PROMPT),
        (Reason.PENDING, Action.BLOCK),
        (Reason.CHANGED, Action.BLOCK),
        (Reason.ADDED, Action.BLOCK),
        (Reason.INSTRUCTIONS_CHANGED, Action.BLOCK),
        (Reason.FIRST_SIGNED, Action.ALLOW),
        (Reason.FIRST_UNSIGNED, Action.PROMPT),
        (Reason.SIGNER_UNKNOWN, Action.PROMPT),
        (Reason.MISSING, Action.NOTE),
        (Reason.SERVER_INFO_CHANGED, Action.NOTE),
        (Reason.CAPABILITIES_CHANGED, Action.NOTE),
    ],
)
def test_the_default_of_each_verdict_is_that_of_the_table(reason: Reason, action: Action) -> None:
    assert Policy().action_for(reason, Kind.TOOL) is action


@pytest.mark.parametrize(
    "text",
    [
        "on_drfit = 'block'",
        "[registry]\nurls = 'https://x.example'",
        "[verdicts]\nchange = 'block'",
        "[[signers]]\nservers = 'a'\nkey = 'b'\nrole = 'publisher'",
        "[timeouts]\nlistings = 3",
        "[limits]\npage = 3",
        "[limits]\nlisting = 3",
        "[limits]\nvariants = 3",
        "[Verdicts]\nchanged = 'block'",
        '"invisible\\u200b" = 1',
    ],
)
def test_an_option_that_nobody_knows_is_an_error(files: Files, text: str) -> None:
    assert code_of(files, text) == "policy-unknown-key"


@pytest.mark.parametrize(
    "text",
    [
        "equivalences = 'equiv/2'",
        "equivalences = true",
        "inspection = 'bytes'",
        "resources = 'allow'",
        "registry = 'https://x.example'",
        "[registry]\nurl = 'file:///x'",
        "[registry]\nurl = 3",
        "[verdicts]\nchanged = 'deny'",
        "[verdicts]\nchanged = true",
        "verdicts = 'block'",
        "signers = 'a'",
        "signers = ['a']",
        "[[signers]]\nkey = 'x'",
        "[[signers]]\nservers = ''\nkey = 'x'",
        "[[signers]]\nservers = 'a b'\nkey = 'x'",
        "[[signers]]\nservers = 'a/b'",
        "revoked = 'sha256:0'",
        "revoked = ['sha256:0']",
        "[timeouts]\nlisting = 0",
        "[timeouts]\nlisting = true",
        "[timeouts]\nlisting = '3'",
        "[timeouts]\nfirst-start = 4000",
        "[timeouts]\nlisting = nan",
        "[timeouts]\nlisting = inf",
        "limits = 3",
        "[limits]\npages = 1.0",
        "[limits]\npages = true",
        "[limits]\npages = '3'",
        "[limits]\npage-bytes = '4 MiB'",
    ],
)
def test_a_value_of_another_kind_is_an_error(files: Files, text: str) -> None:
    assert code_of(files, text) == "policy-value"


@pytest.mark.parametrize("text", ["= 1", "a = 1\na = 2", b"\xff", b"\x00", "x = " + "[" * 5000])
def test_what_is_no_toml_is_an_error(files: Files, text: str | bytes) -> None:
    assert code_of(files, text) == "policy-syntax"


def test_a_policy_that_was_named_and_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Policy.load(personal=tmp_path / "none.toml", project=None)
    assert caught.value.code == "policy-unreadable"


@pytest.mark.parametrize(
    ("pattern", "server", "covered"),
    [
        ("io.github.acme/*", "io.github.acme/weather", True),
        ("io.github.acme/*", "io.github.acme/a/b", False),
        ("io.github.acme/*", "io.github.acmeevil/weather", False),
        ("io.github.acme/*", "io.github.acme", False),
        ("io.github.acme/weather", "io.github.acme/weather", True),
        ("io.github.acme/weather", "io.github.acme/weather2", False),
        ("io.github.acme/weather", "ioxgithub.acme/weather", False),
        ("*", "io.github.acme/weather", True),
        ("*", "plain", True),
        ("*/weather", "io.github.acme/weather", True),
        ("example.*/weather", "example.com/weather", True),
        ("example.*/weather", "example.com/x/weather", False),
    ],
)
def test_a_signer_may_sign_for_the_servers_that_its_pattern_names(
    files: Files, pattern: str, server: str, covered: bool
) -> None:
    policy = files.personal(SIGNERS.replace("io.github.acme/*", pattern))
    assert set(policy.signers_for(server)) == ({KEY_ID} if covered else set())


def test_several_signers_may_sign_for_one_server(files: Files) -> None:
    second = SIGNERS.replace(PEM, forge.SECOND.public.to_pem().decode("ascii"))
    assert set(files.personal(SIGNERS + second).signers_for(forge.SERVER)) == set(forge.KEYS)


def test_a_key_can_lie_in_a_file_beside_the_policy(files: Files) -> None:
    files.write("acme.pub", PEM)
    policy = files.personal('[[signers]]\nservers = "*"\nkey = "acme.pub"\n')
    assert set(policy.signers_for(forge.SERVER)) == {KEY_ID}


@pytest.mark.parametrize("key", ["none.pub", ".", "private.pem", "two.pub", "garbage.pub", "a\\u0000b"])
def test_a_key_that_is_no_public_key_is_an_error(files: Files, key: str) -> None:
    files.write("private.pem", forge.PUBLISHER.pem)
    files.write("two.pub", PEM + PEM)
    files.write("garbage.pub", "-----BEGIN PUBLIC KEY-----\n====\n-----END PUBLIC KEY-----\n")
    assert code_of(files, f'[[signers]]\nservers = "*"\nkey = "{key}"\n') == "policy-key"


def test_a_key_of_another_algorithm_is_an_error_where_it_is_used(files: Files) -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    key = rsa.generate_private_key(65537, 2048).public_key()
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    policy = files.personal(f'[[signers]]\nservers = "*"\nkey = """{pem.decode()}"""\n')
    with pytest.raises(ConfigurationError) as caught:
        policy.signers_for(forge.SERVER)
    assert caught.value.code == "policy-key"


@pytest.mark.parametrize("reason", list(Reason))
@pytest.mark.parametrize("action", list(Action))
def test_each_verdict_can_be_made_stricter_and_only_two_laxer(
    files: Files, reason: Reason, action: Action
) -> None:
    text = f"[verdicts]\n{reason} = '{action}'\n"
    default = DEFAULT_ACTIONS[reason]
    if action.strictness >= default.strictness or (reason in LOOSENABLE and action is Action.NOTE):
        assert files.personal(text).action_for(reason, Kind.TOOL) is action
    else:
        assert code_of(files, text) == "policy-too-lax"


def test_only_what_the_pinned_publisher_signed_can_be_let_through_without_a_person() -> None:
    assert {Reason.UPGRADE, Reason.PROFILE_CHANGED} == LOOSENABLE


@pytest.mark.parametrize("kind", [Kind.RESOURCE, Kind.TEMPLATE])
@pytest.mark.parametrize("action", [Action.NOTE, Action.PROMPT, Action.BLOCK])
def test_resources_follow_their_own_option(files: Files, kind: Kind, action: Action) -> None:
    policy = files.personal(f"resources = '{action}'")
    assert policy.action_for(Reason.CHANGED, kind) is action
    assert policy.action_for(Reason.ADDED, kind) is action
    assert policy.action_for(Reason.CHANGED, Kind.TOOL) is Action.BLOCK
    assert policy.action_for(Reason.INVALID, kind) is Action.BLOCK
    assert policy.action_for(Reason.REVOKED, kind) is Action.BLOCK
    assert policy.action_for(Reason.VERIFIED, kind) is Action.ALLOW


def test_the_other_options_are_read(files: Files) -> None:
    digest = "sha256:" + "a" * 64
    policy = files.personal(
        f"equivalences = 'none'\nrevoked = ['{digest}']\n[registry]\nurl = 'https://r.example'\n"
        "[timeouts]\nlisting = 3\nfirst-start = 90\n"
    )
    assert policy.equivalences == "none"
    assert policy.revoked == {digest}
    assert policy.registry_url == "https://r.example"
    assert (policy.limits.listing_seconds, policy.limits.first_start_seconds) == (3.0, 90.0)


# Limits. What each of them does is in tests/cli/test_limits.py.

FIXED = {"profiles", "variants", "message_depth"}
each_limit = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.path)


def limit(option: LimitOption, value: object) -> str:
    return f"[{option.table}]\n{option.name} = {value}\n"


def default(option: LimitOption) -> float:
    found: float = getattr(DEFAULT_LIMITS, option.field)
    return found


def test_every_limit_is_an_option_but_those_that_the_formats_fix() -> None:
    assert {option.field for option in OPTIONS} == {*Limits._fields} - FIXED
    assert len({option.path for option in OPTIONS}) == len(OPTIONS) == len(Limits._fields) - len(FIXED)


@each_limit
def test_each_limit_is_set_within_its_range_and_refused_outside_of_it(
    files: Files, option: LimitOption
) -> None:
    assert option.least <= default(option) <= option.most
    for value in (option.least, option.most):
        limits = files.personal(limit(option, value)).limits
        assert limits == DEFAULT_LIMITS._replace(**{option.field: value})  # type: ignore[arg-type]
    for beyond in (option.least / 2, -option.least, option.most + 1, "1e400"):
        with pytest.raises(ConfigurationError) as caught:
            files.personal(limit(option, beyond))
        assert caught.value.code == "policy-value"
        assert f"{option.path} is " in caught.value.message
        assert option.expected in caught.value.message


@each_limit
def test_a_project_makes_each_limit_smaller_at_once_and_larger_only_once_accepted(
    files: Files, option: LimitOption
) -> None:
    now = getattr(files.project(limit(option, option.least)).limits, option.field)
    assert now == option.least
    # The largest value there is, over a personal one below it: the ranges may end at the default.
    own, wanted = limit(option, option.least), limit(option, option.most)
    policy = files.project(wanted, personal=own)
    assert getattr(policy.limits, option.field) == option.least
    (value,) = policy.unaccepted
    assert (value.option, value.value) == (option.path, f"{option.most}")
    for accepted in ([(value.option, value.value)], [(value.option, value.value), ("signers", "x")]):
        policy = files.project(wanted, personal=own, accepted=accepted)
        assert (getattr(policy.limits, option.field), policy.unaccepted) == (option.most, ())
    policy = files.project(wanted, personal=own, accept_project=True)
    assert getattr(policy.limits, option.field) == option.most
    for other in [(value.option, value.value + "0"), (value.option + "x", value.value)]:
        assert getattr(files.project(wanted, personal=own, accepted=[other]).limits, option.field) == now


def test_the_page_about_policy_names_each_limit_with_its_range_and_default() -> None:
    text = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
    for option in OPTIONS:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{option.path}` |")]
        assert row.split(" | ")[1:3] == [_range(option), _shown(option, default(option))]


def _range(option: LimitOption) -> str:
    unit = " seconds" if option.unit == "seconds" else ""
    return f"{_shown(option, option.least)} to {_shown(option, option.most)}{unit}"


def _shown(option: LimitOption, value: float) -> str:
    if option.unit != "bytes":
        return f"{value:g}" if option.unit == "seconds" else f"{int(value)}"
    for size, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= size:
            return f"{int(value) // size} {name}"
    return f"{int(value)} byte{'' if value == 1 else 's'}"


def test_one_spelling_of_seconds_is_accepted_like_another(files: Files) -> None:
    for text in ("20", "20.0", "2e1"):
        policy = files.project(f"[timeouts]\nlisting = {text}", accepted=[("timeouts.listing", "20")])
        assert (policy.limits.listing_seconds, policy.unaccepted) == (20, ())


LOOSENING = [
    (SIGNERS, "signers", f"io.github.acme/* {KEY_ID}"),
    ("[verdicts]\nupgrade = 'note'", "verdicts.upgrade", "note"),
    ("[registry]\nurl = 'https://evil.example'", "registry.url", "https://evil.example"),
    ("equivalences = 'equiv/1'", "equivalences", "equiv/1"),
    ("inspection = 'parsed'", "inspection", "parsed"),
    ("resources = 'note'", "resources", "note"),
    ("[timeouts]\nlisting = 60", "timeouts.listing", "60"),
]
STRICT = "equivalences = 'none'\ninspection = 'wire'\nresources = 'block'\n[registry]\nurl = 'https://mine.example'\n"


@pytest.mark.parametrize(("text", "option", "value"), LOOSENING, ids=[row[1] for row in LOOSENING])
def test_a_project_grants_and_loosens_nothing(files: Files, text: str, option: str, value: str) -> None:
    policy = files.project(text, personal=STRICT)
    alone = files.personal(STRICT)
    assert [(one.option, one.value) for one in policy.unaccepted] == [(option, value)]
    assert (policy.signers, policy.actions, policy.resources) == (
        alone.signers,
        alone.actions,
        alone.resources,
    )
    assert (policy.equivalences, policy.registry_url) == (alone.equivalences, alone.registry_url)
    assert (policy.inspection, policy.limits) == (alone.inspection, alone.limits)


@pytest.mark.parametrize(("text", "option", "value"), LOOSENING, ids=[row[1] for row in LOOSENING])
def test_a_loosening_counts_once_exactly_that_value_was_accepted(
    files: Files, text: str, option: str, value: str
) -> None:
    refused = files.project(text, personal=STRICT)
    accepted = files.project(text, personal=STRICT, accepted=[(option, value)])
    assert not accepted.unaccepted
    assert accepted != refused
    assert files.project(text, personal=STRICT, accept_project=True) == accepted
    for other in [(option, value + "x"), (option + "x", value)]:
        assert files.project(text, personal=STRICT, accepted=[other]) == refused


TIGHTENING = [
    ("[verdicts]\nupgrade = 'block'", lambda policy: policy.action_for(Reason.UPGRADE) is Action.BLOCK),
    ("[verdicts]\nverified = 'block'", lambda policy: policy.action_for(Reason.VERIFIED) is Action.BLOCK),
    ("equivalences = 'none'", lambda policy: policy.equivalences == "none"),
    ("inspection = 'wire'", lambda policy: policy.inspection == "wire"),
    ("resources = 'block'", lambda policy: policy.resources is Action.BLOCK),
    (f"revoked = ['sha256:{'b' * 64}']", lambda policy: "sha256:" + "b" * 64 in policy.revoked),
    ("[timeouts]\nlisting = 1", lambda policy: policy.limits.listing_seconds == 1.0),
]


@pytest.mark.parametrize(("text", "holds"), TIGHTENING, ids=[row[0] for row in TIGHTENING])
def test_a_project_tightens_at_once(files: Files, text: str, holds: Any) -> None:
    policy = files.project(text)
    assert holds(policy)
    assert not holds(files.project(""))
    assert not policy.unaccepted


def test_a_project_cannot_take_back_what_the_person_made_stricter(files: Files) -> None:
    policy = files.project("[verdicts]\nmissing = 'note'", personal="[verdicts]\nmissing = 'block'")
    assert policy.action_for(Reason.MISSING) is Action.BLOCK
    assert [one.option for one in policy.unaccepted] == ["verdicts.missing"]


def test_a_project_cannot_make_anything_wait_longer(files: Files) -> None:
    policy = files.project("[timeouts]\nlisting = 3600", personal="[timeouts]\nlisting = 5")
    assert policy.limits.listing_seconds == 5.0
    assert [one.option for one in policy.unaccepted] == ["timeouts.listing"]


def test_a_project_is_held_to_the_same_bounds_as_a_person(files: Files) -> None:
    with pytest.raises(ConfigurationError) as caught:
        files.project("[verdicts]\nchanged = 'note'", accept_project=True)
    assert caught.value.code == "policy-too-lax"


# Questions in the host


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("", ElicitationRules(enabled=True, grant=False, seconds=120.0)),
        ("[elicitation]\nenabled = false\n", ElicitationRules(enabled=False)),
        ("[elicitation]\ngrant = true\n", ElicitationRules(grant=True)),
        ("[elicitation]\nseconds = 2.5\n", ElicitationRules(seconds=2.5)),
    ],
)
def test_what_a_personal_policy_says_of_questions_in_the_host_holds(
    files: Files, text: str, rules: ElicitationRules
) -> None:
    assert files.personal(text).elicitation == rules


@pytest.mark.parametrize(
    "text", ["enabled = 1", 'grant = "true"', "seconds = 0.5", "seconds = 3601", "seconds = true"]
)
def test_what_is_no_value_of_such_an_option_is_an_error(files: Files, text: str) -> None:
    assert code_of(files, f"[elicitation]\n{text}\n") == "policy-value"


def test_an_option_of_questions_that_does_not_exist_is_an_error(files: Files) -> None:
    assert code_of(files, "[elicitation]\ngrants = true\n") == "policy-unknown-key"


@pytest.mark.parametrize("text", ["grant = true", "enabled = false", "enabled = true", "seconds = 5"])
def test_a_project_says_nothing_of_questions_in_the_host_but_that_none_grants(
    files: Files, text: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        files.project(f"[elicitation]\n{text}\n", accept_project=True)
    assert caught.value.code == "policy-personal"
    own = "[elicitation]\ngrant = true\nseconds = 7\n"
    rules = files.project("[elicitation]\ngrant = false\n", personal=own).elicitation
    assert rules == ElicitationRules(seconds=7.0)


def test_what_is_tightened_of_it_holds_at_once_and_what_is_loosened_does_not() -> None:
    strict, lax = Policy(), Policy(elicitation=ElicitationRules(grant=True, seconds=5.0))
    assert not lax.tightened(strict, server=None).elicitation.grant
    assert not strict.tightened(lax, server=None).elicitation.grant
    silent = Policy(elicitation=ElicitationRules(enabled=False))
    assert not lax.tightened(silent, server=None).elicitation.enabled


# The audit trail


def test_what_a_personal_policy_says_of_the_audit_trail_holds(files: Files) -> None:
    text = """[audit]
enabled = false
file = "logs/a.jsonl"
calls = "all"
max-bytes = 65536
keep = 0
required = true
"""
    rules = files.personal(text).audit
    assert rules == AuditRules(
        enabled=False,
        file=files.folder / "logs" / "a.jsonl",
        calls="all",
        max_bytes=65536,
        keep=0,
        required=True,
    )
    assert not rules.every_call


@pytest.mark.parametrize(
    "text",
    [
        "enabled = 1",
        "file = 7",
        'file = ""',
        'calls = "none"',
        "max-bytes = 65535",
        "max-bytes = true",
        "keep = -1",
        "keep = 1001",
        'required = "yes"',
    ],
)
def test_what_is_no_value_of_an_audit_option_is_an_error(files: Files, text: str) -> None:
    assert code_of(files, f"[audit]\n{text}\n") == "policy-value"


def test_an_audit_option_that_does_not_exist_is_an_error(files: Files) -> None:
    assert code_of(files, "[audit]\nmax_bytes = 65536\n") == "policy-unknown-key"


def test_a_project_asks_for_more_of_the_audit_trail(files: Files) -> None:
    rules = files.project('[audit]\ncalls = "all"\nrequired = true\n', personal="[audit]\nkeep = 7\n").audit
    assert rules == AuditRules(calls="all", required=True, keep=7)


def test_a_project_neither_moves_nor_cuts_the_audit_trail(files: Files) -> None:
    for text in ("enabled = false", "keep = 9", 'file = "x"', "required = false"):
        with pytest.raises(ConfigurationError) as caught:
            files.project(f"[audit]\n{text}\n", accept_project=True)
        assert caught.value.code == "policy-personal"


# Break-glass


def test_break_glass_is_forbidden_in_a_word_or_by_its_verdict(files: Files) -> None:
    assert not Policy().forbids_overrides
    assert not files.personal("break-glass = true\n").forbids_overrides
    assert files.personal("break-glass = false\n").forbids_overrides
    assert files.personal('[verdicts]\noverride = "prompt"\n').forbids_overrides
    assert code_of(files, 'break-glass = "no"\n') == "policy-value"
    assert code_of(files, 'break-glass = false\n[verdicts]\noverride = "block"\n') == "policy-value"
    assert code_of(files, '[verdicts]\noverride = "allow"\n') == "policy-too-lax"


def test_a_project_forbids_break_glass_and_does_not_allow_it(files: Files) -> None:
    assert files.project("break-glass = false\n").forbids_overrides
    policy = files.project("break-glass = true\n", personal="break-glass = false\n")
    assert policy.forbids_overrides
    assert [value.option for value in policy.unaccepted] == ["verdicts.override"]
    assert Policy().tightened(policy, server=None).forbids_overrides
