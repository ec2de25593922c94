# SPDX-License-Identifier: Apache-2.0
"""The server of scripting.py, as hundreds of tests start it: a module is compiled once, a program always."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    __import__("scripting").main()
else:
    from servers.scripting import DEFAULTS, MOVES, POISON, PULLED, STATELESS, TOOLS, command, tool

    __all__ = ["DEFAULTS", "MOVES", "POISON", "PULLED", "STATELESS", "TOOLS", "command", "tool"]
