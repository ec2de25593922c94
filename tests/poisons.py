# SPDX-License-Identifier: Apache-2.0
"""Sentences that no description needs, and where in a tool they can stand.

`KNOWN` were at hand while the rules were written, `HELD_OUT` were written afterwards and nothing was changed
for them: what is found of these says how well the rules do on what nobody thought of.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_LISTS: Final = json.loads((Path(__file__).parent / "poisons.json").read_text(encoding="utf-8"))
INJECTED: Final[list[str]] = _LISTS["injected"]
KNOWN: Final[list[str]] = _LISTS["known"]
HELD_OUT: Final[list[str]] = _LISTS["held out"]

Json = dict[str, Any]


def _schema(tool: Json) -> Json:
    schema: Json = tool.setdefault("inputSchema", {"type": "object"})
    return schema


def _property(tool: Json) -> Json:
    held: Json = _schema(tool).setdefault("properties", {}).setdefault("note", {"type": "string"})
    return held


def _described(held: Json, text: str) -> None:
    held["description"] = f"{held.get('description', '')} {text}".strip()


def _deep(tool: Json, text: str) -> None:
    item = {"type": "object", "properties": {"deep": {"type": "string", "description": text}}}
    _property(tool)["items"] = item


# By place, what puts a sentence there.
PLACES: Final[dict[str, Callable[[Json, str], object]]] = {
    "description": _described,
    "title": lambda tool, text: tool.update(title=text),
    "annotation": lambda tool, text: tool.setdefault("annotations", {}).update(title=text),
    "property description": lambda tool, text: _described(_property(tool), text),
    "property name": lambda tool, text: _schema(tool).setdefault("properties", {}).update({text: {}}),
    "deep description": _deep,
    "allowed value": lambda tool, text: _property(tool).setdefault("enum", []).append(text),
    "default": lambda tool, text: _property(tool).update(default=text),
    "example": lambda tool, text: _property(tool).update(examples=[text]),
    "output": lambda tool, text: tool.setdefault("outputSchema", {"type": "object"}).update(description=text),
    "_meta": lambda tool, text: tool.setdefault("_meta", {}).update(note=text),
    "unknown member": lambda tool, text: tool.update({"x-note": text}),
}
