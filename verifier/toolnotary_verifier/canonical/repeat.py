# SPDX-License-Identifier: Apache-2.0
"""A listing seen before: the same bytes but for the id are the same listing, found by comparing bytes.

Only a comparison of all bytes may skip the verification of a listing; a checksum that an attacker can meet
may not.
"""

import re
from typing import NamedTuple

# An id that can be cut out without parsing: an integer, or a string without any escape.
_ID = rb'(-?(?:0|[1-9][0-9]{0,17})|"[ !#-\[\]-~]{1,128}")'
# The id as the first member, or behind the version; nothing that comes before it is the server's choice.
_AT_START = (
    rb'[ \t\r\n]*\{[ \t]*(?:"jsonrpc"[ \t]*:[ \t]*"2\.0"[ \t]*,[ \t]*)?"id"[ \t]*:[ \t]*' + _ID + rb"[ \t]*,"
)
# The id as the last member: in strict JSON the last brace closes the message, so that a number or string
# before it is a value of the message itself, and `"id"` behind a comma is its whole key.
_AT_END = rb',[ \t]*"id"[ \t]*:[ \t]*' + _ID + rb"[ \t]*\}[ \t\r\n]*\Z"
_TAIL = 256


class Repeat(NamedTuple):
    """One response line with its id cut out, to recognize the same response to another request.

    Make it only of a line that `parse_message` took without a `Flaw`, keep it with the verdict that the line
    earned, and drop it as soon as what is pinned, approved or revoked changes.
    """

    before: bytes
    behind: bytes

    @classmethod
    def of(cls, line: bytes) -> "Repeat | None":
        """The line without its id; None where an id is not found without parsing: nothing is skipped then."""
        found = re.match(_AT_START, line)
        if found:
            return cls(line[: found.start(1)], line[found.end(1) :])
        tail = max(0, len(line) - _TAIL)
        found = re.search(_AT_END, line[tail:])
        if found:
            return cls(line[: tail + found.start(1)], line[tail + found.end(1) :])
        return None

    def answers(self, line: bytes, request_id: bytes) -> bool:
        """Whether `line` is this line with `request_id` in it, an id in the spelling in which it was sent.

        A server that spells it in another way is not wrong; its line is only read in full.
        """
        before, behind = self
        start = before + request_id
        return line.startswith(start) and line.endswith(behind) and len(line) == len(start) + len(behind)
