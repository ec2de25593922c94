# SPDX-License-Identifier: Apache-2.0
"""`python tests/servers/everything`: this folder's own import path, then the server."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent.parent)

from servers.everything.serve import main  # noqa: E402  # after the path is set

main()
