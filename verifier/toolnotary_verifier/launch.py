# SPDX-License-Identifier: Apache-2.0
"""What is started or reached when a server is used, told so that two launches can be compared.

The rules are those of docs/spec/launch.md. Two launches are one if their identities are equal: argv in order,
launchers under all their spellings as one, versions and secrets left out, relative paths told from the
lockfile's folder, and the environment variables that load code. A URL is its origin and path. Nothing secret
is in an identity, a record or a display.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self
from urllib.parse import urlsplit

from toolnotary_verifier.arguments import CommandLine, Word
from toolnotary_verifier.canonical import Digest, JsonObject, canonical_bytes
from toolnotary_verifier.codeloading import code_loading
from toolnotary_verifier.commandline import program_name, take_apart
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.escape import escape
from toolnotary_verifier.secrecy import MASK, mask_url

if TYPE_CHECKING:
    from toolnotary_verifier.contents import Contents
    from toolnotary_verifier.naming import Artifact

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_FILE_BYTES = 512 << 20


class Launch(NamedTuple):
    """A launch line or URL; equality is that of the identity.

    Attributes:
        identity: what is stored and compared, as canonical JSON values.
        recorded: how it was written, secrets masked; stored beside the identity, never compared.
        display: one line for people, escaped and masked.
        packages: ecosystem and name of what it starts, as far as that can be told.
        programs: names that the executable may have as a package.
        files: the executable and the script, where they are files.
    """

    identity: JsonObject
    recorded: JsonObject
    display: str
    packages: tuple[tuple[str, str], ...] = ()
    programs: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Launch) and self.digest == other.digest

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.digest)

    @classmethod
    def from_command(
        cls,
        argv: Sequence[str],
        *,
        base: Path,
        environment: Mapping[str, str],
        folder: Path | None = None,
    ) -> Self:
        """The launch of a command.

        Args:
            argv: the command and its arguments, unexpanded; `${NAME}` placeholders stay as they are.
            base: the folder of the lockfile; files under it are told relative to it.
            environment: the environment that the server is started with.
            folder: the working directory that it is started in; `base` if None.

        Raises:
            InvalidInput: `launch-empty`.
        """
        if not argv or not argv[0]:
            raise InvalidInput("launch-empty", "no command to start", remedy="put the command behind --")
        argv = [_text(word) for word in argv]
        line = take_apart(argv)
        paths = _Paths(base, folder or base, environment.get("HOME") or environment.get("USERPROFILE"))
        identity: JsonObject = {
            "type": "stdio",
            "argv": [paths.word(word, word.identity) for word in line.words if word.identity is not None],
        }
        variables = code_loading(
            {name: _text(value) for name, value in {**environment, **line.variables}.items()}
        )
        if variables:
            identity["environment"] = variables
        recorded = [paths.word(word, word.recorded) for word in line.words]
        return cls(
            identity,
            {"argv": recorded},
            escape(" ".join(_quoted(word) for word in recorded), limit=2000),
            tuple(line.packages),
            () if line.packages or line.interpreter else (line.program,),
            paths.files(line, argv),
        )

    @classmethod
    def from_url(cls, url: str) -> Self:
        """The launch of a server that is reached over HTTP: origin and path.

        Raises:
            InvalidInput: `launch-url`; the message does not repeat the URL, which can hold a secret.
        """
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            parts, host, port = urlsplit(""), "", None
        if parts.scheme not in _DEFAULT_PORTS or not host:
            raise InvalidInput("launch-url", "not an http or https URL with a host")
        origin = f"[{host}]" if ":" in host else host
        if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
            origin += f":{port}"
        plain = mask_url(f"{parts.scheme}://{origin}{parts.path or '/'}")
        return cls({"type": "http", "url": plain}, {"url": plain}, escape(plain, limit=2000))

    @classmethod
    def restored(cls, identity: JsonObject, recorded: JsonObject, *, base: Path) -> Self:
        """The launch of a lockfile entry, from what it holds; `base` is the lockfile's folder.

        Raises:
            InvalidInput: `lockfile-corrupt` if that is no launch.
        """
        if identity.get("type") == "http" and isinstance(identity.get("url"), str):
            return cls(identity, recorded, escape(identity["url"], limit=2000))
        argv = recorded.get("argv")
        words = argv if isinstance(argv, list) and all(isinstance(word, str) for word in argv) else []
        if not words or not words[0]:
            raise InvalidInput("lockfile-corrupt", "an entry of the lockfile records no launch")
        told = cls.from_command(words, base=base, environment={})
        return told._replace(identity=identity, recorded=recorded)

    @property
    def digest(self) -> Digest:
        """The digest of the identity, by which state and lockfile refer to it."""
        return Digest.of(canonical_bytes(self.identity))

    def belongs_to(self, manifest: "Contents") -> bool:
        """Whether an artifact or remote of the manifest is what this starts or reaches.

        A manifest that names neither belongs to no launch. Files are read where only their digest can tell.
        """
        if self.identity["type"] == "http":
            return any(
                self.identity["url"] == Launch.from_url(remote).identity["url"] for remote in manifest.remotes
            )
        if self._starts(manifest.artifacts):
            return True
        digests = {artifact.digest for artifact in manifest.artifacts if artifact.digest}
        return any(digest.startswith("sha256:") for digest in digests) and any(
            _file_digest(file) in digests for file in self.files
        )

    def _starts(self, artifacts: "Sequence[Artifact]") -> bool:
        """Whether all packages that are named, or the executable by its name, are among the artifacts."""
        from toolnotary_verifier.purl import Purl

        purls = [Purl.parse(artifact.purl) for artifact in artifacts]
        if self.packages:
            return all(any(purl.names(*package) for purl in purls) for package in self.packages)
        return any(
            purl.names(ecosystem, program)
            for purl in purls
            for program in self.programs
            for ecosystem in ("npm", "pypi")
        )

    def differences(self, identity: JsonObject) -> tuple[str, ...]:
        """In what this launch differs from a stored identity, in escaped lines."""
        lines = []
        for name in sorted(self.identity.keys() | identity.keys()):
            ours, theirs = self.identity.get(name), identity.get(name)
            if ours != theirs:
                lines.append(escape(f"{name}: pinned {_told(theirs)}, started {_told(ours)}", limit=600))
        return tuple(lines)


def _text(word: str) -> str:
    """A word without lone surrogates, by which Python stands in for bytes that are no UTF-8."""
    try:
        return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return word.encode("utf-8", "backslashreplace").decode("utf-8")


def _quoted(word: str) -> str:
    return shlex.quote(word) if word != MASK else word


def _told(value: object) -> str:
    if isinstance(value, list):
        return " ".join(_quoted(str(word)) for word in value)
    if isinstance(value, dict):
        return " ".join(f"{name}={content}" for name, content in value.items())
    return "nothing" if value is None else str(value)


class _Paths(NamedTuple):
    """Where files of a command line are, told so that it holds on another machine too."""

    base: Path
    folder: Path
    home: str | None

    def word(self, word: Word, text: str) -> str:
        return self.told(text) if word.is_path else text

    def told(self, text: str) -> str:
        """`./` for what lies under the lockfile's folder, `~/` for the home folder, else absolute.

        Backslashes are left alone where they are no separators: another system's path is told as it is.
        """
        if os.sep != "\\" and "\\" in text:
            return text
        path = self.absolute(text)
        base = Path(os.path.normpath(self.base))
        if path == base or base in path.parents:
            return "./" if path == base else f"./{path.relative_to(base).as_posix()}"
        if self.home and Path(self.home) in path.parents:
            return "~/" + path.relative_to(self.home).as_posix()
        return path.as_posix()

    def absolute(self, text: str) -> Path:
        return Path(os.path.normpath(self.folder / text))

    def files(self, line: CommandLine, argv: Sequence[str]) -> tuple[Path, ...]:
        """The script that is run, else the executable."""
        if line.script is not None:
            return (self.absolute(line.script),)
        if line.packages or line.interpreter:
            return ()
        first = next(word for word in argv if program_name(word) == line.program)
        return (self.absolute(first) if os.sep in first else Path(first),)


def _file_digest(file: Path) -> str | None:
    """The sha256 of an executable or script; a bare command is looked up as the system does."""
    import hashlib
    import shutil

    found = str(file) if file.is_absolute() else shutil.which(str(file))
    if found is None:
        return None
    try:
        with Path(found).open("rb") as content:
            if os.fstat(content.fileno()).st_size > _MAX_FILE_BYTES:
                return None
            return "sha256:" + hashlib.file_digest(content, "sha256").hexdigest()
    except OSError:
        return None
