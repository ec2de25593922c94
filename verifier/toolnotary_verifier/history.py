# SPDX-License-Identifier: Apache-2.0
"""The events of a user's state, and what they add up to; no file is touched here (docs/spec/state.md).

Events are only ever added, and the order in which they were written decides: an acceptance after a
revocation takes it back, a revocation after an acceptance withdraws it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from toolnotary_verifier.canonical import Digest, JsonObject
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.looks import MEMBERS, OPTIONAL, Look
from toolnotary_verifier.shape import array, members, text

if TYPE_CHECKING:
    from toolnotary_verifier.overrides import Override

CODE: Final = "state-corrupt"
_MOMENT: Final = re.compile(
    r"2[0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
)
_NEVER: Final = "2000-01-01T00:00:00Z"  # before an event is recorded

Pinned = tuple[Kind, str, Digest]
Place = tuple[str, Digest]  # server and the digest of the launch identity: names alone are never trusted


def accepted(server: str, launch: Digest, pins: Iterable[Pinned]) -> JsonObject:
    """A person accepted these definitions of a server under this launch."""
    rows = sorted([kind.value, name, digest] for kind, name, digest in pins)
    return {"event": "accepted", "server": server, "launch": launch, "pins": rows}


def accepted_manifest(
    server: str, launch: Digest, *, manifest: Digest, sequence: int, signer: str
) -> JsonObject:
    """A signed manifest became the pin of a server: by policy, or by a person. It sets the sequence mark."""
    return {
        "event": "accepted-manifest",
        "server": server,
        "launch": launch,
        "manifest": manifest,
        "sequence": sequence,
        "signer": signer,
    }


def trusted_key(server: str, *, key_id: str, pem: str) -> JsonObject:
    """A person named the key that signs for a server."""
    return {"event": "trusted-key", "server": server, "keyId": key_id, "pem": pem}


def declined(server: str, change_set: Digest) -> JsonObject:
    """A person saw a set of changes and said no."""
    return {"event": "declined", "server": server, "changeSet": change_set}


def announced(server: str, change_set: Digest) -> JsonObject:
    """A host was asked about a set of changes: no other one is."""
    return {"event": "announced", "server": server, "changeSet": change_set}


def unannounced(server: str, change_set: Digest) -> JsonObject:
    """That host showed it to nobody: another one may be asked."""
    return {"event": "unannounced", "server": server, "changeSet": change_set}


def revoked(server: str, digests: Iterable[Digest]) -> JsonObject:
    """A person withdrew definitions or manifests of a server."""
    return {"event": "revoked", "server": server, "digests": sorted(digests)}


def overridden(server: str, launch: Digest, pins: Iterable[Pinned], *, until: str, reason: str) -> JsonObject:
    """A person let these definitions pass until a moment, with a reason, and moved no pin."""
    rows = sorted([kind.value, name, digest] for kind, name, digest in pins)
    return {
        "event": "overridden",
        "server": server,
        "launch": launch,
        "pins": rows,
        "until": until,
        "reason": reason,
    }


def override_ended(server: str, launch: Digest, pins: Iterable[Pinned], *, since: str) -> JsonObject:
    """Overrides of these definitions that were recorded at `since` or before are over, for good."""
    rows = sorted([kind.value, name, digest] for kind, name, digest in pins)
    return {"event": "override-ended", "server": server, "launch": launch, "pins": rows, "since": since}


def accepted_value(option: str, value: str) -> JsonObject:
    """A person accepted a value of a project's policy that grants or loosens something."""
    return {"event": "accepted-value", "option": option, "value": value}


def inspected(server: str, launch: Digest, look: Look) -> JsonObject:
    """A server was looked at, and this is what it came to."""
    return {"event": "inspected", "server": server, "launch": launch, **look.members()}


