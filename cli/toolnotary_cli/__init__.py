# SPDX-License-Identifier: Apache-2.0
"""The toolnotary command: capture, sign, publish, pin, run and diff MCP tool definitions."""

import atexit
import gc

__version__ = "0.1.0"

# What a command loads lives until it ends. Looking through all of it for garbage, again and again while it is
# loaded and twice more when the process ends, costs a seventh of a short command.
gc.set_threshold(50_000, 20, 20)
atexit.register(gc.freeze)
