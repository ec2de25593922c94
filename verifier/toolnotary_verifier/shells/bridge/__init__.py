# SPDX-License-Identifier: Apache-2.0
"""A server that speaks HTTP, for hosts that only start commands: their pipes here, its URL there."""
