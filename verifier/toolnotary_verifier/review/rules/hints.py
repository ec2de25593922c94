# SPDX-License-Identifier: Apache-2.0
"""Rules about annotations: what a server says of its own tools, by which hosts skip questions."""

from typing import Final

from toolnotary_verifier.review.risk import Risk, Rule

HINT_SAFER: Final = Rule(
    "hint-safer",
    Risk.HIGH,
    "a hint now says that the tool is safer",
    "Hosts skip their question for what calls itself read-only or not destructive; the word is the server's.",
    "`destructiveHint` went from true to false",
    "See what the tool does. Accept only if it really changed.",
)
HINT_UNCLEAR: Final = Rule(
    "hint-unclear",
    Risk.HIGH,
    "a hint that is neither true nor false",
    "One host reads it as true and another as false, whatever it looks like to a person.",
    '`destructiveHint` went from true to the text "false"',
    "Do not accept it; ask for a boolean.",
)
HINT_CLAIMED: Final = Rule(
    "hint-claimed",
    Risk.MEDIUM,
    "a hint that was not there says that the tool is safe",
    "As `hint-safer`; but where nothing was said before, most servers only begin to say anything.",
    "`readOnlyHint: true` was added",
    "See that the tools which say so do nothing but read.",
)
HINT_WITHDRAWN: Final = Rule(
    "hint-withdrawn",
    Risk.MEDIUM,
    "a hint that warned is gone",
    "Where nothing is said a host goes by its own idea of the tool, which can be that it is safe.",
    "`destructiveHint: true` is gone",
    "See whether your host still asks before it calls the tool.",
)
HINT_STRICTER: Final = Rule(
    "hint-stricter",
    Risk.LOW,
    "a hint now warns",
    "The tool says more of what it can do, or can do more.",
    "`readOnlyHint` went from true to false",
    "See whether the tool does more than before.",
)
HINT_OTHER: Final = Rule(
    "annotation-changed",
    Risk.LOW,
    "another annotation changed",
    "Annotations that are no hints name, sort and address; some hosts read ones of their own.",
    "`audience` went from user to assistant",
    "Nothing, unless your host goes by it.",
)
