# SPDX-License-Identifier: Apache-2.0
"""The causes of what differs: found from pins, and drawn. They explain; nothing follows from them."""

from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_cli.output import shown
from toolnotary_cli.wording import called, counted
from toolnotary_verifier.canonical import JsonObject, JsonValue
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.pins import Key, KnownProfile, PinnedDefinition, Pins
from toolnotary_verifier.review.cause import TITLES, Apart, Causes, Known, causes_of, is_dispatcher
from toolnotary_verifier.surface import Fault, Surface

# Names that are told in a line before the rest is counted.
_NAMES: Final = 12


def of_pins(surface: Surface, pins: Pins, *, is_other_version: bool = False) -> Causes:
    """The causes of what is not as pinned, by the accepted profile that holds most of the surface.

    A pinned definition whose text is not at hand is not compared, and stands apart.

    Args:
        surface: what a server shows.
        pins: what it is held to.
        is_other_version: whether the surface is known to be of another version than is pinned.
    """
    if not pins.profiles:
        return Causes()
    held = max(pins.profiles, key=lambda profile: _held(profile, surface))
    others = (
        frozenset(one.exact for found in profile.definitions.values() for one in found)
        for profile in (*pins.profiles, *pins.others)
        if profile is not held and held.manifest is not None and profile.manifest == held.manifest
    )
    known = Known(is_other_version=is_other_version, profiles=tuple(others))
    return causes_of(_pinned(held, surface), surface, known=known)


def _held(profile: KnownProfile, surface: Surface) -> int:
    return sum(
        any(one.exact == live.digest for one in profile.definitions.get(key, ()))
        for key, live in surface.definitions.items()
    )


def _pinned(profile: KnownProfile, surface: Surface) -> Surface:
    """The surface that a profile stands for; of several definitions of a name the one that is shown."""
    definitions: dict[Key, Definition] = {}
    faults = []
    for key, found in profile.definitions.items():
        text = _text(found, surface.definitions.get(key))
        if text is None:
            faults.append(Fault(*key, "text-not-at-hand", ""))
        else:
            definitions[key] = text
    return Surface(definitions=definitions, faults=tuple(faults), inspected=frozenset(Kind))


def _text(found: tuple[PinnedDefinition, ...], live: Definition | None) -> Definition | None:
    if live is not None and any(one.exact == live.digest for one in found):
        return live
    return next((text for one in found if (text := one.legible()) is not None), None)


def document(causes: Causes) -> JsonObject | None:
    """The causes for programs; None where none is named."""
    if not causes.named:
        return None
    return {
        "named": [
            {
                "cause": one.cause.value,
                "title": TITLES[one.cause],
                "evidence": one.evidence,
                "accountsFor": [{"kind": kind.value, "name": name} for kind, name in one.accounted],
            }
            for one in causes.named
        ],
        "apart": [
            {"kind": one.kind.value, "name": one.name, "members": list[JsonValue](one.members)}
            for one in causes.apart
        ],
        "accountForAll": causes.account_for_all,
    }


def lines(causes: Causes) -> Iterator[str]:
    """The causes for people, escaped; nothing where none is named."""
    for one in causes.named:
        what = "cause" if one.accounted else "possible cause"
        count = (
            f"accounts for {counted(len(one.accounted), 'definition')}"
            if one.accounted
            else "all of it is new"
        )
        yield f"{what}: {TITLES[one.cause]}: {one.evidence} ({count})"
    if not causes.named:
        return
    if causes.apart:
        told = ", ".join(_apart(one) for one in causes.apart[:_NAMES])
        more = f" and {len(causes.apart) - _NAMES} more" if len(causes.apart) > _NAMES else ""
        yield f"  not accounted for, so read it: {told}{more}"
    else:
        yield "  nothing else differs; a cause explains, lowers no risk and lets nothing pass"


def dispatcher_lines(definitions: Iterable[Definition]) -> Iterator[str]:
    """A line for each tool that hides what can be done with it, escaped."""
    for one in definitions:
        if one.kind is Kind.TOOL and is_dispatcher(one.value):
            what = called(one.kind, one.name)
            yield f"{what} takes the name of what it is to do: no pin covers what that can be"


def _apart(one: Apart) -> str:
    members = f" ({', '.join(shown(name, limit=40) for name in one.members[:_NAMES])})" if one.members else ""
    return f"{called(one.kind, one.name)}{members}"
