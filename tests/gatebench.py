# SPDX-License-Identifier: Apache-2.0
"""A host and a server around a gate, in memory: what every test of the gate speaks with."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.gate import Commands, Decision, Effects, Entry, Gate, Invitation, Matter, Side
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.surface import Surface
from toolnotary_verifier.verdict import Action, Aspect, Judgement, Outcome, Reason, Verdict

Json = Any

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
}
EVIL = "POISON"


def tool(name: str, description: str = "fine", **more: Json) -> dict[str, Json]:
    """A definition."""
    return {"name": name, "description": description, "inputSchema": {"type": "object"}, **more}


def judge_by(
    pinned: Mapping[Kind, list[Json]],
    *,
    replace: Mapping[str, Json] | None = None,
    about: Collection[Aspect] = tuple(Aspect),
    pending: bool = False,
) -> Callable[[Surface], Judgement]:
    """A judge that lets through what equals a pinned value; `replace` forwards another one for a name.

    `about` is what the server says of itself as it is pinned; `pending` is whether the rest is looked up.
    """
    definitions = {}
    for kind, values in pinned.items():
        for value in values:
            definition = Definition.of(kind, value)
            definitions[definition.key] = definition

    def judge(surface: Surface) -> Judgement:
        verdicts, forward = [], {}
        for fault in surface.faults:
            reason = Reason.AMBIGUOUS if fault.code == "ambiguous-name" else Reason.INVALID
            verdicts.append(
                Verdict(fault.kind, fault.name, reason, Action.BLOCK, None, None, fault.message, fault.code)
            )
        for key, live in surface.definitions.items():
            known = definitions.get(key)
            if replace and live.name in replace:
                forward[key] = Definition.of(live.kind, replace[live.name])
                verdicts.append(Verdict(*key, Reason.EQUIVALENT, Action.ALLOW, live.digest, live.digest))
            elif known is not None and known.digest == live.digest:
                forward[key] = live
                verdicts.append(Verdict(*key, Reason.VERIFIED, Action.ALLOW, live.digest, known.digest))
            else:
                reason = Reason.ADDED if known is None else Reason.CHANGED
                reason = Reason.PENDING if pending else reason
                pin = None if known is None else known.digest
                verdicts.append(Verdict(*key, reason, Action.BLOCK, live.digest, pin))
        drift = any(not verdict.passes for verdict in verdicts)
        outcome = Outcome.DRIFT if drift else Outcome.VERIFIED
        return Judgement("acme/files", outcome, tuple(verdicts), forward, as_pinned=frozenset(about))

    return judge


class Bench:
    """A gate with both of its sides; what it forwards or says is kept."""

    def __init__(
        self,
        pinned: list[Json] | Mapping[Kind, list[Json]],
        *,
        replace: Mapping[str, Json] | None = None,
        limits: Limits = DEFAULT_LIMITS,
        judge: Callable[[Surface], Judgement] | None = None,
        options: Sequence[str] = (),
        every_call: bool = False,
        asks: bool = False,
    ) -> None:
        kinds = pinned if isinstance(pinned, Mapping) else {Kind.TOOL: pinned}
        judged = judge or judge_by(kinds, replace=replace)
        commands = Commands("acme/files", files=options)
        self.gate = Gate(
            judged, server="acme/files", commands=commands, every_call=every_call, asks=asks, limits=limits
        )
        self.now = 1000.0
        self.host: list[bytes] = []  # what the host has read
        self.server: list[bytes] = []  # what the server has read
        self.log: list[Entry] = []
        self.decisions: list[Decision] = []
        self.matters: list[Matter] = []
        self.closed: str | None = None
        self.look_ups = 0  # how often the gate wanted something looked up

    # Raw

    def from_host(self, line: bytes | Json) -> bool:
        """Feed one frame of the host; True if it went through untouched."""
        return self._feed(Side.HOST, line, self.server)

    def from_server(self, line: bytes | Json) -> bool:
        """Feed one frame of the server; True if it went through untouched."""
        return self._feed(Side.SERVER, line, self.host)

    def _feed(self, side: Side, line: bytes | Json, far: list[bytes]) -> bool:
        frame = line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"
        effects = self.gate.receive(side, frame, self.now)
        if effects is None:
            far.append(frame)
            return True
        self._take(effects)
        return False

    def _take(self, effects: Effects) -> None:
        self.host += effects.to_host
        self.server += effects.to_server
        self.log += effects.log
        self.decisions += effects.decisions
        self.matters += effects.matters
        self.closed = effects.close or self.closed
        self.look_ups += effects.look_up

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and wake the gate at each of its deadlines."""
        end = self.now + seconds
        while (deadline := self.gate.deadline) is not None and deadline <= end:
            self.now = max(self.now, deadline)
            self.wake()
        self.now = end

    def wake(self) -> None:
        """Wake the gate now, once."""
        self._take(self.gate.wake(self.now))

    def repin(self, pinned: list[Json], *, judge: Callable[[Surface], Judgement] | None = None) -> None:
        """Pin something else, or hand in another judge."""
        self._take(self.gate.repin(judge or judge_by({Kind.TOOL: pinned})))

    # In messages

    def asked(self) -> Json:
        """The last message that the server read."""
        return json.loads(self.server[-1])

    def told(self) -> Json:
        """The last message that the host read."""
        return json.loads(self.host[-1])

    def codes(self) -> list[str]:
        """The codes of all log entries."""
        return [entry.code for entry in self.log]

    def elicit(self, *, may_accept: bool = False, seconds: float = 120.0) -> Json:
        """Give the leave to ask that the gate wanted last; what the host is asked."""
        self._take(self.gate.elicit(Invitation(self.matters[-1].change_set, may_accept, seconds), self.now))
        return self.told()

    def shake_hands(self, *, declared: Json = None, **result: Json) -> None:
        """The handshake of 2025-06-18; `declared` is what the host declares."""
        params = {
            "protocolVersion": "2025-06-18",
            "capabilities": declared or {},
            "clientInfo": {"name": "h", "version": "1"},
        }
        self.from_host({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        answer = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "files", "version": "1"},
            **result,
        }
        self.from_server({"jsonrpc": "2.0", "id": 0, "result": answer})
        self.from_host({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, request_id: Json, method: str, params: Json = None, *, stateless: bool = False) -> bool:
        """A request of the host."""
        params = dict(params or {})
        if stateless:
            params["_meta"] = META
        return self.from_host({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def answer_listing(self, *entries: Json, member: str = "tools", **more: Json) -> None:
        """The server's answer to the gate's own listing."""
        asked = self.asked()
        assert asked["id"].startswith("toolnotary-")
        result = {member: list(entries), **more}
        if "_meta" in asked.get("params", {}):
            result = {"resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "public", **result}
        self.from_server({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    def listed(self, *entries: Json, stateless: bool = False, request_id: Json = "list") -> Json:
        """A tools/list of the host, with the server answering `entries`; what the host gets."""
        self.request(request_id, "tools/list", stateless=stateless)
        self.answer_listing(*entries)
        return self.told()

    def call(self, name: str, request_id: Json = "call", *, stateless: bool = False) -> bool:
        """A tools/call of the host."""
        return self.request(request_id, "tools/call", {"name": name, "arguments": {}}, stateless=stateless)
