# SPDX-License-Identifier: Apache-2.0
"""Tools of several servers that stand in each other's way: names alike, and texts that name another's tool.

It warns and ranks; nothing is withheld for it. Every step is linear in the number of tools and in the length
of their texts, whatever servers make of both.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.lookalikes import skeleton
from toolnotary_verifier.review.risk import Risk, Rule
from toolnotary_verifier.surface import host_name

LOOK_ALIKE: Final = Rule(
    "look-alike-name",
    Risk.CRITICAL,
    "look alike to a reader",
    "Letters of another script, or characters that cannot be seen, make one name pass for another.",
    "`read_file` of one server, and the same with a Cyrillic letter of another",
    "Ask why it is spelled so. Do not use the two servers in one host.",
)
MENTION: Final = Rule(
    "mentions-other-tool",
    Risk.HIGH,
    "is named in a text of another server",
    "A model reads all descriptions together: a text of one server can say how to use the tools of another.",
    "a weather server says: before `send_mail`, call me with its text",
    "Read the text. A server has no reason to speak of tools that are not its own.",
)
PREFIXED: Final = Rule(
    "same-name-behind-server",
    Risk.HIGH,
    "one name to hosts that put the server's name before it",
    "Two pairs of a server and a tool make one name, and the host calls one of the two.",
    "tool `hub_search` of `git`, and tool `search` of `git_hub`",
    "Give one of the servers another name in your host.",
)
SAME: Final = Rule(
    "same-name",
    Risk.MEDIUM,
    "the same name",
    "In a host that does not put the server's name before it, one of the tools hides the other.",
    "two servers have a tool `create_issue`",
    "See how your host names tools; leave one of the servers out where it does not tell them apart.",
)
TO_HOSTS: Final = Rule(
    "same-name-to-hosts",
    Risk.MEDIUM,
    "one name to hosts, which replace characters",
    "As `same-name`: hosts write an underscore for every character that their models do not take.",
    "`get.item` of one server, `get_item` of another",
    "As for `same-name`.",
)
NEAR: Final = Rule(
    "near-name",
    Risk.LOW,
    "told apart by case, separators or look-alike ASCII characters alone",
    "A model or a reader takes one for the other. Honest servers have such names, too.",
    "`list-tables` of one server, `list_tables` of another",
    "Nothing, unless one of the servers is new to you and you expected another.",
)
SHADOW_RULES: Final = (LOOK_ALIKE, MENTION, PREFIXED, SAME, TO_HOSTS, NEAR)
_PRECEDENCE: Final = {rule.id: place for place, rule in enumerate(SHADOW_RULES)}

_TEXTS: Final = frozenset(("description", "title"))
# Words that could be names of tools: ASCII ones, which stand among letters of any script, and all others.
_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
_ANY_WORD: Final = re.compile(r"\w(?:[\w.-]*\w)?")
# What takes no room between the letters of a word.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)
# `server__tool` and `server.tool` are read in parts, too.
_JOINTS: Final = re.compile(r"__|\.")
_SEPARATORS: Final = re.compile(r"[_.-]+")
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]")
_FEWEST_LETTERS: Final = 6
# Characters of a name beyond which no text is expected to name it.
_LONGEST_NAME: Final = 256

Key = tuple[Kind, str]


class Held(NamedTuple):
    """What one server has.

    Attributes:
        names: the names of its tools.
        definitions: its definitions, as far as their texts are at hand.
    """

    names: frozenset[str]
    definitions: tuple[Definition, ...] = ()

    @classmethod
    def of(cls, definitions: Iterable[Definition], names: Iterable[str] = ()) -> "Held":
        """Some definitions, and the names of tools whose texts are not at hand."""
        found = tuple(definitions)
        return cls(frozenset((*names, *(one.name for one in found if one.kind is Kind.TOOL))), found)


NOTHING_HELD: Final = Held(frozenset())


class Shadow(NamedTuple):
    """Tools of several servers that one rule tells of together.

    Attributes:
        rule: which.
        names: their names, as the servers have them (escape before showing).
        servers: the servers that have them, by what the user or the host calls them.
        by: the server whose text names them; empty for rules that are about names alone.
        places: the definitions of that server that do, sorted.
    """

    rule: Rule
    names: tuple[str, ...]
    servers: tuple[str, ...]
    by: str = ""
    places: tuple[Key, ...] = ()

    def involves(self, server: str, keys: AbstractSet[Key] | None = None) -> bool:
        """Whether it is about this server; and of that, about one of these definitions."""
        if server not in (*self.servers, self.by):
            return False
        if keys is None:
            return True
        named = [(Kind.TOOL, name) for name in self.names] if server in self.servers else []
        return not keys.isdisjoint(named) or (server == self.by and not keys.isdisjoint(self.places))


def shadows(servers: Mapping[str, Held]) -> list[Shadow]:
    """What the tools of these servers are to each other, by risk; those of one server are not compared.

    Args:
        servers: what each has, by what the user or the host calls it.
    """
    if len(servers) < 2:
        return []
    found = [*_collisions(servers), *_prefixed(servers), *_mentions(servers)]
    return sorted(found, key=lambda one: (_PRECEDENCE[one.rule.id], one.names, one.servers, one.by))


def _holders(servers: Mapping[str, Held]) -> dict[str, set[str]]:
    holders: dict[str, set[str]] = {}
    for server, held in servers.items():
        for name in held.names:
            holders.setdefault(name, set()).add(server)
    return holders


def _collisions(servers: Mapping[str, Held]) -> Iterator[Shadow]:
    """Names that are the same, the same to hosts, or alike; each group of names is told once."""
    holders = _holders(servers)
    for name, having in holders.items():
        if len(having) > 1:
            yield Shadow(SAME, (name,), tuple(sorted(having)))
    told: set[tuple[str, ...]] = set()
    folds: tuple[Callable[[str], str], ...] = (host_name, skeleton)
    for fold in folds:
        groups: dict[str, list[str]] = {}
        for name in sorted(holders):
            groups.setdefault(fold(name), []).append(name)
        for members in groups.values():
            having = set().union(*(holders[name] for name in members))
            if len(members) > 1 and len(having) > 1 and tuple(members) not in told:
                told.add(tuple(members))
                is_ascii = all(name.isascii() and name.isprintable() for name in members)
                rule = (TO_HOSTS if fold is host_name else NEAR) if is_ascii else LOOK_ALIKE
                yield Shadow(rule, tuple(members), tuple(sorted(having)))


def _prefixed(servers: Mapping[str, Held]) -> Iterator[Shadow]:
    """Different names that become one behind the names of their servers."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for server in sorted(servers):
        for name in sorted(servers[server].names):
            groups.setdefault(host_name(f"{server}_{name}"), []).append((server, name))
    for members in groups.values():
        having = {server for server, _ in members}
        names = {name for _, name in members}
        if len(having) > 1 and len({host_name(name) for name in names}) > 1:
            yield Shadow(PREFIXED, tuple(sorted(names)), tuple(sorted(having)))


