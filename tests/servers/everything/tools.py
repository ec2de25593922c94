# SPDX-License-Identifier: Apache-2.0
"""What the tools of the everything-server do."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from servers.everything import asking, content, definitions

Json = Any
BUS = InMemorySubscriptionBus()
_PAUSE = 0.05
_STATELESS = "2026-07-28"


def said(text: str, *, is_error: bool = False) -> Any:
    """A result of one line."""
    return types.CallToolResult.model_validate({"content": [content.text(text)], "isError": is_error})


async def call(ctx: Any, params: Any) -> Any:
    """Call a tool; the result, or what is needed first."""
    name, arguments = params.name, params.arguments or {}
    if name in content.FIXED:
        return types.CallToolResult.model_validate({"content": content.FIXED[name]})
    if name in definitions.ROUNDS:
        return await _rounds(ctx, name, params)
    if name in _TOOLS:
        return await _TOOLS[name](ctx, arguments)
    raise MCPError(-32602, f"no such tool: {name}")


async def _rounds(ctx: Any, name: str, params: Any) -> Any:
    if ctx.protocol_version != _STATELESS:
        return said("This needs a client of the stateless era.", is_error=True)
    if name == "test_streaming_elicitation":
        await ctx.session.report_progress(1, 2)
    needed = asking.required(ctx, name, params)
    if needed is not None:
        return needed
    given = params.input_responses or {}
    shown = {key: one.model_dump(by_alias=True, mode="json", exclude_none=True) for key, one in given.items()}
    return said(f"state-ok {json.dumps(shown, sort_keys=True)}")


async def _log(ctx: Any, text: str) -> None:
    await ctx.session.send_log_message("info", text, related_request_id=ctx.request_id)


async def _logging(ctx: Any, _arguments: Json) -> Any:
    await _log(ctx, "Tool execution started")
    await anyio.sleep(_PAUSE)
    await _log(ctx, "Tool processing data")
    await anyio.sleep(_PAUSE)
    await _log(ctx, "Tool execution completed")
    return said("Logged three lines.")


async def _log_once(ctx: Any, _arguments: Json) -> Any:
    await _log(ctx, "One line")
    return said("Logged one line.")


async def _progress(ctx: Any, _arguments: Json) -> Any:
    for share in (0, 50, 100):
        await ctx.session.report_progress(share, 100)
        await anyio.sleep(_PAUSE)
    return said("Reported progress.")


async def _fail(_ctx: Any, _arguments: Json) -> Any:
    return said("This tool intentionally returns an error for testing", is_error=True)


async def _sample(ctx: Any, arguments: Json) -> Any:
    answer = await asking.ask(ctx, definitions.sampling(arguments["prompt"]))
    return said(f"LLM response: {answer['content'].get('text', '')}")


async def _elicit(ctx: Any, arguments: Json) -> Any:
    fields = dict.fromkeys(("username", "email"), definitions.TEXT)
    answer = await asking.ask(ctx, definitions.elicitation(arguments["message"], **fields))
    return said(f"User response: {_shown(answer)}")


async def _elicit_defaults(ctx: Any, _arguments: Json) -> Any:
    return said(f"Elicitation completed: {_shown(await asking.ask(ctx, definitions.DEFAULTS))}")


async def _elicit_choices(ctx: Any, _arguments: Json) -> Any:
    return said(f"Elicitation completed: {_shown(await asking.ask(ctx, definitions.CHOICES))}")


def _shown(answer: dict[str, Json]) -> str:
    given = json.dumps(answer.get("content", {}), sort_keys=True)
    return f"action={answer['action']}, content={given}"


async def _roots(ctx: Any, _arguments: Json) -> Any:
    answer = await asking.ask(ctx, definitions.ROOTS)
    return said(f"Roots: {json.dumps(answer['roots'], sort_keys=True)}")


async def _reconnect(ctx: Any, _arguments: Json) -> Any:
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await anyio.sleep(_PAUSE)
    return said("Answered after the stream was closed.")


_cancelled: list[Json] = []


async def _wait(ctx: Any, _arguments: Json) -> Any:
    try:
        await ctx.session.report_progress(0, 1)  # whoever cancels knows by this that the call has begun
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        _cancelled.append(ctx.request_id)
        raise


async def _count_cancelled(_ctx: Any, _arguments: Json) -> Any:
    return said(str(len(_cancelled)))


async def _missing(ctx: Any, _arguments: Json) -> Any:
    if "sampling" not in asking.declared(ctx):
        raise MCPError(-32021, "the client cannot sample", {"requiredCapabilities": {"sampling": {}}})
    return said("The client can sample.")


async def _tools_changed(ctx: Any, _arguments: Json) -> Any:
    await _changed(ctx, ToolsListChanged(), ctx.session.send_tool_list_changed)
    return said("Said that the tools have changed.")


async def _prompts_changed(ctx: Any, _arguments: Json) -> Any:
    await _changed(ctx, PromptsListChanged(), ctx.session.send_prompt_list_changed)
    return said("Said that the prompts have changed.")


async def _resource_changed(ctx: Any, arguments: Json) -> Any:
    uri = arguments["uri"]
    await _changed(ctx, ResourceUpdated(uri=uri), lambda: ctx.session.send_resource_updated(uri))
    return said("Said that a resource has changed.")


async def _changed(ctx: Any, event: Any, tell: Callable[[], Awaitable[None]]) -> None:
    if ctx.protocol_version == _STATELESS:
        await BUS.publish(event)
    else:
        await tell()


_TOOLS: dict[str, Callable[[Any, Json], Awaitable[Any]]] = {
    "test_tool_with_logging": _logging,
    "test_logging_tool": _log_once,
    "test_tool_with_progress": _progress,
    "test_error_handling": _fail,
    "test_sampling": _sample,
    "test_elicitation": _elicit,
    "test_elicitation_sep1034_defaults": _elicit_defaults,
    "test_elicitation_sep1330_enums": _elicit_choices,
    "test_list_roots": _roots,
    "test_reconnection": _reconnect,
    "test_wait": _wait,
    "test_waits_cancelled": _count_cancelled,
    "test_missing_capability": _missing,
    "test_trigger_tool_change": _tools_changed,
    "test_trigger_prompt_change": _prompts_changed,
    "test_trigger_resource_change": _resource_changed,
}
