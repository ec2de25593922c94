# SPDX-License-Identifier: Apache-2.0
"""Break-glass on a connection that is open: blocked, let pass, over, blocked again; what ends it early."""

import os
import subprocess
import sys
import time
from pathlib import Path

from audit_lines import audit_lines
from proxybench import Wire
from proxybench import run as run_command
from servers import mutate
from servers.publisher import SERVER, Publisher
from servers.real import SERVERS
from servers.registry import RunningRegistry, sqlite_registry
from signed_servers import ADD, ECHO, EVIL, Bench, changed
from terminal import at_terminal

__all__ = ["changed", "sqlite_registry"]

YES = (("[yes/no]", "yes\n"),)


def opened(changed: Bench) -> Wire:
    host = changed.hosts()
    host.shake_hands()
    assert host.tools("before") == ["add"]
    assert host.call("echo", "first")[0]
    return host


def break_glass(*options: str) -> None:
    words = ["break-glass", SERVER, "--reason", "index is down", "--start", *options]
    session = at_terminal(words, *YES)
    assert session.code == 0, session.shown


def command(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolnotary_cli", *arguments], check=False, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_what_was_let_pass_passes_on_the_open_connection_and_not_beyond_its_time(
    home: Path, changed: Bench
) -> None:
    lockfile = (home / "toolnotary.lock").read_bytes()
    with opened(changed) as host:
        break_glass("--for", "12s")
        host.told()
        assert not host.call("echo", "meanwhile")[0]
        assert "no pin lets this pass: tool echo (override)" in host.wait_said("[override]")
        host.told(2)
        is_refused, text = host.call("echo", "afterwards")
        assert is_refused
        assert "(changed)" in text
        assert host.tools() == ["add"]
        assert host.end() == 0
    lines = [(line["event"], line["request"]) for line in audit_lines() if line["name"] == "echo"]
    assert [line for line in lines if line[0] != "judged"] == [
        ("refused", "first"),
        ("broke-glass", None),
        ("allowed", "meanwhile"),
        ("expired", None),
        ("refused", "afterwards"),
    ]
    assert (home / "toolnotary.lock").read_bytes() == lockfile
    assert b'"override-ended"' in (home / "state.jsonl").read_bytes(), "no clock brings it back"


def test_what_was_let_pass_is_ended_early_on_the_open_connection(changed: Bench) -> None:
    with opened(changed) as host:
        break_glass()
        host.told()
        assert not host.call("echo", "meanwhile")[0]
        command("revoke", SERVER, "--override")
        host.told(2)
        assert host.call("echo", "afterwards")[0]
        assert host.tools() == ["add"]
        assert host.end() == 0


def test_a_policy_that_forbids_it_ends_it_on_the_open_connection(home: Path, changed: Bench) -> None:
    with opened(changed) as host:
        break_glass()
        host.told()
        assert not host.call("echo", "meanwhile")[0]
        (home / "toolnotary.toml").write_text("break-glass = false\n", encoding="utf-8")
        host.told(2)
        assert host.call("echo", "afterwards")[0]
        assert host.end() == 0


def test_a_connection_that_opens_meanwhile_is_held_to_the_same(changed: Bench) -> None:
    break_glass()
    with changed.hosts() as host:
        host.shake_hands()
        assert host.tools() == ["add", "echo"]
        assert not host.call("echo")[0]
        command("revoke", SERVER, "--override")
        host.told()
        assert host.call("echo", "afterwards")[0]
        assert host.end() == 0


def test_a_real_server_that_was_rug_pulled_works_for_a_while(home: Path, tmp_path: Path) -> None:
    real, flag = SERVERS[0], tmp_path / "mutate-now"
    work = tmp_path / "work"
    work.mkdir()
    for name, value in real.variables(work).items():
        os.environ[name] = value
    launch = mutate.command(real.argv(work), when=flag, tool=real.target)
    lock = ["lock", "--server", "acme/real", "--", *launch]
    assert at_terminal(lock, *YES, directory=tmp_path).code == 0
    lockfile = tmp_path / "toolnotary.lock"
    if not lockfile.exists():
        lockfile = home / "toolnotary.lock"
    flag.touch()
    options = ["--lockfile", str(lockfile)]
    with Wire(run_command(launch, server="acme/real", options=options)) as host:
        host.shake_hands()
        assert real.target not in host.tools("before")
        words = ["break-glass", "acme/real", "--reason", "x", "--for", "15s", *options, "--seen"]
        session, deadline = at_terminal(words, *YES), time.monotonic() + 30
        while session.code == 3 and time.monotonic() < deadline:  # it is kept beside what is relayed
            session = at_terminal(words, *YES)
        assert session.code == 0, session.shown
        assert mutate.POISON.strip() in session.shown
        host.told()
        assert real.target in host.tools("meanwhile")
        host.told(2)
        assert real.target not in host.tools("afterwards")
        assert "Blocked by toolnotary" in host.call(real.target)[1]
        host.end()


def test_what_another_identity_signed_is_noticed_where_a_registry_is_asked(
    changed: Bench, sqlite_registry: RunningRegistry
) -> None:
    first, theirs = changed.signed("1.0.0", [ADD, ECHO]), Publisher()
    mine = changed.publisher
    sqlite_registry.claim(mine)
    changed.publisher = theirs
    second = changed.signed("2.0.0", [ADD, EVIL])
    changed.publish(sqlite_registry, second)
    key = theirs.pem.decode()
    changed.publisher = mine
    changed.trust(None, more=f'[[signers]]\nservers = "io.github.acme/*"\nkey = """{key}"""\n')
    (changed.home / "toolnotary.lock").unlink()
    changed.pin(first)
    words = ["break-glass", SERVER, "--reason", "x", "--start"]
    asked = at_terminal([*words, "--registry", sqlite_registry.url], *YES)
    assert (asked.code, "stays so (signer-changed)" in asked.shown) == (1, True), asked.shown
    (changed.home / "toolnotary.toml").write_text(
        f'[registry]\nurl = "{sqlite_registry.url}"\n'
        + (changed.home / "toolnotary.toml").read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    assert at_terminal(words, *YES).code == 1, "the policy names the registry"
    offline = at_terminal([*words, "--offline"], *YES)
    assert offline.code == 0, offline.shown
