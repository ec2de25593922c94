# SPDX-License-Identifier: Apache-2.0
"""A report as Markdown for a pull request or a job summary (CommonMark, GitHub Flavored Markdown).

A server's text stands in code spans and fenced blocks alone, whose ends it cannot write: there neither HTML
nor links, mentions, references to issues or emphasis count. What cannot be seen is spelled out.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_cli.rendering.excerpt import CUT, clipped, pieces, shown
from toolnotary_cli.rendering.report import Item, Report, counted_risks
from toolnotary_cli.wording import counted
from toolnotary_verifier.review import Risk
from toolnotary_verifier.words import Origin, Piece

# Bytes of a whole comment: GitHub takes 65,536 characters, each of which has at least one byte.
COMMENT: Final = 60_000
_MARK: Final = {
    Risk.CRITICAL: "\N{LARGE RED CIRCLE}",
    Risk.HIGH: "\N{LARGE RED CIRCLE}",
    Risk.MEDIUM: "\N{LARGE YELLOW CIRCLE}",
    Risk.LOW: "\N{MEDIUM WHITE CIRCLE}",
    Risk.NONE: "\N{MEDIUM WHITE CIRCLE}",
}
_SIGN: Final = {Origin.OLD: "- ", Origin.NEW: "+ ", Origin.BOTH: "  "}
_PLACES: Final = 20
# Characters of each piece of an item's text, of all of it, of a name, and of what did not change.
_PIECE: Final = 1500
_TEXT: Final = 6_000
_NAME: Final = 300
_CONTEXT: Final = 200
_TICKS: Final = re.compile("`+")
_SPECIAL: Final = re.compile(r"[\\*_\[\]<>~|&#@]")


def markdown(report: Report) -> str:
    """The report as a comment."""
    return bounded(report, most=COMMENT)[0]


def bounded(report: Report, *, most: int) -> tuple[str, int]:
    """The report, as many findings as fit, the worst first, and how many that are.

    Args:
        report: what to draw.
        most: bytes, in UTF-8.
    """
    verdict, _, detail = report.headline.partition(":")
    head = [f"### toolnotary {report.command}\n", f"**{plain(verdict)}**:{span(detail)}\n"]
    head += [f"- {span(clipped(cause, _PIECE))}\n" for cause in report.causes]
    notes = [f"- {span(note)}\n" for note in report.notes]
    room = most - _size(head) - 200  # what tells how many there are besides
    told: list[str] = []
    count = 0
    for item in report.items:
        lines = list(_item(item))
        if _size(lines) > room:
            break
        room -= _size(lines)
        told += lines
        count += 1
    rest = report.items[count:]
    if rest:
        told.append(f"and {counted(len(rest), 'more finding')} ({counted_risks(rest)})\n")
    if notes and not rest and _size(notes) < room:
        told += ["Notes\n", *notes]
    return "\n".join([*head, *told]), count


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8")) + 1 for line in lines)


def _item(item: Item) -> Iterator[str]:
    ids = " ".join(span(rule.id) for rule in item.rules)
    yield f"#### {_MARK[item.risk]} {item.risk.value}: {span(clipped(item.where, _NAME))}\n"
    yield f"{plain(item.titles)} ({ids})\n"
    if item.detail:
        yield f"{span(clipped(item.detail, _PIECE))}\n"
    if len(item.places) > 1:
        yield "".join(f"- {span(clipped(place.told, _NAME))}\n" for place in item.places[:_PLACES])
        if len(item.places) > _PLACES:
            yield f"and {counted(len(item.places) - _PLACES, 'more place')}\n"
    lines = [line for piece in pieces(item) for line in _lines(piece)]
    if lines:
        yield fenced(_fitting(lines))
    yield f"{plain(item.rules[0].why)} {plain(item.rules[0].remedy)}\n"


def _fitting(lines: Iterable[str]) -> Iterator[str]:
    """As many lines as an item may have, so that the worst one of a report always fits."""
    used = 0
    for line in lines:
        used += len(line) + 1
        if used > _TEXT:
            yield f"  {CUT}"
            return
        yield line


def _lines(piece: Piece) -> Iterator[str]:
    """A piece as lines of a diff, cut where it is long."""
    room = _CONTEXT if piece.origin is Origin.BOTH else _PIECE
    text = shown(piece)
    if len(text) > room:
        half = room // 2
        text = f"{text[:half]}[... {len(text) - 2 * half} more characters ...]{text[-half:]}"
    for line in text.split("\n"):
        yield f"{_SIGN[piece.origin]}{line}"


def span(text: str) -> str:
    """Escaped text in one line as a code span that it cannot end (CommonMark 6.1)."""
    text = text.replace("\n", " ")
    ticks = "`" * (_longest(text) + 1)
    # One blank on each side is taken off again: beside a backtick there must be one.
    return f"{ticks} {text} {ticks}" if text.strip(" ") else "` `"


def fenced(lines: Iterable[str]) -> str:
    """Escaped lines as a fenced block of a diff that they cannot end (CommonMark 4.5)."""
    text = "\n".join(lines)
    fence = "`" * max(3, _longest(text) + 1)
    return f"{fence}diff\n{text}\n{fence}\n"


def _longest(text: str) -> int:
    return max((len(found) for found in _TICKS.findall(text)), default=0)


def plain(text: str) -> str:
    """Words of ours, in which nothing is markup but code between backticks."""
    return "".join(
        span(part) if number % 2 else _SPECIAL.sub(r"\\\g<0>", part)
        for number, part in enumerate(text.split("`"))
    )
