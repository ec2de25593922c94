# SPDX-License-Identifier: Apache-2.0
"""Whether the other end of a loopback connection belongs to the same user, where the system tells it."""

import os
import sys
from pathlib import Path
from typing import Final

_TABLE: Final = Path("/proc/net/tcp")
# Columns as proc(5) has them: sl local_address rem_address st tx:rx tr:when retrnsmt uid
_STATE, _UID, _ESTABLISHED = 3, 7, "01"


def is_own(peer: int, own: int) -> bool:
    """Whether a connection comes from a process of the user whom this one belongs to.

    Linux tells whose a socket is. Where nothing tells, the token alone decides, and the answer is yes.

    Args:
        peer: the port of the other end.
        own: the port of this one.
    """
    if sys.platform != "linux":
        return True
    try:
        rows = [line.split() for line in _TABLE.read_text(encoding="ascii").splitlines()[1:]]
    except (OSError, UnicodeDecodeError):
        return True
    ends = [f":{port:04X}" for port in (peer, own)]
    found = [row for row in rows if len(row) > _UID and (row[1][-5:], row[2][-5:]) == tuple(ends)]
    # A socket that its process closed already is nobody's, and shown as one of the superuser.
    return all((row[_STATE], row[_UID]) == (_ESTABLISHED, str(os.getuid())) for row in found)
