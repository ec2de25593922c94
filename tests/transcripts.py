# SPDX-License-Identifier: Apache-2.0
"""One session with everything that the protocol has, in both eras, and every message that its host read.

The session is the same over each link: what was read directly and what was read through a shell can be laid
side by side.
"""

from collections.abc import Callable
from typing import Any

from links import Link, Transcript, is_answer
from servers.hostile_http import HANDSHAKE, STATELESS

Json = Any
_META = "io.modelcontextprotocol/"
_LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
# What the host answers to the requests of a server.
_REPLIES: dict[str, Json] = {
    "elicitation/create": {"action": "accept", "content": {"username": "n", "email": "n@acme.example"}},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "h\u00e4lf\u2028way"},
        "model": "m",
        "stopReason": "endTurn",
    },
    "roots/list": {"roots": [{"uri": "file:///r", "name": "r"}]},
}
# Ids of what is asked again and again until something has happened: no part of a transcript.
_POLL = "poll-"
_CAPABILITIES: dict[str, Json] = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}

# What a session must have had, or it proves nothing.
NOTIFIED = {
    HANDSHAKE: {
        "elicitation/create",
        "notifications/message",
        "notifications/progress",
        "notifications/resources/updated",
        "roots/list",
        "sampling/createMessage",
    },
    STATELESS: {
        "notifications/message",
        "notifications/progress",
        "notifications/subscriptions/acknowledged",
    },
}
# That the server said of its lists, in each era.
CHANGED = ["notifications/prompts/list_changed", "notifications/tools/list_changed"]


# The session


class Session:
    """A host: it says what it wants, answers what it is asked, and cancels one call."""

    def __init__(self, link: Link, era: str) -> None:
        self._link = link
        self._era = era
        self._id = 0

    def request(self, method: str, params: Json = None) -> Json:
        """A request as this host writes it."""
        self._id += 1
        params = dict(params or {})
        if self._era == STATELESS:
            params["_meta"] = {
                **params.get("_meta", {}),
                f"{_META}protocolVersion": STATELESS,
                f"{_META}clientCapabilities": _CAPABILITIES,
                f"{_META}clientInfo": {"name": "host", "version": "1"},
                f"{_META}logLevel": "debug",
            }
        return {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}

    def ask(self, method: str, params: Json = None) -> Json:
        """The answer to a request; what the server asks meanwhile is answered."""
        message = self.request(method, params)
        answer = None
        for received in self._link.exchange(message):
            if is_answer(received, message["id"]):
                answer = received
            elif "id" in received:
                result = _REPLIES[received["method"]]
                self._link.post({"jsonrpc": "2.0", "id": received["id"], "result": result})
        assert answer is not None, message
        return answer

    def call(self, name: str, **arguments: Json) -> Json:
        """The answer to a call."""
        params = {"name": name, "arguments": arguments, "_meta": {"progressToken": name}}
        return self.ask("tools/call", params)

    def give_up(self) -> None:
        """Call what never answers, and cancel that once it has begun."""
        before = self._cancelled("before")
        params = {"name": "test_wait", "arguments": {}, "_meta": {"progressToken": "w"}}
        message = self.request("tools/call", params)
        exchange = self._link.exchange(message)
        assert next(exchange)["method"] == "notifications/progress"
        self._link.cancel(message["id"], exchange)
        # Bounded: each asks the server anew.
        assert any(self._cancelled(number) > before for number in range(200)), "the call was not cancelled"

    def _cancelled(self, number: Json) -> int:
        """How many calls the server has given up."""
        asked = self.request("tools/call", {"name": "test_waits_cancelled", "arguments": {}})
        self._id -= 1  # how often this is asked is nobody's business
        asked["id"] = f"{_POLL}{number}"
        return int(list(self._link.exchange(asked))[-1]["result"]["content"][0]["text"])


