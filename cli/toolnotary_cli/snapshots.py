# SPDX-License-Identifier: Apache-2.0
"""A surface as a file that its author keeps beside the code, where a review reads what changed line by line.

The file is a saved answer like any other (`saved`), laid out: it says of each list that was asked for what
was in it, so that a list which appears later is a change. What cannot be seen is written as an escape.
"""

import json
from collections.abc import Sequence

from toolnotary_cli.source import Command, Saved, Source, Url
from toolnotary_verifier.canonical import JsonObject
from toolnotary_verifier.contents import MEMBER
from toolnotary_verifier.definition import INSTRUCTIONS_NAME, Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import is_invisible
from toolnotary_verifier.shellwords import command, is_typeable, quoted, told_url
from toolnotary_verifier.surface import Surface


def content(surface: Surface) -> bytes:
    """The file that a surface is kept in; reading it gives the same definitions back.

    Raises:
        InvalidInput: the code of the first entry that is no definition: it cannot be kept.
    """
    for fault in surface.faults:
        raise InvalidInput(fault.code, f"{fault.kind}: {fault.message}", remedy="mend the server first")
    document: JsonObject = {}
    if surface.protocol_version is not None:
        document["protocolVersion"] = surface.protocol_version
    if Kind.INSTRUCTIONS in surface.inspected:
        told = surface.definitions.get((Kind.INSTRUCTIONS, INSTRUCTIONS_NAME))
        document["instructions"] = None if told is None else told.value
    for kind, member in MEMBER.items():
        if kind in surface.inspected:
            document[member] = [json.loads(one.canonical) for one in surface.of_kind(kind)]
    laid_out = json.dumps(document, ensure_ascii=False, indent=2)
    return ("".join(map(_visible, laid_out)) + "\n").encode("utf-8")


def _visible(character: str) -> str:
    if character == "\n" or not is_invisible(character):  # JSON itself escapes those inside of texts
        return character
    return json.dumps(character)[1:-1]


def accepting(out: str, source: Source, *, default: str) -> str:
    """The command that accepts what a source shows now, as a shell reads it; none of its secrets are in it.

    Args:
        out: the file.
        source: what was looked at.
        default: the file that is written where none is named.
    """
    options = () if out == default else ("-o", out)
    return command("snapshot", None, *options, behind=_told(source))


def _told(source: Source) -> str:
    if isinstance(source, Command):
        return f"-- {_line(source.argv)}"
    if isinstance(source, Url):
        return told_url(source.url)
    if isinstance(source, Saved) and source.part is None:
        text = "+".join(map(str, source.paths))
        return quoted(text) if is_typeable(text) and not text.startswith("--") else "SOURCE"
    return "SOURCE"


def _line(argv: Sequence[str]) -> str:
    from toolnotary_verifier.commandline import take_apart

    is_open = [word.recorded for word in take_apart(list(argv)).words] == [*argv]
    return " ".join(map(quoted, argv)) if is_open and all(map(is_typeable, argv)) else "COMMAND"
