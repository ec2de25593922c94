# SPDX-License-Identifier: Apache-2.0
"""The forms in which generators write one and the same JSON Schema.

A form may only take away what says nothing new: keywords with a fixed value, and titles that repeat a name.
Whatever could carry a word to a model stays, and so stands apart.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from toolnotary_verifier.canonical import JsonObject, JsonValue, canonical_bytes
from toolnotary_verifier.equivalence import SCHEMA_LISTS, SCHEMA_MAPS, SCHEMAS

_DIALECTS: Final = frozenset(
    f"{scheme}://json-schema.org/{dialect}/schema{end}"
    for scheme in ("http", "https")
    for dialect in ("draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12")
    for end in ("", "#")
)
# What zod 4 writes for `int()`: the largest integers that a double holds exactly.
_SAFE: Final = {"minimum": b"-9007199254740991", "maximum": b"9007199254740991"}
_PARTS: Final = re.compile(r"[^a-z0-9]+")
# Single separators only: a title is never excused that hides something between its words.
_PLAIN: Final = re.compile(r"[A-Za-z0-9]+(?:[ _.-][A-Za-z0-9]+)*")
# What generators put behind the name of a tool to name its schema.
_ENDING: Final = re.compile(
    r"(?:arguments|args|params|parameters|input|request|output|response|result|schema|model)$"
)
# What a list is of that nobody put in order: many identifiers, all in one style. A few may be the order in
# which something is done.
_SETS: Final[tuple[str, ...]] = ("default", "enum", "required")
_LONG: Final = 8
_STYLES: Final = tuple(
    re.compile(style)
    for style in (
        r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*",
        r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*",
        r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*",
        r"[a-z]+(?:[A-Z][a-z0-9]*)*",
        r"(?:[A-Z][a-z0-9]*)+",
    )
)
# Words of which sentences are made: with one of them among it, a list may be read as one.
_SENTENCE: Final = frozenset(
    (
        *("a", "all", "always", "an", "and", "any", "are", "ask", "be", "before", "but", "call", "can", "do"),
        *("dont", "except", "first", "for", "from", "if", "in", "instead", "is", "it", "must", "never", "no"),
        *("not", "of", "on", "only", "or", "please", "should", "skip", "tell", "that", "the", "them", "then"),
        *("this", "to", "unless", "use", "user", "when", "with", "without", "you", "your"),
    )
)
_LOCAL: Final = "#/definitions/"

# Rewrites one schema without those inside; the text is what it belongs to: a property, or the tool.
Rewrite = Callable[[JsonObject, str], JsonObject]


class Form(NamedTuple):
    """One thing that generators write in one way or another.

    Attributes:
        id: names it where it is told.
        rewrite: gives a schema without it, or in the one way; the very object where nothing is to do.
    """

    id: str
    rewrite: Rewrite


class Rewriting:
    """Brings schemas into some forms, at every schema position.

    Args:
        forms: applied in order.

    Attributes:
        counts: how many times each form had something to do, by its id.
    """

    def __init__(self, forms: Iterable[Form]) -> None:
        self._forms = tuple(forms)
        self.counts: Counter[str] = Counter()

    def schema(self, value: JsonValue, name: str) -> JsonValue:
        """A schema in the forms; what is none as it is.

        Args:
            value: of a definition, and so of bounded depth.
            name: of the tool or property that it belongs to.
        """
        if not isinstance(value, dict):
            return value
        found = {keyword: self._inside(keyword, inner, name) for keyword, inner in value.items()}
        for form in self._forms:
            after = form.rewrite(found, name)
            if after is not found:
                self.counts[form.id] += 1
                found = after
        return found

    def _inside(self, keyword: str, value: JsonValue, name: str) -> JsonValue:
        if keyword in SCHEMA_MAPS:
            return (
                {key: self.schema(one, key) for key, one in value.items()}
                if isinstance(value, dict)
                else value
            )
        if keyword in SCHEMA_LISTS or keyword in SCHEMAS:
            return (
                [self.schema(one, name) for one in value]
                if isinstance(value, list)
                else self.schema(value, name)
            )
        return value


def forms_of(*schemas: JsonValue) -> tuple[Form, ...]:
    """The forms that schemas may be compared in: a reference says which map it means where one has both."""
    both = any(isinstance(one, dict) and {"definitions", "$defs"} <= one.keys() for one in schemas)
    return tuple(one for one in (*GENERATED, IN_ORDER) if not (both and one is _DEFINITIONS))


def in_forms(schema: JsonValue, forms: Iterable[Form], name: str) -> bytes:
    """The canonical bytes of a schema in the forms; two schemas are the same but for them if these are."""
    return canonical_bytes(Rewriting(forms).schema(schema, name))


def uses(schema: JsonValue, forms: Iterable[Form], name: str) -> Counter[str]:
    """How many times a schema has what each form takes away, by the form's id."""
    rewriting = Rewriting(forms)
    rewriting.schema(schema, name)
    return rewriting.counts


