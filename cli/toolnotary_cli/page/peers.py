# SPDX-License-Identifier: Apache-2.0
"""Whether the other end of a loopback connection belongs to the same user, where the system tells it."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# A socket of IPv6 reaches 127.0.0.1, too, by its mapped address, and stands in the table of its own family.
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
# Columns as proc(5) has them: sl local_address rem_address st tx:rx tr:when retrnsmt uid
_LOCAL, _REMOTE, _STATE, _UID = 1, 2, 3, 7
_ESTABLISHED, _LISTENS = "01", "0A"


def is_own(peer: int, own: int) -> bool:
    """Whether a connection comes from a process of the user whom this one belongs to.

    Linux tells whose a socket is. Where its tables do not even show the port that we listen on, nothing
    tells: then the token alone decides, and the answer is yes.

    Args:
        peer: the port of the other end.
        own: the port of this one.
    """
    if sys.platform != "linux":
        return True
    rows = [row for table in _TABLES for row in _rows(table)]
    here, there = f":{own:04X}", f":{peer:04X}"
    if not any(row[_LOCAL][-5:] == here and row[_STATE] == _LISTENS for row in rows):
        return True
    found = [row for row in rows if (row[_LOCAL][-5:], row[_REMOTE][-5:]) == (there, here)]
    # Whoever hung up already is nobody: such a socket is shown as one of the superuser, or not at all.
    is_ours = (_ESTABLISHED, str(os.getuid()))
    return bool(found) and all((row[_STATE], row[_UID]) == is_ours for row in found)


def _rows(table: Path) -> Iterator[list[str]]:
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except (OSError, UnicodeDecodeError):  # no such family, or no such file system
        return
    yield from (row for row in map(str.split, lines) if len(row) > _UID)
