# SPDX-License-Identifier: Apache-2.0
"""A server of both eras that shows everything that the protocol has, for the public conformance suite.

    .tests/mcp2/bin/python tests/servers/everything [--json] [--stateless] [--stdio]

Over HTTP it takes a free port, and its URL is the first line of its standard output. It needs `mcp` 2, which
has an environment of its own (tests/prepare.py).
"""

import argparse
import functools
import socket
import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server import CacheHint, NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import EventMessage
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from servers.everything import asking, content, definitions, tools

Json = Any
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")


class Events:
    """The events of every stream, so that a client that comes back gets what it missed."""

    def __init__(self) -> None:
        self._events: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        """Keep an event; its id."""
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        """Send what came after an event on its stream; the stream."""
        last = int(last_event_id) if last_event_id.isdecimal() else 0
        if not 0 < last <= len(self._events):
            return None
        stream = self._events[last - 1][0]
        for number, (found, message) in enumerate(self._events[last:], last + 1):
            if found == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


async def _tools(_ctx: Any, _params: Any) -> Any:
    return types.ListToolsResult.model_validate({"tools": definitions.TOOLS})


async def _prompts(_ctx: Any, _params: Any) -> Any:
    return types.ListPromptsResult.model_validate({"prompts": definitions.PROMPTS})


async def _resources(_ctx: Any, _params: Any) -> Any:
    return types.ListResourcesResult.model_validate({"resources": definitions.RESOURCES})


async def _templates(_ctx: Any, _params: Any) -> Any:
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": definitions.TEMPLATES})


async def _prompt(ctx: Any, params: Any) -> Any:
    if params.name in definitions.ROUNDS:
        needed = asking.required(ctx, params.name, params)
        if needed is not None:
            return needed
        shown = [content.text("The prompt knows its context.")]
    else:
        try:
            shown = content.prompt(params.name, params.arguments or {})
        except KeyError as missing:
            raise MCPError(-32602, f"no such prompt or argument: {missing}") from None
    messages = [{"role": "user", "content": one} for one in shown]
    return types.GetPromptResult.model_validate({"messages": messages})


async def _resource(_ctx: Any, params: Any) -> Any:
    uri = str(params.uri)
    try:
        found = content.resource(uri)
    except KeyError:
        raise MCPError(-32602, "Resource not found", {"uri": uri}) from None
    return types.ReadResourceResult.model_validate({"contents": [found]})


async def _completion(_ctx: Any, params: Any) -> Any:
    known = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    found = {"values": known, "total": len(known), "hasMore": False}
    return types.CompleteResult.model_validate({"completion": found})


async def _nothing(_ctx: Any, _params: Any) -> Any:
    return types.EmptyResult()


async def _unheard(_ctx: Any, _params: Any) -> None:
    """Take a notification."""


def server() -> Any:
    """The server, before any transport."""
    made = Server(
        "everything",
        version="1.0.0",
        instructions=definitions.INSTRUCTIONS,
        cache_hints={method: CacheHint(ttl_ms=60_000, scope="public") for method in _LISTS},
        get_tool_input_schema=definitions.SCHEMAS.get,
        on_list_tools=_tools,
        on_call_tool=tools.call,
        on_list_prompts=_prompts,
        on_get_prompt=_prompt,
        on_list_resources=_resources,
        on_list_resource_templates=_templates,
        on_read_resource=_resource,
        on_subscribe_resource=_nothing,
        on_unsubscribe_resource=_nothing,
        on_subscriptions_listen=ListenHandler(tools.BUS),
        on_completion=_completion,
        on_set_logging_level=_nothing,
        on_roots_list_changed=_unheard,
    )
    changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
    made.create_initialization_options = functools.partial(made.create_initialization_options, changes)
    return made


async def _serve_http(*, as_json: bool, stateless: bool) -> None:
    app = server().streamable_http_app(
        json_response=as_json,
        stateless_http=stateless,
        event_store=None if as_json or stateless else Events(),
        retry_interval=100,
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve(sockets=[listener])


async def _serve_stdio() -> None:
    made = server()
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())


def main() -> None:
    """Read the command line and serve."""
    warnings.simplefilter("ignore")  # what is deprecated is shown all the same
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for option, text in (
        ("--json", "answer in JSON, never in event streams"),
        ("--stateless", "give out no sessions"),
        ("--stdio", "serve standard input and output"),
    ):
        parser.add_argument(option, action="store_true", help=text)
    chosen = parser.parse_args()
    if chosen.stdio:
        anyio.run(_serve_stdio)
    else:
        anyio.run(functools.partial(_serve_http, as_json=chosen.json, stateless=chosen.stateless))
