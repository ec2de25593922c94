# SPDX-License-Identifier: Apache-2.0
"""The HTTP gateway: a reverse proxy in front of servers that speak Streamable HTTP (extra `gateway`)."""