class History:
    """What all events so far add up to.

    Attributes:
        pins: accepted definitions by server and launch.
        taken_back: definitions that were accepted once and are withdrawn, by server and launch.
        manifests: accepted manifests by server and launch.
        sequences: the sequence that was accepted last, by server; none below it passes.
        signers: identity of the signer that was accepted last, by server.
        keys: public keys in PEM that a person named, by server and key id.
        refused: declined change sets by server.
        announced: change sets that a host was asked about, by server.
        withdrawn: revoked digests by server.
        values: accepted options and values of project policies.
        looks: the last look by server and launch.
        overrides: what passes for a while, by server and launch; whether it still does, `overrides` says.
        latest: the last time that anything was recorded, empty where nothing was.
        servers: every server about which a person or policy decided anything.
    """

    def __init__(self) -> None:
        self.pins: dict[Place, set[Pinned]] = {}
        self.taken_back: dict[Place, set[Pinned]] = {}
        self.manifests: dict[Place, set[Digest]] = {}
        self.sequences: dict[str, int] = {}
        self.signers: dict[str, str] = {}
        self.keys: dict[str, dict[str, str]] = {}
        self.refused: dict[str, set[Digest]] = {}
        self.announced: dict[str, set[Digest]] = {}
        self.withdrawn: dict[str, set[Digest]] = {}
        self.values: set[tuple[str, str]] = set()
        self.looks: dict[Place, Look] = {}
        self.overrides: dict[Place, dict[Pinned, Override]] = {}
        self.latest = ""
        self.servers: set[str] = set()

    def add(self, event: JsonObject) -> None:
        """Take one event into account.

        Raises:
            InvalidInput: `state-corrupt` if it is none that this release knows, or not whole.
        """
        name = event.get("event")
        if not isinstance(name, str) or name not in _EVENTS:
            raise InvalidInput(CODE, "not an event that this release knows")
        required, take = _EVENTS[name]
        optional = ("at", *OPTIONAL) if name == "inspected" else ("at",)
        members(event, f"a {name} event", code=CODE, required=("event", *required), optional=optional)
        if "server" in required:
            text(event["server"], "server", code=CODE)
            if name not in _UNDECIDED:
                self.servers.add(event["server"])
        take(self, event)
        at = event.get("at")
        if isinstance(at, str) and at > self.latest and _MOMENT.fullmatch(at):
            self.latest = at

    def decided(self, server: str) -> tuple[object, ...]:
        """All that was decided about a server, looks left out: equal to another one while nothing was."""
        held = (
            {place: frozenset(items) for place, items in table.items() if place[0] == server and items}
            for table in (self.pins, self.taken_back, self.manifests, self.overrides)
        )
        said = (frozenset(table.get(server, ())) for table in (self.refused, self.withdrawn))
        keys = dict(self.keys.get(server, {}))
        return (*held, *said, keys, self.sequences.get(server), self.signers.get(server))

    def _accepted(self, event: JsonObject) -> None:
        place = _place(event)
        for pin in _pins(event):
            self.pins.setdefault(place, set()).add(pin)
            self.taken_back.get(place, set()).discard(pin)
            self.withdrawn.get(event["server"], set()).discard(pin[2])
            self.overrides.get(place, {}).pop(pin, None)

    def _accepted_manifest(self, event: JsonObject) -> None:
        server, manifest = event["server"], Digest.from_text(event["manifest"])
        if type(event["sequence"]) is not int or event["sequence"] < 0:
            raise InvalidInput(CODE, "a sequence is not a whole number")
        place = (server, Digest.from_text(event["launch"]))
        self.manifests.setdefault(place, set()).add(manifest)
        self.sequences[server] = event["sequence"]
        self.signers[server] = text(event["signer"], "signer", code=CODE)
        self.withdrawn.get(server, set()).discard(manifest)

    def _trusted_key(self, event: JsonObject) -> None:
        key_id = Digest.from_text(event["keyId"])
        self.keys.setdefault(event["server"], {})[key_id] = text(event["pem"], "pem", code=CODE)

    def _declined(self, event: JsonObject) -> None:
        self.refused.setdefault(event["server"], set()).add(Digest.from_text(event["changeSet"]))

    def _announced(self, event: JsonObject) -> None:
        self.announced.setdefault(event["server"], set()).add(Digest.from_text(event["changeSet"]))

    def _unannounced(self, event: JsonObject) -> None:
        self.announced.get(event["server"], set()).discard(Digest.from_text(event["changeSet"]))

    def _revoked(self, event: JsonObject) -> None:
        digests = {Digest.from_text(digest) for digest in array(event["digests"], "digests", code=CODE)}
        self.withdrawn.setdefault(event["server"], set()).update(digests)
        for place, pins in self.pins.items():
            if place[0] == event["server"]:
                taken = {pin for pin in pins if pin[2] in digests}
                pins.difference_update(taken)
                self.taken_back.setdefault(place, set()).update(taken)
        for place, held in self.overrides.items():
            if place[0] == event["server"]:
                for pin in [pin for pin in held if pin[2] in digests]:
                    del held[pin]

    def _overridden(self, event: JsonObject) -> None:
        since, until = event.get("at", _NEVER), text(event["until"], "until", code=CODE)
        reason = text(event["reason"], "reason", code=CODE)
        if not isinstance(since, str) or not _MOMENT.fullmatch(since) or not _MOMENT.fullmatch(until):
            raise InvalidInput(CODE, "an override does not say since when and until when")
        from toolnotary_verifier.overrides import Override  # few states hold one

        held = self.overrides.setdefault(_place(event), {})
        for pin in _pins(event):
            held[pin] = Override(*pin, since, until, reason)

    def _override_ended(self, event: JsonObject) -> None:
        since, held = text(event["since"], "since", code=CODE), self.overrides.get(_place(event), {})
        for pin in _pins(event):
            found = held.get(pin)
            if found is not None and found.since <= since:
                del held[pin]

    def _accepted_value(self, event: JsonObject) -> None:
        self.values.add(
            (text(event["option"], "option", code=CODE), text(event["value"], "value", code=CODE))
        )

    def _inspected(self, event: JsonObject) -> None:
        self.looks[event["server"], Digest.from_text(event["launch"])] = Look.parse(event, code=CODE)


