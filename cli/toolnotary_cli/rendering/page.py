# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file: no script, nothing from elsewhere, and a policy in it that forbids both.

Markup comes from `page.markup` alone, in which nothing can go unescaped.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Final

from toolnotary_cli.page.markup import Markup, document, element, joined
from toolnotary_cli.page.style import STYLE
from toolnotary_cli.page.writing import difference, replaced, whole
from toolnotary_cli.rendering.report import Item, Report, counted_risks
from toolnotary_cli.wording import counted
from toolnotary_verifier.review import Risk
from toolnotary_verifier.words import Origin

_STYLE: Final = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
_POLICY: Final = f"default-src 'none'; style-src 'sha256-{_STYLE}'; form-action 'none'; base-uri 'none'"
# Steps of the search for common words in one text: fewer after the items that a person reads closely.
_STEPS, _CLOSELY, _STEPS_LATER = 10_000, 100, 500
# Characters of all findings and of the text of one, places of one, and notes: what a browser take.
MOST: Final = 2_000_000
_MOST_TEXT: Final = 300_000
_MOST_PLACES: Final = 1_000
_MOST_NOTES: Final = 1_000
_BADGE: Final = {
    Risk.CRITICAL: "badge kept",
    Risk.HIGH: "badge kept",
    Risk.MEDIUM: "badge noted",
    Risk.LOW: "badge",
    Risk.NONE: "badge",
}


def html(report: Report) -> str:
    """The report as the text of a file, as many findings as fit, the worst first."""
    told = counted_risks(report.items) or "nothing found"
    body = [
        element("p", f"toolnotary {report.command}", class_="brand"),
        element("h1", report.headline),
        element("p", f"{counted(len(report.items), 'finding')}: {told}", class_="lead"),
        *(element("p", cause, class_="note") for cause in report.causes),
    ]
    room = MOST
    articles: list[Markup] = []
    for number, item in enumerate(report.items):
        article = _article(item, steps=_STEPS if number < _CLOSELY else _STEPS_LATER)
        room -= len(article.html)
        if room < 0:
            break
        articles.append(article)
    body += articles
    rest = report.items[len(articles) :]
    if rest:
        more = f"and {counted(len(rest), 'more finding')} ({counted_risks(rest)}); --format json shows them"
        body.append(element("p", more, class_="lead"))
    elif report.notes:
        notes = [element("li", note) for note in report.notes[:_MOST_NOTES]]
        body.append(element("article", element("h2", "Notes"), element("ul", *notes)))
    return document(f"toolnotary {report.command}", STYLE, element("main", *body), policy=_POLICY)


def _article(item: Item, *, steps: int) -> Markup:
    worst = item.rules[0]
    head = element(
        "header",
        element("h2", element("code", item.where)),
        element("span", item.risk.value, class_=_BADGE[item.risk]),
    )
    told = [
        element("p", item.titles, " (", joined([element("code", rule.id) for rule in item.rules], ", "), ")"),
        *([element("p", item.detail)] if item.detail else []),
        element("p", f"{worst.why} {worst.remedy}", class_="why"),
    ]
    return element("article", head, *told, *_places(item), *_fitting(_text(item, steps)))


def _fitting(blocks: Iterable[Markup]) -> Iterator[Markup]:
    """As much text as an item may have, so that the worst one of a report always fits."""
    used = 0
    for block in blocks:
        used += len(block.html)
        if used > _MOST_TEXT:
            yield element("p", "and more text; --format json shows all of it", class_="note")
            return
        yield block


def _places(item: Item) -> Iterator[Markup]:
    if len(item.places) > 1:
        listed = [element("li", element("code", place.told)) for place in item.places[:_MOST_PLACES]]
        if len(item.places) > _MOST_PLACES:
            listed.append(element("li", f"and {counted(len(item.places) - _MOST_PLACES, 'more place')}"))
        summary = element("summary", counted(len(item.places), "place"))
        yield element("details", summary, element("ul", *listed))


def _text(item: Item, steps: int) -> Iterator[Markup]:
    old, new = (None if text is None else json.loads(text) for text in (item.old, item.new))
    if isinstance(old, str) and isinstance(new, str):
        yield from difference(old, new, steps=steps)
    elif item.old is not None and item.new is not None:
        yield from replaced(old, new)
    elif item.new is not None:
        yield from whole(new, Origin.NEW)
    elif item.old is not None:
        yield from whole(old, Origin.OLD)
