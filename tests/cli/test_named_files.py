# SPDX-License-Identifier: Apache-2.0
"""A file that the command line or a variable names must be there, whatever else is given (exit code 2)."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from effort import some
from forge import surface
from pinned_servers import FIND, Bench, bench
from servers.publisher import Publisher

from toolnotary_cli.main import COMMANDS, toolnotary
from toolnotary_verifier.manifest import Profile, UnnamedManifest

__all__ = ["bench"]

ABSENT = "absent.file"
VARIABLES = {"--policy": "TOOLNOTARY_POLICY", "--lockfile": "TOOLNOTARY_LOCKFILE"}
# Each command with everything that would let it go on without the file that is asked about.
COMPLETE = {
    "capture": ["capture", "-o", "out.json", "https://mcp.acme.example/"],
    "sign": ["sign", "--key", "k.key", "--server", "a/b", "--version", "1", "--sequence", "1", "m.json"],
    "publish": ["publish", "v.json", "b.json", "--registry", "http://127.0.0.1:9"],
    "verify": ["verify", "v.json", "b.json", "--key", "v.pub"],
    "diff": ["diff", "l.json", "l.json", "--registry", "http://127.0.0.1:9"],
    "lock": ["lock", "a/b@1", "--registry", "http://127.0.0.1:9", "--", "true"],
    "check": ["check", "l.json", "--server", "files", "--offline"],
    "approve": ["approve", "files", "l.json", "--offline"],
    "revoke": ["revoke", "files"],
    "break-glass": ["break-glass", "files", "--reason", "x", "--seen"],
    "status": ["status"],
    "run": ["run", "--server", "files", "--", "touch", "started"],
    "gateway": ["gateway", "--upstream", "http://127.0.0.1:9/mcp", "--port", "0"],
    "scan": ["scan", "h.json"],
    "wrap": ["wrap", "h.json", "--host", "cursor"],
    "explain": ["explain", "files"],
    "history": ["history", "a/b", "--registry", "http://127.0.0.1:9"],
    "snapshot": ["snapshot", "l.json"],
}
# Files that a command writes.
WRITTEN = {("capture", "-o"), ("keygen", "-o"), ("sign", "-o"), ("lock", "--lockfile"), ("snapshot", "-o")}


def named_files() -> Iterator[tuple[str, str]]:
    """Every option of every command that names a file."""
    root = click.Context(toolnotary, info_name="toolnotary")
    for name in COMMANDS:
        command = toolnotary.get_command(root, name)
        assert command is not None
        for option in command.params:
            if isinstance(option, click.Option) and isinstance(option.type, click.Path | click.File):
                yield name, option.opts[0]


READ = sorted(set(named_files()) - WRITTEN)


@pytest.fixture(autouse=True)
def _all_else_is_there(bench: Bench) -> None:
    bench.listing(FIND, name="l.json")
    assert bench.run("keygen", "-o", "k", "--no-passphrase")[0] == 0
    built = UnnamedManifest.build(profiles={"default": (Profile(), surface(FIND))})
    Path("m.json").write_bytes(built.canonical)
    Path("a.folder").mkdir()
    Path("h.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    publisher = Publisher()
    release = publisher.release()
    for name, content in (("v.json", release.manifest), ("b.json", release.bundle), ("v.pub", publisher.pem)):
        Path(name).write_bytes(content)


def with_option(command: list[str], *more: str) -> list[str]:
    at = command.index("--") if "--" in command else len(command)
    return [*command[:at], *more, *command[at:]]


def ended(*arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a command in a process of its own: `run` makes others of it."""
    command = [sys.executable, "-m", "toolnotary_cli", *arguments]
    ran = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
    )
    return ran.returncode, ran.stdout, ran.stderr


def test_every_option_that_names_a_file_is_asked_about_here() -> None:
    assert {option for _, option in READ} == {
        "--ca-file",
        "--config",
        "--key",
        "--lockfile",
        "--policy",
        "--tls-certificate",
        "--tls-key",
    }
    assert {name for name, _ in READ} == set(COMPLETE)


@pytest.mark.parametrize(("name", "option"), some(READ, 2))
@pytest.mark.parametrize("what", [ABSENT, "a.folder"])
def test_a_file_that_is_not_there_or_a_folder_is_told(
    name: str, option: str, what: str, bench: Bench
) -> None:
    before = bench.files
    code, out, err = ended(*with_option(COMPLETE[name], option, what))
    assert (code, out) == (2, "")
    assert what in err
    assert bench.files == before


@pytest.mark.parametrize(("name", "option"), some([pair for pair in READ if pair[1] in VARIABLES], 2))
def test_a_variable_that_names_a_file_is_held_to_the_same(
    name: str, option: str, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLES[option], ABSENT)
    before = bench.files
    code, out, err = ended(*COMPLETE[name])
    assert (code, out, ABSENT in err) == (2, "", True)
    assert VARIABLES[option] in err, "the message says where the name may come from"
    assert bench.files == before


@pytest.mark.parametrize("name", [name for name, option in READ if option == "--policy"])
def test_a_policy_that_is_not_valid_is_told_whatever_it_is_needed_for(name: str) -> None:
    Path("p.toml").write_text("on_drfit = 'block'\n", encoding="utf-8")
    code, out, err = ended(*with_option(COMPLETE[name], "--policy", "p.toml"))
    assert (code, out, "policy-unknown-key: p.toml" in err) == (2, "", True)


def test_only_lock_writes_the_lockfile_that_is_named(bench: Bench) -> None:
    session = bench.at_terminal(
        "lock",
        "--lockfile",
        "new.lock",
        "--server",
        "files",
        "--",
        *bench.launch,
        answers=(("[yes/no]", "yes\n"),),
    )
    assert session.code == 0, session.shown
    assert Path("new.lock").is_file()


@pytest.mark.parametrize(
    "arguments", [["diff", "l.json+absent.file", "l.json"], ["check", "l.json+absent.file"]]
)
def test_the_one_of_several_joined_files_that_is_missing_is_named(arguments: list[str], bench: Bench) -> None:
    code, _, err = bench.run(*arguments)
    assert (code, "source: absent.file: there is no such file" in err) == (2, True)
