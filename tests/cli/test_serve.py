# SPDX-License-Identifier: Apache-2.0
"""`toolnotary serve` as a process: told to stop, killed, and started where something is in its way."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from servers.publisher import NOW, Publisher

from toolnotary_cli.main import main
from toolnotary_registry_api.publication import claim
from toolnotary_registry_api.storage import Storage
from toolnotary_verifier.fetch import Registry

SERVE = [sys.executable, "-m", "toolnotary_cli", "serve", "--port", "0"]


@contextmanager
def started(*options: str) -> Iterator[tuple[subprocess.Popen[str], Registry]]:
    """A registry in a process of its own, and a client of the URL that it told."""
    with subprocess.Popen([*SERVE, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        try:
            said, _, url = line.rpartition(" ")
            assert said == "registry listening on"
            yield process, Registry(url.strip(), insecure_http=True)
        finally:
            process.kill()


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'registry.sqlite'}"


@pytest.fixture
def publisher(database: str) -> Publisher:
    publisher = Publisher()
    with closing(Storage.open(database)) as storage:
        claim(storage, "io.github.acme/*", publisher.pem, at=NOW)
    return publisher


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_registry_ends_in_order_when_it_is_told_to(database: str, number: int, expected: int) -> None:
    with started("--database", database) as (process, registry):
        process.send_signal(number)
        assert process.wait(timeout=30) == expected
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        assert registry.url.startswith("http://127.0.0.1:")


def test_what_was_published_outlives_a_kill(database: str, publisher: Publisher) -> None:
    release = publisher.release()
    with started("--database", database) as (process, registry):
        assert registry.publish(release.manifest, release.bundle).created
        process.kill()
        process.wait(timeout=30)
    with started("--database", database) as (_, registry):
        assert registry.manifest("io.github.acme/weather", "1.0.0").bundle == release.bundle
        assert not registry.publish(release.manifest, release.bundle).created


def test_a_registry_stores_in_the_personal_directory_unless_told_otherwise() -> None:
    with started():
        assert (Path(os.environ["TOOLNOTARY_HOME"]) / "registry.sqlite").is_file()


def test_an_ipv6_address_is_told_in_brackets(database: str) -> None:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            pass
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with started("--database", database, "--host", "::1") as (_, registry):
        assert registry.url.startswith("http://[::1]:")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])  # noqa: S104 - what must be refused
def test_an_address_that_others_reach_must_be_asked_for(
    database: str, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--database", database, "--host", host, "--port", "0"]) == 2
    assert "not-loopback" in capsys.readouterr().err


def test_an_address_that_others_reach_is_taken_when_asked_for(database: str) -> None:
    with started("--database", database, "--host", "0.0.0.0", "--allow-remote") as (process, _):  # noqa: S104
        process.terminate()
        assert process.wait(timeout=30) == 0


def test_a_port_in_use_is_named(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--database", database, "--port", port]) == 2
    shown = capsys.readouterr().err
    assert "cannot-listen" in shown
    assert port in shown


@pytest.mark.parametrize(
    ("url", "expected", "code"),
    [
        ("nonsense", 2, "database-url"),
        ("postgresql://u:geheim@127.0.0.1:1/x", 3, "database-unreachable"),
        ("sqlite:////nonexistent/registry.sqlite", 3, "database-unreachable"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_without_its_password(
    url: str, expected: int, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "0", "--database", url]) == expected
    shown = capsys.readouterr().err
    assert code in shown
    assert "geheim" not in shown


def test_a_file_that_is_no_database_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "registry.sqlite").write_bytes(b"this is no database at all\n" * 100)
    database = f"sqlite:///{tmp_path / 'registry.sqlite'}"
    assert main(["serve", "--port", "0", "--database", database]) == 4
    assert "database-corrupt" in capsys.readouterr().err
