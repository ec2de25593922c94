# SPDX-License-Identifier: Apache-2.0
"""What hosts put in the place of `${NAME}` and its like before they start a server.

Files keep their placeholders; they are filled in to find out which launch a host would make, and to make it
where a person said so. What is filled in is never shown.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# `${NAME}`, `${env:NAME}`, `${NAME:-default}`; `${input:ID}` and the like are asked for by the host.
_BRACED: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}")
_PERCENT: Final = re.compile(r"%([A-Za-z_][A-Za-z0-9_()]*)%")
_LEFT: Final = re.compile(r"\$\{[^{}]*\}")


def filled(text: str, variables: Mapping[str, str], *, folder: Path, is_windows: bool = False) -> str:
    """A text with its placeholders filled in; those that only the host can fill stay.

    Args:
        text: as it stands in the file.
        variables: the environment of the host.
        folder: the folder that a host has open.
        is_windows: whether `%NAME%` is one too.
    """

    def value(met: "re.Match[str]") -> str:
        name, default = met[1], met[2] if met.re is _BRACED else None
        if name == "userHome":
            return str(Path.home())
        if name in ("workspaceFolder", "workspaceRoot"):
            return str(folder)
        found = variables.get(name)
        return found if found is not None else met[0] if default is None else default

    text = _BRACED.sub(value, text)
    return _PERCENT.sub(value, text) if is_windows else text


def unfilled(text: str) -> str:
    """The first placeholder that is left in a text; empty where there is none."""
    met = _LEFT.search(text)
    return met[0] if met else ""
