# SPDX-License-Identifier: Apache-2.0
"""The pages of a review: a sheet of the question with its answers, and what is told when there is none."""

from collections.abc import Collection

from toolnotary_cli.page.board import Shown
from toolnotary_cli.page.markup import Markup, document, element
from toolnotary_cli.page.style import STYLE


def question_page(shown: Shown, number: int, unread: Collection[int]) -> str:
    """One sheet of a question.

    Args:
        shown: the question.
        number: which sheet, from 1 on.
        unread: the sheets that nobody opened.
    """
    many = len(shown.sheets) > 1
    where = f" ({number} of {len(shown.sheets)})" if many else ""
    nav = _nav(shown, number, unread) if many else Markup("")
    return _page(
        f"{shown.title}{where}",
        element("h1", f"{shown.title}{where}"),
        element("p", shown.lead, class_="lead"),
        nav,
        shown.sheets[number - 1],
        nav,
        _form(shown, unread),
    )


def told_page(title: str, *lines: str, refresh: int | None = None) -> str:
    """A page that asks nothing."""
    said = (element("p", line, class_="lead") for line in lines)
    return _page(title, element("h1", title), *said, refresh=refresh)


def _page(title: str, *content: Markup, refresh: int | None = None) -> str:
    brand = element("p", "toolnotary", class_="brand")
    return document(f"{title} - toolnotary", STYLE, element("main", brand, *content), refresh=refresh)


def _nav(shown: Shown, number: int, unread: Collection[int]) -> Markup:
    links = []
    for sheet in range(1, len(shown.sheets) + 1):
        is_here = sheet == number
        links.append(
            element(
                "a",
                str(sheet),
                href=str(sheet),
                class_="unread" if sheet in unread else None,
                aria_current="page" if is_here else None,
                aria_label=f"page {sheet}" + (", not opened yet" if sheet in unread else ""),
            )
        )
    return element("nav", element("ul", *(element("li", link) for link in links)), aria_label="pages")


def _form(shown: Shown, unread: Collection[int]) -> Markup:
    no = element("button", shown.no, type="submit", name="answer", value="no")
    yes = element("button", shown.yes, type="submit", name="answer", value="yes", class_="yes")
    waits = element(
        "p",
        f"All of it can be accepted once every page was opened; {len(unread)} of them were not.",
        class_="note",
    )
    return element(
        "form",
        element("input", type="hidden", name="subject", value=shown.subject),
        *((waits,) if unread else ()),
        element(
            "p",
            "Your answer is about ",
            element("code", shown.subject),
            f". It counts until {shown.until}.",
            class_="digest",
        ),
        element("div", *((no,) if unread else (no, yes)), class_="buttons"),
        method="post",
        action="answer",
        autocomplete="off",
    )
