# SPDX-License-Identifier: Apache-2.0
"""The toolnotary command: capture, sign, publish, pin, run and diff MCP tool definitions."""

import gc

__version__ = "0.1.0"

# What a command loads lives until it ends: looking through all of it for garbage, again and again while it
# is loaded, costs a twentieth of a short command.
gc.set_threshold(50_000, 20, 20)
