# SPDX-License-Identifier: Apache-2.0
"""Stores signed manifests of MCP tool definitions and serves them as they were signed."""

__version__ = "0.1.0"
