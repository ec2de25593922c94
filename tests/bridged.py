# SPDX-License-Identifier: Apache-2.0
"""A host that starts `toolnotary run --url` in place of a server, and servers that are pinned for it."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proxybench import SERVER, Wire
from servers.streaming import ABOUT, HANDSHAKE, STATELESS, TOOLS

from toolnotary_verifier.launch import Launch
from toolnotary_verifier.moves import pin_surface
from toolnotary_verifier.project import Project
from toolnotary_verifier.saved import read_saved

Json = Any
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def pin(url: str, tools: Sequence[Json] = TOOLS) -> None:
    """Pin these tools for a URL in the personal files of this test, as somebody who agreed would."""
    home = Path(os.environ["TOOLNOTARY_HOME"])
    home.mkdir(mode=0o700, exist_ok=True)
    project = Project.load(
        lockfile=home / "toolnotary.lock", state=home / "state.jsonl", personal_policy=None
    )
    opening = {"protocolVersion": HANDSHAKE, **ABOUT}
    surface = read_saved([json.dumps(opening).encode(), json.dumps({"tools": list(tools)}).encode()])
    pin_surface(surface, server=SERVER, launch=Launch.from_url(url)).apply(project)


def bridge(url: str, *options: str) -> list[str]:
    """The command that a host starts."""
    return [sys.executable, "-m", "toolnotary_cli", "run", "--server", SERVER, "--url", url, *options]


def request(request_id: Json, method: str, **params: Json) -> Json:
    """A request of the stateless era."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}}


def ask(wire: Wire, request_id: Json, method: str, **params: Json) -> Json:
    """The answer to such a request."""
    wire.write(json.dumps(request(request_id, method, **params)).encode() + b"\n")
    return wire.answer(request_id)
