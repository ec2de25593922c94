# SPDX-License-Identifier: Apache-2.0
"""Files that a command line names: read within bounds, and named in what is found wrong with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolnotary_verifier.errors import InvalidInput, Refused
from toolnotary_verifier.escape import escape

KEY_BYTES: Final = 1 << 14  # more than any key file has that is accepted


def read(path: Path, most: int) -> bytes:
    """At most one byte more than `most`, so that the parser can say that there is too much."""
    with path.open("rb") as file:
        return file.read(most + 1)


@contextmanager
def about(name: str | Path) -> Iterator[None]:
    """Name a file in the errors about its content: who gave several wants to know which one it is.

    Raises:
        InvalidInput: as raised inside, with the name before its message.
        Refused: likewise (a key file whose passphrase is wrong).
    """
    try:
        yield
    except (InvalidInput, Refused) as error:
        message = f"{escape(str(name), limit=300)}: {error.message}"
        kind = InvalidInput if isinstance(error, InvalidInput) else Refused
        raise kind(error.code, message, remedy=error.remedy) from error