def unlike(old: JsonValue, new: JsonValue) -> tuple[JsonValue, JsonValue]:
    """Two schemas without the properties that are the same in both: nothing has to be found out of those."""
    sides = [one.get("properties") if isinstance(one, dict) else None for one in (old, new)]
    before, after = sides
    if not isinstance(before, dict) or not isinstance(after, dict):
        return old, new
    same = {
        name
        for name in before.keys() & after.keys()
        if canonical_bytes(before[name]) == canonical_bytes(after[name])
    }
    kept = [{name: one for name, one in side.items() if name not in same} for side in (before, after)]
    return {**old, "properties": kept[0]}, {**new, "properties": kept[1]}


def _without(schema: JsonObject, *keywords: str) -> JsonObject:
    return {keyword: value for keyword, value in schema.items() if keyword not in keywords}


def _dialect(schema: JsonObject, _: str) -> JsonObject:
    return _without(schema, "$schema") if schema.get("$schema") in _DIALECTS else schema


def _closed(schema: JsonObject, _: str) -> JsonObject:
    """`false` alone: a schema that says `true` is another one."""
    closed = schema.get("additionalProperties") is False
    return _without(schema, "additionalProperties") if closed else schema


def _empty(schema: JsonObject, _: str) -> JsonObject:
    gone = [keyword for keyword in ("properties", "required") if schema.get(keyword) in ({}, [])]
    return _without(schema, *gone) if gone else schema


def _title(schema: JsonObject, name: str) -> JsonObject:
    title = schema.get("title")
    return _without(schema, "title") if isinstance(title, str) and repeats(title, name) else schema


def repeats(title: str, name: str) -> bool:
    """Whether a title says no more than a name: `Repo Path` of `repo_path`, `GitLogInput` of `git_log`."""
    if not _PLAIN.fullmatch(title):
        return False
    told, known = (_PARTS.sub("", text.casefold()) for text in (title, name))
    return told == known or _ENDING.sub("", told) == known != ""


def _nullable(schema: JsonObject, _: str) -> JsonObject:
    """What may be null, as `type: [T, "null"]`."""
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        return {**_without(schema, "nullable"), "type": [schema["type"], "null"]}
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or len(branches) != 2:
        return schema
    others = [one for one in branches if one != {"type": "null"}]
    other = others[0] if len(others) == 1 else None
    if not isinstance(other, dict) or not isinstance(other.get("type"), str) or other.keys() & schema.keys():
        return schema
    return {**_without(schema, "anyOf"), **other, "type": [other["type"], "null"]}


def _null_default(schema: JsonObject, _: str) -> JsonObject:
    return _without(schema, "default") if "default" in schema and schema["default"] is None else schema


def _definitions(schema: JsonObject, _: str) -> JsonObject:
    """`definitions` as `$defs`, and references to it."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(_LOCAL):
        schema = {**schema, "$ref": f"#/$defs/{reference.removeprefix(_LOCAL)}"}
    if "definitions" in schema and "$defs" not in schema:
        return {**_without(schema, "definitions"), "$defs": schema["definitions"]}
    return schema


def _safe_integers(schema: JsonObject, _: str) -> JsonObject:
    gone = [
        keyword
        for keyword, bound in _SAFE.items()
        if keyword in schema and canonical_bytes(schema[keyword]) == bound
    ]
    return _without(schema, *gone) if gone and schema.get("type") == "integer" else schema


def _set_order(schema: JsonObject, _: str) -> JsonObject:
    """Lists of words that are sets, sorted: what a schema requires, enumerates or takes by default."""
    found = ((keyword, _sorted(schema[keyword])) for keyword in _SETS if keyword in schema)
    changed = {keyword: words for keyword, words in found if words is not None}
    return {**schema, **changed} if changed else schema


def _sorted(value: JsonValue) -> JsonValue:
    """The words of a list, or of a text between commas; None where somebody may have put them in order."""
    words = value.split(",") if isinstance(value, str) else value
    if not isinstance(words, list) or len(words) < _LONG:
        return None
    names = [word for word in words if isinstance(word, str) and word.casefold() not in _SENTENCE]
    if len(names) < len(words) or not any(all(map(style.fullmatch, names)) for style in _STYLES):
        return None
    return ",".join(sorted(names)) if isinstance(value, str) else [*sorted(names)]


_DEFINITIONS: Final = Form("definitions or $defs", _definitions)
GENERATED: Final = (
    Form("$schema", _dialect),
    Form("additionalProperties false", _closed),
    Form("empty properties and required", _empty),
    Form("titles that repeat a name", _title),
    Form("ways to allow null", _nullable),
    Form("null as default", _null_default),
    _DEFINITIONS,
    Form("bounds of safe integers", _safe_integers),
)
IN_ORDER: Final = Form("order of words", _set_order)


def is_empty(schema: JsonValue) -> bool:
    """Whether a schema allows everything, or every object, and says nothing."""
    if not isinstance(schema, dict) or schema.get("additionalProperties", {}) not in (True, False, {}):
        return False
    rest = in_forms(_without(schema, "additionalProperties"), GENERATED, "")
    return rest in (b"{}", b'{"type":"object"}')


def is_described(schema: JsonValue) -> bool:
    """Whether a schema names properties."""
    return (
        isinstance(schema, dict) and isinstance(schema.get("properties"), dict) and bool(schema["properties"])
    )
