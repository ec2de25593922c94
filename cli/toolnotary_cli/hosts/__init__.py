# SPDX-License-Identifier: Apache-2.0
"""Configuration files of hosts: where they lie, which servers they name, how those are started guarded."""
