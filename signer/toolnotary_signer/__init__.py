# SPDX-License-Identifier: Apache-2.0
"""Makes and signs manifests of MCP tool definitions."""

__version__ = "0.1.0"
