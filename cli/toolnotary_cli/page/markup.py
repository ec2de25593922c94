# SPDX-License-Identifier: Apache-2.0
"""HTML in which nothing can go unescaped: text becomes markup here and nowhere else.

`Markup` is made by the functions of this room alone (a test holds that). Whatever else is put into an element
is text: its special characters are written as references, and what cannot be seen is spelled out, whoever
forgot to. No element and no attribute that runs anything can be made.
"""

import html
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from toolnotary_verifier.escape import is_invisible

_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_SPELLED: Final = re.compile(r"(?:\\u\{[0-9a-f]{1,6}\})+")  # as `escape` writes it
_VOID: Final = frozenset(("br", "input", "meta"))
_REFUSED: Final = frozenset(("base", "embed", "iframe", "link", "math", "object", "script", "style", "svg"))


class Markup(NamedTuple):
    """A piece of HTML, whole and safe; never made from a string elsewhere."""

    html: str

    def __str__(self) -> str:
        """Refuses to become text by accident, which would be escaped twice."""
        raise TypeError("markup is no text")


def text(words: str) -> Markup:
    """Text of whatever origin; line feeds stay."""
    if not (words.isascii() and words.isprintable()):
        words = "".join(f"\\u{{{ord(c):x}}}" if c != "\n" and is_invisible(c) else c for c in words)
    return Markup(html.escape(words))


def marked(words: str) -> Markup:
    """Text that was escaped before (`escape`), in which each run of what was spelled out stands in bold."""
    return Markup(_SPELLED.sub(r"<b>\g<0></b>", text(words).html))


def joined(parts: "Iterable[Markup | str]", between: str = "") -> Markup:
    """Several pieces in a row.

    Args:
        parts: markup, or text.
        between: text that stands between two of them.
    """
    return Markup(text(between).html.join(_html(part) for part in parts))


def element(name: str, /, *content: "Markup | str", **attributes: str | None) -> Markup:
    """One element.

    Args:
        name: its name, a word of ours.
        content: markup, or text.
        attributes: by their names, `_` for `-`, with one at the end where Python has the word; None for one
            that is left out.

    Raises:
        ValueError: for a name that could run something, or is none.
    """
    if not _NAME.fullmatch(name) or name in _REFUSED:
        raise ValueError(f"no element of a review page: {name!r}")
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not None)
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(content).html}</{name}>")


def document(
    title: str, style: str, *body: Markup, refresh: int | None = None, policy: str | None = None
) -> str:
    """A whole page.

    Args:
        title: text.
        style: a style sheet of ours; the digest of exactly this text is what its policy allows.
        body: what is in it.
        refresh: seconds after which a browser asks again; None for never.
        policy: its content security policy, for a page that no server of ours hands out with one.
    """
    if "<" in style:
        raise ValueError("a style sheet that could end its element")
    head = joined(
        (
            element("meta", charset="utf-8"),
            *(
                ()
                if policy is None
                else (element("meta", http_equiv="Content-Security-Policy", content=policy),)
            ),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="color-scheme", content="light dark"),
            element("meta", name="robots", content="noindex"),
            *(() if refresh is None else (element("meta", http_equiv="refresh", content=str(refresh)),)),
            element("title", title),
            Markup(f"<style>{style}</style>"),
        )
    )
    page = element("html", element("head", head), element("body", *body), lang="en")
    return f"<!doctype html>\n{page.html}\n"


def _html(part: Markup | str) -> str:
    return part.html if isinstance(part, Markup) else text(part).html


def _attribute(key: str, value: str) -> str:
    name = key.rstrip("_").replace("_", "-")
    if not _NAME.fullmatch(name) or name.startswith("on") or name in ("style", "srcdoc"):
        raise ValueError(f"no attribute of a review page: {name!r}")
    return f' {name}="{text(value).html}"'
