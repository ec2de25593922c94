# SPDX-License-Identifier: Apache-2.0
"""The README's commands for publishing and using a server, as printed.

Two things are replaced: the registry's URL by that of one on loopback, and `npx` by a program of that name
that starts a server of the tests.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from conftest import ROOT
from servers import scripted
from servers.registry import serving
from terminal import Session, run_at_terminal

from toolnotary_cli import places
from toolnotary_cli.demo.host import Host
from toolnotary_registry_api.settings import Settings

SERVER = "io.github.acme/weather"


def block(name: str) -> str:
    """What the README prints between two marks, without its indentation."""
    found = re.search(
        rf"<!-- {name} -->\n\n(.*?)\n\n<!-- end -->", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert found is not None
    return re.sub("(?m)^    ", "", found[1]) + "\n"


class Person:
    """Who follows the README in a directory of their own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self._url = url

    def text(self, name: str) -> str:
        return block(name).replace("https://registry.acme.example", self._url)

    def types(self, script: str, *answers: tuple[str, str]) -> Session:
        """Lines in a shell, on a terminal; the first that fails ends it."""
        session = run_at_terminal(["/bin/sh", "-ec", script], *answers, directory=self.folder)
        assert session.code == 0, session.shown
        return session

    def hosts(self, line: str, folder: Path) -> list[str]:
        """The tools that a host gets which starts this line in a folder of its own."""
        with subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
        ) as process:
            try:
                host = Host(process)
                host.open()
                return sorted(host.tools())
            finally:
                assert process.stdin is not None
                process.stdin.close()
                process.terminate()


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """A published server, by the README's own lines, and the policy that it prints."""
    programs, folder = tmp_path / "programs", tmp_path / "folder"
    programs.mkdir()
    folder.mkdir()
    for name, command in (
        ("npx", scripted.command()[:2]),
        ("toolnotary", [sys.executable, "-m", "toolnotary_cli", '"$@"']),
    ):
        words = " ".join(word if word == '"$@"' else shlex.quote(word) for word in command)
        (programs / name).write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    (folder / "passphrase").write_text("correct horse battery staple\n", encoding="utf-8")
    monkeypatch.setenv("TOOLNOTARY_KEY_PASSPHRASE_FILE", str(folder / "passphrase"))
    settings = Settings(database=places.registry_database())
    with serving(settings, now=datetime.now(UTC)) as running:
        one = Person(folder, running.url)
        one.types(one.text("once"))
        one.types(one.text("release"))
        home = places.home()
        (home / "toolnotary.toml").write_text(one.text("policy"), encoding="utf-8")
        (home / "release.pub").write_bytes((folder / "release.pub").read_bytes())
        yield one


def test_who_follows_the_readme_has_a_guarded_server(person: Person, tmp_path: Path) -> None:
    lock, run = person.text("use").splitlines()
    session = person.types(lock, ("[yes/no]", "yes\n"))
    assert f"    {run}\n" in session.shown, "lock ends with the line that the README prints"
    assert person.hosts(run, tmp_path) == ["add", "echo", "read_file"]


def test_who_follows_it_inside_a_repository_has_one_too(person: Person, tmp_path: Path) -> None:
    (person.folder / ".git").mkdir()
    lock, _ = person.text("use").splitlines()
    session = person.types(lock, ("[yes/no]", "yes\n"))
    _, _, told = session.shown.partition("let your host start it with:\n")
    line = told.splitlines()[0].strip()
    assert f"--lockfile {person.folder / 'toolnotary.lock'}" in line
    assert person.hosts(line, tmp_path) == ["add", "echo", "read_file"]


def test_a_pipeline_that_runs_again_ends_as_the_first_time(person: Person) -> None:
    before = (person.folder / "weather.manifest.json").read_bytes()
    person.types(person.text("release"))
    assert (person.folder / "weather.manifest.json").read_bytes() == before