def handshake_session(link: Link) -> None:
    """Everything that the handshake era has, one thing after the other."""
    host = Session(link, HANDSHAKE)
    about = {"clientInfo": {"name": "host", "version": "1"}, "capabilities": _CAPABILITIES}
    host.ask("initialize", {"protocolVersion": HANDSHAKE, **about})
    link.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    link.open_stream(None)
    host.ask("ping")
    _look_around(host)
    host.ask("logging/setLevel", {"level": "debug"})
    host.ask("resources/subscribe", {"uri": "test://watched-resource"})
    host.call("test_trigger_resource_change", uri="test://watched-resource")
    link.wait("notifications/resources/updated")
    host.ask("resources/unsubscribe", {"uri": "test://watched-resource"})
    for name in ("test_tool_with_logging", "test_tool_with_progress", "test_list_roots"):
        host.call(name)
    host.call("test_elicitation", message="Who?")
    host.call("test_sampling", prompt="What?")
    _change(host, link)
    host.give_up()
    link.post({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    host.ask("ping")


def stateless_session(link: Link) -> None:
    """Everything that the stateless era has, one thing after the other."""
    host = Session(link, STATELESS)
    host.ask("server/discover")
    _look_around(host)
    for name in ("test_tool_with_logging", "test_tool_with_progress", "test_missing_capability"):
        host.call(name)
    for name in ("test_input_required_result_elicitation", "test_input_required_result_multiple_inputs"):
        needed = host.call(name)["result"]
        given = {key: _REPLIES[asked["method"]] for key, asked in needed["inputRequests"].items()}
        again = {"name": name, "arguments": {}, "inputResponses": given}
        state = {"requestState": needed["requestState"]} if "requestState" in needed else {}
        host.ask("tools/call", {**again, **state})
    wanted = {"toolsListChanged": True, "promptsListChanged": True}
    link.open_stream(host.request("subscriptions/listen", {"notifications": wanted}))
    _change(host, link)
    host.give_up()
    host.ask("server/discover")


def _look_around(host: Session) -> None:
    """What both eras have."""
    for method in _LISTS:
        host.ask(method)
    for name in ("test_simple_text", "test_error_handling", "test_multiple_content_types"):
        host.call(name)
    host.ask("resources/read", {"uri": "test://static-binary"})
    host.ask("resources/read", {"uri": "test://template/1/data"})
    host.ask("resources/read", {"uri": "test://nowhere"})
    arguments = {"arg1": "a", "arg2": "b"}
    host.ask("prompts/get", {"name": "test_prompt_with_arguments", "arguments": arguments})
    ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    host.ask("completion/complete", {"ref": ref, "argument": {"name": "arg1", "value": "par"}})
    host.ask("unheard/of")


def _change(host: Session, link: Link) -> None:
    """What the server says of its own accord."""
    host.call("test_trigger_prompt_change")
    link.wait("notifications/prompts/list_changed")
    host.call("test_trigger_tool_change")
    link.wait("notifications/tools/list_changed")


SESSIONS: dict[str, Callable[[Link], None]] = {HANDSHAKE: handshake_session, STATELESS: stateless_session}


# What is compared


def told(transcript: Transcript) -> tuple[Transcript, list[str]]:
    """A transcript without listings and notices of change; and those notices, whenever they came.

    A gate answers listings from its own snapshot, and passes a notice on once it has looked at what changed.
    """
    kept: Transcript = {}
    changes: list[str] = []
    for stream, read in transcript.items():
        if f" {_POLL}" in stream:
            continue
        methods = [str(message.get("method", "")) for message in read]
        changes += [method for method in methods if method.endswith("/list_changed")]
        kept[stream] = [
            listed(message)
            for message, method in zip(read, methods, strict=True)
            if not method.endswith("/list_changed") and not str(message.get("id", "")).startswith(_POLL)
        ]
    return kept, sorted(changes)


def listed(message: Json) -> Json:
    """A listing as its entries, in the order of their names; any other message as it is."""
    for member in ("tools", "prompts", "resources", "resourceTemplates"):
        if member in message.get("result", {}):
            entries = sorted(message["result"][member], key=lambda entry: str(entry["name"]))
            return {"id": message["id"], member: entries}
    return message
