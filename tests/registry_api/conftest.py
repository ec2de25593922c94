# SPDX-License-Identifier: Apache-2.0
"""The fixtures of servers.registry, and a publisher whose key is registered."""

import pytest
from servers.publisher import Publisher
from servers.registry import RunningRegistry, database_url, registry, sqlite_registry

__all__ = ["database_url", "publisher", "registry", "sqlite_registry"]


@pytest.fixture
def publisher(registry: RunningRegistry) -> Publisher:
    """A publisher who may publish as io.github.acme/*."""
    publisher = Publisher()
    registry.claim(publisher)
    return publisher
