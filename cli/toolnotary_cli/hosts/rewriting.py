# SPDX-License-Identifier: Apache-2.0
"""What `wrap` makes of a server's entry, and `unwrap` of what `wrap` made."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from toolnotary_cli.extras import is_installed
from toolnotary_cli.hosts.bridged import bridged, unbridged
from toolnotary_cli.hosts.documents import Document
from toolnotary_cli.hosts.editing import has_comment
from toolnotary_cli.hosts.entries import Entry
from toolnotary_cli.hosts.guarded import Guarded, own_program, redirection, seen_through, why_not_ours
from toolnotary_cli.hosts.located import Edit, Replacement
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.local_name import fault

_EXTRA: Final = (
    "it is reached by URL, for which run needs the extra gateway: pip install 'toolnotary[gateway]'"
)
_COMMENTS: Final = "its entry would be written anew, and the comments in it would be lost"
_SIGN_IN: Final = "if the server wants a sign-in, undo this: the bridge cannot sign in"
_SHARED: Final = "its entry is an alias, an anchor or a merge: what changes there changes elsewhere too"


class Named(NamedTuple):
    """The name that a server's pins are looked up by, and what is to be told about that."""

    name: str
    note: str = ""


class Outcome(NamedTuple):
    """What became of one entry.

    Attributes:
        entry: the server.
        state: `wrapped`, `unwrapped`, `left` (it is as asked for already) or `refused`.
        why: why it was left or refused, or what else is to be told.
        edit: what is to change; None where nothing is.
    """

    entry: Entry
    state: str
    why: str = ""
    edit: Edit | Replacement | None = None


def wrapped(
    document: Document, entry: Entry, *, named: Callable[[Entry], Named], options: Sequence[str]
) -> Outcome:
    """An entry that starts its server behind the gate.

    Args:
        document: the file.
        entry: one of its servers.
        named: the name for its pins.
        options: what leads `run` to the files that it is to use.
    """
    found = seen_through(entry.argv)
    if found is not None:
        why = why_not_ours(found, entry)
        return Outcome(entry, "refused" if why else "left", why or "it is wrapped already")
    why = entry.problem or redirection(entry) or _shared(document, entry)
    if why:
        return Outcome(entry, "refused", why)
    try:
        name = named(entry)
    except InvalidInput as error:  # a URL that is none
        return Outcome(entry, "refused", error.message)
    wrong = fault(name.name)
    if wrong:
        return Outcome(entry, "refused", f"its name {wrong}: no pins could be kept for it")
    program = own_program(entry.environment)
    words = [*program[1:], "run", *_server(name.name), *options]
    if entry.url is not None:
        return _bridged(document, entry, name, program[:1], words)
    return Outcome(entry, "wrapped", name.note, _front(entry, program[0], [*words, "--"]))


def _server(name: str) -> list[str]:
    return [f"--server={name}"] if name.startswith("-") else ["--server", name]


def _bridged(
    document: Document, entry: Entry, name: Named, program: Sequence[str], words: Sequence[str]
) -> Outcome:
    """A server behind a URL, led through the bridge: the one place that decides what becomes of it."""
    if not is_installed("gateway"):
        return Outcome(entry, "refused", _EXTRA)
    value = document.at(entry.place)
    assert isinstance(value, dict)  # noqa: S101 - it has a URL
    found = bridged(entry, value, document.dialect, program, words)
    if found.why:
        return Outcome(entry, "refused", found.why)
    edit = Replacement(entry.place, found.value)
    if _loses_comment(document, edit):
        return Outcome(entry, "refused", _COMMENTS)
    told = "; ".join(filter(None, (name.note, "" if entry.headers else _SIGN_IN)))
    return Outcome(entry, "wrapped", told, edit)


def _loses_comment(document: Document, edit: Replacement) -> bool:
    if document.node is not None:
        return has_comment(document.text, document.node.at(edit.entry))
    from toolnotary_cli.hosts.tomldoc import loses_comment

    return loses_comment(document.text, edit)


def _front(entry: Entry, program: str, words: Sequence[str]) -> Edit:
    """The edit that puts words before the server's own command."""
    if entry.command is None:
        return Edit(entry.holder, entry.command_key, None, "", 0, [program, *words])
    return Edit(entry.holder, entry.command_key, program, entry.args_key, 0, [*words, *entry.own_words])


def unwrapped(document: Document, entry: Entry, before: Entry | None, was: Document | None) -> Outcome:
    """An entry as it was before `wrap`, as far as it is ours.

    Args:
        document: the file as it is now.
        entry: a server of it.
        before: the same server in what was stored when it was wrapped; None where nothing is.
        was: what was stored; None where nothing is.
    """
    found = seen_through(entry.argv)
    if found is None:
        return Outcome(entry, "left", "it is not wrapped")
    if not found.argv:
        return _unbridged(document, entry, None if before is None or was is None else was.at(before.place))
    return Outcome(entry, "unwrapped", edit=_restored(entry, found, before))


def _unbridged(document: Document, entry: Entry, before: object) -> Outcome:
    value = document.at(entry.place)
    if not isinstance(value, dict) or not isinstance(before, dict):
        return Outcome(entry, "refused", "what it was before is not stored")
    edit = Replacement(entry.place, unbridged(value, before, document.dialect))
    if _loses_comment(document, edit):
        return Outcome(entry, "refused", _COMMENTS)
    return Outcome(entry, "unwrapped", edit=edit)


def _restored(entry: Entry, found: Guarded, before: Entry | None) -> Edit:
    """The edit that takes our words out of the front, and gives the command back."""
    if entry.command is None:
        return Edit(entry.holder, entry.command_key, None, "", found.dropped, [])
    command, taken = found.argv[0], 1
    if before is not None and before.command is not None:
        # A command that held its arguments is given back as it was written.
        own = before.own_words
        if found.argv[: len(own)] == own:
            command, taken = before.command, len(own)
    dropped = found.dropped - 1 + taken  # the program itself stands in the command, not in the list
    had_none = before is not None and before.beside is None
    return Edit(entry.holder, entry.command_key, command, entry.args_key, dropped, [], had_none)


def _shared(document: Document, entry: Entry) -> str:
    if document.node is None:
        return ""
    nodes = list(document.node.on_the_way(entry.holder))
    members = nodes[-1].members or {}
    touched = [members[key].value for key in (entry.command_key, entry.args_key) if key in members]
    is_shared = any(node.is_shared for node in (*nodes, *touched)) or "<<" in members
    return _SHARED if is_shared else ""
