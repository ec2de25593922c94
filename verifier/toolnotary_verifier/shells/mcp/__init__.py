# SPDX-License-Identifier: Apache-2.0
"""The transport of the MCP Python SDK: a gate between a client session and any transport (extra `mcp`).

    async with guarded(stdio_client(parameters), parameters, server="acme") as streams:
        async with ClientSession(*streams) as session:
            ...

It works where both majors of the SDK are alike: a transport is an asynchronous context manager that yields a
stream to read and one to write, of `SessionMessage`. What is judged there is what the SDK parsed, and no
longer the bytes: of a key that was repeated it shows the last one alone. So every judgement here says
`inspection: parsed`, and a policy may refuse it (docs/reference/embedding.md).
"""

try:
    import mcp.shared.message  # noqa: F401 - whether it is there
except ImportError as error:
    raise ImportError(
        "toolnotary_verifier.shells.mcp needs the MCP SDK: pip install 'toolnotary-verifier[mcp]'"
    ) from error

from toolnotary_verifier.shells.mcp.guarded import guarded

__all__ = ["guarded"]
