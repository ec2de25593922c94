# SPDX-License-Identifier: Apache-2.0
"""A file of a host: read whole and bounded, edited as text, and written back only where nobody changed it."""

import copy
import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from toolnotary_cli.hosts import located
from toolnotary_cli.hosts.dialects import Dialect, by_key, stands_at
from toolnotary_cli.hosts.located import Edit, Node, Replacement
from toolnotary_cli.hosts.surroundings import Surroundings
from toolnotary_cli.hosts.table import Row, Scope, format_of, row_for, rows_of
from toolnotary_verifier.errors import CannotTell, ConfigurationError, InvalidInput, Refused, ToolnotaryError
from toolnotary_verifier.escape import escape

# Hosts that keep their history beside their servers write megabytes; nobody writes more by hand.
MAX_BYTES: Final = 16 << 20
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What stands in the file of a host.

    Attributes:
        path: the file as it was named.
        target: the file that it leads to.
        raw: its bytes.
        host: the host that reads it; empty where only its keys tell how it is read.
        scope: whose it is; None where its path does not tell.
        project: the folder of the project that it belongs to; None where it belongs to none.
        dialect: how it spells servers.
        value: its plain values.
        node: the same with their places; None for TOML.
    """

    path: Path
    target: Path
    raw: bytes
    host: str
    scope: Scope | None
    project: Path | None
    dialect: Dialect
    value: object
    node: Node | None

    @property
    def text(self) -> str:
        """The text, without a byte order mark."""
        return self.raw.decode("utf-8").removeprefix(_BOM)

    @property
    def shown(self) -> str:
        """The file's name for people."""
        return escape(str(self.path), limit=300)

    def at(self, place: located.Path) -> object:
        """The plain value at a place."""
        value = self.value
        for key in place:
            value = value[key]  # type: ignore[index]  # the place leads through objects and lists
        return value

    def edited(self, edits: Sequence[Edit | Replacement]) -> bytes:
        """The bytes of the file with these edits made and nothing else.

        Raises:
            CannotTell: `host-file-edit`, if that cannot be done so that the file then says what it should.
        """
        kept = [edit._replace(without_args=False) if isinstance(edit, Edit) else edit for edit in edits]
        variants: list[list[Edit | Replacement]] = [list(edits), kept]
        for tried in variants:
            text = self._text_with(tried)
            wanted = copy.deepcopy(self.value)
            for edit in tried:
                located.applied(wanted, edit)
            if _reads_as(text, self.dialect, wanted):
                mark = _BOM if self.raw.startswith(_BOM.encode()) else ""
                return (mark + text).encode("utf-8")
        raise CannotTell("host-file-edit", f"{self.shown}: it could not be edited without changing more")

    def _text_with(self, edits: Sequence[Edit | Replacement]) -> str:
        if self.node is None:
            from toolnotary_cli.hosts import tomldoc

            return tomldoc.edited(self.text, edits)
        from toolnotary_cli.hosts.editing import edited

        return edited(self.text, self.node, edits)

    def write(self, content: bytes) -> None:
        """Put other bytes in the place of those that were read; permissions and a link on the way stay.

        Raises:
            Refused: `host-file-changed`, if somebody else did meanwhile; `host-file-foreign`.
            ConfigurationError: `file-not-writable`, `host-file-unreadable`.
        """
        from toolnotary_verifier.files import replace_file

        self.expect_own()
        if read_bytes(self.path) != self.raw:
            raise Refused(
                "host-file-changed",
                f"{self.shown}: something else changed it meanwhile; nothing was written",
                remedy="end the host that writes it, and repeat the command",
            )
        replace_file(self.path, content)

    def expect_own(self) -> None:
        """Refuse to change what belongs to another user.

        Raises:
            Refused: `host-file-foreign`.
        """
        from toolnotary_verifier.files import is_of_another

        if is_of_another(self.target):
            raise Refused(
                "host-file-foreign",
                f"{self.shown} belongs to another user",
                remedy="run the command as the user whose file it is",
            )


