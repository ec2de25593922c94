# SPDX-License-Identifier: Apache-2.0
"""A transport for httpx and httpx2 with a gate in it (extras `httpx`, `httpx2`).

    transport = guarded(httpx, "https://mcp.acme.example/mcp", server="acme")
    async with httpx.AsyncClient(transport=transport) as client:
        ...                                             # streamable_http_client(url, http_client=client)

It sees the bytes of every message, event streams included, and leaves the URL as it is, so that whoever signs
in by OAuth goes on doing so. Which of the two libraries it is for, the caller says; neither is imported here.
"""

from toolnotary_verifier.shells.httpx.guarded import guarded, guarded_clients

__all__ = ["guarded", "guarded_clients"]
