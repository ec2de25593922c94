# SPDX-License-Identifier: Apache-2.0
"""Where hosts keep their files on one machine: a platform and its environment variables, and nothing else.

Pure, so that the rows of every platform can be tested on any.
"""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Final, Literal, NamedTuple

Platform = Literal["linux", "macos", "windows"]

# By name in braces: the variable that moves a folder, and where it is without that, on each platform.
_ROOTS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    # XDG Base Directory specification; %APPDATA%; what macOS calls Application Support.
    "support": (
        "XDG_CONFIG_HOME",
        {"linux": "~/.config", "macos": "~/Library/Application Support", "windows": "{appdata}"},
    ),
    "dotconfig": (
        "XDG_CONFIG_HOME",
        {"linux": "~/.config", "macos": "~/.config", "windows": "~/.config"},
    ),
    "appdata": ("APPDATA", {"windows": "~/AppData/Roaming"}),
    "programdata": ("PROGRAMDATA", {"windows": "C:/ProgramData"}),
    "programfiles": ("PROGRAMFILES", {"windows": "C:/Program Files"}),
    "claude": ("CLAUDE_CONFIG_DIR", dict.fromkeys(("linux", "macos", "windows"), "~")),
    "claude-folder": ("CLAUDE_CONFIG_DIR", dict.fromkeys(("linux", "macos", "windows"), "~/.claude")),
    "codex": ("CODEX_HOME", dict.fromkeys(("linux", "macos", "windows"), "~/.codex")),
    "opencode": ("OPENCODE_CONFIG", {}),
}
_XDG: Final = "XDG_CONFIG_HOME"


class Surroundings(NamedTuple):
    """A platform and the environment variables of one user on it."""

    platform: Platform
    variables: Mapping[str, str]

    @classmethod
    def here(cls) -> "Surroundings":
        """Those of this process."""
        platform: Platform = (
            "windows" if sys.platform == "win32" else "macos" if sys.platform == "darwin" else "linux"
        )
        return cls(platform, os.environ)

    def path(self, pattern: str) -> PurePath | None:
        """The path that a row of the table stands for here; `*` in it stays.

        Args:
            pattern: begins with `~`, a `{name}` of the roots above, or a root folder; parts are split by `/`.

        Returns:
            None where this platform has no such place, or the variable that names it is not set.
        """
        pure = PureWindowsPath if self.platform == "windows" else PurePosixPath
        head, _, rest = pattern.partition("/")
        if head == "~":
            found = self._home()
        elif head.startswith("{"):
            found = self._root(head[1:-1])
        else:
            return pure(pattern) if self.platform != "windows" or re.match("[A-Za-z]:", pattern) else None
        if found is None:
            return None
        return pure(found, rest) if rest else pure(found)

    def _home(self) -> str | None:
        names = ("USERPROFILE", "HOME") if self.platform == "windows" else ("HOME",)
        return next((self.variables[name] for name in names if self.variables.get(name)), None)

    def _root(self, name: str) -> str | None:
        variable, places = _ROOTS[name]
        given = self.variables.get(variable)
        # On macOS the support folder follows no variable, and XDG asks to ignore what is no absolute path.
        is_moved = variable != _XDG or (
            self.platform == "linux" or (self.platform == "macos" and name != "support")
        )
        if given and is_moved and (variable != _XDG or given.startswith("/")):
            return given
        if self.platform not in places:
            return None
        found = self.path(places[self.platform])
        return None if found is None else str(found)
