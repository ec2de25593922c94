# SPDX-License-Identifier: Apache-2.0
"""I/O around the gate: each shell moves bytes and holds no rules."""
