# SPDX-License-Identifier: Apache-2.0
"""Definitions that came and went as a whole: a configuration, a list kept elsewhere, or a dispatcher.

What came is new whatever the cause, and is accounted for only where the pinned signer signed exactly it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import Digest, JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.definition import Definition, Kind
from toolnotary_verifier.lookalikes import skeleton
from toolnotary_verifier.review.cause.model import MANY, Cause, Explained, Key

# Arguments of a tool that choose what it does, and those that it hands on; without separators.
_SELECTORS: Final = frozenset(
    (
        "action",
        "command",
        "functionname",
        "method",
        "operation",
        "operationname",
        "tool",
        "toolname",
    )
)
_HANDED_ON: Final = frozenset(
    ("args", "arguments", "body", "input", "inputs", "options", "parameters", "params", "payload")
)
_SEPARATORS: Final = re.compile(r"[_.\- ]+")
# Most parts of a name one of which may name a thing, and bytes of a definition that is compared without it.
_PARTS: Final = 8
_LONGEST: Final = 16 << 10


class Moved(NamedTuple):
    """What came and went between two surfaces, and what stayed.

    Attributes:
        gone: definitions that only the old surface has.
        came: those that only the new one has.
        stayed: tools that both have, as they are now.
        unexplained: how many of those differ in what nothing accounts for.
        is_other_version: whether the surfaces belong to different versions, as far as that is known.
    """

    gone: tuple[Definition, ...]
    came: tuple[Definition, ...]
    stayed: tuple[Definition, ...]
    unexplained: int
    is_other_version: bool

    def explained(self) -> Explained | None:
        """The cause of it, None where it shows none."""
        return self._dispatcher() or self._remote() or self._configuration()

    @property
    def _gone_tools(self) -> tuple[Definition, ...]:
        return _tools(self.gone)

    def _dispatcher(self) -> Explained | None:
        """Many tools went, and one came that takes the name of what it is to do."""
        names = [tool.name for tool in self._gone_tools]
        found = [tool for tool in _tools(self.came) if is_dispatcher(tool.value, names)]
        if len(names) < MANY or not found:
            return None
        return Explained(
            Cause.DISPATCHER,
            _keys(self._gone_tools),
            f"{len(names)} tools went, and {len(found)} came that takes the name of an operation: "
            "what it can do is listed nowhere, and no pin covers it",
        )

    def _remote(self) -> Explained | None:
        """Names come and go in definitions that are the same but for the name of a thing."""
        came = _tools(self.came)
        known = Counter(shape for tool in (*self._gone_tools, *self.stayed) for shape in shapes_of(tool))
        moving = [frozenset(shapes_of(tool)) for tool in (*self._gone_tools, *came)]
        common = (
            [shape for shape in frozenset.intersection(*moving) if known[shape] >= MANY] if moving else []
        )
        if not common or self.is_other_version or not (came or self.stayed):
            return None
        return Explained(
            Cause.REMOTE_LIST,
            _keys(self._gone_tools),
            f"{len(self._gone_tools)} tools went and {len(came)} came, all the same but for one word "
            f"that names a thing, as {known[min(common)]} are that were pinned",
        )

    def _configuration(self) -> Explained | None:
        """Many tools went, or came, as a whole, and the rest is as it was."""
        is_rest_equal = bool(self.stayed) and 2 * self.unexplained <= len(self.stayed)
        if self.is_other_version or not is_rest_equal:
            return None
        if len(self._gone_tools) >= MANY:
            return Explained(
                Cause.CONFIGURATION,
                _keys(self.gone),
                f"{len(self._gone_tools)} tools are absent as a whole, and {len(self.stayed)} are there",
            )
        came = self._in_style()
        if not self.gone and not self.unexplained and len(came) >= MANY:
            return Explained(
                Cause.CONFIGURATION,
                (),
                f"{len(came)} tools came as a whole in the style of the others, which are as they were; "
                "a server that turned can do the same, so they stand apart",
            )
        return None

    def _in_style(self) -> list[Definition]:
        """The tools that came and are built as those that stayed, and pass for none of them."""
        styles = {_style(tool.value) for tool in self.stayed}
        taken = {skeleton(tool.name) for tool in self.stayed}
        return [
            tool
            for tool in _tools(self.came)
            if _style(tool.value) in styles and skeleton(tool.name) not in taken
        ]


def _tools(definitions: Iterable[Definition]) -> tuple[Definition, ...]:
    return tuple(one for one in definitions if one.kind is Kind.TOOL)


def _keys(definitions: Iterable[Definition]) -> tuple[Key, ...]:
    return tuple(sorted(one.key for one in definitions))


def is_dispatcher(tool: JsonObject, hidden: Sequence[str] = ()) -> bool:
    """Whether a tool takes the name of what it is to do, and what to do it with.

    Args:
        tool: its definition.
        hidden: names that it may stand for; a choice between many of them needs nothing handed on.
    """
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return False
    folded = {_SEPARATORS.sub("", name).casefold(): value for name, value in properties.items()}
    selectors = [folded[name] for name in _SELECTORS & folded.keys() if _is_text(folded[name])]
    if not selectors:
        return False
    return bool(_HANDED_ON & folded.keys()) or any(_chooses(one, frozenset(hidden)) for one in selectors)


def _is_text(schema: JsonValue) -> bool:
    return isinstance(schema, dict) and ("enum" in schema or schema.get("type") == "string")


def _chooses(schema: JsonObject, names: frozenset[str]) -> bool:
    choices = schema.get("enum")
    found = choices if isinstance(choices, list) else ()
    return sum(isinstance(one, str) and one in names for one in found) >= MANY


def _style(tool: JsonObject) -> tuple[frozenset[str], str | None]:
    """How a definition is built, without any of its words."""
    schema = tool.get("inputSchema")
    dialect = schema.get("$schema") if isinstance(schema, dict) else None
    return frozenset(tool) - {"_meta", "outputSchema"}, dialect if isinstance(dialect, str) else None


def shapes_of(tool: Definition) -> Iterator[Digest]:
    """A tool with one part of its name left out, wherever it stands, once for each part."""
    parts = _SEPARATORS.split(tool.name)
    if not 2 <= len(parts) <= _PARTS or len(tool.canonical) > _LONGEST:
        return
    text = tool.canonical.decode("utf-8")
    for place, part in enumerate(parts):
        if len(part) >= MANY:
            rest = "\0".join((*parts[:place], "", *parts[place + 1 :]))
            word = re.compile(rf"(?<![A-Za-z0-9]){re.escape(part)}(?![A-Za-z0-9])", re.IGNORECASE)
            yield Digest.of(canonical_bytes([place, rest, word.sub("\0", text)]))
