# SPDX-License-Identifier: Apache-2.0
"""The main job with servers that others wrote: captured, signed, published, pinned, run, rug-pulled, blocked.

Every step is a command that a person would type, in a process of its own.
"""

import http.server
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from effort import some
from servers import mutate
from servers.publisher import NOW
from servers.real import SERVERS, RealServer
from servers.registry import RunningRegistry, serving
from terminal import run_at_terminal

from toolnotary_cli.demo.host import Host
from toolnotary_registry_api.publication import claim
from toolnotary_registry_api.settings import Settings
from toolnotary_registry_api.storage import Storage
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.manifest import Manifest

POLICY = """
[registry]
url = "{url}"

[[signers]]
servers = "com.example/*"
key = "publisher.pub"
"""


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    """The URL of a page on this machine, for the server that fetches pages."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            # No HTML: to simplify that, the server first installs packages from the network.
            body = b"hello from this machine"
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class Person:
    """Somebody with a folder, a home of their own, and the command."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)
        secret = folder / "passphrase"
        secret.write_text("correct horse battery staple\n", encoding="ascii")
        secret.chmod(0o600)
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TOOLNOTARY_", "ACTIONS_ID_"))
        }
        self.environment = {
            **own,
            **variables,
            "TOOLNOTARY_HOME": str(self.home),
            "TOOLNOTARY_LOCKFILE": str(self.home / "toolnotary.lock"),
            "TOOLNOTARY_KEY_PASSPHRASE_FILE": str(secret),
            "NO_COLOR": "1",
        }

    def answers(self, *words: str) -> str:
        """Run `toolnotary WORDS` at a terminal and say yes to every question; all that was shown."""
        command = [sys.executable, "-m", "toolnotary_cli", *words]
        yes = ("[yes/no]", "yes\n")
        session = run_at_terminal(command, yes, yes, environment=self.environment, directory=self.folder)
        assert session.code == 0, session.shown
        return session.shown

    def types(self, *words: str, expect: int = 0) -> str:
        """Run `toolnotary WORDS`; what it printed on both streams."""
        done = subprocess.run(
            [sys.executable, "-m", "toolnotary_cli", *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        printed = (done.stdout + done.stderr).decode()
        assert done.returncode == expect, printed
        return printed

    @contextmanager
    def hosts(self, *words: str) -> Iterator[Host]:
        """Start `toolnotary WORDS` as a host does, and end it as a host does."""
        command = [sys.executable, "-m", "toolnotary_cli", *words]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdin=pipe, stdout=pipe, stderr=pipe
        )
        assert process.stdin is not None
        try:
            host = Host(process)
            host.open()
            yield host
        finally:
            process.stdin.close()
            process.wait(60)
            for stream in (process.stdout, process.stderr):
                assert stream is not None
                stream.close()


def release(person: Person, registry: RunningRegistry, name: str, launch: list[str]) -> None:
    """What a publisher does: capture, sign, publish."""
    person.types("keygen", "-o", "publisher")
    person.types("capture", "-o", "captured.json", "--start-timeout", "120", "--", *launch)
    about = ["--server", name, "--version", "1.0.0", "--sequence", "1"]
    person.types("sign", "--key", "publisher.key", *about, "-o", "release", "captured.json")
    claim_key(registry, person.folder / "publisher.pub")
    person.types("publish", "--registry", registry.url, "release.manifest.json", "release.sigstore.json")


def pin(person: Person, registry: RunningRegistry, name: str, launch: list[str]) -> None:
    """What a person does who believes that publisher."""
    (person.home / "publisher.pub").write_bytes((person.folder / "publisher.pub").read_bytes())
    (person.home / "toolnotary.toml").write_text(POLICY.format(url=registry.url), encoding="utf-8")
    person.types("lock", f"{name}@1.0.0", "--yes", "--", *launch)


@pytest.mark.parametrize("real", some(SERVERS[::-1], 6), ids=str)
def test_a_real_server_is_pinned_and_a_rug_pull_on_the_live_connection_is_blocked(
    real: RealServer, tmp_path: Path, page: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    flag = tmp_path / "mutate-now"
    launch = mutate.command(real.argv(work), when=flag, tool=real.target)
    person = Person(tmp_path, real.variables(work))
    name = f"com.example/{real.name}"
    with serving(Settings(database=f"sqlite:///{tmp_path / 'registry.sqlite'}")) as registry:
        release(person, registry, name, launch)
        pin(person, registry, name, launch)
    # From here on there is no registry: what is pinned works without one.
    with person.hosts("run", "--server", name, "--", *launch) as host:
        before = host.tools()
        assert set(before) == manifest_tools(tmp_path / "release.manifest.json")
        refused, words = host.call(real.tool, **real.call(work, page))
        assert not refused, words
        assert not [line for line in host.said if line.startswith("toolnotary: ")], "all is as pinned"

        flag.touch()
        after = host.tools()
        assert set(before) - set(after) == {real.target}
        refused, words = host.call_once_judged(real.target)
        assert refused
        assert mutate.POISON not in words + "".join(after.values())
        if real.prompt is None:
            refused, said = host.call(real.tool, **real.call(work, page))
            assert not refused, said
        else:  # it has one tool, and a prompt beside it
            assert set(before) == {real.target}
            asked = {"name": real.prompt, "arguments": real.call(work, page)}
            assert host.ask("prompts/get", asked)["messages"]
        told = said_by(host, "toolnotary approve")

    # The refusal names a command that reads and does nothing else; what a person sees names how to review.
    explain = command_in(words, "explain")
    assert real.target in person.types(*explain[1:])
    approve = command_in(told, "approve")
    assert approve[1:3] == ["approve", name]
    assert "no-terminal" in person.types("approve", name, "--offline", "--", *launch, expect=1)
    changed = person.types("diff", "release.manifest.json#default", f"stdio:{shlex.join(launch)}", expect=1)
    assert real.target in changed
    assert "POISON" in changed
    flag.unlink()
    person.types("check", "--server", name, "--offline", "--", *launch)

    # A person who reads the change and wants it types that command, and then the tool is theirs to call.
    flag.touch()
    shown = person.answers(*approve[1:])
    assert f"tool {real.target}" in shown
    assert "POISON" in shown
    with person.hosts("run", "--server", name, "--", *launch) as host:
        assert set(host.tools()) == set(before)
        refused, words = host.call(real.target, **real.target_call(work, page))
        assert not refused, words


def manifest_tools(path: Path) -> set[str]:
    """The tools of the profile that the host is in."""
    return {name for kind, name in Manifest.parse(path.read_bytes()).profile("default") if kind is Kind.TOOL}


def claim_key(registry: RunningRegistry, pem: Path) -> None:
    """What a registry's operator does."""
    with closing(Storage.open(registry.settings.database)) as storage:
        claim(storage, "com.example/*", pem.read_bytes(), at=NOW)


def said_by(host: Host, awaited: str) -> str:
    """All that the proxy wrote to standard error, once the awaited words are in it."""
    deadline = time.monotonic() + 60
    while awaited not in (told := "\n".join(host.said)):
        assert time.monotonic() < deadline, told
        time.sleep(0.05)
    return told


def command_in(text: str, verb: str) -> list[str]:
    """The command that a text names; a line of the proxy ends with its code in brackets."""
    found = re.search(rf"toolnotary {verb}[^\n`]*?(?=$|`| \[[a-z-]+\]$)", text, re.MULTILINE)
    assert found, text
    return shlex.split(found[0].rstrip(".)"))
