# SPDX-License-Identifier: Apache-2.0
"""What `toolnotary scan` finds out about the servers of hosts, and how that is told."""
