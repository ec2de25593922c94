# SPDX-License-Identifier: Apache-2.0
"""What every renderer draws: items, the worst first, each with its rules, its places and what changed there.

Texts in here are as a server sent them, but for those that say that they are escaped. Each renderer escapes
for its own format.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from toolnotary_cli.wording import called, counted
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.escape import escape
from toolnotary_verifier.review import Finding, Group, Risk, Rule, Span, Whole
from toolnotary_verifier.surface import Fault
from toolnotary_verifier.verdict import Aspect

UNREADABLE: Final = Rule(
    "unreadable",
    Risk.HIGH,
    "no valid definition",
    "What cannot be read strictly can be read in two ways, and nobody can compare it.",
    "an entry without a name, or a name that stands for two definitions",
    "Whoever makes the server must mend it.",
)
ONE_SIDED: Final = Rule(
    "profile-one-sided",
    Risk.MEDIUM,
    "a profile that one side lacks",
    "What is shown to some clients cannot be compared with anything.",
    "the profile legacy is on the old side only",
    "Read the profile as a whole.",
)
_PATH: Final = 400


class Location(NamedTuple):
    """Where a report points to: a line of a file of the repository.

    Attributes:
        path: relative to the repository's root, with `/` between its parts.
        line: from 1.
    """

    path: str
    line: int = 1


class Place(NamedTuple):
    """One place of a definition, as received.

    Attributes:
        kind: what the definition defines; an aspect or the release where it is about none.
        name: its name; empty for what is about a server as a whole.
        path: a JSON pointer; empty for the definition as a whole.
    """

    kind: Kind | Aspect | Whole
    name: str
    path: str = ""

    @property
    def told(self) -> str:
        """The place in a line, escaped."""
        told = called(self.kind, self.name) if self.name else self.kind.value
        return f"{told} {escape(self.path, limit=_PATH)}" if self.path else told


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to decide about.

    Attributes:
        rules: what it falls under, the worst first; never empty.
        places: where, at least one; the same edit in several places is one item.
        location: the line that a program which shows it beside code points to.
        old: canonical JSON text of what stood at the first place, None where nothing did.
        new: canonical JSON text of what stands there now, None where nothing does.
        spans: the stretches of the new text that its rules are about.
        server: the server, where there can be several; empty otherwise.
        profile: the profile, where there are any; empty otherwise.
        detail: one escaped line besides, possibly empty.
        is_unclassed: whether a gate fails for it whatever its class, since it was not or cannot be compared.
    """

    rules: tuple[Rule, ...]
    places: tuple[Place, ...]
    location: Location
    old: str | None = None
    new: str | None = None
    spans: tuple[Span, ...] = ()
    server: str = ""
    profile: str = ""
    detail: str = ""
    is_unclassed: bool = False

    @property
    def risk(self) -> Risk:
        """That of its worst rule."""
        return self.rules[0].risk

    @property
    def titles(self) -> str:
        """What happened, by all of its rules, in a line."""
        return "; ".join(rule.title for rule in self.rules)

    @property
    def where(self) -> str:
        """Its first place in a line, escaped, with what that belongs to and how many more there are."""
        of = [escape(self.server, limit=80)] if self.server else []
        of += [f"profile {escape(self.profile, limit=80)}"] if self.profile else []
        belongs = f" of {', '.join(of)}" if of else ""
        rest = len(self.places) - 1
        more = f" and {counted(rest, 'more place')}" if rest else ""
        return f"{self.places[0].told}{more}{belongs}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of one command.

    Attributes:
        command: its verb.
        headline: the result in an escaped line.
        is_fine: whether there is nothing to object to.
        items: the worst first.
        causes: escaped lines that say what the difference comes from; they belong above the items.
        notes: escaped lines worth telling that are no item.
    """

    command: str
    headline: str
    is_fine: bool
    items: tuple[Item, ...]
    causes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def by_risk(items: Iterable[Item]) -> tuple[Item, ...]:
    """The items, the worst first; of one risk in the order given."""
    return tuple(sorted(items, key=lambda item: -item.risk.rank))


def counted_risks(items: Iterable[Item]) -> str:
    """How many items there are of each risk, the worst first, in words."""
    risks = [item.risk for item in items]
    return ", ".join(f"{risks.count(risk)} {risk}" for risk in sorted(Risk, reverse=True) if risk in risks)


def fails(items: Iterable[Item], fail_on: Risk) -> bool:
    """Whether any of the items is of this class or a worse one, or of none that is known."""
    return any(item.is_unclassed or item.risk >= fail_on for item in items)


Locate = Callable[[Place], Location]


def items_of(
    groups: Iterable[Group],
    locate: Locate,
    *,
    server: str = "",
    profiles: Callable[[Finding], str] = lambda _: "",
) -> Iterator[Item]:
    """The items of findings: rules about the same places are one item.

    Args:
        groups: the findings, the worst first.
        locate: the line that a place is pointed to by.
        server: the server, where there can be several.
        profiles: the profiles that a finding was made in, where not in all.
    """
    together: dict[tuple[Place, ...], list[Group]] = {}
    for group in groups:
        # A name and what stands at it can both be found, at one place.
        places = tuple(dict.fromkeys(Place(one.kind, one.name, one.path) for one in group.findings))
        together.setdefault(places, []).append(group)
    for places, found in together.items():
        first = found[0].finding
        yield Item(
            rules=tuple(dict.fromkeys(group.rule for group in found)),
            places=places,
            location=locate(places[0]),
            old=first.old,
            new=first.new,
            spans=tuple(span for group in found for span in group.finding.added),  # the worst rule's first
            server=server,
            profile=profiles(first),
        )


def unreadable(faults: Iterable[Fault], side: str, locate: Locate, *, server: str = "") -> Iterator[Item]:
    """The items of entries that are no definitions.

    Args:
        faults: the entries.
        side: which side has them, in a word.
        locate: the line that a place is pointed to by.
        server: the server, where there can be several.
    """
    for fault in faults:
        place = Place(fault.kind, fault.name)
        yield Item(
            rules=(UNREADABLE,),
            places=(place,),
            location=locate(place),
            server=server,
            detail=f"on the {side} side: {fault.code}: {escape(fault.message, limit=400)}",
            is_unclassed=True,
        )
