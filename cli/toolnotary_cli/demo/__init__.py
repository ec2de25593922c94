# SPDX-License-Identifier: Apache-2.0
"""The story that `toolnotary demo` tells, with a real server, a real registry and the real commands."""
