# SPDX-License-Identifier: Apache-2.0
"""Where texts stand in a definition, and what belongs there."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonValue
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.review.pointer import Steps
from toolnotary_verifier.review.reading.hit import Hit
from toolnotary_verifier.review.rules import wording


class Slot(Enum):
    """What a text is for."""

    PROSE = auto()  # a description
    TITLE = auto()
    NAME = auto()  # of a property, a tool, an argument
    VALUE = auto()  # a default, an example, an allowed value
    TOKEN = auto()  # a pattern, a format, a URI, a type
    OTHER = auto()  # anything that the protocol does not define


class Text(NamedTuple):
    """A text of a definition.

    Attributes:
        steps: its place.
        text: as received.
        slot: what it is for.
        in_name: whether it is the last step itself.
    """

    steps: Steps
    text: str
    slot: Slot
    in_name: bool = False


_VALUES: Final = frozenset(("const", "default", "enum", "example", "examples"))
_SLOTS: Final = {
    **dict.fromkeys(("description", "$comment"), Slot.PROSE),
    "title": Slot.TITLE,
    **dict.fromkeys(("name", "required", "x-mcp-header"), Slot.NAME),
    **dict.fromkeys(
        (
            "$id",
            "$ref",
            "$schema",
            "format",
            "mimeType",
            "pattern",
            "sizes",
            "src",
            "taskSupport",
            "theme",
            "type",
        ),
        Slot.TOKEN,
    ),
    **dict.fromkeys(("uri", "uriTemplate", "websiteUrl"), Slot.TOKEN),
}

# Names that the protocol and JSON Schema define, and that nobody reads.
_VOCABULARY: Final = frozenset(
    (
        *_SLOTS,
        *_VALUES,
        *(
            "$defs",
            "_meta",
            "additionalProperties",
            "allOf",
            "annotations",
            "anyOf",
            "arguments",
            "definitions",
        ),
        *("destructiveHint", "execution", "exclusiveMaximum", "exclusiveMinimum", "icons", "idempotentHint"),
        *(
            "inputSchema",
            "items",
            "maxItems",
            "maxLength",
            "maximum",
            "minItems",
            "minLength",
            "minimum",
            "oneOf",
        ),
        *("openWorldHint", "outputSchema", "properties", "readOnlyHint", "size", "uniqueItems"),
    )
)


def texts_of(value: JsonValue, steps: Steps = (), *, kind: Kind) -> Iterator[Text]:
    """Every text in a value, the names of its members included.

    Args:
        value: the value.
        steps: its place in the definition.
        kind: what the definition defines.
    """
    if isinstance(value, str):
        yield Text(steps, value, slot_of(steps, kind))
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _VOCABULARY:
                yield Text((*steps, key), key, Slot.NAME, in_name=True)
            yield from texts_of(item, (*steps, key), kind=kind)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from texts_of(item, (*steps, str(place)), kind=kind)


def slot_of(steps: Steps, kind: Kind) -> Slot:
    """What a text at this place is for; instructions stand at no place at all."""
    if not steps:
        return Slot.PROSE
    if steps == ("name",) and kind in (Kind.RESOURCE, Kind.TEMPLATE):
        return Slot.TITLE  # what identifies these is their URI
    for before, step in zip(("", *steps), steps, strict=False):
        if step in _VALUES and before != "properties":
            return Slot.VALUE
    keyword = next((step for step in reversed(steps) if not step.isdecimal()), "")
    return _SLOTS.get(keyword, Slot.OTHER)


# How many words stand where no sentence belongs before they are one.
_MOST: Final = {Slot.TITLE: 14, Slot.NAME: 4, Slot.VALUE: 9, Slot.TOKEN: 5, Slot.OTHER: 12}
_SPOKEN: Final = re.compile(r"(?<!\S)[\"'(]?[A-Za-z][a-z'-]*[,.;:!?\")]*(?!\S)")
_ASKED: Final = re.compile(
    r"(?:conversation|chat|message|prompt)_?history|(?:full|whole|entire)_?conversation|system_?prompts?"
    r"|chain_?of_?thought|previous_?messages|available_?tools|tool_?call_?history|side_?note|user_?prompt|llm_?context"
    r"|developer_?prompt",
    re.IGNORECASE,
)


def read_slot(text: Text) -> Iterator[Hit]:
    """Sentences where none belong, and names that ask for what nobody should hand over."""
    most = _MOST.get(text.slot)
    if most is not None and len(_SPOKEN.findall(text.text)) >= most:
        yield Hit(wording.PROSE, 0, len(text.text))
    if text.slot is Slot.NAME and _ASKED.fullmatch(text.text):
        yield Hit(wording.CONTEXT, 0, len(text.text))


def spoken(name: str) -> str:
    """The words of a name: `readTheFile_first` as `read The File first`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+", " ", name)
