# SPDX-License-Identifier: Apache-2.0
"""Rules about JSON Schema: what a tool takes, and what it says that it gives."""

from typing import Final

from toolnotary_verifier.review.risk import Risk, Rule

SCHEMA_VANISHED: Final = Rule(
    "schema-vanished",
    Risk.HIGH,
    "a schema that no longer says anything",
    "Everything is allowed. Mostly a dependency moved and the generator lost the types.",
    "an object with three properties became `{}`",
    "Do not accept it before the publisher has built it anew.",
)
REF_REMOTE: Final = Rule(
    "ref-remote",
    Risk.HIGH,
    "a reference to somewhere else",
    "What stands there can change at any time, and no digest covers it.",
    "`$ref` is now `https://example.test/schema.json`",
    "Ask for the schema itself in its place.",
)
HEADER: Final = Rule(
    "header-added",
    Risk.MEDIUM,
    "a parameter that is copied into a header",
    "Everything between client and server reads and logs headers.",
    "`x-mcp-header: Region` was added to a parameter",
    "See that the parameter holds nothing private.",
)
PROPERTY_REQUIRED: Final = Rule(
    "property-added-required",
    Risk.MEDIUM,
    "a new parameter that must be given",
    "The model has to fill it with something, from wherever it can.",
    "`account` was added, and is required",
    "See what the model would put there.",
)
PROPERTY_OPTIONAL: Final = Rule(
    "property-added",
    Risk.MEDIUM,
    "a new parameter",
    "A model fills in what it has a name for; a parameter is also a way out.",
    "`note` was added",
    "See what the model would put there.",
)
PROPERTY_RENAMED: Final = Rule(
    "property-renamed",
    Risk.LOW,
    "a parameter under another name",
    "The name tells the model what to put there.",
    "`path` became `file_path`, all else equal",
    "See that it asks for the same.",
)
TYPE_WIDENED: Final = Rule(
    "type-widened",
    Risk.MEDIUM,
    "more types are taken",
    "What was refused before is passed on.",
    "`integer` became `integer` or `string`",
    "See whether the server checks what it gets.",
)
TYPE_CHANGED: Final = Rule(
    "type-changed",
    Risk.MEDIUM,
    "another type",
    "What is passed on is something else.",
    "`string` became `array`",
    "See what the model would put there.",
)
ENUM_WIDENED: Final = Rule(
    "enum-widened",
    Risk.MEDIUM,
    "more values are allowed",
    "The tool can be told to do what it could not.",
    "`read` became `read` or `write`",
    "See what the new values do.",
)
ENUM_CHANGED: Final = Rule(
    "enum-changed",
    Risk.MEDIUM,
    "other values are allowed",
    "The tool can be told to do what it could not.",
    "`eu` became `us`",
    "See what the new values do.",
)
BOUNDS_WIDENED: Final = Rule(
    "bounds-widened",
    Risk.MEDIUM,
    "a bound that gives way",
    "Larger or longer values reach the server.",
    "`maximum` went from 10 to 100000",
    "See whether the bound protected something.",
)
PATTERN_CHANGED: Final = Rule(
    "pattern-changed",
    Risk.MEDIUM,
    "another pattern or format, or none",
    "What was refused before may be passed on; which of two patterns allows more, no program can say.",
    "`^INV-[0-9]+$` became `.*`",
    "Compare the two.",
)
DEFAULT_CHANGED: Final = Rule(
    "default-changed",
    Risk.MEDIUM,
    "another default",
    "It is what happens where nobody says anything.",
    "`dry_run` defaults to false in place of true",
    "See that the new one does no more than the old.",
)
OPENED: Final = Rule(
    "schema-opened",
    Risk.MEDIUM,
    "members that the schema does not name are let through",
    "A model may add members, and the server reads them; also SDKs add and drop this word.",
    "`additionalProperties` went from false to true",
    "See whether the server minds what it does not know.",
)
REQUIRED_DROPPED: Final = Rule(
    "required-dropped",
    Risk.MEDIUM,
    "a parameter may be left out",
    "The server picks a value in its place.",
    "`account` is no longer required",
    "See what happens without it.",
)
SCHEMA_REPLACED: Final = Rule(
    "schema-replaced",
    Risk.MEDIUM,
    "another schema altogether",
    "The two have too little in common to be compared piece by piece, or are too large.",
    "an object became `true`",
    "Read the new one as a whole.",
)
COMPOSITION: Final = Rule(
    "schema-composed",
    Risk.MEDIUM,
    "alternatives or conditions changed",
    "What is taken depends on several schemas, and which way it went cannot be told.",
    "an `if` and a `then` were added",
    "Compare the two.",
)
REF_CHANGED: Final = Rule(
    "ref-changed",
    Risk.MEDIUM,
    "a reference to another part",
    "What is taken stands somewhere else now, and says something else.",
    "`$ref` went from `#/$defs/a` to `#/$defs/b`",
    "Compare the two parts.",
)
PROPERTY_REMOVED: Final = Rule(
    "property-removed",
    Risk.LOW,
    "a parameter less",
    "Calls that give it fail; a switch that made a call harmless may be among them.",
    "`dry_run` is gone",
    "See whether it protected something.",
)
TYPE_NARROWED: Final = Rule(
    "type-narrowed",
    Risk.LOW,
    "fewer types are taken",
    "Less is passed on.",
    "`string` or null became `string`",
    "Nothing.",
)
ENUM_NARROWED: Final = Rule(
    "enum-narrowed",
    Risk.LOW,
    "fewer values are allowed",
    "Less can be done.",
    "`fast` is no longer among the values",
    "Nothing.",
)
BOUNDS_NARROWED: Final = Rule(
    "bounds-narrowed",
    Risk.LOW,
    "a tighter bound",
    "Less is passed on.",
    "`maxLength: 100` was added",
    "Nothing.",
)
PATTERN_ADDED: Final = Rule(
    "pattern-added",
    Risk.LOW,
    "a pattern or format where there was none",
    "Less is passed on.",
    "`format: uri` was added",
    "Nothing.",
)
DEFAULT_ADDED: Final = Rule(
    "default-added",
    Risk.LOW,
    "a default where there was none",
    "It is what happens where nobody says anything.",
    "`limit` defaults to 10",
    "See that it is harmless.",
)
CLOSED: Final = Rule(
    "schema-closed",
    Risk.LOW,
    "members that the schema does not name are refused",
    "Less is passed on.",
    "`additionalProperties: false` was added",
    "Nothing.",
)
REQUIRED_ADDED: Final = Rule(
    "required-added",
    Risk.LOW,
    "a parameter must be given now",
    "The model has to fill it with something.",
    "`account` is required now",
    "Nothing.",
)
EXAMPLES: Final = Rule(
    "examples-changed",
    Risk.LOW,
    "other examples",
    "A model copies what it sees in them.",
    "`examples` names another city",
    "Read them.",
)
PARTS: Final = Rule(
    "definitions-changed",
    Risk.LOW,
    "parts of a schema came or went",
    "By themselves they take nothing; what refers to them is told where it stands.",
    "`$defs/Address` was added",
    "Nothing.",
)
KEYWORD: Final = Rule(
    "schema-keyword",
    Risk.LOW,
    "a word that constrains nothing",
    "Labels, dialects and marks of generators; some host may read one.",
    "`$schema` names another draft",
    "Nothing.",
)
OUTPUT: Final = Rule(
    "output-changed",
    Risk.LOW,
    "what the tool says that it gives changed",
    "Hosts check results by it; the result itself is the server's either way.",
    "`outputSchema` was added",
    "Nothing.",
)
SCHEMA_TITLE: Final = Rule(
    "schema-title",
    Risk.LOW,
    "another title within a schema",
    "Generators name schemas after functions.",
    "`GitStatus` became `statusArguments`",
    "Nothing.",
    alike=True,
)
SAFE_INTEGERS: Final = Rule(
    "bounds-default",
    Risk.NONE,
    "the bounds of what JavaScript counts exactly",
    "Generators write and drop plus and minus 2^53-1, and no server meant it.",
    "`maximum: 9007199254740991` is gone",
    "Nothing.",
    alike=True,
)
REQUIRED_FOLLOWS: Final = Rule(
    "required-follows",
    Risk.NONE,
    "`required` goes with a parameter that came or went",
    "It is told with the parameter.",
    "`account` was added, and `required` names it",
    "Nothing.",
    alike=True,
)
ORDER: Final = Rule(
    "order-only",
    Risk.NONE,
    "only the order",
    "Values of `required`, `enum` and `type` mean the same in any order.",
    "`required` went from a, b to b, a",
    "Nothing.",
    alike=True,
)
SAME_RESOLVED: Final = Rule(
    "schema-same",
    Risk.NONE,
    "the same schema, written another way",
    "With every reference in its place both sides are equal.",
    "`$ref: #/$defs/a` became what stands there",
    "Nothing.",
    alike=True,
)
