# SPDX-License-Identifier: Apache-2.0
"""Every limit of a policy does what it says, and reaches every command that reads what others wrote."""

import contextlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import forge
import gatebench
import pytest
from effort import some
from gatebench import META
from pinned_servers import FIND, LOSE, YES, Bench, bench
from proxybench import Wire, run
from servers.http_server import serve
from servers.publisher import SERVER, Publisher, Release
from servers.registry import RunningRegistry, sqlite_registry

from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.capture.conversation import Conversation
from toolnotary_verifier.capture.look import Look
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.fetch import Registry
from toolnotary_verifier.limits import Limits
from toolnotary_verifier.manifest import Artifact, Profile, UnnamedManifest
from toolnotary_verifier.policy import Policy
from toolnotary_verifier.policy_limits import OPTIONS, LimitOption

__all__ = ["bench", "sqlite_registry"]

Json = Any
LONG = "x" * 700


def home() -> Path:
    return Path(os.environ["TOOLNOTARY_HOME"])


def limit(path: str, value: float) -> None:
    """Set an option in the personal policy, before all tables of it."""
    policy = home() / "toolnotary.toml"
    before = policy.read_text(encoding="utf-8") if policy.exists() else ""
    policy.write_text(f"{path} = {value}\n{before}", encoding="utf-8")


def limits() -> Limits:
    """The limits of the personal policy, if there is one."""
    path = home() / "toolnotary.toml"
    return Policy.load(personal=path if path.exists() else None, project=None).limits


def restore(files: dict[str, bytes]) -> None:
    """Let these files hold again what they held."""
    for name, content in files.items():
        Path(name).write_bytes(content)


# What each option does. A play tells what a person or a host is told.


def looked_at(*tools: Json, **script: Json) -> Callable[[Bench], str]:
    """`check` of a server that shows these tools."""

    def play(bench: Bench) -> str:
        bench.shows(*(tools or (FIND, LOSE)), **script)
        return "".join(bench.run("check", "--server", "files", "--", *bench.launch)[1:])

    return play


def verified(bench: Bench) -> str:
    """`verify` of a signed manifest."""
    surface = forge.surface({**FIND, "description": LONG}, {**LOSE, "description": LONG})
    built = UnnamedManifest.build(profiles={"default": (Profile.of(surface, transport="stdio"), surface)})
    manifest = built.named(server=SERVER, version="1.0.0")
    Path("w.json").write_bytes(manifest.canonical)
    Path("w.bundle").write_bytes(forge.bundle(forge.statement(manifest)) + b" " * 1024)
    Path("w.pub").write_bytes(forge.PUBLISHER.public.to_pem())
    return "".join(bench.run("verify", "w.json", "w.bundle", "--key", "w.pub")[1:])


def saved(bench: Bench) -> str:
    """`check` of a saved listing."""
    listing = bench.listing({**FIND, "description": LONG}, {**LOSE, "description": LONG})
    return "".join(bench.run("check", listing, "--server", "files")[1:])


def overridden(bench: Bench) -> str:
    """`break-glass` for an hour."""
    return "".join(bench.run("break-glass", "files", "--reason", "x", "--seen")[1:])


def guarded(*requests: Json) -> Callable[[Bench], str]:
    """What a host is answered first by `run`, whose server answers nothing but an opening."""

    def play(bench: Bench) -> str:
        bench.shows(FIND, rules=[{"on": "tools/list", "do": ["hang"]}])
        with Wire(run(bench.launch)) as host:
            for number, (method, params) in enumerate(requests):
                host.send(method, params, id=number)
            return json.dumps(host.message())

    return play


def call(**arguments: str) -> Json:
    return "tools/call", {"name": "find", "arguments": arguments}


def side(version: str) -> Json:
    return "tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": version}}


