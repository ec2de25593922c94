# SPDX-License-Identifier: Apache-2.0
"""What a launch line or URL says about where a server comes from: the artifacts and remotes of its manifest.

A package keeps the version that the launch line names, and has none where it names none: nobody knows what a
launcher would fetch on another day. A script or executable is told by its digest.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from toolnotary_verifier.arguments import CommandLine
from toolnotary_verifier.capture.source import CommandSource, Source
from toolnotary_verifier.commandline import take_apart
from toolnotary_verifier.errors import InvalidInput
from toolnotary_verifier.launch import Launch
from toolnotary_verifier.naming import Artifact, remote_url
from toolnotary_verifier.secrecy import MASK

_VERSION = re.compile(r"(?:===?|@)\s*([0-9][0-9A-Za-z.+!_-]*)")


def origin(source: Source) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """The artifacts and remotes that a source names."""
    if not isinstance(source, CommandSource):
        return (), tuple(_remote(Launch.from_url(source.url)))
    line = take_apart(source.argv)
    found = [*_packages(line)]
    if not found:
        launch = Launch.from_command(source.argv, base=source.directory, environment=source.environment)
        found = [*_files(launch)]
    return tuple(found), ()


def _remote(launch: Launch) -> Iterator[str]:
    try:
        yield remote_url(launch.identity["url"])
    except InvalidInput:
        return  # an address that a manifest could not be matched by


def _packages(line: CommandLine) -> Iterator[Artifact]:
    for ecosystem, name in line.packages:
        if ecosystem == "oci":
            yield _image(line, name)
        else:
            version = next((v for v in (_version(word.recorded, name) for word in line.words) if v), "")
            yield Artifact(f"pkg:{ecosystem}/{quote(name, safe='/')}{version}")


def _version(word: str, name: str) -> str:
    """`@VERSION`, if this is the word that names the package with an exact version."""
    folded = re.sub(r"[-_.]+", "-", word).lower()
    if not folded.startswith(re.sub(r"[-_.]+", "-", name).lower()):
        return ""
    found = _VERSION.search(word, len(name))
    return f"@{quote(found[1], safe='')}" if found and found.end() == len(word) else ""


def _image(line: CommandLine, name: str) -> Artifact:
    """The purl of a container image (type `docker` of the purl specification)."""
    untagged, _, digest = name.partition("@")
    word = next((word.recorded for word in line.words if word.identity == name), name)
    tag = word.partition("@")[0].removeprefix(untagged).removeprefix(":")
    version = digest or tag
    host, slash, path = untagged.partition("/")
    is_host = bool(slash) and ("." in host or ":" in host or host == "localhost")
    purl = f"pkg:docker/{quote(path if is_host else untagged, safe='/')}"
    purl += f"@{quote(version, safe=':')}" if version else ""
    return Artifact(f"{purl}?repository_url={quote(host, safe=':')}" if is_host else purl)


def _files(launch: Launch) -> Iterator[Artifact]:
    for file in launch.files:
        found = str(file) if file.is_absolute() else shutil.which(str(file))
        if found is None or MASK in file.name:
            continue
        try:
            with Path(found).open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError:
            continue
        yield Artifact(f"pkg:generic/{quote(file.name, safe='')}", f"sha256:{digest}")
