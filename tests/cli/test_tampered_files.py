# SPDX-License-Identifier: Apache-2.0
"""Files of a project that say something else than was signed, or cannot be read: nothing passes or starts."""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import forge
import proxybench
import pytest
from pinned_servers import FIND, LOSE, Bench, bench
from servers.publisher import SERVER, Publisher

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.lockfile import Lockfile, SignedEntry
from toolnotary_verifier.manifest import Artifact, Manifest, Profile, UnnamedManifest
from toolnotary_verifier.moves import Signed, pin_signed
from toolnotary_verifier.project import Project
from toolnotary_verifier.verify import verify_publish

__all__ = ["bench"]


class Pinned:
    """A project that pins a signed version, and the policy that names its signer."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.program = bench.folder / "server.py"
        self.program.write_text(f"open({str(bench.folder / 'started')!r}, 'w')\n", encoding="utf-8")
        self.lockfile = bench.folder / "toolnotary.lock"
        self.policy = bench.folder / "mine.toml"
        bench.listing(FIND, LOSE)
        publisher = Publisher()
        key = publisher.pem.decode()
        self.policy.write_text(f'[[signers]]\nservers = "*"\nkey = """\n{key}"""\n', encoding="utf-8")
        release = publisher.sign(self._manifest(), sequence=3)
        trusted = {publisher.public_key.key_id: publisher.public_key}
        verified = verify_publish(release.manifest, release.bundle, trusted=trusted, at=forge.NOW)
        project = Project.load(
            lockfile=self.lockfile, state=bench.folder / "state.jsonl", personal_policy=self.policy
        )
        launch = Launch.from_command(self.argv, base=bench.folder, environment=os.environ)
        pin_signed(project, Signed(verified=verified, bundle=release.bundle), launch=launch).apply(project)

    def _manifest(self) -> Manifest:
        profiles = {}
        for name, tools in (("default", (FIND, LOSE)), ("other", (FIND,))):
            surface = forge.surface(*tools)
            profiles[name] = (Profile.of(surface, transport="stdio"), surface)
        digest = "sha256:" + hashlib.sha256(self.program.read_bytes()).hexdigest()
        return UnnamedManifest.build(profiles=profiles).named(
            server=SERVER, version="1.0.0", artifacts=[Artifact("pkg:generic/weather@1.0.0", digest)]
        )

    @property
    def argv(self) -> list[str]:
        return [sys.executable, str(self.program)]

    @property
    def entry(self) -> SignedEntry:
        (entry,) = Lockfile.load(self.lockfile).entries
        assert isinstance(entry, SignedEntry)
        return entry

    def rewrite(self, entry: SignedEntry) -> None:
        """Let the lockfile hold this entry."""
        Lockfile((entry,)).save(self.lockfile)

    def check(self) -> tuple[int, str]:
        """Exit code and complaint of `check` with what is pinned."""
        arguments = ["listing.json", "--server", SERVER, "--policy", str(self.policy), "--offline"]
        code, out, err = self._bench.run("check", *arguments)
        return code, out + err

    def run(self) -> tuple[int, str]:
        """Exit code and complaint of `run`."""
        options = ["--lockfile", str(self.lockfile), "--policy", str(self.policy)]
        with proxybench.Wire(proxybench.run(self.argv, server=SERVER, options=options)) as host:
            return host.end(), host.said

    @property
    def is_started(self) -> bool:
        return (self._bench.folder / "started").exists()


@pytest.fixture
def pinned(bench: Bench) -> Pinned:
    return Pinned(bench)


def test_what_was_signed_passes_and_is_started(pinned: Pinned) -> None:
    """The other tests here begin with this, and change one thing."""
    assert pinned.check()[0] == 0
    assert pinned.run()[0] == 0
    assert pinned.is_started


TAMPERED: dict[str, Callable[[SignedEntry], SignedEntry]] = {
    "a higher sequence": lambda entry: entry._replace(sequence=9),
    "a lower sequence": lambda entry: entry._replace(sequence=1),
    "another signer": lambda entry: entry._replace(signer=f"key:sha256:{'0' * 64}"),
    "a profile that is not in the manifest": lambda entry: entry._replace(profiles=("default", "extra")),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_an_entry_that_says_something_else_than_its_bundle_counts_for_nothing(
    pinned: Pinned, how: str
) -> None:
    pinned.rewrite(TAMPERED[how](pinned.entry))
    for code, told in (pinned.check(), pinned.run()):
        assert (code, "lockfile-mismatch" in told) == (1, True), told
    assert not pinned.is_started


@pytest.mark.parametrize("member", ["manifest", "bundle"])
def test_an_object_that_was_changed_is_named_and_nothing_is_started(pinned: Pinned, member: str) -> None:
    path = object_of(pinned, member)
    path.write_bytes(path.read_bytes() + b" ")
    for code, told in (pinned.check(), pinned.run()):
        assert (code, "object-corrupt" in told, str(path) in told) == (4, True, True), told
    assert not pinned.is_started


@pytest.mark.parametrize("member", ["manifest", "bundle"])
def test_an_object_that_is_gone_is_told_by_its_digest_and_nothing_is_started(
    pinned: Pinned, member: str
) -> None:
    object_of(pinned, member).unlink()
    for code, told in (pinned.check(), pinned.run()):
        assert (code, "object-missing" in told, getattr(pinned.entry, member) in told) == (3, True, True), (
            told
        )
    assert not pinned.is_started


@pytest.mark.skipif(sys.platform != "linux", reason="a file that nobody can read, root included, is Linux's")
def test_an_object_that_cannot_be_read_is_named_and_nothing_is_started(pinned: Pinned) -> None:
    path = object_of(pinned, "manifest")
    path.unlink()
    path.symlink_to("/proc/self/mem")  # whose first page no process has
    for code, told in (pinned.check(), pinned.run()):
        assert (code, "object-unreadable" in told, str(path) in told) == (2, True, True), told
    assert not pinned.is_started


def object_of(pinned: Pinned, member: str) -> Path:
    digest: Digest = getattr(pinned.entry, member)
    return pinned.lockfile.parent / ".toolnotary" / "objects" / digest.hex[:2] / digest.hex[2:]


def test_a_launch_that_is_pinned_under_two_names_is_not_run_under_either(bench: Bench) -> None:
    bench.shows(FIND, record=str(bench.folder / "lines"))
    bench.pin("one")
    bench.pin("two")
    (bench.folder / "lines").unlink()
    options = ["--lockfile", str(bench.folder / "toolnotary.lock")]
    with proxybench.Wire(proxybench.run(bench.launch, server=None, options=options)) as host:
        assert host.end() == 2
    assert "error: server-ambiguous: this launch is pinned under one, two" in host.said
    assert "--server NAME" in host.said
    assert not (bench.folder / "lines").exists()
    with proxybench.Wire(proxybench.run(bench.launch, server="two", options=options)) as host:
        host.shake_hands()
        assert host.tools() == ["find"]
        assert host.end() == 0
