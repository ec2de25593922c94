# SPDX-License-Identifier: Apache-2.0
"""Package URLs (https://github.com/package-url/purl-spec), as far as launches are matched with them."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import unquote

from toolnotary_verifier.launchers import pypi_name


@dataclass(frozen=True, slots=True)
class Purl:
    """A package URL taken apart.

    Attributes:
        type: the ecosystem, lower case.
        name: namespace and name, percent-decoded.
        version: percent-decoded; empty where none is named.
        repository: the qualifier `repository_url`.
    """

    type: str
    name: str
    version: str
    repository: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The package URL that `text` is; `naming.Artifact` has checked its form."""
        body, _, _ = text.removeprefix("pkg:").partition("#")
        body, _, qualifiers = body.partition("?")
        type_, _, rest = body.partition("/")
        name, _, version = rest.rpartition("@") if "@" in rest else (rest, "", "")
        found = dict(one.partition("=")[::2] for one in qualifiers.split("&") if one)
        return cls(type_.lower(), unquote(name), unquote(version), unquote(found.get("repository_url", "")))

    def names(self, ecosystem: str, name: str) -> bool:
        """Whether this is the package of that name (`oci` for container images, `NAME@DIGEST` allowed)."""
        if ecosystem == "oci":
            return self.type in ("docker", "oci") and _is_image(name, self)
        if ecosystem == "pypi":
            return self.type == "pypi" and pypi_name(self.name) == pypi_name(name)
        return self.type == ecosystem and self.name == name


def _is_image(image: str, purl: Purl) -> bool:
    """Whether a container image, its tag already left out, is the one of a `docker` or `oci` purl."""
    name, _, digest = image.partition("@")
    if digest and purl.version.startswith("sha256:") and digest != purl.version:
        return False
    repository = purl.repository.removeprefix("https://").strip("/")
    if purl.type == "docker":
        repository = f"{repository}/{purl.name}" if repository else purl.name
    return _full_image(name) == _full_image(repository or purl.name)


def _full_image(name: str) -> str:
    """An image name with the registry and namespace that container engines add (distribution reference)."""
    first, slash, _ = name.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        name = f"docker.io/{name}"
    host, _, path = name.partition("/")
    if host in ("docker.io", "index.docker.io"):
        return f"docker.io/{path}" if "/" in path else f"docker.io/library/{path}"
    return name
