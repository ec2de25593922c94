# SPDX-License-Identifier: Apache-2.0
"""Streamable HTTP around the gate (MCP, transports): what a proxy and an in-process transport share."""
