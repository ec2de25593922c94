# SPDX-License-Identifier: Apache-2.0
"""Decisions as OpenTelemetry sees them: attributes of an open span, or spans of their own (extra `otel`).

Nothing is imported or configured here: where the process has loaded OpenTelemetry, because its host or
`opentelemetry-instrument` did, decisions are told to it. What the attributes mean stands in
docs/reference/telemetry.md; names of others are those of the semantic conventions for MCP and generative AI.
"""

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from toolnotary_verifier.escape import escape

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from toolnotary_verifier.audit.line import Line

_SCOPE: Final = "toolnotary"
_NAME: Final = 128
# What a decision about a request was asked by, and where the conventions put the name.
_METHODS: Final = {"tool": "tools/call", "prompt": "prompts/get"}
_NAMES: Final = {"tool": "gen_ai.tool.name", "prompt": "gen_ai.prompt.name"}
_ASKED: Final = frozenset(("allowed", "refused"))

Value = str | int | bool


def is_wanted() -> bool:
    """Whether this process has loaded OpenTelemetry."""
    return "opentelemetry.trace" in sys.modules


def attributes(line: "Line") -> dict[str, Value]:
    """What a decision says, by the names of attributes; what nobody knows is left out."""
    told: dict[str, object] = {
        "toolnotary.event": line.event,
        "toolnotary.server": escape(line.server, limit=_NAME),
        "toolnotary.connection": line.connection,
        "toolnotary.inspection": line.inspection,
        "toolnotary.launch": line.launch,
        "toolnotary.kind": line.kind,
        "toolnotary.verdict": line.verdict,
        "toolnotary.outcome": line.outcome,
        "toolnotary.reason": line.reason,
        "toolnotary.decided_by": line.by,
        "toolnotary.digest.live": line.live,
        "toolnotary.digest.pinned": line.pinned,
        "toolnotary.change_set": line.change_set,
        "mcp.protocol.version": line.protocol,
        "jsonrpc.request.id": None if line.request is None else escape(str(line.request), limit=_NAME),
    }
    kind = line.kind or ""
    if line.name is not None:
        told[_NAMES.get(kind, "toolnotary.name")] = escape(line.name, limit=_NAME)
    if line.event in _ASKED and line.name is not None and kind in _METHODS:
        told["mcp.method.name"] = _METHODS[kind]
    if line.event == "refused":
        told["error.type"] = line.reason or "refused"
    return {name: str(value) for name, value in told.items() if value is not None}


def tell(line: "Line") -> None:
    """Tell a decision: to the span that is open where it is recorded, else as a span of its own.

    Never raises: telemetry decides nothing.
    """
    try:
        from opentelemetry import trace

        span, told = trace.get_current_span(), attributes(line)
        if span.is_recording():
            _add(span, told, line)
        else:
            _own(told, line)
    except Exception:  # noqa: BLE001, S110 - an exporter that is broken takes no tool away
        pass


def _add(span: "Span", told: Mapping[str, Value], line: "Line") -> None:
    """What is decided about the call of a span is in its attributes; whatever is decided, an event of it."""
    if line.event in _ASKED:
        span.set_attributes(told)
    span.add_event(f"toolnotary.{line.event}", told)


def _own(told: Mapping[str, Value], line: "Line") -> None:
    from opentelemetry import trace
    from opentelemetry.trace import SpanKind, Status, StatusCode

    method, target = told.get("mcp.method.name"), told.get(_NAMES.get(line.kind or "", ""))
    name = f"{method} {target}" if method and target else f"toolnotary {line.event}"
    ended = time.time_ns()
    span = trace.get_tracer(_SCOPE).start_span(
        name,
        kind=SpanKind.INTERNAL,
        attributes=told,
        start_time=ended - (line.latency or 0) * 1000,
    )
    if line.event == "refused":
        span.set_status(Status(StatusCode.ERROR, line.reason or "refused"))
    span.end(ended)


def flush() -> None:
    """Have what was told sent before the process ends, where somebody is told at all."""
    if is_wanted():
        try:
            from opentelemetry import trace

            send = getattr(trace.get_tracer_provider(), "force_flush", None)
            if send is not None:
                send(2000)  # milliseconds
        except Exception:  # noqa: BLE001, S110 - as in `tell`
            pass
