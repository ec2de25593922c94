# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file: no script, nothing from elsewhere, and a policy in it that forbids both.

Markup comes from `page.markup` alone, in which nothing can go unescaped.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
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
_BADGE: Final = {
    Risk.CRITICAL: "badge kept",
    Risk.HIGH: "badge kept",
    Risk.MEDIUM: "badge noted",
    Risk.LOW: "badge",
    Risk.NONE: "badge",
}


def html(report: Report) -> str:
    """The report as the text of a file."""
    told = counted_risks(report.items) or "nothing found"
    body = [
        element("p", f"toolnotary {report.command}", class_="brand"),
        element("h1", report.headline),
        element("p", f"{counted(len(report.items), 'finding')}: {told}", class_="lead"),
        *(element("p", cause, class_="note") for cause in report.causes),
        *(
            _article(item, steps=_STEPS if number < _CLOSELY else _STEPS_LATER)
            for number, item in enumerate(report.items)
        ),
    ]
    if report.notes:
        notes = [element("li", note) for note in report.notes]
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
    return element("article", head, *told, *_places(item), *_text(item, steps))


def _places(item: Item) -> Iterator[Markup]:
    if len(item.places) > 1:
        listed = [element("li", element("code", place.told)) for place in item.places]
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
