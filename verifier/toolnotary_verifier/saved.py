# SPDX-License-Identifier: Apache-2.0
"""Saved answers of a server, recognized by their shape, and the surface that they make together.

A document is one of: a whole JSON-RPC response, its `result` alone, a bare array of tools, or an array of any
of the first two (pages, or the answers to several requests). Each answer is recognized by the members that
MCP gives it, so a saved `initialize` or `server/discover` result and lists of prompts, resources and
templates join the tools.
"""

from collections.abc import Iterable, Sequence

from toolnotary_verifier.canonical import Flaw, JsonObject, JsonValue, parse_message
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.jsonrpc import CAPABILITY, LIST_MEMBER, META_SERVER, STATELESS
from toolnotary_verifier.limits import DEFAULT_LIMITS, Limits
from toolnotary_verifier.listing import Listing
from toolnotary_verifier.surface import Surface, assemble

# Members that only the answers to `initialize` and `server/discover` have (MCP schema, 2025-06-18 to
# 2026-07-28).
_OPENING = ("protocolVersion", "supportedVersions", "serverInfo", "capabilities", "instructions")
_OURS = "https://toolnotary.dev/"
_JOIN = "save every page and join them: FIRST.json+SECOND.json, or one array of all pages"


class Answers:
    """Saved answers that belong together, in any order; the surface that they make.

    Args:
        limits: bounds on each document (`frame_bytes`) and on all pages of a list.
    """

    def __init__(self, *, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        # Pages keep their size: limits hold for files too.
        self.pages: dict[Kind, list[tuple[JsonObject, int]]] = {}
        self.opening: JsonObject = {}
        self.openings = 0

    def add(self, raw: bytes) -> None:
        """Take in one document.

        Raises:
            CanonicalError: it is not JSON in UTF-8.
            InvalidInput: `no-surface` if it holds nothing that a server says of itself, `surface-conflict` if
                it holds another opening than one before.
        """
        _sort(parse_message(raw, max_bytes=self._limits.frame_bytes), len(raw), self)

    def surface(self) -> Surface:
        """What all of them describe together.

        Raises:
            InvalidInput: `listing-incomplete` if the last page of a list announces another, `listing-shape`,
                `listing-limit`, `cursor-loop`.
        """
        limits, opening = self._limits, self.opening
        # A file may hold what a server sends in several pages; whatever is in it has been read already.
        together = limits._replace(page_bytes=limits.listing_bytes)
        entries = {kind: _joined(kind, pages, together) for kind, pages in self.pages.items()}
        meta = _object(opening, "_meta") or {}
        return assemble(
            entries,
            instructions=opening.get("instructions"),
            inspected=_inspected(self),
            protocol_version=_version(opening),
            server_info=_object(opening, "serverInfo") or _object(meta, META_SERVER),
            capabilities=_object(opening, "capabilities"),
            limits=limits,
            parsed=True,
        )


def read_saved(documents: Iterable[bytes], *, limits: Limits = DEFAULT_LIMITS) -> Surface:
    """The surface that saved answers describe together; see `Answers` for what is refused.

    Args:
        documents: the content of one file, or of several whose answers belong together, in any order.
        limits: bounds on each file (`frame_bytes`) and on all pages of a list.
    """
    answers = Answers(limits=limits)
    for raw in documents:
        answers.add(raw)
    return answers.surface()


def _sort(document: JsonValue, size: int, answers: Answers) -> None:
    if isinstance(document, Flaw):
        raise InvalidInput(document.code, f"the document as a whole: {document.message}")
    if isinstance(document, list):
        if not any(isinstance(item, dict) and _is_answer(item) for item in document):
            # A bare array of tools; entries that are no tools become faults of their own.
            answers.pages.setdefault(Kind.TOOL, []).append(({"tools": document}, size))
            return
        for item in document:
            _sort_one(item, size // len(document), answers)
        return
    _sort_one(document, size, answers)


def _is_answer(item: JsonObject) -> bool:
    if isinstance(item.get("name"), str):
        return False  # a tool: no answer has a name
    return "result" in item or "error" in item or _is_result(item)


def _is_result(value: JsonObject) -> bool:
    return any(isinstance(value.get(member), list) for member in LIST_MEMBER.values()) or any(
        member in value for member in _OPENING
    )


def _sort_one(document: JsonValue, size: int, answers: Answers) -> None:
    _refuse_ours(document)
    result = document
    if isinstance(document, dict) and not _is_result(document) and "error" in document:
        raise InvalidInput(
            "no-surface", f"the server answered with an error: {_error_text(document['error'])}"
        )
    if isinstance(document, dict) and "result" in document:
        result = document["result"]
    if isinstance(result, Flaw):  # a repeated key here leaves open which list a host would read
        raise InvalidInput(result.code, f"an answer as a whole: {result.message}")
    if not isinstance(result, dict) or not _is_result(result):
        raise InvalidInput(
            "no-surface",
            "found neither a list of tools, prompts or resources nor an answer to initialize",
            remedy='expected a JSON-RPC response, {"tools": [...]}, an array of tools, or an array of pages',
        )
    for kind, member in LIST_MEMBER.items():
        if isinstance(result.get(member), list):
            answers.pages.setdefault(kind, []).append((result, size))
    opening = {member: result[member] for member in _OPENING if member in result}
    if opening and "_meta" in result:
        opening["_meta"] = result["_meta"]
    if opening and answers.openings and opening != answers.opening:
        raise InvalidInput("surface-conflict", "two different answers to initialize cannot be joined")
    if opening:
        answers.opening = opening
        answers.openings += 1


def _refuse_ours(document: JsonValue) -> None:
    """A manifest has members that an answer to `initialize` could have, and is none."""
    schema = document.get("schema") if isinstance(document, dict) else None
    if isinstance(schema, str) and schema.startswith(_OURS):
        raise InvalidInput(
            "no-surface",
            f"this is a file of its own ({escape(schema, limit=80)}), and no saved answer",
            remedy="give it alone, not joined with others",
        )


def _error_text(error: JsonValue) -> str:
    message = error.get("message") if isinstance(error, dict) else None
    return escape(message, limit=200) if isinstance(message, str) else "no message"


def _joined(kind: Kind, pages: Sequence[tuple[JsonObject, int]], limits: Limits) -> list[JsonValue]:
    """The entries of all pages; exactly one of them is the last, wherever it stands."""
    last = [page for page in pages if page[0].get("nextCursor") is None]
    if len(last) > 1:
        raise InvalidInput(
            "listing-shape",
            f"{len(last)} {kind} lists without a next cursor do not belong to one listing",
            remedy="give each surface on its own",
        )
    listing = Listing(kind, limits=limits)
    for result, size in [page for page in pages if page[0].get("nextCursor") is not None] + last:
        listing.receive(result, size)
    if not listing.done:
        raise InvalidInput(
            "listing-incomplete", f"the last page of the {kind} list announces another one", remedy=_JOIN
        )
    return listing.entries


def _inspected(answers: Answers) -> set[Kind]:
    """What a missing entry says something about: what was listed or declared absent."""
    found = set(answers.pages)
    if answers.openings:
        found.add(Kind.INSTRUCTIONS)
    capabilities = answers.opening.get("capabilities")
    if isinstance(capabilities, dict):
        found |= {kind for kind, capability in CAPABILITY.items() if capability not in capabilities}
    return found


def _version(opening: JsonObject) -> str | None:
    version, supported = opening.get("protocolVersion"), opening.get("supportedVersions")
    if isinstance(version, str):
        return version
    return STATELESS if isinstance(supported, list) and STATELESS in supported else None


def _object(opening: JsonObject, member: str) -> JsonObject | None:
    value = opening.get(member)
    return value if isinstance(value, dict) else None
