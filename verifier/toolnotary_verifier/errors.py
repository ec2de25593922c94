# SPDX-License-Identifier: Apache-2.0
"""Every error that toolnotary raises on purpose.

    ToolnotaryError
    |-- InvalidInput        the bytes given are not what they claim to be            exit 4
    |-- Refused             a check was made, and its answer is no                   exit 1
    |-- CannotTell          the check could not be made (unreachable, no answer)     exit 3
    `-- ConfigurationError  usage, policy, or a missing extra                        exit 2

"No" and "cannot tell" are different answers: a caller that only catches `Refused` must never mistake an
unreachable registry for a verdict. Each error carries a stable `code` (kebab-case, listed in
docs/reference/codes.md); programs compare codes, people read messages.
"""

from typing import ClassVar


class ToolnotaryError(Exception):
    """Base of all errors raised on purpose.

    Attributes:
        code: stable kebab-case identifier of what went wrong.
        message: what, where, and got/expected, lower case, in one line; text that came from a server is
            already escaped (see `toolnotary_verifier.escape`).
        remedy: what the reader can do about it, or an empty string.
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, code: str, message: str, *, remedy: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.remedy = remedy


class InvalidInput(ToolnotaryError):
    """The input is not valid: not strict JSON, no manifest, a corrupt lockfile, a page that is no listing."""

    exit_code = 4


class Refused(ToolnotaryError):
    """A check was made and failed: a bad signature, an unknown signer, a digest that does not match."""

    exit_code = 1


class CannotTell(ToolnotaryError):
    """The check could not be made: a server that does not start, a registry that does not answer."""

    exit_code = 3


class ConfigurationError(ToolnotaryError):
    """The command line, a policy file or the installation does not allow what was asked."""

    exit_code = 2
