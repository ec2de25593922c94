# SPDX-License-Identifier: Apache-2.0
"""Lists through `toolnotary run` while a server announces, also while it is asked: few are asked for."""

import json
import time
from pathlib import Path
from typing import Any

import proxybench
import pytest
from proxybench import Wire
from servers import scripted

Json = Any
CHANGED = "notifications/tools/list_changed"
PULL = {"set": {"tools": scripted.PULLED}}


def started(record: Path, *rules: Json) -> Wire:
    """A host that has shaken hands with a pinned server that keeps what it was sent."""
    argv = scripted.command({"record": str(record), "rules": list(rules)})
    proxybench.pin_scripted(argv)
    host = Wire(proxybench.run(argv))
    host.shake_hands()
    return host


def listings(record: Path) -> int:
    """How often the server was asked for its tools."""
    return sum(json.loads(line).get("method") == "tools/list" for line in record.read_bytes().splitlines())


def announced(host: Wire) -> int:
    return sum(CHANGED.encode() in frame for frame in host.frames)


@pytest.mark.parametrize("times", [1, 200])
def test_a_call_after_a_storm_is_judged_by_the_last_state(tmp_path: Path, times: int) -> None:
    storm = {"on": "ping", "do": [PULL, {"notify": CHANGED, "times": times}, "default"]}
    with started(tmp_path / "record", storm) as host:
        assert not host.call("echo", "before")[0]
        host.ask("ping", "ping")
        assert host.call("echo", "after")[0]
        assert not host.call("add", "pinned")[0]
        time.sleep(3)
        host.ask("again", "completion/complete", {})
        assert listings(tmp_path / "record") <= 4
        assert 1 <= announced(host) <= 3


def test_a_server_that_announces_while_it_is_listed_is_no_loop(tmp_path: Path) -> None:
    loop = {"on": "tools/list", "do": [{"notify": CHANGED, "times": 20}, "default"]}
    with started(tmp_path / "record", loop) as host:
        assert host.tools() == [tool["name"] for tool in scripted.TOOLS]
        time.sleep(4)
        host.ask("ping", "ping")
        assert listings(tmp_path / "record") <= 5
        assert announced(host) <= 4


def test_a_connection_that_is_opened_anew_is_verified_anew(tmp_path: Path) -> None:
    pulled = {"on": "initialize", "nth": 2, "do": [PULL, "default"]}
    with started(tmp_path / "record", pulled) as host:
        assert not host.call("echo", "before")[0]
        host.shake_hands()
        assert host.call("echo", "after")[0]
        assert not host.call("add", "pinned")[0]
