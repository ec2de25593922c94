# SPDX-License-Identifier: Apache-2.0
"""A recorded launch is started again word for word, or not at all."""

import shlex
from pathlib import Path

import pytest

from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.errors import CannotTell
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.relaunch import startable

BASE = Path("/srv/project")


def recorded(line: str) -> JsonObject:
    return Launch.from_command(shlex.split(line), base=BASE, environment={"HOME": "/home/ada"}).recorded


def test_a_recorded_launch_can_be_started_again() -> None:
    found = recorded("npx -y @acme/weather@1.4.0 ./notes /home/ada/x")
    environment = {"HOME": "/home/bob"}
    again = startable(found, base=Path("/clone"), environment=environment)
    assert again == ["npx", "-y", "@acme/weather@1.4.0", "/clone/notes", "/home/bob/x"]


def test_placeholders_are_filled_from_the_environment_when_it_is_started() -> None:
    found = recorded("serve --token ${TOKEN}")
    assert startable(found, base=BASE, environment={"TOKEN": "x"}) == ["serve", "--token", "x"]


@pytest.mark.parametrize("line", ["serve --token abc", "sh -c 'serve'", "serve ${UNSET}"])
def test_a_recorded_launch_that_leaves_something_out_cannot_be_started(line: str) -> None:
    with pytest.raises(CannotTell) as caught:
        startable(recorded(line), base=BASE, environment={})
    assert caught.value.code == "launch-masked"


def test_a_value_that_looks_like_a_placeholder_is_handed_on_as_it_is() -> None:
    environment = {"A": "${B}", "B": "x", "C": "***"}
    assert startable(recorded("serve ${A} ${C}"), base=BASE, environment=environment) == [
        "serve",
        "${B}",
        "***",
    ]


def test_a_url_is_no_command() -> None:
    with pytest.raises(CannotTell) as caught:
        startable({"url": "https://mcp.acme.example/"}, base=BASE, environment={})
    assert caught.value.code == "launch-remote"