def _place(event: JsonObject) -> Place:
    return event["server"], Digest.from_text(event["launch"])


def _pins(event: JsonObject) -> Iterator[Pinned]:
    for row in array(event["pins"], "pins", code=CODE):
        known = len(array(row, "a pin", code=CODE)) == 3 and row[0] in list(Kind)
        if not known or not isinstance(row[1], str):
            raise InvalidInput(CODE, "a pin is not kind, name and digest")
        yield Kind(row[0]), row[1], Digest.from_text(row[2])


# Events in which nobody decided anything.
_UNDECIDED: Final = frozenset(("announced", "inspected", "unannounced"))
_Take = Callable[[History, JsonObject], None]
# The members of each event besides `event` and `at` (UTC, which decides about overrides alone).
_EVENTS: Final[Mapping[str, tuple[tuple[str, ...], _Take]]] = {
    "accepted": (("server", "launch", "pins"), History._accepted),  # noqa: SLF001 - its own table
    "accepted-manifest": (
        ("server", "launch", "manifest", "sequence", "signer"),
        History._accepted_manifest,  # noqa: SLF001
    ),
    "trusted-key": (("server", "keyId", "pem"), History._trusted_key),  # noqa: SLF001
    "declined": (("server", "changeSet"), History._declined),  # noqa: SLF001
    "announced": (("server", "changeSet"), History._announced),  # noqa: SLF001
    "unannounced": (("server", "changeSet"), History._unannounced),  # noqa: SLF001
    "revoked": (("server", "digests"), History._revoked),  # noqa: SLF001
    "overridden": (("server", "launch", "pins", "until", "reason"), History._overridden),  # noqa: SLF001
    "override-ended": (("server", "launch", "pins", "since"), History._override_ended),  # noqa: SLF001
    "accepted-value": (("option", "value"), History._accepted_value),  # noqa: SLF001
    "inspected": (("server", "launch", *MEMBERS), History._inspected),  # noqa: SLF001
}
