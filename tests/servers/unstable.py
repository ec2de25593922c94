# SPDX-License-Identifier: Apache-2.0
"""A server whose definitions depend on how it was started, as real ones do by accident.

Usage: python unstable.py [HOW [ARG]], where HOW is

    set            a description joins a set of words: another order for another hash seed
    cwd            a description holds the working directory
    flicker FILE   a tool that only every second start lists (starts are counted in FILE)
    pid            a description holds the process id
    empty-first FILE   the first start lists nothing at all
    fixed-cwd      starts only where a file `here` stands
    by-revision    a description names the revision, another the client's capabilities
    secret VALUE   a description repeats VALUE
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

METHOD_NOT_FOUND = {"code": -32601, "message": "method not found"}


def tool(name: str, description: str) -> dict[str, Any]:
    """A definition without parameters."""
    return {"name": name, "description": description, "inputSchema": {"type": "object"}}


def count(file: str) -> int:
    """How often this was asked before, over all processes."""
    path = Path(file)
    before = int(path.read_text(encoding="ascii")) if path.exists() else 0
    path.write_text(str(before + 1), encoding="ascii")
    return before


def tools(how: str, rest: list[str], starts: int, hello: dict[str, Any]) -> list[dict[str, Any]]:
    """What is listed."""
    steady = tool("steady", "Always the same.")
    if how == "set":
        words = {"ls", "cat", "pwd", "grep", "head", "tail", "sort", "wc"}
        return [steady, tool("run", "Allowed: " + ", ".join(words) + ".")]
    if how == "cwd":
        return [steady, tool("save", f"Saves below {Path.cwd()}.")]
    if how == "pid":
        return [steady, tool("self", f"Talks to process {os.getpid()}.")]
    if how == "flicker":
        return [steady, tool("extra", "Now and then.")] if starts % 2 else [steady]
    if how == "empty-first":
        return [steady] if starts else []
    if how == "by-revision":
        able = "able" if hello["capabilities"] else "plain"
        return [steady, tool("era", hello["protocolVersion"]), tool("client", able)]
    return [steady, tool("leak", f"Uses {rest[0]}.")] if how == "secret" else [steady]


def main(how: str = "steady", *rest: str) -> None:
    """Serve the handshake era until stdin ends."""
    if how == "fixed-cwd" and not Path("here").exists():
        sys.exit("there is no `here` here")
    starts = count(rest[0]) if how in ("flicker", "empty-first") else 0
    hello: dict[str, Any] = {}
    for line in sys.stdin:
        message = json.loads(line)
        answer: dict[str, Any] = {"error": METHOD_NOT_FOUND}
        if message["method"] == "initialize":
            hello = message["params"]
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "unstable", "version": "1"}}
            answer = {"result": {"protocolVersion": hello["protocolVersion"], **about}}
        elif message["method"] == "tools/list":
            answer = {"result": {"tools": tools(how, list(rest), starts, hello)}}
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
