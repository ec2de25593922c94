# SPDX-License-Identifier: Apache-2.0
"""Checks live MCP tool definitions against signed manifests and pins."""

__version__ = "0.1.0"