def load(path: Path, surroundings: Surroundings, *, host: str | None = None) -> Document:
    """Read a file of a host.

    Args:
        path: the file.
        surroundings: where the table of hosts is read.
        host: the host that reads it, where somebody said so.

    Raises:
        ConfigurationError: `host-file-unreadable`; `host-dialect`, if neither its path nor its keys tell how
            it spells servers.
        InvalidInput: `host-file-invalid`.
        Refused: `leads-outside`, for a file of a project.
    """
    from toolnotary_verifier.links import within

    row = row_for(path.absolute(), surroundings, host=host)
    project = _project(path, row) if row and row.scope == "project" else None
    target = within(path, project)  # a file of a project leads nowhere else
    raw = read_bytes(path)
    form = row.dialect.format if row else format_of(path)
    try:
        value, node = _parsed(_decoded(raw), form)
    except InvalidInput as error:
        raise InvalidInput(error.code, f"{escape(str(path), limit=300)}: {error.message}") from None
    dialect = row.dialect if row else by_key(form, value) if host is None else _of_host(host, form, value)
    if dialect is None:
        raise ConfigurationError(
            "host-dialect",
            f"{escape(str(path), limit=300)}: neither its name nor its keys tell which host reads it",
            remedy="say --host HOST",
        )
    return Document(
        path=path,
        target=target,
        raw=raw,
        host=row.host if row else host or "",
        scope=row.scope if row else None,
        project=project,
        dialect=dialect,
        value=value,
        node=node,
    )


def _of_host(host: str, form: str, value: object) -> Dialect | None:
    """The dialect of a host in which a file at any path is written: one that finds something in it."""
    known = [row.dialect for row in rows_of(host) if row.dialect.format == form]
    places = [(place, dialect) for dialect in known for place in dialect.places]
    # A place that is the top itself comes last: everything stands there.
    places.sort(key=lambda pair: not pair[0])
    return next((dialect for place, dialect in places if stands_at(value, place)), None)


def reread(document: Document, raw: bytes) -> Document:
    """The same file with other bytes.

    Raises:
        InvalidInput: `host-file-invalid`.
    """
    value, node = _parsed(_decoded(raw), document.dialect.format)
    return replace(document, raw=raw, value=value, node=node)


def read_bytes(path: Path) -> bytes:
    """The bytes of a file of moderate size; nothing is waited for.

    Raises:
        ConfigurationError: `host-file-unreadable`.
    """
    from toolnotary_verifier.links import opened

    try:
        with opened(path) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "it is no file")  # noqa: TRY301 - told below, as what the system says
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or "it cannot be read").lower()
        raise _unreadable(path, why) from None
    if len(content) > MAX_BYTES:
        raise _unreadable(path, f"it has more than {MAX_BYTES >> 20} MiB")
    return content


def _unreadable(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        "host-file-unreadable",
        f"{escape(str(path), limit=300)}: {why}",
        remedy="check its name and its permissions",
    )


def _project(path: Path, row: Row) -> Path:
    """The folder of a file's project: its repository, else the folder in which the row's pattern begins."""
    from toolnotary_verifier.links import repository

    path = path.absolute()
    return repository(path.parent) or path.parents[row.pattern.count("/")]


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError:
        raise InvalidInput("host-file-invalid", "it is not UTF-8") from None


def _parsed(text: str, form: str) -> tuple[object, Node | None]:
    if form == "toml":
        from toolnotary_cli.hosts import tomldoc

        return tomldoc.parse(text), None
    if form == "yaml":
        from toolnotary_cli.hosts import yamldoc

        node = yamldoc.parse(text)
    else:
        from toolnotary_cli.hosts import jsonc

        # An empty file is what some hosts make before a server is configured.
        node = jsonc.parse(text) if text.strip() else Node(0, 0, members={})
    return node.plain(), node


def _reads_as(text: str, dialect: Dialect, wanted: object) -> bool:
    try:
        return _parsed(text, dialect.format)[0] == wanted
    except ToolnotaryError:
        return False