def outgrown(bench: Bench) -> str:
    """A host that sends a long line through `run`."""
    with Wire(run(bench.launch)) as host:
        with contextlib.suppress(BrokenPipeError):  # nobody reads the rest
            host.write(b" " * (1 << 20) + b"\n" + b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        host.end()
    return host.said


def silent_at_first(_bench: Bench) -> str:
    """When a look asks for the handshake of a server that says nothing, by a clock of our own."""

    class Silence:
        kind, is_duplex, server = "stdio", True, "silence"
        protocol_version: str | None = None

        def __init__(self) -> None:
            self.now = 0.0
            self.sent: list[tuple[float, str]] = []

        def send(self, message: JsonObject, *, deadline: float) -> None:  # noqa: ARG002 - a `Transport`
            self.sent.append((self.now, message["method"]))

        def receive(self, *, deadline: float) -> None:
            self.now = max(self.now + 0.001, deadline)

        def explain(self) -> str:
            return ""

        def mask(self, text: str) -> str:
            return text

        def close(self) -> None:
            """Nothing was opened."""

    silence, bounds = Silence(), limits()
    talk = Conversation(silence, capabilities={}, limits=bounds, clock=lambda: silence.now)
    with pytest.raises(CannotTell):
        Look(talk, declared={}, limits=bounds).read()
    return str(silence.sent)


def aged(_bench: Bench) -> str:
    """When the gate lists again before a call."""
    gate = gatebench.Bench([FIND], limits=limits())
    gate.shake_hands()
    gate.listed(FIND)
    begun = gate.now
    while gate.call("find"):
        gate.pass_time(1)
    return f"again after {gate.now - begun:g} seconds"


def disturbed(_bench: Bench) -> str:
    """The longest pause between listings of a server that says without end that its list changed."""
    gate = gatebench.Bench([FIND], limits=limits())
    gate.shake_hands()
    gate.listed(FIND)
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    gate.from_server(changed)
    longest = 0.0
    for _ in range(12):
        gate.from_server(changed)  # while it is listed
        gate.answer_listing(FIND)
        begun = gate.now
        assert gate.gate.deadline is not None
        gate.pass_time(gate.gate.deadline - gate.now)
        longest = max(longest, gate.now - begun)
    return f"pauses up to {longest:g} seconds"


class Effect(NamedTuple):
    """What is told under a limit and not without it; no contrast where that would wait for the default."""

    value: float
    told: str
    play: Callable[[Bench], str]
    contrast: bool = True


EFFECTS = {
    "timeouts.listing": Effect(
        0.3,
        "no answer to tools/list within 0.3 seconds",
        looked_at(rules=[{"on": "tools/list", "do": []}]),
        contrast=False,
    ),
    "timeouts.first-start": Effect(
        0.3, "within 0.3 seconds", looked_at(rules=[{"on": "start", "do": ["silence"]}]), contrast=False
    ),
    "timeouts.probe": Effect(0.5, "(0.5, 'initialize')", silent_at_first),
    "limits.page-bytes": Effect(
        1024, "bytes in one page, at most 1024", looked_at({**FIND, "description": 2 * LONG})
    ),
    "limits.listing-bytes": Effect(
        1024,
        "bytes in all pages, at most 1024",
        looked_at({**FIND, "description": LONG}, {**LOSE, "description": LONG}, page_size=1),
    ),
    "limits.pages": Effect(1, "2 pages, at most 1", looked_at(page_size=1)),
    "limits.tools": Effect(1, "2 entries, at most 1", looked_at()),
    "limits.cursor-bytes": Effect(
        1,
        "nextCursor has more than 1 bytes",
        looked_at(*({**FIND, "name": f"find{number}"} for number in range(11)), page_size=10),
    ),
    "limits.definition-bytes": Effect(64, "at most 64 are accepted", looked_at()),
    "limits.definition-depth": Effect(1, "invalid: tool find", looked_at()),
    "limits.manifest-bytes": Effect(1024, "too-large: w.json: ", verified),
    "limits.bundle-bytes": Effect(1024, "too-large: w.bundle: ", verified),
    "limits.frame-bytes": Effect(1024, "too-large: listing.json: ", saved),
    "limits.line-bytes": Effect(256 << 10, "a line of more than 262144 bytes ends the connection", outgrown),
    "limits.held-requests": Effect(
        1, "came while too many requests waited", guarded(call(), call()), contrast=False
    ),
    "limits.held-bytes": Effect(
        1024, "came while too many requests waited", guarded(call(x=2 * LONG)), contrast=False
    ),
    "limits.views": Effect(1, "too many protocol revisions", guarded(side("1"), side("2")), contrast=False),
    "limits.override-seconds": Effect(60, "at most 60 seconds", overridden),
    "limits.reverify-seconds": Effect(7, "again after 7 seconds", aged),
    "limits.quiet-seconds": Effect(5, "pauses up to 5 seconds", disturbed),
}


@pytest.mark.parametrize("option", some(OPTIONS, 3), ids=lambda option: option.path)
def test_each_limit_does_what_it_says(bench: Bench, option: LimitOption) -> None:
    effect = EFFECTS[option.path]
    if effect.contrast:
        assert effect.told not in effect.play(bench)
    limit(option.path, effect.value)
    assert effect.told in effect.play(bench)


def test_no_limit_is_left_out_here() -> None:
    assert EFFECTS.keys() == {option.path for option in OPTIONS}


# Which commands a limit reaches: two tools where one is allowed.

WEATHER = "io.github.acme/other"
LAUNCH = "npx -y @acme/weather"
# The words of commands; LAUNCHED is what starts the server, COMMAND the same as a source in one word.
READING = {
    "capture": "capture -o out.json -- LAUNCHED",
    "check a command": "check --server files -- LAUNCHED",
    "check a recorded command": "check --server files --start",
    "check a URL": "check WEB --server new",
    "check a file": "check two.json --server files",
    "check a manifest": "check captured.json --server files",
    "check a version": f"check {SERVER}@1.0.0 --server files --registry URL",
    "check against a signed pin": f"check one.json --server {SERVER} --offline",
    "check against what a registry offers": f"check one.json --server {WEATHER} --registry URL",
    "lock a command": "lock --server new --yes -- LAUNCHED",
    "lock a file": "lock --server new --yes two.json -- other",
    "lock a version": f"lock {SERVER}@2.0.0 --registry URL --yes -- other",
    "approve a command": "approve files -- LAUNCHED",
    "approve a version": f"approve {SERVER} {SERVER}@2.0.0 --registry URL",
    "revoke one tool of a signed pin": f"revoke {SERVER} find",
    "verify a manifest": "verify w.json w.bundle",
    "verify a source": "verify one.manifest one.bundle two.json",
    "sign": f"sign captured.json --key one.json --server {SERVER} --version 1 --sequence 1",
    "publish": "publish w.json w.bundle --registry URL",
    "diff commands": "diff COMMAND one.json",
    "diff files": "diff one.json two.json",
    "diff manifests": "diff captured.json captured.json",
    "diff a version": f"diff {SERVER}@1.0.0 one.json --registry URL",
    "diff a signed pin": f"diff toolnotary.lock#{SERVER} one.json",
}
# What ends before, or would ask a person: without the limit nothing else is to be seen of these.
ASKING = {"approve a command", "approve a version", "sign"}


def signer(publisher: Publisher) -> str:
    """The rule of a policy that lets this publisher sign."""
    return f'[[signers]]\nservers = "io.github.acme/*"\nkey = """\n{publisher.pem.decode()}"""\n'


@pytest.fixture
def published(bench: Bench, sqlite_registry: RunningRegistry) -> RunningRegistry:
    """A registry with versions of two tools, one of them pinned; this person's policy names their signer."""
    publisher = Publisher()
    sqlite_registry.claim(publisher)
    (home() / "toolnotary.toml").write_text(signer(publisher), encoding="utf-8")
    bench.listing(FIND, LOSE, name="two.json")
    bench.listing(FIND, name="one.json")

    def release(server: str, number: int, *tools: Json) -> Release:
        shown = forge.surface(*tools)
        built = UnnamedManifest.build(profiles={"default": (Profile.of(shown, transport="stdio"), shown)})
        Path("captured.json").write_bytes(built.canonical)
        made = built.named(
            server=server, version=f"{number}.0.0", artifacts=[Artifact("pkg:npm/%40acme/weather@1.0.0")]
        )
        return publisher.sign(made, sequence=number)

    one = release(SERVER, 1, FIND)
    Path("one.manifest").write_bytes(one.manifest)
    Path("one.bundle").write_bytes(one.bundle)
    for server, number in ((SERVER, 1), (SERVER, 2), (WEATHER, 1)):
        two = release(server, number, FIND, LOSE)
        Registry(sqlite_registry.url).publish(two.manifest, two.bundle)
        if (server, number) == (SERVER, 1):
            Path("w.json").write_bytes(two.manifest)
            Path("w.bundle").write_bytes(two.bundle)
    pinning = ["lock", f"{SERVER}@1.0.0", "--registry", sqlite_registry.url, "--yes", "--", *LAUNCH.split()]
    assert bench.run(*pinning)[0] == 0
    bench.pin()
    return sqlite_registry


@pytest.mark.parametrize("reading", some(list(READING), 2))
def test_a_limit_reaches_every_command_that_reads_what_others_wrote(
    bench: Bench, published: RunningRegistry, reading: str
) -> None:
    launched = bench.launch
    given = {"URL": [published.url], "LAUNCHED": launched, "COMMAND": ["stdio:" + shlex.join(launched)]}
    with serve(tools=[FIND, LOSE]) as web:
        given["WEB"] = [web.url]
        words = [one for word in READING[reading].split() for one in given.get(word, [word])]
        before = bench.files
        if reading not in ASKING:
            assert "at most 1 are" not in "".join(bench.run(*words)[1:])
        restore(before)
        limit("limits.tools", 1)
        code, out, err = bench.run(*words)
    assert code != 0
    assert "2 names, at most 1 are" in out + err or "2 entries, at most 1 are" in out + err


@pytest.mark.parametrize(
    "words",
    [
        "check one.json --server io.github.acme/third --registry URL",
        "lock io.github.acme/third@1.0.0 --registry URL --yes -- other",
        "diff io.github.acme/third@1.0.0 one.json --registry URL",
    ],
    ids=lambda words: words.split()[0],
)
def test_of_what_a_registry_serves_no_more_is_read_than_the_limit(
    bench: Bench, published: RunningRegistry, words: str
) -> None:
    policy = (home() / "toolnotary.toml").read_text(encoding="utf-8")
    publisher = Publisher()
    (home() / "toolnotary.toml").write_text(policy + signer(publisher), encoding="utf-8")
    published.claim(publisher, "io.github.acme/third")
    third = publisher.release(server="io.github.acme/third", description=2 * LONG)
    Registry(published.url).publish(third.manifest, third.bundle)
    limit("limits.manifest-bytes", 1024)
    told = "".join(bench.run(*(published.url if word == "URL" else word for word in words.split()))[1:])
    assert "registry-answer" in told
    assert "more than 1024 bytes" in told


@pytest.mark.parametrize("words", ["diff toolnotary.lock#files one.json", "diff one.json one.json"])
def test_a_limit_of_definitions_reaches_the_texts_of_pins_too(bench: Bench, words: str) -> None:
    bench.pin()
    bench.listing(FIND, name="one.json")
    assert "at most 64" not in "".join(bench.run(*words.split())[1:])
    limit("limits.definition-bytes", 64)
    assert "at most 64" in "".join(bench.run(*words.split())[1:])


def test_a_larger_limit_reaches_what_was_pinned_under_it(bench: Bench) -> None:
    """An object beside the lockfile is read within the same limits as what was looked at."""
    limit("limits.definition-bytes", 8 << 20)
    limit("limits.page-bytes", 16 << 20)
    huge = {**FIND, "description": " lines \n" * (700 << 10)}
    listing = bench.listing(huge)
    locked = bench.at_terminal("lock", "--server", "files", listing, "--", *bench.launch, answers=YES)
    assert locked.code == 0
    assert bench.run("check", listing, "--server", "files")[0] == 0
    dedented = bench.listing({**huge, "description": "lines\n" * (700 << 10)})
    code, result = bench.json("check", dedented, "--server", "files")
    assert (code, result["servers"][0]["counts"]) == (0, {"equivalent": 1}), "which needs the pinned text"
    (home() / "toolnotary.toml").unlink()
    assert bench.run("check", listing, "--server", "files")[0] == 1


def test_a_projects_file_makes_a_limit_smaller_at_once_and_larger_only_once_accepted(bench: Bench) -> None:
    check = ("check", bench.listing(FIND, LOSE), "--server", "files")
    Path("toolnotary.toml").write_text("limits.tools = 1\n", encoding="utf-8")
    assert "2 entries, at most 1 are" in bench.run(*check)[2]
    limit("limits.tools", 1)
    Path("toolnotary.toml").write_text("limits.tools = 2\n", encoding="utf-8")
    told = bench.run(*check)[2]
    assert "2 entries, at most 1 are" in told
    assert "the project's policy sets limits.tools to 2" in told
    assert "at most" not in bench.run(*check, "--accept-project")[2]
    assert bench.at_terminal("lock", "--accept-project", answers=YES).code == 0
    told = bench.run(*check)[2]
    assert "at most" not in told
    assert "limits.tools" not in told
