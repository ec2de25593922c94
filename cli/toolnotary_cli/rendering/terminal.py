# SPDX-License-Identifier: Apache-2.0
"""A report for people: the worst first, word by word; on a terminal one screen, unless all is asked for.

Lines that hold text from a server begin with `  | `, so that no text can pass for a line of ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from toolnotary_cli.marking import marked, unmarked
from toolnotary_cli.output import Look
from toolnotary_cli.rendering.columns import Spans, wrapped
from toolnotary_cli.rendering.excerpt import around, clipped, pieces, shown
from toolnotary_cli.rendering.report import Item, Report, counted_risks
from toolnotary_cli.reporting import Screen
from toolnotary_cli.wording import counted
from toolnotary_verifier.review import Risk
from toolnotary_verifier.words import Origin, Piece

GUTTER: Final = "  | "
_RISK_LOOK: Final[Mapping[Risk, Look]] = {
    Risk.CRITICAL: "bad",
    Risk.HIGH: "bad",
    Risk.MEDIUM: "warn",
    Risk.LOW: "dim",
    Risk.NONE: "dim",
}
_LOOK: Final[Mapping[Origin, Look | None]] = {Origin.OLD: "bad", Origin.NEW: "good", Origin.BOTH: None}
_INDENT: Final = " " * 9
# Lines of the heading of a finding, of its text where its risk is high, and where it is less, from what reads
# best down to what fits.
_DEPTHS: Final = (
    (4, 12, 12),
    (4, 6, 6),
    (4, 3, 3),
    (4, 3, 1),
    (2, 3, 1),
    (2, 2, 1),
    (1, 2, 1),
    (1, 1, 1),
)
# Lines of the result and its causes on a screen.
_HEAD: Final = 6
_COLUMNS: Final = 80
# Lines that findings have at least, on however small a screen.
_LEAST: Final = 5
# Characters of an unchanged stretch that stay visible beside a change, and of a changed one before it is cut.
_CONTEXT: Final = 60
_SHOWN: Final = 1500


def report_lines(report: Report, screen: Screen) -> Iterator[str]:
    """The report in lines, escaped and with colours; `--all` is what shows all of it.

    Args:
        report: what to draw.
        screen: how much room there is.
    """
    head = _head(report, screen)
    yield from head
    whole = chain(_items(report.items, screen.columns), _notes(report, screen.columns))
    room = None if screen.lines is None else max(screen.lines - len(head) - 1, _LEAST)  # one for the prompt
    begun = list(islice(whole, None if room is None else room + 1))
    if room is None or len(begun) <= room:
        yield from begun
    else:
        yield from _fitting(report, screen, room)


def _head(report: Report, screen: Screen) -> list[str]:
    """The result, its first word with a colour, and what the difference comes from; on a screen few lines."""
    verdict, _, rest = report.headline.partition(":")
    told: Spans = [(verdict, "good" if report.is_fine else "bad"), (f":{rest}", None)]
    lines = wrapped(told, screen.columns, rest=_INDENT)
    for cause in report.causes:
        lines += wrapped([(cause, None)], screen.columns, rest=_INDENT)
    return lines if screen.lines is None else lines[:_HEAD]


def _fitting(report: Report, screen: Screen, room: int) -> Iterator[str]:
    """As many findings as there is room for, the worst first, then how many there are besides."""
    room -= len(_ending(report.items, screen.columns))  # no ending is longer
    drawn: list[list[str]] = []
    shown = report.items[:room]
    serious = sum(item.risk >= Risk.HIGH for item in shown)
    for heading, deep, shallow in _DEPTHS:
        is_for_all = deep == shallow > 1
        if is_for_all and len(report.items) > room:
            continue
        depths = [deep if item.risk >= Risk.HIGH else shallow for item in shown]
        drawn = [
            _brief(item, screen.columns, heading, depth) for item, depth in zip(shown, depths, strict=True)
        ]
        if sum(map(len, drawn if is_for_all else drawn[:serious])) <= room:
            break
    used = count = 0
    for lines in drawn:
        if used + len(lines) > room and count:
            break
        yield from lines[: max(room, _LEAST)]  # the worst one is always there
        used, count = used + len(lines), count + 1
    yield from _ending(report.items[count:], screen.columns)


def _ending(rest: Sequence[Item], columns: int | None) -> list[str]:
    told = (
        f"and {counted(len(rest), 'more finding')} ({counted_risks(rest)})" if rest else "cut to the screen"
    )
    return wrapped([(f"{told}; --all shows everything", "strong")], columns, rest=_INDENT)


def _items(items: Sequence[Item], columns: int | None) -> Iterator[str]:
    """Every item in full; what was shown at a place is not shown there again."""
    told: set[object] = set()
    for item in items:
        yield from _heading(item, item.where, columns)
        if len(item.places) > 1:
            where = ", ".join(place.told for place in item.places)
            yield from wrapped([(f"in {where}", None)], columns, first=_INDENT, rest=_INDENT)
        content = (item.places[0], item.old, item.new)
        if content not in told:
            yield from _gutter(_whole(pieces(item)), columns)
        told.add(content)


def _heading(item: Item, where: str, columns: int | None) -> list[str]:
    risk: Spans = [(f"{item.risk.value:<8} ", _RISK_LOOK[item.risk])]
    ids = " ".join(f"[{rule.id}]" for rule in item.rules)
    words: Spans = [*risk, (f"{where}: {item.titles} ", None), (ids, "dim")]
    lines = wrapped(words, columns, rest=_INDENT)
    if item.detail:
        lines += wrapped([(item.detail, None)], columns, first=_INDENT, rest=_INDENT)
    return lines


def _brief(item: Item, columns: int | None, heading: int, depth: int) -> list[str]:
    """So many lines of the heading, and of what changed; long names are cut."""
    width = (columns or _COLUMNS) - len(GUTTER)
    # Marks, and what breaking at words leaves empty, take some of the room.
    spans = [_marked(origin, text) for origin, text in around(item, width * depth * 7 // 8)]
    return [
        *_heading(item, clipped(item.where, width * 2), columns)[:heading],
        *_gutter(spans, columns)[:depth],
    ]


def _whole(found: Sequence[Piece]) -> Spans:
    """The pieces in order, what went and came marked, long stretches cut."""
    drawn: Spans = []
    for index, piece in enumerate(found):
        if piece.origin is Origin.BOTH:
            drawn += _common(piece.text, before=index > 0, after=index < len(found) - 1)
        else:
            drawn.append(_marked(piece.origin, _cut(piece)))
    return drawn


def _common(text: str, *, before: bool, after: bool) -> Spans:
    head, tail = _CONTEXT * before, _CONTEXT * after
    hidden = len(text) - head - tail
    if hidden <= _CONTEXT:
        return [(_shown(Origin.BOTH, text), None)]
    ends = [_shown(Origin.BOTH, part) for part in (text[:head], text[len(text) - tail :])]
    return [
        (ends[0], None),
        (f"[... {hidden} unchanged characters ...]", "dim"),
        (ends[1] if tail else "", None),
    ]


def _cut(piece: Piece) -> str:
    if len(piece.text) <= _SHOWN:
        return _shown(piece.origin, piece.text)
    half = _SHOWN // 2
    ends = [_shown(piece.origin, part) for part in (piece.text[:half], piece.text[-half:])]
    return f"{ends[0]}[... {len(piece.text) - 2 * half} more characters ...]{ends[1]}"


def _marked(origin: Origin, text: str) -> tuple[str, Look | None]:
    return marked(origin, text), _LOOK[origin]


def _shown(origin: Origin, text: str) -> str:
    return unmarked(shown(Piece(origin, text)))


def _gutter(spans: Spans, columns: int | None) -> list[str]:
    return wrapped(spans, columns, first=GUTTER, rest=GUTTER) if spans else []


def _notes(report: Report, columns: int | None) -> Iterator[str]:
    for note in report.notes:
        yield from wrapped([(note, "dim")], columns, rest=_INDENT)
