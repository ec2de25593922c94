# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio that says, byte for byte, what one side of a before/after case holds.

Usage: python saved.py FOLDER SIDE

`SIDE.json` and `SIDE.pageN.json` answer `tools/list`, `SIDE.prompts.json` and `SIDE.resources.json` those
lists, `SIDE.init.json` joins the answer to `initialize`; where `SIDE.loop` exists, the cursor never ends.
Only line feeds become spaces: a message is one line. Every call is answered, and told on standard error.
"""

import json
import sys
from pathlib import Path
from typing import Any

LISTS = {"prompts/list": "prompts", "resources/list": "resources"}
USES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def command(folder: Path, side: str) -> list[str]:
    """The argv that starts this server."""
    return [sys.executable, "-S", "-E", str(Path(__file__).resolve()), str(folder), side]


def opening(folder: Path, side: str) -> dict[str, Any]:
    """The answer to `initialize`."""
    served = ["tools", *(name for name in LISTS.values() if (folder / f"{side}.{name}.json").exists())]
    said = folder / f"{side}.init.json"
    return {
        "protocolVersion": "2025-06-18",
        "capabilities": {name: {} for name in served},
        "serverInfo": {"name": "fixture", "version": "1.0.0"},
        **(json.loads(said.read_bytes()) if said.exists() else {}),
    }


def pages(folder: Path, side: str) -> list[bytes]:
    """The results of `tools/list`, in order."""
    first = (folder / f"{side}.json").read_bytes()
    if (folder / f"{side}.loop").exists():
        first = first.rstrip().removesuffix(b"}") + b',"nextCursor":"again"}'
    rest = sorted(folder.glob(f"{side}.page*.json"))
    return [one.replace(b"\n", b" ") for one in (first, *(path.read_bytes() for path in rest))]


def listed(folder: Path, side: str, name: str) -> bytes:
    """The result of another list."""
    path = folder / f"{side}.{name}.json"
    return path.read_bytes().replace(b"\n", b" ") if path.exists() else b'{"%s":[]}' % name.encode()


def answer(folder: Path, side: str, method: str, params: dict[str, Any]) -> bytes:
    """The result of one request."""
    if method == "initialize":
        return json.dumps(opening(folder, side)).encode()
    if method == "tools/list":
        found = pages(folder, side)
        cursor = str(params.get("cursor", "1"))
        return found[min(int(cursor), len(found)) - 1 if cursor.isdecimal() else 0]
    if method in LISTS:
        return listed(folder, side, LISTS[method])
    if method in USES:
        what = params.get(USES[method])
        sys.stderr.write(f"called {method} {json.dumps(what)}\n")
        sys.stderr.flush()
        return json.dumps({"content": [{"type": "text", "text": f"did {what}"}]}).encode()
    return b"{}"


def main() -> None:
    """Answer until standard input ends."""
    folder, side = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(folder, side, message["method"], message.get("params") or {})
        number = json.dumps(message["id"]).encode()
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":' + number + b',"result":' + result + b"}\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