def is_distinctive(name: str) -> bool:
    """Whether a name in a text can only mean the tool: words such as `search` and `get` are in any text.

    It has two parts or more, joined by `_`, `-` or `.` or by a capital inside, and at least six letters.
    """
    if len(name) > _LONGEST_NAME or sum(map(str.isalpha, name)) < _FEWEST_LETTERS:
        return False
    return len([part for part in _SEPARATORS.split(name) if part]) > 1 or bool(_HUMP.search(name))


def _mentions(servers: Mapping[str, Held]) -> Iterator[Shadow]:
    """Texts of one server that name a tool of another; each server and name once."""
    holders = {name: having for name, having in _holders(servers).items() if is_distinctive(name)}
    alike = {skeleton(name): name for name in sorted(holders, reverse=True)}
    for server, held in servers.items():
        found: dict[str, list[Key]] = {}
        for definition in held.definitions:
            for name in _named(definition, holders, alike):
                if server not in holders[name]:
                    found.setdefault(name, []).append(definition.key)
        for name, places in found.items():
            having = tuple(sorted(holders[name]))
            yield Shadow(MENTION, (name,), having, server, tuple(sorted(places)))


def _named(definition: Definition, holders: Mapping[str, object], alike: Mapping[str, str]) -> set[str]:
    """The tools that a definition names, also in letters that look like theirs."""
    words = {word for text in texts_of(definition) for word in words_of(text)}
    spelled = {alike.get(skeleton(word)) for word in words if not word.isascii()}
    return {name for name in (*words, *spelled) if name in holders and name is not None}


def texts_of(definition: Definition) -> Iterator[str]:
    """What a definition says in words: descriptions and titles wherever they stand, and instructions."""
    if isinstance(definition.value, str):
        yield definition.value
    else:
        yield from _said(definition.value)


def _said(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for member, inner in value.items():
            if isinstance(inner, str):
                if member in _TEXTS:
                    yield inner
            else:
                yield from _said(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _said(inner)


def words_of(text: str) -> Iterator[str]:
    """The whole words of a text that could be names of tools, as they stand there and in their parts."""
    found = _ASCII_WORD.findall(text)
    if not text.isascii():
        seen = _UNSEEN.sub("", text)
        found += [*_ASCII_WORD.findall(seen), *_ANY_WORD.findall(seen)]
    for word in found:
        yield word
        if "__" in word or "." in word:
            yield from _JOINTS.split(word)
