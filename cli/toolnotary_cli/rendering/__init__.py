# SPDX-License-Identifier: Apache-2.0
"""One report, drawn in many ways: terminal, SARIF, GitHub, Markdown and HTML (docs/reference/ci.md)."""
