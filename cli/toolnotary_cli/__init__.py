# SPDX-License-Identifier: Apache-2.0
"""The toolnotary command: capture, sign, publish, pin, run and diff MCP tool definitions."""

__version__ = "0.1.0"
