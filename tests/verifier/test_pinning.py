# SPDX-License-Identifier: Apache-2.0
"""docs/spec/lockfile.md: what of the files counts for this user, and how pins come, move and go."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import forge
import pytest

from toolnotary_verifier import history
from toolnotary_verifier.approval import accept, withdraw
from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.decide import decide
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, Refused, ToolnotaryError
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import SignedEntry, UnsignedEntry
from toolnotary_verifier.looks import Objection
from toolnotary_verifier.manifest import Artifact, Manifest, Profile
from toolnotary_verifier.moves import Signed, pin_signed, pin_surface
from toolnotary_verifier.pinning import judge_for, load_pins, record_outcome, remember
from toolnotary_verifier.pins import Pins
from toolnotary_verifier.project import Project
from toolnotary_verifier.surface import Surface, assemble
from toolnotary_verifier.verdict import Judgement, Outcome, Reason
from toolnotary_verifier.verify import verify_publish

SERVER = forge.SERVER
A, B = forge.tool("a", description="fine"), forge.tool("b", description="fine")
CHANGED_A = forge.tool("a", description="evil")
ONE = forge.surface(A, B, instructions="hi")
TWO = forge.surface(CHANGED_A, B, instructions="hi")
Json = Any


def signed(
    version: str,
    sequence: int,
    *,
    key: forge.FixedKey = forge.PUBLISHER,
    profiles: dict[str, Surface] | None = None,
) -> Signed:
    manifest = Manifest.build(
        server=SERVER,
        version=version,
        profiles={name: (Profile.of(one), one) for name, one in (profiles or {"default": ONE}).items()},
        artifacts=[Artifact("pkg:npm/%40acme/weather@1.0.0")],
    )
    bundle = forge.bundle(forge.statement(manifest, sequence=sequence), key)
    verified = verify_publish(manifest.canonical, bundle, trusted=forge.KEYS, at=forge.NOW)
    return Signed(verified=verified, bundle=bundle)


class Bench:
    """One user's home and one project's folder."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.lockfile = folder / "project" / "toolnotary.lock"
        self.lockfile.parent.mkdir(parents=True)
        self.policy: Path | None = None
        self.trust(forge.PUBLISHER)

    def trust(self, *keys: forge.FixedKey, more: str = "") -> None:
        self.policy = self.lockfile.parent.parent / "toolnotary.toml"
        rules = [
            f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{key.public.to_pem().decode()}"""\n'
            for key in keys
        ]
        self.policy.write_text(more + "".join(rules), encoding="utf-8")

    def project(self, *, accept_project: bool = False) -> Project:
        return Project.load(
            lockfile=self.lockfile,
            state=self.home / "state.jsonl",
            personal_policy=self.policy,
            accept_project=accept_project,
        )

    def launch(self, package: str = "@acme/weather", **environment: str) -> Launch:
        return self.project().launch(["npx", "-y", package], environment=environment)

    def pin(self, seen: Surface = ONE, *, server: str = "files") -> None:
        pin_surface(seen, server=server, launch=self.launch()).apply(self.project())

    def pin_signed(self, release: Signed, **options: Json) -> None:
        pin_signed(self.project(), release, launch=self.launch(), **options).apply(self.project())

    def judge(
        self,
        seen: Surface,
        *,
        server: str = SERVER,
        launch: Launch | None = None,
        accept_project: bool = False,
        candidates: tuple[Signed, ...] = (),
    ) -> Judgement:
        judge = judge_for(
            self.project(accept_project=accept_project),
            server=server,
            launch=launch or self.launch(),
            candidates=[one.verified for one in candidates],
            at=forge.NOW,
        )
        return judge(seen)

    def accept(self, seen: Surface, *, server: str = SERVER, candidates: tuple[Signed, ...] = ()) -> None:
        judgement = self.judge(seen, server=server, candidates=candidates)
        project = self.project()
        accept(project, seen, judgement, launch=self.launch(), candidates=candidates).apply(project)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def code_of(call: Any) -> str:
    with pytest.raises(ToolnotaryError) as caught:
        call()
    return caught.value.code


def reasons(judgement: Judgement) -> set[str]:
    return {verdict.reason.value for verdict in judgement.verdicts}


def test_what_a_person_pinned_is_verified_from_then_on(bench: Bench) -> None:
    bench.pin()
    judgement = bench.judge(ONE, server="files")
    assert judgement.outcome is Outcome.VERIFIED
    assert judgement.forward == ONE.definitions
    assert bench.judge(TWO, server="files").outcome is Outcome.DRIFT


def test_an_equivalent_definition_is_forwarded_from_the_text_beside_the_lockfile(bench: Bench) -> None:
    bench.pin()
    live = forge.surface(forge.tool("a", description=" fine "), B, instructions="hi")
    judgement = bench.judge(live, server="files")
    assert reasons(judgement) == {"verified", "equivalent"}
    assert judgement.forward == ONE.definitions


def test_without_texts_the_lockfiles_folder_holds_digests_alone(bench: Bench) -> None:
    pin_surface(ONE, server="files", launch=bench.launch()).apply(bench.project(), texts=False)
    assert [one.name for one in bench.lockfile.parent.iterdir()] == ["toolnotary.lock"]
    live = forge.surface(forge.tool("a", description=" fine "), B, instructions="hi")
    assert "equivalent" in reasons(bench.judge(live, server="files"))
    for file in (bench.home / ".toolnotary").rglob("*"):
        if file.is_file():
            file.unlink()
    assert "changed" in reasons(bench.judge(live, server="files"))
    assert bench.judge(ONE, server="files").outcome is Outcome.VERIFIED


def test_a_cloned_lockfile_pins_nothing_that_the_user_did_not_accept(bench: Bench) -> None:
    bench.pin(server="files")
    (bench.home / "state.jsonl").unlink()
    judgement = bench.judge(ONE, server="files")
    assert judgement.outcome is Outcome.UNPINNED
    assert reasons(judgement) == {"first-unsigned"}
    assert not judgement.forward


def test_in_continuous_integration_the_repositorys_review_is_the_acceptance(bench: Bench) -> None:
    bench.pin(server="files")
    (bench.home / "state.jsonl").unlink()
    assert bench.judge(ONE, server="files", accept_project=True).outcome is Outcome.VERIFIED
    assert bench.judge(TWO, server="files", accept_project=True).outcome is Outcome.DRIFT
    assert not (bench.home / "state.jsonl").exists()


def test_a_pin_that_was_edited_in_the_lockfile_does_not_count_and_the_others_do(bench: Bench) -> None:
    bench.pin(server="files")
    project = bench.project()
    edited = pin_surface(TWO, server="files", launch=bench.launch()).entry
    project.lockfile.with_entry(edited).save(bench.lockfile)
    judgement = bench.judge(TWO, server="files")
    found = {verdict.name: verdict.reason.value for verdict in judgement.verdicts}
    assert found == {"a": "added", "b": "verified", "instructions": "verified"}


def test_a_forged_normal_form_carries_nothing_to_the_host(bench: Bench) -> None:
    """The lockfile's second digest is nobody's word: only the pinned text is ever forwarded."""
    bench.pin(server="files")
    entry = bench.project().lockfile.named("files")[0]
    assert isinstance(entry, UnsignedEntry)
    poisoned = Digest.of(TWO.definitions[Kind.TOOL, "a"].canonical)
    pins = tuple(pin._replace(normal=poisoned) if pin.name == "a" else pin for pin in entry.pins)
    bench.project().lockfile.with_entry(entry._replace(pins=pins)).save(bench.lockfile)
    judgement = bench.judge(TWO, server="files")
    assert judgement.forward.items() <= ONE.definitions.items()


def test_another_launch_under_a_pinned_name_is_an_identity_of_its_own(bench: Bench) -> None:
    bench.pin(server="files")
    for launch in (bench.launch("evil"), bench.launch(NODE_OPTIONS="--require ./evil.js")):
        judgement = bench.judge(ONE, server="files", launch=launch)
        assert reasons(judgement) == {"identity"}
        assert not judgement.forward
    pins = load_pins(bench.project(), server="files", launch=bench.launch("evil"))
    assert pins.standing is not None
    assert "evil" in pins.standing.detail


def test_the_name_of_a_launch_is_found_where_it_is_pinned_once(bench: Bench) -> None:
    assert bench.project().server_of(bench.launch()) is None
    bench.pin(server="files")
    assert bench.project().server_of(bench.launch()) == "files"
    assert bench.project().server_of(bench.launch("other")) is None
    bench.pin(server="more")
    assert bench.project().server_of(bench.launch()) is None


def test_a_saved_listing_is_judged_by_name_where_there_is_one_launch(bench: Bench) -> None:
    bench.pin(server="files")
    assert load_pins(bench.project(), server="files", launch=None).profiles
    other = pin_surface(ONE, server="files", launch=bench.launch("other"))
    other.apply(bench.project())
    assert code_of(lambda: load_pins(bench.project(), server="files", launch=None)) == "launch-ambiguous"


def test_deleting_the_lockfile_restores_no_first_use(bench: Bench) -> None:
    bench.pin(server="files")
    bench.lockfile.unlink()
    judgement = bench.judge(ONE, server="files")
    assert reasons(judgement) == {"added", "instructions-changed"}
    assert not judgement.forward


def test_an_object_that_was_changed_closes_what_needs_it(bench: Bench) -> None:
    bench.pin(server="files")
    for file in (bench.lockfile.parent / ".toolnotary").rglob("*"):
        if file.is_file() and file.name != ".gitattributes":
            file.write_bytes(b"{}")
    assert bench.judge(ONE, server="files").outcome is Outcome.VERIFIED
    live = forge.surface(forge.tool("a", description="fine "))
    assert code_of(lambda: bench.judge(live, server="files")) == "object-corrupt"


def test_an_empty_listing_is_not_pinned(bench: Bench) -> None:
    assert code_of(lambda: bench.pin(forge.surface())) == "empty-surface"


# Signed entries.


def test_a_signed_pin_verifies_offline_from_the_files_beside_the_lockfile(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    assert bench.judge(ONE).outcome is Outcome.VERIFIED
    assert bench.judge(TWO).outcome is Outcome.DRIFT
    entry = bench.project().lockfile.named(SERVER)[0]
    assert isinstance(entry, SignedEntry)
    assert (entry.version, entry.sequence, entry.profiles) == ("1.0.0", 1, ("default",))


def test_a_clone_of_a_signed_pin_counts_under_the_users_own_policy(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    (bench.home / "state.jsonl").unlink()
    assert bench.judge(ONE).outcome is Outcome.VERIFIED
    bench.trust(forge.STRANGER)
    judgement = bench.judge(ONE)
    assert reasons(judgement) == {"signer-unknown"}
    assert not judgement.forward


def test_a_key_that_the_user_named_before_counts_like_policy(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    bench.trust()
    assert reasons(bench.judge(ONE)) == {"signer-unknown"}
    key = forge.PUBLISHER.public
    bench.project().state.append(
        history.trusted_key(SERVER, key_id=key.key_id, pem=key.to_pem().decode("ascii"))
    )
    assert bench.judge(ONE).outcome is Outcome.VERIFIED


def test_a_signed_pin_without_its_manifest_cannot_be_told(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    for file in (bench.lockfile.parent / ".toolnotary").rglob("*"):
        if file.is_file():
            file.unlink()
    with pytest.raises(CannotTell) as caught:
        bench.judge(ONE)
    assert caught.value.code == "object-missing"


@pytest.mark.parametrize(
    "lie",
    [
        {"sequence": 9},
        {"signer": "key:sha256:" + "0" * 64},
        {"profiles": ("default", "other")},
        {"version": "2.0.0"},
        {"server": "io.github.acme/other"},
        {"bundle": "other"},
        {"manifest": "other"},
    ],
    ids=lambda lie: next(iter(lie)),
)
def test_an_entry_that_says_what_its_bundle_does_not_prove_is_refused(bench: Bench, lie: Json) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    other = signed("2.0.0", 2)
    project = bench.project()
    objects = {"bundle": project.objects.put(other.bundle)}
    objects["manifest"] = project.objects.put(other.verified.manifest.canonical)
    entry = project.lockfile.named(SERVER)[0]
    lie = {name: objects.get(name, value) for name, value in lie.items()}
    lying = entry._replace(**lie)
    project.lockfile.without_entry(entry).with_entry(lying).save(bench.lockfile)
    with pytest.raises(Refused):
        bench.judge(ONE, server=lying.server)


def test_a_launch_that_the_signed_manifest_does_not_name_is_not_its_server(bench: Bench) -> None:
    release = signed("1.0.0", 1)
    evil = bench.launch("@acrne/weather")
    assert code_of(lambda: pin_signed(bench.project(), release, launch=evil)) == "identity"
    bench.pin_signed(release)
    project = bench.project()
    entry = project.lockfile.named(SERVER)[0]._replace(launch=evil.identity)
    project.lockfile.with_entry(entry).save(bench.lockfile)
    assert reasons(bench.judge(ONE, launch=evil)) == {"identity"}


def test_a_lockfile_that_goes_back_is_a_rollback(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    old = bench.lockfile.read_bytes()
    bench.accept(TWO, candidates=(signed("1.1.0", 2, profiles={"default": TWO}),))
    assert bench.judge(TWO).outcome is Outcome.VERIFIED
    bench.lockfile.write_bytes(old)
    judgement = bench.judge(ONE)
    assert reasons(judgement) == {"rollback"}
    assert not judgement.forward
    assert code_of(lambda: bench.pin_signed(signed("1.0.0", 1))) == "rollback"


def test_a_rollback_that_a_person_approves_resets_the_mark(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    old = bench.lockfile.read_bytes()
    bench.accept(TWO, candidates=(signed("1.1.0", 2, profiles={"default": TWO}),))
    bench.lockfile.write_bytes(old)
    bench.accept(ONE)
    assert bench.project().state.highest_sequence(SERVER) == 1
    assert bench.judge(ONE).outcome is Outcome.VERIFIED


def test_a_lockfile_with_another_signer_is_blocked_until_a_person_approves(bench: Bench) -> None:
    bench.trust(forge.PUBLISHER, forge.SECOND)
    bench.pin_signed(signed("1.0.0", 1))
    theirs = signed("1.1.0", 2, key=forge.SECOND)
    assert code_of(lambda: bench.pin_signed(theirs)) == "signer-changed"
    pin_signed(bench.project(), theirs, launch=bench.launch(), allow_older=True)
    bench.pin_signed(theirs, allow_older=True)
    project = bench.project()
    signer = f"key:{forge.PUBLISHER.public.key_id}"
    project.state.append(
        history.accepted_manifest(
            SERVER, bench.launch().digest, manifest=Digest.of(b""), sequence=2, signer=signer
        )
    )
    assert reasons(bench.judge(ONE)) == {"signer-changed"}
    bench.accept(ONE)
    assert bench.judge(ONE).outcome is Outcome.VERIFIED


def test_a_newer_pin_that_came_with_a_checkout_raises_the_mark_when_it_is_used(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    old, home = bench.lockfile.read_bytes(), (bench.home / "state.jsonl").read_bytes()
    bench.accept(TWO, candidates=(signed("1.1.0", 2, profiles={"default": TWO}),))
    (bench.home / "state.jsonl").write_bytes(home)  # a colleague upgraded, and this user pulled
    assert bench.judge(TWO).outcome is Outcome.VERIFIED
    remember(bench.project(), server=SERVER, launch=bench.launch())
    written = (bench.home / "state.jsonl").read_bytes()
    remember(bench.project(), server=SERVER, launch=bench.launch())
    assert (bench.home / "state.jsonl").read_bytes() == written
    bench.lockfile.write_bytes(old)
    assert reasons(bench.judge(ONE)) == {"rollback"}


def test_using_a_pin_does_not_take_its_withdrawal_back(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    lockfile = bench.lockfile.read_bytes()
    (bench.home / "state.jsonl").unlink()
    withdraw(bench.project(), SERVER)
    bench.lockfile.write_bytes(lockfile)
    remember(bench.project(), server=SERVER, launch=bench.launch())
    assert reasons(bench.judge(ONE)) == {"revoked"}


def test_an_expired_statement_keeps_what_was_accepted_and_is_no_new_pin(bench: Bench) -> None:
    manifest = forge.weather()
    statement = forge.statement(manifest, expiresAt="2026-11-30T13:00:00Z")
    bundle = forge.bundle(statement)
    release = Signed(
        verified=verify_publish(manifest.canonical, bundle, trusted=forge.KEYS, at=forge.NOW), bundle=bundle
    )
    bench.pin_signed(release)
    later = forge.NOW + timedelta(days=30)
    assert load_pins(bench.project(), server=SERVER, launch=bench.launch(), at=later).profiles
    (bench.home / "state.jsonl").unlink()
    assert (
        code_of(lambda: load_pins(bench.project(), server=SERVER, launch=bench.launch(), at=later))
        == "expired"
    )


def test_profiles_that_were_not_accepted_do_not_count(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1, profiles={"one": ONE, "two": TWO}), profiles=["one"])
    assert bench.judge(ONE).outcome is Outcome.VERIFIED
    assert "profile-changed" in reasons(bench.judge(TWO))
    bench.accept(TWO)
    for seen in (ONE, TWO):
        assert bench.judge(seen).outcome is Outcome.VERIFIED


def test_a_profile_that_does_not_exist_cannot_be_pinned(bench: Bench) -> None:
    with pytest.raises(InvalidInput) as caught:
        bench.pin_signed(signed("1.0.0", 1), profiles=["none"])
    assert caught.value.code == "profile-unknown"


# Approving and withdrawing.


def test_an_upgrade_moves_the_entry_to_the_new_version(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    new = signed("1.1.0", 2, profiles={"default": TWO})
    assert "upgrade" in reasons(bench.judge(TWO, candidates=(new,)))
    bench.accept(TWO, candidates=(new,))
    entry = bench.project().lockfile.named(SERVER)[0]
    assert isinstance(entry, SignedEntry)
    assert entry.version == "1.1.0"
    assert bench.judge(TWO).outcome is Outcome.VERIFIED
    assert bench.judge(ONE).outcome is Outcome.DRIFT


def test_what_other_processes_pinned_meanwhile_stays(bench: Bench) -> None:
    before = bench.project()
    for name in ("files", "mail"):
        pin_surface(ONE, server=name, launch=bench.launch(name)).apply(before)
    assert [entry.server for entry in bench.project().lockfile.entries] == ["files", "mail"]


def test_a_move_that_was_decided_otherwise_meanwhile_moves_nothing(bench: Bench) -> None:
    bench.pin_signed(signed("2.0.0", 2))
    files = {path: path.read_bytes() for path in (bench.lockfile, bench.home / "state.jsonl")}
    project = bench.project()
    move = pin_signed(project, signed("2.1.0", 3), launch=bench.launch())
    assert (
        code_of(lambda: move.apply(project, unless=lambda known: SERVER in known.servers))
        == "decided-meanwhile"
    )
    assert {path: path.read_bytes() for path in files} == files


def test_accepting_what_nobody_signed_gives_up_the_signature_and_says_so(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    project = bench.project()
    move = accept(project, TWO, bench.judge(TWO), launch=bench.launch())
    assert move.notes
    move.apply(project)
    assert isinstance(bench.project().lockfile.named(SERVER)[0], UnsignedEntry)
    assert bench.judge(TWO).outcome is Outcome.VERIFIED


def test_what_a_server_does_not_show_now_stays_pinned(bench: Bench) -> None:
    bench.pin(server="files")
    bench.accept(forge.surface(CHANGED_A), server="files")
    entry = bench.project().lockfile.named("files")[0]
    assert isinstance(entry, UnsignedEntry)
    assert [pin.name for pin in entry.pins] == ["instructions", "a", "b"]
    assert bench.judge(TWO, server="files").outcome is Outcome.VERIFIED


def test_a_first_use_in_a_clone_is_accepted_like_a_change(bench: Bench) -> None:
    bench.pin(server="files")
    (bench.home / "state.jsonl").unlink()
    before = bench.lockfile.read_bytes()
    bench.accept(ONE, server="files")
    assert bench.judge(ONE, server="files").outcome is Outcome.VERIFIED
    assert bench.lockfile.read_bytes() == before


def test_there_is_nothing_to_approve_where_all_is_as_pinned(bench: Bench) -> None:
    bench.pin(server="files")
    assert code_of(lambda: bench.accept(ONE, server="files")) == "nothing-to-approve"


def test_no_approval_gives_up_a_signature_for_what_the_server_says_of_itself(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1, profiles={"default": ONE._replace(server_info={"name": "one"})}))
    renamed = ONE._replace(server_info={"name": "another", "version": "1"})
    judgement = bench.judge(renamed)
    assert {verdict.reason for verdict in judgement.changes} == {Reason.SERVER_INFO_CHANGED}
    assert (
        code_of(lambda: accept(bench.project(), renamed, judgement, launch=bench.launch()))
        == "not-approvable"
    )


def test_no_approval_covers_another_launch(bench: Bench) -> None:
    bench.pin(server="files")
    project, evil = bench.project(), bench.launch("evil")
    judgement = bench.judge(ONE, server="files", launch=evil)
    assert code_of(lambda: accept(project, ONE, judgement, launch=evil)) == "not-approvable"


def test_no_approval_covers_what_policy_revokes(bench: Bench) -> None:
    bench.pin(server="files")
    digest = TWO.definitions[Kind.TOOL, "a"].digest
    bench.trust(more=f'revoked = ["{digest}"]\n')
    assert code_of(lambda: bench.accept(TWO, server="files")) == "revoked"


def test_an_unreadable_tool_is_left_out_of_an_approval(bench: Bench) -> None:
    bench.pin(server="files")
    seen = assemble({Kind.TOOL: [CHANGED_A, B, {"name": "c", "x": "\ud800"}]}, instructions="hi")
    bench.accept(seen, server="files")
    judgement = bench.judge(seen, server="files")
    assert reasons(judgement) == {"verified", "invalid"}


def test_a_withdrawn_server_is_not_let_in_again_by_its_lockfile(bench: Bench) -> None:
    bench.pin(server="files")
    old = bench.lockfile.read_bytes()
    withdraw(bench.project(), "files")
    assert not bench.project().lockfile.entries
    bench.lockfile.write_bytes(old)
    judgement = bench.judge(ONE, server="files")
    assert reasons(judgement) == {"revoked"}
    assert reasons(bench.judge(ONE, server="files", accept_project=True)) == {"revoked"}


def test_one_withdrawn_tool_leaves_the_others(bench: Bench) -> None:
    bench.pin(server="files")
    withdraw(bench.project(), "files", name="a")
    judgement = bench.judge(ONE, server="files")
    assert {key[1] for key in judgement.forward} == {"b", "instructions"}
    assert judgement.objections[0].reason is Reason.REVOKED


def test_one_tool_of_a_signed_server_can_be_withdrawn_and_accepted_again(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    before = bench.lockfile.read_bytes()
    withdraw(bench.project(), SERVER, name="a")
    assert bench.lockfile.read_bytes() == before
    assert {key[1] for key in bench.judge(ONE).forward} == {"b", "instructions"}
    bench.accept(ONE)
    assert bench.judge(ONE).outcome is Outcome.VERIFIED
    assert isinstance(bench.project().lockfile.named(SERVER)[0], SignedEntry)


def test_a_withdrawn_signed_server_is_blocked_wherever_its_manifest_turns_up(bench: Bench) -> None:
    release = signed("1.0.0", 1)
    bench.pin_signed(release)
    old = bench.lockfile.read_bytes()
    withdraw(bench.project(), SERVER)
    bench.lockfile.write_bytes(old)
    assert reasons(bench.judge(ONE)) == {"revoked"}
    assert reasons(bench.judge(ONE, candidates=(release,))) == {"revoked"}


def test_what_is_not_pinned_cannot_be_withdrawn(bench: Bench) -> None:
    assert code_of(lambda: withdraw(bench.project(), "files")) == "not-pinned"
    bench.pin(server="files")
    assert code_of(lambda: withdraw(bench.project(), "files", name="none")) == "not-pinned"


def test_a_blocked_listing_never_becomes_the_baseline(bench: Bench) -> None:
    bench.pin(server="files")
    before = {file: file.read_bytes() for file in bench.home.parent.rglob("*") if file.is_file()}
    for _ in range(3):
        assert bench.judge(TWO, server="files").outcome is Outcome.DRIFT
    assert before == {file: file.read_bytes() for file in bench.home.parent.rglob("*") if file.is_file()}


def test_an_outcome_is_recorded_once_until_it_changes(bench: Bench) -> None:
    bench.pin(server="files")
    launch = bench.launch()

    def record(seen: Surface) -> bytes:
        judgement = bench.judge(seen, server="files")
        record_outcome(bench.project(), judgement, server="files", launch=launch)
        return (bench.home / "state.jsonl").read_bytes()

    first = record(ONE)
    assert record(ONE) == first
    assert record(TWO) != first
    look = bench.project().state.history.looks["files", launch.digest]
    changed = TWO.definitions[Kind.TOOL, "a"].digest
    assert look.outcome is Outcome.DRIFT
    assert look.objections == (Objection(Kind.TOOL, "a", Reason.CHANGED, changed),)


def test_however_much_is_objected_to_a_look_takes_little_room_and_names_pins_first(
    bench: Bench,
) -> None:
    bench.pin(server="files")
    flood = [forge.tool(f"{number:04}{'x' * 90}", description="new") for number in range(3000)]
    prompts = [{"name": f"{number:04}"} for number in range(500)]
    seen = assemble({Kind.TOOL: [CHANGED_A, forge.tool("y" * 129), *flood], Kind.PROMPT: prompts})
    launch = bench.launch()
    before = (bench.home / "state.jsonl").stat().st_size
    record_outcome(bench.project(), bench.judge(seen, server="files"), server="files", launch=launch)
    assert (bench.home / "state.jsonl").stat().st_size - before < 20_000
    look = bench.project().state.history.looks["files", launch.digest]
    assert (look.objections[0].name, look.objections[0].reason) == ("a", Reason.CHANGED)
    assert {one.kind for one in look.objections} == {Kind.TOOL}
    assert len(look.objections) + look.unnamed == 1 + 1 + 3000 + 500


def test_what_a_server_is_held_to_is_another_once_anything_of_it_changes(bench: Bench) -> None:
    """Else `status` would tell an outcome of pins that do not count any more."""
    first, second = signed("1.0.0", 1), signed("2.0.0", 2, profiles={"default": TWO, "other": ONE})
    changes: list[Json] = [
        lambda: bench.pin_signed(first),
        lambda: bench.pin_signed(second, profiles=["default"]),
        lambda: bench.pin_signed(second),
        lambda: bench.pin_signed(signed("3.0.0", 3, key=forge.SECOND), allow_older=True),
        lambda: bench.trust(forge.PUBLISHER, forge.SECOND),
        lambda: withdraw(bench.project(), SERVER, name="b"),
    ]
    found: list[Digest] = []
    for change in changes:
        change()
        found.append(load_pins(bench.project(), server=SERVER, launch=bench.launch(), at=forge.NOW).digest())
        again = load_pins(bench.project(), server=SERVER, launch=bench.launch(), at=forge.NOW)
        assert again.digest() == found[-1]
    assert len(set(found)) == len(changes)


def test_a_pin_that_became_a_rollback_or_was_added_to_is_another(bench: Bench) -> None:
    bench.pin_signed(signed("1.0.0", 1))
    bench.pin(server="files")

    def held_to(server: str) -> Digest:
        return load_pins(bench.project(), server=server, launch=bench.launch(), at=forge.NOW).digest()

    before = [held_to(server) for server in (SERVER, "files")]
    newer = signed("2.0.0", 2).verified  # accepted for another project, under the same launch
    bench.project().state.append(
        history.accepted_manifest(
            SERVER,
            bench.launch().digest,
            manifest=newer.manifest.digest,
            sequence=2,
            signer=newer.signer.identity,
        )
    )
    more = forge.surface(A, B, forge.tool("c", description="new"), instructions="hi")
    added = pin_surface(more, server="files", launch=bench.launch()).entry
    bench.project().lockfile.with_entry(added).save(bench.lockfile)
    assert all(held_to(server) != digest for server, digest in zip((SERVER, "files"), before, strict=True))


def test_accepting_what_a_clone_pins_and_withdrawing_it_are_other_pins_too(bench: Bench) -> None:
    bench.pin(server="files")
    found = []
    for change in ("pinned", "cloned", "withdrawn", "accepted"):
        if change == "cloned":
            (bench.home / "state.jsonl").unlink()
        if change == "withdrawn":
            bench.project().state.append(history.revoked("files", [ONE.definitions[Kind.TOOL, "b"].digest]))
        if change == "accepted":
            bench.accept(ONE, server="files")
        found.append(load_pins(bench.project(), server="files", launch=bench.launch()).digest())
    assert found[0] == found[3]
    assert len(set(found)) == 3


def test_a_home_that_cannot_be_written_leaves_the_lockfile_as_it_was(bench: Bench) -> None:
    project = bench.project()
    bench.home.write_text("a file in the place of the folder", encoding="utf-8")
    move = pin_surface(ONE, server="files", launch=Launch.from_url("https://x.example"))
    with pytest.raises(ConfigurationError) as caught:
        move.apply(project)
    assert caught.value.code == "file-not-writable"
    assert not bench.lockfile.exists()
    assert code_of(bench.project) == "state-unreadable"


def test_pins_of_nothing_judge_like_no_pins(bench: Bench) -> None:
    project = bench.project()
    pins = load_pins(project, server="files", launch=bench.launch())
    assert pins.digest() == Pins().digest()
    judged = decide("files", ONE, pins, policy=project.policy)
    assert judged.verdicts == decide("files", ONE, None, policy=project.policy).verdicts
