# SPDX-License-Identifier: Apache-2.0
"""What a user may call a server: a name that can be typed, shown and recorded (docs/spec/lockfile.md).

A published name is one of these, and narrower (`naming.server_name`). The name stands in lockfile, state,
messages and commands: what cannot be seen in it could not be typed again to approve or withdraw the server.
"""

from typing import Final

from toolnotary_verifier.escape import is_invisible

MOST_CHARACTERS: Final = 200


def fault(name: str) -> str:
    """Why a user cannot call a server so, in words that follow "the name"; empty if that is fine.

    Args:
        name: any string, lone surrogates included; the answer does not repeat it.
    """
    if not name:
        return "is empty"
    if len(name) > MOST_CHARACTERS:
        return f"has {len(name)} characters, at most {MOST_CHARACTERS} are accepted"
    if name != name.strip():
        return "begins or ends with a blank"
    if any(is_invisible(character) for character in name):
        return "holds characters that cannot be seen"
    return ""
